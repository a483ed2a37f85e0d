"""Memory is estimated before a file is read."""

import gzip

import numpy as np
import pandas as pd
import pytest

from comboost.cli.input.memory import plan_of_file


@pytest.mark.parametrize("sep", [",", "\t", ";"])
def test_plan_of_a_packed_file_is_that_of_the_plain_one(frame, tmp_path, sep):
    content = frame.to_csv(index=False, sep=sep).encode()
    plain, packed = tmp_path / "plain", tmp_path / "packed"
    plain.write_bytes(content)
    packed.write_bytes(gzip.compress(content))
    plans = [plan_of_file(path, path.stat().st_size) for path in (plain, packed)]
    assert plans[0] == plans[1]
    assert sum(plans[0].values()) >= len(content) + 16 * frame.size


def test_plan_of_parquet_counts_columns_as_they_are_in_memory(tmp_path):
    path = tmp_path / "rows.parquet"
    pd.DataFrame({"a": np.zeros(10_000), "b": np.arange(10_000.0)}).to_parquet(path)
    (n_bytes,) = plan_of_file(path, path.stat().st_size).values()
    assert n_bytes >= 2 * 2 * 8 * 10_000
