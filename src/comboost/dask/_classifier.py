"""The classifiers on a cluster: the parameters of the local ones, a client and a timeout."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from distributed import Client

from comboost._estimators.confusion import ConfusionBoostingClassifier, ConfusionSettings
from comboost._estimators.paper import (
    AdaBoostMMClassifier,
    CoMBoClassifier,
    CoMBoSettings,
    PaperBooster,
    PaperSettings,
)
from comboost._estimators.parameters import (
    NONE,
    BoosterSettings,
    constructor,
    doc_section,
    parameter,
    real,
    restated,
    unchecked,
)
from comboost.dask._booster import CLUSTER_HINTS, DaskBooster


@dataclass(frozen=True, kw_only=True)
class ClusterSettings:
    """Parameters of all boosters on a cluster, where some of the shared ones mean something else."""

    early_stopping: bool = restated(
        BoosterSettings,
        "early_stopping",
        doc="Whether to score every round on ``X_val``, which is collected in this process, to stop when the score no "
        "longer improves, and to keep the best round. Ties in the score (see ``tol``) are broken by the log-loss of "
        "the scores, then by the earlier round. If the score is the same in all rounds, the log-loss alone decides, "
        "with a warning. No samples on the cluster are held out. ``scoring``, ``n_iter_no_change`` and ``tol`` are "
        "ignored without it.",
    )
    calibration: str | None = restated(
        BoosterSettings,
        "calibration",
        doc="How to calibrate ``predict_proba``. The calibrator is fitted on the scores of ``X_val``, which must be "
        'given. ``"temperature"`` divides the scores by one number, ``temperature_``. ``"isotonic"`` fits one '
        "monotonic curve per class and needs some hundred samples of a class. All classes have the same weight, and "
        "``predict`` does not change. A warm start calibrates again. Set it to None after the fit to switch it off.",
    )
    n_jobs: int | None = restated(
        BoosterSettings,
        "n_jobs",
        doc="Number of threads of every worker: None is as many as the worker has, -1 uses all processors of its "
        "machine. Also that of the searches for splits and settings in this process, where None is 1. The model does "
        "not depend on it.",
    )
    client: Client | None = parameter(
        None,
        unchecked("distributed.Client or None"),
        kind="run",
        doc="The connection to the cluster; None is the current one of Dask.",
    )
    timeout: float | None = parameter(
        None,
        real(1, math.inf, without_high=True) | NONE,
        kind="run",
        doc="Seconds without a heartbeat after which a worker counts as lost and others take over its work; at least "
        "1. None is 10, or three times the longest silence of a worker that returned. Long steps do not delay "
        "heartbeats.",
    )


@dataclass(frozen=True, kw_only=True)
class PaperClusterSettings(ClusterSettings, PaperSettings):
    """Parameters of AdaBoost.MM on a cluster."""


@dataclass(frozen=True, kw_only=True)
class CoMBoClusterSettings(ClusterSettings, CoMBoSettings):
    """Parameters of CoMBo on a cluster."""


@dataclass(frozen=True, kw_only=True)
class ConfusionClusterSettings(ClusterSettings, ConfusionSettings):
    """Parameters of confusion boosting on a cluster."""


NOTES = """Notes
-----
X, y and the weights correspond row by row, partition by partition. ``fit`` reads them a few times: to find the classes
and the exact quantiles of every feature, and to bin them. If reading is slow and memory suffices, ``persist`` them
before.
"""


class DaskPaperBooster(DaskBooster, PaperBooster):
    """Base class of the paper's estimators on a cluster."""

    _hints: Mapping[str, str] = {**PaperBooster._hints, **CLUSTER_HINTS}

    @constructor(PaperClusterSettings)
    def __init__(self) -> None: ...


class DaskCoMBoClassifier(DaskPaperBooster, CoMBoClassifier):
    __doc__ = f"""Confusion matrix boosting (CoMBo) on a Dask cluster.

The model is the same as that of `comboost.CoMBoClassifier` on the same data, to the last bit, for any number and order
of workers and partitions, even if workers are lost during the fit. Samples stay on their workers, with one byte per
feature and a few per class.

{doc_section(CoMBoClassifier, "Attributes")}
See Also
--------
comboost.CoMBoClassifier : The same on samples in memory; ``to_local`` returns one.

{NOTES}
Examples
--------
>>> import dask.array as da
>>> from distributed import Client
>>> from comboost.dask import DaskCoMBoClassifier
>>> from comboost.datasets import load_yeast
>>> X, y = load_yeast(return_X_y=True)
>>> with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as client:
...     model = DaskCoMBoClassifier(n_estimators=20, client=client)
...     model = model.fit(da.from_array(X, chunks=500), da.from_array(y, chunks=500))
...     predicted = model.predict(da.from_array(X, chunks=500))[:3].compute()
>>> bool((predicted == model.to_local().predict(X[:3])).all())
True
"""

    __module__ = "comboost.dask"  # where users find it; pickles store this name

    _local = CoMBoClassifier

    @constructor(CoMBoClusterSettings)
    def __init__(self) -> None: ...


class DaskAdaBoostMMClassifier(DaskPaperBooster, AdaBoostMMClassifier):
    __doc__ = f"""AdaBoost.MM on a Dask cluster.

The model is the same as that of `comboost.AdaBoostMMClassifier` on the same data, to the last bit, for any number and
order of workers and partitions, even if workers are lost during the fit.

{doc_section(CoMBoClassifier, "Attributes")}
See Also
--------
comboost.AdaBoostMMClassifier : The same on samples in memory; ``to_local`` returns one.

{NOTES}
"""

    __module__ = "comboost.dask"  # where users find it; pickles store this name

    _local = AdaBoostMMClassifier


class DaskConfusionBoostingClassifier(DaskBooster, ConfusionBoostingClassifier):
    __doc__ = f"""Confusion boosting on a Dask cluster: every leaf predicts one value per class.

The model is the same as that of `comboost.ConfusionBoostingClassifier` on the same data, to the last bit, for any
number and order of workers and partitions, even if workers are lost during the fit. Samples stay on their workers, with
one byte per feature and a few per class. Only the samples on which settings are selected, some 50 000 at most, are
collected in this process, with one byte per feature.

{doc_section(ConfusionBoostingClassifier, "Attributes")}
See Also
--------
comboost.ConfusionBoostingClassifier : The same on samples in memory; ``to_local`` returns one.

{NOTES}
If ``smoothing`` or ``max_depth`` is ``"auto"``, ``fit`` reads the data once more, and this process selects the settings
before the first round. Give both if it has too little memory or time for that.

Trees that are limited by ``max_depth`` grow level by level, with a round trip to the workers per level. With
``max_leaf_nodes`` they grow best-first, with a round trip per leaf, which takes longer.

Examples
--------
>>> import dask.array as da
>>> from distributed import Client
>>> from comboost.dask import DaskConfusionBoostingClassifier
>>> from comboost.datasets import load_yeast
>>> X, y = load_yeast(return_X_y=True)
>>> with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as client:
...     model = DaskConfusionBoostingClassifier(n_estimators=20, client=client)
...     model = model.fit(da.from_array(X, chunks=500), da.from_array(y, chunks=500))
...     probabilities = model.predict_proba(da.from_array(X, chunks=500))[:3].compute()
>>> bool((probabilities == model.to_local().predict_proba(X[:3])).all())
True
"""

    __module__ = "comboost.dask"  # where users find it; pickles store this name

    _local = ConfusionBoostingClassifier
    _hints: Mapping[str, str] = {**ConfusionBoostingClassifier._hints, **CLUSTER_HINTS}

    @constructor(ConfusionClusterSettings)
    def __init__(self) -> None: ...
