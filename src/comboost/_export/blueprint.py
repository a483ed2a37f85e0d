"""Parts of a fitted model that other programs need to predict, in the types that they know."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._cached import cached_property
from comboost._data.categories import Categories, kind_of
from comboost._data.checks import shown
from comboost._engine.forest import Forest
from comboost._types import Floats

INT64 = np.iinfo(np.int64)


@dataclass(frozen=True)
class Link:
    """Map from scores f to probabilities: softmax(scale · f + shift), or normalised f · exp(shift)."""

    scale: float | None  # None if probabilities are the fractions of the weighted vote
    shift: Floats | None = None  # one number for every class that has scores


@dataclass(frozen=True)
class CodedFeature:
    """A categorical feature that trees use."""

    feature: int
    values: tuple[Any, ...]  # its categories, sorted: text or floats
    #: Their codes, from 1 on; infrequent ones have the same, the last. Missing and unknown values have the code 0.
    codes: NDArray[np.int64]

    @property
    def is_text(self) -> bool:
        """Whether the categories are text, not numbers."""
        return isinstance(self.values[0], str)

    @property
    def n_codes(self) -> int:
        """Number of codes, 0 included."""
        return int(self.codes.max()) + 1


@dataclass(frozen=True)
class Blueprint:
    """All that a prediction needs."""

    owner: str  # class name of the estimator
    forest: Forest
    categories: Categories
    classes: NDArray[Any]
    scored: NDArray[np.intp] | None  # indices of the classes that have scores, if not all
    no_score: float  # score of the other classes
    names: Sequence[str] | None  # of the features, if they have any
    link: Link | None  # map to probabilities, if it is needed

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.forest.kinds)

    def label_of(self, feature: int) -> str:
        """Return the name of a feature in errors."""
        return f"column {feature if self.names is None else repr(str(self.names[feature]))}"

    @cached_property
    def scored_classes(self) -> NDArray[np.intp]:
        """Indices of the classes that have scores."""
        return np.arange(len(self.classes)) if self.scored is None else self.scored

    @cached_property
    def labels(self) -> list[int] | list[str]:
        """Classes as integers or as text; False and True are 0 and 1."""
        labels: list[Any] = self.classes.tolist()
        if all(isinstance(label, str) for label in labels):
            for label in labels:
                check_text(label, "The class")
            return labels
        if all(isinstance(label, bool | int | float) for label in labels):
            if not all(INT64.min <= label <= INT64.max for label in labels):
                raise ValueError(f"The classes {shown(labels)} are not all 64-bit integers; fit with smaller numbers.")
            return [int(label) for label in labels]
        other = next(label for label in labels if not isinstance(label, str | int | float))
        raise ValueError(
            f"The class {shown(other)} is {type(other).__name__}; other programs know integers and text. Fit with "
            "such labels, for example those of sklearn.preprocessing.LabelEncoder."
        )

    @cached_property
    def coded_features(self) -> list[CodedFeature]:
        """Categorical features that trees use, ascending."""
        used = np.unique(self.forest.nodes["feature"]).tolist()
        return [self._coded(feature) for feature in used if feature in self.categories.values]

    def _coded(self, feature: int) -> CodedFeature:
        known = self.categories.values[feature]
        code_of = {value: int(code) for value, code in self.categories.code_of(feature).items()}
        label = self.label_of(feature)
        if all(isinstance(value, str) for value in code_of):
            for value in code_of:
                check_text(value, f"The category of {label}")
            values = sorted(code_of)
            return CodedFeature(feature, tuple(values), np.array([code_of[value] for value in values]))
        if kind_of(known[0]) != "numbers":
            raise ValueError(
                f"The categories of {label} are {type(known[0]).__name__}, such as {shown(known[0])}; other programs "
                'know numbers and text. Fit with text, for example with astype("str").'
            )
        code_of = {exact_float(value, label): code for value, code in code_of.items()}
        numbers = sorted(code_of)
        return CodedFeature(feature, tuple(numbers), np.array([code_of[number] for number in numbers]))


def check_text(text: str, what: str) -> None:
    """Raise if other programs cannot hold a text: zero characters end it there, and surrogates are invalid."""
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError(
            f"{what} {shown(text)} holds zero characters or surrogates, which other programs cannot hold; fit with "
            "other text."
        )


def exact_float(value: Any, label: str) -> float:
    """Return a number as a float that is equal to it."""
    try:
        number = float(value)
    except OverflowError:
        number = np.inf
    if number != value:
        raise ValueError(
            f"The category {shown(value)} of {label} is not exact as float64, the type of numbers elsewhere; fit "
            "with text, or with smaller numbers."
        )
    return number + 0.0  # no -0
