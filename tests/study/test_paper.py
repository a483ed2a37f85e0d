import pytest

from comboost.study import DATASETS, load_problem, read_paper

PAPER = read_paper()


@pytest.mark.parametrize("name", [name for name in DATASETS if name != "connect-4"])
def test_class_counts_of_our_data_are_the_papers(name):
    assert sorted(load_problem(name).class_counts) == sorted(PAPER["distributions"][name]["class_counts"])


def test_distributions_agree_with_themselves():
    assert set(PAPER["distributions"]) == set(DATASETS)
    for printed in PAPER["distributions"].values():
        counts = printed["class_counts"]
        assert (len(counts), sum(counts)) == (printed["n_classes"], printed["n_samples"])
        assert max(counts) / min(counts) == pytest.approx(printed["imbalance_ratio"], abs=0.005)


def test_combo_has_the_same_values_in_both_tables():
    for measure, by_dataset in PAPER["baselines"].items():
        for dataset, printed in by_dataset.items():
            other = PAPER["mm"][measure].get(dataset)
            if other is not None:
                assert (printed["CoMBo"]["mean"], printed["CoMBo"]["std"]) == (
                    other["CoMBo"]["mean"],
                    other["CoMBo"]["std"],
                )


def test_every_row_has_every_method_and_at_most_one_is_best():
    for table, methods in (("baselines", ["CoMBo", "AdaBoost.NC", "SMOTEBoost"]), ("mm", ["CoMBo", "AdaBoost.MM"])):
        for by_dataset in PAPER[table].values():
            for printed in by_dataset.values():
                assert list(printed) == methods
                assert sum("bold" in figure for figure in printed.values()) <= 1


def test_cells_are_counted():
    assert {measure: len(rows) for measure, rows in PAPER["baselines"].items()} == {"g_mean": 8, "mauc": 8}
    assert {measure: len(rows) for measure, rows in PAPER["mm"].items()} == dict.fromkeys(
        ["confusion_norm", "accuracy", "g_mean", "mauc"], 6
    )


def test_errors_on_connect_are_those_of_the_papers_text():
    errors = {name: [round(sum(row), 3) for row in rows] for name, rows in PAPER["connect"]["matrices"].items()}
    assert errors["AdaBoost.MM"] == [0.066, 0.835, 0.294]
    assert errors["CoMBo"][1:] == [0.315, 0.259]  # its first row sums to 0.215, where the text has 20.2 %
