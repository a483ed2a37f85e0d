"""Decisions: by votes, or what is expected to cost least, which may be to decide nothing."""

import datetime

import numpy as np
import pytest
from boosters import for_all, make_booster, make_named_rows, make_rows, unchanged
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from strategies import property_test

from comboost._engine.probabilities import REJECTED, cheapest_decisions
from comboost.metrics import expected_cost_loss, get_scorer
from comboost.model_selection import cross_validate_confusion

X, Y = make_named_rows(200, seed=0)
X_NEW, Y_NEW = make_named_rows(80, seed=1)
COSTS = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 1.0], [3.0, 8.0, 0.0]])


def make(algorithm="confusion", **parameters):
    return make_booster(algorithm, **({"n_estimators": 5, "decision": "expected_cost"} | parameters))


@st.composite
def planted(draw):
    """True probabilities of some rows, costs of mistakes, and maybe what it costs to reject a row."""
    n_classes, n_samples = draw(st.integers(2, 5)), draw(st.integers(1, 6))
    raw = draw(hnp.arrays(np.float64, (n_samples, n_classes), elements=st.integers(0, 8).map(float)))
    raw[raw.sum(axis=1) == 0] = 1.0
    costs = draw(hnp.arrays(np.float64, (n_classes, n_classes), elements=st.sampled_from([0.0, 0.5, 1.0, 3.0, 100.0])))
    np.fill_diagonal(costs, 0.0)
    return raw / raw.sum(axis=1, keepdims=True), costs, draw(st.none() | st.sampled_from([1e-9, 0.1, 0.5, 2.0, 1e9]))


# The law


@property_test(problem=planted())
def test_with_the_true_probabilities_no_decision_is_cheaper(problem):
    shares, costs, reject_cost = problem
    decided = cheapest_decisions(shares, costs, reject_cost)
    for row, choice in zip(shares, decided, strict=True):
        prices = [sum(row[k] * costs[k, j] for k in range(len(row))) for j in range(len(row))]
        paid = reject_cost if choice == REJECTED else prices[choice]
        everything = prices if reject_cost is None else [*prices, reject_cost]
        assert paid <= min(everything) * (1 + 1e-12)
        assert reject_cost is not None or choice != REJECTED


@property_test(problem=planted())
def test_mistakes_that_cost_the_same_lead_to_the_likeliest_class(problem):
    shares, _, reject_cost = problem
    decided = cheapest_decisions(shares, None, reject_cost)
    kept = decided != REJECTED
    np.testing.assert_array_equal(decided[kept], shares.argmax(axis=1)[kept])
    if reject_cost is not None:
        np.testing.assert_array_equal(kept, 1 - shares.max(axis=1) <= reject_cost)
    by_matrix = cheapest_decisions(shares, 1.0 - np.eye(shares.shape[1]))
    assert (shares[np.arange(len(shares)), by_matrix] >= shares.max(axis=1) - 1e-15).all()


@property_test(problem=planted())
def test_decisions_depend_on_the_ratios_of_costs_alone_and_on_no_other_row(problem):
    shares, costs, _ = problem
    decided = cheapest_decisions(shares, costs)
    one_by_one = [cheapest_decisions(shares[[row]], costs)[0] for row in range(len(shares))]
    np.testing.assert_array_equal(decided, one_by_one)
    scaled = cheapest_decisions(shares, 4.0 * costs)
    np.testing.assert_array_equal(decided, scaled)


def test_ties_go_to_the_first_class_and_free_rejection_takes_all_that_is_not_certain():
    shares = np.array([[0.5, 0.5], [1.0, 0.0], [0.3, 0.7]])
    assert cheapest_decisions(shares, np.array([[0.0, 1.0], [1.0, 0.0]])).tolist() == [0, 0, 1]
    assert cheapest_decisions(shares, None, 5e-324).tolist() == [REJECTED, 0, REJECTED]


@pytest.mark.parametrize("costs", [None, 1.0 - np.eye(2), np.array([[0.0, 3.0], [1.0, 0.0]])])
def test_rejection_that_costs_as_much_as_a_decision_is_not_chosen(costs):
    shares = np.array([[0.75, 0.25], [0.25, 0.75], [0.5, 0.5]])
    least = [0.25, 0.25, 0.5] if costs is None or costs[0, 1] == 1.0 else [0.25, 0.75, 0.5]
    for i, cost in enumerate(least):
        assert cheapest_decisions(shares, costs, cost)[i] != REJECTED
        assert cheapest_decisions(shares, costs, np.nextafter(cost, 0.0))[i] == REJECTED


# Estimators


@for_all
def test_predict_rejects_only_what_costs_more_than_a_rejection(algorithm):
    model = make(algorithm, reject_cost=1.0).fit(X, Y)
    shares = model.predict_proba(X_NEW)
    least = 1.0 - shares.max(axis=1)
    for i in np.flatnonzero(least > 0)[:5].tolist():
        decided = model.classes_[shares[i].argmax()]
        assert model.set_params(reject_cost=least[i]).predict(X_NEW)[i] == decided
        assert model.set_params(reject_cost=np.nextafter(least[i], 0.0)).predict(X_NEW)[i] == "reject"


@for_all
@pytest.mark.parametrize("calibration", [None, "temperature", "isotonic"])
def test_predict_decides_by_probabilities_and_costs(algorithm, calibration):
    model = make(algorithm, cost_matrix=COSTS, calibration=calibration, priors=[0.2, 0.3, 0.5], reject_cost=0.7)
    shares = model.fit(X, Y).predict_proba(X_NEW)
    expected = shares @ COSTS
    answers = np.where(expected.min(axis=1) > 0.7, "reject", model.classes_[expected.argmin(axis=1)])
    found = model.predict(X_NEW)
    np.testing.assert_array_equal(found, answers)
    assert {"reject"} < set(found)
    np.testing.assert_array_equal([model.predict(X_NEW[[row]])[0] for row in range(20)], found[:20])
    *_, last = model.staged_predict(X_NEW)
    np.testing.assert_array_equal(last, found)


@for_all
def test_votes_are_then_learned_without_the_costs_which_may_change(algorithm):
    plain = make(algorithm).fit(X, Y)
    model = make(algorithm, cost_matrix=COSTS).fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X_NEW), plain.decision_function(X_NEW))
    np.testing.assert_array_equal(model.train_confusion_, plain.train_confusion_)
    plain.set_params(cost_matrix=COSTS)
    np.testing.assert_array_equal(model.predict(X_NEW), plain.predict(X_NEW))


@for_all
def test_without_costs_the_decision_may_change_after_the_fit(algorithm):
    model = make(algorithm, decision="argmax").fit(X, Y)
    votes = model.predict(X_NEW)
    likeliest = model.classes_[model.predict_proba(X_NEW).argmax(axis=1)]
    np.testing.assert_array_equal(model.set_params(decision="expected_cost").predict(X_NEW), likeliest)
    np.testing.assert_array_equal(model.set_params(decision="argmax").predict(X_NEW), votes)


@for_all
@pytest.mark.parametrize("rows", [X_NEW, X_NEW[:1]], ids=["many", "one"])
def test_decision_that_the_costs_were_not_trained_for_is_refused(algorithm, rows):
    by_votes = make(algorithm, cost_matrix=COSTS, decision="argmax").fit(X, Y)
    with pytest.raises(ValueError, match="its costs would count twice; fit again"):
        by_votes.set_params(decision="expected_cost").predict(rows)
    with pytest.raises(ValueError, match="its costs would count twice; fit again"):
        by_votes.set_params(cost_matrix=None).predict(rows)
    by_cost = make(algorithm, cost_matrix=COSTS).fit(X, Y)
    with pytest.raises(ValueError, match="whose scores do not depend on cost_matrix; fit again"):
        by_cost.set_params(decision="argmax").predict(rows)
    by_cost.set_params(cost_matrix=None).predict(rows)


def test_warm_start_goes_on_only_with_costs_used_as_before():
    model = make(cost_matrix=COSTS, warm_start=True, n_estimators=2).fit(X, Y)
    model.set_params(cost_matrix=2 * COSTS, reject_cost=1.0, n_estimators=5).fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X_NEW), make().fit(X, Y).decision_function(X_NEW))
    with pytest.raises(ValueError, match="cost_matrix, decision changed since the earlier fit"):
        model.set_params(decision="argmax", reject_cost=None).fit(X, Y)


BAD = {
    "reject_cost by votes": (
        {"decision": "argmax", "reject_cost": 1.0},
        'would be ignored without decision="expected_cost"',
    ),
    "reject_label by votes": ({"decision": "argmax", "reject_label": "?"}, "would be ignored without reject_cost"),
    "reject_label alone": ({"reject_label": "?"}, "would be ignored without reject_cost"),
    "free rejection": ({"reject_cost": 0.0}, "got reject_cost=0.0; give a number in .0, 1e.30., or None"),
    "endless cost": ({"reject_cost": np.inf}, "got reject_cost=inf; give a number"),
    "a cost of text": ({"reject_cost": "1"}, "got reject_cost='1'; give a number"),
    "a class": ({"reject_cost": 1.0, "reject_label": "elm"}, "is one of the classes"),
    "a number": ({"reject_cost": 1.0, "reject_label": 7}, "is not a label like the classes .*which are text"),
    "a missing label": ({"reject_cost": 1.0, "reject_label": float("nan")}, "reject_label"),
    "another decision": ({"decision": "cost"}, "got decision='cost'; give 'argmax' or 'expected_cost'"),
    "bad costs": ({"cost_matrix": [1.0]}, "cost_matrix has the shape"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_decided_by_is_refused_in_fit_and_after_it(name):
    parameters, words = BAD[name]
    with unchanged(fresh := make(**parameters)), pytest.raises(ValueError, match=words):
        fresh.fit(X, Y)
    model = make().fit(X, Y).set_params(**parameters)
    for rows in (X_NEW, X_NEW[:1]):
        with pytest.raises(ValueError, match=words):
            model.predict(rows)


LABELS = {
    "text": (["a", "bb"], None, "reject"),
    "longer text": (["a", "bb"], "nobody knows", "nobody knows"),
    "text in objects": (np.array(["a", "bb"], dtype=object), None, "reject"),
    "numbers": ([3, 7], None, -1),
    "small numbers": (np.array([3, 255], dtype=np.uint8), None, -1),
    "whole floats": ([3.0, 7.0], None, -1.0),
    "large numbers": ([2**70, 2**71], None, -1),
    "booleans": ([False, True], 2, 2),
    "dates": (
        [datetime.date(2000, 1, 1), datetime.date(2001, 1, 1)],
        datetime.date(1, 1, 1),
        np.datetime64("0001-01-01"),
    ),
}


@pytest.mark.parametrize("kind", LABELS)
def test_rejected_rows_have_a_label_of_the_classes_kind(kind):
    distinct, label, expected = LABELS[kind]
    rows, y = X[:60], np.array(distinct)[np.arange(60) % 2]
    found = make(reject_cost=1e-9, reject_label=label).fit(rows, y).predict(rows)
    assert (found == expected).all()
    some = make(reject_cost=1.0, reject_label=label).fit(rows, y).predict(rows)
    assert set(some.tolist()) <= set(np.unique(y).tolist())


@pytest.mark.parametrize(
    "distinct", [[False, True], [datetime.date(2000, 1, 1), datetime.date(2001, 1, 1)], [-1, 4], ["reject", "b"]]
)
def test_classes_without_a_label_to_reject_by_need_one(distinct):
    with pytest.raises(ValueError, match=r"give .*reject_label|give a label that is not among them"):
        make(reject_cost=1.0).fit(X[:60], np.array(distinct)[np.arange(60) % 2])


def test_class_without_weight_is_never_decided_for():
    costs = [[0, 0.1, 1], [1, 0, 1], [1, 0.1, 0]]
    model = make(cost_matrix=costs).fit(X, Y, sample_weight=(Y != "elm").astype(float))
    assert set(model.predict(X_NEW)) <= {"ash", "fir"}


# Measures


def test_rejected_rows_cost_what_it_costs_to_reject_them():
    y_true, y_pred = ["a", "b", "b", "c"], ["a", "?", "a", "?"]
    costs = {"a": 1.0, "b": 4.0, "c": 2.0}
    assert (
        expected_cost_loss(y_true, y_pred, cost_matrix=costs, reject_cost=0.5, reject_label="?") == (4 + 0.5 + 0.5) / 4
    )
    weights = [1, 2, 0, 1]
    weighted = expected_cost_loss(
        y_true, y_pred, cost_matrix=costs, reject_cost=0.5, reject_label="?", sample_weight=weights
    )
    assert weighted == pytest.approx(3 * 0.5 / 4)
    assert expected_cost_loss([0, 1], [-1, -1], reject_cost=0.25, reject_label=-1) == 0.25
    for options in (
        {"reject_cost": 1.0},
        {"reject_label": "?"},
        {"reject_cost": -1.0, "reject_label": "?"},
        {"reject_cost": 1, "reject_label": "a"},
    ):
        with pytest.raises(ValueError, match="reject_"):
            expected_cost_loss(y_true, y_pred, cost_matrix=costs, **options)


@pytest.mark.parametrize("costs", [COSTS, dict(zip(("ash", "elm", "fir"), (1.0, 2.0, 3.0), strict=True)), None])
def test_scorer_of_expected_cost_knows_rejected_rows(costs):
    model = make(cost_matrix=costs, reject_cost=0.3)
    scorer = get_scorer("neg_expected_cost", cost_matrix=costs, reject_cost=0.3, reject_label="reject")
    scores = cross_val_score(model, X, Y, cv=3, scoring=scorer)
    assert (scores <= 0).all()
    assert (scores >= -0.5).all() or costs is not None
    for name in ("g_mean", "min_recall", "neg_confusion_norm", "accuracy"):
        assert np.isfinite(get_scorer(name)(model.fit(X, Y), X_NEW, Y_NEW))
    with pytest.raises(ValueError, match="reject_cost is for"):
        get_scorer("g_mean", reject_cost=1.0)


def test_confusions_of_rejected_rows_are_refused_with_what_to_do():
    with pytest.raises(ValueError, match=r"predicts \['reject'\].*set reject_cost=None"):
        cross_validate_confusion(make(reject_cost=0.01), X, Y, cv=2)


def test_score_counts_a_rejected_row_as_not_recognised():
    model = make(reject_cost=1e-9).fit(X, Y)
    assert model.score(X_NEW, Y_NEW) == 0.0
    assert clone(model).set_params(reject_cost=None).fit(X, Y).score(X_NEW, Y_NEW) > 0.0


def test_rows_as_numbers_decide_as_rows_with_names():
    rows, y = make_rows(200, seed=0)
    numbers = make(cost_matrix=COSTS, reject_cost=0.7).fit(rows, y).predict(X_NEW)
    names = make(cost_matrix=COSTS, reject_cost=0.7).fit(X, Y).predict(X_NEW)
    np.testing.assert_array_equal(np.array(["ash", "elm", "fir", "reject"])[numbers], names)
