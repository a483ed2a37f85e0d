"""Which workers have fallen silent. In: when the scheduler last heard of each. Out: those that count as lost.

A thread of its own sends the heartbeats of a worker, every half second to a few seconds. So a worker that is busy,
however long its step takes, is heard of, and one that is stopped, swapped out or cut off is not.
"""

from collections.abc import Mapping

SHORTEST_LIMIT = 10.0  # seconds without a heartbeat that any worker may take
PATIENCE_FACTOR = 3  # what is allowed, in terms of the longest silence that ended
LONGEST_PAUSE = 4.0  # seconds of silence, at most, that one look after another can tell of


class Heartbeats:
    """How long each worker has been silent.

    Parameters
    ----------
    timeout : float or None
        Seconds of silence after which a worker counts as lost. None is what follows from the silences that ended:
        a false alarm makes the limit three times as long, so that nobody is given up again and again.
    """

    def __init__(self, timeout: float | None) -> None:
        self._timeout = timeout
        self._heard: dict[str, float] = {}  # by the clock of the scheduler, which is only compared with itself
        self._silence: dict[str, float] = {}  # seconds
        self._longest = 0.0  # silence that ended
        self._looked = 0.0

    @property
    def limit(self) -> float:
        """Seconds of silence that a worker may take."""
        return max(SHORTEST_LIMIT, PATIENCE_FACTOR * self._longest) if self._timeout is None else self._timeout

    def look(self, heard: Mapping[str, float], now: float) -> None:
        """Take note of when the scheduler last heard of every worker.

        However long ago the last look was, it tells of a few seconds only: after a pause of the scheduler, or of this
        process, heartbeats may be on their way.
        """
        passed, limit = min(now - self._looked, LONGEST_PAUSE), self.limit
        for worker, silence in self._silence.items():
            if worker in heard and heard[worker] != self._heard[worker]:
                self._longest = max(self._longest, min(silence, limit))
        self._silence = {
            worker: self._silence[worker] + passed if self._heard.get(worker) == time else 0.0
            for worker, time in heard.items()
        }
        self._heard, self._looked = dict(heard), now

    def silent(self, times: float = 1.0) -> set[str]:
        """The workers that have been silent for longer than the limit, or than that many times the limit.

        Nobody if all are: nobody could do their work, and they may all be importing, which can block heartbeats.
        """
        silent = {worker: silence for worker, silence in self._silence.items() if silence > self.limit}
        if len(silent) == len(self._silence):
            return set()
        return {worker for worker, silence in silent.items() if silence > times * self.limit}
