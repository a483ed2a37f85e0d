"""Small boosters for the tests of fits: samples, both kinds of weak learner, bits, reasons to stop."""

from contextlib import contextmanager

import numpy as np
import pytest
from models import ALGORITHMS, CLASSIFIERS, everything, learned_arrays, model_bytes
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from comboost._boosting import monitor
from comboost._boosting.monitor import FallbackSupportMixin, NoCallback

LEARNERS = {"tree": None, "estimator": DecisionTreeClassifier(max_depth=2, max_features=2)}
NAMES = np.array(["ash", "elm", "fir"])
HAS_CALLBACKS = monitor.CallbackSupportMixin is not FallbackSupportMixin

#: Every algorithm with its weak learners; ConfusionBoosting supports trees only.
BOOSTERS = [(algorithm, learner) for algorithm in ALGORITHMS for learner in LEARNERS] + [("confusion", "tree")]
KINDS = [(algorithm, learner) for algorithm, learner in BOOSTERS if algorithm != "mm"]

for_both = pytest.mark.parametrize("algorithm", ALGORITHMS)
for_all = pytest.mark.parametrize("algorithm", CLASSIFIERS)
for_learners = pytest.mark.parametrize("learner", LEARNERS)
for_boosters = pytest.mark.parametrize(("algorithm", "learner"), BOOSTERS)
for_kinds = pytest.mark.parametrize(("algorithm", "learner"), KINDS)
needs_callbacks = pytest.mark.skipif(not HAS_CALLBACKS, reason="scikit-learn has callbacks from 1.9 on")


# Rows


def make_rows(n_samples, seed):
    """Three classes of unequal size that overlap: there is something to learn, and too many rounds overfit."""
    random = np.random.default_rng(seed)
    y = np.concatenate([np.arange(3), random.choice(3, size=n_samples - 3, p=[0.6, 0.3, 0.1])])
    X = random.normal(size=(n_samples, 4))
    X[:, 0] += y
    X[:, 1] -= 1.5 * (y == 2)
    return X, y


def make_named_rows(n_samples, seed):
    """The same rows, with names for classes."""
    X, y = make_rows(n_samples, seed)
    return X, NAMES[y]


def as_validation(rows):
    """Rows as what ``fit`` is given to validate on."""
    return dict(zip(("X_val", "y_val"), rows, strict=True))


#: Rows, and weights, on which a fit ends by itself, and the parameters with which it does.
SELF_ENDING = {
    "no_edge": (np.array([[0.0]] * 10 + [[1.0]] * 10), np.array([0] * 9 + [1] + [1] * 9 + [0]), None, {}),
    "perfect_learner": (np.array([[0.0], [0.0], [1.0], [2.0]]), np.array([0, 0, 1, 2]), None, {}),
    "loss_vanished": (
        np.random.default_rng(0).normal(size=(10, 3)),
        np.arange(10) % 3,
        None,
        {"max_depth": 2, "n_estimators": 2000},
    ),
    "rounding": (np.array([[0], [1], [-1], [2], [2]]), np.array([0, 1, 2, 3, 0]), [2.0**27] * 4 + [1], {}),
}


# Models


def make_booster(algorithm="combo", learner="tree", **parameters):
    """A booster of one algorithm and weak learner, always with the same seed, and with settings that are given."""
    own = {"estimator": LEARNERS[learner]}
    if algorithm == "confusion":
        # Tables of the tests are small: with less smoothing as many rounds learn all that there is to learn.
        own = {"n_estimators": 300, "smoothing": 5.0, "max_depth": None if "max_leaf_nodes" in parameters else 3}
    return CLASSIFIERS[algorithm](**(own | {"random_state": 0} | parameters))


def learned_bits(model, X=None):
    """Every bit of a model but why its rounds ended; votes on X stand for weak learners that are no built-in trees."""
    if hasattr(model, "_forest"):
        return model_bytes(model)[:-1]
    return tuple(array.tobytes() for array in (*learned_arrays(model), model.decision_function(X)))


def all_bits(model, X=None):
    """Every bit of a model, of why its rounds ended, and of its validation scores."""
    curve = getattr(model, "validation_curve_", np.empty(0))
    return *learned_bits(model, X), model.stop_reason_, curve.tobytes()


@contextmanager
def unchanged(estimator):
    """Expect that an estimator has the very objects afterwards that it had before, none of them changed."""
    before, content = list(vars(estimator).items()), everything(estimator)
    yield
    after = list(vars(estimator).items())
    assert [name for name, _ in after] == [name for name, _ in before]
    assert [name for (name, now), (_, then) in zip(after, before, strict=True) if now is not then] == []
    assert everything(estimator) == content


def share_of_right(estimator, X, y):
    """A scorer that takes no weights."""
    return float((estimator.predict(X) == y).mean())


def like_all(estimator, X, y):
    """A scorer that likes all models the same."""
    return 0.0


def best_round(scores, losses, tol):
    """The best of some validated rounds: ties of scores go to the smaller loss, ties of both to the first."""
    best = to_beat = 0
    for t in range(1, len(scores)):
        if scores[t] - scores[to_beat] > tol:
            best = to_beat = t
        elif (scores[t] == scores[to_beat] or scores[to_beat] - scores[t] <= tol) and losses[best] - losses[t] > tol:
            best = t
    return best + 1


class Stage(ClassifierMixin, BaseEstimator):
    """A fitted classifier that says what another said after one of its rounds."""

    def __init__(self, classes=None, elected=None, shares=None, votes=None):
        self.classes = classes
        self.elected = elected
        self.shares = shares
        self.votes = votes

    @property
    def classes_(self):
        return self.classes

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return self.elected

    def predict_proba(self, X):
        return self.shares

    def decision_function(self, X):
        return self.votes


class StopAfter(NoCallback):
    """A callback that ends the fit after a round."""

    def __init__(self, n_rounds):
        self.n_rounds = n_rounds

    def on_fit_task_end(self, estimator, context):
        return context.task_name == f"round {self.n_rounds}"
