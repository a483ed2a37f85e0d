"""Findings. In: a verdict and the program. Out: the program with what was seen above it, printed and in a folder."""

import hashlib
from pathlib import Path
from typing import NamedTuple

from fuzz.judging import Verdict


class Finding(NamedTuple):
    """A program that does what no program should."""

    generator: str
    seed: int
    number: int
    program: str
    verdict: Verdict

    @property
    def text(self) -> str:
        """The program, with a word on what was seen."""
        seen = self.verdict.reason.replace("\n", "\n#   ")
        lines = [f"# {self.generator}, seed {self.seed}, case {self.number}", f"# Seen: {seen}"]
        return "\n".join([*lines, *([f"# Where: {self.verdict.place}"] if self.verdict.place else [])]) + (
            f"\n\n{self.program}"
        )

    def save(self, folder: Path) -> Path:
        """Write the program to a folder, under a name that tells what it is about."""
        folder.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256(self.verdict.key.encode()).hexdigest()[:8]
        path = folder / f"{self.generator}-{digest}-{self.seed}-{self.number}.py"
        path.write_text(self.text, encoding="utf-8")
        return path


class Findings:
    """All findings; of those that are the same the first one is kept and told."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._counts: dict[tuple[str, str], int] = {}

    def add(self, finding: Finding) -> bool:
        """Count a finding, and tell it if there was none like it before."""
        key = (finding.generator, finding.verdict.key)
        self._counts[key] = self._counts.get(key, 0) + 1
        if self._counts[key] > 1:
            return False
        path = finding.save(self._folder)
        print(f"\n{'-' * 100}\n{finding.text}\n# Saved as {path}", flush=True)
        return True

    def __len__(self) -> int:
        return len(self._counts)
