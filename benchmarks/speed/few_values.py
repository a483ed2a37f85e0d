"""The cases about features of few values: time per round beside the peers, for both kinds of votes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks._lib.comparison import Plan
from benchmarks._lib.peers import OUR_KINDS, OURS, PEERS, Library, LightGBM, QuantisedLightGBM
from benchmarks._lib.problems import SEED
from benchmarks._lib.timing import take_turns
from benchmarks._lib.verdicts import Outcome, Target, Verdict, against_best, open_outcome
from benchmarks.speed.rounds import UNIT, Racer, race

N_TELLING = 12  # features that classes depend on
Rows = tuple[NDArray[np.float32], NDArray[np.int32]]


class BundlingLightGBM(LightGBM):
    """LightGBM, which bundles features that exclude each other."""

    name = "LightGBM, bundling"

    def params(self, n_threads: int) -> dict[str, Any]:
        """With its default."""
        return super().params(n_threads) | {"enable_bundle": True}


class BundlingQuantisedLightGBM(BundlingLightGBM, QuantisedLightGBM):
    """The same with gradients of a few bits."""

    name = "LightGBM quantised, bundling"


class FewValued(Protocol):
    """A problem whose features have few values."""

    name: str

    @property
    def settings(self) -> Mapping[str, Any]:
        """What ours is told besides."""

    def load(self) -> Rows:
        """X and y, in memory; OSError if they are not there."""

    def scaled(self, share: float) -> "FewValued":
        """The same with fewer rows."""


@dataclass(frozen=True)
class Connect4:
    """The positions of connect-4: three values, three classes."""

    share: float = 1.0

    @property
    def settings(self) -> Mapping[str, Any]:
        """Nothing is set."""
        return {}

    @property
    def name(self) -> str:
        """The shape in words."""
        return f"connect-4, {int(67_557 * self.share):_} × 42, 3 classes".replace("_", " ")

    def scaled(self, share: float) -> "Connect4":
        """Only so many of its rows."""
        return Connect4(self.share * share)

    def load(self) -> Rows:
        """Rows in random order: the file is sorted, and whether models learned is looked up in the first rows."""
        from comboost.datasets import load_connect4

        X, words = load_connect4(return_X_y=True)
        y = np.unique(words, return_inverse=True)[1]
        drawn = np.random.default_rng(SEED).permutation(len(y))[: int(len(y) * self.share)]
        return np.ascontiguousarray(X[drawn], dtype=np.float32), y[drawn].astype(np.int32)


@dataclass(frozen=True)
class Discrete:
    """Random values, and classes that depend on sums and products of some of them; ours may take them as categories."""

    kind: str
    n_samples: int
    n_values: tuple[int, ...]
    n_classes: int
    as_categories: bool = False

    @property
    def name(self) -> str:
        """The shape in words."""
        return f"{self.kind}, {self.n_samples:_} × {len(self.n_values)}, {self.n_classes} classes".replace("_", " ")

    @property
    def settings(self) -> Mapping[str, Any]:
        """Which features are categories to us; to the peers they are numbers, which is quicker for all of them."""
        return {"categorical_features": list(range(len(self.n_values)))} if self.as_categories else {}

    def scaled(self, share: float) -> "Discrete":
        """The same with fewer rows."""
        return replace(self, n_samples=int(self.n_samples * share))

    def load(self) -> Rows:
        """The same for every run."""
        random = np.random.default_rng(SEED)
        X = random.integers(0, self.n_values, (self.n_samples, len(self.n_values))).astype(np.float32)
        telling = np.column_stack([X[:, :N_TELLING], X[:, :1] * X[:, 1:2]])
        worth = telling @ random.normal(size=(telling.shape[1], self.n_classes)).astype(np.float32)
        return X, (worth - worth.mean(axis=0)).argmax(axis=1).astype(np.int32)


@dataclass(frozen=True)
class FewValuesCase:
    """Time per round beside the peers, which take their fastest settings."""

    name: str
    problem: FewValued
    target: Target

    def title(self, plan: Plan) -> str:
        """What is measured."""
        return f"time per round, {self._scaled(plan).name}"

    def run(self, plan: Plan) -> Outcome:
        """Race all libraries; without the data there is but a reason."""
        problem = self._scaled(plan)
        try:
            problem.load()
        except OSError as error:
            reason = f"skipped: {str(error).splitlines()[0]}"
            return Outcome(UNIT, verdicts=[Verdict(f"{OURS.name} / best peer", self.target, None, reason)])
        outcome, kinds = open_outcome(UNIT, (*OUR_KINDS, *PEERS, BundlingLightGBM, BundlingQuantisedLightGBM))
        entries = take_turns({kind.name: partial(self._enter, kind, problem, plan.n_threads) for kind in kinds})
        race(outcome, {name: racer for name, (racer,) in outcome.keep(entries).items()}, plan)
        ours = {kind.name for kind in OUR_KINDS}
        for name in sorted(ours):
            beside = replace(outcome, figures=[f for f in outcome.figures if f.name == name or f.name not in ours])
            outcome.verdicts.append(against_best(beside, self.target, name))
        return outcome

    def _scaled(self, plan: Plan) -> FewValued:
        return self.problem.scaled(0.1) if plan.quick else self.problem

    def _enter(self, kind: type[Library], problem: FewValued, n_threads: int) -> Racer:
        changed = problem.settings if kind in OUR_KINDS else {}
        return Racer.enter(kind, problem, n_threads, **changed)  # type: ignore[arg-type]
