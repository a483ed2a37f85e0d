"""The classifiers on a cluster, as users see them: the parameters of the local ones, a client and a timeout."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from distributed import Client

from comboost._estimators.confusion import ConfusionBoostingClassifier
from comboost._estimators.paper import AdaBoostMMClassifier, CoMBoClassifier, VoteBooster, shared_sections
from comboost._estimators.parameters import Rule, explained
from comboost.dask._booster import CLUSTER_HINTS, CLUSTER_RULES, DaskBooster

#: Parameters and attributes that mean something else on a cluster, for all boosters the same.
CLUSTER_ENTRIES = ("early_stopping", "calibration", "n_jobs", "client", "timeout", "train_confusion_")


def entries_of(documented: type, section: str, after: str) -> dict[str, str]:
    """What a section of a booster's docstring, the one before another, says of every parameter or attribute."""
    _, *entries = re.split(r"^(?=\w+ : )", shared_sections(documented, section, after), flags=re.MULTILINE)
    return {entry.split()[0]: entry.rstrip() for entry in entries}


def entries_on_cluster(local: type, section: str, after: str) -> str:
    """A section of a local booster's docstring, as it must read on a cluster."""
    entries, on_cluster = entries_of(local, section, after), entries_of(DaskCoMBoClassifier, section, after)
    for meaningless in ("validation_fraction", "refit", "calibration_folds"):
        entries.pop(meaningless, None)
    return "\n".join((entries | {name: on_cluster[name] for name in CLUSTER_ENTRIES if name in on_cluster}).values())


class DaskVoteBooster(DaskBooster, VoteBooster):
    """What the paper's boosters on a cluster share."""

    _rules: ClassVar[Mapping[str, Rule]] = {**VoteBooster._rules, **CLUSTER_RULES}
    _hints: ClassVar[Mapping[str, str]] = {**VoteBooster._hints, **CLUSTER_HINTS}

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
        calibration: str | None = None,
        priors: Any = None,
        decision: str = "votes",
        reject_cost: float | None = None,
        reject_label: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        client: Client | None = None,
        timeout: float | None = None,
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
            calibration=calibration,
            priors=priors,
            decision=decision,
            reject_cost=reject_cost,
            reject_label=reject_label,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.client = client
        self.timeout = timeout


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
        Features that hold categories: those of text or of a category dtype (pandas, polars, Arrow, arrays), or a list
        of indices, of column names, or of a boolean for every feature; None is none. Text in which every value spells a
        number is numbers unless it is listed, and so are dates, times and durations: seconds. A split sends any set of
        categories left. Only the values count, not their order in a dtype. With more than 254 in a feature, the 254
        that weigh most have codes of their own, the first ones of equals, and the others share one code.
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
        at once. Rows and parameters must stay the same, but for ``n_estimators``, ``n_jobs``, ``verbose`` and what is
        made of votes, ``proba`` to ``reject_label``. Every model keeps a digest of its rows, so it may be switched on
        after any fit, and other rows are refused.
    proba : {"softmax", "votes"}, default="softmax"
        Probabilities as softmax(2f) of the votes f, or as their shares, which cannot be calibrated.
    calibration : {"temperature", "isotonic"} or None, default=None
        How probabilities learn how sure they may be, from votes on ``X_val``, which must be given. ``"temperature"``
        divides the votes by one number, ``temperature_``; ``"isotonic"`` bends the probability of every class by a
        curve that never falls, which needs some hundred rows of a class. Every class counts the same, and ``predict``
        is not changed by it. A warm start learns it anew; set to None after the fit, it is left out.
    priors : {"uniform", "training"}, array-like, dict or None, default=None
        What ``predict_proba`` takes the shares of the classes to be: all the same, those of the training rows, or one
        per class, in the order of ``classes_`` or as a dict, all of them positive, with the sum 1. None is what votes
        are learned for: all the same for `CoMBoClassifier`, those of the training rows for `AdaBoostMMClassifier`. It
        may be changed after the fit. Decisions by votes do not depend on it.
    decision : {"votes", "expected_cost"}, default="votes"
        Whether ``predict`` takes the class with the most votes, or the one that costs least if ``predict_proba`` is
        right: the j with the smallest Σ_l p_l·c(l,j), c being ``cost_matrix``, or 1 for every mistake. Votes are then
        learned without ``cost_matrix``, whose costs would count twice; with one, ``decision`` cannot be changed
        without another fit. ``priors`` should be the shares that are met in use. ``decision_function``,
        ``train_confusion_`` and early stopping go by votes, whatever is decided.
    reject_cost : float or None, default=None
        What it costs to leave a row to somebody else, above 0: a row whose cheapest class is expected to cost more is
        given ``reject_label``. Only with ``decision="expected_cost"``. None rejects no row.
    reject_label : label or None, default=None
        What ``predict`` gives for rejected rows: a label of the classes' kind that is none of them. None is
        ``"reject"`` if the classes are text, and -1 if they are whole numbers.
    n_jobs : int or None, default=None
        Threads of every worker: None is as many as the worker has, -1 all processors of its machine. Also those of the
        split search in this process, of which None is 1. The model is the same for any number.
    random_state : int, RandomState instance or None, default=None
        Seeds ``max_features``; nothing else is random.
    verbose : int, default=0
        Rounds from one printed line to the next: round, loss, bound, edge, validation score, time left; 0 prints none.
    client : distributed.Client or None, default=None
        The connection to the cluster; None is the current one of Dask.
    timeout : float or None, default=None
        Seconds without a heartbeat after which a worker counts as lost, and others do its work; at least 1. None is 10,
        or three times the longest silence of a worker that was heard of again. A long step is no silence.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_classes_ : int
        Their number.
    class_prior_ : ndarray of shape (n_classes,)
        The share of every class in the weight of the training rows, 0 for a class without weight.
    n_features_in_ : int
        Features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, if X had names that are all strings.
    infrequent_categories_ : list of ndarray or None
        For every feature the categories that share a code, sorted, as in scikit-learn's encoders; None if each has its
        own, and for numbers.
    n_iter_ : int
        Rounds kept.
    estimator_weights_ : ndarray of shape (n_rounds,)
        Weight α of every round.
    edges_ : ndarray of shape (n_rounds,)
        Edge δ of every round: how much better than guessing it was.
    loss_curve_ : ndarray of shape (n_rounds,)
        Loss L after every round.
    bound_curve_ : ndarray of shape (n_rounds,)
        What the edges promise: the loss after every round is at most this, up to the rounding of the costs (about 1e-6
        of the loss; up to 1e-3 if class sizes, weights or costs differ by a factor of a million).
    train_confusion_ : ndarray of shape (n_classes, n_classes)
        Share of class l that is taken for j on the training rows; zero diagonal.
    validation_curve_ : ndarray of shape (n_rounds_tried,)
        Validation score after every round tried, those after the best one included; only with ``early_stopping``.
    temperature_ : float
        What the votes are divided by; only with ``calibration="temperature"``.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the fall of the loss's logarithm; they sum to 1, or are 0 if nothing was split.
    class_importances_ : ndarray of shape (n_classes, n_features)
        Share of each feature in what splits take from the variance of the votes for a class; each row sums to 1, or is
        0 if nothing was split.
    stop_reason_ : str
        Why the rounds ended: ``"n_estimators"`` (all were tried), ``"no_edge"`` (nothing better than guessing is left),
        ``"perfect_learner"`` (a weak learner made no mistake that costs anything), ``"loss_vanished"`` (the loss is
        below 1e-200), ``"rounding"`` (weights of a class or class sizes differ so much, by about 10⁷, that exact sums
        are no longer possible), ``"early_stopping"`` (no round has been better in validation for ``n_iter_no_change``
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

    __module__ = "comboost.dask"  # where users find it; pickles keep this name

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

    __module__ = "comboost.dask"  # where users find it; pickles keep this name

    _local = AdaBoostMMClassifier


class DaskConfusionBoostingClassifier(DaskBooster, ConfusionBoostingClassifier):
    __doc__ = f"""Confusion boosting on a Dask cluster: trees whose leaves vote for every class.

The model is the same as that of `comboost.ConfusionBoostingClassifier` on the same rows, to the last bit, for any
number of workers and partitions and in any order of them, even if workers are lost while it is fitted. Rows stay on
their workers, where each is kept as one byte per feature and a few per class.

Parameters
----------
{entries_on_cluster(ConfusionBoostingClassifier, "Parameters", "Attributes")}

Attributes
----------
{entries_on_cluster(ConfusionBoostingClassifier, "Attributes", "See Also")}

See Also
--------
comboost.ConfusionBoostingClassifier : The same on rows in memory, to which ``to_local`` leads.

{shared_sections(DaskCoMBoClassifier, "Notes", "Examples").rstrip()}

Trees that are limited by ``max_depth`` grow level by level, with a trip to the workers per level. With
``max_leaf_nodes`` they grow the best leaf first, with a trip per leaf, which takes longer.

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
...     shares = model.predict_proba(da.from_array(X, chunks=500))[:3].compute()
>>> bool((shares == model.to_local().predict_proba(X[:3])).all())
True
"""

    __module__ = "comboost.dask"  # where users find it; pickles keep this name

    _local = ConfusionBoostingClassifier
    _rules: ClassVar[Mapping[str, Rule]] = {**ConfusionBoostingClassifier._rules, **CLUSTER_RULES}
    _hints: ClassVar[Mapping[str, str]] = {**ConfusionBoostingClassifier._hints, **CLUSTER_HINTS}

    @explained
    def __init__(
        self,
        *,
        n_estimators: int = 300,
        learning_rate: float = 0.3,
        max_depth: int | str | None = "auto",
        max_leaf_nodes: int | None = None,
        loss: str = "log",
        smoothing: float = 10.0,
        balance: float = 1.0,
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        max_thresholds: int | None = 2,
        noise: float = 1.0,
        max_bins: int = 63,
        categorical_features: Any = "from_dtype",
        cost_matrix: Any = None,
        early_stopping: bool = False,
        scoring: Any = None,
        n_iter_no_change: int = 20,
        tol: float = 1e-7,
        warm_start: bool = False,
        calibration: str | None = None,
        priors: Any = "uniform",
        decision: str = "votes",
        reject_cost: float | None = None,
        reject_label: Any = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
        client: Client | None = None,
        timeout: float | None = None,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            max_depth=max_depth,
            max_leaf_nodes=max_leaf_nodes,
            loss=loss,
            smoothing=smoothing,
            balance=balance,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            max_thresholds=max_thresholds,
            noise=noise,
            max_bins=max_bins,
            categorical_features=categorical_features,
            cost_matrix=cost_matrix,
            early_stopping=early_stopping,
            scoring=scoring,
            n_iter_no_change=n_iter_no_change,
            tol=tol,
            warm_start=warm_start,
            calibration=calibration,
            priors=priors,
            decision=decision,
            reject_cost=reject_cost,
            reject_label=reject_label,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.client = client
        self.timeout = timeout
