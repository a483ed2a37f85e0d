"""Models that were tried on the same rows. In: a `Inquiry`. Out: what every row is and what each takes it for."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._cached import cached_property
from comboost._data.labels import find_distinct, join_labels, objects_of
from comboost._types import Floats
from comboost.metrics._measures import NORM_SQUARES
from comboost.metrics._outcomes import check_squares, class_indices, find_indices, label_array, resolve_classes, sums_by
from comboost.report._inquiry import Inquiry
from comboost.report._wording import text_of

REJECTED_TOO = " (rejected)"  # after a label of rejected rows that is a class, too


@dataclass(frozen=True)
class Answerer:
    """What one model says of the rows.

    Attributes
    ----------
    name, kind : str
        What it is called, and its class.
    model, X : object
        The model, and the rows as it wants them.
    known : ndarray of shape (n_own,)
        The places of its own classes, in its order, among those of the trial.
    places : ndarray of shape (n_rows,)
        The class that every row is taken for; ``n_classes`` stands for none, if the row is rejected.
    reject_labels : tuple of str
        What it says of rejected rows.
    """

    name: str
    kind: str
    model: Any
    X: Any
    known: NDArray[np.intp]
    places: NDArray[np.intp]
    reject_labels: tuple[str, ...]


@dataclass(frozen=True)
class Trial:
    """The same rows, and what one model or two say of them.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The model's own, in its order, then all others that the rows or the baseline have, sorted.
    truth : ndarray of shape (n_rows,)
        The class of every row.
    answerers : tuple of Answerer
        The model, and the baseline if there is one.
    """

    classes: NDArray[Any]
    truth: NDArray[np.intp]
    answerers: tuple[Answerer, ...]

    @property
    def names(self) -> list[str]:
        """The classes as text."""
        return [text_of(label) for label in objects_of(self.classes)]

    @property
    def ranks(self) -> NDArray[np.intp]:
        """The place of every class if they were sorted: it does not depend on which model is the baseline."""
        return np.asarray(find_distinct(self.classes, "classes")[1], dtype=np.intp)

    @property
    def sizes(self) -> Floats:
        """Rows of every class."""
        return sums_by(self.truth, np.ones(len(self.truth)), len(self.classes))

    @property
    def columns(self) -> list[str]:
        """The names of what is predicted: the classes, then what is said of rejected rows, if there are any."""
        rejects = sorted({label for answerer in self.answerers for label in answerer.reject_labels})
        if not rejects:
            return self.names
        name = " / ".join(rejects)
        return [*self.names, name + REJECTED_TOO if name in self.names else name]

    @cached_property
    def counts(self) -> tuple[Floats, ...]:
        """Rows by truth and answer, a square for every model: nothing is in the row of rejected ones."""
        n_columns, each = len(self.columns), np.ones(len(self.truth))
        check_squares(n_columns, NORM_SQUARES * len(self.answerers))
        codes = [self.truth * n_columns + answerer.places for answerer in self.answerers]
        return tuple(sums_by(pairs, each, n_columns**2).reshape(n_columns, n_columns) for pairs in codes)


def try_models(inquiry: Inquiry) -> Trial:
    """Let the models answer; ValueError says what does not fit."""
    truth = label_array(inquiry.y, "y")
    answers = [
        (model, X, *answers_of(model, X, truth.size, role))
        for (role, model), X in zip(inquiry.models.items(), inquiry.tables, strict=True)
    ]
    classes = joint_classes(truth, [own for _, _, own, _ in answers])
    answerers = []
    for name, (model, X, own, given) in zip(inquiry.names, answers, strict=True):
        places, rejects = places_of(given, own, classes)
        known = class_indices(own, classes, "classes_")
        answerers.append(Answerer(name, type(model).__name__, model, X, known, places, rejects))
    return Trial(classes, class_indices(truth, classes, "y"), tuple(answerers))


def answers_of(model: Any, X: Any, n_rows: int, role: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """The classes that a model knows, and what it says of every row."""
    given = label_array(model.predict(X), f"what predict of the {role} gives")
    if given.size != n_rows:
        raise ValueError(f"X has {given.size} rows, as the {role} sees it, and y {n_rows}; give one class per row.")
    if not hasattr(model, "classes_"):
        return find_distinct(given, "predictions")[0], given
    return label_array(model.classes_, f"classes_ of the {role}"), given


def joint_classes(truth: NDArray[Any], owned: list[NDArray[Any]]) -> NDArray[Any]:
    """The classes of the first model in its order, then all others, sorted."""
    first = owned[0]
    seen = {"y": truth, **{f"classes_ of model {place}": own for place, own in enumerate(owned, start=1)}}
    everything = resolve_classes(None, **seen)
    others = everything[find_indices(everything, first, "classes") < 0]
    return join_labels([first, others], "classes") if others.size else first


def places_of(
    given: NDArray[Any], own: NDArray[Any], classes: NDArray[Any]
) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """The place of every answer among the classes; what is no class of the model's own rejects a row."""
    among_own = find_indices(given, own, "predictions")
    rejected = among_own < 0
    places = np.where(rejected, len(classes), class_indices(own, classes, "classes_")[among_own])
    if not rejected.any():
        return places, ()
    labels = find_distinct(given[rejected], "predictions")[0]
    return places, tuple(text_of(label) for label in objects_of(labels))
