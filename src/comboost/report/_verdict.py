"""The verdict. In: classes and differences with their limits. Out: two sentences that follow from the limits."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from comboost._stats.exact_intervals import exact_interval
from comboost.report._figures import at_once
from comboost.report._wording import as_percent, class_in_sentence, counted, joined, joined_classes

HALF = 0.5
N_SMALLEST = 3


def reach_verdict(
    names: Sequence[str], classes: list[dict[str, Any]], differences: list[dict[str, Any]] | None, confidence: float
) -> dict[str, Any]:
    """What can be said of a model, beside a baseline if there is one."""
    tested = [each for each in classes if each["rows"]]
    if differences is None:
        return judge_alone(names[0], tested, 1.0 / max(len(classes), 2), confidence)
    (overall,) = (each for each in differences if each["key"] == "mean_recall")
    return judge_beside(names, tested, overall, confidence)


def judge_beside(
    names: Sequence[str], tested: list[dict[str, Any]], overall: dict[str, Any], confidence: float
) -> dict[str, Any]:
    """Which classes the model surely finds more of, or less, than the baseline, and how they are on average."""
    better = [each for each in tested if each["difference"]["low"] > 0]
    worse = [each for each in tested if each["difference"]["high"] < 0]
    undecided = [each for each in tested if not each["difference"]["sure"]]
    gains, losses = bool(better) or overall["low"] > 0, bool(worse) or overall["high"] < 0
    kinds = {(True, True): "mixed", (True, False): "better", (False, True): "worse", (False, False): "undecided"}
    return {
        "kind": kinds[gains, losses],
        "sentences": [
            tell_average(names, overall, confidence),
            tell_by_class(names[0], tested, better, worse, undecided),
        ],
        **{
            key: [each["name"] for each in group]
            for key, group in (("better", better), ("worse", worse), ("undecided", undecided))
        },
    }


def tell_average(names: Sequence[str], overall: dict[str, Any], confidence: float) -> str:
    """Say whether the mean recalls differ."""
    model, baseline = names
    limits = f"{overall['low']:+.3f} to {overall['high']:+.3f} with {as_percent(confidence)} confidence"
    if not overall["sure"]:
        return (
            f"No difference in mean recall between {model} and {baseline} can be shown with these rows: it is "
            f"{overall['value']:+.3f}, and may be {limits}."
        )
    more = "more" if overall["value"] > 0 else "less"
    return (
        f"On average over the classes, {model} finds {more} than {baseline}: the mean recall differs by "
        f"{overall['value']:+.3f} ({limits})."
    )


def tell_by_class(
    model: str,
    tested: list[dict[str, Any]],
    better: list[dict[str, Any]],
    worse: list[dict[str, Any]],
    undecided: list[dict[str, Any]],
) -> str:
    """Say of which classes more or less is found, with limits that hold for all of them at once."""
    n_tested = counted(len(tested), "class", "classes")
    if not better and not worse:
        return f"For none of {n_tested} alone can a difference be shown; the smallest have {tell_smallest(tested)}."
    parts = [
        f"{words} of {joined_classes([each['name'] for each in group])}"
        for words, group in (("more", better), ("less", worse))
        if group
    ]
    told = f"Of {n_tested}, {model} surely finds {' and '.join(parts)}"
    if not undecided:
        return f"{told}."
    others = "the other one" if len(undecided) == 1 else f"the other {len(undecided):,}"
    return f"{told}; for {others} no difference can be shown, the smallest having {tell_smallest(undecided)}."


def tell_smallest(classes: list[dict[str, Any]]) -> str:
    """Say how many rows the smallest classes have."""
    smallest = sorted(classes, key=lambda each: each["rows"])[:N_SMALLEST]
    return ", ".join(f"{counted(each['rows'], 'row')} ({class_in_sentence(each['name'])})" for each in smallest)


def judge_alone(model: str, tested: list[dict[str, Any]], guess: float, confidence: float) -> dict[str, Any]:
    """Which classes are surely found more often than not, and than by guessing."""
    recalls, sizes = np.array([(each["models"][0]["recall"], each["rows"]) for each in tested], dtype=np.float64).T
    low, high = exact_interval(np.rint(recalls * sizes), sizes, at_once(confidence, len(tested)))
    better = [each for each, limit in zip(tested, low, strict=True) if limit > HALF]
    worse = [each for each, limit in zip(tested, high, strict=True) if limit < HALF]
    limits = zip(tested, low, high, strict=True)
    undecided = [each for each, below, above in limits if below <= HALF <= above]
    return {
        "kind": "alone",
        "sentences": [
            tell_halves(model, len(tested), better, worse, undecided, confidence),
            tell_guessing(tested, low.tolist(), guess),
        ],
        "better": [each["name"] for each in better],
        "worse": [each["name"] for each in worse],
        "undecided": [each["name"] for each in undecided],
    }


def tell_halves(
    model: str,
    n_tested: int,
    better: list[dict[str, Any]],
    worse: list[dict[str, Any]],
    undecided: list[dict[str, Any]],
    confidence: float,
) -> str:
    """Say of which classes surely more or less than half is found."""
    words = (("surely more than half", better), ("surely less than half", worse), ("perhaps half", undecided))
    parts = [f"{text} of {joined_classes([each['name'] for each in group])}" for text, group in words if group]
    return (
        f"Of {counted(n_tested, 'class', 'classes')}, {model} finds {'; '.join(parts)} "
        f"({as_percent(confidence)} confidence for all classes at once)."
    )


def tell_guessing(tested: list[dict[str, Any]], low: list[float], guess: float) -> str:
    """Say which classes are surely found more often than a guess among all classes would find them."""
    open_ones = [each for each, limit in zip(tested, low, strict=True) if limit <= guess]
    chance = f"by guessing ({100 * guess:.3g} %)"
    if not open_ones:
        return f"All of them are surely found more often than {chance}."
    n_found = len(tested) - len(open_ones)
    if not n_found:
        smallest = tell_smallest(open_ones)
        return f"It cannot be said of any that it is found more often than {chance}; the smallest have {smallest}."
    by_size = sorted(open_ones, key=lambda each: each["rows"])
    others = joined([f"{class_in_sentence(each['name'])} ({counted(each['rows'], 'row')})" for each in by_size])
    are = "is" if n_found == 1 else "are"
    return f"Surely found more often than {chance} {are} {n_found:,} of them; this cannot be said of {others}."
