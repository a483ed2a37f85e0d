"""Counts. In: verdicts by generator. Out: a table of them."""

from dataclasses import dataclass

COLUMNS = ("generator", "cases", "passed", "refused", "void", "findings", "different", "seconds")


@dataclass
class Count:
    """What became of the cases of a generator."""

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
        """The figures of the table."""
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
