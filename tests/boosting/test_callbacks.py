"""Callbacks are called at every round, may stop a fit and are torn down; the fallback equals scikit-learn 1.9."""

import pickle
import threading

import numpy as np
import pytest
from boosters import HAS_CALLBACKS, needs_callbacks
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from comboost._boosting import monitor
from comboost._boosting.monitor import FallbackSupportMixin, NoCallback, RoundCallbacks, fallback_with_callbacks

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 0, 1, 1, 2, 2])


def make_stub(mixin, decorator):
    class Stub(mixin, ClassifierMixin, BaseEstimator):
        """Fits as a booster does; after t rounds it predicts t % 3."""

        def __init__(self, n_rounds=5, rejected_round=None, failing_round=None):
            self.n_rounds = n_rounds
            self.rejected_round = rejected_round
            self.failing_round = failing_round

        def fit(self, X, y, sample_weight=None, first_round=0):
            before = dict(self.__dict__)
            try:
                return self._fit(X, y, sample_weight, first_round)
            except BaseException:
                self.__dict__.clear()
                self.__dict__.update(before)
                raise

        @decorator
        def _fit(self, X, y, sample_weight, first_round):
            rounds = RoundCallbacks(self, self.n_rounds, X, y, sample_weight, first_round=first_round)
            self.classes_ = np.unique(y)
            kept = 0
            for number in range(1, self.n_rounds + 1):
                rounds.begin()
                if number == self.failing_round:
                    raise ArithmeticError("a round failed")
                if number == self.rejected_round:
                    break
                kept = number
                if rounds.end(lambda: self._attributes(kept)):  # noqa: B023 # called at once or never
                    break
            self.n_iter_ = kept
            rounds.finish()
            return self

        def _attributes(self, kept):
            self.n_made_ = getattr(self, "n_made_", 0) + 1
            return {"n_iter_": kept}

        def predict(self, X):
            return np.full(len(X), self.n_iter_ % 3)

    return Stub


FallbackStub = make_stub(FallbackSupportMixin, fallback_with_callbacks)
Stub = make_stub(monitor.CallbackSupportMixin, monitor.with_callbacks)
FallbackStub.__qualname__, Stub.__qualname__ = "FallbackStub", "Stub"  # where pickle finds them
STUBS = [pytest.param(FallbackStub, id="ours"), pytest.param(Stub, id="scikit-learn", marks=needs_callbacks)]
both = pytest.mark.parametrize("stub", STUBS)


class Recorder:
    """Writes down what it is called with; may stop after a round or fail in a hook."""

    def __init__(self, stop_after=None, fail_in=None):
        self.stop_after = stop_after
        self.fail_in = fail_in
        self.reported = []

    def _hear(self, hook, context, **arguments):
        parent = context.parent and context.parent.task_name
        task = (context.task_name, context.task_id, context.max_subtasks, context.estimator_name, parent)
        self.reported.append((hook, *task, arguments))
        if hook == self.fail_in:
            raise ArithmeticError(f"{hook} failed")

    def setup(self, estimator, context):
        self._hear("setup", context)

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self._hear("begin", context, X=X, y=y, metadata=metadata, fitted=getattr(fitted_estimator, "n_iter_", None))

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self._hear("end", context, X=X, y=y, metadata=metadata, fitted=getattr(fitted_estimator, "n_iter_", None))
        return context.task_name == f"round {self.stop_after}"

    def teardown(self, estimator, context):
        self._hear("teardown", context)

    @property
    def story(self):
        return [f"{hook} {task}" for hook, task, *_ in self.reported]


class Propagated(Recorder):
    max_propagation_depth = None


def story_of(*rounds):
    reported = [f"{hook} {name}" for name in rounds for hook in ("begin", "end")]
    return ["setup fit", "begin fit", *reported, "end fit", "teardown fit"]


@both
def test_rounds_are_heard_in_order(stub):
    recorder = Recorder()
    model = stub(3).set_callbacks(recorder)
    assert model.fit(X, Y) is model
    assert recorder.story == story_of("round 1", "round 2", "round 3")
    assert model.n_iter_ == 3


@both
def test_hooks_get_the_task_the_data_and_a_fitted_estimator(stub):
    recorder, weight = Recorder(), np.ones(6)
    stub(2).set_callbacks(recorder).fit(X, Y, sample_weight=weight)
    data = {"X": X, "y": Y, "metadata": {"sample_weight": weight}}
    whole, first, second = (
        ("fit", 0, 2, "Stub", None),
        ("round 1", 0, 0, "Stub", "fit"),
        ("round 2", 1, 0, "Stub", "fit"),
    )
    expected = [
        ("setup", *whole, {}),
        ("begin", *whole, {**data, "fitted": None}),
        ("begin", *first, {**data, "fitted": None}),
        ("end", *first, {**data, "fitted": 1}),
        ("begin", *second, {**data, "fitted": None}),
        ("end", *second, {**data, "fitted": 2}),
        ("end", *whole, {**data, "fitted": 2}),
        ("teardown", *whole, {}),
    ]
    assert repr(recorder.reported) == repr(expected)
    assert recorder.reported[1][-1]["X"] is X


@both
def test_rounds_go_on_counting_from_the_first(stub):
    recorder = Recorder()
    stub(2).set_callbacks(recorder).fit(X, Y, first_round=40)
    assert recorder.story == story_of("round 41", "round 42")
    assert [task_id for hook, name, task_id, *_ in recorder.reported if name != "fit"] == [0, 0, 1, 1]


@both
def test_fit_without_a_round_is_a_fit(stub):
    recorder = Recorder()
    stub(0).set_callbacks(recorder).fit(X, Y)
    assert recorder.story == story_of()


@both
def test_callback_stops_the_fit_and_the_others_hear_the_round(stub):
    stopper, other = Recorder(stop_after=2), Recorder()
    model = stub(5).set_callbacks(stopper, other).fit(X, Y)
    assert model.n_iter_ == 2
    assert stopper.story == other.story == story_of("round 1", "round 2")


@both
def test_round_begun_but_not_kept_ends_without_a_fitted_estimator(stub):
    recorder = Recorder()
    model = stub(5, rejected_round=3).set_callbacks(recorder).fit(X, Y)
    assert model.n_iter_ == 2
    assert recorder.story == story_of("round 1", "round 2", "round 3")
    fitted = [arguments["fitted"] for hook, *_, arguments in recorder.reported if hook == "end"]
    assert fitted == [1, 2, None, 2]


@both
def test_fitted_estimator_is_made_only_for_those_who_want_it_and_once_for_all(stub):
    assert not hasattr(stub(3).fit(X, Y), "n_made_")
    assert not hasattr(stub(3).set_callbacks(NoCallback()).fit(X, Y), "n_made_")
    assert stub(3).set_callbacks(Recorder(), NoCallback(), Recorder()).fit(X, Y).n_made_ == 3


@both
@pytest.mark.parametrize("fail_in", [None, "setup", "begin", "end", "teardown"])
def test_failed_fit_tears_down_and_leaves_the_estimator_as_it_was(stub, fail_in):
    recorder = Recorder(fail_in=fail_in)
    model = stub(3).fit(X, Y).set_callbacks(recorder).set_params(failing_round=None if fail_in else 2)
    before = dict(vars(model))
    with pytest.raises(ArithmeticError, match=f"{fail_in or 'a round'} failed"):
        model.fit(X, Y)
    assert recorder.story[0] == "setup fit"
    assert recorder.story[-1] == "teardown fit"
    assert recorder.story.count("teardown fit") == 1
    assert vars(model) == before


@both
def test_estimator_fits_again_after_a_failure(stub):
    recorder = Recorder()
    model = stub(2, failing_round=2).set_callbacks(recorder)
    with pytest.raises(ArithmeticError):
        model.fit(X, Y)
    recorder.reported.clear()
    model.set_params(failing_round=None).fit(X, Y)
    assert recorder.story == story_of("round 1", "round 2")


@both
def test_only_callbacks_set_up_are_torn_down(stub):
    first, second = Recorder(fail_in="setup"), Recorder()
    with pytest.raises(ArithmeticError):
        stub().set_callbacks(first, second).fit(X, Y)
    assert first.story == ["setup fit", "teardown fit"]
    assert second.story == []


@both
def test_all_are_torn_down_though_several_fail(stub):
    failing = [Recorder(fail_in="teardown"), Recorder(fail_in="teardown")]
    last = Recorder()
    with pytest.raises(ExceptionGroup) as caught:
        stub(1).set_callbacks(*failing, last).fit(X, Y)
    assert len(caught.value.exceptions) == 2
    assert last.story == story_of("round 1")


@both
def test_fit_leaves_nothing_but_its_result(stub):
    model = stub(1).fit(X, Y)
    assert set(vars(model)) - set(model.get_params()) == {"classes_", "n_iter_"}


@both
def test_clones_and_pickles_keep_callbacks(stub):
    model = stub(1).set_callbacks(recorder := Recorder())
    clone(model).fit(X, Y)
    assert recorder.story == story_of("round 1")
    restored = pickle.loads(pickle.dumps(stub(2).set_callbacks(Recorder(stop_after=1)).fit(X, Y)))
    assert restored.fit(X, Y).n_iter_ == 1


@both
def test_no_callbacks_removes_those_set_before(stub):
    model = stub(1).set_callbacks(recorder := Recorder()).set_callbacks()
    model.fit(X, Y)
    assert recorder.reported == []


@both
@pytest.mark.parametrize("wrong", [None, object(), Recorder, lambda: None], ids=["none", "object", "class", "function"])
def test_what_is_not_a_callback_is_refused(stub, wrong):
    with pytest.raises(TypeError):
        stub().set_callbacks(NoCallback(), wrong)


@both
def test_hook_that_wants_what_a_fit_does_not_give_is_refused(stub):
    class Greedy(NoCallback):
        def on_fit_task_end(self, estimator, context, *, gradient=None):
            """Want too much."""

    with pytest.raises(TypeError, match="gradient"):
        stub().set_callbacks(Greedy()).fit(X, Y)


def test_refusals_say_what_to_do():
    with pytest.raises(TypeError, match=r"has no on_fit_task_begin, .*give objects with the methods setup, "):
        FallbackStub().set_callbacks(type("Half", (), {"setup": None})())
    with pytest.raises(TypeError, match=r"Recorder is a class; give an instance, Recorder\(\)"):
        FallbackStub().set_callbacks(Recorder)


@needs_callbacks
@pytest.mark.parametrize("parameters", [{}, {"rejected_round": 3}, {"failing_round": 3}], ids=str)
def test_ours_tells_the_same_as_scikit_learn(parameters):
    reported = []
    for stub in (FallbackStub, Stub):
        recorders = [Recorder(stop_after=4), Recorder()]
        model = stub(5, **parameters).set_callbacks(*recorders)
        try:
            model.fit(X, Y, sample_weight=np.ones(6))
        except ArithmeticError as error:
            reported.append(repr(error))
        reported.append(repr([recorder.reported for recorder in recorders]))
    assert reported[: len(reported) // 2] == reported[len(reported) // 2 :]


@needs_callbacks
def test_our_context_shows_what_that_of_scikit_learn_shows():
    ours, theirs = (
        stub()._init_callback_context(max_subtasks=1).subcontext(task_name="round 1") for stub in (FallbackStub, Stub)
    )
    public = [name for name in vars(theirs) if not name.startswith("_") and name != "parent"]
    assert [type(getattr(ours, name)) for name in public] == [type(getattr(theirs, name)) for name in public]
    assert "task_name" in public


def test_rounds_are_heard_even_if_nobody_knows_where_callbacks_are_kept(monkeypatch):
    monkeypatch.setattr(monitor, "CALLBACKS", None)
    recorder = Recorder()
    Stub(2).set_callbacks(recorder).fit(X, Y)
    assert recorder.story == story_of("round 1", "round 2")
    assert Stub(2).fit(X, Y).n_iter_ == 2


def test_the_attribute_of_callbacks_is_known():
    assert monitor.CALLBACKS is not None


def counting_progress_bar():
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    class CountingBar(ProgressBar):
        n_ended = 0

        def on_fit_task_end(self, estimator, context):
            super().on_fit_task_end(estimator, context)
            CountingBar.n_ended += 1

    return CountingBar(max_propagation_depth=None)


@needs_callbacks
@pytest.mark.parametrize("parameters", [{}, {"rejected_round": 3}], ids=str)
def test_progress_bar_counts_all_rounds(parameters, capsys):
    bar = counting_progress_bar()
    Stub(7, **parameters).set_callbacks(bar).fit(X, Y)
    out = capsys.readouterr().out
    assert "Stub - fit" in out
    assert "100%" in out
    assert bar.n_ended == parameters.get("rejected_round", 7) + 1


@needs_callbacks
def test_progress_bar_goes_where_a_fit_fails(capsys):
    model = Stub(7, failing_round=3).set_callbacks(counting_progress_bar())
    with pytest.raises(ArithmeticError, match="a round failed"):
        model.fit(X, Y)
    assert "Stub - fit" in capsys.readouterr().out
    assert not [thread for thread in threading.enumerate() if type(thread).__name__ == "RichProgressMonitor"]


@needs_callbacks
def test_scoring_monitor_logs_a_line_per_round_and_one_for_the_fit():
    from sklearn.callback import ScoringMonitor

    monitor = ScoringMonitor(scoring="accuracy")
    weight = np.array([1.0, 1, 2, 2, 1, 1])
    Stub(4, rejected_round=4).set_callbacks(monitor).fit(X, Y, sample_weight=weight)
    logged = [(row["task_name"], row["task_id"], row["accuracy"]) for row in monitor.get_logs().data]
    third = pytest.approx(1 / 4)
    assert logged == [("fit", 0, third), ("round 1", 0, 0.5), ("round 2", 1, third), ("round 3", 2, third)]


@needs_callbacks
def test_callbacks_of_a_pipeline_hear_the_rounds():
    recorder = Propagated()
    model = make_pipeline(StandardScaler(), Stub(2)).set_callbacks(recorder)
    model.fit(X, Y)
    reported = [
        (name, parent) for hook, name, *_, parent, _ in recorder.reported if hook == "end" and name.startswith("round")
    ]
    assert reported == [("round 1", "fit"), ("round 2", "fit")]
    assert recorder.story.count("teardown fit") == 1
    assert set(vars(model[-1])) - set(model[-1].get_params()) == {"classes_", "n_iter_", "n_made_"}


@needs_callbacks
def test_failure_in_a_pipeline_tears_down_once():
    recorder = Propagated()
    model = make_pipeline(StandardScaler(), Stub(3, failing_round=2)).set_callbacks(recorder)
    with pytest.raises(ArithmeticError, match="a round failed"):
        model.fit(X, Y)
    assert recorder.story.count("teardown fit") == 1
    assert set(vars(model[-1])) == set(model[-1].get_params())


@needs_callbacks
def test_callbacks_of_a_search_hear_the_rounds_of_every_fit(capsys):
    bar, recorder = counting_progress_bar(), Propagated()
    from sklearn.callback import ScoringMonitor

    monitor = ScoringMonitor(scoring="accuracy")
    search = GridSearchCV(Stub().set_callbacks(monitor), {"n_rounds": [2, 3]}, cv=2, scoring="accuracy")
    search.set_callbacks(bar, recorder).fit(X, Y)
    n_rounds = 2 * (2 + 3) + search.best_params_["n_rounds"]
    assert sum(story.startswith("end round") for story in recorder.story) == n_rounds
    assert sum(row["task_name"].startswith("round") for row in monitor.get_logs().data) == n_rounds
    assert recorder.story.count("teardown fit") == 1
    assert "Stub - fit" in capsys.readouterr().out


@pytest.mark.skipif(HAS_CALLBACKS, reason="scikit-learn < 1.9 has no callbacks of its own")
def test_fallback_serves_below_scikit_learn_1_9():
    assert monitor.with_callbacks is fallback_with_callbacks
    recorder = Recorder()
    search = GridSearchCV(Stub().set_callbacks(recorder), {"n_rounds": [1, 2]}, cv=2, scoring="accuracy").fit(X, Y)
    assert recorder.story.count("end fit") == 2 * 2 + 1
    assert search.best_estimator_.n_iter_ == search.best_params_["n_rounds"]
