"""One fold. In: a task. Out: the measures of a classifier on rows that it has not seen, as plain data."""

from collections.abc import Iterable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from comboost.metrics import confusion_norm_loss, geometric_mean_score, mauc_score
from comboost.study._methods import METHODS, Method
from comboost.study._problems import ClassificationProblem, load_problem
from comboost.study._selection import choose_setting, count_inner_fits
from comboost.study._study import Study

# Of one round of one fit on one core, measured; only the order of the tasks and the time left come from it.
SECONDS_PER_ROUND = 1e-4
SECONDS_PER_CELL = 6e-9

SPLIT, FIT = 1, 2  # what a seed is for: equal keys would be equal seeds


class Task(NamedTuple):
    """One fold of one run of one method on one data set."""

    dataset: str
    method: str
    run: int
    fold: int


def list_tasks(datasets: Iterable[str], methods: Iterable[str], n_runs: int, study: Study) -> list[Task]:
    """List what has to be done, without the methods that do not run on a data set.

    Examples
    --------
    >>> from comboost.study import Study, list_tasks
    >>> len(list_tasks(["glass", "connect-4"], ["CoMBo", "SMOTEBoost"], 10, Study()))
    150
    """
    methods = list(methods)
    return [
        Task(dataset, method, run, fold)
        for dataset in datasets
        for method in methods
        if dataset in METHODS[method].datasets
        for run in range(n_runs)
        for fold in range(study.n_folds)
    ]


def run_task(task: Task, study: Study) -> dict[str, Any]:
    """Choose a setting, fit, predict and measure, on one thread.

    Parameters
    ----------
    task : Task
        Which fold.
    study : Study
        The numbers of the experiment.

    Returns
    -------
    dict
        Plain data: the task, the measures, counts (truth in rows), the setting taken, and seconds.

    Examples
    --------
    >>> from comboost.study import Study, Task, run_task
    >>> result = run_task(Task("new-thyroid", "CoMBo depth 2 gini", 0, 0), Study(n_rounds=5))
    >>> result["classes"], result["class_counts"]
    (['hyper', 'hypo', 'normal'], [35, 30, 150])
    >>> sum(map(sum, result["counts"]))  # the rows of a fifth of the data set
    43
    """
    method, problem = METHODS[task.method], load_problem(task.dataset)
    train, test = split(problem.y, study, task.run)[task.fold]
    seed = draw_seed(study.seed, FIT, task.run, task.fold)
    with threadpool_limits(1):
        started = perf_counter()
        X, y = problem.X[train], problem.y[train]
        setting, candidates = choose_setting(method, X, y, problem.categorical, seed=seed, study=study)
        chosen = perf_counter()
        fitted = method.make(setting, problem.categorical, seed, study).fit(X, y)
        fit = perf_counter()
        predicted = fitted.predict(problem.X[test])
        done = perf_counter()
        measures = measure_fold(method, fitted, problem, test, predicted)
    return {
        **task._asdict(),
        "measures": measures,
        "classes": problem.classes.tolist(),
        "class_counts": problem.class_counts.tolist(),
        "counts": confusion_matrix(problem.y[test], predicted, labels=problem.classes).tolist(),
        "setting": setting,
        "candidates": candidates,
        "n_iter": count_rounds(fitted),
        "seconds": {"choose": chosen - started, "fit": fit - chosen, "predict": done - fit},
    }


def split(y: NDArray[Any], study: Study, run: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Cut the rows into stratified folds: training and test rows of each, the same for all methods."""
    folds = StratifiedKFold(study.n_folds, shuffle=True, random_state=draw_seed(study.seed, SPLIT, run))
    return list(folds.split(y, y))


def estimate_seconds(task: Task, study: Study) -> float:
    """Estimate how long a task will take on one core."""
    method, problem = METHODS[task.method], load_problem(task.dataset)
    share = 1 - 1 / study.n_folds
    n_candidates = len(method.candidates_for(problem.categorical))
    n_fits = 1 + count_inner_fits(n_candidates, int(share * problem.class_counts.min()))
    per_round = SECONDS_PER_ROUND + SECONDS_PER_CELL * share * problem.X.size
    return n_fits * (study.n_rounds * per_round * method.work + method.overhead)


def draw_seed(*key: int) -> int:
    """Draw a seed that depends on the key alone, not on what else was drawn before."""
    return int(np.random.SeedSequence(key).generate_state(1)[0])


def measure_fold(
    method: Method, fitted: Any, problem: ClassificationProblem, test: NDArray[np.intp], predicted: NDArray[Any]
) -> dict[str, float]:
    """Measure what a fitted classifier predicts for the test rows."""
    X, y, classes = problem.X[test], problem.y[test], problem.classes
    measures = {
        "confusion_norm": confusion_norm_loss(y, predicted, labels=classes),
        "accuracy": float(np.mean(predicted == y)),
        "g_mean": geometric_mean_score(y, predicted, labels=classes),
    }
    for name, proba in (("mauc", "vote_fraction"), ("mauc_softmax", "softmax")):
        # A method that has only one kind of probabilities has the same figure twice.
        asked = fitted.set_params(proba=proba) if method.has_votes else fitted
        measures[name] = mauc_score(y, asked.predict_proba(X), labels=classes)
    return measures


def count_rounds(fitted: Any) -> int | None:
    """Count the rounds that a booster kept; a forest has none."""
    n_iter = getattr(fitted, "n_iter_", None)
    return None if n_iter is None else int(n_iter)
