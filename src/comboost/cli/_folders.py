"""A model of a folder that may be larger than memory. In: a folder of files. Out: what `_fitting` gives of one file."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from comboost._boosting.monitor import RoundCounter
from comboost.cli._columns import MISSING_CELLS, dates_of, without_cells
from comboost.cli._errors import CommandError, one_line
from comboost.cli._fitting import FitResult, save_fitted
from comboost.cli._learning import Request, check_not_dropped
from comboost.cli._outputs import check_output
from comboost.cli._progress import Tick
from comboost.cli._settings import Recipe, make_estimator

ENDINGS = (".parquet", ".csv", ".tsv")


def fit_folder(
    request: Request, recipe: Recipe, out: str, tick: Tick, *, n_workers: int, memory_limit: str
) -> FitResult:
    """Fit on all files of a folder, which workers read part by part, and save the model."""
    check_output(out)
    estimator = make_estimator(recipe)
    paths = list_files(Path(request.source))
    try:
        from distributed import Client, LocalCluster

        from comboost import dask as on_cluster
    except ImportError as error:
        raise CommandError(
            f'--dask needs {error.name}, which is not installed; run pip install "comboost[dask]".'
        ) from error
    make = getattr(on_cluster, f"Dask{type(estimator).__name__}")
    parameters = shared_parameters(estimator, make)
    tick("first rows", 0.0)
    rows, target = read_parts(paths, request)
    tick("workers", 0.0)
    quiet = {"dashboard_address": ":0", "silence_logs": logging.ERROR}  # nobody looks at it, and a bar is shown
    with (
        LocalCluster(n_workers, threads_per_worker=1, memory_limit=memory_limit, **quiet) as cluster,
        Client(cluster) as client,
    ):
        tick("reading", 0.0)
        model = make(**parameters, client=client).set_callbacks(
            RoundCounter(lambda n_done: tick("boosting", n_done / estimator.n_estimators))
        )
        fitted = model.fit(rows.drop(columns=target), rows[target]).to_local().set_callbacks()
        sizes = rows[target].value_counts(split_out=1).compute().sort_values(ascending=False)
    lesson = {
        "source": request.source,
        "target": target,
        "n_rows": int(sizes.sum()),
        "classes": {str(label): int(n) for label, n in sizes.items()},
        "columns": [],
        "dropped": list(request.drop),
        "notes": [],
    }
    return save_fitted(fitted, lesson, request.missing, out)


def shared_parameters(estimator: Any, make: Any) -> dict[str, Any]:
    """The parameters that estimators on a cluster have, too; CommandError if another one is set."""
    known, defaults, given = make().get_params(), type(estimator)().get_params(), estimator.get_params()
    for name, value in given.items():
        if name not in known and value != defaults[name]:
            raise CommandError(
                f"The parameter {name}={value!r} cannot be given with --dask, whose estimators do not have it; leave "
                "it out, or fit without --dask."
            )
    return {name: value for name, value in given.items() if name in known}


def list_files(folder: Path) -> list[str]:
    """The files of a folder, all of one kind."""
    if not folder.is_dir():
        raise CommandError(f"{folder} is no folder; --dask reads folders. Leave it out for a file.")
    for ending in ENDINGS:
        found = sorted(str(path) for path in folder.iterdir() if path.suffix == ending and path.is_file())
        if found:
            return found
    raise CommandError(f"The folder {folder} holds no file that ends with {', '.join(ENDINGS)}.")


def read_parts(paths: Sequence[str], request: Request) -> tuple[Any, str]:
    """A Dask dataframe of all files, and the name of its target."""
    try:
        rows = lazy_frame(paths, request)
        first = rows.get_partition(0).compute()
    except CommandError:
        raise
    except (ValueError, OSError) as error:
        raise CommandError(
            f"The files of {request.source} cannot be read: {one_line(error)}; see that each is whole, and written as "
            "the options say."
        ) from error
    target, names = request.target, list(map(str, rows.columns))
    if target is None:
        raise CommandError(f"Which column is the class? Give --target, one of {', '.join(map(repr, names[:5]))}.")
    for name in (target, *request.drop, *request.categories):
        if name not in names:
            raise CommandError(f"The files of {request.source} have no column {name!r}; give one of those there are.")
    check_not_dropped(target, request.drop)
    for name in find_dates(first.drop(columns=[target, *request.drop, *request.categories])):
        rows[name] = rows[name].map_partitions(as_dates, name, meta=as_dates(first[name][:0], name))
    rows = rows.drop(columns=list(request.drop)).astype(dict.fromkeys(request.categories, "category"))
    return rows, target


def lazy_frame(paths: Sequence[str], request: Request) -> Any:
    """A Dask dataframe of all files, of which little is read."""
    import dask.dataframe

    dialect = request.dialect
    if paths[0].endswith(".parquet"):
        dialect.check_unused(f"the files of {request.source}", "whose cells are no text")
        if request.missing:
            raise CommandError(
                "--missing cannot be given with --dask for Parquet files, whose missing values are empty cells; write "
                "them so, or give CSV files."
            )
        return dask.dataframe.read_parquet(paths)
    return dask.dataframe.read_csv(
        paths,
        sep=dialect.sep or ("\t" if paths[0].endswith(".tsv") else ","),
        decimal=dialect.decimal or ".",
        encoding=dialect.encoding or "utf-8",
        na_values=list(request.missing),
        **exact_floats(),
    )


def exact_floats() -> dict[str, str]:
    """What lets pandas read floats as they are written, which it does by itself from 3.1 on."""
    import pandas

    major, minor = map(int, pandas.__version__.split(".")[:2])
    return {"float_precision": "round_trip"} if (major, minor) < (3, 1) else {}


def find_dates(first: Any) -> list[str]:
    """The columns of text whose first rows are dates, as they would be in a single file."""
    from pandas.api.types import is_string_dtype

    known = {name: first[name].dropna() for name in first.columns}
    return [name for name, column in known.items() if len(column) and is_string_dtype(column) and is_dated(column)]


def is_dated(column: Any) -> bool:
    """Whether text is dates."""
    cells = text_cells(column)
    return cells.null_count < len(cells) and dates_of(cells) is not None


def as_dates(column: Any, name: str) -> Any:
    """A part of a column of text as dates; CommandError if it is something else."""
    import pandas
    import pyarrow

    dates = dates_of(text_cells(column))
    if dates is None:
        raise CommandError(
            f"Column {name!r} holds dates in its first rows, and other text further down; mend it, or give --category "
            f"{name!r} if all are names, or --drop {name!r}."
        )
    plain = dates.cast(pyarrow.timestamp("us"))  # in UTC, as times without a zone are taken to be
    return pandas.Series(plain.to_numpy(zero_copy_only=False), index=column.index, name=column.name)


def text_cells(column: Any) -> Any:
    """A pandas Series of text as Arrow's, without what stands for missing values."""
    import pyarrow
    import pyarrow.compute as pc

    cells = pyarrow.array(column, pyarrow.large_string(), from_pandas=True)
    return without_cells(pc.utf8_trim_whitespace(cells), MISSING_CELLS)
