"""Methods that learn round by round, and their probabilities after any of the rounds.

All balance the classes and have their defaults otherwise. None evaluates anything while it is trained: that is done
afterwards, from raw scores that are added up from one stage to the next.
"""

import contextlib
import io
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.clock import RoundClock
from benchmarks.quality.measures import Classes, Floats, softmax
from comboost.study.peers import CATBOOST, LIGHTGBM, PEERS, XGBOOST

PROBE_ROUNDS = 6


class IterativeMethod:
    """A method that adds something in every round; `peer` is its class of another library."""

    name: str
    peer: str
    ours = False
    settings: ClassVar[dict[str, Any]] = {}

    @classmethod
    def missing(cls) -> str | None:
        """Why the class cannot be imported; None if it can."""
        return PEERS[cls.peer].why_missing()

    def affordable_rounds(self, X: NDArray[Any], y: Classes, n_rounds: int, n_threads: int, budget: float) -> int:
        """Rounds to ask for: all of them, since the clock can end the fit."""
        return n_rounds

    def fit(self, X: NDArray[Any], y: Classes, n_rounds: int, n_threads: int, clock: RoundClock) -> Any:
        """A model of at most these rounds; the clock is notified of each and may end the fit."""
        raise NotImplementedError

    def n_rounds(self, model: Any) -> int:
        """The rounds that a model has."""
        raise NotImplementedError

    def stages(self, model: Any, X: NDArray[Any], rounds: Sequence[int]) -> Iterator[Floats]:
        """Probabilities after these rounds."""
        raise NotImplementedError

    def why_stopped(self, model: Any) -> str | None:
        """Why a model has no more rounds, in its own words; None if it has none."""
        return None


class LightGBM(IterativeMethod):
    """LightGBM, a tree per class and round."""

    name = peer = "LightGBM"

    def fit(self, X: NDArray[Any], y: Classes, n_rounds: int, n_threads: int, clock: RoundClock) -> Any:
        """Use its scikit-learn interface."""
        model = LIGHTGBM.make(n_threads, n_rounds=n_rounds, **self.settings)
        return model.fit(X, y, callbacks=[LIGHTGBM.callback(clock.tick)])

    def n_rounds(self, model: Any) -> int:
        """Rounds in which a tree grew."""
        return model.booster_.current_iteration()

    def stages(self, model: Any, X: NDArray[Any], rounds: Sequence[int]) -> Iterator[Floats]:
        """Raw scores of the rounds between."""
        scores = 0.0
        for begin, end in pairwise((0, *rounds)):
            scores = scores + model.booster_.predict(
                X, raw_score=True, start_iteration=begin, num_iteration=end - begin
            )
            yield softmax(scores)


class QuantisedLightGBM(LightGBM):
    """LightGBM with gradients of a few bits."""

    name = "LightGBM quantised"
    settings: ClassVar[dict[str, Any]] = {"use_quantized_grad": True}


class XGBoost(IterativeMethod):
    """XGBoost with histograms, a tree per class and round."""

    name = peer = "XGBoost"
    settings: ClassVar[dict[str, Any]] = {"tree_method": "hist", "multi_strategy": "one_output_per_tree"}

    def fit(self, X: NDArray[Any], y: Classes, n_rounds: int, n_threads: int, clock: RoundClock) -> Any:
        """Use its scikit-learn interface, which has no class weights but takes sample weights."""
        callbacks = [XGBOOST.callback(clock.tick)]
        model = XGBOOST.make(n_threads, n_rounds=n_rounds, callbacks=callbacks, **self.settings)
        return model.fit(X, y, **XGBOOST.weights(y))

    def n_rounds(self, model: Any) -> int:
        """Rounds."""
        return model.get_booster().num_boosted_rounds()

    def stages(self, model: Any, X: NDArray[Any], rounds: Sequence[int]) -> Iterator[Floats]:
        """Margins of the rounds between, on top of those before."""
        margin = None
        for span in pairwise((0, *rounds)):
            margin = model.predict(X, output_margin=True, base_margin=margin, iteration_range=span)
            yield softmax(margin)


class MultiOutputXGBoost(XGBoost):
    """XGBoost, a tree per round with a value for every class in its leaves."""

    name = "XGBoost multi-output"
    settings: ClassVar[dict[str, Any]] = {"tree_method": "hist", "multi_strategy": "multi_output_tree"}


class CatBoost(IterativeMethod):
    """CatBoost: symmetric trees with a value for every class in a leaf. Its learning rate depends on the rounds."""

    name = peer = "CatBoost"

    def fit(self, X: NDArray[Any], y: Classes, n_rounds: int, n_threads: int, clock: RoundClock) -> Any:
        """Fit without metrics on the training samples in every round."""
        model = CATBOOST.make(n_threads, n_rounds=n_rounds, metric_period=n_rounds)
        return model.fit(X, y, callbacks=[CATBOOST.callback(clock.tick)])

    def n_rounds(self, model: Any) -> int:
        """Trees, one a round."""
        return model.tree_count_

    def stages(self, model: Any, X: NDArray[Any], rounds: Sequence[int]) -> Iterator[Floats]:
        """Raw values of the rounds between."""
        scores = 0.0
        for begin, end in pairwise((0, *rounds)):
            scores = scores + model.predict(X, prediction_type="RawFormulaVal", ntree_start=begin, ntree_end=end)
            yield softmax(scores)


class Unstoppable(IterativeMethod):
    """A method that no clock can end: a few rounds say beforehand how many the budget allows."""

    def affordable_rounds(self, X: NDArray[Any], y: Classes, n_rounds: int, n_threads: int, budget: float) -> int:
        """What a short fit leads to expect; its first round counts as preparation."""
        n_probed = min(PROBE_ROUNDS, n_rounds)
        probe = RoundClock()
        self.fit(X, y, n_probed, n_threads, probe)
        first, last = probe.seconds[0], probe.seconds[-1]
        if last >= budget or n_probed == n_rounds:
            return n_probed
        per_round = (last - first) / (n_probed - 1)
        return min(n_rounds, int((budget - first) / per_round))


class HistGradientBoosting(Unstoppable):
    """scikit-learn's HistGradientBoosting, without early stopping. Its threads are those of OpenMP.

    It has no callbacks, but prints a line after every round, which is when the clock ticks.
    """

    name = peer = "HistGradientBoosting"

    def fit(self, X: NDArray[Any], y: Classes, n_rounds: int, n_threads: int, clock: RoundClock) -> Any:
        """Fit, and read what it prints."""

        class Listener(io.StringIO):
            def write(self, text: str) -> int:
                if " leaves" in text:
                    clock.tick()
                return len(text)

        peer = PEERS[self.peer]
        model = peer.make(n_threads, n_rounds=n_rounds, verbose=2, **peer.unstopped)
        with contextlib.redirect_stdout(Listener()):
            return model.fit(X, y)

    def n_rounds(self, model: Any) -> int:
        """Rounds."""
        return model.n_iter_

    def stages(self, model: Any, X: NDArray[Any], rounds: Sequence[int]) -> Iterator[Floats]:
        """Its own stages."""
        for number, scores in enumerate(model.staged_decision_function(X), start=1):
            if number in rounds:
                yield softmax(scores)


class BalancedRandomForest(Unstoppable):
    """imbalanced-learn's balanced random forest: a round is a tree. It has no callbacks; trees take the same time."""

    name = peer = "BalancedRandomForest"

    def fit(self, X: NDArray[Any], y: Classes, n_rounds: int, n_threads: int, clock: RoundClock) -> Any:
        """All trees at once."""
        model = PEERS[self.peer].make(n_threads, n_rounds=n_rounds).fit(X, y)
        clock.spread(n_rounds)
        return model

    def n_rounds(self, model: Any) -> int:
        """Trees."""
        return len(model.estimators_)

    def stages(self, model: Any, X: NDArray[Any], rounds: Sequence[int]) -> Iterator[Floats]:
        """Mean of the trees so far."""
        X = X.astype(np.float32)
        total = 0.0
        for number, tree in enumerate(model.estimators_, start=1):
            total = total + tree.predict_proba(X, check_input=False)
            if number in rounds:
                yield total / number


class Ours(IterativeMethod):
    """A classifier of comboost."""

    ours = True
    class_name: str

    @classmethod
    def missing(cls) -> str | None:
        """Why it cannot take part here: the package, or the classifier in it, is not there."""
        import comboost

        return None if hasattr(comboost, cls.class_name) else f"this comboost has no {cls.class_name}"

    def fit(self, X: NDArray[Any], y: Classes, n_rounds: int, n_threads: int, clock: RoundClock) -> Any:
        """With a callback of scikit-learn's kind."""
        import comboost
        from comboost._boosting.monitor import NoCallback

        class Stopwatch(NoCallback):
            def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
                return context.parent is not None and clock.tick()

        model = getattr(comboost, self.class_name)(n_estimators=n_rounds, n_jobs=n_threads, random_state=0)
        return model.set_callbacks(Stopwatch()).fit(X, y)

    def n_rounds(self, model: Any) -> int:
        """Rounds kept."""
        return model.n_iter_

    def stages(self, model: Any, X: NDArray[Any], rounds: Sequence[int]) -> Iterator[Floats]:
        """Its own stages."""
        for number, probabilities in enumerate(model.staged_predict_proba(X), start=1):
            if number in rounds:
                yield probabilities

    def why_stopped(self, model: Any) -> str | None:
        """The reason that the model gives."""
        return model.stop_reason_


class ConfusionBoosting(Ours):
    """One value per class in every leaf."""

    name = "ConfusionBoosting"
    class_name = "ConfusionBoostingClassifier"


class CoMBo(Ours):
    """The paper's."""

    name = "CoMBo"
    class_name = "CoMBoClassifier"


ITERATIVE: tuple[IterativeMethod, ...] = (
    ConfusionBoosting(),
    CoMBo(),
    LightGBM(),
    QuantisedLightGBM(),
    XGBoost(),
    MultiOutputXGBoost(),
    CatBoost(),
    HistGradientBoosting(),
    BalancedRandomForest(),
)
