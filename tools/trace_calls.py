"""Count the functions and modules of comboost that the first ``fit`` and the first ``predict`` run.

    python tools/trace_calls.py            # counts per module
    python tools/trace_calls.py --names    # and the functions

Lambdas and comprehensions count as functions, as they do for the reader.
"""

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

import comboost
from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier

PACKAGE = os.path.dirname(comboost.__file__)
MODELS = (
    ConfusionBoostingClassifier(n_estimators=5),
    ConfusionBoostingClassifier(n_estimators=5, max_depth=3, smoothing=10.0),
    CoMBoClassifier(n_estimators=5),
    AdaBoostMMClassifier(n_estimators=5),
)

Calls = dict[str, set[str]]  # functions by module


def trace(call: Callable[[], Any]) -> Calls:
    """Return the package's functions that a call runs, in this thread, by module."""
    calls: Calls = defaultdict(set)

    def record(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            calls[os.path.relpath(code.co_filename, PACKAGE)].add(code.co_qualname)

    sys.setprofile(record)
    try:
        call()
    finally:
        sys.setprofile(None)
    return dict(calls)


def trace_model(model: Any) -> dict[str, Calls]:
    """Return the calls of ``fit`` and of ``predict`` on a small problem."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(300, 5)), random.integers(0, 3, 300)
    return {"fit": trace(lambda: model.fit(X, y)), "predict": trace(lambda: model.predict(X))}


def count(calls: Calls) -> tuple[int, int]:
    """Return the numbers of functions and of modules."""
    return sum(map(len, calls.values())), len(calls)


def main() -> None:
    """Print the counts of all models."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", action="store_true", help="print the functions, too")
    with_names = parser.parse_args().names
    for model in MODELS:
        for method, calls in trace_model(model).items():
            n_functions, n_modules = count(calls)
            print(f"{model!r}.{method}: {n_functions} functions in {n_modules} modules")
            for module in sorted(calls):
                names = f"  {', '.join(sorted(calls[module]))}" if with_names else ""
                print(f"  {len(calls[module]):>4}  {module}{names}")


if __name__ == "__main__":
    main()
