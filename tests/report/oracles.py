"""Models with given predictions."""

import numpy as np
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin


class Oracle(ClassifierMixin, BaseEstimator):
    """Classifier whose predictions are given; the first feature is the index of the sample."""

    def __init__(self, answers=(), classes=(), probabilities=None):
        self.answers = answers
        self.classes = classes
        self.probabilities = probabilities

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    @property
    def classes_(self):
        return np.asarray(self.classes)

    def predict(self, X):
        return np.asarray(self.answers)[indices_of(X)]

    def __getattr__(self, name):
        if name == "predict_proba" and self.__dict__.get("probabilities") is not None:
            return lambda X: np.asarray(self.probabilities)[indices_of(X)]
        raise AttributeError(name)


def indices_of(X):
    return np.asarray(X)[:, 0].astype(int)


def table_of(n_samples):
    """The indices of the samples, and a constant feature."""
    return np.column_stack([np.arange(n_samples), np.zeros(n_samples)]).astype(float)


@st.composite
def evaluations(draw, max_samples=40, max_classes=5):
    """Classes, true classes, and the predictions of two models."""
    classes = list("abcde")[: draw(st.integers(2, max_classes))]
    n_samples = draw(st.integers(1, max_samples))
    labels = st.lists(st.sampled_from(classes), min_size=n_samples, max_size=n_samples)
    return classes, *(np.array(draw(labels)) for _ in range(3))
