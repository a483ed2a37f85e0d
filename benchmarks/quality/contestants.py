"""Those who learn round by round. In: rows and a clock. Out: a model, and its probabilities after any of its rounds.

All balance the classes and have their defaults otherwise. Packages are imported when they are used, so that one that is
not installed stops nobody else. None evaluates anything while it is trained: that is done afterwards, from raw scores
that are added up from one stage to the next.
"""

import contextlib
import io
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from benchmarks.quality.clock import RoundClock
from benchmarks.quality.measures import Classes, Floats, softmax
from benchmarks.speed.libraries import why_missing

SEED = 0
PROBE_ROUNDS = 6
BALANCED = "balanced"


class Contestant:
    """A method that adds something in every round."""

    name: str
    module: str
    ours = False

    @classmethod
    def missing(cls) -> str | None:
        """Why it cannot take part here, if it cannot."""
        return why_missing(cls.module)

    def affordable_rounds(self, X: NDArray[Any], y: Classes, n_rounds: int, n_threads: int, budget: float) -> int:
        """Rounds to ask for: all of them, since the clock can end the fit."""
        return n_rounds

    def fit(self, X: NDArray[Any], y: Classes, n_rounds: int, n_threads: int, clock: RoundClock) -> Any:
        """A model of at most these rounds; the clock, just made, hears of each and may end the fit."""
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


class LightGBM(Contestant):
    """LightGBM, a tree per class and round."""

    name = "LightGBM"
    module = "lightgbm"
    settings: ClassVar[dict[str, Any]] = {}

    def fit(self, X: NDArray[Any], y: Classes, n_rounds: int, n_threads: int, clock: RoundClock) -> Any:
        """Its scikit-learn interface; a callback ends a fit by raising."""
        import lightgbm

        def on_round(environment: Any) -> None:
            if clock.tick():
                raise lightgbm.EarlyStopException(environment.iteration, [])

        model = lightgbm.LGBMClassifier(
            n_estimators=n_rounds,
            class_weight=BALANCED,
            n_jobs=n_threads,
            random_state=SEED,
            verbose=-1,
            **self.settings,
        )
        return model.fit(X, y, callbacks=[on_round])

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


class XGBoost(Contestant):
    """XGBoost with histograms, a tree per class and round."""

    name = "XGBoost"
    module = "xgboost"
    multi_strategy = "one_output_per_tree"

    def fit(self, X: NDArray[Any], y: Classes, n_rounds: int, n_threads: int, clock: RoundClock) -> Any:
        """Its scikit-learn interface, which has no class weights but takes those of rows."""
        import xgboost

        class Stopwatch(xgboost.callback.TrainingCallback):
            def after_iteration(self, *_: Any) -> bool:
                return clock.tick()

        model = xgboost.XGBClassifier(
            n_estimators=n_rounds,
            tree_method="hist",
            multi_strategy=self.multi_strategy,
            n_jobs=n_threads,
            random_state=SEED,
            callbacks=[Stopwatch()],
        )
        return model.fit(X, y, sample_weight=compute_sample_weight(BALANCED, y))

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
    multi_strategy = "multi_output_tree"


class CatBoost(Contestant):
    """CatBoost: symmetric trees with a value for every class in a leaf. Its learning rate depends on the rounds."""

    name = "CatBoost"
    module = "catboost"

    def fit(self, X: NDArray[Any], y: Classes, n_rounds: int, n_threads: int, clock: RoundClock) -> Any:
        """Without a report on the training rows in every round."""
        import catboost

        class Stopwatch:
            def after_iteration(self, _: Any) -> bool:
                return not clock.tick()

        model = catboost.CatBoostClassifier(
            iterations=n_rounds,
            loss_function="MultiClass",
            auto_class_weights="Balanced",
            metric_period=n_rounds,
            thread_count=n_threads,
            random_seed=SEED,
            allow_writing_files=False,
            logging_level="Silent",
        )
        return model.fit(X, y, callbacks=[Stopwatch()])

    def n_rounds(self, model: Any) -> int:
        """Trees, one a round."""
        return model.tree_count_

    def stages(self, model: Any, X: NDArray[Any], rounds: Sequence[int]) -> Iterator[Floats]:
        """Raw values of the rounds between."""
        scores = 0.0
        for begin, end in pairwise((0, *rounds)):
            scores = scores + model.predict(X, prediction_type="RawFormulaVal", ntree_start=begin, ntree_end=end)
            yield softmax(scores)


class Unstoppable(Contestant):
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

    name = "HistGradientBoosting"
    module = "sklearn"

    def fit(self, X: NDArray[Any], y: Classes, n_rounds: int, n_threads: int, clock: RoundClock) -> Any:
        """With an ear at what it prints."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        class Listener(io.StringIO):
            def write(self, text: str) -> int:
                if " leaves" in text:
                    clock.tick()
                return len(text)

        model = HistGradientBoostingClassifier(
            max_iter=n_rounds, class_weight=BALANCED, early_stopping=False, random_state=SEED, verbose=2
        )
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
    """imbalanced-learn's balanced random forest: a round is a tree. It tells of none; each takes the same time."""

    name = "BalancedRandomForest"
    module = "imblearn"

    def fit(self, X: NDArray[Any], y: Classes, n_rounds: int, n_threads: int, clock: RoundClock) -> Any:
        """All trees at once."""
        from imblearn.ensemble import BalancedRandomForestClassifier

        model = BalancedRandomForestClassifier(n_estimators=n_rounds, n_jobs=n_threads, random_state=SEED)
        model.fit(X, y)
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


class Ours(Contestant):
    """A classifier of comboost."""

    ours = True
    module = "comboost"
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

        model = getattr(comboost, self.class_name)(n_estimators=n_rounds, n_jobs=n_threads, random_state=SEED)
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
    """Leaves that vote for every class."""

    name = "ConfusionBoosting"
    class_name = "ConfusionBoostingClassifier"


class CoMBo(Ours):
    """The paper's."""

    name = "CoMBo"
    class_name = "CoMBoClassifier"


CONTESTANTS: tuple[Contestant, ...] = (
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
