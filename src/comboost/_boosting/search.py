"""Search for smoothing, tree depth and number of rounds by the loss on held-out samples.

Candidates boost on the same parts of the training samples, with a learning rate of 1, which needs few rounds. They are
tried one after the other, and one that falls behind the best so far is stopped. The number of rounds of the best one is
then converted to the learning rate of the fit.
"""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from comboost._boosting import search_samples
from comboost._boosting.loop import Boosting
from comboost._boosting.search_samples import Part
from comboost._engine.forest import Tree
from comboost._engine.leaf_values import Round
from comboost._engine.losses import Objective, in_order
from comboost._engine.memory_plan import SearchShape, TreeLimits
from comboost._engine.norms import Norm
from comboost._engine.rows import LossSums, MemoryRows
from comboost._types import Floats

# Which candidates are tried
SMOOTHING = (3.0, 1.0, 10.0)  # with every depth, in this order
MORE_SMOOTHING = (30.0, 100.0)  # with the best depth, while they improve
DEEPER = 2  # levels at once
SAMPLES_PER_LEAF = 10  # at least, in a tree that is split evenly
MIN_DEEPEST = 3  # but trees of this depth are always allowed

# How long they run
SEARCH_ROUNDS = 80
PATIENCE, PATIENCE_FRACTION = 10, 0.5  # rounds without improvement, and the same as a fraction of those before
FIRST_COMPARED, COMPARED_EVERY = 15, 5  # rounds
BETTER_GENERALISATION = 0.99  # held-out loss relative to that of the best candidate at the same training loss
CATCHING_UP = 0.3  # a gap closes ever more slowly: the fraction of its present speed that counts

# What follows for the fit
SLOW, FAST = 0.1, 0.3  # range of the learning rate
AIMED_ROUNDS = 400  # the learning rate is as small as so many rounds allow
ROUNDS_RATIO = 1.17  # rounds of the fit times its learning rate, as a multiple of the rounds of the candidate
ROUNDS_POWER = 0.44  # less smoothing needs fewer rounds, by this power of it
LEAST_SMOOTHING = 0.3  # fraction of the candidate's

# Class prices
SHRINKAGE = 20  # samples of the mean loss that are added to the held-out samples of a class
LARGEST_LOG_PRICE = 4.0
MOST_PRICE_POWER = 1.5  # of class losses; the gradient of "worst-class", their 7th power, would price one class only

# Without a search
FIXED_SMOOTHING, FIXED_ROUNDS = 10.0, 300


class Trial(NamedTuple):
    """Boosting of a candidate on one part."""

    boosting: Boosting
    held: MemoryRows  # the held-out samples
    n_samples: int  # that are trained on


MakeTrial = Callable[[Part, float, int | None, Floats | None], Trial]


class Candidate:
    """Settings that are tried.

    Parameters
    ----------
    smoothing : float
        The parameter, for the fit.
    max_depth : int or None
        The parameter.
    trials : list of Trial
        One for every part.
    objective : Objective
        The loss of all held-out samples together.
    n_judged : int
        Number of classes that have held-out samples.

    Attributes
    ----------
    losses : list of float
        The held-out loss after every round, or the norm of the losses; divided by the number of classes.
    loss, best_round : float, int
        The smallest of them, and its round.
    best_losses : ndarray
        The held-out losses after this round that the loss is made of; see `LossSums`.
    is_behind : bool
        Whether the candidate was stopped because another one is better.
    """

    def __init__(
        self, smoothing: float, max_depth: int | None, trials: Sequence[Trial], objective: Objective, n_judged: int
    ) -> None:
        self.smoothing, self.max_depth, self.is_behind = smoothing, max_depth, False
        self._trials = trials
        self._n_samples = sum(trial.n_samples for trial in trials)
        self.objective = objective
        self._unit = (math.log(2.0) if objective.loss.has_logarithm else 1.0) / n_judged
        self._held = [self._add(held, None, objective.largest) for _, held, _ in trials]
        self.losses: list[float] = []
        self.train_losses: list[float] = []
        self.loss, self.best_round = math.inf, 0
        self.best_losses = self.held_losses

    @property
    def is_done(self) -> bool:
        """Whether the loss has not improved for long enough, or can no longer change."""
        waited = len(self.losses) - self.best_round
        return waited >= max(PATIENCE, PATIENCE_FRACTION * self.best_round) or all(
            trial.boosting.ended for trial in self._trials
        )

    def advance(self) -> None:
        """Run a round on every part."""
        for k, (boosting, held, _) in enumerate(self._trials):
            this = None if boosting.ended else boosting.advance()
            if this is not None:
                self._held[k] = self._add(held, this, self._held[k].largest * this.factors.largest)
        losses = self.held_losses
        self.losses.append(
            self._unit * (float(losses[0]) if self.objective.norm is None else self.objective.value(losses))
        )
        self.train_losses.append(sum(trial.boosting.history.losses[-1] for trial in self._trials))
        if self.losses[-1] < self.loss:
            self.loss, self.best_round, self.best_losses = self.losses[-1], len(self.losses), losses

    def _add(self, held: MemoryRows, this: Round | None, bound: float) -> LossSums:
        """Add a round to the scores of held-out samples, and sum up their losses."""
        hypothesis, factors = (None, None) if this is None else (this.hypothesis, this.factors)
        assert hypothesis is None or isinstance(hypothesis, Tree)
        if self.objective.norm is not None:
            return held.add(hypothesis, factors, bound)
        costs = held.update(hypothesis, factors, bound, with_root=False)
        return LossSums(np.array([costs.real_loss]), costs.largest)

    @property
    def held_losses(self) -> Floats:
        """The losses of the held-out samples of all parts together."""
        return np.asarray(np.add.reduce([summed.losses for summed in self._held]))

    def run(self, n_rounds: int, best: "Candidate | None" = None) -> None:
        """Run until the loss no longer improves, or until the candidate falls behind the best so far."""
        while len(self.losses) < n_rounds and not self.is_done:
            self.advance()
            t = len(self.losses)
            if best is not None and t >= FIRST_COMPARED and t % COMPARED_EVERY == 0:
                self.is_behind = is_behind(self, best, n_rounds)
                if self.is_behind:
                    return

    def release(self) -> None:
        """Free the samples: no round follows."""
        self._trials, self._held = (), []

    @property
    def line(self) -> str:
        """A line for the terminal."""
        stopped = ", stopped" if self.is_behind else ""
        return (
            f"smoothing {self.smoothing:g}, depth {self.max_depth or 'not limited'}: held-out loss {self.loss:.4g} "
            f"after {self.best_round} of {len(self.losses)} rounds{stopped}"
        )

    def record(self, best: "Candidate", unit: float) -> dict[str, Any]:
        """What was tried, with which result; ``unit`` is the number of samples times the rounds of the fit."""
        return {
            "smoothing": self.smoothing,
            "max_depth": self.max_depth,
            "loss": self.loss,
            "best_round": self.best_round,
            "n_rounds": len(self.losses),
            "cost": len(self.losses) * self._n_samples / unit,
            "outcome": "selected" if self is best else "stopped" if self.is_behind else "completed",
            "losses": list(self.losses),
        }


def is_behind(candidate: Candidate, best: Candidate, n_rounds: int) -> bool:
    """Whether a candidate is worse than the best one, does not catch up in time, and does not generalise better.

    Candidates with little smoothing lead at first and overfit later. So a candidate goes on if the gap between the
    curves closes fast enough, or if its held-out loss is smaller than that of the best one at the same training loss.
    """
    t = len(candidate.losses)
    own, other = np.minimum.accumulate(candidate.losses), np.minimum.accumulate(best.losses)
    if own[-1] <= other[-1]:
        return False
    gaps = own - np.pad(other, (0, max(0, t - len(other))), mode="edge")[:t]
    width = max(COMPARED_EVERY, t // 2)
    now, before = gaps[t - 3 :].mean(), gaps[max(0, t - width - 3) : t - width].mean()
    slope = min((now - before) / width, 0.0)
    if now + CATCHING_UP * slope * (n_rounds - t) <= 0:
        return False
    falling = np.minimum.accumulate(best.train_losses)[::-1]
    at_same_fit = np.interp(candidate.train_losses[-1], falling, np.array(best.losses)[::-1])
    return bool(candidate.losses[-1] > BETTER_GENERALISATION * at_same_fit)


class SearchSpace(NamedTuple):
    """What a search may select."""

    smoothing: Sequence[float]  # to try with every depth; a single value is fixed
    first_depth: int | None  # None does not limit it
    depths: range  # of the search, if the depth is not fixed
    missing_depth: int  # levels to add for samples that the search does not use

    @classmethod
    def of(
        cls, smoothing: Sequence[float], first_depth: int | None, is_free: bool, n_train: int, used_fraction: float
    ) -> "SearchSpace":
        """The space around a depth, which is free or fixed.

        Parameters
        ----------
        smoothing : sequence of float
            Values to try.
        first_depth : int or None
            The first depth for all samples.
        is_free : bool
            Whether other depths may be tried.
        n_train : int
            Number of samples that a candidate is trained on.
        used_fraction : float
            Fraction of all samples that the search uses.
        """
        if first_depth is None or not is_free:
            return cls(smoothing, first_depth, range(0), 0)
        # Of the rule for the first depth: four times the samples are worth another level.
        missing = round(-math.log(min(used_fraction, 1.0), 4))
        deepest = max(MIN_DEEPEST, int(math.log2(max(n_train / SAMPLES_PER_LEAF, 1.0))))
        first = min(max(first_depth - missing, 1), deepest)  # weights may be huge
        return cls(smoothing, first, range(1, deepest + 1), missing)


def shape_of_search(
    limits: TreeLimits, n_samples: int, n_classes: int, n_held: int | None, *, is_depth_free: bool
) -> SearchShape | None:
    """The sizes that the memory of a search depends on; ``n_held`` is the size of a validation set, if there is one.

    Trees are planned as deep as every search tries. It tries deeper ones only where these are better.
    """
    if n_held is None and n_samples < search_samples.MIN_SAMPLES:
        return None
    n_used = min(n_samples, search_samples.MAX_SAMPLES + n_classes * search_samples.KEPT_OF_CLASS)
    depth = limits.max_depth
    if depth is not None and is_depth_free:
        depth += DEEPER
    limits = replace(limits, max_depth=depth, n_trees=min(limits.n_trees, SEARCH_ROUNDS))
    if n_held is not None:
        return SearchShape(
            1, n_used + n_held, n_held + (n_used if n_samples > search_samples.MAX_SAMPLES else 0), limits
        )
    n_folds = search_samples.n_folds_of(n_used)
    return SearchShape(n_folds, n_folds * n_used, n_folds * n_used, limits)


def search(
    parts: Sequence[Part],
    make_trial: MakeTrial,
    objective: Objective,
    space: SearchSpace,
    max_rounds: int,
    *,
    verbose: bool,
) -> tuple[Candidate, list[Candidate]]:
    """Try candidates, and find the one with the smallest loss.

    Deeper trees need more smoothing on noisy tables and less on clean ones. So every depth is tried with several values
    of ``smoothing``. Depths increase while that helps; if it never does, they decrease while that helps.

    Parameters
    ----------
    parts : sequence of Part
        The samples.
    make_trial : callable
        Starts to boost on a part, with a smoothing, a depth and prices of the classes.
    objective : Objective
        The loss of all held-out samples together.
    space : SearchSpace
        What to try.
    max_rounds : int
        Maximum number of rounds of the best candidate; the others run `SEARCH_ROUNDS` at most.
    verbose : bool
        Whether to print a line for every candidate.

    Returns
    -------
    best : Candidate
        The candidate with the smallest loss.
    tried : list of Candidate
        All candidates, in the order in which they were tried.
    """
    n_rounds = min(SEARCH_ROUNDS, max_rounds)
    n_judged = int((np.bincount(np.concatenate([part.held.labels for part in parts])) > 0).sum())
    tried: list[Candidate] = []
    best: Candidate | None = None

    def improves(smoothing: Sequence[float], max_depth: int | None) -> bool:
        """Try candidates of a depth; return whether one of them is the best so far."""
        nonlocal best
        before = best
        for value in smoothing:
            trials = [make_trial(part, value, max_depth, None) for part in parts]
            candidate = Candidate(value, max_depth, trials, objective, n_judged)
            candidate.run(n_rounds, best)
            tried.append(candidate)
            if verbose:
                print(candidate.line)
            if best is None or candidate.loss < best.loss:
                best = candidate
            for other in tried:
                if other is not best:
                    other.release()
        return best is not before

    improves(space.smoothing, space.first_depth)
    assert best is not None
    if space.first_depth is not None:
        depth = space.first_depth + DEEPER
        while depth in space.depths and improves(space.smoothing, depth):
            depth += DEEPER
        depth = space.first_depth - 1
        while best.max_depth == depth + 1 and depth in space.depths and improves((best.smoothing,), depth):
            depth -= 1
    for value in MORE_SMOOTHING if len(space.smoothing) > 1 else ():
        if best.smoothing < max(space.smoothing) or not improves((value,), best.max_depth):
            break
    best.run(max_rounds)
    return best, tried


def price_classes(best: Candidate, parts: Sequence[Part], norm: Norm, make_trial: MakeTrial) -> Floats:
    """Prices of the classes by their losses on held-out samples; the losses in training vanish with overfitting.

    The prices follow the gradient of the norm at the held-out class losses of the best candidate. Their logarithms are
    scaled down if they vary more than those of `MOST_PRICE_POWER` of the losses. Since prices change the losses, the
    candidate is trained once more at these prices, which then follow the new losses half of the way.

    Parameters
    ----------
    best : Candidate
        The best candidate, whose held-out losses are those of classes or of pairs of classes.
    parts : sequence of Part
        The samples.
    norm : Norm
        A norm of class losses.
    make_trial : callable
        As in `search`.
    """
    n_held = np.bincount(np.concatenate([part.held.labels for part in parts]), minlength=len(best.best_losses))

    def centred_logarithms(values: Floats) -> Floats:
        logarithms = np.array([math.log(max(value, sys.float_info.min)) for value in values.tolist()])
        return np.asarray(logarithms - logarithms.mean())

    def follow(log_prices: Floats, held_losses: Floats) -> Floats:
        losses = held_losses if held_losses.ndim == 1 else in_order(held_losses)
        mean = float(in_order(losses)) / int((n_held > 0).sum())
        losses = (n_held * losses + SHRINKAGE * mean) / (n_held + SHRINKAGE)
        followed = centred_logarithms(norm.smooth.gradient(losses))
        spread, most = followed.std(), MOST_PRICE_POWER * centred_logarithms(losses).std()
        if spread > most:
            followed *= most / spread
        moved = 0.5 * (log_prices + followed)
        return np.asarray(np.clip(moved, -LARGEST_LOG_PRICE, LARGEST_LOG_PRICE))

    log_prices = follow(np.zeros(len(n_held)), best.best_losses)
    best.release()
    trials = [make_trial(part, best.smoothing, best.max_depth, np.exp(log_prices)) for part in parts]
    again = Candidate(best.smoothing, best.max_depth, trials, best.objective, 1)
    for _ in range(best.best_round):
        again.advance()
    return np.asarray(np.exp(follow(log_prices, again.held_losses)))


class Conversion(NamedTuple):
    """Settings of the fit that follow from the rounds of a candidate."""

    learning_rate: float
    smoothing_factor: float  # of the candidate's smoothing
    n_rounds: int

    @classmethod
    def of(
        cls, best_round: int, learning_rate: float | None, n_estimators: int, *, is_smoothing_free: bool
    ) -> "Conversion":
        """Convert the best round of a candidate.

        The learning rate, unless it is given, is as small as `AIMED_ROUNDS` allow. If the fit would need more than
        ``n_estimators`` rounds, it gets less smoothing, with which it learns faster.
        """
        steps = ROUNDS_RATIO * best_round
        if learning_rate is None:
            learning_rate = min(max(steps / min(AIMED_ROUNDS, n_estimators), SLOW), FAST)
            learning_rate = rounded(learning_rate)
        factor = 1.0
        if is_smoothing_free:
            allowed = math.pow(n_estimators * learning_rate / steps, 1.0 / ROUNDS_POWER)
            factor = rounded(min(max(allowed, LEAST_SMOOTHING), 1.0))
        n_rounds = round(min(steps * math.pow(factor, ROUNDS_POWER) / learning_rate, n_estimators))
        return cls(learning_rate, factor, max(n_rounds, 1))


def rounded(value: float) -> float:
    """Three significant digits, which are easy to read and to repeat."""
    return float(f"{value:.3g}")


def most_search_rounds(learning_rate: float | None, n_estimators: int, *, is_smoothing_free: bool) -> int:
    """Rounds of a candidate that are worth ``n_estimators`` rounds of the fit."""
    ratio = ROUNDS_RATIO * (math.pow(LEAST_SMOOTHING, ROUNDS_POWER) if is_smoothing_free else 1.0)
    return max(1, round(n_estimators * (learning_rate or FAST) / ratio))
