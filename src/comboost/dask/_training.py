"""One fit on a cluster. In: a booster and Dask collections. Out: a model, as from rows in this process."""

from typing import Any

from comboost._origin import check_past
from comboost._training import Given, Training, trees_of
from comboost.dask._cluster import Cluster
from comboost.dask._fit import DaskFit
from comboost.dask._parts import read_collections


class DaskTraining(Training):
    """One fit of a booster on a cluster; see `Training`. X, y and the weights are Dask collections."""

    def __init__(self, booster: Any, X: Any, y: Any, sample_weight: Any, n_threads: int) -> None:
        check_past(booster)
        self._cluster = Cluster(booster.client)
        collection = read_collections(X, y, sample_weight)
        fit = DaskFit(
            booster,
            self._cluster,
            collection,
            weighted=sample_weight is not None,
            n_threads=n_threads,
            past=trees_of(booster),
        )
        super().__init__(booster, fit, fit.classes, Given(X, y, sample_weight), n_threads)

    def hold(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Validate on these rows, which are brought here if they are elsewhere."""
        super().hold(*map(self._cluster.bring_here, (X, y, sample_weight)))
