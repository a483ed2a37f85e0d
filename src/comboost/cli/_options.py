"""Options that several commands share. In: what is typed. Out: dataclasses, which `spread` turns into options."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

if TYPE_CHECKING:
    from comboost.cli._delimited import Dialect
    from comboost.cli._learning import Request
    from comboost.cli._settings import Recipe

DATA_PANEL, ESTIMATOR_PANEL = "Data", "Estimator"
OWN = "the estimator's own"
OTHER_NAMES = {"assignments": "--set"}  # of options that are not called as their field is
SIGNS = {"\\t": "\t", "tab": "\t"}  # what is hard to type


class EstimatorName(StrEnum):
    """The estimators by their short names."""

    confusion = "confusion"
    combo = "combo"
    mm = "mm"


def check_threads(jobs: int | None) -> int | None:
    """Refuse to work with no thread."""
    if jobs == 0:
        raise typer.BadParameter("0 threads cannot work; give 1 or more, or -1 for one per core.")
    return jobs


def read_sign(text: str | None) -> str | None:
    """One sign."""
    sign = None if text is None else SIGNS.get(text, text)
    if sign is not None and len(sign) != 1:
        raise typer.BadParameter(f"{text!r} is not one sign; give one, such as ';' or tab.")
    return sign


def data_option(*names: str, **settings: Any) -> Any:
    """An option in the panel of the data."""
    return typer.Option(*names, rich_help_panel=DATA_PANEL, **settings)


def estimator_option(*names: str, **settings: Any) -> Any:
    """An option in the panel of the estimator."""
    return typer.Option(*names, rich_help_panel=ESTIMATOR_PANEL, **settings)


DataFile = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A CSV, TSV, Parquet, Arrow, ARFF or KEEL file (.gz too), - for standard input, or a bundled set.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")]
Folds = Annotated[int, typer.Option("--folds", min=2, max=1000, help="Parts of the rows; each is tested once.")]


@dataclass(frozen=True)
class FileOptions:
    """How a file is written."""

    sep: Annotated[
        str | None,
        data_option("--sep", callback=read_sign, help="The sign between cells.", show_default="found out"),
    ] = None
    decimal: Annotated[
        str | None,
        data_option("--decimal", callback=read_sign, help="The sign in numbers.", show_default="found out"),
    ] = None
    encoding: Annotated[str | None, data_option("--encoding", help="Of text files.", show_default="utf-8")] = None
    missing: Annotated[
        list[str] | None,
        data_option("--missing", metavar="TEXT", help="Cells that stand for missing values; may be repeated."),
    ] = None

    def dialect(self) -> "Dialect":
        """How text is written."""
        from comboost.cli._delimited import Dialect

        return Dialect(self.sep, self.decimal, self.encoding)


@dataclass(frozen=True)
class DataOptions(FileOptions):
    """Which column is the target, and how the others are to be taken."""

    target: Annotated[
        str | None,
        typer.Option("--target", "-t", metavar="COL", help="The column that holds the class.", show_default=False),
    ] = None
    drop: Annotated[
        list[str] | None, data_option("--drop", metavar="COL", help="Leave a column out; may be repeated.")
    ] = None
    category: Annotated[
        list[str] | None,
        data_option("--category", metavar="COL", help="Take a column for categories; may be repeated."),
    ] = None

    def request(self, source: str) -> "Request":
        """What is typed about data."""
        from comboost.cli._learning import Request

        return Request(source, self.target, self.drop or (), self.category or (), self.missing or (), self.dialect())


@dataclass(frozen=True)
class EstimatorOptions:
    """Which estimator, and its parameters."""

    estimator: Annotated[
        EstimatorName | None, estimator_option("--estimator", "-e", help="Which one.", show_default="confusion")
    ] = None
    rounds: Annotated[int | None, estimator_option("--rounds", min=1, help="Rounds of boosting.", show_default=OWN)] = (
        None
    )
    learning_rate: Annotated[
        float | None, estimator_option("--learning-rate", help="Of every round.", show_default=OWN)
    ] = None
    depth: Annotated[int | None, estimator_option("--depth", min=1, help="Of the trees.", show_default=OWN)] = None
    assignments: Annotated[
        list[str] | None,
        estimator_option("--set", metavar="NAME=VALUE", help="Any other parameter; may be repeated."),
    ] = None
    config: Annotated[
        Path | None,
        estimator_option("--config", metavar="TOML", help='A file with estimator = "..." and a table [parameters].'),
    ] = None
    seed: Annotated[
        int | None,
        estimator_option("--seed", min=0, max=2**32 - 1, help="Decides all draws, and the folds.", show_default="0"),
    ] = None
    jobs: Annotated[
        int,
        typer.Option("--jobs", callback=check_threads, help="Threads; -1 for one per core."),
    ] = -1

    def recipe(self) -> "Recipe":
        """What is typed about the estimator."""
        from comboost.cli._settings import Recipe

        options = {
            "n_estimators": self.rounds,
            "learning_rate": self.learning_rate,
            "max_depth": self.depth,
            "random_state": self.seed,
            "n_jobs": self.jobs,
        }
        name = None if self.estimator is None else self.estimator.value
        return Recipe(name, self.assignments or (), self.config, options)


def typed_again(options: Any) -> list[str]:
    """The words that give such options, those aside that have their defaults."""
    words = []
    for each in fields(options):
        value = getattr(options, each.name)
        if value == each.default or value == []:
            continue
        name = OTHER_NAMES.get(each.name, "--" + each.name.replace("_", "-"))
        for item in value if isinstance(value, list) else [value]:
            words += [name, "tab" if item == "\t" else str(item)]
    return words


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameters that are dataclasses are options, one for every field."""
    parts = {name: kind for name, kind in get_type_hints(command).items() if is_dataclass(kind)}
    signature = inspect.signature(command)
    plain = [parameter for name, parameter in signature.parameters.items() if name not in parts]
    options = [option for kind in parts.values() for option in options_of(kind)]

    @wraps(command)
    def collected(**given: Any) -> None:
        made = {
            name: kind(**{each.name: given.pop(each.name) for each in fields(kind)})  # type: ignore[operator]
            for name, kind in parts.items()
        }
        command(**given, **made)

    parameters = sorted([*plain, *options], key=lambda parameter: parameter.default is not parameter.empty)
    collected.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    collected.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return collected


def options_of(kind: Any) -> list[inspect.Parameter]:
    """A parameter for every field of a dataclass."""
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            each.name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=inspect.Parameter.empty if each.default is MISSING else each.default,
            annotation=hints[each.name],
        )
        for each in fields(kind)
    ]
