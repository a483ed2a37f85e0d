"""CI runs the slow checks where a change touches what they guard."""

import fnmatch
import re
import subprocess
from pathlib import Path

import pytest

from tools import select_checks

ROOT = Path(__file__).parents[2]
ALL = list(select_checks.GUARDED)


@pytest.fixture
def history(tmp_path, monkeypatch):
    """A repository with one commit per day; a function commits a file on a day."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COMBOOST_CI_BASE", raising=False)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    run("init", "--quiet", "--initial-branch=main")

    def commit(name, day):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        run("add", ".")
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"2026-01-{day:02}T12:00:00+0000")
        run("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--quiet", "-m", name)
        return select_checks.git("rev-parse", "HEAD")

    return commit


def run(*arguments):
    subprocess.run(["git", *arguments], check=True)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/comboost/_boosting/loop.py", []),
        ("tests/metrics/test_metrics.py", []),
        ("CHANGELOG.md", []),
        (
            "cpp/comboost/grower.cpp",
            ["tidy", "native(tsan)", "native(clang)", "clang", "wheel", "installed", "fuzz(asan)"],
        ),
        ("fuzz/generators.py", ["fuzz(asan)"]),
        ("src/comboost/dask/_fit.py", ["oldest"]),
        ("src/comboost/datasets/data/yeast.csv.gz", ["wheel", "installed"]),
        ("src/comboost/_extras.py", ["wheel", "installed", "oldest"]),
        ("docs/guide/index.md", ["docs"]),
        ("src/comboost/metrics/__init__.py", ["docs"]),
        ("src/comboost/_engine/__init__.py", []),
        ("pyproject.toml", ["wheel", "installed", "oldest", "docs"]),
        ("noxfile.py", ALL),
    ],
)
def test_changed_path_selects_the_checks_that_guard_it(path, expected):
    assert select_checks.select([path]) == expected


def test_unknown_change_selects_everything():
    assert select_checks.select(None) == ALL


def test_checks_of_several_paths_keep_their_order():
    assert select_checks.select(["docs/index.md", "fuzz/search.py"]) == ["fuzz(asan)", "docs"]


def test_every_guarded_check_is_a_nox_session():
    text = (ROOT / "noxfile.py").read_text()
    sessions = set(re.findall(r"^@nox\.session.*?^def (\w+)\(", text, re.MULTILINE | re.DOTALL))
    assert {name.partition("(")[0] for name in ALL} <= sessions


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the list of tracked files")
def test_every_pattern_matches_a_tracked_file():
    tracked = select_checks.git("-C", str(ROOT), "ls-files").splitlines()
    patterns = {pattern for guarded in select_checks.GUARDED.values() for pattern in guarded}
    assert [pattern for pattern in patterns if not fnmatch.filter(tracked, pattern)] == []


def test_change_on_main_is_the_last_day(history):
    history("old", 1)
    history("cpp/older", 3)
    history("fuzz/newer", 4)
    history("docs/newest", 5)
    assert select_checks.changed_paths() == ["docs/newest"]


def test_change_of_a_branch_starts_at_its_merge_base(history):
    base = history("old", 1)
    run("update-ref", "refs/remotes/origin/main", base)
    history("fuzz/first", 8)
    history("docs/second", 8)
    assert select_checks.changed_paths() == ["docs/second", "fuzz/first"]


def test_given_base_wins_over_the_merge_base(history, monkeypatch):
    run("update-ref", "refs/remotes/origin/main", history("old", 1))
    monkeypatch.setenv("COMBOOST_CI_BASE", history("fuzz/first", 8))
    history("docs/second", 8)
    assert select_checks.changed_paths() == ["docs/second"]


def test_given_base_that_is_not_a_commit_is_an_error(history, monkeypatch):
    history("old", 1)
    monkeypatch.setenv("COMBOOST_CI_BASE", "nowhere")
    with pytest.raises(SystemExit, match="'nowhere', which is not a commit"):
        select_checks.changed_paths()


def test_history_of_less_than_a_day_has_no_base(history):
    history("old", 1)
    history("new", 1)
    assert select_checks.changed_paths() is None


def test_moved_file_counts_with_both_paths(history):
    history("cpp/kernel", 1)
    run("mv", "cpp/kernel", "kernel")
    history("other", 5)
    assert select_checks.changed_paths() == ["cpp/kernel", "kernel", "other"]
