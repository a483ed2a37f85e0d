"""The case about traffic: bytes between processes, and calls, of a round; beside what a formula says."""

from collections import Counter
from typing import Any

from benchmarks._lib.peers import MAX_BINS, MAX_DEPTH
from benchmarks._lib.store import Result, Row
from benchmarks._lib.verdicts import Target, Verdict
from benchmarks.dask import calls, readings
from benchmarks.dask.apart import apart, say
from benchmarks.dask.boosters import OURS
from benchmarks.dask.clusters import started_cluster
from benchmarks.dask.plan import Plan
from benchmarks.dask.readings import CLIENT, LINKS, SCHEDULER, WORKER, Link, Reading, Spent
from benchmarks.dask.rows import Rows

# Not made fewer by a quick run: with few rows, nodes are soon pure, and trees have fewer splits than the formula.
SHAPES = (Rows(20_000, 10, 3, n_chunks=8), Rows(200_000, 30, 5, n_chunks=8))
WORKERS = (2, 4)
FIRST, LAST = 5, 45  # rounds between whose ends everything is counted
N_ROUNDS = LAST + 1  # the last one is not followed by the costs of a next one
KILO = 1e3
SELDOM = 0.5  # messages per round: what comes less often is not part of a round
NARROW = Target("≤", 6)  # bytes of a sum, of which as many travel as the largest of a histogram has


def sums_of_round(rows: Rows) -> int:
    """Sums that a round sends along an edge of the reduction tree: the root's histogram, then the left ones.

    No value comes twice, so every feature has all its bins; of the classes, one follows from the others and the loss.
    """
    return 2 ** (MAX_DEPTH - 1) * rows.n_features * MAX_BINS * rows.n_classes


def observe(address: str, n_workers: int, rows: Rows) -> tuple[Spent, Spent]:
    """Fit as the client of a cluster: what was spent up to the first round's end, and what between two rounds."""
    from distributed import Client

    with Client(address) as client:
        client.wait_for_workers(n_workers)
        data = rows.persisted(client)
        OURS().fit(client, *data, 1)  # the first time also loads code and connects
        readings.begin(client)
        taken = [Reading.take(client)]
        model = OURS().estimator(client, N_ROUNDS).set_callbacks(reader_of(client, taken)).fit(*data)
    if model.n_iter_ != N_ROUNDS:
        raise RuntimeError(f"the fit stopped after {model.n_iter_} of {N_ROUNDS} rounds: {model.stop_reason_}")
    start, after_one, first, last = taken
    return after_one.since(start), last.since(first)


def reader_of(client: Any, taken: list[Reading]) -> Any:
    """A callback that takes a reading after some rounds."""
    from comboost._boosting.monitor import RoundCounter

    def tell(n_done: int) -> None:
        if n_done in (1, FIRST, LAST):
            taken.append(Reading.take(client))

    return RoundCounter(tell)


class TrafficCase:
    """Bytes and calls of a round."""

    name = "traffic"

    def title(self, plan: Plan) -> str:
        """What is measured."""
        return f"bytes and calls of a round, depth {MAX_DEPTH}, from the end of round {FIRST} to that of round {LAST}"

    def run(self, plan: Plan) -> Result:
        """Fit on every shape and cluster."""
        result = Result()
        result.tables = {"rounds": [], "start": [], "scheduler": [], "workers": []}
        for rows in SHAPES:
            for n_workers in WORKERS:
                with apart() as user, started_cluster(n_workers) as cluster:
                    start, rounds = user.run(observe, cluster.scheduler_address, n_workers, rows)
                say(f"{rows.name}, {n_workers} workers: done")
                add_findings(result, rows, n_workers, start, rounds)
        return result


def add_findings(result: Result, rows: Rows, n_workers: int, start: Spent, rounds: Spent) -> None:
    """Add a shape's lines to all tables, and the verdict on the formula."""
    name = f"{rows.n_features} × {MAX_BINS} bins, {rows.n_classes} classes, {n_workers} workers"
    sent = {link: rounds.sent[link] / (LAST - FIRST) for link in LINKS}
    upward = sum(sent[WORKER, other] for other in (WORKER, CLIENT, SCHEDULER))
    # Every worker sends its sums to the one above it, and the first one to the client.
    sum_bytes = upward / (n_workers * sums_of_round(rows))
    formula = {"per trip": sum(sent.values()) / MAX_DEPTH / KILO, "bytes of a sum": sum_bytes}
    result.tables["rounds"].append({"kB per round": name, **in_kilobytes(sent), **formula})
    result.tables["start"].append({"kB up to the end of round 1": name, **in_kilobytes(start.sent)})
    for side, counts in (("scheduler", rounds.at_scheduler), ("workers", rounds.at_workers)):
        found = message_rates(counts)
        result.tables[side] += [{f"messages at the {side}": name, "message": m, "per round": found[m]} for m in found]
    result.verdicts.append(Verdict(f"bytes of a sum, messages included, {name}", NARROW, sum_bytes))
    result.raw[name] = {"rows": rows.name, "start": start.plain(), "rounds": rounds.plain()}


def in_kilobytes(sent: dict[Link, Any]) -> Row:
    """Columns of all links."""
    return {f"{sender} → {receiver}": sent[sender, receiver] / KILO for sender, receiver in LINKS}


def message_rates(counts: Counter[str]) -> dict[str, float]:
    """Messages per round by name; whatever comes by the clock, or seldom, is left out."""
    rates = {name: counts[name] / (LAST - FIRST) for name in sorted(counts) if name not in calls.BY_THE_CLOCK}
    return {name: rate for name, rate in rates.items() if rate >= SELDOM} or {"none": 0.0}
