"""Files that cannot be read: one line with what is wrong and what to do, and no file changes."""

import codecs
import gzip
from pathlib import Path

import pytest
from cli.helpers import CSV, files_of, refused

WIDE = ",".join([f"c{i % 297}" for i in range(300)] + ["y"])
OTHERS = "".join(f"{i},u,{'pq'[i % 2]}\n" for i in range(40))
FIT = ("fit", "rows.csv", "-t", "y", "-o", "model.comboost", "--rounds", "2")


BAD_FILES = {
    "empty": (b"", ["rows.csv", "is empty"]),
    "blank": (b"\n  \n", ["rows.csv", "is empty"]),
    "header only": (b"a,b,y\n", ["no rows", "a,b,y"]),
    "no such column": (CSV.replace("y", "class").encode(), ["'y'", "--target", "'class'"]),
    "nearly such a column": (CSV.replace("b,y", "yy,b").encode(), ["'y'", "did you mean 'yy'"]),
    "one value": (CSV.replace("q", "p").encode(), ["'y'", "a single value, 'p'", "two classes"]),
    "missing target": (CSV.replace("3,u,p", "3,u,").encode(), ["'y'", "missing in 1 of 6", "row 3"]),
    "target of numbers": (
        ("a,y\n" + "".join(f"{i},{i / 7}\n" for i in range(99))).encode(),
        ["'y'", "99 distinct values in 99 rows", "another --target"],
    ),
    "mixed column": (("a,b,y\n" + OTHERS + "oops,u,p\n").encode(), ["'a'", "'oops'", "row 41", "--missing", "--drop"]),
    "not UTF-8": (b"a,b,y\n1,u,p\n2,\xe4,q\n", ["line 3", "not in UTF-8", "--encoding latin-1"]),
    "UTF-16": (CSV.encode("utf-16"), ["UTF-16", "--encoding utf-16"]),
    "UTF-16, big-endian": (codecs.BOM_UTF16_BE + CSV.encode("utf-16-be"), ["UTF-16", "--encoding utf-16"]),
    "UTF-32": (CSV.encode("utf-32"), ["UTF-32", "--encoding utf-32"]),
    "UTF-32, big-endian": (codecs.BOM_UTF32_BE + CSV.encode("utf-32-be"), ["UTF-32", "--encoding utf-32"]),
    "duplicates": (
        WIDE.encode() + b"\n" + b"1," * 300 + b"p\n",
        ["301 columns", "3 of their", "'c0'", "unique name"],
    ),
    "ragged": (CSV.replace("4,v,q", "4,v,q,w").encode(), ["line 5", "4 cells where 3", "--sep"]),
    "short": (CSV.replace("4,v,q", "4,v").encode(), ["line 5", "2 cells where 3", "--sep"]),
    "one column": (b"y\np\nq\np\nq\n", ["no column but the target", "--sep"]),
    "binary": (bytes(range(256)) * 8, ["not text"]),
    "damaged gzip": (b"\x1f\x8b" + b"nothing", ["damaged gzip"]),
    "cut gzip": (gzip.compress(CSV.encode())[:-9], ["damaged gzip", "pack it again"]),
    "gzip of nothing": (gzip.compress(b""), ["rows.csv", "is empty"]),
    "packed, not UTF-8": (gzip.compress(b"a,b,y\n1,u,p\n2,\xe4,q\n"), ["line 3", "not in UTF-8"]),
    "quote without end": (("a,b,y\n" + '1,"u,p\n' + 40_000 * "2,v,q\n").encode(), ["rows.csv", "cannot be read"]),
    "damaged Parquet": (b"PAR1nothing", ["damaged", ".parquet"]),
    "decimal comma": (("a,b,y\n" + '"1,5",u,p\n"2,5",v,q\n' * 9).encode(), ["'a'", "decimal comma", "--decimal"]),
    "thousands": (
        ("a,b,y\n" + '"114,062",0.5,p\n"2,500",1.5,q\n' * 9).encode(),
        ["'a'", "'114,062'", "group thousands", "without commas"],
    ),
    "thousands, or a decimal comma": (
        ("a,b,y\n" + '"114,062",u,p\n"2,500",v,q\n' * 9).encode(),
        ["'a'", "thousands or are decimal", "without them", "--decimal"],
    ),
    "decimal comma among points": (
        ("a,b,y\n" + '"1,5",0.25,p\n"2,5",1.5,q\n' * 9).encode(),
        ["'a'", "'1,5'", "write them with a point"],
    ),
    "point among decimal commas": (
        ("a;y\n" + "1,5;p\n2,5;q\n" * 30 + "1.25;p\n").encode(),
        ["'a'", "'1.25'", "','", "--category"],
    ),
    "unknown separator": (CSV.replace(",", "~").encode(), ["no column 'y'"]),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_file_that_cannot_be_learned_from(cli, tmp_path, case):
    content, words = BAD_FILES[case]
    (tmp_path / "rows.csv").write_bytes(content)
    (tmp_path / "model.comboost").write_bytes(b"precious")
    before = files_of(tmp_path)
    refused(cli(*FIT), *words)
    assert files_of(tmp_path) == before


@pytest.mark.parametrize("case", ["thousands", "decimal comma among points"])
def test_advice_does_not_break_other_columns(cli, case):
    Path("rows.csv").write_bytes(BAD_FILES[case][0])
    assert "--decimal" not in cli(*FIT).stderr


def stumble(*arguments):
    raise ZeroDivisionError("oh")


def no_memory(monkeypatch):
    monkeypatch.setattr("comboost._engine.memory.NOT_WORTH_ASKING", 0)
    monkeypatch.setattr("comboost._engine.memory.available_memory", lambda: 10)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "feather"])
def test_file_larger_than_memory_is_refused_before_it_is_read(cli, frame, monkeypatch, ending):
    write = {"parquet": frame.to_parquet, "feather": frame.to_feather}.get(ending, frame.to_csv)
    write(f"rows.{ending}")
    no_memory(monkeypatch)
    monkeypatch.setattr(Path, "read_bytes", stumble)
    said = cli("cv", f"rows.{ending}", "-t", "state")
    refused(said, f"Reading rows.{ending}, a file of 0.0 GiB", "0.0 are free", "comboost fit FOLDER --dask")


def test_stream_larger_than_memory_is_refused_while_it_is_read(cli, monkeypatch):
    no_memory(monkeypatch)
    refused(cli("cv", "-", "-t", "y", input=CSV), "Reading standard input", "are free", "comboost fit FOLDER --dask")


def test_standard_input_without_rows_is_named(cli):
    refused(cli("cv", "-", "-t", "y", input=""), "standard input is empty")
    refused(cli("cv", "-", "-t", "y", input="a,b,y\n"), "standard input has no rows")


@pytest.mark.parametrize(
    "case", ["empty", "header only", "not UTF-8", "UTF-16", "duplicates", "ragged", "binary", "cut gzip"]
)
def test_new_rows_that_cannot_be_read_leave_the_old_predictions(cli, trained, case):
    content, words = BAD_FILES[case]
    Path("rows.csv").write_bytes(content)
    Path("out.csv").write_text("precious")
    refused(cli("predict", trained, "rows.csv", "-o", "out.csv"), *words)
    assert Path("out.csv").read_text() == "precious"
