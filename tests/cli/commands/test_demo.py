"""comboost demo, in any terminal."""

import io
import os
import subprocess
import sys
import unicodedata
from collections import Counter
from dataclasses import replace

import pytest
from rich.console import Console
from rich.text import Text
from typer.testing import CliRunner

from comboost._boosting import loop
from comboost._estimators.certificates import Certificate
from comboost.cli.app import app
from comboost.cli.commands.demo import BOUNDS, STOP_REASONS, describe_bound, find_best, show_demo
from comboost.cli.jobs.demo import compare_boosters
from comboost.cli.jobs.settings import OURS, make_estimator
from comboost.cli.terminal.screen import Screen

N_ROUNDS = 12
SEED = 3


@pytest.fixture(scope="module")
def result():
    return compare_boosters(lambda doing, done: None, seed=SEED, n_rounds=N_ROUNDS)


def shown_in(result, encoding="utf-8", width=80):
    """What the demo prints to such a terminal."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    show_demo(result, Screen(Console(file=stream, width=width, highlight=False)))
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)


def with_metrics(result, **changed):
    """The result with other metrics, each given as (ConfusionBoosting, CoMBo, AdaBoost.MM)."""
    methods = [
        replace(method, metrics=method.metrics | {key: values[idx] for key, values in changed.items()})
        for idx, method in enumerate(result.methods)
    ]
    return replace(result, methods=tuple(methods))


def run_in_pipe(*arguments, **environment):
    kept = {key: value for key, value in os.environ.items() if key not in {"FORCE_COLOR", "PY_COLORS", "COLUMNS"}}
    kept.pop("GITHUB_ACTIONS", None)
    command = [sys.executable, "-c", "from comboost.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, env=kept | environment, timeout=200, check=False)


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
def test_every_class_has_a_line_with_its_sizes_and_recalls(result, width):
    lines = [line.split() for line in shown_in(result, width=width).splitlines()]
    for size in result.classes:
        (words,) = (line for line in lines if line and line[0] == size.name)
        recalls = [f"{method.recalls[size.name]:.3f}" for method in result.methods]
        assert [word for word in words if word not in {"rare", "*"}] == [
            size.name, str(size.n_train), str(size.n_test), *recalls
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
def test_mark_goes_to_the_best_method_whichever_it_is(result, values, marked):
    shown = shown_in(with_metrics(result, g_mean=values))
    (line,) = (line for line in shown.splitlines() if line.strip().startswith("G-mean  "))
    assert " ".join(line.split()).endswith(marked)


def test_mark_of_the_norm_goes_to_the_lower_value(result):
    shown = shown_in(with_metrics(result, confusion_norm=(0.9, 0.8, 0.9)))
    (line,) = (line for line in shown.splitlines() if line.strip().startswith("‖C‖  "))
    assert " ".join(line.split()).endswith("0.900 0.800 * 0.900")


def test_every_reason_of_the_loop_has_words():
    reasons = {value for name, value in vars(loop).items() if name.isupper() and isinstance(value, str)}
    assert reasons > loop.FINAL
    assert set(STOP_REASONS) == reasons


@pytest.mark.parametrize("reason", STOP_REASONS)
def test_stop_reason_is_told_in_words(result, reason):
    told = replace(result, methods=tuple(replace(method, stop_reason=reason) for method in result.methods))
    shown = shown_in(told)
    for name in OURS.values():
        assert f"{name}: {STOP_REASONS[reason]} (" in shown


@pytest.mark.parametrize("certified", ["ConfusionBoosting", "CoMBo"])
@pytest.mark.parametrize(
    ("loss", "bound", "told"),
    [
        (0.25, 0.5, "So no class is confused with another in more than 25 % of its training samples."),
        (0.5, 0.25, "So no class is confused with another in more than 25 % of its training samples."),
        (1.0, 4.0, "‖C‖ of 10 classes never exceeds 3, so a bound of 1 is weak."),
    ],
)
def test_certificate_is_told_with_what_its_bound_is_worth(result, certified, loss, bound, told):
    certificate = Certificate("‖C‖", 0.0625, loss, bound)
    methods = [
        replace(method, certificate=certificate if method.name == certified else None) for method in result.methods
    ]
    shown = shown_in(replace(result, methods=tuple(methods))).splitlines()
    chain = f"‖C_S‖ = 0.0625 ≤ {loss:.3g} (by the loss) ≤ {bound:.3g} (by the rounds)"
    line = shown.index(f"Certified for {certified}, on its training rows")
    assert shown[line + 1 : line + 3] == [chain, told]


def test_certificates_that_say_nothing_are_one_sentence(result):
    methods = [
        replace(method, certificate=Certificate("‖C‖", 0.0625, loss, 4.0))
        for method, loss in zip(result.methods, (3.0, 3.5, 0.5), strict=True)
    ]
    shown = shown_in(replace(result, methods=tuple(methods)), width=200)
    assert "The training loss certifies nothing for ConfusionBoosting (3) and CoMBo (3.5): its bound on" in shown
    assert shown.count("Certified for") == shown.count("Certified for AdaBoost.MM") == 1


def test_bounds_on_new_data_have_a_line_each(result):
    lines = [" ".join(line.split()) for line in shown_in(result).splitlines()]
    for key, name in BOUNDS.items():
        values = " ".join(describe_bound(key, method.bounds[key], 10) for method in result.methods)
        assert f"{name} {values}" in lines


def test_bounds_that_say_nothing_are_dashes(result):
    vacuous = {"confusion_norm": 3.0, "g_mean": 0.0, "mean_recall": 0.0, "accuracy": 0.0}
    methods = tuple(replace(method, bounds=vacuous) for method in result.methods)
    lines = [" ".join(line.split()) for line in shown_in(replace(result, methods=methods)).splitlines()]
    for name in BOUNDS.values():
        assert f"{name} – – –" in lines
    assert "– too few rows to say anything." in lines


def test_demo_ends_with_the_recall_of_rare_classes_and_the_next_command(result):
    lines = shown_in(result, width=120).splitlines()
    for method in result.methods:
        recall, low, high = method.rare_recall
        assert f"  {method.name}: {recall:.0%} ({low:.0%} to {high:.0%})" in lines
    assert lines[-2].strip() == "comboost compare FILE.csv --target COLUMN"


def test_certificates_are_shown_for_those_who_have_one(result):
    certificate = Certificate("‖C‖", 0.0625, 0.25, 0.5)
    methods = [replace(method, certificate=method.certificate and certificate) for method in result.methods]
    shown = shown_in(replace(result, methods=tuple(methods)))
    for method in methods:
        assert (f"Certified for {method.name}," in shown) == (method.certificate is not None)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("width", [60, 80])
def test_output_fits_narrow_terminals_in_any_encoding_with_every_word_whole(result, width, encoding):
    shown = shown_in(result, encoding, width)
    assert max(map(len, shown.splitlines())) <= width
    assert ("‖C‖" if encoding == "utf-8" else "||C||") in shown
    words, all_words = (
        Counter(word for word in text.split() if word.strip("-")) for text in (shown, shown_in(result, encoding, 200))
    )
    assert words == all_words


@pytest.mark.parametrize("width", [30, 40, 50])
def test_terminal_that_is_too_narrow_breaks_words_but_hides_nothing(result, width):
    shown, all_shown = (Counter(shown_in(result, "ascii", chosen)) for chosen in (width, 200))
    for counts in (shown, all_shown):
        for blank in " \n-":
            del counts[blank]
    assert shown == all_shown


def test_output_in_a_pipe_has_no_control_characters_and_no_progress_bar(result):
    done = run_in_pipe("demo", "--rounds", str(N_ROUNDS), "--seed", str(SEED), PYTHONIOENCODING="utf-8")
    assert (done.returncode, done.stderr) == (0, b"")
    shown = done.stdout.decode("utf-8").replace(os.linesep, "\n")
    assert shown == shown_in(result)
    assert not [char for char in shown if unicodedata.category(char) == "Cc" and char != "\n"]


def test_output_in_a_pipe_that_takes_only_ascii():
    done = CliRunner(charset="ascii").invoke(app, ["demo", "--rounds", "2", "--seed", str(SEED)])
    assert (done.exit_code, done.stderr) == (0, "")
    assert "||C||" in done.stdout_bytes.decode("ascii")


def test_each_method_boosts_for_its_own_default_unless_told(monkeypatch):
    defaults = dict(zip(OURS, (2, 3, 4), strict=True))

    def make(settings):
        n_rounds = settings.options["n_estimators"] or defaults[settings.estimator]
        return make_estimator(replace(settings, options=settings.options | {"n_estimators": n_rounds}))

    monkeypatch.setattr("comboost.cli.jobs.demo.make_estimator", make)
    own, told = (CliRunner().invoke(app, ["demo", *arguments]).stdout for arguments in ([], ["--rounds", "5"]))
    for n_rounds, name in enumerate(OURS.values(), start=2):
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
