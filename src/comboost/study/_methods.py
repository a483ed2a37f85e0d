"""Methods: a name in, a classifier with its settings out.

Every method has candidates, settings of its weak learner, its usual one first. With one candidate the setting is fixed,
with several the rule of `_selection` chooses for every fold anew.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier

from comboost import AdaBoostMMClassifier, CoMBoClassifier
from comboost.study._problems import DATASETS, WITH_CATEGORIES
from comboost.study._study import Study

__all__ = ["METHODS", "Method", "find_method", "find_obstacle", "name_fixed"]

Setting = dict[str, Any]
Make = Callable[[Setting, Sequence[int], int, Study], Any]

# "2 to 3-depth decision tree" is all that the paper says of its weak learner; first the default of the estimators
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
    category_candidates: tuple[Setting, ...] = ()  # in their place, where there are categories
    datasets: tuple[str, ...] = DATASETS
    has_votes: bool = False  # whether probabilities come from votes or from softmax, as asked
    needs: str | None = None  # the module without which it cannot run
    work: float = 1.0  # time of a fit, compared with CoMBo's on the same rows
    overhead: float = 0.0  # seconds of a fit on hardly any rows, beyond that

    def candidates_for(self, categorical: Sequence[int]) -> tuple[Setting, ...]:
        """The candidates on rows with categories in these columns."""
        return self.category_candidates if categorical and self.category_candidates else self.candidates


def _make_combo(setting: Setting, categorical: Sequence[int], seed: int, study: Study) -> Any:
    return _make_booster(CoMBoClassifier, setting, categorical, seed, study.n_rounds)


def _make_mm(setting: Setting, categorical: Sequence[int], seed: int, study: Study) -> Any:
    return _make_booster(AdaBoostMMClassifier, setting, categorical, seed, study.n_rounds)


def _make_nc(setting: Setting, categorical: Sequence[int], seed: int, study: Study) -> Any:
    rival = import_module("comboost.baselines").AdaBoostNCClassifier
    return _make_booster(rival, setting, categorical, seed, study.n_rival_rounds)


def _make_smoteboost(setting: Setting, categorical: Sequence[int], seed: int, study: Study) -> Any:
    rival = import_module("comboost.baselines").SMOTEBoostClassifier
    return _make_booster(rival, setting, categorical, seed, study.n_rival_rounds)


def _make_booster(kind: Any, setting: Setting, categorical: Sequence[int], seed: int, n_rounds: int) -> Any:
    return kind(
        n_estimators=n_rounds,
        categorical_features=list(categorical) or None,
        n_jobs=1,
        random_state=seed,
        **setting,
    )


def _make_hist(_setting: Setting, categorical: Sequence[int], seed: int, _study: Study) -> Any:
    return HistGradientBoostingClassifier(
        class_weight="balanced", categorical_features=list(categorical) or None, random_state=seed
    )


def _make_forest(_setting: Setting, _categorical: Sequence[int], seed: int, _study: Study) -> Any:
    forest = import_module("imblearn.ensemble").BalancedRandomForestClassifier
    # the forest of Chen, Liaw and Breiman: a bootstrap of the smallest class, as many rows of every other
    return forest(sampling_strategy="all", replacement=True, bootstrap=False, n_jobs=1, random_state=seed)


def _vary(method: Method) -> list[Method]:
    """The method with one fixed setting each, under names that say which."""
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
            *(new for new in method.category_candidates if new not in method.candidates),
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


_WITHOUT_CONNECT = tuple(name for name in DATASETS if name != "connect-4")
_COMBO = Method("CoMBo", _make_combo, GRID, CATEGORY_GRID, has_votes=True)
_MM = Method("AdaBoost.MM", _make_mm, GRID, CATEGORY_GRID, has_votes=True)
_NC, _SMOTE = (
    Method(name, make, RIVAL_GRID, (), _WITHOUT_CONNECT, has_votes=True, needs="comboost.baselines", work=work)
    for name, make, work in (("AdaBoost.NC", _make_nc, 2.0), ("SMOTEBoost", _make_smoteboost, 3.0))
)

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        _COMBO,
        _MM,
        _NC,
        _SMOTE,
        Method("HistGradientBoosting", _make_hist, work=4.0, overhead=0.3),
        Method("BalancedRandomForest", _make_forest, needs="imblearn", work=2.0, overhead=0.3),
        Method("CoMBo deep", _make_combo, (DEEP_SETTING,), has_votes=True, work=3.0),
        *_vary(_COMBO),
        *_vary(_MM),
        *_vary(_NC),
        *_vary(_SMOTE),
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
    by_spelling = {_spell(known): known for known in METHODS}
    if _spell(name) not in by_spelling:
        raise ValueError(f"Unknown method {name!r}. Known methods: {', '.join(map(repr, METHODS))}.")
    return by_spelling[_spell(name)]


def find_obstacle(method: Method) -> str | None:
    """Say why a method cannot run here; None if it can."""
    if method.needs is None:
        return None
    try:
        import_module(method.needs)
    except ImportError as error:
        return str(error) if "pip install" in str(error) else f'{error}. Run: pip install "comboost[baselines]"'
    return None


def _spell(name: str) -> str:
    return "".join(sign for sign in name.lower() if sign.isalnum())
