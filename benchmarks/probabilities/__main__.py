"""``python -m benchmarks.probabilities``: what calibration and priors are worth, for all three classifiers.

In: the paper's nine data sets, 5 folds; connect-4 is not bundled, ``COMBOOST_DATA`` names its folder. Out: log-losses,
calibration errors and norms on the test rows, in results/results.json as they come, and docs/probabilities.md. What is
stored is not run again; ``--again`` runs all of it, ``--page`` only writes the page.
"""

import argparse
import importlib
import json
import platform
import time
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.probabilities.contest import CONTESTS, ESTIMATORS, cross_validated
from benchmarks.probabilities.measures import measure
from benchmarks.probabilities.page import write_page
from benchmarks.quality.problems import SETS
from benchmarks.speed.machine import describe_commit

RESULTS = Path(__file__).parent / "results" / "results.json"
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


def run(stored: dict[str, Any]) -> None:
    """Measure what is not stored yet."""
    for problem in SETS:
        try:
            X, y = problem.load_all()
        except OSError as reason:
            print(f"{problem.name} is left out: {reason}")
            continue
        found = stored["entries"].setdefault(problem.name, {})
        for name, (methods, answers_of) in product(ESTIMATORS, CONTESTS.items()):
            measured = found.setdefault(name, {})
            if measured.keys() >= set(methods):
                continue
            started = time.perf_counter()
            answers = cross_validated(answers_of, name, X, y)
            measured |= {method: measure(*answers[method], y) for method in methods}
            RESULTS.parent.mkdir(exist_ok=True)
            RESULTS.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
            print(f"{problem.name}, {name}, {', '.join(methods)}: {time.perf_counter() - started:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.probabilities", description=__doc__)
    parser.add_argument("--again", action="store_true", help="forget what is stored")
    parser.add_argument("--page", action="store_true", help="write the page only")
    options = parser.parse_args()
    stored = {"run": describe_run(), "entries": {}}
    if RESULTS.exists() and not options.again:
        stored = json.loads(RESULTS.read_text(encoding="utf-8"))
    if not options.page:
        run(stored)
    write_page(stored)


if __name__ == "__main__":
    main()
