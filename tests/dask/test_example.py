"""The example does what it says: run at a size that is quick, and looked at in its own."""

from pathlib import Path

import dask.dataframe as dd
import pytest
from dask.utils import parse_bytes
from matplotlib import pyplot as plt
from sklearn.metrics import recall_score

from comboost import CoMBoClassifier

N_FILES, N_ROWS = 3, 4000


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
def display(example, folder):
    """What the example shows of the files that it has written."""
    before = plt.get_backend()
    plt.switch_backend("Agg")
    yield example.main(folder, N_FILES, N_ROWS)
    plt.close("all")
    plt.switch_backend(before)


def test_recalls_are_those_of_fits_without_dask(display, folder):
    parts = dd.read_parquet(f"{folder}/*.parquet").random_split([0.8, 0.2], random_state=0)
    train, test = (part.compute() for part in parts)
    assert len(train) + len(test) == N_FILES * N_ROWS
    n_first = len(parts[0].partitions[0])
    for name, rows in {"all files": train, "one file": train[:n_first]}.items():
        model = CoMBoClassifier(n_estimators=50).fit(rows.drop(columns="state"), rows["state"])
        predicted = model.predict(test.drop(columns="state"))
        expected = recall_score(test["state"], predicted, labels=display.classes, average=None)
        assert display.recalls[name].tolist() == pytest.approx(expected.tolist())
    assert display.sizes.tolist() == [(test["state"] == name).sum() for name in display.classes]


def test_nothing_is_added_to_the_files(folder, display):
    assert sorted(path.name for path in folder.iterdir()) == ["000.parquet", "001.parquet", "002.parquet"]


def test_files_are_larger_than_the_memory_of_all_workers(example, tmp_path):
    example.write_files(tmp_path, 1, example.ROWS_PER_FILE)
    n_bytes = example.N_FILES * (tmp_path / "000.parquet").stat().st_size
    assert n_bytes > example.N_WORKERS * parse_bytes(example.MEMORY_LIMIT)
