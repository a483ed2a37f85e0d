"""The page of a full run. In: the stored results. Out: docs/performance.md, by ``python -m benchmarks.speed.page``."""

import json
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]
RESULTS = Path(__file__).parent / "results"
PAGE = REPOSITORY / "docs" / "performance.md"

HEAD = """# Performance

The last full run of the speed benchmark, losses included. To repeat it (15 minutes; nothing else should run):

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


def render_page(speed: dict[str, Any], instructions: dict[str, Any] | None) -> str:
    """The whole page."""
    parts = [HEAD, render_setting(speed), render_verdicts(speed["cases"]), "## Figures\n"]
    parts += [render_case(entry) for entry in speed["cases"]]
    if instructions is not None:
        parts.append(render_instructions(instructions["instructions"]))
    return "\n".join(parts)


def render_setting(speed: dict[str, Any]) -> str:
    """Where and with what."""
    machine, settings = speed["machine"], speed["settings"]
    versions = ", ".join(f"{name} {version}" for name, version in speed["versions"].items())
    return (
        f"Run of {speed['started'][:10]}, commit `{speed['source']['commit'][:12]}`, {machine['cpu']}, "
        f"{machine['cores']} cores, {machine['memory_gib']} GiB, {settings['threads']} threads, "
        f"{settings['repeats']} repeats, {settings['rounds']} rounds.\n{versions}.\n"
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


def render_case(entry: dict[str, Any]) -> str:
    """The figures of all libraries in a case."""
    if "error" in entry:
        return f"- {entry['title']}: could not be run, {entry['error']}"
    figures = ", ".join(render_figure(figure) for figure in entry["figures"])
    left_out = "".join(f"; without {name} ({reason})" for name, reason in entry["left_out"].items())
    return f"- {entry['title']}, {entry['unit']}: {figures}{left_out}."


def render_figure(figure: dict[str, Any]) -> str:
    """A library's figure, and how much of its training rows its model gets right."""
    learning = figure.get("learning")
    right = "" if learning is None else f" (right {learning['accuracy']:.2f})"
    return f"{figure['name']} {figure['value']:.4g}{right}"


def render_instructions(counts: dict[str, Any]) -> str:
    """Instruction counts of the kernels."""
    problem = counts["problem"]
    rows = [
        "",
        "## Instructions",
        "",
        f"What noise does not move: instructions of the kernels by callgrind, {problem['n_rows']} × "
        f"{problem['n_features']}, {problem['n_classes']} classes, {problem['n_trees']} trees, one thread.",
        "",
        "| kernel | million instructions | per | |",
        "|---|---|---|---|",
    ]
    for name, count in counts["kernels"].items():
        rows.append(f"| {name} | {count['instructions'] / 1e6:.1f} | {count['step']} | {count['per_step']:.1f} |")
    return "\n".join(rows) + "\n"


def read(name: str) -> dict[str, Any] | None:
    """Stored results, if they are there."""
    path = RESULTS / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


if __name__ == "__main__":
    results = read("speed.json")
    if results is None:
        raise SystemExit("there is no full run yet: python -m benchmarks.speed")
    PAGE.write_text(render_page(results, read("instructions.json")), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(REPOSITORY)}")
