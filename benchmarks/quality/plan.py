"""How much work is done. In: what the command line says. Out: rounds, rows, folds, repeats."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """How much work a run puts into its problems."""

    n_threads: int = 2
    quick: bool = False

    @property
    def n_rounds(self) -> int:
        """Rounds at most, with early stopping."""
        return 50 if self.quick else 2_000

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

    @property
    def n_fits(self) -> int:
        """Fits of a problem of which the quickest counts, if they are short."""
        return 1 if self.quick else 3
