"""Rules about the code itself: imports go one way, docstrings tell the truth, the core needs no extra."""

import ast
import collections
import importlib.metadata
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import comboost
from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier
from comboost.dask import DaskAdaBoostMMClassifier, DaskCoMBoClassifier, DaskConfusionBoostingClassifier

ESTIMATORS = [CoMBoClassifier, AdaBoostMMClassifier, ConfusionBoostingClassifier]
DASK_ESTIMATORS = [DaskCoMBoClassifier, DaskAdaBoostMMClassifier, DaskConfusionBoostingClassifier]
PACKAGE = Path(comboost.__file__).parent
PAGE = Path(__file__).parents[1] / "ARCHITECTURE.md"
ROOM = re.compile(r"^\| `(\w+)` \| (.*?) \|", flags=re.MULTILINE)
CORE = {
    path.parent.name for path in PACKAGE.glob("_*/__init__.py")
}  # their modules stand in the order of the data, too


def order_of_modules():
    """Modules and rooms in the order of ARCHITECTURE.md: each may import what stands before it."""
    table = PAGE.read_text().split("## Rooms")[1].split("## One fit")[0]
    order = ["_core"]
    for room, text in ROOM.findall(table):
        order += [f"{room}.{module}" for module in re.findall(r"`(\w+)`", text)] if room in CORE else [room]
    return order


ORDER = order_of_modules()


def place_of(name):
    """The place of a dotted name below the package in the order."""
    parts = name.split(".")
    known = ".".join(parts[:2]) if parts[0] in CORE else parts[0]
    return ORDER.index(known)


def imported_names(path):
    """What a module imports of the package, as dotted names below it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "comboost":
            below = node.module.removeprefix("comboost").lstrip(".")
            for alias in node.names:
                full = f"{below}.{alias.name}".lstrip(".")
                yield full if below in {"", *CORE} else below
        elif isinstance(node, ast.Import):
            yield from (a.name.removeprefix("comboost.") for a in node.names if a.name.startswith("comboost."))


def modules_of(room):
    return sorted(path for path in (PACKAGE / room).rglob("*.py") if path.stem != "__init__")


def test_page_names_every_room_and_module():
    found = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "__main__"}
    found |= {f"{room}.{path.stem}" for room in CORE for path in modules_of(room)}
    found |= {path.parent.name for path in PACKAGE.glob("*/__init__.py")} - CORE
    assert set(ORDER) == found | {"_core"}


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*/**/*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way_only(path):
    name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
    if path.stem == "__init__" and path.parent.name in CORE:
        assert not list(imported_names(path))
        return
    public = {"__version__", *comboost.__all__}  # of the package itself, which knows the estimators
    for other in imported_names(path):
        place = place_of("_estimators.classifiers") if other in public else place_of(other)
        assert place < place_of(name) or other.split(".")[0] == name.split(".")[0] not in CORE, (
            f"{name} imports {other}"
        )


def test_no_name_is_defined_in_two_modules():
    defined = collections.defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
            names = [getattr(target, "id", getattr(target, "name", None)) for target in targets]
            for name in filter(None, names):
                defined[name].add(str(path.relative_to(PACKAGE)))
    assert {name: paths for name, paths in defined.items() if len(paths) > 1 and name != "__all__"} == {}


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
from comboost._table.categories import Categories
from comboost._table.reading import read_table
raw = read_table(BaseEstimator(), [["1", "a"]], reset=True)
assert raw.encode(Categories.fit(raw, [1])[0]).columns(0, 2).tolist() == [[1.0, 1.0]]

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
    project = Path(__file__).parent.parent / "pyproject.toml"
    if project.exists():
        assert comboost.__version__ == tomllib.loads(project.read_text())["project"]["version"]
