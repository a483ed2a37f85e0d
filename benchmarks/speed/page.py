"""The page of all cases. In: the stored results. Out: docs/performance.md, by ``python -m benchmarks.speed.page``."""

from pathlib import Path
from typing import Any

from benchmarks._lib import store
from benchmarks._lib.machine import REPOSITORY
from benchmarks._lib.page import MUCH_DISTURBED, write_page
from benchmarks.speed.cases import CASES
from benchmarks.speed.report import read_entries

RESULTS = Path(__file__).parent / "results"
PAGE = REPOSITORY / "docs" / "performance.md"

HEAD = """# Performance

The last full run of every case of the speed benchmark, losses included. To repeat it (an hour and a half, most of it
the peers'; nothing else should run, and a run that was stopped can go on with the cases that are missing):

```sh
pip install ".[bench]"
python -m benchmarks.speed                  # --quick takes two minutes, --case NAME picks one, --list names them
python -m benchmarks.speed --instructions   # needs valgrind
python -m benchmarks.speed.page             # writes this page
```

Every target is a ratio of two figures of one run on one machine: times, rows per second, or MiB. Libraries take turns,
and the best of the repeats counts; the time per round of a fit is the median over its rounds or, if a library does not
tell of its rounds, the difference of fits. Peers run at the fastest of their own settings; their round is one tree per
class, or one tree with a vector in each leaf if that is faster. Ours is one tree whose leaves cast a single vote, so
with many classes a round of ours learns less: see "right" beside the figures, the share of the first 20 000 training
rows that the model gets right (for ours, the mean over the classes). Times per round are not times to a given quality.
Every model must have learned something, or its figure does not count: a tenth of the way from guessing to perfect, or
twice guessing. Depth 3, 255 bins.
"""


def render_page(entries: list[dict[str, Any]], counted: dict[str, Any], kernels: list[dict[str, Any]]) -> str:
    """The whole page."""
    runs = Runs(entries)
    parts = [HEAD, runs.render(), render_verdicts(entries), "## Figures\n"]
    parts += [render_case(entry, runs.number_of(entry)) for entry in entries]
    if kernels:
        parts.append(render_instructions(counted["problem"], kernels))
    return "\n".join(parts)


class Runs:
    """The runs that cases come from, numbered."""

    def __init__(self, entries: list[dict[str, Any]]) -> None:
        self._by_start = {entry["run"]["started"]: entry["run"] for entry in entries}
        self._numbers = {start: number for number, start in enumerate(sorted(self._by_start), start=1)}

    def number_of(self, entry: dict[str, Any]) -> int:
        """The number of an entry's run."""
        return self._numbers[entry["run"]["started"]]

    def render(self) -> str:
        """Where and with what."""
        return "\n".join(render_run(number, self._by_start[start]) for start, number in self._numbers.items()) + "\n"


def render_run(number: int, run: dict[str, Any]) -> str:
    """A run in a line."""
    machine, settings, source = run["machine"], run["settings"], run["source"]
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    return (
        f"{number}. Run of {run['started'][:10]}, commit `{source['commit'][:12]}`, "
        f"package `{source['comboost_digest']}`: {machine['cpu']}, "
        f"{machine['cores']} cores, {machine['memory_gib']} GiB, {settings['threads']} threads, "
        f"{settings['repeats']} repeats, {settings['rounds']} rounds. {versions}."
    )


def render_verdicts(entries: list[dict[str, Any]]) -> str:
    """Ratios beside their targets."""
    rows = ["## Targets", "", "| case | ratio of | measured | target | |", "|---|---|---|---|---|"]
    for entry in entries:
        for verdict in entry.get("verdicts", []):
            ratio = "–" if verdict["ratio"] is None else f"{verdict['ratio']:.2f}"
            word = "reached" if verdict["reached"] else "**missed**"
            rows.append(f"| {entry['title']} | {verdict['question']} | {ratio} | {verdict['target']} | {word} |")
    return "\n".join(rows) + "\n"


def render_case(entry: dict[str, Any], run: int) -> str:
    """The figures of all libraries in a case."""
    figures = ", ".join(render_figure(figure) for figure in entry["figures"])
    left_out = "".join(f"; without {name} ({reason})" for name, reason in entry["left_out"].items())
    disturbed = entry["disturbance"] > MUCH_DISTURBED
    others = f"; other programs kept {entry['disturbance']:.2f} cores busy meanwhile" if disturbed else ""
    return f"- {entry['title']}, {entry['unit']}: {figures}{left_out} (run {run}{others})."


def render_figure(figure: dict[str, Any]) -> str:
    """A library's figure, and how much of its training rows its model gets right."""
    learning = figure.get("learning")
    right = "" if learning is None else f" (right {learning['accuracy']:.2f})"
    return f"{figure['name']} {figure['value']:.4g}{right}"


def render_instructions(problem: dict[str, int], kernels: list[dict[str, Any]]) -> str:
    """Instruction counts of the kernels."""
    rows = [
        "",
        "## Instructions",
        "",
        f"What noise does not move: instructions of the kernels by callgrind, {problem['n_samples']} × "
        f"{problem['n_features']}, {problem['n_classes']} classes, {problem['n_trees']} trees, one thread.",
        "",
        "| kernel | million instructions | per | |",
        "|---|---|---|---|",
    ]
    for count in kernels:
        rows.append(
            f"| {count['kernel']} | {count['instructions'] / 1e6:.1f} | {count['step']} | {count['per_step']:.1f} |"
        )
    return "\n".join(rows) + "\n"


def main() -> None:
    """Write the page of what is stored, and say which cases are missing."""
    entries = read_entries(RESULTS / "speed.jsonl")
    if missing := [case.name for case in CASES if case.name not in entries]:
        print(f"no run is stored of {', '.join(missing)}: python -m benchmarks.speed --case NAME")
    there = [entries[case.name] for case in CASES if case.name in entries]
    instructions = store.read(RESULTS / "instructions.jsonl")
    write_page(PAGE, "python -m benchmarks.speed.page", render_page(there, *instructions))


if __name__ == "__main__":
    main()
