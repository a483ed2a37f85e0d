"""Progress of a fit: the search for settings, then the rounds."""

from collections.abc import Callable
from typing import Any

from comboost import ConfusionBoostingClassifier
from comboost._boosting.monitor import NoCallback
from comboost._estimators.confusion import searches
from comboost.cli.terminal.progress import Tick

SEARCHING = "searching for settings"


class RoundFraction(NoCallback):
    """A callback that reports the fraction of the rounds that are done.

    Parameters
    ----------
    report : callable
        Called with the fraction after every round.
    """

    def __init__(self, report: Callable[[float], None]) -> None:
        self._report = report

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Report a round; the whole fit has no parent task."""
        if context.parent is not None:
            self._report((context.task_id + 1) / context.parent.max_subtasks)


def report_rounds(estimator: Any, tick: Tick, step: str, first: float = 0.0, last: float = 1.0) -> Any:
    """Let the next fit of an estimator report its rounds as ``step``, between two fractions of the work.

    The search has no callbacks, so it is reported at once.
    """
    if selects_settings(estimator):
        tick(SEARCHING, first)
    return estimator.set_callbacks(RoundFraction(lambda done: tick(step, first + done * (last - first))))


def selects_settings(estimator: Any) -> bool:
    """Whether a fit of this estimator selects settings."""
    return isinstance(estimator, ConfusionBoostingClassifier) and searches(estimator)
