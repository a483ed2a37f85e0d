"""What the training loss of a booster guarantees about its errors on the training data."""

import math
from typing import Any, NamedTuple

import numpy as np

from comboost._boosting.warm_start import fingerprint
from comboost._engine.norms import GivenNorm, get_norm
from comboost._estimators.confusion import ConfusionBoostingClassifier
from comboost._estimators.paper import CoMBoClassifier

LOSS_PARAMETERS = ("loss", "norm", "balance")
NORM = "‖C‖"
CLASS_ERROR = "the largest error of a class"


class Certificate(NamedTuple):
    """A measure of the errors on the training data, and its bounds: value <= loss <= bound.

    Attributes
    ----------
    measure : str
        ‖C‖, the largest error of a class, or a user's norm.
    value : float
        What it is on the training data.
    loss, bound : float
        What it is at most by ``loss_curve_`` and by ``bound_curve_``.
    """

    measure: str
    value: float
    loss: float
    bound: float

    def meaning(self, n_classes: int) -> str | None:
        """Say in words how strong the bounds are: no entry of C is above ‖C‖, and ‖C‖ is at most √(K-1)."""
        bound, maximum = min(self.loss, self.bound), math.sqrt(n_classes - 1)
        if self.measure == NORM:
            if bound < 1:
                return f"So no class is confused with another in more than {100 * bound:.2g} % of its training samples."
            strength = "weak" if bound < maximum else "vacuous"
            return f"‖C‖ of {n_classes} classes never exceeds {maximum:.3g}, so a bound of {bound:.3g} is {strength}."
        if self.measure == CLASS_ERROR:
            if bound < 1:
                return f"So no class is misclassified in more than {100 * bound:.2g} % of its training samples."
            return f"An error never exceeds 1, so a bound of {bound:.3g} is vacuous."
        return None  # nothing is known about a user's norm


def loss_name(booster: Any) -> str:
    """What ``loss_curve_`` is called: the loss, with its norm if that is not the sum."""
    norm = get_norm(getattr(booster, "norm", "entrywise")).name
    return "loss" if norm == "entrywise" else f"loss ({norm} norm)"


def was_changed(booster: Any, name: str) -> bool:
    """Whether a parameter that boosting depends on has another value than in the fit."""
    origin = vars(booster).get("_origin")
    fitted = None if origin is None else origin.parameters.get(name)
    return fitted is not None and fitted != fingerprint(getattr(booster, name))


def why_not_certified(booster: Any) -> str | None:
    """Why the loss of a booster bounds no norm of the confusion matrix; None if it does."""
    changed = [name for name in LOSS_PARAMETERS if hasattr(booster, name) and was_changed(booster, name)]
    if changed:
        return f"{' and '.join(changed)} changed after the fit, so the loss cannot be read."
    if booster.cost_matrix is not None and booster.decision != "expected_cost":
        return "The model was trained with a cost_matrix, so its loss bounds the cost instead of ‖C‖."
    if isinstance(booster, ConfusionBoostingClassifier):
        return None if booster.balance == 1 else f"With balance={booster.balance:g} the loss does not bound ‖C‖."
    if isinstance(booster, CoMBoClassifier):
        return None
    return "The loss weights all samples equally instead of all classes, so it does not bound ‖C‖."


def certify(booster: Any) -> Certificate | None:
    """What the loss of a fitted booster bounds on its training data; None if it bounds no norm of C.

    C ≤ A, entry by entry, and norms are monotone, so Φ(C) ≤ Φ(A). ‖C‖ is at most every norm of pairs. It is at most the
    sum of the entries, and as these are at most 1, its square is at most the sum, too.
    """
    if why_not_certified(booster) is not None:
        return None
    norm, confusion = get_norm(booster.norm), booster.train_confusion_
    loss, bound = float(booster.loss_curve_[-1]), float(booster.bound_curve_[-1])
    if isinstance(norm, GivenNorm):
        of_classes = norm.of == "classes" or getattr(booster, "loss", None) == "log"
        measured = confusion.sum(axis=1) if of_classes else confusion
        return Certificate(f"the norm {norm.name} of C", norm.value(measured), loss, bound)
    if norm.of == "classes":
        return Certificate(CLASS_ERROR, float(confusion.sum(axis=1).max()), loss, bound)
    if norm.name == "entrywise":
        loss, bound = min(loss, math.sqrt(loss)), min(bound, math.sqrt(bound))
    return Certificate(NORM, float(np.linalg.norm(confusion, ord=2)), loss, bound)
