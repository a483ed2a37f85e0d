"""Cross-validation as data: what is counted, what the intervals and bounds say, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import KFold, LeaveOneGroupOut, RepeatedStratifiedKFold, StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from comboost import CoMBoClassifier, ConfusionBoostingClassifier
from comboost.datasets import load_glass, load_new_thyroid
from comboost.metrics import (
    confusion_norm_bound,
    confusion_norm_loss,
    error_confusion_matrix,
    error_rate_bound,
    geometric_mean_bound,
    recall_bounds,
)
from comboost.model_selection import cross_validate_confusion, wilson_interval

TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
shares_of_rows = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.fixture(scope="module")
def glass():
    return load_glass(return_X_y=True)


@given(shares_of_rows, st.floats(0.01, 0.99))
def test_wilson_bounds_are_the_proportions_that_a_score_test_does_not_reject(seen, confidence):
    right, n = seen
    low, high = (float(limit) for limit in wilson_interval(right / n, n, confidence=confidence))
    assert 0 <= low <= right / n <= high <= 1
    z = norm.ppf((1 + confidence) / 2)
    for limit in (low, high):
        distance = (right / n - limit) ** 2
        assert distance == pytest.approx(z**2 * limit * (1 - limit) / n, rel=1e-6, abs=1e-12)


@given(shares_of_rows, st.floats(0.01, 0.99))
def test_interval_of_errors_mirrors_that_of_correct_predictions(seen, confidence):
    right, n = seen
    low, high = wilson_interval(right / n, n, confidence=confidence)
    mirrored_low, mirrored_high = wilson_interval(1 - right / n, n, confidence=confidence)
    assert (low, high) == pytest.approx((1 - mirrored_high, 1 - mirrored_low), abs=1e-12)


def test_without_samples_the_interval_is_everything():
    low, high = wilson_interval([math.nan, 0.5], [0, 4])
    assert (low[0], high[0]) == (0, 1)
    assert 0 < low[1] < high[1] < 1


@pytest.mark.parametrize(("proportions", "n_samples"), [([1.1], [3]), ([-0.1], [3]), ([0.5], [-1]), ([math.nan], [3])])
def test_proportions_outside_of_0_to_1_are_refused(proportions, n_samples):
    with pytest.raises(ValueError, match="Proportions must lie between 0 and 1"):
        wilson_interval(proportions, n_samples)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 2, "high", None, math.nan])
def test_confidence_outside_of_0_to_1_is_refused_before_anything_is_fitted(confidence):
    with pytest.raises(ValueError, match=r"confidence=.* must lie between 0 and 1"):
        cross_validate_confusion(None, [[0.0]], [0], confidence=confidence)


def test_folds_together_are_the_predictions_of_cross_validation(glass):
    X, y = glass
    folds = StratifiedKFold(4, shuffle=True, random_state=1)
    found = cross_validate_confusion(TREE, X, y, cv=folds)
    predicted = cross_val_predict(TREE, X, y, cv=folds)
    np.testing.assert_array_equal(found.confusion, error_confusion_matrix(y, predicted, labels=found.classes))
    assert found.norm == confusion_norm_loss(y, predicted, labels=found.classes)
    np.testing.assert_array_equal(found.recalls, found.counts.diagonal() / found.counts.sum(axis=1))
    np.testing.assert_array_equal(found.sizes, found.counts.sum(axis=1))
    for (_, test), confusion, fold_norm, bound in zip(
        folds.split(X, y), found.fold_confusions, found.fold_norms, found.fold_norm_bounds, strict=True
    ):
        np.testing.assert_array_equal(confusion, error_confusion_matrix(y[test], predicted[test], labels=found.classes))
        assert fold_norm == confusion_norm_loss(y[test], predicted[test], labels=found.classes)
        assert bound == pytest.approx(confusion_norm_bound(y[test], predicted[test], labels=found.classes), rel=1e-12)


def test_classes_that_a_fold_lacks_keep_their_index():
    y = np.repeat(["a", "b", "c"], [10, 10, 1])
    X = np.arange(21.0)[:, np.newaxis]
    found = cross_validate_confusion(TREE, X, y, cv=KFold(3))  # the last fold alone has c, and never in training
    assert found.fold_counts.shape == (3, 3, 3)
    assert np.isnan(found.fold_recalls[0, 2])
    assert found.recalls[2] == 0
    assert found.fold_norm_bounds[0] == pytest.approx(math.sqrt(2))  # c may be always wrong, and b is
    np.testing.assert_array_equal(found.sizes, [10, 10, 1])


def test_samples_that_are_never_tested_do_not_count():
    y = np.repeat([0, 1, 2], 6)
    X = np.arange(18.0)[:, np.newaxis]
    found = cross_validate_confusion(TREE, X, y, cv=[(np.arange(18), np.arange(12))])
    np.testing.assert_array_equal(found.sizes, [6, 6, 0])
    assert np.isnan(found.recalls[2])
    assert [float(limits[2]) for limits in found.recall_intervals] == [0, 1]
    assert found.norm_bound == pytest.approx(confusion_norm_bound(y[:12], y[:12], labels=[0, 1, 2]))
    assert found.norm_bound >= 1  # the untested class may be always wrong
    assert (found.recall_bounds[2], found.geometric_mean_bound) == (0, 0)


def test_bounds_are_means_of_bounds_that_hold_for_all_folds_at_once(glass):
    X, y = glass
    folds = StratifiedKFold(4, shuffle=True, random_state=1)
    found = cross_validate_confusion(TREE, X, y, cv=folds, confidence=0.8)
    predicted = cross_val_predict(TREE, X, y, cv=folds)
    options = {"labels": found.classes, "eta": 0.2 / 4}

    def mean_of(bound, **more):
        return np.mean([bound(y[test], predicted[test], **options, **more) for _, test in folds.split(X, y)], axis=0)

    priors = np.full(6, 1 / 6)
    assert found.norm_bound == pytest.approx(mean_of(confusion_norm_bound))
    np.testing.assert_allclose(found.recall_bounds, mean_of(recall_bounds))
    assert found.geometric_mean_bound == pytest.approx(mean_of(geometric_mean_bound))
    assert found.mean_recall_bound == pytest.approx(1 - mean_of(error_rate_bound, priors=priors))
    assert found.norm < found.norm_bound < math.sqrt(5)
    assert (found.recall_bounds <= found.recalls).all()
    assert found.geometric_mean_bound < found.mean_recall_bound < found.recalls.mean()


def test_testing_samples_again_does_not_narrow_intervals(glass):
    X, y = glass
    once = cross_validate_confusion(TREE, X, y, cv=StratifiedKFold(5))
    often = cross_validate_confusion(TREE, X, y, cv=RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0))
    assert often.counts.sum() == 3 * once.counts.sum()
    np.testing.assert_array_equal(often.sizes, once.sizes)


def test_arguments_of_fit_and_groups_reach_them(glass):
    X, y = glass
    weights = np.where(y == y[0], 1.0, 1e-9)
    groups = np.arange(len(y)) % 3
    found = cross_validate_confusion(
        DummyClassifier(strategy="prior"), X, y, groups=groups, cv=LeaveOneGroupOut(), params={"sample_weight": weights}
    )
    place = found.classes.tolist().index(y[0])
    assert found.counts[:, place].sum() == len(y)
    assert len(found.fold_counts) == 3


@pytest.mark.parametrize("model", [CoMBoClassifier(n_estimators=3), ConfusionBoostingClassifier(n_estimators=3)])
def test_frames_say_what_the_arrays_do(model):
    X, y = load_new_thyroid(return_X_y=True)
    found = cross_validate_confusion(model, X, y, cv=3)
    frame = found.to_frame()
    assert frame.index.tolist() == found.classes.tolist() == sorted(set(y))
    np.testing.assert_array_equal(frame["recall"], found.recalls)
    np.testing.assert_array_equal(frame[["recall_low", "recall_high"]].T, found.recall_intervals)
    confusion = found.confusion_frame()
    for name, other, share in zip(frame.index, frame["predicted_as"], frame["predicted_as_fraction"], strict=True):
        assert share == confusion.loc[name].max()
        assert other is None or confusion.loc[name, other] == share
    fitted = model.fit(X, y)
    labelled = fitted.train_confusion_frame()
    np.testing.assert_array_equal(labelled, fitted.train_confusion_)
    assert labelled.index.names + labelled.columns.names == ["truth", "prediction"]
    assert labelled.columns.tolist() == fitted.classes_.tolist()


def test_error_of_a_fit_is_not_hidden():
    with pytest.raises(ValueError, match="max_depth"):
        cross_validate_confusion(CoMBoClassifier(max_depth=-1), np.arange(8.0)[:, np.newaxis], [0, 1] * 4, cv=2)


def test_samples_of_one_class_are_refused():
    with pytest.raises(ValueError, match="only one class"):
        cross_validate_confusion(TREE, [[0.0], [1.0]], [1, 1])
