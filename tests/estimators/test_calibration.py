"""Calibration: how sure votes may be is learned from rows that were not trained on, and moves no decision."""

import os
import subprocess
import sys
from random import Random

import numpy as np
import pytest
from boosters import (
    NoCallback,
    as_validation,
    for_all,
    for_boosters,
    make_booster,
    make_named_rows,
    make_rows,
    unchanged,
)
from hypothesis import example
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from models import model_bytes
from scipy.special import log_softmax, softmax
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from strategies import property_test

from comboost._engine.probabilities import (
    TEMPERATURES,
    IsotonicCurves,
    OutOfSampleScores,
    ProbabilityMap,
    learn_temperature,
)
from comboost._estimators.calibration import NO_FOLD, draw_folds

X, Y = make_rows(150, seed=0)
X_NEW, Y_NEW = make_rows(90, seed=1)
KINDS = ("temperature", "isotonic")
for_calibrations = pytest.mark.parametrize("calibration", KINDS)


def make(algorithm, calibration, **parameters):
    return make_booster(
        algorithm, **({"n_estimators": 6, "calibration": calibration, "calibration_folds": 3} | parameters)
    )


def learned(model):
    """What calibration has learned."""
    if model.calibration == "temperature":
        return model.temperature_
    curves = model._isotonic
    return curves.offsets.tolist(), curves.inputs.tolist(), curves.outputs.tolist()


def drawn_votes(n_samples, n_classes, seed, spread=3.0):
    """Log odds, and classes that follow them."""
    random = np.random.default_rng(seed)
    votes = random.normal(scale=spread, size=(n_samples, n_classes))
    shares = softmax(votes, axis=1)
    labels = (shares.cumsum(axis=1) < random.random((n_samples, 1))).sum(axis=1).clip(max=n_classes - 1)
    return votes, labels


@st.composite
def validation_scores(draw):
    """Votes, classes and weights of rows; of some classes there may be none."""
    n_samples, n_classes = draw(st.integers(1, 30)), draw(st.integers(2, 5))
    votes = draw(hnp.arrays(np.float64, (n_samples, n_classes), elements=st.floats(-50, 50)))
    labels = draw(hnp.arrays(np.intp, n_samples, elements=st.integers(0, n_classes - 1)))
    return OutOfSampleScores(votes, labels, draw(hnp.arrays(np.float64, n_samples, elements=st.floats(0.5, 4))))


def large_validation_scores(n_classes, n_samples):
    """Many votes, so that the order of sums matters, with integer weights."""
    votes, labels = drawn_votes(n_samples, n_classes, seed=0)
    weights = np.random.default_rng(1).integers(1, 5, n_samples).astype(float)
    return OutOfSampleScores(np.round(votes, 2), labels, weights)


# Temperatures


def balanced_loss(held, temperature, scale, shares):
    """What a temperature makes small, row by row."""
    logs = log_softmax(scale * held.scores / temperature - (0.0 if shares is None else shares), axis=1)
    total, n_classes = 0.0, held.scores.shape[1]
    present = np.unique(held.labels)
    weights = held.weights.copy()
    for k in present:
        weights[held.labels == k] /= held.weights[held.labels == k].sum() * len(present)
    doubt = 1 / (1 / (weights**2).sum() + 2)
    for label, weight, row in zip(held.labels, weights, logs, strict=True):
        target = np.full(n_classes, doubt / (n_classes - 1))
        target[label] = 1 - doubt
        total -= weight * (row @ target)
    return total


SCORES_OF_TWO = np.array([[1.0, -1.0], [-1.0, 1.0]])


@property_test(held=validation_scores(), scale=st.sampled_from([1.0, 2.0]), with_shares=st.booleans())
@example(held=OutOfSampleScores(50 * SCORES_OF_TWO, np.array([1, 0]), np.ones(2)), scale=1.0, with_shares=False)
@example(held=OutOfSampleScores(50 * SCORES_OF_TWO[:1], np.array([1]), np.ones(1)), scale=2.0, with_shares=True)
@example(held=OutOfSampleScores(1e-3 * SCORES_OF_TWO, np.array([0, 1]), np.ones(2)), scale=2.0, with_shares=True)
@example(held=OutOfSampleScores(0 * SCORES_OF_TWO, np.array([0, 1]), np.ones(2)), scale=2.0, with_shares=True)
def test_no_temperature_has_a_smaller_loss(held, scale, with_shares):
    shares = np.log(np.arange(1.0, held.n_classes + 1)) if with_shares else None
    found = learn_temperature(held, scale, shares)
    least = balanced_loss(held, found, scale, shares)
    for other in np.geomspace(*TEMPERATURES, 20):
        assert least <= balanced_loss(held, other, scale, shares) + 1e-9


@pytest.mark.parametrize("temperature", [0.25, 1.0, 8.0])
def test_planted_temperature_is_found(temperature):
    votes, labels = drawn_votes(4000, 3, seed=0, spread=1.5)
    found = learn_temperature(OutOfSampleScores(temperature * votes, labels, np.ones(len(labels))), 1.0, None)
    assert found == pytest.approx(temperature, rel=0.1)


@property_test(n_samples=st.integers(1, 40), margin=st.floats(0.1, 100))
def test_votes_without_a_mistake_promise_no_more_than_their_rows_can_tell(n_samples, margin):
    labels = np.arange(2 * n_samples) % 2
    votes = margin * np.eye(2)[labels]
    temperature = learn_temperature(OutOfSampleScores(votes, labels, np.ones(len(labels))), 1.0, None)
    promised = softmax(votes / temperature, axis=1).max(axis=1)
    assert TEMPERATURES[0] < temperature < TEMPERATURES[1]
    np.testing.assert_allclose(promised, 1 - 1 / (len(labels) + 2), rtol=1e-3)


def test_every_class_counts_the_same_however_many_rows_it_has():
    votes, labels = drawn_votes(600, 3, seed=1)
    often = np.repeat(np.arange(len(labels)), np.where(labels == 0, 40, 1))
    once, many = (
        learn_temperature(OutOfSampleScores(votes[rows], labels[rows], np.ones(len(rows))), 1.0, None)
        for rows in (np.arange(len(labels)), often)
    )
    assert many == pytest.approx(once, rel=0.02)  # but for the doubt, which more rows leave less of


# Curves


@property_test(held=validation_scores())
def test_curves_are_isotonic_regressions_of_every_class_against_the_others(held):
    shares = ProbabilityMap(1.0).probabilities(held.scores, np.empty_like(held.scores))
    curves = IsotonicCurves.learn(held, shares)
    bent = shares.copy()
    curves.apply(bent)
    learned_of = np.unique(held.labels) if len(np.unique(held.labels)) > 1 else []
    for k in learned_of:
        is_own, weights = held.labels == k, held.balanced_weights
        own, others = (1 / (weights[rows].sum() ** 2 / (weights[rows] ** 2).sum() + 2) for rows in (is_own, ~is_own))
        target = np.where(is_own, 1 - own, others)
        theirs = IsotonicRegression(out_of_bounds="clip").fit(shares[:, k], target, held.balanced_weights)
        np.testing.assert_allclose(bent[:, k], theirs.predict(shares[:, k]), rtol=1e-9, atol=1e-12)
    for k in set(range(held.n_classes)) - set(learned_of):
        np.testing.assert_allclose(bent[:, k], shares[:, k], atol=1e-9)


@property_test(held=validation_scores(), new=hnp.arrays(np.float64, (7, 5), elements=st.floats(-50, 50)))
def test_curves_leave_probabilities_of_which_none_is_zero(held, new):
    shares = ProbabilityMap(1.0).probabilities(held.scores, np.empty_like(held.scores))
    meaning = ProbabilityMap(1.0, curves=IsotonicCurves.learn(held, shares))
    votes = np.ascontiguousarray(new[:, : held.n_classes])
    found = meaning.probabilities(votes, np.empty_like(votes))
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert (found > 0).all()
    np.testing.assert_allclose(meaning.log_probabilities(votes, np.empty_like(votes)), np.log(found))


CURVES = {"offsets": [0, 2, 4], "inputs": [0.0, 0.5, 0.1, 1.0], "outputs": [0.1, 0.1, 0.5, 1.0]}
DAMAGES = {
    "one class": {"offsets": [0, 4]},
    "a class without points": {"offsets": [0, 4, 4]},
    "points of nobody": {"offsets": [0, 2, 3]},
    "points before the first": {"offsets": [1, 2, 4]},
    "fewer outputs": {"outputs": [0.1, 0.1, 0.5]},
    "falling inputs": {"inputs": [0.5, 0.0, 0.1, 1.0]},
    "equal inputs": {"inputs": [0.5, 0.5, 0.1, 1.0]},
    "inputs above 1": {"inputs": [0.0, 0.5, 0.1, 1.5]},
    "NaN": {"inputs": [0.0, np.nan, 0.1, 1.0]},
    "falling outputs": {"outputs": [0.1, 0.05, 0.5, 1.0]},
    "outputs of 0": {"outputs": [0.0, 0.1, 0.5, 1.0]},
    "NaN in outputs": {"outputs": [0.1, 0.1, 0.5, np.nan]},
    "integers": {"inputs": np.array([0, 1, 0, 1])},
    "a list": {"inputs": None},
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_curves_are_refused(name):
    whole = {key: np.array(values, dtype=np.int64 if key == "offsets" else float) for key, values in CURVES.items()}
    IsotonicCurves(**whole)
    changed = {
        key: values if isinstance(values, np.ndarray | None) else np.array(values, dtype=whole[key].dtype)
        for key, values in DAMAGES[name].items()
    }
    with pytest.raises(ValueError, match=r"calibration|no array"):
        IsotonicCurves(**(whole | changed))


# Order of samples


@property_test(held=validation_scores(), random=st.randoms(use_true_random=False), with_shares=st.booleans())
@example(held=large_validation_scores(2, 1001), random=Random(0), with_shares=False)
@example(held=large_validation_scores(9, 20_007), random=Random(1), with_shares=True)
def test_calibration_is_the_same_for_any_order_of_samples(held, random, with_shares):
    order = np.array(random.sample(range(len(held.labels)), len(held.labels)))
    permuted = OutOfSampleScores(held.scores[order], held.labels[order], held.weights[order])
    shares = np.log(np.arange(1.0, held.n_classes + 1)) if with_shares else None
    assert learn_temperature(permuted, 2.0, shares) == learn_temperature(held, 2.0, shares)
    curves, same = (IsotonicCurves.learn(each, uncalibrated(each)) for each in (held, permuted))
    assert [getattr(curves, name).tobytes() for name in CURVES] == [getattr(same, name).tobytes() for name in CURVES]


def uncalibrated(held):
    return ProbabilityMap(1.0).probabilities(held.scores, np.empty_like(held.scores))


CHILD = """
import sys
import numpy as np
from comboost._engine.probabilities import OutOfSampleScores, learn_temperature
with np.load(sys.argv[1]) as held:
    print(learn_temperature(OutOfSampleScores(**held), 2.0, None).hex())
"""


def test_temperature_does_not_depend_on_the_blas(tmp_path):
    held = large_validation_scores(3, 40_000)
    np.savez(tmp_path / "held.npz", **vars(held))
    blas = {"OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Nehalem"}
    command = [sys.executable, "-c", CHILD, str(tmp_path / "held.npz")]
    ran = subprocess.run(command, env=os.environ | blas, capture_output=True, text=True, check=True)
    assert float.fromhex(ran.stdout) == learn_temperature(held, 2.0, None)


@for_calibrations
@for_all
def test_fit_is_the_same_for_any_order_of_validation_samples(algorithm, calibration):
    weights = np.random.default_rng(0).integers(0, 3, len(Y_NEW)).astype(float)
    fits = []
    for seed in range(3):
        order = np.arange(len(Y_NEW)) if seed == 0 else np.random.default_rng(seed).permutation(len(Y_NEW))
        model = make(algorithm, calibration, early_stopping=True)
        model.fit(X, Y, **as_validation((X_NEW[order], Y_NEW[order])), sample_weight_val=weights[order])
        fits.append((learned(model), model_bytes(model)))
    assert fits[0] == fits[1] == fits[2]


# Folds


@property_test(labels=hnp.arrays(np.uint16, st.integers(1, 60), elements=st.integers(0, 4)), n_folds=st.integers(2, 8))
def test_every_fold_leaves_rows_of_every_class_and_folds_are_even(labels, n_folds):
    folds = draw_folds(labels, n_folds, seed=0)
    for fold in set(folds) - {NO_FOLD}:
        assert set(labels[folds != fold]) == set(labels)
    for k in set(labels):
        n_samples, in_folds = (labels == k).sum(), folds[(labels == k) & (folds != NO_FOLD)]
        assert len(in_folds) == (n_samples if n_samples > 1 else 0)
        counts = np.bincount(in_folds, minlength=n_folds)
        assert counts.max() - counts.min() <= 1


# Fits


@for_calibrations
@for_boosters
def test_calibration_changes_neither_the_model_nor_its_decisions(algorithm, learner, calibration):
    plain, calibrated = (
        make(algorithm, kind, **parameters(algorithm, learner)).fit(X, Y) for kind in (None, calibration)
    )
    np.testing.assert_array_equal(calibrated.predict(X_NEW), plain.predict(X_NEW))
    np.testing.assert_array_equal(calibrated.decision_function(X_NEW), plain.decision_function(X_NEW))
    assert not np.array_equal(calibrated.predict_proba(X_NEW), plain.predict_proba(X_NEW))
    if learner == "tree":
        assert model_bytes(calibrated) == model_bytes(plain)
    calibrated.set_params(calibration=None)
    np.testing.assert_array_equal(calibrated.predict_proba(X_NEW), plain.predict_proba(X_NEW))


def parameters(algorithm, learner):
    """Those of a weak learner."""
    return {} if algorithm == "confusion" else {"estimator": make_booster(algorithm, learner).estimator}


@property_test(
    seed=st.integers(0, 2**16), algorithm=st.sampled_from(["combo", "mm", "confusion"]), kind=st.sampled_from(KINDS)
)
def test_no_calibration_moves_a_decision(seed, algorithm, kind):
    random = np.random.default_rng(seed)
    n_classes = random.integers(2, 5)
    y = np.concatenate([np.arange(n_classes), random.integers(0, n_classes, 40)])
    rows = random.normal(size=(len(y), 2)) + y[:, np.newaxis] * random.uniform(0, 2)
    model = make(algorithm, kind, n_estimators=3, calibration_folds=2).fit(rows, y)
    plain = clone(model).set_params(calibration=None).fit(rows, y)
    np.testing.assert_array_equal(model.predict(rows), plain.predict(rows))
    if kind == "temperature" and algorithm != "mm":  # which is learned for other shares than those that are balanced
        np.testing.assert_array_equal(
            model.set_params(priors=None).predict_proba(rows).argmax(axis=1), plain.predict_proba(rows).argmax(axis=1)
        )


@for_calibrations
@for_all
def test_stages_end_with_the_model_and_logarithms_are_those_of_probabilities(algorithm, calibration):
    model = make(algorithm, calibration, priors="training").fit(X, Y)
    shares = model.predict_proba(X_NEW)
    *_, last = model.staged_predict_proba(X_NEW)
    np.testing.assert_array_equal(last, shares)
    np.testing.assert_allclose(model.predict_log_proba(X_NEW), np.log(shares), atol=1e-12)
    one_by_one = np.concatenate([model.predict_proba(X_NEW[[row]]) for row in range(20)])
    np.testing.assert_allclose(one_by_one, shares[:20], rtol=1e-12)


@for_calibrations
@for_all
def test_calibration_is_learned_from_votes_of_models_of_the_other_folds(algorithm, calibration):
    model = make(algorithm, calibration, max_depth=3).fit(X, Y)
    folds = draw_folds(Y.astype(np.uint16), 3, model._origin.seed)
    votes = np.empty((len(Y), 3))
    for fold in range(3):
        part = clone(model).set_params(calibration=None).fit(X[folds != fold], Y[folds != fold])
        votes[folds == fold] = part.decision_function(X[folds == fold])
    assert learned(model) == expected_calibration(model, votes, Y)


@for_calibrations
@for_all
def test_calibration_is_learned_from_validation_rows_where_there_are_some(algorithm, calibration):
    weights = np.random.default_rng(0).integers(0, 3, len(Y_NEW)).astype(float)
    model = make(algorithm, calibration, early_stopping=True)
    model.fit(X, Y, **as_validation((X_NEW, Y_NEW)), sample_weight_val=weights)
    seen = weights > 0
    votes = model.decision_function(X_NEW)[seen]
    expected = expected_calibration(model, votes, Y_NEW[seen], weights[seen])
    if calibration == "temperature":
        assert learned(model) == pytest.approx(expected)
    else:
        np.testing.assert_allclose(np.hstack(learned(model)), np.hstack(expected), rtol=1e-9)


@for_calibrations
@for_all
def test_calibration_is_learned_from_votes_of_the_best_rounds(algorithm, calibration):
    model = make(algorithm, calibration, early_stopping=True, n_estimators=60, n_iter_no_change=5, max_depth=3)
    model.fit(X, Y, **as_validation((X_NEW, Y_NEW)))
    assert model.n_iter_ < len(model.validation_curve_)
    assert learned(model) == expected_calibration(model, model.decision_function(X_NEW), Y_NEW)


PRIORS_GIVEN = {"uniform": [1 / 3] * 3, "training": np.bincount(Y) / len(Y), "given": [0.7, 0.1, 0.2]}


@for_all
@pytest.mark.parametrize("priors", [None, *PRIORS_GIVEN])
def test_isotonic_probabilities_are_curves_of_balanced_ones_times_the_priors(algorithm, priors):
    given = PRIORS_GIVEN["given"] if priors == "given" else priors
    model = make(algorithm, "isotonic", priors=given).fit(X, Y)
    learned_priors = PRIORS_GIVEN["training" if algorithm == "mm" else "uniform"]
    balanced = softmax(model._log_odds * model.decision_function(X_NEW) - np.log(learned_priors), axis=1)
    curves = model._isotonic
    points = [slice(*curves.offsets[k : k + 2]) for k in range(3)]
    values = [np.interp(balanced[:, k], curves.inputs[at], curves.outputs[at]) for k, at in enumerate(points)]
    expected = np.column_stack(values) * (learned_priors if priors is None else PRIORS_GIVEN[priors])
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X_NEW), expected, rtol=1e-9)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X_NEW)), expected, rtol=1e-9)


def expected_calibration(model, votes, y, weights=None):
    """What these votes teach."""
    held = OutOfSampleScores(votes, y, np.ones(len(y)) if weights is None else weights)
    scale, shares = model._log_odds, model._learned_log_priors
    if model.calibration == "temperature":
        return learn_temperature(held, scale, shares)
    curves = IsotonicCurves.learn(held, ProbabilityMap(scale, shares).probabilities(votes, np.empty_like(votes)))
    return curves.offsets.tolist(), curves.inputs.tolist(), curves.outputs.tolist()


def test_refit_is_calibrated_by_folds_of_all_rows_with_as_many_rounds():
    early = make("confusion", "temperature", early_stopping=True, refit=True, n_estimators=30, n_iter_no_change=2).fit(
        X, Y
    )
    plain = make("confusion", "temperature", n_estimators=early.n_iter_).fit(X, Y)
    assert early.temperature_ == plain.temperature_


@for_calibrations
@for_all
def test_warm_start_learns_the_calibration_of_all_rounds(algorithm, calibration):
    model = make(algorithm, None, n_estimators=2, warm_start=True).fit(X, Y)
    model.set_params(n_estimators=6, calibration=calibration).fit(X, Y)
    assert learned(model) == learned(make(algorithm, calibration).fit(X, Y))
    model.set_params(calibration=None).fit(X, Y)
    assert not hasattr(model, "temperature_")
    assert not hasattr(model, "_isotonic")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_random_state_alone_draws_the_folds_and_moves_on_as_without_them(n_jobs):
    states = [np.random.RandomState(7) for _ in range(2)]
    plain = make("confusion", None, random_state=states[0]).fit(X, Y)
    model = make("confusion", "temperature", random_state=states[1], n_jobs=n_jobs).fit(X, Y)
    assert states[0].randint(2**31) == states[1].randint(2**31)
    seed = np.random.RandomState(7)
    assert model.temperature_ == make("confusion", "temperature", random_state=seed).fit(X, Y).temperature_
    assert model_bytes(model) == model_bytes(plain)


@for_calibrations
def test_rare_classes_count_as_far_as_they_are_out_of_fold(calibration):
    y = np.where(np.arange(len(Y)) == 5, 8, np.where(np.isin(np.arange(len(Y)), [11, 50]), 9, Y))
    model = make("combo", calibration, calibration_folds=10).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


def test_rows_of_single_classes_are_refused_and_nothing_is_left_behind():
    with unchanged(model := make("combo", "temperature")), pytest.raises(ValueError, match="has samples of 0 class"):
        model.fit(X[:3], [0, 1, 2])


@for_calibrations
def test_class_without_weight_stays_at_zero(calibration):
    model = make("combo", calibration, priors="training").fit(X, Y, sample_weight=(Y != 1).astype(float))
    shares = model.predict_proba(X_NEW)
    assert not shares[:, 1].any()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


@pytest.mark.parametrize("listed", ["from_dtype", [0]])
def test_categories_of_the_model_are_categories_in_every_fold(listed):
    rows = np.column_stack([np.where(X[:, 0] > 0.5, "high", "7"), np.rint(X[:, 1]).astype(int).astype(str)]).astype(
        object
    )
    rows[3, 0] = "only once"
    model = make("combo", "temperature", categorical_features=listed).fit(rows, Y)
    assert sorted(model._categories.values) == [0]
    assert np.isfinite(model.temperature_)


def test_folds_are_fitted_in_silence(capsys):
    heard = []

    class Counter(NoCallback):
        def on_fit_task_end(self, *args, **kwargs):
            heard.append(args)

    counts = []
    for calibration in (None, "temperature"):
        heard.clear()
        make("confusion", calibration, verbose=1).set_callbacks(Counter()).fit(X, Y)
        counts.append((len(heard), len(capsys.readouterr().out.splitlines())))
    assert counts[0] == counts[1]


def test_who_looks_on_sees_probabilities_that_are_not_calibrated_yet():
    def scorer(estimator, rows, y):
        seen.append(estimator.predict_proba(rows).tobytes())
        return 0.5

    rows = []
    for calibration in (None, "isotonic"):
        seen = []
        with pytest.warns(UserWarning, match="does not distinguish them"):
            make("combo", calibration, early_stopping=True, scoring=scorer).fit(X, Y)
        rows.append(seen)
    assert rows[0] == rows[1]


def test_votes_as_probabilities_cannot_be_calibrated():
    with (
        unchanged(model := make("combo", "isotonic", proba="vote_fraction")),
        pytest.raises(ValueError, match="leave one out"),
    ):
        model.fit(X, Y)
    model.set_params(proba="softmax").fit(X, Y).set_params(proba="vote_fraction")
    with pytest.raises(ValueError, match=r"calibration='isotonic' requires proba=\"softmax\""):
        model.predict_proba(X)


def test_calibration_that_was_not_learned_is_refused():
    model = make("mm", "temperature").fit(X, Y)
    with pytest.raises(ValueError, match="calibration='isotonic' was set after the fit"):
        model.set_params(calibration="isotonic").predict_proba(X)
    with pytest.raises(ValueError, match="got calibration='platt'; give 'temperature' or 'isotonic', or None"):
        model.set_params(calibration="platt").predict_proba(X)


def test_temperature_at_a_limit_is_warned_of_with_what_to_do():
    mistaken = as_validation((X_NEW, (Y_NEW + 1) % 3))
    with pytest.warns(UserWarning, match=r"temperature_ ended at 16384, the largest .* fit fewer rounds"):
        model = make("combo", "temperature", early_stopping=True).fit(X, Y, **mistaken)
    assert model.temperature_ == pytest.approx(TEMPERATURES[1], rel=1e-3)
    told_apart = (np.arange(60.0)[:, np.newaxis], np.arange(60) // 20)
    with pytest.warns(UserWarning, match=r"temperature_ ended at 0\.015625, the smallest .* larger learning_rate"):
        make("combo", "temperature", n_estimators=2, learning_rate=1e-4).fit(*told_apart)


def test_folds_that_do_not_fit_into_memory_are_refused_before_they_are_made(monkeypatch):
    model = make("combo", "temperature")
    monkeypatch.setattr("comboost._engine.memory.NOT_WORTH_ASKING", 0)
    free = iter([2**40, 2**40, 2**10])
    monkeypatch.setattr("comboost._engine.memory.available_memory", lambda: next(free, 2**10))
    with unchanged(model), pytest.raises(MemoryError, match="needs about"):
        model.fit(X, Y)


def test_names_of_classes_do_not_matter():
    named = make("confusion", "temperature").fit(*make_named_rows(150, seed=0))
    assert named.temperature_ == make("confusion", "temperature").fit(X, Y).temperature_
