"""Findings, as programs that repeat them, and the table of counts."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fuzz.worker import Verdict

COLUMNS = ("generator", "cases", "passed", "refused", "void", "findings", "different", "seconds")


class Finding(NamedTuple):
    """A program that violates a property, crashes, hangs or raises an undocumented error."""

    generator: str
    seed: int
    number: int
    program: str
    verdict: Verdict

    @property
    def text(self) -> str:
        """The program, under comments that say what was seen."""
        seen = self.verdict.reason.replace("\n", "\n#   ")
        lines = [f"# {self.generator}, seed {self.seed}, case {self.number}", f"# Seen: {seen}"]
        return "\n".join([*lines, *([f"# Where: {self.verdict.location}"] if self.verdict.location else [])]) + (
            f"\n\n{self.program}"
        )

    def save(self, folder: Path) -> Path:
        """Write the program to a folder, named after its generator, reason and number."""
        folder.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256(self.verdict.key.encode()).hexdigest()[:8]
        path = folder / f"{self.generator}-{digest}-{self.seed}-{self.number}.py"
        path.write_text(self.text, encoding="utf-8")
        return path


class Findings:
    """All findings; the first of those with the same key is stored and printed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._counts: dict[tuple[str, str], int] = {}

    def add(self, finding: Finding) -> bool:
        """Count a finding; store and print it if it is new."""
        key = (finding.generator, finding.verdict.key)
        self._counts[key] = self._counts.get(key, 0) + 1
        if self._counts[key] > 1:
            return False
        path = finding.save(self._folder)
        print(f"\n{'-' * 100}\n{finding.text}\n# Saved as {path}", flush=True)
        return True

    def __len__(self) -> int:
        return len(self._counts)


@dataclass
class Count:
    """Counts of the cases of a generator."""

    cases: int = 0
    refused: int = 0
    void: int = 0
    findings: int = 0
    different: int = 0
    seconds: float = 0.0
    longest: float = 0.0

    def add(self, status: str, seconds: float, *, is_new: bool) -> None:
        """Count a case."""
        self.cases += 1
        self.refused += status == "refused"
        self.void += status == "void"
        self.findings += status == "finding"
        self.different += is_new
        self.seconds += seconds
        self.longest = max(self.longest, seconds)

    @property
    def row(self) -> tuple[int, ...]:
        """A row of the table."""
        passed = self.cases - self.refused - self.void - self.findings
        return self.cases, passed, self.refused, self.void, self.findings, self.different, round(self.seconds)


def render(counts: dict[str, Count], *, markdown: bool) -> str:
    """The table, with a line of sums."""
    rows = [(name, *count.row) for name, count in counts.items()]
    rows.append(("all", *(sum(row[i] for row in rows) for i in range(1, len(COLUMNS)))))
    table = [COLUMNS, *([("---", *["--:"] * (len(COLUMNS) - 1))] if markdown else []), *rows]
    widths = [max(len(str(row[i])) for row in table) for i in range(len(COLUMNS))]
    lines = []
    for row in table:
        cells = [
            str(cell).ljust(width) if i == 0 else str(cell).rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(f"| {' | '.join(cells)} |" if markdown else "  ".join(cells))
    return "\n".join(lines)
