"""A tree as a picture. In: its nodes, in words. Out: boxes with places, drawn by matplotlib."""

import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comboost._extras import import_pyplot
from comboost._inspection.text import SplitWords, name_of
from comboost._inspection.tree_paths import Lineage
from comboost._types import LEAF

LINE = 18  # characters
MAX_LINES = 3
MAX_VOTES = 3  # of a leaf that are shown
INCHES = (1.8, 1.25)  # of a box, with the space around it
POINTS = 72  # per inch
FONT = 10.0  # points at most
CHARACTER = 0.62  # width of a character, in sizes of the font
#: Okabe and Ito's colours, which most people can tell apart, mixed with white: text on them stays readable.
COLOURS = ("#99caff", "#f5ce87", "#8fd8c2", "#e8a8cf", "#f5ea8f", "#b3d4ea", "#f0b48f", "#c9c9c9")
PLAIN = "#ffffff"


class Box(NamedTuple):
    """A node in a picture.

    Attributes
    ----------
    node : int
        Its number in the tree.
    x, y : float
        Its place: leaves are 1 apart, levels are 1 apart, the root is at y = 0, others below it.
    text : str
        What it says, in short lines.
    colour : str
        What it is filled with.
    parent : int or None
        The place of its parent among the boxes.
    """

    node: int
    x: float
    y: float
    text: str
    colour: str
    parent: int | None


class TreeWords(NamedTuple):
    """Puts the nodes of a tree into words; ``covers`` are their shares of the training weight, if they are known."""

    splits: SplitWords
    classes: list[str]
    votes: NDArray[np.float32] | None
    covers: NDArray[np.float64] | None

    def lines(self, idx: int, node: np.void) -> tuple[list[str], str]:
        """What a node says, and its colour."""
        share = [] if self.covers is None else [f"{100 * self.covers[idx]:.3g} %"]
        if node["feature"] != LEAF:
            return [*wrapped(self.splits.rules(node)[0]), *share], PLAIN
        if self.votes is None:
            label = int(node["label"])
            return [*wrapped(f"class: {name_of(label, self.classes)}"), *share], COLOURS[label % len(COLOURS)]
        own = self.votes[node["left"]]
        strongest = np.argsort(-np.abs(own), kind="stable")[:MAX_VOTES]
        listed = [self._vote(label, own[label]) for label in sorted(strongest.tolist(), key=lambda k: -own[k])]
        return [*listed, *share], COLOURS[int(own.argmax()) % len(COLOURS)]

    def _vote(self, label: int, vote: np.float32) -> str:
        number = f" {vote:+.2f}"
        return fitted_text(name_of(label, self.classes), LINE - len(number)) + number


def wrapped(text: str) -> list[str]:
    """A rule in a few short lines."""
    return textwrap.wrap(text, LINE, max_lines=MAX_LINES, placeholder=" …")


def fitted_text(text: str, width: int) -> str:
    """A name that is no longer than that."""
    return text if len(text) <= width else text[: width - 1] + "…"


def boxes_of(lineage: Lineage, words: TreeWords, max_depth: int | None) -> list[Box]:
    """The boxes of a tree, parents before their children; what is below a depth is counted in one box."""
    nodes, below = lineage.forest.nodes, count_leaves(lineage)
    is_end = lineage.is_leaf if max_depth is None else lineage.is_leaf | (lineage.depth >= max_depth)
    order, ahead = [], [0]
    while ahead:  # the left child first
        idx = ahead.pop()
        order.append(idx)
        if not is_end[idx]:
            ahead += [int(lineage.left[idx]) + 1, int(lineage.left[idx])]
    places = np.zeros(len(nodes))
    places[[idx for idx in order if is_end[idx]]] = np.arange(sum(bool(is_end[idx]) for idx in order))
    for idx in reversed(order):
        if not is_end[idx]:
            places[idx] = places[[lineage.left[idx], lineage.left[idx] + 1]].mean()
    rank = {idx: place for place, idx in enumerate(order)}
    boxes = []
    for idx in order:
        lines, colour = words.lines(idx, nodes[idx])
        if is_end[idx] and not lineage.is_leaf[idx]:
            lines = [f"… {below[idx]} leaves", *lines[len(lines) - (words.covers is not None) :]]
        parent = rank.get(int(lineage.parent[idx]))
        boxes.append(Box(idx, float(places[idx]), -float(lineage.depth[idx]), "\n".join(lines), colour, parent))
    return boxes


def count_leaves(lineage: Lineage) -> NDArray[np.intp]:
    """How many leaves there are below every node."""
    counts = lineage.is_leaf.astype(np.intp)
    for level in reversed(lineage.levels):
        counts[level] = counts[lineage.left[level]] + counts[lineage.left[level] + 1]
    return counts


def draw_boxes(boxes: Sequence[Box], ax: Any) -> Any:
    """Draw boxes and the lines between them; on axes of their own if none are given."""
    n_places, n_levels = 1 + max(box.x for box in boxes), 1 - min(box.y for box in boxes)
    if ax is None:
        figure = import_pyplot("read export_text").figure(figsize=(INCHES[0] * n_places, INCHES[1] * n_levels))
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set_axis_off()
    ax.set_xlim(-0.5, n_places - 0.5)
    ax.set_ylim(0.5 - n_levels, 0.5)
    size = font_size(ax, n_places, n_levels, max(1 + box.text.count("\n") for box in boxes))
    for box in boxes:
        if box.parent is not None:
            above = boxes[box.parent]
            ax.plot([above.x, box.x], [above.y, box.y], color="#808080", linewidth=1, zorder=1)
            side = "yes" if box.x < above.x else "no"
            middle = (above.x + box.x) / 2, (above.y + box.y) / 2
            ax.text(*middle, side, fontsize=0.8 * size, ha="center", va="center", zorder=2, backgroundcolor=PLAIN)
    for box in boxes:
        style = {"boxstyle": "round,pad=0.4", "facecolor": box.colour, "edgecolor": "#404040"}
        place = {"ha": "center", "va": "center", "zorder": 3}
        ax.text(box.x, box.y, box.text, fontsize=size, bbox=style, parse_math=False, **place)  # names may hold dollars
    return ax


def font_size(ax: Any, n_places: float, n_levels: float, n_lines: int) -> float:
    """The largest font, up to a size, in which boxes do not touch each other."""
    area = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    by_width = POINTS * area.width / n_places / (CHARACTER * (LINE + 2))
    by_height = POINTS * area.height / n_levels / (1.3 * (n_lines + 2))
    return float(min(FONT, by_width, by_height))
