"""``python -m benchmarks.abi PYTHON OTHER``: how fast two builds of the core are, each installed for a Python.

In: two interpreters, one of an environment with the module of its own version, one with that of the stable ABI. Out:
a table of times, whose ratio should be 1, and whether both fit the same models. Processes take turns, so that what else
the machine does meets both.
"""

import argparse
import json
import statistics
import subprocess
from pathlib import Path

CHILD = Path(__file__).with_name("child.py")


def measure(python: str) -> dict[str, dict[str, float | str]]:
    """What a process of an interpreter measures; it runs away from this folder, where no package can be found."""
    command = [python, "-I", str(CHILD)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd="/")
    figures: dict[str, dict[str, float | str]] = json.loads(done.stdout)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.abi")
    parser.add_argument("python", help="with the module of its own version")
    parser.add_argument("other", help="with that of the stable ABI")
    parser.add_argument("--repeats", type=int, default=9, help="processes of each")
    options = parser.parse_args()
    turns = [(measure(options.python), measure(options.other)) for _ in range(options.repeats)]
    print(f"{'':34}{'own, ms':>10}{'stable, ms':>12}{'ratio':>8}   models")
    for name in turns[0][0]:
        times = [[float(turn[side][name]["seconds"]) for turn in turns] for side in (0, 1)]
        own, stable = (min(side) for side in times)
        ratio = statistics.median(after / before for before, after in zip(*times, strict=True))
        same = len({str(figures[name]["digest"]) for turn in turns for figures in turn}) == 1
        print(f"{name:34}{1e3 * own:10.3f}{1e3 * stable:12.3f}{ratio:8.3f}   {'the same' if same else 'OTHERS'}")


if __name__ == "__main__":
    main()
