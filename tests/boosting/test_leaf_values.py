"""Leaves that vote for every class: the laws of their votes, losses, bounds and trees, on random problems."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st
from models import booster_for, fit, fit_reference, leaf_votes, model_bytes, spectral_norm, trees_of
from reference import float_leaf_reference, quantised_reference
from reference.leaf_reference import LARGEST_STEP, N_SWEEPS
from scipy.special import log_softmax
from sklearn.metrics import log_loss
from strategies import LOSSES, balanced_problems, property_test, vote_problems, vote_settings

from comboost import ConfusionBoostingClassifier

FLOAT_ERROR = 1e-9  # of a few dozen float operations in a row
ROUNDING = 1e-5  # of the loss, by the quantisation of the costs of a few rows that all weigh about the same
FLOAT32_ERROR = 2.0**-24  # of a vote as it is stored, relative


def costs_of(problem):
    return 1.0 - np.eye(problem.n_classes) if problem.cost_matrix is None else problem.cost_matrix


def full_scores(model, X):
    """f of every row and class, up to a constant of the row if there are two classes."""
    scores = model.decision_function(X)
    return scores if scores.ndim == 2 else np.column_stack([np.zeros(len(scores)), scores])


# Losses and bounds. Votes are computed from costs that were rounded to integers: what a row of weight n costs was moved
# by n/2 units at most, and a vote may let that grow as it lets the cost itself.


@dataclasses.dataclass
class Fall:
    """One round of a model.

    Attributes
    ----------
    pull : float
        ΣD before the round.
    fallen, promised : float
        By how much the loss and its bound fell, in units of D.
    edge : float
        δ
    slack_of_votes, slack : float
        What may be excused by votes that are stored in 32 bits, and by all rounding.
    caution : float
        What ρ costs after the paper's vote: without smoothing, leaves take care of no more than rounding may hide.
    """

    pull: float
    fallen: float
    promised: float
    edge: float
    slack_of_votes: float
    slack: float
    caution: float

    def share_of_edge(self, rate):
        """What the paper's round takes off at least, if a share of its step is taken."""
        return rate * (1 - math.sqrt(1 - self.edge**2)) * self.pull


def falls_of(problem, model, twin):
    """Look at the rounds of a model, one by one."""
    y, weights = problem.y[twin.kept], np.array(twin.weights, dtype=float)
    is_log = problem.settings["loss"] == "log"
    unit = math.log(2.0) if is_log else 1.0  # the loss is in bits, its gradient in nats
    losses, bounds = ([twin.initial_loss, *curve] for curve in (model.loss_curve_, model.bound_curve_))
    for t, (kept, votes) in enumerate(zip(twin.rounds, leaf_votes(model), strict=True)):
        votes = votes.astype(np.float64)[np.array(kept.leaves)[twin.kept]]
        grown = np.exp(votes - votes[np.arange(len(y)), y][:, np.newaxis])
        hidden = kept.unit_rounding * (weights[:, np.newaxis] * (1.0 + grown) * (costs_of(problem)[y] > 0)).sum()
        of_votes = (np.expm1(2 * FLOAT32_ERROR * np.abs(votes).max()) + FLOAT_ERROR) * kept.pull
        slack = hidden + of_votes + unit * (2 * kept.loss_rounding + FLOAT_ERROR * losses[t])
        share = (bounds[t] - bounds[t + 1]) * unit / kept.pull if is_log else 1 - bounds[t + 1] / bounds[t]
        fallen = (losses[t] - losses[t + 1]) * unit
        edge = model.edges_[t]
        caution = 2 * kept.unit_rounding * len(kept.sums) * np.sum(kept.rho) * math.sqrt((1 + edge) / (1 - edge))
        yield Fall(kept.pull, fallen, share * kept.pull, edge, of_votes, slack, caution)


@property_test(problem=vote_problems())
def test_loss_falls_by_what_the_leaves_promise(problem):
    for fall in falls_of(problem, fit(problem), fit_reference(problem)):
        assert fall.fallen >= fall.promised - fall.slack


@property_test(problem=vote_problems(fixed={"smoothing": 0.0}))
def test_loss_falls_by_what_the_edge_promises(problem):
    for fall in falls_of(problem, fit(problem), fit_reference(problem)):
        assert fall.fallen >= fall.share_of_edge(problem.settings["learning_rate"]) - fall.slack - fall.caution


@property_test(problem=vote_problems(fixed={"smoothing": 0.0}))
def test_leaves_promise_no_less_than_the_edge_does(problem):
    for fall in falls_of(problem, fit(problem), fit_reference(problem)):
        excuse = fall.slack_of_votes + fall.caution
        assert fall.promised >= fall.share_of_edge(problem.settings["learning_rate"]) - excuse


@property_test(problem=vote_problems(fixed={"smoothing": 0.0, "learning_rate": 1.0}))
def test_votes_leave_no_more_than_the_best_round_of_class_votes_on_the_same_tree(problem):
    for kept, votes in zip(fit_reference(problem).rounds, leaf_votes(fit(problem)), strict=True):
        pairs = np.array([leaf.pairs for leaf in kept.sums], dtype=float) + kept.rho  # what rounding may hide, too
        right = sum(own[leaf.label].sum() for own, leaf in zip(pairs, kept.sums, strict=True))  # A₊
        wrong = sum(own[:, leaf.label].sum() for own, leaf in zip(pairs, kept.sums, strict=True))  # A₋
        alpha = min(0.5 * math.log(right / wrong), LARGEST_STEP) if wrong else LARGEST_STEP
        of_classes = pairs.sum() - right - wrong + right * math.exp(-alpha) + wrong * math.exp(alpha)
        of_leaves = sum(map(left_by, pairs, votes.astype(np.float64)))
        assert of_leaves <= of_classes * math.exp(2 * FLOAT32_ERROR * np.abs(votes).max()) * (1 + FLOAT_ERROR)


def left_by(matrix, vote):
    return float(float_leaf_reference.scale(matrix, vote).sum())


@property_test(problem=vote_problems())
def test_loss_stays_below_the_bound(problem):
    model, twin = fit(problem), fit_reference(problem)
    bounds = [twin.initial_loss, *model.bound_curve_]
    excuse = 0.0
    for t, fall in enumerate(falls_of(problem, model, twin)):
        if problem.settings["loss"] == "log":
            excuse += fall.slack / math.log(2.0)
        else:
            excuse = excuse * bounds[t + 1] / bounds[t] + fall.slack
        assert model.loss_curve_[t] <= model.bound_curve_[t] + excuse


@property_test(problem=vote_problems(weighted=False, costed=False), smoothing=st.floats(0.01, 10.0))
def test_loss_of_smoothed_leaves_needs_no_excuse_to_stay_below_the_bound(problem, smoothing):
    model = fit(problem, smoothing=smoothing)
    assert (model.loss_curve_ <= model.bound_curve_ * (1 + ROUNDING)).all()


@property_test(problem=vote_problems())
def test_losses_and_edges_are_those_without_rounding_of_the_same_votes(problem):
    model, twin = fit(problem), fit_reference(problem)
    y = problem.y[twin.kept]
    base_weight = float_leaf_reference.base_weights(
        y, np.array(twin.plain_weights), problem.n_classes, problem.settings["balance"]
    )
    leaves = [np.array(kept.leaves)[twin.kept] for kept in twin.rounds]
    played, scores = float_leaf_reference.replay(
        leaves,
        leaf_votes(model),
        y,
        base_weight=base_weight,
        cost_matrix=costs_of(problem),
        loss=problem.settings["loss"],
    )
    np.testing.assert_allclose(
        full_scores(model, problem.X)[twin.kept, 1:], scores[:, 1:] - (problem.n_classes == 2) * scores[:, :1]
    )
    for t, (kept, true) in enumerate(zip(twin.rounds, played, strict=True)):
        assert abs(model.loss_curve_[t] - true.loss) <= kept.loss_rounding + FLOAT_ERROR * true.loss
        moved = kept.unit_rounding * sum(twin.weights) * (problem.n_classes - 1)
        if model.edges_[t] > 2.0**-20:
            assert abs(model.edges_[t] - true.edge) <= 2 * moved / kept.pull + FLOAT_ERROR


@property_test(problem=vote_problems(fixed={"balance": 1.0}))
def test_costed_confusion_is_below_the_loss(problem):
    model, twin = fit(problem), fit_reference(problem)
    costed = costs_of(problem) * model.train_confusion_
    upper = model.loss_curve_[-1] * (1 + FLOAT_ERROR) + twin.rounds[-1].loss_rounding
    assert costed.sum() <= upper
    assert spectral_norm(costed) ** 2 <= costs_of(problem).max() * upper


@property_test(problem=vote_problems(costed=False, wide=False, fixed={"balance": 1.0, "loss": "log"}))
def test_loss_is_the_class_balanced_log_loss_in_bits(problem):
    model, twin = fit(problem), fit_reference(problem)
    y = problem.y[twin.kept]
    logs = log_softmax(full_scores(model, problem.X)[twin.kept], axis=1)
    assume(logs[np.arange(len(y)), y].min() > -30)  # log_loss cuts off below 2⁻⁵²
    weights = float_leaf_reference.base_weights(y, np.array(twin.plain_weights), problem.n_classes, 1.0)
    bits = log_loss(y, np.exp(logs), sample_weight=weights, labels=range(problem.n_classes)) / math.log(2.0)
    error = twin.rounds[-1].loss_rounding + FLOAT_ERROR
    assert model.loss_curve_[-1] == pytest.approx(problem.n_classes * bits, rel=FLOAT_ERROR, abs=error)


# Votes


@property_test(problem=vote_problems(max_classes=2))
def test_two_classes_have_the_closed_form(problem):
    model, twin = fit(problem), fit_reference(problem)
    for kept, votes in zip(twin.rounds, leaf_votes(model), strict=True):
        for matrix, vote in zip(smoothed(kept), votes, strict=True):
            expected = problem.settings["learning_rate"] * margin_of_two(matrix[0, 1], matrix[1, 0])
            np.testing.assert_allclose(vote, [-expected, expected], rtol=2 * FLOAT32_ERROR, atol=1e-9)


def margin_of_two(a, b):
    """The v that makes a·exp(2v) + b·exp(−2v) smallest, within its limits."""
    if a == 0 or b == 0:
        return LARGEST_STEP * np.sign(b - a)
    return np.clip((np.log(b) - np.log(a)) / 4, -LARGEST_STEP, LARGEST_STEP)


def smoothed(kept):
    """A of every leaf."""
    return np.array([leaf.pairs for leaf in kept.sums], dtype=float) + np.array(kept.rho)


@property_test(problem=vote_problems(costed=False, fixed={"smoothing": 1.0}))
def test_every_leaf_is_balanced_up_to_what_its_last_sweep_gained(problem):
    model, twin = fit(problem), fit_reference(problem)
    for kept, votes in zip(twin.rounds, leaf_votes(model), strict=True):
        for leaf, matrix, vote in zip(kept.sums, smoothed(kept), votes, strict=True):
            step = vote.astype(np.float64) / problem.settings["learning_rate"]
            before = left_by(matrix, float_leaf_reference.balance(matrix, N_SWEEPS - 1, leaf.label))
            scaled = float_leaf_reference.scale(matrix, step)
            moved = np.expm1(2 * FLOAT32_ERROR * np.abs(step).max()) * scaled.sum()
            gained = max(before - scaled.sum(), 0.0) + moved + FLOAT_ERROR * before
            unbalanced = np.abs(float_leaf_reference.imbalance(scaled)).sum()
            assert unbalanced <= math.sqrt(2 * len(matrix) * before * gained) + 2 * moved


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("smoothing", [0.0, 0.01, 1.0])
def test_bound_of_many_classes_holds_and_never_rises(loss, smoothing):
    n_classes = 130
    random = np.random.default_rng(0)
    y = np.concatenate([np.arange(n_classes), random.integers(n_classes, size=870)])
    X = random.normal(size=(1000, 3)) + np.column_stack([y / 10, y % 7, np.zeros(1000)])
    booster = ConfusionBoostingClassifier(n_estimators=6, loss=loss, smoothing=smoothing, learning_rate=1.0)
    model = booster.fit(X, y)
    start = n_classes * (math.log2(n_classes) if loss == "log" else n_classes - 1)
    assert (np.diff([start, *model.bound_curve_]) <= FLOAT_ERROR * start).all()
    assert (model.loss_curve_ <= model.bound_curve_ * (1 + 1e-5)).all()


# Trees


@property_test(
    problem=vote_problems(fixed={"max_features": None, "max_thresholds": None, "noise": 0.0, "max_depth": 3})
)
def test_room_for_all_leaves_of_a_depth_changes_no_vote(problem):
    by_level, best_first = (fit(problem.with_settings(max_leaf_nodes=most)) for most in (None, 8))
    np.testing.assert_array_equal(best_first.decision_function(problem.X), by_level.decision_function(problem.X))
    assert best_first.loss_curve_.tolist() == by_level.loss_curve_.tolist()


@property_test(problem=vote_problems(fixed={"n_estimators": 1}), n_leaves=st.integers(2, 8))
def test_one_leaf_more_is_one_split_more(problem, n_leaves):
    smaller, larger = (trees_of(fit(problem.with_settings(max_leaf_nodes=n)))[0] for n in (n_leaves, n_leaves + 1))
    splits_of_smaller, splits_of_larger = ([node for node in tree if node[0] >= 0] for tree in (smaller, larger))
    assert len(smaller) <= 2 * n_leaves - 1
    if len(larger) <= 2 * n_leaves - 1:
        assert larger == smaller
    else:
        assert len(larger) == len(smaller) + 2
        assert sorted(splits_of_smaller) == sorted(node for node in splits_of_larger if node[3] < len(smaller))


# Drawn thresholds


@property_test(problem=vote_problems() | vote_problems(missing=True, categories=True), data=st.data())
def test_as_many_thresholds_as_there_are_cuts_are_all_of_them(problem, data):
    n_values = max(len(np.unique(column)) for column in problem.X.T)  # missing being one
    enough = data.draw(st.integers(max(n_values - 1, 1), 254))
    assert model_bytes(fit(problem, max_thresholds=enough)) == model_bytes(fit(problem, max_thresholds=None))


@property_test(problem=vote_problems(missing=True))
def test_every_threshold_is_an_edge_of_the_full_binning(problem):
    max_bins = problem.settings["max_bins"]
    features = quantised_reference.read(problem.X, problem.y, problem.sample_weight, max_bins, ()).features
    splits = [node for tree in trees_of(fit(problem)) for node in tree if node[0] >= 0]
    for feature, _, threshold, *_ in splits:
        below_all = [-math.inf] * features[feature].reserves_missing  # only missing values go left
        assert threshold in [*below_all, *features[feature].edges]


@property_test(problem=vote_problems() | vote_problems(missing=True, categories=True))
def test_second_thread_changes_no_bit(problem):
    assert model_bytes(fit(problem, n_jobs=2)) == model_bytes(fit(problem, n_jobs=1))


@pytest.fixture(scope="module")
def normal_rows():
    """Rows of three classes without ties, neither of values nor, nearly, of gains."""
    random = np.random.default_rng(0)
    y = np.arange(2_000) % 3
    return random.normal(size=(2_000, 4)) + np.column_stack([y, -y, y == 1, y == 2]), y


def fit_normal(rows, **parameters):
    return ConfusionBoostingClassifier(**({"n_estimators": 10, "max_depth": 3, "smoothing": 10.0} | parameters)).fit(
        *rows
    )


@pytest.mark.parametrize("drawn", [{"noise": 0.0}, {"max_thresholds": None}], ids=["thresholds", "noise"])
def test_draws_are_those_of_the_seed(normal_rows, drawn):
    first, again, other = (model_bytes(fit_normal(normal_rows, **drawn, random_state=seed)) for seed in (0, 0, 1))
    assert first == again
    assert first != other


def test_seed_does_not_matter_where_nothing_is_drawn(normal_rows):
    models = {
        model_bytes(fit_normal(normal_rows, max_thresholds=None, noise=0.0, random_state=seed)) for seed in (0, 1)
    }
    assert len(models) == 1


def test_noise_too_small_to_change_an_order_changes_no_bit(normal_rows):
    noisy, plain = (model_bytes(fit_normal(normal_rows, max_thresholds=None, noise=noise)) for noise in (1e-9, 0.0))
    assert noisy == plain


@pytest.mark.parametrize("max_thresholds", [1, 2])
def test_thresholds_are_drawn_from_those_that_the_floor_of_a_leaf_allows(max_thresholds):
    random = np.random.default_rng(0)
    X = random.normal(size=(2_000, 1))
    y = np.digitize(X[:, 0] + random.normal(size=2_000), [-0.5, 0.5])
    floor = {"min_samples_leaf": 500, "max_thresholds": max_thresholds, "max_bins": 255}
    model = fit_normal((X, y), **floor, n_estimators=50)
    assert model.n_iter_ == 50
    for tree in trees_of(model):
        inside = (X[:, :1] <= [node[2] for node in tree if node[0] >= 0]).sum(axis=0)
        assert len(inside) > 0  # about half of all cuts would leave too few rows on one side
        assert ((inside >= 500) & (inside <= 1_500)).all()


# The same bytes


@property_test(problem=balanced_problems(draw_settings=vote_settings, max_rounds=8))
def test_balance_does_not_matter_on_balanced_data(problem):
    assert model_bytes(fit(problem, balance=1.0)) == model_bytes(fit(problem, balance=0.0))


@property_test(
    problem=vote_problems(weighted=False) | vote_problems(weighted=False, missing=True, categories=True), data=st.data()
)
def test_weight_two_is_the_row_twice_and_weight_zero_is_no_row(problem, data):
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(problem.y), max_size=len(problem.y))))
    times[: problem.n_classes] += 1  # the strategy puts one row of every class first
    booster = booster_for(problem, min_samples_leaf=1)
    repeated = model_bytes(booster.fit(np.repeat(problem.X, times, axis=0), np.repeat(problem.y, times)))
    weighted = model_bytes(booster.fit(problem.X, problem.y, sample_weight=times))
    assert weighted == repeated


@property_test(problem=vote_problems() | vote_problems(missing=True, categories=True), data=st.data())
def test_permuted_rows_change_no_bit(problem, data):
    order = np.array(data.draw(st.permutations(range(len(problem.y)))))
    weights = None if problem.sample_weight is None else problem.sample_weight[order]
    permuted = dataclasses.replace(problem, X=problem.X[order], y=problem.y[order], sample_weight=weights)
    assert model_bytes(fit(permuted)) == model_bytes(fit(problem))


@property_test(problem=vote_problems(), exponent=st.integers(-40, 15))
def test_weights_and_smoothing_scaled_by_a_power_of_two_change_no_bit(problem, exponent):
    weights = np.ones(len(problem.y)) if problem.sample_weight is None else problem.sample_weight
    scaled = dataclasses.replace(problem, sample_weight=np.ldexp(weights, exponent))
    smoothing = math.ldexp(problem.settings["smoothing"], exponent)
    assume(smoothing == 0 or smoothing > 1e-290)  # not so near to 0 that bits are lost
    assert model_bytes(fit(scaled, smoothing=smoothing)) == model_bytes(fit(problem))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_classes", [2, 3, 5, 9, 130])
@pytest.mark.parametrize("weighted", [False, True])
def test_model_is_bit_identical_for_any_number_of_threads(loss, n_classes, weighted):
    random = np.random.default_rng(n_classes)
    X = random.normal(size=(9_000, 3))
    y = np.concatenate([np.arange(n_classes), random.integers(n_classes, size=9_000 - n_classes)])
    X[:, 0] += y
    weights = random.uniform(size=9_000) if weighted else None
    booster = ConfusionBoostingClassifier(n_estimators=3, loss=loss, max_depth=3, max_bins=60)
    models = {model_bytes(booster.set_params(n_jobs=n_jobs).fit(X, y, weights)) for n_jobs in (1, 2, 7)}
    assert len(models) == 1
