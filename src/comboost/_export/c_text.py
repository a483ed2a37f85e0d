"""Words of C. In: numbers, text, names. Out: literals, comments and arrays that mean the same to every compiler."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._data.checks import shown

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}")
PER_LINE = 12  # items of an array
MAX_TEXT = 4095  # bytes of a string, which C99 promises
#: Words of C, of C++ and of the header that the file needs, and the one function whose type is given.
WORDS = """
    alignas alignof and and_eq asm atomic_cancel auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield
    decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto if
    inline int int32_t long main mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected
    public reflexpr register reinterpret_cast requires restrict return short signed sizeof static static_assert
    static_cast struct switch synchronized template this thread_local throw true try typedef typeid typename typeof
    typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq
"""
RESERVED = frozenset(re.findall(r"\w+", WORDS))


def checked_identifier(name: Any) -> str:
    """The name, if functions in C and C++ may have it."""
    if not isinstance(name, str) or IDENTIFIER.fullmatch(name) is None or name in RESERVED:
        raise ValueError(
            f"to_c got name={shown(name)}; give a name for a function in C: a letter, then up to 30 letters, digits "
            "and underscores, and no word of C or C++."
        )
    return name


def string(text: str, what: str) -> str:
    """Text as a literal, in UTF-8."""
    encoded = text.encode()
    if len(encoded) > MAX_TEXT:
        raise ValueError(
            f"{what} {shown(text)} has {len(encoded)} bytes; a string in C may have {MAX_TEXT}. Fit with shorter text."
        )
    return '"' + "".join(map(character, encoded)) + '"'


def character(byte: int) -> str:
    """A byte of a literal; what could mean anything else is escaped, question marks too, three of which may."""
    plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
    return chr(byte) if plain else f"\\{byte:03o}"


def comment_text(text: Any) -> str:
    """Text as it may stand in a comment, which it can neither end nor open."""
    return ascii(str(text)).replace("*", r"\x2a").replace("/", r"\x2f")


def comment(lines: Iterable[str]) -> str:
    """Lines as a comment."""
    return "/* " + "\n * ".join(lines) + "\n */"


def doubles(values: NDArray[np.float64]) -> list[str]:
    """Numbers as the shortest literals that are equal to them."""
    return [repr(value) for value in values.tolist()]


def floats(values: NDArray[np.float32]) -> list[str]:
    """Numbers as the shortest literals that are equal to them."""
    return [f"{value!s}f" for value in values]


def array(declaration: str, items: Sequence[Any]) -> str:
    """The definition of an array, whose items are literals."""
    lines = (", ".join(map(str, items[i : i + PER_LINE])) for i in range(0, len(items), PER_LINE))
    return f"static const {declaration}[] = {{\n" + ",\n".join(lines) + "\n};"
