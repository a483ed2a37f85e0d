"""Boosters with their fastest settings behind one interface: binning, training, raw scores, SHAP values.

All of them grow trees of depth 3 (8 leaves) on 255 bins, unless a case says otherwise. A library that can do the same
in several ways lists them as variants; timing tries all and keeps the fastest. `comboost.study.peers` has the same
libraries with their default settings.
"""

import importlib
import math
from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import NDArray

from comboost.study import peers

MAX_BINS = 255
MAX_DEPTH = 3
N_LEAVES = 2**MAX_DEPTH
LEARNING_RATE = 0.1  # of the peers; ours has its own step

OnRound = Callable[[], None]
Settings = Mapping[str, Any]


def why_missing(module: str) -> str | None:
    """Why a module cannot be imported here, if it cannot."""
    try:
        importlib.import_module(module)
    except ImportError as error:
        return f"cannot be imported: {error}"
    return None


def callbacks_of(peer: peers.Peer, on_round: OnRound | None) -> list[Any] | None:
    """Return the library's own callbacks, which call a function after every round and never end the fit."""
    return None if on_round is None else [peer.callback(lambda: bool(on_round()))]


class Library:
    """A booster.

    Parameters
    ----------
    settings : dict
        The variant, in the library's own words.
    """

    name: str
    module: str
    has_callbacks = True
    training_variants: tuple[Settings, ...] = ({},)
    binning_variants: tuple[Settings, ...] = ({},)
    prediction_variants: tuple[Settings, ...] = ({},)

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = dict(settings or {})

    @classmethod
    def missing(cls) -> str | None:
        """Why the library cannot be used here, if it cannot."""
        return why_missing(cls.module)

    @classmethod
    def version(cls) -> str:
        """The version that is installed."""
        return str(getattr(importlib.import_module(cls.module), "__version__", "unknown"))

    @classmethod
    def tree_settings(cls, depth: int, n_leaves: int) -> Settings:
        """Trees of at most this depth and so many leaves, in the library's own words."""
        return {"max_depth": depth}

    def bin(self, X: NDArray[Any], n_threads: int) -> Any:
        """The library's own binned form of X."""
        raise NotImplementedError

    def prepare(self, X: NDArray[Any], y: NDArray[Any], n_threads: int) -> Any:
        """The data as `train` takes it: binned already, if the library can keep that from fit to fit."""
        return X, y

    def train(self, data: Any, n_rounds: int, n_threads: int, on_round: OnRound | None = None) -> Any:
        """A model of ``n_rounds`` rounds; `on_round` is called after each."""
        raise NotImplementedError

    def fit(self, X: NDArray[Any], y: NDArray[Any], n_rounds: int, n_threads: int) -> Any:
        """A model from plain arrays: what a user waits for."""
        return self.train(self.prepare(X, y, n_threads), n_rounds, n_threads)

    def raw_scores(self, model: Any, X: NDArray[Any], n_threads: int) -> NDArray[Any]:
        """Scores of every class, without a link, (n_samples, n_classes)."""
        raise NotImplementedError

    def row_scores(self, model: Any, row: NDArray[Any], n_threads: int) -> NDArray[Any]:
        """Scores of a single row, (1, n_features)."""
        return self.raw_scores(model, row, n_threads)

    def contributions(self, model: Any, X: NDArray[Any], n_threads: int) -> NDArray[Any]:
        """Exact SHAP values of the raw scores."""
        raise NotImplementedError

    def n_rounds(self, model: Any) -> int:
        """The rounds that a model has."""
        raise NotImplementedError


class Comboost(Library):
    """Ours."""

    name = "comboost"
    module = "comboost"
    estimator = "CoMBoClassifier"

    @classmethod
    def tree_settings(cls, depth: int, n_leaves: int) -> Settings:
        """As deep as trees of about so many leaves are: the paper's have no other limit."""
        return {"max_depth": min(depth, math.ceil(math.log2(n_leaves)))}

    def bin(self, X: NDArray[Any], n_threads: int) -> Any:
        """Codes, (n_features, n_samples)."""
        from comboost._data.categories import Categories
        from comboost._data.tables import ArraySource, RawTable
        from comboost._engine.binning import BinMapper

        table = RawTable(ArraySource(X)).encode(Categories())
        return BinMapper.fit(table, Categories(), None, MAX_BINS, n_threads).transform(table, n_threads)

    def train(self, data: Any, n_rounds: int, n_threads: int, on_round: OnRound | None = None) -> Any:
        """Fit, with a callback of scikit-learn's kind."""
        import comboost
        from comboost._boosting.monitor import RoundCounter

        settings = {"max_depth": MAX_DEPTH, "max_bins": MAX_BINS, **self.settings}
        model = getattr(comboost, self.estimator)(n_estimators=n_rounds, n_jobs=n_threads, **settings)
        if on_round is not None:
            model.set_callbacks(RoundCounter(lambda n_done: on_round()))
        return model.fit(*data)

    def raw_scores(self, model: Any, X: NDArray[Any], n_threads: int) -> NDArray[Any]:
        """decision_function."""
        model.n_jobs = n_threads
        return model.decision_function(X)

    def contributions(self, model: Any, X: NDArray[Any], n_threads: int) -> NDArray[Any]:
        """SHAP values of the scores."""
        model.n_jobs = n_threads
        return model.explain(X).values

    def n_rounds(self, model: Any) -> int:
        """Rounds kept."""
        return model.n_iter_


class ConfusionBoosting(Comboost):
    """Ours, with one value per class in every leaf."""

    name = "comboost, votes for every class"
    estimator = "ConfusionBoostingClassifier"

    @classmethod
    def tree_settings(cls, depth: int, n_leaves: int) -> Settings:
        """Depth and leaves."""
        return {"max_depth": depth, "max_leaf_nodes": n_leaves}


class LightGBM(Library):
    """LightGBM, a tree per class and round."""

    name = "LightGBM"
    module = "lightgbm"
    training_variants = ({"force_col_wise": True}, {"force_row_wise": True})
    quantised = False

    @classmethod
    def tree_settings(cls, depth: int, n_leaves: int) -> Settings:
        """Depth and leaves."""
        return {"max_depth": depth, "num_leaves": n_leaves}

    def params(self, n_threads: int) -> dict[str, Any]:
        """What the data and the trees share; there is nothing to bundle in dense features."""
        return {"max_bin": MAX_BINS, "enable_bundle": False, "num_threads": n_threads, "verbosity": -1}

    def bin(self, X: NDArray[Any], n_threads: int) -> Any:
        """Return a Dataset."""
        import lightgbm

        return lightgbm.Dataset(X, params=self.params(n_threads)).construct()

    def prepare(self, X: NDArray[Any], y: NDArray[Any], n_threads: int) -> Any:
        """Return a Dataset, and the number of classes, which it does not know."""
        import lightgbm

        return lightgbm.Dataset(X, y, params=self.params(n_threads)).construct(), int(y.max()) + 1

    def train(self, data: Any, n_rounds: int, n_threads: int, on_round: OnRound | None = None) -> Any:
        """Return a Booster; keeping the one that was trained saves writing it to a string and reading it again."""
        import lightgbm

        dataset, n_classes = data
        params = self.params(n_threads) | {
            "objective": "multiclass",
            "num_class": n_classes,
            "max_depth": MAX_DEPTH,
            "num_leaves": N_LEAVES,
            "learning_rate": LEARNING_RATE,
            "use_quantized_grad": self.quantised,
            **self.settings,
        }
        callbacks = callbacks_of(peers.LIGHTGBM, on_round)
        return lightgbm.train(params, dataset, n_rounds, callbacks=callbacks, keep_training_booster=True)

    def raw_scores(self, model: Any, X: NDArray[Any], n_threads: int) -> NDArray[Any]:
        """Booster.predict."""
        return model.predict(X, raw_score=True, num_threads=n_threads)

    def contributions(self, model: Any, X: NDArray[Any], n_threads: int) -> NDArray[Any]:
        """Booster.predict, with pred_contrib."""
        return model.predict(X, pred_contrib=True, num_threads=n_threads)

    def n_rounds(self, model: Any) -> int:
        """Rounds in which a tree grew."""
        return model.current_iteration()


class QuantisedLightGBM(LightGBM):
    """LightGBM with gradients of a few bits."""

    name = "LightGBM quantised"
    quantised = True


class XGBoost(Library):
    """XGBoost with histograms."""

    name = "XGBoost"
    module = "xgboost"
    training_variants = ({"multi_strategy": "one_output_per_tree"}, {"multi_strategy": "multi_output_tree"})
    prediction_variants = training_variants

    def bin(self, X: NDArray[Any], n_threads: int) -> Any:
        """Return a QuantileDMatrix."""
        import xgboost

        return xgboost.QuantileDMatrix(X, max_bin=MAX_BINS, nthread=n_threads)

    def prepare(self, X: NDArray[Any], y: NDArray[Any], n_threads: int) -> Any:
        """Return a QuantileDMatrix, and the number of classes, which it does not know."""
        import xgboost

        return xgboost.QuantileDMatrix(X, y, max_bin=MAX_BINS, nthread=n_threads), int(y.max()) + 1

    def train(self, data: Any, n_rounds: int, n_threads: int, on_round: OnRound | None = None) -> Any:
        """Return a Booster."""
        import xgboost

        matrix, n_classes = data
        params = {
            "objective": "multi:softprob",
            "num_class": n_classes,
            "tree_method": "hist",
            "max_bin": MAX_BINS,
            "max_depth": MAX_DEPTH,
            "learning_rate": LEARNING_RATE,
            "nthread": n_threads,
            "verbosity": 0,
            **self.settings,
        }
        return xgboost.train(params, matrix, n_rounds, callbacks=callbacks_of(peers.XGBOOST, on_round))

    def raw_scores(self, model: Any, X: NDArray[Any], n_threads: int) -> NDArray[Any]:
        """Booster.inplace_predict."""
        model.set_param({"nthread": n_threads})
        return model.inplace_predict(X, predict_type="margin")

    def row_scores(self, model: Any, row: NDArray[Any], n_threads: int) -> NDArray[Any]:
        """Leave the threads as they are: setting them takes longer than the row."""
        return model.inplace_predict(row, predict_type="margin", validate_features=False)

    def contributions(self, model: Any, X: NDArray[Any], n_threads: int) -> NDArray[Any]:
        """Booster.predict, with pred_contribs."""
        import xgboost

        model.set_param({"nthread": n_threads})
        return model.predict(xgboost.DMatrix(X, nthread=n_threads), pred_contribs=True)

    def n_rounds(self, model: Any) -> int:
        """Rounds."""
        return model.num_boosted_rounds()


class CatBoost(Library):
    """CatBoost: symmetric trees with a value per class in every leaf."""

    name = "CatBoost"
    module = "catboost"
    training_variants = ({"leaf_estimation_method": "Newton"}, {"leaf_estimation_method": "Gradient"})
    binning_variants = ({"feature_border_type": "GreedyLogSum"}, {"feature_border_type": "Median"})

    @classmethod
    def tree_settings(cls, depth: int, n_leaves: int) -> Settings:
        """As deep as symmetric trees of about so many leaves are."""
        return {"depth": min(depth, math.ceil(math.log2(n_leaves)))}

    def bin(self, X: NDArray[Any], n_threads: int) -> Any:
        """Return a quantised Pool. `quantize` takes all processors: it has no parameter for their number."""
        import catboost

        pool = catboost.Pool(X, thread_count=n_threads)
        pool.quantize(border_count=MAX_BINS - 1, **self.settings)
        return pool

    def prepare(self, X: NDArray[Any], y: NDArray[Any], n_threads: int) -> Any:
        """Return a quantised Pool."""
        import catboost

        pool = catboost.Pool(X, y, thread_count=n_threads)
        pool.quantize(border_count=MAX_BINS - 1)
        return pool

    def model(self, n_rounds: int, n_threads: int) -> Any:
        """Return a classifier that draws, measures and writes nothing that a tree does not need."""
        import catboost

        settings = {"depth": MAX_DEPTH, **self.settings}
        return catboost.CatBoostClassifier(
            loss_function="MultiClass",
            iterations=n_rounds,
            learning_rate=LEARNING_RATE,
            border_count=MAX_BINS - 1,
            boosting_type="Plain",
            bootstrap_type="No",
            random_strength=0,
            leaf_estimation_iterations=1,
            metric_period=n_rounds,
            thread_count=n_threads,
            allow_writing_files=False,
            logging_level="Silent",
            **settings,
        )

    def train(self, data: Any, n_rounds: int, n_threads: int, on_round: OnRound | None = None) -> Any:
        """Fit on a Pool."""
        return self.model(n_rounds, n_threads).fit(data, callbacks=callbacks_of(peers.CATBOOST, on_round))

    def fit(self, X: NDArray[Any], y: NDArray[Any], n_rounds: int, n_threads: int) -> Any:
        """Fit on the arrays, without a Pool of our own."""
        return self.model(n_rounds, n_threads).fit(X, y)

    def raw_scores(self, model: Any, X: NDArray[Any], n_threads: int) -> NDArray[Any]:
        """Raw values of the formula."""
        return model.predict(X, prediction_type="RawFormulaVal", thread_count=n_threads)

    def row_scores(self, model: Any, row: NDArray[Any], n_threads: int) -> NDArray[Any]:
        """Give the row flat, which is quicker."""
        return model.predict(row[0], prediction_type="RawFormulaVal", thread_count=n_threads)

    def contributions(self, model: Any, X: NDArray[Any], n_threads: int) -> NDArray[Any]:
        """ShapValues."""
        import catboost

        pool = catboost.Pool(X, thread_count=n_threads)
        return model.get_feature_importance(pool, type="ShapValues", thread_count=n_threads)

    def n_rounds(self, model: Any) -> int:
        """Trees, one a round."""
        return model.tree_count_


class HistGradientBoosting(Library):
    """scikit-learn's HistGradientBoosting. Its threads are those of OpenMP, which the measuring limits."""

    name = "HistGradientBoosting"
    module = "sklearn"
    has_callbacks = False

    @classmethod
    def tree_settings(cls, depth: int, n_leaves: int) -> Settings:
        """Depth and leaves."""
        return {"max_depth": depth, "max_leaf_nodes": n_leaves}

    def bin(self, X: NDArray[Any], n_threads: int) -> Any:
        """Not there."""
        raise NotImplementedError("its binning has no public interface")

    def train(self, data: Any, n_rounds: int, n_threads: int, on_round: OnRound | None = None) -> Any:
        """Fit, with the binning in it."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        settings = {"max_leaf_nodes": N_LEAVES, "max_depth": MAX_DEPTH, **self.settings}
        model = HistGradientBoostingClassifier(
            max_iter=n_rounds, learning_rate=LEARNING_RATE, max_bins=MAX_BINS, early_stopping=False, **settings
        )
        return model.fit(*data)

    def raw_scores(self, model: Any, X: NDArray[Any], n_threads: int) -> NDArray[Any]:
        """decision_function."""
        return model.decision_function(X)

    def n_rounds(self, model: Any) -> int:
        """Rounds."""
        return model.n_iter_


class AdaBoost(Library):
    """scikit-learn's AdaBoost on exact trees: minutes on large problems, so it runs on small ones only."""

    name = "AdaBoost"
    module = "sklearn"
    has_callbacks = False

    def train(self, data: Any, n_rounds: int, n_threads: int, on_round: OnRound | None = None) -> Any:
        """Fit; on one thread, it has no more."""
        from sklearn.ensemble import AdaBoostClassifier
        from sklearn.tree import DecisionTreeClassifier

        tree = DecisionTreeClassifier(max_depth=MAX_DEPTH)
        return AdaBoostClassifier(tree, n_estimators=n_rounds, random_state=0).fit(*data)

    def raw_scores(self, model: Any, X: NDArray[Any], n_threads: int) -> NDArray[Any]:
        """decision_function."""
        return model.decision_function(X)

    def n_rounds(self, model: Any) -> int:
        """Rounds, fewer if it stopped early."""
        return len(model.estimators_)


OURS = Comboost
OUR_KINDS: tuple[type[Library], ...] = (OURS, ConfusionBoosting)
PEERS: tuple[type[Library], ...] = (LightGBM, QuantisedLightGBM, XGBoost, CatBoost, HistGradientBoosting)
ALL: tuple[type[Library], ...] = (*OUR_KINDS, *PEERS, AdaBoost)


def by_name(name: str) -> type[Library]:
    """The library of this name."""
    return next(library for library in ALL if library.name == name)
