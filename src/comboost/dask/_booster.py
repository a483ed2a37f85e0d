"""What all boosters on a cluster share: fit, predict. In: Dask collections. Out: Dask arrays, or a local model."""

import copy
import math
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, ClassVar, Self

import dask
from distributed import Client
from sklearn.utils.validation import check_is_fitted, validate_data

from comboost._boosting.early_stopping import HeldRows
from comboost._boosting.fit import Fit, TreeFit
from comboost._boosting.warm_start import Past
from comboost._distributed.memory import check_client_memory
from comboost._distributed.preparation import PreparedTable
from comboost._engine.memory_plan import FitShape
from comboost._engine.probabilities import HeldVotes
from comboost._estimators.base import Booster
from comboost._estimators.parameters import NOTHING, Rule, either, explained, real
from comboost._inspection.shap import Explanation
from comboost._persistence.model_file import PathOrStream
from comboost._types import Floats
from comboost.dask._cluster import Cluster
from comboost.dask._parts import is_collection, read_collections
from comboost.dask._predicting import map_rows
from comboost.dask._rows import DaskRows
from comboost.dask._shard import ShardSettings
from comboost.dask._shard_group import make_shards
from comboost.metrics._outcomes import share_predicted

#: What a cluster does not have, and what to do instead.
CLUSTER_HINTS = {
    "base_estimator": "leave it out: only the built-in trees are grown on a cluster",
    "estimator": "leave it out: only the built-in trees are grown on a cluster",
    "calibration_folds": "give X_val and y_val to fit: calibration learns from these on a cluster",
    "refit": "leave it out: no rows are held out of those on a cluster, so all of them are trained on",
    "validation_fraction": "give X_val and y_val to fit: no rows are held out of those on a cluster",
}
#: What a cluster has beside a client.
CLUSTER_RULES: dict[str, Rule] = {"timeout": either(real(1, math.inf, without_high=True), NOTHING)}


class DaskBooster(Booster):
    """A booster of rows on a cluster; its kinds are those of rows in memory, with a client."""

    _local: ClassVar[type[Booster]]
    client: Client | None
    timeout: float | None

    @explained
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Boost trees on rows that are on a cluster.

        Parameters
        ----------
        X : Dask array or DataFrame of shape (n_samples, n_features)
            The values: numbers or categories, NaN, None, NA or masked if they are missing, none of them infinite.
        y : Dask array or Series of shape (n_samples,)
            The classes: at least two, all of one kind and none missing or masked, as in the fit of local tables. Rows
            belong together by their position in the partitions.
        sample_weight : Dask array or Series of shape (n_samples,), or float, optional
            Weights of the rows; a number is the weight of every row. Weight 2 is the row twice and weight 0 is no row,
            to the last bit; but ``min_samples_leaf`` counts rows, whatever they weigh. Classes without weight, and
            weights that only tell classes apart, are treated as by the estimators of rows in memory.
        X_val, y_val, sample_weight_val : Dask collections or local tables, optional
            Rows to validate on, their classes and their weights, for ``early_stopping``, and ``calibration`` if that is
            asked for; they are brought here.

        Returns
        -------
        self
            The fitted classifier. If ``fit`` fails or is interrupted, the classifier stays as it was, and so does its
            ``random_state``.
        """
        if self.calibration is not None and X_val is None:
            raise ValueError(
                f"calibration={self.calibration!r} learns from rows that are not trained on, and no folds are made of "
                "rows that are on a cluster; give X_val and y_val with early_stopping=True, or calibration=None."
            )
        return super().fit(X, y, sample_weight, X_val, y_val, sample_weight_val)

    def _fit(self, *given: Any) -> None:
        # Dask looks for the client in the context, too: for actors, and to wait.
        with self.client.as_current() if isinstance(self.client, Client) else nullcontext():
            super()._fit(*given)

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, validation: tuple[Any, Any, Any] | None, past: Past | None
    ) -> tuple[Fit, HeldRows | None]:
        """Read the rows where they are, and make of them all that boosting needs."""
        if self.estimator is not None:  # no parameter here, but an attribute can be set
            raise ValueError(
                f"estimator={self.estimator!r} cannot be boosted on a cluster, where only the built-in trees can be "
                f"grown; leave estimator=None, or use {self._local.__name__} on rows in memory."
            )
        if self.early_stopping and validation is None:
            raise ValueError(
                "early_stopping=True needs rows to validate on, and none are held out of rows that are on a cluster; "
                "give X_val and y_val."
            )
        cluster, collection = Cluster(self.client, self.timeout), read_collections(X, y, sample_weight)
        validate_data(self, collection.header, reset=past is None, skip_check_array=True)
        prepared = PreparedTable.read(
            cluster, collection, self.categorical_features, self.max_bins, weighted=sample_weight is not None
        )
        n_samples, found = prepared.survey.n_samples, prepared.survey.class_counts()
        seed = self._seed(n_samples, found.candidates.classes, past)
        weight_sums, by_class = prepared.training_weights(found)
        plan = self._plan(n_samples, found.candidates, weight_sums, seed, by_class=by_class)
        held = None
        if validation is not None:
            X_val, y_val, sample_weight_val = map(cluster.gather, validation)
            held = self._read_held((X_val, y_val, sample_weight_val), found.candidates)
        categories = prepared.survey.categories()
        bins = prepared.find_bins(categories)
        learner = self._tree_learner(bins, plan, None if past is None else past.learned)
        shape = FitShape(
            n_samples,
            collection.n_features,
            len(plan.classes),
            int(bins.bin_offsets[-1]),
            plan.limits,
            plan.n_threads,
            held=None if held is None else self._held_shape(held.table),
            exact_step=self.step == "exact",
        )
        check_client_memory(shape)
        settings = ShardSettings(
            shape=shape,
            bin_offsets=bins.bin_offsets,
            counted=learner.counts_rows,
            n_jobs=self.n_jobs,
        )
        shards = make_shards(prepared, prepared.coding(found, categories, bins), found.sums, settings)
        rows = DaskRows(shards, len(plan.classes))
        return TreeFit(plan, learner, rows, categories, bins, shards.digest), held

    def _run(
        self, fit: Fit, held: HeldRows | None, given: tuple[Any, Any, Any], past: Past | None
    ) -> Callable[[], HeldVotes] | None:
        try:
            return super()._run(fit, held, given, past)
        finally:
            assert isinstance(fit.rows, DaskRows)
            fit.rows.close()

    def to_local(self) -> Any:
        """Make the estimator that a fit in one process would have made.

        Returns
        -------
        CoMBoClassifier, AdaBoostMMClassifier or ConfusionBoostingClassifier
            An estimator of the same parameters that knows nothing of Dask. It shares its trees with this one; before
            ``fit`` it has none.
        """
        parameters = self.get_params(deep=False)
        of_cluster = {name: parameters.pop(name) for name in CLUSTER_RULES | {"client": None}}
        local = self._local(**parameters)
        fitted = {name: value for name, value in vars(self).items() if name not in parameters | of_cluster}
        local.__dict__.update(fitted)
        return local

    def save_model(self, path: PathOrStream) -> None:
        """Write the local twin of the fitted model to a file that runs no code when it is loaded.

        Parameters
        ----------
        path : str, path-like or binary file object
            Where to write it; see `comboost.CoMBoClassifier.save_model`. `comboost.load_model` gives what ``to_local``
            gives: an estimator that knows nothing of Dask.
        """
        self.to_local().save_model(path)

    def predict(self, X: Any) -> Any:
        """Class with the most votes, or as ``decision`` says; ties go to the first of them in ``classes_``.

        Parameters
        ----------
        X : Dask array or DataFrame, or array-like, of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        Dask array or ndarray of shape (n_samples,)
            The classes, and what stands for rejected rows: a Dask array, not computed yet, if X is a Dask collection.
        """
        return self._lazily("predict", X)

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities, as ``proba``, ``calibration`` and ``priors`` say.

        Parameters
        ----------
        X : Dask array or DataFrame, or array-like, of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        Dask array or ndarray of shape (n_samples, n_classes)
            A column for every class of ``classes_``; not computed yet if X is a Dask collection.
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
            A column for every class of ``classes_``; not computed yet if X is a Dask collection.
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
            The votes, f(1) − f(0) with two classes; not computed yet if X is a Dask collection.
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
        truth, predicted, weights = map(self._computed, (y, self.predict(X), sample_weight))
        return share_predicted(truth, predicted, weights)

    def _computed(self, given: Any) -> Any:
        """A collection as it is in memory: computed by the client that was given, or as Dask does it by default."""
        if isinstance(self.client, Client) and is_collection(given):
            with self.client.as_current():
                return Cluster(self.client, self.timeout).gather(given)
        (computed,) = dask.compute(given)
        return computed

    def _lazily(self, method: str, X: Any) -> Any:
        if is_collection(X):
            check_is_fitted(self)
            return map_rows(X, self.to_local().set_callbacks(), method)  # callbacks may be unable to travel
        return getattr(super(), method)(X)

    def explain(self, X: Any) -> Explanation:
        """What every feature adds to the votes on rows in memory: exact SHAP values.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows; see `comboost.CoMBoClassifier.explain`.

        Returns
        -------
        Explanation
            ``values`` of shape (n_samples, n_features, n_classes) and ``base_values`` of shape (n_classes,).
        """
        if is_collection(X):
            raise TypeError(
                "Rows in memory are explained, and this is a Dask collection; give X.compute(), or let to_local() "
                "explain every partition with map_blocks or map_partitions."
            )
        return super().explain(X)

    def _staged_scores(self, X: Any) -> Iterator[Floats]:
        if is_collection(X):
            raise TypeError(
                "Votes after every round are given for rows in memory only; give X.compute(), or let to_local() vote "
                "on every partition with map_blocks or map_partitions."
            )
        yield from super()._staged_scores(X)

    def __sklearn_clone__(self) -> Self:
        new: Self = super(DaskBooster, copy.copy(self)).__sklearn_clone__()  # a copy has no client, see below
        new.client = self.client  # one connection for both: it cannot be copied
        return new

    def __copy__(self) -> Self:
        twin = super().__copy__()
        twin.client = None  # a connection can neither be copied nor pickled
        return twin

    def __getstate__(self) -> Any:
        return super(DaskBooster, copy.copy(self)).__getstate__()
