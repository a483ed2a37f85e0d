"""What is certified. In: a `Trial`, the heart of the model. Out: bounds on the norm, in figures and in words."""

from typing import Any

import numpy as np

from comboost._estimators.confusion import ConfusionBoostingClassifier
from comboost._estimators.paper import CoMBoClassifier
from comboost._types import Floats
from comboost.metrics._measures import norm_slack
from comboost.report._heart import Heart
from comboost.report._trial import Trial
from comboost.report._wording import as_percent


def describe_bounds(trial: Trial, heart: Heart, norm_seen: float, confidence: float) -> dict[str, Any]:
    """What training certifies of the training rows, and what these rows say of others."""
    reason = why_no_bound(heart)
    corollary, words = bound_on_others(trial, norm_seen, confidence)
    bounds: dict[str, Any] = {"available": reason is None, "reason": reason}
    if reason is not None:
        return bounds | {
            "training_norm": None,
            "loss": None,
            "certified": None,
            "corollary": corollary,
            "sentences": [words],
        }
    booster = heart.booster
    norm = float(np.linalg.norm(booster.train_confusion_, ord=2))
    loss, certified = float(booster.loss_curve_[-1]), float(booster.bound_curve_[-1])
    sentences = [
        f"On the rows that it was trained on, ‖C‖ is {norm:.3g}; the loss makes sure that it is at most √{loss:.3g} = "
        f"{np.sqrt(loss):.3g}, and what the rounds promised, that it is at most √{certified:.3g} = "
        f"{np.sqrt(certified):.3g}.",
        tell_worth(float(np.sqrt(min(loss, certified))), len(booster.classes_)),
        words,
    ]
    return bounds | {
        "training_norm": norm,
        "loss": loss,
        "certified": certified,
        "corollary": corollary,
        "sentences": sentences,
    }


def why_no_bound(heart: Heart) -> str | None:
    """Why the loss of a model bounds no norm, in a sentence; None if it does."""
    booster = heart.booster
    if booster is None or not hasattr(booster, "bound_curve_"):
        return f"{heart.refusal}, so training certifies nothing."
    if booster.cost_matrix is not None and booster.decision == "argmax":
        return "It was trained with a cost_matrix, whose costs the loss bounds in place of the norm."
    if isinstance(booster, ConfusionBoostingClassifier):
        return None if booster.balance == 1 else f"With balance={booster.balance:g} the loss bounds no norm."
    return None if isinstance(booster, CoMBoClassifier) else "Its loss counts rows, not classes, and bounds no norm."


def tell_worth(bound: float, n_classes: int) -> str:
    """Say what a bound is worth: no entry of C exceeds its norm, and no norm exceeds √(K−1)."""
    largest = float(np.sqrt(n_classes - 1))
    if bound < 1:
        return f"So no class is taken for another one in more than {100 * bound:.2g} % of its training rows."
    if bound < largest:
        return f"No norm of {n_classes} classes exceeds {largest:.3g}, so the bound of {bound:.3g} says little."
    return f"No norm of {n_classes} classes exceeds {largest:.3g} anyway, so the bound of {bound:.3g} says nothing."


def bound_on_others(trial: Trial, norm: float, confidence: float) -> tuple[dict[str, float] | None, str]:
    """What the norm is at most on all rows of this kind, by the corollary of the paper, and what that means."""
    sizes = trial.sizes
    n_classes = len(sizes)
    if len(trial.columns) > n_classes:
        return None, "Rejected rows are taken for no class, so nothing is said of ‖C‖ on other rows."
    if not sizes.all() or n_classes < 2:
        return None, "A class has no rows here, so nothing can be said of ‖C‖ on other rows."
    largest = float(np.sqrt(n_classes - 1))
    value = norm + norm_slack(n_classes, inverse_sum(sizes), 1.0 - confidence)
    told = (
        f"If these rows were not trained on, ‖C‖ on all rows of this kind is at most {value:.3g} with "
        f"{as_percent(confidence)} confidence; it is {norm:.3g} on these."
    )
    if value >= largest:
        told += f" That says nothing, since no norm of {n_classes} classes exceeds {largest:.3g}: it takes more rows."
    elif value >= 1:
        told += " That says little: it takes more rows."
    return {"value": value, "norm": norm, "confidence": confidence, "most": largest}, told


def inverse_sum(sizes: Floats) -> float:
    """Σ 1/m_k."""
    return float(np.sum(1.0 / sizes))
