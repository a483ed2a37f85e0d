"""
On a cluster
============

A folder of files larger than its memory; some minutes, 2 GB of disk for a while. In: nothing. Out: recalls, a picture.
For files of your own, leave out `write_files`. Needs the extras ``dask`` and ``plot``; docs/dask.md says more.
"""

import sys
import tempfile
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster
from matplotlib import pyplot as plt

from comboost import CoMBoClassifier
from comboost.dask import DaskCoMBoClassifier
from comboost.displays import PerClassRecallDisplay

N_WORKERS, MEMORY_LIMIT, N_FILES, ROWS_PER_FILE, N_SENSORS = 2, "1GB", 80, 35_000, 80  # the memory of each worker
# sphinx_gallery_thumbnail_path = "pictures/dask_folder.png"
STATES = {"fine": 0.9495, "worn": 0.05, "broken": 0.0005}


def write_files(folder: Path, n_files: int, n_samples: int) -> None:
    """Make up machines, their states and what their sensors say: file by file, so never all in memory."""
    for number in range(n_files):
        draw = np.random.default_rng(number)
        state = draw.choice(len(STATES), n_samples, p=list(STATES.values()))
        values = draw.normal(size=(n_samples, N_SENSORS)) + np.outer(state, np.linspace(-0.3, 0.3, N_SENSORS))
        table = pd.DataFrame(values).add_prefix("sensor ").assign(state=np.array(list(STATES))[state])
        table.to_parquet(folder / f"{number:03}.parquet", compression=None)


def main(folder: Path, n_files: int = N_FILES, n_samples: int = ROWS_PER_FILE) -> PerClassRecallDisplay:
    """Train on all files and, to see whether that is worth it, on one; compare both on rows that were held out."""
    write_files(folder, n_files, n_samples)
    with (
        LocalCluster(N_WORKERS, threads_per_worker=1, memory_limit=MEMORY_LIMIT, dashboard_address=":0") as cluster,
        Client(cluster),  # of a cluster that is there already: Client("tcp://scheduler.example.org:8786")
    ):
        train, test = dd.read_parquet(f"{folder}/*.parquet").random_split([0.8, 0.2], random_state=0)
        large = DaskCoMBoClassifier(n_estimators=50, verbose=10).fit(train.drop(columns="state"), train["state"])
        first = train.partitions[0].compute()
        small = CoMBoClassifier(n_estimators=50).fit(first.drop(columns="state"), first["state"])
        rows, found = test.drop(columns="state"), {}
        for name, model in {"all files": large.to_local(), "one file": small}.items():
            found[name] = rows.map_partitions(lambda X, by: pd.Series(by.predict(X)), model, meta=("", str)).compute()
        return PerClassRecallDisplay.from_predictions(test["state"].compute(), found)


if __name__ == "__main__":  # the workers import this file, too
    with tempfile.TemporaryDirectory() as folder:
        display = main(Path(folder))
    print("The share of each class that is found:", pd.DataFrame(display.recalls, display.classes).round(3), sep="\n")
    display.figure_.savefig(sys.argv[1]) if len(sys.argv) > 1 else plt.show()
