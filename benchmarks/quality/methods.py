"""Methods, classes balanced: ours, and the peers of `comboost.study.peers` with defaults and with early stopping."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

import comboost
from benchmarks.quality.measures import Classes
from benchmarks.quality.plan import Plan
from comboost.study.peers import PEERS, Peer

PATIENCE = 50  # rounds without improvement that end a fit with early stopping
STOPPED = ", early stopping"


@dataclass(frozen=True)
class Method:
    """A classifier of another library with its defaults."""

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

    def fit(self, X: NDArray[Any], y: Classes, plan: Plan) -> Any:
        """Fit the classifier."""
        weights = self.peer.weights(y) if self.balanced else {}
        return self.peer.make(plan.n_threads, balanced=self.balanced).fit(X, y, **weights)


class StoppedMethod(Method):
    """A classifier of another library that chooses its number of rounds by early stopping."""

    @property
    def name(self) -> str:
        """Name shown in tables."""
        return self.peer.name + STOPPED

    def fit(self, X: NDArray[Any], y: Classes, plan: Plan) -> Any:
        """Fit the classifier; it holds out a tenth of the samples."""
        return self.peer.fit_stopped(X, y, plan.n_threads, n_rounds=plan.n_rounds, patience=PATIENCE)


@dataclass(frozen=True)
class OurMethod:
    """A classifier of comboost; its settings may depend on the numbers of samples and classes."""

    name: str
    class_name: str
    settings: Callable[[int, int], dict[str, Any]] = lambda n_samples, n_classes: {}
    ours: ClassVar[bool] = True

    def missing(self) -> str | None:
        """Return None: comboost is always installed."""
        return None

    def fit(self, X: NDArray[Any], y: Classes, plan: Plan) -> Any:
        """Fit the classifier."""
        settings = self.settings(len(y), int(y.max()) + 1)
        return getattr(comboost, self.class_name)(n_jobs=plan.n_threads, random_state=0, **settings).fit(X, y)


def fixed_settings(n_samples: int, n_classes: int) -> dict[str, Any]:
    """Return the defaults from before fits adapted to their data: about √(n_samples · n_classes)/8 leaves."""
    depth = round(math.log2(n_samples * n_classes) / 2 - 3)
    return {"smoothing": 10, "n_estimators": 300, "max_depth": min(max(depth, 3), 7)}


OURS = OurMethod("ConfusionBoosting", "ConfusionBoostingClassifier")
FIXED = OurMethod("ConfusionBoosting, fixed settings", "ConfusionBoostingClassifier", fixed_settings)
PEER_METHODS = tuple(
    method
    for peer in PEERS.values()
    for method in (Method(peer), *([] if peer.patience is None else [StoppedMethod(peer)]))
)

#: Those that are ranked.
RANKED = (
    OURS,
    OurMethod("CoMBo", "CoMBoClassifier"),
    OurMethod("AdaBoost.MM", "AdaBoostMMClassifier"),
    *PEER_METHODS,
)
METHODS = (*RANKED, FIXED)

#: Their probabilities follow the training prior.
UNDER_TRAINING_PRIOR = (
    OurMethod("ConfusionBoosting, training prior", "ConfusionBoostingClassifier", lambda *_: {"priors": "training"}),
    Method(PEERS["LightGBM"], balanced=False),
)
