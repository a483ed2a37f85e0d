import errno
import json
import os
import shutil
from collections import namedtuple
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comboost.study import METHODS, Store, StoreError, Study, Task, describe
from comboost.study import _store as store_module
from comboost.study._store import FINGERPRINTED, fingerprint_method, read_result

TASK = Task("glass", "CoMBo depth 2 gini", 3, 4)
RESULT = TASK._asdict() | {"measures": {"g_mean": 0.1 + 0.2}}


@pytest.fixture(scope="module")
def description():
    return describe(Study())


def outcome_of(call):
    """What a call returns, or what the error says that it raises."""
    try:
        return call()
    except StoreError as error:
        return str(error)


def test_result_is_there_once_saved_and_comes_back_as_it_was(tmp_path, description):
    with Store(tmp_path, description) as store:
        assert store.load([TASK]) == {}
        store.save(TASK, RESULT)
        assert store.load([TASK, TASK._replace(run=0)]) == {TASK: RESULT}
    with Store(tmp_path, description) as store:
        assert store.load([TASK]) == {TASK: RESULT}
    assert list(tmp_path.glob("folds/*/*/*")) == [tmp_path / "folds/glass/combo-depth-2-gini/run-03-fold-4.json"]


def test_every_task_has_its_own_file(tmp_path, description):
    tasks = [
        TASK,
        TASK._replace(fold=3),
        TASK._replace(run=0),
        TASK._replace(method="CoMBo"),
        TASK._replace(dataset="car"),
    ]
    with Store(tmp_path, description) as store:
        for place, task in enumerate(tasks):
            store.save(task, task._asdict() | {"place": place})
        assert [result["place"] for result in store.load(tasks).values()] == list(range(5))


def test_half_written_file_is_no_result_and_is_cleared_away(tmp_path, description, monkeypatch):
    def die(descriptor):
        raise KeyboardInterrupt

    with Store(tmp_path, description) as store:
        monkeypatch.setattr(os, "fsync", die)
        with pytest.raises(KeyboardInterrupt):
            store.save(TASK, RESULT)
        assert store.load([TASK]) == {}
        assert list(tmp_path.glob("folds/**/*.tmp"))
    monkeypatch.undo()
    with Store(tmp_path, description) as store:
        assert store.load([TASK]) == {}
        assert not list(tmp_path.glob("folds/**/*.tmp"))


def test_settings_are_kept(tmp_path, description):
    Store(tmp_path, description).close()
    kept = json.loads((tmp_path / "settings.json").read_text())
    assert kept == description
    assert {"format", "comboost", "behaviour", "libraries", "study", "rule", "candidates"} <= set(kept)
    assert kept["study"] == {"seed": 2013, "n_folds": 5, "n_rounds": 200, "n_baseline_rounds": 51}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"comboost": "9.9"}, r"comboost: 9\.9 in the folder, .* now"),
        ({"behaviour": {"CoMBo": "other"}}, r"behaviour\.CoMBo: other in the folder, \w+ now"),
        (
            {"study": {"seed": 7, "n_folds": 5, "n_rounds": 200, "n_baseline_rounds": 51}},
            r"study\.seed: 7 in the folder, 2013 now",
        ),
        ({"libraries": {"numpy": "0.1"}}, r"libraries\.numpy: 0\.1 in the folder, .* now"),
        ({"more": 1}, r"more: 1 in the folder, nothing now"),
    ],
)
def test_results_made_in_another_way_are_refused_with_the_difference_named(tmp_path, description, change, named):
    Store(tmp_path, description | change).close()
    with pytest.raises(StoreError, match=named):
        Store(tmp_path, description)
    assert json.loads((tmp_path / "settings.json").read_text()) == description | change


def test_a_library_installed_later_is_no_difference_and_is_noted(tmp_path, description):
    without = description | {"libraries": description["libraries"] | {"imbalanced-learn": None}}
    with_it = description | {"libraries": description["libraries"] | {"imbalanced-learn": "1.0"}}
    other = description | {"libraries": description["libraries"] | {"imbalanced-learn": "2.0"}}
    for known in (without, with_it, without):
        Store(tmp_path, known).close()
    with pytest.raises(StoreError, match=r"imbalanced-learn: 1\.0 in the folder, 2\.0 now"):
        Store(tmp_path, other)


def test_results_without_settings_are_refused(tmp_path, description):
    with Store(tmp_path, description) as store:
        store.save(TASK, RESULT)
    (tmp_path / "settings.json").unlink()
    with pytest.raises(StoreError, match=r"no settings\.json"):
        Store(tmp_path, description)


def test_damaged_result_is_named(tmp_path, description):
    with Store(tmp_path, description) as store:
        store.save(TASK, RESULT)
        (path,) = tmp_path.glob("folds/*/*/*")
        written = path.read_text()
        store.save(TASK._replace(fold=0), RESULT | {"fold": 0})
        of_another_fold = (path.parent / "run-03-fold-0.json").read_text()
        unsealed = json.dumps(RESULT)
        deep = "[" * 100_000
        for text in ("", "{", "[]", "{}", "null", "\0", deep, unsealed, of_another_fold, written.replace("0.3", "0.2")):
            path.write_text(text)
            with pytest.raises(StoreError, match=r"run-03-fold-4\.json is damaged.*Delete it"):
                store.load([TASK])
        path.unlink()
        path.mkdir()
        with pytest.raises(StoreError, match=r"run-03-fold-4\.json cannot be read.*Delete it"):
            store.load([TASK])


@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_of_a_result_is_detected_or_changes_nothing(sealed, place, bit):
    path, written = sealed
    changed = bytearray(written)
    changed[int(place * len(written))] ^= 1 << bit
    path.write_bytes(changed)
    found = outcome_of(lambda: read_result(path, TASK))
    assert found == RESULT or "run-03-fold-4.json is damaged" in found


@pytest.fixture(scope="module")
def sealed(tmp_path_factory, description):
    """The file of a result, and its bytes."""
    folder = tmp_path_factory.mktemp("sealed")
    with Store(folder, description) as store:
        store.save(TASK, RESULT)
    (path,) = folder.glob("folds/*/*/*")
    return path, path.read_bytes()


def test_damaged_settings_are_named_and_nothing_is_touched(tmp_path, description):
    Store(tmp_path, description).close()
    for text in ("", "{", "[]", "null", "{}", "\0", "[" * 100_000, '{"format": 2, "libraries": []}'):
        (tmp_path / "settings.json").write_text(text)
        with pytest.raises(StoreError, match=r"settings\.json is damaged.*--out"):
            Store(tmp_path, description)
        assert (tmp_path / "settings.json").read_text() == text


@pytest.mark.parametrize("part", ["format", "comboost", "libraries", "study", "behaviour", "candidates"])
@pytest.mark.parametrize("value", [None, [], {}, "", {"CoMBo": {"numpy": [1]}}], ids=repr)
def test_settings_with_a_part_of_another_shape_are_no_traceback(tmp_path, description, part, value):
    Store(tmp_path, description).close()
    (tmp_path / "settings.json").write_text(json.dumps(description | {part: value}))
    found = outcome_of(lambda: Store(tmp_path, description).close())
    assert found is None or part in found


@pytest.mark.parametrize("name", ["summary.md", "notes.txt", "folds/mine.txt", "lock", "data/a.csv", "settings.json"])
def test_a_folder_with_files_of_others_is_refused_and_stays_as_it_was(tmp_path, description, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text('{"my": "own"}')
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(StoreError, match=f"{name.split('/')[0]}.*--out"):
        Store(tmp_path, description)
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / name).read_text() == '{"my": "own"}'


def test_a_run_that_was_ended_as_soon_as_it_began_is_no_obstacle(tmp_path, description):
    (tmp_path / "folds").mkdir()
    (tmp_path / "lock").touch()
    (tmp_path / "settings.json.tmp").write_text("{")
    (tmp_path / ".hidden").write_text("not ours, and in nobody's way")
    Store(tmp_path, description).close()


def test_a_folder_that_cannot_be_written_is_named(tmp_path, description):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"file.inner cannot be written: Not a directory.*--out"):
        Store(tmp_path / "file" / "inner", description)


def test_too_little_disk_space_is_reported_with_numbers(tmp_path, description, monkeypatch):
    usage = namedtuple("Usage", "free")
    with Store(tmp_path, description) as store:
        store.check_space(10)
        monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(5 * 2**20))
        with pytest.raises(StoreError, match=r"has 5 MB left, and 5000 results need 49 MB"):
            store.check_space(5000)


def test_a_disk_that_fills_up_later_says_that_nothing_is_lost(tmp_path, description, monkeypatch):
    def fail(path, text):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with Store(tmp_path, description) as store:
        monkeypatch.setattr(store_module, "write_text", fail)
        with pytest.raises(StoreError, match=r"No space left on device\. All before it are kept"):
            store.save(TASK, RESULT)
        with pytest.raises(StoreError, match=r"No space left on device\. All results are kept"):
            store.write({"summary.md": "text"})


@pytest.mark.skipif(store_module.fcntl is None, reason="no locks here")
def test_a_second_run_in_the_same_folder_is_refused_while_the_first_goes_on(tmp_path, description):
    with Store(tmp_path, description), pytest.raises(StoreError, match="Another run is writing"):
        Store(tmp_path, description)
    Store(tmp_path, description).close()


def test_fingerprints_are_the_same_every_time(description):
    assert describe(Study())["behaviour"] == description["behaviour"]


@pytest.mark.parametrize("name", FINGERPRINTED)
def test_a_method_that_does_something_else_has_another_fingerprint(name, description, monkeypatch):
    pytest.importorskip("imblearn")
    make = METHODS[name].make

    def make_other(setting, categorical, seed, study):
        return make(setting | {"max_depth": 1}, categorical, seed, study)

    monkeypatch.setitem(METHODS, name, replace(METHODS[name], make=make_other))
    other = next(key for key in FINGERPRINTED if key != name)
    changed = {key: fingerprint_method(key) for key in (name, other)}
    assert {key for key in changed if changed[key] != description["behaviour"][key]} == {name}
