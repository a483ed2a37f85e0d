"""Who looks on while a model is boosted. In: the rounds kept so far. Out: scores, progress, reasons to stop."""

from comboost._boosting.callbacks import RoundCallbacks
from comboost._boosting.early_stopping import Validation
from comboost._boosting.fit import Fit
from comboost._boosting.loop import CALLBACK, EARLY_STOPPING, History
from comboost._boosting.progress import ProgressPrinter


class Watch:
    """All who look on.

    Parameters
    ----------
    fit : Fit
        The fit that is looked at.
    validation : Validation or None
        Scores the rounds on rows that are not trained on.
    printer : ProgressPrinter or None
        Prints lines.
    callbacks : RoundCallbacks or None
        The callbacks.
    """

    def __init__(
        self,
        fit: Fit,
        validation: Validation | None,
        printer: ProgressPrinter | None,
        callbacks: RoundCallbacks | None,
    ) -> None:
        self._fit = fit
        self._validation = validation
        self._printer = printer
        self._callbacks = callbacks

    def begin(self) -> None:
        """Hear that a round begins."""
        if self._callbacks is not None:
            self._callbacks.begin()

    def end(self, history: History) -> str | None:
        """Look at the rounds kept so far: a reason to stop, or None."""
        waited_enough = self._validation is not None and self._validation.end(history)
        self._print(history)
        asked_to_stop = self._callbacks is not None and self._tell(self._callbacks, history)
        if waited_enough:
            return EARLY_STOPPING
        return CALLBACK if asked_to_stop else None

    def finish(self, history: History) -> None:
        """Hear that the fit ended, with these rounds kept."""
        if self._printer is not None:
            self._printer.finish(len(history), history.stop_reason)
        if self._callbacks is not None:
            self._callbacks.finish()

    def _print(self, history: History) -> None:
        if self._printer is None:
            return
        score = None if self._validation is None else self._validation.patience.curve[-1]
        bound = float(self._fit.plan.values.bounds(history.edges, history.decreases)[-1])
        self._printer.round(len(history), history.losses[-1], bound, history.edges[-1], score)

    def _tell(self, callbacks: RoundCallbacks, history: History) -> bool:
        rounds = history.first(len(history))  # a callback may keep what is made of them
        return callbacks.end(lambda: self._fit.attributes(rounds))
