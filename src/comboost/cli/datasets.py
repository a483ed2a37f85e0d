"""``comboost datasets``: the bundled sets. In: nothing. Out: their names, sizes and classes."""

from collections import Counter
from dataclasses import asdict, dataclass

from comboost.cli._options import Json
from comboost.cli._showing import Screen, print_json


@dataclass(frozen=True)
class DatasetLine:
    """What a bundled set holds."""

    name: str
    n_rows: int
    n_features: int
    n_classes: int
    smallest_class: int
    largest_class: int


def list_datasets() -> list[DatasetLine]:
    """All sets that are bundled."""
    from comboost.datasets import load_dataset
    from comboost.datasets._records import RECORDS

    lines = []
    for name in RECORDS:
        X, y = load_dataset(name, return_X_y=True)
        sizes = Counter(y.tolist()).values()
        lines.append(DatasetLine(name, X.shape[0], X.shape[1], len(sizes), min(sizes), max(sizes)))
    return lines


def datasets(as_json: Json = False) -> None:
    """List the bundled data sets, which all commands take by name.

    For example:

      comboost cv yeast
    """
    lines = list_datasets()
    if as_json:
        print_json([asdict(line) for line in lines])
        return
    screen = Screen()
    screen.show(
        ["name", "rows", "features", "classes", "smallest", "largest"],
        [[str(value) for value in asdict(line).values()] for line in lines],
        right=range(1, 6),
    )
    screen.say("Try: comboost cv yeast")
