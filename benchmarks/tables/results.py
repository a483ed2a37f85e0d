"""Stored results of the cases, one file each."""

from pathlib import Path
from typing import Any, Protocol

from benchmarks._lib import store
from benchmarks._lib.comparison import Plan
from benchmarks._lib.store import Result

FOLDER = Path(__file__).parent / "results"


class Case(Protocol):
    """A question that tables answer."""

    name: str
    title: str

    def run(self, plan: Plan) -> Result:
        """Measure it."""


def path_of(name: str, *, quick: bool) -> Path:
    """Where the result of a case is; a quick run does not replace a full one."""
    return FOLDER / f"{'quick-' * quick}{name}.jsonl"


def read(name: str) -> dict[str, Any] | None:
    """The stored full run of a case; None if there is none."""
    header, entries = store.read(path_of(name, quick=False))
    return {**header, "entry": entries[0]} if entries else None
