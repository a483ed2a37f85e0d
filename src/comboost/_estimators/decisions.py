"""What an estimator makes of votes. In: its parameters, what it has learned. Out: a map to probabilities, a decision.

The parameters may have changed since the fit: what was not learned for them is refused.
"""

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comboost._boosting.warm_start import fingerprint
from comboost._data.cost_matrices import cost_array, read_shares
from comboost._data.labels import (
    Candidates,
    as_objects,
    exact_labels,
    join_labels,
    kind_of_labels,
    locate_labels,
    unpack_labels,
)
from comboost._engine.probabilities import (
    TEMPERATURES,
    HeldVotes,
    IsotonicCurves,
    ProbabilityMap,
    cheapest_decisions,
    learn_temperature,
)
from comboost._estimators.parameters import CALIBRATION, PRIORS, REJECT_COST, Rule
from comboost._types import Floats

DECIDED_AT_ONCE = 2**18  # probabilities that are held at a time
LEARNED_CALIBRATION = {"temperature": "temperature_", "isotonic": "_isotonic"}  # the attributes that hold it
CLOSE_TO_LIMIT = 1e-3  # the search for a temperature never ends on its limits
#: What it means to end there, and what to do.
AT_LIMITS = (
    "the smallest that is tried: on rows that were not trained on, votes are far too small for how often they are "
    "right. Fit more rounds, or with a larger learning_rate.",
    "the largest that is tried: on rows that were not trained on, votes tell classes apart no better than chance, so "
    "nor can predict_proba. See whether these rows are like those trained on, fit fewer rounds, or set "
    "calibration=None.",
)
NO_COSTS = fingerprint(None)
BY_COST = fingerprint("expected_cost")


class Decision(NamedTuple):
    """How votes become answers.

    Attributes
    ----------
    answers : ndarray
        All answers that there can be; the last one is for rejected rows, if rows can be rejected.
    choose : callable
        The places among them that votes, (n_samples, n_classes), lead to.
    """

    answers: NDArray[Any]
    choose: Callable[[Floats], NDArray[np.intp]]


def most_votes(votes: Floats) -> NDArray[np.intp]:
    """The class with the most votes of every row, the first of equal ones."""
    elected: NDArray[np.intp] = votes.argmax(axis=1)
    return elected


# Probabilities


def probability_map(booster: Any) -> ProbabilityMap:
    """What the votes of a fitted booster mean."""
    by_share = booster.proba == "votes"
    if booster.priors is None and booster.calibration is None:  # as the votes were learned
        return ProbabilityMap(booster._log_odds, by_share=by_share)
    learned = booster._learned_shares
    wanted = wanted_shares(booster, learned)
    return ProbabilityMap(booster._log_odds, learned, wanted, by_share=by_share, **learned_calibration(booster))


def wanted_shares(booster: Any, learned: Floats | None) -> Floats | None:
    """Logarithms of the shares of the classes, of those that are voted for, that ``priors`` asks for."""
    priors = booster.priors
    if priors is None:
        return learned
    if isinstance(priors, str) and priors == "uniform":
        return None
    check_value(booster, "priors", PRIORS)
    if isinstance(priors, str):
        return training_shares(booster)
    shares = read_shares(priors, booster.classes_)
    return np.asarray(np.log(shares if booster._voted is None else shares[booster._voted]))


def training_shares(booster: Any) -> Floats:
    """Logarithms of the shares of the classes in training, of those that are voted for."""
    if not hasattr(booster, "class_prior_"):
        raise ValueError(
            f"priors={booster.priors!r} needs the shares of the classes in training, which an earlier version has not "
            "stored with this model; set priors=None, or fit it again."
        )
    shares = booster.class_prior_ if booster._voted is None else booster.class_prior_[booster._voted]
    return np.asarray(np.log(shares))


def learned_calibration(booster: Any) -> dict[str, Any]:
    """The calibration that is asked for, as arguments of the map."""
    asked = booster.calibration
    if asked is None:
        return {}
    check_value(booster, "calibration", CALIBRATION)
    check_calibration_of(booster)
    if LEARNED_CALIBRATION[asked] not in vars(booster):
        raise ValueError(
            f"calibration={asked!r} was set after the fit, which has learned none of that kind; fit again, or set "
            "calibration back."
        )
    return {"temperature": booster.temperature_} if asked == "temperature" else {"curves": booster._isotonic}


def check_calibration_of(booster: Any) -> None:
    """Raise if a calibration would not be one of the probabilities that are asked for."""
    if booster.calibration is not None and booster.proba == "votes":
        raise ValueError(
            f'calibration={booster.calibration!r} is one of proba="softmax", but proba="votes" is set; leave one out.'
        )


def calibrate(booster: Any, held: HeldVotes) -> dict[str, Any]:
    """What a calibration learns from votes on rows that were not trained on, as fitted attributes."""
    n_classes = len(np.unique(held.labels))
    if n_classes < 2:
        raise ValueError(
            f"calibration={booster.calibration!r} has rows of {n_classes} class(es) to learn from, and needs two: the "
            "others have a single row, or none among those to validate on. Give rows of their own with "
            "early_stopping=True, X_val and y_val, or calibration=None."
        )
    scale, learned = booster._log_odds, booster._learned_shares
    if booster.calibration == "temperature":
        temperature = learn_temperature(held, scale, learned)
        warn_of_limits(temperature)
        return {"temperature_": temperature}
    uncalibrated = ProbabilityMap(scale, learned)
    shares = uncalibrated.probabilities(held.scores, out=np.empty_like(held.scores))
    return {"_isotonic": IsotonicCurves.learn(held, shares)}


def warn_of_limits(temperature: float) -> None:
    """Say what it means if the search for a temperature has ended where it may go no further."""
    for limit, words in zip(TEMPERATURES, AT_LIMITS, strict=True):
        if math.isclose(temperature, limit, rel_tol=CLOSE_TO_LIMIT):
            warnings.warn(f"temperature_ ended at {limit:g}, {words}", UserWarning, stacklevel=2)


# Decisions


def decision_of(booster: Any) -> Decision:
    """How a fitted booster decides."""
    check_decision(booster)
    check_trained_for(booster)
    candidates = Candidates(booster.classes_, booster._voted)
    if booster.decision == "votes":
        return Decision(candidates.classes, most_votes)
    costs = None
    if booster.cost_matrix is not None:
        costs = candidates.chosen_pairs(cost_array(booster.cost_matrix, candidates.given))
    meaning, reject_cost = probability_map(booster), booster.reject_cost

    def choose(votes: Floats) -> NDArray[np.intp]:
        decided, step = np.empty(len(votes), dtype=np.intp), max(1, DECIDED_AT_ONCE // votes.shape[1])
        for begin in range(0, len(votes), step):
            block = votes[begin : begin + step]
            shares = meaning.probabilities(block, out=np.empty_like(block))
            decided[begin : begin + step] = cheapest_decisions(shares, costs, reject_cost)
        return decided

    return Decision(candidates.classes if reject_cost is None else with_reject(booster, candidates), choose)


def check_decision(booster: Any) -> None:
    """Raise if parameters of decisions would be ignored, or are none."""
    if booster.reject_cost is None and booster.reject_label is None:
        return
    check_value(booster, "reject_cost", REJECT_COST)
    for name, needed, is_given in (
        ("reject_cost", 'decision="expected_cost"', booster.decision == "expected_cost"),
        ("reject_label", "reject_cost", booster.reject_cost is not None),
    ):
        if getattr(booster, name) is not None and not is_given:
            raise ValueError(
                f"{name}={getattr(booster, name)!r} would be ignored without {needed}; give that too, or leave {name} "
                "out."
            )


def check_trained_for(booster: Any) -> None:
    """Raise if the decision was changed after a fit that used its costs otherwise."""
    if booster.decision == "votes" and booster.cost_matrix is None:
        return
    origin = vars(booster).get("_origin")
    then = {} if origin is None else origin.parameters  # there is none while it is fitted
    if booster.decision == "expected_cost" and then.get("cost_matrix", NO_COSTS) != NO_COSTS:
        raise ValueError(
            'decision="expected_cost" was set after a fit that trained with cost_matrix, so its costs would count '
            'twice; fit again, or set decision="votes".'
        )
    if booster.decision == "votes" and then.get("decision") == BY_COST:
        raise ValueError(
            'decision="votes" was set after a fit with decision="expected_cost", whose votes know nothing of '
            'cost_matrix; fit again, or set decision="expected_cost" or cost_matrix=None.'
        )


def with_reject(booster: Any, candidates: Candidates) -> NDArray[Any]:
    """The classes that are voted for, and what stands for rejected rows."""
    label, classes = booster.reject_label, candidates.given
    kind = kind_of_labels(classes)
    words = f"reject_label={label!r}"
    if label is None:
        label = default_reject_label(classes, kind)
        words = f"reject_label=None stands for {label!r}, which"
    found = exact_labels(as_objects([label]) if isinstance(label, tuple) else unpack_labels([label]), "reject_label")
    if kind_of_labels(found) != kind:
        raise ValueError(
            f"{words} is no label like the classes {classes.tolist()}, which are {kind}; give one of their kind."
        )
    if locate_labels(found, classes)[0] >= 0:
        raise ValueError(f"{words} is one of the classes {classes.tolist()}; give one that is none of them.")
    return join_labels([candidates.classes, found], "reject_label")


def default_reject_label(classes: NDArray[Any], kind: str) -> Any:
    """What stands for rejected rows if nobody says it."""
    if kind == "text":
        return "reject"
    if kind == "numbers" and classes.dtype.kind != "b":
        return -1
    kind = "that is a whole number, such as -1" if classes.dtype.kind == "b" else "of their kind"
    raise ValueError(
        f"reject_label=None is no label beside the classes {classes.tolist()}; give a reject_label {kind}."
    )


def check_answers(booster: Any, candidates: Candidates) -> None:
    """Raise if a model of these classes could not answer as its parameters say."""
    if booster.priors is not None and not isinstance(booster.priors, str):
        read_shares(booster.priors, candidates.given)
    if booster.reject_cost is not None:
        with_reject(booster, candidates)


def check_value(booster: Any, name: str, rule: Rule) -> None:
    """Raise if a parameter, which may have been set after the fit, breaks its rule."""
    if not rule.holds(getattr(booster, name)):
        raise ValueError(f"{type(booster).__name__} got {name}={getattr(booster, name)!r}; give {rule.words}.")
