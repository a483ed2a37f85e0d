"""Cases about the time per round: beside the peers, on more threads, on larger problems, beside the limit."""

from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from statistics import median
from typing import Any

from benchmarks._lib.checks import learning_of
from benchmarks._lib.comparison import MILLI, Plan
from benchmarks._lib.peers import OURS, PEERS, ConfusionBoosting, Library
from benchmarks._lib.problems import Problem
from benchmarks._lib.timing import Rounds, fastest, probe_rounds, rounds_of, take_turns
from benchmarks._lib.verdicts import Figure, Outcome, Target, against_best, compare, open_outcome
from benchmarks.speed.limit import counted_rows, time_bare_loop
from benchmarks.speed.native import build_bare_histogram

UNIT = "ms per round"
BARE_LOOP = "bare loop"


@dataclass
class Racer:
    """A library on its way through rounds: its variant, its data, its times and its last model."""

    library: Library
    problem: Problem
    n_threads: int
    data: Any
    rounds: Rounds
    model: Any = None

    @classmethod
    def enter(cls, kind: type[Library], problem: Problem, n_threads: int, **changed: Any) -> "Racer":
        """Prepare the data and take the fastest of the variants, with these settings changed."""
        data = kind().prepare(*problem.load(), n_threads)
        variants = [kind({**settings, **changed}) for settings in kind.training_variants]
        library = fastest(variants, lambda variant: probe_rounds(variant, data, n_threads))
        return cls(library, problem, n_threads, data, rounds_of(library))

    def lap(self, n_rounds: int) -> None:
        """Time the rounds of a fit."""
        self.model = self.rounds.measure(self.library, self.data, n_rounds, self.n_threads)

    def figure(self, name: str, n_rounds: int) -> Figure:
        """Milliseconds per round, and what the last model learned."""
        learning = learning_of(self.library, self.model, *self.problem.load(), n_rounds, self.n_threads)
        return Figure(name, MILLI * self.rounds.seconds, self.library.settings, learning)


def race(outcome: Outcome, racers: dict[str, Racer], plan: Plan) -> None:
    """Let racers take turns, and add their figures to the outcome."""
    laps = {name: partial(racer.lap, plan.n_rounds) for name, racer in racers.items()}
    finished = outcome.keep(take_turns(laps, plan.repeats))
    outcome.raw |= {name: asdict(racers[name].rounds) for name in finished}
    outcome.figures += [racers[name].figure(name, plan.n_rounds) for name in finished]


@dataclass(frozen=True)
class RoundsCase:
    """Time per round beside the peers."""

    name: str
    problem: Problem
    target: Target

    def title(self, plan: Plan) -> str:
        """What is measured."""
        return f"time per round, {plan.scale(self.problem).name}"

    def run(self, plan: Plan) -> Outcome:
        """Race all libraries."""
        outcome, kinds = open_outcome(UNIT, (OURS, *PEERS))
        problem = plan.scale(self.problem)
        entries = take_turns({kind.name: partial(Racer.enter, kind, problem, plan.n_threads) for kind in kinds})
        race(outcome, {name: racer for name, (racer,) in outcome.keep(entries).items()}, plan)
        outcome.verdicts.append(against_best(outcome, self.target, OURS.name))
        return outcome


@dataclass(frozen=True)
class ThreadsCase:
    """Our time per round on one thread and on two, whatever the run's own number of threads."""

    name: str
    problem: Problem
    target: Target

    def title(self, plan: Plan) -> str:
        """What is measured."""
        return f"2 threads against 1, {plan.scale(self.problem).name}"

    def run(self, plan: Plan) -> Outcome:
        """Race ours against itself."""
        outcome = Outcome(UNIT)
        one, two = "1 thread", "2 threads"
        problem = plan.scale(self.problem)
        race(outcome, {name: Racer.enter(OURS, problem, n) for name, n in ((one, 1), (two, 2))}, plan)
        outcome.verdicts.append(compare(f"{one} / {two}", self.target, outcome.figure(one), outcome.figure(two)))
        return outcome


@dataclass(frozen=True)
class VotesCase:
    """Our time per round with votes for every class beside that with votes for one, at the same depth and bins."""

    name: str
    problem: Problem
    max_depth: int
    target: Target

    def title(self, plan: Plan) -> str:
        """What is measured."""
        return f"votes for every class, depth {self.max_depth}, {plan.scale(self.problem).name}"

    def run(self, plan: Plan) -> Outcome:
        """Race ours against itself."""
        outcome = Outcome(UNIT)
        entry = plan.scale(self.problem), plan.n_threads
        kinds = (ConfusionBoosting, OURS)
        race(outcome, {kind.name: Racer.enter(kind, *entry, max_depth=self.max_depth) for kind in kinds}, plan)
        figures = [outcome.figure(kind.name) for kind in kinds]
        outcome.verdicts.append(compare("every class / one class", self.target, *figures))
        return outcome


@dataclass(frozen=True)
class GrowthCase:
    """Our time per round on problems of which each is twice the one before, in one way."""

    name: str
    problems: tuple[Problem, ...]
    target: Target

    def title(self, plan: Plan) -> str:
        """What is measured."""
        return "growth, " + " → ".join(plan.scale(problem).name for problem in self.problems)

    def run(self, plan: Plan) -> Outcome:
        """Race ours against itself."""
        outcome = Outcome(UNIT)
        problems = [plan.scale(problem) for problem in self.problems]
        race(outcome, {problem.name: Racer.enter(OURS, problem, plan.n_threads) for problem in problems}, plan)
        for small, large in pairwise(problem.name for problem in problems):
            figures = outcome.figure(large), outcome.figure(small)
            outcome.verdicts.append(compare(f"({large}) / ({small})", self.target, *figures))
        return outcome


@dataclass(frozen=True)
class LimitCase:
    """Our time per round beside a loop that does nothing but a round's additions."""

    name: str
    problem: Problem
    target: Target

    def title(self, plan: Plan) -> str:
        """What is measured."""
        return f"distance to a bare histogram loop, {plan.scale(self.problem).name}"

    def run(self, plan: Plan) -> Outcome:
        """Let ours and the loop take turns."""
        outcome = Outcome(UNIT)
        racer = Racer.enter(OURS, plan.scale(self.problem), plan.n_threads)
        racer.lap(plan.n_rounds)
        X, y = racer.problem.load()
        n_counted = counted_rows(racer.model._forest, X)
        size = X.shape, int(y.max()) + 1, n_counted, plan.n_threads, plan.n_rounds
        loop = partial(time_bare_loop, build_bare_histogram(), *size)
        turns = take_turns({OURS.name: partial(racer.lap, plan.n_rounds), BARE_LOOP: loop}, plan.repeats)
        passes = outcome.keep(turns).get(BARE_LOOP, [])
        outcome.raw |= {OURS.name: asdict(racer.rounds), BARE_LOOP: passes, "n_counted": n_counted}
        outcome.figures.append(racer.figure(OURS.name, plan.n_rounds))
        outcome.figures += [Figure(BARE_LOOP, MILLI * min(map(median, passes)))] if passes else []
        outcome.notes.append(f"a round counts {n_counted / len(X):.2f} times the rows")
        figures = outcome.figure(OURS.name), outcome.figure(BARE_LOOP)
        outcome.verdicts.append(compare(f"{OURS.name} / {BARE_LOOP}", self.target, *figures))
        return outcome
