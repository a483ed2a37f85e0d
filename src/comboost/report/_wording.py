"""Words of a report. In: labels, numbers, lists of names. Out: text that every page can show."""

import re
from collections.abc import Sequence
from typing import Any

from comboost.displays._labels import readable, shorten

MOST_IN_SENTENCE = 6  # names, beyond which they are counted
LONGEST_IN_SENTENCE = 40  # characters of a name
NUMERAL = re.compile(r"-?\d+(\.\d+)?")


def text_of(value: Any) -> str:
    """A label or a name as text; halves of characters, which no file can hold, are spelled."""
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")


def counted(n: int, noun: str, nouns: str | None = None) -> str:
    """A number of things.

    Examples
    --------
    >>> from comboost.report._wording import counted
    >>> counted(1, "row"), counted(2000, "row"), counted(0, "class", "classes")
    ('1 row', '2,000 rows', '0 classes')
    """
    return f"{n:,} {noun if n == 1 else nouns or noun + 's'}"


def joined_classes(names: Sequence[str]) -> str:
    """Names of classes in a sentence, the first of many.

    Examples
    --------
    >>> from comboost.report._wording import joined_classes
    >>> joined_classes(["a"]), joined_classes(["a", "b", "1"]), joined_classes(list("abcdefghi"))
    ('a', 'a, b and class 1', 'a, b, c, d, e, f and 3 more')
    """
    return joined([class_in_sentence(name) for name in names])


def joined(texts: Sequence[str]) -> str:
    """Texts in a sentence, the first of many."""
    told = list(texts[:MOST_IN_SENTENCE])
    if len(texts) > MOST_IN_SENTENCE:
        told.append(f"{len(texts) - MOST_IN_SENTENCE:,} more")
    return " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told)


def class_in_sentence(name: str) -> str:
    """The name of a class; a number says that it is a class."""
    text = in_sentence(name)
    return f"class {text}" if NUMERAL.fullmatch(text) else text


def in_sentence(name: str) -> str:
    """A name in one line, not too long."""
    return shorten(readable(name), LONGEST_IN_SENTENCE)


def as_percent(confidence: float) -> str:
    """A confidence in words."""
    return f"{100 * confidence:g} %"
