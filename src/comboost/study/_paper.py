"""The paper's own figures. In: nothing. Out: what its four tables say, as printed."""

import json
from functools import cache
from importlib import resources
from typing import Any


@cache
def read_paper() -> dict[str, Any]:
    """Read the figures of the paper's tables.

    Returns
    -------
    dict
        ``distributions`` by data set; ``rivals`` and ``mm`` by measure, data set and method, each figure with mean and
        std and, if the paper has them, the marks bold and worst (its dagger); ``connect`` with the classes and the
        two confusion matrices; ``notes`` on misprints.

    Examples
    --------
    >>> from comboost.study import read_paper
    >>> read_paper()["mm"]["confusion_norm"]["balance"]["CoMBo"]
    {'mean': 0.46, 'std': 0.097, 'bold': True}
    """
    text = (resources.files("comboost.study") / "paper.json").read_text(encoding="utf-8")
    figures: dict[str, Any] = json.loads(text)
    return figures
