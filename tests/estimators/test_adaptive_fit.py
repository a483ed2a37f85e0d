"""Settings that a fit selects: by which loss, on which samples, the same for any order; what switches it off."""

import pickle
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from boosters import StopAfter, as_validation, for_all, make_named_rows, make_rows, needs_callbacks, unchanged
from hypothesis import given, settings
from hypothesis import strategies as st
from models import CLASSIFIERS, everything, model_bytes
from scipy.sparse import csc_array, csr_array
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from comboost import ConfusionBoostingClassifier, load_model
from comboost._boosting import search, search_samples
from comboost._boosting.monitor import NoCallback
from comboost._boosting.warm_start import fingerprints
from comboost.datasets import load_ecoli
from comboost.metrics import balanced_log_loss

SETTINGS = ("n_estimators", "learning_rate", "max_depth", "smoothing")
RECORD = {"smoothing", "max_depth", "loss", "best_round", "n_rounds", "cost", "outcome", "losses"}

may_stand_still = pytest.mark.filterwarnings("ignore:.*does not distinguish them:UserWarning")


def make(**parameters):
    """A model that selects its settings; few rounds keep it fast."""
    return ConfusionBoostingClassifier(**({"n_estimators": 30, "random_state": 0} | parameters))


def make_grid_rows(n_samples, seed=0, n_classes=3):
    """Rows of few distinct values, so that every part of them has the bins of all."""
    random = np.random.default_rng(seed)
    y = random.permutation(np.arange(n_samples) % (n_classes + 2) % n_classes)
    X = np.column_stack([y + random.integers(0, 3, n_samples), random.integers(0, 4, (n_samples, 2))])
    return X.astype(float), y


@pytest.fixture(scope="module")
def table():
    return make_rows(90, 0)


@pytest.fixture(scope="module")
def validation():
    return as_validation(make_rows(60, 1))


@pytest.fixture
def searched(monkeypatch):
    """The parts that searches use."""
    found, run = [], search.search

    def recording(parts, *args, **options):
        found.append([(part.train.rows, part.held.rows) for part in parts])
        return run(parts, *args, **options)

    monkeypatch.setattr(search, "search", recording)
    return found


def loss_of(model, X, y):
    return balanced_log_loss(y, model.predict_proba(X), labels=model.classes_)


# The reference


def curves_of(record, parts, X, y, sample_weight=None, **parameters):
    """Held-out and training losses of a candidate after every round, by models of the parts."""
    weights = np.ones(len(y)) if sample_weight is None else sample_weight
    held = np.concatenate([held for _, held in parts])
    sums = np.bincount(y[held], weights[held])
    n_rounds = record["n_rounds"]
    losses, train_losses = np.zeros(n_rounds), np.zeros(n_rounds)
    given = {"smoothing": record["smoothing"], "max_depth": record["max_depth"], "learning_rate": 1.0}
    for train, held in parts:
        model = make(**given | parameters | {"n_estimators": n_rounds}).fit(X[train], y[train], weights[train])
        stages = list(model.staged_predict_proba(X[held]))
        for t in range(n_rounds):
            stage = stages[min(t, model.n_iter_ - 1)]  # nothing more may be left to learn
            of_label = stage[np.arange(len(held)), y[held]]
            losses[t] -= (weights[held] / sums[y[held]] * np.log(of_label)).sum() / (sums > 0).sum()
            train_losses[t] += model.loss_curve_[min(t, model.n_iter_ - 1)]
    return losses, train_losses


CASES = {
    "folds": ({}, {}),
    "weights": ({}, {"sample_weight": 1.0 + np.arange(150) % 3}),
    "no draws": ({"max_thresholds": None, "noise": 0.0}, {}),
    "best leaf first": ({"max_leaf_nodes": 5}, {}),
    "many rounds": ({"n_estimators": 400, "smoothing": 20.0}, {}),
}


@pytest.mark.parametrize("name", CASES)
def test_recorded_losses_are_those_of_models_of_the_parts(searched, name):
    parameters, weights = CASES[name]
    X, y = make_grid_rows(150)
    model = make(**parameters).fit(X, y, **weights)
    of_tree = {key: value for key, value in parameters.items() if key not in ("n_estimators", "smoothing")}
    assert len(model.search_results_) > 1
    for record in model.search_results_:
        expected, _ = curves_of(record, searched[0], X, y, **weights, **of_tree)
        np.testing.assert_allclose(record["losses"], expected, rtol=1e-5)


def test_recorded_losses_of_a_single_split_are_those_of_its_model(searched, monkeypatch):
    monkeypatch.setattr(search_samples, "FOLDS", ())
    X, y = make_grid_rows(150)
    model = make().fit(X, y)
    ((train, held),) = searched[0]
    assert len(held) == pytest.approx(0.2 * len(train) / 0.8, abs=2)
    for record in model.search_results_:
        np.testing.assert_allclose(record["losses"], curves_of(record, searched[0], X, y)[0], rtol=1e-5)


@may_stand_still
def test_validation_set_judges_if_there_is_one():
    X, y = make_grid_rows(120)
    X_val, y_val = make_grid_rows(50, 1)
    model = make(early_stopping=True).fit(X, y, X_val=X_val, y_val=y_val)
    for record in model.search_results_:
        parts = [(np.arange(120), np.arange(120, 170))]
        expected, _ = curves_of(record, parts, np.r_[X, X_val], np.r_[y, y_val])
        np.testing.assert_allclose(record["losses"], expected, rtol=1e-5)


@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_missing_values_of_the_validation_set_alone_are_judged_as_the_smallest(container):
    X, y = make_grid_rows(120)
    X_val, y_val = make_grid_rows(50, 1)
    results = []
    for value in (np.nan, -100.0):
        X_val[::5, 1] = value
        model = make(early_stopping=True).fit(container(X), y, X_val=container(X_val), y_val=y_val)
        results.append(model.search_results_)
    assert results[0] == results[1]


def test_unseen_categories_of_the_validation_set_are_judged_as_predicted():
    def frame(X):
        return pd.DataFrame(X, columns=list("abc")).assign(a=[f"v{value:g}" for value in X[:, 0]])

    X, y = make_grid_rows(120)
    X_val, y_val = make_grid_rows(50, 1)
    X_val[::4, 0] = 99
    model = make(early_stopping=True).fit(frame(X), y, X_val=frame(X_val), y_val=y_val)
    record = model.search_results_[0]
    given = {"smoothing": record["smoothing"], "max_depth": record["max_depth"], "n_estimators": record["n_rounds"]}
    plain = make(**given, learning_rate=1.0).fit(frame(X), y)
    expected = [balanced_log_loss(y_val, stage) for stage in plain.staged_predict_proba(frame(X_val))]
    np.testing.assert_allclose(record["losses"], expected, rtol=1e-5)


def follow(candidate, best, n_rounds):
    """Rounds that a candidate runs, by its losses, and what becomes of it."""
    for t in range(1, len(candidate.losses) + 1):
        so_far = Curves(candidate.losses[:t], candidate.train_losses[:t])
        best_round = 1 + int(np.argmin(so_far.losses))
        is_compared = best is not None and t >= search.FIRST_COMPARED and t % search.COMPARED_EVERY == 0
        if is_compared and search.is_behind(so_far, best, n_rounds):
            return t, "stopped"
        if t == n_rounds or t - best_round >= max(search.PATIENCE, search.PATIENCE_FRACTION * best_round):
            return t, "completed"
    raise AssertionError("the candidate ended too early")


class Curves(NamedTuple):
    losses: list[float]
    train_losses: list[float]


@pytest.mark.parametrize("seed", range(4))
def test_candidates_run_and_are_stopped_as_documented(searched, seed):
    X, y = make_grid_rows(100, seed)
    model = make(n_estimators=1000).fit(X, y)
    best = None
    for record in model.search_results_:
        losses = record["losses"]
        assert len(losses) == record["n_rounds"]
        assert record["loss"] == min(losses) == losses[record["best_round"] - 1]
        curves = Curves(losses, curves_of(record, searched[0], X, y)[1].tolist())
        n_rounds, outcome = follow(curves, best, search.SEARCH_ROUNDS)
        if record["outcome"] == "selected":  # which goes on after the others were tried
            assert record["n_rounds"] >= n_rounds
            assert outcome == "completed"
        else:
            assert (record["n_rounds"], record["outcome"]) == (n_rounds, outcome)
        if best is None or min(losses[:n_rounds]) < min(best.losses):
            best = Curves(losses[:n_rounds], curves.train_losses[:n_rounds])


# What is selected


def test_selected_settings_are_those_of_the_smallest_loss(table):
    model = make(n_estimators=1000).fit(*table)
    best = min(model.search_results_, key=lambda record: record["loss"])
    assert [record["outcome"] for record in model.search_results_].count("selected") == 1
    assert best["outcome"] == "selected"
    assert model.best_params_["smoothing"] == best["smoothing"]
    assert model.best_params_["max_depth"] == best["max_depth"]
    assert search.SLOW <= model.best_params_["learning_rate"] <= search.FAST
    assert model.n_iter_ == model.best_params_["n_estimators"] < 1000
    assert all(record.keys() == RECORD for record in model.search_results_)
    assert len(pd.DataFrame(model.search_results_)) == len(model.search_results_)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"loss": "exponential"},
        {"balance": 0.0},
        {"cost_matrix": {0: 1.0, 1: 2.0, 2: 7.0}},
        {"max_leaf_nodes": 6},
        {"max_depth": None},
        {"max_features": 2},
        {"n_estimators": 1},
        {"learning_rate": 0.05},
        {"smoothing": 0.0},
        {"smoothing": 0.0, "loss": "exponential"},
        {"max_depth": 2},
        {"min_samples_leaf": 5},
    ],
    ids=str,
)
def test_selected_settings_given_are_the_same_model(table, parameters):
    model = make(**parameters).fit(*table)
    assert model.search_results_[0]["outcome"] in ("selected", "completed")
    given = make(**parameters | model.best_params_).fit(*table)
    assert model_bytes(given) == model_bytes(model)
    assert given.best_params_ == model.best_params_
    assert given.search_results_ == []


@pytest.mark.parametrize("name", ["smoothing", "max_depth"])
def test_given_number_switches_a_choice_off(table, name):
    model = make(**{name: 2}).fit(*table)
    assert {record[name] for record in model.search_results_} == {2}
    assert model.best_params_[name] == 2
    other = "max_depth" if name == "smoothing" else "smoothing"
    assert len({record[other] for record in model.search_results_}) > 1


def test_nothing_is_searched_if_both_are_given(table):
    model = make(smoothing=3.0, max_depth=2).fit(*table)
    assert model.search_results_ == []
    assert model.n_iter_ == 30
    assert model.best_params_ == {"n_estimators": 30, "learning_rate": search.FAST, "max_depth": 2, "smoothing": 3.0}


def test_leaf_nodes_leave_the_depth_free_of_limits(table):
    model = make(max_leaf_nodes=4).fit(*table)
    assert {record["max_depth"] for record in model.search_results_} == {None}
    assert model.best_params_["max_depth"] is None


def test_given_learning_rate_is_used(table):
    rates = [make(n_estimators=1000, learning_rate=rate).fit(*table) for rate in (0.3, 0.15)]
    assert [model.best_params_["learning_rate"] for model in rates] == [0.3, 0.15]
    n_rounds = [model.n_iter_ for model in rates]
    assert n_rounds[1] == pytest.approx(2 * n_rounds[0], abs=2)  # half the rate, twice the rounds


@pytest.mark.parametrize("n_estimators", [1, 3, 20])
def test_rounds_are_at_most_n_estimators(table, n_estimators):
    assert 1 <= make(n_estimators=n_estimators).fit(*table).n_iter_ <= n_estimators


@for_all
def test_only_confusion_boosting_selects_settings(table, algorithm):
    model = CLASSIFIERS[algorithm](n_estimators=2).fit(*table)
    assert hasattr(model, "best_params_") == hasattr(model, "search_results_") == (algorithm == "confusion")


# The same bits


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=10)
def test_order_of_the_samples_does_not_matter(seed, weighted):
    random = np.random.default_rng(seed)
    X, y = make_grid_rows(80, seed % 7)  # of which many are equal
    weights = random.integers(0, 4, len(y)) + 0.5 if weighted else None
    order = random.permutation(len(y))
    model = make().fit(X, y, weights)
    other = make().fit(X[order], y[order], None if weights is None else weights[order])
    assert everything(other) == everything(model)


def test_threads_memory_order_and_precision_do_not_matter(table):
    X, y = table[0].astype(np.float32).astype(np.float64), table[1]
    expected = make().fit(X, y)
    for other in (X.astype(np.float32), np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X.tolist()):
        model = make().fit(other, y)
        assert model_bytes(model) == model_bytes(expected)
        assert model.search_results_ == expected.search_results_
    for n_jobs in (1, 2, 3):
        model = make(n_jobs=n_jobs).fit(X, y)
        assert model_bytes(model) == model_bytes(expected)
        assert model.search_results_ == expected.search_results_


@pytest.mark.parametrize("container", [csr_array, csc_array])
@pytest.mark.parametrize("container_val", [None, np.asarray, csr_array])
def test_sparse_table_gives_the_model_of_the_dense_one(container, container_val):
    random = np.random.default_rng(0)
    y = np.arange(100) % 3
    X = np.where(random.random((100, 12)) < 0.2, random.integers(1, 4, (100, 12)) + y[:, np.newaxis], 0.0)
    given = {} if container_val is None else {"X_val": X[:40], "y_val": y[:40]}
    expected = make(early_stopping=bool(given)).fit(X[40:], y[40:], **given)
    if given:
        given["X_val"] = container_val(given["X_val"])
    model = make(early_stopping=bool(given)).fit(container(X[40:]), y[40:], **given)
    assert model_bytes(model) == model_bytes(expected)
    assert model.search_results_ == expected.search_results_


def test_weight_zero_is_no_sample(table):
    X, y = table
    weights = np.where(np.arange(len(y)) % 4 == 0, 0.0, 1.5)
    kept = weights > 0
    model, expected = make().fit(X, y, weights), make().fit(X[kept], y[kept], weights[kept])
    assert model_bytes(model) == model_bytes(expected)
    assert model.search_results_ == expected.search_results_


def test_parts_hold_out_every_class_but_never_its_last_sample(searched):
    X, y = make_rows(60, 0)
    y[-3:], y[-1] = 8, 9  # two samples of one class, and one of another
    make().fit(X, y)
    held = np.concatenate([held for _, held in searched[0]])
    assert len(searched[0]) > 1
    assert set(y[held]) == set(y) - {9}
    assert sorted(held) == np.flatnonzero(y != 9).tolist()
    for train, _ in searched[0]:
        assert set(y[train]) == set(y)


# Without a search


@pytest.mark.parametrize(
    ("y", "weights", "reason"),
    [
        ([0, 1], None, "2 samples are fewer than 30"),
        (np.arange(29) % 3, None, "29 samples are fewer than 30"),
        (np.arange(40), None, "classes with more than one sample: 0, and a search needs two"),
        ([0] * 38 + [1, 2], None, "classes with more than one sample: 1, and a search needs two"),
        (np.arange(40) % 3, [1.0] * 20 + [0.0] * 20, "20 samples are fewer than 30"),
    ],
)
def test_table_too_small_to_search_gets_fixed_settings_for_a_reason(y, weights, reason):
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    model = ConfusionBoostingClassifier().fit(X, y, weights)
    assert model.search_results_ == [{"outcome": f"not searched: {reason}"}]
    expected = {"learning_rate": search.FAST, "max_depth": 3, "smoothing": search.FIXED_SMOOTHING}
    assert model.best_params_ == {"n_estimators": search.FIXED_ROUNDS} | expected
    assert model_bytes(ConfusionBoostingClassifier(**model.best_params_).fit(X, y, weights)) == model_bytes(model)


def test_fixed_settings_are_replaced_by_given_ones():
    X, y = make_rows(20, 0)
    model = make(n_estimators=7, smoothing=2.0, learning_rate=0.2).fit(X, y)
    assert model.best_params_ == {"n_estimators": 7, "learning_rate": 0.2, "max_depth": 3, "smoothing": 2.0}


@pytest.mark.parametrize("sizes", [[2] * 20, [40, 2], [28, 1, 1, 2]])
def test_classes_with_one_or_two_samples_are_searched(sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = np.random.default_rng(0).normal(size=(len(y), 2)) + y[:, np.newaxis]
    model = make().fit(X, y)
    assert "selected" in [record["outcome"] for record in model.search_results_]
    assert np.isfinite(model.predict_proba(X)).all()


def test_class_without_weight_plays_no_part(table):
    X, y = table
    model = make().fit(X, y, np.where(y == 1, 0.0, 1.0))
    alone = make().fit(X[y != 1], y[y != 1], np.ones((y != 1).sum()))
    assert model.search_results_ == alone.search_results_


@may_stand_still
def test_validation_set_of_a_class_without_weight_judges_nothing(table, validation):
    X, y = table
    rows = validation["y_val"] == 1
    model = make(early_stopping=True).fit(
        X, y, np.where(y == 1, 0.0, 1.0), X_val=validation["X_val"][rows], y_val=validation["y_val"][rows]
    )
    assert model.search_results_ == [
        {"outcome": "not searched: no validation sample has a weight and a class that is trained on"}
    ]


# Together with other parameters


@pytest.mark.parametrize("held_out", [False, True])
def test_early_stopping_goes_on_with_the_selected_settings(table, validation, held_out):
    given = {} if held_out else validation
    model = make(early_stopping=True, n_estimators=60).fit(*table, **given)
    assert model.best_params_["n_estimators"] == 60
    expected = make(**model.best_params_, early_stopping=True).fit(*table, **given)
    assert model_bytes(model) == model_bytes(expected)
    assert model.validation_curve_.tolist() == expected.validation_curve_.tolist()


def test_refit_uses_the_selected_settings_and_keeps_the_results(table):
    early = {"early_stopping": True, "n_estimators": 60}
    validated, model = make(**early).fit(*table), make(**early, refit=True).fit(*table)
    assert model.search_results_ == validated.search_results_ != []
    assert model.best_params_ == validated.best_params_ | {"n_estimators": validated.n_iter_}
    assert model_bytes(make(**model.best_params_).fit(*table))[:-1] == model_bytes(model)[:-1]


def test_warm_start_goes_on_with_the_selected_settings(table):
    model = make(n_estimators=10, warm_start=True).fit(*table)
    selected, results = model.best_params_, model.search_results_
    model.set_params(n_estimators=20).fit(*table)
    assert model.search_results_ == results != []
    assert model.best_params_ == selected | {"n_estimators": 20}
    assert model.n_iter_ == 20
    assert model_bytes(make(**model.best_params_).fit(*table)) == model_bytes(model)


def test_warm_start_of_a_model_without_a_search_keeps_its_depth(table, searched):
    given = {"smoothing": 10.0, "learning_rate": 0.3, "warm_start": True}
    model = make(n_estimators=5, max_depth=3, **given).fit(*table)  # the depth that a rule chose for the table
    del model.best_params_, model.search_results_
    model.set_params(max_depth="auto", n_estimators=9)
    model._origin.parameters.update(fingerprints({"max_depth": "auto"}))
    expected = make(n_estimators=9, max_depth=3, **given).fit(*table)
    assert model_bytes(model.fit(*table)) == model_bytes(expected)
    assert searched == []


def test_second_fit_without_warm_start_searches_again(table):
    other = make_rows(70, 5)
    model = make().fit(*table).fit(*other)
    assert everything(model) == everything(make().fit(*other))
    assert make().fit(*table).set_params(smoothing=1.0, max_depth=2).fit(*table).search_results_ == []


@needs_callbacks
def test_callbacks_see_only_the_rounds_of_the_fit(table):
    tasks = []

    class Recorder(NoCallback):
        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
            tasks.append((context.task_name, context.max_subtasks))

    model = make(n_estimators=1000).set_callbacks(Recorder()).fit(*table)
    rounds = [name for name, _ in tasks if name.startswith("round")]
    assert rounds == [f"round {t}" for t in range(1, model.n_iter_ + 1)]
    assert model.n_iter_ == tasks[-1][1] == model.best_params_["n_estimators"]


def test_callback_ends_the_fit_and_not_the_search(table):
    model = make().set_callbacks(StopAfter(2)).fit(*table)
    assert (model.stop_reason_, model.n_iter_) == ("callback", 2)
    assert model.search_results_ == make().fit(*table).search_results_


def test_verbose_prints_a_line_per_candidate_before_the_rounds(table, capsys):
    model = make(verbose=1).fit(*table)
    lines = capsys.readouterr().out.splitlines()
    n_candidates = len(model.search_results_)
    for line, record in zip(lines[:n_candidates], model.search_results_, strict=True):
        assert line.startswith(f"smoothing {record['smoothing']:g}, depth {record['max_depth']}: held-out loss ")
    assert len(lines) > n_candidates
    assert not any("held-out loss" in line for line in lines[n_candidates:])


def test_clone_forgets_what_was_selected(table):
    model = clone(make().fit(*table))
    assert not hasattr(model, "best_params_")
    assert (model.smoothing, model.max_depth, model.learning_rate) == ("auto", "auto", "auto")


def test_fit_changes_no_parameter(table):
    model = make()
    before = model.get_params()
    assert model.fit(*table).get_params() == before


def test_search_estimators_try_selected_and_given_settings(table):
    grid = GridSearchCV(make(n_estimators=5), {"smoothing": ["auto", 3.0]}, cv=2).fit(*table)
    assert np.isfinite(grid.cv_results_["mean_test_score"]).all()


def test_pickles_and_model_files_keep_what_was_selected(table, tmp_path):
    for model in (make().fit(*table), make().fit(*make_named_rows(20, 0))):
        model.save_model(tmp_path / "model.comboost")
        for stored in (pickle.loads(pickle.dumps(model)), load_model(tmp_path / "model.comboost")):
            assert stored.best_params_ == model.best_params_
            assert stored.search_results_ == model.search_results_
            assert [type(value) for value in stored.best_params_.values()] == [
                type(value) for value in model.best_params_.values()
            ]


def test_numbers_of_numpy_are_stored_as_numbers(table, tmp_path):
    given = {"n_estimators": np.int64(5), "max_depth": np.int8(2), "smoothing": np.float32(3), "learning_rate": 0.2}
    model = make(**given).fit(*table)
    model.save_model(tmp_path / "model.comboost")
    assert load_model(tmp_path / "model.comboost").best_params_ == model.best_params_


@pytest.mark.parametrize("calibration", ["temperature", "isotonic"])
def test_calibration_uses_the_selected_settings(table, calibration, searched):
    model = make(calibration=calibration, calibration_folds=3).fit(*table)
    assert len(searched) == 1  # the folds of the calibration are not searched
    given = make(**model.best_params_, calibration=calibration, calibration_folds=3).fit(*table)
    np.testing.assert_array_equal(model.predict_proba(table[0]), given.predict_proba(table[0]))


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ArithmeticError])
def test_failure_during_the_search_leaves_the_estimator_as_it_was(table, monkeypatch, fitted, error):
    model = make(n_estimators=5)
    if fitted:
        model.fit(*table)
    n_left, advance = [3], search.Candidate.advance

    def failing(candidate):
        n_left[0] -= 1
        if n_left[0] < 0:
            raise error
        advance(candidate)

    monkeypatch.setattr(search.Candidate, "advance", failing)
    with unchanged(model), pytest.raises(error):
        model.set_params(n_estimators=5).fit(*table)
    monkeypatch.undo()
    assert everything(model.fit(*table)) == everything(make(n_estimators=5).fit(*table))


def test_search_draws_from_the_random_state_once(table):
    states = np.random.RandomState(7), np.random.RandomState(7)
    make(random_state=states[0]).fit(*table)
    make(random_state=states[1], smoothing=1.0, max_depth=2).fit(*table)
    assert states[0].randint(2**31) == states[1].randint(2**31)


def test_equal_weights_select_the_same_settings_as_none():
    X, y = load_ecoli(return_X_y=True)
    models = [ConfusionBoostingClassifier().fit(X, y, weight) for weight in (None, 1.0, np.full(len(y), 2.0**-3) * 8)]
    assert all(model.best_params_ == models[0].best_params_ for model in models)
    assert all((model.decision_function(X) == models[0].decision_function(X)).all() for model in models)
