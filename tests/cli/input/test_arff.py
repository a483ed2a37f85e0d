"""ARFF and KEEL files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comboost.cli.input.columns import to_frame
from comboost.cli.input.delimited import Dialect
from comboost.cli.input.sources import parse_bytes
from comboost.cli.terminal.errors import CommandError

ARFF = "% about\n@relation r\n@attribute a {x}\n@attribute 'it\\'s' real\n@data\n\n% more\nx,1\n x , 2\n"


def read_arff(text, ending=".arff"):
    return parse_bytes(text.encode(), "it", ending, Dialect())


def in_quotes(value, quote, mark):
    escaped = value.replace("\\", "\\\\")
    return quote + escaped.replace(quote, mark + quote if mark == "\\" else 2 * quote) + quote


@given(
    st.lists(
        st.tuples(
            st.text(alphabet="a'\"\\, %{}é\t@", min_size=1), st.sampled_from("'\""), st.sampled_from(["\\", "double"])
        ),
        min_size=1,
        max_size=6,
    )
)
def test_quoted_values_come_back_whichever_quotes_they_are_in(given_values):
    lines = [f"{in_quotes(*given_value)} ,O'Brien, 1" for given_value in given_values]
    head = "@relation r\n@attribute a string\n@attribute b string\n@attribute c real\n@data\n"
    cells = read_arff(head + "\n".join(lines)).cells
    assert cells["a"].to_pylist() == [value for value, _, _ in given_values]
    assert set(cells["b"].to_pylist()) == {"O'Brien"}


def test_names_of_columns_lose_their_quotes():
    assert read_arff(ARFF).cells.column_names == ["a", "it's"]


@pytest.mark.parametrize(
    ("row", "words"),
    [("x", "1 cells where 2"), ("x,1,2", "3 cells where 2"), ("'x,1", "quote that does not end"), ("'x'y,1", "quote")],
)
def test_bad_rows_are_named_by_their_line_in_the_file(row, words):
    with pytest.raises(CommandError, match=rf"it, line 10, has .*{words}"):
        read_arff(f"{ARFF}{row}\nx,3\n")


def test_missing_values_of_arff_and_keel():
    found = to_frame(read_arff(ARFF + "?,?\n<null>,<null>\n"))
    assert found.isna().to_numpy().tolist() == [[False, False]] * 2 + [[True, True]] * 2


def test_attribute_files_are_known_without_an_ending():
    assert read_arff(ARFF, ending="").nominal == ("a",)


def test_several_outputs_name_no_target():
    for outputs, target in (("a", "a"), ("'it\\'s'", "it's"), ("a, b", None)):
        assert read_arff(ARFF.replace("@data", f"@outputs {outputs}\n@data"), ".dat").target == target
