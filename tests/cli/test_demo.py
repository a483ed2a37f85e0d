import io
import os
import subprocess
import sys
import unicodedata
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pytest
from rich.console import Console
from rich.text import Text
from sklearn.metrics import confusion_matrix, roc_auc_score
from typer.testing import CliRunner

import comboost
from comboost.cli import main
from comboost.cli._app import app
from comboost.cli._comparison import CLASSIFIERS, Certificate, compare_boosters, split_yeast
from comboost.cli.demo import MEANINGS, STOP_REASONS, find_better, render_comparison

N_ROUNDS = 12
SEED = 3


@pytest.fixture(scope="module")
def summary():
    return compare_boosters(seed=SEED, n_rounds=N_ROUNDS)


@pytest.fixture(scope="module", params=CLASSIFIERS)
def pair(request, summary):
    """One method's result in the summary, and the same classifier fitted here, with the held-out rows."""
    X_train, X_held_out, y_train, y_held_out = split_yeast(SEED)
    estimator = {"CoMBo": comboost.CoMBoClassifier, "AdaBoost.MM": comboost.AdaBoostMMClassifier}[request.param]
    fitted = estimator(n_estimators=N_ROUNDS).fit(X_train, y_train)
    (result,) = (method for method in summary.methods if method.name == request.param)
    return result, fitted, X_held_out, y_held_out


def print_to_text(renderable, encoding="utf-8"):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    Console(file=stream, width=80, highlight=False).print(renderable)
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)


def with_measures(summary, **changed):
    """The summary with other measures, each given as (CoMBo, AdaBoost.MM)."""
    methods = [
        replace(method, measures=method.measures | {key: values[place] for key, values in changed.items()})
        for place, method in enumerate(summary.methods)
    ]
    return replace(summary, methods=tuple(methods))


def run_in_pipe(*arguments, code="from comboost.cli import main; main()", **environment):
    kept = {key: value for key, value in os.environ.items() if key not in {"FORCE_COLOR", "PY_COLORS", "COLUMNS"}}
    kept.pop("GITHUB_ACTIONS", None)
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, env=kept | environment, timeout=200, check=False)


# what is computed


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


def test_certificate_is_computed_from_the_training_rows(summary):
    X_train, _, y_train, _ = split_yeast(SEED)
    fitted = comboost.CoMBoClassifier(n_estimators=N_ROUNDS).fit(X_train, y_train)
    shares = confusion_matrix(y_train, fitted.predict(X_train), labels=fitted.classes_, normalize="true")
    norm = np.linalg.norm(shares - np.diag(np.diag(shares)), ord=2)
    assert summary.certificate.confusion_norm == pytest.approx(norm)
    assert summary.certificate.loss_bound**2 == pytest.approx(fitted.loss_curve_[-1])
    assert summary.certificate.product_bound**2 == pytest.approx(fitted.bound_curve_[-1])


@pytest.mark.parametrize("n_rounds", [1, N_ROUNDS])
def test_certificate_holds(n_rounds):
    certificate = compare_boosters(seed=SEED, n_rounds=n_rounds).certificate
    assert certificate.confusion_norm <= certificate.bound
    # the rounding that DESIGN.md section 3 allows
    assert certificate.loss_bound <= certificate.product_bound * (1 + 1e-5)


def test_every_round_is_reported_and_reporting_changes_nothing(summary):
    rounds = []
    assert compare_boosters(seed=SEED, n_rounds=N_ROUNDS, on_round=lambda *done: rounds.append(done)) == summary
    assert rounds == [(method.name, n + 1) for method in summary.methods for n in range(method.n_rounds)]


def test_summary_is_the_same_for_any_number_of_threads(summary):
    assert compare_boosters(seed=SEED, n_rounds=N_ROUNDS, n_jobs=2) == summary


# what is shown


@pytest.mark.parametrize(
    ("first", "second", "lower_is_better", "better"),
    [
        (0.2, 0.1, False, 0),
        (0.1, 0.2, False, 1),
        (0.2, 0.1, True, 1),
        (0.1, 0.2, True, 0),
        (0.1, 0.1, True, None),
        (0.1000, 0.1004, False, None),
        (0.1000, 0.1006, False, 1),
    ],
)
def test_better_is_what_the_shown_digits_say(first, second, lower_is_better, better):
    assert find_better(first, second, lower_is_better=lower_is_better) == better


def test_every_class_has_a_line_with_its_sizes_and_recalls(summary):
    lines = [line.split() for line in print_to_text(render_comparison(summary)).splitlines()]
    for size in summary.classes:
        (words,) = (line for line in lines if line and line[0] == size.name)
        recalls = [f"{method.recalls[size.name]:.3f}" for method in summary.methods]
        assert [word for word in words if word not in {"rare", "*"}] == [
            size.name, str(size.n_train), str(size.n_held_out), *recalls
        ]  # fmt: skip
        assert ("rare" in words) == size.is_rare


@pytest.mark.parametrize(("values", "marked"), [((0.9, 0.8), "0.900 * 0.800"), ((0.8, 0.9), "0.800 0.900 *")])
def test_mark_goes_to_the_better_method_whichever_it_is(summary, values, marked):
    shown = print_to_text(render_comparison(with_measures(summary, g_mean=values)))
    (line,) = (line for line in shown.splitlines() if line.strip().startswith("G-mean"))
    assert " ".join(line.split()).endswith(marked)


def test_mark_of_the_norm_goes_to_the_lower_value(summary):
    shown = print_to_text(render_comparison(with_measures(summary, confusion_norm=(0.9, 0.8))))
    (line,) = (line for line in shown.splitlines() if line.strip().startswith("‖C‖ "))
    assert " ".join(line.split()).endswith("0.900 0.800 *")


def test_verdict_says_where_adaboost_mm_wins(summary):
    values = dict.fromkeys(MEANINGS, (0.5, 0.5))
    values |= {"confusion_norm": (0.5, 0.6), "accuracy": (0.5, 0.6)}
    shown = print_to_text(render_comparison(with_measures(summary, **values)))
    assert "* better: CoMBo in ‖C‖; AdaBoost.MM in accuracy." in shown


@pytest.mark.parametrize("reason", ["n_estimators", "no_edge", "perfect_learner", "loss_vanished"])
def test_stop_reason_is_told_in_words(summary, reason):
    told = replace(summary, methods=tuple(replace(method, stop_reason=reason) for method in summary.methods))
    shown = print_to_text(render_comparison(told))
    assert STOP_REASONS[reason] in shown
    assert reason not in shown


def test_unknown_stop_reason_is_told_as_it_is(summary):
    told = replace(summary, methods=tuple(replace(method, stop_reason="callback") for method in summary.methods))
    assert "CoMBo: callback (" in print_to_text(render_comparison(told))


@pytest.mark.parametrize(
    ("bounds", "told"),
    [
        ((0.25, 0.5), "Training rows only: no class is taken for another one in over 25 % of its rows."),
        ((0.5, 0.25), "Training rows only: no class is taken for another one in over 25 % of its rows."),
        ((1.0, 4.0), "Training rows only: the norm is held down, but no single class is vouched for."),
        ((3.0, 4.0), "Training rows only: it says nothing yet, no norm can exceed √(K−1) = 3."),
    ],
)
def test_certificate_is_told_with_what_its_bound_is_worth(summary, bounds, told):
    shown = print_to_text(render_comparison(replace(summary, certificate=Certificate(0.0625, *bounds)))).splitlines()
    chain = "‖C_S‖ = 0.0625 ≤ √(loss) = {:.3g} ≤ √(product bound) = {:.3g}".format(*bounds)
    assert shown[-2:] == [chain, told]


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_output_fits_80_columns_in_any_encoding(summary, encoding):
    shown = print_to_text(render_comparison(summary, ascii_only=encoding == "ascii"), encoding)
    assert max(map(len, shown.splitlines())) <= 80
    assert ("‖C‖" if encoding == "utf-8" else "||C||") in shown


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


def test_comboost_imports_no_typer_and_without_the_extra_only_the_command_fails():
    # rich may be loaded by scikit-learn itself, so both are made impossible to import
    code = """
import sys
sys.modules["rich"] = None
import comboost, comboost.datasets
from comboost.cli import main
print("typer" in sys.modules)
sys.modules["typer"] = None
main()
"""
    done = run_in_pipe(code=code)
    assert (done.returncode, done.stdout.strip()) == (1, b"False")
    assert b'pip install "comboost[cli]"' in done.stderr
    assert b"Traceback" not in done.stderr
