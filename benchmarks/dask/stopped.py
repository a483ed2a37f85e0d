"""The case about a worker that is stopped: how long a fit takes then, and whether it gives the same model."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from benchmarks._lib.store import Result, Row
from benchmarks._lib.verdicts import Target, Verdict
from benchmarks.dask import local
from benchmarks.dask.apart import apart, say
from benchmarks.dask.boosters import OURS
from benchmarks.dask.clusters import connected
from benchmarks.dask.plan import Plan
from benchmarks.dask.rows import Rows
from benchmarks.dask.speed import NONE, WARM_UP, WARM_UP_ROUNDS, timed_fit

if TYPE_CHECKING:
    from distributed import Client

N_WORKERS = 3
N_ROUNDS = 100
ROWS = Rows(300_000, 12, 5, n_chunks=12)  # not made fewer by a quick run, which would be over before the stop
STOP_AFTER = 4.0  # seconds into the fit
FIRST, LAST = 0, -1  # by address: the first one has the shard above all others
WITHIN = Target("<", 60)  # seconds


class StoppedCase:
    """Seconds of a fit in whose midst a worker stops answering, as SIGSTOP makes it."""

    name = "stopped"

    def title(self, plan: Plan) -> str:
        """What is measured."""
        return f"{ROWS.name}, {N_WORKERS} workers, {N_ROUNDS} rounds, SIGSTOP to one after {STOP_AFTER:.0f} s"

    def run(self, plan: Plan) -> Result:
        """Fit without and with a stop, on rows that are drawn when needed and on rows that lie on the workers."""
        with apart() as lone:
            lone.run(local.load, ROWS)
            digest = local.digest_of(lone.run(local.fit, N_ROUNDS, 1)[1])
        fits = [
            measured(digest, persisted=persisted, stopped=stopped)
            for persisted in (False, True)
            for stopped in (None, FIRST, LAST)
        ]
        result = Result()
        result.tables["fits"] = fits
        result.verdicts = [
            Verdict("seconds of the longest fit", WITHIN, max(fit["fit, s"] for fit in fits)),
            Verdict(
                "models that differ from the local one in a byte", NONE, float(sum(fit["differs"] for fit in fits))
            ),
        ]
        return result


def measured(digest: str, *, persisted: bool, stopped: int | None) -> Row:
    """One fit on a cluster of its own."""
    with connected(N_WORKERS) as client:
        timed_fit(OURS(), client, WARM_UP.lazy(), WARM_UP_ROUNDS)  # loads code
        data = persist(client, ROWS.lazy()) if persisted else ROWS.lazy()
        with stopping(client, stopped) as struck:
            seconds, model = timed_fit(OURS(), client, data, N_ROUNDS)
            was_struck = struck.is_set()
    row = {
        "rows": "on the workers" if persisted else "drawn",
        "stopped": {None: "none", FIRST: "the first", LAST: "the last"}[stopped],
        "in the midst": was_struck,
        "fit, s": seconds,
        "differs": local.digest_of(model.to_local()) != digest,
    }
    say(str(row))
    return row


def persist(client: "Client", data: tuple[Any, Any]) -> Any:
    """Let rows lie on the workers, on any of them: `Rows.persisted` binds them to addresses that may be lost."""
    from distributed import wait

    kept = client.persist(data)
    wait(kept)
    return kept


@contextmanager
def stopping(client: "Client", stopped: int | None) -> Iterator[threading.Event]:
    """Stop the process of a worker after a while, and let it go on at the end, so that it can be ended."""
    struck = threading.Event()
    if stopped is None:
        yield struck
        return
    pids: dict[str, Any] = client.run(os.getpid)
    pid = pids[sorted(pids)[stopped]]

    def strike() -> None:
        os.kill(pid, signal.SIGSTOP)
        struck.set()

    timer = threading.Timer(STOP_AFTER, strike)
    timer.start()
    try:
        yield struck
    finally:
        timer.cancel()
        timer.join()
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            say("the stopped worker was restarted")
