"""Converters for skl2onnx: they add the operators of a model to the graph of a pipeline."""

from dataclasses import replace
from typing import Any

import numpy as np

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier
from comboost._estimators.inspection import blueprint_of
from comboost._export.blueprint import Blueprint
from comboost._export.onnx import (
    LEAST_OPSET,
    ML,
    ML_OPSET,
    ML_OPSETS,
    Graph,
    GraphInput,
    OutputNames,
    add_prediction,
    check_sources,
)
from comboost._extras import import_skl2onnx

CONVERTED = (AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier)
#: Options of skl2onnx for our estimators.
OPTIONS = {
    "zipmap": [True, False, "columns"],
    "nocl": [True, False],
    "output_class_labels": [True, False],
    "raw_scores": [True, False],
}
NUMBER_TYPES = {
    "FloatTensorType": np.float32,
    "DoubleTensorType": np.float64,
    "Int64TensorType": np.int64,
    "Int32TensorType": np.int32,
    "BooleanTensorType": np.bool_,
}
TEXT_TYPE = "StringTensorType"


def register_converters() -> None:
    """Register converters of our estimators with skl2onnx, alone and as steps of a pipeline.

    Call it once per process. ``skl2onnx.to_onnx`` and ``skl2onnx.convert_sklearn`` then convert them, with the options
    ``zipmap``, ``nocl``, ``output_class_labels`` and ``raw_scores``. The last one returns scores instead of
    probabilities; with two classes it returns their difference, preceded by its negative.

    See Also
    --------
    comboost.CoMBoClassifier.to_onnx : A model without a pipeline, which does not need skl2onnx.

    Examples
    --------
    >>> import numpy as np
    >>> import skl2onnx
    >>> from comboost import CoMBoClassifier
    >>> from comboost.onnx import register_converters
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> register_converters()
    >>> X = np.array([[1.0], [2.0], [3.0]])
    >>> pipeline = make_pipeline(StandardScaler(), CoMBoClassifier(n_estimators=1)).fit(X, ["a", "b", "c"])
    >>> graph = skl2onnx.to_onnx(pipeline, X, options={"zipmap": False}).graph
    >>> [output.name for output in graph.output]
    ['label', 'probabilities']
    """
    skl2onnx = import_skl2onnx()
    for kind in CONVERTED:
        skl2onnx.update_registered_converter(
            kind, f"Comboost{kind.__name__}", find_shapes, convert_operator, options=OPTIONS
        )


def find_shapes(operator: Any) -> None:
    """Set the types and shapes of the outputs of a model."""
    from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType

    model = operator.raw_operator
    options = operator.scope_inst.get_options(model, {"nocl": False})
    plan = plan_of(model, without_names=options["nocl"])
    n_samples = operator.inputs[0].get_first_dimension()
    kind = StringTensorType if isinstance(plan.labels[0], str) else Int64TensorType
    operator.outputs[0].set_type(kind([n_samples]))
    others = operator.scope_inst.operators.values()
    if any(each.type == "SklearnZipMap" and operator.outputs[1] in each.inputs for each in others):  # has no doubles
        operator.outputs[1].set_type(FloatTensorType())
    operator.outputs[1].type.shape = [n_samples, len(plan.classes)]


def convert_operator(scope: Any, operator: Any, container: Any) -> None:
    """Add a model to the graph of skl2onnx."""
    model = operator.raw_operator
    options = container.get_options(model, {"nocl": False, "raw_scores": False})
    check_versions(container)
    plan = plan_of(model, without_names=options["nocl"])
    sources = [source_of(variable, len(operator.inputs), plan) for variable in operator.inputs]
    check_sources(plan, sources)
    graph = Graph(scope.get_unique_variable_name)
    label, shown_output = (variable.full_name for variable in operator.outputs)
    is_double = type(operator.outputs[1].type).__name__ == "DoubleTensorType"
    hidden, dtype = graph.name_for("unused"), np.dtype(np.float64 if is_double else np.float32)
    if not options["raw_scores"]:
        add_prediction(graph, plan, sources, OutputNames(label, hidden, shown_output), dtype)
    elif len(plan.classes) > 2:
        add_prediction(graph, plan, sources, OutputNames(label, shown_output, hidden), dtype)
    else:  # as skl2onnx's own classifiers: the negative of decision_function, then decision_function
        scores = graph.name_for("scores")
        add_prediction(graph, plan, sources, OutputNames(label, scores, hidden), dtype)
        graph.add("MatMul", scores, graph.constant([[1.0, -1.0], [-1.0, 1.0]], dtype), output=shown_output)
    add_to(container, scope, graph)


def plan_of(model: Any, *, without_names: bool) -> Blueprint:
    """Return what a prediction needs, on request with the indices of the classes in place of their names."""
    plan = blueprint_of(model, "skl2onnx", with_link=True)
    return replace(plan, classes=np.arange(len(plan.classes))) if without_names else plan


def check_versions(container: Any) -> None:
    """Raise if the requested versions of the operators are not supported."""
    given = container.target_opset_all
    learners = given.get(ML, ML_OPSET) if isinstance(given, dict) else ML_OPSET
    if container.target_opset_onnx < LEAST_OPSET or learners not in ML_OPSETS:
        raise ValueError(
            f"skl2onnx was given target_opset={given!r}; comboost needs at least {LEAST_OPSET}, and {ML!r} in one of "
            f'the versions {ML_OPSETS}. Give target_opset={{"": 17, "{ML}": {ML_OPSET}}}.'
        )


def source_of(variable: Any, n_variables: int, plan: Blueprint) -> GraphInput:
    """Return a variable of skl2onnx as an input."""
    kind, shape = type(variable.type).__name__, variable.type.shape
    if kind != TEXT_TYPE and kind not in NUMBER_TYPES:
        raise ValueError(
            f"The input {variable.raw_name!r} is a {kind}; give one of {[*NUMBER_TYPES, TEXT_TYPE]}: dense numbers or "
            "text."
        )
    width = shape[1] if len(shape) == 2 else None
    if width is None:
        width = plan.n_features if n_variables == 1 else 1
    return GraphInput(variable.full_name, width, None if kind == TEXT_TYPE else np.dtype(NUMBER_TYPES[kind]))


def add_to(container: Any, scope: Any, graph: Graph) -> None:
    """Add operations and constants to the container of skl2onnx."""
    from onnx.helper import np_dtype_to_tensor_dtype

    for name, values in graph.constants.items():
        container.add_initializer(name, np_dtype_to_tensor_dtype(values.dtype), values.shape, values.ravel().tolist())
    for each in graph.operations:
        container.add_node(
            each.operator,
            each.inputs,
            each.outputs,
            op_domain=each.domain,
            op_version=ML_OPSET if each.domain == ML else None,
            name=scope.get_unique_operator_name(each.operator),
            **each.attributes,
        )
