"""The store. In: results of fits as they come. Out: a line per fold, and the means over folds, which are kept for good.

The lines are a working file per problem: appended under a lock, so several commands may write at once, and one that is
killed loses nothing but what it was working on. The means are small enough for the repository.
"""

import fcntl
import json
import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._lib.store import write_text
from benchmarks.defaults.measures import DECIMALS, MEASURES
from benchmarks.defaults.problems import PROBLEMS

RESULTS = Path(__file__).parent / "results"
FOLDS = "folds"
MEANS = "means.jsonl"

Entry = dict[str, Any]
Key = tuple[str, str]  # problem and method


class Store:
    """Results in a folder."""

    def __init__(self, folder: Path = RESULTS) -> None:
        self.folder = folder

    def add(self, result: Entry) -> None:
        """Append the result of a fold."""
        path = self._lines_of(result["problem"])
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            stream.write(line_break(stream) + json.dumps(result, ensure_ascii=False).encode() + b"\n")

    def read_folds(self) -> list[Entry]:
        """All results of folds; the last one counts if there are two of the same."""
        found = {}
        for problem in PROBLEMS:
            for result in read_lines(self._lines_of(problem)):
                found[result["problem"], result["method"], result["fold"]] = result
        return list(found.values())

    def read_means(self) -> dict[Key, Entry]:
        """Means over folds: those stored, and those of folds that were run since, written back."""
        stored = {key_of(entry): entry for entry in read_lines(self.folder / MEANS)}
        means = stored | average_all(self.read_folds())
        if means != stored:
            text = "".join(f"{json.dumps(means[key], ensure_ascii=False)}\n" for key in sorted(means))
            write_text(self.folder / MEANS, text)
        return means

    def _lines_of(self, problem: str) -> Path:
        return self.folder / FOLDS / f"{problem}.jsonl"


def line_break(stream: Any) -> bytes:
    """What has to come before a new line: a killed command may have left half a line."""
    if stream.seek(0, os.SEEK_END) == 0:
        return b""
    stream.seek(-1, os.SEEK_END)
    return b"" if stream.read(1) == b"\n" else b"\n"


def read_lines(path: Path) -> list[Entry]:
    """Every whole line of a file."""
    if not path.exists():
        return []
    entries = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            entries.append(json.loads(line))
        except ValueError:  # half a line: its fold is run again
            continue
    return entries


def key_of(entry: Entry) -> Key:
    """Problem and method."""
    return entry["problem"], entry["method"]


def average_all(results: Iterable[Entry]) -> dict[Key, Entry]:
    """Means of every problem and method whose folds are all there."""
    groups: dict[Key, list[Entry]] = defaultdict(list)
    for result in results:
        groups[key_of(result)].append(result)
    return {key: average(folds) for key, folds in groups.items() if len(folds) == PROBLEMS[key[0]].n_folds}


def average(folds: list[Entry]) -> Entry:
    """Means over folds, at the checkpoints that all have."""
    rounds = [n for n in folds[0]["rounds"] if all(n in fold["rounds"] for fold in folds)]

    def mean(name: str) -> list[float]:
        values = [[fold[name][fold["rounds"].index(n)] for n in rounds] for fold in folds]
        return [round(float(value), DECIMALS) for value in np.mean(values, axis=0)]

    return {
        "problem": folds[0]["problem"],
        "method": folds[0]["method"],
        "builds": sorted({fold["build"] for fold in folds}),
        "seconds": round(float(np.mean([fold["seconds"] for fold in folds])), 3),
        "n_iter": round(float(np.mean([fold["n_iter"] for fold in folds]))),
        "rounds": rounds,
        **{name: mean(name) for name in MEASURES},
    }
