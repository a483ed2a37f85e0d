"""Text of results: tables (rows are dicts with the same keys), headers of runs, verdicts, and pages of the site."""

from pathlib import Path
from typing import Any

from benchmarks._lib.machine import REPOSITORY
from benchmarks._lib.store import Row, write_text
from benchmarks._lib.verdicts import Verdict

MUCH_DISTURBED = 0.1  # cores that other programs keep busy, beyond which times are not trusted


def write_page(path: Path, command: str, text: str) -> None:
    """Write a page of the site, whose source names the command that writes it."""
    write_text(path, f"<!-- written by {command}; do not edit -->\n{text}")
    shown = path.relative_to(REPOSITORY) if path.is_relative_to(REPOSITORY) else path
    print(f"wrote {shown}")


def cell(value: Any) -> str:
    """A value in a few digits."""
    if value is None:
        return "–"
    if isinstance(value, float) and abs(value) < 1000:
        return f"{value:.3g}"
    if isinstance(value, (int, float)):
        return f"{round(value):_}".replace("_", " ")
    return str(value)


def cells(rows: list[Row]) -> list[list[str]]:
    """The names of the columns and all values, as text."""
    return [list(rows[0]), *([cell(value) for value in row.values()] for row in rows)]


def aligned(rows: list[Row]) -> str:
    """Columns under each other."""
    grid = cells(rows)
    widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
    return "\n".join(
        "  " + "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in grid
    )


def markdown(rows: list[Row]) -> str:
    """A Markdown table."""
    head, *body = cells(rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *body])


def verdict(entry: dict[str, Any]) -> str:
    """A verdict in a line."""
    return f"{entry['question']}: {cell(entry['value'])} (target {entry['target']})"


def describe(setting: dict[str, Any]) -> str:
    """The head of a run."""
    machine, source = setting["machine"], setting["source"]
    versions = ", ".join(f"{name} {version}" for name, version in setting["versions"].items())
    changed = f" with {len(source['changed_files'])} changed files" if source["changed_files"] else ""
    modules = ", ".join(source["comboost_differs_from_repository_in"])
    differing = f", which differs from the repository in {modules}" if modules else ""
    cores = f"{machine['usable_cores']} of {machine['cores']} cores"
    return "\n".join(
        [
            f"{machine['cpu']}, {cores}, {machine['memory_gib']} GiB, {machine['system']}",
            f"load average at the start: {', '.join(map(str, machine['load_average']))}",
            f"commit {source['commit']}{changed}",
            f"comboost {source['comboost_digest']}{differing}",
            versions,
        ]
    )


def render_verdict(verdict: Verdict) -> str:
    """Ratio and target in a line."""
    answer = f"= {verdict.ratio:.3f}" if verdict.ratio is not None else f"cannot be said: {verdict.reason}"
    return f"{verdict.question} {answer}, target {verdict.target}: {word_for(verdict.reached)}"


def word_for(reached: bool) -> str:
    """A verdict in a word."""
    return "reached" if reached else "MISSED"
