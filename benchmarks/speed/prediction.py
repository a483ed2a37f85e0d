"""Cases about prediction: raw scores of many rows at once, and of one row at a time."""

import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from typing import Any

from numpy.typing import NDArray

from benchmarks._lib.checks import Learning, learning_of, row_failure
from benchmarks._lib.comparison import MICRO, Plan, hold
from benchmarks._lib.peers import MAX_DEPTH, N_LEAVES, OURS, PEERS, Library
from benchmarks._lib.problems import Problem
from benchmarks._lib.timing import quiet, timed
from benchmarks._lib.verdicts import Figure, Outcome, Target, against_best, open_outcome

PATIENCE = 1.0  # seconds; a library that takes milliseconds for a row need not show it two thousand times


@dataclass(frozen=True)
class Predictor:
    """A trained model that is asked for scores."""

    library: Library
    model: Any
    learning: Learning
    n_threads: int

    @property
    def variant(self) -> dict[str, Any]:
        """The library's settings and its threads."""
        return self.library.settings | {"threads": self.n_threads}

    def score_all(self, X: NDArray[Any]) -> float:
        """Seconds for all rows at once."""
        return timed(lambda: self.library.raw_scores(self.model, X, self.n_threads), self.n_threads)[0]

    def score_singly(self, rows: Sequence[NDArray[Any]]) -> float:
        """The median of the seconds for each of these rows, or for as many as there is time for."""
        self.library.raw_scores(self.model, rows[0], self.n_threads)  # also sets the threads
        seconds: list[float] = []
        with quiet(self.n_threads):
            begin = time.perf_counter()
            for row in rows:
                start = time.perf_counter()
                self.library.row_scores(self.model, row, self.n_threads)
                seconds.append(time.perf_counter() - start)
                if start - begin > PATIENCE:
                    break
        return statistics.median(seconds)


@dataclass(frozen=True)
class Training:
    """What models learn before they predict: some of a problem's rows are enough."""

    problem: Problem
    n_samples: int
    n_rounds: int
    max_depth: int = MAX_DEPTH
    n_leaves: int = N_LEAVES


@cache
def models_of(kind: type[Library], training: Training, n_threads: int) -> list[tuple[Library, Any, Learning]]:
    """A model per variant of a library, trained once for all cases."""
    X, y = (array[: training.n_samples] for array in training.problem.load())
    found = []
    trees = kind.tree_settings(training.max_depth, training.n_leaves)
    for library in (kind({**trees, **variant}) for variant in kind.prediction_variants):
        model = library.fit(X, y, training.n_rounds, n_threads)
        found.append((library, model, learning_of(library, model, X, y, training.n_rounds, n_threads)))
    return found


@dataclass(frozen=True)
class PredictionCase:
    """Raw scores from a trained model, through each library's fastest public way."""

    name: str
    training: Training
    target: Target
    ours: type[Library] = OURS

    def run(self, plan: Plan) -> Outcome:
        """Predict with all libraries."""
        raise NotImplementedError

    def scaled_training(self, plan: Plan) -> Training:
        """The training at the size of the plan."""
        problem = plan.scale(self.training.problem)
        return replace(self.training, problem=problem, n_samples=min(self.training.n_samples, problem.n_samples // 4))

    def predictors(self, plan: Plan, kind: type[Library], threads: Iterable[int]) -> list[Predictor]:
        """A library's models, each on all these numbers of threads."""
        models = models_of(kind, self.scaled_training(plan), plan.n_threads)
        return [Predictor(*model, n_threads) for model, n_threads in product(models, threads)]


@dataclass(frozen=True)
class ManyRowsCase(PredictionCase):
    """Rows per second."""

    def title(self, plan: Plan) -> str:
        """What is measured."""
        plain = (self.training.max_depth, self.training.n_leaves) == (MAX_DEPTH, N_LEAVES)
        trees = "" if plain else f" of {self.training.n_leaves} leaves"
        votes = "" if self.ours is OURS else ", votes for every class"
        return f"prediction{votes}, {self.training.n_rounds} rounds{trees}, {plan.scale(self.training.problem).name}"

    def run(self, plan: Plan) -> Outcome:
        """Predict all rows at once with all libraries."""
        outcome, kinds = open_outcome("million rows per second", (self.ours, *PEERS))
        X = self.scaled_training(plan).problem.load()[0]
        ready = {kind.name: partial(self.predictors, plan, kind, [plan.n_threads]) for kind in kinds}
        found = hold(outcome, ready, lambda predictor: predictor.score_all(X), plan.repeats)
        for name, (predictor, seconds) in found.items():
            outcome.figures.append(Figure(name, len(X) / seconds / 1e6, predictor.variant, predictor.learning))
        outcome.verdicts.append(against_best(outcome, self.target, self.ours.name, best=max))
        return outcome


@dataclass(frozen=True)
class SingleRowCase(PredictionCase):
    """Latency of a call with one row; every library on as many threads as suits it."""

    def title(self, plan: Plan) -> str:
        """What is measured."""
        return f"prediction of a single row, {self.training.n_rounds} rounds, {self.training.problem.n_classes} classes"

    def run(self, plan: Plan) -> Outcome:
        """Predict row by row with all libraries."""
        outcome, kinds = open_outcome("µs per call", (OURS, *PEERS))
        X = self.scaled_training(plan).problem.load()[0]
        rows = [X[i : i + 1] for i in range(min(plan.n_calls, len(X)))]
        threads = sorted({1, plan.n_threads})
        ready = {kind.name: partial(self.predictors, plan, kind, threads) for kind in kinds}
        found = hold(outcome, ready, lambda predictor: predictor.score_singly(rows), plan.repeats)
        for name, (predictor, seconds) in found.items():
            failure = row_failure(predictor.library, predictor.model, X, predictor.n_threads)
            outcome.figures.append(Figure(name, MICRO * seconds, predictor.variant, predictor.learning, failure))
        outcome.verdicts.append(against_best(outcome, self.target, OURS.name))
        return outcome
