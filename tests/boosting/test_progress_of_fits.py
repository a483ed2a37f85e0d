"""What a fit says while it runs and after it: printed lines, callbacks, the reason of its end, importances, rules."""

import re

import numpy as np
import pandas as pd
import pytest
from boosters import (
    NAMES,
    SELF_ENDING,
    StopAfter,
    as_validation,
    for_both,
    for_learners,
    learned_bits,
    make_booster,
    make_named_rows,
    needs_callbacks,
)
from hypothesis import given, settings
from models import fit
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from strategies import problems

from comboost import CoMBoClassifier
from comboost._boosting.monitor import NoCallback, format_number

FEATURES = ["north", "east", "south", "west"]


# Rows and models


@pytest.fixture(scope="module")
def table():
    return make_named_rows(90, 0)


@pytest.fixture(scope="module")
def validation():
    return as_validation(make_named_rows(60, 1))


# What is printed


def printed_rounds(text):
    """The lines of rounds: their numbers, and the columns between number and time left."""
    lines = {}
    for line in text.splitlines():
        if found := re.match(r" *(\d+)/\d+ ", line):
            lines[int(found[1])] = line[found.end() :].split()
    return lines


@for_both
@for_learners
@pytest.mark.parametrize("early_stopping", [False, True])
def test_nothing_is_printed_by_default(table, algorithm, learner, early_stopping, capsys):
    make_booster(algorithm, learner, n_estimators=5, early_stopping=early_stopping).fit(*table)
    assert capsys.readouterr() == ("", "")


@for_learners
@pytest.mark.parametrize("verbose", [1, 2, 3, 7, 20])
def test_first_every_kth_and_last_round_are_printed_as_they_are(table, learner, verbose, capsys):
    model = make_booster(learner=learner, n_estimators=7, verbose=verbose).fit(*table)
    out = capsys.readouterr().out
    lines = printed_rounds(out)
    assert list(lines) == sorted({1, 7, *range(verbose, 8, verbose)})
    for number, columns in lines.items():
        curves = model.loss_curve_, model.bound_curve_, model.edges_
        assert columns[:3] == [format_number(curve[number - 1]) for curve in curves]
    assert re.search(r"^7 of 7 rounds kept after .*: n_estimators$", out, re.MULTILINE)


@for_learners
def test_rounds_tried_are_printed_with_their_scores_and_rounds_kept_at_the_end(table, validation, learner, capsys):
    model = make_booster(learner=learner, early_stopping=True, n_iter_no_change=3, verbose=1).fit(*table, **validation)
    out = capsys.readouterr().out
    lines = printed_rounds(out)
    assert list(lines) == list(range(1, model.n_iter_ + 4))
    assert [columns[3] for columns in lines.values()] == [format_number(score) for score in model.validation_curve_]
    assert f"\n{model.n_iter_} of 200 rounds kept after" in out
    assert out.endswith(": early_stopping\n")


@for_learners
def test_rounds_that_are_there_already_are_not_printed_again(table, learner, capsys):
    model = make_booster(learner=learner, n_estimators=4, warm_start=True).fit(*table)
    model.set_params(n_estimators=9, verbose=3).fit(*table)
    assert list(printed_rounds(capsys.readouterr().out)) == [5, 6, 9]


@for_learners
def test_printing_changes_no_bit(table, learner, capsys):
    models = {
        learned_bits(make_booster(learner=learner, n_estimators=5, verbose=k).fit(*table), table[0]) for k in (0, 1, 2)
    }
    assert len(models) == 1


# Callbacks


class Recorder(NoCallback):
    """Keeps the fitted estimators of all rounds."""

    def __init__(self):
        self.begun = []
        self.models = {}

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.models[context.task_name] = fitted_estimator

    @property
    def rounds(self):
        return [model for name, model in self.models.items() if name.startswith("round")]


def names_of(rounds):
    return [f"round {number}" for number in rounds]


@for_both
@for_learners
def test_callback_hears_every_round_with_a_model_that_predicts_as_its_stage(table, algorithm, learner):
    X, y = table
    recorder = Recorder()
    model = make_booster(algorithm, learner, n_estimators=6).set_callbacks(recorder).fit(X, y)
    assert recorder.begun == ["fit", *names_of(range(1, 7))]
    assert list(recorder.models) == [*names_of(range(1, 7)), "fit"]
    stages = zip(model.staged_predict(X), model.staged_predict_proba(X), strict=True)
    for number, (reported, (elected, shares)) in enumerate(zip(recorder.rounds, stages, strict=True), start=1):
        assert reported.n_iter_ == number
        np.testing.assert_array_equal(reported.predict(X), elected)
        np.testing.assert_array_equal(reported.predict_proba(X), shares)
    np.testing.assert_array_equal(recorder.models["fit"].predict(X), model.predict(X))


@for_learners
def test_callback_hears_the_rounds_of_a_warm_start_and_not_those_before(table, learner):
    recorder = Recorder()
    model = make_booster(learner=learner, n_estimators=3, warm_start=True).fit(*table).set_callbacks(recorder)
    model.set_params(n_estimators=5).fit(*table)
    assert list(recorder.models) == ["round 4", "round 5", "fit"]
    assert [reported.n_iter_ for reported in recorder.rounds] == [4, 5]


@for_learners
def test_callback_hears_rounds_with_missing_values_and_categories(learner):
    X, y = make_named_rows(80, 4)
    X[::5, 1] = np.nan
    frame = pd.DataFrame(X, columns=FEATURES)
    if learner == "tree":
        frame["west"] = pd.cut(frame["west"], 4, labels=list("abcd"))
    recorder = Recorder()
    model = make_booster(learner=learner, n_estimators=4).set_callbacks(recorder).fit(frame, y)
    for reported, elected in zip(recorder.rounds, model.staged_predict(frame), strict=True):
        np.testing.assert_array_equal(reported.predict(frame), elected)


@for_both
@for_learners
@pytest.mark.parametrize("k", [1, 4])
def test_callback_that_stops_leaves_the_first_rounds_of_the_whole_model(table, algorithm, learner, k):
    X, y = table
    model = make_booster(algorithm, learner, n_estimators=9).set_callbacks(StopAfter(k)).fit(X, y)
    assert (model.stop_reason_, model.n_iter_) == ("callback", k)
    assert learned_bits(model, X) == learned_bits(make_booster(algorithm, learner, n_estimators=k).fit(X, y), X)
    whole = make_booster(algorithm, learner, n_estimators=9).fit(X, y)
    first = list(whole.staged_decision_function(X))[k - 1]
    np.testing.assert_array_equal(model.decision_function(X), first)


@for_learners
def test_callback_that_stops_leaves_the_best_round_of_those_tried(table, validation, learner):
    early = {"early_stopping": True, "n_iter_no_change": 30, "n_estimators": 30}
    whole = make_booster(learner=learner, **early).fit(*table, **validation)
    scores = whole.validation_curve_
    assert whole.stop_reason_ == "n_estimators"
    n_tried = next(k for k in range(2, 30) if scores[:k].argmax() < k - 1)  # whose last round is not the best
    model = make_booster(learner=learner, **early).set_callbacks(StopAfter(n_tried))
    model.fit(*table, **validation)
    assert model.stop_reason_ == "callback"
    assert model.validation_curve_.tolist() == scores[:n_tried].tolist()
    assert model.n_iter_ == scores[:n_tried].argmax() + 1
    plain = make_booster(learner=learner, n_estimators=model.n_iter_).fit(*table)
    assert learned_bits(model, table[0]) == learned_bits(plain, table[0])


def test_callbacks_change_no_bit(table):
    expected = learned_bits(make_booster(n_estimators=5).fit(*table), table[0])
    assert learned_bits(make_booster(n_estimators=5).set_callbacks(Recorder()).fit(*table), table[0]) == expected


def test_fit_that_nobody_listens_to_makes_no_tasks(table, monkeypatch):
    def no_tasks(*_, **__):
        raise AssertionError("a task was made")

    monkeypatch.setattr("comboost._estimators.base.RoundCallbacks", no_tasks)
    assert make_booster(n_estimators=3).fit(*table).n_iter_ == 3


# Callbacks of scikit-learn


def progress_bar():
    pytest.importorskip("rich", reason="the progress bar of scikit-learn needs rich")
    from sklearn.callback import ProgressBar

    return ProgressBar(max_propagation_depth=None)


def scoring_monitor():
    from sklearn.callback import ScoringMonitor

    return ScoringMonitor(scoring="accuracy")


def logged_rounds(monitor):
    return [row["accuracy"] for row in monitor.get_logs().data if row["task_name"].startswith("round")]


@needs_callbacks
@for_learners
@pytest.mark.parametrize("early_stopping", [False, True])
def test_progress_bar_of_scikit_learn_reaches_its_end(table, learner, early_stopping, capsys):
    booster = make_booster(learner=learner, n_estimators=6, early_stopping=early_stopping)
    booster.set_callbacks(progress_bar()).fit(*table)
    out = capsys.readouterr().out
    assert "CoMBoClassifier - fit" in out
    assert "100%" in out


@needs_callbacks
@for_both
@for_learners
def test_scoring_monitor_of_scikit_learn_logs_the_score_of_every_stage(table, algorithm, learner):
    X, y = table
    monitor = scoring_monitor()
    model = make_booster(algorithm, learner, n_estimators=6).set_callbacks(monitor).fit(X, y)
    assert logged_rounds(monitor) == [accuracy_score(y, elected) for elected in model.staged_predict(X)]


@needs_callbacks
def test_scoring_monitor_of_scikit_learn_weighs_the_rows(table):
    X, y = table
    weights = 1.0 + np.arange(len(y)) % 3
    monitor = scoring_monitor()
    model = make_booster(n_estimators=4).set_callbacks(monitor).fit(X, y, weights)
    expected = [accuracy_score(y, elected, sample_weight=weights) for elected in model.staged_predict(X)]
    assert logged_rounds(monitor) == expected


@needs_callbacks
def test_callbacks_of_scikit_learn_follow_rounds_in_a_pipeline(table, capsys):
    X, y = table
    monitor = scoring_monitor()
    pipeline = make_pipeline(StandardScaler(), make_booster(n_estimators=5).set_callbacks(monitor))
    pipeline.set_callbacks(progress_bar()).fit(X, y)
    elected = pipeline[-1].staged_predict(pipeline[0].transform(X))
    assert logged_rounds(monitor) == [accuracy_score(y, stage) for stage in elected]
    out = capsys.readouterr().out
    assert "CoMBoClassifier - fit" in out
    assert "100%" in out


@needs_callbacks
def test_callbacks_of_scikit_learn_follow_the_rounds_of_a_search(table, capsys):
    monitor = scoring_monitor()
    booster = make_booster(max_depth=1).set_callbacks(monitor)
    search = GridSearchCV(booster, {"n_estimators": [2, 3]}, cv=2, scoring="accuracy").set_callbacks(progress_bar())
    search.fit(*table)
    assert len(logged_rounds(monitor)) == 2 * (2 + 3) + search.best_params_["n_estimators"]
    out = capsys.readouterr().out
    assert "CoMBoClassifier - fit" in out
    assert "100%" in out


# Why the rounds ended

ENDINGS = {
    ("n_estimators", "tree"): (*make_named_rows(90, 0), None, {"n_estimators": 4}),
    ("n_estimators", "estimator"): (*make_named_rows(90, 0), None, {"n_estimators": 4}),
    **{(reason, "tree"): given for reason, given in SELF_ENDING.items()},
    ("no_edge", "estimator"): SELF_ENDING["no_edge"],
    ("perfect_learner", "estimator"): SELF_ENDING["perfect_learner"],
    ("early_stopping", "tree"): (*make_named_rows(90, 0), None, {"early_stopping": True}),
    ("early_stopping", "estimator"): (*make_named_rows(90, 0), None, {"early_stopping": True}),
}


@for_both
@pytest.mark.parametrize(("reason", "learner"), ENDINGS)
def test_stop_reason_says_why_the_rounds_ended(algorithm, reason, learner):
    *rows, parameters = ENDINGS[reason, learner]
    model = make_booster(algorithm, learner, **parameters).fit(*rows)
    assert model.stop_reason_ == reason
    for curve in (model.estimator_weights_, model.edges_, model.loss_curve_, model.bound_curve_):
        assert curve.shape == (model.n_iter_,)
    if reason == "n_estimators":
        assert model.n_iter_ == 4
    if reason == "perfect_learner":
        assert model.edges_[-1] == 1 - 2.0**-30
    if reason == "loss_vanished":
        assert model.loss_curve_[-1] < 1e-200 <= model.loss_curve_[-2]
    if reason == "early_stopping":
        assert len(model.validation_curve_) == model.n_iter_ + model.n_iter_no_change


@pytest.mark.parametrize("reason", SELF_ENDING)
def test_what_ends_the_learning_comes_before_what_the_last_round_asks_for(reason):
    *rows, parameters = SELF_ENDING[reason]
    n_tried = make_booster(**parameters).fit(*rows).n_iter_ + (reason == "no_edge")
    model = make_booster(**(parameters | {"n_estimators": n_tried})).set_callbacks(StopAfter(n_tried))
    assert model.fit(*rows).stop_reason_ == reason


def test_round_that_all_were_asked_for_is_no_stop_by_a_callback(table):
    model = make_booster(n_estimators=3).set_callbacks(StopAfter(3)).fit(*table)
    assert model.stop_reason_ == "n_estimators"


# Importances


@given(problem=problems() | problems(missing=True, categories=True))
@settings(max_examples=30)
def test_importances_are_shares_of_the_features_that_rules_name(problem):
    model = fit(problem)
    shares = model.feature_importances_
    assert shares.shape == (problem.X.shape[1],)
    assert (shares >= 0).all()
    used = set(model._forest.nodes["feature"].tolist()) - {-1}
    assert set(np.flatnonzero(shares).tolist()) <= used
    if shares.any():
        assert shares.sum() == pytest.approx(1)


@for_both
@for_learners
def test_importances_sum_to_one(table, algorithm, learner):
    assert make_booster(algorithm, learner, n_estimators=5).fit(*table).feature_importances_.sum() == pytest.approx(1)


@for_learners
def test_permuting_a_feature_that_no_round_uses_loses_nothing(table, learner):
    X, y = table
    X = np.column_stack([X[:, :2], np.zeros(len(y))])
    X_new = np.column_stack([X[:, :2], np.arange(len(y))])
    model = make_booster(learner=learner, n_estimators=8).fit(X, y)
    found = permutation_importance(model, X_new, y, n_repeats=3, random_state=0)
    assert found.importances.shape == (3, 3)
    assert not found.importances[2].any()
    assert found.importances_mean[0] > 0


def test_permutation_importance_takes_frames_with_categories_and_missing_values():
    X, y = make_named_rows(80, 4)
    X[::5, 1] = np.nan
    frame = pd.DataFrame(X, columns=FEATURES)
    frame["west"] = pd.cut(frame["west"], 4, labels=list("abcd"))
    model = make_booster(n_estimators=8).fit(frame, y)
    found = permutation_importance(model, frame, y, n_repeats=2, random_state=0)
    assert np.isfinite(found.importances).all()


# Rules


def depths(text):
    return [line.count("|   ") for line in text.splitlines()]


@given(problem=problems() | problems(missing=True, categories=True))
@settings(max_examples=30)
def test_rules_of_every_round_are_its_tree(problem):
    model = fit(problem)
    for t in range(model.n_iter_):
        text = model.export_text(t)
        nodes = model._forest.nodes[model._forest.offsets[t] : model._forest.offsets[t + 1]]
        elected = [int(line.split("class: ")[1]) for line in text.splitlines() if "class: " in line]
        assert sorted(elected) == sorted(nodes["label"][nodes["feature"] < 0].tolist())
        named = {int(number) for number in re.findall(r"--- x(\d+) ", text)}
        assert named == set(nodes["feature"][nodes["feature"] >= 0].tolist())
        assert model.export_text(t - model.n_iter_) == text
        assert max(depths(text)) <= (problem.settings.get("max_depth", 3) or len(problem.y))


def test_rules_name_features_and_classes(table):
    X, y = table
    model = make_booster(n_estimators=5).fit(pd.DataFrame(X, columns=FEATURES), y)
    numbered = make_booster(n_estimators=5).fit(X, np.searchsorted(NAMES, y))
    for t in range(-5, 5):
        text = re.sub(r"x(\d)", lambda found: FEATURES[int(found[1])], numbered.export_text(t))
        assert model.export_text(t) == re.sub(r"class: (\d)", lambda found: f"class: {NAMES[int(found[1])]}", text)


@pytest.mark.parametrize("round_idx", [5, -6, 1000])
def test_round_that_is_not_there_has_no_rules(table, round_idx):
    model = make_booster(n_estimators=5).fit(*table)
    with pytest.raises(ValueError, match=f"There is no round {round_idx}; the model has 5, counted from 0"):
        model.export_text(round_idx)


def test_rules_of_dropped_rounds_are_not_there(table, validation):
    model = make_booster(early_stopping=True, n_iter_no_change=3).fit(*table, **validation)
    assert model.export_text(model.n_iter_ - 1) == model.export_text(-1)
    with pytest.raises(ValueError, match="There is no round"):
        model.export_text(model.n_iter_)


def test_rules_need_a_fit_and_the_built_in_tree(table):
    with pytest.raises(NotFittedError):
        CoMBoClassifier().export_text(0)
    with pytest.raises(ValueError, match="inspect estimators_"):
        make_booster(learner="estimator", n_estimators=2).fit(*table).export_text(0)
