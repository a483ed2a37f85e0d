"""Detection of workers that no longer send heartbeats.

A separate thread of every worker sends heartbeats, every half second to a few seconds. A busy worker therefore keeps
sending them, however long its step takes; one that is stopped, swapped out or disconnected does not.
"""

from collections.abc import Mapping

SHORTEST_LIMIT = 10.0  # seconds without a heartbeat that are always tolerated
PATIENCE_FACTOR = 3  # tolerated silence, as a multiple of the longest silence that ended
MAX_PAUSE = 4.0  # seconds of silence, at most, that two consecutive updates add


class Heartbeats:
    """Time since the last heartbeat of every worker.

    A worker counts as lost after ``timeout`` seconds without a heartbeat. None adapts: every false alarm triples the
    limit, so that the same worker is not abandoned repeatedly.
    """

    def __init__(self, timeout: float | None) -> None:
        self._timeout = timeout
        self._last: dict[str, float] = {}  # by the clock of the scheduler, which is only compared with itself
        self._silence: dict[str, float] = {}  # seconds
        self._longest = 0.0  # silence that ended
        self._updated = 0.0

    @property
    def limit(self) -> float:
        """Seconds of silence that are tolerated."""
        return max(SHORTEST_LIMIT, PATIENCE_FACTOR * self._longest) if self._timeout is None else self._timeout

    def update(self, received: Mapping[str, float], now: float) -> None:
        """Record when the scheduler received the last heartbeat of every worker.

        An update adds a few seconds of silence at most, however long ago the previous one was: after a pause of the
        scheduler or of this process, heartbeats may still be in transit.
        """
        passed, limit = min(now - self._updated, MAX_PAUSE), self.limit
        for worker, silence in self._silence.items():
            if worker in received and received[worker] != self._last[worker]:
                self._longest = max(self._longest, min(silence, limit))
        self._silence = {
            worker: self._silence[worker] + passed if self._last.get(worker) == time else 0.0
            for worker, time in received.items()
        }
        self._last, self._updated = dict(received), now

    def silent(self, times: float = 1.0) -> set[str]:
        """Return the workers that have been silent for longer than ``times`` the limit.

        Empty if all workers are silent: none could take over their work, and all may be importing modules, which can
        block heartbeats.
        """
        silent = {worker: silence for worker, silence in self._silence.items() if silence > self.limit}
        if len(silent) == len(self._silence):
            return set()
        return {worker for worker, silence in silent.items() if silence > times * self.limit}
