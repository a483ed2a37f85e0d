"""``comboost datasets``: names, sizes and classes of the bundled data sets."""

from collections import Counter
from dataclasses import asdict, dataclass

from comboost.cli.terminal.options import Json
from comboost.cli.terminal.screen import Screen, print_json


@dataclass(frozen=True)
class DatasetSummary:
    """Sizes of a bundled data set."""

    name: str
    n_rows: int
    n_features: int
    n_classes: int
    smallest_class: int
    largest_class: int


def list_datasets() -> list[DatasetSummary]:
    """Summarise all bundled data sets."""
    from comboost.datasets import load_dataset
    from comboost.datasets._records import RECORDS

    summaries = []
    for name in RECORDS:
        X, y = load_dataset(name, return_X_y=True)
        sizes = Counter(y.tolist()).values()
        summaries.append(DatasetSummary(name, X.shape[0], X.shape[1], len(sizes), min(sizes), max(sizes)))
    return summaries


def datasets(as_json: Json = False) -> None:
    """List the bundled data sets, which all commands accept by name.

    For example:

      comboost cv yeast
    """
    summaries = [asdict(summary) for summary in list_datasets()]
    if as_json:
        print_json(summaries)
        return
    screen = Screen()
    screen.show(
        ["name", "rows", "features", "classes", "smallest\nclass", "largest\nclass"],
        [[str(value) for value in summary.values()] for summary in summaries],
        right=range(1, 6),
    )
    screen.say("Try: comboost cv yeast")
