"""Who was as good as whom, and when. In: the stored curves of a problem. Out: best values and the seconds to them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.quality.iterative import ITERATIVE, ConfusionBoosting
from benchmarks.quality.measures import Measure
from benchmarks.quality.store import Entry

OURS = ConfusionBoosting.name
PEERS = tuple(one.name for one in ITERATIVE if not one.ours)
CLOSE = 0.01  # of its best value, at which a peer counts as having reached it
NEVER = math.inf

Race = Mapping[str, Entry]  # the curves of a problem, by method


def with_figures(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    """The entries that are not left out."""
    return {name: entry for name, entry in entries.items() if "left_out" not in entry}


def peers_of(race: Race) -> dict[str, Entry]:
    """The peers that took part."""
    return {name: race[name] for name in PEERS if name in race}


def best(entry: Entry, measure: Measure) -> float:
    """The best value of a curve."""
    return measure.best(entry["figures"][measure.key])


def final(entry: Entry, measure: Measure) -> float:
    """The value after the last round."""
    return entry["figures"][measure.key][-1]


def seconds_to(entry: Entry, measure: Measure, goal: float) -> float:
    """Seconds after which a curve is as good as the goal for the first time; infinite if it never is."""
    stages = zip(entry["seconds"], entry["figures"][measure.key], strict=True)
    return next((seconds for seconds, value in stages if measure.as_good(value, goal)), NEVER)


def seconds_to_best(entry: Entry, measure: Measure) -> float:
    """Seconds after which a curve comes close to its own best for the first time."""
    return seconds_to(entry, measure, measure.within(best(entry, measure), CLOSE))


@dataclass(frozen=True)
class Reach:
    """When ours was as good as all peers, beside the peers' own times."""

    measure: Measure
    leader: str  # the peer with the best value
    goal: float
    leader_seconds: float  # until it came close to that value
    quickest: str  # the peer that came close to its own best first
    quickest_seconds: float
    ours: float  # our best value
    ours_seconds: float  # until it was as good as the leader's best

    @property
    def ratio(self) -> float:
        """Our seconds over those of the quickest peer."""
        return self.ours_seconds / self.quickest_seconds

    @property
    def ratio_to_leader(self) -> float:
        """Our seconds over those of the peer that has the best value."""
        return self.ours_seconds / self.leader_seconds


def reach(race: Race, measure: Measure) -> Reach:
    """Ours beside all peers; both must have taken part."""
    peers = peers_of(race)
    bests = {name: best(entry, measure) for name, entry in peers.items()}
    goal = measure.best(list(bests.values()))
    leader = next(name for name, value in bests.items() if value == goal)
    times = {name: seconds_to_best(entry, measure) for name, entry in peers.items()}
    quickest = min(times, key=lambda name: times[name])
    ours = race[OURS]
    return Reach(
        measure,
        leader,
        goal,
        times[leader],
        quickest,
        times[quickest],
        best(ours, measure),
        seconds_to(ours, measure, goal),
    )
