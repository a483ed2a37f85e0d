"""``python -m benchmarks.command_line``: how long the command line takes, beside its limits.

In: nothing. Out: a table, and results/command_line.jsonl. Takes some minutes. Help is asked for ten times, the median
counts; ``cv`` gets a CSV of 100 000 rows and 30 columns; ``compare`` gets satimage, and whatever peers are installed.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from benchmarks._lib import store
from benchmarks._lib.machine import CpuTime, describe_commit, describe_machine, describe_versions

RESULTS = Path(__file__).parent / "results" / "command_line.jsonl"
COMMAND = (sys.executable, "-m", "comboost")
N_HELPS = 10
N_ROWS, N_COLUMNS, CLASS_SHARES = 100_000, 30, (0.6, 0.25, 0.1, 0.04, 0.01)


def seconds_of(command: Sequence[str]) -> tuple[float, str]:
    """Seconds that a process takes, and what it says."""
    begin = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return time.perf_counter() - begin, done.stdout


def measure_help() -> dict[str, Any]:
    """Seconds until help is there, the first time aside, which reads files that are not in memory yet."""
    _, *seconds = [seconds_of([*COMMAND, "--help"])[0] for _ in range(N_HELPS + 1)]
    return {"what": "comboost --help, seconds", "figure": median(seconds), "limit": 0.3, "all": seconds}


def measure_cv() -> dict[str, Any]:
    """The share of cross-validation that is no fit: to start, to read, to predict, to count."""
    with tempfile.TemporaryDirectory() as folder:
        rows, clock = Path(folder, "rows.csv"), Path(folder, "clock.json")
        draw_rows().to_csv(rows, index=False)
        command = [sys.executable, "-m", "benchmarks.command_line.child", str(clock)]
        total, _ = seconds_of([*command, "cv", str(rows), "--target", "class", "--json"])
        fits = json.loads(clock.read_text())
    share = 1 - sum(fits) / total
    return {"what": "comboost cv, share outside of fits", "figure": share, "limit": 0.15, "total": total, "fits": fits}


def draw_rows() -> pd.DataFrame:
    """Numbers with six digits, and classes of very different sizes that overlap."""
    random = np.random.default_rng(0)
    y = random.choice(len(CLASS_SHARES), N_ROWS, p=CLASS_SHARES)
    values = random.normal(size=(N_ROWS, N_COLUMNS)) + random.normal(size=(len(CLASS_SHARES), N_COLUMNS))[y] / 2
    table = pd.DataFrame(values.round(6), columns=[f"c{i}" for i in range(N_COLUMNS)])
    return table.assign(**{"class": y})


def measure_compare() -> dict[str, Any]:
    """Seconds of a comparison with all peers that are here."""
    total, said = seconds_of([*COMMAND, "compare", "satimage", "--json"])
    contest = json.loads(said)
    seconds = {each["name"]: each["seconds"] for each in contest["classifiers"]}
    about = {"seconds": seconds, "left_out": contest["left_out"]}
    return {"what": "comboost compare satimage, seconds", "figure": total, "limit": 120.0, **about}


PARTS: dict[str, Callable[[], dict[str, Any]]] = {"help": measure_help, "cv": measure_cv, "compare": measure_compare}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.command_line", description=__doc__)
    parser.add_argument("--part", action="append", choices=PARTS, help="this one alone, which stores nothing")
    options = parser.parse_args()
    cpu, run = CpuTime.now(), {"started": datetime.now(UTC).isoformat(timespec="seconds")}
    run |= {"commit": describe_commit()["commit"], "machine": describe_machine(), "versions": describe_versions()}
    print("| what | measured | limit |\n|---|---|---|")
    run["figures"] = []
    for part in options.part or PARTS:
        found = PARTS[part]()
        run["figures"].append(found)
        print(f"| {found['what']} | {found['figure']:.3g} | below {found['limit']:g} |", flush=True)
    run["others"] = cpu.cores_of_others()
    print(f"\nOther programs kept {run['others']:.2f} cores busy meanwhile.")
    if options.part is None:
        store.write(RESULTS, {key: value for key, value in run.items() if key != "figures"}, run["figures"])


if __name__ == "__main__":
    main()
