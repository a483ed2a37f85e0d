"""The process that fits. In: surroundings, or "shapes", and repeats. Out: milliseconds per round, as JSON."""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks._lib.peers import Comboost, ConfusionBoosting, Library, LightGBM, XGBoost
from benchmarks._lib.problems import Problem
from benchmarks._lib.timing import quiet, take_turns
from benchmarks.threads.surroundings import SURROUNDINGS

THREADS = (1, 2)
PROBLEM = Problem(50_000, 30, 5)
DEPTH = 6
ENTRANTS: tuple[tuple[type[Library], dict[str, Any], int], ...] = (  # and rounds of a fit
    (Comboost, {"max_depth": DEPTH}, 30),
    (ConfusionBoosting, {"max_depth": DEPTH}, 40),
    (LightGBM, {"max_depth": DEPTH, "num_leaves": 2**DEPTH, "force_col_wise": True}, 8),
    (XGBoost, {"max_depth": DEPTH}, 8),
)
SHAPES = (
    Problem(215, 5, 3),
    Problem(1_000, 10, 3),
    Problem(2_000, 20, 5),
    Problem(5_000, 20, 5),
    Problem(20_000, 20, 5),
    PROBLEM,
    Problem(200_000, 50, 5),
)
SECONDS = 0.4  # of a fit to a shape

Key = tuple[str, int]


def round_time(library: Library, data: Any, n_rounds: int, n_threads: int) -> float:
    """Milliseconds per round, on average: threads that wait for each other show in some rounds only."""
    stamps: list[float] = []
    with quiet(n_threads):
        library.train(data, n_rounds + 1, n_threads, lambda: stamps.append(time.perf_counter()))
    return 1e3 * (stamps[-1] - stamps[0]) / (len(stamps) - 1)


def measure(actions: dict[Key, Callable[[], float]], repeats: int) -> list[dict[str, Any]]:
    """All measurements, taken in turns."""
    turns = take_turns(actions, repeats)
    if turns.errors:
        raise RuntimeError(turns.errors)
    return [{"what": what, "threads": n, "ms": ms} for (what, n), ms in turns.results.items()]


def surrounded(name: str, repeats: int) -> dict[str, Any]:
    """All libraries, somewhere."""
    actions: dict[Key, Callable[[], float]] = {}
    with SURROUNDINGS[name]() as words:
        for entrant, settings, n_rounds in ENTRANTS:
            if entrant.missing() is not None:
                continue
            library = entrant(settings)
            data = library.prepare(*PROBLEM.load(), 2)
            for n in THREADS:
                actions[library.name, n] = lambda x=library, d=data, r=n_rounds, n=n: round_time(x, d, r, n)
        return {"name": name, "words": words, "figures": measure(actions, repeats)}


def shapes(repeats: int) -> dict[str, Any]:
    """Ours, on rows from few to many."""
    actions: dict[Key, Callable[[], float]] = {}
    library = Comboost()
    for problem in SHAPES:
        data = problem.load()
        n_rounds = max(5, min(1000, int(1e3 * SECONDS / round_time(library, data, 5, 1))))
        for n in THREADS:
            actions[problem.name, n] = lambda d=data, r=n_rounds, n=n: round_time(library, d, r, n)
    return {"name": "shapes", "words": "alone", "figures": measure(actions, 2 * repeats)}


def main() -> None:
    name, repeats = sys.argv[1], int(sys.argv[2])
    print(json.dumps(shapes(repeats) if name == "shapes" else surrounded(name, repeats)))


if __name__ == "__main__":
    main()
