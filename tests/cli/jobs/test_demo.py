"""What the demo computes."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, roc_auc_score

import comboost
from comboost.cli.jobs.demo import compare_boosters, split_yeast
from comboost.cli.jobs.rounds import SEARCHING
from comboost.cli.terminal.options import NOT_SEARCHED
from comboost.metrics import confusion_norm_bound, error_rate_bound, geometric_mean_bound
from comboost.model_selection import wilson_interval

N_ROUNDS = 12
SEED = 3
ESTIMATORS = {
    "ConfusionBoosting": comboost.ConfusionBoostingClassifier,
    "CoMBo": comboost.CoMBoClassifier,
    "AdaBoost.MM": comboost.AdaBoostMMClassifier,
}


def silent(doing, done):
    pass


@pytest.fixture(scope="module")
def summary():
    return compare_boosters(silent, seed=SEED, n_rounds=N_ROUNDS)


@pytest.fixture(scope="module", params=ESTIMATORS)
def pair(request, summary):
    """One method's result in the summary, and the same classifier fitted here, with the test rows."""
    X_train, X_test, y_train, y_test = split_yeast(SEED)
    fitted = ESTIMATORS[request.param](n_estimators=N_ROUNDS, random_state=SEED).fit(X_train, y_train)
    (result,) = (method for method in summary.methods if method.name == request.param)
    return result, fitted, X_test, y_test


def test_the_recommended_method_comes_first_and_then_the_papers_two(summary):
    assert [method.name for method in summary.methods] == list(ESTIMATORS)


def test_parts_are_disjoint_and_every_class_is_in_both():
    for seed in range(20):
        X_train, X_test, y_train, y_test = split_yeast(seed)
        assert len(X_train) == len(y_train)
        assert len(X_train) + len(X_test) == 1484
        assert set(y_train) == set(y_test)
        for name, n_rows in zip(*np.unique(np.concatenate([y_train, y_test]), return_counts=True), strict=True):
            assert abs(np.sum(y_test == name) - 0.4 * n_rows) <= 1


def test_class_sizes_are_those_of_the_parts_and_fall(summary):
    _, _, y_train, y_test = split_yeast(SEED)
    for size in summary.classes:
        assert (size.n_train, size.n_test) == (np.sum(y_train == size.name), np.sum(y_test == size.name))
    totals = [size.n_train + size.n_test for size in summary.classes]
    assert totals == [463, 429, 244, 163, 51, 44, 35, 30, 20, 5]
    assert [size.is_rare for size in summary.classes] == [total < 1484 / 10 / 2 for total in totals]


def test_recalls_and_accuracy_equal_fractions_counted_directly(pair):
    result, fitted, X, y = pair
    right = fitted.predict(X) == y
    assert result.recalls == pytest.approx({name: right[y == name].mean() for name in fitted.classes_})
    assert result.metrics["accuracy"] == pytest.approx(right.mean())


def test_norm_g_mean_and_mauc_equal_those_computed_directly(pair):
    result, fitted, X, y = pair
    fractions = confusion_matrix(y, fitted.predict(X), labels=fitted.classes_, normalize="true")
    assert result.metrics["g_mean"] == pytest.approx(np.prod(np.diag(fractions)) ** (1 / len(fractions)))
    assert result.metrics["confusion_norm"] == pytest.approx(
        np.linalg.norm(fractions - np.diag(np.diag(fractions)), ord=2)
    )
    auc = roc_auc_score(y, fitted.predict_proba(X), multi_class="ovo", average="macro", labels=fitted.classes_)
    assert result.metrics["mauc"] == pytest.approx(auc)


def test_bounds_on_new_data_are_those_of_the_metrics(pair):
    result, fitted, X, y = pair
    predicted = fitted.predict(X)
    uniform, priors = dict.fromkeys(fitted.classes_, 0.1), {name: np.mean(y == name) for name in fitted.classes_}
    assert result.bounds == pytest.approx(
        {
            "confusion_norm": confusion_norm_bound(y, predicted),
            "g_mean": geometric_mean_bound(y, predicted),
            "mean_recall": 1 - error_rate_bound(y, predicted, priors=uniform),
            "accuracy": 1 - error_rate_bound(y, predicted, priors=priors),
        }
    )
    for key in ("g_mean", "accuracy"):
        assert result.bounds[key] <= result.metrics[key]
    assert result.bounds["confusion_norm"] >= result.metrics["confusion_norm"]


def test_recall_of_rare_classes_has_a_wilson_interval(summary, pair):
    result, fitted, X, y = pair
    rare = np.isin(y, [size.name for size in summary.classes if size.is_rare])
    recall = (fitted.predict(X[rare]) == y[rare]).mean()
    assert result.rare_recall == pytest.approx((recall, *map(float, wilson_interval(recall, rare.sum()))))


def test_rounds_and_stop_reason_are_the_estimators(pair):
    result, fitted, _, _ = pair
    assert (result.n_rounds, result.stop_reason) == (fitted.n_iter_, fitted.stop_reason_)


def test_certificate_is_computed_from_the_training_rows(pair):
    result, fitted, _, _ = pair
    if result.name == "AdaBoost.MM":  # whose loss bounds no norm
        assert result.certificate is None
        return
    X_train, _, y_train, _ = split_yeast(SEED)
    fractions = confusion_matrix(y_train, fitted.predict(X_train), labels=fitted.classes_, normalize="true")
    norm = np.linalg.norm(fractions - np.diag(np.diag(fractions)), ord=2)
    assert result.certificate.value == pytest.approx(norm)
    curves = fitted.loss_curve_[-1], fitted.bound_curve_[-1]
    assert (result.certificate.loss, result.certificate.bound) == tuple(min(curve, curve**0.5) for curve in curves)


@pytest.mark.parametrize("n_rounds", [1, N_ROUNDS])
def test_certificates_hold(n_rounds):
    methods = compare_boosters(silent, seed=SEED, n_rounds=n_rounds).methods
    certificates = [method.certificate for method in methods if method.certificate is not None]
    assert len(certificates) == 2  # the loss of AdaBoost.MM bounds no norm
    for certificate in certificates:
        assert certificate.value <= certificate.loss <= certificate.bound * (1 + 1e-5)  # the rounding of the costs


def test_every_round_is_reported_and_reporting_changes_nothing(summary):
    ticks = []
    assert compare_boosters(lambda *tick: ticks.append(tick), seed=SEED, n_rounds=N_ROUNDS) == summary
    assert ticks[0] == (SEARCHING, 0.0)
    rounds = ticks[1:]
    assert [name for name, _ in rounds] == [method.name for method in summary.methods for _ in range(method.n_rounds)]
    assert [done for _, done in rounds[-N_ROUNDS:]] == pytest.approx((2 + np.arange(1, N_ROUNDS + 1) / N_ROUNDS) / 3)


def test_without_a_search_no_search_is_reported():
    ticks = []
    found = compare_boosters(lambda *tick: ticks.append(tick), seed=SEED, n_rounds=2, defaults=NOT_SEARCHED)
    assert SEARCHING not in dict(ticks)
    assert [method.n_rounds for method in found.methods] == [2, 2, 2]


def test_summary_is_the_same_for_any_number_of_threads(summary):
    assert compare_boosters(silent, seed=SEED, n_rounds=N_ROUNDS, n_jobs=2) == summary
