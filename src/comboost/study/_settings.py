"""Everything that stored results depend on, as plain data."""

import hashlib
import json
import platform
import re
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from comboost import __version__
from comboost.study._experiment import Study
from comboost.study._folds import ENOUGH_SAMPLES, MIN_WINS, N_PARTS, N_RESAMPLES, Task, run_task
from comboost.study._methods import METHODS, find_obstacle

FORMAT = 3  # of the files in a folder
FINGERPRINTED = ("CoMBo", "AdaBoost.MM", "AdaBoost.NC", "SMOTEBoost", "CoMBo deep")
OPTIONAL = ("libraries.", "behaviour.")
LIBRARIES = ("numpy", "scipy", "scikit-learn", "imbalanced-learn")


def describe(study: Study) -> dict[str, Any]:
    """Describe everything that the results depend on.

    The requested data sets, methods and runs are not part of it: the result of a fold does not depend on them, so a
    folder may grow.

    Parameters
    ----------
    study : Study
        Numbers of the experiment.

    Returns
    -------
    dict
        With the entries format, comboost (its version), libraries, machine, study, rule, behaviour and candidates.
    """
    return {
        "format": FORMAT,
        "comboost": __version__,
        "libraries": {name: find_version(name) for name in LIBRARIES},
        "machine": platform.machine(),
        "study": asdict(study),
        "rule": {
            "n_parts": N_PARTS,
            "enough_samples": ENOUGH_SAMPLES,
            "n_resamples": N_RESAMPLES,
            "min_wins": MIN_WINS,
        },
        "behaviour": {name: fingerprint_method(name) for name in FINGERPRINTED},
        "candidates": {name: [*method.candidates, *method.category_candidates] for name, method in METHODS.items()},
    }


def find_differences(stored: dict[str, Any], current: dict[str, Any]) -> list[str]:
    """List the differences of two descriptions.

    Libraries that are missing on one side, and methods that need them, are ignored: no result depends on them.

    Examples
    --------
    >>> from comboost.study._settings import find_differences
    >>> find_differences({"study": {"seed": 0}}, {"study": {"seed": 1}})
    ['study.seed: 0 in the folder, 1 now']
    """
    old, new = flatten(stored), flatten(current)
    return [
        f"{key}: {old.get(key, 'nothing')} in the folder, {new.get(key, 'nothing')} now"
        for key in dict.fromkeys([*old, *new])
        if old.get(key) != new.get(key) and not (key.startswith(OPTIONAL) and None in (old.get(key), new.get(key)))
    ]


def merge(stored: dict[str, Any], current: dict[str, Any]) -> dict[str, Any]:
    """Complete the description of a folder with libraries and methods that were missing when it was created."""
    known = {
        part: {name: (stored.get(part) or {}).get(name) or found for name, found in current[part].items()}
        for part in ("libraries", "behaviour")
    }
    return current | known


def flatten(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flatten nested dicts into one with dotted keys."""
    leaves: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            leaves |= flatten(value, f"{prefix}{key}.")
        else:
            leaves[prefix + key] = value
    return leaves


def find_version(name: str) -> str | None:
    """Version of a library; None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def fingerprint_method(method: str) -> str | None:
    """Hash of small results of a method, which detects changes within a version; None if it cannot run here."""
    if find_obstacle(METHODS[method]) is not None:
        return None
    tiny = Study(n_rounds=3, n_baseline_rounds=3)
    results = [run_task(Task(dataset, method, 0, 0), tiny) for dataset in ("glass", "car")]
    # Six digits, since CPUs may differ in the last one.
    kept = ("measures", "counts", "setting", "candidates", "n_iter")
    text = json.dumps([[result[name] for name in kept] for result in results])
    digits = re.sub(r"\d+\.\d+(e-?\d+)?", lambda number: f"{float(number[0]):.6g}", text)
    return hashlib.sha256(digits.encode()).hexdigest()[:12]
