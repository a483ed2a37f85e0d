"""Clusters on this machine. In: how many workers, and how much memory each may take. Out: a client."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

UNLIMITED = 0  # as Dask says it
ANY_PORT = "127.0.0.1:0"


@contextmanager
def started_cluster(n_workers: int, memory_limit: int = UNLIMITED) -> Iterator["LocalCluster"]:
    """Worker processes with a thread each, gone at the end with all that they wrote."""
    from distributed import LocalCluster

    with (
        TemporaryDirectory(prefix="comboost-benchmarks-", ignore_cleanup_errors=True) as folder,
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            memory_limit=memory_limit,
            local_directory=folder,
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": ANY_PORT},  # without a dashboard it still listens
            silence_logs=logging.ERROR,
        ) as cluster,
    ):
        yield cluster


@contextmanager
def connected(n_workers: int, memory_limit: int = UNLIMITED) -> Iterator["Client"]:
    """Return a client of such a cluster, once all workers are there."""
    from distributed import Client

    with started_cluster(n_workers, memory_limit) as cluster, Client(cluster) as client:
        client.wait_for_workers(n_workers)
        yield client
