"""A model as one C99 file, which is valid C++ too and needs no library.

The file adds the same numbers in the same order as prediction does, and multiplies none. So any compiler that follows
IEEE 754 computes the same scores, to the bit.
"""

import re
from collections.abc import Sequence
from string import Template
from typing import Any

import numpy as np

from comboost._data.checks import shown
from comboost._engine.memory import check_large
from comboost._export import c_templates as templates
from comboost._export.blueprint import Blueprint, CodedFeature
from comboost._types import CATEGORICAL, LEAF, MISSING_LEFT

MAX_NAMED = 1000  # features and classes in the comment at the top
MAX_ITEMS = 2**30  # of an array: indices are 32 bits wide, one of which is a flag
MAX_TEXT = 4095  # bytes of a string that every C99 compiler accepts
ITEMS_PER_LINE = 12
#: Approximate size of an item in the source, of which writing it takes four times as much memory.
SOURCE_BYTES = {"nodes": 40, "leaf values": 14, "bytes of sets": 5, "categories": 40}
IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}")
#: Keywords of C, of C++ and of the included header, and ``main``, whose type is given.
KEYWORDS = """
    alignas alignof and and_eq asm atomic_cancel auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield
    decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto if
    inline int int32_t long main mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected
    public reflexpr register reinterpret_cast requires restrict return short signed sizeof static static_assert
    static_cast struct switch synchronized template this thread_local throw true try typedef typeid typename typeof
    typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq
"""
RESERVED = frozenset(KEYWORDS.split())


def c_source(plan: Blueprint, name: str) -> str:
    """Return the source of a function of this name that returns the index of a sample's class."""
    if not isinstance(name, str) or IDENTIFIER.fullmatch(name) is None or name in RESERVED:
        raise ValueError(
            f"to_c got name={shown(name)}; give a name for a function in C: a letter, then up to 30 letters, digits "
            "and underscores, and not a keyword of C or C++."
        )
    check_source(plan)
    writer = CWriter(plan, name)
    return "\n\n".join([writer.header(), writer.declarations(), *writer.tables(), *writer.functions()]) + "\n"


def check_source(plan: Blueprint) -> None:
    """Raise if the model is too large for a C file, or for the available memory."""
    values = plan.forest.leaf_values
    n_items = {
        "nodes": len(plan.forest.nodes),
        "leaf values": 0 if values is None else values.size,
        "bytes of sets": plan.forest.sets.size,
        "categories": sum(len(coded.values) for coded in plan.coded_features),
    }
    for what, n in n_items.items():
        if n > MAX_ITEMS:
            raise ValueError(f"The model has {n} {what}; a C file can hold {MAX_ITEMS}. Fit fewer or smaller trees.")
    needed = {what: 4 * n * SOURCE_BYTES[what] for what, n in n_items.items()}
    check_large("The C file", needed, "Fit fewer or smaller trees.")


class CWriter:
    """Writes the parts of a file, in which all names start with ``name``."""

    def __init__(self, plan: Blueprint, name: str) -> None:
        self.plan = plan
        self.name = name
        self.coded = plan.coded_features
        self.texts = [coded for coded in self.coded if coded.is_text]
        self.fields = {
            "name": name,
            "n_trees": len(plan.forest.weights),
            "n_classes": len(plan.classes),
            "n_scored": len(plan.scored_classes),
            "n_coded": len(self.coded),
            "set_bytes": (max((coded.n_codes for coded in self.coded), default=0) + 7) // 8,
            "no_score": repr(plan.no_score),
            "codes": ", const unsigned char *codes" if self.coded else "",
            "given_codes": ", codes" if self.coded else "",
        }

    def _fill(self, template: str, **parts: str) -> str:
        return Template(template).substitute(self.fields, **parts)

    def _array(self, kind: str, name: str, items: Sequence[Any]) -> str:
        """Return the definition of an array of literals."""
        lines = (", ".join(map(str, items[i : i + ITEMS_PER_LINE])) for i in range(0, len(items), ITEMS_PER_LINE))
        return f"static const {kind}{self.name}_{name}[] = {{\n" + ",\n".join(lines) + "\n};"

    def header(self) -> str:
        """Return the comment that documents the file."""
        plan, name = self.plan, self.name
        lines = [
            f"{plan.owner} of comboost: {len(plan.forest.weights)} trees, {plan.n_features} features, "
            f"{len(plan.classes)} classes. Written by to_c().",
            "",
            f"int {name}(const double *x): the index of the class of a sample, as below.",
            f"void {name}_scores(const double *x, double *scores): the scores of every class.",
            f"const char *{name}_label(int class_index): the name of a class.",
        ]
        if self.texts:
            lines.append(f"double {name}_code(int feature, const char *text): the number of a text, in UTF-8, for x.")
        lines += ["", f"x has {plan.n_features} numbers, none infinite; NaN is a missing one. Features:"]
        text = {coded.feature for coded in self.texts}
        for feature in range(min(plan.n_features, MAX_NAMED)):
            called = "" if plan.names is None else f" {comment_text(plan.names[feature])}"
            lines.append(f"  {feature}{called}{f' (text: {name}_code gives its number)' if feature in text else ''}")
        lines += ["Classes:", *(f"  {k} {comment_text(c)}" for k, c in enumerate(plan.classes.tolist()[:MAX_NAMED]))]
        return "/* " + "\n * ".join(lines) + "\n */"

    def declarations(self) -> str:
        """Return the public declarations."""
        return "\n".join(map(self._fill, [templates.PREAMBLE] + [templates.CODE_PROTOTYPE] * bool(self.texts)))

    def tables(self) -> list[str]:
        """Return the arrays: nodes, leaf values, classes, sets and codes of categories."""
        plan, forest = self.plan, self.plan.forest
        parts = [self._fill(templates.NODE), self._array(f"struct {self.name}_node ", "nodes", self._nodes())]
        parts.append(self._array("int32_t ", "roots", forest.offsets[:-1].tolist()))
        if forest.leaf_values is None:
            parts.append(self._array("double ", "weights", forest.weights.tolist()))
        else:
            parts.append(self._array("float ", "leaf_values", [f"{value!s}f" for value in forest.leaf_values.ravel()]))
        if plan.scored is not None:
            parts.append(self._array("int32_t ", "scored", plan.scored.tolist()))
        if self.coded:
            sets = forest.sets[:, : self.fields["set_bytes"]].ravel().tolist()
            parts += [self._array("unsigned char ", "sets", sets), *self._coded_tables()]
        labels = [string_literal(str(label), "The class") for label in plan.labels]
        return [*parts, self._array("char *const ", "labels", labels)]

    def _nodes(self) -> list[str]:
        """Return nodes as initialisers: threshold, feature, next."""
        forest = self.plan.forest
        nodes, order = forest.nodes.copy(), np.arange(len(forest.nodes))
        inner, by_set = nodes["feature"] != LEAF, nodes["flags"] & CATEGORICAL != 0
        lefts = np.repeat(forest.offsets[:-1], np.diff(forest.offsets)) + nodes["left"]
        missing_left = (nodes["flags"] & MISSING_LEFT != 0) & ~by_set
        # C has no literal for infinity. A split of missing values from all others is written with swapped children.
        splits_missing = inner & np.isneginf(nodes["threshold"])
        left = lefts[splits_missing]
        order[left], order[left + 1] = left + 1, left
        nodes["threshold"][splits_missing] = np.finfo(np.float64).max
        missing_left[splits_missing] = False
        leaf_rows = nodes["label"] if forest.leaf_values is None else nodes["left"]
        following = np.where(inner, 2 * lefts + missing_left, -1 - leaf_rows.astype(np.int64))
        column_of = np.arange(self.plan.n_features)
        for column, coded in enumerate(self.coded):
            column_of[coded.feature] = -1 - column
        columns = np.where(inner, column_of[nodes["feature"]], 0)
        thresholds = np.where(by_set, nodes["set"], nodes["threshold"])
        rows = zip(thresholds[order].tolist(), columns[order].tolist(), following[order].tolist(), strict=True)
        return [f"{{{threshold!r}, {column}, {follow}}}" for threshold, column, follow in rows]

    def _coded_tables(self) -> list[str]:
        """Return the categories and their codes."""
        ends, spans = {False: 0, True: 0}, []
        for coded in self.coded:  # where its categories begin and end: among the numbers, or among the texts
            begin, ends[coded.is_text] = ends[coded.is_text], ends[coded.is_text] + len(coded.values)
            n_texts = coded.n_codes - 1 if coded.is_text else 0
            spans.append(f"{{{coded.feature}, {begin}, {ends[coded.is_text]}, {n_texts}}}")
        parts = [self._fill(templates.CODED), self._array(f"struct {self.name}_coded ", "coded_features", spans)]
        numbers = [coded for coded in self.coded if not coded.is_text]
        if numbers:
            parts.append(self._array("double ", "values", [value for coded in numbers for value in coded.values]))
            parts.append(self._array("unsigned char ", "value_codes", codes_of(numbers)))
        if self.texts:
            texts = [string_literal(value, "The category") for coded in self.texts for value in coded.values]
            parts.append(self._array("char *const ", "texts", texts))
            parts.append(self._array("unsigned char ", "text_codes", codes_of(self.texts)))
        return parts

    def functions(self) -> list[str]:
        """Return the functions that walk the trees and add the scores."""
        plan, parts = self.plan, []
        if self.coded:
            search = self._fill(templates.SEARCH) if len(self.texts) < len(self.coded) else ""
            parts.append(self._fill(templates.READ_CODES, search=search))
        go_right = self._fill(templates.BY_EITHER if self.coded else templates.BY_NUMBER)
        parts.append(self._fill(templates.WALK, go_right=go_right))
        add = templates.ADD_WEIGHT if plan.forest.leaf_values is None else templates.ADD_VALUES
        read = self._fill(templates.READ) if self.coded else ""
        parts.append(self._fill(templates.SUM_SCORES, read=read, add=self._fill(add)))
        parts.append(self._fill(templates.PREDICT if plan.scored is None else templates.PREDICT_SCORED))
        parts.append(self._fill(templates.LABEL_OF_CLASS))
        return parts + [self._fill(templates.CODE_OF_TEXT)] * bool(self.texts)


def codes_of(coded: list[CodedFeature]) -> list[int]:
    """Return the codes of all categories of some features."""
    return [code for each in coded for code in each.codes.tolist()]


def string_literal(text: str, what: str) -> str:
    """Return text as a literal, in UTF-8; question marks are escaped, since three of them may be a trigraph."""
    encoded = text.encode()
    if len(encoded) > MAX_TEXT:
        raise ValueError(
            f"{what} {shown(text)} has {len(encoded)} bytes; a string in C may have {MAX_TEXT}. Fit with shorter text."
        )
    plain = (chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in encoded)
    return f'"{"".join(plain)}"'


def comment_text(text: Any) -> str:
    """Return text that can neither open nor close a comment."""
    return ascii(str(text)).replace("*", r"\x2a").replace("/", r"\x2f")
