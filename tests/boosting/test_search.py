"""The search for settings: which samples judge, which candidates are tried, which are stopped, what is selected."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from comboost._boosting import search, search_samples
from comboost._boosting.search import (
    Candidate,
    Conversion,
    SearchSpace,
    Trial,
    is_behind,
)
from comboost._boosting.search_samples import order_by_content, split_samples

# Samples


@st.composite
def contents(draw):
    """Draw classes of samples, and a hash of the content of each; some samples are equal."""
    sizes = draw(st.lists(st.integers(1, 12), min_size=2, max_size=5))
    labels = np.repeat(np.arange(len(sizes)), sizes)
    hashes = draw(st.lists(st.integers(0, 20), min_size=len(labels), max_size=len(labels)))
    return np.array(hashes, dtype=np.uint64), labels


n_folds = st.sampled_from([1, 3, 5])
seeds = st.integers(0, 2**31 - 1)


@given(contents(), n_folds, seeds)
def test_samples_are_either_trained_on_or_held_out(content, folds, seed):
    hashes, labels = content
    ordered = order_by_content(hashes, labels, None, seed)
    for train, held in split_samples(ordered, labels, folds):
        assert sorted([*train, *held]) == list(range(len(labels)))
        assert (np.diff(train) > 0).all()
        assert (np.diff(held) > 0).all()


@given(contents(), n_folds, seeds)
def test_classes_are_held_out_somewhere_and_trained_on_everywhere(content, folds, seed):
    hashes, labels = content
    sizes = np.bincount(labels)
    assume((sizes > 1).any())
    times_held = np.zeros(len(labels), dtype=int)
    for train, held in split_samples(order_by_content(hashes, labels, None, seed), labels, folds):
        assert (np.bincount(labels[train], minlength=len(sizes)) > 0).all()
        times_held[held] += 1
    if folds > 1:
        assert times_held.tolist() == (sizes[labels] > 1).astype(int).tolist()
    else:
        expected = np.clip(np.rint(search_samples.HELD_OUT * sizes), 1, None)
        assert np.bincount(labels, times_held).tolist() == np.minimum(expected, sizes - 1).tolist()


@given(contents(), n_folds, seeds, st.randoms(use_true_random=False))
def test_parts_have_the_same_content_for_any_order_of_the_samples(content, folds, seed, random):
    hashes, labels = content
    order = random.sample(range(len(labels)), len(labels))

    def parts_of(hashes, labels):
        ordered = order_by_content(hashes, labels, None, seed)
        return [
            [sorted(zip(labels[part].tolist(), hashes[part].tolist(), strict=True)) for part in split]
            for split in split_samples(ordered, labels, folds)
        ]

    assert parts_of(hashes[order], labels[order]) == parts_of(hashes, labels)


def test_other_seeds_hold_out_other_samples():
    hashes, labels = np.arange(100, dtype=np.uint64), np.arange(100) % 2
    held = {
        next(split_samples(order_by_content(hashes, labels, None, seed), labels, 5))[1].tobytes() for seed in range(5)
    }
    assert len(held) == 5


def test_number_of_folds_falls_with_the_number_of_samples():
    found = [search_samples.n_folds_of(n) for n in (30, 999, 4_999, 10**6)]
    assert found == sorted(found, reverse=True)
    assert found[0] > 1 == found[-1]
    for (below, folds), (_, fewer) in pairwise([*search_samples.FOLDS, (None, 1)]):
        assert (search_samples.n_folds_of(below - 1), search_samples.n_folds_of(below)) == (folds, fewer)


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        ([20, 9], "29 samples are fewer than 30"),
        ([1] * 40, "classes with more than one sample: 0, and a search needs two"),
        ([40, 1, 1], "classes with more than one sample: 1, and a search needs two"),
        ([20, 10], None),
        ([28, 2, 1], None),
    ],
)
def test_too_few_samples_are_not_searched_for_a_reason(sizes, reason):
    assert search_samples.why_fixed(np.array(sizes)) == reason


# Curves

N_ROUNDS = 80

falling = st.lists(st.floats(0.01, 1.0), min_size=search.FIRST_COMPARED, max_size=N_ROUNDS).map(
    lambda steps: 10.0 - np.cumsum(np.array(steps) / len(steps))
)


def falls_behind(losses, best, n_rounds=N_ROUNDS, train_losses=None):
    """Whether a curve is behind another one; both learn the training samples equally fast, unless it is given."""
    most = max(len(losses), len(best))
    if train_losses is None:
        train_losses = 1.0 / np.arange(1, most + 1)
    candidate = SimpleNamespace(losses=list(losses), train_losses=list(train_losses[: len(losses)]))
    other = SimpleNamespace(losses=list(best), train_losses=list(1.0 / np.arange(1, len(best) + 1)))
    return is_behind(candidate, other, n_rounds)


@given(falling)
def test_curve_is_not_behind_itself_nor_behind_a_worse_one(curve):
    assert not falls_behind(curve, curve)
    assert not falls_behind(curve, curve + 0.1)


@given(falling, st.floats(0.01, 1.0))
def test_curve_with_a_constant_gap_is_behind(curve, gap):
    assert falls_behind(curve + gap, curve)


def test_curve_is_behind_unless_its_gap_closes_in_time():
    t = np.arange(1, 31)
    best = 1.0 / t
    assert not falls_behind(best + 0.3 * 0.9**t, best)
    assert falls_behind(best + 0.3 * 0.9999**t, best)
    assert falls_behind(best + 0.3 * 0.98**t, best, n_rounds=31)  # no rounds are left


@given(falling)
def test_best_loss_counts_where_the_best_curve_has_ended_or_risen(curve):
    risen = np.r_[curve[:-5], curve[-5:] + 5.0]
    ended = curve[: len(curve) // 2]
    assert falls_behind(np.r_[ended, np.full(len(curve) - len(ended), ended[-1])] + 0.2, ended)
    assert not falls_behind(risen, curve[:-5])
    assert falls_behind(np.r_[curve[:-5] + 0.2, curve[-5:] + 5.2], risen)


@given(falling)
def test_slow_curve_that_generalises_better_is_not_behind(curve):
    slow = 100.0 / np.arange(1, len(curve) + 1)  # so much is left to learn, and the best had a larger loss then
    assert not falls_behind(np.full(len(curve), 9.5), np.r_[20.0, curve - 2.0], train_losses=slow)
    assert falls_behind(np.full(len(curve), 9.5), np.r_[8.0, curve - 2.0], train_losses=slow)


# Candidates


class Scripted(Candidate):
    """A candidate whose losses are known beforehand; the last one lasts."""

    def __init__(self, smoothing, max_depth, curve):
        self.smoothing, self.max_depth, self.is_behind = smoothing, max_depth, False
        self.curve, self.losses, self.train_losses, self.loss, self.best_round = curve, [], [], np.inf, 0
        self._trials, self._costs, self._n_samples = [unending()], [], 10

    def advance(self):
        self.losses.append(self.curve[min(len(self.losses), len(self.curve) - 1)])
        self.train_losses.append(1.0 / len(self.losses))
        if self.losses[-1] < self.loss:
            self.loss, self.best_round = self.losses[-1], len(self.losses)


def unending():
    return Trial(SimpleNamespace(ended=False), None, 10)


def test_candidate_runs_until_its_loss_has_not_improved_for_long():
    candidate = Scripted(1.0, 3, [3.0, 2.0, 1.0])
    candidate.run(N_ROUNDS)
    assert (candidate.loss, candidate.best_round, len(candidate.losses)) == (1.0, 3, 3 + search.PATIENCE)


def test_patience_grows_with_the_rounds_that_helped():
    candidate = Scripted(1.0, 3, np.linspace(5.0, 1.0, 60).tolist())
    candidate.run(1000)
    assert len(candidate.losses) == 60 + search.PATIENCE_FRACTION * 60


def test_candidate_runs_no_more_rounds_than_allowed():
    candidate = Scripted(1.0, 3, np.linspace(5.0, 1.0, 60).tolist())
    candidate.run(20)
    assert len(candidate.losses) == 20
    candidate.run(30)  # it goes on
    assert len(candidate.losses) == 30


def test_candidate_that_falls_behind_is_stopped():
    best = Scripted(1.0, 3, np.linspace(5.0, 1.0, 60).tolist())
    best.run(N_ROUNDS)
    worse = Scripted(3.0, 3, np.linspace(6.0, 2.0, 60).tolist())
    worse.run(N_ROUNDS, best)
    assert worse.is_behind
    assert len(worse.losses) == search.FIRST_COMPARED
    assert ", stopped" in worse.line
    assert worse.record(best, 100.0)["outcome"] == "stopped"
    assert best.record(best, 100.0)["outcome"] == "selected"


def test_record_says_what_was_tried():
    candidate = Scripted(0.3, None, [3.0, 2.0, 1.0])
    candidate.run(4)
    record = candidate.record(Scripted(1.0, 3, [0.5]), unit=80.0)
    assert record == {
        "smoothing": 0.3,
        "max_depth": None,
        "loss": 1.0,
        "best_round": 3,
        "n_rounds": 4,
        "cost": 4 * 10 / 80,
        "outcome": "completed",
        "losses": [3.0, 2.0, 1.0, 1.0],
    }
    assert candidate.line == "smoothing 0.3, depth not limited: held-out loss 1 after 3 of 4 rounds"


# Settings of the fit

rates = st.none() | st.floats(0.01, 1.0)


@given(st.integers(1, 2000), rates, st.integers(1, 1000), st.booleans())
def test_converted_settings_are_in_their_ranges(best_round, rate, n_estimators, is_free):
    found = Conversion.of(best_round, rate, n_estimators, is_smoothing_free=is_free)
    assert 1 <= found.n_rounds <= n_estimators
    assert found.learning_rate == rate if rate is not None else search.SLOW <= found.learning_rate <= search.FAST
    assert search.LEAST_SMOOTHING <= found.smoothing_factor <= 1.0
    if not is_free:
        assert found.smoothing_factor == 1.0


@given(st.integers(1, 1000), rates, st.integers(2, 1000))
def test_more_rounds_of_a_candidate_are_never_fewer_of_the_fit(best_round, rate, n_estimators):
    first, second = (
        Conversion.of(rounds, rate, n_estimators, is_smoothing_free=False) for rounds in (best_round, best_round + 1)
    )
    assert first.n_rounds * first.learning_rate <= second.n_rounds * second.learning_rate + search.FAST


@given(st.integers(1, 100), st.floats(0.01, 1.0))
def test_smoothing_stays_if_there_are_rounds_enough(best_round, rate):
    found = Conversion.of(best_round, rate, 10**6, is_smoothing_free=True)
    assert found.smoothing_factor == 1.0
    assert found.n_rounds == max(1, round(search.ROUNDS_RATIO * best_round / rate))


@given(rates, st.integers(1, 1000), st.booleans())
def test_candidates_run_as_many_rounds_as_the_fit_can_use(rate, n_estimators, is_free):
    most = search.most_search_rounds(rate, n_estimators, is_smoothing_free=is_free)
    assert most >= 1
    assert Conversion.of(most + 2, rate, n_estimators, is_smoothing_free=is_free).n_rounds == n_estimators


# Which are tried


def part(n_train):
    return SimpleNamespace(
        train=SimpleNamespace(labels=np.zeros(n_train)), held=SimpleNamespace(labels=np.array([0, 1]))
    )


def run_search(space, losses, verbose=False):
    """Search with candidates that reach their loss at once: ``losses(smoothing, max_depth)``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            search, "Candidate", lambda smoothing, depth, *_: Scripted(smoothing, depth, [losses(smoothing, depth)])
        )
        return search.search([part(800)], lambda *_: unending(), None, space, N_ROUNDS, verbose=verbose)


@st.composite
def searches(draw):
    """Draw a space, and the loss of every candidate in it."""
    first, deepest = draw(st.integers(1, 7)), draw(st.integers(1, 12))
    smoothing = draw(st.sampled_from([search.SMOOTHING, (5.0,)]))
    space = SearchSpace(smoothing, first, range(1, max(first, deepest) + 1), 0)
    values = draw(st.lists(st.integers(0, 30), min_size=80, max_size=80))
    all_smoothing = [*smoothing, *search.MORE_SMOOTHING]
    return space, lambda s, depth: float(values[(all_smoothing.index(s) * 13 + depth) % 80])


@given(searches())
def test_selected_candidate_has_the_smallest_loss_of_those_tried(case):
    best, tried = run_search(*case)
    assert best is next(candidate for candidate in tried if candidate.loss == min(c.loss for c in tried))


@given(searches())
def test_no_candidate_is_tried_twice_and_all_are_in_the_space(case):
    space, _ = case
    _, tried = run_search(*case)
    settings = [(candidate.smoothing, candidate.max_depth) for candidate in tried]
    assert len(set(settings)) == len(settings)
    assert settings[: len(space.smoothing)] == [(value, space.first_depth) for value in space.smoothing]
    assert {depth for _, depth in settings} <= {space.first_depth, *space.depths}


@given(searches())
def test_neighbours_of_the_selected_depth_were_tried(case):
    space, _ = case
    best, tried = run_search(*case)
    depths = {candidate.max_depth for candidate in tried}
    if best.max_depth >= space.first_depth:
        assert best.max_depth + search.DEEPER in depths or best.max_depth + search.DEEPER not in space.depths
    if best.max_depth <= space.first_depth:
        assert best.max_depth - 1 in depths or best.max_depth - 1 not in space.depths


@given(searches())
def test_more_smoothing_is_tried_while_it_helps(case):
    space, _ = case
    best, tried = run_search(*case)
    more = [candidate for candidate in tried if candidate.smoothing in search.MORE_SMOOTHING]
    if len(space.smoothing) == 1:
        assert more == []
        return
    ladder = [max(space.smoothing), *search.MORE_SMOOTHING]
    if best.smoothing in ladder[:-1]:
        following = ladder[ladder.index(best.smoothing) + 1]
        assert (following, best.max_depth) in [(candidate.smoothing, candidate.max_depth) for candidate in tried]
    assert len({candidate.max_depth for candidate in more}) <= 1


def test_depth_that_is_not_free_is_the_only_one():
    for depth in (3, None):
        space = SearchSpace.of(search.SMOOTHING, depth, False, 800, 1.0)
        _, tried = run_search(space, lambda s, d: s)
        assert {candidate.max_depth for candidate in tried} == {depth}


def test_depth_that_is_not_limited_stays_so():
    assert SearchSpace.of((1.0,), None, True, 800, 1.0).depths == range(0)


@given(st.integers(1, 7), st.integers(24, 40_000))
def test_trees_of_the_search_leave_enough_samples_to_a_leaf(first, n_train):
    space = SearchSpace.of(search.SMOOTHING, first, True, n_train, 1.0)
    deepest = space.depths[-1]
    assert (space.first_depth, space.missing_depth) == (min(first, deepest), 0)
    assert deepest == search.MIN_DEEPEST or 2**deepest * search.SAMPLES_PER_LEAF <= n_train


def test_four_times_the_samples_are_worth_another_level():
    space = SearchSpace.of(search.SMOOTHING, 7, True, 40_000, 1 / 16)
    assert (space.first_depth, space.missing_depth) == (5, 2)


def test_verbose_search_prints_a_line_per_candidate(capsys):
    space = SearchSpace(search.SMOOTHING, 3, range(1, 6), 0)
    _, tried = run_search(space, lambda s, d: s + d, verbose=True)
    assert capsys.readouterr().out.splitlines() == [candidate.line for candidate in tried]
