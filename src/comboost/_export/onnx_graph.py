"""A prediction as operators of ONNX. In: a blueprint and the inputs of a graph. Out: labels, votes, probabilities."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from comboost._export.blueprint import Blueprint, CodedFeature
from comboost._export.graph import ML, Graph
from comboost._export.onnx_codes import Blocks, coding_trees
from comboost._export.onnx_forest import forest_trees
from comboost._extras import import_onnx

LEAST_CLASSES = 3  # of fewer, onnxruntime takes the second for the one that is asked about


class GraphInput(NamedTuple):
    """An input of the graph: its name, how many features it holds, and what type of number; None is text."""

    name: str
    n_features: int
    dtype: Any


class Answers(NamedTuple):
    """The names of what the graph gives."""

    label: str
    scores: str
    probabilities: str


def add_prediction(graph: Graph, plan: Blueprint, sources: Sequence[GraphInput], names: Answers, dtype: Any) -> None:
    """Add all that a prediction takes to a graph with these inputs; votes and probabilities are of a type."""
    table = add_table(graph, plan, sources)
    blocks = Blocks.of(plan.coded_features)
    if plan.coded_features:
        table = add_codes(graph, plan, blocks, table)
    sums = add_trees(graph, plan, blocks, table, names.label)
    if dtype == np.float64:
        sums = graph.add("Cast", sums, to=double_type())
    add_link(graph, plan, sums, names.probabilities, dtype)
    others = for_all_classes(plan, 0.0, plan.no_votes)
    graph.add("Add", sums, graph.constant(others, dtype), output=names.scores)


def check_sources(plan: Blueprint, sources: Sequence[GraphInput]) -> None:
    """Raise if inputs do not hold the features of training, text where that was text."""
    n_given = sum(source.n_features for source in sources)
    if n_given != plan.n_features:
        raise ValueError(
            f"The inputs of the graph hold {n_given} features, and the model was fitted on {plan.n_features}; give it "
            "those of training."
        )
    given = [source.dtype is None for source in sources for _ in range(source.n_features)]
    for feature, (is_text, was_text) in enumerate(zip(given, text_features(plan), strict=True)):
        if is_text != was_text:
            was, now = ("text", "numbers") if was_text else ("numbers", "text")
            raise ValueError(
                f"The graph gives {now} for {plan.label_of(feature)}, which held {was} in training; give every column "
                "as an input of its own, of the type that it had."
            )


def text_features(plan: Blueprint) -> list[bool]:
    """Of every feature whether it holds text."""
    known = plan.categories.values
    return [bool(known.get(f)) and isinstance(known[f][0], str) for f in range(plan.n_features)]


def add_table(graph: Graph, plan: Blueprint, sources: Sequence[GraphInput]) -> str:
    """All features as doubles, side by side; text as its codes."""
    coded = {each.feature: each for each in plan.coded_features}
    columns, first = [], 0
    for source in sources:
        if source.dtype is None:
            for place in range(source.n_features):
                text = source.name
                if source.n_features > 1:
                    text = graph.add("Gather", text, graph.constant([place], np.int64), axis=1)
                codes = add_text(graph, coded.get(first + place), text)
                columns.append(graph.add("Cast", codes, to=double_type()))
        else:
            is_double = source.dtype == np.float64
            columns.append(source.name if is_double else graph.add("Cast", source.name, to=double_type()))
        first += source.n_features
    return columns[0] if len(columns) == 1 else graph.add("Concat", *columns, axis=1)


def add_text(graph: Graph, coded: CodedFeature | None, name: str) -> str:
    """The codes of text, 0 for what is missing, and for a feature that trees do not look at."""
    values, codes = ([""], [0]) if coded is None else (list(coded.values), coded.codes.tolist())
    floats = [float(code) for code in codes]
    return graph.add_learner("LabelEncoder", name, keys_strings=values, values_floats=floats, default_float=0.0)


def add_codes(graph: Graph, plan: Blueprint, blocks: Blocks, table: str) -> str:
    """The table with the codes of categories behind it, twice."""
    trees = coding_trees(plan.coded_features, blocks).attributes("target", tensor)
    found = graph.add_learner("TreeEnsembleRegressor", table, n_targets=blocks.n_columns, **trees)
    codes = graph.add("Cast", found, to=double_type())
    return graph.add("Concat", table, codes, codes, axis=1)


def add_trees(graph: Graph, plan: Blueprint, blocks: Blocks, table: str, label: str) -> str:
    """Add the trees, which name the class; the votes for every class, 0 for one that is never voted for."""
    trees = forest_trees(plan, blocks).attributes("class", tensor)
    labels = with_spare(plan.labels)
    trees["classlabels_strings" if isinstance(labels[0], str) else "classlabels_int64s"] = labels
    votes = graph.name_for("votes")
    graph.add_all("TreeEnsembleClassifier", [table], [label, votes], ML, trees)
    if len(labels) == len(plan.labels):
        return votes
    return graph.add("Gather", votes, graph.constant(np.arange(len(plan.labels)), np.int64), axis=1)


def with_spare(labels: list[Any]) -> list[Any]:
    """Labels, and others that nothing votes for, so that there are enough."""
    spare = ([""] + [f"-{i}" for i in range(4)]) if isinstance(labels[0], str) else list(range(5))
    unused = [label for label in spare if label not in labels]
    return labels + unused[: max(0, LEAST_CLASSES - len(labels))]


def add_link(graph: Graph, plan: Blueprint, votes: str, output: str, dtype: Any) -> None:
    """Add the probabilities that votes mean."""
    link = plan.link
    assert link is not None
    if link.scale is None:
        if link.shift is not None:
            votes = graph.add("Mul", votes, graph.constant(for_all_classes(plan, np.exp(link.shift), 0.0), dtype))
        total = graph.add("ReduceSum", votes, graph.constant([1], np.int64), keepdims=1)
        graph.add("Div", votes, total, output=output)
        return
    if link.scale != 1.0:
        votes = graph.add("Mul", votes, graph.constant(link.scale, dtype))
    shift = for_all_classes(plan, 0.0 if link.shift is None else link.shift, -np.inf)
    if np.ptp(shift) > 0:  # what is added to all classes alike changes no share
        votes = graph.add("Add", votes, graph.constant(shift, dtype))
    graph.add("Softmax", votes, output=output, axis=1)


def for_all_classes(plan: Blueprint, values: Any, others: float) -> Any:
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
