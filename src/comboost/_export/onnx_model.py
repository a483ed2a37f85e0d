"""A model file of ONNX. In: a blueprint, the type of numbers, versions. Out: an onnx.ModelProto, checked."""

from typing import Any

import numpy as np

from comboost._data.checks import shown
from comboost._engine.memory import check_large
from comboost._export.blueprint import Blueprint
from comboost._export.graph import LEAST_OPSET, ML, ML_OPSET, Graph, numbered_names
from comboost._export.onnx_graph import Answers, GraphInput, add_prediction, text_features
from comboost._extras import import_onnx

OPSET = 17  # that of July 2022, which any runtime of today knows
OUTPUTS = ("label", "probabilities", "scores")
ML_OPSETS = (ML_OPSET, 4)
MAX_BYTES = 2**31 - 1  # of a file of protobuf
NODE_BYTES, VOTE_BYTES = 60, 20  # in the file, about
WORKING = 10  # times as much while it is made


def make_onnx_model(plan: Blueprint, dtype: Any, target_opset: Any) -> Any:
    """The ONNX model of a blueprint; see `Deployable.to_onnx`."""
    onnx = import_onnx()
    opsets = read_opsets(target_opset, onnx.defs.onnx_opset_version())
    number = read_number_type(dtype)
    check_size(plan)
    sources = sources_of(plan, number)
    graph = Graph(numbered_names({each.name for each in sources}))
    label, probabilities, scores = OUTPUTS
    add_prediction(graph, plan, sources, Answers(label, scores, probabilities), number)
    kind, text = onnx.helper.np_dtype_to_tensor_dtype(number), onnx.TensorProto.STRING
    inputs = [(each.name, text if each.dtype is None else kind, ["n_samples", each.n_features]) for each in sources]
    label_kind = text if isinstance(plan.labels[0], str) else onnx.TensorProto.INT64
    outputs: list[Any] = [(label, label_kind, ["n_samples"])]
    outputs += [(name, kind, ["n_samples", len(plan.classes)]) for name in (probabilities, scores)]
    return assembled(graph, plan.owner, inputs, outputs, opsets)


def assembled(graph: Graph, name: str, inputs: Any, outputs: Any, opsets: dict[str, int]) -> Any:
    """The graph as a model, checked by onnx."""
    onnx = import_onnx()
    helper = onnx.helper
    nodes = [
        helper.make_node(o.operator, o.inputs, o.outputs, domain=o.domain, **o.attributes) for o in graph.operations
    ]
    proto = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info(*given) for given in inputs],
        [helper.make_tensor_value_info(*given) for given in outputs],
        [onnx.numpy_helper.from_array(values, key) for key, values in graph.constants.items()],
    )
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    model = helper.make_model(
        proto, opset_imports=imports, producer_name="comboost", ir_version=helper.find_min_ir_version_for(imports)
    )
    onnx.checker.check_model(model)
    return model


def sources_of(plan: Blueprint, number: Any) -> list[GraphInput]:
    """The inputs of the graph: one for all features, or one for each if some hold text."""
    is_text = text_features(plan)
    if not any(is_text):
        return [GraphInput("X", plan.n_features, number)]
    names = [f"x{f}" for f in range(plan.n_features)] if plan.names is None else [str(name) for name in plan.names]
    for name in names:
        check_input_name(name)
    return [GraphInput(name, 1, None if text else number) for name, text in zip(names, is_text, strict=True)]


def check_input_name(name: str) -> None:
    """Raise if a feature is called what no input of a graph can be called."""
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"The feature {name!r} has a name that is no text to other programs; rename it.") from error
    if not name or name in OUTPUTS:
        raise ValueError(
            f"A feature is called {name!r}; inputs of a graph are called what features are, and {list(OUTPUTS)} are "
            "its outputs. Rename the column and fit again."
        )


def read_number_type(dtype: Any) -> Any:
    """The type of the numbers that the graph takes."""
    try:
        number = np.dtype(dtype)
    except TypeError:
        number = np.dtype(object)
    if number not in (np.float32, np.float64):
        raise ValueError(f'to_onnx got dtype={shown(dtype)}; give "float64" or "float32".')
    return number


def read_opsets(target_opset: Any, newest: int) -> dict[str, int]:
    """The version of every domain."""
    given = target_opset if isinstance(target_opset, dict) else {"": OPSET if target_opset is None else target_opset}
    opsets = {"": OPSET, ML: ML_OPSET, **given}
    whole = all(isinstance(version, int | np.integer) and version is not True for version in opsets.values())
    if set(opsets) != {"", ML} or not whole or not LEAST_OPSET <= opsets[""] <= newest or opsets[ML] not in ML_OPSETS:
        raise ValueError(
            f"to_onnx got target_opset={shown(target_opset)}; give a version from {LEAST_OPSET} to {newest}, the newest"
            f' that the installed onnx knows, or a dict such as {{"": {OPSET}, "{ML}": {ML_OPSET}}}, in which "{ML}" is'
            f" one of {ML_OPSETS}: later ones have no leaves that vote for several classes."
        )
    return {domain: int(version) for domain, version in opsets.items()}


def check_size(plan: Blueprint) -> None:
    """Raise if the model is larger than such files may be, or than the memory that there is."""
    votes = plan.forest.votes
    nodes = NODE_BYTES * len(plan.forest.nodes)
    n_bytes = nodes + VOTE_BYTES * (len(plan.forest.nodes) // 2 if votes is None else votes.size)
    if n_bytes > MAX_BYTES:
        raise ValueError(
            f"The ONNX model would have about {n_bytes / 2**30:.1f} GiB, and such files end at 2; fit fewer or smaller "
            "trees, or save the model with save_model."
        )
    check_large("The ONNX model", {"nodes and votes": WORKING * n_bytes}, "Fit fewer or smaller trees.")
