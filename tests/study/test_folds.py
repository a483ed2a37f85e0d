import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, confusion_matrix, roc_auc_score

from comboost import CoMBoClassifier
from comboost.study import METHODS, Study, Task, list_tasks, load_problem, run_task
from comboost.study._folds import estimate_seconds, split

STUDY = Study(seed=1, n_rounds=6)
TASK = Task("glass", "CoMBo depth 2 cost", 1, 2)


def without_seconds(result):
    return {name: value for name, value in result.items() if name != "seconds"}


def test_measures_equal_those_computed_directly():
    problem, result = load_problem(TASK.dataset), run_task(TASK, STUDY)
    train, test = split(problem.y, STUDY, TASK.run)[TASK.fold]
    model = CoMBoClassifier(n_estimators=6, max_depth=2, criterion="cost").fit(problem.X[train], problem.y[train])
    y, predicted = problem.y[test], model.predict(problem.X[test])
    shares = confusion_matrix(y, predicted, normalize="true")
    recalls = np.diag(shares)
    expected = {
        "confusion_norm": np.linalg.norm(shares - np.diag(recalls), ord=2),
        "accuracy": accuracy_score(y, predicted),
        "g_mean": np.prod(recalls) ** (1 / len(recalls)),
    }
    for name, proba in (("mauc", "vote_fraction"), ("mauc_softmax", "softmax")):
        scores = model.set_params(proba=proba).predict_proba(problem.X[test])
        expected[name] = roc_auc_score(y, scores, multi_class="ovo", average="macro")
    assert result["measures"] == pytest.approx(expected)
    assert result["counts"] == confusion_matrix(y, predicted).tolist()
    assert result["n_iter"] == 6


def test_result_is_plain_data_that_survives_a_file_to_the_bit():
    result = run_task(TASK, STUDY)
    assert json.loads(json.dumps(result)) == result


def test_same_seed_same_result_and_another_seed_another():
    first = without_seconds(run_task(TASK, STUDY))
    assert without_seconds(run_task(TASK, STUDY)) == first
    assert without_seconds(run_task(TASK, Study(seed=2, n_rounds=6)))["counts"] != first["counts"]


def test_seeds_differ_between_folds_runs_and_studies_and_not_between_methods(monkeypatch):
    seeds = {}
    for name in ("CoMBo deep", "CoMBo depth 2 cost"):
        for study in (STUDY, Study(seed=2, n_rounds=6)):
            for task in list_tasks(["new-thyroid"], [name], 2, study):

                def note(setting, categorical, seed, study, task=task):
                    seeds.setdefault((study.seed, task.run, task.fold), set()).add(seed)
                    return DummyClassifier()

                monkeypatch.setitem(METHODS, name, replace(METHODS[name], make=note, has_proba_parameter=False))
                run_task(task, study)
    assert {len(of_task) for of_task in seeds.values()} == {1}
    assert len(set.union(*seeds.values())) == len(seeds) == 2 * 2 * 5


def test_folds_partition_the_samples_with_every_class_in_each():
    y = load_problem("yeast").y
    runs = [split(y, STUDY, run) for run in range(3)]
    for folds in runs:
        assert sorted(np.concatenate([test for _, test in folds])) == list(range(len(y)))
        for train, test in folds:
            assert not set(train) & set(test)
            assert set(y[train]) == set(y[test]) == set(y)
    assert not np.array_equal(runs[0][0][1], runs[1][0][1])


def test_peers_have_one_kind_of_probabilities():
    result = run_task(Task("new-thyroid", "HistGradientBoosting", 0, 0), STUDY)
    assert result["measures"]["mauc"] == result["measures"]["mauc_softmax"]


@pytest.mark.parametrize("method", ["AdaBoost.NC", "SMOTEBoost", "BalancedRandomForest"])
def test_methods_of_the_extra_run(method):
    pytest.importorskip("imblearn")
    result = run_task(Task("new-thyroid", method, 0, 0), Study(n_baseline_rounds=3))
    assert np.sum(result["counts"]) == 43
    assert result["setting"] in METHODS[method].candidates
    assert 0 < result["measures"]["mauc"] <= 1


def test_tasks_are_the_folds_of_every_method_where_it_runs():
    tasks = list_tasks(["glass", "connect-4"], ["CoMBo", "AdaBoost.NC"], 2, STUDY)
    assert len(tasks) == len(set(tasks)) == 2 * 5 * 3
    assert not [task for task in tasks if task[:2] == ("connect-4", "AdaBoost.NC")]


def test_estimates_grow_with_samples_and_candidates():
    seconds = [
        estimate_seconds(Task(dataset, method, 0, 0), STUDY)
        for dataset, method in [
            ("glass", "CoMBo depth 2 gini"),
            ("satimage", "CoMBo depth 2 gini"),
            ("satimage", "CoMBo"),
        ]
    ]
    assert seconds == sorted(seconds)
    assert seconds[0] > 0
