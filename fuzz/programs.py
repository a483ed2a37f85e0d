"""Stand-alone programs: lines that check properties, with the imports and functions that they need."""

import ast
from functools import cache
from pathlib import Path

PROPERTIES = Path(__file__).with_name("properties.py")

IMPORTS = {
    "np": "import numpy as np",
    "pd": "import pandas as pd",
    "pl": "import polars as pl",
    "pa": "import pyarrow as pa",
    "sparse": "from scipy import sparse",
    "datetime": "import datetime",
    "re": "import re",
    "signal": "import signal",
    "warnings": "import warnings",
    "Decimal": "from decimal import Decimal",
    "Fraction": "from fractions import Fraction",
    "DecisionTreeClassifier": "from sklearn.tree import DecisionTreeClassifier",
    "LogisticRegression": "from sklearn.linear_model import LogisticRegression",
    "CoMBoClassifier": "from comboost import CoMBoClassifier",
    "AdaBoostMMClassifier": "from comboost import AdaBoostMMClassifier",
    "ConfusionBoostingClassifier": "from comboost import ConfusionBoostingClassifier",
    "AdaBoostNCClassifier": "from comboost.baselines import AdaBoostNCClassifier",
    "SMOTEBoostClassifier": "from comboost.baselines import SMOTEBoostClassifier",
    "metrics": "from comboost import metrics",
}


def program(lines: str, *sources: str | Path) -> str:
    """The lines with all they name before them: imports, and functions of `properties` or of other source files."""
    defined: dict[str, str] = {}
    for path in (PROPERTIES, *sources):
        defined |= definitions(Path(path))
    needed = closure(lines, defined)
    imports = sorted({text for name, text in {**IMPORTS, **defined}.items() if name in needed and is_import(text)})
    imports.sort(key=lambda text: "comboost" in text)
    functions = [text for name, text in defined.items() if name in needed and not is_import(text)]
    parts = ["\n".join(imports), *functions, lines.strip()]
    return "\n\n\n".join(part for part in parts if part) + "\n"


def closure(lines: str, defined: dict[str, str]) -> set[str]:
    """All names that the lines need, those that the functions they name need included."""
    needed: set[str] = set()
    fresh = names_in(lines)
    while fresh:
        needed |= fresh
        texts = (defined[name] for name in fresh if name in defined and not is_import(defined[name]))
        fresh = set().union(*(names_in(text) for text in texts)) - needed
    return needed


def names_in(text: str) -> set[str]:
    """The names that stand in a text."""
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


def is_import(text: str) -> bool:
    """Whether a definition is an import."""
    return text.startswith(("import ", "from "))


@cache
def definitions(path: Path) -> dict[str, str]:
    """What stands at the top level of a source file, by its name: functions, classes, constants, imports."""
    text = path.read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).split(".")[0]: import_of(node, alias) for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found[node.name] = "\n".join(text.splitlines()[first - 1 : node.end_lineno])
        elif isinstance(node, ast.Assign):
            found |= {target.id: ast.unparse(node) for target in node.targets if isinstance(target, ast.Name)}
    return found


def import_of(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    """The statement that imports one of the names."""
    one = ast.Import([alias]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [alias], node.level)
    return ast.unparse(one)
