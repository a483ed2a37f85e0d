"""A run. In: a comparison, problems and methods. Out: stored entries, and a line for each as it comes."""

from collections.abc import Sequence
from typing import Any

from benchmarks._lib.machine import CpuTime, check_unchanged
from benchmarks.quality.comparisons import AnyMethod, Comparison, describe
from benchmarks.quality.plan import Plan
from benchmarks.quality.problems import Problem, Rows
from benchmarks.quality.store import Store


class Run:
    """A run of some problems and methods of one comparison."""

    def __init__(self, comparison: Comparison, plan: Plan, setting: dict[str, Any], *, again: bool) -> None:
        self.comparison, self.plan, self.setting, self.again = comparison, plan, setting, again
        self.store = Store(comparison.name, quick=plan.quick)

    def run(self, problems: Sequence[Problem], methods: Sequence[AnyMethod]) -> bool:
        """Whether all of them have figures now."""
        sound = [self._run_problem(problem, methods) for problem in problems]
        return all(sound)

    def _run_problem(self, problem: Problem, methods: Sequence[AnyMethod]) -> bool:
        due = [method for method in methods if self.again or not self.store.has(problem.name, method.name)]
        print(f"\n{problem.name}: {len(due)} of {len(methods)} methods to run", flush=True)
        if not due:
            return True
        try:
            rows = problem.load(self.plan)
        except OSError as error:
            reason = f"the rows are not there: {error}".splitlines()[0]
            for method in due:
                self._leave_out(problem, method, reason)
            return False
        sound = [self._run_method(problem, rows, method) for method in due]
        return all(sound)

    def _run_method(self, problem: Problem, rows: Rows, method: AnyMethod) -> bool:
        reason = method.missing()
        if reason is not None:
            self._leave_out(problem, method, reason)
            return False
        start = CpuTime.now()
        try:
            entry = self.comparison.measure(rows, method, self.plan)
        except Exception as error:  # a library may raise anything, and none may stop the others
            self._leave_out(problem, method, f"{type(error).__name__}: {error}".splitlines()[0])
            return False
        check_unchanged(self.setting["source"])
        entry["disturbance"] = round(start.cores_of_others(), 3)
        self.store.add(problem.name, method.name, entry, self.setting)
        print(f"  {method.name:<38}{describe(entry)}", flush=True)
        return True

    def _leave_out(self, problem: Problem, method: AnyMethod, reason: str) -> None:
        """Say why there are no figures; those of an earlier run stay."""
        print(f"  {method.name:<38}left out: {reason}", flush=True)
        if not self.store.has(problem.name, method.name):
            self.store.add(problem.name, method.name, {"left_out": reason}, self.setting)
