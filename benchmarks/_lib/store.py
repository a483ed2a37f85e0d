"""Stored results: a ``.jsonl`` file has a header, which says how the results were measured, and one result per line."""

import importlib
import json
import os
import shlex
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks._lib.machine import describe_commit, describe_machine, describe_versions
from benchmarks._lib.verdicts import Verdict

Row = dict[str, Any]


def write_text(path: Path, text: str) -> None:
    """Replace a file at once: a run that is stopped leaves the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.tmp")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def write(path: Path, header: Mapping[str, Any], entries: Iterable[Row]) -> None:
    """Store a header and entries."""
    write_text(path, "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in (dict(header), *entries)))


def read(path: Path) -> tuple[dict[str, Any], list[Row]]:
    """Stored header and entries; both are empty if there is no such file."""
    if not path.exists():
        return {}, []
    header, *entries = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return header, entries


def describe_setting(package: str, modules: Iterable[str], settings: dict[str, Any]) -> dict[str, Any]:
    """Command, time, machine, versions, commit and settings of a run; `modules` add their versions."""
    return {
        "command": shlex.join(["python", "-m", f"benchmarks.{package}", *sys.argv[1:]]),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": describe_machine(),
        "versions": describe_versions() | {name: importlib.import_module(name).__version__ for name in modules},
        "source": describe_commit(),
        "settings": settings,
    }


@dataclass
class Result:
    """Tables, verdicts and all measurements of a case."""

    tables: dict[str, list[Row]] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    raw: dict[str, Any] = field(default_factory=dict)
    disturbance: float = 0.0  # cores that other programs kept busy meanwhile

    def summary(self) -> dict[str, Any]:
        """Return the result as a plain dict."""
        return {
            "tables": self.tables,
            "verdicts": [
                {
                    "question": verdict.question,
                    "value": verdict.ratio,
                    "target": str(verdict.target),
                    "reached": verdict.reached,
                }
                for verdict in self.verdicts
            ],
            "left_out": self.left_out,
            "disturbance": round(self.disturbance, 3),
            "raw": self.raw,
        }
