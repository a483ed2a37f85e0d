"""``python -m benchmarks.bounds``: how often the bounds of `comboost.metrics` hold, and how wide they are.

In: nothing. Out: results/coverage.jsonl and results/speed.jsonl, as they come, and docs/bounds.md. What is stored is
not run again; ``--again`` runs all of it, ``--page`` only writes the page. ``--quick`` draws little, stores elsewhere.
"""

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks._lib import store
from benchmarks._lib.command import exit_code
from benchmarks._lib.machine import REPOSITORY
from benchmarks._lib.page import write_page
from benchmarks.bounds.cases import CASES, QUICK_CASES, Case
from benchmarks.bounds.page import render
from benchmarks.bounds.simulation import simulate
from benchmarks.bounds.speed import measure

RESULTS = Path(__file__).parent / "results"
SCRATCH = Path(tempfile.gettempdir()) / "comboost-benchmarks" / "bounds"
PAGE = REPOSITORY / "docs" / "bounds.md"
N_DRAWS, N_QUICK_DRAWS = 10_000, 200


def run(cases: list[Case], n_draws: int, folder: Path, *, again: bool) -> None:
    """Simulate and store all cases that are not stored yet, then measure the speed."""
    path = folder / "coverage.jsonl"
    header, entries = ({}, []) if again else store.read(path)
    header = header or store.describe_setting("bounds", (), {"draws": n_draws})
    done = {entry["case"]: entry for entry in entries}
    for case in cases:
        if case.name not in done:
            started = time.perf_counter()
            done[case.name] = simulate(case, n_draws)
            store.write(path, header, done.values())
            print(f"{case.name}: {time.perf_counter() - started:.0f} s", flush=True)
    if again or not (folder / "speed.jsonl").exists():
        store.write(folder / "speed.jsonl", store.describe_setting("bounds", (), {}), measure())


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.bounds", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few draws and cases, stored elsewhere")
    parser.add_argument("--again", action="store_true", help="forget what is stored")
    parser.add_argument("--page", action="store_true", help="write the page only")
    options = parser.parse_args(arguments)
    folder = SCRATCH if options.quick else RESULTS
    page = SCRATCH / "bounds.md" if options.quick else PAGE

    def run_and_write() -> bool:
        if not options.page:
            cases, n_draws = (QUICK_CASES, N_QUICK_DRAWS) if options.quick else (CASES, N_DRAWS)
            run(cases, n_draws, folder, again=options.again or options.quick)
        text = render(store.read(folder / "coverage.jsonl"), store.read(folder / "speed.jsonl"))
        write_page(page, "python -m benchmarks.bounds", text)
        return True

    return exit_code(run_and_write, "the cases that were done are stored")


if __name__ == "__main__":
    raise SystemExit(main())
