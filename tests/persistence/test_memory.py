"""What a small model file can take is planned: thresholds of many features, and long names of classes."""

import io
import subprocess
import sys

import numpy as np
import pytest
from memory import peak_of

from comboost import CoMBoClassifier, load_model
from comboost._engine import memory

#: A model whose tree splits at every one of many features, made from one with few; then the memory while it is loaded.
WIDE = """
import io, sys
import numpy as np
from comboost import CoMBoClassifier, load_model
from comboost._engine import memory
from comboost._engine.forest import Forest
from comboost._types import LEAF, NO_SET, NODE_DTYPE

def status(key):
    lines = dict(line.split(":") for line in open("/proc/self/status").read().splitlines())
    return 1024 * int(lines[key].split()[0])

n = int(sys.argv[1])
nodes = np.zeros(2 * n + 1, dtype=NODE_DTYPE)
nodes["set"] = NO_SET
nodes["feature"] = nodes["left"] = LEAF
nodes["feature"][: 2 * n : 2] = np.arange(n)
nodes["left"][: 2 * n : 2] = np.arange(1, 2 * n, 2)
arrays = nodes, np.empty((0, 32), np.uint8), np.array([0, len(nodes)]), np.ones(1), np.zeros(n, np.uint8)
model = CoMBoClassifier(n_estimators=1).fit([[0.0], [1.0]], [0, 1])
changed = {"_forest": Forest(*arrays, 2), "n_features_in_": n, "estimator_weights_": np.ones(1)}
zeros = {"feature_importances_": np.zeros(n), "_importances": np.zeros(n)}
model.__dict__ = {**vars(model), **changed, **zeros}
stream = io.BytesIO()
model.save_model(stream)

plans = []
memory.check_room = lambda task, needed, advice: plans.append(sum(needed.values()))
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
load_model(stream.seek(0) or stream)
print(status("VmHWM") - before, max(plans), len(stream.getvalue()))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
def test_thresholds_of_many_features_take_what_is_planned():
    done = subprocess.run([sys.executable, "-c", WIDE, "40000"], capture_output=True, text=True, check=True)
    peak, planned, size = map(int, done.stdout.split())
    assert planned > 20 * size
    assert abs(peak - planned) <= 0.2 * planned


@pytest.fixture
def named():
    """A model whose classes have long names, and rows to predict."""
    names = np.array(["a" * 4000, "b"])
    return CoMBoClassifier(n_estimators=1).fit([[0.0], [1.0]], names), np.zeros((5000, 1))


@pytest.mark.parametrize("method", ["predict", "staged_predict"])
def test_labels_with_long_names_take_what_is_planned(method, named, monkeypatch):
    model, X = named
    plans = []
    monkeypatch.setattr(memory, "check_room", lambda task, needed, advice: plans.append(sum(needed.values())))
    peak = peak_of(lambda: model.predict(X) if method == "predict" else next(model.staged_predict(X)))
    assert max(plans) == 5000 * 4000 * 4
    assert max(plans) <= peak <= 1.2 * max(plans)


def test_labels_that_do_not_fit_are_refused_before_they_are_made(named, monkeypatch):
    model, X = named
    monkeypatch.setattr(memory, "available_memory", lambda: 10**6)
    with pytest.raises(MemoryError, match=r"The labels of 5000 rows need.* 0.1 of them for text of 4000 characters"):
        model.predict(X)
    assert model.predict(X[:9]).tolist() == ["a" * 4000] * 9


def test_model_whose_thresholds_do_not_fit_is_refused(monkeypatch):
    X = np.eye(60)
    model = CoMBoClassifier(n_estimators=60, max_depth=1).fit(X, np.arange(60) % 3)
    stream = io.BytesIO()
    model.save_model(stream)
    n_used = len(np.unique(model._forest.nodes["feature"])) - 1
    needed = 2048 * 2 ** int(np.ceil(np.log2(n_used)))
    assert needed > len(stream.getvalue())
    monkeypatch.setattr(memory, "NOT_WORTH_ASKING", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 10 * needed)
    content = io.BytesIO(stream.getvalue())
    monkeypatch.setattr("comboost._persistence.model_file.MEMORY_PER_BYTE", 0)
    assert load_model(content).n_features_in_ == 60
    monkeypatch.setattr(memory, "available_memory", lambda: needed - 1)
    with pytest.raises(MemoryError, match=rf"the thresholds of {n_used} features"):
        load_model(io.BytesIO(stream.getvalue()))
