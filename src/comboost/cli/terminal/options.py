"""Options of several commands: dataclasses, which `with_options` turns into options of typer."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import StrEnum
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

if TYPE_CHECKING:
    from comboost.cli.input.training_table import DataRequest
    from comboost.cli.jobs.settings import Settings

OWN = "estimator's"
#: Parameters of ConfusionBoosting with ``--no-search``, in place of its defaults.
NOT_SEARCHED: dict[str, Any] = {"smoothing": 3.0, "max_depth": 5, "learning_rate": 0.3, "n_estimators": 300}
SPELLED = {"assignments": "--set"}  # options that are not spelled like their field
CHARACTERS = {"\\t": "\t", "tab": "\t"}  # hard to type

data_option = partial(typer.Option, rich_help_panel="Data")
estimator_option = partial(typer.Option, rich_help_panel="Estimator")
seed_option = partial(typer.Option, "--seed", metavar="INT", min=0, max=2**32 - 1)
no_search_option = partial(
    typer.Option,
    "--no-search",
    help="Do not search for settings. Unless given, ConfusionBoosting has smoothing {smoothing:g}, depth {max_depth}, "
    "learning rate {learning_rate:g} and {n_estimators} rounds.".format(**NOT_SEARCHED),
)


class EstimatorName(StrEnum):
    """Short names of the estimators."""

    confusion = "confusion"
    combo = "combo"
    mm = "mm"


def check_jobs(jobs: int | None) -> int | None:
    """Raise if the number of threads or processes is 0."""
    if jobs == 0:
        raise typer.BadParameter("0 is not a number of workers; give 1 or more, or -1 for one per core.")
    return jobs


def read_character(text: str | None) -> str | None:
    """Return a single character, or None if none is given."""
    character = None if text is None else CHARACTERS.get(text, text)
    if character is not None and len(character) != 1:
        raise typer.BadParameter(f"{text!r} is not a single character; give one, such as ';' or tab.")
    return character


DataFile = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV, Parquet, Arrow, ARFF or KEEL file (also .gz), - for standard input, or a bundled data set.",
        show_default=False,
    ),
]
ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="Model file of comboost fit.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for scripts.")]
Folds = Annotated[int, typer.Option("--folds", min=2, max=1000, help="Number of cross-validation folds.")]
Threads = Annotated[int, typer.Option("--jobs", callback=check_jobs, help="Threads; -1 for one per core.")]


@dataclass(frozen=True)
class FileOptions:
    """How a file is written."""

    sep: Annotated[
        str | None, data_option("--sep", callback=read_character, help="Column delimiter.", show_default="detected")
    ] = None
    decimal: Annotated[
        str | None, data_option("--decimal", callback=read_character, help="Decimal mark.", show_default="detected")
    ] = None
    encoding: Annotated[str | None, data_option("--encoding", help="Encoding of text.", show_default="utf-8")] = None
    missing: Annotated[
        list[str] | None, data_option("--missing", metavar="TEXT", help="Missing-value marker; may be repeated.")
    ] = None

    def request(self, source: str, target: str | None = None) -> "DataRequest":
        """Which data to read, and how."""
        from comboost.cli.input.delimited import Dialect
        from comboost.cli.input.training_table import DataRequest

        dialect = Dialect(self.sep, self.decimal, self.encoding)
        return DataRequest(source, target, missing=self.missing or (), dialect=dialect)


@dataclass(frozen=True)
class DataOptions(FileOptions):
    """Which column is the target, and which columns are dropped or categorical."""

    target: Annotated[
        str | None,
        typer.Option("--target", "-t", metavar="COL", help="Column with the class labels.", show_default=False),
    ] = None
    drop: Annotated[
        list[str] | None, data_option("--drop", metavar="COL", help="Exclude a column; may be repeated.")
    ] = None
    category: Annotated[
        list[str] | None,
        data_option("--category", metavar="COL", help="Treat a column as categorical; may be repeated."),
    ] = None

    def request(self, source: str, target: str | None = None) -> "DataRequest":
        """Which data to read, and how."""
        request = super().request(source, self.target if target is None else target)
        return replace(request, drop=self.drop or (), categories=self.category or ())


@dataclass(frozen=True)
class EstimatorOptions:
    """Which estimator, and its parameters."""

    estimator: Annotated[
        EstimatorName | None,
        estimator_option(
            "--estimator", "-e", help="ConfusionBoosting, CoMBo or AdaBoost.MM.", show_default="confusion"
        ),
    ] = None
    rounds: Annotated[
        int | None, estimator_option("--rounds", min=1, help="Maximum number of rounds.", show_default=OWN)
    ] = None
    learning_rate: Annotated[
        float | None, estimator_option("--learning-rate", help="Learning rate.", show_default=OWN)
    ] = None
    depth: Annotated[
        int | None, estimator_option("--depth", min=1, help="Maximum depth of the trees.", show_default=OWN)
    ] = None
    assignments: Annotated[
        list[str] | None, estimator_option("--set", metavar="NAME=VALUE", help="Any other parameter; may be repeated.")
    ] = None
    config: Annotated[
        Path | None,
        estimator_option("--config", metavar="TOML", help="File with an estimator and a table of parameters."),
    ] = None
    seed: Annotated[
        int | None,
        seed_option(rich_help_panel="Estimator", help="Random seed; also determines the folds.", show_default="0"),
    ] = None
    no_search: Annotated[bool, no_search_option(rich_help_panel="Estimator")] = False
    jobs: Threads = -1

    def settings(self) -> "Settings":
        """The settings of the estimator."""
        from comboost.cli.jobs.settings import Settings

        options = {
            "n_estimators": self.rounds,
            "learning_rate": self.learning_rate,
            "max_depth": self.depth,
            "random_state": self.seed,
            "n_jobs": self.jobs,
        }
        name = None if self.estimator is None else self.estimator.value
        defaults = NOT_SEARCHED if self.no_search else {}
        return Settings(name, self.assignments or (), self.config, options, defaults)


def as_typed(options: Any) -> list[str]:
    """Return the words that give such options on a command line; defaults are omitted."""
    words = []
    for each in fields(options):
        value = getattr(options, each.name)
        if value == each.default or value == []:
            continue
        name = SPELLED.get(each.name, "--" + each.name.replace("_", "-"))
        for item in value if isinstance(value, list) else [value]:
            words += [name] if item is True else [name, "tab" if item == "\t" else str(item)]
    return words


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameters of a command that are dataclasses by one option per field."""
    kinds = {name: kind for name, kind in get_type_hints(command).items() if is_dataclass(kind)}
    signature = inspect.signature(command)
    plain = [parameter for name, parameter in signature.parameters.items() if name not in kinds]
    options = [
        inspect.Parameter(
            each.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=each.default, annotation=hints[each.name]
        )
        for kind in kinds.values()
        for hints in [get_type_hints(kind, include_extras=True)]
        for each in fields(kind)
    ]

    @wraps(command)
    def collect(**given: Any) -> None:
        made = {
            name: kind(**{each.name: given.pop(each.name) for each in fields(kind)})  # type: ignore[operator]
            for name, kind in kinds.items()
        }
        command(**given, **made)

    # Required parameters come first, and the order of the others is that of the help.
    required = [parameter for parameter in plain if parameter.default is parameter.empty]
    parameters = [*required, *options, *(parameter for parameter in plain if parameter not in required)]
    collect.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    collect.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return collect
