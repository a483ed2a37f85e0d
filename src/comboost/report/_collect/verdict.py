"""The verdict, two sentences that follow from confidence intervals; and notes on what may mislead a reader."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from comboost._stats.formatting import (
    class_in_sentence,
    describe_significance,
    format_confidence,
    format_interval,
    join_classes,
    join_names,
    number_word,
    pluralize,
    significance_of,
)
from comboost._stats.intervals import bonferroni, exact_interval
from comboost.metrics._measures import confusion_of
from comboost.report._collect.evaluation import Evaluation
from comboost.report._collect.training import InnerEstimator

SIDES = ("higher", "lower", "not_significant")
HALF = 0.5
N_SMALLEST = 3
FEW_SAMPLES = 10  # of a class
SAME_FRACTION = 1e-9  # rounding of fractions of the same samples

ClassEntry = dict[str, Any]


def reach_verdict(
    names: Sequence[str], classes: list[ClassEntry], differences: list[dict[str, Any]] | None, confidence: float
) -> dict[str, Any]:
    """The verdict on a model, compared with a baseline if there is one."""
    tested = [each for each in classes if each["n_samples"]]
    if differences is None:
        return judge_alone(tested, 1.0 / max(len(classes), 2), confidence)
    (mean_recall,) = (each for each in differences if each["key"] == "mean_recall")
    sides = group_by_side(tested, [each["difference"]["interval"] for each in tested])
    overall = significance_of(mean_recall["interval"])
    is_better = bool(sides["higher"]) or overall == "higher"
    is_worse = bool(sides["lower"]) or overall == "lower"
    kinds = {(True, True): "mixed", (True, False): "better", (False, True): "worse"}
    return {
        "kind": kinds.get((is_better, is_worse), "not_significant"),
        "sentences": [compare_mean_recall(names, mean_recall, confidence), compare_recalls(tested, sides)],
        **{side: [each["name"] for each in group] for side, group in sides.items()},
    }


def group_by_side(classes: list[ClassEntry], intervals: Sequence[Sequence[float]]) -> dict[str, list[ClassEntry]]:
    """Classes whose intervals are above 0, below 0, or include it."""
    sides: dict[str, list[ClassEntry]] = {side: [] for side in SIDES}
    for each, interval in zip(classes, intervals, strict=True):
        sides[significance_of(interval)].append(each)
    return sides


def compare_mean_recall(names: Sequence[str], difference: dict[str, Any], confidence: float) -> str:
    """State whether the mean recalls differ significantly."""
    model, baseline = names
    interval = format_interval(difference["interval"], signed=True)
    value = f"{difference['value']:+.3f} ({format_confidence(confidence)} confidence interval {interval})"
    if not difference["significant"]:
        return f"The mean recalls of {model} and {baseline} do not differ significantly: {value}."
    more = "higher" if difference["value"] > 0 else "lower"
    return f"The mean recall of {model} is significantly {more} than that of {baseline}: {value}."


def compare_recalls(tested: list[ClassEntry], sides: dict[str, list[ClassEntry]]) -> str:
    """State for which classes the recalls differ significantly."""
    higher, lower, rest = ([class_in_sentence(each["name"]) for each in sides[side]] for side in SIDES)
    if not higher and not lower:
        return f"The recall does not differ significantly for any class; {smallest_classes(tested)}."
    others = f"the other {number_word(len(rest))} {'class' if len(rest) == 1 else 'classes'}" if rest else None
    if others:
        others += f" ({smallest_classes(sides['not_significant'])})"
    return describe_significance("Recall", higher, lower, others)


def smallest_classes(classes: list[ClassEntry]) -> str:
    """Name the smallest classes with their numbers of samples."""
    smallest = sorted(classes, key=lambda each: each["n_samples"])[:N_SMALLEST]
    return "fewest samples: " + join_names(
        [f"{class_in_sentence(each['name'])} with {each['n_samples']:,}" for each in smallest]
    )


def judge_alone(tested: list[ClassEntry], chance: float, confidence: float) -> dict[str, Any]:
    """State which recalls are significantly above or below one half, and which are above chance."""
    recalls, sizes = np.array([(each["models"][0]["recall"], each["n_samples"]) for each in tested]).T
    low, high = exact_interval(np.rint(recalls * sizes), sizes, bonferroni(confidence, len(tested)))
    sides = group_by_side(tested, np.stack([low - HALF, high - HALF], axis=1).tolist())
    words = ("significantly above 50 %", "significantly below 50 %", "not significantly different from 50 %")
    parts = [
        f"{text} for {join_classes([each['name'] for each in group])}"
        for text, group in zip(words, sides.values(), strict=True)
        if group
    ]
    halves = (
        f"Recall is {'; '.join(parts)} ({format_confidence(confidence)} confidence for all classes simultaneously)."
    )
    return {
        "kind": "no_baseline",
        "sentences": [halves, compare_with_chance(tested, low.tolist(), chance)],
        **{side: [each["name"] for each in group] for side, group in sides.items()},
    }


def compare_with_chance(tested: list[ClassEntry], low: list[float], chance: float) -> str:
    """State for which classes the recall is significantly above that of random guessing."""
    others = [each for each, bound in zip(tested, low, strict=True) if bound <= chance]
    claim = f"Recall is significantly above chance ({100 * chance:.3g} %)"
    if not others:
        return f"{claim} for all classes."
    if len(others) == len(tested):
        return f"{claim} for no class; {smallest_classes(others)}."
    by_size = sorted(others, key=lambda each: each["n_samples"])
    named = [f"{class_in_sentence(each['name'])} ({pluralize(each['n_samples'], 'sample')})" for each in by_size]
    return f"{claim} for {len(tested) - len(others):,} of {len(tested):,} classes, but not for {join_names(named)}."


# Notes


def list_notes(evaluation: Evaluation, inner: InnerEstimator) -> list[str]:
    """Sentences on what may mislead a reader."""
    notes = []
    if resembles_training_data(evaluation, inner):
        notes.append(
            "The samples look like the training data: same number of samples, class proportions and confusions. "
            "Metrics on training data are optimistic; use samples that the model was not trained on."
        )
    names, sizes, n_samples = evaluation.names, evaluation.class_sizes, len(evaluation.truth)
    for model in evaluation.models:
        unknown = np.setdiff1d(np.flatnonzero(sizes), model.known)
        if unknown.size:
            count = pluralize(int(sizes[unknown].sum()), "sample")
            notes.append(
                f"{model.name} does not know {join_classes([names[k] for k in unknown])}; "
                f"{'its' if unknown.size == 1 else 'their'} {count} count as errors."
            )
    absent = [names[k] for k in np.flatnonzero(sizes == 0)]
    if absent:
        recall = "its recall is" if len(absent) == 1 else "their recalls are"
        notes.append(f"There are no samples of {join_classes(absent)}, so {recall} unknown.")
    if np.count_nonzero(sizes) == 1:
        notes.append("All samples belong to one class, so errors on other classes cannot be observed.")
    few = [k for k in np.argsort(sizes, kind="stable").tolist() if 0 < sizes[k] < FEW_SAMPLES]
    if few:
        recall = "its recall is" if len(few) == 1 else "their recalls are"
        listed = join_names([f"{class_in_sentence(names[k])} ({int(sizes[k])})" for k in few])
        count = pluralize(len(few), "class has", "classes have")
        notes.append(f"{count} fewer than {FEW_SAMPLES} samples, so {recall} uncertain: {listed}.")
    for model in evaluation.models:
        n_rejected = int((model.predicted == len(evaluation.classes)).sum())
        if n_rejected:
            notes.append(
                f"{model.name} rejects {n_rejected:,} of {pluralize(n_samples, 'sample')} "
                f"({100 * n_rejected / n_samples:.3g} %); they count as errors."
            )
    return notes


def resembles_training_data(evaluation: Evaluation, inner: InnerEstimator) -> bool:
    """Whether number of samples, class proportions and confusions are those of the training data."""
    booster = inner.booster
    if booster is None or not hasattr(booster, "class_prior_"):
        return False
    origin = vars(booster).get("_origin")
    if origin is None or origin.n_samples != len(evaluation.truth):
        return False
    known = evaluation.models[0].known
    priors = evaluation.class_sizes[known] / len(evaluation.truth)
    confusion = confusion_of(evaluation.counts[0])[np.ix_(known, known)]
    return bool(
        np.allclose(priors, booster.class_prior_, rtol=0.0, atol=SAME_FRACTION)
        and np.allclose(confusion, booster.train_confusion_, rtol=0.0, atol=SAME_FRACTION)
    )
