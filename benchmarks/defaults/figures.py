"""Figures. In: means over folds. Out: arrays of candidates × problems, without gaps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.defaults.measures import MEASURES
from benchmarks.defaults.problems import Problem
from benchmarks.defaults.settings import PEER_NAMES, Setting
from benchmarks.defaults.store import Entry, Key

Floats = NDArray[np.float64]
Values = dict[str, Floats]  # by measure

SECONDS = "seconds"


class Candidate(NamedTuple):
    """A setting with a number of rounds: what is decided on."""

    setting: str
    n_rounds: int


@dataclass(frozen=True)
class Figures:
    """What is known of every candidate and every peer on every problem."""

    problems: list[Problem]
    settings: dict[str, Setting]
    candidates: list[Candidate]
    values: Values  # (n_candidates, n_problems), measures and seconds
    peers: dict[str, Values]  # (n_problems,)
    left_out: list[str]  # settings that lack a problem
    builds: list[str]  # of comboost

    def at(self, places: Sequence[int] | NDArray[np.intp]) -> Values:
        """The figures of one candidate per problem."""
        return {name: values[places, np.arange(len(self.problems))] for name, values in self.values.items()}


def gather(means: Mapping[Key, Entry], problems: Sequence[Problem], settings: Mapping[str, Setting]) -> Figures:
    """The figures of all settings that have every problem on which any setting was tried."""
    tried = [problem for problem in problems if any((problem.name, name) in means for name in settings)]
    complete = {
        name: setting
        for name, setting in settings.items()
        if tried and all((problem.name, name) in means for problem in tried)
    }
    candidates = [
        Candidate(name, n_rounds)
        for name in complete
        for n_rounds in means[tried[0].name, name]["rounds"]
        if all(n_rounds in means[problem.name, name]["rounds"] for problem in tried)
    ]
    entries = [[means[problem.name, candidate.setting] for problem in tried] for candidate in candidates]
    grid = [
        [figures_at(entry, candidate.n_rounds) for entry in row]
        for candidate, row in zip(candidates, entries, strict=True)
    ]
    return Figures(
        problems=tried,
        settings=complete,
        candidates=candidates,
        values={name: np.array([[figures[name] for figures in row] for row in grid]) for name in (*MEASURES, SECONDS)},
        peers={name: read_peer(means, name, tried) for name in PEER_NAMES},
        left_out=[
            name
            for name in settings
            if name not in complete and any((problem.name, name) in means for problem in tried)
        ],
        builds=sorted({build for row in entries for entry in row for build in entry["builds"]}),
    )


def figures_at(entry: Entry, n_rounds: int) -> dict[str, float]:
    """The measures at a checkpoint, and the seconds up to there."""
    i = entry["rounds"].index(n_rounds)
    share = min(1.0, n_rounds / entry["n_iter"])
    return {**{name: entry[name][i] for name in MEASURES}, SECONDS: share * entry[SECONDS]}


def read_peer(means: Mapping[Key, Entry], name: str, problems: Sequence[Problem]) -> Values:
    """What a peer reached; nan on a problem that it was not run on."""
    unknown = dict.fromkeys((*MEASURES, SECONDS), np.nan)
    entries = [means.get((problem.name, name)) for problem in problems]
    found = [unknown if entry is None else figures_at(entry, entry["rounds"][-1]) for entry in entries]
    return {measure: np.array([figures[measure] for figures in found]) for measure in unknown}
