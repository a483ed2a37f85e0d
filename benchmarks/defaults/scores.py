"""Scores that can be compared from problem to problem. In: figures. Out: one number, 0 for the best there is.

By problem and measure: how far a value is behind the best of all candidates, in units of the distance from the best to
the median candidate. So the median has about −1. The mean over the four deciding measures is the score.
"""

import numpy as np
from scipy.stats import rankdata

from benchmarks.defaults.figures import Figures, Floats, Values
from benchmarks.defaults.measures import DECIDING, LOWER_IS_BETTER

LEAST_SPREAD = 0.01  # where all candidates are as good as each other, their differences are noise
WORST = -3.0  # one disaster says no more than that


def losses(values: Values, name: str) -> Floats:
    """A measure so that lower is better."""
    return values[name] if name in LOWER_IS_BETTER else -values[name]


def score(values: Values, figures: Figures) -> Floats:
    """Scores of any values, with problems in the last axis; above 0 if they beat every candidate."""
    return np.mean([score_measure(values, figures, name) for name in DECIDING], axis=0)


def score_measure(values: Values, figures: Figures, name: str) -> Floats:
    """Scores by one measure."""
    known = losses(figures.values, name)
    best = known.min(axis=0)
    spread = np.maximum(np.median(known, axis=0) - best, LEAST_SPREAD)
    return np.maximum((best - losses(values, name)) / spread, WORST)


def ranks(scores: Floats) -> Floats:
    """Ranks on every problem, 1 for the best."""
    return rankdata(-scores, axis=0)
