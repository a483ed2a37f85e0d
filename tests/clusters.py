"""What the tests of fits on a cluster share: the estimators there, rows in chunks, and the law that they state."""

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
    """The estimator of the same parameters that fits on a cluster."""
    estimator = ON_DASK[type(local)](client=client)
    shared = estimator.get_params(deep=False).keys() & local.get_params(deep=False).keys()
    return estimator.set_params(**{name: getattr(local, name) for name in shared})


def cut(rows, sizes):
    """Rows as a Dask array in chunks of these sizes, or of this size."""
    sizes = sizes if isinstance(sizes, int) else tuple(sizes)
    return da.from_array(rows, chunks=(sizes, *rows.shape[1:]))


def same_bytes(model, local):
    """Whether a model that was fitted on a cluster is a local one, to the last bit."""
    return everything(model.to_local()) == everything(local)


def fit_at(address, rows, settings):
    """The local model that comes of a fit on the cluster at an address."""
    with Client(address, set_as_default=False) as client:
        return DaskCoMBoClassifier(client=client, **settings).fit(*(cut(each, 300) for each in rows)).to_local()
