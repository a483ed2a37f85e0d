"""Clusters of real worker processes, each started once per session, when a test first needs it."""

import dask
import pytest
from distributed import Client, LocalCluster


@pytest.fixture(scope="session", autouse=True)
def all_forked(forked_workers):
    """Every cluster of these tests."""


@pytest.fixture(autouse=True)
def threads():
    """Compute in this process what no client is asked for, whatever clients other tests have left behind."""
    with dask.config.set(scheduler="threads"):
        yield


@pytest.fixture(scope="session")
def clients(forked_workers):
    """The client of a cluster with that many workers of one thread each."""
    opened = {}

    def client_of(n_workers):
        if n_workers not in opened:
            cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0)
            opened[n_workers] = cluster, Client(cluster, set_as_default=False)
        return opened[n_workers][1]

    yield client_of
    for cluster, client in opened.values():
        client.close()
        cluster.close()


@pytest.fixture
def client(clients):
    """The client of a cluster with two workers."""
    return clients(2)
