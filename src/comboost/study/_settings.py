"""What results depend on. In: a study. Out: a description of all of it as plain data, and how two of them differ."""

import hashlib
import json
import platform
import re
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from comboost import __version__
from comboost.study._folds import Task, run_task
from comboost.study._methods import METHODS, find_obstacle
from comboost.study._selection import ENOUGH_ROWS, N_PARTS, N_RESAMPLES, SURE
from comboost.study._study import Study

FORMAT = 2  # of the files in a folder
FINGERPRINTED = ("CoMBo", "AdaBoost.MM", "AdaBoost.NC", "SMOTEBoost", "CoMBo deep")
OPTIONAL = ("libraries.", "behaviour.")
LIBRARIES = ("numpy", "scipy", "scikit-learn", "imbalanced-learn")


def describe(study: Study) -> dict[str, Any]:
    """Describe all that the results depend on, as plain data.

    Which data sets, methods and runs are asked for is not part of it: a fold's result is the same whatever else runs,
    so a folder may grow.

    Parameters
    ----------
    study : Study
        The numbers of the experiment.

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
        "rule": {"parts": N_PARTS, "enough_rows": ENOUGH_ROWS, "resamples": N_RESAMPLES, "sure": SURE},
        "behaviour": {name: fingerprint_method(name) for name in FINGERPRINTED},
        "candidates": {name: [*method.candidates, *method.category_candidates] for name, method in METHODS.items()},
    }


def find_differences(stored: dict[str, Any], current: dict[str, Any]) -> list[str]:
    """Name what differs between two descriptions.

    A library that is missing on one side, and what a method does that cannot run without it, make no difference: no
    result was made with them.

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
    """Add to the description of a folder what was missing when it was made."""
    known = {
        part: {name: (stored.get(part) or {}).get(name) or found for name, found in current[part].items()}
        for part in ("libraries", "behaviour")
    }
    return current | known


def flatten(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Turn a dict of dicts into one, with dots in its keys."""
    leaves: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            leaves |= flatten(value, f"{prefix}{key}.")
        else:
            leaves[prefix + key] = value
    return leaves


def find_version(name: str) -> str | None:
    """Find the version of a library; None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def fingerprint_method(method: str) -> str | None:
    """Say in a few letters what a method does, since a version under development keeps its number while that changes.

    None if the method cannot run here.
    """
    if find_obstacle(METHODS[method]) is not None:
        return None
    tiny = Study(n_rounds=3, n_rival_rounds=3)
    results = [run_task(Task(dataset, method, 0, 0), tiny) for dataset in ("glass", "car")]
    # Six digits: another CPU may differ in the last one without being another algorithm.
    kept = ("measures", "counts", "setting", "candidates", "n_iter")
    told = json.dumps([[result[name] for name in kept] for result in results])
    digits = re.sub(r"\d+\.\d+(e-?\d+)?", lambda number: f"{float(number[0]):.6g}", told)
    return hashlib.sha256(digits.encode()).hexdigest()[:12]
