"""Who called whom. In: the servers of Dask, which are its scheduler and its workers. Out: messages, by their names."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from distributed.diagnostics.plugin import SchedulerPlugin

if TYPE_CHECKING:
    from distributed import Scheduler, Worker
    from distributed.core import Server

#: What is sent by the clock, not by a fit.
BY_THE_CLOCK = frozenset({"heartbeat_worker", "heartbeat-client", "keep-alive", "identity"})
TRANSITIONS = "transitions of tasks"


class CountedHandlers(dict[str, Any]):
    """Handlers of messages, which a server looks up once for every message."""

    def __init__(self, handlers: Mapping[str, Any], counts: Counter[str]) -> None:
        super().__init__(handlers)
        self.counts = counts

    def __getitem__(self, name: str) -> Any:
        """The handler, counted."""
        self.counts[name] += 1
        return super().__getitem__(name)


def count_messages(server: "Server") -> Counter[str]:
    """Count the messages that a server receives from now on."""
    counts: Counter[str] = Counter()
    server.handlers = CountedHandlers(server.handlers, counts)
    server.stream_handlers = CountedHandlers(server.stream_handlers, counts)
    return counts


class Transitions(SchedulerPlugin):
    """Counts the changes of tasks' states."""

    def __init__(self, counts: Counter[str]) -> None:
        self.counts = counts

    def transition(self, key: Any, start: str, finish: str, *args: Any, **kwargs: Any) -> None:
        """One more."""
        self.counts[TRANSITIONS] += 1


def count_on_worker(dask_worker: "Worker") -> None:
    """Let this worker count its messages from now on."""
    dask_worker.benchmark_counts = count_messages(dask_worker)


def count_on_scheduler(dask_scheduler: "Scheduler") -> None:
    """Let the scheduler count its messages and its tasks' transitions from now on."""
    dask_scheduler.benchmark_counts = count_messages(dask_scheduler)
    dask_scheduler.add_plugin(Transitions(dask_scheduler.benchmark_counts))
