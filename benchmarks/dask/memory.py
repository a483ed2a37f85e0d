"""The case about memory: a fit whose input is larger than what each worker may take."""

from typing import Any

from benchmarks._lib.checks import balanced_accuracy, failure_of
from benchmarks._lib.memory import MEBI
from benchmarks._lib.peers import MAX_BINS, MAX_DEPTH
from benchmarks._lib.store import Result, Row
from benchmarks._lib.verdicts import Target, Verdict
from benchmarks.dask import calls, local, workers
from benchmarks.dask.apart import apart, say
from benchmarks.dask.boosters import OURS
from benchmarks.dask.clusters import connected
from benchmarks.dask.plan import Plan
from benchmarks.dask.rows import Rows
from benchmarks.dask.speed import NONE, WARM_UP, WARM_UP_ROUNDS, sample_of, timed_fit

N_WORKERS = 2
N_ROUNDS = 10
ROWS = Rows(10_000_000, 30, 5, n_chunks=40)
LIMIT = 1536 * MEBI  # of each worker
QUICK_LIMIT = 768 * MEBI  # a worker with its libraries, and room enough; more than a quick run's input
MORE = Target("≥", 1)
LESS = Target("<", 1)

Measured = dict[str, dict[str, int]]  # by worker


class MemoryCase:
    """Peaks of workers, and what Dask wrote to disk."""

    name = "memory"

    def title(self, plan: Plan) -> str:
        """What is measured."""
        return f"{plan.scale(ROWS).name}, drawn on {N_WORKERS} workers and not kept, {N_ROUNDS} rounds"

    def run(self, plan: Plan) -> Result:
        """Fit once."""
        rows, limit = plan.scale(ROWS), QUICK_LIMIT if plan.quick else LIMIT
        with connected(N_WORKERS, limit) as client:
            say(f"{N_WORKERS} workers, {limit // MEBI} MiB each; the input is {rows.n_bytes // MEBI} MiB")
            timed_fit(OURS(), client, WARM_UP.lazy(), WARM_UP_ROUNDS)  # loads code
            attendance = workers.Attendance()
            client.cluster.scheduler.add_plugin(attendance)
            messages = calls.count_messages(client.cluster.scheduler)
            workers.forget_peaks(client)
            before = workers.measure(client)
            seconds, model = timed_fit(OURS(), client, rows.lazy(), N_ROUNDS)
            after = workers.measure(client)
            n_lost, n_changes = attendance.counts["left"], messages["worker-status-change"]  # the end adds to them
        say(f"fitted in {seconds:.1f} s; fitting the same rows without a cluster")
        share, guessing = balanced_accuracy(model.to_local().predict(sample_of(rows)[0]), sample_of(rows)[1])
        summary = {
            "input, MiB": rows.n_bytes / MEBI,
            "limit of a worker, MiB": limit / MEBI,
            "chunk, MiB": rows.n_bytes / rows.n_chunks / MEBI,
            "fit, s": seconds,
            "workers lost": n_lost,
            "pauses and resumptions": n_changes,
            "right": share,
            "guessing": guessing,
        }
        differs = differs_from_local(model.to_local(), rows)
        failure = failure_of(share, guessing, model.n_iter_, N_ROUNDS)
        return result_of(rows, limit, before, after, summary, {"differs": differs, "failed": failure is not None})


def differs_from_local(model: Any, rows: Rows) -> bool:
    """Whether a model is not that of the same rows without a cluster."""
    with apart() as lone:
        lone.run(local.load, rows)
        return local.digest_of(lone.run(local.fit, N_ROUNDS, N_WORKERS)[1]) != local.digest_of(model)


def planned(rows: Rows) -> dict[str, int]:
    """Bytes that the package says that a worker with its share of the rows needs beside the input, by use."""
    from comboost._distributed.memory import worker_uses
    from comboost._engine.memory_plan import FitShape, TreeLimits

    n_bins = rows.n_features * MAX_BINS
    shape = FitShape(rows.n_samples, rows.n_features, rows.n_classes, n_bins, TreeLimits(MAX_DEPTH, n_trees=N_ROUNDS))
    return worker_uses(shape, rows.n_samples // N_WORKERS)


def result_of(
    rows: Rows, limit: int, before: Measured, after: Measured, summary: Row, faults: dict[str, bool]
) -> Result:
    """The run as a whole, each worker, and the formula."""
    result = Result()
    plan = planned(rows)
    result.tables["run"] = [summary]
    result.tables["workers"] = [worker_row(k, one, before, after, plan) for k, one in enumerate(sorted(after))]
    result.tables["formula"] = [{"footprint of a worker": use, "MiB": plan[use] / MEBI} for use in plan]
    spilled = sum(worker["spilled"] for worker in after.values()) - sum(worker["spilled"] for worker in before.values())
    peak = max(worker["peak"] for worker in after.values())
    new = {worker["pid"] for worker in after.values()} - {worker["pid"] for worker in before.values()}
    result.verdicts = [
        Verdict("input / memory limit of a worker", MORE, rows.n_bytes / limit),
        Verdict("largest peak / memory limit", LESS, peak / limit),
        Verdict("bytes that Dask spilled to disk", NONE, float(spilled)),
        Verdict("workers lost or started anew", NONE, float(max(len(new), summary["workers lost"]))),
        Verdict("models that stopped early or learned nothing", NONE, float(faults["failed"])),
        Verdict("models that differ from the local one in a byte", NONE, float(faults["differs"])),
    ]
    result.raw = {"before": before, "after": after, "footprint": plan}
    return result


def worker_row(number: int, address: str, before: Measured, after: Measured, plan: dict[str, int]) -> Row:
    """A worker's line; one that was started anew held nothing before."""
    start = before.get(address, {"resident": 0, "spilled": 0})
    extra = after[address]["peak"] - start["resident"]
    return {
        "worker": number,
        "before, MiB": start["resident"] / MEBI,
        "peak, MiB": after[address]["peak"] / MEBI,
        "over before, MiB": extra / MEBI,
        "footprint, MiB": sum(plan.values()) / MEBI,
        "over before / footprint": extra / sum(plan.values()),
        "after, MiB": after[address]["resident"] / MEBI,
        "spilled, MiB": (after[address]["spilled"] - start["spilled"]) / MEBI,
    }
