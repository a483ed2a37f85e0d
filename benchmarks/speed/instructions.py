"""Instructions of the core's kernels. In: the core's sources. Out: counts by callgrind, which noise does not move.

They say what the code does, not how long it takes: a cache miss counts as much as an addition.
"""

import re
from pathlib import Path
from typing import Any

from benchmarks.speed.native import PROGRAMS, build_kernels, run

N_ROWS, N_FEATURES, N_CLASSES = 20_000, 20, 5
N_TREES = 200  # as many as the rounds of the prediction cases: what is done once per row must not weigh more than there
N_BINS = 255

#: What each kernel does once: the name of a step, and how many of them there are.
STEPS = {
    "find_edges": ("row·feature", N_ROWS * N_FEATURES),
    "encode": ("row·feature", N_ROWS * N_FEATURES),
    "update": ("row·class", N_ROWS * N_CLASSES),
    "count_histograms": ("row·feature", N_ROWS * N_FEATURES),
    "search": ("bin·class", N_FEATURES * N_BINS * N_CLASSES),
    "split": ("row", N_ROWS),
    "add_scores": ("row·tree", N_ROWS * N_TREES),
}


def count_all() -> dict[str, Any]:
    """Counts of all kernels, without what setting them up takes."""
    valgrind = run("valgrind", "--version").stdout.strip()
    program = build_kernels()
    setup = count(program, "setup")
    kernels = {name: describe(name, count(program, name) - setup) for name in STEPS}
    problem = {"n_samples": N_ROWS, "n_features": N_FEATURES, "n_classes": N_CLASSES, "n_trees": N_TREES}
    return {"valgrind": valgrind, "problem": problem, "kernels": kernels}


def count(program: Path, kernel: str) -> int:
    """Instructions of a whole run of the program."""
    sizes = map(str, (N_ROWS, N_FEATURES, N_CLASSES, N_TREES))
    callgrind = ("--tool=callgrind", f"--callgrind-out-file={PROGRAMS / 'callgrind.out'}")
    said = run("valgrind", *callgrind, program, kernel, *sizes).stderr
    return int(re.search(r"Collected : (\d+)", said)[1])


def describe(kernel: str, n_instructions: int) -> dict[str, Any]:
    """A count, per row and feature, and per step of the kernel's own kind."""
    step, n_steps = STEPS[kernel]
    return {
        "instructions": n_instructions,
        "per_row_feature": n_instructions / (N_ROWS * N_FEATURES),
        "step": step,
        "per_step": n_instructions / n_steps,
    }


def render(counts: dict[str, Any]) -> str:
    """The counts as a table."""
    problem = f"{N_ROWS} × {N_FEATURES}, {N_CLASSES} classes, {N_TREES} trees, one thread"
    lines = [f"instructions by callgrind ({counts['valgrind']}), {problem}", ""]
    lines.append(f"{'kernel':<18}{'instructions':>14}{'per row·feature':>18}{'per step':>12}  step")
    for name, one in counts["kernels"].items():
        figures = f"{one['instructions']:>14}{one['per_row_feature']:>18.2f}{one['per_step']:>12.2f}"
        lines.append(f"{name:<18}{figures}  {one['step']}")
    return "\n".join(lines)
