"""The case about more categories than codes: what it costs that the rare ones share one. In: planted effects.

The same booster gets the column as it is, and in several columns of which each has codes for some of the categories,
so that all have one; and peers that know categories get it their own way.
"""

from functools import partial
from typing import Any

import numpy as np

from benchmarks._lib.comparison import Plan
from benchmarks._lib.problems import SEED
from benchmarks._lib.store import Result, Row
from benchmarks._lib.timing import timed
from benchmarks.tables.wide import fit_catboost, fit_lightgbm, fit_ours

N_ROWS, N_HELD = 50_000, 50_000
N_CATEGORIES = (1000, 20_000)
EXPONENTS = (1.0, 1.5)  # of Zipf's law: the k-th category is as frequent as k to the minus this
N_NUMBERS, N_CLASSES = 5, 4
EFFECT = 2.0  # the spread of what a category adds to the score of a class; the noise has 1
CODES = 250  # of one of several columns
NATIVE, SEVERAL = "comboost", "comboost, a code for each"


class RareCase:
    """Quality on held-out rows, of all of them and of those whose category has no code of its own."""

    name = "categories-rare"
    title = (
        f"{N_ROWS:_} rows, a column of many categories after Zipf's law and {N_NUMBERS} of numbers, {N_CLASSES} classes"
    ).replace("_", " ")

    def run(self, plan: Plan) -> Result:
        """Compare all on every number of categories."""
        result = Result()
        rows = result.tables["rare"] = []
        for n_categories in N_CATEGORIES:
            for exponent in EXPONENTS:
                X, y = make_table((N_ROWS + N_HELD) // (10 if plan.quick else 1), n_categories, exponent)
                rows += [{"categories": n_categories, "Zipf": exponent, **row} for row in compare(X, y, plan)]
        return result


def make_table(n_samples: int, n_categories: int, exponent: float) -> tuple[Any, Any]:
    """Every category adds to the score of every class, and so do the numbers; a row is of the class with the most."""
    import pandas

    random = np.random.default_rng(SEED)
    share = np.arange(1, n_categories + 1) ** -exponent
    category = random.choice(n_categories, size=n_samples, p=share / share.sum())
    numbers = random.standard_normal((n_samples, N_NUMBERS))
    scores = EFFECT * random.standard_normal((n_categories, N_CLASSES))[category]
    scores += numbers @ random.standard_normal((N_NUMBERS, N_CLASSES)) + random.standard_normal((n_samples, N_CLASSES))
    # Names in another order than that of the frequencies.
    words = np.array([f"w{k:05}" for k in random.permutation(n_categories)])
    columns = {"word": pandas.Categorical(words[category])}
    frame = pandas.DataFrame(columns | {f"x{f}": numbers[:, f] for f in range(N_NUMBERS)})
    return frame, scores.argmax(axis=1)


def compare(X: Any, y: Any, plan: Plan) -> list[Row]:
    """A row for each method, trained on the first half; the time is that of a single fit."""
    train, held = slice(0, len(y) // 2), slice(len(y) // 2, None)
    tables = {NATIVE: X, SEVERAL: spread(X), "LightGBM": X, "CatBoost": X}
    fitters = {NATIVE: fit_ours, SEVERAL: fit_ours, "LightGBM": fit_lightgbm, "CatBoost": fit_catboost}
    fitted = {
        name: timed(partial(fit, tables[name][train], y[train], plan.n_threads), plan.n_threads)
        for name, fit in fitters.items()
    }
    models = {name: model for name, (_, model) in fitted.items()}
    is_rare = X["word"][held].isin(models[NATIVE].infrequent_categories_[0]).to_numpy()
    rows = []
    for name, model in models.items():
        is_right = np.asarray(model.predict(tables[name][held])).ravel() == y[held]
        rows.append(
            {
                "method": name,
                "accuracy": float(is_right.mean()),
                "of frequent ones": float(is_right[~is_rare].mean()),
                "of infrequent ones": float(is_right[is_rare].mean()),
                "rows of infrequent ones": f"{is_rare.mean():.1%}",
                "fit, s": fitted[name][0],
            }
        )
    return rows


def spread(X: Any) -> Any:
    """The column of categories as several, each with codes for some of them and none for the others."""
    import pandas

    codes, names = X["word"].cat.codes.to_numpy().astype(np.int64), X["word"].cat.categories
    columns = {}
    for first in range(0, len(names), CODES):
        within = (codes >= first) & (codes < first + CODES)
        places = np.where(within, codes - first, -1).astype(np.int16)
        columns[f"word{first}"] = pandas.Categorical.from_codes(places, names[first : first + CODES])
    return pandas.concat([pandas.DataFrame(columns), X.drop(columns="word")], axis=1)
