"""``python -m benchmarks.probabilities``: what calibration and priors are worth, for all three classifiers.

In: the paper's nine data sets, 5 folds; connect-4 is not bundled, ``COMBOOST_DATA`` names its folder. Out: log-losses,
calibration errors and norms on the test rows, in results/results.jsonl as they come, and docs/probabilities.md. What is
stored is not run again; ``--again`` runs all of it, ``--page`` only writes the page.
"""

import argparse
import importlib
import platform
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks._lib import store
from benchmarks._lib.machine import describe_commit
from benchmarks.probabilities.comparison import COMPARISONS, ESTIMATORS, cross_validated
from benchmarks.probabilities.measures import measure
from benchmarks.probabilities.page import write_page
from benchmarks.quality.problems import SETS

RESULTS = Path(__file__).parent / "results" / "results.jsonl"
LIBRARIES = ("numpy", "scipy", "sklearn", "comboost")


def describe_run() -> dict[str, Any]:
    """What the figures come from."""
    versions = {name: importlib.import_module(name).__version__ for name in LIBRARIES}
    return {
        "command": "python -m benchmarks.probabilities",
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": describe_commit()["commit"],
        "versions": {"python": platform.python_version(), **versions},
    }


def as_lines(entries: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Measures as lines of the store: one per problem, estimator and method."""
    for problem, of_problem in entries.items():
        for estimator, of_estimator in of_problem.items():
            for method, measures in of_estimator.items():
                yield {"problem": problem, "estimator": estimator, "method": method, **measures}


def read_stored() -> dict[str, Any]:
    """Stored run, and measures by problem, estimator and method."""
    header, lines = store.read(RESULTS)
    entries: dict[str, Any] = {}
    for line in lines:
        keys = [line.pop(key) for key in ("problem", "estimator", "method")]
        entries.setdefault(keys[0], {}).setdefault(keys[1], {})[keys[2]] = line
    return {"run": header, "entries": entries}


def run(stored: dict[str, Any]) -> None:
    """Measure what is not stored yet."""
    for problem in SETS:
        try:
            X, y = problem.load_all()
        except OSError as reason:
            print(f"{problem.name} is left out: {reason}")
            continue
        found = stored["entries"].setdefault(problem.name, {})
        for name, (methods, predict_by) in product(ESTIMATORS, COMPARISONS.items()):
            measured = found.setdefault(name, {})
            if measured.keys() >= set(methods):
                continue
            started = time.perf_counter()
            predictions = cross_validated(predict_by, name, X, y)
            measured |= {method: measure(*predictions[method], y) for method in methods}
            store.write(RESULTS, stored["run"], as_lines(stored["entries"]))
            print(f"{problem.name}, {name}, {', '.join(methods)}: {time.perf_counter() - started:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.probabilities", description=__doc__)
    parser.add_argument("--again", action="store_true", help="forget what is stored")
    parser.add_argument("--page", action="store_true", help="write the page only")
    options = parser.parse_args()
    stored = {"run": describe_run(), "entries": {}}
    if RESULTS.exists() and not options.again:
        stored = read_stored()
    if not options.page:
        run(stored)
    write_page(stored)


if __name__ == "__main__":
    main()
