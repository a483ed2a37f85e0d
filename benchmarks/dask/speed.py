"""The case about speed: a whole fit on two workers, beside the local one and the peers' own Dask estimators."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks._lib.checks import CHECKED_ROWS, Learning, accuracy, balanced_accuracy, failure_of
from benchmarks._lib.peers import MAX_BINS, MAX_DEPTH
from benchmarks._lib.store import Result, Row
from benchmarks._lib.timing import take_turns
from benchmarks._lib.verdicts import Target, Verdict
from benchmarks.dask import local
from benchmarks.dask.apart import Apart, apart, say
from benchmarks.dask.boosters import ALL_OURS, OURS, PEERS, Booster, Comboost
from benchmarks.dask.clusters import connected
from benchmarks.dask.plan import Plan
from benchmarks.dask.rows import Rows

if TYPE_CHECKING:
    from distributed import Client

N_WORKERS = 2
N_ROUNDS = 50
ROWS = Rows(2_000_000, 30, 5, n_chunks=16)
WARM_UP = Rows(4000, 30, 5, n_chunks=4)
WARM_UP_ROUNDS = 2
TO_LOCAL = Target("≤", 1.3)
TO_PEER = Target("≤", 1 / 2)
NONE = Target("≤", 0)


@dataclass
class Racer:
    """Somebody who fits in turns with others: how, the seconds of every turn, and the last model.

    A turn is a fit of one round, which tells what comes before the rounds, and one of all rounds.
    """

    fit: Callable[[int], tuple[float, Any]]
    predict: Callable[[Any, Any], Any]
    n_rounds: Callable[[Any], int]
    is_ours: bool
    first_seconds: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    model: Any = None

    def lap(self, name: str) -> None:
        """Take a turn."""
        self.first_seconds.append(self.fit(1)[0])
        seconds, self.model = self.fit(N_ROUNDS)
        self.seconds.append(seconds)
        say(f"{name}: {seconds:.2f} s, with one round {self.first_seconds[-1]:.2f} s")

    def learning(self, X: Any, y: Any) -> Learning:
        """What the last model learned; ours learns all classes alike, the others most where most rows are."""
        share, guessing = (balanced_accuracy if self.is_ours else accuracy)(self.predict(self.model, X), y)
        return Learning(share, guessing, failure_of(share, guessing, self.n_rounds(self.model), N_ROUNDS))


class SpeedCase:
    """Time of whole fits."""

    name = "speed"

    def title(self, plan: Plan) -> str:
        """What is measured."""
        size = f"{N_ROUNDS} rounds, depth {MAX_DEPTH}, {MAX_BINS} bins"
        return f"whole fits on {N_WORKERS} workers with a thread each, {rows_of(plan).name}, {size}"

    def run(self, plan: Plan) -> Result:
        """Let all take turns on the same cluster and the same rows."""
        result = Result()
        rows = rows_of(plan)
        with apart() as lone, connected(N_WORKERS) as client:
            racers = enter_local(lone, rows) | enter_boosters(client, plan, result)
            turns = take_turns({name: partial(racer.lap, name) for name, racer in racers.items()}, plan.repeats)
            result.left_out |= turns.errors
            finished = {name: racers[name] for name in turns.results}
            learned = {name: racer.learning(*sample_of(rows)) for name, racer in finished.items()}
        result.tables["speed"] = [row_of(name, racer, finished, learned[name]) for name, racer in finished.items()]
        result.verdicts = verdicts_on(finished, learned)
        result.raw = {
            name: {"1 round": racer.first_seconds, f"{N_ROUNDS} rounds": racer.seconds}
            for name, racer in finished.items()
        }
        return result


def rows_of(plan: Plan) -> Rows:
    """The rows at the size and of the type of a plan."""
    return replace(plan.scale(ROWS), dtype=plan.dtype)


def enter_local(lone: Apart, rows: Rows) -> dict[str, Racer]:
    """Ours without the cluster, in a process that has drawn the rows already and fitted a few."""
    lone.run(local.load, WARM_UP)
    for kind in ALL_OURS:
        lone.run(local.fit, WARM_UP_ROUNDS, N_WORKERS, kind.local_estimator)
    lone.run(local.load, rows)
    say(f"drew {rows.name} in a process for the local fits")

    def fit(estimator: str, n_rounds: int) -> tuple[float, Any]:
        return lone.run(local.fit, n_rounds, N_WORKERS, estimator)

    def predict(model: Any, X: Any) -> Any:
        return model.predict(X)

    def n_rounds(model: Any) -> int:
        return model.n_iter_

    return {
        local_name(kind): Racer(partial(fit, kind.local_estimator), predict, n_rounds, is_ours=True)
        for kind in ALL_OURS
    }


def local_name(kind: type[Comboost]) -> str:
    """What tables call the local fit of one of ours."""
    return f"{kind.local_name}, {N_WORKERS} threads"


def enter_boosters(client: "Client", plan: Plan, result: Result) -> dict[str, Racer]:
    """All that fit on the cluster, warmed up; those that cannot are left out."""
    data, small = rows_of(plan).persisted(client), WARM_UP.persisted(client)
    say("drew the same rows on the workers")
    racers = {}
    for kind in (*ALL_OURS, *(PEERS if plan.with_peers else ())):
        try:
            if (reason := kind.missing()) is None:
                timed_fit(kind(), client, small, WARM_UP_ROUNDS)
        except Exception as error:  # a library may raise anything, and none may stop the others
            reason = f"{type(error).__name__}: {error}"
        if reason is not None:
            result.left_out[kind.name] = reason
            continue
        booster = kind()
        fit = partial(timed_fit, booster, client, data)
        racers[kind.name] = Racer(fit, booster.predict, booster.n_rounds, is_ours=issubclass(kind, Comboost))
    return racers


def timed_fit(booster: Booster, client: "Client", data: tuple[Any, Any], n_rounds: int) -> tuple[float, Any]:
    """Seconds of a fit, and the model."""
    start = time.perf_counter()
    model = booster.fit(client, *data, n_rounds)
    return time.perf_counter() - start, model


def sample_of(rows: Rows) -> tuple[Any, Any]:
    """Training rows to check models with."""
    return rows.draw_values(0)[:CHECKED_ROWS], rows.draw_classes(0)[:CHECKED_ROWS]


def row_of(name: str, racer: Racer, racers: dict[str, Racer], learning: Learning) -> Row:
    """A line of the table."""
    kinds_by_local_name = {local_name(kind): kind.name for kind in ALL_OURS}
    ours = racers.get(kinds_by_local_name.get(name, OURS.name))
    return {
        "method": name,
        "1 round, s": min(racer.first_seconds),
        f"{N_ROUNDS} rounds, s": min(racer.seconds),
        "median, s": median(racer.seconds),
        "ours / this": None if ours is None else min(ours.seconds) / min(racer.seconds),
        "right": learning.accuracy,
        "guessing": learning.guessing,
        "remark": learning.failure or "",
    }


def verdicts_on(racers: dict[str, Racer], learned: dict[str, Learning]) -> list[Verdict]:
    """Whether ours is fast enough, is the same as the local one, and has learned something, as all others have."""
    verdicts = [verdict_on(kind.name, local_name(kind), TO_LOCAL, racers, learned) for kind in ALL_OURS]
    for kind in PEERS:
        if kind.name in racers:
            verdicts.append(verdict_on(OURS.name, kind.name, TO_PEER, racers, learned))
    n_failed = sum(learning.failure is not None for learning in learned.values())
    verdicts.append(Verdict("models that learned nothing", NONE, float(n_failed)))
    for kind in ALL_OURS:
        on_dask, alone = racers.get(kind.name), racers.get(local_name(kind))
        differing = None
        if on_dask is not None and alone is not None:
            differing = float(local.digest_of(on_dask.model.to_local()) != local.digest_of(alone.model))
        verdicts.append(Verdict(f"models of {kind.name} that differ from the local one in a byte", NONE, differing))
    return verdicts


def verdict_on(
    ours: str, other: str, target: Target, racers: dict[str, Racer], learned: dict[str, Learning]
) -> Verdict:
    """How many times as long as another one ours takes; unknown if one of them could not be done or learned nothing."""
    sound = {ours, other} <= racers.keys() and not (learned[ours].failure or learned[other].failure)
    ratio = min(racers[ours].seconds) / min(racers[other].seconds) if sound else None
    return Verdict(f"{ours} / {other}", target, ratio)
