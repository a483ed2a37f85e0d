"""The page. In: the stored results. Out: docs/probabilities.md."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks._lib import page
from benchmarks._lib.machine import REPOSITORY
from benchmarks.probabilities.comparison import ESTIMATORS, METHODS

PAGE = REPOSITORY / "docs" / "probabilities.md"
WORDS = Path(__file__).parent / "words.md"
TABLES = {
    "log-loss, uniform": 'Class-balanced log-loss, `priors="uniform"`',
    "log-loss, training": 'Log-loss, `priors="training"`',
    "error, uniform": 'Calibration error, `priors="uniform"`, every class weighing the same',
    "error, training": 'Calibration error, `priors="training"`',
    "norm": "‖C‖ of `predict`",
}
DECIMALS = 3


def write_page(stored: Mapping[str, Any]) -> None:
    """Write what is stored, below words that stay."""
    parts = [WORDS.read_text(encoding="utf-8").rstrip()]
    for name in ESTIMATORS:
        parts.append(f"### {name}")
        parts += [f"{title}:\n\n{render(stored['entries'], name, measure)}" for measure, title in TABLES.items()]
    text = "\n\n".join([*parts, render_run(stored["run"])]) + "\n"
    page.write_page(PAGE, "python -m benchmarks.probabilities", text)


def render(entries: Mapping[str, Any], name: str, measure: str) -> str:
    """A table of a measure: data sets in rows, methods in columns, the best of each row in bold, and means."""
    values = {
        problem: [found.get(name, {}).get(method, {}).get(measure, math.nan) for method in METHODS]
        for problem, found in entries.items()
    }
    means = [sum(column) / len(values) for column in zip(*values.values(), strict=True)]
    rows = [{"": label, **emphasised(line)} for label, line in [*values.items(), ("mean", means)]]
    return page.markdown(rows)


def emphasised(line: list[float]) -> dict[str, str]:
    """A row of a table, its smallest figures in bold."""
    shown = {method: f"{value:.{DECIMALS}f}" for method, value in zip(METHODS, line, strict=True)}
    best = min(shown.values())  # "nan", of what was not run, comes after all numbers
    bold = {method: f"**{figure}**" if figure == best else figure for method, figure in shown.items()}
    return {method: "–" if figure == "nan" else figure for method, figure in bold.items()}


def render_run(run: Mapping[str, Any]) -> str:
    """By which command, of what."""
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    return f"## Run\n\n`{run['command']}`, {run['date']}, commit `{run['commit'][:12]}`. {versions}."
