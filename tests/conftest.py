"""Hypothesis for every test: without deadlines, since machines differ, and with a fixed seed, so that red stays red.

``--hypothesis-profile=thorough`` draws other examples, and more of them where a test does not say how many. And the
flag ``--regenerate`` of the golden results, which prints what moved; and workers of Dask that start at once.
"""

import multiprocessing
import signal
from multiprocessing import forkserver

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "comboost", deadline=None, derandomize=True, max_examples=30, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("comboost"), derandomize=False, max_examples=400)
settings.load_profile("comboost")


def pytest_configure():
    """Hear interrupts, which a shell lets everything ignore that it starts in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def forked_workers():
    """Fork workers from a process that has imported everything: one that starts from nothing does so for seconds.

    And let them rest while they have nothing to do: watching itself, an idle cluster takes a tenth of a core.
    """
    import dask

    multiprocessing.set_forkserver_preload(["comboost.dask", "dask.dataframe"])
    forkserver.ensure_running()  # before Dask asks for other modules
    settings_of_workers = {
        "distributed.worker.multiprocessing-method": "forkserver",
        "distributed.worker.profile.enabled": False,
        "distributed.admin.tick.interval": "1s",
        "distributed.admin.system-monitor.interval": "5s",
    }
    with dask.config.set(settings_of_workers):
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
