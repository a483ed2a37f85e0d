"""A fit that succeeds or changes nothing. In: an estimator and how to fit it. Out: the estimator, fitted."""

import copy
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import joblib
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from comboost._estimators.parameters import Rule, plain_values

Estimator = TypeVar("Estimator", bound=BaseEstimator)


def fit_or_leave(estimator: Estimator, rules: Mapping[str, Rule], fit: Callable[[Estimator], None]) -> None:
    """Fit a copy of an estimator, which then takes its place; whatever fails, the estimator stays as it was.

    So does its ``random_state``, from a copy of which the fit draws. The copy has the parameters, checked by the rules,
    as Python's own values; the estimator keeps those that were given.
    """
    borrowed = BorrowedState(estimator.random_state)
    given = {name: getattr(estimator, name) for name in rules}
    fitted = object.__new__(type(estimator))
    fitted.__dict__.update({**estimator.__dict__, **plain_values(estimator, rules), "random_state": borrowed.copy})
    fit(fitted)
    model = {**fitted.__dict__, **given}  # another dict than the copy's, which a callback may have kept
    # One assignment: an interrupt, or another thread, finds the estimator as it was or fitted. The random state comes
    # after it, so that it has moved on only if the fit has succeeded.
    estimator.__dict__ = model
    borrowed.give_back()


class BorrowedState:
    """A ``random_state`` to draw from now, while the object that was given moves on later.

    Parameters
    ----------
    given : int, RandomState instance, np.random or None
        As in the estimators. Only an instance is copied: numbers do not change, and the state that all of NumPy shares
        is drawn from at once, as fits in several threads would get the same numbers otherwise.
    """

    def __init__(self, given: Any) -> None:
        self.given = self.copy = given
        if isinstance(given, np.random.RandomState) and given is not check_random_state(None):
            self.copy = copy.deepcopy(given)
            self._before = state_hash(given)

    def give_back(self) -> None:
        """Move the given object on as far as the copy, unless somebody drew from it meanwhile: it would go back."""
        if self.copy is not self.given and state_hash(self.given) == self._before:
            self.given.set_state(self.copy.get_state(legacy=False))


def state_hash(random: np.random.RandomState) -> str:
    """A text that every draw changes."""
    return str(joblib.hash(random.get_state(legacy=False)))
