"""Shared by the tests of ONNX models and C files: difficult samples; models of text, rare categories, odd classes."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier

ESTIMATORS = [CoMBoClassifier, AdaBoostMMClassifier, ConfusionBoostingClassifier]


def hard_rows(model, problem, seed):
    """Samples of a problem with values at and next to thresholds, missing values, and unknown categories."""
    random = np.random.default_rng(seed)
    X = np.vstack([problem.X, problem.X[random.permutation(len(problem.X))]]).astype(np.float64)
    nodes = model._forest.nodes
    for feature in range(X.shape[1]):
        if feature in problem.categorical:
            X[random.random(len(X)) < 0.2, feature] = random.choice([-1.0, 0.5, 77.0])
        else:
            thresholds = nodes["threshold"][nodes["feature"] == feature]
            thresholds = thresholds[np.isfinite(thresholds)]
            near = np.concatenate([thresholds, np.nextafter(thresholds, np.inf), np.nextafter(thresholds, -np.inf)])
            near = near[np.isfinite(near)]
            if len(near):
                replaced = random.random(len(X)) < 0.5
                X[replaced, feature] = random.choice(near, replaced.sum())
        X[random.random(len(X)) < 0.15, feature] = np.nan
    return X


def as_float32(X):
    """Convert to float32; values that would be infinite become missing."""
    with np.errstate(over="ignore"):
        rows = X.astype(np.float32)
    rows[np.isinf(rows)] = np.nan
    return rows


def scores_of(model, X):
    """The scores for every class, two classes too."""
    return model._for_all(model._scores(X), model._absent_score)


def text_frame(seed, n_samples=600):
    """Text, with more categories than codes in one column, numbers that are categories, and numbers; some missing."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "many": [f"city {k:03}" for k in random.integers(0, 500, n_samples)],
            "few": random.choice(["", 'a"b\\', "*/ int x;", "größe ☃", "??/"], n_samples),
            "number": random.normal(size=n_samples),
            "kind": pd.Categorical(random.integers(0, 40, n_samples)),
        }
    )
    hidden = random.random((n_samples, 4)) < 0.05
    return frame.mask(hidden)


def text_model(kind, seed=0, **settings):
    """A model of such a table; the classes depend on all features."""
    frame = text_frame(seed)
    random = np.random.default_rng(seed)
    score = frame["number"].fillna(0) + (frame["few"].astype(str).str.len() % 3) + frame["kind"].isin([1, 3, 5, 33])
    y = np.array(["ash", "elm ☃", "fir"])[np.digitize(score + random.normal(0, 0.3, len(frame)), [0.8, 2.0])]
    return kind(n_estimators=12, **settings).fit(frame, y), frame


def two_class_model(kind):
    """A model of two classes with ties: samples with equal features."""
    X = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [2.0, 5.0]])
    return kind(n_estimators=3).fit(X, [False, True, True, False, True]), X


def weightless_model(kind):
    """A model of four classes, one of them without weight."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(80, 2)), random.integers(0, 4, 80)
    return kind(n_estimators=6).fit(X, y, sample_weight=(y != 1).astype(float)), X


seeds = st.integers(0, 2**16)
