"""Text, dates and many categories on a cluster: what they are is told by all partitions together, as by local rows."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from clusters import on_dask, same_bytes

from comboost import CoMBoClassifier, ConfusionBoostingClassifier
from comboost._data.categories import MAX_CATEGORIES
from comboost.dask import DaskCoMBoClassifier

N_ROWS = 2000
OF_PANDAS = pd.Series(["a"]).dtype  # text, if nobody says what it is


def rows_of_text(seed=0):
    """A column of many words, one of numbers that are spelled out, one of dates, one of numbers, and classes."""
    random = np.random.default_rng(seed)
    word = (random.zipf(1.3, size=N_ROWS) - 1) % 500
    ticks = random.integers(0, 2 * 10**9, size=N_ROWS)
    number = random.normal(size=N_ROWS)
    frame = pd.DataFrame(
        {
            "word": [f"w{k:03}" if k else None for k in word],
            "spelled": [str(k) for k in random.integers(50, size=N_ROWS)],
            "when": ticks.view("M8[s]"),
            "number": number,
        }
    )
    return frame, pd.Series((word % 3 + (number > 0) + (ticks > 10**9)) % 4, name="label")


def cut_frame(frame, sizes):
    """Rows in partitions of these sizes."""
    ends = np.cumsum(sizes)
    pieces = [frame.iloc[end - size : end] for end, size in zip(ends, sizes, strict=True)]
    return dd.from_map(lambda piece: piece, pieces, meta=frame.iloc[:0])


@pytest.mark.parametrize("local", [CoMBoClassifier(n_estimators=4), ConfusionBoostingClassifier(n_estimators=2)])
@pytest.mark.parametrize(
    ("sizes", "dtype"),
    [([N_ROWS], OF_PANDAS), ([1, 1200, 0, 799], object), ([500] * 4, "string"), ([400] * 5, "category")],
)
def test_frame_of_text_and_dates_gives_the_local_model_for_any_cut_and_order(client, local, sizes, dtype):
    frame, y = rows_of_text()
    order = np.random.default_rng(1).permutation(N_ROWS)
    local.set_params(random_state=0).fit(frame, y)
    X = frame.astype({"word": dtype}).iloc[order]
    # Dask would make text of objects.
    with dask.config.set({"dataframe.convert-string": False}):
        model = on_dask(local, client).fit(cut_frame(X, sizes), cut_frame(y.iloc[order], sizes))
        assert same_bytes(model, local)
        assert len(model.to_local().infrequent_categories_[0]) == frame["word"].nunique() - MAX_CATEGORIES
        lazily = model.decision_function(cut_frame(X, sizes)).compute()
    np.testing.assert_array_equal(lazily, local.decision_function(frame)[order])


def test_weights_decide_what_is_frequent_as_for_local_rows(client):
    frame, y = rows_of_text()
    weights = pd.Series(np.random.default_rng(2).integers(0, 9, size=N_ROWS).astype(float))
    local = CoMBoClassifier(n_estimators=3, random_state=0).fit(frame, y, weights)
    sizes = [700, 1300]
    model = on_dask(local, client).fit(*(cut_frame(rows, sizes) for rows in (frame, y, weights)))
    assert same_bytes(model, local)


def fit_on(client, frame, **parameters):
    y = pd.Series(np.arange(len(frame)) % 2)
    sizes = [len(frame) // 2, len(frame) - len(frame) // 2]
    with dask.config.set({"dataframe.convert-string": False}):
        return DaskCoMBoClassifier(n_estimators=1, client=client, **parameters).fit(
            cut_frame(frame, sizes), cut_frame(y, sizes)
        )


def test_words_among_the_numbers_of_other_partitions_are_refused_all_at_once(client):
    frame = pd.DataFrame(
        {"a": ["1", "2", "3", "?"], "b": ["u", "v", "w", "x"], "c": pd.Series([1, 2, "NA", 4], dtype=object)}
    )
    message = r"(?s)2 columns of X cannot be used:.*'a' .*'\?' \(1 of 4 rows\).*'c' .*'NA' \(1 of 4 rows\)"
    with pytest.raises(ValueError, match=message):
        fit_on(client, frame)


def test_columns_that_are_neither_numbers_nor_categories_are_listed(client):
    frame = pd.DataFrame({"p": pd.period_range("2020", periods=4), "q": [1j] * 4, "n": 1.0})
    with pytest.raises(ValueError, match=r"(?s)2 columns of X cannot be used:.*'p' .*period.*'q' .*complex"):
        fit_on(client, frame)


def test_text_is_refused_where_all_features_are_numbers(client):
    with pytest.raises(ValueError, match="'b' of X holds text, such as 'u'"):
        fit_on(client, pd.DataFrame({"b": list("uvwx"), "n": 1.0}), categorical_features=None)


def test_columns_that_share_a_name_are_refused_by_name(client):
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    X = dd.from_pandas(frame, npartitions=1).rename(columns={"b": "a"})
    with pytest.raises(ValueError, match=r"several columns of the name\(s\) 'a'; give every column a name of its own"):
        DaskCoMBoClassifier(client=client).fit(X, dd.from_pandas(pd.Series([0, 1]), npartitions=1))
