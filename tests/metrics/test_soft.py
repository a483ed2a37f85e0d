"""The soft confusion matrix: equal to its reference, never below the errors, the same bits in any order."""

import math
import warnings
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference import metrics_reference as reference
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from comboost import CoMBoClassifier
from comboost.metrics import confusion_norm_loss, error_confusion_matrix, get_scorer, soft_confusion_matrix
from comboost.metrics._soft import exact_means, soft_confusion_of

LOSSES = ["exponential", "logistic"]
both_losses = pytest.mark.parametrize("loss", LOSSES)


class Scored(NamedTuple):
    true: np.ndarray
    scores: np.ndarray
    weight: np.ndarray

    @property
    def labels(self):
        return np.arange(self.scores.shape[1])


WEIGHTS, SCORES = st.just(0.0) | st.floats(0.01, 10), st.integers(0, 2) | st.floats(-30, 30)


@st.composite
def scored_samples(draw, weights=WEIGHTS, scores=SCORES):
    """Draw labels, scores with ties, and weights; classes may be absent, never all."""
    n_classes, n_samples = draw(st.integers(1, 5)), draw(st.integers(1, 15))
    true = draw(hnp.arrays(np.int64, n_samples, elements=st.integers(0, n_classes - 1)))
    given_scores = draw(hnp.arrays(np.float64, (n_samples, n_classes), elements=scores))
    weight = draw(hnp.arrays(np.float64, n_samples, elements=weights))
    if not weight.any():
        weight[0] = 1.0
    return Scored(true, given_scores, weight)


@both_losses
@given(samples=scored_samples())
def test_matrix_equals_its_reference(loss, samples):
    matrix = soft_confusion_matrix(
        samples.true, samples.scores, loss=loss, labels=samples.labels, sample_weight=samples.weight
    )
    expected = reference.soft_confusion(samples.true, samples.scores, samples.weight, len(samples.labels), loss)
    np.testing.assert_allclose(matrix, expected, rtol=1e-12, atol=1e-15)


@both_losses
@given(samples=scored_samples())
def test_no_entry_is_below_the_error_confusion_matrix_even_with_ties(loss, samples):
    options = {"labels": samples.labels}
    predicted = samples.scores.argmax(axis=1)
    soft = soft_confusion_matrix(samples.true, samples.scores, loss=loss, **options)
    assert (soft >= error_confusion_matrix(samples.true, predicted, **options)).all()
    assert np.linalg.norm(soft, 2) >= confusion_norm_loss(samples.true, predicted, **options) * (1 - 1e-12)
    options["sample_weight"] = samples.weight
    soft = soft_confusion_matrix(samples.true, samples.scores, loss=loss, **options)
    assert (soft >= error_confusion_matrix(samples.true, predicted, **options) * (1 - 1e-12)).all()


@both_losses
@given(samples=scored_samples(), random=st.randoms(use_true_random=False), weighted=st.booleans())
def test_order_of_the_samples_changes_no_bit(loss, samples, random, weighted):
    order = random.sample(range(len(samples.true)), len(samples.true))
    matrices = [
        soft_confusion_matrix(
            samples.true[rows],
            samples.scores[rows],
            loss=loss,
            labels=samples.labels,
            sample_weight=samples.weight[rows] if weighted else None,
        )
        for rows in (slice(None), order)
    ]
    assert matrices[0].tobytes() == matrices[1].tobytes()


@both_losses
@given(samples=scored_samples(weights=st.integers(0, 5)))
def test_integer_weight_n_is_the_sample_n_times_to_the_bit(loss, samples):
    copies = np.repeat(np.arange(len(samples.true)), samples.weight.astype(int))
    weighted = soft_confusion_of(samples.scores, samples.true, samples.weight.astype(np.uint32), loss)
    copied = soft_confusion_of(samples.scores[copies], samples.true[copies], None, loss)
    assert weighted.tobytes() == copied.tobytes()


@both_losses
@given(samples=scored_samples(), shift=st.floats(-10, 10))
def test_only_differences_between_the_scores_matter(loss, samples, shift):
    one = soft_confusion_matrix(samples.true, samples.scores, loss=loss, labels=samples.labels)
    other = soft_confusion_matrix(samples.true, samples.scores + shift, loss=loss, labels=samples.labels)
    np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-15)


@both_losses
def test_ties_cost_one(loss):
    expected = 1.0 - np.eye(3)
    np.testing.assert_array_equal(soft_confusion_matrix([0, 1, 1, 2], np.zeros((4, 3)), loss=loss), expected)


@both_losses
def test_a_single_score_is_that_of_the_second_class_minus_that_of_the_first(loss):
    X, y = load_iris(return_X_y=True)
    for model in (CoMBoClassifier(n_estimators=5), LogisticRegression()):
        model.fit(X[50:], y[50:] == 2)
        margins = model.decision_function(X[50:])
        scores = np.column_stack([-margins / 2, margins / 2])
        one = soft_confusion_matrix(y[50:] == 2, margins, loss=loss)
        np.testing.assert_allclose(one, soft_confusion_matrix(y[50:] == 2, scores, loss=loss), rtol=1e-14)
        assert one[0, 1] == pytest.approx(
            np.mean(np.exp(margins[:50]) if loss == "exponential" else np.log2(1 + np.exp(margins[:50])))
        )


@both_losses
def test_absent_classes_have_zero_rows_and_labels_give_the_order(loss):
    scores = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0]])
    matrix = soft_confusion_matrix(["b", "a"], scores, labels=["b", "c", "a"], loss=loss)
    assert not matrix[1].any()
    np.testing.assert_allclose(
        matrix[[0, 2]], np.array(reference.soft_confusion([0, 2], scores, [1, 1], 3, loss))[[0, 2]], rtol=1e-12
    )


@both_losses
@given(samples=scored_samples(scores=st.sampled_from([-1e308, -800.0, 0.0, 800.0, 1e308, -math.inf, math.inf])))
def test_scores_of_any_size_give_finite_entries_without_warnings(loss, samples):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        soft = soft_confusion_matrix(samples.true, samples.scores, loss=loss, labels=samples.labels)
    assert np.isfinite(soft).all()
    predicted = samples.scores.argmax(axis=1)
    assert (soft >= error_confusion_matrix(samples.true, predicted, labels=samples.labels)).all()


@given(
    values=hnp.arrays(np.float64, st.tuples(st.integers(1, 3), st.integers(1, 30)), elements=st.floats(0, 1e300)),
    scale=st.sampled_from([1.0, 1e-300, 1e-100, 1e-8]),
)
def test_means_are_exact_whatever_the_range_of_the_values(values, scale):
    expected = [math.fsum(row / values.shape[1]) for row in values * scale]
    np.testing.assert_allclose(exact_means(values * scale, None), expected, rtol=1e-14, atol=1e-305)


WRONG = {
    "a loss of classes": ({"loss": "log"}, "loss='log' is a loss of classes.* give 'exponential' or 'logistic'"),
    "an unknown loss": ({"loss": "hinge"}, "loss='hinge' is not a loss of pairs.* 'exponential' or 'logistic'"),
    "too few columns": ({"y_score": np.zeros((3, 2))}, "y_score has 2 columns .* for the 3 classes"),
    "a single column": ({"y_score": np.zeros(3)}, "y_score has 2 columns .* for the 3 classes"),
    "too few samples": ({"y_score": np.zeros((2, 3))}, r"y_score has shape \(2, 3\) for 3 rows"),
    "NaN": ({"y_score": np.full((3, 3), np.nan)}, "y_score has NaN"),
    "an unknown label": ({"labels": [0, 1, 3]}, r"y_true holds \[2\], which is not in labels"),
    "negative weights": ({"sample_weight": [1, 1, -1]}, "sample_weight has a negative"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_refused_with_what_to_do(name):
    changes, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        soft_confusion_matrix(**{"y_true": [0, 1, 2], "y_score": np.zeros((3, 3)), **changes})


# The scorer


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("loss", [None, *LOSSES])
@pytest.mark.parametrize("two_classes", [False, True])
def test_scorer_gives_minus_the_norm_of_the_matrix(iris, loss, two_classes):
    X, y = (iris[0][50:], iris[1][50:]) if two_classes else iris
    weight = np.random.RandomState(0).rand(len(y))
    model = CoMBoClassifier(n_estimators=5).fit(X, y)
    scorer = get_scorer("neg_soft_confusion_norm", loss=loss)
    for given_weight in (None, weight):
        matrix = soft_confusion_matrix(
            y, model.decision_function(X), loss=loss or "logistic", sample_weight=given_weight
        )
        expected = -np.linalg.norm(matrix, 2)
        assert scorer(model, X, y, sample_weight=given_weight) == pytest.approx(expected, rel=1e-12)


def test_scorer_works_in_searches_and_pipelines(iris):
    X, y = iris
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LogisticRegression()),
        {"logisticregression__C": [1e-3, 1.0]},
        scoring=get_scorer("neg_soft_confusion_norm"),
    )
    assert search.fit(X, y).best_params_ == {"logisticregression__C": 1.0}


def test_class_absent_from_training_costs_much_and_not_infinity(iris):
    X, y = iris
    scores = cross_val_score(LogisticRegression(), X, y, cv=KFold(3), scoring=get_scorer("neg_soft_confusion_norm"))
    assert np.isfinite(scores).all()
    assert (scores < -1000).all()


def test_scorer_says_what_it_needs(iris):
    X, y = iris
    scorer = get_scorer("neg_soft_confusion_norm")
    with pytest.raises(AttributeError, match="needs decision_function, which GaussianNB lacks"):
        scorer(GaussianNB().fit(X, y), X, y)
    X, y = np.random.RandomState(0).rand(40, 2), np.arange(40) % 4
    with pytest.raises(ValueError, match=r"SVC\.decision_function has 6 columns for 4 classes"):
        scorer(SVC(decision_function_shape="ovo").fit(X, y), X, y)
    with pytest.raises(ValueError, match="loss='log' is a loss of classes"):
        get_scorer("neg_soft_confusion_norm", loss="log")
    with pytest.raises(ValueError, match='loss is for "neg_soft_confusion_norm" only'):
        get_scorer("g_mean", loss="logistic")
