"""The case about the plain path: what tables without categories and missing values pay for those that have them.

In: the core, and counts of it from before it knew of either. Out: instructions of both, kernel by kernel.
"""

from benchmarks._lib import store
from benchmarks._lib.comparison import Plan
from benchmarks._lib.store import Result
from benchmarks._lib.verdicts import Target, Verdict
from benchmarks.speed.instructions import count_all
from benchmarks.tables.results import FOLDER

BEFORE = FOLDER / "instructions-before.jsonl"  # of commit e210bf3
HARDLY_MORE = Target("≤", 1.02)


class PlainCase:
    """Instructions before and after, which noise does not move."""

    name = "plain"
    title = "instructions of the kernels on a table of complete numbers, counted by callgrind"

    def run(self, plan: Plan) -> Result:
        """Count those of today."""
        header, counted = store.read(BEFORE)
        before = {"problem": header["problem"], "kernels": {count["kernel"]: count for count in counted}}
        after = count_all()
        result = Result(raw={"before": before, "after": after})
        rows = result.tables["plain"] = []
        for kernel, count in after["kernels"].items():
            then, now = before["kernels"][kernel]["instructions"], count["instructions"]
            rows.append({"kernel": kernel, "before": then, "after": now, "after / before": now / then})
            result.verdicts.append(Verdict(f"{kernel}: instructions, after / before", HARDLY_MORE, now / then))
        return result
