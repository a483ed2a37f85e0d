"""Probabilities of the classes. In: a model that has them, and rows. Out: a column per class, or why there is none."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from comboost._types import Floats
from comboost.displays._labels import readable
from comboost.report._trial import Answerer, Trial

MOST_PROBABILITIES = 25_000_000  # 200 MB of them


@dataclass(frozen=True)
class Shares:
    """Probabilities of all classes of a trial, in an order of the rows that does not depend on theirs.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_classes)
        The probabilities; 0 for classes that the model does not know.
    truth : ndarray of shape (n_rows,)
        The class of every row.
    likeliest : ndarray of shape (n_rows,)
        The class with the highest probability; the first of equals in the order of the model's own.
    """

    values: Floats
    truth: NDArray[np.intp]
    likeliest: NDArray[np.intp]

    @property
    def confidences(self) -> Floats:
        """The highest probability of every row."""
        return np.asarray(self.values[np.arange(len(self.truth)), self.likeliest])


def probabilities_given(trial: Trial, answerer: Answerer) -> tuple[Shares | None, str | None]:
    """The probabilities that a model gives, or the reason why there are none."""
    n_rows, n_classes = len(trial.truth), len(trial.classes)
    if not hasattr(answerer.model, "predict_proba"):
        return None, f"{answerer.name} gives no probabilities."
    if n_rows * n_classes > MOST_PROBABILITIES:
        return None, f"Probabilities of {n_rows:,} rows and {n_classes:,} classes would take too much memory."
    try:
        own = np.asarray(answerer.model.predict_proba(answerer.X), dtype=np.float64)
    except (AttributeError, NotImplementedError, ValueError) as error:  # predict may well answer where this does not
        return None, f"{answerer.name} gives no probabilities: {readable(error).rstrip('.')}."
    if own.shape != (n_rows, len(answerer.known)):
        return None, f"{answerer.name} gives probabilities of shape {own.shape}, not one for every row and class."
    if not ((own >= 0) & (own <= 1)).all() or (np.abs(own.sum(axis=1) - 1) > 1e-6).any():
        return None, f"What {answerer.name} gives as probabilities are none: some do not add up to 1."
    values = np.zeros((n_rows, n_classes))
    values[:, answerer.known] = own
    likeliest = answerer.known[own.argmax(axis=1)]
    given = values[np.arange(n_rows), trial.truth]
    order = np.lexsort((likeliest, values[np.arange(n_rows), likeliest], given, trial.truth))
    return Shares(values[order], trial.truth[order], likeliest[order]), None
