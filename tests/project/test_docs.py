"""What the documentation shows is what happens: every example in docstrings and Markdown runs."""

import doctest
import importlib
import pkgutil
import socket
from contextlib import suppress
from pathlib import Path

import pytest

import comboost

ROOT = Path(__file__).parents[2]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
MODULES = [
    info.name
    for info in pkgutil.walk_packages(comboost.__path__, prefix="comboost.")
    if not info.name.endswith("__main__") and "_core" not in info.name
]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.fixture(autouse=True)
def dashboard_port():
    """Take the port that Dask's dashboard has by default, as another program may."""
    with socket.socket() as server:
        with suppress(OSError):
            server.bind(("", 8787))
            server.listen()
        yield


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    assert doctest.testmod(importlib.import_module(name), optionflags=OPTIONS).failed == 0


@pytest.mark.parametrize("name", ["comboost", "comboost.baselines", "comboost.dask"])
def test_examples_in_docstrings_of_estimators_run(name):
    package, runner = importlib.import_module(name), doctest.DocTestRunner(optionflags=OPTIONS)
    kinds = [getattr(package, each) for each in package.__all__ if each.endswith("Classifier")]
    assert kinds
    for kind in kinds:
        assert kind.__module__ == name  # so that doctest does not find it in the module that defines it
        for test in doctest.DocTestFinder().find(kind, module=False, globs={}):
            runner.run(test)
    assert runner.failures == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_in_pages_run(page, request):
    if page.name == "dask.md":
        request.getfixturevalue("forked_workers")
    assert doctest.testfile(str(page), module_relative=False, optionflags=OPTIONS, encoding="utf-8").failed == 0


def test_modules_are_found():
    assert {"comboost.metrics", "comboost._estimators.paper", "comboost.datasets"} <= set(MODULES)
