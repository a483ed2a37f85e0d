"""Whether the targets are reached. In: the stored entries of both comparisons. Out: verdicts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks._lib.verdicts import Target, Verdict
from benchmarks.quality import methods
from benchmarks.quality.measures import ACCURACY, FIT_SECONDS, G_MEAN, LOG_LOSS, NORM, Measure
from benchmarks.quality.ranks import Entries, mean_of, mean_ranks, mean_values, means
from benchmarks.quality.store import Entry

OURS, FIXED = methods.OURS.name, methods.FIXED.name
RANKED = tuple(method.name for method in methods.RANKED)
PEERS = tuple(method.name for method in methods.PEER_METHODS)
STOPPED_LIGHTGBM, CATBOOST = f"LightGBM{methods.STOPPED}", "CatBoost"
MANY_CLASSES = 10
SHARE_WITH_MANY, SHARE_WITH_FEW = 1 / 2, 1  # of the best peer's time
MANY_SAMPLES, FEW_SAMPLES = 20_000, 2_000
JUDGED = (LOG_LOSS, NORM)  # of the eight problems
COMPARED = (NORM, G_MEAN, ACCURACY, LOG_LOSS)  # of the nine sets


@dataclass(frozen=True)
class Duel:
    """Ours against the best peer of a problem in one measure; of equally good peers, the quickest."""

    peer: str
    peer_value: float
    peer_seconds: float
    value: float
    seconds: float
    allowed_seconds: float
    is_as_good: bool

    @property
    def won(self) -> bool:
        """Whether ours is as good, in the allowed time."""
        return self.is_as_good and self.seconds <= self.allowed_seconds


def duel(by_method: dict[str, Entry], measure: Measure) -> Duel | None:
    """Compare ours with the best peer; None if either has no figures."""
    values = {name: mean_of(by_method.get(name, {}), measure) for name in (OURS, *PEERS)}
    seconds = {name: mean_of(by_method.get(name, {}), FIT_SECONDS) for name in values}
    present = [name for name in PEERS if not math.isnan(values[name])]
    if math.isnan(values[OURS]) or not present:
        return None
    sign = 1 if measure.lower_is_better else -1
    best = min(present, key=lambda name: (sign * values[name], seconds[name]))
    share = SHARE_WITH_MANY if by_method[OURS]["n_classes"] >= MANY_CLASSES else SHARE_WITH_FEW
    return Duel(
        best,
        values[best],
        seconds[best],
        values[OURS],
        seconds[OURS],
        share * seconds[best],
        measure.as_good(values[OURS], values[best]),
    )


def problems_won(holdout: Entries) -> dict[str, bool]:
    """Whether ours wins in every judged measure, for every problem on which it can be compared."""
    duels = {problem: [duel(by_method, one) for one in JUDGED] for problem, by_method in holdout.items()}
    return {problem: all(one.won for one in found) for problem, found in duels.items() if all(found)}


def judge(holdout: Entries, folds: Entries) -> list[Verdict]:
    """All targets."""
    return [
        judge_value("eight problems", holdout, "connect-4", LOG_LOSS, Target("≤", 0.586)),
        judge_value("eight problems", holdout, "connect-4", NORM, Target("≤", 0.277)),
        judge_value("eight problems", holdout, "connect-4", ACCURACY, Target("≥", 0.747)),
        judge_value("eight problems", holdout, "nursery-s", LOG_LOSS, Target("≤", 0.002)),
        judge_value("nine sets", folds, "car", LOG_LOSS, Target("≤", 0.05)),
        judge_value("nine sets", folds, "car", NORM, Target("≤", 0.045)),
        *(judge_rank(folds, measure) for measure in COMPARED),
        *(judge_mean(folds, measure) for measure in COMPARED),
        judge_problems(holdout),
        *judge_times(holdout, folds),
    ]


def judge_value(where: str, entries: Entries, problem: str, measure: Measure, target: Target) -> Verdict:
    """Our value on one problem."""
    value = mean_of(entries.get(problem, {}).get(OURS, {}), measure)
    return verdict(f"{where}, {problem}: {measure.title}", target, value)


def judge_rank(folds: Entries, measure: Measure) -> Verdict:
    """Our mean rank against the best of all others."""
    table = means(folds, measure, RANKED)
    ranks = mean_ranks(table, measure) if table else {}
    others = [rank for name, rank in ranks.items() if name != OURS]
    question = f"nine sets: mean rank in {measure.title}, at most the best other method's"
    return verdict(question, Target("≤", min(others, default=1)), ranks.get(OURS, math.nan))


def judge_mean(folds: Entries, measure: Measure) -> Verdict:
    """Our mean over the sets against that of fixed settings, on the sets that have both."""
    table = means(folds, measure, (OURS, FIXED))
    both = {name: row for name, row in table.items() if len(row) == 2 and not any(map(math.isnan, row.values()))}
    values = mean_values(both) if both else {}
    question = f"nine sets: mean {measure.title}, no worse than with fixed settings"
    comparison = "≤" if measure.lower_is_better else "≥"
    return verdict(question, Target(comparison, values.get(FIXED, math.nan)), values.get(OURS, math.nan))


def judge_problems(holdout: Entries) -> Verdict:
    """Problems on which ours is as good as the best peer in time."""
    won = problems_won(holdout)
    question = f"eight problems: number, of {len(won)}, as good as the best peer in log-loss and norm within its time"
    return verdict(question, Target("≥", 6), sum(won.values()) if won else math.nan)


def judge_times(*comparisons: Entries) -> list[Verdict]:
    """Largest ratio of our fit time to that of another method, by number of samples."""
    limits = (
        ("above 20 000 samples", MANY_SAMPLES, math.inf, STOPPED_LIGHTGBM, 2),
        ("below 20 000 samples", 0, MANY_SAMPLES, CATBOOST, 1),
        ("below 2 000 samples", 0, FEW_SAMPLES, FIXED, 15),
    )
    return [
        verdict(
            f"{words}: largest fit time, relative to {other}",
            Target("≤", most),
            max(time_ratios(comparisons, low, high, other), default=math.nan),
        )
        for words, low, high, other, most in limits
    ]


def time_ratios(comparisons: Sequence[Entries], low: float, high: float, other: str) -> list[float]:
    """Our fit time over that of another method, of every problem with low ≤ n_samples < high."""
    return [
        mean_of(by_method[OURS], FIT_SECONDS) / mean_of(by_method[other], FIT_SECONDS)
        for entries in comparisons
        for by_method in entries.values()
        if all("folds" in by_method.get(name, {}) for name in (OURS, other))
        and low <= by_method[OURS]["n_samples"] < high
    ]


def verdict(question: str, target: Target, value: float) -> Verdict:
    """Return a verdict; without a value it says so."""
    return Verdict(question, target, None, "no figures yet") if math.isnan(value) else Verdict(question, target, value)
