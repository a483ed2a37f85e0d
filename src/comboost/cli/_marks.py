"""Cells that stand for missing values. In: the marks that ``--missing`` names, columns. Out: columns without them."""

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

from comboost.cli._numerals import is_number, with_plain_point


class Marks:
    """Marks of missing values: text whatever its case, numbers however they are written; it knows which were seen.

    Parameters
    ----------
    texts : sequence of str
        The marks as typed.

    Examples
    --------
    >>> from comboost.cli._marks import Marks
    >>> marks = Marks(["-999", "unknown"])
    >>> [value for value in ("-999.0", "UNKNOWN ", "999") if marks.match(value)]
    ['-999.0', 'UNKNOWN ']
    """

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self.texts = tuple(texts)
        self._by_text = {text.strip().lower(): text for text in self.texts}
        self._by_number = {float(text): text for text in self.texts if is_number(text)}
        self._seen: set[str] = set()

    def match(self, value: Any, decimal: str | None = None) -> bool:
        """Whether a value is marked as missing."""
        if isinstance(value, str):
            text = with_plain_point(value.strip(), decimal)
            mark = self._by_text.get(value.strip().lower())
            if mark is None and self._by_number and is_number(text):
                mark = self._by_number.get(float(text))
        else:
            is_real = isinstance(value, Real) and not isinstance(value, bool)
            mark = self._by_number.get(float(value)) if is_real else None
        if mark is not None:
            self._seen.add(mark)
        return mark is not None

    def drop_from_text(self, column: Any, decimal: str | None) -> Any:
        """An Arrow column of text in which marked cells are missing."""
        import pyarrow
        import pyarrow.compute as pc

        found = self._found(pc.unique(column).to_pylist(), decimal) if self.texts else []
        if not found:
            return column
        marked = pc.is_in(column, pyarrow.array(found, column.type))
        return pc.if_else(marked, pyarrow.scalar(None, column.type), column)

    def drop_from_frame(self, frame: Any) -> Any:
        """A data frame whose columns have types, in which marked cells are missing."""
        columns = {}
        for name in frame.columns if self.texts else ():
            try:
                found = self._found(frame[name].dropna().unique().tolist(), None)
            except TypeError:  # lists and the like
                continue
            if found:
                columns[name] = frame[name].mask(frame[name].isin(found))
        return frame.assign(**columns)

    def tell_unseen(self, texts: Iterable[str]) -> list[str]:
        """Say which of some marks no cell has matched."""
        unseen = [text for text in texts if text not in self._seen]
        return [f"no cell is {' or '.join(map(repr, unseen))}, which --missing names"] if unseen else []

    def _found(self, values: list[Any], decimal: str | None) -> list[Any]:
        return [value for value in values if self.match(value, decimal)]
