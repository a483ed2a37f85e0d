"""Rules about the code itself: imports go one way, documented defaults are true, the core needs no extra."""

import ast
import importlib.metadata
import inspect
import re
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import comboost
from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier
from comboost.dask import DaskAdaBoostMMClassifier, DaskCoMBoClassifier, DaskConfusionBoostingClassifier

ESTIMATORS = [CoMBoClassifier, AdaBoostMMClassifier, ConfusionBoostingClassifier]
DASK_ESTIMATORS = [DaskCoMBoClassifier, DaskAdaBoostMMClassifier, DaskConfusionBoostingClassifier]
PACKAGE = Path(comboost.__file__).parent
PAGE = Path(__file__).parents[2] / "ARCHITECTURE.md"
LISTED = re.compile(r"^\| `(\w+)` \|", flags=re.MULTILINE)
MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.parent != PACKAGE or path.stem not in ("__init__", "__main__")
}


def package_order():
    """Packages and top-level modules in the order of ARCHITECTURE.md: each imports only what stands above it."""
    return LISTED.findall(PAGE.read_text().split("## Packages")[1].split("\n## ")[0])


ORDER = package_order()


def imported_modules(path):
    """Modules of the package that a module imports when it is imported, as dotted names below the package."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "comboost":
            below = node.module.removeprefix("comboost").lstrip(".")
            for alias in node.names:
                full = f"{below}.{alias.name}".lstrip(".")
                yield full if full in MODULES or full == "_core" else below
        elif isinstance(node, ast.Import):
            yield from (a.name.removeprefix("comboost.") for a in node.names if a.name.startswith("comboost."))


def test_page_lists_every_package():
    assert sorted(ORDER) == sorted({name.split(".")[0] for name in MODULES} | {"_core"})


@pytest.mark.parametrize("name", MODULES)
def test_packages_import_only_those_above_them(name):
    package = name.split(".")[0]
    for other in imported_modules(MODULES[name]):
        imported = other.split(".")[0] or "_estimators"  # `comboost` itself re-exports the estimators
        assert ORDER.index(imported) <= ORDER.index(package), f"{name} imports {other}"


def test_distributed_fits_do_not_depend_on_dask():
    texts = [path.read_text() for name, path in MODULES.items() if name.split(".")[0] == "_distributed"]
    assert not [text for text in texts if re.search(r"^\s*(from|import) (dask|distributed)\b", text, re.MULTILINE)]


def test_modules_do_not_import_each_other_in_circles():
    TopologicalSorter({name: set(imported_modules(path)) - {name} for name, path in MODULES.items()}).prepare()


@pytest.mark.parametrize("estimator", [*ESTIMATORS, *DASK_ESTIMATORS])
def test_documented_defaults_are_the_defaults(estimator):
    documented = dict(re.findall(r"^(\w+) : .*?default=([^,\n]+)$", inspect.getdoc(estimator), flags=re.MULTILINE))
    actual = {name: parameter.default for name, parameter in inspect.signature(estimator).parameters.items()}
    assert {name: ast.literal_eval(text) for name, text in documented.items()} == actual


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_fitted_attributes_are_documented(estimator):
    model = estimator(n_estimators=1).fit([[0.0], [1.0]], [0, 1])
    public = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert public <= set(re.findall(r"^(\w+_) : ", inspect.getdoc(estimator), flags=re.MULTILINE))


WITHOUT_EXTRAS = """
import importlib, importlib.abc, sys

EXTRAS = "typer rich matplotlib jinja2 imblearn dask skops onnx pandas polars pyarrow".split()

class NotInstalled(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in EXTRAS:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, NotInstalled())

def error_of(call):
    try:
        call()
    except ImportError as error:
        return str(error)

import comboost, comboost.metrics, comboost.datasets

from sklearn.base import BaseEstimator
from comboost._data.validation import fit_categories, read_table
raw = read_table(BaseEstimator(), [["1", "a"]], reset=True)
assert raw.encode(fit_categories(raw, [1], None)[0]).columns(0, 2).tolist() == [[1.0, 1.0]]

from comboost.displays import ConfusionNormDisplay
display = ConfusionNormDisplay({"a": [[0, 0.5], [0, 0]]}, ["x", "y"])
assert display.norms == {"a": 0.5}
for draw in (display.plot, lambda: ConfusionNormDisplay.from_predictions([0, 1], [0, 1])):
    assert "pip install matplotlib" in error_of(draw)

assert 'pip install "comboost[baselines]"' in error_of(lambda: importlib.import_module("comboost.baselines"))

from comboost.cli import main
main()
"""


def test_without_extras_tables_are_read_and_what_needs_one_names_it():
    done = subprocess.run([sys.executable, "-c", WITHOUT_EXTRAS], capture_output=True, text=True, check=False)
    assert 'pip install "comboost[cli]"' in done.stderr
    assert "Traceback" not in done.stderr
    assert (done.returncode, done.stdout) == (1, "")


def test_import_works_without_docstrings_and_brings_no_extra_that_is_installed():
    extras = {"typer", "rich", "matplotlib", "jinja2", "imblearn", "dask", "skops", "onnx", "polars", "pyarrow"}
    program = f"import sys, comboost; print(*{extras} & set(sys.modules))"
    printed = subprocess.run([sys.executable, "-OO", "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.split() == []


def test_version_is_that_of_the_distribution():
    assert comboost.__version__ == importlib.metadata.version("comboost")
    printed = subprocess.run(
        [sys.executable, "-m", "comboost", "--version"], capture_output=True, text=True, check=True
    )
    assert printed.stdout == f"comboost {comboost.__version__}\n"
    project = Path(__file__).parents[2] / "pyproject.toml"
    if project.exists():
        assert comboost.__version__ == tomllib.loads(project.read_text())["project"]["version"]
