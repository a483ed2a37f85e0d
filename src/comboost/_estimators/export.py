"""A fitted vote for other programs, as methods of the estimators. In: what is asked for. Out: ONNX models, C files."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from comboost._estimators.parameters import check_parameters
from comboost._export.blueprint import Blueprint, Link
from comboost._export.c import c_source
from comboost._export.onnx import make_onnx_model


def link_of(model: Any, method: str) -> Link:
    """What the votes of a model mean, as its ``predict_proba`` says."""
    meaning = model._meaning()
    if meaning.curves is not None:
        raise ValueError(
            f'{method} writes no curves, but this model has calibration="isotonic"; set calibration=None, or fit with '
            'calibration="temperature".'
        )
    return Link(None if meaning.by_share else meaning.scale / meaning.temperature, meaning.shift)


def check_deployable(model: Any, method: str) -> None:
    """Raise if other programs could not predict what a fitted model does."""
    check_is_fitted(model)
    check_parameters(model, model._answer_rules)
    if not hasattr(model, "_forest"):
        raise ValueError(
            f"{method} writes the built-in trees; this model has weak learners given as estimator=. Fit with "
            "estimator=None, or pickle the model."
        )
    if model.decision != "votes":
        raise ValueError(
            f"{method} writes the class with the most votes, but this model has decision={model.decision!r}; set "
            'decision="votes", and cost_matrix, reject_cost and reject_label to None, and take the cheapest class from '
            "its probabilities."
        )
    model._decision()  # refuses what was set after the fit


def blueprint_of(model: Any, method: str, *, with_link: bool) -> Blueprint:
    """What a prediction of a fitted model needs, with or without what its votes mean."""
    check_deployable(model, method)
    return Blueprint(
        type(model).__name__,
        model._forest,
        model._categories,
        model.classes_,
        model._voted,
        model._no_votes,
        getattr(model, "feature_names_in_", None),
        link_of(model, method) if with_link else None,
    )


class Deployable:
    """What can be asked for as an ONNX model or as a C file."""

    def to_onnx(self, *, dtype: Any = np.float64, target_opset: Any = None) -> Any:
        """The fitted model as an ONNX model, for onnxruntime and other servers.

        Classes are the same as those of ``predict``, votes the same rounded to float32: see docs/deployment.md.

        Parameters
        ----------
        dtype : {"float64", "float32"} or dtype, default=float64
            The type of the numbers that the graph takes, and of the probabilities and scores that it gives. Either is
            exact for numbers of that type.
        target_opset : int or dict, optional
            The version of the operators of ONNX, at least 13, or a dict of domains and versions; that of
            ``"ai.onnx.ml"`` is 3 or 4. None is 17 and 3, which any runtime of the last years knows.

        Returns
        -------
        onnx.ModelProto
            A graph that takes the table ``"X"``, (n_samples, n_features), or, if categories are text, a tensor
            (n_samples, 1) for every feature, by its name, and gives ``"label"``, ``"probabilities"`` and ``"scores"``,
            the votes for every class. NaN is a missing number; text that training has not seen is a missing one.

        See Also
        --------
        comboost.onnx.register_converters : Teaches skl2onnx to convert pipelines that hold such models.

        Examples
        --------
        >>> from comboost import CoMBoClassifier
        >>> model = CoMBoClassifier(n_estimators=1).fit([[1.0], [2.0]], ["a", "b"])
        >>> [output.name for output in model.to_onnx().graph.output]
        ['label', 'probabilities', 'scores']
        """
        return make_onnx_model(blueprint_of(self, "to_onnx", with_link=True), dtype, target_opset)

    def to_c(self, *, name: str = "predict") -> str:
        """The fitted model as one C file that needs no library, for devices.

        It is C99, and C++ as well. Classes and votes are the same to the bit: see docs/deployment.md.

        Parameters
        ----------
        name : str, default="predict"
            The name of the function, with which all names in the file begin.

        Returns
        -------
        str
            The source of ``int name(const double *x)``, which gives the number of the class of a row, counted from 0
            in the order of ``classes_``; of ``name_scores``, which gives the scores of every class, of ``name_label``,
            which gives the name of a class, and, if categories are text, of ``name_code``, which gives their numbers.
            Numbers that are categories are given as they are. NaN is a missing number.

        Examples
        --------
        >>> from comboost import CoMBoClassifier
        >>> source = CoMBoClassifier(n_estimators=1).fit([[1.0], [2.0]], ["a", "b"]).to_c()
        >>> "int predict(const double *x);" in source
        True
        """
        return c_source(blueprint_of(self, "to_c", with_link=False), name)
