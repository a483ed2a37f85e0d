"""The paper's experiment. In: data sets and methods. Out: results fold by fold, and the paper's tables.

In the order of the data: `_problems` (rows), `_methods` (classifiers), `_selection` (which depth and criterion),
`_folds` (one fold, measured), `_running` (many at once), `_settings` and `_store` (what is kept, and what it depends
on), `_results` and `_significance` (means and comparisons), `_tables` and `_verdicts` (what the paper shows, ours
beside it), `_report` (all of it as one dict), `_rendering` and `_summary` (Markdown, CSV, LaTeX). ``comboost
reproduce`` is the command that runs it.
"""

from comboost.study._folds import Task, list_tasks, run_task
from comboost.study._methods import METHODS, find_method
from comboost.study._paper import read_paper
from comboost.study._problems import DATASETS, SMALL_DATASETS, find_dataset, load_problem
from comboost.study._rendering import render_files
from comboost.study._report import make_report
from comboost.study._running import run_tasks
from comboost.study._settings import describe
from comboost.study._store import Store, StoreError
from comboost.study._study import Study

__all__ = [
    "DATASETS",
    "METHODS",
    "SMALL_DATASETS",
    "Store",
    "StoreError",
    "Study",
    "Task",
    "describe",
    "find_dataset",
    "find_method",
    "list_tasks",
    "load_problem",
    "make_report",
    "read_paper",
    "render_files",
    "run_task",
    "run_tasks",
]
