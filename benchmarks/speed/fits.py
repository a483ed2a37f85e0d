"""Cases about whole fits from plain arrays: the time of a small one, the memory of a large one."""

from dataclasses import asdict, dataclass
from functools import partial
from itertools import product

from benchmarks._lib.checks import learning_of
from benchmarks._lib.comparison import MILLI, Plan, hold
from benchmarks._lib.peers import OURS, PEERS, AdaBoost, ConfusionBoosting, Library
from benchmarks._lib.problems import Problem
from benchmarks._lib.timing import take_turns, timed
from benchmarks._lib.verdicts import Figure, Outcome, Target, against_best, compare, open_outcome
from benchmarks.speed.footprint import Footprint, footprint_of


@dataclass(frozen=True)
class SmallFitCase:
    """Time of a whole fit. Peers have as many threads as suits them, ours has its default of one."""

    name: str
    problem: Problem
    n_rounds: int
    target: Target
    adaboost_target: Target

    def title(self, plan: Plan) -> str:
        """What is measured."""
        return f"whole fit, {self.problem.name}, {self.n_rounds} rounds"

    def run(self, plan: Plan) -> Outcome:
        """Fit with all libraries."""
        outcome, kinds = open_outcome("ms", (OURS, *PEERS, AdaBoost))
        X, y = self.problem.load()

        def candidates_of(kind: type[Library]) -> list[tuple[Library, int]]:
            threads = [1] if kind is OURS else sorted({1, plan.n_threads})
            return list(product(map(kind, kind.training_variants), threads))

        def seconds_of(candidate: tuple[Library, int]) -> float:
            library, n_threads = candidate
            return timed(lambda: library.fit(X, y, self.n_rounds, n_threads), n_threads)[0]

        ready = {kind.name: partial(candidates_of, kind) for kind in kinds}
        for name, ((library, n_threads), seconds) in hold(outcome, ready, seconds_of, 3 * plan.repeats).items():
            model = library.fit(X, y, self.n_rounds, n_threads)
            learning = learning_of(library, model, X, y, self.n_rounds, n_threads)
            variant = library.settings | {"threads": n_threads}
            outcome.figures.append(Figure(name, MILLI * seconds, variant, learning))
        figures = outcome.figure(OURS.name), outcome.figure(AdaBoost.name)
        outcome.verdicts.append(against_best(outcome, self.target, OURS.name))
        outcome.verdicts.append(compare(f"{OURS.name} / {AdaBoost.name}", self.adaboost_target, *figures))
        return outcome


@dataclass(frozen=True)
class MemoryCase:
    """Peak memory of a fit over its input, in the most frugal variant of every library."""

    name: str
    problem: Problem
    n_rounds: int
    target: Target

    def title(self, plan: Plan) -> str:
        """What is measured."""
        return f"peak memory over the input, {plan.scale(self.problem).name}, {self.n_rounds} rounds"

    def run(self, plan: Plan) -> Outcome:
        """Fit in fresh processes."""
        outcome, kinds = open_outcome("MiB", (OURS, *PEERS))
        problem = plan.scale(self.problem)

        def frugal(kind: type[Library]) -> tuple[Library, Footprint]:
            variants = [kind(settings) for settings in kind.training_variants[: 1 if plan.quick else None]]
            found = [(library, footprint_of(library, problem, self.n_rounds, plan.n_threads)) for library in variants]
            outcome.raw[kind.name] = [{"variant": library.settings, **asdict(one)} for library, one in found]
            return min(found, key=lambda pair: pair[1].over_input)

        turns = take_turns({kind.name: partial(frugal, kind) for kind in kinds})
        for name, ((library, footprint),) in outcome.keep(turns).items():
            mebibytes = footprint.over_input / 2**20
            outcome.figures.append(Figure(name, mebibytes, library.settings, footprint.learning))
        outcome.verdicts.append(against_best(outcome, self.target, OURS.name))
        return outcome


@dataclass(frozen=True)
class ManyClassesCase:
    """Peak memory of a fit with many classes, its input and the Python around it included, beside a limit."""

    name: str
    problem: Problem
    n_rounds: int
    limit: float  # MiB
    target: Target

    def title(self, plan: Plan) -> str:
        """What is measured."""
        return f"peak memory, {self.problem.name}, {self.n_rounds} rounds"

    def run(self, plan: Plan) -> Outcome:
        """Fit in a fresh process; a plan with fewer rows would have too few of every class."""
        outcome = Outcome("MiB")
        footprint = footprint_of(ConfusionBoosting(), self.problem, self.n_rounds, plan.n_threads)
        outcome.raw[ConfusionBoosting.name] = asdict(footprint)
        outcome.figures.append(Figure(ConfusionBoosting.name, footprint.peak / 2**20, {}, footprint.learning))
        limit = Figure(f"{self.limit:.0f} MiB", self.limit)
        outcome.verdicts.append(compare(f"peak / {limit.name}", self.target, outcome.figures[0], limit))
        return outcome
