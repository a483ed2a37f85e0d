"""Methods. In: a name. Out: a classifier with its settings.

Every method has candidates, settings of its weak learner, its usual one first. With one candidate the setting is fixed;
with several the rule of `_selection` chooses one for every fold.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier

from comboost import AdaBoostMMClassifier, CoMBoClassifier
from comboost.study._problems import DATASETS, WITH_CATEGORIES
from comboost.study._study import Study

Setting = dict[str, Any]
Make = Callable[[Setting, Sequence[int], int, Study], Any]

# "2 to 3-depth decision tree" is all that the paper says of its weak learner; the default of the estimators is first.
GRID: tuple[Setting, ...] = tuple(
    {"max_depth": depth, "criterion": criterion} for depth in (3, 2) for criterion in ("gini", "cost")
)
# The paper's trees may split a category into all its values; its figures on connect-4 suggest it. Ours part a node in
# two and need more levels for the same: three of three-way splits have 27 leaves, five of two-way splits 32.
CATEGORY_GRID: tuple[Setting, ...] = tuple(
    {"max_depth": depth, "criterion": criterion} for depth in (5, 3) for criterion in ("gini", "cost")
)
# The figures that the paper quotes for the rivals are of C4.5 trees, which nothing holds to three levels.
RIVAL_GRID: tuple[Setting, ...] = (
    {"max_depth": None, "criterion": "gini", "min_samples_leaf": 2},
    *({"max_depth": depth, "criterion": "gini"} for depth in (6, 3, 2)),
)
DEEP_SETTING: Setting = {"max_depth": 6, "criterion": "cost", "min_weight_fraction_leaf": 0.002}


@dataclass(frozen=True)
class Method:
    """A way to learn: how its classifier is made, which settings it may have, where it runs."""

    name: str
    make: Make
    candidates: tuple[Setting, ...] = ({},)
    category_candidates: tuple[Setting, ...] = ()  # in their place if there are categories
    datasets: tuple[str, ...] = DATASETS
    has_votes: bool = False  # whether probabilities come from votes or from softmax, as asked
    needs: str | None = None  # the module without which it cannot run
    work: float = 1.0  # time of a fit, compared with CoMBo's on the same rows
    overhead: float = 0.0  # seconds of a fit on hardly any rows, beyond that

    def candidates_for(self, categorical: Sequence[int]) -> tuple[Setting, ...]:
        """The candidates on rows with categories in these columns."""
        return self.category_candidates if categorical and self.category_candidates else self.candidates


def make_combo(setting: Setting, categorical: Sequence[int], seed: int, study: Study) -> Any:
    """Make CoMBo."""
    return make_booster(CoMBoClassifier, setting, categorical, seed, study.n_rounds)


def make_mm(setting: Setting, categorical: Sequence[int], seed: int, study: Study) -> Any:
    """Make AdaBoost.MM."""
    return make_booster(AdaBoostMMClassifier, setting, categorical, seed, study.n_rounds)


def make_nc(setting: Setting, categorical: Sequence[int], seed: int, study: Study) -> Any:
    """Make AdaBoost.NC."""
    rival = import_module("comboost.baselines").AdaBoostNCClassifier
    return make_booster(rival, setting, categorical, seed, study.n_rival_rounds)


def make_smoteboost(setting: Setting, categorical: Sequence[int], seed: int, study: Study) -> Any:
    """Make SMOTEBoost."""
    rival = import_module("comboost.baselines").SMOTEBoostClassifier
    return make_booster(rival, setting, categorical, seed, study.n_rival_rounds)


def make_booster(kind: Any, setting: Setting, categorical: Sequence[int], seed: int, n_rounds: int) -> Any:
    """Make one of the package's own boosters."""
    return kind(
        n_estimators=n_rounds,
        categorical_features=list(categorical) or None,
        n_jobs=1,
        random_state=seed,
        **setting,
    )


def make_hist_boosting(_setting: Setting, categorical: Sequence[int], seed: int, _study: Study) -> Any:
    """Make scikit-learn's boosting, with all classes of the same weight."""
    return HistGradientBoostingClassifier(
        class_weight="balanced", categorical_features=list(categorical) or None, random_state=seed
    )


def make_balanced_forest(_setting: Setting, _categorical: Sequence[int], seed: int, _study: Study) -> Any:
    """Make imbalanced-learn's forest."""
    forest = import_module("imblearn.ensemble").BalancedRandomForestClassifier
    # The forest of Chen, Liaw and Breiman: a bootstrap of the smallest class, and as many rows of every other.
    return forest(sampling_strategy="all", replacement=True, bootstrap=False, n_jobs=1, random_state=seed)


def fix_settings(method: Method) -> list[Method]:
    """Make one method per setting of a method, under names that say which."""
    return [
        replace(
            method,
            name=name_fixed(method.name, setting),
            candidates=(setting,),
            category_candidates=(),
            datasets=method.datasets if setting in method.candidates else WITH_CATEGORIES,
        )
        for setting in (
            *method.candidates,
            *(more for more in method.category_candidates if more not in method.candidates),
        )
    ]


def name_fixed(method: str, setting: Setting) -> str:
    """The name of a method with a fixed setting.

    Examples
    --------
    >>> from comboost.study._methods import name_fixed
    >>> name_fixed("CoMBo", {"max_depth": 3, "criterion": "gini"})
    'CoMBo depth 3 gini'
    """
    depth = "unlimited" if setting["max_depth"] is None else setting["max_depth"]
    return f"{method} depth {depth} {setting['criterion']}"


WITHOUT_CONNECT = tuple(name for name in DATASETS if name != "connect-4")
COMBO = Method("CoMBo", make_combo, GRID, CATEGORY_GRID, has_votes=True)
ADABOOST_MM = Method("AdaBoost.MM", make_mm, GRID, CATEGORY_GRID, has_votes=True)
ADABOOST_NC, SMOTEBOOST = (
    Method(name, make, RIVAL_GRID, (), WITHOUT_CONNECT, has_votes=True, needs="comboost.baselines", work=work)
    for name, make, work in (("AdaBoost.NC", make_nc, 2.0), ("SMOTEBoost", make_smoteboost, 3.0))
)

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        COMBO,
        ADABOOST_MM,
        ADABOOST_NC,
        SMOTEBOOST,
        Method("HistGradientBoosting", make_hist_boosting, work=4.0, overhead=0.3),
        Method("BalancedRandomForest", make_balanced_forest, needs="imblearn", work=2.0, overhead=0.3),
        Method("CoMBo deep", make_combo, (DEEP_SETTING,), has_votes=True, work=3.0),
        *fix_settings(COMBO),
        *fix_settings(ADABOOST_MM),
        *fix_settings(ADABOOST_NC),
        *fix_settings(SMOTEBOOST),
    )
}


def find_method(name: str) -> str:
    """Find the name of a method; letter case and the signs between the words do not count.

    Examples
    --------
    >>> from comboost.study import find_method
    >>> find_method("adaboost-mm"), find_method("combo-depth-2-gini")
    ('AdaBoost.MM', 'CoMBo depth 2 gini')
    """
    by_letters = {letters_and_digits(known): known for known in METHODS}
    if letters_and_digits(name) not in by_letters:
        raise ValueError(f"Unknown method {name!r}. Known methods: {', '.join(map(repr, METHODS))}.")
    return by_letters[letters_and_digits(name)]


def find_obstacle(method: Method) -> str | None:
    """Say why a method cannot run here; None if it can."""
    if method.needs is None:
        return None
    try:
        import_module(method.needs)
    except ImportError as error:
        return str(error) if "pip install" in str(error) else f'{error}. Run: pip install "comboost[baselines]"'
    return None


def letters_and_digits(name: str) -> str:
    """What counts when names are compared."""
    return "".join(sign for sign in name.lower() if sign.isalnum())
