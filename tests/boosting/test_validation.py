"""Properties of the parts of early stopping: the validation set, the scorer, the loss of scores, patience."""

import itertools
import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import sklearn
from boosters import Stage, best_round
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference import metrics_reference as reference
from scipy.special import softmax
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score, make_scorer

from comboost import _core
from comboost._boosting.early_stopping import Patience, ValidationData, ValidationScorer, hold_out
from comboost.metrics import balanced_log_loss, get_scorer

FAST = ["neg_confusion_norm", "g_mean", "min_recall", "neg_expected_cost", "accuracy", "balanced_accuracy"]
SLOW = ["mauc", "f1_macro", "neg_log_loss", "matthews_corrcoef"]
NAMES = np.array(["ash", "elm", "fir", "oak", "yew"])

# scikit-learn warns about classes that are only predicted and of a single class; both are meant to be drawn here.
pytestmark = [
    pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true:UserWarning"),
    pytest.mark.filterwarnings("ignore:A single label was found:UserWarning"),
]


def for_all(*strategies):
    """Make a property test with few examples: they are small, and there are many properties."""
    return lambda test: settings(max_examples=settings.default.max_examples // 2)(given(*strategies)(test))


class ScoredSamples(NamedTuple):
    """Votes on validation rows, their class indices and weights."""

    scores: np.ndarray
    labels: np.ndarray
    weights: np.ndarray | None = None
    sample_weight: np.ndarray | None = None

    @property
    def classes(self):
        return NAMES[: self.scores.shape[1]]

    @property
    def table(self):
        """X, which no scorer uses, and y."""
        return np.zeros((len(self.labels), 1)), self.classes[self.labels]

    @property
    def model(self):
        odds = np.exp(self.scores)
        shares = odds / odds.sum(axis=1, keepdims=True)
        return Stage(self.classes, self.classes[self.scores.argmax(axis=1)], shares, self.scores)

    def validation_scorer(self, scoring, X=None, y=None):
        if X is None:
            X, y = self.table
        return ValidationScorer(scoring, ValidationData(X, y, self.sample_weight, None, self.labels, self.weights))

    def score(self, scoring):
        validation_scorer = self.validation_scorer(scoring)
        return (
            validation_scorer.score_model(self.model)
            if validation_scorer.score_of_counts is None
            else validation_scorer.score_counts(self.scores)
        )

    def loss(self, scale=0.5, n_threads=1):
        scores = np.ascontiguousarray(self.scores)
        return _core.balanced_log_loss(scores, self.labels, self.weights, scale, n_threads)

    def scored(self, scorer):
        options = {} if self.sample_weight is None else {"sample_weight": self.sample_weight}
        return scorer(self.model, *self.table, **options)

    def rows(self, idx):
        return ScoredSamples(*(None if array is None else array[idx] for array in self))


@st.composite
def scored_samples(draw, *, all_present=False):
    """Draw votes full of ties; classes may be absent from the rows, from the predictions or from both."""
    n_classes = draw(st.integers(2, len(NAMES)))
    n_samples = draw(st.integers(n_classes, 20))
    scores = draw(hnp.arrays(np.float64, (n_samples, n_classes), elements=st.integers(0, 3) | st.floats(0, 100)))
    labels = draw(hnp.arrays(np.uint16, n_samples, elements=st.integers(0, n_classes - 1)))
    if all_present:
        labels[:n_classes] = np.arange(n_classes)
    if draw(st.booleans()):
        return ScoredSamples(scores, labels)
    weights = draw(hnp.arrays(np.uint32, n_samples, elements=st.integers(0, 3) | st.integers(0, 2**27)))
    weights[: n_classes if all_present else 1] += 1
    return ScoredSamples(scores, labels, weights, weights * draw(st.sampled_from([1.0, 0.3, 2.0**-40])))


# The validation_scorer


@pytest.mark.parametrize("name", FAST)
@for_all(scored_samples())
def test_score_of_counts_is_what_the_scorer_gives(name, samples):
    assert samples.score(name) == pytest.approx(samples.scored(get_scorer(name)), rel=0, abs=1e-12)


@pytest.mark.parametrize("name", SLOW)
@for_all(scored_samples(all_present=True))
def test_any_other_score_is_what_the_scorer_gives_to_the_bit(name, samples):
    expected = samples.scored(get_scorer(name))
    assert samples.score(name) == expected
    assert samples.score(get_scorer(name)) == expected


@pytest.mark.parametrize("name", FAST)
@for_all(scored_samples(), st.randoms(use_true_random=False))
def test_order_of_the_rows_changes_no_bit(name, samples, random):
    order = random.sample(range(len(samples.labels)), len(samples.labels))
    assert samples.rows(order).score(name) == samples.score(name)


@pytest.mark.parametrize("name", FAST)
@for_all(scored_samples(), st.data())
def test_weight_n_is_the_row_n_times_and_weight_0_is_no_row_to_the_bit(name, samples, data):
    n_samples = len(samples.labels)
    weights = data.draw(hnp.arrays(np.uint32, n_samples, elements=st.integers(0, 3)))
    assume(weights.any())
    weighted = ScoredSamples(samples.scores, samples.labels, weights, weights.astype(np.float64))
    copies = ScoredSamples(samples.scores, samples.labels).rows(np.repeat(np.arange(n_samples), weights))
    assert weighted.score(name) == copies.score(name)


def indices(*labels):
    return np.array(labels, dtype=np.uint16)


def test_a_tie_goes_to_the_first_class():
    samples = ScoredSamples(np.array([[1.0, 1.0], [2.0, 2.0]]), indices(0, 1))
    assert samples.score("accuracy") == 0.5
    assert samples.rows([0]).score("accuracy") == 1.0


def test_a_class_of_training_that_is_neither_true_nor_predicted_does_not_count():
    samples = ScoredSamples(np.eye(4)[[0, 1, 1]], indices(0, 1, 0))
    assert samples.score("balanced_accuracy") == 0.75
    assert samples.score("min_recall") == 0.5
    assert samples.score("g_mean") == pytest.approx(math.sqrt(0.5))
    assert samples.score("neg_confusion_norm") == -0.5


def test_heaviest_weights_add_up_without_rounding():
    weights = np.array([2**32 - 2, 1, 1], dtype=np.uint32)
    samples = ScoredSamples(np.eye(2)[[0, 1, 1]], indices(0, 0, 1), weights, weights.astype(np.float64))
    assert samples.score("min_recall") == (2**32 - 2) / (2**32 - 1)


SMALL = ScoredSamples(np.eye(3)[[0, 1, 1, 2]], indices(0, 1, 2, 2))
WEIGHTED = SMALL._replace(weights=np.array([1, 2, 3, 1], dtype=np.uint32), sample_weight=np.array([0.5, 1.0, 1.5, 0.5]))


@pytest.mark.parametrize("name", FAST)
def test_counts_need_no_model(name):
    assert math.isfinite(SMALL.validation_scorer(name).score_counts(SMALL.scores))


@pytest.mark.parametrize("scoring", [*SLOW, *map(get_scorer, FAST)], ids=str)
def test_other_scorers_need_a_model(scoring):
    assert SMALL.validation_scorer(scoring).score_of_counts is None


@pytest.mark.parametrize("samples", [SMALL, WEIGHTED], ids=["plain", "weighted"])
def test_a_scorer_gets_the_very_objects_that_the_user_gave(samples):
    X, y, model, calls = [[1.0], [2.0], [3.0], [4.0]], ["ash", "elm", "fir", "fir"], object(), []

    def scorer(*args, **options):
        calls.append((*args, *options.values()))
        return 0.5

    assert samples.validation_scorer(scorer, X, y).score_model(model) == 0.5
    meant = [model, X, y] if samples is SMALL else [model, X, y, WEIGHTED.sample_weight]
    assert [*map(id, *calls)] == [*map(id, meant)]


@pytest.mark.parametrize("name", SLOW)
def test_weights_reach_the_scorer_with_and_without_routing_of_metadata(name):
    with sklearn.config_context(enable_metadata_routing=True):
        assert WEIGHTED.score(name) == WEIGHTED.scored(get_scorer(name))
    assert WEIGHTED.score(name) == WEIGHTED.scored(get_scorer(name)) != SMALL.score(name)


@pytest.mark.parametrize("value", [1, 0.5, np.float32(0.5), np.int64(2), np.array(0.5), np.array([0.5]), -math.inf])
def test_a_score_may_be_any_real_number(value):
    score = SMALL.score(lambda model, X, y: value)
    assert type(score) is float
    assert score == value


# Errors of the validation_scorer


@pytest.mark.parametrize("scoring", ["gmean", "", 3, ["g_mean"], {"a": "g_mean"}], ids=str)
def test_an_unknown_scoring_is_told_before_anything_is_scored(scoring):
    with pytest.raises(ValueError, match="is not a scorer") as caught:
        SMALL.validation_scorer(scoring)
    assert repr(scoring) in str(caught.value)


@pytest.mark.parametrize(
    "value", [None, "0.5", 1j, {"a": 0.5}, np.array([0.1, 0.2]), pd.Series([0.1, 0.2])], ids=lambda v: type(v).__name__
)
def test_a_score_that_is_no_number_is_told(value):
    def my_scorer(model, X, y):
        return value

    with pytest.raises(ValueError, match=r"scoring=.*my_scorer.* returned a .*; give a scorer that returns one real"):
        SMALL.score(my_scorer)


def no_weights(model, X, y):
    return 0.5


def accuracy_without_weights(y_true, y_pred):
    return accuracy_score(y_true, y_pred)


@pytest.mark.parametrize("scoring", [no_weights, make_scorer(accuracy_without_weights), "adjusted_rand_score"])
def test_a_scorer_that_takes_no_weights_is_told_by_name(scoring):
    assert math.isfinite(SMALL.score(scoring))
    with pytest.raises(ValueError, match="takes no sample_weight, but the validation rows have weights") as caught:
        WEIGHTED.score(scoring)
    assert f"scoring={scoring!r}" in str(caught.value)


def test_errors_of_a_scorer_itself_pass_through():
    def broken(model, X, y, sample_weight=None):
        return len(3)

    with pytest.raises(TypeError, match="has no len"):
        WEIGHTED.score(broken)


def test_a_nan_of_a_scorer_is_told_by_name():
    with (
        pytest.warns(UndefinedMetricWarning, match="MAUC needs two classes"),
        pytest.raises(ValueError, match=r"scoring='mauc' returned NaN.* validation rows .* or another scoring"),
    ):
        SMALL.rows([0]).score("mauc")


# The loss of votes

SCALES = st.sampled_from([0.25, 0.5, 1.0, 2.0])


@for_all(scored_samples(), SCALES)
def test_loss_of_votes_is_the_balanced_log_loss_of_their_softmax(samples, scale):
    expected = balanced_log_loss(
        samples.labels,
        softmax(scale * samples.scores, axis=1),
        labels=np.arange(samples.scores.shape[1]),
        sample_weight=samples.sample_weight,
    )
    assert samples.loss(scale) == pytest.approx(expected, rel=0, abs=2.0**-25)


@for_all(scored_samples(), SCALES)
def test_loss_of_votes_equals_its_plain_reference(samples, scale):
    weights = np.ones(len(samples.labels), dtype=int) if samples.weights is None else samples.weights
    expected = reference.vote_loss(samples.scores.tolist(), samples.labels.tolist(), weights.tolist(), scale)
    assert samples.loss(scale) == pytest.approx(expected, rel=1e-12, abs=0)


@for_all(scored_samples(), SCALES, st.randoms(use_true_random=False))
def test_order_of_the_rows_changes_no_bit_of_the_loss(samples, scale, random):
    order = random.sample(range(len(samples.labels)), len(samples.labels))
    assert samples.rows(order).loss(scale) == samples.loss(scale)


@for_all(scored_samples(), st.data())
def test_weight_n_is_the_row_n_times_and_weight_0_is_no_row_to_the_last_bit_of_the_loss(samples, data):
    n_samples = len(samples.labels)
    weights = data.draw(hnp.arrays(np.uint32, n_samples, elements=st.integers(0, 3)))
    assume(weights.any())
    copies = ScoredSamples(samples.scores, samples.labels).rows(np.repeat(np.arange(n_samples), weights))
    assert samples._replace(weights=weights).loss() == copies.loss()


@pytest.mark.parametrize("weighted", [False, True])
def test_number_of_threads_changes_no_bit_of_the_loss(weighted):
    random = np.random.default_rng(0)
    scores, labels = random.normal(size=(9001, 4)), random.integers(4, size=9001).astype(np.uint16)
    weights = random.integers(0, 5, 9001).astype(np.uint32) if weighted else None
    assert len({ScoredSamples(scores, labels, weights).loss(n_threads=n) for n in (1, 2, 3, 8)}) == 1


def test_largest_losses_of_the_heaviest_rows_add_up_and_cost_52_bits():
    weights = np.array([2**32 - 2, 1], dtype=np.uint32)
    samples = ScoredSamples(np.array([[0.0, 1e300], [1e300, 0.0]]), indices(0, 1), weights)
    assert samples.loss() == pytest.approx(52 * math.log(2))


@pytest.mark.parametrize(
    ("scores", "labels", "weights"),
    [
        (np.zeros((3, 2)), indices(0, 1), None),
        (np.zeros((2, 2)), indices(0, 1), np.ones(3, dtype=np.uint32)),
        (np.zeros((2, 2)), indices(0, 2), None),
    ],
    ids=["rows", "weights", "classes"],
)
def test_border_lets_no_loss_read_beyond_its_arrays(scores, labels, weights):
    with pytest.raises(ValueError, match=r"number of rows|no class"):
        _core.balanced_log_loss(scores, labels, weights, 0.5, 1)


# Rows held out


@st.composite
def classed_rows(draw):
    """Draw labels with every class present, one of which at least has two rows."""
    sizes = draw(st.lists(st.integers(1, 40), min_size=2, max_size=5))
    assume(max(sizes) > 1)
    labels = np.repeat(np.arange(len(sizes)), sizes).astype(np.uint16)
    return draw(st.permutations(labels)), np.array(sizes)


FRACTIONS = st.sampled_from([0.1, 0.5, 1.0]) | st.floats(0.001, 0.999)
SEEDS = st.integers(0, 2**32 - 1)


@for_all(classed_rows(), FRACTIONS, SEEDS)
def test_every_row_trains_or_validates_and_both_are_ascending(problem, fraction, seed):
    labels, sizes = np.array(problem[0]), problem[1]
    train, validation = hold_out(labels, len(sizes), fraction, np.random.RandomState(seed))
    np.testing.assert_array_equal(np.sort(np.concatenate([train, validation])), np.arange(len(labels)))
    assert (np.diff(train) > 0).all()
    assert (np.diff(validation) > 0).all()


@for_all(classed_rows(), FRACTIONS, SEEDS)
def test_every_class_gives_its_share_and_keeps_a_row(problem, fraction, seed):
    labels, sizes = np.array(problem[0]), problem[1]
    train, validation = hold_out(labels, len(sizes), fraction, np.random.RandomState(seed))
    held = np.bincount(labels[validation], minlength=len(sizes))
    assert held.tolist() == [min(max(round(fraction * n), 1), n - 1) for n in sizes.tolist()]
    assert (np.bincount(labels[train], minlength=len(sizes)) >= 1).all()


@for_all(classed_rows(), FRACTIONS, SEEDS)
def test_the_same_seed_holds_out_the_same_rows(problem, fraction, seed):
    labels, sizes = np.array(problem[0]), problem[1]
    first, again = (hold_out(labels, len(sizes), fraction, np.random.RandomState(seed)) for _ in range(2))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])


def test_every_row_of_a_class_is_held_out_equally_often():
    labels = indices(0, 1, 1, 0, 0, 1, 0, 1, 1, 1)
    random = np.random.RandomState(0)
    held = np.concatenate([hold_out(labels, 2, 0.25, random)[1] for _ in range(4000)])
    often = np.bincount(held, minlength=len(labels)) / 4000
    np.testing.assert_allclose(often, np.where(labels == 0, 1 / 4, 2 / 6), atol=0.03)


def test_single_rows_alone_leave_none_for_validation():
    with pytest.raises(ValueError, match=r"Every class has a single row.* X_val and y_val, or early_stopping=False"):
        hold_out(indices(1, 0, 2), 3, 0.5, np.random.RandomState(0))


# Patience


VALUES = st.integers(-5, 5).map(lambda k: k / 4)
CURVES = st.lists(st.tuples(VALUES | st.floats(-1, 1), VALUES | st.floats(0, 1)), min_size=1, max_size=25)


def listen(patience, curve):
    """What patience says after every round."""
    return [patience.add(score, lambda loss=loss: loss) for score, loss in curve]


@given(CURVES, st.integers(1, 6), st.sampled_from([0.0, 0.1, 0.25, 0.3]))
def test_patience_ends_when_no_round_of_the_last_ones_is_better(curve, n_iter_no_change, tol):
    patience = Patience(n_iter_no_change, tol)
    scores, losses = zip(*curve, strict=True)
    for t, (score, loss) in enumerate(curve, start=1):
        stop = patience.add(score, lambda loss=loss: loss)
        assert patience.curve == list(scores[:t])
        assert patience.best_round == best_round(scores[:t], losses[:t], tol)
        # Nothing was gained by the last rounds: the best of all stood already before them.
        before = t - n_iter_no_change
        assert stop == (before > 0 and best_round(scores[:before], losses[:before], tol) == patience.best_round)
        if stop:
            break


@given(CURVES)
def test_without_tolerance_the_best_round_has_the_best_score_and_of_these_the_first_with_the_smallest_loss(curve):
    patience = Patience(len(curve), 0.0)
    assert not any(listen(patience, curve))
    assert patience.best_round == 1 + max(range(len(curve)), key=lambda t: (curve[t][0], -curve[t][1], -t))


@given(CURVES, st.integers(1, 6), st.sampled_from([0.0, 0.1]), st.sampled_from([0.0, -3.0, math.inf, -math.inf]))
def test_score_that_stands_still_leaves_all_to_the_loss(curve, n_iter_no_change, tol, score):
    still, smooth = Patience(n_iter_no_change, tol), Patience(n_iter_no_change, tol)
    losses = [loss for _, loss in curve]
    said = listen(still, [(score, loss) for loss in losses])
    assert said == listen(smooth, [(-loss, loss) for loss in losses])
    assert still.best_round == smooth.best_round
    assert still.is_constant == (len(curve) > 1)


@given(CURVES, st.sampled_from([0.0, 0.1, 1.0]))
def test_scores_stand_still_if_none_is_further_from_the_first_than_the_tolerance(curve, tol):
    patience = Patience(1, tol)
    listen(patience, curve)
    scores = [score for score, _ in curve]
    assert patience.is_constant == (len(curve) > 1 and all(abs(score - scores[0]) <= tol for score in scores))


@given(CURVES, st.sampled_from([0.0, 0.1]))
def test_score_of_the_best_round_is_within_the_tolerance_of_the_best(curve, tol):
    patience = Patience(len(curve), tol)
    listen(patience, curve)
    scores = [score for score, _ in curve]
    assert scores[patience.best_round - 1] >= max(scores) - 2 * tol - 1e-12


def test_no_round_is_best_before_the_first_score():
    assert Patience(10, 1e-7).best_round == 0


def test_small_gains_add_up_to_a_better_score():
    patience = Patience(10, 0.25)
    listen(patience, [(score, 1.0) for score in [0.0, 0.125, 0.25, 0.375]])
    assert patience.best_round == 4


def test_small_losses_of_a_score_do_not_add_up_to_a_tie():
    patience = Patience(10, 0.25)
    listen(patience, [(1.0, 4.0), (0.875, 3.0), (0.75, 2.0), (0.625, 1.0), (0.5, 0.0)])
    assert patience.best_round == 3


def test_tie_with_a_smaller_loss_is_better_and_any_other_is_not():
    patience = Patience(3, 1e-7)
    assert listen(patience, [(0.5, 1.0), (0.5, 0.9), (0.5, 0.9), (0.4, 0.1), (0.5, 0.95)]) == [False] * 4 + [True]
    assert patience.best_round == 2


def test_infinite_scores_have_their_place():
    patience = Patience(2, 1e-7)
    scores = [-math.inf, -math.inf, 0.0, math.inf, math.inf, 5.0]
    assert listen(patience, [(score, 1.0) for score in scores]) == [False] * 5 + [True]
    assert patience.best_round == 4


def test_a_nan_is_told_with_its_round():
    patience = Patience(10, 1e-7)
    patience.add(0.5, lambda: 1.0)
    with pytest.raises(ValueError, match=r"score of round 2 is NaN; give another scoring"):
        patience.add(math.nan, lambda: 1.0)
    assert patience.curve == [0.5]


# MAUC, counted


def pairs_won(scores, labels):
    """MAUC after its definition, pair by pair, in fractions."""
    classes = np.unique(labels).tolist()
    chances = []
    for j, k in itertools.permutations(classes, 2):
        ours, others = scores[labels == j, j], scores[labels == k, j]
        twice = sum(2 * int(a > b) + int(a == b) for a in ours.tolist() for b in others.tolist())
        chances.append(Fraction(twice, 2 * len(ours) * len(others)))
    return float(sum(chances) / len(chances))


@for_all(scored_samples(), st.randoms(use_true_random=False), st.integers(1, 3))
def test_mauc_counts_all_pairs_in_any_order_of_the_rows(samples, random, n_threads):
    assume(len(np.unique(samples.labels)) > 1)
    order = random.sample(range(len(samples.labels)), len(samples.labels))
    found = _core.mean_chance_above(samples.scores, samples.labels, n_threads)
    assert found == pytest.approx(pairs_won(samples.scores, samples.labels), rel=0, abs=1e-12)
    assert _core.mean_chance_above(samples.scores[order], samples.labels[order], 1) == found


@for_all(scored_samples())
def test_mauc_of_probabilities_is_what_the_scorer_gives_to_the_bit(samples):
    plain = ScoredSamples(samples.scores, samples.labels)
    validation_scorer = plain.validation_scorer("mauc")
    assume(validation_scorer.uses_probabilities)
    assert validation_scorer.score_probabilities(plain.model.predict_proba(plain.table[0])) == plain.scored(
        get_scorer("mauc")
    )
