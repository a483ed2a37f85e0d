"""The case about categories: as they are, or one column for each. The same trees, folds and threads for both."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from benchmarks._lib.comparison import MILLI, Plan
from benchmarks._lib.store import Result, Row
from benchmarks._lib.timing import alternate, medians
from benchmarks._lib.verdicts import Target, Verdict

N_ROUNDS = 200
N_FOLDS, N_SPLITS = 5, 10
DEPTHS, CRITERIA = (2, 3), ("gini", "cost")
NO_WORSE, TWICE_AS_FAST = Target("≤", 0), Target("≥", 2)
BUDGET = 15.0  # seconds of repeats for each setting
FEW_ROWS = 2000  # not made fewer by a quick run
NATIVE, ONE_HOT = "native", "one-hot"


class CategoriesCase:
    """Quality on held-out rows and time of a fit."""

    name = "categories"
    title = f"categories as they are / one-hot, {N_ROUNDS} rounds, {N_SPLITS} × {N_FOLDS} folds"

    def run(self, plan: Plan) -> Result:
        """Compare both on every data set, depth and criterion."""
        result = Result()
        rows = result.tables["categories"] = []
        for (data, (X, y)), depth, criterion in product(load_data(plan).items(), DEPTHS, CRITERIA):
            params = {"max_depth": depth, "criterion": criterion}
            quality = compare_quality(X, y, params, plan)
            times, seconds = compare_times(X, y, params, plan)
            row = {"data": data, "criterion": criterion, "depth": depth, **summarise(quality), **times}
            rows.append(row)
            result.raw[name_of(row)] = {"folds": quality, "seconds": seconds}
            result.verdicts += verdicts_on(row)
        return result


def load_data(plan: Plan) -> dict[str, tuple[Any, Any]]:
    """The bundled data sets whose features are all words."""
    from comboost.datasets import load_car, load_nursery

    tables = {"car": load_car(return_X_y=True, as_frame=True), "nursery": load_nursery(return_X_y=True, as_frame=True)}
    return {name: (X, y.to_numpy()) for name, (X, y) in (tables if not plan.quick else shrunk(tables)).items()}


def shrunk(tables: dict[str, Any]) -> dict[str, Any]:
    """A tenth of every class of the larger tables."""
    from sklearn.model_selection import train_test_split

    return {
        name: (X, y) if len(y) < FEW_ROWS else train_test_split(X, y, train_size=0.1, stratify=y, random_state=0)[::2]
        for name, (X, y) in tables.items()
    }


def booster(params: dict[str, Any], plan: Plan) -> Any:
    from comboost import CoMBoClassifier

    return CoMBoClassifier(n_estimators=N_ROUNDS, n_jobs=plan.n_threads, **params)


def one_hot() -> Any:
    """A dense encoder."""
    from sklearn.preprocessing import OneHotEncoder

    return OneHotEncoder(sparse_output=False, dtype=np.float32, handle_unknown="ignore")


def compare_quality(X: Any, y: Any, params: dict[str, Any], plan: Plan) -> dict[str, dict[str, list[float]]]:
    """Norm and G-mean of both on the same folds."""
    from sklearn.model_selection import RepeatedStratifiedKFold

    scores: dict[str, dict[str, list[float]]] = {kind: {"norm": [], "g_mean": []} for kind in (NATIVE, ONE_HOT)}
    for train, held in RepeatedStratifiedKFold(n_splits=N_FOLDS, n_repeats=N_SPLITS, random_state=0).split(X, y):
        encoder = one_hot().fit(X.iloc[train])
        for kind, encode in ((NATIVE, as_it_is), (ONE_HOT, encoder.transform)):
            model = booster(params, plan).fit(encode(X.iloc[train]), y[train])
            judge(y[held], model.predict(encode(X.iloc[held])), scores[kind])
    return scores


def as_it_is(X: Any) -> Any:
    return X


def judge(y_true: Any, y_pred: Any, scores: dict[str, list[float]]) -> None:
    """Add the measures of a fold."""
    from comboost.metrics import confusion_norm_loss, geometric_mean_score

    scores["norm"].append(float(confusion_norm_loss(y_true, y_pred)))
    scores["g_mean"].append(float(geometric_mean_score(y_true, y_pred)))


def summarise(quality: dict[str, dict[str, list[float]]]) -> Row:
    """Means over the folds, and in how many of them each is better."""
    native, encoded = (np.array(quality[kind]["norm"]) for kind in (NATIVE, ONE_HOT))
    means = {
        f"{label}, {kind}": float(np.mean(quality[kind][key]))
        for (label, key), kind in product((("norm", "norm"), ("G-mean", "g_mean")), (NATIVE, ONE_HOT))
    }
    return {**means, "folds won : lost": f"{(native < encoded).sum()} : {(native > encoded).sum()}"}


def compare_times(X: Any, y: Any, params: dict[str, Any], plan: Plan) -> tuple[Row, dict[str, list[float]]]:
    """Times of fits on all rows. The encoding is timed on its own."""
    encoded = one_hot().fit_transform(X)
    actions: dict[str, Callable[[], Any]] = {
        NATIVE: partial(fit, params, plan, X, y),
        ONE_HOT: partial(fit, params, plan, encoded, y),
        "encoding": lambda: one_hot().fit_transform(X),
    }
    seconds, results = alternate(actions, plan.n_threads, plan.repeats, BUDGET)
    typical = medians(seconds)
    return {
        "fit, native, ms": MILLI * typical[NATIVE],
        "fit, one-hot, ms": MILLI * typical[ONE_HOT],
        "encoding, ms": MILLI * typical["encoding"],
        "one-hot / native": typical[ONE_HOT] / typical[NATIVE],
        "with encoding": (typical[ONE_HOT] + typical["encoding"]) / typical[NATIVE],
        "rounds": f"{results[NATIVE].n_iter_}, {results[ONE_HOT].n_iter_}",
        "repeats": len(seconds[NATIVE]),
    }, seconds


def fit(params: dict[str, Any], plan: Plan, X: Any, y: Any) -> Any:
    return booster(params, plan).fit(X, y)


def name_of(row: Row) -> str:
    """The setting of a row."""
    return f"{row['data']}, {row['criterion']}, depth {row['depth']}"


def verdicts_on(row: Row) -> list[Verdict]:
    """Whether native categories are as good, and fast."""
    worse_by = row[f"norm, {NATIVE}"] - row[f"norm, {ONE_HOT}"]
    return [
        Verdict(f"{name_of(row)}: norm, native − one-hot", NO_WORSE, worse_by),
        # Who has one-hot columns has encoded them; the fit alone stands beside it.
        Verdict(f"{name_of(row)}: time, one-hot with encoding / native", TWICE_AS_FAST, row["with encoding"]),
    ]
