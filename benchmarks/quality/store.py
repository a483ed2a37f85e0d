"""Stored entries of problems and methods. A later run goes on where an earlier one stopped."""

import tempfile
from pathlib import Path
from typing import Any

from benchmarks._lib import store
from benchmarks.quality.measures import MEASURES

RESULTS = Path(__file__).parent / "results"
SCRATCH = Path(tempfile.gettempdir()) / "comboost-benchmarks" / "quality"

Entry = dict[str, Any]


def folder_of(*, quick: bool) -> Path:
    """Where results are; those of a quick run do not stand beside those of a full one."""
    return SCRATCH if quick else RESULTS


class Store:
    """The entries of a comparison.

    Every change is made to what the file holds at that moment, so that runs of different problems, one after the other
    or at once, end up in one file.
    """

    def __init__(self, comparison: str, *, quick: bool) -> None:
        self.path = folder_of(quick=quick) / f"{comparison}.jsonl"

    def read(self) -> dict[str, Any]:
        """Stored entries by problem and method, and the settings of their runs by start."""
        header, lines = store.read(self.path)
        entries: dict[str, dict[str, Entry]] = {}
        for line in lines:
            problem, method = line.pop("problem"), line.pop("method")
            entries.setdefault(problem, {})[method] = line
        return {"runs": header.get("runs", {}), "entries": entries}

    def has(self, problem: str, method: str) -> bool:
        """Whether every measure is stored; entries of earlier versions may lack some."""
        entry = self.read()["entries"].get(problem, {}).get(method, {})
        return all(one.key in entry.get("folds", {}) for one in MEASURES)

    def add(self, problem: str, method: str, entry: Entry, setting: dict[str, Any]) -> None:
        """Add an entry, and the setting of its run."""
        content = self.read()
        run = setting["started"]
        content["runs"][run] = setting
        content["entries"].setdefault(problem, {})[method] = {"run": run, **entry}
        lines = [
            {"problem": name, "method": other, **one}
            for name, methods in content["entries"].items()
            for other, one in methods.items()
        ]
        used = sorted({line["run"] for line in lines})
        store.write(self.path, {"runs": {name: content["runs"][name] for name in used}}, lines)
