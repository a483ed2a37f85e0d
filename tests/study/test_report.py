import json

import numpy as np
import pytest
from scipy.stats import t as student

from comboost.study import DATASETS, METHODS, Study, make_report, read_paper
from comboost.study._report import judge
from comboost.study._results import Results

STUDY = Study()


def report_of(*results, datasets=("balance", "satimage"), **options):
    folds = [fold for result in results for fold in result]
    return make_report(folds, STUDY, datasets=datasets, n_runs=2, **options)


def find_block(report, table, label):
    (block,) = (block for block in report["tables"][table]["blocks"] if block["label"] == label)
    return block


def find_cell(report, table, label, row, column):
    block = find_block(report, table, label)
    (cells,) = (line["cells"] for line in block["rows"] if line["label"] == row)
    return cells[[head["label"] for head in block["columns"]].index(column)]


def test_report_is_plain_data(make_results, noisy):
    report = report_of(make_results("balance", "CoMBo", g_mean=noisy(0.7)), left_out={"car": "not here"})
    assert json.loads(json.dumps(report)) == report
    assert report["about"]["left_out"] == {"car": "not here"}


def test_cell_has_mean_deviation_number_and_the_papers_value(make_results, noisy):
    values = noisy(0.7)
    cell = find_cell(
        report_of(make_results("balance", "CoMBo", g_mean=values)), "baselines", "G-mean", "balance", "CoMBo"
    )
    assert (cell["mean"], cell["std"], cell["n"]) == pytest.approx((np.mean(values), np.std(values, ddof=1), 10))
    assert cell["paper"] == read_paper()["baselines"]["g_mean"]["balance"]["CoMBo"]


def test_order_of_the_folds_does_not_matter(make_results, noisy):
    folds = make_results("balance", "CoMBo", g_mean=noisy(0.7)) + make_results(
        "balance", "SMOTEBoost", g_mean=noisy(0.6)
    )
    assert report_of(folds) == report_of(folds[::-1])


def test_best_is_who_is_significantly_better_than_all_others_of_the_paper(make_results, noisy):
    report = report_of(
        make_results("balance", "CoMBo", g_mean=noisy(0.7, 1)),
        make_results("balance", "AdaBoost.NC", g_mean=noisy(0.6, 2)),
        make_results("balance", "SMOTEBoost", g_mean=noisy(0.5, 3)),
        make_results("balance", "HistGradientBoosting", g_mean=noisy(0.8, 4)),
        make_results("balance", "BalancedRandomForest", g_mean=noisy(0.4, 5)),
    )
    cells = {name: find_cell(report, "baselines", "G-mean", "balance", name) for name in ("CoMBo", "AdaBoost.NC")}
    assert (cells["CoMBo"]["best"], cells["CoMBo"]["best_corrected"], cells["CoMBo"]["best_of_all"]) == (
        True,
        True,
        False,
    )
    assert not cells["AdaBoost.NC"]["best"]
    peer = find_cell(report, "baselines", "G-mean", "balance", "HistGradientBoosting")
    assert (peer["best"], peer["best_of_all"]) == (False, True)  # bold is for the paper's methods


def test_a_lead_may_only_be_significant_in_the_plain_test(make_results, noisy):
    first = make_results("balance", "CoMBo", confusion_norm=noisy(0.3, 1))
    second = make_results("balance", "AdaBoost.MM", confusion_norm=noisy(0.309, 2))
    cell = find_cell(report_of(first, second), "mm", "‖C‖", "balance", "CoMBo")
    assert (cell["best"], cell["best_corrected"]) == (True, False)
    (claim,) = (
        claim
        for claim in report_of(first, second)["claims"]
        if (claim["measure"], claim["dataset"]) == ("confusion_norm", "balance")
    )
    assert (claim["holds"], claim["holds_corrected"]) == (True, False)


def test_no_method_is_best_before_all_are_run(make_results, noisy):
    report = report_of(
        make_results("balance", "CoMBo", g_mean=noisy(0.7, 1)),
        make_results("balance", "AdaBoost.NC", g_mean=noisy(0.5, 2)),
    )
    assert not find_cell(report, "baselines", "G-mean", "balance", "CoMBo")["best"]


def test_verdicts_are_counted_for_every_way_to_set_the_trees(make_results):
    report = report_of(
        make_results("balance", "CoMBo", g_mean=[0.7] * 10),
        make_results("balance", "CoMBo depth 2 gini", g_mean=[0.1] * 10),
    )
    assert (
        report["by_setting"]["chosen"]["at least as good"] == 1
    )  # G-mean; the other three are .5 in norm, accuracy, MAUC
    assert report["by_setting"]["depth 2 gini"]["worse"] == 4
    assert {sum(counts.values()) for counts in report["by_setting"].values()} == {30}


def test_no_method_is_best_if_another_is_as_good(make_results, noisy):
    report = report_of(
        make_results("balance", "CoMBo", g_mean=noisy(0.7, 1)),
        make_results("balance", "AdaBoost.NC", g_mean=noisy(0.5, 2)),
        make_results("balance", "SMOTEBoost", g_mean=noisy(0.7, 1)),
    )
    row = find_block(report, "baselines", "G-mean")["rows"][0]
    assert row["label"] == "balance"
    assert not any(cell["best"] or cell["worst"] for cell in row["cells"][:3])


def test_worst_is_combo_where_all_others_are_significantly_better(make_results, noisy):
    report = report_of(
        make_results("satimage", "CoMBo", g_mean=noisy(0.5, 1)),
        make_results("satimage", "AdaBoost.NC", g_mean=noisy(0.6, 2)),
        make_results("satimage", "SMOTEBoost", g_mean=noisy(0.7, 3)),
    )
    assert find_cell(report, "baselines", "G-mean", "satimage", "CoMBo")["worst"]
    assert not find_cell(report, "baselines", "G-mean", "satimage", "AdaBoost.NC")["worst"]


def test_a_single_method_is_not_called_best(make_results, noisy):
    report = report_of(make_results("balance", "CoMBo", g_mean=noisy(0.7)))
    cell = find_cell(report, "baselines", "G-mean", "balance", "CoMBo")
    assert not any(cell[name] for name in ("best", "best_corrected", "best_of_all", "worst"))


def test_the_smaller_norm_is_the_better_one(make_results, noisy):
    report = report_of(
        make_results("balance", "CoMBo", confusion_norm=noisy(0.3, 1)),
        make_results("balance", "AdaBoost.MM", confusion_norm=noisy(0.5, 2)),
    )
    assert find_cell(report, "mm", "‖C‖", "balance", "CoMBo")["best"]
    (claim,) = (
        claim for claim in report["claims"] if (claim["measure"], claim["dataset"]) == ("confusion_norm", "balance")
    )
    assert (claim["method"], claim["mark"], claim["holds"], claim["holds_corrected"]) == ("CoMBo", "best", True, True)


def test_only_folds_that_both_methods_have_are_compared(make_results, noisy):
    first = make_results("balance", "CoMBo", g_mean=noisy(0.7))
    second = make_results("balance", "SMOTEBoost", g_mean=[value - 0.1 for value in noisy(0.7)])[3:7]
    comparison = Results(first + second, 5).compare("balance", "CoMBo", "SMOTEBoost", "g_mean")
    assert comparison.gain == pytest.approx(0.1)
    assert comparison.p < 1e-6


@pytest.mark.parametrize("n_folds", [2, 5, 10])
def test_correction_uses_the_test_ratio_of_the_folds(make_results, noisy, n_folds):
    figures = noisy(0.7, 1), noisy(0.69, 2)
    methods = ("CoMBo", "SMOTEBoost")
    folds = [
        make_results("balance", name, n_folds, g_mean=values) for name, values in zip(methods, figures, strict=True)
    ]
    comparison = Results(folds[0] + folds[1], n_folds).compare("balance", *methods, "g_mean")
    gains = np.subtract(*figures)
    n_test, n_train = 1, n_folds - 1  # parts
    t = gains.mean() / np.sqrt((1 / len(gains) + n_test / n_train) * gains.var(ddof=1))  # Nadeau and Bengio
    assert comparison.p_corrected == pytest.approx(2 * student.sf(abs(t), len(gains) - 1))


def test_deeper_trees_have_a_row_of_their_own(make_results, noisy):
    report = report_of(
        make_results("satimage", "CoMBo", g_mean=noisy(0.5, 1)),
        make_results("satimage", "CoMBo deep", g_mean=noisy(0.9, 2)),
        make_results("satimage", "AdaBoost.NC", g_mean=noisy(0.6, 3)),
        make_results("satimage", "SMOTEBoost", g_mean=noisy(0.6, 4)),
    )
    cell = find_cell(report, "baselines", "G-mean", "satimage, deeper trees", "CoMBo")
    assert cell["mean"] == pytest.approx(0.9, abs=0.02)
    assert cell["best"]
    assert not find_cell(report, "baselines", "G-mean", "satimage", "CoMBo")["best"]


def test_distributions_have_ours_beside_the_papers(make_results):
    report = report_of(make_results("connect-4", "CoMBo"), datasets=["connect-4", "car"])
    cells = [
        find_cell(report, "distributions", "", "connect-4", column)
        for column in ("classes", "examples", "distribution", "imbalance ratio")
    ]
    assert [cell["text"] for cell in cells] == ["3", "67557", "44473/16635/6449", "6.90"]
    assert [cell["paper"]["text"] for cell in cells] == ["3", "67557", "44473/6449/16635", "6.90"]
    assert find_cell(report, "distributions", "", "car", "examples") == {"text": None, "paper": {"text": "1728"}}


def test_connect_matrix_is_averaged_in_the_papers_order(make_results):
    # counts in the order draw, loss, win
    first = make_results("connect-4", "CoMBo", counts=[[8, 2, 0], [0, 10, 0], [0, 5, 5]])
    second = make_results("connect-4", "CoMBo", counts=[[10, 0, 0], [0, 10, 0], [0, 0, 10]])
    second[0]["fold"] = 1
    report = report_of(first, second, datasets=["connect-4"])
    rows = find_block(report, "connect", "CoMBo")["rows"]
    assert [row["label"] for row in rows] == ["win", "draw", "loss"]
    assert [[cell["mean"] for cell in row["cells"]] for row in rows] == [[0, 0, 0.25], [0, 0, 0.1], [0, 0, 0]]
    assert rows[1]["cells"][0]["paper"] == {"mean": 0.146}


def test_recalls_are_averaged_by_class(make_results):
    report = report_of(make_results("balance", "CoMBo"))
    assert find_cell(report, "recalls", "balance", "c (30 samples)", "CoMBo")["mean"] == pytest.approx(0.8)
    assert find_cell(report, "recalls", "balance", "c (30 samples)", "SMOTEBoost") is None


def test_chosen_and_fixed_settings_stand_side_by_side(make_results, noisy):
    report = report_of(
        make_results("balance", "CoMBo", g_mean=noisy(0.7), setting={"max_depth": 2}),
        make_results("balance", "CoMBo depth 2 gini", g_mean=noisy(0.6)),
        make_results("balance", "CoMBo depth 3 cost", g_mean=noisy(0.5)),
    )
    means = [
        find_cell(report, "settings", "CoMBo, G-mean", "balance", column)["mean"]
        for column in ("chosen", "depth 2 gini", "depth 3 cost")
    ]
    assert means == pytest.approx([0.7, 0.6, 0.5], abs=0.02)
    taken = find_cell(report, "settings", "CoMBo, settings chosen", "balance", "setting: folds")
    assert taken["text"] == "max_depth=2: 10"


def test_smallest_norm_has_the_values_of_its_fixed_settings(make_results, noisy):
    chosen = make_results("balance", "CoMBo", g_mean=noisy(0.7))
    settings = [f"CoMBo {name}" for name in ("depth 3 gini", "depth 3 cost", "depth 2 gini", "depth 2 cost")]
    assert [METHODS[name].candidates[0] for name in settings] == list(METHODS["CoMBo"].candidates)
    fixed = [make_results("balance", name, g_mean=noisy(0.1 * place)) for place, name in enumerate(settings)]
    for place, fold in enumerate(chosen):
        fold["candidates"][place % 4]["norm"] = 0.0
    find = ("settings", "CoMBo, G-mean", "balance", "smallest norm")
    taken = [fixed[place % 4][place]["measures"]["g_mean"] for place in range(10)]
    assert find_cell(report_of(chosen, *fixed), *find)["mean"] == pytest.approx(np.mean(taken))
    assert find_cell(report_of(chosen, *fixed[:3]), *find) is None


def test_confusion_matrices_are_averaged_with_true_classes_in_rows(make_results):
    report = report_of(make_results("balance", "SMOTEBoost"))
    assert find_cell(report, "confusions", "balance, SMOTEBoost", "c", "b")["mean"] == pytest.approx(0.2)
    assert find_cell(report, "confusions", "balance, SMOTEBoost", "c", "c")["mean"] == 0


def test_times_are_separate_from_other_results(make_results):
    slow = make_results("balance", "CoMBo")
    for fold in slow:
        fold["seconds"] = {"choose": 9.0, "fit": 9.0, "predict": 9.0}
    ours, theirs = report_of(make_results("balance", "CoMBo")), report_of(slow)
    assert ours["times"] != theirs["times"]
    assert {**ours, "times": None} == {**theirs, "times": None}


@pytest.mark.parametrize(
    ("mean", "printed", "measure", "verdict"),
    [
        (0.700, 0.700, "g_mean", "at least as good"),
        (0.701, 0.700, "g_mean", "at least as good"),
        (0.6996, 0.700, "g_mean", "at least as good"),  # looks the same in the paper's digits
        (0.6900, 0.700, "g_mean", "within one standard error"),
        (0.6890, 0.700, "g_mean", "worse"),
        (0.2000, 0.300, "confusion_norm", "at least as good"),
        (0.3100, 0.300, "confusion_norm", "within one standard error"),
        (0.3110, 0.300, "confusion_norm", "worse"),
    ],
)
def test_verdict_is_by_the_papers_digits_and_one_standard_error(mean, printed, measure, verdict):
    assert judge({"mean": mean, "std": 0.05001, "n": 25}, printed, measure) == verdict


@pytest.mark.parametrize(
    ("mean", "std", "verdict"),
    [
        (0.2500, 0.5, "within one standard error"),  # .25 below, and .5/√4 = .25 is one standard error
        (0.2496, 0.5, "within one standard error"),  # .250 in the paper's digits
        (0.2490, 0.5, "worse"),
        (0.2504, 0.4998, "worse"),  # .250 in the paper's digits
    ],
)
def test_one_standard_error_is_within_and_means_are_rounded_before_they_are_compared(mean, std, verdict):
    assert judge({"mean": mean, "std": std, "n": 4}, 0.5, "accuracy") == verdict


def test_every_cell_of_the_paper_has_a_verdict(make_results, noisy):
    report = report_of(make_results("balance", "CoMBo", g_mean=noisy(0.9), accuracy=noisy(0.1)))
    plain = [cell for cell in report["verdicts"] if cell["measure"] != "mauc_softmax"]
    n_twice = 2 * 5  # G-mean and MAUC of CoMBo on the data sets of both tables
    assert len(plain) == 2 * 8 * 3 + 4 * 6 * 2 - n_twice
    found = {
        (cell["measure"], cell["dataset"], cell["table"]): cell["verdict"]
        for cell in plain
        if cell["method"] == "CoMBo"
    }
    assert found["g_mean", "balance", "baselines"] == "at least as good"
    assert found["accuracy", "balance", "mm"] == "worse"
    assert {verdict for (_, dataset, _), verdict in found.items() if dataset != "balance"} == {"not run"}


def test_every_mark_of_the_paper_is_a_claim_and_unknown_until_run():
    claims = report_of()["claims"]
    assert len(claims) == 4 + 1 + 6 + 1 + 3 + 2 + 3 + 4
    assert {claim["holds"] for claim in claims} == {None}
    norms = [claim["dataset"] for claim in claims if claim["measure"] == "confusion_norm"]
    assert sorted(norms) == ["balance", "connect-4", "yeast"]


def test_report_of_nothing_has_all_tables():
    report = make_report([], STUDY, datasets=DATASETS, n_runs=10)
    assert list(report["tables"]) == [
        "distributions",
        "baselines",
        "mm",
        "connect",
        "settings",
        "recalls",
        "confusions",
    ]
