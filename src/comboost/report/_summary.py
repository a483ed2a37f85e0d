"""The report as a plain dict. In: a `Inquiry`. Out: all that a report shows: text, numbers, lists and dicts alone.

The order of its entries is the order of a page: what was asked, the verdict, what it follows from, how to repeat it.
"""

import math
from collections.abc import Callable
from typing import Any

from comboost.metrics._measures import confusion_of
from comboost.report._confused_pairs import describe_pairs
from comboost.report._curves import describe_curves
from comboost.report._figures import measure_differences, measure_model, of_one_class
from comboost.report._given_table import GivenTable, digest_data
from comboost.report._heart import Heart
from comboost.report._importances import describe_importances, features_by_importance
from comboost.report._inquiry import Inquiry, inner_estimator
from comboost.report._notes import note_all
from comboost.report._parameters import describe_settings
from comboost.report._probabilities import Shares, probabilities_given
from comboost.report._promises import describe_bounds
from comboost.report._recalls import describe_classes
from comboost.report._reliability import measure_reliability
from comboost.report._reproduction import list_versions, tell_reproduction
from comboost.report._resampling import draw_anew
from comboost.report._trial import Trial, try_models
from comboost.report._verdict import reach_verdict
from comboost.report._wording import counted, in_sentence, text_of

SUMMARY_FORMAT = 1

Hear = Callable[[str, float], None]  # what is being done, and the share that is done


def answer_inquiry(inquiry: Inquiry, hear: Hear = lambda doing, done: None) -> dict[str, Any]:
    """Compute the summary; ``hear`` hears how far that is."""
    inquiry.check()
    baseline = inquiry.baseline
    hear("predicting", 0.1)
    trial = try_models(inquiry)
    table = GivenTable.of(inquiry.X)
    hear("probabilities", 0.3)
    given = [probabilities_given(trial, answerer) for answerer in trial.answerers]
    hear("intervals", 0.5)
    compared = compare_models(trial, [shares for shares, _ in given], inquiry)
    hear("training", 0.7)
    heart = Heart.of(trial.answerers[0])
    looked_into = look_into(trial, heart, table, compared["models"][0]["measures"][0]["value"], inquiry)
    hear("digest", 0.95)
    summary = {
        "format": SUMMARY_FORMAT,
        "title": f"{trial.answerers[0].name} on {tell_size(trial)}",
        "asked": describe_inquiry(inquiry, trial, table),
        "verdict": reach_verdict(inquiry.names, compared["classes"], compared["differences"], inquiry.confidence),
        "notes": note_all(trial, heart),
        "models": compared["models"],
        "columns": trial.columns,
        "differences": compared["differences"],
        "classes": compared["classes"],
        **looked_into,
        "calibration": describe_calibration(trial, [shares for shares, _ in given], inquiry.confidence),
        "settings": describe_settings(heart.estimator),
        "baseline_settings": None if baseline is None else describe_settings(inner_estimator(baseline)),
        "versions": list_versions(),
        "reproduce": tell_reproduction(inquiry, digest_data(inquiry.X, labels_of(trial))),
    }
    lacking = [reason for _, reason in given if reason is not None]
    if len(lacking) == len(given):
        summary["absent"]["calibration"] = " ".join(lacking)
    else:  # what is said of one model alone
        summary["notes"] += lacking
    plain: dict[str, Any] = finite_only(summary)
    return plain


def compare_models(trial: Trial, shares: list[Shares | None], inquiry: Inquiry) -> dict[str, Any]:
    """What follows from predictions: counts, measures, recalls, differences."""
    confidence = inquiry.confidence
    draws = draw_anew(trial, int(inquiry.random_state))
    n_classes = len(trial.classes)
    models = [
        {
            "name": answerer.name,
            "kind": text_of(answerer.kind),
            "measures": measure_model(trial, place, draws, shares[place], confidence),
            "counts": [[int(n) for n in row] for row in trial.counts[place][:n_classes].tolist()],
            "confusion": confusion_of(trial.counts[place])[:n_classes].tolist(),
        }
        for place, answerer in enumerate(trial.answerers)
    ]
    differences = None
    if len(models) > 1:
        ours, theirs = (model["measures"] for model in models)
        differences = measure_differences(ours, theirs, draws, len(trial.columns), confidence)
    classes = describe_classes(trial, confidence)
    tested = [each for each in classes if each["rows"]]
    if differences is not None and len(tested) == 1:
        differences = of_one_class(differences, tested[0]["difference"])
    return {"models": models, "differences": differences, "classes": classes}


def look_into(trial: Trial, heart: Heart, table: GivenTable, norm: float, inquiry: Inquiry) -> dict[str, Any]:
    """What follows from the model itself: bounds, curves, importances, and rows that show confused pairs."""
    bounds = describe_bounds(trial, heart, norm, inquiry.confidence)
    curves, no_curves = describe_curves(trial, heart)
    importances, no_importances = describe_importances(heart)
    same_features = heart.X is inquiry.X
    features = features_by_importance(heart) if same_features else list(range(table.n_features))
    reasons = {"bounds": bounds["reason"], "curves": no_curves, "importances": no_importances}
    return {
        "bounds": bounds,
        "curves": curves,
        "pairs": describe_pairs(trial, table, features, inquiry.confidence),
        "importances": importances,
        "absent": {part: reason for part, reason in reasons.items() if reason is not None},
    }


def describe_calibration(trial: Trial, shares: list[Shares | None], confidence: float) -> list[dict[str, Any]] | None:
    """How often each model with probabilities is right when it is sure; None if there is no such model."""
    entries = [
        measure_reliability(answerer.name, given, confidence)
        for answerer, given in zip(trial.answerers, shares, strict=True)
        if given is not None
    ]
    return entries or None


def describe_inquiry(inquiry: Inquiry, trial: Trial, table: GivenTable) -> dict[str, Any]:
    """What was asked, as data and as a sentence."""
    model, *others = inquiry.names
    more = f", and is that more than {others[0]} finds?" if others else "?"
    n_rows = counted(len(trial.truth), "row")
    source = "" if inquiry.source is None else f" of {in_sentence(inquiry.source)}"
    return {
        "model": model,
        "baseline": others[0] if others else None,
        "n_rows": len(trial.truth),
        "n_features": table.n_features,
        "n_classes": len(trial.classes),
        "target": None if inquiry.target is None else text_of(inquiry.target),
        "source": None if inquiry.source is None else text_of(inquiry.source),
        "confidence": float(inquiry.confidence),
        "sentence": f"How much of every class does {model} find in {n_rows}{source}{more}",
    }


def tell_size(trial: Trial) -> str:
    """How many rows and classes there are."""
    return f"{counted(len(trial.truth), 'row')}, {counted(len(trial.classes), 'class', 'classes')}"


def labels_of(trial: Trial) -> list[str]:
    """The class of every row, as text."""
    names = trial.names
    return [names[place] for place in trial.truth.tolist()]


def finite_only(value: Any) -> Any:
    """The same with None in place of figures that are not finite."""
    if isinstance(value, dict):
        return {key: finite_only(item) for key, item in value.items()}
    if isinstance(value, list):
        kinds = set(map(type, value))
        if kinds <= {int, str}:  # of which there are many
            return value
        if kinds == {float}:
            return [item if math.isfinite(item) else None for item in value]
        return [finite_only(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
