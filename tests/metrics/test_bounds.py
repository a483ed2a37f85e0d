"""Confidence bounds for new data: they hold as often as they say, and are no wider than they have to be."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference import bounds_reference as reference
from scipy.stats import beta, binom, binomtest

from comboost.metrics import (
    confusion_norm_bound,
    confusion_norm_loss,
    error_rate_bound,
    geometric_mean_bound,
    geometric_mean_score,
    min_recall_bound,
    min_recall_score,
    recall_bounds,
)
from comboost.metrics._confidence import (
    ClassSamples,
    clopper_pearson_lower,
    error_upper,
    geometric_mean_lower,
    largest_error_upper,
    mean_error_upper,
    norm_upper,
    poisson_upper,
    simultaneous_error_upper,
)

UPPER = [confusion_norm_bound, error_rate_bound]
LOWER = [recall_bounds, min_recall_bound, geometric_mean_bound]
TIGHT = 1e-3  # a search may end this far, relatively, from the best bound


def few(test):
    """Run a property of the norm, whose bound takes some 50 ms, on few examples."""
    return settings(max_examples=settings.default.max_examples // 5, deadline=None)(test)


@st.composite
def all_counts(draw, min_classes=2, max_classes=5, max_size=60):
    """Counts N(l, j) of classes that are all present."""
    n_classes = draw(st.integers(min_classes, max_classes))
    counts = draw(hnp.arrays(np.int64, (n_classes, n_classes), elements=st.integers(0, max_size // n_classes)))
    counts[range(n_classes), range(n_classes)] += draw(
        hnp.arrays(np.int64, n_classes, elements=st.integers(1, max_size))
    )
    return counts


def labels_of(counts):
    """True and predicted labels with these counts."""
    pairs = np.repeat(np.arange(counts.size), counts.ravel())
    return pairs // len(counts), pairs % len(counts)


def all_bounds(true, pred, **options):
    return {bound.__name__: np.asarray(bound(true, pred, **options)) for bound in [*UPPER, *LOWER]}


# Single classes


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(1e-6, 0.5))
def test_bounds_of_a_proportion_are_those_of_scipy(seen, eta):
    right, n = seen
    low = float(clopper_pearson_lower(np.float64(right), np.float64(n), eta))
    assert low == pytest.approx(float(beta.ppf(eta, right, n - right + 1)) if right else 0.0, rel=1e-9)
    assert low == pytest.approx(binomtest(right, n).proportion_ci(1 - 2 * eta, method="exact").low, abs=1e-9)
    if right:
        assert binom.sf(right - 1, n, low) == pytest.approx(eta, rel=1e-6)


@given(all_counts(), st.floats(0.001, 0.5))
def test_each_quantity_uses_the_level_that_it_needs(counts, eta):
    n_classes = len(counts)
    true, pred = labels_of(counts)
    sizes, wrong = counts.sum(axis=1), counts.sum(axis=1) - np.diag(counts)
    each = 1 - (1 - eta) ** (1 / n_classes)  # of K independent classes
    expected = [1 - reference.proportion_upper(w, n, each) for w, n in zip(wrong, sizes, strict=True)]
    np.testing.assert_allclose(recall_bounds(true, pred, eta=eta), expected, atol=1e-9)
    worst = max(reference.proportion_upper(w, n, eta) for w, n in zip(wrong, sizes, strict=True))
    assert error_rate_bound(true, pred, eta=eta) == pytest.approx(worst, abs=1e-9)
    assert min_recall_bound(true, pred, eta=eta) == pytest.approx(1 - worst, abs=1e-9)


# Coverage, by enumeration of all outcomes of small test sets


def all_rows(n_samples, n_classes):
    """All counts of a class, and in how many orders each arises."""
    rows = [row for row in product(range(n_samples + 1), repeat=n_classes) if sum(row) == n_samples]
    orders = [math.factorial(n_samples) / math.prod(map(math.factorial, row)) for row in rows]
    return np.array(rows, dtype=float), np.array(orders)


@pytest.fixture(scope="module")
def small_sets():
    """All confusion matrices of 3, 2 and 4 samples of three classes, with their orders."""
    parts = [all_rows(n, 3) for n in (3, 2, 4)]
    indices = np.array(list(product(*(range(len(rows)) for rows, _ in parts))))
    counts = np.stack([rows[indices[:, idx]] for idx, (rows, _) in enumerate(parts)], axis=1)
    orders = np.prod([orders[indices[:, idx]] for idx, (_, orders) in enumerate(parts)], axis=0)
    return counts, orders


PROBABILITIES = [
    [[0.9, 0.1, 0.0], [0.0, 0.9, 0.1], [0.1, 0.0, 0.9]],
    [[0.5, 0.4, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]],
    [[0.1, 0.9, 0.0], [0.0, 1.0, 0.0], [0.0, 0.9, 0.1]],
    [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]],
    [[0.3, 0.7, 0.0], [0.7, 0.3, 0.0], [0.05, 0.0, 0.95]],
]


PRIORS = np.array([0.2, 0.7, 0.1])


@pytest.fixture(scope="module", params=[0.3, 0.05])
def bounds_of_small_sets(small_sets, request):
    """The level, and all bounds at this level."""
    samples, eta = ClassSamples.of_counts(small_sets[0]), request.param
    return eta, {
        "norm": norm_upper(samples, eta),
        "largest error": largest_error_upper(samples, eta),
        "mean error": mean_error_upper(samples, PRIORS, eta),
        "all errors": simultaneous_error_upper(samples, eta),
        "G-mean": geometric_mean_lower(samples, eta),
    }


@pytest.mark.parametrize("probabilities", PROBABILITIES)
def test_bounds_fail_at_most_as_often_as_they_may(small_sets, bounds_of_small_sets, probabilities):
    counts, orders = small_sets
    eta, bounds = bounds_of_small_sets
    rates = np.array(probabilities)
    chances = orders * np.prod(rates**counts, axis=(1, 2))
    assert chances.sum() == pytest.approx(1.0)
    errors, slightly_less = 1 - np.diag(rates), 1 - 1e-9
    norm = np.linalg.norm(rates * (1 - np.eye(3)), ord=2)
    failures = {
        "norm": bounds["norm"] < norm * slightly_less,
        "largest error": bounds["largest error"] < errors.max() * slightly_less,
        "mean error": bounds["mean error"] < errors @ PRIORS * slightly_less,
        "all errors": (bounds["all errors"] < errors * slightly_less).any(axis=1),
        "G-mean": bounds["G-mean"] * slightly_less > np.prod(np.diag(rates)) ** (1 / 3),
    }
    for name, failed in failures.items():
        assert chances[failed].sum() <= eta + 1e-9, name


def test_chernoff_bounds_of_unequal_weights_fail_at_most_as_often_as_they_may():
    rng = np.random.default_rng(0)
    weight = np.array([5.0, 1.0, 1.0, 0.2, 3.0])
    outcomes = np.array(list(product([0, 1], repeat=5)))
    errors = outcomes @ weight / weight.sum()
    size = np.full(1, weight.sum() ** 2 / (weight**2).sum())
    confusion = np.zeros((len(outcomes), 1, 1)) + errors[:, np.newaxis, np.newaxis]
    bounds = error_upper(ClassSamples(confusion, size, np.zeros(1, dtype=bool)), 0.1)[:, 0]
    for p in rng.random(50):
        chances = np.prod(np.where(outcomes == 1, p, 1 - p), axis=1)
        assert chances[bounds < p].sum() <= 0.1


@pytest.mark.parametrize("probabilities", PROBABILITIES)
def test_bounds_of_weighted_samples_fail_at_most_as_often_as_they_may(probabilities):
    rates, eta, weights = np.array(probabilities), 0.3, np.array([[0.75, 0.25], [0.5, 0.5], [0.9, 0.1]])
    predictions = np.array(list(product(range(3), repeat=6))).reshape(-1, 3, 2)  # of two samples per class
    chances = np.prod(rates[np.arange(3)[:, np.newaxis], predictions], axis=(1, 2))
    confusion = (weights[..., np.newaxis] * (predictions[..., np.newaxis] == np.arange(3))).sum(axis=2)
    confusion *= 1 - np.eye(3)
    samples = ClassSamples(confusion, 1 / (weights**2).sum(axis=1), np.array([False, True, False]))
    errors, slightly_less = 1 - np.diag(rates), 1 - 1e-9
    norm = np.linalg.norm(rates * (1 - np.eye(3)), ord=2)
    failures = {
        "norm": norm_upper(samples, eta) < norm * slightly_less,
        "largest error": largest_error_upper(samples, eta) < errors.max() * slightly_less,
        "mean error": mean_error_upper(samples, PRIORS, eta) < errors @ PRIORS * slightly_less,
        "all errors": (simultaneous_error_upper(samples, eta) < errors * slightly_less).any(axis=1),
        "G-mean": geometric_mean_lower(samples, eta) * slightly_less > np.prod(np.diag(rates)) ** (1 / 3),
    }
    for name, failed in failures.items():
        assert chances[failed].sum() <= eta + 1e-9, name


@given(st.floats(0, 1), st.floats(1e-6, 40))
def test_chernoff_bound_of_a_poisson_distribution_uses_its_whole_level(x, slack):
    p = float(poisson_upper(np.array(x), np.array(slack)))
    assert p - x - (x * (math.log(p) - math.log(x)) if x > 0 else 0) == pytest.approx(slack, rel=1e-6, abs=1e-12)


# The norm


@few
@given(all_counts(min_classes=2, max_classes=2), st.floats(0.001, 0.5))
def test_norm_of_two_classes_is_the_larger_error_rate(counts, eta):
    true, pred = labels_of(counts)
    worst = max(reference.proportion_upper(counts[k, 1 - k], counts[k].sum(), eta) for k in (0, 1))
    assert confusion_norm_bound(true, pred, eta=eta) == pytest.approx(worst, abs=1e-9)


@pytest.mark.parametrize(
    "counts",
    [
        [[50, 3, 0], [2, 40, 8], [0, 0, 30]],
        [[5, 0, 0], [0, 5, 0], [0, 0, 5]],
        [[900, 50, 50], [2, 10, 0], [1, 1, 3]],
        [[20, 5, 5, 0], [0, 9, 0, 0], [1, 1, 100, 3], [0, 0, 9, 1]],
        [[5000, 5, 0, 0], [2, 500, 0, 0], [0, 0, 50, 0], [0, 0, 0, 5]],  # the best σ and c lie at a kink
    ],
)
def test_norm_bound_is_that_of_its_plain_reference(counts):
    found = float(norm_upper(ClassSamples.of_counts(np.array(counts, dtype=float)), 0.05))
    best = reference.norm_upper(counts, 0.05)
    assert best * (1 - 0.01) <= found <= best * (1 + 0.02)  # cells cost at most 2 %, the reference's grids 1 %


@few
@given(all_counts(), st.floats(0.001, 1.0))
def test_norm_bound_lies_between_the_norm_and_the_largest_one(counts, eta):
    true, pred = labels_of(counts)
    bound = confusion_norm_bound(true, pred, eta=eta)
    assert confusion_norm_loss(true, pred) - 1e-9 <= bound <= math.sqrt(len(counts) - 1)


@few
@given(all_counts(), st.floats(0.001, 0.4), st.floats(1.1, 2.0))
def test_more_confidence_widens_every_bound(counts, eta, factor):
    true, pred = labels_of(counts)
    sure, less_sure = all_bounds(true, pred, eta=eta), all_bounds(true, pred, eta=eta * factor)
    for bound in UPPER:
        assert sure[bound.__name__] >= less_sure[bound.__name__] * (1 - TIGHT), bound.__name__
    for bound in LOWER:
        assert (sure[bound.__name__] <= less_sure[bound.__name__] + 1e-12).all(), bound.__name__


@few
@given(all_counts(min_classes=3), st.randoms(use_true_random=False))
def test_order_and_names_of_classes_do_not_matter(counts, random):
    order = random.sample(range(len(counts)), len(counts))
    one, other = all_bounds(*labels_of(counts)), all_bounds(*labels_of(counts[np.ix_(order, order)]))
    np.testing.assert_allclose(other.pop("recall_bounds"), one.pop("recall_bounds")[order])
    for name, bound in one.items():
        assert other[name] == pytest.approx(bound, rel=TIGHT), name


@few
@given(all_counts(min_classes=3), st.integers(2, 20))
def test_more_samples_with_the_same_outcome_tighten_every_bound(counts, times):
    once, often = all_bounds(*labels_of(counts)), all_bounds(*labels_of(counts * times))
    for bound in UPPER:
        assert often[bound.__name__] <= once[bound.__name__] * (1 + TIGHT), bound.__name__
    for bound in LOWER:
        assert (often[bound.__name__] >= once[bound.__name__] - 1e-12).all(), bound.__name__


@pytest.mark.parametrize(("n_classes", "n_samples"), [(3, 100), (3, 1000), (6, 40), (10, 20), (26, 100)])
def test_norm_bound_is_far_below_the_corollary(n_classes, n_samples):
    counts = np.full((n_classes, n_classes), 0.1 * n_samples / (n_classes - 1))
    counts = np.floor(counts).astype(int)
    np.fill_diagonal(counts, 0)
    np.fill_diagonal(counts, n_samples - counts.sum(axis=1))
    true, pred = labels_of(counts)
    assert confusion_norm_bound(true, pred) < confusion_norm_bound(true, pred, method="corollary") / 2


def test_many_matrices_at_once_have_the_bounds_that_they_have_alone():
    rng = np.random.default_rng(0)
    rates = [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.0, 0.2, 0.8]]
    counts = np.array([[rng.multinomial(n, p) for n, p in zip((40, 9, 200), rates, strict=True)] for _ in range(5)])
    together = ClassSamples.of_counts(counts.astype(float))
    priors = np.array([0.5, 0.25, 0.25])
    for idx, each in enumerate(counts):
        alone = ClassSamples.of_counts(each.astype(float))
        assert norm_upper(together, 0.05)[idx] == pytest.approx(float(norm_upper(alone, 0.05)))
        expected = float(mean_error_upper(alone, priors, 0.05))
        assert mean_error_upper(together, priors, 0.05)[idx] == pytest.approx(expected)


# The geometric mean of the recalls


@pytest.mark.parametrize(
    ("correct", "sizes"),
    [([90, 80, 30], [100, 90, 40]), ([5, 5], [5, 5]), ([9, 1, 4, 7], [10, 10, 5, 7]), ([3, 0], [4, 4])],
)
def test_g_mean_bound_is_that_of_its_plain_reference(correct, sizes):
    counts = np.diag(np.array(correct, dtype=float))
    counts[range(len(sizes)), np.roll(range(len(sizes)), 1)] = np.subtract(sizes, correct)
    for eta in (0.3, 0.01):
        found = float(geometric_mean_lower(ClassSamples.of_counts(counts), eta))
        assert found == pytest.approx(reference.geometric_mean_lower(correct, sizes, eta), abs=0.01)


@pytest.mark.parametrize("n_classes", [3, 6, 26])
@pytest.mark.parametrize("n_samples", [20, 300])
def test_g_mean_bound_is_above_that_of_all_recalls_at_once(n_classes, n_samples):
    n_wrong = n_samples // 10
    y = np.repeat(np.arange(n_classes), n_samples)
    predicted = np.where(np.arange(len(y)) % n_samples < n_wrong, (y + 1) % n_classes, y)
    assert geometric_mean_bound(y, predicted) > np.exp(np.log(recall_bounds(y, predicted)).mean())


@given(all_counts(), st.floats(0.001, 1.0))
def test_g_mean_of_perfect_predictions_is_bounded_by_the_smallest_class(counts, eta):
    sizes = counts.sum(axis=1)
    y = np.repeat(np.arange(len(sizes)), sizes)
    expected = eta ** (1 / (len(sizes) * sizes.min()))  # the order is the size of the smallest class
    assert geometric_mean_bound(y, y, eta=eta) == pytest.approx(expected)


def test_unequal_weights_bound_the_g_mean_by_all_recalls_at_once():
    y = np.repeat([0, 1, 2], 30)
    predicted = np.where(np.arange(90) % 7, y, 0)
    weight = 1.0 + np.arange(90) % 2
    expected = np.prod(recall_bounds(y, predicted, sample_weight=weight)) ** (1 / 3)
    assert geometric_mean_bound(y, predicted, sample_weight=weight) == pytest.approx(expected)


# Error rates under priors


@given(all_counts(), st.floats(0.001, 0.3), st.data())
def test_error_rate_under_priors_is_at_least_the_observed_one(counts, eta, data):
    true, pred = labels_of(counts)
    priors = data.draw(hnp.arrays(np.float64, len(counts), elements=st.floats(0.01, 1.0)))
    priors /= priors.sum()
    errors = 1 - np.diag(counts) / counts.sum(axis=1)
    bound = error_rate_bound(true, pred, priors=priors, eta=eta)
    assert priors @ errors - 1e-9 <= bound <= 1
    named = dict(zip(range(len(counts)), priors.tolist(), strict=True))
    assert error_rate_bound(true, pred, priors=named, eta=eta) == pytest.approx(bound)


def test_prior_of_an_absent_class_counts_as_errors():
    y = np.repeat([0, 1], 1000)
    bound = error_rate_bound(y, y, priors={0: 0.45, 1: 0.45, 2: 0.1})
    assert 0.1 < bound < 0.11
    assert error_rate_bound(y, y, labels=[0, 1, 2]) == 1.0


def test_priors_of_any_size_are_bounded_smoothly():
    y, predicted = np.repeat([0, 1, 2], [50, 30, 20]), np.repeat([0, 1, 2, 0], [40, 40, 10, 10])
    bounds = [error_rate_bound(y, predicted, priors=[1 - 2 * p, p, p]) for p in (1e-4, 1e-12, 1e-100, 5e-324)]
    assert bounds == pytest.approx(bounds[:1] * 4, rel=TIGHT)


def test_priors_that_are_none_are_refused():
    with pytest.raises(ValueError, match="priors adds up to 2, not to 1"):
        error_rate_bound([0, 1], [0, 1], priors=[1, 1])
    with pytest.raises(ValueError, match="name every class exactly once"):
        error_rate_bound([0, 1], [0, 1], priors={0: 1.0})


# Weights and absent classes


@few
@given(all_counts(min_classes=3), st.floats(0.1, 10), st.data())
def test_weights_that_only_differ_between_classes_change_nothing(counts, scale, data):
    true, pred = labels_of(counts)
    of_class = data.draw(hnp.arrays(np.float64, len(counts), elements=st.floats(0.1, 10)))
    expected = all_bounds(true, pred)
    for name, bound in all_bounds(true, pred, sample_weight=of_class[true] * scale).items():
        np.testing.assert_allclose(bound, expected[name], rtol=TIGHT, err_msg=name)


@few
@given(all_counts(min_classes=2, max_classes=4, max_size=20), st.randoms(use_true_random=False))
def test_unequal_weights_give_wider_bounds_than_as_many_equal_samples(counts, random):
    true, pred = labels_of(counts)
    weighted = all_bounds(np.tile(true, 2), np.tile(pred, 2), sample_weight=np.repeat([1.0, 0.5], len(true)))
    equal = all_bounds(np.tile(true, 2), np.tile(pred, 2))
    for bound in UPPER:
        assert weighted[bound.__name__] >= equal[bound.__name__] * (1 - TIGHT), bound.__name__
    for bound in LOWER:
        assert (weighted[bound.__name__] <= equal[bound.__name__] + 1e-12).all(), bound.__name__


@few
@given(all_counts(max_classes=4))
def test_samples_of_weight_0_are_not_there(counts):
    true, pred = labels_of(counts)
    more_true, more_pred = np.append(true, [0, 1]), np.append(pred, [1, 0])
    weight = np.append(np.ones(len(true)), [0.0, 0.0])
    expected = all_bounds(true, pred)
    for name, bound in all_bounds(more_true, more_pred, sample_weight=weight).items():
        np.testing.assert_allclose(bound, expected[name], rtol=1e-12, err_msg=name)


@few
@given(all_counts(max_classes=4))
def test_absent_classes_may_be_always_wrong(counts):
    n_classes = len(counts)
    true, pred = labels_of(counts)
    found = all_bounds(true, pred, labels=np.arange(n_classes + 1))
    assert 1 <= found["confusion_norm_bound"] <= math.sqrt(n_classes)
    assert (found["error_rate_bound"], found["min_recall_bound"], found["geometric_mean_bound"]) == (1, 0, 0)
    np.testing.assert_array_equal(found["recall_bounds"][:-1], recall_bounds(true, pred))
    assert found["recall_bounds"][-1] == 0


@given(all_counts(), st.floats(0.001, 1.0))
def test_recall_bounds_never_exceed_the_recalls(counts, eta):
    true, pred = labels_of(counts)
    assert (recall_bounds(true, pred, eta=eta) <= np.diag(counts) / counts.sum(axis=1) + 1e-12).all()
    assert min_recall_bound(true, pred, eta=eta) <= min_recall_score(true, pred) + 1e-12
    assert geometric_mean_bound(true, pred, eta=eta) <= geometric_mean_score(true, pred) + 1e-9


@pytest.mark.parametrize("bound", [*UPPER, *LOWER])
@pytest.mark.parametrize("eta", [0, -0.1, 1.5, math.nan, "0.05", None])
def test_eta_outside_of_0_to_1_is_refused(bound, eta):
    with pytest.raises(ValueError, match=r"must lie in \(0, 1\]"):
        bound([0, 1], [0, 1], eta=eta)


@pytest.mark.parametrize("bound", [*UPPER, *LOWER])
@pytest.mark.parametrize(
    ("true", "pred", "options", "message"),
    [
        ([0, 1], [0], {}, "y_true has 2 rows and y_pred 1"),
        ([], [], {}, "at least one"),
        ([0, 1, 2], [0, 1, 1], {"labels": [0, 1]}, r"y_true holds \[2\], which is not in labels"),
        ([0, 1, 0], [0, 1, 2], {"labels": [0, 1]}, r"y_pred holds \[2\], which is not in labels"),
        ([0, 1], [0, 1], {"sample_weight": [1, -1]}, "every weight must be 0 or more"),
        ([0, 1], [0, 1], {"sample_weight": [0, 0]}, "at least one row needs a positive weight"),
        ([1, 1], [1, 1], {}, r"y_true and y_pred have a single class, \[1\].* give all classes of the problem"),
        ([1, 1], [1, 1], {"labels": [1]}, r"labels has a single class, \[1\]"),
    ],
)
def test_bad_input_is_refused_with_what_to_do(bound, true, pred, options, message):
    with pytest.raises(ValueError, match=message):
        bound(true, pred, **options)


def test_a_class_whose_weights_are_all_0_is_absent():
    true, pred = [0, 0, 1, 1, 2], [0, 0, 1, 0, 2]
    found = all_bounds(true, pred, sample_weight=[1, 1, 1, 1, 0])
    for name, bound in all_bounds(true[:4], pred[:4], labels=[0, 1, 2]).items():
        np.testing.assert_array_equal(found[name], bound, err_msg=name)


def test_an_unknown_method_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="'exact' or 'corollary'"):
        confusion_norm_bound([0, 1], [0, 1], method="hoeffding")
