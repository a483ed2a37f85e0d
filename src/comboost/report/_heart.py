"""What is inside a model. In: a classifier, perhaps in a pipeline or a search. Out: its booster, if that is ours."""

from dataclasses import dataclass
from typing import Any

from comboost._cached import cached_property
from comboost._estimators.base import Booster
from comboost.report._given_table import GivenTable
from comboost.report._inquiry import inside
from comboost.report._trial import Answerer
from comboost.report._wording import text_of


@dataclass(frozen=True)
class Heart:
    """The estimator at the heart of a model, and the rows as it sees them."""

    estimator: Any
    X: Any

    @classmethod
    def of(cls, answerer: Answerer) -> "Heart":
        """Look into a model; one of a cluster is looked into here."""
        estimator, X = inside(answerer.model, answerer.X)
        return cls(estimator.to_local() if hasattr(estimator, "to_local") else estimator, X)

    @property
    def booster(self) -> Any:
        """The estimator, if it is a booster of ours; else None."""
        return self.estimator if isinstance(self.estimator, Booster) else None

    @property
    def refusal(self) -> str:
        """Why something is not told of it: the beginning of a sentence."""
        return f"{type(self.estimator).__name__} is none of comboost's three boosters"

    @cached_property
    def table(self) -> GivenTable:
        """The rows as it sees them."""
        return GivenTable.of(self.X)

    @property
    def feature_names(self) -> list[str]:
        """The features as it knows them."""
        if hasattr(self.estimator, "feature_names_in_"):
            return [text_of(name) for name in self.estimator.feature_names_in_]
        return self.table.feature_names()
