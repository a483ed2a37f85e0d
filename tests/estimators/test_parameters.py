"""Parameters as libraries give them: a number is a number, of whatever type, and stays as it was given."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from boosters import for_all, make_rows
from models import CLASSIFIERS
from sklearn.base import clone

from comboost.baselines import AdaBoostNCClassifier, SMOTEBoostClassifier
from comboost.datasets import make_imbalanced
from comboost.metrics import confusion_norm_bound

ESTIMATORS = CLASSIFIERS | {"nc": AdaBoostNCClassifier, "smoteboost": SMOTEBoostClassifier}
INTEGERS = {
    "n_estimators": 5,
    "max_depth": 3,
    "min_samples_leaf": 2,
    "max_features": 3,
    "max_bins": 120,
    "max_leaf_nodes": 5,
    "max_thresholds": 3,
    "n_iter_no_change": 2,
    "calibration_folds": 3,
    "k_neighbors": 3,
    "n_jobs": 2,
    "random_state": 100,
    "verbose": 2,
}
REALS = {
    "learning_rate": 0.5,
    "min_weight_fraction_leaf": 0.0625,
    "max_features": 0.75,
    "validation_fraction": 0.25,
    "tol": 2.0**-10,
    "smoothing": 2.5,
    "balance": 0.75,
    "noise": 0.5,
    "penalty_strength": 1.5,
}
SWITCHES = {"early_stopping": True, "refit": True, "warm_start": False}
TEXTS = {"criterion": "cost", "step": "exact", "proba": "vote_fraction", "loss": "exponential", "priors": "training"}
TEXTS |= {"decision": "expected_cost", "norm": "spectral"}
OTHERS = {"categorical_features", "cost_matrix", "estimator", "scoring"}  # tables, objects and functions
OTHERS |= {"calibration", "reject_cost", "reject_label"}  # which go with others
INTEGER_TYPES = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint64]
REAL_TYPES = [np.float16, np.float32, np.longdouble, Fraction]
PLENTY = 10**400  # more than a float can hold

for_estimators = pytest.mark.parametrize("name", ESTIMATORS)


@pytest.fixture(scope="module")
def table():
    return make_rows(300, 0)


def fit_and_say(estimator, X, y, capsys):
    """All that an estimator makes of rows, and what it prints but for the times."""
    model = estimator.fit(X, y)
    printed = [line.split()[:4] for line in capsys.readouterr().out.splitlines()[:-1]]
    return model.predict_proba(X).tobytes(), model.predict_proba(X[:1]).tobytes(), model.stop_reason_, printed


@for_estimators
def test_every_parameter_is_of_a_kind_that_is_tried_here(name):
    kinds = [INTEGERS, REALS, SWITCHES, TEXTS]
    assert ESTIMATORS[name]().get_params(deep=False).keys() <= OTHERS.union(*kinds)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        *[(INTEGERS, kind) for kind in INTEGER_TYPES],
        *[(REALS | {"random_state": 0}, kind) for kind in REAL_TYPES],
        (SWITCHES | {"random_state": 0}, np.bool_),
        (TEXTS | {"random_state": 0}, np.str_),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
@for_estimators
def test_a_number_of_any_type_is_the_same_parameter_and_stays_as_given(table, capsys, name, values, kind):
    known = ESTIMATORS[name]().get_params(deep=False).keys() & values.keys()
    early = {"early_stopping": True} if "early_stopping" in ESTIMATORS[name]().get_params() else {}
    plain = ESTIMATORS[name](**({"n_estimators": 4} | early | {key: values[key] for key in known}))
    given = {key: kind(values[key]) if key != "random_state" else values[key] for key in known}
    typed = clone(plain).set_params(**given)
    assert fit_and_say(typed, *table, capsys) == fit_and_say(plain, *table, capsys)
    assert all(getattr(typed, key) is value for key, value in given.items())


@pytest.mark.parametrize("n_jobs", [2**31, PLENTY, -(2**31) - 1, np.int8(-1)])
@for_estimators
def test_any_number_of_threads_can_be_asked_for(table, name, n_jobs):
    X, y = table
    one, many = (ESTIMATORS[name](n_estimators=2, random_state=0, n_jobs=n).fit(X, y) for n in (1, n_jobs))
    assert np.array_equal(many.predict_proba(X), one.predict_proba(X))


@for_estimators
def test_what_is_no_number_in_its_range_is_refused_by_name(table, name):
    numbers = ESTIMATORS[name]().get_params(deep=False).keys() & (INTEGERS | REALS).keys() - {"random_state"}
    for key in sorted(numbers):
        for value in (Decimal("0.5"), Decimal("sNaN"), Fraction(PLENTY, 3), np.float64("nan"), 1j, np.array([1]), b"1"):
            with pytest.raises(ValueError, match=f"got {key}="):
                ESTIMATORS[name](**{key: value}).fit(*table)
    for key in sorted(numbers & REALS.keys() - {"max_features"}):
        with pytest.raises(ValueError, match=f"got {key}="):
            ESTIMATORS[name](**{key: PLENTY}).fit(*table)


@for_all
def test_limits_beyond_all_numbers_of_a_machine_are_no_limits(table, algorithm):
    endless = {"max_depth": PLENTY, "n_iter_no_change": PLENTY, "verbose": False}
    early = CLASSIFIERS[algorithm](n_estimators=2, early_stopping=True, random_state=0)
    none = clone(early).set_params(max_depth=1000, n_iter_no_change=1000)
    X, y = table
    assert np.array_equal(early.set_params(**endless).fit(X, y).predict_proba(X), none.fit(X, y).predict_proba(X))


@for_all
def test_export_takes_rounds_of_any_integer_type(table, algorithm):
    model = CLASSIFIERS[algorithm](n_estimators=130, max_depth=1).fit(*table)
    assert model.export_text(np.int8(-1)) == model.export_text(-1)


@pytest.mark.parametrize("decimals", [-1, 2.5, "3", True])
def test_export_refuses_decimals_that_cannot_be_counted(table, decimals):
    model = CLASSIFIERS["combo"](n_estimators=1).fit(*table)
    with pytest.raises(ValueError, match=r"got decimals=.*at least 0, or None"):
        model.export_text(0, decimals=decimals)


def test_threads_that_cannot_be_counted_are_refused_after_the_fit_too(table):
    model = CLASSIFIERS["combo"](n_estimators=1).fit(*table)
    with pytest.raises(ValueError, match="n_jobs='all'; give an integer, or None"):
        model.set_params(n_jobs="all").predict(table[0])


@pytest.mark.parametrize("kind", [np.float16, np.float32, Fraction])
def test_the_bound_takes_a_probability_of_any_type(kind):
    assert confusion_norm_bound([0, 1, 1], [0, 1, 0], eta=kind(0.25)) == confusion_norm_bound(
        [0, 1, 1], [0, 1, 0], eta=0.25
    )


@pytest.mark.parametrize("eta", [Decimal("0.1"), Decimal("sNaN"), "0.1", None, 0, float("nan"), PLENTY])
def test_the_bound_refuses_what_is_no_probability(eta):
    with pytest.raises(ValueError, match=r"must lie in \(0, 1\]"):
        confusion_norm_bound([0, 1], [0, 1], eta=eta)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16])
def test_making_rows_takes_sizes_of_any_integer_type(kind):
    sizes = {"n_samples": 120, "n_features": 12, "n_informative": 5, "n_clusters_per_class": 2}
    X, y = make_imbalanced(**{name: kind(size) for name, size in sizes.items()}, random_state=0)
    expected = make_imbalanced(**sizes, random_state=0)
    assert np.array_equal(X, expected[0])
    assert np.array_equal(y, expected[1])
