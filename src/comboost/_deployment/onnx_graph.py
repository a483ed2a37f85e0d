"""A prediction as operators of ONNX. In: a blueprint and the inputs of a graph. Out: labels, votes, probabilities."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from comboost._deployment.blueprint import Blueprint
from comboost._deployment.graph import Graph
from comboost._deployment.onnx_codes import Blocks, coding_trees
from comboost._deployment.onnx_forest import forest_trees
from comboost._extras import import_onnx

LEAST_CLASSES = 3  # of fewer, onnxruntime takes the second for the one that is asked about


class Source(NamedTuple):
    """An input of the graph: its name, how many features it holds, and what type of number; None is text."""

    name: str
    n_features: int
    dtype: Any


class Answers(NamedTuple):
    """The names of what the graph gives; votes and probabilities are doubles."""

    label: str
    scores: str
    probabilities: str


def add_prediction(graph: Graph, plan: Blueprint, sources: Sequence[Source]) -> Answers:
    """Add all that a prediction takes to a graph with these inputs."""
    table = add_table(graph, plan, sources)
    blocks = Blocks.of(plan.coded_features)
    if plan.coded_features:
        table = add_codes(graph, plan, blocks, table)
    label, sums = add_trees(graph, plan, blocks, table)
    votes = sums
    if plan.voted is not None and plan.no_votes != 0.0:
        votes = graph.add("Add", sums, graph.constant(spread(plan, 0.0, plan.no_votes), np.float64))
    return Answers(label, votes, add_link(graph, plan, sums))


def add_table(graph: Graph, plan: Blueprint, sources: Sequence[Source]) -> str:
    """All features as doubles, side by side; text as its codes."""
    coded = {each.feature: each for each in plan.coded_features}
    columns, first = [], 0
    for source in sources:
        name, dtype = source.name, source.dtype
        if dtype is None:
            name, dtype = add_text(graph, coded.get(first), name), np.float32
        columns.append(name if dtype == np.float64 else graph.add("Cast", name, to=double_type()))
        first += source.n_features
    return columns[0] if len(columns) == 1 else graph.add("Concat", *columns, axis=1)


def add_text(graph: Graph, coded: Any, name: str) -> str:
    """The codes of text, 0 for what is missing."""
    values, codes = ([""], [0]) if coded is None else (list(coded.values), coded.codes.tolist())
    floats = [float(code) for code in codes]
    return graph.add_learner(
        "LabelEncoder", name, keys_strings=values, values_floats=floats, default_float=0.0
    )[0]


def add_codes(graph: Graph, plan: Blueprint, blocks: Blocks, table: str) -> str:
    """The table with the codes of categories behind it."""
    trees = coding_trees(plan.coded_features, blocks).attributes("target", tensor)
    found = graph.add_learner("TreeEnsembleRegressor", table, n_targets=blocks.n_columns, **trees)[0]
    return graph.add("Concat", table, graph.add("Cast", found, to=double_type()), axis=1)


def add_trees(graph: Graph, plan: Blueprint, blocks: Blocks, table: str) -> tuple[str, str]:
    """The label, and the votes for every class as doubles; 0 for a class that is never voted for."""
    trees = forest_trees(plan, blocks).attributes("class", tensor)
    labels = with_spare(plan.labels)
    named = {"classlabels_strings" if isinstance(labels[0], str) else "classlabels_int64s": labels}
    label, votes = graph.add_learner("TreeEnsembleClassifier", table, n_outputs=2, **trees, **named)
    if len(labels) > len(plan.labels):
        kept = graph.constant(np.arange(len(plan.labels)), np.int64)
        votes = graph.add("Gather", votes, kept, axis=1)
    return label, graph.add("Cast", votes, to=double_type())


def with_spare(labels: list[Any]) -> list[Any]:
    """Labels, and others that nothing votes for, so that there are enough."""
    spare = ([""] + [f"-{i}" for i in range(4)]) if isinstance(labels[0], str) else list(range(5))
    unused = [label for label in spare if label not in labels]
    return labels + unused[: max(0, LEAST_CLASSES - len(labels))]


def add_link(graph: Graph, plan: Blueprint, votes: str) -> str:
    """The probabilities that votes mean."""
    link = plan.link
    if link.scale is None:
        total = graph.add("ReduceSum", votes, graph.constant([1], np.int64), keepdims=1)
        return graph.add("Div", votes, total)
    scaled = votes if link.scale == 1.0 else graph.add("Mul", votes, graph.constant(link.scale, np.float64))
    if link.shift is not None or plan.voted is not None:
        shift = spread(plan, 0.0 if link.shift is None else link.shift, -np.inf)
        scaled = graph.add("Add", scaled, graph.constant(shift, np.float64))
    return graph.add("Softmax", scaled, axis=1)


def spread(plan: Blueprint, values: Any, others: float) -> Any:
    """A row of values for the classes that are voted for, and another value for the others."""
    row = np.full((1, len(plan.classes)), others)
    row[0, plan.voted_places] = values
    return row


def tensor(values: Any) -> Any:
    """An array as a tensor of ONNX."""
    return import_onnx().numpy_helper.from_array(np.ascontiguousarray(values, dtype=np.float64))


def double_type() -> int:
    """The number of ONNX for doubles."""
    return int(import_onnx().TensorProto.DOUBLE)
