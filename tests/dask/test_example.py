"""The example does what it says: run at a size that is quick, and looked at in its own."""

from pathlib import Path

import pandas as pd
import pytest
from dask.utils import parse_bytes
from sklearn.metrics import recall_score

from comboost import CoMBoClassifier

N_FILES, N_ROWS, N_ROUNDS = 3, 4000, 3


@pytest.fixture(scope="module")
def example():
    """The example as a module, which its workers find, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parent.parent.parent / "examples")
        import dask_folder

        yield dask_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("folder")


@pytest.fixture(scope="module")
def recalls(example, folder):
    """What the example says of the files that it has written."""
    return example.main(folder, N_FILES, N_ROWS, N_ROUNDS)


@pytest.fixture(scope="module")
def predicted(recalls, folder):
    """The predictions that it has written."""
    return pd.read_parquet(folder / "predicted")


def test_predictions_are_those_of_fits_without_dask(example, folder, predicted):
    train, test = (rows.compute() for rows in example.split(folder))
    assert len(train) + len(test) == N_FILES * N_ROWS
    assert predicted["state"].tolist() == test["state"].tolist()
    n_first = len(example.split(folder)[0].partitions[0])
    for name, rows in {"all files": train, "one file": train[:n_first]}.items():
        model = CoMBoClassifier(n_estimators=N_ROUNDS).fit(rows.drop(columns="state"), rows["state"])
        assert predicted[name].tolist() == model.predict(test.drop(columns="state")).tolist()


def test_recalls_are_those_of_the_predictions(recalls, predicted):
    for name in recalls:
        expected = recall_score(predicted["state"], predicted[name], labels=recalls.index, average=None)
        assert recalls[name].tolist() == pytest.approx(expected.tolist())


def test_only_predictions_are_added_to_the_files(folder, predicted):
    assert sorted(path.name for path in folder.iterdir()) == ["000.parquet", "001.parquet", "002.parquet", "predicted"]


def test_files_are_larger_than_the_memory_of_all_workers(example, tmp_path):
    example.write_files(tmp_path, 1, example.ROWS_PER_FILE)
    n_bytes = example.N_FILES * (tmp_path / "000.parquet").stat().st_size
    assert n_bytes > example.N_WORKERS * parse_bytes(example.MEMORY_LIMIT)
