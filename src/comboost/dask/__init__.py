"""The boosters on a Dask cluster: the same model as in one process, bit for bit. Needs the extra ``dask``.

The modules, in the order of the data; each imports only from those above it:

- ``_heartbeats``: which workers have fallen silent
- ``_cluster``: the user's cluster: tasks on parts, their answers joined, and nobody waits for ever
- ``_parts``: Dask collections as parts of rows
- ``_packing``: integers on their way, in few bytes
- ``_coding``: a part, read and coded on its worker
- ``_quantiles``: exact bin edges from counts of keys that add up
- ``_survey``: what all parts together are like: classes, weights, categories
- ``_memory``: what a fit takes, of a worker and of this process
- ``_steps``: the questions to all shards, and how answers add up
- ``_shard``: the rows of one worker, an actor
- ``_shard_group``: all shards of a fit; lost ones are made anew
- ``_fit``: from parts to bins and shards
- ``_rows``: the shards as the boosting loop sees them
- ``_predicting``: predictions that are not computed yet
- ``_booster``: what all estimators share: fit, predict
- ``_classifier``: the estimators
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
