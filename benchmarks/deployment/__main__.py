"""``python -m benchmarks.deployment``: rows per second of deployed models, beside LightGBM, on one thread.

In: drawn rows with 3 and with 10 classes; as many trees of 8 leaves of ours as rounds of LightGBM, a tree per class
each. Out: thousands of rows per second of CPU time, the best of several, in batches of 1, 1000 and 100 000 rows, and
sizes.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.deployment.runtimes import Answer, in_c, in_onnxruntime, lightgbm_onnx, lightgbm_single
from comboost import CoMBoClassifier, ConfusionBoostingClassifier

N_FEATURES, N_ROUNDS, N_TRAINING = 20, 200, 5000
BATCHES = (1, 1000, 100_000)
MANY_CALLS, FEW_CALLS = 2000, 10  # with one row, and with more
PATIENCE = 1.0  # seconds, after which a measurement is not repeated
REPEATS = 5


def draw_rows(n_classes: int, n_samples: int, seed: int) -> tuple[Any, Any]:
    """Rows whose classes overlap."""
    random = np.random.default_rng(seed)
    y = random.integers(0, n_classes, n_samples)
    centres = np.random.default_rng(n_classes).normal(size=(n_classes, N_FEATURES))
    return centres[y] + random.normal(0.0, 2.0, size=(n_samples, N_FEATURES)), y


def rate(answer: Answer, X: Any, batch: int) -> float:
    """Rows per second of CPU time."""
    n_samples = min(len(X), max(MANY_CALLS, FEW_CALLS * batch))
    parts = [X[i : i + batch] for i in range(0, n_samples, batch)]
    answer(parts[0])
    best, spent = np.inf, 0.0
    for _ in range(REPEATS):
        begin = time.process_time()
        for part in parts:
            answer(part)
        taken = time.process_time() - begin
        best, spent = min(best, taken), spent + taken
        if spent > PATIENCE:
            break
    return float(sum(map(len, parts)) / best)


def comboost_answers(kind: Any, X: Any, y: Any) -> dict[str, tuple[Answer, Any, tuple[int, ...], str]]:
    """Ours: in Python, in onnxruntime, in C; with the type of rows, the batches and the size."""
    model = kind(n_estimators=N_ROUNDS, max_depth=3).fit(X, y)
    made, source = model.to_onnx(dtype=np.float32), model.to_c()
    name = kind.__name__.removesuffix("Classifier")
    onnx_size, c_size = (f"{n / 1024:.0f} KiB" for n in (made.ByteSize(), len(source)))
    return {
        f"{name}, decision_function": (model.decision_function, np.float64, BATCHES, ""),
        f"{name}, onnxruntime": (in_onnxruntime(made), np.float32, BATCHES, onnx_size),
        f"{name}, C": (in_c(model, N_FEATURES), np.float64, BATCHES, c_size),
    }


def lightgbm_answers(X: Any, y: Any, n_classes: int) -> dict[str, tuple[Answer, Any, tuple[int, ...], str]]:
    """LightGBM's: its own calls, and in onnxruntime."""
    import lightgbm

    settings = {"objective": "multiclass", "num_class": n_classes, "num_leaves": 8, "max_depth": 3, "num_threads": 1}
    booster = lightgbm.train({**settings, "verbosity": -1}, lightgbm.Dataset(X, y), N_ROUNDS)
    predict: Callable[[Any], Any] = lambda rows: booster.predict(rows, raw_score=True, num_threads=1)  # noqa: E731
    answers: dict[str, tuple[Answer, Any, tuple[int, ...], str]] = {
        "LightGBM, predict": (predict, np.float64, BATCHES, f"{len(booster.model_to_string()) / 1024:.0f} KiB"),
        "LightGBM, C interface": (lightgbm_single(booster, N_FEATURES, n_classes), np.float64, (1,), ""),
    }
    try:
        made = lightgbm_onnx(booster, N_FEATURES)
    except ImportError as reason:
        print(f"LightGBM in onnxruntime is left out: {reason}")
        return answers
    size = f"{made.ByteSize() / 1024:.0f} KiB"
    return answers | {"LightGBM, onnxruntime": (in_onnxruntime(made), np.float32, BATCHES, size)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.deployment", description=__doc__)
    parser.parse_args()
    for n_classes in (3, 10):
        X, y = draw_rows(n_classes, N_TRAINING, 0)
        X_new, _ = draw_rows(n_classes, max(BATCHES), 1)
        print(f"\n{N_ROUNDS} rounds, {n_classes} classes: thousand rows per second\n")
        print("| | batch of 1 | 1 000 | 100 000 | size |\n|---|---|---|---|---|")
        answers = comboost_answers(CoMBoClassifier, X, y) | comboost_answers(ConfusionBoostingClassifier, X, y)
        for name, (answer, dtype, batches, size) in (answers | lightgbm_answers(X, y, n_classes)).items():
            rows = X_new.astype(dtype)
            rates = [f"{rate(answer, rows, batch) / 1000:.4g}" if batch in batches else "" for batch in BATCHES]
            print(f"| {name} | {' | '.join(rates)} | {size} |", flush=True)


if __name__ == "__main__":
    main()
