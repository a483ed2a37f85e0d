"""The paper's experiment: cross-validated results of all methods, and the paper's tables beside ours.

In the order of the data: `_experiment` (data sets, the paper's numbers), `_methods` (classifiers), `_folds` (one fold:
choose a setting, fit, measure), `_running` (many folds in parallel), `_store` (stored results and what they
depend on), `_results` (means and comparisons), `_tables`, `_report` (all of it as one dict), `_rendering`
(Markdown, CSV, LaTeX). ``comboost reproduce`` runs it.
"""

from comboost.study._experiment import DATASETS, SMALL_DATASETS, Study, find_dataset, load_problem, read_paper
from comboost.study._folds import Task, list_tasks, run_task
from comboost.study._methods import METHODS, find_method
from comboost.study._rendering import render_files
from comboost.study._report import make_report
from comboost.study._running import run_tasks
from comboost.study._store import Store, StoreError, describe

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
