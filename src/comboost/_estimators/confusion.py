"""Boosting with votes for every class, as users see it."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from comboost._boosting.voting import LeafVoting, Voting
from comboost._dtypes import Floats, Sums
from comboost._engine.formulas import BalancedObjective
from comboost._engine.votes import shifted_log_probabilities
from comboost._estimators.booster import Booster
from comboost._estimators.parameters import CONFUSION_RULES, HINTS, PRIORS, Rule, explained, n_threads_of


class ConfusionBooster(Booster):
    """Boosts trees whose leaves vote for every class."""

    _hints: ClassVar[Mapping[str, str]] = {name: hint for name, hint in HINTS.items() if name != "max_leaf_nodes"}
    _rules: ClassVar[Mapping[str, Rule]] = CONFUSION_RULES
    _answer_rules: ClassVar[Mapping[str, Rule]] = {"priors": PRIORS}

    @explained
    def __init__(
        self,
        *,
        n_estimators: int = 200,
        learning_rate: float = 0.3,
        max_depth: int | None = 6,
        max_leaf_nodes: int | None = None,
        loss: str = "log",
        smoothing: float = 1.0,
        balance: float = 1.0,
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        cost_matrix: Any = None,
        early_stopping: bool = False,
        scoring: Any = None,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        warm_start: bool = False,
        priors: str = "balanced",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.loss = loss
        self.smoothing = smoothing
        self.balance = balance
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.cost_matrix = cost_matrix
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.priors = priors
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def _declaring(cls) -> type:
        """The class whose constructor says what the defaults are."""
        return ConfusionBooster

    def _voting(self, costs: Floats | None, masses: Sums, weight_shift: int) -> Voting:
        """How rounds vote."""
        objective = BalancedObjective.of(costs, masses, weight_shift, float(self.balance), self.loss)
        return LeafVoting(objective, float(self.learning_rate), float(self.smoothing), n_threads_of(self.n_jobs))

    def _gain_smoothing(self, voting: Voting) -> float:
        """Loss that is added to a leaf's, when the criterion divides by it: that of as many rows."""
        assert isinstance(voting, LeafVoting)
        return voting.smoothing * voting.objective.mean_row

    def _probabilities(self, scores: Floats) -> Floats:
        """What votes mean."""
        return np.exp(self._log_probabilities(scores))

    def _log_probabilities(self, scores: Floats) -> Floats:
        """Logarithms of what votes mean.

        The votes were learned as if class l had the share M_l^(1−τ); the exponential loss fits them to half of the log
        odds.
        """
        power = self.balance if self.priors == "training" else self.balance - 1.0
        return shifted_log_probabilities(
            scores, 1.0 if self.loss == "log" else 2.0, float(power) * np.log(self.class_prior_)
        )


class ConfusionBoostingClassifier(ConfusionBooster):
    """Confusion boosting: trees whose leaves vote for every class, and every class counts the same."""
