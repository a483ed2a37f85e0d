"""Made-up results of folds, so that figures can be chosen and nothing has to be trained."""

import numpy as np
import pytest

from comboost.study import METHODS

CLASSES = {"connect-4": {"draw": 6449, "loss": 16635, "win": 44473}}
RIGHT = [[8, 1, 1], [0, 10, 0], [0, 2, 8]]


def judge(settings):
    """Candidates with made-up norms, the first the best; none where there is no choice."""
    return [
        {"setting": setting, "norm": 0.1 + 0.1 * place} for place, setting in enumerate(settings[len(settings) == 1 :])
    ]


@pytest.fixture
def make_results():
    """Results of a method on a data set, from a list of values for each measure; the others are all 0.5."""

    def make(dataset, method, n_folds=5, counts=RIGHT, setting=None, **measures):
        n_results = len(next(iter(measures.values()), [0]))
        classes = CLASSES.get(dataset, {"a": 10, "b": 20, "c": 30})
        defaults = dict.fromkeys(["confusion_norm", "accuracy", "g_mean", "mauc", "mauc_softmax"], 0.5)
        return [
            {
                "dataset": dataset,
                "method": method,
                "run": place // n_folds,
                "fold": place % n_folds,
                "measures": defaults | {name: values[place] for name, values in measures.items()},
                "classes": list(classes),
                "class_counts": list(classes.values()),
                "counts": counts,
                "setting": setting or {},
                "candidates": judge(METHODS[method].candidates),
                "n_iter": 1,
                "seconds": {"choose": 0.0, "fit": 1.0 + place, "predict": 0.1},
            }
            for place in range(n_results)
        ]

    return make


@pytest.fixture
def noisy():
    """Ten values around a mean; two such lists with the same seed differ by a constant."""
    return lambda mean, seed=0: (mean + 0.01 * np.random.default_rng(seed).standard_normal(10)).tolist()
