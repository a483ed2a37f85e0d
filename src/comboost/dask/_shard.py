"""The rows of one worker. In: steps of the fit. Out: sums over the rows of this worker and of those below it.

A shard is an actor of Dask: an object that lives on one worker. Shards form a tree. A step goes from parents to
children, and the answers come back added up, so each wire carries the same few histograms, the root's and one for
every split, however many workers there are.

A lost shard is made anew from its rows and from the steps taken. Steps are numbered, and a step that is asked for
again, because another shard was lost meanwhile, is answered but not taken again. Trees are numbered, too: who asks in
the name of an older one, such as a worker that was stopped and goes on, is refused.
"""

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from distributed import get_client, get_worker

from comboost._boosting.warm_start import RowDigest, digest_rows
from comboost._data.sample_weights import class_sums
from comboost._distributed.coding import CodedRows
from comboost._distributed.memory import worker_uses
from comboost._distributed.steps import Answer, PackedAnswer, ShardState, add, pack_answer, unpack, unpack_answer
from comboost._engine.binning import BinMapper
from comboost._engine.losses import Loss
from comboost._engine.memory_plan import FitShape
from comboost._engine.rows import ShardRows, TreeRules, make_grower
from comboost._estimators.threads import n_processors
from comboost._types import SUM, Sums
from comboost.dask._cluster import POLL_INTERVAL, check_worker_memory

ADVICE = (
    "use more workers, or workers with more memory, or fewer features, classes or bins (max_bins), or smaller trees "
    "(max_depth, max_leaf_nodes)"
)


@dataclass(frozen=True)
class ShardSettings:
    """What a shard must know beside its rows.

    Attributes
    ----------
    shape : FitShape
        The shape of the fit, which says how much memory it will take.
    bins : BinMapper
        The bins of the values.
    rules : TreeRules
        How a tree may grow.
    loss : Loss
        The loss.
    n_jobs : int or None
        Threads of every kernel, as in joblib; None is as many as the worker has.
    """

    shape: FitShape
    bins: BinMapper
    rules: TreeRules
    loss: Loss
    n_jobs: int | None


class ShardFacts(NamedTuple):
    """Where a shard is, and what tells its rows from others."""

    worker: str
    weight_sums: Sums  # of the classes
    code_sums: Sums  # of every feature: other rows would hardly have the same
    digest: RowDigest


class ChildShard(NamedTuple):
    """A shard to which another one passes steps on: the address of its worker, and how to call it."""

    worker: str
    actor: Any


class Shard:
    """The rows of one worker.

    Parameters
    ----------
    coded : list of CodedRows
        The rows.
    settings : ShardSettings
        What to know beside them.
    """

    def __init__(self, coded: list[CodedRows], settings: ShardSettings) -> None:
        settings = pickle.loads(pickle.dumps(settings, protocol=4))  # its arrays may have arrived at any address
        worker, n_classes = get_worker(), settings.shape.n_classes
        n_samples = sum(len(rows.labels) for rows in coded)
        check_worker_memory(f"The {n_samples} rows", worker_uses(settings.shape, n_samples), ADVICE)
        rows = CodedRows.join(coded)
        self._facts = ShardFacts(
            worker.address,
            class_sums(rows.labels, rows.weights, n_classes),
            rows.codes.sum(axis=1, dtype=SUM),
            digest_rows(rows.codes, rows.labels, rows.weights),
        )
        binned = ShardRows(
            rows.labels,
            rows.weights,
            settings.loss,
            rows.codes,
            make_grower(settings.bins, n_classes, settings.rules),
            threads_of(worker, settings.n_jobs),
        )
        self._state = ShardState(binned, best_first=settings.shape.limits.max_leaf_nodes is not None)
        self._children: list[ChildShard] = []
        self._tree_number = 0
        self._given_up = 0  # the last tree of shards that the client has given up
        self._last_number = 0
        self._last_answer: Answer = None

    def facts(self) -> ShardFacts:
        """What there is to say of this shard; also a sign that it lives."""
        return self._facts

    def set_children(self, tree_number: int, children: list[ChildShard]) -> None:
        """Pass the steps of a new tree of shards on to these."""
        if tree_number > self._tree_number:
            self._tree_number, self._children = tree_number, children

    async def give_up(self, tree_number: int) -> None:
        """Wait no longer for shards of this tree. Dask runs coroutines at once, even while a step is being taken."""
        self._given_up = max(self._given_up, tree_number)

    def replay(self, steps: list[bytes], number: int) -> None:
        """Take steps that others have taken already, up to a number."""
        for packed in steps:
            self._last_answer = unpack(packed).take(self._state)
        self._last_number = number

    def ask(self, tree_number: int, number: int, packed: bytes) -> PackedAnswer:
        """Take a step, here and in the shards below: their answers, added up and packed."""
        self._check_wanted(tree_number)
        # Those on other workers come first: they start at once, while one on this worker is done when called.
        asked = [call(child.actor, "ask", tree_number, number, packed) for child in self._children]
        step = unpack(packed)
        if not step.changes:
            answer = step.take(self._state)
        elif number < self._last_number:
            raise RuntimeError(
                f"Step {number} came after step {self._last_number}; it was asked for by one who has given up."
            )
        else:
            if number > self._last_number:
                self._last_answer = step.take(self._state)
                self._last_number = number
            answer = self._last_answer
        for child, future in zip(self._children, asked, strict=True):
            answer = add(answer, unpack_answer(self._answer_of_child(tree_number, child, future)))
        return pack_answer(answer)

    def _check_wanted(self, tree_number: int) -> None:
        if tree_number < self._tree_number or tree_number <= self._given_up:
            raise RuntimeError(f"The answers of tree {tree_number} of the shards are no longer waited for.")

    def _answer_of_child(self, tree_number: int, child: ChildShard, future: Any) -> Any:
        """What a call of a shard below gave; an error if its worker is gone, even if nobody hung up, or given up."""
        sign_of_life: Any = None

        def check() -> None:
            nonlocal sign_of_life
            self._check_wanted(tree_number)
            if child.worker not in get_client().nthreads():
                raise OSError(f"The worker at {child.worker} is gone.")
            # Another worker may be at this address by now. It would say that it knows no such shard.
            if sign_of_life is not None and sign_of_life.done():
                sign_of_life.result()
                sign_of_life = None
            sign_of_life = sign_of_life or call(child.actor, "facts")

        return wait_for_answer(future, check)


def call(actor: Any, method: str, *args: Any) -> Any:
    """Begin a call of an actor; an OSError if Dask has noticed that its worker is gone."""
    try:
        begin = getattr(actor, method)
    except ValueError as error:  # of an older Dask; a newer one raises RuntimeError
        raise ConnectionError(str(error)) from error
    return begin(*args)


def wait_for_answer(future: Any, check: Callable[[], None]) -> Any:
    """What a call of an actor gave; while there is no answer, check from time to time, which may raise."""
    while not future.done():
        try:
            return future.result(timeout=POLL_INTERVAL)
        except TimeoutError:
            if not future.done():
                check()
    return future.result()


def threads_of(worker: Any, n_jobs: int | None) -> int:
    """Threads that a worker's kernels run."""
    n_most = n_processors()
    if n_jobs is None:
        return max(1, min(int(worker.state.nthreads), n_most))
    return min(n_jobs, n_most) if n_jobs > 0 else max(1, n_most + 1 + n_jobs)
