"""What a prediction is made of. In: the parts of a fitted vote. Out: the same, in the words of other programs' formats.

What a format has no word for, such as categories that are dates, is refused by name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comboost._cached import cached_property
from comboost._data.categories import Categories, kind_of
from comboost._data.checks import shown
from comboost._engine.forest import Forest
from comboost._types import LEAF, Floats

INT64 = np.iinfo(np.int64)


@dataclass(frozen=True)
class Link:
    """From votes f to probabilities: softmax(scale · f + shift), or the shares of the votes times exp(shift).

    Attributes
    ----------
    scale : float or None
        Multiplies the votes; None if probabilities are the shares of the votes.
    shift : ndarray or None
        What is added for every class that is voted for.
    """

    scale: float | None
    shift: Floats | None = None


@dataclass(frozen=True)
class CodedFeature:
    """A feature of categories that trees look at.

    Attributes
    ----------
    feature : int
        Its number.
    values : tuple of str or of float
        Its categories, sorted.
    codes : ndarray of int64
        Their codes, from 1 on; infrequent ones share the last. What is missing, or not among them, has the code 0.
    """

    feature: int
    values: tuple[Any, ...]
    codes: NDArray[np.int64]

    @property
    def is_text(self) -> bool:
        """Whether its categories are text, not numbers."""
        return isinstance(self.values[0], str)

    @property
    def n_codes(self) -> int:
        """How many codes there are, 0 included."""
        return int(self.codes.max()) + 1


@dataclass(frozen=True)
class Blueprint:
    """All that a prediction needs.

    Attributes
    ----------
    owner : str
        The class of the estimator.
    forest : Forest
        Its trees.
    categories : Categories
        The categories of training.
    classes : ndarray
        The classes of y.
    voted : ndarray of intp or None
        Which of them are voted for, if not all.
    no_votes : float
        The votes for the others.
    names : sequence of str or None
        The names of the features, if they have some.
    link : Link or None
        What votes mean; None if nobody asks.
    """

    owner: str
    forest: Forest
    categories: Categories
    classes: NDArray[Any]
    voted: NDArray[np.intp] | None
    no_votes: float
    names: Sequence[str] | None
    link: Link | None

    @property
    def n_features(self) -> int:
        """Features of a row."""
        return len(self.forest.kinds)

    def label_of(self, feature: int) -> str:
        """What errors call a feature."""
        return f"column {feature if self.names is None else repr(str(self.names[feature]))}"

    @cached_property
    def voted_places(self) -> NDArray[np.intp]:
        """Where the classes that are voted for are among all classes."""
        return np.arange(len(self.classes)) if self.voted is None else self.voted

    @cached_property
    def labels(self) -> list[int] | list[str]:
        """The classes as whole numbers or as text; False and True are 0 and 1."""
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
            f"The class {shown(other)} is {type(other).__name__}; other programs know whole numbers and text. Fit with "
            "such labels, for example those of sklearn.preprocessing.LabelEncoder."
        )

    @cached_property
    def coded_features(self) -> list[CodedFeature]:
        """The features of categories that trees look at, ascending."""
        nodes = self.forest.nodes
        used = np.unique(nodes["feature"][nodes["feature"] != LEAF]).tolist()
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
    """Raise if text is none in other programs: zero characters end it there, and halves of characters are none."""
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError(
            f"{what} {shown(text)} holds zero characters or halves of surrogate pairs, with which other programs "
            "cannot do; fit with other text."
        )


def exact_float(value: Any, label: str) -> float:
    """A number as a float that is equal to it."""
    try:
        number = float(value)
    except OverflowError:
        number = np.inf
    if number != value:
        raise ValueError(
            f"The category {shown(value)} of {label} is no float64, which is how other programs give numbers; fit with "
            "text, or with smaller numbers."
        )
    return number + 0.0  # no -0
