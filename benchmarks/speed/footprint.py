"""Peak memory of a fit, over its input. In: a library and a problem. Out: bytes, measured in a fresh process.

The parent calls `footprint_of`; the child runs this module as a program and prints JSON.
"""

import gc
import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._lib.checks import Learning, learning_of
from benchmarks._lib.machine import REPOSITORY
from benchmarks._lib.memory import CLEAR_REFS, RESET_PEAK, resident
from benchmarks._lib.peers import Library, by_name
from benchmarks._lib.problems import Problem


@dataclass(frozen=True)
class Footprint:
    """Bytes before the fit and at its peak, and what the model learned."""

    before: int
    peak: int
    learning: Learning

    @property
    def over_input(self) -> int:
        """Bytes that the fit needed on top."""
        return self.peak - self.before


def footprint_of(library: Library, problem: Problem, n_rounds: int, n_threads: int) -> Footprint:
    """The footprint of a fit in a process of its own."""
    if not CLEAR_REFS.exists():
        raise OSError(f"{CLEAR_REFS} is not there; peak memory can be measured on Linux only")
    task = {
        "library": library.name,
        "settings": library.settings,
        "paths": [str(path) for path in problem.paths()],
        "n_rounds": n_rounds,
        "n_threads": n_threads,
    }
    command = [sys.executable, "-m", __name__, json.dumps(task)]
    child = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if child.returncode != 0:
        raise RuntimeError(f"the child process failed: {child.stderr.strip().splitlines()[-1:]}")
    result = json.loads(child.stdout.splitlines()[-1])
    return Footprint(result["before"], result["peak"], Learning(**result["learning"]))


def measure(task: dict[str, Any]) -> Footprint:
    """The footprint of a fit in this process."""
    library = by_name(task["library"])(task["settings"])
    warm_up(library, task["n_threads"])
    X, y = (np.load(path) for path in task["paths"])
    gc.collect()
    CLEAR_REFS.write_text(RESET_PEAK)
    before = resident("VmRSS")
    with threadpool_limits(task["n_threads"], user_api="openmp"):
        model = library.fit(X, y, task["n_rounds"], task["n_threads"])
    peak = resident("VmHWM")
    return Footprint(before, peak, learning_of(library, model, X, y, task["n_rounds"], task["n_threads"]))


def warm_up(library: Library, n_threads: int) -> None:
    """Load code and start threads first: a library pays for them once, not for every fit."""
    X = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    library.fit(X, (X[:, 0] > 0).astype(np.int32) + (X[:, 1] > 0), 2, n_threads)


if __name__ == "__main__":
    print(json.dumps(asdict(measure(json.loads(sys.argv[1])))))
