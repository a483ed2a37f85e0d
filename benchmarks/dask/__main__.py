"""``python -m benchmarks.dask``: runs the cases, prints them as they are done, and stores them where asked to."""

import argparse
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks._lib import page, store
from benchmarks._lib.command import exit_code
from benchmarks._lib.machine import CpuTime, check_unchanged
from benchmarks._lib.page import MUCH_DISTURBED, describe, word_for
from benchmarks._lib.store import describe_setting
from benchmarks.dask import cases
from benchmarks.dask.apart import apart
from benchmarks.dask.plan import Plan

REPEATS = 3
ENGINES = ("dask", "distributed")
QUICK_REMARK = "QUICK RUN: a tenth of the rows, one repeat. It shows that everything works, and nothing else."


def read_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.dask", description=__doc__.partition(": ")[2])
    parser.add_argument("--only", choices=cases.NAMES, metavar="CASE", help=f"one case: {', '.join(cases.NAMES)}")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, one repeat")
    parser.add_argument("--repeats", type=int, help=f"turns of every fit that is timed ({REPEATS}, quick 1)")
    parser.add_argument("--dtype", choices=("float64", "float32"), default="float64", help="rows of `speed` (float64)")
    parser.add_argument("--ours", action="store_true", help="leave the peers out of `speed`")
    parser.add_argument("--output", type=Path, metavar="FILE.jsonl", help="where to store all that was measured")
    return parser.parse_args(arguments)


def run_case(case: cases.Case, plan: Plan, setting: dict[str, Any]) -> dict[str, Any]:
    """What came out of a case in a process of its own, or why nothing did, as a plain dict."""
    start = CpuTime.now()
    try:
        with apart() as process:
            result = process.run(case.run, plan)
        check_unchanged(setting["source"])
    except Exception as error:  # the other cases can still be run
        return {"case": case.name, "title": case.title(plan), "error": f"{type(error).__name__}: {error}"}
    result.disturbance = start.cores_of_others()
    seconds = round(time.perf_counter() - start.clock, 1)
    return {"case": case.name, "title": case.title(plan), "seconds": seconds, **result.summary()}


def render(entry: dict[str, Any]) -> str:
    """The tables of a case, who was left out, and the targets."""
    if "error" in entry:
        return f"  ERROR {entry['error']}"
    lines = [f"{page.aligned(rows)}\n" for rows in entry["tables"].values() if rows]
    lines += [f"  left out: {name}, {reason}" for name, reason in entry["left_out"].items()]
    lines += [f"  {page.verdict(verdict)}: {word_for(verdict['reached'])}" for verdict in entry["verdicts"]]
    if entry["disturbance"] > MUCH_DISTURBED:
        lines.append(f"  other programs kept {entry['disturbance']:.2f} cores busy meanwhile: do not trust these times")
    return "\n".join([*lines, f"  done in {entry['seconds']:.0f} s"])


def run_cases(options: argparse.Namespace) -> bool:
    """Run the cases and store all so far when each is done; whether all of them could be run."""
    repeats = options.repeats or (1 if options.quick else REPEATS)
    plan = Plan(repeats, options.quick, options.dtype, with_peers=not options.ours)
    settings = asdict(plan)
    setting = describe_setting("dask", ENGINES, settings)
    print(setting["command"], describe(setting), *([QUICK_REMARK] if plan.quick else []), sep="\n")
    entries: list[dict[str, Any]] = []
    for case in cases.pick(options.only):
        print(f"\n{case.name}: {case.title(plan)}", flush=True)
        entries.append(run_case(case, plan, setting))
        print(render(entries[-1]), flush=True)
        if options.output:
            store.write(options.output, setting, entries)
    if options.output:
        print(f"\nstored in {options.output}")
    return not any("error" in entry or entry["left_out"] for entry in entries)


def main() -> int:
    options = read_arguments()
    return exit_code(lambda: run_cases(options), "the cases that were done are stored if --output was given")


if __name__ == "__main__":
    sys.exit(main())
