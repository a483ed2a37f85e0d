"""A model as an ONNX graph: operators for labels, scores and probabilities."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comboost._data.checks import shown
from comboost._engine.memory import check_large
from comboost._export.blueprint import Blueprint, CodedFeature, check_text
from comboost._export.onnx_trees import TreeArrays, code_columns, coding_tree, forest_trees
from comboost._extras import import_onnx

ML = "ai.onnx.ml"
ML_OPSET = 3  # the first whose trees take doubles; 5 has no leaves with several values
ML_OPSETS = (ML_OPSET, 4)
OPSET = 17  # of July 2022, which current runtimes know
LEAST_OPSET = 13  # the first in which ReduceSum takes its axes as an input
OUTPUTS = ("label", "probabilities", "scores")
MIN_LABELS = 3  # with two, onnxruntime treats the second as the positive class
MAX_BYTES = 2**31 - 1  # of a protobuf file
NODE_BYTES, VALUE_BYTES = 60, 20  # in the file, approximately
WORKING_COPIES = 10  # memory while it is made, relative to the file


class Operation(NamedTuple):
    """A node of the graph: operator, names of its inputs and outputs, domain, attributes."""

    operator: str
    inputs: list[str]
    outputs: list[str]
    domain: str
    attributes: dict[str, Any]


@dataclass
class Graph:
    """Operations in the order of computation, and constants."""

    name_for: Callable[[str], str]  # returns a new name of the graph, given its beginning
    operations: list[Operation] = field(default_factory=list)
    constants: dict[str, NDArray[Any]] = field(default_factory=dict)

    def constant(self, values: Any, dtype: Any) -> str:
        """Add a constant; return its name."""
        name = self.name_for("constant")
        self.constants[name] = np.asarray(values, dtype=dtype)
        return name

    def add(self, operator: str, *inputs: str, output: str | None = None, domain: str = "", **attributes: Any) -> str:
        """Apply an operator; return the name of its output."""
        name = output or self.name_for(operator.lower())
        self.operations.append(Operation(operator, list(inputs), [name], domain, attributes))
        return name


class GraphInput(NamedTuple):
    """An input of the graph: its name, its number of features, and the type of its numbers; None is text."""

    name: str
    n_features: int
    dtype: Any


class OutputNames(NamedTuple):
    """Names of the outputs of the graph."""

    label: str
    scores: str
    probabilities: str


# Model


def make_onnx_model(plan: Blueprint, dtype: Any, target_opset: Any) -> Any:
    """Return a blueprint as an ONNX model, checked by onnx; see ``to_onnx`` of the estimators."""
    onnx = import_onnx()
    helper = onnx.helper
    opsets = read_opsets(target_opset, onnx.defs.onnx_opset_version())
    number = read_number_type(dtype)
    check_size(plan)
    sources = sources_of(plan, number)
    numbers, taken = count(), {source.name for source in sources}
    graph = Graph(lambda begin: next(name for name in (f"{begin}_{i}" for i in numbers) if name not in taken))
    label, probabilities, scores = OUTPUTS
    add_prediction(graph, plan, sources, OutputNames(label, scores, probabilities), number)
    kind, text = helper.np_dtype_to_tensor_dtype(number), onnx.TensorProto.STRING
    inputs = [(each.name, text if each.dtype is None else kind, ["n_samples", each.n_features]) for each in sources]
    label_kind = text if isinstance(plan.labels[0], str) else onnx.TensorProto.INT64
    outputs: list[Any] = [(label, label_kind, ["n_samples"])]
    outputs += [(name, kind, ["n_samples", len(plan.classes)]) for name in (probabilities, scores)]
    proto = helper.make_graph(
        [helper.make_node(o.operator, o.inputs, o.outputs, domain=o.domain, **o.attributes) for o in graph.operations],
        plan.owner,
        [helper.make_tensor_value_info(*given) for given in inputs],
        [helper.make_tensor_value_info(*given) for given in outputs],
        [onnx.numpy_helper.from_array(values, name) for name, values in graph.constants.items()],
    )
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    model = helper.make_model(
        proto, opset_imports=imports, producer_name="comboost", ir_version=helper.find_min_ir_version_for(imports)
    )
    onnx.checker.check_model(model)
    return model


def sources_of(plan: Blueprint, number: Any) -> list[GraphInput]:
    """Return the inputs of the graph: one for all features, or one for each if some hold text."""
    is_text = text_features(plan)
    if not any(is_text):
        return [GraphInput("X", plan.n_features, number)]
    names = [f"x{f}" for f in range(plan.n_features)] if plan.names is None else [str(name) for name in plan.names]
    for name in names:
        check_text(name, "The feature name")
        if not name or name in OUTPUTS:
            raise ValueError(
                f"A feature is called {name!r}; inputs of a graph are called what features are, and {list(OUTPUTS)} "
                "are its outputs. Rename the column and fit again."
            )
    return [GraphInput(name, 1, None if text else number) for name, text in zip(names, is_text, strict=True)]


def read_number_type(dtype: Any) -> Any:
    """Return the type of the numbers of the graph."""
    try:
        number = np.dtype(dtype)
    except TypeError:
        number = np.dtype(object)
    if number not in (np.float32, np.float64):
        raise ValueError(f'to_onnx got dtype={shown(dtype)}; give "float64" or "float32".')
    return number


def read_opsets(target_opset: Any, newest: int) -> dict[str, int]:
    """Return the version of every domain."""
    given = target_opset if isinstance(target_opset, dict) else {"": OPSET if target_opset is None else target_opset}
    opsets = {"": OPSET, ML: ML_OPSET, **given}
    are_integers = all(isinstance(version, int | np.integer) and version is not True for version in opsets.values())
    if (
        set(opsets) != {"", ML}
        or not are_integers
        or not LEAST_OPSET <= opsets[""] <= newest
        or opsets[ML] not in ML_OPSETS
    ):
        raise ValueError(
            f"to_onnx got target_opset={shown(target_opset)}; give a version from {LEAST_OPSET} to {newest}, the newest"
            f' that the installed onnx knows, or a dict such as {{"": {OPSET}, "{ML}": {ML_OPSET}}}, in which "{ML}" is'
            f" one of {ML_OPSETS}: in later ones a leaf has a single value."
        )
    return {domain: int(version) for domain, version in opsets.items()}


def check_size(plan: Blueprint) -> None:
    """Raise if the model is too large for a protobuf file, or for the available memory."""
    values, n_nodes = plan.forest.leaf_values, len(plan.forest.nodes)
    n_bytes = NODE_BYTES * n_nodes + VALUE_BYTES * (n_nodes // 2 if values is None else values.size)
    if n_bytes > MAX_BYTES:
        raise ValueError(
            f"The ONNX model would have about {n_bytes / 2**30:.1f} GiB, and such files end at 2; fit fewer or smaller "
            "trees, or save the model with save_model."
        )
    check_large("The ONNX model", {"nodes and values": WORKING_COPIES * n_bytes}, "Fit fewer or smaller trees.")


# Operators


def add_prediction(
    graph: Graph, plan: Blueprint, sources: Sequence[GraphInput], names: OutputNames, dtype: Any
) -> None:
    """Add a prediction to a graph with these inputs; scores and probabilities are of a type."""
    double = import_onnx().TensorProto.DOUBLE
    table = add_table(graph, plan, sources, double)
    if plan.coded_features:  # their columns of codes behind the table, twice
        first, n_columns = code_columns(plan.coded_features)
        trees = TreeArrays.join([coding_tree(coded, first[coded.feature]) for coded in plan.coded_features])
        attributes = trees.attributes("target", tensor)
        found = graph.add("TreeEnsembleRegressor", table, domain=ML, n_targets=n_columns, **attributes)
        codes = graph.add("Cast", found, to=double)
        table = graph.add("Concat", table, codes, codes, axis=1)
    scores = add_trees(graph, plan, table, names.label)
    if dtype == np.float64:
        scores = graph.add("Cast", scores, to=double)
    add_link(graph, plan, scores, names.probabilities, dtype)
    others = for_all_classes(plan, 0.0, plan.no_score)
    graph.add("Add", scores, graph.constant(others, dtype), output=names.scores)


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
    """Return whether each feature holds text."""
    known = plan.categories.values
    return [bool(known.get(f)) and isinstance(known[f][0], str) for f in range(plan.n_features)]


def add_table(graph: Graph, plan: Blueprint, sources: Sequence[GraphInput], double: int) -> str:
    """Add all features as columns of doubles; text as its codes."""
    coded = {each.feature: each for each in plan.coded_features}
    columns, first = [], 0
    for source in sources:
        if source.dtype is None:
            for column in range(source.n_features):
                text = source.name
                if source.n_features > 1:
                    text = graph.add("Gather", text, graph.constant([column], np.int64), axis=1)
                codes = add_text(graph, coded.get(first + column), text)
                columns.append(graph.add("Cast", codes, to=double))
        else:
            is_double = source.dtype == np.float64
            columns.append(source.name if is_double else graph.add("Cast", source.name, to=double))
        first += source.n_features
    return columns[0] if len(columns) == 1 else graph.add("Concat", *columns, axis=1)


def add_text(graph: Graph, coded: CodedFeature | None, name: str) -> str:
    """Add the codes of text: 0 for missing text, and for a feature that no tree uses."""
    values, codes = ([""], [0]) if coded is None else (list(coded.values), coded.codes.tolist())
    floats = [float(code) for code in codes]
    return graph.add("LabelEncoder", name, domain=ML, keys_strings=values, values_floats=floats, default_float=0.0)


def add_trees(graph: Graph, plan: Blueprint, table: str, label: str) -> str:
    """Add the trees, which name the class; return the scores, 0 for classes that have none."""
    trees = forest_trees(plan).attributes("class", tensor)
    labels: list[Any] = list(plan.labels)
    spare = ["", "-0", "-1", "-2", "-3"] if isinstance(labels[0], str) else list(range(5))
    labels += [other for other in spare if other not in labels][: max(0, MIN_LABELS - len(labels))]
    trees["classlabels_strings" if isinstance(labels[0], str) else "classlabels_int64s"] = labels
    scores = graph.name_for("scores")
    graph.operations.append(Operation("TreeEnsembleClassifier", [table], [label, scores], ML, trees))
    if len(labels) == len(plan.labels):
        return scores
    return graph.add("Gather", scores, graph.constant(np.arange(len(plan.labels)), np.int64), axis=1)


def add_link(graph: Graph, plan: Blueprint, scores: str, output: str, dtype: Any) -> None:
    """Add the probabilities."""
    link = plan.link
    assert link is not None
    if link.scale is None:
        if link.shift is not None:
            scores = graph.add("Mul", scores, graph.constant(for_all_classes(plan, np.exp(link.shift), 0.0), dtype))
        total = graph.add("ReduceSum", scores, graph.constant([1], np.int64), keepdims=1)
        graph.add("Div", scores, total, output=output)
        return
    if link.scale != 1.0:
        scores = graph.add("Mul", scores, graph.constant(link.scale, dtype))
    shift = for_all_classes(plan, 0.0 if link.shift is None else link.shift, -np.inf)
    if np.ptp(shift) > 0:  # a constant shift changes no probability
        scores = graph.add("Add", scores, graph.constant(shift, dtype))
    graph.add("Softmax", scores, output=output, axis=1)


def for_all_classes(plan: Blueprint, values: Any, others: float) -> Any:
    """Return a row of values for the classes that have scores, and another value for the others."""
    row = np.full((1, len(plan.classes)), others)
    row[0, plan.scored_classes] = values
    return row


def tensor(values: Any) -> Any:
    """Return an array as a tensor of ONNX."""
    return import_onnx().numpy_helper.from_array(np.ascontiguousarray(values, dtype=np.float64))
