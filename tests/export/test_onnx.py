"""ONNX models: onnxruntime gives the classes of predict, and its votes up to the rounding of a float."""

import datetime
import sys

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
import skl2onnx
from deployed import ESTIMATORS, as_float32, hard_rows, scores_of, seeds, text_model, two_class_model, weightless_model
from hypothesis import given, settings
from models import fit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from strategies import any_problems

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier
from comboost.datasets import load_glass
from comboost.onnx import register_converters

ROUNDING = 2.0**-23  # of a float, with room for the rounding of the double before it
register_converters()


def session_of(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options)


def run(model, feed):
    return session_of(model).run(None, feed)


def assert_same_answers(model, answers, X):
    label, probabilities, scores = answers
    expected = scores_of(model, X)
    size = np.abs(expected).max(initial=1.0)
    np.testing.assert_array_equal(label, model.predict(X))
    np.testing.assert_allclose(scores, expected, rtol=0, atol=size * ROUNDING)
    np.testing.assert_allclose(probabilities, model.predict_proba(X), rtol=0, atol=size * 1e-6)


def as_feed(frame):
    """A data frame as the inputs of a graph: a missing text is an empty one, or any other that is no category."""
    feed = {}
    for name in frame:
        is_text = name in ("many", "few")
        column = frame[name].fillna("(none)") if is_text else frame[name].astype(float)
        feed[name] = column.to_numpy(dtype=object if is_text else np.float64)[:, np.newaxis]
    return feed


# The same answers


@settings(max_examples=20)
@given(problem=any_problems(missing=True, categories=True), seed=seeds)
def test_onnx_gives_the_classes_and_scores_of_any_model(problem, seed):
    model = fit(problem)
    X = hard_rows(model, problem, seed)
    assert_same_answers(model, run(model.to_onnx(), {"X": X}), X)


@settings(max_examples=20)
@given(problem=any_problems(missing=True, categories=True), seed=seeds)
def test_onnx_gives_the_classes_and_scores_of_any_model_for_float32(problem, seed):
    model = fit(problem)
    X = as_float32(hard_rows(model, problem, seed))
    assert_same_answers(model, run(model.to_onnx(dtype=np.float32), {"X": X}), X)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_text_rare_categories_and_unseen_ones_go_where_predict_sends_them(kind):
    model, frame = text_model(kind)
    frame.loc[:20, "many"] = "an unknown city"
    frame.loc[30:40, "kind"] = np.nan
    assert len(model.infrequent_categories_[0]) > 0
    assert_same_answers(model, run(model.to_onnx(), as_feed(frame)), frame)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_two_classes_and_ties(kind):
    model, X = two_class_model(kind)
    assert_same_answers(model, run(model.to_onnx(), {"X": X}), X)
    assert set(run(model.to_onnx(), {"X": X})[0].tolist()) <= {0, 1}


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_classes_without_weight_are_never_given(kind):
    model, X = weightless_model(kind)
    label, probabilities, scores = answers = run(model.to_onnx(), {"X": X})
    assert_same_answers(model, answers, X)
    assert 1 not in label
    assert probabilities[:, 1].max() < 1e-300  # exp(-inf) is no zero in every version of onnxruntime
    assert (scores[:, 1] == model.decision_function(X)[:, 1]).all()


def test_every_map_of_scores_to_probabilities():
    X, y = load_glass(return_X_y=True)
    for model in (
        CoMBoClassifier(n_estimators=9, proba="vote_fraction"),
        CoMBoClassifier(n_estimators=9, proba="vote_fraction", priors="training"),
        CoMBoClassifier(n_estimators=9, calibration="temperature", priors=np.arange(1, 7) / 21),
        ConfusionBoostingClassifier(n_estimators=9, priors="training"),
        ConfusionBoostingClassifier(n_estimators=9, balance=0.5, loss="exponential"),
    ):
        assert_same_answers(model.fit(X, y), run(model.to_onnx(), {"X": X}), X)


def test_deep_trees_and_many_rows_at_once():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(3000, 3)), random.integers(0, 5, 3000)
    model = CoMBoClassifier(n_estimators=2, max_depth=None).fit(X, y)
    X_new = random.normal(size=(10_000, 3))
    assert_same_answers(model, run(model.to_onnx(), {"X": X_new}), X_new)


@pytest.mark.parametrize("target_opset", [13, 21, {"": 15, "ai.onnx.ml": 4}, {"ai.onnx.ml": 3}])
def test_operators_of_every_version(target_opset):
    model, X = two_class_model(ConfusionBoostingClassifier)
    made = model.to_onnx(target_opset=target_opset)
    assert_same_answers(model, run(made, {"X": X}), X)
    assert {each.domain: each.version for each in made.opset_import}.get("ai.onnx.ml") in (3, 4)


# Pipelines


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pipelines_convert(kind, dtype):
    X, y = load_glass(return_X_y=True)
    X = X.astype(dtype)
    X[::7, 2] = np.nan
    model = make_pipeline(VarianceThreshold(), kind(n_estimators=10)).fit(X, y)
    made = skl2onnx.to_onnx(model, X, options={"zipmap": False})
    label, probabilities = run(made, {"X": X})
    np.testing.assert_array_equal(label, model.predict(X))
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-6)
    assert probabilities.dtype == dtype
    for probability, row in zip(run(skl2onnx.to_onnx(model, X), {"X": X})[1], probabilities, strict=True):
        assert list(probability) == model.classes_.tolist()
        np.testing.assert_allclose(list(probability.values()), row, rtol=1e-6)


def test_options_of_skl2onnx():
    X, y = load_glass(return_X_y=True)
    model = CoMBoClassifier(n_estimators=5).fit(X, y)
    numbered = run(skl2onnx.to_onnx(model, X, options={"nocl": True, "zipmap": False}), {"X": X})
    np.testing.assert_array_equal(model.classes_[numbered[0]], model.predict(X))
    scores = run(skl2onnx.to_onnx(model, X, options={"raw_scores": True, "zipmap": False}), {"X": X})[1]
    np.testing.assert_allclose(scores, model.decision_function(X), rtol=ROUNDING)
    columns = run(skl2onnx.to_onnx(model, X, options={"zipmap": "columns"}), {"X": X})
    assert len(columns) == 1 + len(model.classes_)


def test_data_frames_convert_with_an_input_for_every_column():
    model, frame = text_model(ConfusionBoostingClassifier)
    plain = frame.astype({"kind": float}).fillna({"many": "(none)", "few": "(none)"})
    made = skl2onnx.to_onnx(model, plain, options={"zipmap": False})
    assert [each.name for each in made.graph.input] == list(frame)
    np.testing.assert_array_equal(run(made, as_feed(frame))[0], model.predict(frame))


def test_columns_may_be_called_what_values_of_the_graph_are():
    frame = pd.DataFrame({f"{sound}_{k}": list("abcab") for k in range(6) for sound in ("constant", "scores", "cast")})
    model = CoMBoClassifier(n_estimators=2).fit(frame, [0, 1, 2, 0, 1])
    feed = {name: frame[[name]].to_numpy(dtype=object) for name in frame}
    assert_same_answers(model, run(model.to_onnx(), feed), frame)


def test_text_in_one_tensor_converts():
    X = np.array([["a", "u"], ["b", "u"], ["c", "v"], ["a", "v"]], dtype=object)
    model = CoMBoClassifier(n_estimators=4).fit(X, [0, 1, 2, 0])
    kind = skl2onnx.common.data_types.StringTensorType([None, 2])
    made = skl2onnx.convert_sklearn(model, initial_types=[("X", kind)], options={"zipmap": False})
    np.testing.assert_array_equal(run(made, {"X": X})[0], model.predict(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("outer", [CalibratedClassifierCV, BaggingClassifier])
def test_models_inside_other_models_convert(outer, n_classes, dtype):
    X, y = load_glass(return_X_y=True)
    X, y = X.astype(dtype), np.unique(y, return_inverse=True)[1] % n_classes
    model = outer(CoMBoClassifier(n_estimators=3), n_jobs=1).fit(X, y)
    _, probabilities = run(skl2onnx.to_onnx(model, X, options={"zipmap": False}), {"X": X})
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-5)


def test_raw_scores_of_two_classes_are_the_decision_and_its_opposite():
    model, X = two_class_model(ConfusionBoostingClassifier)
    _, scores = run(skl2onnx.to_onnx(model, X, options={"raw_scores": True, "zipmap": False}), {"X": X})
    decision = model.decision_function(X)
    np.testing.assert_allclose(scores, np.column_stack([-decision, decision]), atol=1e-6)


# What cannot be converted


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_unfitted_models_are_refused(kind):
    with pytest.raises(NotFittedError):
        kind().to_onnx()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dtype": "int32"}, 'dtype=\'int32\'; give "float64" or "float32"'),
        ({"dtype": "numbers"}, "dtype='numbers'"),
        ({"target_opset": 12}, "target_opset=12; give a version from 13 to"),
        ({"target_opset": 10**6}, "the newest that the installed onnx knows"),
        ({"target_opset": "17"}, "target_opset='17'"),
        ({"target_opset": True}, "target_opset=True"),
        ({"target_opset": {"": 17, "ai.onnx.ml": 5}}, "in later ones a leaf has a single value"),
        ({"target_opset": {"ai.onnx.training": 1}}, "give a version from"),
    ],
)
def test_wrong_wishes_are_refused(settings, message):
    model, _ = two_class_model(CoMBoClassifier)
    with pytest.raises(ValueError, match=message):
        model.to_onnx(**settings)


DAYS = [datetime.date(2026, 1, day) for day in (1, 2, 3, 4)]
REFUSED = {
    "estimator": (
        CoMBoClassifier(estimator=DecisionTreeClassifier(max_depth=1)),
        [[1.0], [2.0]],
        [0, 1],
        "estimator=None",
    ),
    "dates": (CoMBoClassifier(), [[1.0], [2.0]], DAYS[:2], "is date; other programs know integers and text"),
    "zeros": (CoMBoClassifier(), [[1.0], [2.0]], ["a", "b\0c"], "holds zero characters"),
    "huge": (CoMBoClassifier(), [[1.0], [2.0]], np.array([1, 2**64 - 1], dtype=np.uint64), "64-bit integers"),
    "days": (
        CoMBoClassifier(),
        pd.DataFrame({"day": pd.Categorical(DAYS)}),
        [0, 1, 0, 1],
        "categories of column 'day'",
    ),
    "large": (
        CoMBoClassifier(categorical_features=[0]),
        np.array([[2**53 + 1], [3]], dtype=object),
        [0, 1],
        "9007199254740993 of column 0 is not exact as float64",
    ),
    "output": (CoMBoClassifier(), pd.DataFrame({"label": ["a", "b", "c"]}), [0, 1, 0], "called 'label'"),
    "proba": (CoMBoClassifier(), [[1.0], [2.0]], [0, 1], "proba='odds'"),
    "curves": (CoMBoClassifier(calibration="isotonic"), [[1.0], [2.0]] * 5, [0, 1] * 5, 'calibration="isotonic"'),
    "decision": (CoMBoClassifier(decision="expected_cost"), [[1.0], [2.0]], [0, 1], "decision='expected_cost'"),
}


@pytest.mark.parametrize(("model", "X", "y", "message"), REFUSED.values(), ids=REFUSED)
def test_models_that_onnx_has_no_word_for_are_refused(model, X, y, message):
    model.fit(X, y)
    if "proba" in message:
        model.set_params(proba="odds")
    with pytest.raises(ValueError, match=message):
        model.to_onnx()


def test_what_predict_refuses_is_refused():
    model, _ = two_class_model(CoMBoClassifier)
    with pytest.raises(ValueError, match="reject_cost=1 would be ignored"):
        model.set_params(reject_cost=1).to_onnx()


def test_inputs_that_do_not_fit_are_refused():
    model, frame = text_model(CoMBoClassifier)
    types = skl2onnx.common.data_types
    numbers, text = types.FloatTensorType([None, 1]), types.StringTensorType([None, 1])
    for types_given, message in (
        ([("a", types.FloatTensorType([None, 4]))], "gives numbers for column 'many', which held text"),
        ([(name, text) for name in frame], "gives text for column 'number', which held numbers"),
        ([("many", text), ("few", text), ("number", numbers)], "hold 3 features, and the model was fitted on 4"),
    ):
        with pytest.raises(ValueError, match=message):
            skl2onnx.convert_sklearn(model, initial_types=types_given)
    with pytest.raises(ValueError, match="comboost needs at least 13"):
        skl2onnx.to_onnx(two_class_model(CoMBoClassifier)[0], np.zeros((1, 2)), target_opset=12)


def test_packages_that_are_not_there_are_named(monkeypatch):
    model, _ = two_class_model(CoMBoClassifier)
    for package, ask in (("onnx", model.to_onnx), ("skl2onnx", register_converters)):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(ImportError, match=f"needs {package}, which is not installed. Run `pip install {package}`"):
            ask()


def test_models_pass_the_checks_of_onnx():
    model, _ = text_model(AdaBoostMMClassifier)
    onnx.checker.check_model(model.to_onnx(), full_check=True)


def test_scaled_pipelines_keep_their_classes():
    X, y = load_glass(return_X_y=True)
    model = make_pipeline(StandardScaler(), ConfusionBoostingClassifier(n_estimators=10)).fit(X, y)
    made = skl2onnx.to_onnx(model, X, options={"zipmap": False})
    np.testing.assert_array_equal(run(made, {"X": X})[0], model.predict(X))
