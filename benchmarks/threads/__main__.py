"""``python -m benchmarks.threads``: what a second thread is worth, alone, beside busy processes, under a quota.

In: nothing. Out: a table, results/threads.jsonl and docs/threads.md. Takes some minutes.
"""

import argparse
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks._lib import store
from benchmarks._lib.machine import REPOSITORY, CpuTime, describe_commit, describe_machine, describe_versions
from benchmarks._lib.page import write_page
from benchmarks.threads.page import render
from benchmarks.threads.surroundings import SURROUNDINGS

RESULTS = Path(__file__).parent / "results" / "threads.jsonl"
PAGE = REPOSITORY / "docs" / "threads.md"
PARTS = (*SURROUNDINGS, "shapes")


def figures_of(part: str, repeats: int) -> dict[str, Any]:
    """What a process of its own measures: surroundings do not outlive it."""
    command = (sys.executable, "-m", "benchmarks.threads.child", part, str(repeats))
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.threads")
    parser.add_argument("--part", action="append", choices=PARTS, help="this one alone, which stores nothing")
    parser.add_argument("--repeats", type=int, default=3, help="fits of each")
    options = parser.parse_args()
    cpu, run = CpuTime.now(), {"started": datetime.now(UTC).isoformat(timespec="seconds"), "repeats": options.repeats}
    commit = describe_commit()["commit"] or "unknown"
    run |= {"commit": commit, "machine": describe_machine(), "versions": describe_versions()}
    run["parts"] = [figures_of(part, options.repeats) for part in options.part or PARTS]
    run["others"] = cpu.cores_of_others()
    print(render(run))
    if options.part is None:
        store.write(RESULTS, {key: value for key, value in run.items() if key != "parts"}, run["parts"])
        write_page(PAGE, "python -m benchmarks.threads", render(run))


if __name__ == "__main__":
    main()
