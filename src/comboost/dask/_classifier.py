"""The estimators on a cluster: parameters, fit, predict. In: Dask collections. Out: Dask arrays, or a local model."""

import copy
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from typing import Any, ClassVar, Self

import dask
from distributed import Client
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted, validate_data

from comboost._boosting.early_stopping import HeldRows
from comboost._boosting.fit import Fit, TreeFit
from comboost._boosting.warm_start import Past
from comboost._dtypes import Floats
from comboost._estimators.booster import VoteBooster
from comboost._estimators.classifiers import AdaBoostMMClassifier, CoMBoClassifier, shared_sections
from comboost._estimators.parameters import HINTS, explained
from comboost.dask._cluster import Cluster
from comboost.dask._fit import SurveyedRows
from comboost.dask._parts import is_collection, read_collections
from comboost.dask._predicting import map_rows
from comboost.dask._rows import DaskRows
from comboost.dask._shard import ShardSettings


class DaskVoteBooster(VoteBooster):
    """What the boosters on a cluster share."""

    _local: ClassVar[type[VoteBooster]]
    _hints: ClassVar[Mapping[str, str]] = HINTS | {
        "base_estimator": "leave it out: only the built-in trees are grown on a cluster",
        "estimator": "leave it out: only the built-in trees are grown on a cluster",
        "refit": "leave it out: no rows are held out of those on a cluster, so all of them are trained on",
        "validation_fraction": "give X_val and y_val to fit: no rows are held out of those on a cluster",
    }

    @explained
    def __init__(
        self,
        *,
        n_estimators: int = 200,
        learning_rate: float = 1.0,
        max_depth: int | None = 3,
        criterion: str = "gini",
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        step: str = "edge",
        cost_matrix: Any = None,
        early_stopping: bool = False,
        scoring: Any = None,
        n_iter_no_change: int = 20,
        tol: float = 1e-7,
        warm_start: bool = False,
        proba: str = "softmax",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        client: Client | None = None,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            max_depth=max_depth,
            criterion=criterion,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            max_bins=max_bins,
            categorical_features=categorical_features,
            step=step,
            cost_matrix=cost_matrix,
            early_stopping=early_stopping,
            scoring=scoring,
            n_iter_no_change=n_iter_no_change,
            tol=tol,
            warm_start=warm_start,
            proba=proba,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.client = client

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
            The values: numbers or categories, NaN, None or NA if they are missing, none of them infinite.
        y : Dask array or Series of shape (n_samples,)
            The classes: at least two, of any sortable type. Rows belong together by their position in the partitions.
        sample_weight : Dask array or Series of shape (n_samples,), optional
            Weights of the rows. Weight 2 is the row twice and weight 0 is no row, to the last bit; but
            ``min_samples_leaf`` counts rows, whatever they weigh.
        X_val, y_val, sample_weight_val : Dask collections or local tables, optional
            Rows to validate on, their classes and their weights, for ``early_stopping``; they are brought here.

        Returns
        -------
        self
            The fitted classifier. If ``fit`` fails, the classifier stays as it was.
        """
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
        cluster, collection = Cluster(self.client), read_collections(X, y, sample_weight)
        validate_data(self, collection.header, reset=past is None, skip_check_array=True)
        surveyed = SurveyedRows.read(
            cluster, collection, self.categorical_features, self.max_bins, weighted=sample_weight is not None
        )
        n_rows, found = surveyed.survey.n_rows, surveyed.survey.class_masses()
        plan = self._plan(n_rows, found.classes, found.masses, self._seed(n_rows, found.classes, past))
        held = None
        if validation is not None:
            X_val, y_val, sample_weight_val = map(cluster.bring_here, validation)
            held = self._read_held((X_val, y_val, sample_weight_val), found.classes)
        categories = surveyed.survey.categories()
        bins = surveyed.find_bins(categories)
        learner = self._tree_learner(bins, plan, None if past is None else past.learned)
        settings = ShardSettings(
            n_classes=len(found.classes),
            bin_offsets=bins.bin_offsets,
            counted=learner.counts_rows,
            max_depth=self.max_depth,
            n_jobs=self.n_jobs,
            digested=self.warm_start,
        )
        shards = surveyed.make_shards(found, categories, bins, settings)
        rows = DaskRows(shards, len(found.classes))
        return TreeFit(plan, learner, rows, categories, bins, shards.digest if self.warm_start else None), held

    def _run(self, fit: Fit, held: HeldRows | None, given: tuple[Any, Any, Any], past: Past | None) -> None:
        try:
            super()._run(fit, held, given, past)
        finally:
            assert isinstance(fit.rows, DaskRows)
            fit.rows.close()

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
            The classes: a Dask array, not computed yet, if X is a Dask collection.
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

    def __sklearn_clone__(self) -> Self:
        new: Self = super(DaskVoteBooster, copy.copy(self)).__sklearn_clone__()  # a copy has no client, see below
        new.client = self.client  # one connection for both: it cannot be copied
        return new

    def __getstate__(self) -> Any:
        return {**super().__getstate__(), "client": None}  # a connection cannot be pickled


class DaskCoMBoClassifier(DaskVoteBooster, CoMBoClassifier):
    """Confusion matrix boosting (CoMBo) on a Dask cluster.

    The model is the same as that of `comboost.CoMBoClassifier` on the same rows, to the last bit, for any number of
    workers and partitions and in any order of them, even if workers are lost while it is fitted. Rows stay on their
    workers, where each is kept as one byte per feature and a few per class.

    Parameters
    ----------
    n_estimators : int, default=200
        Rounds at most.
    learning_rate : float, default=1.0
        Multiplies the weight of every round; in (0, 1].
    max_depth : int or None, default=3
        Depth of the trees; None lets them grow until no split helps.
    criterion : {"gini", "cost"}, default="gini"
        What a split should gain: ``"cost"`` is the drop of the summed cost, i.e. the edge of the round itself,
        ``"gini"`` the sum over the leaves of ‖costs‖²/loss, which also sees what later splits can use.
    min_samples_leaf : int, default=1
        Rows that a leaf must have, whatever they weigh.
    min_weight_fraction_leaf : float, default=0.0
        Share of the round's loss that a leaf must keep; in [0, 0.5].
    max_features : int, float, "sqrt", "log2" or None, default=None
        Features drawn at random for every node: a number, a share, the square root or the logarithm of all features.
        None is all of them.
    max_bins : int, default=255
        Bins of a feature; from 2 to 255. A feature with no more distinct values than that is not rounded at all.
        Missing values have a bin of their own, and so has every category.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Features that hold categories: those with a category dtype (pandas, polars, Arrow), or a list of indices, of
        column names, or of a boolean for every feature; None is none. A split sends any set of them left; up to 254
        per feature. Only the values count, not their order in a dtype.
    step : {"edge", "exact"}, default="edge"
        Weight of a round: ``"edge"`` is the paper's, ½·ln((1+δ)/(1−δ)); ``"exact"`` minimises the loss along the vote.
    cost_matrix : array-like, DataFrame or dict, default=None
        What taking class l for class j costs: truth in rows, prediction in columns, in the order of ``classes_``, zeros
        on the diagonal. A DataFrame is labelled with the classes. A 1-D array, a Series or a dict gives one cost per
        true class. None is 1 for every mistake. Positive costs must lie within a factor of a million. There is no
        ``class_weight``: say here what a mistake on a class costs.
    early_stopping : bool, default=False
        Whether to validate every round on ``X_val``, which is brought to this process, to stop once that no longer
        helps, and to keep the best round: the one with the best score, and of rounds with the same score (see ``tol``)
        the one whose votes have the smallest log-loss (see ``scoring``), the first if that is the same as well. If no
        round has another score than the first, the log-loss alone decides, with a warning. No rows are held out of
        those on the cluster.
    scoring : str, callable or None, default=None
        What to validate with: a name of `comboost.metrics.get_scorer`, or a callable ``scorer(estimator, X, y)``,
        greater being better. None is smooth, minus the `comboost.metrics.balanced_log_loss` of softmax(f/2) of the
        votes f; softmax(2f), on the scale of the probabilities, would be sure of itself, and stop, far too soon.
    n_iter_no_change : int, default=20
        Rounds without a better one after which to stop. A round with the score of the best is better if its log-loss
        is: a tie alone neither ends the rounds nor keeps them going.
    tol : float, default=1e-07
        Scores, or log-losses, that differ by no more than this are the same.
    warm_start : bool, default=False
        Whether ``fit`` goes on from the rounds that are there: 100 rounds and then 100 more are the same model as 200
        at once. Rows and parameters must stay the same, but for ``n_estimators``, ``n_jobs``, ``verbose``, ``proba``.
    proba : {"softmax", "votes"}, default="softmax"
        Probabilities as softmax(2f) of the votes f, or as their shares.
    n_jobs : int or None, default=None
        Threads of every worker: None is as many as the worker has, -1 all processors of its machine. Also those of the
        split search in this process, of which None is 1. The model is the same for any number.
    random_state : int, RandomState instance or None, default=None
        Seeds ``max_features``; nothing else is random.
    verbose : int, default=0
        Rounds from one printed line to the next: round, loss, bound, edge, validation score, time left; 0 prints none.
    client : distributed.Client or None, default=None
        The connection to the cluster; None is the current one of Dask.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        Features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, if X had names that are all strings.
    n_iter_ : int
        Rounds kept.
    estimator_weights_ : ndarray of shape (n_iter_,)
        Weight α of every round.
    edges_ : ndarray of shape (n_iter_,)
        Edge δ of every round: how much better than guessing it was.
    loss_curve_ : ndarray of shape (n_iter_,)
        Loss L after every round.
    bound_curve_ : ndarray of shape (n_iter_,)
        What the edges promise: the loss after every round is at most this, up to the rounding of the costs (about 1e-6
        of the loss; up to 1e-3 if class sizes, weights or costs differ by a factor of a million).
    train_confusion_ : ndarray of shape (n_classes, n_classes)
        Share of class l that is taken for j on the training rows; zero diagonal.
    validation_curve_ : ndarray of shape (n_rounds_tried,)
        Validation score after every round tried, those after the best one included; only with ``early_stopping``.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the fall of the loss's logarithm; they sum to 1, or are 0 if nothing was split.
    stop_reason_ : str
        Why the rounds ended: ``"n_estimators"`` (all were tried), ``"no_edge"`` (nothing better than guessing is left),
        ``"perfect_learner"`` (a weak learner made no mistake that costs anything), ``"loss_vanished"`` (the loss is
        below 1e-200), ``"rounding"`` (weights or class sizes differ so much, by about 10⁷, that exact sums are no
        longer possible), ``"early_stopping"`` (no round has been better in validation for ``n_iter_no_change``
        rounds) or ``"callback"`` (a callback asked for it).

    See Also
    --------
    comboost.CoMBoClassifier : The same on rows in memory, to which ``to_local`` leads.

    Notes
    -----
    X, y and the weights belong together row by row, partition by partition. ``fit`` reads them a few times: to find
    the classes, the exact quantiles of every feature, and to bin them. If that is slow and the memory suffices,
    ``persist`` them before.

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

    _local = CoMBoClassifier


class DaskAdaBoostMMClassifier(DaskVoteBooster, AdaBoostMMClassifier):
    __doc__ = f"""AdaBoost.MM on a Dask cluster.

The model is the same as that of `comboost.AdaBoostMMClassifier` on the same rows, to the last bit, for any number of
workers and partitions and in any order of them, even if workers are lost while it is fitted.

{shared_sections(DaskCoMBoClassifier, "Parameters", "See Also")}
See Also
--------
comboost.AdaBoostMMClassifier : The same on rows in memory, to which ``to_local`` leads.

{shared_sections(DaskCoMBoClassifier, "Notes", "Examples").rstrip()}
"""

    _local = AdaBoostMMClassifier
