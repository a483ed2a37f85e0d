"""The rounds so far as a classifier. In: a fit, its rounds, their votes. Out: what a scorer asks of a model."""

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._boosting.fit import Fit
from comboost._boosting.loop import History
from comboost._cached import cached_property
from comboost._types import Floats
from comboost.metrics._outcomes import share_predicted


class ModelSoFar:
    """A classifier of some rounds, as a scorer gets it: its votes on the validation rows are known.

    Whatever else it is asked, on other rows too, a fitted copy of the estimator answers, which is made only then.

    Parameters
    ----------
    estimator : VoteBooster
        The estimator that is being fitted.
    fit : Fit
        Its fit.
    history : History
        The rounds.
    X : array-like
        The validation rows, as given.
    votes : ndarray of shape (n_samples, n_classes)
        The weighted votes on them.
    """

    def __init__(self, estimator: Any, fit: Fit, history: History, X: Any, votes: Floats) -> None:
        self._estimator = estimator
        self._fit = fit
        self._history = history
        self._X = X
        self._votes = votes
        self.classes_ = fit.plan.candidates.given
        self.n_iter_ = len(history)

    @cached_property
    def fitted(self) -> Any:
        """The estimator, fitted with these rounds."""
        model = copy.copy(self._estimator)
        vars(model).update(self._fit.attributes(self._history))
        return model

    @cached_property
    def _answering(self) -> Any:
        """The estimator with as much of the rounds as it needs to tell what votes mean."""
        model = copy.copy(self._estimator)
        vars(model).update(self._fit.answering(self._history))
        return model

    def __getattr__(self, name: str) -> Any:
        if name in ("fitted", "_answering") or (name.startswith("__") and not name.startswith("__sklearn")):
            raise AttributeError(name)  # what failed, or what Python looks for and no scorer
        return getattr(self.fitted, name)

    def __repr__(self) -> str:
        return repr(self._estimator)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return copy.copy, (self.fitted,)  # a pickle refuses to make another class than that of its object

    def __sklearn_tags__(self) -> Any:
        return self._estimator.__sklearn_tags__()

    def _votes_on(self, X: Any) -> Floats:
        votes: Floats = self._votes if X is self._X else self.fitted._scores(X)
        return votes

    def predict(self, X: Any) -> NDArray[Any]:
        """Class with the most votes."""
        classes: NDArray[Any] = self._fit.plan.classes[self._votes_on(X).argmax(axis=1)]
        return classes

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities."""
        votes = self._votes_on(X)
        return np.asarray(self._answering._shares(votes, out=np.empty_like(votes)))

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the class probabilities."""
        votes = self._votes_on(X)
        return np.asarray(self._answering._log_shares(votes, out=np.empty_like(votes)))

    def decision_function(self, X: Any) -> Floats:
        """Weighted votes of every class."""
        return np.asarray(self._answering._margins(self._votes_on(X))).copy()

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows whose class is predicted."""
        return share_predicted(y, self.predict(X), sample_weight)


def answers_by_votes(estimator: type) -> bool:
    """Whether what a class answers is made of its votes, in the way of this package."""
    answers = ("predict", "predict_proba", "predict_log_proba", "decision_function", "score")
    return all(getattr(estimator, name).__module__.startswith(("comboost.", "sklearn.")) for name in answers)
