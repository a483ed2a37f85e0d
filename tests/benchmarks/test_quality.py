"""The quality benchmark: what it measures, whom it compares, and the page that it writes."""

import math

import numpy as np
import pytest

from benchmarks.quality import page, store
from benchmarks.quality.__main__ import main, pick
from benchmarks.quality.comparisons import FOLDS, HOLDOUT, split_once
from benchmarks.quality.measures import AUPRC, FIT_SECONDS, LOG_LOSS, MACRO_F1, MEASURES, NORM, measure
from benchmarks.quality.methods import METHODS, fixed_settings
from benchmarks.quality.plan import Plan
from benchmarks.quality.ranks import mean_ranks, means
from benchmarks.quality.verdicts import FIXED, OURS, duel, judge, problems_won

STOPPED = "HistGradientBoosting, early stopping"


def entry(value=0.5, seconds=1.0, *, n_classes=3, n_samples=1000, **values):
    """A stored entry with one split; all measures have the same value unless another is given."""
    figures = {one.key: value for one in MEASURES} | {FIT_SECONDS.key: seconds} | values
    return {
        "run": "then",
        "n_samples": n_samples,
        "n_classes": n_classes,
        "folds": {key: [each] for key, each in figures.items()},
    }


def stored(holdout, folds):
    run = {
        "command": "python -m benchmarks.quality",
        "started": "2026-11-18T15:00:00+00:00",
        "machine": {"cpu": "a CPU", "cores": 2, "memory_gib": 8.0},
        "versions": {"python": "3.11"},
        "source": {"commit": "0" * 40, "comboost_differs_from_repository_in": []},
        "settings": {"threads": 2},
    }
    return {
        "holdout": {"runs": {"then": run}, "entries": holdout},
        "folds": {"runs": {"then": run}, "entries": folds},
    }


def test_perfect_predictions_have_perfect_macro_f1_and_auprc():
    y = np.array([0, 0, 0, 1, 2])
    figures = measure(y, y, np.eye(3)[y])
    assert figures[MACRO_F1.key] == figures[AUPRC.key] == 1


def test_macro_f1_and_auprc_weigh_classes_equally():
    y, predicted = np.array([0, 0, 0, 1, 2]), np.array([0, 0, 0, 0, 2])
    probabilities = np.array([[0.8, 0.1, 0.1], [0.7, 0.2, 0.1], [0.6, 0.3, 0.1], [0.6, 0.25, 0.15], [0.1, 0.1, 0.8]])
    figures = measure(y, predicted, probabilities)
    assert figures[MACRO_F1.key] == pytest.approx((6 / 7 + 0 + 1) / 3)
    # Class 0: one of the two samples at .6 is of class 1. Class 1: its sample is the second.
    assert figures[AUPRC.key] == pytest.approx(((2 / 3 + 1 / 3 * 3 / 4) + 1 / 2 + 1) / 3)


def test_holdout_is_a_stratified_30_percent():
    y = np.repeat([0, 1], [80, 20])
    ((train, test),) = split_once(y, Plan())
    assert np.bincount(y[test]).tolist() == [24, 6]
    assert sorted([*train, *test]) == list(range(100))


@pytest.mark.parametrize(("n_samples", "n_classes", "depth"), [(200, 3, 3), (4504, 6, 4), (47289, 3, 6), (10**6, 9, 7)])
def test_fixed_settings_grow_with_the_table(n_samples, n_classes, depth):
    assert fixed_settings(n_samples, n_classes)["max_depth"] == depth


def test_every_gradient_booster_also_stops_early():
    names = {method.name for method in METHODS}
    for booster in ("LightGBM", "XGBoost", "CatBoost", "HistGradientBoosting"):
        assert {booster, f"{booster}, early stopping"} <= names
    assert {"PerpetualBooster", "EasyEnsemble", "RUSBoost", "SelfPacedEnsemble"} <= names


def test_duel_is_against_the_best_peer_of_either_kind():
    found = duel({OURS: entry(0.4), "LightGBM": entry(0.5), STOPPED: entry(0.3)}, LOG_LOSS)
    assert found.peer == STOPPED
    assert not found.won


def test_duel_is_against_the_quickest_of_equally_good_peers():
    by_method = {OURS: entry(0.0, 2.0), "LightGBM": entry(0.0, 3.0), "XGBoost": entry(0.0, 1.0)}
    found = duel(by_method, NORM)
    assert found.peer == "XGBoost"
    assert found.is_as_good
    assert not found.won


@pytest.mark.parametrize(("n_classes", "won"), [(9, True), (10, False)])
def test_ten_classes_halve_the_allowed_time(n_classes, won):
    by_method = {OURS: entry(0.1, 0.8, n_classes=n_classes), "LightGBM": entry(0.2, 1.0)}
    assert problems_won({"it": by_method}) == {"it": won}


def test_our_own_methods_are_not_peers():
    assert duel({OURS: entry(), FIXED: entry(0.1), "CoMBo": entry(0.1)}, NORM) is None


def test_methods_without_figures_are_not_ranked_and_missing_ones_are_last():
    entries = {"a": {"x": entry(0.1), "y": entry(0.2)}, "b": {"x": {"left_out": "no"}, "y": entry(0.2)}}
    table = means(entries, NORM, ("x", "y", "never run"))
    assert mean_ranks(table, NORM) == {"x": 1.5, "y": 1.5}


def test_times_are_judged_by_number_of_samples():
    holdout = {
        "large": {OURS: entry(seconds=3.0, n_samples=50_000), "LightGBM, early stopping": entry(seconds=1.0)},
        "medium": {OURS: entry(seconds=3.0, n_samples=5_000), "CatBoost": entry(seconds=6.0)},
        "small": {OURS: entry(seconds=3.0), "CatBoost": entry(seconds=4.0), FIXED: entry(seconds=0.3)},
    }
    times = judge(holdout, {})[-3:]
    assert [one.ratio for one in times] == pytest.approx([3, 0.75, 10])
    assert [one.reached for one in times] == [False, True, True]


def test_means_are_compared_on_sets_that_both_have():
    folds = {"a": {OURS: entry(0.2), FIXED: entry(0.3)}, "b": {OURS: entry(0.9)}}
    (verdict,) = (one for one in judge({}, folds) if "mean norm" in one.question)
    assert verdict.ratio == 0.2
    assert verdict.target.value == pytest.approx(0.3)


def test_no_results_reach_no_target():
    assert not any(one.reached for one in judge({}, {}))


def test_page_marks_missed_targets_and_missing_methods():
    holdout = {"connect-4": {OURS: entry(0.6), "LightGBM": entry(0.5), "RUSBoost": {"run": "then", "left_out": "why"}}}
    text = page.render_page(stored(holdout, {"car": {OURS: entry(0.01), STOPPED: entry(0.02)}}))
    assert "| eight problems, connect-4: norm of the confusion matrix | 0.6 | ≤ 0.277 | **missed** |" in text
    assert "| nine sets, car: norm of the confusion matrix | 0.01 | ≤ 0.045 | reached |" in text
    assert "Left out: RUSBoost on connect-4 (why)." in text
    assert "on 0 of 1." in text
    assert page.TABLES_USED in text
    assert "nan" not in text


def test_page_of_entries_without_new_measures_leaves_their_tables_out():
    old = entry()
    del old["folds"][MACRO_F1.key]
    text = page.render_page(stored({}, {"car": {OURS: old}}))
    assert "### Macro-F1" not in text
    assert "### G-mean" in text


def test_names_pick_one_method_and_beginnings_several():
    assert [one.name for one in pick(METHODS, ["LightGBM"])] == ["LightGBM"]
    assert [one.name for one in pick(METHODS, ["lightg"])] == ["LightGBM", "LightGBM, early stopping"]
    assert pick(METHODS, []) == list(METHODS)


@pytest.mark.filterwarnings("ignore")  # of peers
@pytest.mark.parametrize(("comparison", "problem"), [(HOLDOUT, "yeast"), (FOLDS, "car")], ids=["holdout", "folds"])
def test_quick_run_is_stored_and_not_repeated(comparison, problem, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(store, "SCRATCH", tmp_path)
    arguments = [comparison.name, "--quick", "--threads", "1", "--problem", problem, "--method", STOPPED]
    arguments += ["--method", FIXED]
    assert main(arguments) == 0
    entries = store.Store(comparison.name, quick=True).read()["entries"][problem]
    assert set(entries) == {FIXED, STOPPED}
    for one in entries.values():
        assert all(math.isfinite(value) for values in one["folds"].values() for value in values)
    capsys.readouterr()
    assert main(arguments) == 0
    assert f"{problem}: 0 of 2 methods to run" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["page", "--quick"])
    page.main()
    assert f"{problem}" in (tmp_path / "quality.md").read_text()
