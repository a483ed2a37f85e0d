"""
A folder that is larger than memory
===================================

Train on files that the workers together could not hold. In: nothing. Out: recalls.

In a clone, ``pip install ".[dask]"`` and ``python examples/dask_folder.py``: some minutes, 2 GB of disk for a while.
For files of your own, leave out `write_files` and change `split`. The page that goes with this is docs/dask.md.
"""

import tempfile
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

from comboost import CoMBoClassifier
from comboost.dask import DaskCoMBoClassifier

N_WORKERS, MEMORY_LIMIT = 2, "1GB"  # of each worker
N_FILES, ROWS_PER_FILE, N_SENSORS = 80, 35_000, 80
STATES = {"fine": 0.9495, "worn": 0.05, "broken": 0.0005}


def write_files(folder: Path, n_files: int, n_rows: int) -> None:
    """Make up machines, their states and what their sensors say: file by file, so never all in memory."""
    for number in range(n_files):
        draw = np.random.default_rng(number)
        state = draw.choice(len(STATES), n_rows, p=list(STATES.values()))
        values = draw.normal(size=(n_rows, N_SENSORS)) + np.outer(state, np.linspace(-0.3, 0.3, N_SENSORS))
        values[draw.random(values.shape) < 0.05] = np.nan  # a sensor was silent
        table = pd.DataFrame(values, columns=[f"sensor {i}" for i in range(N_SENSORS)])
        table = table.assign(maker=draw.choice(["Ada", "Bo", "Cy"], n_rows), state=np.array(list(STATES))[state])
        table.to_parquet(folder / f"{number:03}.parquet", compression=None)


def split(folder: Path) -> tuple[dd.DataFrame, dd.DataFrame]:
    """Rows to train on and rows to test on, of which nothing is read yet."""
    table = dd.read_parquet(f"{folder}/*.parquet").astype({"maker": "category"})
    train, test = table.random_split([0.8, 0.2], random_state=0)
    return train, test


def predict(rows: pd.DataFrame, models: dict[str, CoMBoClassifier]) -> pd.DataFrame:
    """The true state of every row, and what each model takes it for."""
    X = rows.drop(columns="state")
    return rows[["state"]].assign(**{name: model.predict(X) for name, model in models.items()})


def main(folder: Path, n_files: int = N_FILES, n_rows: int = ROWS_PER_FILE, n_rounds: int = 50) -> pd.DataFrame:
    """Write files, train, write predictions beside the files, and say how much of each class is found."""
    write_files(folder, n_files, n_rows)
    with (
        LocalCluster(N_WORKERS, threads_per_worker=1, memory_limit=MEMORY_LIMIT, dashboard_address=":0") as cluster,
        Client(cluster),  # of a cluster that is there already: Client("tcp://scheduler.example.org:8786")
    ):
        train, test = split(folder)
        model = DaskCoMBoClassifier(n_estimators=n_rounds, verbose=10).fit(train.drop(columns="state"), train["state"])
        # Is it worth it? The same on a sample that fits into memory, without Dask.
        sample = train.partitions[0].compute()
        small = CoMBoClassifier(n_estimators=n_rounds).fit(sample.drop(columns="state"), sample["state"])

        models = {"all files": model.to_local(), "one file": small}
        predicted = test.map_partitions(predict, models, meta=dict.fromkeys(["state", *models], "str"))
        predicted.to_parquet(folder / "predicted", write_index=False)  # the workers do it, partition by partition
    found = pd.read_parquet(folder / "predicted")
    return found[[*models]].eq(found["state"], axis=0).groupby(found["state"]).mean()


if __name__ == "__main__":  # the workers import this file, too
    with tempfile.TemporaryDirectory() as folder:
        print("The share of each class that is found, on held-out rows:", main(Path(folder)).round(3), sep="\n")
