"""The table of cases. In: a name. Out: cases."""

from typing import Protocol

from benchmarks._lib.store import Result
from benchmarks.dask.memory import MemoryCase
from benchmarks.dask.overhead import OverheadCase
from benchmarks.dask.plan import Plan
from benchmarks.dask.speed import SpeedCase
from benchmarks.dask.stopped import StoppedCase
from benchmarks.dask.traffic import TrafficCase


class Case(Protocol):
    """A question that tables answer."""

    name: str

    def title(self, plan: Plan) -> str:
        """What is measured, in a line."""

    def run(self, plan: Plan) -> Result:
        """Measure it."""


CASES: tuple[Case, ...] = (SpeedCase(), OverheadCase(), MemoryCase(), TrafficCase(), StoppedCase())
NAMES = tuple(case.name for case in CASES)


def pick(name: str | None) -> list[Case]:
    """The case of this name; all cases where none is given."""
    return [case for case in CASES if name in (None, case.name)]
