"""Hypothesis for every test: without deadlines, since machines differ, and with a fixed seed, so that red stays red.

And the flag ``--regenerate`` of the golden results, which prints what moved; and workers of Dask that start at once.
"""

import multiprocessing
from multiprocessing import forkserver

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "comboost", deadline=None, derandomize=True, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("comboost")


@pytest.fixture(scope="session")
def forked_workers():
    """Fork workers from a process that has imported everything: one that starts from nothing does so for seconds."""
    import dask

    multiprocessing.set_forkserver_preload(["comboost.dask", "dask.dataframe"])
    forkserver.ensure_running()  # before Dask asks for other modules
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        yield


def pytest_addoption(parser):
    parser.addoption("--regenerate", action="store_true", help="store the golden results anew, and say what moved")


def pytest_terminal_summary(terminalreporter):
    lines = [
        text
        for report in terminalreporter.getreports("passed")
        for name, text in report.user_properties
        if name == "golden"
    ]
    for line in lines:
        terminalreporter.write_line(line)
