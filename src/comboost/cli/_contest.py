"""Classifiers on the same folds. In: a lesson. Out: recalls and norms of each, and what paired differences show."""

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.special import stdtrit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from threadpoolctl import threadpool_limits

from comboost._estimators.parameters import n_threads_of
from comboost.cli._errors import one_line
from comboost.cli._folds import geometric_mean, joined_folds, make_splits, note_small_classes
from comboost.cli._learning import Lesson, Request, read_lesson
from comboost.cli._progress import Tick
from comboost.cli._settings import ESTIMATORS, Recipe, make_estimator
from comboost.model_selection import ConfusionFolds, cross_validate_confusion

OURS = {"confusion": "ConfusionBoosting", "combo": "CoMBo", "mm": "AdaBoost.MM"}
CONFIDENCE = 0.95
BALANCED_WEIGHTS = "balanced"
MOST_CATEGORIES_OF_HIST = 255
BETTER, WORSE, OPEN = "better", "worse", "open"


class Peer(ClassifierMixin, BaseEstimator):
    """Another library's classifier, told to balance the classes, that takes any data frame of ours.

    Parameters
    ----------
    library : str
        A name of `PEER_KINDS`.
    n_jobs : int or None, default=None
        Threads, as in our estimators; those of OpenMP, which some libraries take without asking, are limited to them.
    """

    def __init__(self, library: str = "HistGradientBoosting", n_jobs: int | None = None) -> None:
        self.library = library
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> "Peer":
        """Fit on coded classes, with weights that balance them if the library has no word for that."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        kind = PEER_KINDS[self.library]
        n_threads = n_threads_of(self.n_jobs)
        self.model_ = kind.make(n_threads, X)
        weights = {"sample_weight": compute_sample_weight(BALANCED_WEIGHTS, codes)} if kind.weighted else {}
        with threadpool_limits(n_threads):
            self.model_.fit(kind.prepare(X), codes, **weights)
        return self

    def predict(self, X: Any) -> Any:
        """Predict classes."""
        kind, n_threads = PEER_KINDS[self.library], n_threads_of(self.n_jobs)
        with threadpool_limits(n_threads):
            codes = np.asarray(kind.predict(self.model_, kind.prepare(X), n_threads))
        return self.classes_[codes.reshape(len(X)).astype(np.intp)]


@dataclass(frozen=True)
class PeerKind:
    """How a library is asked; balanced by weights of rows if it is ``weighted``."""

    module: str
    make: Callable[[int, Any], Any]
    prepare: Callable[[Any], Any] = lambda X: X
    predict: Callable[[Any, Any, int], Any] = lambda model, X, n_threads: model.predict(X)
    weighted: bool = False


def category_names(X: Any) -> list[str]:
    """The columns of categories."""
    return [name for name in X.columns if X[name].dtype == "category"]


def make_lightgbm(n_threads: int, X: Any) -> Any:
    """LightGBM with class weights."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(class_weight=BALANCED_WEIGHTS, random_state=0, n_jobs=n_threads, verbose=-1)


def make_xgboost(n_threads: int, X: Any) -> Any:
    """XGBoost, which has no class weights."""
    from xgboost import XGBClassifier

    return XGBClassifier(enable_categorical=True, random_state=0, n_jobs=n_threads)


def make_catboost(n_threads: int, X: Any) -> Any:
    """CatBoost, which would write files."""
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        loss_function="MultiClass",
        auto_class_weights="Balanced",
        random_seed=0,
        thread_count=n_threads,
        allow_writing_files=False,
        logging_level="Silent",
        cat_features=category_names(X),
    )


def predict_with_catboost(model: Any, X: Any, n_threads: int) -> Any:
    """Codes of classes; CatBoost forgets how many threads it was made with."""
    return model.predict(X, thread_count=n_threads)


def make_hist(n_threads: int, X: Any) -> Any:
    """Scikit-learn's boosting."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        class_weight=BALANCED_WEIGHTS, random_state=0, categorical_features=category_names(few_categories(X)) or None
    )


def make_forest(n_threads: int, X: Any) -> Any:
    """A random forest whose trees draw as many rows of every class."""
    from imblearn.ensemble import BalancedRandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    forest = BalancedRandomForestClassifier(random_state=0, n_jobs=n_threads)
    return make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), forest)


def few_categories(X: Any) -> Any:
    """Columns of more categories than scikit-learn's boosting takes as the numbers of these."""
    many = [name for name in category_names(X) if len(X[name].cat.categories) > MOST_CATEGORIES_OF_HIST]
    return X.assign(**{name: X[name].cat.codes.astype("float64").where(X[name].notna()) for name in many})


def text_categories(X: Any) -> Any:
    """Categories as text, missing ones too."""
    names = category_names(X)
    return X.assign(**{name: X[name].astype(object).where(X[name].notna(), "missing").astype(str) for name in names})


def indicators(X: Any) -> Any:
    """A column of 0 and 1 for every category."""
    import pandas

    return pandas.get_dummies(X, columns=category_names(X), dtype=float)


PEER_KINDS = {
    "LightGBM": PeerKind("lightgbm", make_lightgbm),
    "XGBoost": PeerKind("xgboost", make_xgboost, weighted=True),
    "CatBoost": PeerKind("catboost", make_catboost, text_categories, predict_with_catboost),
    "HistGradientBoosting": PeerKind("sklearn", make_hist, few_categories),
    "BalancedRandomForest": PeerKind("imblearn", make_forest, indicators),
}


@dataclass(frozen=True)
class Contestant:
    """What one classifier reached; the differences are ours minus its, in mean recall over the folds."""

    name: str
    recalls: dict[str, float]
    norm: float
    g_mean: float
    mean_recall: float
    seconds: float
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    verdict: str | None = None


@dataclass(frozen=True)
class Contest:
    """All that took part, ours first, and who could not."""

    lesson: dict[str, Any]
    n_folds: int
    n_repeats: int
    confidence: float
    contestants: list[Contestant]
    left_out: dict[str, str]
    verdict: str
    notes: list[str]


def compare_file(request: Request, recipe: Recipe, n_folds: int, n_repeats: int, tick: Tick) -> Contest:
    """Cross-validate all on the same folds of a file."""
    leader = make_estimator(recipe)
    tick("reading", 0.0)
    lesson = read_lesson(request)
    splits = make_splits(lesson, n_folds, n_repeats, leader.random_state)
    left_out = {name: f"{kind.module} is not installed" for name, kind in PEER_KINDS.items() if not is_installed(kind)}
    field = contestants_of(leader, [name for name in PEER_KINDS if name not in left_out])
    coded = Lesson(lesson.name, lesson.target, plain_columns(lesson.X), lesson.y, lesson.columns)
    found: dict[str, ConfusionFolds] = {}
    seconds: dict[str, float] = {}
    for n_before, (name, estimator) in enumerate(field.items()):
        start = time.perf_counter()
        is_peer = isinstance(estimator, Peer)
        rows = coded if is_peer else lesson
        folds = []
        try:
            for place, split in enumerate(splits):
                tick(name, (n_before + place / len(splits)) / len(field))
                folds.append(cross_validate_confusion(estimator, rows.X, rows.y, cv=[split]))
        except Exception as error:
            if not is_peer:
                raise
            left_out[name] = f"it fails: {one_line(error).rstrip('.')}"
            continue
        found[name] = joined_folds(folds, lesson)
        seconds[name] = time.perf_counter() - start
    contestants = judge_folds(found, seconds, splits)
    return Contest(
        lesson=lesson.as_dict(),
        n_folds=n_folds,
        n_repeats=n_repeats,
        confidence=CONFIDENCE,
        contestants=contestants,
        left_out=left_out,
        verdict=tell_differences(contestants, n_folds * n_repeats),
        notes=note_small_classes(lesson, n_folds),
    )


def is_installed(kind: PeerKind) -> bool:
    """Whether a library is there."""
    return find_spec(kind.module) is not None


def contestants_of(leader: Any, peers: list[str]) -> dict[str, Any]:
    """Our estimators, the one asked for first, and the peers; all with as many threads and their own defaults."""
    by_class = {make: OURS[short] for short, make in ESTIMATORS.items()}
    field = {by_class[type(leader)]: leader}
    for make, name in by_class.items():
        if name not in field:
            field[name] = make(n_jobs=leader.n_jobs, random_state=leader.random_state)
    return field | {name: Peer(name, leader.n_jobs) for name in peers}


def plain_columns(X: Any) -> Any:
    """Numbers and categories of a data frame: text as categories, dates as seconds, and names that all take."""
    from pandas.api import types

    columns = {}
    for name, plain in zip(X.columns, plain_names(X.columns), strict=True):
        column = X[name]
        if types.is_datetime64_any_dtype(column.dtype) or types.is_timedelta64_dtype(column.dtype):
            column = column.astype("int64").where(column.notna()) / 1e6
        elif not types.is_numeric_dtype(column.dtype):
            codes = column.astype("category").cat.codes.astype("int64")
            column = codes.astype("category").cat.remove_categories([-1] if (codes == -1).any() else [])
        columns[plain] = column.astype("float64") if types.is_numeric_dtype(column.dtype) else column
    return type(X)(columns)


def plain_names(names: Iterable[Any]) -> list[str]:
    """Names without the signs that some libraries refuse; numbered where that makes them alike.

    Examples
    --------
    >>> from comboost.cli._contest import plain_names
    >>> plain_names(["heat", "load [%]", "load <%>"])
    ['heat', 'load_', 'load__3']
    """
    found: dict[str, None] = {}
    for place, name in enumerate(names, start=1):
        plain = re.sub(r"\W+", "_", str(name))
        while plain in found:
            plain = f"{plain}_{place}"
        found[plain] = None
    return list(found)


def judge_folds(found: dict[str, ConfusionFolds], seconds: dict[str, float], splits: list[Any]) -> list[Contestant]:
    """Figures of all, and the differences of the first one to the others, fold by fold."""
    first = next(iter(found))
    shares = np.array([len(test) / len(train) for train, test in splits])
    by_fold = {name: np.nanmean(folds.fold_recalls, axis=1) for name, folds in found.items()}
    contestants = []
    for name, folds in found.items():
        figures = {
            "recalls": {str(label): float(r) for label, r in zip(folds.classes, folds.recalls, strict=True)},
            "norm": folds.norm,
            "g_mean": geometric_mean(folds.recalls),
            "mean_recall": float(np.mean(folds.recalls)),
            "seconds": seconds[name],
        }
        if name != first:
            middle, low, high = paired_interval(by_fold[first] - by_fold[name], float(shares.mean()))
            verdict = BETTER if low > 0 else WORSE if high < 0 else OPEN
            figures |= {"difference": middle, "difference_low": low, "difference_high": high, "verdict": verdict}
        contestants.append(Contestant(name=name, **figures))  # type: ignore[arg-type]
    return contestants


def paired_interval(differences: Any, share: float, confidence: float = CONFIDENCE) -> tuple[float, float, float]:
    """The mean of differences over folds, and its limits by the corrected t-test of Nadeau and Bengio.

    Folds share their training rows, so that the plain t-test would be too sure; ``share`` is the number of test rows
    per training row, by which the variance is raised.

    Examples
    --------
    >>> from comboost.cli._contest import paired_interval
    >>> [round(limit, 3) for limit in paired_interval([0.01, 0.03, 0.02, 0.02, 0.02], 0.25)]
    [0.02, 0.007, 0.033]
    """
    values = np.asarray(differences, dtype=np.float64)
    n, middle = len(values), float(np.mean(values))
    error = float(np.sqrt((1 / n + share) * values.var(ddof=1)))
    half = float(stdtrit(n - 1, 0.5 + 0.5 * confidence)) * error
    return middle, middle - half, middle + half


def tell_differences(contestants: list[Contestant], n_folds: int) -> str:
    """Say what the intervals show, and no more."""
    first, *others = contestants
    parts = []
    for verdict, words in (
        (BETTER, "finds more than"),
        (WORSE, "finds less than"),
        (OPEN, "is not shown to differ from"),
    ):
        names = [other.name for other in others if other.verdict == verdict]
        if names:
            parts.append(f"{words} {', '.join(names)}")
    return (
        f"In mean recall, {first.name} {'; '.join(parts)} (paired differences over {n_folds} folds, intervals of "
        f"{CONFIDENCE:.0%}, each for one comparison)."
    )
