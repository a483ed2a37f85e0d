"""What came out of a case. In: tables, verdicts and all that was measured. Out: a JSON file, as soon as it is there."""

import importlib
import json
import os
import shlex
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from benchmarks.speed.contest import Plan
from benchmarks.speed.machine import describe_commit, describe_machine, describe_versions
from benchmarks.speed.verdicts import Verdict

SCHEMA = 1
FOLDER = Path(__file__).parent / "results"

Row = dict[str, Any]


@dataclass
class Result:
    """All that came out of a case."""

    tables: dict[str, list[Row]] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    raw: dict[str, Any] = field(default_factory=dict)
    disturbance: float = 0.0  # cores that other programs kept busy meanwhile

    def summary(self) -> dict[str, Any]:
        """The result as a plain dict."""
        return {
            "tables": self.tables,
            "verdicts": [summarise(verdict) for verdict in self.verdicts],
            "left_out": self.left_out,
            "disturbance": round(self.disturbance, 3),
            "raw": self.raw,
        }


class Case(Protocol):
    """A question that tables answer."""

    name: str
    title: str

    def run(self, plan: Plan) -> Result:
        """Measure it."""


def summarise(verdict: Verdict) -> dict[str, Any]:
    """A verdict as a plain dict."""
    return {
        "question": verdict.question,
        "value": verdict.ratio,
        "target": str(verdict.target),
        "reached": verdict.reached,
    }


def describe_setting(package: str, modules: Iterable[str], settings: dict[str, Any]) -> dict[str, Any]:
    """Where, when, how and with what a run of a package takes place; the modules' versions count, too."""
    return {
        "command": shlex.join(["python", "-m", f"benchmarks.{package}", *sys.argv[1:]]),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": describe_machine(),
        "versions": describe_versions() | {name: importlib.import_module(name).__version__ for name in modules},
        "source": describe_commit(),
        "settings": settings,
    }


def path_of(name: str, *, quick: bool) -> Path:
    """Where the result of a case is; a quick run does not replace a full one."""
    return FOLDER / f"{'quick-' * quick}{name}.json"


def store(path: Path, setting: dict[str, Any], entries: list[dict[str, Any]]) -> None:
    """Write a file; until that is done, the old one stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.tmp")
    content = {"schema": SCHEMA, **setting, "cases": entries}
    unfinished.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    unfinished.replace(path)


def read(name: str) -> dict[str, Any] | None:
    """The stored full run of a case; None if there is none."""
    path = path_of(name, quick=False)
    if not path.exists():
        return None
    content = json.loads(path.read_text(encoding="utf-8"))
    return {**content, "entry": content["cases"][0]}
