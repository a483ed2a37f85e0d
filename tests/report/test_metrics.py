"""Intervals of a report are two-sided at the confidence level that was asked for; confused pairs are in order."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from report.oracles import Oracle, evaluations, table_of
from scipy.stats import binomtest
from scipy.stats import t as student

from comboost._stats.bootstrap import draw_metrics
from comboost._stats.intervals import newcombe_interval
from comboost.report import ModelReport

CLASSES = list("abcdef")


def report_on(truth, *answers, classes=CLASSES, **options):
    """The summary of oracles on numbered samples."""
    oracles = [Oracle(each, classes) for each in answers]
    baseline = {"baseline": oracles[1]} if len(oracles) > 1 else {}
    return ModelReport(oracles[0], table_of(len(truth)), truth, **baseline, **options).summary


def sample(sizes, recalls, seed):
    """True classes, and predictions that are correct with the recall of the class."""
    random = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    others = random.integers(0, len(sizes), len(truth))
    predicted = np.where(random.random(len(truth)) < np.asarray(recalls)[truth], truth, others)
    return np.array(CLASSES)[truth], np.array(CLASSES)[predicted]


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_intervals_are_those_of_scipy_at_the_confidence_level(confidence):
    truth, predicted = sample([5, 40, 300], [0.9, 0.5, 0.7], 0)
    _, other = sample([5, 40, 300], [0.5, 0.8, 0.6], 1)
    summary = report_on(truth, predicted, other, classes=CLASSES[:3], confidence=confidence)
    correct = {name: (predicted == name)[truth == name] for name in CLASSES[:3]}
    others = {name: (other == name)[truth == name] for name in CLASSES[:3]}
    for each in summary["classes"]:
        right, theirs = correct[each["name"]], others[each["name"]]
        expected = binomtest(int(right.sum()), len(right)).proportion_ci(confidence, method="wilson")
        assert each["models"][0]["interval"] == pytest.approx([expected.low, expected.high])
        cases = (right & theirs, right & ~theirs, ~right & theirs, ~right & ~theirs)
        simultaneous = newcombe_interval(*(np.array([float(case.sum())]) for case in cases), 1 - (1 - confidence) / 3)
        assert each["difference"]["interval"] == pytest.approx([float(bound[0]) for bound in simultaneous[1:]])
    worst = [
        binomtest(int(right.sum()), len(right)).proportion_ci(1 - (1 - confidence) / 3, method="exact")
        for right in correct.values()
    ]
    codes = [np.searchsorted(CLASSES, labels) for labels in (truth, predicted, other)]
    draws = draw_metrics(codes[0], codes[1:], 3, 0)
    for metric in summary["models"][0]["metrics"]:
        if metric["key"] == "worst_recall":
            assert metric["interval"] == pytest.approx([min(each.low for each in worst), min(e.high for e in worst)])
            continue
        error = draws.metrics[metric["key"]][0].std(ddof=1)
        low, high = student.interval(confidence, len(truth) - 3, loc=metric["value"], scale=error)
        largest = np.sqrt(2) if metric["key"] == "norm" else 1.0
        assert metric["interval"] == pytest.approx([max(low, 0.0), min(high, largest)], abs=1e-9)


def ordered_pairs(truth, predicted, confidence):
    """Pairs of classes by the lower bound, the fraction, the true class, the predicted class."""
    keys = []
    for name, other in permutations(CLASSES, 2):
        n_samples, n_wrong = int((truth == name).sum()), int(((truth == name) & (predicted == other)).sum())
        if n_wrong:
            bounds = binomtest(n_wrong, n_samples).proportion_ci(confidence, method="wilson")
            keys.append((-round(bounds.low, 9), -n_wrong / n_samples, name, other))
    return [key[2:] for key in sorted(keys)]


@settings(max_examples=12, deadline=None)
@given(evaluations(max_samples=60, max_classes=5), st.sampled_from([0.8, 0.95]))
@example((CLASSES, *map(np.array, (list("ab" + "c" * 99), list("ba" + "a" * 9 + "c" * 90), list("a" * 101)))), 0.95)
@example((CLASSES, *map(np.array, (list("aabbccddeeff"), list("bcacbabbaacc"), list("a" * 12)))), 0.95)
def test_confused_pairs_are_in_the_order_of_their_lower_bounds(trial, confidence):
    classes, truth, predicted, _ = trial
    summary = report_on(truth, predicted, classes=classes, confidence=confidence)
    found = [(pair["true_class"], pair["predicted_as"]) for pair in summary["confused_pairs"]]
    assert found == ordered_pairs(truth, predicted, confidence)[:10]


def test_a_large_class_leads_tiny_ones_and_equal_pairs_are_in_the_order_of_the_classes():
    truth = np.array(["a"] * 1 + ["b"] * 200 + ["c"] * 20 + ["d"] * 20)
    predicted = np.array(
        ["b"] + ["a"] * 100 + ["b"] * 100 + ["d"] * 5 + ["c"] * 15 + ["c"] * 5 + ["a"] * 5 + ["d"] * 10
    )
    summary = report_on(truth, predicted)
    found = [(pair["true_class"], pair["predicted_as"], pair["n_samples"]) for pair in summary["confused_pairs"]]
    assert found == [("b", "a", 100), ("a", "b", 1), ("c", "d", 5), ("d", "a", 5), ("d", "c", 5)]
