"""Models that say what they are told, for tests of what is made of it."""

import numpy as np
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin


class Oracle(ClassifierMixin, BaseEstimator):
    """Says of a row what it was told, by the number in its first column."""

    def __init__(self, answers=(), classes=(), shares=None):
        self.answers = answers
        self.classes = classes
        self.shares = shares

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    @property
    def classes_(self):
        return np.asarray(self.classes)

    def predict(self, X):
        return np.asarray(self.answers)[rows_of(X)]

    def __getattr__(self, name):
        if name == "predict_proba" and self.__dict__.get("shares") is not None:
            return lambda X: np.asarray(self.shares)[rows_of(X)]
        raise AttributeError(name)


def rows_of(X):
    return np.asarray(X)[:, 0].astype(int)


def table_of(n_rows):
    """The numbers of the rows, and a column that says nothing."""
    return np.column_stack([np.arange(n_rows), np.zeros(n_rows)]).astype(float)


@st.composite
def trials(draw, max_rows=40, max_classes=5):
    """Classes, the truth, and what two models say."""
    classes = list("abcde")[: draw(st.integers(2, max_classes))]
    n_rows = draw(st.integers(1, max_rows))
    labels = st.lists(st.sampled_from(classes), min_size=n_rows, max_size=n_rows)
    return classes, *(np.array(draw(labels)) for _ in range(3))
