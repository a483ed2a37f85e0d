"""The search: runs cases of all generators until the time is up. A seed and a number make a case."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from fuzz import bits, faults, inputs, metrics, model_files
from fuzz.processes import Worker
from fuzz.report import Count, Finding, Findings
from fuzz.worker import Verdict


class Generator(NamedTuple):
    """Draws programs. A case that takes longer than `seconds` hangs; `share` is the generator's part of the time."""

    name: str
    draw: Callable[[Random], str]
    seconds: float
    share: float

    def case(self, seed: int, number: int) -> str:
        """Return the program of a case."""
        return self.draw(Random(f"{seed}/{self.name}/{number}"))


GENERATORS = {
    generator.name: generator
    for generator in (
        Generator("inputs", inputs.draw, 20, 3.0),
        Generator("pickles", faults.draw_damaged_pickle, 60, 2.0),
        Generator("bits", bits.draw, 30, 3.0),
        Generator("metrics", metrics.draw, 20, 1.0),
        Generator("interruptions", faults.draw_interruption, 150, 2.0),
        Generator("kills", faults.draw_kill, 240, 2.0),
        Generator("files", faults.draw_damaged_study, 120, 1.5),
        Generator("model_files", model_files.draw, 60, 2.0),
    )
}


@dataclass
class Search:
    """Runs the cases of generators one after the other, in several worker processes, until the time is up."""

    generators: Sequence[Generator]
    seed: int
    findings: Findings
    patience: float = 1.0
    counts: dict[str, Count] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._next = {generator.name: 0 for generator in self.generators}
        self._running = {generator.name: 0.0 for generator in self.generators}
        self.counts = {generator.name: Count() for generator in self.generators}

    def run(self, seconds: float, n_workers: int) -> None:
        """Search that long, in that many processes."""
        deadline = time.monotonic() + seconds
        with ThreadPoolExecutor(n_workers) as pool:
            for work in [pool.submit(self._work, deadline) for _ in range(n_workers)]:
                work.result()

    def run_one(self, generator: Generator, number: int) -> Verdict:
        """Run one case."""
        worker = Worker(self.patience)
        try:
            return self._run_case(worker, generator, number)
        finally:
            worker.close()

    def _work(self, deadline: float) -> None:
        worker = Worker(self.patience)
        try:
            while (chosen := self._choose(deadline - time.monotonic())) is not None:
                self._run_case(worker, *chosen)
        finally:
            worker.close()

    def _choose(self, remaining: float) -> tuple[Generator, int] | None:
        """The next case: of the generator that has had least of its share, if there is time for its longest."""
        with self._lock:
            able = [g for g in self.generators if remaining > self.counts[g.name].longest]
            if remaining <= 0 or not able:
                return None
            chosen = min(able, key=self._due)
            self._next[chosen.name] += 1
            # A guess at what it will take, or all workers would start the same slow generator at once.
            self._running[chosen.name] += max(self.counts[chosen.name].longest, 0.01)
            return chosen, self._next[chosen.name] - 1

    def _due(self, generator: Generator) -> float:
        return (self.counts[generator.name].seconds + self._running[generator.name]) / generator.share

    def _run_case(self, worker: Worker, generator: Generator, number: int) -> Verdict:
        program = generator.case(self.seed, number)
        expected = max(self.counts[generator.name].longest, 0.01)
        worker.get_ready()
        start = time.monotonic()
        verdict = worker.run(program, generator.seconds)
        taken = time.monotonic() - start
        with self._lock:
            self._running[generator.name] = max(self._running[generator.name] - expected, 0.0)
            is_new = verdict.status == "finding" and self.findings.add(
                Finding(generator.name, self.seed, number, program, verdict)
            )
            self.counts[generator.name].add(verdict.status, taken, is_new=is_new)
        return verdict
