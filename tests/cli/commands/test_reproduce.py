"""comboost reproduce: planned, run, interrupted, killed and continued."""

import os
import select
import signal
import subprocess
import sys
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import pytest
from rich.text import Text
from typer.testing import CliRunner

from comboost.cli.app import app
from comboost.cli.jobs.reproduction import make_plan, run_plan
from comboost.cli.terminal.progress import StudyProgress
from comboost.study import METHODS, SMALL_DATASETS, Study
from comboost.study._store import fingerprint_method

FAST = Study(n_rounds=4)
FINGERPRINT_ONCE = cache(fingerprint_method)
DEADLINE = 60  # seconds, far more than needed

#: The command, which holds still once some folds are stored; few rounds, and nothing is fitted to know methods again.
HELD = """
import functools, signal, sys
import comboost.study
from comboost.cli import main
from comboost.study import Store, Study, _store

stored, save = [], Store.save
def save_and_hold(store, task, result):
    save(store, task, result)
    stored.append(task)
    if len(stored) == 7:
        print("held", file=sys.stderr, flush=True)
        signal.pause()

Store.save = save_and_hold
comboost.study.Study = functools.partial(Study, n_rounds=4)
_store.fingerprint_method = lambda method: "as ever"
main()
"""


@pytest.fixture(autouse=True)
def fingerprinted_once(monkeypatch):
    """The fits by which a folder knows the methods again take longer than all that is fitted here."""
    monkeypatch.setattr("comboost.study._store.fingerprint_method", FINGERPRINT_ONCE)


def read_files(folder):
    """All that must not depend on how the work was done."""
    skipped = ("times", "report", "settings", "lock")
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.stem not in skipped}


def stored_in(folder):
    """The stored folds, each with what changes when it is written again."""
    paths = list(folder.glob("folds/*/*/*.json"))
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in paths}


def invoke(*arguments, **environment):
    return CliRunner().invoke(app, ["reproduce", *arguments], env={"COLUMNS": "200", **environment})


class Notes(StudyProgress):
    """Records all folds that are reported."""

    def __init__(self):
        super().__init__(None)
        self.started, self.done = None, []

    def start(self, n_done, tasks, seconds):
        self.started = (n_done, len(tasks))

    def update(self, task):
        self.done.append(task)


# what is asked for


def test_all_is_the_default_and_quick_is_two_runs_of_the_small_sets(monkeypatch, tmp_path):
    monkeypatch.setenv("COMBOOST_DATA", str(tmp_path))
    whole, quick = make_plan(FAST), make_plan(FAST, quick=True)
    assert (len(whole.datasets), whole.methods, whole.n_runs) == (9, tuple(METHODS), 10)
    assert (quick.datasets, quick.methods, quick.n_runs) == (SMALL_DATASETS, tuple(METHODS), 2)


def test_what_is_named_goes_before_quick():
    asked = make_plan(FAST, datasets="car", methods="combo,hist-gradient-boosting", n_runs=3, quick=True)
    assert (asked.datasets, asked.methods, asked.n_runs) == (("car",), ("CoMBo", "HistGradientBoosting"), 3)


def test_quick_folds_are_folds_of_the_whole():
    options = {"datasets": "glass", "methods": "combo"}
    assert set(make_plan(FAST, quick=True, **options).tasks) < set(make_plan(FAST, **options).tasks)


def test_a_set_that_is_not_there_is_left_out_with_one_line_while_the_rest_goes_on(monkeypatch, tmp_path):
    monkeypatch.setenv("COMBOOST_DATA", str(tmp_path / "nowhere"))
    asked = make_plan(FAST, datasets="connect-4,glass", methods="combo-depth-2-gini", n_runs=1)
    (reason,) = asked.left_out.values()
    assert "\n" not in reason
    assert "connect_4.tsv.gz" in reason
    assert "COMBOOST_DATA" in reason
    assert {task.dataset for task in asked.tasks} == {"glass"}
    report = run_plan(asked, tmp_path / "out")
    assert "connect-4" in (tmp_path / "out" / "summary.md").read_text(encoding="utf-8")
    assert report["about"]["left_out"] == asked.left_out


@pytest.mark.parametrize(
    ("option", "value", "listed"),
    [
        ("--datasets", "glass,iris", "'satimage'"),
        ("--datasets", "glass,", "'satimage'"),
        ("--methods", "combo,boost", "'AdaBoost.NC'"),
    ],
)
def test_unknown_name_lists_the_known_ones(option, value, listed, tmp_path):
    result = invoke(option, value, "--out", str(tmp_path / "out"))
    assert result.exit_code == 2
    shown = Text.from_ansi(result.stderr).plain
    assert f"{value.split(',')[1]!r}" in shown
    assert listed in shown
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [("--jobs", "0"), ("--runs", "0"), ("--seed", "-1"), ("--nope", "1")],
)
def test_bad_option_is_named_and_nothing_is_run(option, value, tmp_path):
    result = invoke(option, value, "--out", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert option in Text.from_ansi(result.stderr).plain
    assert not (tmp_path / "out").exists()


def test_nothing_to_run_is_no_success(tmp_path):
    options = ["--datasets", "connect-4", "--methods", "smoteboost", "--out", str(tmp_path / "out")]
    result = invoke(*options, COMBOOST_DATA=str(tmp_path))
    assert result.exit_code == 1
    assert "Nothing to run" in result.stderr
    assert not (tmp_path / "out").exists()


# what is done


def test_stored_folds_are_not_done_again_and_a_folder_may_grow(tmp_path):
    def do(**options):
        notes = Notes()
        run_plan(make_plan(FAST, datasets="glass", **options), tmp_path, progress=notes)
        assert len(notes.done) == notes.started[1]
        return notes.started

    assert do(methods="combo-depth-2-gini", n_runs=1) == (0, 5)
    before = stored_in(tmp_path)
    assert do(methods="combo-depth-2-gini", n_runs=2) == (5, 5)
    assert do(methods="combo-depth-2-gini,combo-depth-3-cost", n_runs=1) == (5, 5)
    assert do(methods="combo-depth-2-gini", n_runs=1) == (5, 0)
    assert before.items() <= stored_in(tmp_path).items()


def test_tables_show_what_is_asked_for_and_not_what_else_is_stored(tmp_path):
    run_plan(make_plan(FAST, datasets="glass", methods="combo-depth-2-gini", n_runs=2), tmp_path / "two")
    run_plan(make_plan(FAST, datasets="glass", methods="combo-depth-2-gini", n_runs=1), tmp_path / "two")
    run_plan(make_plan(FAST, datasets="glass", methods="combo-depth-2-gini", n_runs=1), tmp_path / "one")
    assert read_files(tmp_path / "two") == read_files(tmp_path / "one")


def test_failed_folds_are_told_and_tried_again(tmp_path, monkeypatch):
    def fail(*arguments):
        raise ValueError("it broke")

    name = "CoMBo depth 2 gini"
    asked = make_plan(FAST, datasets="glass", methods="combo-depth-2-gini,combo-depth-3-gini", n_runs=1)
    with monkeypatch.context() as patched:
        patched.setitem(METHODS, name, replace(METHODS[name], make=fail))
        report = run_plan(asked, tmp_path)
    assert "Failed: glass" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert report["about"]["failures"] == [f"glass {name} 0 {fold}: ValueError: it broke" for fold in range(5)]
    notes = Notes()
    assert run_plan(asked, tmp_path, progress=notes)["about"]["failures"] == []
    assert notes.started == (5, 5)


def test_other_settings_are_refused_with_the_difference_named(tmp_path):
    run_plan(make_plan(Study(), datasets="glass", methods="combo-depth-2-gini", n_runs=1), tmp_path)
    before = stored_in(tmp_path)
    result = invoke("--seed", "5", "--quick", "--out", str(tmp_path))
    assert result.exit_code == 1
    assert "study.seed: 2013 in the folder, 5 now" in result.stderr
    assert stored_in(tmp_path) == before


def test_a_folder_that_cannot_be_made_is_reported_before_anything_runs(tmp_path):
    (tmp_path / "file").write_text("")
    result = invoke("--quick", "--out", str(tmp_path / "file" / "out"))
    assert result.exit_code == 1
    assert "cannot be written" in result.stderr
    assert result.stdout == ""


def test_lines_in_a_pipe_and_a_summary_at_the_end(tmp_path):
    options = ["--datasets", "new-thyroid", "--methods", "combo-depth-2-gini", "--runs", "1"]
    result = invoke(*options, "--jobs", "1", "--out", str(tmp_path))
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "5 folds, 0 of them stored already",
        "new-thyroid, CoMBo depth 2 gini: done; 0 folds to go, about 0 s",
    ]
    assert "CoMBo beside the paper, 30 cells" in result.stdout
    assert "\x1b" not in result.stdout + result.stderr


def test_methods_left_out_for_the_same_reason_share_a_line(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "imblearn", None)
    result = invoke(
        "--datasets",
        "glass",
        "--methods",
        "balancedrandomforest,combo-depth-2-gini",
        "--runs",
        "1",
        "--jobs",
        "1",
        "--out",
        str(tmp_path),
    )
    assert result.stderr.startswith("Left out: BalancedRandomForest. ")
    assert result.exit_code == 0


def test_interrupted_it_says_that_nothing_is_lost(monkeypatch, tmp_path):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("comboost.cli.jobs.reproduction.run_tasks", interrupt)
    result = invoke("--datasets", "glass", "--methods", "combo", "--out", str(tmp_path))
    assert result.exit_code == 130
    assert "start the same command again" in result.stderr


@pytest.mark.parametrize("step", ["make_plan", "describe", "render_files"])
def test_interrupted_at_any_step_it_ends_with_the_code_that_says_so(monkeypatch, tmp_path, step):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"comboost.cli.jobs.reproduction.{step}", interrupt)
    monkeypatch.setattr("comboost.cli.jobs.reproduction.run_tasks", lambda *arguments, **options: iter_nothing())
    result = invoke("--datasets", "glass", "--methods", "combo", "--out", str(tmp_path))
    assert result.exit_code == 130
    assert result.stderr.rstrip().splitlines()[-1].startswith("Interrupted.")


def iter_nothing():
    yield from ()


def test_a_folder_of_the_users_own_is_refused_before_anything_runs(tmp_path):
    (tmp_path / "summary.md").write_text("mine")
    result = invoke("--quick", "--out", str(tmp_path))
    assert result.exit_code == 1
    assert "summary.md" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["summary.md"]


# killed for real


def children_of(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def watch(pid):
    """A file that can be read once the process is gone; None if it is gone already."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="watching processes of processes needs Linux")
def test_killed_and_started_again_it_goes_on_with_nothing_lost_and_nothing_done_twice(tmp_path, monkeypatch):
    asked = {"datasets": "new-thyroid,glass", "methods": "combo-depth-2-gini"}
    options = ["--datasets", asked["datasets"], "--methods", asked["methods"], "--runs", "1"]
    n_folds, folder = 10, tmp_path / "killed"
    command = [sys.executable, "-c", HELD, "reproduce", *options, "--jobs", "2", "--out", str(folder)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as run:
        lines = iter(run.stderr)
        assert "held\n" in lines
        workers = [watch(child) for child in children_of(run.pid)]
        run.send_signal(signal.SIGKILL)
        assert run.wait() == -signal.SIGKILL
    for worker in filter(None, workers):
        gone, _, _ = select.select([worker], [], [], DEADLINE)
        assert gone, "a worker outlives the command"
        os.close(worker)
    before = stored_in(folder)
    assert len(before) == 7
    assert not (folder / "summary.md").exists()

    monkeypatch.setattr("comboost.study.Study", partial(Study, n_rounds=FAST.n_rounds))
    monkeypatch.setattr("comboost.study._store.fingerprint_method", lambda method: "as ever")
    again = invoke(*options, "--jobs", "1", "--out", str(folder))
    assert again.exit_code == 0
    assert f"{n_folds} folds, {len(before)} of them stored already" in again.stderr
    after = stored_in(folder)
    assert len(after) == n_folds
    assert before.items() <= after.items()

    run_plan(make_plan(FAST, **asked, n_runs=1), tmp_path / "whole")
    assert read_files(folder) == read_files(tmp_path / "whole")
