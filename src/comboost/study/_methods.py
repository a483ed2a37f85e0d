"""The methods of the experiment.

Every method has candidate settings of its weak learner, the default first. With several candidates, `choose_setting` in
`_folds` selects one for every fold.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any

from comboost.study._experiment import DATASETS, WITH_CATEGORIES, Study
from comboost.study.peers import BALANCED_RANDOM_FOREST, HIST_GRADIENT_BOOSTING

Setting = dict[str, Any]
Make = Callable[[Setting, Sequence[int], int, Study], Any]

# The paper only says "2 to 3-depth decision tree"; the default of the estimators comes first.
GRID: tuple[Setting, ...] = tuple(
    {"max_depth": depth, "criterion": criterion} for depth in (3, 2) for criterion in ("gini", "cost")
)
# The paper's trees may split a category into all its values; its results on connect-4 suggest it. Our splits are binary
# and need more levels: three levels of three-way splits have 27 leaves, five of binary splits 32.
CATEGORY_GRID: tuple[Setting, ...] = tuple(
    {"max_depth": depth, "criterion": criterion} for depth in (5, 3) for criterion in ("gini", "cost")
)
# The paper quotes results of the baselines with C4.5 trees of unlimited depth.
BASELINE_GRID: tuple[Setting, ...] = (
    {"max_depth": None, "criterion": "gini", "min_samples_leaf": 2},
    *({"max_depth": depth, "criterion": "gini"} for depth in (6, 3, 2)),
)
DEEP_SETTING: Setting = {"max_depth": 6, "criterion": "cost", "min_weight_fraction_leaf": 0.002}


@dataclass(frozen=True)
class Method:
    """A method: how to make its classifier, its candidate settings, its data sets."""

    name: str
    make: Make
    candidates: tuple[Setting, ...] = ({},)
    category_candidates: tuple[Setting, ...] = ()  # for data with categories, if different
    datasets: tuple[str, ...] = DATASETS
    has_proba_parameter: bool = False  # whether it has the parameter proba
    needs: str | None = None  # a module
    work: float = 1.0  # fit time relative to CoMBo's
    overhead: float = 0.0  # seconds per fit, independent of the data

    def candidates_for(self, categorical: Sequence[int]) -> tuple[Setting, ...]:
        """The candidates for data with these categorical columns."""
        return self.category_candidates if categorical and self.category_candidates else self.candidates


def make_booster(
    module: str, kind: str, rounds: str, setting: Setting, categorical: Sequence[int], seed: int, study: Study
) -> Any:
    """Make a booster of this package; ``rounds`` is the attribute of the study that has its number of rounds."""
    return getattr(import_module(module), kind)(
        n_estimators=getattr(study, rounds),
        categorical_features=list(categorical) or None,
        n_jobs=1,
        random_state=seed,
        **setting,
    )


def make_hist_boosting(_setting: Setting, categorical: Sequence[int], seed: int, _study: Study) -> Any:
    """Make scikit-learn's boosting with balanced class weights."""
    return HIST_GRADIENT_BOOSTING.make(1, seed=seed, categories=categorical)


def make_balanced_forest(_setting: Setting, _categorical: Sequence[int], seed: int, _study: Study) -> Any:
    """Make imbalanced-learn's forest."""
    # As Chen, Liaw and Breiman: a bootstrap of the smallest class, and as many samples of every other.
    return BALANCED_RANDOM_FOREST.make(1, seed=seed, sampling_strategy="all", replacement=True, bootstrap=False)


def fix_settings(method: Method) -> list[Method]:
    """One method for each candidate setting."""
    others = [setting for setting in method.category_candidates if setting not in method.candidates]
    return [
        replace(
            method,
            name=name_fixed(method.name, setting),
            candidates=(setting,),
            category_candidates=(),
            datasets=method.datasets if setting in method.candidates else WITH_CATEGORIES,
        )
        for setting in (*method.candidates, *others)
    ]


def name_fixed(method: str, setting: Setting) -> str:
    """The name of a method with a fixed setting, such as 'CoMBo depth 3 gini'."""
    depth = "unlimited" if setting["max_depth"] is None else setting["max_depth"]
    return f"{method} depth {depth} {setting['criterion']}"


BASELINES = "comboost.baselines"  # needs an optional package
WITHOUT_CONNECT = tuple(name for name in DATASETS if name != "connect-4")
make_combo = partial(make_booster, "comboost", "CoMBoClassifier", "n_rounds")
make_mm = partial(make_booster, "comboost", "AdaBoostMMClassifier", "n_rounds")
make_nc = partial(make_booster, BASELINES, "AdaBoostNCClassifier", "n_baseline_rounds")
make_smoteboost = partial(make_booster, BASELINES, "SMOTEBoostClassifier", "n_baseline_rounds")
of_baselines = partial(
    Method, candidates=BASELINE_GRID, datasets=WITHOUT_CONNECT, has_proba_parameter=True, needs=BASELINES
)
TUNED = [
    Method("CoMBo", make_combo, GRID, CATEGORY_GRID, has_proba_parameter=True),
    Method("AdaBoost.MM", make_mm, GRID, CATEGORY_GRID, has_proba_parameter=True),
    of_baselines("AdaBoost.NC", make_nc, work=2.0),
    of_baselines("SMOTEBoost", make_smoteboost, work=3.0),
]
METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        *TUNED,
        Method("HistGradientBoosting", make_hist_boosting, work=4.0, overhead=0.3),
        Method("BalancedRandomForest", make_balanced_forest, needs="imblearn", work=2.0, overhead=0.3),
        Method("CoMBo deep", make_combo, (DEEP_SETTING,), has_proba_parameter=True, work=3.0),
        *(fixed for method in TUNED for fixed in fix_settings(method)),
    )
}


def find_method(name: str) -> str:
    """Find a method by its name; only letters and digits matter.

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


def letters_and_digits(name: str) -> str:
    """The letters and digits of a name, in lower case."""
    return "".join(character for character in name.lower() if character.isalnum())


def find_obstacle(method: Method) -> str | None:
    """Why a method cannot run here; None if it can."""
    if method.needs is None:
        return None
    try:
        import_module(method.needs)
    except ImportError as error:
        return str(error) if "pip install" in str(error) else f'{error}. Run: pip install "comboost[baselines]"'
    return None
