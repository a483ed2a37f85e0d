"""What ``benchmarks.abi`` asks an interpreter: calls that do little, where the border costs most, and that do much."""

import hashlib
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from comboost import CoMBoClassifier, ConfusionBoostingClassifier


def make_rows(n_samples: int, n_features: int, n_classes: int) -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    X = random.normal(size=(n_samples, n_features))
    return X, (X[:, :n_classes] + random.normal(size=(n_samples, n_classes))).argmax(axis=1)


def best_of(call: Callable[[], Any], n_times: int, n_calls: int = 1) -> tuple[float, Any]:
    """Seconds of a call, of the CPU, since others use it too: the best of some times. And what it gave."""
    seconds = []
    for _ in range(n_times):
        begin = time.process_time()
        for _ in range(n_calls):
            result = call()
        seconds.append((time.process_time() - begin) / n_calls)
    return min(seconds), result


def main() -> None:
    small, large = make_rows(215, 5, 3), make_rows(50_000, 20, 5)
    model = ConfusionBoostingClassifier(n_estimators=50).fit(*large)
    calls: dict[str, tuple[Callable[[], Any], int, int]] = {
        "predict a row": (lambda: model.decision_function(large[0][:1]), 5, 200),
        "predict 50 000 rows": (lambda: model.decision_function(large[0]), 5, 1),
        "fit 215 rows, 50 rounds": (lambda: CoMBoClassifier(n_estimators=50).fit(*small), 5, 5),
        "fit 50 000 rows, 10 rounds": (lambda: ConfusionBoostingClassifier(n_estimators=10).fit(*large), 3, 1),
    }
    figures = {}
    for name, (call, n_times, n_calls) in calls.items():
        seconds, result = best_of(call, n_times, n_calls)
        votes = (
            result if isinstance(result, np.ndarray) else result.decision_function(large[0][:, : result.n_features_in_])
        )
        figures[name] = {"seconds": seconds, "digest": hashlib.sha256(votes.tobytes()).hexdigest()}
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
