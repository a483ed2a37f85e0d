"""A model of a folder that may be larger than memory. In: a folder of files. Out: what `_fitting` gives of one file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from comboost.cli._errors import CommandError
from comboost.cli._fitting import FitResult, save_fitted
from comboost.cli._learning import Request
from comboost.cli._outputs import check_output
from comboost.cli._settings import Recipe, make_estimator

ENDINGS = (".parquet", ".csv", ".tsv")


def fit_folder(request: Request, recipe: Recipe, out: str, *, n_workers: int, memory_limit: str) -> FitResult:
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
    rows, target = read_parts(paths, request)
    make = getattr(on_cluster, f"Dask{type(estimator).__name__}")
    parameters = shared_parameters(estimator, make)
    with (
        LocalCluster(n_workers, threads_per_worker=1, memory_limit=memory_limit, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        model = make(**parameters, client=client).fit(rows.drop(columns=target), rows[target])
        fitted = model.to_local()
        sizes = rows[target].value_counts().compute()
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
    import dask.dataframe

    dialect = request.dialect
    if paths[0].endswith(".parquet"):
        if request.missing:
            raise CommandError(
                "--missing cannot be given with --dask for Parquet files, whose missing values are empty cells; write "
                "them so, or give CSV files."
            )
        rows = dask.dataframe.read_parquet(paths)
    else:
        sep = dialect.sep or ("\t" if paths[0].endswith(".tsv") else ",")
        rows = dask.dataframe.read_csv(
            paths,
            sep=sep,
            decimal=dialect.decimal or ".",
            encoding=dialect.encoding or "utf-8",
            na_values=list(request.missing),
        )
    target = request.target
    names = list(map(str, rows.columns))
    if target is None:
        raise CommandError(f"Which column is the class? Give --target, one of {', '.join(map(repr, names[:5]))}.")
    for name in (target, *request.drop, *request.categories):
        if name not in names:
            raise CommandError(f"The files of {request.source} have no column {name!r}; give one of those there are.")
    rows = rows.drop(columns=list(request.drop)).astype(dict.fromkeys(request.categories, "category"))
    return rows, target
