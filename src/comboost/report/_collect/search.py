"""Which settings a fit selected, and from which candidates."""

from collections.abc import Sequence
from typing import Any

from comboost._engine.norms import get_norm
from comboost._estimators.confusion import ConfusionBoostingClassifier
from comboost._stats.formatting import pluralize

SHOWN = ("smoothing", "max_depth", "loss", "best_round", "n_rounds", "cost", "outcome")  # of a candidate


def describe_search(estimator: Any) -> tuple[dict[str, Any] | None, str | None]:
    """The selected settings, the candidates, the cost of the search and sentences about them; or why there are none."""
    if not isinstance(estimator, ConfusionBoostingClassifier):
        return None, f"{type(estimator).__name__} does not select settings by itself."
    if not hasattr(estimator, "best_params_"):
        return None, "The model was fitted by a version of comboost that did not select settings."
    records, best_params = estimator.search_results_, estimator.best_params_
    candidates = [{name: record[name] for name in SHOWN} for record in records if "loss" in record]
    cost = sum(each["cost"] for each in candidates) if candidates else None
    if candidates:
        outcome, sentences = "selected", describe_selection(estimator, candidates, cost)
    elif records:
        outcome, sentences = "fixed", [f"{records[0]['outcome'].capitalize()}. So these settings are fixed."]
    else:
        outcome, sentences = "given", ["Nothing was searched: smoothing and the size of the trees were given."]
    return {
        "outcome": outcome,
        "sentences": [describe_settings(estimator), *sentences],
        "best_params": dict(best_params),
        "candidates": candidates,
        "cost": cost,
    }, None


LOSSES = {"log": "log-loss", "logistic": "logistic loss", "exponential": "exponential loss"}


def describe_selection(estimator: Any, candidates: Sequence[dict[str, Any]], cost: float | None) -> list[str]:
    """State by what and from what the settings were selected, and at which cost."""
    held_out = "the validation samples" if estimator.early_stopping else "held-out samples"
    sentences = [
        f"Selected by the {name_of_loss(estimator)} on {held_out} from {pluralize(len(candidates), 'candidate')}.",
        f"The search cost as much as {cost:.2g} fits with the selected settings.",
        "Candidates have a learning rate of 1, so they need fewer rounds than the fit.",
    ]
    (selected,) = (each for each in candidates if each["outcome"] == "selected")
    used = estimator.best_params_
    if used["smoothing"] < selected["smoothing"]:
        sentences.append("The candidate would need more rounds than allowed, so the fit has less smoothing.")
    n_levels = (used["max_depth"] or 0) - (selected["max_depth"] or 0)
    if n_levels:
        levels = pluralize(n_levels, "level")
        sentences.append(f"The search used a subset of the samples; with all of them, trees are {levels} deeper.")
    return sentences


def name_of_loss(estimator: Any) -> str:
    """The loss that a fit minimises."""
    name = LOSSES[estimator.loss]
    norm = get_norm(estimator.norm)
    if norm.of == "pairs":  # class norms search with the sum of the losses
        name = f"{norm.name} norm of the {name}"
    if estimator.balance == 1:
        name = f"class-balanced {name}"
    elif estimator.balance > 0:
        name = f"{name} with balance={estimator.balance:g}"
    has_costs = estimator.cost_matrix is not None and estimator.decision != "expected_cost"
    return f"{name}, weighted by costs," if has_costs else name


def describe_settings(estimator: Any) -> str:
    """State the settings of the fit."""
    used = estimator.best_params_
    given = ", ".join(f"{name}={used[name]:.3g}" for name in ("smoothing", "learning_rate"))
    rounds = pluralize(estimator.n_iter_, "round") + (", by early stopping" if estimator.early_stopping else "")
    return f"The model was fitted with {given}, max_depth={used['max_depth']} and {rounds}."
