"""``comboost fit``: train on a file, or with Dask on a folder that may be larger than memory, and save the model."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from comboost.cli.input.columns import MISSING_CELLS, to_dates, without_cells
from comboost.cli.input.training_table import DataRequest, check_not_dropped, read_training_table
from comboost.cli.jobs.outputs import check_output
from comboost.cli.jobs.rounds import RoundFraction, report_rounds, selects_settings
from comboost.cli.jobs.settings import Settings, make_estimator
from comboost.cli.terminal.errors import CommandError, one_line, some_names
from comboost.cli.terminal.progress import Tick
from comboost.report._collect.search import describe_search

BOOSTING = "boosting"  # a step
FOLDER_ENDINGS = (".parquet", ".csv", ".tsv")


@dataclass(frozen=True)
class FitResult:
    """A saved model and what it was trained on."""

    data: dict[str, Any]  # of `TrainingTable.describe`
    model: str
    n_bytes: int
    estimator: str
    parameters: dict[str, Any]
    n_rounds: int
    stop_reason: str
    train_norm: float
    search: dict[str, Any] | None  # of `describe_search`; None for estimators that never select settings


def fit_file(request: DataRequest, settings: Settings, out: str, tick: Tick) -> FitResult:
    """Train on a file and save the model; on errors, no file changes."""
    check_output(out, {"data": request.source})
    estimator = make_estimator(settings)
    tick("reading", 0.0)
    table = read_training_table(request)
    fitted = report_rounds(estimator, tick, BOOSTING).fit(table.X, table.y).set_callbacks()
    return save_fitted(fitted, table.describe(), request.missing, out)


def save_fitted(fitted: Any, data: dict[str, Any], missing: Sequence[str], out: str) -> FitResult:
    """Save a model with the name of its target and the missing-value markers, which `predict` needs."""
    fitted.target_name_ = data["target"]
    if missing:
        fitted.missing_markers_ = list(missing)
    fitted.save_model(out)
    return FitResult(
        data=data,
        model=out,
        n_bytes=Path(out).stat().st_size,
        estimator=type(fitted).__name__,
        parameters=fitted.get_params(),
        n_rounds=int(fitted.n_iter_),
        stop_reason=str(fitted.stop_reason_),
        train_norm=float(np.linalg.norm(fitted.train_confusion_, ord=2)),
        search=describe_search(fitted)[0],
    )


def fit_folder(
    request: DataRequest, settings: Settings, out: str, tick: Tick, *, n_workers: int, memory_limit: str
) -> FitResult:
    """Train on all files of a folder, which workers read in parts, and save the model."""
    check_output(out, {})
    estimator = make_estimator(settings)
    paths = list_files(Path(request.source))
    try:
        from distributed import Client, LocalCluster

        from comboost import dask as on_cluster
    except ImportError as error:
        raise CommandError(
            f'--dask needs {error.name}, which is not installed; run pip install "comboost[dask]".'
        ) from error
    dask_class = getattr(on_cluster, f"Dask{type(estimator).__name__}")
    parameters = shared_parameters(estimator, dask_class)
    tick("first rows", 0.0)
    rows, target = read_parts(paths, request)
    tick("workers", 0.0)
    quiet = {"dashboard_address": ":0", "silence_logs": logging.ERROR}  # logs would disturb the progress bar
    with (
        LocalCluster(n_workers, threads_per_worker=1, memory_limit=memory_limit, **quiet) as cluster,
        Client(cluster) as client,
    ):
        tick("reading, searching" if selects_settings(estimator) else "reading", 0.0)
        model = dask_class(**parameters, client=client)
        model.set_callbacks(RoundFraction(lambda done: tick(BOOSTING, done)))
        fitted = model.fit(rows.drop(columns=target), rows[target]).to_local().set_callbacks()
        sizes = rows[target].value_counts(split_out=1).compute().sort_values(ascending=False)
    data = {
        "source": request.source,
        "target": target,
        "n_rows": int(sizes.sum()),
        "classes": {str(label): int(n) for label, n in sizes.items()},
        "columns": [],
        "dropped": list(request.drop),
        "notes": [],
    }
    return save_fitted(fitted, data, request.missing, out)


def shared_parameters(estimator: Any, dask_class: Any) -> dict[str, Any]:
    """Return the parameters that the Dask estimator has, too; raise CommandError if another one is set."""
    known, local, given = dask_class._table.declared(), estimator._table.declared(), estimator.get_params()
    for name, value in given.items():
        if name not in known and value != local[name].default:
            raise CommandError(
                f"The parameter {name}={value!r} cannot be given with --dask, whose estimators do not have it; leave "
                "it out, or fit without --dask."
            )
    return {name: value for name, value in given.items() if name in known}


def list_files(folder: Path) -> list[str]:
    """List the files of a folder, all of one kind."""
    if not folder.is_dir():
        raise CommandError(f"{folder} is not a folder; --dask reads folders. Leave it out for a file.")
    for ending in FOLDER_ENDINGS:
        found = sorted(str(path) for path in folder.iterdir() if path.suffix == ending and path.is_file())
        if found:
            return found
    raise CommandError(f"The folder {folder} contains no file that ends with {', '.join(FOLDER_ENDINGS)}.")


def read_parts(paths: Sequence[str], request: DataRequest) -> tuple[Any, str]:
    """Return a Dask dataframe of all files, and the name of its target."""
    try:
        rows = lazy_frame(paths, request)
        first = rows.get_partition(0).compute()
    except CommandError:
        raise
    except (ValueError, OSError) as error:
        raise CommandError(
            f"The files of {request.source} cannot be read: {one_line(error)}; check that each is complete, and "
            "written as the options say."
        ) from error
    target, names = request.target, list(map(str, rows.columns))
    if target is None:
        raise CommandError(f"Which column has the class labels? Give --target, one of {some_names(names)}.")
    for name in (target, *request.drop, *request.categories):
        if name not in names:
            raise CommandError(
                f"The files of {request.source} have no column {name!r}; their columns are {some_names(names)}."
            )
    check_not_dropped(target, request.drop)
    for name in find_dates(first.drop(columns=[target, *request.drop, *request.categories])):
        rows[name] = rows[name].map_partitions(as_dates, name, meta=as_dates(first[name][:0], name))
    rows = rows.drop(columns=list(request.drop)).astype(dict.fromkeys(request.categories, "category"))
    return rows, target


def lazy_frame(paths: Sequence[str], request: DataRequest) -> Any:
    """Return a Dask dataframe of all files, of which only the beginning is read."""
    import dask.dataframe

    dialect = request.dialect
    if paths[0].endswith(".parquet"):
        dialect.check_unused(f"the files of {request.source}", "whose columns have types")
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
    """Return the arguments with which pandas reads floats to the last bit; it does so by default from 3.1 on."""
    import pandas

    major, minor = map(int, pandas.__version__.split(".")[:2])
    return {"float_precision": "round_trip"} if (major, minor) < (3, 1) else {}


def find_dates(first: Any) -> list[str]:
    """Find the columns of text whose first rows are dates, which a single file would read as dates, too."""
    from pandas.api.types import is_string_dtype

    dated = []
    for name in first.columns:
        column = first[name].dropna()
        if len(column) and is_string_dtype(column):
            cells = text_cells(column)
            if cells.null_count < len(cells) and to_dates(cells) is not None:
                dated.append(name)
    return dated


def as_dates(column: Any, name: str) -> Any:
    """Convert a part of a column of text to dates; raise CommandError if it contains other text."""
    import pandas
    import pyarrow

    dates = to_dates(text_cells(column))
    if dates is None:
        raise CommandError(
            f"Column {name!r} contains dates in its first rows, and other text further down; correct it, or give "
            f"--category {name!r} if all are names, or --drop {name!r}."
        )
    plain = dates.cast(pyarrow.timestamp("us"))  # UTC, like times without a time zone
    return pandas.Series(plain.to_numpy(zero_copy_only=False), index=column.index, name=column.name)


def text_cells(column: Any) -> Any:
    """Convert a pandas Series of text to Arrow, with missing cells as null."""
    import pyarrow
    import pyarrow.compute as pc

    cells = pyarrow.array(column, pyarrow.large_string(), from_pandas=True)
    return without_cells(pc.utf8_trim_whitespace(cells), MISSING_CELLS)
