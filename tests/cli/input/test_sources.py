"""Tables are the same whatever the format of their file."""

import datetime
import gzip
import io

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comboost.cli.input.columns import summarise_columns, to_frame
from comboost.cli.input.delimited import Dialect
from comboost.cli.input.sources import parse_bytes, read_source
from comboost.cli.terminal.errors import CommandError


def read(content, ending=".csv", **options):
    dialect = {name: options.pop(name) for name in ("sep", "decimal", "encoding") if name in options}
    rows = parse_bytes(content if isinstance(content, bytes) else content.encode(), "it", ending, Dialect(**dialect))
    return to_frame(rows, **options)


def as_arff(frame):
    kinds = {"heat": "real", "load": "NUMERIC [-5, 5]", "maker": "{Ada, Bo, Cy}", "state": "{fine, worn, broken}"}
    head = ["% a comment", "@relation machines", *(f"@attribute {name} {kinds[name]}" for name in frame.columns)]
    return "\n".join([*head, "@DATA", frame.to_csv(index=False, header=False, na_rep="?")]).encode()


WRITERS = {
    ".csv": lambda frame: frame.to_csv(index=False).encode(),
    ".tsv": lambda frame: frame.to_csv(index=False, sep="\t").encode(),
    ".txt": lambda frame: frame.to_csv(index=False, sep=";", decimal=",").encode(),
    ".parquet": lambda frame: frame.to_parquet(index=False),
    ".feather": lambda frame: written(frame.to_feather),
    ".arff": as_arff,
}


def written(write):
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("ending", WRITERS)
def test_every_format_gives_the_same_frame(frame, tmp_path, ending, packed):
    content = WRITERS[ending](frame)
    path = tmp_path / (f"rows{ending}" + (".gz" if packed else ""))
    path.write_bytes(gzip.compress(content) if packed else content)
    pd.testing.assert_frame_equal(to_frame(read_source(str(path), Dialect())), frame, check_dtype=False)


def test_keel_files_name_their_target(frame):
    content = as_arff(frame).replace(b"@DATA", b"@inputs heat, load, maker\n@outputs state\n@data")
    assert parse_bytes(content, "it", ".dat", Dialect()).target == "state"


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=20),
    st.sampled_from([(",", "."), (";", "."), (";", ","), ("\t", ","), ("|", ".")]),
)
@settings(max_examples=20, deadline=None)
def test_numbers_come_back_to_the_bit_for_any_separator_and_decimal_sign(values, signs):
    sep, decimal = signs
    table = pd.DataFrame({"a": values, "b": "x"})
    found = read(table.to_csv(index=False, sep=sep, decimal=decimal), sep=sep, decimal=decimal)
    assert found["a"].to_numpy().tobytes() == np.array(values, dtype=float).tobytes()


@pytest.mark.parametrize(("sep", "decimal"), [(",", "."), (";", ","), (";", "."), ("\t", ","), ("|", ".")])
def test_separator_and_decimal_sign_are_found_out(frame, sep, decimal):
    found = read(frame.to_csv(index=False, sep=sep, decimal=decimal))
    pd.testing.assert_frame_equal(found, frame, check_dtype=False)


@pytest.mark.parametrize("sep", [";", "\t", "|"])
@pytest.mark.parametrize("point", ["1.25", ".5", "-7.0"])
def test_comma_beside_decimal_points_is_not_the_decimal_mark(sep, point):
    lines = [sep.join(("a", "b")), *(sep.join((f"{i},5", point)) for i in range(9))]
    with pytest.raises(CommandError, match=r"'a' of it .*decimal comma.*others have decimal points; write them with"):
        read("\n".join(lines))
    without = [line.replace(point, "3") for line in lines]
    assert read("\n".join(without))["a"].tolist() == [i + 0.5 for i in range(9)]


def test_cells_with_separators_quotes_and_line_breaks_stay_whole():
    values = ['say "no"', "a,b", "two\nlines", "x"]
    assert read(pd.DataFrame({"a": values, "b": 1}).to_csv(index=False))["a"].tolist() == values


def test_placeholders_are_missing_in_numbers_and_text_elsewhere():
    found = read("a,b\n1,NA\n?,x\nn/a,None\n2.5,y\n")
    assert found["a"].isna().tolist() == [False, True, True, False]
    assert found["b"].tolist() == ["NA", "x", "None", "y"]


def test_codes_of_leading_zeros_given_as_categories_stay_text():
    assert read("a,b\n007,1\n08,2\n", as_text={"a"})["a"].tolist() == ["007", "08"]


def test_dates_are_dates():
    found = read("day,b\n2026-01-31,1\n,2\n2026-02-01,3\n")
    assert summarise_columns(found)[0].kind == "date"
    assert found["day"].isna().tolist() == [False, True, False]


def test_points_are_dropped_only_where_they_group_by_three():
    found = read("datum;a;b;v\n01.01.2024;1.234,5;-1.234.567;1.2.3\n02.01.2024;,25;12;1.2.4\n", decimal=",")
    assert found["datum"].tolist() == ["01.01.2024", "02.01.2024"]
    assert (found["a"].tolist(), found["b"].tolist()) == ([1234.5, 0.25], [-1234567.0, 12.0])
    assert found["v"].tolist() == ["1.2.3", "1.2.4"]


def test_whole_numbers_of_which_none_comes_twice_may_be_identifiers():
    customers = np.random.default_rng(0).permutation(10**6)[:40]
    table = pd.DataFrame({"customer": customers, "size": customers / 7, "age": customers % 30})
    found = {each.name: each.remark for each in summarise_columns(read(table.to_csv(index=False)))}
    assert "an identifier, unless" in found.pop("customer")
    assert set(found.values()) == {""}


@pytest.mark.parametrize(
    ("n_rows", "values", "remark"),
    [
        (19, lambda n: np.arange(n), ""),  # any column of so few rows may be distinct
        (20, lambda n: np.arange(n), "identifier?"),
        (20, lambda n: 7 - 3 * np.arange(n), "identifier?"),
        (20, lambda n: 0.5 * np.arange(n), "identifier?"),
        (19, lambda n: [f"c{i}" for i in range(n)], ""),
        (20, lambda n: [f"c{i}" for i in range(n)], "identifier?"),
        (19, lambda n: np.arange(n) ** 2, ""),
        (20, lambda n: np.arange(n) ** 2, "distinct whole numbers: an identifier, unless it is a measurement"),
        (20, lambda n: np.arange(n) ** 2 + 0.5, ""),
        (20, lambda n: np.maximum(np.arange(n), 1), ""),  # one value comes twice
        (21, lambda n: [None, *range(n - 1)], ""),  # one is missing
    ],
)
def test_columns_of_at_least_twenty_distinct_values_may_be_identifiers(n_rows, values, remark):
    (found,) = summarise_columns(pd.DataFrame({"a": values(n_rows)}))
    assert found.remark == remark


def test_kinds_and_remarks():
    n = 40
    table = pd.DataFrame(
        {
            "row": np.arange(n),
            "code": [f"c{i}" for i in range(n)],
            "one": "x",
            "void": np.nan,
            "size": np.sin(np.arange(n)),
            "maker": ["Ada", "Bo"] * (n // 2),
        }
    )
    found = {each.name: (each.kind, each.remark) for each in summarise_columns(read(table.to_csv(index=False)))}
    assert found == {
        "row": ("number", "identifier?"),
        "code": ("text", "identifier?"),
        "one": ("category", "constant"),
        "void": ("number", "empty"),
        "size": ("number", ""),
        "maker": ("category", ""),
    }


def test_other_encodings_are_read_when_they_are_named():
    text = "größe,b\nä,1\nö,2\n"
    for encoding in ("latin-1", "utf-16", "utf-32", "utf-8-sig"):
        assert read(text.encode(encoding), encoding=encoding)["größe"].tolist() == ["ä", "ö"]
    assert read(text.encode("utf-8-sig"))["größe"].tolist() == ["ä", "ö"]  # as Excel writes it


def test_empty_lines_above_the_names_are_no_rows():
    assert read("\n \n\na,b\n1,x\n\n2,y\n").to_dict("list") == {"a": [1.0, 2.0], "b": ["x", "y"]}


# Text in files with types


TEXTS = pd.DataFrame(
    {
        "day": ["2026-01-31", None, "2026-02-01 10:30:00"],
        "moment": ["2026-01-31T10:00:00Z", "2026-01-31T10:00:00+02:00", "NA"],
        "size": ["1.5", "?", "-2e3"],
        "code": ["007", "08", "9"],
        "maker": ["Ada", "NA", "2026-01-31"],
        "none": [None, None, None],
    },
    dtype="str",
).assign(void=pd.Series([None] * 3, dtype=object))  # which Arrow has a type of its own for


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_text_is_understood_as_in_a_file_without_types(ending):
    plain, typed = (read(WRITERS[kind](TEXTS), kind) for kind in (".csv", ending))
    pd.testing.assert_frame_equal(plain, typed)
    kinds = {each.name: each.kind for each in summarise_columns(typed)}
    assert kinds == {
        "day": "date",
        "moment": "date",
        "size": "number",
        "code": "number",
        "maker": "text",
        "none": "number",
        "void": "number",
    }
    assert typed["moment"].iloc[0] - typed["moment"].iloc[1] == pd.Timedelta(hours=2)


def test_text_of_polars_is_understood_too(tmp_path):
    pl.from_pandas(TEXTS).write_ipc(tmp_path / "rows.arrow")
    pl.from_pandas(TEXTS).write_parquet(tmp_path / "rows.parquet")
    for path in tmp_path.iterdir():
        found = to_frame(read_source(str(path), Dialect()))
        pd.testing.assert_frame_equal(found, read(WRITERS[".csv"](TEXTS)))


def test_text_with_types_keeps_its_blanks_and_what_is_asked_for_stays_text():
    table = pd.DataFrame({"a": [" x", "x"], "b": ["1", "2"], "c": ["2026-01-31", "2026-02-01"]}, dtype="str")
    found = read(WRITERS[".parquet"](table), ".parquet", as_text={"b", "c"})
    assert found.to_dict("list") == table.to_dict("list")


def test_dates_with_a_type_are_dates():
    days = pd.DataFrame({"day": [datetime.date(2026, 1, 31), None, datetime.date(1500, 1, 1)]})
    found = read(WRITERS[".parquet"](days), ".parquet")
    assert summarise_columns(found)[0].kind == "date"
    assert found["day"].isna().tolist() == [False, True, False]
