"""What a run says. In: outcomes. Out: text as they come, a table at the end, and JSON."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks._lib import store
from benchmarks._lib.comparison import Case, Plan
from benchmarks._lib.page import MUCH_DISTURBED, render_verdict, word_for
from benchmarks._lib.peers import OURS
from benchmarks._lib.verdicts import Figure, Outcome


@dataclass
class Report:
    """A run: where it took place, how, and what came out so far."""

    path: Path
    setting: dict[str, Any]
    entries: list[dict[str, Any]] = field(default_factory=list)

    def add(self, case: Case, plan: Plan, outcome: Outcome, seconds: float) -> None:
        """Add a case and store it at once: a run that is stopped loses nothing."""
        entry = {"case": case.name, "title": case.title(plan), "seconds": round(seconds, 1), **summarise(outcome)}
        self.entries.append(entry)
        replace_entry(self.path, entry | {"run": self.setting})

    def add_error(self, case: Case, plan: Plan, error: Exception) -> None:
        """Add a case that could not be run; what an earlier run stored of it stays."""
        entry = {"case": case.name, "title": case.title(plan), "error": f"{type(error).__name__}: {error}"}
        self.entries.append(entry)

    @property
    def sound(self) -> bool:
        """Whether every case ran and every model did its work; a missed target is a result, not a fault."""
        return not any(
            "error" in entry or OURS.name in entry["left_out"] or any(figure["failure"] for figure in entry["figures"])
            for entry in self.entries
        )


def replace_entry(path: Path, entry: dict[str, Any]) -> None:
    """Store a case in place of an earlier run's; other cases stay."""
    entries = (read_entries(path) | {entry["case"]: entry}).values()
    runs = {one["run"]["started"]: one["run"] for one in entries}
    store.write(path, {"runs": runs}, ({**one, "run": one["run"]["started"]} for one in entries))


def read_entries(path: Path) -> dict[str, dict[str, Any]]:
    """Stored cases by name, each with the ``run`` that it comes from."""
    header, entries = store.read(path)
    return {entry["case"]: {**entry, "run": header["runs"][entry["run"]]} for entry in entries}


def summarise(outcome: Outcome) -> dict[str, Any]:
    """An outcome as a plain dict."""
    verdicts = [
        {
            "question": verdict.question,
            "ratio": verdict.ratio,
            "target": str(verdict.target),
            "reached": verdict.reached,
            "reason": verdict.reason,
        }
        for verdict in outcome.verdicts
    ]
    return asdict(outcome) | {"verdicts": verdicts}


def render(outcome: Outcome) -> str:
    """The figures of a case, who was left out, and the verdicts."""
    lines = [render_figure(figure) for figure in outcome.figures]
    lines += [f"  {name:<26}  left out: {reason}" for name, reason in outcome.left_out.items()]
    lines += [f"  {note}" for note in outcome.notes]
    if outcome.disturbance > MUCH_DISTURBED:
        lines.append(f"  other programs kept {outcome.disturbance:.2f} cores busy meanwhile: do not trust these times")
    return "\n".join([f"  {outcome.unit}:", *lines] + [f"  {render_verdict(verdict)}" for verdict in outcome.verdicts])


def render_figure(figure: Figure) -> str:
    """A library's line."""
    variant = ", ".join(f"{key}={value}" for key, value in figure.variant.items())
    learning = figure.learning
    learned = "" if learning is None else f"right {learning.accuracy:.3f} (guessing {learning.guessing:.3f})"
    failed = "" if figure.failure is None else f"FAILED: {figure.failure}"
    remarks = "; ".join(filter(None, (learned, variant, failed)))
    return f"  {figure.name:<26}{figure.value:>10.2f}   {remarks}".rstrip()


def render_table(entries: list[dict[str, Any]]) -> str:
    """All verdicts in a table."""
    rows = [("case", "ratio of", "", "target", "")]
    for entry in entries:
        if "error" in entry:
            rows.append((entry["case"], "could not be run", "", "", "ERROR"))
        for verdict in entry.get("verdicts", []):
            ratio = "–" if verdict["ratio"] is None else f"{verdict['ratio']:.3f}"
            rows.append((entry["case"], verdict["question"], ratio, verdict["target"], word_for(verdict["reached"])))
    widths = [max(len(row[k]) for row in rows) for k in range(5)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
