"""Text of names, numbers, intervals and significance verdicts, shared by reports, plots, study and command line."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

MAX_JOINED = 6  # names in a sentence; the others are counted
MAX_NAME_IN_SENTENCE = 40  # characters
MISSING_VALUE = "–"
ROUNDING = 1e-9  # of sums of proportions
NUMERAL = re.compile(r"-?\d+(\.\d+)?")
NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

# Names


def readable(name: Any) -> str:
    """A name in one line, with a replacement for characters that cannot be printed."""
    text = " ".join(str(name).split())
    return "".join(each if each.isprintable() else "�" for each in text) or "(no name)"


def text_of(value: Any) -> str:
    """A label as text that UTF-8 can encode; lone surrogates are escaped."""
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")


def shorten(name: str, limit: int, n_last: int | None = None) -> str:
    """Shorten a name to its first characters and its last ``n_last``, by default a third of ``limit``."""
    if len(name) <= limit:
        return name
    n_last = (limit - 1) // 3 if n_last is None else n_last
    return name[: limit - 1 - n_last] + "…" + name[len(name) - n_last :]


def short_names(names: Iterable[Any], limit: int) -> list[str]:
    """Shorten names so that they stay distinct; number them if no way of shortening does that."""
    whole = [readable(name) for name in names]
    for n_last in [(limit - 1) // 3, *range(limit - 1, -1, -1)]:
        shortened = [shorten(name, limit, n_last) for name in whole]
        if len(set(shortened)) == len(shortened):
            return shortened
    return [shorten(f"{number} {name}", limit, 0) for number, name in enumerate(whole, start=1)]


def name_in_sentence(name: str) -> str:
    """A name in one line, at most `MAX_NAME_IN_SENTENCE` characters."""
    return shorten(readable(name), MAX_NAME_IN_SENTENCE)


def class_in_sentence(name: str) -> str:
    """The name of a class, with the word "class" before a number."""
    text = name_in_sentence(name)
    return f"class {text}" if NUMERAL.fullmatch(text) else text


def join_names(names: Sequence[str]) -> str:
    """Join names with commas and "and"; count those beyond `MAX_JOINED`."""
    shown = list(names[:MAX_JOINED])
    if len(names) > MAX_JOINED:
        shown.append(f"{len(names) - MAX_JOINED:,} more")
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def join_classes(names: Sequence[str]) -> str:
    """Join the names of classes in a sentence.

    Examples
    --------
    >>> from comboost._stats.formatting import join_classes
    >>> join_classes(["a"]), join_classes(["a", "b", "1"]), join_classes(list("abcdefghi"))
    ('a', 'a, b and class 1', 'a, b, c, d, e, f and 3 more')
    """
    return join_names([class_in_sentence(name) for name in names])


# Numbers


def pluralize(n: int, noun: str, plural: str | None = None) -> str:
    """A count with its noun.

    Examples
    --------
    >>> from comboost._stats.formatting import pluralize
    >>> pluralize(1, "sample"), pluralize(2000, "sample"), pluralize(0, "class", "classes")
    ('1 sample', '2,000 samples', '0 classes')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def number_word(n: int) -> str:
    """A small count as a word."""
    return NUMBER_WORDS[n] if n < len(NUMBER_WORDS) else f"{n:,}"


def percent(fraction: float) -> str:
    """A fraction in percent, at most three characters; empty for 0, and "100" for exactly 1 only."""
    if fraction <= ROUNDING:
        return ""
    text = f"{100 * fraction:.0f}"
    if text == "0":
        return "<1"
    return ">99" if text == "100" and fraction < 1 - ROUNDING else text


def format_confidence(confidence: float) -> str:
    """A confidence level in percent."""
    return f"{100 * confidence:g} %"


def format_number(value: float | None, *, digits: int = 3, signed: bool = False) -> str:
    """A number with fixed digits, or a dash for None."""
    return MISSING_VALUE if value is None else f"{value:{'+' if signed else ''}.{digits}f}"


def format_interval(interval: Sequence[float] | None, *, digits: int = 3, signed: bool = False) -> str:
    """Confidence bounds, or a dash for None.

    Examples
    --------
    >>> from comboost._stats.formatting import format_interval
    >>> format_interval([0.1, 0.25]), format_interval([-0.1, 0.25], signed=True), format_interval(None)
    ('0.100 to 0.250', '-0.100 to +0.250', '–')
    """
    if interval is None:
        return MISSING_VALUE
    return " to ".join(format_number(bound, digits=digits, signed=signed) for bound in interval)


def format_mean(mean: float, std: float | None) -> str:
    """A mean with its standard deviation, if that is known."""
    return f"{mean:.3f}" if std is None else f"{mean:.3f} ± {std:.3f}"


# Significance


def is_significant(interval: Sequence[float]) -> bool:
    """Whether the confidence interval of a difference excludes 0."""
    low, high = interval
    return bool(low > 0 or high < 0)


def significance_of(interval: Sequence[float]) -> str:
    """Verdict on a difference: "higher", "lower" or "not_significant"."""
    low, high = interval
    return "higher" if low > 0 else "lower" if high < 0 else "not_significant"


def describe_significance(subject: str, higher: Sequence[str], lower: Sequence[str], rest: str | None) -> str:
    """State for which items a value is significantly higher or lower; ``rest`` names the others.

    Examples
    --------
    >>> from comboost._stats.formatting import describe_significance
    >>> describe_significance("Recall", ["MIT"], ["CYT", "NUC"], "all others")
    'Recall is significantly higher for MIT, lower for CYT and NUC; no significant difference for all others.'
    >>> describe_significance("Recall", [], ["CYT"], None)
    'Recall is significantly lower for CYT.'
    """
    groups = (("higher", higher), ("lower", lower))
    parts = [f"{word} for {join_names(names)}" for word, names in groups if names]
    claim = f"{subject} is significantly {', '.join(parts)}"
    return f"{claim}; no significant difference for {rest}." if rest else f"{claim}."
