"""An ONNX graph in the making. In: operators and constants. Out: plain records, for onnx or for a converter to add."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

ML = "ai.onnx.ml"
ML_OPSET = 3  # the first whose trees take doubles; 5 has no leaves that vote for several classes
LEAST_OPSET = 13  # the first in which ReduceSum takes its axes as an input


class Operation(NamedTuple):
    """A node of the graph: operator, names of what it takes and gives, domain, attributes."""

    operator: str
    inputs: list[str]
    outputs: list[str]
    domain: str
    attributes: dict[str, Any]


@dataclass
class Graph:
    """Operations in the order in which they are computed, and constants.

    Attributes
    ----------
    name_for : callable
        Gives a name that no other value of the graph has, given what it should sound like.
    """

    name_for: Callable[[str], str]
    operations: list[Operation] = field(default_factory=list)
    constants: dict[str, NDArray[Any]] = field(default_factory=dict)

    def constant(self, values: Any, dtype: Any) -> str:
        """The name of a constant."""
        name = self.name_for("constant")
        self.constants[name] = np.asarray(values, dtype=dtype)
        return name

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Apply an operator of ONNX itself; the name of what it gives."""
        return self.add_all(operator, inputs, [output or self.name_for(operator.lower())], "", attributes)[0]

    def add_learner(self, operator: str, value: str, **attributes: Any) -> str:
        """Apply an operator of machine learning to a value; the name of what it gives."""
        return self.add_all(operator, [value], [self.name_for(operator.lower())], ML, attributes)[0]

    def add_all(
        self, operator: str, inputs: Any, outputs: list[str], domain: str, attributes: dict[str, Any]
    ) -> list[str]:
        """Add an operation."""
        self.operations.append(Operation(operator, list(inputs), outputs, domain, attributes))
        return outputs


def numbered_names(taken: Collection[str]) -> Callable[[str], str]:
    """Names that are numbered, for a graph of its own, some names of which are taken."""
    numbers = count()

    def name_for(sound: str) -> str:
        return next(name for name in (f"{sound}_{number}" for number in numbers) if name not in taken)

    return name_for
