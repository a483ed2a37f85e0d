"""A run. In: a kind of comparison, problems and methods. Out: stored entries, and a line for each as it comes."""

from collections.abc import Sequence
from typing import Any, Protocol

from benchmarks._lib.machine import CpuTime, check_unchanged
from benchmarks.quality.plan import Plan
from benchmarks.quality.problems import Problem, Rows
from benchmarks.quality.store import Entry, Store


class Competitor(Protocol):
    """A method, of whatever kind."""

    name: str

    def missing(self) -> str | None:
        """Why it cannot take part here, if it cannot."""


class Kind(Protocol):
    """A kind of comparison."""

    name: str
    problems: Sequence[Problem]
    methods: Sequence[Any]

    def prepare(self, rows: Rows, plan: Plan) -> Any:
        """The rows as all methods get them."""

    def measure(self, data: Any, method: Any, plan: Plan) -> Entry:
        """What comes out of a method."""

    def describe(self, entry: Entry) -> str:
        """An entry in a line."""


class Run:
    """A run of some problems and methods of one kind."""

    def __init__(self, kind: Kind, plan: Plan, setting: dict[str, Any], *, again: bool) -> None:
        self.kind, self.plan, self.setting, self.again = kind, plan, setting, again
        self.store = Store(kind.name, quick=plan.quick)

    def run(self, problems: Sequence[Problem], methods: Sequence[Competitor]) -> bool:
        """Whether all of them have figures now."""
        sound = [self._run_problem(problem, methods) for problem in problems]
        return all(sound)

    def _run_problem(self, problem: Problem, methods: Sequence[Competitor]) -> bool:
        due = [method for method in methods if self.again or not self.store.has(problem.name, method.name)]
        print(f"\n{problem.name}: {len(due)} of {len(methods)} methods to run", flush=True)
        if not due:
            return True
        try:
            data = self.kind.prepare(problem.load(self.plan), self.plan)
        except OSError as error:
            reason = f"the rows are not there: {error}".splitlines()[0]
            for method in due:
                self._leave_out(problem, method, reason)
            return False
        sound = [self._run_method(problem, data, method) for method in due]
        return all(sound)

    def _run_method(self, problem: Problem, data: Any, method: Competitor) -> bool:
        reason = method.missing()
        if reason is not None:
            self._leave_out(problem, method, reason)
            return False
        start = CpuTime.now()
        try:
            entry = self.kind.measure(data, method, self.plan)
        except Exception as error:  # a library may raise anything, and none may stop the others
            self._leave_out(problem, method, f"{type(error).__name__}: {error}".splitlines()[0])
            return False
        check_unchanged(self.setting["source"])
        entry["disturbance"] = round(start.cores_of_others(), 3)
        self.store.add(problem.name, method.name, entry, self.setting)
        print(f"  {method.name:<34}{self.kind.describe(entry)}", flush=True)
        return True

    def _leave_out(self, problem: Problem, method: Competitor, reason: str) -> None:
        """Say why there are no figures; those of an earlier run stay."""
        print(f"  {method.name:<34}left out: {reason}", flush=True)
        if not self.store.has(problem.name, method.name):
            self.store.add(problem.name, method.name, {"left_out": reason}, self.setting)
