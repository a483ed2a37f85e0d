"""Fit and predict on a cluster: the methods that all its estimators share."""

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import dask
import numpy as np
from distributed import Client
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from comboost._boosting.early_stopping import ValidationData
from comboost._boosting.learners import Fit, TreeFit, TreeLearner
from comboost._boosting.search import SAMPLES_PER_LEAF
from comboost._boosting.search_samples import (
    Part,
    first_by_content,
    n_folds_of,
    n_kept_of,
    part_of_validation,
    split_parts,
    why_fixed,
)
from comboost._boosting.warm_start import FitFingerprint, WarmStartState, fingerprint_rows
from comboost._data.sample_weights import ClassWeightSums, class_sums
from comboost._data.validation import TrainingSet
from comboost._distributed.coding import Coding
from comboost._distributed.memory import check_client_memory, check_search_memory
from comboost._distributed.preparation import PreparedTable
from comboost._distributed.rows import DistributedRows
from comboost._distributed.survey import ClassCounts
from comboost._engine.memory_plan import FitShape
from comboost._engine.probabilities import OutOfSampleScores
from comboost._engine.rows import make_grower
from comboost._estimators.base import Booster, Samples, held_shape, learned_costs
from comboost._estimators.decisions import check_decisions
from comboost._estimators.parameters import MemorySettings, hinted, n_threads_of
from comboost._inspection.shap import Explanation
from comboost._persistence.model_file import PathOrStream
from comboost._types import Codes, Floats
from comboost.dask._cluster import Cluster
from comboost.dask._parts import is_collection, read_collections
from comboost.dask._predicting import map_rows
from comboost.dask._shard import ShardSettings
from comboost.dask._shard_group import changed_data_error, make_shards
from comboost.metrics._outcomes import label_accuracy

#: Parameters that estimators on a cluster do not have, and what to do instead.
CLUSTER_HINTS: Mapping[str, str] = {
    "base_estimator": "leave it out: only the built-in trees are grown on a cluster",
    "estimator": "leave it out: only the built-in trees are grown on a cluster",
    "calibration_folds": "give X_val and y_val to fit, for calibration on a cluster",
    "refit": "leave it out: no rows are held out of those on a cluster, so all of them are trained on",
    "validation_fraction": "give X_val and y_val to fit: no rows are held out of those on a cluster",
}


class DaskBooster(Booster[Any]):
    """Base class of the boosters on a cluster, beside a local one."""

    _local: ClassVar[type[Booster[Any]]]

    @hinted
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Fit the classifier on data that are on a cluster.

        Parameters
        ----------
        X : Dask array or DataFrame of shape (n_samples, n_features)
            Numbers or categories. NaN, None, NA and masked values are missing; infinite values are an error.
        y : Dask array or Series of shape (n_samples,)
            The classes: at least two, all of one kind and none missing or masked, as for local tables. Samples
            correspond by their position in the partitions.
        sample_weight : Dask array or Series of shape (n_samples,), or float, optional
            Weights of the samples; a number is the weight of every sample. Weight 2 is exactly the sample twice and
            weight 0 exactly no sample, except that ``min_samples_leaf`` counts samples, whatever their weights. Classes
            without weight, and weights that only differ between classes, are treated as by the local estimators.
        X_val, y_val, sample_weight_val : Dask collections or local tables, optional
            Validation set, its classes and its weights, for ``early_stopping`` and ``calibration``; they are collected
            in this process.

        Returns
        -------
        self
            The fitted classifier. If ``fit`` fails or is interrupted, the classifier and its ``random_state`` stay as
            they were.
        """
        if self.calibration is not None and X_val is None:
            raise ValueError(
                f"calibration={self.calibration!r} needs out-of-sample scores, and data on a cluster are not divided "
                "into folds; give X_val and y_val with early_stopping=True, or calibration=None."
            )
        return super().fit(X, y, sample_weight, X_val, y_val, sample_weight_val)

    def _settings(self) -> MemorySettings:
        """The validated parameters as settings of the local estimator, whose other parameters have their defaults."""
        settings, local = self._table.of(self), self._local._table
        shared = local.declared().keys() & settings.declared().keys()
        return local(**{name: getattr(settings, name) for name in shared})  # type: ignore[return-value]

    def _fit(self, *given: Any) -> None:
        # Dask also uses the current client: for actors, and to wait.
        with self.client.as_current() if isinstance(self.client, Client) else nullcontext():
            super()._fit(*given)

    def _prepare(
        self, settings: Any, samples: Samples, validation: Samples | None, past: WarmStartState | None
    ) -> tuple[Fit, ValidationData | None]:
        """Prepare the data for boosting, on their workers."""
        weak = vars(self).get("estimator")  # not a parameter here, but the attribute can be set
        if weak is not None:
            raise ValueError(
                f"estimator={weak!r} cannot be boosted on a cluster, where only the built-in trees can be grown; leave "
                f"estimator=None, or use {self._local.__name__} on rows in memory."
            )
        if settings.early_stopping and validation is None:
            raise ValueError(
                "early_stopping=True needs rows to validate on, and none are held out of rows that are on a cluster; "
                "give X_val and y_val."
            )
        cluster = Cluster(self.client, None if self.timeout is None else float(self.timeout))
        collection = read_collections(*samples)
        validate_data(self, collection.header, reset=past is None, skip_check_array=True)
        prepared = PreparedTable.read(
            cluster,
            collection,
            settings.categorical_features,
            settings.max_bins,
            weighted=samples.sample_weight is not None,
        )
        n_samples, found = prepared.survey.n_samples, prepared.survey.class_counts()
        seed = self._seed(settings, n_samples, found.candidates.classes, past)
        weight_sums, by_class = prepared.training_weights(found)
        n_threads = n_threads_of(settings.n_jobs)
        check_decisions(settings, found.candidates)  # before the data are read again
        learned_costs(settings, found.candidates)
        held = None
        if validation is not None:
            held = self._read_validation(settings, Samples(*map(cluster.gather, validation)), found.candidates)
        categories = prepared.survey.categories()
        bins = prepared.find_bins(categories)
        coding = prepared.coding(found, categories, bins)
        settings, selected = self._select(
            settings,
            bins,
            found.candidates,
            weight_sums,
            int(found.sizes.sum()),
            partial(self._gather_parts, settings, prepared, coding, found, weight_sums, held, seed, n_threads),
            seed,
            n_threads,
        )
        plan = self._plan(
            settings, n_samples, found.candidates, weight_sums, seed, n_threads, by_class=by_class, selected=selected
        )
        rules, loss = self._tree_rules(settings, plan, len(bins.kinds)), plan.values.objective.loss
        n_classes, learned = len(plan.candidates.classes), None if past is None else past.learned
        grower = make_grower(bins, n_classes, rules)
        learner = TreeLearner(bins.kinds, n_classes, rules.smoothing, learned)
        shape = FitShape(
            n_samples,
            collection.n_features,
            n_classes,
            int(bins.bin_offsets[-1]),
            plan.limits,
            plan.n_threads,
            held=None if held is None else held_shape(settings, held.table),
        )
        check_client_memory(shape)
        shard_settings = ShardSettings(shape, bins, rules, loss, settings.n_jobs)
        shards = make_shards(prepared, coding, found.sums, shard_settings)
        rows = DistributedRows(shards, loss, grower, rules, plan.n_threads)
        fingerprint = fingerprint_rows(bins, categories, shards.digest)
        return TreeFit(plan, learner, rows, fingerprint, categories), held

    def _gather_parts(
        self,
        settings: Any,
        prepared: PreparedTable,
        coding: Coding,
        found: ClassCounts,
        weight_sums: ClassWeightSums,
        held: ValidationData | None,
        seed: int,
        n_threads: int,
    ) -> tuple[list[Part], str | None]:
        """Gather the samples of a search in this process, and divide them as `draw_parts` does."""
        reason = why_fixed(found.sizes) if held is None else None
        if reason is not None:
            return [], reason
        n_kept, bins, n_classes = n_kept_of(found.sizes), coding.bins, len(found.sizes)
        n_samples, n_held = int(n_kept.sum()), 0 if held is None else len(held.labels)
        limits = replace(self._tree_limits(settings, weight_sums), max_depth=None, n_trees=0)
        limits = replace(limits, min_samples_leaf=max(limits.min_samples_leaf, SAMPLES_PER_LEAF))
        shape = FitShape(n_samples + n_held, len(bins.kinds), n_classes, int(bins.bin_offsets[-1]), limits, n_threads)
        check_search_memory(shape, 1 if held is not None else n_folds_of(n_samples))
        gathered = prepared.gather_for_search(coding, n_kept, seed)
        codes, labels, weights = gathered.codes, gathered.labels, gathered.weights
        if not np.array_equal(np.bincount(labels, minlength=n_classes), n_kept):
            raise changed_data_error("rows were gathered to select settings")
        sums = replace(weight_sums, sums=class_sums(labels, weights, n_classes))
        data = TrainingSet(None, labels, weights, found.candidates, sums)
        ordered = first_by_content(codes, labels, weights, n_kept, seed)

        def take(indices: NDArray[np.intp]) -> Codes:
            return np.ascontiguousarray(codes[:, indices])

        if held is None:
            return split_parts(ordered, data, take), None
        # Taken, too: arrays that Dask has received may not be aligned as the core requires.
        train = data.take(ordered)
        return part_of_validation(train, take(ordered), held, coding.categories, bins, n_threads)

    def _boost(
        self,
        settings: Any,
        fit: Fit,
        held: ValidationData | None,
        samples: Samples,
        past: WarmStartState | None,
    ) -> tuple[FitFingerprint, Callable[[], OutOfSampleScores] | None]:
        try:
            return super()._boost(settings, fit, held, samples, past)
        finally:
            assert isinstance(fit.rows, DistributedRows)
            fit.rows.close()

    def to_local(self) -> Any:
        """Make the local estimator that a fit in one process would have made.

        Returns
        -------
        CoMBoClassifier, AdaBoostMMClassifier or ConfusionBoostingClassifier
            An estimator with the same parameters that does not depend on Dask. It shares the trees of this one, if
            this one is fitted.
        """
        parameters, known = self.get_params(deep=False), self._local._table.declared()
        local = self._local(**{name: value for name, value in parameters.items() if name in known})
        local.__dict__.update({name: value for name, value in vars(self).items() if name not in parameters})
        return local

    def save_model(self, path: PathOrStream) -> None:
        """Write the local form of the fitted model to a file that runs no code when it is loaded.

        Parameters
        ----------
        path : str, path-like or binary file object
            Where to write; see `comboost.CoMBoClassifier.save_model`. `comboost.load_model` returns what ``to_local``
            returns: an estimator that does not depend on Dask.
        """
        self.to_local().save_model(path)

    def predict(self, X: Any) -> Any:
        """Predict classes: the class with the highest score, or the cheapest one; see ``decision``.

        Parameters
        ----------
        X : Dask array or DataFrame, or array-like, of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        Dask array or ndarray of shape (n_samples,)
            The classes, and ``reject_label`` for rejected samples; a lazy Dask array if X is a Dask collection.
        """
        return self._lazily("predict", X)

    def predict_proba(self, X: Any) -> Any:
        """Predict class probabilities; see ``calibration`` and ``priors``.

        Parameters
        ----------
        X : Dask array or DataFrame, or array-like, of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        Dask array or ndarray of shape (n_samples, n_classes)
            One column per class of ``classes_``; lazy if X is a Dask collection.
        """
        return self._lazily("predict_proba", X)

    def predict_log_proba(self, X: Any) -> Any:
        """Predict logarithms of class probabilities.

        Parameters
        ----------
        X : Dask array or DataFrame, or array-like, of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        Dask array or ndarray of shape (n_samples, n_classes)
            One column per class of ``classes_``; lazy if X is a Dask collection.
        """
        return self._lazily("predict_log_proba", X)

    def decision_function(self, X: Any) -> Any:
        """Scores f of every class.

        Parameters
        ----------
        X : Dask array or DataFrame, or array-like, of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        Dask array or ndarray of shape (n_samples, n_classes) or (n_samples,)
            The scores, f(1) − f(0) with two classes; lazy if X is a Dask collection.
        """
        return self._lazily("decision_function", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of ``predict``.

        Parameters
        ----------
        X : Dask array or DataFrame, or array-like
            The samples.
        y : Dask array or Series, or array-like
            Their classes.
        sample_weight : Dask array or Series, or array-like, optional
            Their weights.

        Returns
        -------
        float
            The accuracy, computed at once.
        """
        # One after the other: Dask computes dataframes and arrays together only with a warning.
        truth, predicted, weights = map(self._computed, (y, self.predict(X), sample_weight))
        return label_accuracy(truth, predicted, weights)

    def _computed(self, given: Any) -> Any:
        """Compute a collection, with the given client or as Dask does by default."""
        if isinstance(self.client, Client) and is_collection(given):
            with self.client.as_current():
                return Cluster(self.client, self.timeout).gather(given)
        (computed,) = dask.compute(given)
        return computed

    def _lazily(self, method: str, X: Any) -> Any:
        if is_collection(X):
            check_is_fitted(self)
            return map_rows(X, self.to_local().set_callbacks(), method)  # callbacks may not be picklable
        return getattr(super(), method)(X)

    def explain(self, X: Any) -> Explanation:
        """Compute exact SHAP values of the scores of samples in memory.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The samples; see `comboost.CoMBoClassifier.explain`.

        Returns
        -------
        Explanation
            ``values`` of shape (n_samples, n_features, n_classes) and ``base_values`` of shape (n_classes,).
        """
        if is_collection(X):
            raise TypeError(
                "Only rows in memory can be explained, and this is a Dask collection; give X.compute(), or apply "
                "to_local().explain to every partition with map_blocks or map_partitions."
            )
        return super().explain(X)

    def _staged_scores(self, X: Any) -> Iterator[Floats]:
        if is_collection(X):
            raise TypeError(
                "Scores after every round are available for rows in memory only; give X.compute(), or apply to_local() "
                "to every partition with map_blocks or map_partitions."
            )
        yield from super()._staged_scores(X)

    def __sklearn_clone__(self) -> Self:
        new: Self = super(DaskBooster, copy.copy(self)).__sklearn_clone__()  # a copy has no client, see below
        new.client = self.client  # one connection for both: it cannot be copied
        return new

    def __copy__(self) -> Self:
        copied = super().__copy__()
        copied.client = None  # a connection can neither be copied nor pickled
        return copied

    def __getstate__(self) -> Any:
        return super(DaskBooster, copy.copy(self)).__getstate__()
