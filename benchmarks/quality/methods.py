"""Methods with their defaults, classes balanced: ours, and the peers of `comboost.study.peers`."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from numpy.typing import NDArray

import comboost
from benchmarks.quality.measures import Classes
from comboost.study.peers import PEERS, Peer


@dataclass(frozen=True)
class Method:
    """A classifier of another library."""

    peer: Peer
    balanced: bool = True
    ours: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """Name shown in tables."""
        return self.peer.name if self.balanced else f"{self.peer.name}, not balanced"

    def missing(self) -> str | None:
        """Why the class cannot be imported; None if it can."""
        return self.peer.why_missing()

    def fit(self, X: NDArray[Any], y: Classes, n_threads: int) -> Any:
        """Fit the classifier."""
        weights = self.peer.weights(y) if self.balanced else {}
        return self.peer.make(n_threads, balanced=self.balanced).fit(X, y, **weights)


@dataclass(frozen=True)
class OurMethod:
    """A classifier of comboost."""

    name: str
    class_name: str
    settings: dict[str, Any] = field(default_factory=dict)
    ours: ClassVar[bool] = True

    def missing(self) -> str | None:
        """Return None: comboost is always installed."""
        return None

    def fit(self, X: NDArray[Any], y: Classes, n_threads: int) -> Any:
        """Fit the classifier."""
        model = getattr(comboost, self.class_name)(n_jobs=n_threads, random_state=0, **self.settings)
        return model.fit(X, y)


METHODS = (
    OurMethod("ConfusionBoosting", "ConfusionBoostingClassifier"),
    OurMethod("CoMBo", "CoMBoClassifier"),
    OurMethod("AdaBoost.MM", "AdaBoostMMClassifier"),
    *map(Method, PEERS.values()),
)

#: Their probabilities are to follow the training prior; they take no part in any rank.
UNDER_TRAINING_PRIOR = (
    OurMethod("ConfusionBoosting, training prior", "ConfusionBoostingClassifier", {"priors": "training"}),
    Method(PEERS["LightGBM"], balanced=False),
)
