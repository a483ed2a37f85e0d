"""The estimators on a cluster: parameters, fit, predict. In: Dask collections. Out: Dask arrays, or a local model."""

import copy
import inspect
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, ClassVar, Self, TypeVar

import dask
from distributed import Client
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from comboost._classifier import AdaBoostMMClassifier, CoMBoClassifier, VoteBooster, shared_sections
from comboost._dtypes import Floats
from comboost._training import Training
from comboost.dask._parts import is_collection
from comboost.dask._predicting import map_rows
from comboost.dask._training import DaskTraining

Init = TypeVar("Init", bound=Callable[..., None])


def with_parameters_of_boosters(init: Init) -> Init:
    """Give ``__init__`` the signature in which scikit-learn finds parameters: those of the boosters, then its own."""
    theirs = [p for p in inspect.signature(VoteBooster.__init__).parameters.values() if p.name != "self"]
    this, *own = (p for p in inspect.signature(init).parameters.values() if p.kind is not p.VAR_KEYWORD)
    init.__signature__ = inspect.Signature([this, *theirs, *own])  # type: ignore[attr-defined]
    return init


class DaskVoteBooster(VoteBooster):
    """What the boosters on a cluster share."""

    _local: ClassVar[type[VoteBooster]]

    @with_parameters_of_boosters
    def __init__(self, *, client: Any = None, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.client = client

    def _check(self, X_val: Any, y_val: Any, sample_weight_val: Any) -> None:
        if self.estimator is not None:
            raise ValueError(
                f"estimator={self.estimator!r} cannot be boosted on a cluster, where only the built-in trees can be "
                f"grown; leave estimator=None, or use {self._local.__name__} on rows in memory."
            )
        super()._check(X_val, y_val, sample_weight_val)
        if self.early_stopping and X_val is None:
            raise ValueError(
                "early_stopping=True needs rows to validate on, and none are held out of rows that are on a cluster; "
                "give X_val and y_val."
            )

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        return DaskTraining(self, X, y, sample_weight, self._n_threads())

    def to_local(self) -> Any:
        """Make the estimator that a fit in one process would have made.

        Returns
        -------
        CoMBoClassifier or AdaBoostMMClassifier
            A fitted estimator that knows nothing of Dask. It shares its trees with this one.
        """
        check_is_fitted(self)
        parameters = self.get_params(deep=False)
        del parameters["client"]
        local = self._local(**parameters)
        fitted = {name: value for name, value in vars(self).items() if name not in {*parameters, "client"}}
        local.__dict__.update(fitted)
        return local

    def predict(self, X: Any) -> Any:
        """Class with the most votes; ties go to the first of them in ``classes_``.

        Parameters
        ----------
        X : Dask array or DataFrame, or array-like, of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        Dask array or ndarray of shape (n_samples,)
            The classes: a Dask array, not computed yet, where X is a Dask collection.
        """
        return self._lazily("predict", X)

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities, as ``proba`` says.

        Parameters
        ----------
        X : Dask array or DataFrame, or array-like, of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        Dask array or ndarray of shape (n_samples, n_classes)
            A column for every class of ``classes_``; not computed yet where X is a Dask collection.
        """
        return self._lazily("predict_proba", X)

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of the class probabilities.

        Parameters
        ----------
        X : Dask array or DataFrame, or array-like, of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        Dask array or ndarray of shape (n_samples, n_classes)
            A column for every class of ``classes_``; not computed yet where X is a Dask collection.
        """
        return self._lazily("predict_log_proba", X)

    def decision_function(self, X: Any) -> Any:
        """Weighted votes f of every class.

        Parameters
        ----------
        X : Dask array or DataFrame, or array-like, of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        Dask array or ndarray of shape (n_samples, n_classes) or (n_samples,)
            The votes, f(1) − f(0) with two classes; not computed yet where X is a Dask collection.
        """
        return self._lazily("decision_function", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows whose class is predicted.

        Parameters
        ----------
        X : Dask array or DataFrame, or array-like
            The rows.
        y : Dask array or Series, or array-like
            Their classes.
        sample_weight : Dask array or Series, or array-like, optional
            Their weights.

        Returns
        -------
        float
            The share; computed here and now.
        """
        # One after the other: Dask computes dataframes and arrays together only with a warning.
        (truth,), (predicted,), (weights,) = map(dask.compute, (y, self.predict(X), sample_weight))
        return float(accuracy_score(truth, predicted, sample_weight=weights))

    def _lazily(self, method: str, X: Any) -> Any:
        if is_collection(X):
            return map_rows(X, self.to_local().set_callbacks(), method)  # callbacks may be unable to travel
        return getattr(super(), method)(X)

    def _staged_scores(self, X: Any) -> Iterator[Floats]:
        if is_collection(X):
            raise TypeError(
                "Votes after every round are given for rows in memory only; give X.compute(), or let to_local() vote "
                "on every partition with map_blocks or map_partitions."
            )
        yield from super()._staged_scores(X)

    def _fit(self, *given: Any) -> Self:
        # Dask looks for the client in the context, too: for actors, and to wait.
        with self.client.as_current() if isinstance(self.client, Client) else nullcontext():
            return super()._fit(*given)

    def __sklearn_clone__(self) -> Self:
        new: Self = super(DaskVoteBooster, copy.copy(self)).__sklearn_clone__()  # a copy has no client, see below
        new.client = self.client  # one connection for both: it cannot be copied
        return new

    def __getstate__(self) -> Any:
        return {**super().__getstate__(), "client": None}  # a connection cannot be pickled


def documented(local: type[VoteBooster], summary: str) -> str:
    """The docstring of a booster on a cluster, most of which is that of the local one."""
    parameters = shared_sections(CoMBoClassifier, "Parameters", "Attributes").rstrip()
    attributes = shared_sections(CoMBoClassifier, "Attributes", "See Also")
    return f"""{summary}

The model is the same as that of `{local.__name__}` on the same rows, to the last bit, for any number of workers and
partitions and in any order of them, and also if workers are lost while it is fitted. Rows stay on their workers, where
each is kept as one byte per feature and a few per class.

{parameters}
client : distributed.Client or None, default=None
    The connection to the cluster; None is the current one of Dask.

{attributes}
See Also
--------
{local.__name__} : The same on rows in memory, to which ``to_local`` leads.

Notes
-----
``fit`` takes Dask arrays and dataframes; X, y and the weights belong together row by row, partition by partition. It
reads them about four times (to find the classes and the exact quantiles of every feature, and to bin them): where that
is slow and the memory suffices, ``persist`` them before.

``n_jobs`` are the threads of every worker here, and None is as many as the worker has. ``early_stopping`` needs
``X_val``, which is brought to this process. ``estimator`` must be None.

Examples
--------
>>> import dask.array as da
>>> from distributed import Client
>>> from comboost.dask import Dask{local.__name__}
>>> from comboost.datasets import load_yeast
>>> X, y = load_yeast(return_X_y=True)
>>> with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as client:
...     model = Dask{local.__name__}(n_estimators=20, client=client)
...     model = model.fit(da.from_array(X, chunks=500), da.from_array(y, chunks=500))
...     predicted = model.predict(da.from_array(X, chunks=500))[:3].compute()
>>> bool((predicted == model.to_local().predict(X[:3])).all())
True
"""


class DaskCoMBoClassifier(DaskVoteBooster, CoMBoClassifier):
    __doc__ = documented(CoMBoClassifier, "Confusion matrix boosting (CoMBo) on a Dask cluster.")
    _local = CoMBoClassifier


class DaskAdaBoostMMClassifier(DaskVoteBooster, AdaBoostMMClassifier):
    __doc__ = documented(AdaBoostMMClassifier, "AdaBoost.MM on a Dask cluster.")
    _local = AdaBoostMMClassifier
