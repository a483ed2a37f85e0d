"""The boosters on a Dask cluster: the same model as in one process, bit for bit. Needs the extra ``dask``."""

try:
    import dask.array  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError(
        "comboost.dask needs Dask and its distributed scheduler; install them with pip install 'comboost[dask]'."
    ) from error

from comboost.dask._classifier import DaskAdaBoostMMClassifier, DaskCoMBoClassifier

__all__ = ["DaskAdaBoostMMClassifier", "DaskCoMBoClassifier"]
