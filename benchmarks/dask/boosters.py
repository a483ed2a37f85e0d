"""Those who learn on a cluster, behind one small interface. In: Dask arrays. Out: a model, and what it predicts.

All grow trees of depth 3 (8 leaves). LightGBM and XGBoost grow a tree per class and round, which is what their users
get; XGBoost can also grow one tree for all classes, as ours does. LightGBM's gradients of a few bits are absent:
on two workers they stop after a few rounds, no better than guessing (version 4.7.0).
"""

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from benchmarks._lib.peers import LEARNING_RATE, MAX_BINS, MAX_DEPTH, N_LEAVES, why_missing

if TYPE_CHECKING:
    from distributed import Client


class Booster:
    """A booster with a Dask estimator."""

    name: str
    module: str
    settings: Mapping[str, Any] = {}

    @classmethod
    def missing(cls) -> str | None:
        """Why it cannot be used here, if it cannot."""
        return why_missing(cls.module)

    def estimator(self, client: "Client", n_rounds: int) -> Any:
        """The Dask estimator, not yet fitted."""
        raise NotImplementedError

    def fit(self, client: "Client", X: Any, y: Any, n_rounds: int) -> Any:
        """A fitted model, the way a user gets it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # LightGBM warns of the threads that it sets itself
            return self.estimator(client, n_rounds).fit(X, y)

    def predict(self, model: Any, X: NDArray[Any]) -> NDArray[Any]:
        """Classes of rows in memory."""
        raise NotImplementedError

    def n_rounds(self, model: Any) -> int:
        """The rounds that a model has."""
        raise NotImplementedError


class Comboost(Booster):
    """Ours, with a vote for one class in every leaf."""

    name = "comboost on Dask"
    module = "comboost.dask"
    local_name = "comboost local"
    local_estimator = "CoMBoClassifier"

    def estimator(self, client: "Client", n_rounds: int) -> Any:
        """Return the Dask estimator of the same name."""
        import comboost.dask

        estimator = getattr(comboost.dask, f"Dask{self.local_estimator}")
        return estimator(n_estimators=n_rounds, max_depth=MAX_DEPTH, max_bins=MAX_BINS, client=client)

    def predict(self, model: Any, X: NDArray[Any]) -> NDArray[Any]:
        """Let the local model predict."""
        return model.to_local().predict(X)

    def n_rounds(self, model: Any) -> int:
        """Rounds kept."""
        return model.n_iter_


class ConfusionBoosting(Comboost):
    """Ours, with votes for every class."""

    name = "ConfusionBoosting on Dask"
    local_name = "ConfusionBoosting local"
    local_estimator = "ConfusionBoostingClassifier"


class LightGBM(Booster):
    """LightGBM. It finds ports for its own network, and takes as many threads as a worker has."""

    name = "LightGBM on Dask"
    module = "lightgbm.dask"

    def estimator(self, client: "Client", n_rounds: int) -> Any:
        """Return a DaskLGBMClassifier."""
        from lightgbm import DaskLGBMClassifier

        return DaskLGBMClassifier(
            n_estimators=n_rounds,
            num_leaves=N_LEAVES,
            max_depth=MAX_DEPTH,
            max_bin=MAX_BINS,
            learning_rate=LEARNING_RATE,
            verbosity=-1,
            client=client,
            **self.settings,
        )

    def predict(self, model: Any, X: NDArray[Any]) -> NDArray[Any]:
        """Let the local model predict."""
        return model.to_local().predict(X)

    def n_rounds(self, model: Any) -> int:
        """Rounds in which a tree grew."""
        return model.booster_.current_iteration()


class XGBoost(Booster):
    """XGBoost. It starts a tracker of its own, and takes as many threads as a worker has."""

    name = "XGBoost on Dask"
    module = "xgboost.dask"

    def estimator(self, client: "Client", n_rounds: int) -> Any:
        """Return a DaskXGBClassifier."""
        from xgboost.dask import DaskXGBClassifier

        model = DaskXGBClassifier(
            n_estimators=n_rounds,
            max_depth=MAX_DEPTH,
            tree_method="hist",
            max_bin=MAX_BINS + 1,  # counted with the one that is kept for missing values
            learning_rate=LEARNING_RATE,
            verbosity=0,
            **self.settings,
        )
        model.client = client
        return model

    def predict(self, model: Any, X: NDArray[Any]) -> NDArray[Any]:
        """Let the booster predict, in this process."""
        return model.get_booster().inplace_predict(X).argmax(axis=1)

    def n_rounds(self, model: Any) -> int:
        """Rounds."""
        return model.get_booster().num_boosted_rounds()


class OneTreeXGBoost(XGBoost):
    """XGBoost with one tree for all classes."""

    name = "XGBoost, one tree, on Dask"
    settings: Mapping[str, Any] = {"multi_strategy": "multi_output_tree"}


OURS = Comboost
ALL_OURS: tuple[type[Comboost], ...] = (Comboost, ConfusionBoosting)
PEERS: tuple[type[Booster], ...] = (LightGBM, XGBoost, OneTreeXGBoost)
