"""What came out. In: entries of problems and methods, as they come. Out: a JSON file that a later run goes on with."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

SCHEMA = 1
RESULTS = Path(__file__).parent / "results"
SCRATCH = Path(tempfile.gettempdir()) / "comboost-benchmarks" / "quality"

Entry = dict[str, Any]


def folder_of(*, quick: bool) -> Path:
    """Where results are; those of a quick run do not stand beside those of a full one."""
    return SCRATCH if quick else RESULTS


class Store:
    """The entries of a kind of comparison.

    Every change is made to what the file holds at that moment, so that runs of different problems, one after the other
    or at once, end up in one file.
    """

    def __init__(self, kind: str, *, quick: bool) -> None:
        self.path = folder_of(quick=quick) / f"{kind}.json"

    def read(self) -> dict[str, Any]:
        """All that is stored: entries by problem and method, and the settings of the runs that they name."""
        if not self.path.exists():
            return {"schema": SCHEMA, "runs": {}, "entries": {}}
        return json.loads(self.path.read_text(encoding="utf-8"))

    def has(self, problem: str, method: str) -> bool:
        """Whether there are figures; a reason why there are none does not count."""
        return "left_out" not in self.read()["entries"].get(problem, {}).get(method, {"left_out": "not run yet"})

    def add(self, problem: str, method: str, entry: Entry, setting: dict[str, Any]) -> None:
        """Add an entry, and the setting of its run."""
        content = self.read()
        run = setting["started"]
        content["runs"][run] = setting
        content["entries"].setdefault(problem, {})[method] = {"run": run, **entry}
        used = {one["run"] for methods in content["entries"].values() for one in methods.values()}
        content["runs"] = {name: content["runs"][name] for name in sorted(used)}
        self._write(content)

    def _write(self, content: dict[str, Any]) -> None:
        """Write the file; until that is done, the old one stays."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(f".{os.getpid()}.tmp")
        unfinished.write_text(as_text(content), encoding="utf-8")
        unfinished.replace(self.path)


def as_text(content: dict[str, Any]) -> str:
    """JSON with a line for every entry and run, so that changes can be read."""
    runs = ",\n".join(f"  {dump(name)}: {dump(run)}" for name, run in content["runs"].items())
    problems = ",\n".join(
        f"  {dump(problem)}: {{\n"
        + ",\n".join(f"   {dump(method)}: {dump(entry)}" for method, entry in methods.items())
        + "\n  }"
        for problem, methods in content["entries"].items()
    )
    return f'{{\n "schema": {content["schema"]},\n "runs": {{\n{runs}\n }},\n "entries": {{\n{problems}\n }}\n}}\n'


def dump(value: Any) -> str:
    """JSON in a line."""
    return json.dumps(value, ensure_ascii=False)
