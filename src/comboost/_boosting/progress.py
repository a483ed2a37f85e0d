"""What ``verbose`` prints. In: the numbers of every round. Out: a table with a line now and then, and why it ended."""

import time
from collections.abc import Callable

MIN_ROUND_WIDTH = 5  # of the header
NUMBER_WIDTH = 10  # four digits, a sign or an exponent: 1.234e-200
TIME_WIDTH = 12  # 100 h 59 min


class ProgressPrinter:
    """Prints the rounds of a fit as a table, at most 80 columns wide.

    Parameters
    ----------
    n_rounds : int
        Number of the last round that there may be.
    every : int
        Rounds from one line to the next; the first and the last are always printed.
    with_score : bool
        Whether there is a column for the validation score.
    print : callable, default=print
        Takes a line.
    clock : callable, default=time.perf_counter
        Gives the time in seconds.
    """

    def __init__(
        self,
        n_rounds: int,
        every: int,
        *,
        with_score: bool,
        print: Callable[[str], object] = print,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._n_rounds = n_rounds
        self._every = every
        self._with_score = with_score
        self._print = print
        self._clock = clock
        self._start = clock()
        self._n_seen = 0  # not the number of the round: a fit may go on from an older one
        self._unprinted: tuple[int, list[float | None], float] | None = None  # number, columns, time left

    def round(self, number: int, loss: float, bound: float, edge: float, score: float | None = None) -> None:
        """A round is done.

        Parameters
        ----------
        number : int
            Its number, from 1.
        loss : float
            Loss after the round.
        bound : float
            Bound on the loss.
        edge : float
            Edge of the round.
        score : float, optional
            Validation score, if the round has one.
        """
        self._n_seen += 1
        left = (self._clock() - self._start) / self._n_seen * (self._n_rounds - number)
        self._unprinted = (number, [loss, bound, edge, *([score] if self._with_score else [])], left)
        if self._n_seen == 1:
            self._print_header()
        if self._n_seen == 1 or number % self._every == 0:
            self._print_round()

    def finish(self, number: int, reason: str) -> None:
        """The fit ended.

        Parameters
        ----------
        number : int
            Rounds that the model has.
        reason : str
            Why it has no more.
        """
        if self._unprinted is not None:
            self._print_round()
        took = format_time(self._clock() - self._start)
        self._print(f"{number} of {self._n_rounds} rounds kept after {took}: {reason}")

    def _print_header(self) -> None:
        numbers = ["loss", "bound", "edge", *(["validation"] if self._with_score else [])]
        self._print_line("round", numbers, "time left")

    def _print_round(self) -> None:
        assert self._unprinted is not None
        number, numbers, left = self._unprinted
        self._print_line(f"{number}/{self._n_rounds}", [format_number(value) for value in numbers], format_time(left))
        self._unprinted = None

    def _print_line(self, round_text: str, numbers: list[str], time_text: str) -> None:
        round_width = max(MIN_ROUND_WIDTH, 2 * len(str(self._n_rounds)) + 1)
        columns = [round_text.rjust(round_width), *(text.rjust(NUMBER_WIDTH) for text in numbers)]
        self._print("  ".join([*columns, time_text.rjust(TIME_WIDTH)]))


def format_number(value: float | None) -> str:
    """Four digits; a dash for no number."""
    return "-" if value is None else f"{value:#.4g}".removesuffix(".")


def format_time(seconds: float) -> str:
    """A time in its two largest units, or in seconds."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes == 0:
        return f"{rest} s"
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min"
