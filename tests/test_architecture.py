"""Rules about the code itself: imports go one way, docstrings tell the truth, the core needs no extra."""

import ast
import importlib.metadata
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import comboost
from comboost import AdaBoostMMClassifier, CoMBoClassifier
from comboost.dask import DaskAdaBoostMMClassifier, DaskCoMBoClassifier

PACKAGE = Path(inspect.getfile(CoMBoClassifier)).parent
LAYERS = [
    {"_dtypes", "_core", "_parameters"},
    {"_categories", "_costs", "_memory", "_callbacks", "_progress", "_export"},
    {"_sources", "_training_set", "_tree", "metrics"},
    {"_table", "_rows", "_validation"},
    {"_binning", "_voting"},
    {"_learners", "_voter"},
    {"_boosting"},
    {"_origin", "_watching"},
    {"_fits"},
    {"_training"},
    {"_classifier"},
    {"comboost", "baselines", "dask", "datasets"},
    {"study"},
    {"cli"},
    {"__main__"},
]
LEVEL = {module: level for level, modules in enumerate(LAYERS) for module in modules}


def imported_modules(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "comboost":
            yield from (alias.name if alias.name in LEVEL else "comboost" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("comboost."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("comboost."))


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way_only(path):
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py").replace("__init__", "comboost")
    for other in imported_modules(path):
        assert other == own or LEVEL[other] < LEVEL[own], f"{own} imports {other}"


@pytest.mark.parametrize(
    "estimator", [CoMBoClassifier, AdaBoostMMClassifier, DaskCoMBoClassifier, DaskAdaBoostMMClassifier]
)
def test_documented_defaults_are_the_defaults(estimator):
    documented = dict(re.findall(r"^(\w+) : .*?default=([^,\n]+)$", inspect.getdoc(estimator), flags=re.MULTILINE))
    actual = {name: parameter.default for name, parameter in inspect.signature(estimator).parameters.items()}
    assert {name: ast.literal_eval(text) for name, text in documented.items()} == actual


@pytest.mark.parametrize("estimator", [CoMBoClassifier, AdaBoostMMClassifier])
def test_fitted_attributes_are_documented(estimator):
    model = estimator(n_estimators=1).fit([[0.0], [1.0]], [0, 1])
    public = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert public <= set(re.findall(r"^(\w+_) : ", inspect.getdoc(estimator), flags=re.MULTILINE))


def test_import_needs_no_extra():
    extras = ["typer", "rich", "matplotlib", "jinja2", "imblearn", "dask", "skops", "onnx", "pandas", "polars"]
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({extras})); import comboost, comboost.metrics, comboost.datasets"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_import_works_without_docstrings():
    subprocess.run([sys.executable, "-OO", "-c", "import comboost"], check=True)


def test_version_is_that_of_the_distribution():
    assert comboost.__version__ == importlib.metadata.version("comboost")
    printed = subprocess.run(
        [sys.executable, "-m", "comboost", "--version"], capture_output=True, text=True, check=True
    )
    assert printed.stdout == f"comboost {comboost.__version__}\n"
    project = Path(__file__).parent.parent / "pyproject.toml"
    if project.exists():
        assert comboost.__version__ == tomllib.loads(project.read_text())["project"]["version"]
