"""How a model was set. In: an estimator. Out: its parameters beside their defaults, and what its file stores."""

import inspect
import re
from typing import Any

from comboost._data.checks import shown
from comboost.displays._labels import shorten
from comboost.report._wording import text_of

ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")  # of an object: another one in every process
NO_DEFAULT = "none"
LONGEST_VALUE = 100  # characters
STORED = {"target_name_": "target column", "missing_marks_": "marks of missing values"}  # by comboost fit


def describe_settings(estimator: Any) -> list[dict[str, Any]]:
    """Every parameter with its value and default; those that differ are marked."""
    if not hasattr(estimator, "get_params"):
        return []
    signature = inspect.signature(type(estimator)).parameters
    entries = []
    for name, value in sorted(estimator.get_params(deep=False).items()):
        default = signature[name].default if name in signature else inspect.Parameter.empty
        told, usual = value_text(value), NO_DEFAULT if default is inspect.Parameter.empty else value_text(default)
        entries.append({"name": text_of(name), "value": told, "default": usual, "changed": told != usual})
    for attribute, name in STORED.items():
        if hasattr(estimator, attribute):
            told = value_text(getattr(estimator, attribute))
            entries.append({"name": name, "value": told, "default": NO_DEFAULT, "changed": True})
    return entries


def value_text(value: Any) -> str:
    """A value in one line, the same in every process."""
    try:
        told = repr(value)
    except ValueError:  # Python writes no integer of more than 4300 digits
        told = shown(value)
    return shorten(text_of(" ".join(ADDRESS.sub("", told).split())), LONGEST_VALUE)
