"""How much work is done. In: what the command line says. Out: rounds, rows, folds."""

from dataclasses import dataclass

CHECKPOINTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200, 250, 300, 400, 500)


@dataclass(frozen=True)
class Plan:
    """How much work a run puts into its problems."""

    n_threads: int = 2
    budget: float = 300.0  # seconds of training for each method and problem
    quick: bool = False

    @property
    def n_rounds(self) -> int:
        """Rounds at most."""
        return 10 if self.quick else CHECKPOINTS[-1]

    @property
    def n_samples(self) -> int | None:
        """Rows of a problem at most; None is all."""
        return 3_000 if self.quick else None

    @property
    def n_splits(self) -> int:
        """Folds of a repetition."""
        return 2 if self.quick else 5

    @property
    def n_repeats(self) -> int:
        """Repetitions of the folds."""
        return 1 if self.quick else 2

    def checkpoints(self, n_rounds: int) -> list[int]:
        """Rounds of a model after which it is measured; the last one is among them."""
        return [checkpoint for checkpoint in CHECKPOINTS if checkpoint < n_rounds] + [n_rounds]
