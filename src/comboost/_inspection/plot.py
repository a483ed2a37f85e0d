"""A tree as a matplotlib plot of boxes."""

import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comboost._extras import import_pyplot
from comboost._inspection.frame import TreePaths
from comboost._inspection.text import SplitFormatter, name_of
from comboost._types import LEAF

LINE = 18  # characters
MAX_LINES = 3
MAX_VALUES = 3  # shown per leaf
INCHES = (1.8, 1.25)  # width and height of a box, with the space around it
POINTS = 72  # per inch
FONT = 10.0  # points at most
CHARACTER = 0.62  # width of a character, in sizes of the font
#: Colour-blind safe colours of Okabe and Ito, mixed with white: text on them stays readable.
COLOURS = ("#99caff", "#f5ce87", "#8fd8c2", "#e8a8cf", "#f5ea8f", "#b3d4ea", "#f0b48f", "#c9c9c9")
PLAIN = "#ffffff"


class Box(NamedTuple):
    """A node in a plot. Leaves and levels are 1 apart, the root is at y = 0, others are below it."""

    node: int  # index in the tree
    x: float
    y: float
    text: str  # in short lines
    colour: str
    parent: int | None  # index among the boxes


class NodeFormatter(NamedTuple):
    """Formats the nodes of a tree."""

    splits: SplitFormatter
    classes: list[str]
    leaf_values: NDArray[np.float32] | None
    covers: NDArray[np.float64]  # fractions of the training weight

    def lines(self, idx: int, node: np.void) -> tuple[list[str], str]:
        """Return the text of a node, and its colour."""
        cover = f"{100 * self.covers[idx]:.3g} %"
        if node["feature"] != LEAF:
            return [*wrapped(self.splits.rules(node)[0]), cover], PLAIN
        if self.leaf_values is None:
            label = int(node["label"])
            return [*wrapped(f"class: {name_of(label, self.classes)}"), cover], COLOURS[label % len(COLOURS)]
        values = self.leaf_values[node["left"]]
        largest = np.argsort(-np.abs(values), kind="stable")[:MAX_VALUES]
        listed = [self._value(label, values[label]) for label in sorted(largest.tolist(), key=lambda k: -values[k])]
        return [*listed, cover], COLOURS[int(values.argmax()) % len(COLOURS)]

    def _value(self, label: int, value: np.float32) -> str:
        number, name = f" {value:+.2f}", name_of(label, self.classes)
        width = LINE - len(number)
        return (name if len(name) <= width else name[: width - 1] + "…") + number


def wrapped(text: str) -> list[str]:
    """Return a rule in a few short lines."""
    return textwrap.wrap(text, LINE, max_lines=MAX_LINES, placeholder=" …")


def boxes_of(paths: TreePaths, formatter: NodeFormatter, max_depth: int | None) -> list[Box]:
    """Return the boxes of a tree, parents before children; a box at the depth limit counts the leaves below it."""
    nodes, n_leaves = paths.forest.nodes, paths.summed(np.ones(int(paths.is_leaf.sum()), dtype=np.intp))
    is_end = paths.is_leaf if max_depth is None else paths.is_leaf | (paths.depth >= max_depth)
    order, stack = [], [0]
    while stack:  # the left child first
        idx = stack.pop()
        order.append(idx)
        if not is_end[idx]:
            stack += [int(paths.left[idx]) + 1, int(paths.left[idx])]
    x = np.zeros(len(nodes))
    x[[idx for idx in order if is_end[idx]]] = np.arange(sum(bool(is_end[idx]) for idx in order))
    for idx in reversed(order):
        if not is_end[idx]:
            x[idx] = x[[paths.left[idx], paths.left[idx] + 1]].mean()
    rank = {idx: i for i, idx in enumerate(order)}
    boxes = []
    for idx in order:
        lines, colour = formatter.lines(idx, nodes[idx])
        if is_end[idx] and not paths.is_leaf[idx]:
            lines = [f"… {n_leaves[idx]} leaves", lines[-1]]
        parent = rank.get(int(paths.parent[idx]))
        boxes.append(Box(idx, float(x[idx]), -float(paths.depth[idx]), "\n".join(lines), colour, parent))
    return boxes


def draw_boxes(boxes: Sequence[Box], ax: Any) -> Any:
    """Draw boxes and the lines between them, on new axes if ``ax`` is None."""
    width, n_levels = 1 + max(box.x for box in boxes), 1 - min(box.y for box in boxes)
    if ax is None:
        figure = import_pyplot("read export_text").figure(figsize=(INCHES[0] * width, INCHES[1] * n_levels))
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set_axis_off()
    ax.set_xlim(-0.5, width - 0.5)
    ax.set_ylim(0.5 - n_levels, 0.5)
    size = font_size(ax, width, n_levels, max(1 + box.text.count("\n") for box in boxes))
    centred = {"ha": "center", "va": "center"}
    for box in boxes:
        if box.parent is not None:
            above = boxes[box.parent]
            ax.plot([above.x, box.x], [above.y, box.y], color="#808080", linewidth=1, zorder=1)
            side = "yes" if box.x < above.x else "no"
            middle = (above.x + box.x) / 2, (above.y + box.y) / 2
            ax.text(*middle, side, fontsize=0.8 * size, zorder=2, backgroundcolor=PLAIN, **centred)
    for box in boxes:
        style = {"boxstyle": "round,pad=0.4", "facecolor": box.colour, "edgecolor": "#404040"}
        # Names may hold dollars, which are not formulas.
        ax.text(box.x, box.y, box.text, fontsize=size, bbox=style, parse_math=False, zorder=3, **centred)
    return ax


def font_size(ax: Any, width: float, n_levels: float, n_lines: int) -> float:
    """Return the largest font, up to a limit, with which boxes do not touch each other."""
    area = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    by_width = POINTS * area.width / width / (CHARACTER * (LINE + 2))
    by_height = POINTS * area.height / n_levels / (1.3 * (n_lines + 2))
    return float(min(FONT, by_width, by_height))
