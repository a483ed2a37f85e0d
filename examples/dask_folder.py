"""Train on a folder of files that is larger than the memory of a worker. In: a folder. Out: recalls, and a saved model.

    python examples/dask_folder.py                              # made-up files, a few minutes
    python examples/dask_folder.py MY_FOLDER --label COLUMN     # your own CSV or Parquet files

Needs ``pip install 'comboost[dask,cli]'``. The page that goes with it is docs/dask.md.
"""

import argparse
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import dask
import dask.dataframe as dd
import joblib
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from distributed import Client, LocalCluster, SchedulerPlugin
from pandas.api.types import is_object_dtype, is_string_dtype
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from sklearn.metrics import recall_score

from comboost.dask import DaskAdaBoostMMClassifier, DaskCoMBoClassifier

METHODS = {"CoMBo": DaskCoMBoClassifier, "AdaBoost.MM": DaskAdaBoostMMClassifier}
HELD_OUT_SHARE = 0.2
PART_BYTES = 16_000_000  # of a file, read at a time; a worker needs several times as much
SAMPLE_ROWS = 1000  # of the first CSV file, that say of which type a column is
N_PASSES = 5  # over the files before the first round, more or less: for the bar

MADE_UP_LIMIT = "800MB"  # memory of each worker: less than the made-up files have
ROWS_PER_FILE = 40_000
N_NUMBERS, N_TELLING = 30, 8  # columns of numbers, and how many of them say something about the class
LABEL = "state"
SHARES = {"fine": 0.93, "worn": 0.05, "cracked": 0.015, "broken": 0.005}
MAKERS = np.array(["Ada", "Bo", "Cy", None])
SHARES_OF_MAKERS = {
    "fine": [0.5, 0.3, 0.1, 0.1],
    "worn": [0.4, 0.3, 0.2, 0.1],
    "cracked": [0.3, 0.2, 0.4, 0.1],
    "broken": [0.1, 0.1, 0.4, 0.4],
}


class MistakeError(Exception):
    """What the user can put right."""


def main(arguments: list[str] | None = None) -> int:
    """Run the example, and say in a line what went wrong."""
    options = read_options(arguments)
    console = Console(highlight=False)
    try:
        run(options, console)
    except KeyboardInterrupt:
        console.print("Interrupted. The workers have ended, and the temporary files are gone.")
        return 130
    except (MistakeError, OSError, ValueError, TypeError, RuntimeError, MemoryError) as error:
        Console(stderr=True, highlight=False, soft_wrap=True).print(
            f"[bold red]Error:[/] {escape(str(error))}\n(--drop COLUMN leaves a column out, --help shows all options.)"
        )
        return 1
    return 0


def run(options: argparse.Namespace, console: Console) -> None:
    """Open the folder, fit, predict, tell, save."""
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="comboost-")))
        stack.enter_context(dask.config.set({"temporary-directory": str(scratch)}))
        bars = stack.enter_context(make_bars())
        files = find_files(options.folder or made_up_folder(options, scratch, bars))
        counter = TaskCounter(bars)
        counter.show("Starting workers")
        client = stack.enter_context(Client(stack.enter_context(start_workers(options, counter))))
        client.run(ignore_interrupts)
        table = open_files(files, options.label, options.drop)
        counter.finish()
        bars.console.print(tell_sizes(files, table, client.run(measure_memory).values()), highlight=False)

        train, test = table.random_split([1 - HELD_OUT_SHARE, HELD_OUT_SHARE], random_state=0)
        models, predicted = {}, {}
        for name in METHODS if options.compare else ["CoMBo"]:
            models[name] = fit(name, METHODS[name](n_estimators=options.rounds), train, options.label, counter)
            predicted[name] = predict(name, models[name], test, options.label, counter)
        truth = test[options.label].compute()
        memory = client.run(measure_memory).values()
    console.print(f"\nRecall on held-out rows ({HELD_OUT_SHARE:.0%}): how much of each class is found")
    console.print(recall_table(truth, predicted))
    console.print(tell_memory(memory))
    console.print(save(models["CoMBo"], options.model))


def fit(name: str, model: Any, train: dd.DataFrame, label: str, counter: "TaskCounter") -> Any:
    """Fit a model: first the files are read a few times, then come the rounds."""
    counter.show(f"{name}: reading", N_PASSES)
    model.set_callbacks(RoundBar(name, counter))
    model.fit(train.drop(columns=label), train[label])
    return model.set_callbacks()  # none from here on: a bar cannot be saved


def predict(name: str, model: Any, test: dd.DataFrame, label: str, counter: "TaskCounter") -> Any:
    """The class of every held-out row: these alone come to this process."""
    counter.show(f"{name}: predicting")
    lazy = model.predict(test.drop(columns=label))  # a Dask array, of which nothing is computed yet
    predicted = lazy.compute()
    counter.finish()
    return predicted


def start_workers(options: argparse.Namespace, counter: "TaskCounter") -> LocalCluster:
    """Workers on this machine; where a scheduler runs elsewhere, ``Client("tcp://its-address:8786")`` is enough."""
    return LocalCluster(
        n_workers=options.workers,
        threads_per_worker=1,
        memory_limit=options.memory or (MADE_UP_LIMIT if options.folder is None else "auto"),
        dashboard_address=None,
        scheduler_kwargs={"plugins": [counter]},
    )


def ignore_interrupts() -> None:
    """Run on a worker: leave Ctrl-C to the process that started it, and that ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def find_files(folder: Path) -> list[Path]:
    """The files of a folder, all CSV or all Parquet."""
    if not folder.is_dir():
        raise MistakeError(f"There is no folder {folder}; give one with .csv or .parquet files in it.")
    found = {ending: sorted(folder.glob(f"*.{ending}")) for ending in WRITERS}
    kinds = [files for files in found.values() if files]
    if len(kinds) == 1:
        return kinds[0]
    counts = " and ".join(f"{len(files)} .{ending}" for ending, files in found.items())
    raise MistakeError(f"The folder {folder} has {counts} files; give one with files of exactly one of these kinds.")


def open_files(files: list[Path], label: str, dropped: list[str]) -> dd.DataFrame:
    """The table in some files, of which only the beginning is read. Text becomes categories."""
    if files[0].suffix == ".parquet":
        table = dd.read_parquet(files, split_row_groups="adaptive", blocksize=PART_BYTES)
        check_columns([label, *dropped], table.columns)
    else:
        head = pd.read_csv(files[0], nrows=SAMPLE_ROWS)
        check_columns([label, *dropped], head.columns)
        # Dask guesses the dtypes from ten rows, unless told otherwise. Where they hold integers, later ones may be
        # missing; but labels stay what they are.
        types = {"sample_rows": SAMPLE_ROWS, "assume_missing": True, "dtype": {label: head[label].dtype}}
        table = dd.read_csv(files, blocksize=PART_BYTES, **types)
    table = table.drop(columns=dropped)
    text = [name for name, dtype in table.dtypes.items() if is_string_dtype(dtype) or is_object_dtype(dtype)]
    return table.astype({name: "category" for name in text if name != label})


def check_columns(wanted: list[str], columns: Iterable[str]) -> None:
    """Raise where a column is not there."""
    for name in wanted:
        if name not in columns:
            raise MistakeError(f"There is no column {name!r}; there are {', '.join(map(str, columns))}.")


# What is shown.


def make_bars() -> Progress:
    """Progress bars, where there is somebody to look at them."""
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()
    return Progress(*columns, console=console, disable=not console.is_terminal)


class RoundBar:
    """A callback of scikit-learn that shows how many rounds are done."""

    def __init__(self, name: str, counter: "TaskCounter") -> None:
        self._name, self._counter, self._bars = name, counter, counter.bars

    def setup(self, estimator: Any, context: Any) -> None:
        """All files are read, and the rounds begin."""
        self._counter.finish()
        self._bar = self._bars.add_task(f"{self._name}: boosting", total=estimator.n_estimators)

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """A round, or the whole fit, begins."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """A round, or the whole fit, is done."""
        if context.parent is not None:
            self._bars.advance(self._bar)
        else:  # maybe with fewer rounds than asked for
            self._bars.update(self._bar, total=estimator.n_iter_, completed=estimator.n_iter_)

    def teardown(self, estimator: Any, context: Any) -> None:
        """The fit has ended, well or not."""


class TaskCounter(SchedulerPlugin):
    """Shows how many tasks of Dask are done. It runs inside the scheduler, which a LocalCluster has in this process."""

    def __init__(self, bars: Progress) -> None:
        self.bars = bars
        self._bar: Any = None

    def show(self, title: str, n_graphs: int = 1) -> None:
        """Show the tasks from now on, of about so many graphs as large as the first."""
        self._n_graphs, self._n_expected, self._n_known = n_graphs, 0, 0
        self._bar = self.bars.add_task(title, total=None)

    def finish(self) -> None:
        """All tasks that were to be shown are done."""
        if self._bar is not None:
            self.bars.update(self._bar, total=1, completed=1)
        self._bar = None

    def update_graph(self, scheduler: Any, *, tasks: list[Any], **_: Any) -> None:
        """Tasks have come in."""
        bar = self._bar
        if bar is not None:
            self._n_known += len(tasks)
            self._n_expected = max(self._n_expected or self._n_graphs * len(tasks), self._n_known)
            self.bars.update(bar, total=self._n_expected)

    def transition(self, key: Any, start: str, finish: str, *_: Any, **__: Any) -> None:
        """A task is in another state."""
        bar = self._bar  # read once: another thread may finish it meanwhile
        if bar is not None and start == "processing" and finish == "memory":
            self.bars.advance(bar)


class Memory(NamedTuple):
    """Bytes that a worker has taken at most, and those that it may take."""

    peak: int
    limit: int


def measure_memory(dask_worker: Any) -> Memory:
    """Run on a worker: its memory."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return Memory(1024 * int(status["VmHWM"].split()[0]), dask_worker.memory_manager.memory_limit)


def tell_sizes(files: list[Path], table: dd.DataFrame, memory: Iterable[Memory]) -> str:
    """How large the folder is, beside the workers."""
    n_bytes, limits = sum(file.stat().st_size for file in files), [worker.limit for worker in memory]
    compared = "more" if n_bytes > max(limits) else "less"
    return (
        f"{count(len(files), 'file')} of {mb(n_bytes)} in all, {compared} than the {mb(max(limits))} that a worker may "
        f"take: {count(len(table.columns), 'column')}, read in {count(table.npartitions, 'part')} by "
        f"{count(len(limits), 'worker')}."
    )


def tell_memory(memory: Iterable[Memory]) -> str:
    """What the workers have taken."""
    peaks = ", ".join(f"{mb(worker.peak)} of {mb(worker.limit)}" for worker in memory)
    return f"The most memory that the workers took: {peaks}."


def recall_table(truth: Any, predicted: dict[str, Any]) -> Table:
    """The share of each class that was found, also by who always says the largest one."""
    counts = truth.value_counts()
    predicted = {**predicted, f"always {counts.index[0]}": np.full(len(truth), counts.index[0])}
    table = Table("class", box=box.SIMPLE_HEAD)
    for heading in ("rows", *predicted):
        table.add_column(heading, justify="right")
    recalls = [recall_score(truth, given, labels=counts.index, average=None) for given in predicted.values()]
    for label, n_rows, *found in zip(counts.index, counts, *recalls, strict=True):
        table.add_row(str(label), f"{n_rows}", *(f"{recall:.3f}" for recall in found))
    table.add_section()
    table.add_row("mean", "", *(f"{np.mean(found):.3f}" for found in recalls))
    return table


def save(model: Any, path: Path) -> str:
    """Save a model that needs no Dask, and say how to use it."""
    joblib.dump(model.to_local(), path)
    return f"""The CoMBo model is saved, and needs no Dask. With rows in a pandas DataFrame:

    import joblib
    joblib.load("{path}").predict(rows)
"""


def count(number: int, noun: str) -> str:
    """So many of something."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def mb(n_bytes: int) -> str:
    """Bytes in MB."""
    return f"{n_bytes / 1e6:.0f} MB"


# Made-up files.


def made_up_folder(options: argparse.Namespace, scratch: Path, bars: Progress) -> Path:
    """A folder of made-up files, written one after the other, so that their rows are never in memory together."""
    folder = options.keep_in or scratch / "files"
    if folder.exists() and any(folder.iterdir()):
        raise MistakeError(f"The folder {folder} is not empty; give a new one, or an empty one.")
    folder.mkdir(parents=True, exist_ok=True)
    starts = range(0, options.rows, ROWS_PER_FILE)
    for i, start in enumerate(bars.track(starts, description="Writing files")):
        table = make_rows(np.random.default_rng([0, i]), min(ROWS_PER_FILE, options.rows - start))
        WRITERS[options.format](table, folder / f"{i:04}.{options.format}")
    return folder


def make_rows(random: np.random.Generator, n_rows: int) -> pa.Table:
    """Rows of four classes, large to small: numbers, of which some are missing, and who made it."""
    classes = list(SHARES)
    labels = random.choice(len(classes), n_rows, p=list(SHARES.values()))
    shifts = np.random.default_rng(0).normal(size=(len(classes), N_TELLING))  # the same in all files
    numbers = random.normal(size=(n_rows, N_NUMBERS))
    numbers[:, :N_TELLING] += shifts[labels]
    numbers[:, ::5][random.random((n_rows, N_NUMBERS // 5)) < 0.1] = np.nan
    columns = {f"number {f}": pa.array(numbers[:, f].round(4), from_pandas=True) for f in range(N_NUMBERS)}
    bounds = np.cumsum([SHARES_OF_MAKERS[name] for name in classes], axis=1)[labels]
    makers = (random.random((n_rows, 1)) > bounds[:, :-1]).sum(axis=1)
    return pa.table({**columns, "maker": MAKERS[makers], LABEL: np.array(classes)[labels]})


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write a Parquet file with numbers as they are: in memory they are as large."""
    pyarrow.parquet.write_table(table, path, use_dictionary=["maker", LABEL], compression="none")


WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {"csv": pyarrow.csv.write_csv, "parquet": write_parquet}


def positive(text: str) -> int:
    """A number from 1 on."""
    if (number := int(text)) < 1:
        raise ValueError
    return number


def read_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="your own .csv or .parquet files; needs --label")
    parser.add_argument("--label", metavar="COLUMN", help="the column of your files that holds the classes")
    parser.add_argument("--drop", metavar="COLUMN", action="append", default=[], help="a column to leave out")
    parser.add_argument("--format", choices=WRITERS, default="parquet", help="of made-up files (default: parquet)")
    parser.add_argument("--rows", type=positive, default=3_500_000, help="made-up rows (default: 3500000)")
    parser.add_argument("--keep-in", type=Path, metavar="FOLDER", help="write made-up files here, and keep them")
    parser.add_argument("--rounds", type=positive, default=50, help="rounds of boosting (default: 50)")
    parser.add_argument("--compare", action="store_true", help="fit AdaBoost.MM, too, which takes as long again")
    parser.add_argument("--workers", type=positive, default=2, help="worker processes (default: 2)")
    parser.add_argument("--memory", help=f"of each worker, such as 2GB (default: {MADE_UP_LIMIT}; all with own files)")
    parser.add_argument(
        "--model", type=Path, default=Path("combo.joblib"), help="where to save (default: combo.joblib)"
    )
    options = parser.parse_args(arguments)
    if (options.folder is None) != (options.label is None):
        parser.error("a folder of your own and --label belong together: give both, or neither")
    if not options.model.parent.is_dir():
        parser.error(f"there is no folder {options.model.parent} to save the model in")
    options.label = options.label or LABEL
    return options


if __name__ == "__main__":  # the workers import this file, too
    sys.exit(main())
