"""A tree as indented rules."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._engine.memory import NOT_WORTH_ASKING, check_large
from comboost._types import CATEGORICAL, LEAF, MISSING_LEFT

INDENT = "|   "
SHARED_LEVELS = 64
SHARED_INDENT = INDENT * SHARED_LEVELS
MAX_CHARACTER_BYTES = 4
OR = " or"
MISSING, INFREQUENT = f"{OR} missing", f"{OR} infrequent"
MISSING_CODE = 0  # the code of a missing category
MAX_LISTED = 6  # a rule lists up to this many categories;
MAX_SHOWN = 3  # of more, it lists the first ones and counts the others


def export_tree(
    nodes: NDArray[np.void],
    *,
    sets: NDArray[np.uint8] | None = None,
    feature_names: Iterable[Any] | None = None,
    class_names: Iterable[Any] | None = None,
    categories: Mapping[int, Iterable[Any]] | None = None,
    infrequent: Container[int] = (),
    missing: Container[int] | None = None,
    leaf_values: NDArray[np.float32] | None = None,
    decimals: int | None = 3,
) -> str:
    """Write a tree as indented rules, down to the class or the values of every leaf.

    The root is the first node. By default features are called x0, x1, ..., and classes are indices; `SplitFormatter`
    describes the other arguments. ``leaf_values`` is None if leaves predict a class.

    Examples
    --------
    >>> import numpy as np
    >>> from comboost._inspection.text import export_tree
    >>> record = [("threshold", "<f8"), ("feature", "<i4"), ("left", "<i4"), ("label", "<u2"), ("flags", "u1")]
    >>> nodes = np.array([(41.5, 0, 1, 0, 1), (0, -1, -1, 1, 0), (0, -1, -1, 0, 0)], dtype=record)
    >>> print(export_tree(nodes, feature_names=["age"], class_names=["no", "yes"]))
    |--- age <= 41.5 or missing
    |   |--- class: yes
    |--- age > 41.5
    |   |--- class: no
    """
    is_leaf = nodes["feature"] == LEAF
    features = list_names(feature_names, nodes["feature"][~is_leaf], "feature")
    classes = list_names(class_names, nodes["label"][is_leaf], "class")
    formatter = SplitFormatter(sets, features, categories, infrequent, missing, decimals)
    lines: list[tuple[int, str]] = []
    ahead = [(0, 0, "")]  # a stack, since a tree may be deeper than Python lets functions call each other
    while ahead:
        idx, depth, rule = ahead.pop()
        node = nodes[idx]
        if rule:
            lines.append((depth - 1, f"|--- {rule}"))
        if is_leaf[idx]:
            lines.append((depth, f"|--- {format_leaf(node, classes, leaf_values)}"))
            continue
        left, right = formatter.rules(node)
        first = int(node["left"])
        ahead += [(first + 1, depth + 1, right), (first, depth + 1, left)]
    check_text_memory(lines)
    return join_lines(lines)


def check_text_memory(lines: list[tuple[int, str]]) -> None:
    """Raise if the lines, each with its depth, do not fit into memory: the text of a deep tree consists of indents."""
    n_characters = sum(len(INDENT) * depth + len(text) + 1 for depth, text in lines)
    if MAX_CHARACTER_BYTES * n_characters <= NOT_WORTH_ASKING:
        return
    largest = ord(max(max(text) for _, text in lines))
    n_bytes = n_characters * (1 if largest < 2**8 else 2 if largest < 2**16 else MAX_CHARACTER_BYTES)
    deepest = max(depth for depth, _ in lines)
    uses = {f"lines of up to {deepest} levels": n_bytes}
    check_large("The text of this tree", uses, "Use trees_to_frame, which has one row per node, or limit max_depth.")


def join_lines(lines: list[tuple[int, str]]) -> str:
    """Join lines, each with its depth; they share their indents, so that only the text itself takes memory."""
    parts: list[str] = []
    for depth, text in lines:
        n_shared, n_more = divmod(depth, SHARED_LEVELS)
        parts += [SHARED_INDENT] * n_shared
        parts += (INDENT * n_more, text, "\n")
    return "".join(parts[:-1])


def format_leaf(node: np.void, classes: list[str] | None, leaf_values: NDArray[np.float32] | None) -> str:
    """Return the class of a leaf, or its values of the largest magnitude."""
    if leaf_values is None:
        return f"class: {name_of(node['label'], classes)}"
    own = leaf_values[node["left"]]
    order = np.argsort(-np.abs(own), kind="stable")[:MAX_LISTED]
    listed = [f"{name_of(label, classes)} {own[label]:+.2f}" for label in sorted(order.tolist(), key=lambda k: -own[k])]
    more = "" if len(own) <= MAX_LISTED else f", ... {len(own) - MAX_LISTED} more"
    return f"values: {', '.join(listed)}{more}"


@dataclass(frozen=True)
class SplitFormatter:
    """Formats splits as rules."""

    sets: NDArray[np.uint8] | None  # (n_sets, 32); category codes that go left, as bits
    features: list[str] | None  # names of all features
    #: Sorted categories of every categorical feature, without the infrequent ones, which have the next code.
    categories: Mapping[int, Iterable[Any]] | None
    infrequent: Container[int]  # features that have infrequent categories
    #: Features whose rules say where missing values go; None is all. An unseen category is a missing value.
    missing: Container[int] | None
    decimals: int | None  # of a threshold; significant digits of one between -1 and 1; None is all digits

    def rules(self, node: np.void) -> tuple[str, str]:
        """Return the rules of both sides of a split."""
        name = name_of(node["feature"], self.features, "x")
        if node["flags"] & CATEGORICAL:
            return self._category_rules(name, node)
        missing_left = bool(node["flags"] & MISSING_LEFT)
        if missing_left and node["threshold"] == -np.inf:
            return f"{name} is missing", f"{name} is not missing"
        threshold = format_threshold(float(node["threshold"]), self.decimals)
        left, right = self._missing_notes(int(node["feature"]), missing_left)
        return f"{name} <= {threshold}{left}", f"{name} > {threshold}{right}"

    def _category_rules(self, name: str, node: np.void) -> tuple[str, str]:
        assert self.sets is not None
        assert self.categories is not None
        feature = int(node["feature"])
        goes_left = np.unpackbits(self.sets[node["set"]], bitorder="little").astype(bool)
        values = list(self.categories[feature])
        left = [value for code, value in enumerate(values, start=1) if goes_left[code]]
        right = [value for code, value in enumerate(values, start=1) if not goes_left[code]]
        shared = ("", "")
        if feature in self.infrequent:
            shared = sides(INFREQUENT, to_left=bool(goes_left[len(values) + 1]))
        missing = self._missing_notes(feature, bool(goes_left[MISSING_CODE]))
        return category_rule(name, left, shared[0], missing[0]), category_rule(name, right, shared[1], missing[1])

    def _missing_notes(self, feature: int, missing_left: bool) -> tuple[str, str]:
        if self.missing is not None and feature not in self.missing:
            return "", ""
        return sides(MISSING, to_left=missing_left)


def sides(note: str, *, to_left: bool) -> tuple[str, str]:
    """Return a note for one of two sides."""
    return (note, "") if to_left else ("", note)


def category_rule(name: str, values: list[Any], *notes: str) -> str:
    """Return the rule of one side of a split of categories."""
    note = "".join(notes)
    if not values:
        return f"{name} is{(note or MISSING).removeprefix(OR)}"
    listed = [format_category(value) for value in values]
    if len(listed) > MAX_LISTED:
        listed[MAX_SHOWN:] = [f"... {len(listed) - MAX_SHOWN} more"]
    return f"{name} in {{{', '.join(listed)}}}{note}"


def format_category(value: Any) -> str:
    """Return a category as text, in quotes if its end would be ambiguous."""
    text = str(value)
    is_ambiguous = text != text.strip() or not text or any(character in text for character in ",{}")
    return repr(text) if is_ambiguous else format_name(text)


def format_name(name: Any) -> str:
    """Return a name as text, escaped if it holds line breaks or control characters: a rule is one line."""
    text = str(name)
    return text if text.isprintable() else repr(text)


def format_threshold(threshold: float, decimals: int | None) -> str:
    """Return a threshold, rounded; small ones keep their leading digits."""
    if decimals is None:
        return repr(threshold)
    if abs(threshold) < 1:
        return f"{threshold + 0.0:.{decimals}g}"  # no -0
    return f"{round(threshold, decimals):.15g}"


def list_names(names: Iterable[Any] | None, used: NDArray[Any], noun: str) -> list[str] | None:
    """Return names as text; raise if the tree uses more than there are."""
    if names is None:
        return None
    listed = [format_name(name) for name in names]
    if used.size and used.max() >= len(listed):
        raise ValueError(
            f"{noun}_names has {len(listed)} names, but the tree uses {noun} {used.max()}, counted from 0; give a name "
            f"for every {noun}."
        )
    return listed


def name_of(idx: Any, names: list[str] | None, prefix: str = "") -> str:
    """Return the name, or the index if there are no names."""
    return f"{prefix}{idx}" if names is None else names[idx]
