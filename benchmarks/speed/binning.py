"""The case about binning: time from an array to the library's own binned form."""

from dataclasses import dataclass
from functools import partial

from benchmarks._lib.checks import binning_failure
from benchmarks._lib.comparison import MILLI, Plan, hold
from benchmarks._lib.peers import OURS, PEERS, Library
from benchmarks._lib.problems import Problem
from benchmarks._lib.timing import timed
from benchmarks._lib.verdicts import Figure, Outcome, Target, against_best, open_outcome


@dataclass(frozen=True)
class BinningCase:
    """Binning of all features, with the edges looked for."""

    name: str
    problem: Problem
    dtype: str
    target: Target

    def title(self, plan: Plan) -> str:
        """What is measured."""
        problem = plan.scale(self.problem)
        return f"binning, {problem.n_samples} × {problem.n_features} {self.dtype}"

    def run(self, plan: Plan) -> Outcome:
        """Bin with all libraries."""
        outcome, kinds = open_outcome("ms", (OURS, *PEERS))
        X = plan.scale(self.problem).load()[0].astype(self.dtype)

        def variants_of(kind: type[Library]) -> list[Library]:
            return [kind(settings) for settings in kind.binning_variants]

        def seconds_of(library: Library) -> float:
            return timed(lambda: library.bin(X, plan.n_threads), plan.n_threads)[0]

        found = hold(outcome, {kind.name: partial(variants_of, kind) for kind in kinds}, seconds_of, plan.repeats)
        for name, (library, seconds) in found.items():
            outcome.figures.append(Figure(name, MILLI * seconds, library.settings))
        if (ours := outcome.figure(OURS.name)) is not None:
            ours.failure = binning_failure(OURS().bin(X, plan.n_threads), X)
        outcome.verdicts.append(against_best(outcome, self.target, OURS.name))
        return outcome
