"""Fourteen models stay the same, to the bit. ``pytest --regenerate`` shows and stores what a change moves."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from golden.problems import PROBLEMS

from comboost.metrics import confusion_norm_loss, geometric_mean_score

RESULTS = Path(__file__).parent / "results"


def arrays_of(model, X):
    """Fitted arrays by their names: public ones, those of the forest, and the scores of the samples."""
    arrays = {name: value for name, value in vars(model).items() if name.endswith("_")}
    arrays = {name: value for name, value in arrays.items() if isinstance(value, np.ndarray) and value.dtype != object}
    if hasattr(model, "_forest"):
        forest = model._forest
        arrays |= {"nodes": forest.nodes, "sets": forest.sets, "offsets": forest.offsets, "weights": forest.weights}
        if forest.leaf_values is not None:
            arrays["leaf_values"] = forest.leaf_values
    return arrays | {"scores": model.decision_function(X)}


def describe(model, X, y):
    """Digests of the arrays of a model, and metrics that show how much a change matters."""
    predicted = model.predict(X)
    metrics = {"confusion_norm": confusion_norm_loss(y, predicted), "g_mean": geometric_mean_score(y, predicted)}
    if hasattr(model, "loss_curve_"):
        metrics["loss"] = model.loss_curve_[-1]
    digests = {name: hashlib.sha256(array.tobytes()).hexdigest()[:16] for name, array in arrays_of(model, X).items()}
    return {
        "n_iter": model.n_iter_,
        "stop_reason": model.stop_reason_,
        "metrics": {name: float(value) for name, value in metrics.items()},
        "digests": dict(sorted(digests.items())),
    }


def difference(now, then):
    """How far the metrics moved, and which arrays did."""
    moved = [f"{name} {then['metrics'][name]:.6g} -> {value:.6g}" for name, value in now["metrics"].items()]
    changed = [name for name, digest in now["digests"].items() if digest != then["digests"].get(name)]
    return f"{', '.join(moved)}; other bytes in: {', '.join(changed) or 'none'}"


@pytest.mark.parametrize("name", PROBLEMS)
def test_model_is_the_one_that_is_kept(name, request, record_property):
    path = RESULTS / f"{name}.json"
    now = describe(*PROBLEMS[name]())
    then = json.loads(path.read_text()) if path.exists() else now
    if request.config.getoption("--regenerate"):
        path.write_text(json.dumps(now, indent=1) + "\n")
        record_property("golden", f"{name}: {difference(now, then)}")
        return
    assert path.exists(), f"{name} has no result yet; run pytest tests/golden --regenerate"
    assert {**now, "metrics": None} == {**then, "metrics": None}, difference(now, then)
    assert now["metrics"] == pytest.approx(then["metrics"], rel=1e-9)  # the norm comes from LAPACK
