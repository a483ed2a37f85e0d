"""``python -m benchmarks.speed``: runs the cases, prints them as they are done, and stores them."""

import argparse
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks._lib import peers, store
from benchmarks._lib.command import run_command
from benchmarks._lib.comparison import Case, Plan
from benchmarks._lib.machine import (
    CpuTime,
    check_unchanged,
    describe_commit,
    describe_machine,
    describe_versions,
)
from benchmarks._lib.page import describe
from benchmarks.speed import cases, instructions
from benchmarks.speed.native import NativeError
from benchmarks.speed.report import Report, render, render_table

RESULTS = Path(__file__).parent / "results"
QUICK_REMARK = (
    "QUICK RUN: a tenth of the rows, fewer rounds and repeats. It shows that everything works.\n"
    "Whether a target is reached at these sizes says little about the full ones."
)


def read_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.speed", description=__doc__.partition(": ")[2])
    parser.add_argument("--case", action="append", default=[], metavar="NAME", help="a case, or how its name begins")
    parser.add_argument("--list", action="store_true", help="say which cases there are")
    parser.add_argument("--quick", action="store_true", help="small sizes, done in two minutes")
    parser.add_argument("--threads", type=int, default=2, help="threads of every library (2)")
    parser.add_argument("--repeats", type=int, help="turns of every library (3, quick 1)")
    parser.add_argument("--out", type=Path, help=f"where to store the figures (a file in {RESULTS})")
    parser.add_argument(
        "--instructions", action="store_true", help="count the kernels' instructions with callgrind instead"
    )
    return parser.parse_args(arguments)


def plan_of(options: argparse.Namespace) -> Plan:
    return Plan(options.threads, options.repeats or (1 if options.quick else 3), options.quick)


def default_path(options: argparse.Namespace) -> Path:
    """Quick figures do not replace full ones."""
    if options.instructions:
        return RESULTS / "instructions.jsonl"
    return RESULTS / ("quick.jsonl" if options.quick else "speed.jsonl")


def setting_of(plan: Plan) -> dict[str, Any]:
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": describe_machine(),
        "versions": describe_versions(),
        "source": describe_commit(),
        "settings": {
            "threads": plan.n_threads,
            "repeats": plan.repeats,
            "quick": plan.quick,
            "rounds": plan.n_rounds,
            "max_bins": peers.MAX_BINS,
            "max_depth": peers.MAX_DEPTH,
            "learning_rate_of_peers": peers.LEARNING_RATE,
        },
    }


def run_cases(options: argparse.Namespace, picked: list[Case]) -> bool:
    """Run these cases; whether all of them ran and all models did their work."""
    plan = plan_of(options)
    report = Report(options.out or default_path(options), setting_of(plan))
    print(describe(report.setting), *([QUICK_REMARK] if plan.quick else []), sep="\n")
    for case in picked:
        print(f"\n{case.name}: {case.title(plan)}", flush=True)
        start = CpuTime.now()
        try:
            outcome = case.run(plan)
            check_unchanged(report.setting["source"])
        except Exception as error:  # the other cases can still be run
            report.add_error(case, plan, error)
            print(f"  ERROR {type(error).__name__}: {error}")
            continue
        outcome.disturbance = start.cores_of_others()
        report.add(case, plan, outcome, time.perf_counter() - start.clock)
        print(render(outcome), flush=True)
    print(f"\n{render_table(report.entries)}\n\nstored in {report.path}")
    return report.sound


def run_instructions(options: argparse.Namespace) -> bool:
    """Count instructions; whether that could be done."""
    try:
        counts = instructions.count_all()
    except NativeError as error:
        print(f"no instructions were counted: {error}")
        return False
    print(instructions.render(counts))
    path = options.out or default_path(options)
    kernels = ({"kernel": name, **count} for name, count in counts.pop("kernels").items())
    store.write(path, setting_of(plan_of(options)) | counts, kernels)
    print(f"\nstored in {path}")
    return True


def main() -> int:
    options = read_arguments()

    def run(picked: list[Case]) -> bool:
        return run_instructions(options) if options.instructions else run_cases(options, picked)

    return run_command(options, cases.CASES, lambda case: case.title(plan_of(options)), run)


if __name__ == "__main__":
    sys.exit(main())
