"""A call's plan and its peak. In: the name of a shape, a kind of estimator. Out: bytes, from a process of its own.

The parent calls `measure_apart`; the child runs this module as a program and prints JSON.
"""

import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from benchmarks._lib.machine import REPOSITORY
from benchmarks._lib.memory import CLEAR_REFS, RESET_PEAK, resident, settle
from benchmarks.memory.shapes import KINDS, SHAPES, SHRUNK
from comboost._engine import memory, memory_plan


def measure_apart(name: str, kind: str) -> dict[str, Any]:
    """The plan and the peak of a call in a process of its own."""
    if not CLEAR_REFS.exists():
        raise OSError(f"{CLEAR_REFS} is not there; peak memory can be measured on Linux only")
    command = [sys.executable, "-m", __name__, name, kind]
    child = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if child.returncode != 0:
        raise RuntimeError(f"the child process failed: {child.stderr.strip().splitlines()[-1:]}")
    result: dict[str, Any] = json.loads(child.stdout.splitlines()[-1])
    return result


@contextmanager
def plans() -> Iterator[list[dict[str, int]]]:
    """All that the package asks for meanwhile, before it takes it."""
    asked: list[dict[str, int]] = []

    def note(task: str, needed: dict[str, int], advice: str) -> None:
        asked.append(dict(needed))

    with patch.object(memory, "check_room", note), patch.object(memory_plan, "check_room", note):
        yield asked


def measure(name: str, kind: str) -> dict[str, Any]:
    """The plan and the peak of a call in this process."""
    make, booster = SHAPES[name].make, KINDS.get(kind)
    make(booster, SHRUNK)()  # loads code and starts threads
    call = make(booster, 1)
    settle()
    before = resident("VmRSS")
    CLEAR_REFS.write_text(RESET_PEAK)
    with plans() as asked:
        call()
    peak = resident("VmHWM") - before
    plan = max(asked, key=lambda needed: sum(needed.values()))
    return {"planned": sum(plan.values()), "measured": peak, "uses": plan}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(measure(*sys.argv[1:])))
