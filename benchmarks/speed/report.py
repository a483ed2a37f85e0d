"""What a run says. In: outcomes. Out: text as they come, a table at the end, and JSON."""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.speed.contest import Case, Plan
from benchmarks.speed.libraries import OURS
from benchmarks.speed.verdicts import Figure, Outcome, Verdict

SCHEMA = 2
MUCH_DISTURBED = 0.1  # cores


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
    """Store a case in place of what an earlier run found; other cases stay."""
    entries = read_entries(path)
    store(path, {"schema": SCHEMA, "cases": list((entries | {entry["case"]: entry}).values())})


def read_entries(path: Path) -> dict[str, dict[str, Any]]:
    """The stored cases by name, each with the ``run`` that it comes from."""
    if not path.exists():
        return {}
    content = json.loads(path.read_text(encoding="utf-8"))
    return {entry["case"]: entry for entry in content["cases"]} if content["schema"] == SCHEMA else {}


def store(path: Path, content: dict[str, Any]) -> None:
    """Write a file; until that is done, the old one stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.tmp")
    unfinished.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    unfinished.replace(path)


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


def describe(setting: dict[str, Any]) -> str:
    """The head of a run."""
    machine, source = setting["machine"], setting["source"]
    versions = ", ".join(f"{name} {version}" for name, version in setting["versions"].items())
    changed = f" with {len(source['changed_files'])} changed files" if source["changed_files"] else ""
    modules = ", ".join(source["comboost_differs_from_repository_in"])
    differing = f", which differs from the repository in {modules}" if modules else ""
    cores = f"{machine['usable_cores']} of {machine['cores']} cores"
    return "\n".join(
        [
            f"{machine['cpu']}, {cores}, {machine['memory_gib']} GiB, {machine['system']}",
            f"load average at the start: {', '.join(map(str, machine['load_average']))}",
            f"commit {source['commit']}{changed}",
            f"comboost {source['comboost_digest']}{differing}",
            versions,
        ]
    )


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


def render_verdict(verdict: Verdict) -> str:
    """Ratio and target in a line."""
    answer = f"= {verdict.ratio:.3f}" if verdict.ratio is not None else f"cannot be said: {verdict.reason}"
    return f"{verdict.question} {answer}, target {verdict.target}: {word_for(verdict.reached)}"


def word_for(reached: bool) -> str:
    """A verdict in a word."""
    return "reached" if reached else "MISSED"


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
