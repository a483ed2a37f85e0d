"""Parameters of an estimator, versions of packages, and how to reproduce a report."""

import inspect
import platform
import re
from typing import Any

import numpy
import scipy
import sklearn

from comboost import __version__
from comboost._data.checks import shown
from comboost._stats.formatting import format_confidence, shorten, text_of
from comboost.report._collect.request import EvaluationRequest

ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")  # of an object; it differs in every process
NO_DEFAULT = "none"
MAX_VALUE = 100  # characters
STORED = {"target_name_": "target column", "missing_markers_": "missing-value markers"}  # by comboost fit


def describe_parameters(estimator: Any) -> list[dict[str, Any]]:
    """Every parameter with its value and default."""
    if not hasattr(estimator, "get_params"):
        return []
    signature = inspect.signature(type(estimator)).parameters
    entries = []
    for name, value in sorted(estimator.get_params(deep=False).items()):
        default = signature[name].default if name in signature else inspect.Parameter.empty
        text, usual = value_text(value), NO_DEFAULT if default is inspect.Parameter.empty else value_text(default)
        entries.append({"name": text_of(name), "value": text, "default": usual, "changed": text != usual})
    for attribute, name in STORED.items():
        if hasattr(estimator, attribute):
            text = value_text(getattr(estimator, attribute))
            entries.append({"name": name, "value": text, "default": NO_DEFAULT, "changed": True})
    return entries


def value_text(value: Any) -> str:
    """A value in one line, the same in every process."""
    try:
        text = repr(value)
    except ValueError:  # Python does not convert integers of more than 4300 digits
        text = shown(value)
    return shorten(text_of(" ".join(ADDRESS.sub("", text).split())), MAX_VALUE)


def list_versions() -> dict[str, str]:
    """Versions of the packages that compute the numbers."""
    return {
        "comboost": __version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def describe_reproduction(request: EvaluationRequest, data_digest: str) -> dict[str, Any]:
    """Methods, code and a digest of the data."""
    return {
        "sentences": [
            "The same model, samples and versions give the same report, byte for byte. Sample weights are not used.",
            f"Confidence level: {format_confidence(request.confidence)}. Recalls have Wilson intervals; the worst "
            "recall and the verdict without a baseline use simultaneous Clopper-Pearson intervals. Differences of "
            "recalls have simultaneous (Bonferroni) Newcombe intervals for paired proportions, widened to include 0 "
            "where McNemar's exact test is not significant. All other metrics have Student's t intervals with "
            f"standard errors from a bootstrap within every class (random_state={request.random_state}); those of "
            "differences are widened to include 0 where a permutation test is not significant.",
            "The digest is a SHA-256 of the samples and their classes, in their order.",
        ],
        "code": request.command or python_code(request),
        "data_digest": data_digest,
    }


def python_code(request: EvaluationRequest) -> str:
    """Code that makes the report."""
    options = [f"{name}={name}" for name in ("baseline", "X_baseline") if getattr(request, name) is not None]
    for name in ("name", "baseline_name", "target", "source", "confidence"):
        if getattr(request, name) is not None:
            options.append(f"{name}={getattr(request, name)!r}")
    return (
        "from comboost.report import ModelReport\n\n"
        f"report = ModelReport(model, X, y, {', '.join(options)}, random_state={int(request.random_state)})\n"
        'report.save("report.html")'
    )
