"""The summary of a report: its numbers are those of scikit-learn, and do not depend on what should not matter."""

import copy
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report.oracles import Oracle, evaluations, table_of
from scipy.sparse import coo_matrix, csr_matrix
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    precision_score,
    recall_score,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier
from comboost.baselines import AdaBoostNCClassifier
from comboost.datasets import load_yeast
from comboost.metrics import (
    balanced_log_loss,
    confusion_norm_bound,
    confusion_norm_loss,
    error_confusion_matrix,
    error_rate_bound,
    geometric_mean_bound,
    geometric_mean_score,
    mauc_score,
    min_recall_bound,
    min_recall_score,
)
from comboost.metrics._measures import norm_of
from comboost.model_selection import wilson_interval
from comboost.report import ModelReport
from comboost.report._collect.metrics import spectral_norm
from comboost.report._collect.search import describe_search

FEW = settings(max_examples=12, deadline=None)
N_ROUNDS = 10


@pytest.fixture(scope="module")
def yeast():
    X, y = load_yeast(return_X_y=True, as_frame=True)
    return X[::2], y[::2].to_numpy(), X[1::2], y[1::2].to_numpy()


@pytest.fixture(scope="module")
def models(yeast):
    X, y, _, _ = yeast
    ours = ConfusionBoostingClassifier(n_estimators=N_ROUNDS).fit(X, y)
    return ours, DecisionTreeClassifier(max_depth=6, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def summary(yeast, models):
    ours, tree = models
    return ModelReport(ours, yeast[2], yeast[3], baseline=tree).summary


def report_on(truth, *answers, classes, **options):
    """The summary of oracles on numbered samples."""
    oracles = [Oracle(each, classes) for each in answers]
    baseline = {"baseline": oracles[1]} if len(oracles) > 1 else {}
    return ModelReport(oracles[0], table_of(len(truth)), truth, **baseline, **options).summary


def metrics_of(summary, model=0):
    return {each["key"]: each["value"] for each in summary["models"][model]["metrics"]}


def of_classes(summary, key, model=0):
    return [each["models"][model][key] for each in summary["classes"]]


# Metrics


@FEW
@given(evaluations())
def test_counts_recalls_and_metrics_are_those_of_scikit_learn(trial):
    classes, truth, *answers = trial
    summary = report_on(truth, *answers, classes=classes)
    present = np.isin(classes, truth)
    for model, predicted in enumerate(answers):
        found = summary["models"][model]
        assert found["confusion_matrix"] == confusion_matrix(truth, predicted, labels=classes).tolist()
        assert found["error_confusion_matrix"] == error_confusion_matrix(truth, predicted, labels=classes).tolist()
        recalls = recall_score(truth, predicted, labels=classes, average=None, zero_division=np.nan)
        assert of_classes(summary, "recall", model) == [None if np.isnan(r) else r for r in recalls]
        precisions = precision_score(truth, predicted, labels=classes, average=None, zero_division=np.nan)
        assert of_classes(summary, "precision", model) == [None if np.isnan(p) else p for p in precisions]
        metrics = metrics_of(summary, model)
        assert metrics["accuracy"] == pytest.approx(accuracy_score(truth, predicted))
        assert metrics["mean_recall"] == pytest.approx(np.nanmean(recalls))
        assert metrics["norm"] == pytest.approx(confusion_norm_loss(truth, predicted, labels=classes))
        assert metrics["g_mean"] == pytest.approx(geometric_mean_score(truth, predicted, labels=classes))
        assert metrics["worst_recall"] == min_recall_score(truth, predicted, labels=classes)
        intervals = np.stack(
            wilson_interval(np.nan_to_num(recalls), [(truth == name).sum() for name in classes]), axis=1
        )
        expected = [
            bounds if is_present else None for bounds, is_present in zip(intervals.tolist(), present, strict=True)
        ]
        assert of_classes(summary, "interval", model) == expected
    assert [each["n_samples"] for each in summary["classes"]] == [(truth == name).sum() for name in classes]
    assert [each["difference"] is not None for each in summary["classes"]] == present.tolist()


@FEW
@given(evaluations())
def test_intervals_contain_their_value_and_the_verdict_follows_from_them(trial):
    classes, truth, *answers = trial
    summary = report_on(truth, *answers, classes=classes)
    entries = [each for model in summary["models"] for each in model["metrics"]] + summary["differences"]
    entries += [each["difference"] for each in summary["classes"] if each["difference"]]
    for each in entries:
        low, high = each["interval"]
        assert low <= each["value"] <= high
        assert "significant" not in each or each["significant"] == (low > 0 or high < 0)
    verdict, tested = summary["verdict"], {each["name"]: each for each in summary["classes"] if each["n_samples"]}
    assert sorted(verdict["higher"] + verdict["lower"] + verdict["not_significant"]) == sorted(tested)
    assert all(tested[name]["difference"]["interval"][0] > 0 for name in verdict["higher"])
    assert all(tested[name]["difference"]["interval"][1] < 0 for name in verdict["lower"])
    assert len(verdict["sentences"]) == 2
    if verdict["kind"] == "not_significant":
        assert not verdict["higher"] + verdict["lower"]
        assert "do not differ significantly" in verdict["sentences"][0]
        assert "not differ significantly for any class" in verdict["sentences"][1]


@FEW
@given(evaluations())
def test_swapped_models_have_negated_differences_and_the_opposite_verdict(trial):
    classes, truth, ours, theirs = trial
    one, other = (report_on(truth, *pair, classes=classes) for pair in ((ours, theirs), (theirs, ours)))
    opposite = {"better": "worse", "worse": "better", "mixed": "mixed", "not_significant": "not_significant"}
    assert one["verdict"]["kind"] == opposite[other["verdict"]["kind"]]
    assert one["verdict"]["higher"] == other["verdict"]["lower"]
    assert one["verdict"]["lower"] == other["verdict"]["higher"]
    pairs = list(zip(one["differences"], other["differences"], strict=True))
    pairs += [
        (each["difference"], mirrored["difference"])
        for each, mirrored in zip(one["classes"], other["classes"], strict=True)
        if each["difference"]
    ]
    for each, mirrored in pairs:
        low, high = mirrored["interval"]
        assert (each["value"], each["interval"]) == (-mirrored["value"], [-high, -low])


@FEW
@given(evaluations())
def test_equal_models_do_not_differ_significantly(trial):
    classes, truth, answers, _ = trial
    summary = report_on(truth, answers, answers.copy(), classes=classes)
    assert summary["verdict"]["kind"] == "not_significant"
    assert all(each["value"] == 0 for each in summary["differences"])


@FEW
@given(evaluations(), st.randoms(use_true_random=False))
def test_order_of_samples_only_changes_example_samples(trial, random):
    classes, truth, *answers = trial
    probabilities = np.random.default_rng(0).dirichlet(np.ones(len(classes)), len(truth))
    order = list(range(len(truth)))
    random.shuffle(order)
    ours, theirs = (Oracle(each, classes, probabilities) for each in answers)
    X = table_of(len(truth))
    one, other = (ModelReport(ours, X[rows], truth[rows], baseline=theirs).summary for rows in (slice(None), order))
    for each in (one, other):
        each["reproduction"]["data_digest"] = None
        for pair in each["confused_pairs"]:
            pair["examples"] = None
    assert one == other


def test_same_call_gives_the_same_bytes(yeast, models, summary):
    again = ModelReport(models[0], yeast[2], yeast[3], baseline=models[1])
    assert again.json() == ModelReport.from_summary(summary).json()
    other_draws = ModelReport(models[0], yeast[2], yeast[3], baseline=models[1], random_state=1).summary
    assert other_draws["differences"] != summary["differences"]
    assert other_draws["classes"] == summary["classes"]


def plain_parts(value):
    if isinstance(value, dict):
        assert all(type(key) is str for key in value)
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            plain_parts(item)
    else:
        assert type(value) in (str, int, float, bool, type(None))
        assert type(value) is not float or np.isfinite(value)


def test_summary_is_plain_and_survives_json(summary):
    plain_parts(summary)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


# Verdicts


def test_only_significant_differences_are_reported():
    truth = np.repeat(["a", "b", "c"], [100, 100, 2])
    worse = np.where(np.arange(202) < 70, "b", truth)  # 70 of 100 samples of a
    summary = report_on(truth, truth, worse, classes=["a", "b", "c"])
    verdict = summary["verdict"]
    assert (verdict["kind"], verdict["higher"], verdict["not_significant"]) == ("better", ["a"], ["b", "c"])
    assert verdict["sentences"][1] == (
        "Recall is significantly higher for a; no significant difference for the other two classes "
        "(fewest samples: c with 2 and b with 100)."
    )
    few = np.where(np.arange(202) < 2, "b", truth)
    undecided = report_on(truth, truth, few, classes=["a", "b", "c"])["verdict"]
    assert undecided["kind"] == "not_significant"
    assert "fewest samples: c with 2" in undecided["sentences"][1]


def test_gains_on_one_class_for_losses_on_another_are_mixed():
    truth = np.repeat(["a", "b"], 100)
    verdict = report_on(truth, np.full(200, "a"), np.full(200, "b"), classes=["a", "b"])["verdict"]
    assert (verdict["kind"], verdict["higher"], verdict["lower"]) == ("mixed", ["a"], ["b"])


def test_without_baseline_recalls_are_compared_with_one_half_and_chance():
    truth = np.repeat(["a", "b", "c", "d"], [100, 100, 100, 1])
    said = truth.copy()
    said[100:190] = "a"  # the recall of b is 0.1
    said[200:250] = "a"  # and that of c 0.5
    verdict = report_on(truth, said, classes=["a", "b", "c", "d"])["verdict"]
    assert (verdict["kind"], verdict["higher"], verdict["lower"]) == ("no_baseline", ["a"], ["b"])
    assert verdict["not_significant"] == ["c", "d"]
    assert "(25 %)" in verdict["sentences"][1]
    assert "for 2 of 4 classes, but not for d (1 sample) and b (100 samples)." in verdict["sentences"][1]


@pytest.mark.parametrize("n_rows", [1, 3, 6, 7])
def test_no_recall_is_significant_that_an_exact_test_does_not_see(n_rows):
    classes = list("abcdefghij")
    truth = np.repeat(classes, n_rows)
    verdict = report_on(truth, truth, classes=classes)["verdict"]
    for chance, is_told in ((0.5, verdict["higher"] == classes), (0.1, "for all classes" in verdict["sentences"][1])):
        assert is_told == (chance**n_rows <= 0.05 / 2 / len(classes))


# Classes, labels, containers


def test_classes_that_only_one_side_knows():
    truth = np.array(["a"] * 10 + ["b"] * 10 + ["new"] * 10)
    ours = Oracle(np.where(truth == "new", "a", truth), ["a", "b", "gone"])
    theirs = Oracle(np.where(truth == "new", "new", "other"), ["a", "new", "other"])
    summary = ModelReport(ours, table_of(30), truth, baseline=theirs).summary
    assert [(each["name"], each["n_samples"], each["known"]) for each in summary["classes"]] == [
        ("a", 10, True), ("b", 10, True), ("gone", 0, True), ("new", 10, False), ("other", 0, False),
    ]  # fmt: skip
    assert summary["verdict"]["higher"] == ["a", "b"]
    assert summary["verdict"]["lower"] == ["new"]
    assert any("does not know new" in note and "10 samples" in note for note in summary["notes"])
    assert any("no samples of gone and other" in note for note in summary["notes"])
    assert summary["bounds"]["generalization"] is None


def test_rejected_samples_are_a_column_and_count_as_errors(yeast):
    X, y, X_new, y_new = yeast
    model = ConfusionBoostingClassifier(n_estimators=N_ROUNDS, decision="expected_cost", reject_cost=0.3).fit(X, y)
    summary = ModelReport(model, X_new, y_new).summary
    rejected = model.predict(X_new) == "reject"
    assert rejected.any()
    assert summary["predicted_labels"] == [*model.classes_.tolist(), "reject"]
    assert sum(row[-1] for row in summary["models"][0]["confusion_matrix"]) == rejected.sum()
    assert metrics_of(summary)["accuracy"] == pytest.approx(accuracy_score(y_new, model.predict(X_new)))
    assert any(f"rejects {rejected.sum():,} of" in note for note in summary["notes"])


def test_a_class_with_the_name_of_the_reject_label_is_distinct():
    truth = np.array(["a", "b", "reject", "a"])
    summary = ModelReport(Oracle(["a", "reject", "reject", "b"], ["a", "b"]), table_of(4), truth).summary
    assert summary["predicted_labels"] == ["a", "b", "reject", "reject (rejected)"]
    assert [each["models"][0]["recall"] for each in summary["classes"]] == [0.5, 0.0, 0.0]


@pytest.mark.parametrize(
    "labels",
    [[1, 2], [True, False], ["two\nlines", "a\ttab"], [1.0, 7.0], np.array(["2026-01-01", "2026-01-02"], "M8[D]")],
)
def test_labels_of_any_kind_are_named_by_their_text(labels):
    classes = np.unique(np.asarray(labels))
    truth = classes[[0, 0, 1, 1, 1]]
    summary = ModelReport(Oracle(truth, classes), table_of(5), truth).summary
    assert [each["name"] for each in summary["classes"]] == [str(each) for each in classes.tolist()] or (
        classes.dtype.kind == "M"
    )
    assert metrics_of(summary)["accuracy"] == 1.0
    plain_parts(summary)


@pytest.mark.parametrize("truth", [["a"], ["a"] * 5, ["b", "b", "a"]])
def test_few_samples_and_one_class_are_noted(truth):
    summary = report_on(np.array(truth), np.array(truth), np.array(["b"] * len(truth)), classes=["a", "b"])
    assert summary["request"]["n_samples"] == len(truth)
    assert summary["verdict"]["kind"] == "not_significant"
    assert any("fewer than 10 samples" in note for note in summary["notes"])
    assert any("one class" in note for note in summary["notes"]) == (len(set(truth)) == 1)


def test_a_container_changes_names_alone(yeast, models):
    X, y, X_new, y_new = yeast
    plain = ConfusionBoostingClassifier(n_estimators=N_ROUNDS).fit(X.to_numpy(), y)
    array = X_new.to_numpy()
    reports = [
        ModelReport(plain, table, y_new).summary
        for table in (array, array.tolist(), csr_matrix(array), coo_matrix(array))
    ]
    assert [each["models"] for each in reports] == [reports[0]["models"]] * 4
    assert [each["confused_pairs"] for each in reports] == [reports[0]["confused_pairs"]] * 4
    frames = [X_new, pl.from_pandas(X_new), pa.Table.from_pandas(X_new, preserve_index=False)]
    named = [ModelReport(models[0], table, y_new).summary for table in frames]
    assert [each["models"] for each in named] == [named[0]["models"]] * 3
    assert (
        named[0]["confused_pairs"][0]["examples"]["features"] == named[1]["confused_pairs"][0]["examples"]["features"]
    )


def test_example_samples_have_index_labels_and_are_confused(yeast, models):
    _, _, X_new, y_new = yeast
    frame = X_new.set_axis([f"protein {place}" for place in range(len(X_new))])
    summary = ModelReport(models[0], frame, y_new).summary
    predicted = dict(zip(frame.index, zip(y_new, models[0].predict(frame), strict=True), strict=True))
    assert len(summary["confused_pairs"]) == 10
    for pair in summary["confused_pairs"]:
        assert 1 <= len(pair["examples"]["samples"]) <= 3
        for row in pair["examples"]["samples"]:
            assert predicted[row["index"]] == (pair["true_class"], pair["predicted_as"])
            values = frame.loc[row["index"], pair["examples"]["features"]]
            assert row["values"] == [f"{value:.6g}" for value in values]
    assert (
        ModelReport(models[0], X_new, y_new).summary["confused_pairs"][0]["examples"]["samples"][0]["index"]
        in X_new.index
    )


def test_missing_values_and_categories_are_shown_as_such():
    kinds = pd.Categorical(["x", None, "y" * 99])
    frame = pd.DataFrame({"row": [0, 1, 2], "number": [np.nan, 1 / 3, -2.0], "kind": kinds, "any": [pd.NA, {}, "a\nb"]})
    summary = ModelReport(Oracle(["b"] * 3, ["a", "b"]), frame, ["a"] * 3).summary
    assert [row["values"] for row in summary["confused_pairs"][0]["examples"]["samples"]] == [
        ["0", "missing", "x", "missing"],
        ["1", "0.333333", "missing", "{}"],
        ["2", "-2", "y" * 59 + "…", "a\nb"],
    ]


def test_times_and_whole_numbers_are_shown_with_all_their_digits():
    times = pd.to_datetime(["2020-01-02 03:04", None])
    frame = pd.DataFrame({"row": [0, 1], "code": [20240115.0, 1e300], "span": pd.to_timedelta([90, None], unit="min")})
    for unit in ("s", "us", "ns"):
        given = frame.assign(at=times.astype(f"datetime64[{unit}]"), span=frame["span"].astype(f"timedelta64[{unit}]"))
        summary = ModelReport(Oracle(["b"] * 2, ["a", "b"]), given, ["a"] * 2).summary
        assert [row["values"] for row in summary["confused_pairs"][0]["examples"]["samples"]] == [
            ["0", "20240115", "1:30:00", "2020-01-02 03:04:00"],
            ["1", "1e+300", "missing", "missing"],
        ]


# What only boosters have


def test_probability_metrics_weight_all_classes_equally(yeast, models, summary):
    _, _, X_new, y_new = yeast
    for place, model in enumerate(models):
        probabilities, metrics = model.predict_proba(X_new), metrics_of(summary, place)
        assert metrics["mauc"] == pytest.approx(mauc_score(y_new, probabilities, labels=model.classes_))
        assert metrics["log_loss"] == pytest.approx(balanced_log_loss(y_new, probabilities, labels=model.classes_))
        found = summary["calibration"][place]
        assert sum(each["n_samples"] for each in found["bins"]) == len(y_new)
        assert all(each["lower"] <= each["confidence"] <= each["upper"] for each in found["bins"])
        top = model.classes_[probabilities.argmax(axis=1)]
        (whole,) = (each for each in found["bins"] if each["upper"] == 1.0) if place else (None,)
        if whole:
            rows = probabilities.max(axis=1) >= 0.9
            weights = 1 / np.array([(y_new == label).sum() for label in y_new[rows]])
            assert whole["accuracy"] == pytest.approx(np.average((top == y_new)[rows], weights=weights))


def test_a_perfectly_calibrated_oracle_has_no_error():
    probabilities = np.repeat([[0.75, 0.25], [0.25, 0.75]], 40, axis=0)
    truth = np.array((["a"] * 3 + ["b"]) * 10 + (["b"] * 3 + ["a"]) * 10)
    summary = ModelReport(Oracle(["a"] * 40 + ["b"] * 40, ["a", "b"], probabilities), table_of(80), truth).summary
    assert summary["calibration"][0]["calibration_error"] == pytest.approx(0.0)


@pytest.mark.parametrize("probabilities", [np.full((4, 2), 0.3), np.full((4, 3), 1 / 3), np.full((4, 2), np.nan)])
def test_probabilities_that_are_none_are_left_out_with_the_reason(probabilities):
    summary = ModelReport(Oracle(["a"] * 4, ["a", "b"], probabilities), table_of(4), ["a", "a", "b", "b"]).summary
    assert summary["calibration"] is None
    assert "probabilities" in summary["unavailable"]["calibration"]
    assert "mauc" not in metrics_of(summary)


def test_curves_bounds_and_importances_are_those_of_the_booster(yeast, models, summary):
    ours, _ = models
    curves, bounds, importances = (summary[part] for part in ("curves", "bounds", "importances"))
    series = {each["key"]: each["values"] for each in curves["series"]}
    assert (series["loss"], series["bound"]) == (ours.loss_curve_.tolist(), ours.bound_curve_.tolist())
    assert series["norm_test"][-1] == pytest.approx(metrics_of(summary)["norm"])
    assert (curves["rounds"], curves["stop_reason"]) == (list(range(1, N_ROUNDS + 1)), "n_estimators")
    assert bounds["training_norm"] <= bounds["loss"] <= bounds["certified"]
    assert importances["classes"] == ours.classes_.tolist()
    places = [list(yeast[0].columns).index(name) for name in importances["features"]]
    assert importances["values"] == ours.class_importances_[:, places].tolist()
    assert importances["overall"] == sorted(importances["overall"], reverse=True)
    assert set(summary["unavailable"]) == set()


def test_bounds_on_new_data_are_those_of_the_metrics(yeast, models, summary):
    y, predicted = yeast[3], models[0].predict(yeast[2])
    priors = dict(zip(*np.unique(y, return_counts=True), strict=True))
    priors = {label: count / len(y) for label, count in priors.items()}
    uniform = dict.fromkeys(priors, 1 / len(priors))
    expected = {
        "norm": confusion_norm_bound(y, predicted),
        "g_mean": geometric_mean_bound(y, predicted),
        "mean_recall": 1 - error_rate_bound(y, predicted, priors=uniform),
        "worst_recall": min_recall_bound(y, predicted),
        "accuracy": 1 - error_rate_bound(y, predicted, priors=priors),
    }
    found = {each["key"]: each for each in summary["bounds"]["generalization"]["metrics"]}
    assert list(found) == list(expected)
    for key, bound in expected.items():
        assert found[key]["bound"] == pytest.approx(bound)
        assert found[key]["value"] == metrics_of(summary)[key]
        assert (found[key]["bound"] > found[key]["value"]) == found[key]["is_upper"] == (key == "norm")
        assert not found[key]["vacuous"]
        assert f"{bound:.3g}" in summary["bounds"]["sentences"][0]


def test_bounds_that_say_nothing_are_told_as_such():
    truth = np.array(["a"] * 30 + ["b"] * 30 + ["c"] * 2)
    predicted = np.where(truth == "c", "a", truth)
    bounds = ModelReport(Oracle(predicted, ["a", "b", "c"]), table_of(62), truth).summary["bounds"]
    vacuous = [each["key"] for each in bounds["generalization"]["metrics"] if each["vacuous"]]
    assert vacuous == ["norm", "g_mean", "worst_recall"]
    assert "G-mean" not in bounds["sentences"][0]
    assert "too few samples of some classes to bound ‖C‖, G-mean and worst recall" in bounds["sentences"][-1]
    wrong = ModelReport(Oracle(["b", "a"], ["a", "b"]), table_of(2), np.array(["a", "b"])).summary["bounds"]
    assert all(each["vacuous"] for each in wrong["generalization"]["metrics"])
    assert wrong["sentences"][0] == "No metric is bounded on new data."


def test_candidates_and_selected_settings_are_those_of_the_booster(models, summary):
    ours, _ = models
    search = summary["search"]
    assert (search["outcome"], search["best_params"]) == ("selected", ours.best_params_)
    assert len(search["candidates"]) == len(ours.search_results_)
    for shown, record in zip(search["candidates"], ours.search_results_, strict=True):
        assert shown == {name: value for name, value in record.items() if name != "losses"}
    assert search["cost"] == pytest.approx(sum(record["cost"] for record in ours.search_results_))
    n_candidates = len(ours.search_results_)
    said = f"Selected by the class-balanced log-loss on held-out samples from {n_candidates} candidates."
    assert said in search["sentences"]


@pytest.mark.parametrize(
    ("parameters", "loss"),
    [
        ({"balance": 0.0}, "the log-loss on held-out samples"),
        ({"balance": 0.5}, "the log-loss with balance=0.5 on held-out samples"),
        ({"loss": "exponential"}, "the class-balanced exponential loss on held-out samples"),
        ({"cost_matrix": 1.0 - np.eye(10)}, "the class-balanced log-loss, weighted by costs, on held-out"),
        ({"cost_matrix": 1.0 - np.eye(10), "decision": "expected_cost"}, "the class-balanced log-loss on held-out"),
        ({"early_stopping": True}, "the class-balanced log-loss on the validation samples"),
    ],
)
def test_the_loss_that_selects_is_named(yeast, parameters, loss):
    model = ConfusionBoostingClassifier(n_estimators=2, **parameters).fit(*yeast[:2])
    search, _ = describe_search(model)
    assert f"Selected by {loss}" in " ".join(search["sentences"])


def test_settings_that_were_not_searched_say_why(yeast):
    X, y, _, _ = yeast
    given = ConfusionBoostingClassifier(n_estimators=2, smoothing=3, max_depth=2).fit(X, y)
    search, _ = describe_search(given)
    assert (search["outcome"], search["candidates"], search["cost"]) == ("given", [], None)
    assert search["sentences"][0] == (
        "The model was fitted with smoothing=3, learning_rate=0.3, max_depth=2 and 2 rounds."
    )
    fixed, _ = describe_search(ConfusionBoostingClassifier(n_estimators=2).fit(X[:20], y[:20]))
    assert (fixed["outcome"], fixed["candidates"]) == ("fixed", [])
    assert "Not searched: 20 samples are fewer than 30." in fixed["sentences"][1]
    stopped = ConfusionBoostingClassifier(n_estimators=5, early_stopping=True).fit(X, y)
    said = describe_search(stopped)[0]["sentences"][0]
    assert said.endswith(f"and {stopped.n_iter_} rounds, by early stopping.")
    for other in (CoMBoClassifier(n_estimators=1).fit(X, y), DecisionTreeClassifier()):
        assert describe_search(other) == (None, f"{type(other).__name__} does not select settings by itself.")


def test_settings_that_differ_from_those_of_the_candidate_are_explained(models):
    model = copy.copy(models[0])
    (selected,) = (record for record in model.search_results_ if record["outcome"] == "selected")
    for changed, words in [
        ({}, "so they need fewer rounds than the fit."),
        ({"smoothing": 0.5 * selected["smoothing"]}, "so the fit has less smoothing."),
        ({"max_depth": selected["max_depth"] + 2}, "with all of them, trees are 2 levels deeper."),
    ]:
        alike = {name: selected[name] for name in ("smoothing", "max_depth")}
        model.best_params_ = models[0].best_params_ | alike | changed
        search, _ = describe_search(model)
        assert search["sentences"][-1].endswith(words)


def test_a_model_file_without_a_search_has_a_report(models, yeast):
    old = copy.copy(models[0])
    del old.best_params_, old.search_results_
    summary = ModelReport(old, *yeast[2:]).summary
    assert summary["search"] is None
    assert "did not select settings" in summary["unavailable"]["search"]


def test_many_rounds_are_thinned_to_few_points_with_both_ends(yeast):
    X, y, X_new, y_new = yeast
    model = CoMBoClassifier(n_estimators=400, max_depth=1).fit(X, y)
    curves = ModelReport(model, X_new, y_new).summary["curves"]
    assert (curves["rounds"][0], curves["rounds"][-1], len(curves["rounds"])) == (1, model.n_iter_, 300)
    assert curves["subsampled"]
    assert {len(each["values"]) for each in curves["series"]} == {300}


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: AdaBoostMMClassifier(n_estimators=3), "weights all samples equally"),
        (lambda: ConfusionBoostingClassifier(n_estimators=3, balance=0.5), "balance=0.5"),
        (lambda: CoMBoClassifier(n_estimators=3, cost_matrix={"p": 1.0, "q": 2.0}), "cost_matrix"),
        (lambda: AdaBoostNCClassifier(n_estimators=3), "AdaBoostNCClassifier is not a comboost booster"),
        (lambda: DummyClassifier(), "DummyClassifier is not a comboost booster"),
    ],
)
def test_what_certifies_no_norm_says_why(make, word):
    X, y = np.arange(40.0)[:, None], np.repeat(["p", "q"], 20)
    bounds = ModelReport(make().fit(X, y), X + 0.5, y).summary["bounds"]
    assert (bounds["available"], bounds["training_norm"]) == (False, None)
    assert word in bounds["reason"]
    assert bounds["generalization"]["metrics"][0]["bound"] > 0


class LargestEntry:
    """A norm of my own."""

    def value(self, A):
        return A.max()

    def gradient(self, A):
        return (A.max() == A) / (A.max() == A).sum()


@pytest.mark.parametrize(
    ("norm", "measure"),
    [
        ("entrywise", "‖C‖"),
        ("frobenius", "‖C‖"),
        ("schatten-4", "‖C‖"),
        ("spectral", "‖C‖"),
        ("worst-class", "the largest error of a class"),
        ("l2-class", "the largest error of a class"),
        (LargestEntry(), "the norm LargestEntry of C"),
    ],
)
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_bounds_say_what_the_loss_of_a_norm_certifies(yeast, loss, norm, measure):
    X, y, X_new, y_new = yeast
    model = ConfusionBoostingClassifier(n_estimators=5, norm=norm, loss=loss).fit(X, y)
    summary = ModelReport(model, X_new, y_new).summary
    bounds, C = summary["bounds"], model.train_confusion_
    expected = {
        "‖C‖": np.linalg.norm(C, ord=2),
        "the largest error of a class": C.sum(axis=1).max(),
        "the norm LargestEntry of C": C.max(),
    }
    assert bounds["measure"] == measure
    assert bounds["training_norm"] == pytest.approx(expected[measure])
    assert bounds["training_norm"] <= bounds["loss"] <= bounds["certified"] * (1 + 1e-6)
    assert any(sentence.startswith(f"On the training data {measure} is") for sentence in bounds["sentences"])
    assert ("norm)" in summary["curves"]["series"][0]["name"]) == (norm != "entrywise")


@pytest.mark.parametrize("changed", [{"norm": "l2-class"}, {"loss": "logistic"}, {"balance": 0.5}])
def test_loss_is_not_read_with_parameters_that_changed_after_the_fit(yeast, changed):
    model = ConfusionBoostingClassifier(n_estimators=2, smoothing=10, max_depth=2, norm="worst-class").fit(*yeast[:2])
    assert ModelReport(model, *yeast[2:]).summary["bounds"]["available"]
    bounds = ModelReport(model.set_params(**changed), *yeast[2:]).summary["bounds"]
    assert not bounds["available"]
    assert bounds["reason"].startswith(f"{next(iter(changed))} changed after the fit")


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({}, "class-balanced log-loss"),
        ({"norm": "worst-class"}, "class-balanced log-loss"),
        ({"loss": "logistic", "norm": "spectral"}, "class-balanced spectral norm of the logistic loss"),
    ],
)
def test_selection_names_the_loss_that_judged(yeast, parameters, name):
    model = ConfusionBoostingClassifier(n_estimators=3, max_depth=2, **parameters).fit(*yeast[:2])
    search = ModelReport(model, *yeast[2:]).summary["search"]
    assert any(sentence.startswith(f"Selected by the {name} on held-out") for sentence in search["sentences"])


@pytest.mark.parametrize("loss", [0.25, 4.0])
def test_the_smaller_of_a_sum_and_its_root_bounds_the_norm(yeast, loss):
    model = ConfusionBoostingClassifier(n_estimators=1).fit(*yeast[:2])
    model.loss_curve_, model.bound_curve_ = np.array([loss]), np.array([loss])
    bounds = ModelReport(model, *yeast[2:]).summary["bounds"]
    assert bounds["loss"] == bounds["certified"] == min(loss, loss**0.5)


def test_pipelines_and_searches_are_looked_into(yeast):
    X, y, X_new, y_new = yeast
    inner = ConfusionBoostingClassifier(n_estimators=3)
    plain = make_pipeline(StandardScaler(), inner).fit(X, y)
    search = GridSearchCV(inner, {"max_depth": [2]}, cv=2).fit(X, y)
    for model in (plain, search):
        summary = ModelReport(model, X_new, y_new).summary
        assert summary["request"]["model"] == "ConfusionBoostingClassifier"
        assert summary["models"][0]["estimator"] == type(model).__name__
        assert summary["curves"]["rounds"] == [1, 2, 3]
        assert summary["bounds"]["available"]


def test_parameters_that_differ_from_defaults_are_marked(yeast, models, summary):
    changed = {each["name"]: each["value"] for each in summary["parameters"] if each["changed"]}
    assert changed == {"n_estimators": str(N_ROUNDS)}
    changed = {each["name"]: each["value"] for each in summary["baseline_parameters"] if each["changed"]}
    assert changed == {"max_depth": "6", "random_state": "0"}
    odd = CoMBoClassifier(n_estimators=2, random_state=np.random.RandomState(0)).fit(yeast[0], yeast[1])
    values = [each["value"] for each in ModelReport(odd, yeast[2], yeast[3]).summary["parameters"]]
    assert not any("0x" in value for value in values)


def test_training_samples_are_noted(yeast, models):
    X, y, X_new, y_new = yeast
    assert "optimistic" in ModelReport(models[0], X, y).summary["notes"][0]
    order = np.random.default_rng(0).permutation(len(y))
    assert "optimistic" in ModelReport(models[0], X.iloc[order], y[order]).summary["notes"][0]
    assert not any("optimistic" in note for note in ModelReport(models[0], X_new, y_new).summary["notes"])


# What is refused


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"confidence": 1.5}, ValueError, "confidence=1.5"),
        ({"random_state": -1}, ValueError, "random_state=-1"),
        ({"random_state": None}, ValueError, "random_state=None"),
        ({"baseline": DummyClassifier}, TypeError, "baseline is"),
        ({"baseline": DummyClassifier()}, NotFittedError, "not fitted"),
        ({"baseline_name": "b"}, ValueError, "baseline_name is given without baseline"),
        ({"X_baseline": [[1]]}, ValueError, "X_baseline is given without baseline"),
        ({"name": 3}, TypeError, "name=3"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(options, error, words):
    with pytest.raises(error, match=words):
        ModelReport(Oracle(["a"], ["a", "b"]), table_of(1), ["a"], **options)


def test_samples_that_do_not_fit_are_refused():
    model = Oracle(["a", "b"], ["a", "b"])
    with pytest.raises(ValueError, match="X has 2 rows, as the model sees it, and y 1"):
        ModelReport(model, table_of(2), ["a"])
    with pytest.raises(ValueError, match="one kind"):
        ModelReport(model, table_of(2), [1, 2])
    with pytest.raises(ValueError, match="missing"):
        ModelReport(model, table_of(2), ["a", None])
    with pytest.raises(ValueError, match="classes are whole numbers"):
        ModelReport(LinearRegression().fit([[0.0], [1.0]], [0.0, 1.5]), [[0.5], [0.7]], [0, 1])


def test_a_baseline_may_want_other_columns(yeast, models):
    X, y, X_new, y_new = yeast
    tree = DecisionTreeClassifier(random_state=0).fit(X.iloc[:, :2], y)
    summary = ModelReport(models[0], X_new, y_new, baseline=tree, X_baseline=X_new.iloc[:, :2]).summary
    expected = balanced_accuracy_score(y_new, tree.predict(X_new.iloc[:, :2]))
    assert metrics_of(summary, 1)["mean_recall"] == pytest.approx(expected)


def test_models_of_the_same_type_get_distinct_names(yeast, models):
    names = [each["name"] for each in ModelReport(models[1], yeast[2], yeast[3], baseline=models[1]).summary["models"]]
    assert names == ["DecisionTreeClassifier", "DecisionTreeClassifier (baseline)"]


def test_pandas_index_labels_of_any_kind_are_text_or_numbers():
    frame = pd.DataFrame(table_of(2), index=pd.to_datetime(["2026-01-01", "2026-01-02"]))
    summary = ModelReport(Oracle(["b", "b"], ["a", "b"]), frame, ["a", "b"]).summary
    assert summary["confused_pairs"][0]["examples"]["samples"][0]["index"].startswith("2026-01-01")


def test_probabilities_that_one_model_lacks_are_noted():
    class Shy(Oracle):
        def predict_proba(self, X):
            raise ValueError("not\ntoday.")

    truth = ["a", "b", "a", "b"]
    ours, theirs = Shy(truth, ["a", "b"]), Oracle(truth, ["a", "b"], np.full((4, 2), 0.5))
    summary = ModelReport(ours, table_of(4), truth, baseline=theirs).summary
    assert [each["model"] for each in summary["calibration"]] == ["Oracle"]
    assert summary["notes"][-1] == "Shy does not predict probabilities: not today."
    assert "calibration" not in summary["unavailable"]


def test_the_best_round_is_that_of_validation(yeast):
    X, y, X_new, y_new = yeast
    model = ConfusionBoostingClassifier(n_estimators=15, early_stopping=True).fit(X, y)
    curves = ModelReport(model, X_new, y_new).summary["curves"]
    assert curves["best_round"] == curves["rounds"][-1] == model.n_iter_


def test_norm_of_many_classes_is_the_norm():
    counts = np.random.default_rng(0).integers(0, 5, (130, 130)).astype(float)
    assert spectral_norm(counts) == pytest.approx(norm_of(counts), rel=1e-12)
