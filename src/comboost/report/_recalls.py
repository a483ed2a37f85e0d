"""What is found of every class. In: a `Trial`. Out: recalls with limits, precisions, and paired differences."""

from typing import Any

import numpy as np

from comboost._stats.intervals import wilson_interval
from comboost._stats.paired_intervals import newcombe_interval
from comboost._types import Floats
from comboost.metrics._measures import confusion_of
from comboost.metrics._outcomes import sums_by
from comboost.model_selection._confusion_folds import recalls as recalls_of
from comboost.report._figures import at_once
from comboost.report._trial import Trial


def describe_classes(trial: Trial, confidence: float) -> list[dict[str, Any]]:
    """An entry for every class, in the order of the trial."""
    own = set(trial.answerers[0].known.tolist())
    by_model = [describe_recalls(trial, model, confidence) for model in range(len(trial.answerers))]
    differences = describe_differences(trial, confidence)
    return [
        {
            "name": name,
            "rows": int(size),
            "known": place in own,
            "models": [entries[place] for entries in by_model],
            "difference": differences[place],
        }
        for place, (name, size) in enumerate(zip(trial.names, trial.sizes, strict=True))
    ]


def describe_recalls(trial: Trial, model: int, confidence: float) -> list[dict[str, Any]]:
    """What a model finds of every class, how often it is right about it, and what it takes it for most."""
    counts, columns = trial.counts[model], trial.columns
    n_classes = len(trial.classes)
    recalls, sizes = recalls_of(counts)[:n_classes], trial.sizes
    low, high = wilson_interval(recalls, sizes, confidence=confidence)
    confusion, taken = confusion_of(counts), counts.sum(axis=0)
    mistaken = confusion.argmax(axis=1)
    entries = []
    for place in range(n_classes):
        share = float(confusion[place, mistaken[place]])
        entries.append(
            {
                "recall": float(recalls[place]) if sizes[place] else None,
                "low": float(low[place]),
                "high": float(high[place]),
                "precision": float(counts[place, place] / taken[place]) if taken[place] else None,
                "taken_for": columns[mistaken[place]] if share else None,
                "taken_for_share": share if share else None,
            }
        )
    return entries


def describe_differences(trial: Trial, confidence: float) -> list[dict[str, Any] | None]:
    """The recalls of the model minus those of the baseline; the limits of all classes hold at once."""
    n_classes = len(trial.classes)
    if len(trial.answerers) == 1:
        return [None] * n_classes
    both, ours, theirs, neither = count_agreements(trial)
    sizes = trial.sizes
    each = at_once(confidence, int(np.count_nonzero(sizes)))
    values, low, high = newcombe_interval(both, ours, theirs, neither, each)
    return [
        {
            "value": float(values[place]),
            "low": float(low[place]),
            "high": float(high[place]),
            "sure": bool(low[place] > 0 or high[place] < 0),
        }
        if sizes[place]
        else None
        for place in range(n_classes)
    ]


def count_agreements(trial: Trial) -> tuple[Floats, Floats, Floats, Floats]:
    """Rows of every class that both models, the model alone, the baseline alone and none of them find."""
    ours, theirs = (answerer.places == trial.truth for answerer in trial.answerers)
    cases = (ours & theirs, ours & ~theirs, ~ours & theirs, ~ours & ~theirs)
    both, first, second, neither = (sums_by(trial.truth, case.astype(np.float64), len(trial.classes)) for case in cases)
    return both, first, second, neither
