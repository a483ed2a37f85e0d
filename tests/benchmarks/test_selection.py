"""The study of selected settings: its variants, what it stores, and how it compares."""

import numpy as np
import pytest

from benchmarks._lib import store
from benchmarks.quality.methods import fixed_settings
from benchmarks.selection import __main__ as study
from benchmarks.selection import variants
from benchmarks.selection.variants import DEEPER, FIXED, SELECTED, VARIANTS, smoothing_by_loss
from comboost import ConfusionBoostingClassifier
from comboost.datasets import make_imbalanced

X, Y = make_imbalanced(120, [0.6, 0.3, 0.1], random_state=0)
SETTINGS = {"smoothing": 3.0, "max_depth": 3, "n_estimators": 10}


@pytest.fixture
def tiny(monkeypatch):
    for module in (variants, study):
        monkeypatch.setattr(module, "load", lambda problem: (X, Y))
    monkeypatch.setattr(study, "VARIANTS", (SELECTED, FIXED))


def means(**losses):
    """Means of one variant with these log-losses, by problem; those of all others are 1."""
    figures = dict.fromkeys((*study.MEASURES, study.SECONDS), 1.0)
    return {
        problem: {one.name: figures | ({study.LOG_LOSS.key: loss} if one is DEEPER else {}) for one in VARIANTS}
        for problem, loss in losses.items()
    }


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda one: one.name)
def test_every_variant_has_valid_parameters(variant):
    params = variant.params(fixed_settings(100, 3), {**SETTINGS, "learning_rate": 0.1})
    fewer = {"n_estimators": 2}
    with variant.patched():
        ConfusionBoostingClassifier(n_jobs=1, **{**params, **fewer}).fit(X, Y)


def test_smoothing_by_loss_changes_fits_inside_the_context_only():
    def scores():
        return ConfusionBoostingClassifier(n_jobs=1, random_state=0, **SETTINGS).fit(X, Y).decision_function(X)

    before = scores()
    with smoothing_by_loss(0.0):
        assert np.array_equal(scores(), before)
    with smoothing_by_loss(0.5):
        assert not np.array_equal(scores(), before)
    assert np.array_equal(scores(), before)


@pytest.mark.usefixtures("tiny")
def test_stored_fits_are_not_repeated(tmp_path, monkeypatch, capsys):
    arguments = ["--problem", "digits", "--results", str(tmp_path)]
    assert study.main(arguments) == 0
    assert len(store.read(tmp_path / "results.jsonl")[1]) == 5 * 2
    page = (tmp_path / "tables.md").read_text(encoding="utf-8")
    monkeypatch.setattr(study, "fit_and_measure", None)
    assert study.main(arguments) == 0
    assert (tmp_path / "tables.md").read_text(encoding="utf-8") == page
    assert "| digits | 120 | 3 |" in capsys.readouterr().out


@pytest.mark.usefixtures("tiny")
def test_problems_with_missing_fits_are_left_out(tmp_path, capsys):
    study.run(["digits"], tmp_path / "results.jsonl")
    _, entries = store.read(tmp_path / "results.jsonl")
    assert list(study.collect(entries)) == ["digits"]
    assert study.collect(entries[:-1]) == {}
    assert study.main(["--page", "--results", str(tmp_path / "empty")]) == 1
    assert "no problem has all fits yet" in capsys.readouterr().err


def test_changes_are_geometric_means():
    (row,) = (row for row in study.compare(means(a=0.5, b=2.0, c=1.0), SELECTED) if row["variant"] == DEEPER.name)
    assert row["log-loss"].startswith("+0.0 ±")
    assert row["median"] == "+0.0 %"
    assert row["lower on"] == 1


def test_vanishing_losses_do_not_decide():
    assert study.compare(means(a=0.0, b=1.0), FIXED) == study.compare(means(a=study.LEAST_LOSS, b=1.0), FIXED)
