"""Shared by the tests of fits on a cluster: estimators, arrays in chunks, and the comparison with local models."""

import dask.array as da
from distributed import Client
from models import everything

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier
from comboost.dask import DaskAdaBoostMMClassifier, DaskCoMBoClassifier, DaskConfusionBoostingClassifier

ON_DASK = {
    CoMBoClassifier: DaskCoMBoClassifier,
    AdaBoostMMClassifier: DaskAdaBoostMMClassifier,
    ConfusionBoostingClassifier: DaskConfusionBoostingClassifier,
}


def on_dask(local, client):
    """Return the Dask estimator with the parameters of a local one."""
    estimator = ON_DASK[type(local)](client=client)
    shared = estimator.get_params(deep=False).keys() & local.get_params(deep=False).keys()
    return estimator.set_params(**{name: getattr(local, name) for name in shared})


def cut(rows, sizes):
    """Return an array as a Dask array in chunks of these sizes, or of this size."""
    sizes = sizes if isinstance(sizes, int) else tuple(sizes)
    return da.from_array(rows, chunks=(sizes, *rows.shape[1:]))


def same_bytes(model, local):
    """Whether a model fitted on a cluster equals a local one, bit for bit."""
    return everything(model.to_local()) == everything(local)


def fit_at(address, rows, settings):
    """Fit on the cluster at an address; return the local model."""
    with Client(address, set_as_default=False) as client:
        return DaskCoMBoClassifier(client=client, **settings).fit(*(cut(each, 300) for each in rows)).to_local()
