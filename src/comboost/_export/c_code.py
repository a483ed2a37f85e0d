"""A model as a C file. In: a blueprint. Out: C99, which is C++ as well, that needs no library.

The file adds up the same numbers in the same order as prediction does, without a product, so that no compiler which
keeps to IEEE 754 can come to other votes: they are the same to the bit.
"""

from string import Template
from typing import Any

import numpy as np

from comboost._engine.memory import check_large
from comboost._export import c_templates as templates
from comboost._export.blueprint import Blueprint, CodedFeature
from comboost._export.c_text import array, checked_identifier, comment, comment_text, doubles, floats, string
from comboost._types import CATEGORICAL, LEAF, MISSING_LEFT

MOST_NAMED = 1000  # features and classes in the comment at the top
MAX_ITEMS = 2**30  # of an array: places in it are 32 bits wide, one of which is a flag
SOURCE_BYTES = {
    "nodes": 40,
    "votes": 14,
    "bytes of sets": 5,
    "categories": 40,
}  # of each, about, and four times that while it is written


def c_source(plan: Blueprint, name: str) -> str:
    """The source of a function of this name that takes a row and returns the number of its class."""
    checked_identifier(name)
    check_source(plan)
    writer = CWriter(plan, name)
    return "\n\n".join([writer.header(), *writer.declarations(), *writer.tables(), *writer.functions()]) + "\n"


def check_source(plan: Blueprint) -> None:
    """Raise if the model is too large for a C file, or for the memory that there is to write it."""
    votes = plan.forest.votes
    n_items = {
        "nodes": len(plan.forest.nodes),
        "votes": 0 if votes is None else votes.size,
        "bytes of sets": plan.forest.sets.size,
        "categories": sum(len(coded.values) for coded in plan.coded_features),
    }
    for what, n in n_items.items():
        if n > MAX_ITEMS:
            raise ValueError(f"The model has {n} {what}; a C file can hold {MAX_ITEMS}. Fit fewer or smaller trees.")
    needed = {what: 4 * n * SOURCE_BYTES[what] for what, n in n_items.items()}
    check_large("The C file", needed, "Fit fewer or smaller trees.")


class CWriter:
    """Writes the parts of a file.

    Parameters
    ----------
    plan : Blueprint
        The model.
    name : str
        What all names in the file begin with.
    """

    def __init__(self, plan: Blueprint, name: str) -> None:
        self.plan = plan
        self.name = name
        self.coded = plan.coded_features
        self.texts = [coded for coded in self.coded if coded.is_text]
        self.gaps = {
            "name": name,
            "n_trees": len(plan.forest.weights),
            "n_classes": len(plan.classes),
            "n_voted": len(plan.voted_places),
            "n_coded": len(self.coded),
            "set_bytes": (max((coded.n_codes for coded in self.coded), default=0) + 7) // 8,
            "no_votes": repr(plan.no_votes),
            "codes": ", const unsigned char *codes" if self.coded else "",
            "given_codes": ", codes" if self.coded else "",
        }

    def _fill(self, template: str, **parts: str) -> str:
        return Template(template).substitute(self.gaps, **parts)

    def _array(self, kind: str, name: str, items: list[Any]) -> str:
        return array(f"{kind}{self.name}_{name}", items)

    def header(self) -> str:
        """What the file is, and what its numbers stand for."""
        plan, name = self.plan, self.name
        lines = [
            f"{plan.owner} of comboost: {len(plan.forest.weights)} trees, {plan.n_features} features, "
            f"{len(plan.classes)} classes. Written by to_c().",
            "",
            f"int {name}(const double *x): the number of the class of a row, counted from 0 as below.",
            f"void {name}_votes(const double *x, double *votes): the votes for every class.",
            f"const char *{name}_label(int class_number): the name of a class.",
        ]
        if self.texts:
            lines.append(f"double {name}_code(int feature, const char *text): what x holds for text, in UTF-8.")
        lines += ["", f"x has {plan.n_features} numbers, none infinite; NaN is a missing one. Features:"]
        text = {coded.feature for coded in self.texts}
        for feature in range(min(plan.n_features, MOST_NAMED)):
            called = "" if plan.names is None else f" {comment_text(plan.names[feature])}"
            lines.append(f"  {feature}{called}{f' (text: {name}_code gives its number)' if feature in text else ''}")
        lines += ["Classes:", *(f"  {k} {comment_text(c)}" for k, c in enumerate(plan.classes.tolist()[:MOST_NAMED]))]
        return comment(lines)

    def declarations(self) -> list[str]:
        """What users of the file declare."""
        parts = [templates.PREAMBLE] + [templates.CODE_PROTOTYPE] * bool(self.texts)
        return ["\n".join(map(self._fill, parts))]

    def tables(self) -> list[str]:
        """The numbers: nodes, votes, classes, sets and codes of categories."""
        plan, forest = self.plan, self.plan.forest
        parts = [self._fill(templates.NODE), self._array(f"struct {self.name}_node ", "nodes", self._nodes())]
        parts.append(self._array("int32_t ", "roots", forest.offsets[:-1].tolist()))
        if forest.votes is None:
            parts.append(self._array("double ", "weights", doubles(forest.weights)))
        else:
            parts.append(self._array("float ", "leaf_votes", floats(forest.votes.ravel())))
        if plan.voted is not None:
            parts.append(self._array("int32_t ", "voted", plan.voted.tolist()))
        if self.coded:
            parts.append(
                self._array("unsigned char ", "sets", forest.sets[:, : self.gaps["set_bytes"]].ravel().tolist())
            )
            parts += self._coded_tables()
        parts.append(self._array("char *const ", "labels", [string(str(label), "The class") for label in plan.labels]))
        return parts

    def _nodes(self) -> list[str]:
        """Nodes as initialisers: threshold, feature, next."""
        forest = self.plan.forest
        nodes, places = forest.nodes.copy(), np.arange(len(forest.nodes))
        inner, by_set = nodes["feature"] != LEAF, nodes["flags"] & CATEGORICAL != 0
        lefts = np.repeat(forest.offsets[:-1], np.diff(forest.offsets)) + nodes["left"]
        missing_left = (nodes["flags"] & MISSING_LEFT != 0) & ~by_set
        # C has no literal for infinity. What parts missing values from all others does so with its children swapped.
        parts_missing = inner & np.isneginf(nodes["threshold"])
        left = lefts[parts_missing]
        places[left], places[left + 1] = left + 1, left
        nodes["threshold"][parts_missing] = np.finfo(np.float64).max
        missing_left[parts_missing] = False
        leaf_rows = nodes["label"] if forest.votes is None else nodes["left"]
        following = np.where(inner, 2 * lefts + missing_left, -1 - leaf_rows.astype(np.int64))
        column_of = np.arange(self.plan.n_features)
        for column, coded in enumerate(self.coded):
            column_of[coded.feature] = -1 - column
        columns = np.where(inner, column_of[nodes["feature"]], 0)
        thresholds = np.where(by_set, nodes["set"], nodes["threshold"])
        rows = zip(doubles(thresholds[places]), columns[places].tolist(), following[places].tolist(), strict=True)
        return [f"{{{threshold}, {column}, {follow}}}" for threshold, column, follow in rows]

    def _coded_tables(self) -> list[str]:
        """The categories and their codes."""
        numbers = [coded for coded in self.coded if not coded.is_text]
        spans = self._array(f"struct {self.name}_coded ", "coded_features", self._spans())
        parts = [self._fill(templates.CODED), spans]
        if numbers:
            parts.append(self._array("double ", "values", [repr(value) for coded in numbers for value in coded.values]))
            parts.append(self._array("unsigned char ", "value_codes", codes_of(numbers)))
        if self.texts:
            texts = [string(value, "The category") for coded in self.texts for value in coded.values]
            parts.append(self._array("char *const ", "texts", texts))
            parts.append(self._array("unsigned char ", "text_codes", codes_of(self.texts)))
        return parts

    def _spans(self) -> list[str]:
        """Where the categories of every coded feature begin and end: among the numbers, or among the texts."""
        ends = {False: 0, True: 0}
        spans = []
        for coded in self.coded:
            begin, ends[coded.is_text] = ends[coded.is_text], ends[coded.is_text] + len(coded.values)
            n_texts = coded.n_codes - 1 if coded.is_text else 0
            spans.append(f"{{{coded.feature}, {begin}, {ends[coded.is_text]}, {n_texts}}}")
        return spans

    def functions(self) -> list[str]:
        """What follows the trees and adds up the votes."""
        parts = []
        if self.coded:
            search = self._fill(templates.SEARCH) if len(self.texts) < len(self.coded) else ""
            parts.append(self._fill(templates.READ_CODES, search=search))
        parts.append(self._fill(templates.WALK, decide=self._fill(self._decision())))
        parts.append(
            self._fill(
                templates.SUM_VOTES,
                read=self._fill(templates.READ) if self.coded else "",
                add=self._fill(templates.ADD_WEIGHT if self.plan.forest.votes is None else templates.ADD_VOTES),
            )
        )
        answers = templates.ANSWERS if self.plan.voted is None else templates.SPREAD_ANSWERS
        parts += [self._fill(answers), self._fill(templates.LABEL_OF_CLASS)]
        return parts + [self._fill(templates.CODE_OF_TEXT)] * bool(self.texts)

    def _decision(self) -> str:
        """How a node sends rows on: by numbers, by categories or by either."""
        nodes = self.plan.forest.nodes
        if not self.coded:
            return templates.BY_NUMBER
        has_numbers = ((nodes["feature"] != LEAF) & (nodes["flags"] & CATEGORICAL == 0)).any()
        return templates.BY_EITHER if has_numbers else templates.BY_SET


def codes_of(coded: list[CodedFeature]) -> list[int]:
    """The codes of all categories of some features."""
    return [code for each in coded for code in each.codes.tolist()]
