"""comboost compare."""

from dataclasses import replace

import pytest
from cli.helpers import QUICK, columns_of, json_of
from rich.console import Console
from sklearn.model_selection import RepeatedStratifiedKFold

from comboost import CoMBoClassifier, ConfusionBoostingClassifier
from comboost.cli.commands.compare import show_comparison
from comboost.cli.jobs import comparison
from comboost.cli.jobs.comparison import COMPARED, OURS, ComparedClassifier, ComparisonResult, describe_differences
from comboost.cli.terminal.screen import Screen
from comboost.model_selection import cross_validate_confusion
from comboost.study.peers import PEERS, Peer


class FailingPeer(Peer):
    """A peer that cannot be constructed."""

    def make(self, n_threads, **parameters):
        raise RuntimeError("no\nspace.")


def test_failing_peer_is_left_out_and_an_error_of_ours_is_an_error(cli, rows, monkeypatch):
    monkeypatch.setattr(comparison, "COMPARED", ("Bad",))
    monkeypatch.setitem(PEERS, "Bad", FailingPeer("Bad", "sklearn", "", "scikit-learn"))
    options = ("-t", "state", *QUICK, "--folds", "2")
    said = json_of(cli("compare", rows, *options, "--json"))
    assert said["left_out"] == {"Bad": "it fails: RuntimeError: no space"}
    assert len(said["classifiers"]) == 3
    assert cli("compare", rows, *options, "--set", "noise=-1").exit_code == 1


def test_compare_puts_all_on_the_same_folds_and_names_those_that_are_missing(cli, rows, frame, monkeypatch):
    monkeypatch.setattr(comparison, "COMPARED", ("LightGBM", "XGBoost"))
    monkeypatch.setitem(PEERS, "XGBoost", replace(PEERS["XGBoost"], module="no_such_module"))
    said = json_of(cli("compare", rows, "-t", "state", *QUICK, "--folds", "3", "--jobs", "1", "--json"))
    assert said["left_out"] == {"XGBoost": "xgboost is not installed"}
    by_name = {each["name"]: each for each in said["classifiers"]}
    assert list(by_name) == ["ConfusionBoosting", "CoMBo", "AdaBoost.MM", "LightGBM"]
    X, y = columns_of(frame)
    splitter = RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=0)
    ours, theirs = (
        cross_validate_confusion(make(random_state=0, **settings), X, y, cv=splitter)
        for make, settings in ((ConfusionBoostingClassifier, {"n_estimators": 5}), (CoMBoClassifier, {}))
    )
    assert by_name["CoMBo"]["norm"] == theirs.norm
    differences = ours.fold_recalls.mean(axis=1) - theirs.fold_recalls.mean(axis=1)
    assert by_name["CoMBo"]["difference"] == pytest.approx(differences.mean())
    assert said["verdict"].startswith("The mean recall of ConfusionBoosting is ")


def test_comparison_fits_sixty_columns_with_every_name_whole(capsys):
    names = [*OURS.values(), *COMPARED]
    metrics = ({"one": 0.5, "other": 1.0}, 0.61, 0.55, 0.6, 12.3)
    first, *others = (ComparedClassifier(name, *metrics) for name in names)
    compared = {"difference": 0.01, "difference_low": -0.02, "difference_high": 0.04, "verdict": "not_significant"}
    classifiers = [first, *(replace(each, **compared) for each in others)]
    data = {"source": "it", "target": "y", "n_rows": 9, "classes": {"one": 5, "other": 4}, "columns": [], "notes": []}
    result = ComparisonResult(data, 5, 1, 0.95, classifiers, {}, describe_differences(classifiers, 5), [])
    show_comparison(result, Screen(Console(width=60, highlight=False)))
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 60
    assert all(name in shown.split() for name in names)
