"""Bytes and calls of a whole cluster, up to a moment. In: a client. Out: readings, and what was spent between two.

The client reads, so it must be in a process of its own: otherwise its sockets were the scheduler's, too.
"""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.dask import calls, links

if TYPE_CHECKING:
    from distributed import Client

CLIENT, SCHEDULER, WORKER = "client", "scheduler", "worker"
Link = tuple[str, str]  # the sender and the receiver
LINKS: tuple[Link, ...] = (
    (WORKER, WORKER),
    (WORKER, CLIENT),
    (WORKER, SCHEDULER),
    (SCHEDULER, CLIENT),
    (CLIENT, SCHEDULER),
    (CLIENT, WORKER),
    (SCHEDULER, WORKER),
)


@dataclass(frozen=True)
class Spent:
    """Bytes by link, messages received by name, and ends of connections that were closed meanwhile."""

    sent: Counter[Link]
    at_scheduler: Counter[str]
    at_workers: Counter[str]
    n_closed: int

    def plain(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "bytes": {f"{sender} → {receiver}": n_bytes for (sender, receiver), n_bytes in self.sent.items()},
            "at_scheduler": dict(self.at_scheduler),
            "at_workers": dict(self.at_workers),
            "n_closed": self.n_closed,
        }


@dataclass(frozen=True)
class Reading:
    """Bytes and calls up to a moment."""

    traffic: links.Traffic
    at_scheduler: Counter[str]
    at_workers: Counter[str]

    @classmethod
    def take(cls, client: "Client") -> "Reading":
        """Read everything, now."""
        found = client.run(read_worker)
        sockets, at_scheduler = client.run_on_scheduler(read_scheduler)
        processes = {f"{WORKER} {k}": found[address][0] for k, address in enumerate(sorted(found))}
        processes |= {SCHEDULER: sockets, CLIENT: links.read_sockets()}
        at_workers = sum((counts for _, counts in found.values()), Counter())
        return cls(links.Traffic(processes), at_scheduler, at_workers)

    def since(self, before: "Reading") -> Spent:
        """What was spent since then."""
        sent: Counter[Link] = Counter()
        for (sender, receiver), n_bytes in self.traffic.since(before.traffic).items():
            sent[role_of(sender), role_of(receiver)] += n_bytes
        at_scheduler, at_workers = self.at_scheduler - before.at_scheduler, self.at_workers - before.at_workers
        return Spent(sent, at_scheduler, at_workers, self.traffic.n_closed(before.traffic))


def begin(client: "Client") -> None:
    """Let the scheduler and all workers count their messages from now on."""
    client.run(calls.count_on_worker)
    client.run_on_scheduler(calls.count_on_scheduler)


def read_worker(dask_worker: Any) -> tuple[links.Received, Counter[str]]:
    """Sockets and messages of this worker."""
    return links.read_sockets(), Counter(dask_worker.benchmark_counts)


def read_scheduler(dask_scheduler: Any) -> tuple[links.Received, Counter[str]]:
    """Sockets of the scheduler's process, and messages."""
    return links.read_sockets(), Counter(dask_scheduler.benchmark_counts)


def role_of(process: str) -> str:
    """What a process is, without its number."""
    return process.split()[0]
