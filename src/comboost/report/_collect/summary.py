"""The summary of a report: a dict of text, numbers, lists and dicts, in the order of the page."""

import math
from collections.abc import Callable
from typing import Any

from comboost._stats.formatting import name_in_sentence, pluralize, text_of
from comboost.report._collect.evaluation import Evaluation, evaluate, predict_probabilities
from comboost.report._collect.metrics import compare_models, describe_calibration, describe_pairs
from comboost.report._collect.request import EvaluationRequest, inner_estimator
from comboost.report._collect.search import describe_search
from comboost.report._collect.settings import describe_parameters, describe_reproduction, list_versions
from comboost.report._collect.table import Table, digest_data
from comboost.report._collect.training import InnerEstimator, describe_bounds, describe_curves, describe_importances
from comboost.report._collect.verdict import list_notes, reach_verdict

SUMMARY_FORMAT = 2

OnProgress = Callable[[str, float], None]  # current step, fraction done


def summarize(request: EvaluationRequest, on_progress: OnProgress = lambda step, done: None) -> dict[str, Any]:
    """Evaluate the models and compute the summary."""
    request.check()
    confidence, X, baseline = request.confidence, request.X, request.baseline
    on_progress("predicting", 0.1)
    evaluation = evaluate(request)
    table = Table.of(X)
    on_progress("probabilities", 0.3)
    probabilities, reasons = zip(
        *(predict_probabilities(evaluation, model) for model in evaluation.models), strict=True
    )
    on_progress("intervals", 0.5)
    compared = compare_models(evaluation, list(probabilities), confidence, int(request.random_state))
    calibration = [
        describe_calibration(model.name, given, confidence)
        for model, given in zip(evaluation.models, probabilities, strict=True)
        if given is not None
    ]
    on_progress("training", 0.7)
    inner = InnerEstimator.of(evaluation.models[0])
    bounds = describe_bounds(evaluation, inner, compared["models"][0]["metrics"], confidence)
    curves, no_curves = describe_curves(evaluation, inner)
    importances, no_importances = describe_importances(inner)
    search, no_search = describe_search(inner.estimator)
    features = inner.features_by_importance() if inner.X is X else list(range(table.n_features))
    lacking = [reason for reason in reasons if reason is not None]
    unavailable = {
        "bounds": bounds["reason"],
        "curves": no_curves,
        "importances": no_importances,
        "search": no_search,
        "calibration": None if calibration else " ".join(lacking),
    }
    n_samples, n_classes = len(evaluation.truth), len(evaluation.classes)
    sizes = f"{pluralize(n_samples, 'sample')}, {pluralize(n_classes, 'class', 'classes')}"
    on_progress("digest", 0.95)
    summary = {
        "format": SUMMARY_FORMAT,
        "title": f"{evaluation.models[0].name} on {sizes}",
        "request": describe_request(request, evaluation, table),
        "verdict": reach_verdict(request.names, compared["classes"], compared["differences"], confidence),
        "notes": list_notes(evaluation, inner) + (lacking if calibration else []),
        "models": compared["models"],
        "predicted_labels": evaluation.predicted_labels,
        "differences": compared["differences"],
        "classes": compared["classes"],
        "confused_pairs": describe_pairs(evaluation, table, features, confidence),
        "bounds": bounds,
        "curves": curves,
        "calibration": calibration or None,
        "importances": importances,
        "search": search,
        "unavailable": {part: reason for part, reason in unavailable.items() if reason is not None},
        "parameters": describe_parameters(inner.estimator),
        "baseline_parameters": None if baseline is None else describe_parameters(inner_estimator(baseline)),
        "versions": list_versions(),
        "reproduction": describe_reproduction(
            request, digest_data(X, [evaluation.names[k] for k in evaluation.truth.tolist()])
        ),
    }
    finite: dict[str, Any] = replace_non_finite(summary)
    return finite


def describe_request(request: EvaluationRequest, evaluation: Evaluation, table: Table) -> dict[str, Any]:
    """What the report is about, as data and as a question."""
    model, *others = request.names
    n_samples = len(evaluation.truth)
    samples = pluralize(n_samples, "sample") + (f" of {name_in_sentence(request.source)}" if request.source else "")
    compared = f", and does it differ significantly from that of {others[0]}" if others else ""
    return {
        "model": model,
        "baseline": others[0] if others else None,
        "n_samples": n_samples,
        "n_features": table.n_features,
        "n_classes": len(evaluation.classes),
        "target": None if request.target is None else text_of(request.target),
        "source": None if request.source is None else text_of(request.source),
        "confidence": float(request.confidence),
        "question": f"What is the recall of {model} for each class on {samples}{compared}?",
    }


def replace_non_finite(value: Any) -> Any:
    """The same value with None instead of numbers that are not finite."""
    if isinstance(value, dict):
        return {key: replace_non_finite(item) for key, item in value.items()}
    if isinstance(value, list):
        types = set(map(type, value))
        if types <= {int, str}:  # shortcuts for large matrices
            return value
        if types == {float}:
            return [item if math.isfinite(item) else None for item in value]
        return [replace_non_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
