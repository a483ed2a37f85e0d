"""Settings of all tests: processes, Hypothesis profiles, golden results, Dask workers that start quickly.

Hypothesis has no deadlines, since machines differ, and a fixed seed, so that a failure stays one.
``--hypothesis-profile=thorough`` draws other examples, and more of them where a test does not set their number.
``--regenerate`` stores the golden results anew and prints what changed.
"""

import multiprocessing
import os
import signal
from multiprocessing import forkserver

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "comboost", deadline=None, derandomize=True, max_examples=30, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("comboost"), derandomize=False, max_examples=400)
settings.load_profile("comboost")


MAX_PROCESSES = 4  # of pytest-xdist, unless -n sets their number; tests of threads and clusters need cores, too


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Use several cores if pytest-xdist is installed and -n is not given."""
    is_given = getattr(config.option, "numprocesses", 0) is not None
    is_worker = hasattr(config, "workerinput")  # which would start workers of its own, without end
    if not (is_given or is_worker or config.option.usepdb):
        config.option.numprocesses = min(os.cpu_count() or 1, MAX_PROCESSES)
        config.option.dist = "worksteal"


def pytest_configure():
    """Handle interrupts, which shells disable in background processes."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def forked_workers():
    """Fork workers from a process that has imported everything; other workers take seconds to start.

    Also switch off most of their monitoring, which takes a tenth of a core in an idle cluster.
    """
    import dask

    multiprocessing.set_forkserver_preload(["comboost.dask", "dask.dataframe"])
    forkserver.ensure_running()  # before Dask sets other modules
    settings_of_workers = {
        "distributed.worker.multiprocessing-method": "forkserver",
        "distributed.worker.profile.enabled": False,
        "distributed.admin.tick.interval": "1s",
        "distributed.admin.system-monitor.interval": "5s",
    }
    with dask.config.set(settings_of_workers):
        yield


def pytest_addoption(parser):
    parser.addoption("--regenerate", action="store_true", help="store the golden results anew, and print what changed")


def pytest_terminal_summary(terminalreporter):
    lines = [
        text
        for report in terminalreporter.getreports("passed")
        for name, text in report.user_properties
        if name == "golden"
    ]
    for line in lines:
        terminalreporter.write_line(line)
