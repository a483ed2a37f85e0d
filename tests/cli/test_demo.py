import io
import os
import signal
import subprocess
import sys
import unicodedata
from collections import Counter
from dataclasses import replace
from functools import partial
from importlib.metadata import version

import numpy as np
import pytest
from rich.console import Console
from rich.text import Text
from sklearn.metrics import confusion_matrix, roc_auc_score
from typer.testing import CliRunner

import comboost
from comboost._boosting import loop
from comboost.cli import main
from comboost.cli._app import app
from comboost.cli._comparison import BOUNDS, CLASSIFIERS, Certificate, compare_boosters, split_yeast
from comboost.cli._demo_view import MEANINGS, STOP_REASONS, find_best, render_comparison
from comboost.model_selection import wilson_interval

N_ROUNDS = 12
SEED = 3
ESTIMATORS = {
    "ConfusionBoosting": comboost.ConfusionBoostingClassifier,
    "CoMBo": comboost.CoMBoClassifier,
    "AdaBoost.MM": comboost.AdaBoostMMClassifier,
}


@pytest.fixture(scope="module")
def summary():
    return compare_boosters(seed=SEED, n_rounds=N_ROUNDS)


@pytest.fixture(scope="module", params=ESTIMATORS)
def pair(request, summary):
    """One method's result in the summary, and the same classifier fitted here, with the held-out rows."""
    X_train, X_held_out, y_train, y_held_out = split_yeast(SEED)
    fitted = ESTIMATORS[request.param](n_estimators=N_ROUNDS, random_state=SEED).fit(X_train, y_train)
    (result,) = (method for method in summary.methods if method.name == request.param)
    return result, fitted, X_held_out, y_held_out


def print_to_text(renderable, encoding="utf-8", width=80):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    Console(file=stream, width=width, highlight=False).print(renderable)
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)


def with_measures(summary, **changed):
    """The summary with other measures, each given as (ConfusionBoosting, CoMBo, AdaBoost.MM)."""
    methods = [
        replace(method, measures=method.measures | {key: values[place] for key, values in changed.items()})
        for place, method in enumerate(summary.methods)
    ]
    return replace(summary, methods=tuple(methods))


def run_in_pipe(*arguments, **environment):
    kept = {key: value for key, value in os.environ.items() if key not in {"FORCE_COLOR", "PY_COLORS", "COLUMNS"}}
    kept.pop("GITHUB_ACTIONS", None)
    command = [sys.executable, "-c", "from comboost.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, env=kept | environment, timeout=200, check=False)


# what is computed


def test_the_recommended_method_comes_first_and_then_the_papers_two(summary):
    assert [method.name for method in summary.methods] == list(CLASSIFIERS) == list(ESTIMATORS)


def test_parts_are_disjoint_and_every_class_is_in_both():
    for seed in range(20):
        X_train, X_held_out, y_train, y_held_out = split_yeast(seed)
        assert len(X_train) == len(y_train)
        assert len(X_train) + len(X_held_out) == 1484
        assert set(y_train) == set(y_held_out)
        for name, n_rows in zip(*np.unique(np.concatenate([y_train, y_held_out]), return_counts=True), strict=True):
            assert abs(np.sum(y_held_out == name) - 0.4 * n_rows) <= 1


def test_class_sizes_are_those_of_the_parts_and_fall(summary):
    _, _, y_train, y_held_out = split_yeast(SEED)
    for size in summary.classes:
        assert (size.n_train, size.n_held_out) == (np.sum(y_train == size.name), np.sum(y_held_out == size.name))
    totals = [size.n_train + size.n_held_out for size in summary.classes]
    assert totals == [463, 429, 244, 163, 51, 44, 35, 30, 20, 5]
    assert [size.is_rare for size in summary.classes] == [total < 1484 / 10 / 2 for total in totals]


def test_recalls_and_accuracy_equal_shares_counted_directly(pair):
    result, fitted, X, y = pair
    right = fitted.predict(X) == y
    assert result.recalls == pytest.approx({name: right[y == name].mean() for name in fitted.classes_})
    assert result.measures["accuracy"] == pytest.approx(right.mean())


def test_norm_g_mean_and_mauc_equal_those_computed_directly(pair):
    result, fitted, X, y = pair
    shares = confusion_matrix(y, fitted.predict(X), labels=fitted.classes_, normalize="true")
    assert result.measures["g_mean"] == pytest.approx(np.prod(np.diag(shares)) ** (1 / len(shares)))
    assert result.measures["confusion_norm"] == pytest.approx(np.linalg.norm(shares - np.diag(np.diag(shares)), ord=2))
    auc = roc_auc_score(y, fitted.predict_proba(X), multi_class="ovo", average="macro", labels=fitted.classes_)
    assert result.measures["mauc"] == pytest.approx(auc)


def test_rounds_and_stop_reason_are_the_estimators(pair):
    result, fitted, _, _ = pair
    assert (result.n_rounds, result.stop_reason) == (fitted.n_iter_, fitted.stop_reason_)


def test_certificate_is_computed_from_the_training_rows(pair):
    result, fitted, _, _ = pair
    if result.name == "AdaBoost.MM":  # whose loss bounds no norm
        assert result.certificate is None
        return
    X_train, _, y_train, _ = split_yeast(SEED)
    shares = confusion_matrix(y_train, fitted.predict(X_train), labels=fitted.classes_, normalize="true")
    norm = np.linalg.norm(shares - np.diag(np.diag(shares)), ord=2)
    assert result.certificate.confusion_norm == pytest.approx(norm)
    assert ("log-loss" in result.certificate.bounds) == (getattr(fitted, "loss", None) == "log")
    loss, promise = result.certificate.bounds.values()
    assert (loss**2, promise**2) == pytest.approx((fitted.loss_curve_[-1], fitted.bound_curve_[-1]))


@pytest.mark.parametrize("n_rounds", [1, N_ROUNDS])
def test_certificates_hold(n_rounds):
    methods = compare_boosters(seed=SEED, n_rounds=n_rounds).methods
    certificates = [method.certificate for method in methods if method.certificate is not None]
    assert len(certificates) == len(BOUNDS)
    for certificate in certificates:
        assert certificate.confusion_norm <= certificate.bound
        loss, promise = certificate.bounds.values()
        assert loss <= promise * (1 + 1e-5)  # the rounding of the costs


def test_every_round_is_reported_and_reporting_changes_nothing(summary):
    rounds = []
    assert compare_boosters(seed=SEED, n_rounds=N_ROUNDS, on_round=lambda *done: rounds.append(done)) == summary
    assert rounds == [(method.name, n + 1) for method in summary.methods for n in range(method.n_rounds)]


def test_summary_is_the_same_for_any_number_of_threads(summary):
    assert compare_boosters(seed=SEED, n_rounds=N_ROUNDS, n_jobs=2) == summary


# what is shown


@pytest.mark.parametrize(
    ("values", "lower_is_better", "best"),
    [
        ([0.3, 0.2, 0.1], False, [0]),
        ([0.1, 0.2, 0.3], False, [2]),
        ([0.3, 0.2, 0.1], True, [2]),
        ([0.2, 0.1, 0.3], True, [1]),
        ([0.2, 0.1, 0.2], False, [0, 2]),
        ([0.1, 0.1, 0.2], True, [0, 1]),
        ([0.1, 0.1, 0.1], True, []),
        ([0.1000, 0.1004, 0.0996], False, []),
        ([0.1000, 0.1004, 0.0900], False, [0, 1]),
        ([0.1000, 0.1006, 0.0996], False, [1]),
    ],
)
def test_best_are_all_that_look_best_unless_all_look_the_same(values, lower_is_better, best):
    assert find_best(values, lower_is_better=lower_is_better) == best


@pytest.mark.parametrize("width", [60, 80])
def test_every_class_has_a_line_with_its_sizes_and_recalls(summary, width):
    lines = [line.split() for line in print_to_text(render_comparison(summary), width=width).splitlines()]
    for size in summary.classes:
        (words,) = (line for line in lines if line and line[0] == size.name)
        recalls = [f"{method.recalls[size.name]:.3f}" for method in summary.methods]
        assert [word for word in words if word not in {"rare", "*"}] == [
            size.name, str(size.n_train), str(size.n_held_out), *recalls
        ]  # fmt: skip
        assert ("rare" in words) == size.is_rare


@pytest.mark.parametrize(
    ("values", "marked"),
    [
        ((0.9, 0.8, 0.7), "0.900 * 0.800 0.700"),
        ((0.7, 0.9, 0.8), "0.700 0.900 * 0.800"),
        ((0.7, 0.8, 0.9), "0.700 0.800 0.900 *"),
        ((0.9, 0.8, 0.9), "0.900 * 0.800 0.900 *"),
        ((0.9, 0.9, 0.9), "0.900 0.900 0.900"),
    ],
)
def test_mark_goes_to_the_best_method_whichever_it_is(summary, values, marked):
    shown = print_to_text(render_comparison(with_measures(summary, g_mean=values)))
    (line,) = (line for line in shown.splitlines() if line.strip().startswith("G-mean"))
    assert " ".join(line.split()).endswith(marked)


def test_mark_of_the_norm_goes_to_the_lower_value(summary):
    shown = print_to_text(render_comparison(with_measures(summary, confusion_norm=(0.9, 0.8, 0.9))))
    (line,) = (line for line in shown.splitlines() if line.strip().startswith("‖C‖ "))
    assert " ".join(line.split()).endswith("0.900 0.800 * 0.900")


def test_verdict_says_who_is_best_in_what_and_names_all_who_share_it(summary):
    values = dict.fromkeys(MEANINGS, (0.5, 0.5, 0.5))
    values |= {"confusion_norm": (0.5, 0.5, 0.6), "accuracy": (0.5, 0.4, 0.6)}
    shown = print_to_text(render_comparison(with_measures(summary, **values)))
    assert "* best: ConfusionBoosting in ‖C‖; CoMBo in ‖C‖; AdaBoost.MM in accuracy." in shown
    values["confusion_norm"] = (0.5, 0.6, 0.6)
    shown = print_to_text(render_comparison(with_measures(summary, **values)))
    assert "* best: ConfusionBoosting in ‖C‖; CoMBo in none; AdaBoost.MM in accuracy." in shown


def test_every_reason_of_the_loop_has_words():
    reasons = {value for name, value in vars(loop).items() if name.isupper() and isinstance(value, str)}
    assert reasons > loop.FINAL
    assert set(STOP_REASONS) == reasons


@pytest.mark.parametrize("reason", STOP_REASONS)
def test_stop_reason_is_told_in_words(summary, reason):
    told = replace(summary, methods=tuple(replace(method, stop_reason=reason) for method in summary.methods))
    shown = print_to_text(render_comparison(told))
    for name in CLASSIFIERS:
        assert f"{name}: {STOP_REASONS[reason]} (" in shown


@pytest.mark.parametrize(("certified", "names"), BOUNDS.items())
@pytest.mark.parametrize(
    ("bounds", "told"),
    [
        ((0.25, 0.5), "Training rows only: no class is taken for another one in over 25 % of its rows."),
        ((0.5, 0.25), "Training rows only: no class is taken for another one in over 25 % of its rows."),
        ((1.0, 4.0), "Training rows only: the norm is held down, but no single class is vouched for."),
        ((3.0, 4.0), "Training rows only: it says nothing yet, no norm can exceed √(K−1) = 3."),
    ],
)
def test_certificate_is_told_with_what_its_bound_is_worth(summary, certified, names, bounds, told):
    certificate = Certificate(0.0625, dict(zip(names, bounds, strict=True)))
    methods = [
        replace(method, certificate=certificate if method.name == certified else None) for method in summary.methods
    ]
    shown = print_to_text(render_comparison(replace(summary, methods=tuple(methods)))).splitlines()
    chain = f"‖C_S‖ = 0.0625 ≤ √({names[0]}) = {bounds[0]:.3g} ≤ √({names[1]}) = {bounds[1]:.3g}"
    place = shown.index(f"Certified for {certified}, on its training rows")
    assert shown[place + 1 : place + 3] == [chain, told]


def test_demo_ends_with_limits_of_the_recall_of_rare_classes_and_the_next_command(summary, pair):
    result, fitted, X, y = pair
    rare = np.isin(y, [size.name for size in summary.classes if size.is_rare])
    share = (fitted.predict(X[rare]) == y[rare]).mean()
    low, high = wilson_interval(share, rare.sum())
    shown = print_to_text(render_comparison(summary), width=120)
    assert f"{result.name} finds {share:.0%}, at least {float(low):.0%} and at most {float(high):.0%}" in shown
    assert shown.splitlines()[-2].strip() == "comboost compare FILE.csv --target COLUMN"


def test_certificates_are_shown_for_those_who_have_one(summary):
    shown = print_to_text(render_comparison(summary))
    for method in summary.methods:
        assert (f"Certified for {method.name}," in shown) == (method.certificate is not None)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("width", [60, 80])
def test_output_fits_narrow_terminals_in_any_encoding_with_every_word_whole(summary, width, encoding):
    tables = render_comparison(summary, ascii_only=encoding == "ascii")
    shown = print_to_text(tables, encoding, width)
    assert max(map(len, shown.splitlines())) <= width
    assert ("‖C‖" if encoding == "utf-8" else "||C||") in shown
    words, all_words = (
        Counter(word for word in text.split() if word.strip("-")) for text in (shown, print_to_text(tables, width=200))
    )
    assert words == all_words


@pytest.mark.parametrize("width", [30, 40, 50])
def test_terminal_that_is_too_narrow_breaks_words_but_hides_nothing(summary, width):
    tables = render_comparison(summary, ascii_only=True)
    signs, all_signs = (Counter(print_to_text(tables, "ascii", chosen)) for chosen in (width, 200))
    for shown in (signs, all_signs):
        for blank in " \n-":
            del shown[blank]
    assert signs == all_signs


# the command


def test_output_in_a_pipe_has_no_control_characters_and_no_progress_bar(summary):
    done = run_in_pipe("demo", "--rounds", str(N_ROUNDS), "--seed", str(SEED), PYTHONIOENCODING="utf-8")
    assert (done.returncode, done.stderr) == (0, b"")
    shown = done.stdout.decode("utf-8").replace(os.linesep, "\n")
    assert shown == print_to_text(render_comparison(summary))
    assert not [sign for sign in shown if unicodedata.category(sign) == "Cc" and sign != "\n"]


def test_output_in_a_pipe_that_takes_only_ascii():
    done = CliRunner(charset="ascii").invoke(app, ["demo", "--rounds", "2", "--seed", str(SEED)])
    assert (done.exit_code, done.stderr) == (0, "")
    assert "||C||" in done.stdout_bytes.decode("ascii")


def test_each_method_boosts_for_its_own_default_unless_told(monkeypatch):
    for n_rounds, (name, estimator) in enumerate(ESTIMATORS.items(), start=2):
        monkeypatch.setitem(CLASSIFIERS, name, partial(estimator, n_estimators=n_rounds))
    own, told = (CliRunner().invoke(app, ["demo", *arguments]).stdout for arguments in ([], ["--rounds", "5"]))
    for n_rounds, name in enumerate(ESTIMATORS, start=2):
        assert f"{name}: {STOP_REASONS['n_estimators']} ({n_rounds} rounds)" in own
        assert f"{name}: {STOP_REASONS['n_estimators']} (5 rounds)" in told


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--rounds", "0"),
        ("--rounds", "many"),
        ("--seed", "-1"),
        ("--seed", str(2**32)),
        ("--jobs", "0"),
        ("--nope", "1"),
    ],
)
def test_bad_option_is_named_and_nothing_is_trained(option, value):
    result = CliRunner().invoke(app, ["demo", option, value], env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert option in Text.from_ansi(result.stderr).plain
    assert result.stdout == ""


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help_lists_the_commands(arguments):
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    assert "demo" in result.stdout


def test_version_is_the_installed_one():
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.stdout) == (0, f"comboost {version('comboost')}\n")


@pytest.mark.parametrize("module", ["typer", "rich"])
def test_missing_extra_is_named(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SystemExit, match=rf'needs {module}, .*pip install "comboost\[cli\]"'):
        main()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler  # as it was before
