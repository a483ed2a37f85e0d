"""The case about many categories: ours as they are and one-hot, and peers that know categories. For information."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks._lib.comparison import Plan
from benchmarks._lib.peers import LEARNING_RATE, MAX_BINS, MAX_DEPTH, N_LEAVES
from benchmarks._lib.problems import SEED
from benchmarks._lib.store import Result, Row
from benchmarks._lib.timing import alternate, medians

N_ROWS, N_HELD = 100_000, 20_000
N_COLUMNS, N_CATEGORIES, N_NUMBERS, N_CLASSES = 5, 100, 5, 4
NOISE = 0.1  # share of rows whose class is drawn at random
N_ROUNDS = 200
BUDGET = 200.0
ENCODING = "encoding"


class WideCase:
    """Time of a fit, and the norm on held-out rows."""

    name = "categories-wide"
    title = (
        f"{N_ROWS:_} rows, {N_COLUMNS} columns of {N_CATEGORIES} categories and {N_NUMBERS} of numbers, "
        f"{N_CLASSES} classes, {N_ROUNDS} rounds"
    ).replace("_", " ")

    def run(self, plan: Plan) -> Result:
        """Fit with all, in turns."""
        X, y = make_table((N_ROWS + N_HELD) // (10 if plan.quick else 1))
        n_train = len(y) * N_ROWS // (N_ROWS + N_HELD)
        train, held = slice(0, n_train), slice(n_train, None)
        encoder = one_hot().fit(X[train])
        fits: dict[str, Callable[[], Any]] = {
            "comboost, native": partial(fit_ours, X[train], y[train], plan.n_threads),
            "comboost, one-hot CSR": partial(fit_ours, encoder.transform(X[train]), y[train], plan.n_threads),
            "LightGBM": partial(fit_lightgbm, X[train], y[train], plan.n_threads),
            "CatBoost": partial(fit_catboost, X[train], y[train], plan.n_threads),
            "HistGradientBoosting": partial(fit_hist, X[train], y[train]),
            ENCODING: lambda: one_hot().fit_transform(X[train]),
        }
        seconds, models = alternate(fits, plan.n_threads, plan.repeats, BUDGET)
        tables = {name: encoder.transform(X[held]) if "one-hot" in name else X[held] for name in fits}
        typical = medians(seconds)
        rows = [row_of(name, typical, models[name], tables[name], y[held]) for name in fits if name != ENCODING]
        return Result({"wide": rows}, raw={"seconds": seconds})


def make_table(n_samples: int) -> tuple[Any, Any]:
    """Every class has a subset of each column's categories; a row's class is the one that it fits best."""
    import pandas

    random = np.random.default_rng(SEED)
    codes = random.integers(N_CATEGORIES, size=(n_samples, N_COLUMNS))
    numbers = random.standard_normal((n_samples, N_NUMBERS))
    in_subset = random.random((N_COLUMNS, N_CATEGORIES, N_CLASSES)) < 0.5
    votes = sum(in_subset[c, codes[:, c]] for c in range(N_COLUMNS)) + 0.5 * numbers @ random.standard_normal(
        (N_NUMBERS, N_CLASSES)
    )
    y = votes.argmax(axis=1)
    drawn = random.random(n_samples) < NOISE
    y[drawn] = random.integers(N_CLASSES, size=drawn.sum())
    words = [f"w{k:03}" for k in range(N_CATEGORIES)]
    columns = {f"c{c}": pandas.Categorical.from_codes(codes[:, c], words) for c in range(N_COLUMNS)}
    return pandas.DataFrame(columns | {f"x{f}": numbers[:, f] for f in range(N_NUMBERS)}), y


def one_hot() -> Any:
    """An encoder of the categories to CSR, which keeps the numbers."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    encoder = OneHotEncoder(dtype=np.float32, handle_unknown="ignore")
    words = make_column_selector(dtype_include="category")
    return make_column_transformer((encoder, words), remainder="passthrough", sparse_threshold=1.0)


def fit_ours(X: Any, y: Any, n_threads: int) -> Any:
    from comboost import CoMBoClassifier

    return CoMBoClassifier(n_estimators=N_ROUNDS, max_depth=MAX_DEPTH, n_jobs=n_threads).fit(X, y)


def fit_lightgbm(X: Any, y: Any, n_threads: int) -> Any:
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(
        n_estimators=N_ROUNDS,
        learning_rate=LEARNING_RATE,
        max_depth=MAX_DEPTH,
        num_leaves=N_LEAVES,
        max_bin=MAX_BINS,
        n_jobs=n_threads,
        verbosity=-1,
    )
    return model.fit(X, y)


def fit_catboost(X: Any, y: Any, n_threads: int) -> Any:
    from catboost import CatBoostClassifier

    model = CatBoostClassifier(
        loss_function="MultiClass",
        iterations=N_ROUNDS,
        learning_rate=LEARNING_RATE,
        depth=MAX_DEPTH,
        thread_count=n_threads,
        allow_writing_files=False,
        logging_level="Silent",
    )
    return model.fit(X, y, cat_features=list(X.select_dtypes("category")))


def fit_hist(X: Any, y: Any) -> Any:
    """Its threads are those of OpenMP, which the measuring limits."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=N_ROUNDS,
        learning_rate=LEARNING_RATE,
        max_depth=MAX_DEPTH,
        max_leaf_nodes=N_LEAVES,
        early_stopping=False,
        categorical_features="from_dtype",
    )
    return model.fit(X, y)


def row_of(name: str, seconds: dict[str, float], model: Any, X: Any, y: Any) -> Row:
    """A method's time, and how good it is on held-out rows."""
    from comboost.metrics import confusion_norm_loss

    predicted = np.asarray(model.predict(X)).ravel()
    return {
        "method": name,
        "fit, s": seconds[name],
        "encoding, s": seconds[ENCODING] if "one-hot" in name else None,
        "norm": float(confusion_norm_loss(y, predicted)),
        "accuracy": float((predicted == y).mean()),
    }
