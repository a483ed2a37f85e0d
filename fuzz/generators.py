"""The generators by their names. In: a seed and a number. Out: the program of that case."""

import importlib
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from fuzz.pickles import MODELS

NAMES = ("inputs", "pickles", "bits", "metrics", "interruptions", "kills", "files", "model_files")


class Generator(NamedTuple):
    """Draws programs; see the package's docstring."""

    name: str
    draw: Callable[[Random], str]
    seconds: float
    share: float

    def case(self, seed: int, number: int) -> str:
        """The program of a case."""
        return self.draw(Random(f"{seed}/{self.name}/{number}"))


def load(names: list[str] | None = None) -> list[Generator]:
    """The generators of these names, or all that are there."""
    there = [name for name in NAMES if name != "pickles" or MODELS.exists()]
    return [generator_of(name) for name in names or there]


def generator_of(name: str) -> Generator:
    """The generator that a module is."""
    if name not in NAMES:
        raise ValueError(f"There is no generator {name!r}; give one of {', '.join(NAMES)}.")
    module = importlib.import_module(f"fuzz.{name}")
    return Generator(name, module.draw, module.SECONDS, module.SHARE)
