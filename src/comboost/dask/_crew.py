"""The shards of a fit, on their workers. In: steps. Out: answers for all rows, whichever workers are lost meanwhile."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from dask.delayed import Delayed
from distributed import CancelledError, Future

from comboost._dtypes import Sums
from comboost._origin import RowDigest
from comboost.dask._cluster import Cluster, ClusterError
from comboost.dask._shard import Advance, Answer, Found, Shard, ShardSettings, Step, answer_of
from comboost.dask._survey import Home

T = TypeVar("T")

FAN_OUT = 4  # children of a shard: more would queue at its wire, fewer make the tree deep
SLACK = 1.1  # a worker keeps parts that it has read up to this much more than its share
TRIES = 5  # of one step

#: What a call of an actor raises where its worker is gone, or was replaced by one that does not know it.
CONNECTION_ERRORS = (OSError, RuntimeError, KeyError, CancelledError)


class LostShardError(Exception):
    """A shard does not answer, or not well."""


@dataclass(frozen=True)
class Hand:
    """One shard: the parts that it holds, and how to reach it."""

    places: list[int]
    future: Future
    actor: Any
    found: Found

    @property
    def worker(self) -> str:
        """The address of its worker."""
        return self.found.worker


class Crew:
    """The shards of a fit.

    Parameters
    ----------
    cluster : Cluster
        The cluster.
    coded : dict of int to Delayed
        The coded rows of every part that has any.
    homes : list of Home
        Where these parts were read.
    settings : ShardSettings
        What every shard must know.
    """

    def __init__(
        self, cluster: Cluster, coded: Mapping[int, Delayed], homes: Sequence[Home], settings: ShardSettings
    ) -> None:
        self._cluster = cluster
        self._coded = coded
        self._homes = homes
        self._settings = settings
        self._hands: list[Hand] = []
        self._hiring: list[Future] = []  # shards that are being made
        self._is_whole = False
        self._first_sums: Sums | None = None  # of classes and codes
        self._number = 0
        self._advances: list[Advance] = []  # of all rounds
        self._steps: list[Step] = []  # of the tree that is being grown
        try:
            self._until_whole(lambda: None)
        except BaseException:
            self.close()
            raise

    @property
    def masses(self) -> Sums:
        """The summed weight of every class."""
        masses: Sums = np.sum([hand.found.masses for hand in self._hands], axis=0)
        return masses

    @property
    def digest(self) -> RowDigest:
        """A digest of all rows."""
        digest = RowDigest(0, 0)
        for hand in self._hands:
            digest = digest.joined(hand.found.digest)
        return digest

    def ask(self, step: Step) -> Answer:
        """Take a step in all shards: their answers, added up."""
        self._number += 1
        answer: Answer = self._until_whole(lambda: self._ask_root(step))
        if isinstance(step, Advance):
            self._advances.append(step)
            self._steps = []
        elif step.changes:
            self._steps.append(step)
        return answer

    def _ask_root(self, step: Step) -> Answer:
        ask = partial(call, self._hands[0].actor, "ask", self._number, step)
        answer: Answer = self._result(ask, [hand.future for hand in self._hands])
        return answer

    def ask_sums(self, step: Step) -> Sums:
        """Take a step whose answer is an array."""
        answer = self.ask(step)
        assert isinstance(answer, np.ndarray)
        return answer

    def close(self) -> None:
        """Let go of the shards, so that their workers have their memory back."""
        futures = [*self._hiring, *(hand.future for hand in self._hands)]
        self._hands, self._hiring = [], []
        self._cluster.cancel(futures)

    def _until_whole(self, act: Callable[[], T]) -> T:
        """Act with all shards; where some are lost, make them anew and act again."""
        for n_tries in range(1, TRIES + 1):
            try:
                if not self._is_whole:
                    self._make_whole()
                return act()
            except LostShardError as error:
                self._is_whole = False
                if n_tries == TRIES:
                    raise ClusterError(
                        f"The fit was given up after {TRIES} tries of one step, each of which lost a worker or failed "
                        f"on one, the last with: {error}. Look into the workers' logs; often it is memory."
                    ) from error
        raise AssertionError("unreachable")

    def _make_whole(self) -> None:
        """Make lost shards anew, with their rows and all steps so far, and put all into a tree."""
        alive = [hand for hand in self._hands if self._is_alive(hand)]
        self._cluster.cancel([*self._hiring, *(hand.future for hand in self._hands if hand not in alive)])
        self._hands, self._hiring = alive, []
        workers = self._cluster.wait_for_workers()
        held = {place for hand in alive for place in hand.places}
        loads = {worker: sum(self._n_rows(hand) for hand in alive if hand.worker == worker) for worker in workers}
        places_of = share_out([home for home in self._homes if home.place not in held], workers, loads)
        self._hands += self._hire(places_of)
        self._check_same_rows()
        self._link_all()
        self._is_whole = True

    def _check_same_rows(self) -> None:
        """Raise where rows that were read again are other ones."""
        sums = np.concatenate([self.masses, np.sum([hand.found.code_sums for hand in self._hands], axis=0)])
        if self._first_sums is None:
            self._first_sums = sums
        elif not np.array_equal(sums, self._first_sums):
            raise changed_rows_error("a worker was lost and its rows were read again")

    def _is_alive(self, hand: Hand) -> bool:
        try:
            self._result(partial(call, hand.actor, "found"), [hand.future])
        except LostShardError:
            return False
        return True

    def _n_rows(self, hand: Hand) -> int:
        return sum(home.n_rows for home in self._homes if home.place in hand.places)

    def _hire(self, places_of: Mapping[str, list[int]]) -> list[Hand]:
        """Make shards of parts, each on a worker if that lives, and on another one otherwise."""
        client = self._cluster.client
        coded = {}
        for worker, places in places_of.items():
            delayed = [self._coded[place] for place in places]
            coded[worker] = client.compute(delayed, workers=[worker], allow_other_workers=True)
        self._cluster.finish([future for futures in coded.values() for future in futures])
        self._hiring = [
            client.submit(
                Shard, futures, self._settings, actor=True, pure=False, workers=[worker], allow_other_workers=True
            )
            for worker, futures in coded.items()
        ]
        self._cluster.wait(self._hiring)
        steps = [*without_roots(self._advances), *self._steps]
        hands = []
        for places, future in zip(places_of.values(), self._hiring, strict=True):
            actor = self._actor(future)
            hands.append(Hand(places, future, actor, self._result(partial(call, actor, "found"), [future])))
        del coded  # the shards have the rows now
        self._results([partial(call, hand.actor, "catch_up", steps, self._number - 1) for hand in hands], hands)
        self._hiring = []
        return hands

    def _actor(self, future: Future) -> Any:
        try:
            return future.result()
        except CancelledError as error:
            raise LostShardError("a shard was lost while it was made") from error

    def _link_all(self) -> None:
        """Tell every shard which ones are below it.

        A worker runs its actors in one thread, those of other fits too. So shards wait only for those on workers with
        larger addresses, or on their own, which they run themselves: no worker waits for another that waits for it.
        """
        by_worker: dict[str, list[Hand]] = defaultdict(list)
        for hand in sorted(self._hands, key=lambda hand: hand.worker):
            by_worker[hand.worker].append(hand)
        self._hands = [hand for hands in by_worker.values() for hand in hands]
        leads = [hands[0] for hands in by_worker.values()]
        below: list[tuple[Hand, list[Hand]]] = []
        for i, (lead, *others) in enumerate(by_worker.values()):
            below.append((lead, [*leads[FAN_OUT * i + 1 : FAN_OUT * (i + 1) + 1], *others]))
            below += [(hand, []) for hand in others]
        adopt = [
            partial(call, hand.actor, "adopt", [(child.worker, child.actor) for child in children])
            for hand, children in below
        ]
        self._results(adopt, self._hands)

    def _results(self, calls: Sequence[Callable[[], Any]], hands: Sequence[Hand]) -> None:
        """Call several actors at once, and wait for all."""
        futures = [hand.future for hand in hands]
        begun = [self._begin(start, futures) for start in calls]
        for future in begun:
            self._finish(future, futures)

    def _result(self, start: Callable[[], Any], needed: Sequence[Future]) -> Any:
        """What a call of an actor gives, for which some shards are needed."""
        return self._finish(self._begin(start, needed), needed)

    def _begin(self, start: Callable[[], Any], needed: Sequence[Future]) -> Any:
        self._check_alive(needed)
        try:
            return start()
        except CONNECTION_ERRORS as error:
            raise LostShardError(str(error)) from error

    def _finish(self, future: Any, needed: Sequence[Future]) -> Any:
        try:
            return answer_of(future, lambda: self._check_alive(needed))
        except CONNECTION_ERRORS as error:
            raise LostShardError(str(error)) from error

    def _check_alive(self, needed: Sequence[Future]) -> None:
        if any(future.status != "finished" for future in needed):
            raise LostShardError("a worker with a shard is gone")


def call(actor: Any, method: str, *arguments: Any) -> Any:
    """Call a method of an actor, which runs elsewhere."""
    return getattr(actor, method)(*arguments)


def changed_rows_error(when: str) -> ClusterError:
    """What to do about rows that change."""
    return ClusterError(
        f"The collection gives other rows each time it is computed, as was seen when {when}; give X.persist() and "
        "y.persist(), or a source that does not change."
    )


def without_roots(advances: Sequence[Advance]) -> list[Step]:
    """Rounds to take again: only the last needs its histogram."""
    earlier = [Advance(step.vote, step.unit, step.exponent, with_root=False) for step in advances[:-1]]
    return [*earlier, *advances[-1:]]


def share_out(
    homes: Sequence[Home], workers: Mapping[str, int], loads: Mapping[str, int] | None = None
) -> dict[str, list[int]]:
    """Which worker holds which parts: the one that read them, unless it would have much more than its share.

    Parameters
    ----------
    homes : list of Home
        The parts.
    workers : dict of str to int
        The threads of every worker; shares go by them.
    loads : dict of str to int, optional
        The rows that workers hold already.

    Returns
    -------
    dict of str to list of int
        The numbers of the parts by worker, for those that have any.
    """
    n_rows = {worker: (loads or {}).get(worker, 0) for worker in workers}
    share = SLACK * (sum(n_rows.values()) + sum(home.n_rows for home in homes)) / sum(workers.values())
    places: dict[str, list[int]] = defaultdict(list)
    for home in sorted(homes, key=lambda home: (-home.n_rows, home.place)):
        after = {worker: (n_rows[worker] + home.n_rows) / threads for worker, threads in workers.items()}
        least = min(after, key=lambda worker: after[worker])
        stays = home.worker in after and after[home.worker] <= max(share, after[least])
        worker = home.worker if stays else least
        places[worker].append(home.place)
        n_rows[worker] += home.n_rows
    return places
