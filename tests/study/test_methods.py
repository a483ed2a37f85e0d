import importlib.util
import sys

import numpy as np
import pytest
from sklearn.utils import Bunch

from comboost import CoMBoClassifier
from comboost.datasets import load_dataset
from comboost.study import DATASETS, METHODS, Study, find_dataset, find_method, load_problem
from comboost.study import _experiment as experiment
from comboost.study._experiment import WITH_CATEGORIES
from comboost.study._methods import find_obstacle, name_fixed

STUDY = Study(n_rounds=7, n_baseline_rounds=3)
HAS_IMBLEARN = importlib.util.find_spec("imblearn") is not None


@pytest.mark.parametrize("spelling", ["AdaBoost.MM", "adaboost-mm", "ADABOOST_MM", "adaboostmm", "adaboost mm"])
def test_method_is_found_in_any_spelling(spelling):
    assert find_method(spelling) == "AdaBoost.MM"


def test_spellings_are_unique():
    assert [find_method(name) for name in METHODS] == list(METHODS)


def test_unknown_names_list_the_known_ones():
    with pytest.raises(ValueError, match=r"Unknown method 'combi'\. Known methods: 'CoMBo', 'AdaBoost\.MM', "):
        find_method("combi")
    with pytest.raises(ValueError, match=r"Unknown data set 'iris'.*'satimage'"):
        find_dataset("iris")


@pytest.mark.parametrize("name", METHODS)
def test_classifier_has_the_setting_the_rounds_and_one_thread(name):
    method = METHODS[name]
    if method.needs is not None and not HAS_IMBLEARN:
        pytest.skip("needs imbalanced-learn")
    for setting in method.candidates:
        parameters = method.make(setting, (0, 2), 5, STUDY).get_params()
        assert setting.items() <= parameters.items()
        assert parameters["random_state"] == 5
        assert parameters.get("n_jobs", 1) == 1
        if method.has_proba_parameter:
            assert parameters["n_estimators"] == (7 if name.startswith(("CoMBo", "AdaBoost.MM")) else 3)
        if "categorical_features" in parameters:
            assert parameters["categorical_features"] == [0, 2]


def test_the_papers_baselines_and_their_variants_do_not_run_on_connect():
    absent = {name for name, method in METHODS.items() if "connect-4" not in method.datasets}
    assert absent == {name for name in METHODS if name.startswith(("AdaBoost.NC", "SMOTEBoost"))}
    assert all(set(method.datasets) <= set(DATASETS) for method in METHODS.values())


def test_paper_trees_have_two_or_three_levels_and_with_categories_three_or_five():
    for name in ("CoMBo", "AdaBoost.MM"):
        depths = [{setting["max_depth"] for setting in METHODS[name].candidates_for(places)} for places in ((), (0,))]
        assert depths == [{2, 3}, {3, 5}]


def test_every_candidate_has_a_fixed_method_on_the_same_data_sets():
    for name in ("CoMBo", "AdaBoost.MM", "AdaBoost.NC", "SMOTEBoost"):
        for dataset in METHODS[name].datasets:
            if dataset == "connect-4":  # which may not be here; it has categories, as car
                continue
            for setting in METHODS[name].candidates_for(load_problem(dataset).categorical):
                fixed = METHODS[name_fixed(name, setting)]
                assert fixed.candidates == (setting,)
                assert dataset in fixed.datasets


def test_data_sets_with_categories_are_those_that_have_any():
    here = [name for name in DATASETS if name != "connect-4"]
    assert [name for name in here if load_problem(name).categorical] == [n for n in WITH_CATEGORIES if n in here]


def test_missing_module_is_named_with_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "imblearn", None)
    assert 'pip install "comboost[baselines]"' in find_obstacle(METHODS["BalancedRandomForest"])
    assert find_obstacle(METHODS["CoMBo"]) is None


@pytest.mark.parametrize("name", ["car", "balance"])
def test_codes_give_the_model_that_a_data_frame_gives(name):
    pytest.importorskip("pandas")
    problem, frame = load_problem(name), load_dataset(name, as_frame=True)
    method = METHODS["CoMBo depth 3 cost"]
    ours = method.make(*method.candidates, problem.categorical, 0, STUDY).fit(problem.X, problem.y)
    theirs = CoMBoClassifier(n_estimators=STUDY.n_rounds, criterion="cost", random_state=0).fit(
        frame.data, frame.target
    )
    assert np.array_equal(ours.loss_curve_, theirs.loss_curve_)


@pytest.mark.parametrize("name", ["car", "glass"])
def test_samples_have_the_same_order_for_any_order_of_the_source(name, monkeypatch):
    bunch = load_dataset(name)
    order = np.random.default_rng(0).permutation(len(bunch.target))
    shuffled = {"data": bunch.data[order], "target": bunch.target[order]}
    monkeypatch.setattr(experiment, "load_dataset", lambda _: Bunch(**{**bunch, **shuffled}))
    ours, theirs = experiment.load_problem.__wrapped__(name), load_problem(name)
    assert np.array_equal(ours.X, theirs.X)
    assert np.array_equal(ours.y, theirs.y)
