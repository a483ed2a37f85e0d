"""Who answers. In: a fitted model. Out: functions that take rows and give classes or scores, on one thread."""

import ctypes
import importlib
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]
Answer = Callable[[Rows], Any]

LOOP = """
void predict_rows(const double *X, long n_samples, int *classes) {
    for (long i = 0; i < n_samples; ++i) classes[i] = predict(X + i * N_FEATURES);
}
"""


def in_c(model: Any, n_features: int) -> Answer:
    """The C file, compiled, with a loop over rows."""
    folder = Path(tempfile.mkdtemp())
    (folder / "model.c").write_text(model.to_c() + LOOP.replace("N_FEATURES", str(n_features)))
    command = ["cc", "-std=c99", "-O2", "-shared", "-fPIC", str(folder / "model.c"), "-o", str(folder / "model.so")]
    subprocess.run(command, check=True)
    predict = ctypes.CDLL(str(folder / "model.so")).predict_rows
    predict.argtypes = [ctypes.c_void_p, ctypes.c_long, ctypes.c_void_p]

    def answer(X: Rows) -> Any:
        classes = np.empty(len(X), dtype=np.int32)
        predict(X.ctypes.data, len(X), classes.ctypes.data)
        return classes

    return answer


def in_onnxruntime(model: Any) -> Answer:
    """An ONNX model in onnxruntime: label and probabilities."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # onnxruntime warns of shapes in the models of onnxmltools with every call
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    outputs = [each.name for each in session.get_outputs()][:2]
    return lambda X: session.run(outputs, {"X": X})


def lightgbm_single(booster: Any, n_features: int, n_classes: int) -> Answer:
    """LightGBM's fastest call for one row, of its C interface."""
    basic = importlib.import_module("lightgbm.basic")
    library, config = basic._LIB, ctypes.c_void_p()
    raw_scores, doubles = 1, 1
    library.LGBM_BoosterPredictForMatSingleRowFastInit(
        booster._handle, raw_scores, 0, -1, doubles, n_features, b"num_threads=1", ctypes.byref(config)
    )
    out, length = np.empty(n_classes), ctypes.c_int64()

    def answer(X: Rows) -> Any:
        library.LGBM_BoosterPredictForMatSingleRowFast(
            config, ctypes.c_void_p(X.ctypes.data), ctypes.byref(length), ctypes.c_void_p(out.ctypes.data)
        )
        return out

    answer.booster = booster  # type: ignore[attr-defined]  # which must outlive the call
    return answer


def lightgbm_onnx(booster: Any, n_features: int) -> Any:
    """LightGBM's model as ONNX, by onnxmltools; an ImportError if that is not installed."""
    onnxmltools = importlib.import_module("onnxmltools")
    types = importlib.import_module("onnxmltools.convert.common.data_types")
    inputs = [("X", types.FloatTensorType([None, n_features]))]
    return onnxmltools.convert_lightgbm(booster, initial_types=inputs, zipmap=False, target_opset=15)
