"""Cases about trees of many leaves: what a leaf costs, beside that of a shallow tree and beside a peer's.

The time per leaf is that of a round over the leaves of all its trees: ours grows one tree a round, whose leaves vote
for every class, LightGBM one for every class. Rounds with trees of the same number of leaves are compared, too.
"""

from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from benchmarks._lib.comparison import MICRO, MILLI, Plan
from benchmarks._lib.peers import ConfusionBoosting, Library, LightGBM
from benchmarks._lib.problems import Problem
from benchmarks._lib.timing import rounds_of, take_turns
from benchmarks._lib.verdicts import Figure, Outcome, Target, compare, open_outcome
from benchmarks.speed.rounds import Racer

UNIT = "µs per leaf"
N_ROUNDS = 6
REPEATS = 2
NO_SLOWER = Target("≥", 1)


def enter(library: Library, problem: Problem, n_threads: int) -> Racer:
    """A racer with its data."""
    return Racer(library, problem, n_threads, library.prepare(*problem.load(), n_threads), rounds_of(library))


def ours(**settings: Any) -> Library:
    """Our classifier that takes both limits of leaves."""
    return ConfusionBoosting({"max_depth": None, **settings})


def leaves_per_round(racer: Racer) -> float:
    """Leaves of all trees of a round; the trees of a model are alike."""
    if isinstance(racer.library, LightGBM):
        n_leaves = sum(tree["num_leaves"] for tree in racer.model.dump_model()["tree_info"])
    else:
        forest = racer.model._forest
        n_leaves = (len(forest.nodes) + racer.library.n_rounds(racer.model)) // 2  # of n nodes of a tree, (n + 1)/2
    return n_leaves / N_ROUNDS


def race(outcome: Outcome, racers: dict[str, Racer]) -> dict[str, Figure]:
    """Let racers take turns, add their figures per leaf to the outcome, and return those per round."""
    laps = {name: partial(racer.lap, N_ROUNDS) for name, racer in racers.items()}
    finished = outcome.keep(take_turns(laps, REPEATS))
    outcome.raw |= {name: asdict(racers[name].rounds) for name in finished}
    per_round = {name: racers[name].figure(name, N_ROUNDS) for name in finished}
    for name, figure in per_round.items():
        n_leaves = leaves_per_round(racers[name])
        outcome.figures.append(replace(figure, value=figure.value / MILLI * MICRO / n_leaves))
        outcome.notes.append(f"{name}: {figure.value:.1f} ms per round of {n_leaves:.0f} leaves")
    return per_round


@dataclass(frozen=True)
class LeavesContest:
    """Our trees of so many leaves beside LightGBM's."""

    name: str
    problem: Problem
    n_leaves: int
    target: Target

    def title(self, plan: Plan) -> str:
        """What is measured."""
        return f"trees of {self.n_leaves} leaves, {plan.scale(self.problem).name}"

    def run(self, plan: Plan) -> Outcome:
        """Race ours and LightGBM, the best leaf first."""
        outcome, kinds = open_outcome(UNIT, (ConfusionBoosting, LightGBM))
        entry = plan.scale(self.problem), plan.n_threads
        libraries = {
            ConfusionBoosting: ours(max_leaf_nodes=self.n_leaves),
            LightGBM: LightGBM({"num_leaves": self.n_leaves, "max_depth": -1, "force_row_wise": True}),
        }
        rounds = race(outcome, {kind.name: enter(libraries[kind], *entry) for kind in kinds})
        names = ConfusionBoosting.name, LightGBM.name
        outcome.verdicts += [
            compare("per round, ours / LightGBM", self.target, *map(rounds.get, names)),
            compare("per leaf, ours / LightGBM", self.target, *map(outcome.figure, names)),
        ]
        return outcome


@dataclass(frozen=True)
class LeafGrowthCase:
    """What a leaf of a larger tree costs beside one of a tree of depth 6, and on two threads beside one."""

    name: str
    problem: Problem
    target: Target

    def title(self, plan: Plan) -> str:
        """What is measured."""
        return f"larger trees, {plan.scale(self.problem).name}"

    def run(self, plan: Plan) -> Outcome:
        """Race ours against itself."""
        outcome = Outcome(UNIT)
        problem = plan.scale(self.problem)
        libraries = {
            "depth 6": ours(max_depth=6),
            "depth 12": ours(max_depth=12),
            "255 leaves": ours(max_leaf_nodes=255),
            "no limit": ours(min_samples_leaf=5),
        }
        racers = {
            f"{name}, {n_threads} threads": enter(library, problem, n_threads)
            for name, library in libraries.items()
            for n_threads in (1, 2)
        }
        race(outcome, racers)
        for name in libraries:
            one, two = (outcome.figure(f"{name}, {n_threads} threads") for n_threads in (1, 2))
            outcome.verdicts.append(compare(f"{name}, 1 thread / 2 threads", NO_SLOWER, one, two))
            shallow = outcome.figure("depth 6, 1 threads")
            if name != "depth 6":
                outcome.verdicts.append(compare(f"{name} / depth 6", self.target, one, shallow))
        return outcome
