import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp
from sklearn.model_selection import StratifiedKFold

from comboost import CoMBoClassifier
from comboost.metrics import confusion_norm_loss
from comboost.study import METHODS, Study, Task, load_problem, run_task
from comboost.study import _folds as folds
from comboost.study._experiment import ClassificationProblem
from comboost.study._folds import (
    MIN_WINS,
    N_RESAMPLES,
    choose_candidate,
    choose_setting,
    count_inner_fits,
    resample_norms,
)
from comboost.study._methods import Method

STUDY = Study(n_rounds=4)
COMBO = METHODS["CoMBo"]


def test_norms_are_those_of_all_inner_parts_together():
    problem = load_problem("balance")
    setting, judged = choose_setting(COMBO, problem.X, problem.y, problem.categorical, seed=3, study=STUDY)
    expected = []
    for candidate in COMBO.candidates:
        predicted = np.empty_like(problem.y)
        for learn, judge in StratifiedKFold(4, shuffle=True, random_state=3).split(problem.X, problem.y):
            model = CoMBoClassifier(n_estimators=4, random_state=3, **candidate).fit(problem.X[learn], problem.y[learn])
            predicted[judge] = model.predict(problem.X[judge])
        expected.append(confusion_norm_loss(problem.y, predicted))
    assert [candidate["setting"] for candidate in judged] == list(COMBO.candidates)
    assert [candidate["norm"] for candidate in judged] == pytest.approx(expected)
    assert setting in (COMBO.candidates[0], COMBO.candidates[int(np.argmin(expected))])


class Oracle:
    """Right on as many rows as it is told to be."""

    def __init__(self, share):
        self.share = share

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.where(np.arange(len(X)) < self.share * len(X), X[:, 0], (X[:, 0] + 1) % 3).astype(int)


@pytest.mark.parametrize(("shares", "place"), [((0.5, 0.9), 1), ((0.9, 0.5), 0), ((0.7, 0.7), 0)])
def test_a_candidate_that_is_clearly_better_is_chosen(shares, place):
    candidates = tuple({"share": share} for share in shares)
    method = Method("oracle", lambda setting, *_: Oracle(**setting), candidates)
    y = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], 100))
    setting, _ = choose_setting(method, y[:, np.newaxis].astype(float), y, (), seed=0, study=STUDY)
    assert setting == candidates[place]


def test_the_first_candidate_is_the_default_of_the_estimators():
    parameters = CoMBoClassifier().get_params()
    for name in ("CoMBo", "AdaBoost.MM"):
        assert METHODS[name].candidates[0].items() <= parameters.items()


@pytest.mark.parametrize(
    ("norms", "n_smaller", "place"),
    [
        ([0.5, 0.4, 0.3], N_RESAMPLES, 2),
        ([0.5, 0.4, 0.3], round(MIN_WINS * N_RESAMPLES), 2),
        ([0.5, 0.4, 0.3], round(MIN_WINS * N_RESAMPLES) - 1, 0),
        ([0.3, 0.4, 0.5], N_RESAMPLES, 0),
    ],
)
def test_the_first_candidate_is_only_replaced_by_a_clear_lead(norms, n_smaller, place):
    resampled = np.full((3, N_RESAMPLES), 0.5)
    resampled[2, :n_smaller] = 0.3
    assert choose_candidate(norms, resampled) == place


@given(st.integers(2, 4), st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_a_bootstrap_draws_the_same_samples_for_all_candidates(n_classes, n_samples, seed):
    random = np.random.default_rng(seed)
    true = np.repeat(np.arange(n_classes), n_samples)
    guess = random.integers(0, n_classes, true.size)
    norms = resample_norms(true, np.stack([guess, true, guess]), random)
    assert norms.shape == (3, N_RESAMPLES)
    assert np.array_equal(norms[0], norms[2])
    assert not norms[1].any()
    if n_samples == 1:  # a class of one row has but one bootstrap
        assert norms[0] == pytest.approx(confusion_norm_loss(true, guess))


def test_the_norm_of_a_bootstrap_varies_like_that_of_drawn_samples():
    random = np.random.default_rng(0)
    true = np.repeat([0, 1, 2], [20, 30, 40])
    guess = np.where(random.random(true.size) < 0.6, true, random.integers(0, 3, true.size))
    ours = resample_norms(true, guess[np.newaxis], random)[0]
    slow = []
    for _ in range(2000):
        rows = np.concatenate(
            [random.choice(np.flatnonzero(true == label), np.sum(true == label)) for label in (0, 1, 2)]
        )
        slow.append(confusion_norm_loss(true[rows], guess[rows]))
    assert ks_2samp(ours, slow).pvalue > 0.001


def test_a_fixed_setting_needs_no_choice():
    problem = load_problem("glass")
    method = METHODS["CoMBo depth 2 gini"]
    chosen = choose_setting(method, problem.X, problem.y, (), seed=0, study=STUDY)
    assert chosen == ({"max_depth": 2, "criterion": "gini"}, [])


def test_the_choice_does_not_depend_on_test_samples(monkeypatch):
    problem = load_problem("balance")
    task = Task("balance", "CoMBo", 0, 0)
    before = run_task(task, STUDY)
    _, test = folds.split(problem.y, STUDY, 0)[0]
    X = problem.X.copy()
    X[test] = X[test][::-1]  # other rows for the same classes
    changed = ClassificationProblem(X, problem.y, problem.classes, problem.class_counts, problem.categorical)
    monkeypatch.setattr(folds, "load_problem", lambda name: changed)
    after = run_task(task, STUDY)
    assert (after["setting"], after["candidates"]) == (before["setting"], before["candidates"])
    assert after["counts"] != before["counts"]


@pytest.mark.parametrize(("n_candidates", "n_smallest", "n_fits"), [(4, 199, 16), (4, 200, 4), (6, 200, 6), (1, 9, 0)])
def test_one_part_is_enough_if_every_class_has_many_samples(n_candidates, n_smallest, n_fits):
    assert count_inner_fits(n_candidates, n_smallest) == n_fits
