"""``python -m benchmarks.defaults``: fits settings on problems (run), and says which one is best (table)."""

import argparse
import sys
from collections.abc import Callable

from benchmarks._lib.command import exit_code
from benchmarks._lib.page import write_page
from benchmarks.defaults import keel
from benchmarks.defaults.figures import gather
from benchmarks.defaults.grid import GROUPS, pick_settings
from benchmarks.defaults.page import render_page
from benchmarks.defaults.problems import FAMILIES, PROBLEMS, SIZES, Keel, Problem, pick_problems
from benchmarks.defaults.running import list_open_tasks, list_tasks, run_tasks
from benchmarks.defaults.settings import Setting
from benchmarks.defaults.store import RESULTS, Store

PAGE = RESULTS / "tables.md"


def read_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.defaults", description=__doc__.partition(": ")[2])
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="fit what has not been fitted yet")
    run.add_argument("--jobs", type=int, default=1, help="processes, of one thread each (1)")
    run.add_argument("--again", action="store_true", help="also what another build of comboost has fitted")
    table = commands.add_parser("table", help=f"print the tables and write them to {PAGE.name}")
    listing = commands.add_parser("list", help="say which problems and settings there are, and what is done")
    for command in (run, table, listing):
        command.add_argument("--only", action="append", default=[], choices=SIZES, help="problems of this size")
        command.add_argument("--family", action="append", default=[], choices=FAMILIES, help="of this family")
        command.add_argument("--problems", nargs="+", default=[], choices=PROBLEMS, metavar="NAME", help="these alone")
        command.add_argument(
            "--settings", nargs="+", default=[], choices=GROUPS, metavar="NAME", help=f"groups: {', '.join(GROUPS)}"
        )
    return parser.parse_args(arguments)


def run(problems: list[Problem], settings: dict[str, Setting], n_jobs: int, *, again: bool) -> bool:
    """Fit what has not been fitted yet; whether all could be fitted."""
    if any(isinstance(problem, Keel) for problem in problems):
        try:
            keel.tables_folder()
        except ImportError as error:  # once, and not for every fit
            print(f"{error} Or pick other problems with --family.", file=sys.stderr)
            return False
    store = Store()
    return run_tasks(list_open_tasks(list_tasks(problems, settings), store, again=again), store, n_jobs)


def show_tables(problems: list[Problem], settings: dict[str, Setting]) -> bool:
    """Print and write the tables; whether there is anything to show."""
    figures = gather(Store().read_means(), problems, settings)
    if not figures.candidates:
        print("no setting has results on all problems that were tried; run some first", file=sys.stderr)
        return False
    page = render_page(figures)
    print(page)
    write_page(PAGE, "python -m benchmarks.defaults table", page)
    return True


def show_list(problems: list[Problem], settings: dict[str, Setting]) -> bool:
    """Print the problems with the fits that are done, and the settings."""
    tasks = list_tasks(problems, settings)
    todo = [task.problem for task in list_open_tasks(tasks, Store())]
    total = [task.problem for task in tasks]
    for problem in problems:
        n_fits = total.count(problem.name)
        done = n_fits - todo.count(problem.name)
        print(f"{problem.size:<8}{problem.name:<22}{done} of {n_fits} fits are done")
    print("", *settings, sep="\n")
    return True


def main() -> int:
    options = read_arguments()
    problems = [
        problem
        for problem in pick_problems(options.only, options.family)
        if not options.problems or problem.name in options.problems
    ]
    settings = pick_settings(options.settings)
    commands: dict[str, Callable[[], bool]] = {
        "run": lambda: run(problems, settings, options.jobs, again=options.again),
        "table": lambda: show_tables(problems, settings),
        "list": lambda: show_list(problems, settings),
    }
    return exit_code(commands[options.command], "the fits that were done are stored")


if __name__ == "__main__":
    sys.exit(main())
