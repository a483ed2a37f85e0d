"""What training did, round by round. In: a booster, and rows. Out: at most 300 points of its curves."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from comboost._types import Floats
from comboost.metrics._measures import confusion_of, norm_of
from comboost.metrics._outcomes import label_array, sums_by
from comboost.report._heart import Heart
from comboost.report._probabilities import MOST_PROBABILITIES
from comboost.report._resampling import FEW_COLUMNS, largest_singular_value
from comboost.report._trial import Trial, places_of

MOST_POINTS, FEWEST_POINTS = 300, 30
ROWS_TIMES_POINTS = 10_000_000  # rather than more points of many rows


def describe_curves(trial: Trial, heart: Heart) -> tuple[dict[str, Any] | None, str | None]:
    """Loss, certified bound and ‖C‖ on these rows after every round; or why there are none."""
    booster = heart.booster
    if booster is None or not hasattr(booster, "bound_curve_"):
        return None, f"{heart.refusal}, and keeps no loss of its rounds."
    n_rounds = len(booster.loss_curve_)
    rounds = chosen_rounds(n_rounds, len(trial.truth))
    series = [
        {"key": "loss", "name": "Loss", "values": booster.loss_curve_[rounds].tolist()},
        {"key": "bound", "name": "Certified bound on the loss", "values": booster.bound_curve_[rounds].tolist()},
    ]
    if len(trial.truth) * len(trial.classes) <= MOST_PROBABILITIES:
        norms = norms_after(trial, heart, rounds).tolist()
        series.append({"key": "norm_validation", "name": "‖C‖ on these rows", "values": norms})
    return {
        "rounds": (rounds + 1).tolist(),
        "series": series,
        "stopped": str(booster.stop_reason_),
        "best_round": n_rounds if booster.early_stopping else None,
        "thinned": len(rounds) < n_rounds,
    }, None


def chosen_rounds(n_rounds: int, n_rows: int) -> NDArray[np.intp]:
    """The rounds to show, counted from 0: the first, the last, and as many between them as there is time for."""
    n_points = min(n_rounds, int(np.clip(ROWS_TIMES_POINTS // n_rows, FEWEST_POINTS, MOST_POINTS)))
    return np.unique(np.linspace(0, n_rounds - 1, n_points).round().astype(np.intp))


def norms_after(trial: Trial, heart: Heart, rounds: NDArray[np.intp]) -> Floats:
    """‖C‖ on these rows after some rounds."""
    booster, n_columns, wanted = heart.booster, len(trial.classes) + 1, set(rounds.tolist())
    norms = []
    for number, given in enumerate(booster.staged_predict(heart.X)):
        if number in wanted:
            places, _ = places_of(label_array(given, "staged_predict"), booster.classes_, trial.classes)
            counts = sums_by(trial.truth * n_columns + places, np.ones(len(places)), n_columns**2)
            norms.append(quick_norm(counts.reshape(n_columns, n_columns)))
    return np.array(norms)


def quick_norm(counts: Floats) -> float:
    """‖C‖, of many classes to a ten-thousandth: enough for a picture."""
    if len(counts) <= FEW_COLUMNS:
        return norm_of(counts)
    confusion = csr_array(confusion_of(counts))
    return largest_singular_value(confusion, confusion.data)
