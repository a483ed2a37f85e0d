"""``python -m benchmarks.interrupts``: seconds from SIGINT to KeyboardInterrupt, in calls that take long.

In: cases, each in a process of its own that is interrupted again and again, at different moments. Out: a table, and how
busy the machine was with other things; an error if an estimator is not as it was.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import time

from benchmarks._lib.machine import CpuTime
from benchmarks.interrupts.cases import CASES

LATEST = 6.0  # seconds after which a call is interrupted at most
GOAL = 1.0


class EndedTooSoonError(RuntimeError):
    """A call was over before it was interrupted."""


def answers_of(case: str, n_jobs: int, n_times: int) -> list[float]:
    """Seconds that every interrupt took."""
    command = (sys.executable, "-m", "benchmarks.interrupts.child", case, str(n_jobs), str(n_times))
    draw = random.Random(case)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        try:
            return [interrupt(child, draw.uniform(0.1, LATEST)) for _ in range(n_times)]
        finally:
            child.kill()


def interrupt(child: subprocess.Popen[str], delay: float) -> float:
    """Interrupt the call that the process is about to begin, after so many seconds."""
    assert child.stdout is not None
    if child.stdout.readline().split() != ["begun"]:
        raise RuntimeError("the process ended before its call began")
    time.sleep(delay)
    sent = time.monotonic()
    os.kill(child.pid, signal.SIGINT)
    word, at = child.stdout.readline().split()
    if word == "changed":
        raise RuntimeError("the estimator is not as it was")
    if word == "done":
        raise EndedTooSoonError(f"the call took less than {delay:.1f} s")
    return float(at) - sent


def describe(case: str, n_jobs: int, n_times: int) -> str:
    """Two columns of the table."""
    try:
        seconds = sorted(answers_of(case, n_jobs, n_times))
    except EndedTooSoonError as error:
        return f"{error} | "
    return f"{seconds[len(seconds) // 2]:.2f} | {seconds[-1]:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.interrupts")
    parser.add_argument("--case", action="append", choices=CASES, help="this one alone; may be repeated")
    parser.add_argument("--threads", type=int, action="append", help="default: 1 and 2")
    parser.add_argument("--times", type=int, default=5, help="interrupts per case")
    options = parser.parse_args()
    cpu = CpuTime.now()
    print(f"seconds to answer, {options.times} times each (goal: under {GOAL:g})\n")
    print("| case | threads | median | longest |\n|---|---|---|---|")
    for case in options.case or CASES:
        for n_jobs in options.threads or (1, 2):
            print(f"| {case} | {n_jobs} | {describe(case, n_jobs, options.times)} |", flush=True)
    print(f"\nOther programs kept {cpu.cores_of_others():.1f} of {os.cpu_count()} cores busy.")


if __name__ == "__main__":
    main()
