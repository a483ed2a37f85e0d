"""``python -m benchmarks.tables``: runs the cases, prints them as they are done, and stores each."""

import argparse
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks._lib import page, store
from benchmarks._lib.command import run_command
from benchmarks._lib.comparison import Plan
from benchmarks._lib.machine import CpuTime, check_unchanged
from benchmarks._lib.page import MUCH_DISTURBED, describe
from benchmarks._lib.store import describe_setting
from benchmarks.tables import cases
from benchmarks.tables.results import FOLDER, Case, path_of

N_THREADS = 2
FRAMES = ("pandas", "polars", "pyarrow")
QUICK_REMARK = "QUICK RUN: a tenth of the rows, one repeat. It shows that everything works, and nothing else."


def read_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.tables", description=__doc__.partition(": ")[2])
    parser.add_argument("--case", action="append", default=[], metavar="NAME", help="a case, or how its name begins")
    parser.add_argument("--list", action="store_true", help="say which cases there are")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, one repeat")
    parser.add_argument("--out", type=Path, help=f"one file for all cases (a file for each in {FOLDER})")
    return parser.parse_args(arguments)


def run_case(case: Case, plan: Plan, setting: dict[str, Any]) -> dict[str, Any]:
    """What came out of a case, or why nothing did, as a plain dict."""
    start = CpuTime.now()
    try:
        result = case.run(plan)
        check_unchanged(setting["source"])
    except Exception as error:  # the other cases can still be run
        return {"case": case.name, "title": case.title, "error": f"{type(error).__name__}: {error}"}
    result.disturbance = start.cores_of_others()
    seconds = round(time.perf_counter() - start.clock, 1)
    return {"case": case.name, "title": case.title, "seconds": seconds, **result.summary()}


def render(entry: dict[str, Any]) -> str:
    """The tables of a case, who was left out, and the targets that were missed."""
    if "error" in entry:
        return f"  ERROR {entry['error']}"
    lines = [page.aligned(rows) for rows in entry["tables"].values()]
    lines += [f"  left out: {name}, {reason}" for name, reason in entry["left_out"].items()]
    lines += [f"  MISSED {page.verdict(verdict)}" for verdict in entry["verdicts"] if not verdict["reached"]]
    if entry["disturbance"] > MUCH_DISTURBED:
        lines.append(f"  other programs kept {entry['disturbance']:.2f} cores busy meanwhile: do not trust these times")
    return "\n".join([*lines, f"  done in {entry['seconds']:.0f} s"])


def run_cases(options: argparse.Namespace, picked: list[Case]) -> bool:
    """Run these cases and store each as soon as it is done; whether all of them could be run."""
    # A full run repeats as often as the time of a case allows.
    plan = Plan(N_THREADS, 1 if options.quick else 0, options.quick)
    settings = {"threads": plan.n_threads, "repeats": plan.repeats, "quick": plan.quick}
    setting = describe_setting("tables", FRAMES, settings)
    print(describe(setting), *([QUICK_REMARK] if plan.quick else []), sep="\n")
    entries: list[dict[str, Any]] = []
    for case in picked:
        print(f"\n{case.name}: {case.title}", flush=True)
        entries.append(run_case(case, plan, setting))
        print(render(entries[-1]), flush=True)
        if options.out or "error" not in entries[-1]:  # an error does not replace what an earlier run found
            path = options.out or path_of(case.name, quick=plan.quick)
            store.write(path, setting, entries if options.out else entries[-1:])
            print(f"  stored in {path}", flush=True)
    return not any("error" in entry for entry in entries)


def main() -> int:
    options = read_arguments()
    return run_command(options, cases.CASES, lambda case: case.title, partial(run_cases, options))


if __name__ == "__main__":
    sys.exit(main())
