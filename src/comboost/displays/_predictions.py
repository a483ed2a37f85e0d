"""Confusion counts of one or several models on the same samples."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from comboost._data.labels import find_distinct
from comboost._stats.formatting import readable
from comboost._types import Floats
from comboost.metrics._measures import NORM_SQUARES
from comboost.metrics._outcomes import (
    SampleOutcomes,
    class_indices,
    find_indices,
    label_array,
    resolve_classes,
    sums_by,
    weight_array,
)

UNNAMED = "predictions"


@dataclass(frozen=True)
class Outcomes:
    """Weighted confusion counts of every model, and the number of samples of every class."""

    classes: NDArray[Any]
    counts: dict[str, Floats]
    sizes: Floats


def predict_all(estimator: Any, X: Any, y: Any) -> tuple[dict[str, NDArray[Any]], list[NDArray[Any]]]:
    """Predictions of every model by its name, and the classes of each."""
    models = estimator if isinstance(estimator, Mapping) else {type(estimator).__name__: estimator}
    for name, model in check_named(models, "estimator").items():
        check_predicts(model, name)
    predictions = {str(name): label_array(model.predict(X), "predictions") for name, model in models.items()}
    for name, model in models.items():
        if hasattr(model, "classes_"):
            check_none_rejected(predictions[str(name)], model.classes_, name)
    n_samples = label_array(y, "y").size
    for name, predicted in predictions.items():
        if predicted.size != n_samples:
            raise ValueError(
                f"X has {predicted.size} rows, as {name} sees it, and y {n_samples}; give one class for every row."
            )
    return predictions, [np.asarray(model.classes_) for model in models.values() if hasattr(model, "classes_")]


def name_all(y_pred: Any) -> dict[str, Any]:
    """Predictions by the name of the model."""
    named = y_pred if isinstance(y_pred, Mapping) else {UNNAMED: y_pred}
    return {str(name): predicted for name, predicted in check_named(named, "y_pred").items()}


def check_named(named: Mapping[Any, Any], what: str) -> Mapping[Any, Any]:
    """Raise if there are no names, or if two look the same."""
    if not named:
        raise ValueError(f"{what} is an empty dict; give one model, or a dict of names and models.")
    if len({readable(name) for name in named}) < len(named):
        raise ValueError(f"{what} has the names {list(named)}, which look the same; give every model its own.")
    return named


def check_predicts(model: Any, name: Any) -> None:
    """Raise if it is not a fitted classifier."""
    if not hasattr(model, "predict") or isinstance(model, type):
        raise TypeError(
            f"{name} is {model!r}, which has no predict method; give a fitted classifier, or a dict of names and "
            "classifiers. Use from_predictions for labels."
        )
    check_is_fitted(model)


def check_none_rejected(predicted: NDArray[Any], classes: Any, name: Any) -> None:
    """Raise if a prediction is not a class of the model."""
    known = label_array(classes, "classes_")
    others = find_distinct(predicted[find_indices(predicted, known, "predictions") < 0], "predictions")[0]
    if others.size:
        raise ValueError(
            f"{name} predicts {others.tolist()}, but its classes are {known.tolist()}. Rejected samples "
            "do not belong in a confusion matrix; set_params(reject_cost=None, reject_label=None) makes the fitted "
            "model predict a class for every sample."
        )


def count_outcomes(
    y_true: Any,
    predictions: Mapping[str, Any],
    labels: Any,
    sample_weight: Any = None,
    known: list[NDArray[Any]] | None = None,
) -> Outcomes:
    """Count pairs of true and predicted class; classes are ``labels``, or else all that were seen or are ``known``."""
    true = label_array(y_true, "y_true")
    predicted = {name: label_array(given, f"y_pred of {name}") for name, given in predictions.items()}
    for name, given in predicted.items():
        if given.size != true.size:
            raise ValueError(
                f"y_true has {true.size} rows and the predictions of {name} {given.size}; pass one prediction per true "
                "label."
            )
    seen = {f"y_pred of {name}": given for name, given in predicted.items()}
    learned = {f"classes_ of model {number}": classes for number, classes in enumerate(known or [])}
    classes = resolve_classes(labels, y_true=true, **seen, **learned)
    if len(classes) < 2:
        raise ValueError(
            f"There is only one class, {classes[0]!r}, so there are no confusions; give samples of at least two "
            "classes, or all classes of the problem as labels."
        )
    true_idx, weight = class_indices(true, classes, "y_true"), weight_array(sample_weight, true.size)
    counts = {
        name: SampleOutcomes(classes, true_idx, class_indices(given, classes, f"y_pred of {name}"), weight).counts(
            NORM_SQUARES
        )
        for name, given in predicted.items()
    }
    return Outcomes(classes, counts, sums_by(true_idx, (weight > 0).astype(np.float64), len(classes)))
