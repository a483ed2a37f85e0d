"""A process may be forked at any time: no call imports a module, whose lock the child would wait for forever.

Exempt are calls that need an optional package, those that scikit-learn implements, and the first one with a data frame:
docs/reliability.md lists them.
"""

import subprocess
import sys

BEGINNING = """
import io, pickle, sys
import numpy as np
import comboost.metrics, comboost.model_selection
from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier, load_model
from comboost.datasets import load_new_thyroid

X, y = load_new_thyroid(return_X_y=True)
late = {}

def call(name, function):
    before = {*sys.modules}
    result = function()
    if new := {*sys.modules} - before:
        late[name] = sorted(new)
    return result
"""

#: All public methods, which are called with X unless they are named.
METHODS = """
OPTIONAL = {"plot_tree", "to_onnx", "to_shap", "train_confusion_frame", "trees_to_frame"}
INHERITED = {"get_metadata_routing", "set_fit_request", "set_score_request", "get_params"}
CALLS = {
    "explain": lambda model: model.explain(X[:2]),
    "export_text": lambda model: model.export_text(0),
    "fit": lambda model: model.fit(X, y),
    "save_model": lambda model: model.save_model(io.BytesIO()),
    "score": lambda model: model.score(X, y),
    "staged_score": lambda model: list(model.staged_score(X, y)),
    "set_callbacks": lambda model: model.set_callbacks(),
    "set_params": lambda model: model.set_params(n_estimators=2),
    "to_c": lambda model: model.to_c(),
    **{name: lambda model, name=name: list(getattr(model, name)(X[:5])) for name in (
        "predict", "predict_proba", "predict_log_proba", "decision_function",
        "staged_predict", "staged_predict_proba", "staged_decision_function",
    )},
}
for kind in (CoMBoClassifier, ConfusionBoostingClassifier, AdaBoostMMClassifier):
    model = kind(n_estimators=2)
    call("fit", lambda: model.fit(X, y))
    for name in dir(model):
        if name.startswith("_") or name in OPTIONAL | INHERITED:
            continue
        attribute = call(name, lambda: getattr(model, name, None))
        if callable(attribute):
            call(name, lambda: CALLS[name](model))
    stream = io.BytesIO()
    model.save_model(stream)
    call("load_model", lambda: load_model(io.BytesIO(stream.getvalue())))
    call("pickle", lambda: pickle.loads(pickle.dumps(model)))
"""

#: Functions of metrics and model_selection, and fits that take other ways.
OTHERS = """
for variant in (
    dict(calibration="temperature"), dict(calibration="isotonic"), dict(early_stopping=True, n_estimators=30),
    dict(early_stopping=True, scoring="balanced_accuracy"), dict(warm_start=True), dict(norm="worst-class"),
    dict(cost_matrix={0: 2.0, 1: 1.0, 2: 1.0}), dict(n_jobs=2), dict(verbose=1), dict(priors="training"),
):
    for kind in (CoMBoClassifier, ConfusionBoostingClassifier):
        model = kind(**{"n_estimators": 2, **variant})
        labels = np.unique(y, return_inverse=True)[1]
        call(f"{kind.__name__}: {variant}", lambda: model.fit(X, labels).predict_proba(X))
for table in (X.astype(np.float32), X.tolist(), __import__("scipy.sparse").sparse.csr_array(X)):
    call(f"a {type(table).__name__}", lambda: CoMBoClassifier(n_estimators=2).fit(table, y).predict(table))
frame = __import__("pandas").DataFrame(X).astype({0: "category"}).assign(when=np.datetime64("2026-01-01"))
frame.columns = frame.columns.astype(str)
CoMBoClassifier(n_estimators=1).fit(frame, y)
call("a frame", lambda: CoMBoClassifier(n_estimators=2).fit(frame, y).predict(frame))
texts = np.array([["a", 1], ["b", 2]] * 20, dtype=object)
call("text", lambda: CoMBoClassifier(n_estimators=2, categorical_features=[0]).fit(texts, [0, 1] * 20).predict(texts))
model = CoMBoClassifier(n_estimators=2).fit(X, y)
predicted = model.predict(X)
ARGUMENTS = {
    "balanced_log_loss": (y, model.predict_proba(X)), "mauc_score": (y, model.predict_proba(X)),
    "soft_confusion_matrix": (y, model.decision_function(X)), "get_scorer": ("neg_confusion_norm",),
}
for name in comboost.metrics.__all__:
    call(name, lambda: getattr(comboost.metrics, name)(*ARGUMENTS.get(name, (y, predicted))))
scorer = comboost.metrics.get_scorer("neg_confusion_norm")
call("a scorer", lambda: scorer(model, X, y))
call("folds", lambda: comboost.model_selection.cross_validate_confusion(model, X, y, cv=2))
call("interval", lambda: comboost.model_selection.wilson_interval(0.75, 4))
"""


def test_no_call_imports_a_module():
    code = f"{BEGINNING}{METHODS}{OTHERS}print(late)"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "{}"
