"""Model files: what is loaded is the model that was saved, or it is refused; a file is whole, or as it was before."""

import copy
import datetime
import io
import json
import os
import pickle
import stat
import zipfile
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from boosters import NoCallback, needs_callbacks, share_of_right
from files.write import answers_of, as_frame, make_columns, make_labels
from hypothesis import given
from hypothesis import strategies as st
from models import everything
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

import comboost
from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier, load_model
from comboost._persistence import archive, atomic_write, model_file
from comboost._persistence.pickling import PickledMembers
from comboost._persistence.plain_values import from_json, npy_header, to_json
from comboost._persistence.schema import FORMAT
from comboost.baselines import AdaBoostNCClassifier, SMOTEBoostClassifier
from comboost.dask import DaskCoMBoClassifier
from fuzz import model_files
from fuzz.models import Subject, answers

FILES = Path(__file__).parents[1] / "files"
COLUMNS = make_columns(120, 0)
X, Y = as_frame(COLUMNS), make_labels(COLUMNS, 0)
NUMBERS = np.random.default_rng(0).normal(size=(60, 3))
MODELS = {
    "combo": CoMBoClassifier(n_estimators=4, cost_matrix={"ash": 1, "elm": 2.0, "fir": 3}, random_state=0).fit(X, Y),
    "mm": AdaBoostMMClassifier(n_estimators=2, max_depth=None, cost_matrix=np.array([1, 2, 3])).fit(X, Y),
    "confusion": ConfusionBoostingClassifier(n_estimators=4, early_stopping=True, priors="training").fit(X, Y),
    "isotonic": AdaBoostMMClassifier(
        n_estimators=2, calibration="isotonic", priors={"ash": 0.5, "elm": 0.3, "fir": 0.2}
    ).fit(X, Y),
    "decided": CoMBoClassifier(
        n_estimators=2,
        calibration="temperature",
        decision="expected_cost",
        reject_cost=0.4,
        reject_label="?",
        random_state=0,
    ).fit(X, Y),
    "unseen": CoMBoClassifier(n_estimators=2).fit(X, Y, sample_weight=Y != "elm"),
    "plain": CoMBoClassifier(n_estimators=2, random_state=np.random.RandomState(3)).fit(NUMBERS, np.arange(60) % 3),
    "nc": AdaBoostNCClassifier(n_estimators=3, random_state=0).fit(X, Y),
    "smote": SMOTEBoostClassifier(n_estimators=2, random_state=0).fit(X, Y),
}
for_models = pytest.mark.parametrize("name", MODELS)
COMBO, PLAIN = MODELS["combo"], MODELS["plain"]


def saved(model):
    return model_files.saved(model)


def loaded(content):
    return load_model(io.BytesIO(content))


def reloaded(model):
    return loaded(saved(model))


def rows_of(name):
    return NUMBERS if name == "plain" else X


def in_full(model):
    """All that a model is made of, its random state too."""
    random = getattr(model, "random_state", None)
    state = repr(random.get_state()) if isinstance(random, np.random.RandomState) else None
    return everything(clone_without_state(model)), state


def clone_without_state(model):
    copied = copy.copy(model)
    copied.random_state = None
    return copied


# What is saved is what is loaded


@for_models
def test_loaded_model_is_the_saved_one(name, tmp_path):
    model, path = MODELS[name], tmp_path / "model.comboost"
    model.save_model(path)
    found = load_model(path)
    assert in_full(found) == in_full(model)
    for method in ("predict", "predict_proba", "decision_function"):
        ours, theirs = (getattr(each, method)(rows_of(name)) for each in (model, found))
        assert ours.tobytes() == theirs.tobytes()
    assert os.listdir(tmp_path) == ["model.comboost"]


@for_models
def test_same_model_makes_the_same_bytes_wherever_it_is_written(name, tmp_path):
    model = MODELS[name]
    model.save_model(tmp_path / "one")
    reloaded(model).save_model(str(tmp_path / "two"))
    with (tmp_path / "three").open("wb", buffering=0) as stream:
        pickle.loads(pickle.dumps(model)).save_model(stream)
    contents = {(tmp_path / name).read_bytes() for name in ("one", "two", "three")}
    assert contents == {saved(model)}


@for_models
def test_loaded_model_lives_on(name):
    model, found, rows = MODELS[name], reloaded(MODELS[name]), rows_of(name)
    y = Y if rows is X else np.arange(60) % 3
    assert clone(found).get_params().keys() == model.get_params().keys()
    assert pickle.loads(pickle.dumps(found)).predict(rows).tobytes() == model.predict(rows).tobytes()
    if hasattr(model, "export_text"):
        assert found.export_text(0) == model.export_text(0)
    assert found.fit(rows, y).n_iter_ >= 1


@pytest.mark.parametrize("name", ["combo", "mm", "plain"])
def test_warm_start_goes_on_from_a_loaded_model(name):
    model, found = copy.deepcopy(MODELS[name]), reloaded(MODELS[name])
    y = np.arange(60) % 3 if name == "plain" else Y
    for each in (model, found):
        each.set_params(warm_start=True, n_estimators=6).fit(rows_of(name), y)
    assert in_full(found) == in_full(model)


def test_model_of_a_cluster_is_saved_as_its_local_estimator():
    model = DaskCoMBoClassifier()
    model.__dict__.update({name: value for name, value in vars(COMBO).items() if name.endswith("_") or name[0] == "_"})
    found = reloaded(model)
    assert type(found) is CoMBoClassifier
    assert found.predict(X).tolist() == COMBO.predict(X).tolist()


def test_fit_without_an_edge_can_be_saved():
    for kind in (CoMBoClassifier, ConfusionBoostingClassifier):
        model = kind(n_estimators=3).fit([[0.0]] * 4, [0, 1] * 2)
        assert everything(reloaded(model)) == everything(model)


def assert_predicts(model, path):
    """A model makes the kept predictions: scores to the bit."""
    said = json.loads(path.read_text(encoding="utf-8"))
    found, expected = answers_of(model, as_frame(said["rows"])), said["answers"]
    np.testing.assert_allclose(found.pop("predict_proba"), expected.pop("predict_proba"), rtol=1e-12)
    assert found == expected


@pytest.mark.filterwarnings("error")  # whatever versions of packages are here
@pytest.mark.parametrize("path", sorted(FILES.glob("*.comboost")), ids=lambda path: path.stem)
def test_kept_files_are_read(path):
    assert_predicts(load_model(path), path.with_suffix(".json"))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("path", sorted(FILES.glob("*.pickle")), ids=lambda path: path.stem)
def test_kept_pickles_of_this_format_are_read_and_earlier_ones_refused(path):
    if path.stem.endswith(f"-{FORMAT}"):
        assert_predicts(pickle.loads(path.read_bytes()), path.with_suffix(".json"))
    else:
        with pytest.raises(ValueError, match="was written by another version of comboost"):
            pickle.loads(path.read_bytes())


@for_models
def test_pickle_holds_the_json_and_the_arrays_of_the_file(name):
    state, members = MODELS[name].__getstate__(), model_files.unzipped(saved(MODELS[name]))
    content, pickled = json.loads(members.pop("model.json")), json.loads(state["json"])
    assert (pickled["parameters"], pickled["attributes"]) == (content["parameters"], content["attributes"])
    assert state["arrays"] == members
    assert state["objects"] == {}


class Asking(pickle.Unpickler):
    """Loads a pickle, and keeps what that asks for by name."""

    def __init__(self, content):
        super().__init__(io.BytesIO(content))
        self.asked = []

    def find_class(self, module, name):
        self.asked.append((module, name))
        return super().find_class(module, name)


@pytest.mark.parametrize("name", ["combo", "mm", "confusion", "isotonic", "decided", "nc", "smote"])
def test_pickles_ask_for_nothing_that_other_packages_may_rename(name):
    reader = Asking(pickle.dumps(MODELS[name]))
    kind = type(reader.load())
    assert reader.asked == [(kind.__module__, kind.__name__)]


def test_there_are_files_of_every_estimator_and_format():
    names = {json.loads(zipfile.ZipFile(path).read("model.json"))["estimator"] for path in FILES.glob("*-1.comboost")}
    assert names == set(model_file.ESTIMATORS)
    stems = {path.stem for path in FILES.glob("*.comboost")}
    assert stems == {path.stem for path in FILES.glob("*.pickle")}
    assert {int(stem.split("-")[1]) for stem in stems} == set(range(1, FORMAT + 1))


def test_arrays_in_a_file_can_be_read_without_this_package():
    with zipfile.ZipFile(io.BytesIO(saved(COMBO))) as found:
        nodes = np.load(io.BytesIO(found.read("forest/nodes.npy")), allow_pickle=False)
        assert nodes.tobytes() == COMBO._forest.nodes.tobytes()
        assert np.load(io.BytesIO(found.read("edges_.npy"))).tolist() == COMBO.edges_.tolist()
        assert json.loads(found.read("model.json"))["comboost"] == comboost.__version__


# Values of any kind

LABELS = {
    "integers": [3, -1, 2],
    "small integers": np.array([3, 1, 2], dtype=np.int8),
    "large integers": [2**70, 2**71, 2**65],
    "booleans": [True, False],
    "whole floats": [1.0, 2.0],
    "text": ["b", "a", "Füße"],
    "text that ends in zero": ["a\0", "a"],
    "half characters": ["\ud83d\ude00", "\ud83d", "b"],
    "NumPy's text": np.array([np.str_("a"), np.str_("b\0")], dtype=object),
    "dates": [datetime.date(2000, 1, 1), datetime.date(1, 1, 1)],
    "nanoseconds": np.array(["2000-01-01", "1999-01-01"], dtype="M8[ns]"),
    "durations": [datetime.timedelta(1), datetime.timedelta(0, 1, 5)],
    "zones": [datetime.datetime(2000, 1, day, tzinfo=datetime.UTC) for day in (1, 2)],
    "decimals": [Decimal("1"), Decimal("2.0")],
    "tuples": [("a", 1), ("b", 2.5), ("a", 2)],
}


@pytest.mark.parametrize("kind", LABELS)
def test_classes_of_any_plain_kind_come_back(kind):
    distinct = list(LABELS[kind])
    y = (
        np.empty(12, dtype=object)
        if isinstance(distinct[0], tuple)
        else [distinct[i % len(distinct)] for i in range(12)]
    )
    if isinstance(distinct[0], tuple):
        y[:] = [distinct[i % len(distinct)] for i in range(12)]
    model = CoMBoClassifier(n_estimators=1).fit(NUMBERS[:12], y)
    found = reloaded(model)
    assert found.classes_.dtype == model.classes_.dtype
    assert repr(found.classes_.tolist()) == repr(model.classes_.tolist())
    assert found.predict(NUMBERS).tolist() == model.predict(NUMBERS).tolist()


CATEGORIES = [
    *(["x", "y\0", "Füße"], [True, False], [1, 2.5, 10**30], [Decimal("0.1"), Fraction(1, 3), 2]),
    *([datetime.date(2000, 1, 1), datetime.date(2001, 1, 1)], [("a", 1), ("b", 2)], [b"a", b"b"]),
    [np.datetime64(1, "as"), np.datetime64(2, "as")],
]


@pytest.mark.parametrize("values", CATEGORIES, ids=repr)
def test_categories_of_any_plain_kind_come_back(values):
    column = np.empty((12, 1), dtype=object)
    column[:, 0] = [*(values * 12)[:11], None]
    model = CoMBoClassifier(n_estimators=1, categorical_features=[0]).fit(column, [0, 1, 1] * 4)
    found = reloaded(model)
    assert repr(found._categories) == repr(model._categories)
    assert found.predict_proba(column).tobytes() == model.predict_proba(column).tobytes()


def arrays_of(dtypes):
    numbers = st.lists(st.integers(0, 100), max_size=4)
    return st.builds(lambda values, dtype: np.array(values, dtype="i8").astype(dtype), numbers, st.sampled_from(dtypes))


DTYPES = ["?", "i1", ">i4", "<u8", "f2", ">f8", "U", "S3", "M8[ns]", "m8[25us]", "M8"]
ATOMS = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.text(st.characters(categories=["Cs"]))),
    *(st.binary(), st.dates(), st.datetimes(), st.timedeltas(), st.decimals(), st.fractions()),
    st.datetimes(timezones=st.timezones().map(lambda zone: datetime.timezone(datetime.timedelta(minutes=7)))),
    st.integers(-(2**63), 2**63 - 1).map(np.int64),
    st.floats(width=32).map(np.float32),
    st.text().map(np.str_),
    st.binary().map(np.bytes_),
    st.sampled_from([np.True_, np.datetime64("NaT", "s"), np.timedelta64(5, "h"), np.float16(0.1)]),
)
KEYS = st.one_of(st.text(), st.integers(), st.tuples(st.integers()), st.sampled_from(["$array", "$tuple", "a"]))
VALUES = st.recursive(
    ATOMS | arrays_of(DTYPES),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=3)
        | st.lists(inner, max_size=3).map(lambda items: object_array(items))
    ),
    max_leaves=8,
)


def object_array(items):
    objects = np.empty(len(items), dtype=object)
    for idx, item in enumerate(items):
        objects[idx] = item
    return objects


def in_words(value):
    """A value with all its types."""
    if isinstance(value, list | tuple):
        return type(value), [in_words(item) for item in value]
    if isinstance(value, dict):
        return [(in_words(key), in_words(item)) for key, item in value.items()]
    if isinstance(value, np.ndarray):
        return value.dtype.newbyteorder("="), value.shape, [in_words(item) for item in value.ravel().tolist()]
    if isinstance(value, datetime.datetime):
        value = value.replace(fold=0)  # which tells nothing apart without a named zone
    return type(value), repr(value)


@given(VALUES)
def test_every_plain_value_comes_back_with_its_type(value):
    arrays = {}
    stored = json.loads(json.dumps(to_json(value, "value", arrays), allow_nan=False))
    members = {name: npy_header(each.dtype, each.shape) + each.tobytes() for name, each in arrays.items()}
    source = PickledMembers(members)
    assert in_words(from_json(stored, source)) == in_words(value)
    assert not source.left


# What cannot be saved


class Own(CoMBoClassifier):
    """A class that no file knows."""


def with_attributes(**attributes):
    model = copy.copy(COMBO)
    model.__dict__ = {**vars(model), **attributes}
    return model


class RootOfSquares:
    """A norm."""

    of = "pairs"

    def value(self, losses):
        return float((losses**2).sum() ** 0.5)

    def gradient(self, losses):
        return losses / self.value(losses)


class Kind(str):
    """Text, and more than text."""


REFUSED = {
    "estimator": (
        lambda: CoMBoClassifier(n_estimators=1, estimator=DecisionTreeClassifier(max_depth=1)).fit(
            NUMBERS, NUMBERS[:, 0] > 0
        ),
        "estimator is a DecisionTreeClassifier; pickle it",
    ),
    "scorer": (lambda: with_attributes(scoring=share_of_right), r"scoring is <function.*set_params\(scoring=None\)"),
    "frame": (lambda: with_attributes(cost_matrix=pd.Series({"ash": 1})), "type Series.*as an array in the order of"),
    "own class": (lambda: Own(n_estimators=1).fit(NUMBERS, NUMBERS[:, 0] > 0), "another class, Own"),
    "own attribute": (
        lambda: with_attributes(note=1),
        "its attribute note is neither a parameter nor an attribute that fit sets",
    ),
    "own labels": (
        lambda: CoMBoClassifier(n_estimators=1).fit(NUMBERS[:2], object_array([Kind("a"), Kind("b")])),
        "classes_/0 is 'a' of type Kind, which is not a plain value; fit it with labels that are",
    ),
    "complex": (lambda: with_attributes(tol=1j), "tol is 1j of type complex"),
    "own norm": (
        lambda: ConfusionBoostingClassifier(n_estimators=1, loss="logistic", norm=RootOfSquares()).fit(X, Y),
        "parameters/norm is .* of type RootOfSquares, which is not a plain value; pickle it: a norm of your own",
    ),
    "long decimal": (lambda: with_attributes(tol=Decimal("1E+3000000")), "tol is .* of type Decimal"),
    "long decimal fraction": (lambda: with_attributes(tol=Decimal("0." + "3" * 2000)), "tol is .* of type Decimal"),
    "long integer": (lambda: with_attributes(max_depth=10**5000), "max_depth is .* of type int"),
    "other generator": (
        lambda: with_attributes(random_state=np.random.RandomState(np.random.PCG64(0))),
        "random_state is RandomState",
    ),
    "records": (lambda: with_attributes(scoring=np.zeros(2, dtype=[("a", "i4")])), "scoring holds void32"),
    "itself": (lambda: with_attributes(scoring=endless()), "scoring holds itself"),
    "other trees": (lambda: with_attributes(n_iter_=9), "something has changed it .* n_iter_ is 9.*fit it again"),
}


def endless():
    found = []
    found.append(found)
    return found


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_saved_is_refused_before_anything_is_written(name, tmp_path):
    make, words = REFUSED[name]
    with pytest.raises(ValueError, match=words):
        make().save_model(tmp_path / "model")
    stream = io.BytesIO()
    with pytest.raises(ValueError, match=words):
        make().save_model(stream)
    assert not os.listdir(tmp_path)
    assert not stream.getvalue()


def test_model_that_is_not_fitted_is_refused(tmp_path):
    for model in (CoMBoClassifier(), AdaBoostNCClassifier(), DaskCoMBoClassifier()):
        with pytest.raises(NotFittedError):
            model.save_model(tmp_path / "model")


@needs_callbacks
def test_callbacks_are_refused_until_they_are_taken_off():
    model = copy.copy(PLAIN).set_callbacks(NoCallback())
    with pytest.raises(ValueError, match=r"remove the callbacks with set_callbacks\(\)"):
        saved(model)
    assert saved(model.set_callbacks()) == saved(PLAIN)


# Where it is written


def test_file_is_replaced_at_once_after_it_was_brought_to_the_disk(tmp_path, monkeypatch):
    steps, fsync, replace = [], os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: steps.append("fsync") or fsync(handle))
    monkeypatch.setattr(os, "replace", lambda *names: steps.append("replace") or replace(*names))
    PLAIN.save_model(tmp_path / "model")
    assert steps == ["fsync", "replace", "fsync"]


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), OSError(28, "No space left on device"), RuntimeError()], ids=repr
)
def test_save_that_fails_leaves_the_file_as_it_was_and_no_draft(error, tmp_path, monkeypatch):
    PLAIN.save_model(tmp_path / "model")
    monkeypatch.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(error))
    words = "The model cannot be saved: No space left on device. Nothing has changed" if error.args else None
    with pytest.raises(type(error), match=words):
        COMBO.save_model(tmp_path / "model")
    assert os.listdir(tmp_path) == ["model"]
    assert (tmp_path / "model").read_bytes() == saved(PLAIN)


def test_permissions_and_links_are_kept(tmp_path):
    path, link = tmp_path / "model", tmp_path / "link"
    path.touch(mode=0o640)
    link.symlink_to(path)
    COMBO.save_model(link)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert path.read_bytes() == saved(COMBO)
    COMBO.save_model(tmp_path / "new")
    (tmp_path / "other").touch()
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_draft_that_cannot_be_begun_is_no_draft(tmp_path):
    with pytest.raises(FileNotFoundError):
        atomic_write.replace_file(tmp_path / "nowhere" / "model", lambda stream: None)


class Slow(io.RawIOBase):
    """A stream that takes a few bytes at a time, as sockets do."""

    def __init__(self, most):
        self.taken, self.most = bytearray(), most

    def write(self, part):
        self.taken += part[: self.most]
        return min(len(part), self.most)


def test_streams_that_write_in_parts_get_all():
    stream = Slow(1000)
    COMBO.save_model(stream)
    assert bytes(stream.taken) == saved(COMBO)
    with pytest.raises(OSError, match="the stream takes none of the"):
        COMBO.save_model(Slow(0))


def test_what_is_no_file_is_named(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for use in (COMBO.save_model, load_model):
        with pytest.raises(ValueError, match="is a folder; give one of a file"):
            use(tmp_path)
        with pytest.raises(ValueError, match="is not a regular file"):
            use(tmp_path / "pipe")
        with pytest.raises(TypeError, match="cannot be 3; give a path"):
            use(3)
        with pytest.raises(TypeError, match="binary mode"):
            use(io.StringIO("text"))
        with pytest.raises(FileNotFoundError, match=r"The model cannot be (saved|loaded): No such file.*[Gg]ive"):
            use(tmp_path / "nowhere" / "model")


def test_file_that_may_not_be_read_is_named(tmp_path, monkeypatch):
    COMBO.save_model(tmp_path / "model")
    monkeypatch.setattr("builtins.open", lambda *_: (_ for _ in ()).throw(PermissionError(13, "Permission denied")))
    with pytest.raises(PermissionError, match=r"The model cannot be loaded: Permission denied. Give the path"):
        load_model(tmp_path / "model")


# What is refused when it is loaded

INTACT = saved(COMBO)
MEMBERS = model_files.unzipped(INTACT)
DAMAGED = (
    r"The model file .* is damaged, or not a model file: .*({}).*Expected is a file that save_model wrote; copy it"
)


def refuses(content, words):
    with pytest.raises(ValueError, match=DAMAGED.format(words)):
        loaded(content)


def with_member(name, member):
    return model_files.zipped([(key, [member if key == name else each]) for key, each in MEMBERS.items()])


def forged(change):
    """A file whose JSON was changed on purpose: its checksum is right."""
    content = json.loads(MEMBERS["model.json"])
    change(content)
    return model_files.with_json(MEMBERS, content)


def test_no_beginning_of_a_file_is_a_file():
    for size in [*range(40), *range(40, len(INTACT), 97), len(INTACT) - 1]:
        refuses(INTACT[:size], "begins with|cut off|bytes only|directory")


def test_no_flipped_bit_makes_another_model():
    expected, random = answers(PLAIN, NUMBERS), np.random.default_rng(0)
    content = saved(PLAIN)
    for idx in random.choice(len(content), 250, replace=False):
        flipped = bytearray(content)
        flipped[idx] ^= 1 << random.integers(8)
        try:
            found = loaded(flipped)
        except ValueError as error:
            if "Expected is a file" not in str(error) and "is not a model file" not in str(error):
                raise
        else:
            assert answers(found, NUMBERS) == expected


PLAIN_TEXT = MEMBERS["model.json"]
ZIPS = {
    "text": (b"tree\nversion=v4\n", "it begins with b'tree'"),
    "nothing": (b"", "it begins with b''"),
    "pickle": (pickle.dumps(1), "it begins with"),
    "empty zip": (b"PK\x05\x06" + bytes(18), "it begins with"),
    "more at the end": (INTACT + b"\0", "cut off, or something was added"),
    "comment": (model_files.rezipped(list(MEMBERS.items()), comment=b"hello"), "something was added"),
    "deflated": (model_files.rezipped(list(MEMBERS.items()), zipfile.ZIP_DEFLATED), "'model.json' is compressed"),
    "bomb": (model_files.rezipped([("model.json", bytes(2**22))], zipfile.ZIP_DEFLATED), "is compressed or encrypted"),
    "twice": (model_files.rezipped([*MEMBERS.items(), ("edges_.npy", b"")]), "two of its members have the same name"),
    "more": (model_files.rezipped([*MEMBERS.items(), ("../x", b"")]), "its member '../x' belongs to nothing"),
    "many": (model_files.rezipped([(f"{i}", b"") for i in range(1001)]), "has 1001 members and"),
    "no model": (model_files.rezipped([("a", b"")]), "it has no 'model.json'"),
    "missing": (
        model_files.rezipped([pair for pair in MEMBERS.items() if pair[0] != "edges_.npy"]),
        "it has no member 'edges_.npy'",
    ),
    "short": (with_member("edges_.npy", MEMBERS["edges_.npy"][:-8]), "edges_.npy has 152 bytes instead of 160"),
    "other header": (
        with_member("edges_.npy", MEMBERS["edges_.npy"].replace(b"False", b"True ")),
        "edges_.npy does not begin as its array should",
    ),
    "other value": (with_member("edges_.npy", MEMBERS["edges_.npy"][:-8] + bytes(8)), "does not match its checksum"),
    "other JSON": (
        with_member("model.json", PLAIN_TEXT.replace(b"ash", b"oak")),
        "its JSON does not match its checksum",
    ),
    "deep": (with_member("model.json", b"[" * 10**6), "recursion"),
    "deep objects": (with_member("model.json", b'{"a":' * 10**6), "recursion"),
    "twice in JSON": (with_member("model.json", b'{"a": 1, "a": 1}'), "a name twice"),
    "long integer": (with_member("model.json", b"9" * 2000), "an integer of 2000 digits"),
    "NaN": (with_member("model.json", b"[NaN]"), "holds the number 'NaN'"),
    "large": (with_member("model.json", b"[1e999]"), "holds the number '1e999'"),
    "no JSON": (with_member("model.json", b"{"), "Expecting property name"),
    "other alphabet": (with_member("model.json", b'"\xff"'), "ascii"),
}


@pytest.mark.parametrize("name", ZIPS)
def test_zip_that_is_not_ours_is_refused(name):
    refuses(*ZIPS[name])


def entry(content, *path):
    for key in path:
        content = content[key]
    return content


def put(value, *path):
    """A change of one value in JSON."""

    def change(content):
        entry(content, *path[:-1])[path[-1]] = value

    return change


NODES = ("attributes", "forest", "nodes", "$array")
EDGES = ("attributes", "edges_", "$array")
CLASSES = ("attributes", "classes_")
FORGED = {
    "estimator": (put("os.system", "estimator"), "there is no estimator 'os.system'"),
    "entry": (put(1, "more"), "has the entries"),
    "weak learner": (put("os", "parameters", "estimator"), "a weak learner is given as estimator"),
    "unknown parameter": (put(1, "parameters", "more"), "unexpected keyword argument 'more'"),
    "method": (put(1, "attributes", "predict"), "are not those of a fitted model"),
    "dunder": (put(1, "attributes", "__class__"), "are not those of a fitted model"),
    "no trees": (lambda content: content["attributes"].pop("forest"), "belongs to nothing"),
    "no attributes": (put([], "attributes"), "in place of a dict"),
    "other trees": (put("ConfusionBoostingClassifier", "estimator"), "unexpected keyword|not those of a Confusion"),
    "tag": (put({"$call": "os.system"}, "parameters", "tol"), r"no kind of value \['\$call'\]"),
    "two tags": (put({"$tuple": [], "$dict": []}, "parameters", "tol"), "no kind of value"),
    "objects": (put("|O", *EDGES, "dtype"), "arrays of type '|O' are not stored"),
    "records": (put([["a", "|O"]], *NODES, "dtype"), "in place of a str"),
    "other type": (put("<i8", *EDGES, "dtype"), "does not begin as its array should"),
    "huge": (put([10**15], *EDGES, "shape"), "instead of 8000000000000128"),
    "huge and empty": (put([0, 2**70], *EDGES, "shape"), "bytes instead of"),
    "negative": (put([-1], *EDGES, "shape"), r"no array has the shape \[-1\]"),
    "no integer": (put([4.0], *EDGES, "shape"), r"no array has the shape"),
    "deep shape": (put([1] * 33, *EDGES, "shape"), "no array has the shape"),
    "other member": (put("loss_curve_.npy", *EDGES, "member"), "does not match its checksum|referred to twice"),
    "path": (put("../../etc/passwd", *EDGES, "member"), "it has no member '../../etc/passwd'"),
    "one member for two": (
        lambda content: content["attributes"].update(bound_curve_=copy.deepcopy(content["attributes"]["edges_"])),
        "it has no member 'edges_.npy', or that is referred to twice",
    ),
    "integers": (
        put({"$objects": {"shape": [4], "items": [1, 2, 3, 4]}}, "attributes", "edges_"),
        "referred|belongs|edges_",
    ),
    "rounds": (put(9, "attributes", "n_iter_"), "n_iter_ is 9 instead of 4"),
    "rounds as float": (put(4.0, "attributes", "n_iter_"), "n_iter_ is 4.0 instead of 4"),
    "names": (put({"$objects": {"shape": [3], "items": [1, 2, 3]}}, "attributes", "feature_names_in_"), "not text"),
    "target": (put(3, "attributes", "target_name_"), "target_name_ is not text"),
    "missing marks": (put("-999", "attributes", "missing_markers_"), "missing_markers_ is not a list of text"),
    "missing marks of numbers": (
        put([-999], "attributes", "missing_markers_"),
        "missing_markers_ is not a list of text",
    ),
    "names of another shape": (
        put({"$objects": {"shape": [10**9], "items": []}}, "attributes", "feature_names_in_"),
        "cannot reshape",
    ),
    "categories": (put({"$dict": [[2, {"$tuple": [[]]}]]}, "attributes", "categories", "values"), "unhashable"),
    "collisions": (
        put({"$dict": [[number * (2**61 - 1), 0] for number in range(200)]}, "parameters", "cost_matrix"),
        "more than 100 keys have the same hash",
    ),
    "seed": (put("0", "attributes", "origin", "seed"), "the seed or the number of samples"),
    "rows": (put(0, "attributes", "origin", "rows"), "the fingerprints of a warm start are not text"),
    "curve": (
        lambda content: content["attributes"].pop("stop_reason_"),
        r"its attributes \['stop_reason_'\] are missing",
    ),
    "fraction": (put({"$fraction": "1e999999999/1"}, "parameters", "tol"), "invalid literal"),
    "no fraction": (put({"$fraction": "1/0"}, "parameters", "tol"), "Fraction"),
    "decimal": (
        put({"$decimal": "1E+3000000"}, "parameters", "tol"),
        "the decimal '1E.3000000', whose integer has more",
    ),
    "tiny decimal": (put({"$decimal": "1E-3000000"}, "parameters", "tol"), "the decimal"),
    "long decimal": (put({"$decimal": "3" * 10**6}, "parameters", "tol"), "the decimal"),
    "class of many digits": (
        put({"$objects": {"shape": [3], "items": [{"$decimal": f"{k}E+3000000"} for k in (1, 2, 3)]}}, *CLASSES),
        "the decimal",
    ),
    "module": (put({"$module": "os"}, "parameters", "random_state"), "it has no 'os'"),
    "boolean": (put({"$scalar": {"dtype": "|b1", "bytes": "02"}}, "parameters", "tol"), "neither true nor false"),
    "character": (put({"$scalar": {"dtype": "<U1", "bytes": "ffffffff"}}, "parameters", "tol"), "invalid character"),
    "two scalars": (put({"$scalar": {"dtype": "|u1", "bytes": "0202"}}, "parameters", "tol"), "too many values"),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_json_is_refused(name):
    change, words = FORGED[name]
    refuses(forged(change), words)


def test_file_that_was_not_changed_is_accepted():
    assert everything(loaded(forged(lambda content: None))) == everything(COMBO)


def test_random_state_that_would_be_followed_out_of_its_key_is_refused():
    members = model_files.unzipped(saved(PLAIN))
    for field, value, words in [("pos", 625, "is at 625 of 624"), ("pos", -1, "at -1"), ("key", None, "is not valid")]:
        content = json.loads(members["model.json"])
        content["parameters"]["random_state"]["$random_state"][field] = value
        refuses(model_files.with_json(members, content), words)


def test_format_of_a_later_version_is_told_from_damage():
    latest = FORMAT
    words = rf"is of format {latest + 1}, written by comboost .*reads formats up to {latest}. Update comboost"
    with pytest.raises(ValueError, match=words):
        loaded(forged(put(latest + 1, "format")))
    for change in (
        put(0, "format"),
        put("1", "format"),
        put("model", "file"),
        put(1, "comboost"),
        put("9" * 101, "comboost"),
    ):
        with pytest.raises(ValueError, match=r"is not a model file: its model.json does not name"):
            loaded(forged(change))


def test_parameter_that_a_file_does_not_know_yet_has_its_default():
    model = loaded(forged(lambda content: content["parameters"].pop("verbose")))
    assert model.verbose == 0
    assert everything(model) == everything(COMBO)


def test_directory_and_sizes_are_checked_before_they_are_used():
    end = INTACT.rindex(b"PK\x05\x06")
    for idx, lie, words in [(10, b"\xff\xff", "65535 members"), (12, b"\xff\xff\xff\xff", "and 4294967295 bytes")]:
        refuses(INTACT[: end + idx] + lie + INTACT[end + idx + len(lie) :], words)
    large = archive.LARGE_END.pack(b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, 2**40, 0)
    locator = archive.LOCATOR.pack(b"PK\x06\x07", 0, end, 1)
    refuses(INTACT[:end] + large + locator + INTACT[end:], "1 members and 1099511627776 bytes")
    refuses(
        INTACT[:end] + large + locator.replace(b"\x06\x07\0\0\0\0", b"\x06\x07\0\0\0\0\1", 1)[:20] + INTACT[end:],
        "where it should be|members",
    )
    overlapping = bytearray(INTACT)
    second = INTACT.index(b"PK\x01\x02", INTACT.index(b"PK\x01\x02") + 1)
    overlapping[second + 42 : second + 46] = bytes(4)
    refuses(bytes(overlapping), "do not follow each other")


def test_model_too_large_for_the_memory_is_refused(monkeypatch):
    monkeypatch.setattr("comboost._engine.memory.NOT_WORTH_ASKING", 0)
    monkeypatch.setattr("comboost._engine.memory.available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=r"Loading this model needs about .* Load it where there is more memory"):
        loaded(INTACT)


@pytest.mark.parametrize("kind", ["damaged_files", "forged_states", "forged_json", "forged_zips"])
@pytest.mark.parametrize("name", ["combo", "confusion"])
def test_mutations_are_refused_or_sound(kind, name):
    subject = Subject(name, MODELS[name], X)
    mutations = getattr(model_files, kind)(subject, np.random.default_rng(0))
    expected = answers(subject.model, X)
    outcomes = {model_files.check_file(mutation, subject, expected) for mutation in islice(mutations, 40)}
    assert "refused" in outcomes
