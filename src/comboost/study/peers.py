"""Classifiers of other libraries: how to import, construct, balance, stop and limit the threads of each.

``comboost compare`` and all benchmarks construct their peers here. A library is imported when it is first used, so that
one that is not installed affects no other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sklearn.model_selection import train_test_split
from sklearn.utils.class_weight import compute_sample_weight

BALANCED = "balanced"
CLASS_WEIGHTS = {"class_weight": BALANCED}
VALIDATION_FRACTION = 0.1  # of the training samples, held out for early stopping

OnRound = Callable[[], bool]  # called after every boosting round; True ends the fit


@dataclass(frozen=True)
class Peer:
    """A classifier with scikit-learn's interface, and what its library calls the parameters that all have."""

    name: str  # in tables
    module: str
    class_name: str
    package: str  # to install
    fixed: Mapping[str, Any] = field(default_factory=dict)  # always given: the task, no output, no files
    # Parameters that balance the classes; none if the class balances them by itself, or by sample weights.
    balanced: Mapping[str, Any] = field(default_factory=dict)
    weighted: bool = False  # balanced by `sample_weight` in `fit`, for want of a parameter
    rounds: str = "n_estimators"  # name of the parameter for the number of rounds, or trees
    seed: str = "random_state"  # name of the parameter
    threads: str | None = "n_jobs"  # name of the parameter; if there is none, limit OpenMP with threadpoolctl
    predict_threads: str | None = None  # name of the parameter of `predict`, if it does not follow from the constructor
    unstopped: Mapping[str, Any] = field(default_factory=dict)  # disables early stopping, if it is the default
    # Parameter for the number of rounds without improvement that end the fit; None without early stopping.
    patience: str | None = None
    stopped: Mapping[str, Any] = field(default_factory=dict)  # other parameters that early stopping needs
    # Arguments of `fit` for held-out samples, their classes and balanced weights; None if the class holds them out.
    validation: Callable[[Any, Any, Any], dict[str, Any]] | None = None
    # Parameters for the names or indices of categorical columns; None if the class does not support categories.
    categories: Callable[[Sequence[str | int]], dict[str, Any]] | None = None
    callback: Callable[[OnRound], Any] | None = None  # the library's own callback that calls an `OnRound`

    @property
    def is_installed(self) -> bool:
        """Whether the library is installed; it is not imported."""
        return find_spec(self.module.partition(".")[0]) is not None

    def why_missing(self) -> str | None:
        """Why the class cannot be imported; None if it can."""
        try:
            module = import_module(self.module)
        except ImportError as error:
            return f"cannot be imported: {error}"
        return None if hasattr(module, self.class_name) else f"{self.module} has no {self.class_name}"

    def make(
        self,
        n_threads: int,
        *,
        n_rounds: int | None = None,
        seed: int | None = 0,
        balanced: bool = True,
        categories: Sequence[str | int] | None = None,
        **parameters: Any,
    ) -> Any:
        """Construct the classifier, not fitted, with the library's defaults otherwise.

        Examples
        --------
        >>> from comboost.study.peers import PEERS
        >>> PEERS["HistGradientBoosting"].make(1, n_rounds=50)
        HistGradientBoostingClassifier(class_weight='balanced', max_iter=50, random_state=0)
        """
        given = {**self.fixed, **(self.balanced if balanced else {}), self.seed: seed}
        if self.threads is not None:
            given[self.threads] = n_threads
        if n_rounds is not None:
            given[self.rounds] = n_rounds
        if categories is not None and self.categories is not None:
            given |= self.categories(categories)
        return getattr(import_module(self.module), self.class_name)(**given | parameters)

    def weights(self, y: Any) -> dict[str, Any]:
        """Arguments of `fit` that balance the classes; empty unless the class needs sample weights."""
        return {"sample_weight": compute_sample_weight(BALANCED, y)} if self.weighted else {}

    def fit_stopped(self, X: Any, y: Any, n_threads: int, *, n_rounds: int, patience: int, seed: int = 0) -> Any:
        """Fit with early stopping on a stratified tenth of the samples; the classes are balanced in both parts.

        Examples
        --------
        >>> import numpy as np
        >>> from comboost.study.peers import PEERS
        >>> X, y = np.arange(40.0)[:, None], np.repeat([0, 1], [30, 10])
        >>> model = PEERS["HistGradientBoosting"].fit_stopped(X, y, 1, n_rounds=20, patience=5)
        >>> model.n_iter_ < 20
        True
        """
        assert self.patience is not None, f"{self.name} has no early stopping"
        stopping = {**self.stopped, self.patience: patience}
        model = self.make(n_threads, n_rounds=n_rounds, seed=seed, **stopping)
        held_out = {}
        if self.validation is not None:
            X, X_val, y, y_val = train_test_split(X, y, test_size=VALIDATION_FRACTION, stratify=y, random_state=seed)
            held_out = self.validation(X_val, y_val, compute_sample_weight(BALANCED, y_val))
        return model.fit(X, y, **self.weights(y), **held_out)

    def predict(self, model: Any, X: Any, n_threads: int) -> Any:
        """Predict classes with as many threads as the fit had."""
        return model.predict(X, **({} if self.predict_threads is None else {self.predict_threads: n_threads}))


def lightgbm_callback(on_round: OnRound) -> Any:
    """Return an entry of `callbacks` of `LGBMClassifier.fit` and `lightgbm.train`."""
    from lightgbm.callback import EarlyStopException

    def after_iteration(environment: Any) -> None:
        if on_round():
            raise EarlyStopException(environment.iteration, [])

    return after_iteration


def xgboost_callback(on_round: OnRound) -> Any:
    """Return an entry of `callbacks` of `XGBClassifier()` and `xgboost.train`."""
    from xgboost.callback import TrainingCallback

    class AfterIteration(TrainingCallback):
        def after_iteration(self, *_: Any) -> bool:
            return on_round()

    return AfterIteration()


def catboost_callback(on_round: OnRound) -> Any:
    """Return an entry of `callbacks` of `CatBoostClassifier.fit`, which goes on while the callback returns True."""

    class AfterIteration:
        def after_iteration(self, _: Any) -> bool:
            return not on_round()

    return AfterIteration()


LIGHTGBM = Peer(
    "LightGBM",
    "lightgbm",
    "LGBMClassifier",
    "lightgbm",
    fixed={"verbose": -1},
    balanced=CLASS_WEIGHTS,
    patience="early_stopping_round",
    validation=lambda X, y, weights: {"eval_X": X, "eval_y": y, "eval_sample_weight": [weights]},
    categories=lambda names: {},  # from the dtypes
    callback=lightgbm_callback,
)
XGBOOST = Peer(
    "XGBoost",
    "xgboost",
    "XGBClassifier",
    "xgboost",
    weighted=True,
    patience="early_stopping_rounds",
    validation=lambda X, y, weights: {"eval_set": [(X, y)], "sample_weight_eval_set": [weights], "verbose": False},
    categories=lambda names: {"enable_categorical": True},
    callback=xgboost_callback,
)
CATBOOST = Peer(
    "CatBoost",
    "catboost",
    "CatBoostClassifier",
    "catboost",
    fixed={"loss_function": "MultiClass", "allow_writing_files": False, "logging_level": "Silent"},
    balanced={"auto_class_weights": "Balanced"},
    rounds="iterations",
    seed="random_seed",
    threads="thread_count",
    predict_threads="thread_count",
    patience="early_stopping_rounds",
    validation=lambda X, y, _: {"eval_set": (X, y)},  # the class weights of the training samples apply to it
    categories=lambda names: {"cat_features": list(names)},
    callback=catboost_callback,
)
HIST_GRADIENT_BOOSTING = Peer(
    "HistGradientBoosting",
    "sklearn.ensemble",
    "HistGradientBoostingClassifier",
    "scikit-learn",
    balanced=CLASS_WEIGHTS,
    rounds="max_iter",
    threads=None,
    unstopped={"early_stopping": False},
    patience="n_iter_no_change",
    stopped={"early_stopping": True, "validation_fraction": VALIDATION_FRACTION},
    categories=lambda names: {"categorical_features": list(names) or None},
)
PERPETUAL = Peer(
    "PerpetualBooster",
    "perpetual",
    "PerpetualClassifier",
    "perpetual",
    weighted=True,
    rounds="iteration_limit",  # by default it chooses them
    seed="seed",
    threads="num_threads",
)
BALANCED_RANDOM_FOREST = Peer(
    "BalancedRandomForest", "imblearn.ensemble", "BalancedRandomForestClassifier", "imbalanced-learn"
)
EASY_ENSEMBLE = Peer("EasyEnsemble", "imblearn.ensemble", "EasyEnsembleClassifier", "imbalanced-learn", threads=None)
RUSBOOST = Peer("RUSBoost", "imblearn.ensemble", "RUSBoostClassifier", "imbalanced-learn", threads=None)
SELF_PACED_ENSEMBLE = Peer("SelfPacedEnsemble", "imbens.ensemble", "SelfPacedEnsembleClassifier", "imbalanced-ensemble")

#: All peers by name, the gradient boosters first.
PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        LIGHTGBM,
        XGBOOST,
        CATBOOST,
        HIST_GRADIENT_BOOSTING,
        PERPETUAL,
        BALANCED_RANDOM_FOREST,
        EASY_ENSEMBLE,
        RUSBOOST,
        SELF_PACED_ENSEMBLE,
    )
}
