"""Who looks on while a model is boosted. In: the rounds kept so far. Out: scores, progress, reasons to stop."""

from collections.abc import Callable
from typing import Any

import numpy as np

from comboost._boosting import CALLBACK, EARLY_STOPPING, History
from comboost._callbacks import RoundCallbacks
from comboost._dtypes import Floats
from comboost._progress import ProgressPrinter
from comboost._validation import Judge, Patience


class Validation:
    """Follows the vote on rows that are not trained on.

    Parameters
    ----------
    judge : Judge
        Scores the vote.
    patience : Patience
        Remembers the scores.
    n_rows, n_classes : int
        Shape of the votes.
    add_votes : callable
        Adds the votes of a round, given its number from 0 and its weight, to an array of them.
    model : callable
        Makes a classifier of the rounds in a history whose votes on the validation rows are known.
    """

    def __init__(
        self,
        judge: Judge,
        patience: Patience,
        *,
        n_rows: int,
        n_classes: int,
        add_votes: Callable[[int, float, Floats], None],
        model: Callable[[History, Floats], Any],
    ) -> None:
        self._judge = judge
        self.patience = patience
        self._scores = np.zeros((n_rows, n_classes))
        self._add_votes = add_votes
        self._model = model

    def end(self, history: History) -> bool:
        """Score the rounds kept so far, the last of which is new; True if it is time to stop."""
        self._add_votes(len(history) - 1, history.alphas[-1], self._scores)
        score = self._judge.score(self._scores, lambda: self._model(history, self._scores))
        return self.patience.add(score)


class Watch:
    """All who look on: validation, a progress printer, callbacks.

    Parameters
    ----------
    callbacks : RoundCallbacks
        The callbacks.
    attributes : callable
        Makes the fitted attributes of the rounds in a history.
    bound : callable
        Makes the bound on the loss after the last round of a history.
    validation : Validation or None
        The validation rows.
    printer : ProgressPrinter or None
        Prints lines.
    """

    def __init__(
        self,
        callbacks: RoundCallbacks,
        attributes: Callable[[History], dict[str, Any]],
        bound: Callable[[History], float],
        *,
        validation: Validation | None,
        printer: ProgressPrinter | None,
    ) -> None:
        self._callbacks = callbacks
        self._attributes = attributes
        self._bound = bound
        self._validation = validation
        self._printer = printer

    def begin(self) -> None:
        """Hear that a round begins."""
        self._callbacks.begin()

    def end(self, history: History) -> str | None:
        """Look at the rounds kept so far: a reason to stop, or None."""
        waited_enough = self._validation is not None and self._validation.end(history)
        self._print(history)
        asked_to_stop = self._callbacks.end(lambda: self._attributes(history.first(len(history))))
        if waited_enough:
            return EARLY_STOPPING
        return CALLBACK if asked_to_stop else None

    def finish(self, n_rounds: int, reason: str) -> None:
        """Hear that the fit ended, with so many rounds kept."""
        if self._printer is not None:
            self._printer.finish(n_rounds, reason)
        self._callbacks.finish()

    def _print(self, history: History) -> None:
        if self._printer is None:
            return
        score = None if self._validation is None else self._validation.patience.curve[-1]
        self._printer.round(len(history), history.losses[-1], self._bound(history), history.edges[-1], score)
