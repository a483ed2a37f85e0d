"""From scores to probabilities and predicted labels. In: a fitted model and its parameters. Out: the two maps.

Parameters may have changed since the fit. Values that the fit has not prepared for are refused.
"""

from collections.abc import Callable
from operator import methodcaller
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from comboost._boosting.warm_start import FitFingerprint, fingerprint
from comboost._data.checks import shown
from comboost._data.cost_matrices import cost_array, read_priors
from comboost._data.labels import (
    Candidates,
    as_objects,
    exact_labels,
    join_labels,
    kind_of_labels,
    locate_labels,
    unpack_labels,
)
from comboost._engine.probabilities import ProbabilityMap, cheapest_decisions
from comboost._estimators.parameters import CALIBRATION, PRIORS, REJECT_COST, BoosterSettings, check_reject
from comboost._types import Floats, MatrixLike

BLOCK_SIZE = 2**18  # probabilities that are held at a time
FITTED_CALIBRATION = {"temperature": "temperature_", "isotonic": "_isotonic"}  # the attribute that holds it
NO_COSTS = fingerprint(None)
BY_COST = fingerprint("expected_cost")
ARGMAX: Callable[[Floats], NDArray[np.intp]] = methodcaller("argmax", axis=1)


class Decision(NamedTuple):
    """The map from scores to predicted labels.

    Attributes
    ----------
    labels : ndarray
        All labels that can be predicted; the last one is for rejected samples, if samples can be rejected.
    choose : callable
        Maps scores, (n_samples, n_classes), to indices of labels.
    """

    labels: NDArray[Any]
    choose: Callable[[Floats], NDArray[np.intp]]


class Model(Protocol):
    """A fitted booster, as far as its predictions are concerned."""

    classes_: NDArray[Any]
    class_prior_: Floats
    calibration: str | None
    priors: Any
    decision: str
    cost_matrix: ArrayLike | MatrixLike | None
    reject_cost: float | None
    reject_label: Any
    _trained_indices: NDArray[np.intp] | None

    @property
    def _log_odds(self) -> float: ...
    @property
    def _learned_log_priors(self) -> Floats | None: ...


# Probabilities


def probability_map(model: Model) -> ProbabilityMap:
    """The map from scores to probabilities."""
    vote_fraction = vars(model).get("proba") == "vote_fraction"
    learned, calibration = model._learned_log_priors, {}
    if model.calibration is not None:
        kind = CALIBRATION.read(type(model).__name__, "calibration", model.calibration)
        if vars(model).get("proba") == "vote_fraction":
            raise not_calibrated_error(kind)
        fitted = vars(model).get(FITTED_CALIBRATION[kind])
        if fitted is not None:
            calibration = {"temperature": fitted} if kind == "temperature" else {"curves": fitted}
        elif "_origin" in vars(model):  # otherwise the model is being fitted, and is calibrated at the end
            raise ValueError(
                f"calibration={kind!r} was set after the fit, which has not fitted it; fit again, or set calibration "
                "back."
            )
    return ProbabilityMap(
        model._log_odds, learned, log_priors(model, learned), vote_fraction=vote_fraction, **calibration
    )


def not_calibrated_error(calibration: str) -> ValueError:
    """Error about vote fractions, which cannot be calibrated."""
    return ValueError(
        f'calibration={calibration!r} requires proba="softmax", but proba="vote_fraction" is set; leave one out.'
    )


def log_priors(model: Model, learned: Floats | None) -> Floats | None:
    """Logarithms of the class priors that ``priors`` requests; None if they are equal."""
    priors = model.priors
    if priors is None:
        return learned
    if isinstance(priors, str) and priors == "uniform":
        return None
    PRIORS.read(type(model).__name__, "priors", priors)
    if isinstance(priors, str):
        return log_training_priors(model)
    probabilities = read_priors(priors, model.classes_)
    return np.asarray(
        np.log(probabilities if model._trained_indices is None else probabilities[model._trained_indices])
    )


def log_training_priors(model: Model) -> Floats:
    """Logarithms of the class priors of the training set."""
    if not hasattr(model, "class_prior_"):
        raise ValueError(
            f"priors={model.priors!r} needs the class priors of the training set, which an earlier version has not "
            "stored with this model; set priors=None, or fit it again."
        )
    proportions = model.class_prior_ if model._trained_indices is None else model.class_prior_[model._trained_indices]
    return np.asarray(np.log(proportions))


# Decisions


def decision_of(model: Model) -> Decision:
    """The map from scores to predicted labels."""
    reject_cost = REJECT_COST.read(type(model).__name__, "reject_cost", model.reject_cost)
    check_reject(model.decision, model.reject_cost, model.reject_label)
    check_costs_of_fit(model)
    candidates = Candidates(model.classes_, model._trained_indices)
    if model.decision == "argmax":
        return Decision(candidates.classes, ARGMAX)
    costs = None
    if model.cost_matrix is not None:
        costs = candidates.select_pairs(cost_array(model.cost_matrix, candidates.given))
    to_probabilities = probability_map(model)

    def choose(scores: Floats) -> NDArray[np.intp]:
        chosen, step = np.empty(len(scores), dtype=np.intp), max(1, BLOCK_SIZE // scores.shape[1])
        for begin in range(0, len(scores), step):
            block = scores[begin : begin + step]
            probabilities = to_probabilities.probabilities(block, out=np.empty_like(block))
            chosen[begin : begin + step] = cheapest_decisions(probabilities, costs, reject_cost)
        return chosen

    labels = candidates.classes if reject_cost is None else with_reject(model.reject_label, candidates)
    return Decision(labels, choose)


def check_costs_of_fit(model: Model) -> None:
    """Raise if ``decision`` was changed after a fit that used the costs otherwise."""
    if model.decision == "argmax" and model.cost_matrix is None:
        return
    origin: FitFingerprint | None = vars(model).get("_origin")
    then = {} if origin is None else origin.parameters  # there is none during the fit
    if model.decision == "expected_cost" and then.get("cost_matrix", NO_COSTS) != NO_COSTS:
        raise ValueError(
            'decision="expected_cost" was set after a fit that trained with cost_matrix, so its costs would count '
            'twice; fit again, or set decision="argmax".'
        )
    if model.decision == "argmax" and then.get("decision") == BY_COST:
        raise ValueError(
            'decision="argmax" was set after a fit with decision="expected_cost", whose scores do not depend on '
            'cost_matrix; fit again, or set decision="expected_cost" or cost_matrix=None.'
        )


def with_reject(label: Any, candidates: Candidates) -> NDArray[Any]:
    """The classes with weight, and the label of rejected samples."""
    classes = candidates.given
    kind = kind_of_labels(classes)
    words = f"reject_label={shown(label)}"
    if label is None:
        label = default_reject_label(classes, kind)
        words = f"reject_label=None stands for {label!r}, which"
    found = exact_labels(as_objects([label]) if isinstance(label, tuple) else unpack_labels([label]), "reject_label")
    if kind_of_labels(found) != kind:
        raise ValueError(
            f"{words} is not a label like the classes {classes.tolist()}, which are {kind}; give one of their kind."
        )
    if locate_labels(found, classes)[0] >= 0:
        raise ValueError(f"{words} is one of the classes {classes.tolist()}; give a label that is not among them.")
    return join_labels([candidates.classes, found], "reject_label")


def default_reject_label(classes: NDArray[Any], kind: str) -> str | int:
    """The label of rejected samples if none is given."""
    if kind == "text":
        return "reject"
    if kind == "numbers" and classes.dtype.kind != "b":
        return -1
    kind = "that is a whole number, such as -1" if classes.dtype.kind == "b" else "of their kind"
    raise ValueError(
        f"reject_label=None is not a label beside the classes {classes.tolist()}; give a reject_label {kind}."
    )


def check_decisions(settings: BoosterSettings, candidates: Candidates) -> None:
    """Raise if ``priors`` or ``reject_label`` do not suit the classes."""
    if settings.priors is not None and not isinstance(settings.priors, str):
        read_priors(settings.priors, candidates.given)
    if settings.reject_cost is not None:
        with_reject(settings.reject_label, candidates)
