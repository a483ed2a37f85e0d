"""Bootstrap draws have the spread of the samples."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import binomtest
from scipy.stats import t as student

from comboost._stats.bootstrap import (
    BootstrapDraws,
    add_pseudo_samples,
    dense_norms,
    draw_metrics,
    exchange_predictions,
    joint_table,
    largest_singular_value,
)


def draws_of(truth, *predictions, n_draws=None):
    return draw_metrics(truth, predictions, int(truth.max()) + 1, 0, n_draws)


def predict_with(random, truth, recalls):
    """Predictions that are correct with the recall of their class, else the next class."""
    correct = random.random(len(truth)) < np.asarray(recalls)[truth]
    return np.where(correct, truth, (truth + 1) % len(recalls))


def test_draws_have_the_spread_of_binomial_samples():
    random = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), [400, 900, 2000])
    predicted = predict_with(random, truth, [0.5, 0.7, 0.9])
    draws = draws_of(truth, predicted, n_draws=4000)
    recalls = np.array([(predicted[truth == k] == k).mean() for k in range(3)])
    variances = recalls * (1 - recalls) / [400, 900, 2000]
    assert draws.standard_error("mean_recall", 0) == pytest.approx(np.sqrt(variances.sum()) / 3, rel=0.05)
    weights = np.array([400, 900, 2000]) / 3300
    assert draws.standard_error("accuracy", 0) == pytest.approx(np.sqrt((weights**2 * variances).sum()), rel=0.05)


def test_pairing_narrows_the_difference_of_models_that_agree():
    random = np.random.default_rng(0)
    truth = np.repeat(np.arange(2), 500)
    ours = predict_with(random, truth, [0.7, 0.7])
    theirs = np.where(np.arange(1000) % 50 == 0, truth, ours)  # nearly the same
    draws = draws_of(truth, ours, theirs)
    assert draws.standard_error_of_difference("mean_recall") < 0.5 * draws.standard_error("mean_recall", 0)


def test_intervals_of_few_samples_have_about_their_coverage():
    random, recalls = np.random.default_rng(0), np.array([0.9, 0.6])
    truth, n_held, n_trials = np.repeat(np.arange(2), [6, 25]), 0, 300
    for _ in range(n_trials):
        predicted = predict_with(random, truth, recalls)
        draws = draws_of(truth, predicted, n_draws=100)
        value = np.mean([(predicted[truth == k] == k).mean() for k in range(2)])
        n_held += abs(value - recalls.mean()) <= draws.half_width(draws.standard_error("mean_recall", 0), 0.95)
    assert n_held / n_trials >= 0.91


def test_a_recall_of_one_is_not_certain():
    truth = np.repeat(np.arange(2), [2, 50])
    draws = draws_of(truth, truth)
    assert all(draws.standard_error(key, 0) > 0 for key in ("norm", "g_mean", "mean_recall", "accuracy"))


def test_joint_table_keeps_samples_and_pseudo_samples_add_two_per_class():
    truth = np.array([0, 0, 1, 1, 1])
    observed, _ = joint_table(truth, [np.array([0, 1, 1, 1, 0]), np.array([0, 0, 1, 1, 0])], int(truth.max()) + 1)
    assert np.bincount(observed.truth, observed.n_samples).tolist() == [2.0, 3.0]
    table = add_pseudo_samples(observed, 2)
    assert np.bincount(table.truth, table.n_samples).tolist() == [4.0, 5.0]
    for predicted in table.predictions:
        assert np.bincount(table.truth, table.n_samples * (predicted == table.truth)).min() >= 1.0


def test_norms_of_many_classes_are_those_of_few():
    random = np.random.default_rng(0)
    matrices = random.random((20, 12, 12)) * (random.random((12, 12)) < 0.4)
    pairs = np.flatnonzero(matrices.any(axis=0))
    fractions = matrices.reshape(20, -1)[:, pairs]
    structure = csr_array((np.ones(len(pairs)), (pairs // 12, pairs % 12)), shape=(12, 12))
    exact = [np.linalg.norm(matrix, ord=2) for matrix in matrices]
    assert dense_norms(fractions, pairs, 12) == pytest.approx(exact)
    assert [largest_singular_value(structure, values) for values in fractions] == pytest.approx(exact, rel=2e-3)


def test_a_thousand_classes_are_drawn_in_few_steps():
    random = np.random.default_rng(0)
    truth = np.arange(20_000) % 1000
    ours, theirs = (predict_with(random, truth, np.full(1000, good)) for good in (0.7, 0.6))
    draws = draws_of(truth, ours, theirs, n_draws=20)
    assert draws.metrics["norm"].shape == (2, 20)
    assert (draws.metrics["mean_recall"][0] > draws.metrics["mean_recall"][1]).all()


@pytest.mark.parametrize("n_rare", [1, 2, 3, 4, 5, 7, 10])
def test_no_mean_is_significant_that_the_exact_test_does_not_see(n_rare):
    # The model predicts both classes correctly, the baseline always the second.
    truth = np.repeat([0, 1], [n_rare, 300])
    draws = draws_of(truth, truth, np.ones_like(truth))
    chance = binomtest(n_rare, n_rare).pvalue
    for key, value in (("mean_recall", 0.5), ("norm", -1.0), ("accuracy", n_rare / (n_rare + 300))):
        half = draws.half_width_of_difference(key, value, 0.95)
        assert chance <= 0.05 or half >= abs(value)
        assert chance >= 0.02 or key == "norm" or half < abs(value)


def test_exchanged_predictions_keep_samples_and_are_symmetric():
    random = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), [20, 30, 200])
    ours, theirs = (predict_with(random, truth, recalls) for recalls in ([0.9, 0.8, 0.7], [0.2, 0.5, 0.6]))
    observed, _ = joint_table(truth, [ours, theirs], int(truth.max()) + 1)
    drawn, table = exchange_predictions(observed, 500, random)
    by_class = np.stack([drawn[:, table.truth == place].sum(axis=1) for place in range(3)], axis=1)
    assert (by_class == [20, 30, 200]).all()
    right = [drawn[:, predicted == table.truth].sum(axis=1).astype(int) for predicted in table.predictions]
    assert ((right[0] + right[1]) == (ours == truth).sum() + (theirs == truth).sum()).all()
    n_disagreed = int(((ours == truth) != (theirs == truth)).sum())
    assert (right[0] - right[1]).std() == pytest.approx(np.sqrt(n_disagreed), rel=0.15)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("n_free", [0, 1, 2, 30, 10_000])
def test_half_widths_are_two_sided_as_those_of_scipy(confidence, n_free):
    low, high = student.interval(confidence, max(n_free, 1), loc=0.0, scale=0.25)
    assert BootstrapDraws({}, {}, n_free).half_width(0.25, confidence) == pytest.approx(high)
    assert high == pytest.approx(-low)


def test_interval_of_a_metric_is_the_two_sided_one_of_its_draws():
    first, second = np.random.default_rng(0).normal(size=(2, 500))
    draws = BootstrapDraws({"norm": np.stack([first, second])}, {}, 40)
    for idx, values in enumerate((first, second)):
        _, high = student.interval(0.9, 40, scale=np.std(values, ddof=1))
        assert draws.half_width(draws.standard_error("norm", idx), 0.9) == pytest.approx(high)
    error = np.std(first - second, ddof=1)
    assert draws.standard_error_of_difference("norm") == pytest.approx(error)


@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=120),
    st.integers(-31, 31),
    st.sampled_from([Fraction(1, 2), Fraction(4, 5), Fraction(9, 10), Fraction(19, 20), Fraction(99, 100)]),
)
@example(list(range(19)), 18, Fraction(9, 10))  # the quantile is exactly an order statistic
@example(list(range(19)), 17, Fraction(9, 10))
@example(list(range(20)), 18, Fraction(9, 10))
@example(list(range(99)), 94, Fraction(19, 20))
@example(list(range(99)), -95, Fraction(19, 20))
@example([0, 1, 2], 5, Fraction(19, 20))  # too few draws for anything to be significant
def test_difference_is_significant_iff_the_permutation_test_says_so(sizes, value, confidence):
    """The observed difference is one of the exchanges: p = (1 + exchanges that are as large)/(1 + all exchanges)."""
    exchanged = np.array(sizes) * np.where(np.arange(len(sizes)) % 2, 1.0, -1.0)
    draws = BootstrapDraws(
        {"norm": np.zeros((2, 3))}, {"norm": np.stack([exchanged, np.zeros(len(sizes))])}, 30
    )  # no spread: nothing else widens the interval
    p = Fraction(1 + sum(size >= abs(value) for size in sizes), 1 + len(sizes))
    half = draws.half_width_of_difference("norm", float(value), float(confidence))
    assert (half < abs(value)) == (p <= 1 - confidence)
