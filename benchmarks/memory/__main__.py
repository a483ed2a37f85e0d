"""``python -m benchmarks.memory``: how near the memory that calls plan is to the peak that they reach.

In: the shapes, each in a process of its own. Out: a table of both and of their ratio, and the same as JSON.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from benchmarks._lib import store
from benchmarks._lib.memory import MEBI
from benchmarks._lib.store import describe_setting
from benchmarks.memory.measuring import measure_apart
from benchmarks.memory.shapes import SHAPES

RESULTS = Path(__file__).parent / "results" / "memory.jsonl"
BAND = 1.2  # a plan is right within this factor, both ways


def row_of(name: str, kind: str) -> dict[str, Any]:
    """A line of the table."""
    result = measure_apart(name, kind)
    uses = {use: round(n_bytes / MEBI, 1) for use, n_bytes in result["uses"].items() if n_bytes > 0}
    return {
        "shape": name,
        "call": SHAPES[name].title,
        "kind": kind,
        "planned, MiB": round(result["planned"] / MEBI),
        "measured, MiB": round(result["measured"] / MEBI),
        "planned / measured": round(result["planned"] / result["measured"], 2),
        "uses, MiB": uses,
    }


def is_right(row: dict[str, Any]) -> bool:
    """Whether a plan is near enough."""
    return bool(1 / BAND <= row["planned / measured"] <= BAND)


def main() -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.memory")
    parser.add_argument("--shape", action="append", choices=SHAPES, help="this one alone, not stored; may be repeated")
    picked = parser.parse_args().shape
    setting = describe_setting("memory", (), {})
    print("| call | estimator | planned, MiB | measured, MiB | planned / measured |\n|---|---|---:|---:|---:|")
    rows = []
    for name in picked or SHAPES:
        for kind in SHAPES[name].kinds:
            rows.append(row_of(name, kind))
            _, call, *figures, _ = rows[-1].values()
            print(f"| {call} | {' | '.join(map(str, figures))} |", flush=True)
    if not picked:
        store.write(RESULTS, setting, rows)
        print(f"stored in {RESULTS}")
    wrong = [f"{row['shape']} ({row['kind']})" for row in rows if not is_right(row)]
    print(f"off by more than a factor of {BAND}: {', '.join(wrong) or 'none'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
