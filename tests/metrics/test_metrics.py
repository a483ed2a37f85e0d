"""Properties of the metrics and of the scorers made of them."""

import math
import pickle
import warnings
from copy import deepcopy
from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference import metrics_reference as reference
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import (
    balanced_accuracy_score,
    confusion_matrix,
    log_loss,
    recall_score,
    roc_auc_score,
    zero_one_loss,
)
from sklearn.model_selection import GridSearchCV, PredefinedSplit, TunedThresholdClassifierCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from comboost.metrics import (
    balanced_log_loss,
    confusion_norm_bound,
    confusion_norm_loss,
    error_confusion_matrix,
    error_rate_bound,
    expected_cost_loss,
    geometric_mean_bound,
    geometric_mean_score,
    get_scorer,
    mauc_score,
    min_recall_bound,
    min_recall_score,
    recall_bounds,
)

LABEL_METRICS = [
    error_confusion_matrix,
    confusion_norm_loss,
    geometric_mean_score,
    min_recall_score,
    expected_cost_loss,
]
BOUNDS = [confusion_norm_bound, error_rate_bound, geometric_mean_bound, min_recall_bound, recall_bounds]
OUR_NAMES = ["g_mean", "mauc", "neg_balanced_log_loss", "neg_confusion_norm", "min_recall", "neg_expected_cost"]


def for_all(*strategies):
    """Make a property test with few examples: they are small, and there are many properties."""
    return lambda test: settings(max_examples=settings.default.max_examples // 2)(given(*strategies)(test))


class Outcome(NamedTuple):
    n_classes: int
    true: np.ndarray
    pred: np.ndarray
    score: np.ndarray
    weight: np.ndarray

    @property
    def labels(self):
        return np.arange(self.n_classes)

    @property
    def proba(self):
        return shares_of(self.score)


WEIGHTS = {"counts": st.integers(0, 3).map(float), "reals": st.just(0.0) | st.floats(0.01, 10)}


@st.composite
def outcomes(draw, weights="reals", min_classes=1, all_present=False):
    """Draw labels, predictions, scores full of ties and weights; classes may be absent, never all."""
    n_classes = draw(st.integers(min_classes, 4))
    n_samples = draw(st.integers(n_classes, 15))
    label_rows = hnp.arrays(np.int64, n_samples, elements=st.integers(0, n_classes - 1))
    true, pred = draw(label_rows), draw(label_rows)
    score = draw(hnp.arrays(np.int64, (n_samples, n_classes), elements=st.integers(1, 4)))
    weight = draw(hnp.arrays(np.float64, n_samples, elements=WEIGHTS[weights]))
    if all_present:
        true[:n_classes] = np.arange(n_classes)
        weight[:n_classes] += 1.0
    if not weight.any():
        weight[0] = 1.0
    return Outcome(n_classes, true, pred, score.astype(np.float64), weight)


def shares_of(score):
    """Scores as probabilities."""
    return score / score.sum(axis=1, keepdims=True)


def close(value):
    return pytest.approx(value, abs=1e-9, nan_ok=True)


def mauc_or_nan(*args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return mauc_score(*args, **kwargs)


def all_metrics(true, pred, score, weight, labels):
    """Return the metrics that count a weight as copies of a row, all but the bounds, as one dict."""
    options = {"labels": labels, "sample_weight": weight}
    values = {metric.__name__: metric(true, pred, **options) for metric in LABEL_METRICS}
    log_loss = balanced_log_loss(true, shares_of(score), **options)
    return values | {"mauc_score": mauc_or_nan(true, score, **options), "balanced_log_loss": log_loss}


def assert_same(values, expected):
    for name, value in expected.items():
        np.testing.assert_allclose(values[name], value, atol=1e-9, err_msg=name)


# The plain reference


@for_all(outcomes())
def test_label_metrics_equal_their_plain_reference(outcome):
    k, true, pred, _, weight = outcome
    recalls = reference.recalls(true, pred, weight, k)
    values = all_metrics(true, pred, outcome.score, weight, outcome.labels)
    assert_same(
        values,
        {
            "error_confusion_matrix": reference.error_confusion(true, pred, weight, k),
            "confusion_norm_loss": reference.confusion_norm(true, pred, weight, k),
            "geometric_mean_score": math.prod(recalls) ** (1 / len(recalls)),
            "min_recall_score": min(recalls),
            "expected_cost_loss": reference.expected_cost(true, pred, weight, np.ones((k, k))),
        },
    )


@for_all(outcomes())
def test_mauc_equals_its_plain_twin_on_every_pair_of_rows(outcome):
    k, true, _, score, weight = outcome
    value = mauc_or_nan(true, score, labels=outcome.labels, sample_weight=weight)
    assert value == close(reference.mauc(true, score, weight, k))


@for_all(outcomes(), st.randoms(use_true_random=False))
def test_balanced_log_loss_equals_its_plain_twin_even_for_probabilities_of_0_and_1(outcome, random):
    k, true, pred, _, weight = outcome
    proba = outcome.proba
    certain = random.sample(range(true.size), true.size // 2)
    proba[certain] = np.eye(k)[pred[certain]]
    value = balanced_log_loss(true, proba, labels=outcome.labels, sample_weight=weight)
    assert value == close(reference.balanced_log_loss(true, proba, weight, k))


@for_all(outcomes(min_classes=2), st.floats(0.001, 1))
def test_corollary_equals_its_plain_reference(outcome, eta):
    k, true, pred, _, weight = outcome
    value = confusion_norm_bound(true, pred, eta=eta, labels=outcome.labels, sample_weight=weight, method="corollary")
    assert value == close(reference.confusion_norm_bound(true, pred, weight, k, eta))


@for_all(outcomes(), st.data())
def test_expected_cost_equals_its_plain_reference(outcome, data):
    k, true, pred, _, weight = outcome
    costs = data.draw(hnp.arrays(np.float64, (k, k), elements=st.integers(1, 9))) * (1 - np.eye(k))
    if k > 1:
        value = expected_cost_loss(true, pred, cost_matrix=costs, labels=outcome.labels, sample_weight=weight)
        assert value == close(reference.expected_cost(true, pred, weight, costs))


# scikit-learn


@for_all(outcomes(min_classes=2))
def test_error_confusion_is_scikit_learns_normalised_matrix_without_its_diagonal(outcome):
    _, true, pred, _, weight = outcome
    expected = confusion_matrix(true, pred, labels=outcome.labels, sample_weight=weight, normalize="true")
    np.fill_diagonal(expected, 0.0)
    value = error_confusion_matrix(true, pred, labels=outcome.labels, sample_weight=weight)
    np.testing.assert_allclose(value, expected, atol=1e-12)


@for_all(outcomes(all_present=True))
def test_recalls_agree_with_scikit_learn(outcome):
    _, true, pred, _, weight = outcome
    recalls = recall_score(true, pred, average=None, sample_weight=weight)
    shares = error_confusion_matrix(true, pred, sample_weight=weight)
    np.testing.assert_allclose(shares.sum(axis=1), 1 - recalls, atol=1e-12)
    assert min_recall_score(true, pred, sample_weight=weight) == close(recalls.min())
    assert geometric_mean_score(true, pred, sample_weight=weight) == close(np.prod(recalls) ** (1 / recalls.size))


@for_all(outcomes(min_classes=2, all_present=True))
def test_min_recall_is_at_most_g_mean_is_at_most_balanced_accuracy(outcome):
    _, true, pred, _, weight = outcome
    g_mean = geometric_mean_score(true, pred, sample_weight=weight)
    assert min_recall_score(true, pred, sample_weight=weight) <= g_mean + 1e-12
    assert g_mean <= balanced_accuracy_score(true, pred, sample_weight=weight) + 1e-12


@for_all(outcomes(min_classes=3, all_present=True))
def test_mauc_is_scikit_learns_ovo_macro_auc(outcome):
    expected = roc_auc_score(outcome.true, outcome.proba, multi_class="ovo", average="macro")
    assert mauc_score(outcome.true, outcome.proba) == close(expected)


@for_all(outcomes(min_classes=2, all_present=True))
def test_weighted_mauc_is_the_mean_of_scikit_learns_weighted_auc_over_pairs(outcome):
    k, true, _, score, weight = outcome
    areas = []
    for j in range(k):
        for other in set(range(k)) - {j}:
            pair = np.isin(true, [j, other])
            areas.append(roc_auc_score(true[pair] == j, score[pair, j], sample_weight=weight[pair]))
    assert mauc_score(true, score, sample_weight=weight) == close(np.mean(areas))


@for_all(outcomes(min_classes=2, all_present=True))
def test_two_classes_take_one_score_per_row_as_scikit_learn_does(outcome):
    true, score = outcome.true % 2, outcome.score[:, 0]
    expected = roc_auc_score(true, score, sample_weight=outcome.weight)
    assert mauc_score(true, score, sample_weight=outcome.weight) == close(expected)
    assert mauc_score(true, np.column_stack([-score, score]), sample_weight=outcome.weight) == close(expected)


@for_all(outcomes(min_classes=2, all_present=True))
def test_balanced_log_loss_is_scikit_learns_with_weights_that_balance_the_classes(outcome):
    _, true, _, _, weight = outcome
    balanced = weight / np.bincount(true, weight)[true]
    expected = log_loss(true, outcome.proba, sample_weight=balanced)
    assert balanced_log_loss(true, outcome.proba, sample_weight=weight) == close(expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_balanced_log_loss_clips_as_scikit_learn_does_for_every_dtype(dtype):
    proba = np.eye(2, dtype=dtype)[[0, 1, 0, 0]]
    expected = log_loss([0, 1, 1, 0], proba)
    assert balanced_log_loss([0, 1, 1, 0], proba) == pytest.approx(expected, rel=1e-6)
    assert balanced_log_loss([0, 1], np.array([0.0, 1.0], dtype=dtype)) == pytest.approx(0.0, abs=2e-7)


@for_all(outcomes(min_classes=2, all_present=True))
def test_two_classes_take_one_probability_per_row_that_of_the_second(outcome):
    true, second = outcome.true % 2, outcome.proba[:, 0]
    expected = balanced_log_loss(true, np.column_stack([1 - second, second]), sample_weight=outcome.weight)
    assert balanced_log_loss(true, second, sample_weight=outcome.weight) == close(expected)


@for_all(outcomes())
def test_balanced_log_loss_of_equal_probabilities_is_ln_K_and_of_the_truth_0(outcome):
    k, true, _, _, weight = outcome
    options = {"labels": outcome.labels, "sample_weight": weight}
    assert balanced_log_loss(true, np.full((true.size, k), 1 / k), **options) == close(math.log(k))
    assert balanced_log_loss(true, np.eye(k)[true], **options) == close(0.0)


@for_all(outcomes())
def test_expected_cost_without_costs_is_the_error_rate(outcome):
    _, true, pred, _, weight = outcome
    expected = zero_one_loss(true, pred, sample_weight=weight)
    assert expected_cost_loss(true, pred, sample_weight=weight) == close(expected)


# Norms and bounds


def corollary(*args, **kwargs):
    return confusion_norm_bound(*args, method="corollary", **kwargs)


@for_all(outcomes())
def test_norm_lies_between_the_largest_entry_and_the_frobenius_norm(outcome):
    _, true, pred, _, weight = outcome
    shares = error_confusion_matrix(true, pred, sample_weight=weight)
    norm = confusion_norm_loss(true, pred, sample_weight=weight)
    assert shares.max() - 1e-12 <= norm <= np.linalg.norm(shares) + 1e-12


@for_all(outcomes())
def test_error_rate_is_the_one_norm_of_pC_and_at_most_root_K_times_the_norm(outcome):
    k, true, pred, _, weight = outcome
    error = zero_one_loss(true, pred, sample_weight=weight)
    p = np.bincount(true, weight, minlength=k) / weight.sum()
    shares = error_confusion_matrix(true, pred, labels=outcome.labels, sample_weight=weight)
    assert (p @ shares).sum() == close(error)
    assert error <= math.sqrt(k) * confusion_norm_loss(true, pred, sample_weight=weight) + 1e-12


@for_all(outcomes(min_classes=2, all_present=True))
def test_rows_twice_shrink_the_corollarys_excess_by_root_2_and_weight_2_leaves_it(outcome):
    _, true, pred, _, _ = outcome
    norm, bound = confusion_norm_loss(true, pred), corollary(true, pred)
    twice = corollary(np.tile(true, 2), np.tile(pred, 2))
    assert twice - norm == close((bound - norm) / math.sqrt(2))
    assert corollary(true, pred, sample_weight=np.full(true.size, 2.0)) == close(bound)


def test_corollary_holds_for_a_known_confusion_matrix_as_often_as_promised():
    rng = np.random.default_rng(0)
    rates = np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.0, 0.5, 0.5]])
    true = np.repeat([0, 1, 2], [300, 60, 20])
    truth = np.linalg.norm(rates * (1 - np.eye(3)), ord=2)
    cumulated = rates.cumsum(axis=1)[true]
    held = [truth <= corollary(true, (rng.random((true.size, 1)) > cumulated).sum(axis=1), eta=0.2) for _ in range(200)]
    assert np.mean(held) >= 0.8


def test_corollary_of_a_perfect_classifier_is_the_deviation_alone():
    y = [0] * 8 + [1] * 2
    assert corollary(y, y, eta=0.1) == close(math.sqrt(4 * (1 / 8 + 1 / 2) * math.log(20)))


# Weights, order and names


@for_all(outcomes(weights="counts"))
def test_weight_n_is_the_row_n_times_and_weight_0_is_no_row(outcome):
    _, true, pred, score, weight = outcome
    counts = weight.astype(int)
    copies = [np.repeat(rows, counts, axis=0) for rows in (true, pred, score)]
    values = all_metrics(true, pred, score, weight, outcome.labels)
    assert_same(values, all_metrics(*copies, None, outcome.labels))


@for_all(outcomes(min_classes=2), st.sampled_from([1e-300, 0.1, 3.0, 1e307]))
def test_scale_of_the_weights_does_not_matter(outcome, scale):
    _, true, pred, score, weight = outcome
    values = all_metrics(true, pred, score, weight * scale, outcome.labels)
    assert_same(values, all_metrics(true, pred, score, weight, outcome.labels))
    bounds = [corollary(true, pred, sample_weight=w, labels=outcome.labels) for w in (weight, weight * scale)]
    assert bounds[0] == close(bounds[1])


@for_all(outcomes(), st.randoms(use_true_random=False))
def test_order_of_the_rows_does_not_matter(outcome, random):
    _, true, pred, score, weight = outcome
    order = random.sample(range(true.size), true.size)
    values = all_metrics(true[order], pred[order], score[order], weight[order], outcome.labels)
    assert_same(values, all_metrics(true, pred, score, weight, outcome.labels))


@for_all(outcomes(), st.randoms(use_true_random=False))
def test_order_of_labels_permutes_the_matrix_and_nothing_else(outcome, random):
    k, true, pred, score, weight = outcome
    order = random.sample(range(k), k)
    values = all_metrics(true, pred, score[:, order], weight, outcome.labels[order])
    expected = all_metrics(true, pred, score, weight, outcome.labels)
    expected["error_confusion_matrix"] = expected["error_confusion_matrix"][np.ix_(order, order)]
    assert_same(values, expected)


@for_all(outcomes(), st.permutations(["oak", "ash", "elm", "yew"]))
def test_relabelling_permutes_the_matrix_and_nothing_else(outcome, names):
    k, true, pred, score, weight = outcome
    names = np.array(names[:k])
    order = np.argsort(names)
    labels = np.sort(names)
    values = all_metrics(names[true], names[pred], score[:, order], weight, labels)
    expected = all_metrics(true, pred, score, weight, outcome.labels)
    expected["error_confusion_matrix"] = expected["error_confusion_matrix"][np.ix_(order, order)]
    assert_same(values, expected)


# Absent classes


@for_all(outcomes())
def test_an_absent_class_adds_a_zero_row_and_column_and_changes_no_number(outcome):
    k, true, pred, score, weight = outcome
    wider = np.column_stack([score, np.arange(true.size)])
    values = all_metrics(true, pred, wider, weight, np.arange(k + 1))
    expected = all_metrics(true, pred, score, weight, outcome.labels)
    expected["error_confusion_matrix"] = np.pad(expected["error_confusion_matrix"], (0, 1))
    unlikely = np.column_stack([outcome.proba, np.zeros(true.size)])
    values["balanced_log_loss"] = balanced_log_loss(true, unlikely, labels=np.arange(k + 1), sample_weight=weight)
    assert_same(values, expected)


@for_all(outcomes())
def test_corollary_is_infinite_when_a_class_is_absent(outcome):
    k, true, pred, _, weight = outcome
    assert corollary(true, pred, labels=np.arange(k + 1), sample_weight=weight) == math.inf


def test_corollary_is_infinite_when_a_class_is_predicted_but_never_true():
    assert corollary([0, 0], [0, 1]) == math.inf


def test_a_class_that_is_only_predicted_has_no_recall_but_its_rows_are_mistakes():
    y_true, y_pred = [0, 0, 1, 1], [0, 2, 1, 1]
    np.testing.assert_array_equal(error_confusion_matrix(y_true, y_pred), [[0, 0, 0.5], [0, 0, 0], [0, 0, 0]])
    assert geometric_mean_score(y_true, y_pred) == close(math.sqrt(0.5))
    assert min_recall_score(y_true, y_pred) == 0.5


def test_a_class_of_zero_weight_counts_as_absent():
    y_true, y_pred, weight = [0, 0, 1], [0, 0, 0], [1.0, 1.0, 0.0]
    assert min_recall_score(y_true, y_pred, sample_weight=weight) == 1.0
    np.testing.assert_array_equal(error_confusion_matrix(y_true, y_pred, sample_weight=weight), np.zeros((2, 2)))
    assert corollary(y_true, y_pred, sample_weight=weight) == math.inf
    proba = [[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]]
    assert balanced_log_loss(y_true, proba, sample_weight=weight) == close(math.log(2))


@pytest.mark.parametrize(
    ("y_score", "labels"),
    [([0.1, 0.2], None), ([[0.1, 0.9], [0.2, 0.8]], None), ([[0.1, 0.2, 0.7], [0.2, 0.2, 0.6]], ["a", "b", "c"])],
)
def test_mauc_of_one_class_is_nan_with_a_warning(y_score, labels):
    with pytest.warns(UndefinedMetricWarning, match=r"only \['b'\]"):
        assert math.isnan(mauc_score(["b", "b"], y_score, labels=labels))


def test_one_class_everywhere_is_a_perfect_outcome():
    np.testing.assert_array_equal(error_confusion_matrix([7, 7], [7, 7]), [[0.0]])
    assert confusion_norm_loss([7, 7], [7, 7]) == 0.0
    assert geometric_mean_score([7, 7], [7, 7]) == min_recall_score([7, 7], [7, 7]) == 1.0


# Cases by hand


def test_three_classes_by_hand():
    y_true = ["a"] * 4 + ["b"] * 2 + ["c"]
    y_pred = ["a", "a", "a", "b", "b", "c", "a"]
    shares = error_confusion_matrix(y_true, y_pred)
    np.testing.assert_array_equal(shares, [[0, 0.25, 0], [0, 0, 0.5], [1, 0, 0]])
    assert confusion_norm_loss(y_true, y_pred) == close(1.0)
    assert geometric_mean_score(y_true, y_pred) == 0.0
    assert geometric_mean_score(y_true[:6], y_pred[:6]) == close(math.sqrt(0.75 * 0.5))
    assert min_recall_score(y_true, y_pred) == 0.0
    assert expected_cost_loss(y_true, y_pred, cost_matrix=[1, 2, 6]) == close((1 + 2 + 6) / 7)


@for_all(outcomes(min_classes=2, all_present=True))
def test_mauc_of_perfect_scores_is_exactly_1_and_of_constant_scores_one_half(outcome):
    k, true, _, _, weight = outcome
    assert mauc_score(true, np.eye(k)[true], sample_weight=weight) == 1.0
    assert mauc_score(true, np.zeros((true.size, k)), sample_weight=weight) == close(0.5)


def test_mauc_of_separated_classes_is_exactly_1_or_0_with_any_weights():
    rng = np.random.default_rng(0)
    true, weight = np.repeat([0, 1, 2], 100), rng.random(300)
    score = np.eye(3)[true] + 0.5 * rng.random((300, 3))
    assert mauc_score(true, score, sample_weight=weight) == 1.0
    assert mauc_score(true, -score, sample_weight=weight) == 0.0


@for_all(outcomes(min_classes=2, all_present=True))
def test_mauc_sees_only_the_order_within_a_column(outcome):
    k, true, _, score, weight = outcome
    value = mauc_score(true, score, sample_weight=weight)
    assert mauc_score(true, np.exp(score) * np.arange(1, k + 1) - 100, sample_weight=weight) == close(value)
    assert mauc_score(true, -score, sample_weight=weight) == close(1 - value)
    with np.errstate(divide="ignore"):
        assert mauc_score(true, np.log(score - 1), sample_weight=weight) == close(value)


# Costs


@for_all(outcomes(min_classes=2), st.randoms(use_true_random=False))
def test_a_frame_labelled_in_any_order_equals_the_array(outcome, random):
    k, true, pred, _, weight = outcome
    costs = np.arange(k * k).reshape(k, k) * (1 - np.eye(k))
    frame = pd.DataFrame(costs, index=outcome.labels, columns=outcome.labels)
    shuffled = frame.loc[random.sample(range(k), k), random.sample(range(k), k)]
    expected = expected_cost_loss(true, pred, cost_matrix=costs, labels=outcome.labels, sample_weight=weight)
    assert expected_cost_loss(true, pred, cost_matrix=shuffled, sample_weight=weight) == close(expected)


@for_all(outcomes(min_classes=2))
def test_one_cost_per_true_class_weighs_the_error_of_that_class(outcome):
    k, true, pred, _, weight = outcome
    costs = np.arange(1.0, k + 1)
    expected = np.average(costs[true] * (true != pred), weights=weight)
    per_class = dict(zip(outcome.labels.tolist(), costs.tolist(), strict=True))
    assert expected_cost_loss(true, pred, cost_matrix=per_class, sample_weight=weight) == close(expected)
    value = expected_cost_loss(true, pred, cost_matrix=costs, labels=outcome.labels, sample_weight=weight)
    assert value == close(expected)


def test_truth_is_in_the_rows_of_the_costs():
    costs = [[0, 1], [10, 0]]
    assert expected_cost_loss(["ok"], ["sick"], cost_matrix=costs) == 1.0
    assert expected_cost_loss(["sick"], ["ok"], cost_matrix=costs) == 10.0


# Kinds of input


INTEGERS, STRINGS, BOOLEANS = [0, 1, 1, 2], ["x", "y", "y", "z"], [False, True, True, False]


@pytest.mark.parametrize(
    "convert",
    [
        tuple,
        np.array,
        pd.Series,
        pl.Series,
        lambda y: np.array(y, dtype=object),
        lambda y: np.array(y)[:, None],
        lambda y: pd.Series(y, dtype="category"),
        lambda y: pd.Series(y, index=[9, 7, 5, 3]).convert_dtypes(),
        lambda y: pd.DataFrame({"y": y}),
    ],
)
@pytest.mark.parametrize("labels", [INTEGERS, STRINGS, BOOLEANS], ids=["integers", "strings", "booleans"])
def test_any_container_gives_the_matrix_of_the_list(convert, labels):
    y_pred = labels[1:] + labels[:1]
    expected = error_confusion_matrix(labels, y_pred)
    np.testing.assert_array_equal(error_confusion_matrix(convert(labels), convert(y_pred)), expected)
    np.testing.assert_array_equal(error_confusion_matrix(convert(labels), y_pred), expected)


def test_equal_numbers_of_different_types_are_the_same_label():
    assert confusion_norm_loss([0, 1, 1], [0.0, 1.0, 1.0], labels=[False, True]) == 0.0


def test_scores_and_weights_may_be_frames():
    y_score = pd.DataFrame({"a": [0.9, 0.2, 0.3], "b": [0.1, 0.8, 0.7]})
    weight = [1.0, 2.0, 0.5]
    expected = mauc_score([0, 1, 0], y_score.to_numpy(), sample_weight=weight)
    assert mauc_score([0, 1, 0], y_score, sample_weight=pd.Series(weight)) == expected
    assert mauc_score([0, 1, 0], pl.from_pandas(y_score), sample_weight=pl.Series(weight)) == expected


# Bad input

BAD_LABELS = [
    ([0, 1], [0], {}, "y_true has 2 rows and y_pred 1"),
    ([], [], {}, "y_true must hold one class label per row, at least one"),
    ([0, 1], [[0.1, 0.9], [0.8, 0.2]], {}, r"y_pred must hold one class label per row, .* shape \(2, 2\)"),
    ([0, 1], [0.0, 0.7], {}, "continuous. y_pred holds .*0.7.* in row 1"),
    ([0, math.nan], [0, 1], {}, r"y_true holds 1 missing label \(the first in row 1.*drop"),
    ([0, math.inf], [0, 1], {}, "y_true holds 1 infinite label"),
    (["a", None], ["a", "b"], {}, "y_true holds 1 missing label"),
    (["a", math.nan], ["a", "b"], {}, "y_true holds 1 missing label"),
    (pd.Series([0, None], dtype="Int64"), [0, 1], {}, "y_true holds 1 missing label"),
    (pl.Series([0, None]), [0, 1], {}, "y_true holds 1 missing label"),
    (["1", "2"], [1, 2], {}, r"all text or all numbers, got {'y_true': 'text', 'y_pred': 'numbers'}"),
    (["a", "b"], ["a", "c"], {"labels": ["a", "b"]}, r"y_pred holds \['c'\], which is not in labels=\['a', 'b'\]"),
    ([0, 1], [0, 0], {"labels": [0, 2]}, r"y_true holds \[1\], which is not in labels=\[0, 2\]; add it"),
    ([0, 1], [0, 0], {"labels": [0, 1, 1]}, r"labels=\[0, 1, 1\] must name every class once"),
    ([0, 1], [0, 0], {"labels": []}, "labels must hold one class label per row, at least one"),
    ([0, 1], [0, 0], {"sample_weight": [1.0]}, r"sample_weight has shape \(1,\) for 2 rows"),
    ([0, 1], [0, 0], {"sample_weight": [1.0, -1.0]}, "sample_weight has a negative, NaN or infinite value"),
    ([0, 1], [0, 0], {"sample_weight": [1.0, math.nan]}, "sample_weight has a negative, NaN or infinite value"),
    ([0, 1], [0, 0], {"sample_weight": [1.0, math.inf]}, "sample_weight has a negative, NaN or infinite value"),
    ([0, 1], [0, 0], {"sample_weight": [0.0, 0.0]}, "sample_weight is zero for every row"),
]


@pytest.mark.parametrize("metric", [*LABEL_METRICS, *BOUNDS])
@pytest.mark.parametrize(("y_true", "y_pred", "options", "message"), BAD_LABELS)
def test_bad_labels_and_weights_are_told(metric, y_true, y_pred, options, message):
    with pytest.raises(ValueError, match=message):
        metric(y_true, y_pred, **options)


@pytest.mark.parametrize(
    ("y_true", "y_score", "options", "message"),
    [
        ([0, 1, 2], [[0.5, 0.5]], {}, r"y_score has shape \(1, 2\) for 3 rows"),
        ([0, 1], 0.5, {}, r"y_score has shape \(\) for 2 rows"),
        ([0, 1, 2], [0.1, 0.2, 0.3], {}, r"y_score has 2 columns .* for the 3 classes \[0, 1, 2\]"),
        ([0, 2], [[0.1, 0.2, 0.7]] * 2, {}, r"y_score has 3 columns .* 2 classes \[0, 2\]; pass labels= "),
        ([0, 1], [0.1, math.nan], {}, "y_score has NaN"),
        ([0, 3], [0.1, 0.2], {"labels": [0, 1]}, r"y_true holds \[3\], which is not in labels"),
        ([0, 1], [0.1, 0.2], {"labels": ["a", "b"]}, "all text or all numbers"),
        ([0, 1], [0.1, 0.2], {"sample_weight": [0, 0]}, "sample_weight is zero for every row"),
        ([0, math.nan], [0.1, 0.2], {}, "y_true holds 1 missing label"),
    ],
)
def test_bad_input_of_mauc_is_told(y_true, y_score, options, message):
    with pytest.raises(ValueError, match=message):
        mauc_score(y_true, y_score, **options)


@pytest.mark.parametrize(
    ("y_true", "y_proba", "options", "message"),
    [
        ([0, 1, 2], [[0.5, 0.5]], {}, r"y_proba has shape \(1, 2\) for 3 rows"),
        ([0, 1, 2], [0.1, 0.2, 0.3], {}, r"y_proba has 2 columns .* for the 3 classes \[0, 1, 2\]"),
        ([0, 2], [[0.1, 0.2, 0.7]] * 2, {}, r"y_proba has 3 columns .* 2 classes \[0, 2\]; pass labels= "),
        ([0, 1], [0.1, math.nan], {}, "y_proba has a value outside of 0 to 1, or NaN"),
        ([0, 1], [[2.0, -1.0], [0.5, 0.5]], {}, "y_proba has a value outside of 0 to 1"),
        ([0, 1], [[0.5, 0.5], [0.5, 0.1]], {}, "y_proba has a row that sums to 0.6, not to 1"),
        ([0, 3], [0.1, 0.2], {"labels": [0, 1]}, r"y_true holds \[3\], which is not in labels"),
        ([0, 1], [0.1, 0.2], {"sample_weight": [0, 0]}, "sample_weight is zero for every row"),
        ([0, math.nan], [0.1, 0.2], {}, "y_true holds 1 missing label"),
    ],
)
def test_bad_input_of_the_balanced_log_loss_is_told(y_true, y_proba, options, message):
    with pytest.raises(ValueError, match=message):
        balanced_log_loss(y_true, y_proba, **options)


def test_costs_for_other_classes_than_the_labels_are_told():
    with pytest.raises(ValueError, match="cost_matrix"):
        expected_cost_loss([0, 1], [0, 1], cost_matrix=np.ones((3, 3)) - np.eye(3))
    with pytest.raises(ValueError, match="'cost_matrix': 'text'"):
        expected_cost_loss([0, 1], [0, 1], cost_matrix={"a": 1.0, "b": 2.0})


# Scorers


def rare_class_problem():
    """Return iris with 4 rows of its last class; splits without it in the test, without it in training, with it."""
    X, y = load_iris(return_X_y=True)
    keep = np.r_[0:40, 50:80, 100:104]
    X, y = X[keep], np.array(["common", "other", "rare"])[y[keep]]
    fold = np.arange(keep.size) % 2
    fold[-4:] = 1
    missing_in_training = np.flatnonzero(fold == 0), np.flatnonzero(fold == 1)
    missing_in_test = missing_in_training[::-1]
    fold[-4:] = [0, 1, 0, 1]
    return X, y, [missing_in_test, missing_in_training, (np.flatnonzero(fold == 0), np.flatnonzero(fold == 1))]


COSTS = pd.DataFrame(
    [[0, 1, 2], [3, 0, 4], [9, 8, 0]], index=["common", "other", "rare"], columns=["common", "other", "rare"]
)
SCORERS = {name: (name, {}) for name in OUR_NAMES} | {
    "cost_frame": ("neg_expected_cost", {"cost_matrix": COSTS}),
    "cost_array": ("neg_expected_cost", {"cost_matrix": COSTS.to_numpy()}),
    "cost_dict": ("neg_expected_cost", {"cost_matrix": {"common": 1.0, "other": 2.0, "rare": 9.0}}),
}


def make_scorer_named(key):
    name, options = SCORERS[key]
    return get_scorer(name, **options)


def score_by_hand(key, model, X, y, weight=None):
    """Score with the metric itself, reported of all three classes."""
    labels = COSTS.index.to_numpy()
    y_pred, options = model.predict(X), {"labels": labels, "sample_weight": weight}
    proba = pd.DataFrame(model.predict_proba(X), columns=model.classes_).reindex(columns=labels, fill_value=0.0)
    if key == "mauc":
        return mauc_score(y, proba, **options)
    if key == "neg_balanced_log_loss":
        return -balanced_log_loss(y, proba, **options)
    if key == "g_mean":
        return geometric_mean_score(y, y_pred, **options)
    if key == "min_recall":
        return min_recall_score(y, y_pred, **options)
    if key == "neg_confusion_norm":
        return -confusion_norm_loss(y, y_pred, **options)
    return -expected_cost_loss(y, y_pred, **SCORERS[key][1], **options)


@pytest.mark.parametrize("key", SCORERS)
def test_cross_validate_scores_folds_without_a_rare_class_like_the_metric(key):
    X, y, splits = rare_class_problem()
    scores = cross_validate(GaussianNB(), X, y, cv=splits, scoring=make_scorer_named(key), error_score="raise")
    models = [(GaussianNB().fit(X[train], y[train]), test) for train, test in splits]
    expected = [score_by_hand(key, model, X[test], y[test]) for model, test in models]
    np.testing.assert_allclose(scores["test_score"], expected)


def test_cross_validate_takes_all_scorers_at_once():
    X, y, splits = rare_class_problem()
    scoring = {key: make_scorer_named(key) for key in SCORERS}
    together = cross_validate(GaussianNB(), X, y, cv=splits, scoring=scoring, error_score="raise")
    for key, scorer in scoring.items():
        alone = cross_validate(GaussianNB(), X, y, cv=splits, scoring=scorer, error_score="raise")
        np.testing.assert_array_equal(together[f"test_{key}"], alone["test_score"])


@pytest.mark.parametrize("key", SCORERS)
def test_grid_search_chooses_what_scores_best(key):
    X, y, splits = rare_class_problem()
    grid = {"decisiontreeclassifier__max_depth": [1, 2, 3]}
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0))
    search = GridSearchCV(pipeline, grid, cv=splits, scoring=make_scorer_named(key), error_score="raise")
    search = clone(search).fit(X, y)
    means = []
    for depth in grid["decisiontreeclassifier__max_depth"]:
        model = clone(pipeline).set_params(decisiontreeclassifier__max_depth=depth)
        fitted = [(clone(model).fit(X[train], y[train]), test) for train, test in splits]
        means.append(np.mean([score_by_hand(key, m, X[test], y[test]) for m, test in fitted]))
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], means)
    assert search.best_index_ == np.argmax(means)


@pytest.mark.parametrize("key", SCORERS)
@pytest.mark.parametrize("copy", [deepcopy, lambda s: pickle.loads(pickle.dumps(s)), lambda s: clone(s, safe=False)])
def test_copies_of_a_scorer_score_the_same(key, copy):
    X, y, _ = rare_class_problem()
    model, scorer = GaussianNB().fit(X, y), make_scorer_named(key)
    assert copy(scorer)(model, X, y) == scorer(model, X, y)


@pytest.mark.parametrize("key", SCORERS)
def test_scorers_take_weights(key):
    X, y, _ = rare_class_problem()
    model, weight = GaussianNB().fit(X[::2], y[::2]), np.arange(y.size) % 5
    value = make_scorer_named(key)(model, X, y, sample_weight=weight)
    assert value == close(score_by_hand(key, model, X, y, weight))


@pytest.mark.parametrize("key", SCORERS)
def test_weights_are_routed_to_the_scorer_when_it_asks(key):
    X, y, splits = rare_class_problem()
    weight = 1.0 + np.arange(y.size) % 5
    models = [(GaussianNB().fit(X[train], y[train]), test) for train, test in splits]
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_scorer_named(key).set_score_request(sample_weight=True)
        model = GaussianNB().set_fit_request(sample_weight=False)
        options = {"cv": splits, "scoring": scorer, "params": {"sample_weight": weight}, "error_score": "raise"}
        scores = cross_validate(model, X, y, **options)["test_score"]
    expected = [score_by_hand(key, m, X[test], y[test], weight[test]) for m, test in models]
    np.testing.assert_allclose(scores, expected)


@pytest.mark.parametrize("key", ["mauc", "neg_balanced_log_loss", "cost_array"])
def test_weights_that_nobody_asked_for_are_an_error_of_routing(key):
    X, y, splits = rare_class_problem()
    options = {"cv": splits, "scoring": make_scorer_named(key), "params": {"sample_weight": np.ones(y.size)}}
    with sklearn.config_context(enable_metadata_routing=True):
        model = GaussianNB().set_fit_request(sample_weight=True)
        with pytest.raises(ValueError, match="sample_weight"):
            cross_validate(model, X, y, **options)


def test_grid_search_with_weights_and_many_scorers_works_without_routing():
    X, y, splits = rare_class_problem()
    scoring = {name: get_scorer(name) for name in OUR_NAMES}
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=splits, scoring=scoring, refit="mauc")
    search.fit(X, y, sample_weight=np.full(y.size, 2.0))
    assert np.isfinite([search.cv_results_[f"mean_test_{name}"] for name in OUR_NAMES]).all()


def test_mauc_scorer_of_two_classes_is_scikit_learns_roc_auc():
    X, y, _ = rare_class_problem()
    X, y = X[y != "rare"][:, :1], y[y != "rare"]
    model = GaussianNB().fit(X, y)
    assert get_scorer("mauc")(model, X, y) == close(get_scorer("roc_auc")(model, X, y))


def test_a_class_unknown_to_the_model_has_probability_0_in_the_mauc_scorer():
    model = DummyClassifier(strategy="prior").fit([[0], [0], [0]], ["a", "a", "b"])
    # Every score is constant, so every pair of classes is guessed.
    assert get_scorer("mauc")(model, [[0]] * 4, ["a", "b", "c", "c"]) == 0.5


def test_mauc_scorer_of_a_fold_with_one_class_is_nan_with_a_warning():
    X, y, _ = rare_class_problem()
    with pytest.warns(UndefinedMetricWarning, match="MAUC needs two classes"):
        assert math.isnan(get_scorer("mauc")(GaussianNB().fit(X, y), X[:5], y[:5]))


@pytest.mark.parametrize("name", ["mauc", "neg_balanced_log_loss"])
def test_scorer_tells_what_a_model_without_probabilities_lacks(name):
    X, y, _ = rare_class_problem()
    with pytest.raises(AttributeError, match=f'"{name}" needs predict_proba, which RidgeClassifier lacks'):
        get_scorer(name)(RidgeClassifier().fit(X, y), X, y)


@pytest.mark.parametrize(
    "scorer",
    [get_scorer("g_mean"), get_scorer("neg_expected_cost", cost_matrix={False: 1.0, True: 20.0})],
    ids=["g_mean", "neg_expected_cost"],
)
def test_scorers_tune_the_threshold_of_two_classes(scorer):
    X, y, _ = rare_class_problem()
    cv = PredefinedSplit(np.arange(y.size) % 2)
    tuned = TunedThresholdClassifierCV(GaussianNB(), scoring=scorer, cv=cv, thresholds=20).fit(X[:, :2], y == "other")
    assert scorer(tuned, X[:, :2], y == "other") <= 1.0


def test_each_call_returns_a_scorer_of_its_own():
    for name in OUR_NAMES:
        assert get_scorer(name) is not get_scorer(name)


def test_other_names_and_callables_fall_through_to_scikit_learn():
    X, y, _ = rare_class_problem()
    model = GaussianNB().fit(X, y)
    assert get_scorer("accuracy")(model, X, y) == model.score(X, y)
    assert get_scorer(score_by_hand) is score_by_hand


def test_an_unknown_name_is_told_with_all_of_ours():
    with pytest.raises(ValueError, match="'gmean' is not a scorer") as caught:
        get_scorer("gmean")
    for name in [*OUR_NAMES, "neg_soft_confusion_norm", "sklearn.metrics.get_scorer_names()"]:
        assert name in str(caught.value)


def test_a_cost_matrix_is_never_ignored():
    with pytest.raises(ValueError, match="'g_mean' would ignore it"):
        get_scorer("g_mean", cost_matrix=COSTS)


def test_class_scorers_say_how_they_were_made():
    assert repr(get_scorer("mauc")) == "get_scorer('mauc')"
