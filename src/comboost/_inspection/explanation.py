"""What features add to votes, as users get it. In: contributions. Out: a pair of arrays, or what ``shap`` plots."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from comboost._extras import import_shap
from comboost._types import Floats


class Explanation(NamedTuple):
    """What every feature adds to the votes on some rows.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_features, n_classes)
        The contributions; classes in the order of ``classes_``.
    base_values : ndarray of shape (n_classes,)
        The mean votes on the training rows, which the contributions are added to.
    """

    values: Floats
    base_values: Floats

    @property
    def votes(self) -> Floats:
        """What they add up to: the votes f of every class, (n_samples, n_classes)."""
        votes: Floats = self.base_values + self.values.sum(axis=1)
        return votes


@dataclass(frozen=True)
class ShapExplainer:
    """Explains rows with a fitted model, as the functions in ``shap.plots`` take it.

    Parameters
    ----------
    model : classifier
        A fitted classifier with a method ``explain``.
    """

    model: Any

    def __call__(self, X: Any) -> Any:
        """Explain rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        shap.Explanation
            Values of shape (n_samples, n_features, n_classes); ``[..., k]`` is the part of a class.
        """
        shap = import_shap()
        values, base_values = self.model.explain(X)
        names = getattr(self.model, "feature_names_in_", None)
        return shap.Explanation(
            values=values,
            base_values=np.tile(base_values, (len(values), 1)),
            data=as_shown(X),
            feature_names=[f"x{f}" for f in range(values.shape[1])] if names is None else list(names),
            output_names=[str(label) for label in self.model.classes_],
        )


def as_shown(X: Any) -> NDArray[Any]:
    """Rows as plots show them."""
    return np.asarray(X.toarray() if issparse(X) else X)
