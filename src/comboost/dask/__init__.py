"""The boosters on a Dask cluster: the same model as in one process, bit for bit. Needs the extra ``dask``.

The modules; each imports only from those above it. `comboost._distributed` has what does not depend on Dask.

- ``_cluster``: run a function on all parts and merge the results; timeouts
- ``_parts``: Dask collections as delayed parts
- ``_shard``: the samples of one worker, as an actor
- ``_shard_group``: all shards of a fit; lost ones are rebuilt
- ``_predicting``: lazy predictions
- ``_booster``: ``fit`` and ``predict`` of all estimators
- ``_classifier``: the estimators and their parameters
"""

try:
    import dask.array  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError(
        "comboost.dask needs Dask and its distributed scheduler; install them with pip install 'comboost[dask]'."
    ) from error

from comboost.dask._classifier import (
    DaskAdaBoostMMClassifier,
    DaskCoMBoClassifier,
    DaskConfusionBoostingClassifier,
)

__all__ = ["DaskAdaBoostMMClassifier", "DaskCoMBoClassifier", "DaskConfusionBoostingClassifier"]
