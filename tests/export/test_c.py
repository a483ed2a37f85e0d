"""C files: compiled, they give the classes and the scores of the model, to the bit."""

import ctypes
import itertools
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from deployed import ESTIMATORS, as_float32, hard_rows, scores_of, seeds, text_model, two_class_model, weightless_model
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from models import fit
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier
from strategies import any_problems

from comboost import CoMBoClassifier, ConfusionBoostingClassifier
from comboost.datasets import load_glass

COMPILERS = [compiler for compiler in ("gcc", "clang") if shutil.which(compiler)]
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
needs_compiler = pytest.mark.skipif(not COMPILERS, reason="there is no C compiler")
numbers = itertools.count()


def compile_c(folder, source, *options, compiler=None):
    """The library that a source makes."""
    path = folder / f"model{next(numbers)}.c"
    path.write_text(source)
    library = path.with_suffix(".so")
    command = [
        compiler or COMPILERS[0],
        *(options or ("-std=c99", "-O1")),
        *STRICT,
        "-shared",
        "-fPIC",
        path,
        "-o",
        library,
    ]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return ctypes.CDLL(str(library))


class Compiled:
    """A model in a library."""

    def __init__(self, library, name, n_classes):
        self._n_classes = n_classes
        pointer = ctypes.POINTER(ctypes.c_double)
        self._predict, self._scores = library[name], library[f"{name}_scores"]
        self._predict.argtypes, self._scores.argtypes = [pointer], [pointer, pointer]
        self._label = library[f"{name}_label"]
        self._label.restype = ctypes.c_char_p
        if hasattr(library, f"{name}_code"):
            self._code = library[f"{name}_code"]
            self._code.restype = ctypes.c_double

    def predict(self, X):
        return np.array([self._predict(as_pointer(row)) for row in X])

    def scores(self, X):
        scores = np.empty((len(X), self._n_classes))
        for row, out in zip(X, scores, strict=True):
            self._scores(as_pointer(row), as_pointer(out))
        return scores

    def label(self, number):
        return self._label(number).decode()

    def code(self, feature, text):
        return self._code(feature, text.encode())


def as_pointer(row):
    return row.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def assert_same_bits(compiled, model, X, given):
    """``X`` as the C file takes it, ``given`` as the model does."""
    rows = np.ascontiguousarray(X, dtype=np.float64)
    assert model.classes_[compiled.predict(rows)].tolist() == model.predict(given).tolist()
    assert compiled.scores(rows).tobytes() == scores_of(model, given).tobytes()


def compiled(folder, model, *options, name="predict", **kwargs):
    return Compiled(compile_c(folder, model.to_c(name=name), *options, **kwargs), name, len(model.classes_))


# The same bits


@needs_compiler
@settings(
    max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
@given(problems=st.lists(any_problems(missing=True, categories=True), min_size=5, max_size=8), seed=seeds)
def test_c_gives_the_classes_and_scores_of_any_model_to_the_bit(tmp_path, problems, seed):
    models = [fit(problem) for problem in problems]
    source = "\n".join(model.to_c(name=f"model{k}") for k, model in enumerate(models))
    libraries = [compile_c(tmp_path, source, compiler=compiler) for compiler in COMPILERS]
    for k, (model, problem) in enumerate(zip(models, problems, strict=True)):
        X = hard_rows(model, problem, seed)
        for library in libraries:
            found = Compiled(library, f"model{k}", len(model.classes_))
            assert_same_bits(found, model, X, X)
            assert_same_bits(found, model, as_float32(X), as_float32(X))


@needs_compiler
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_text_rare_categories_and_unseen_ones_go_where_predict_sends_them(kind, tmp_path):
    model, frame = text_model(kind)
    frame.loc[:20, "many"] = "an unknown city"
    found = compiled(tmp_path, model)
    X = frame.drop(columns=["many", "few"]).astype(float)
    for idx, name in enumerate(["many", "few"]):
        codes = [np.nan if text is None or text != text else found.code(idx, text) for text in frame[name]]
        X.insert(idx, name, codes)
    assert X["many"][0] == 0
    assert_same_bits(found, model, X.to_numpy(), frame)
    assert [found.label(k) for k in range(-1, 4)] == ["", *model.classes_, ""]


@needs_compiler
@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("make", [two_class_model, weightless_model])
def test_ties_and_classes_without_weight(kind, make, tmp_path):
    model, X = make(kind)
    assert_same_bits(compiled(tmp_path, model), model, X, X)


@needs_compiler
def test_deep_trees(tmp_path):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(2000, 3)), random.integers(0, 5, 2000)
    model = CoMBoClassifier(n_estimators=2, max_depth=None).fit(X, y)
    X_new = random.normal(size=(500, 3))
    assert_same_bits(compiled(tmp_path, model), model, X_new, X_new)


@needs_compiler
def test_every_compiler_and_optimisation_gives_the_same_bits(tmp_path):
    X, y = load_glass(return_X_y=True)
    model = ConfusionBoostingClassifier(n_estimators=20).fit(X, y)
    for compiler in COMPILERS:
        for options in (("-std=c99", "-O3", "-march=native", "-ffp-contract=fast"), ("-std=c11", "-O0")):
            assert_same_bits(compiled(tmp_path, model, *options, compiler=compiler), model, X, X)


@needs_compiler
def test_c_is_c_plus_plus_as_well(tmp_path):
    model, _ = text_model(ConfusionBoostingClassifier)
    compile_c(tmp_path, model.to_c(), "-x", "c++", "-std=c++11")


@needs_compiler
def test_arithmetic_that_knows_no_missing_values_is_refused(tmp_path):
    with pytest.raises(subprocess.CalledProcessError) as refusal:
        compile_c(tmp_path, two_class_model(CoMBoClassifier)[0].to_c(), "-std=c99", "-ffast-math")
    assert "without -ffast-math" in refusal.value.stderr


# Names


HOSTILE = [
    "*/ int x;",
    "/* open",
    "//",
    'quote " \\',
    "??/",
    "line\nbreak",
    "${name}",
    "$search",
    "%s%n",
    "☃\u2028",
    "",
    "\\",
]


@needs_compiler
def test_no_name_gets_out_of_comments_and_strings(tmp_path):
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(60, len(HOSTILE))), columns=HOSTILE)
    X["kind"] = random.choice(HOSTILE, 60)
    y = np.array(HOSTILE)[np.arange(60) % len(HOSTILE)]
    model = CoMBoClassifier(n_estimators=30).fit(X, y)
    found = compiled(tmp_path, model)
    assert [found.label(k) for k in range(len(model.classes_))] == model.classes_.tolist()
    codes = [found.code(len(HOSTILE), text) for text in sorted(HOSTILE)]
    assert codes == list(range(1, len(HOSTILE) + 1))


@pytest.mark.parametrize(
    "name", ["", "3d", "a-b", "a b", "int", "class", "main", "_own", "größe", "a" * 32, None, 3, "a\n"]
)
def test_names_that_no_function_can_have_are_refused(name):
    model, _ = two_class_model(CoMBoClassifier)
    with pytest.raises(ValueError, match="give a name for a function in C"):
        model.to_c(name=name)


# What cannot be written


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_unfitted_models_are_refused(kind):
    with pytest.raises(NotFittedError):
        kind().to_c()


def test_other_weak_learners_are_refused():
    model = CoMBoClassifier(estimator=DecisionTreeClassifier(max_depth=1)).fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="to_c writes the built-in trees"):
        model.to_c()


def test_decisions_by_cost_are_refused_and_probabilities_do_not_matter():
    X, y = [[1.0], [2.0]] * 5, [0, 1] * 5
    with pytest.raises(ValueError, match="decision='expected_cost'"):
        CoMBoClassifier(decision="expected_cost").fit(X, y).to_c()
    plain, curved = (CoMBoClassifier(calibration=kind).fit(X, y).to_c() for kind in (None, "isotonic"))
    assert plain == curved


def test_text_that_is_too_long_is_refused():
    model = CoMBoClassifier(n_estimators=1).fit([[1.0], [2.0]], ["a", "b" * 5000])
    with pytest.raises(ValueError, match="has 5000 bytes; a string in C may have 4095"):
        model.to_c()


def test_the_same_model_makes_the_same_text():
    first, second = (text_model(CoMBoClassifier)[0].to_c() for _ in range(2))
    assert first == second
