"""One fold: choose a setting of the weak learner, fit, predict, measure.

Settings are chosen on the training samples of the fold, which are split into `N_PARTS` stratified parts. Every
candidate is fitted on all parts but one and predicts that one; if a part has many samples of every class, one part is
enough. The candidate with the smallest norm of the confusion matrix replaces the first, the default of the method, only
if its lead exceeds a standard error: its norm must be smaller in a fraction of `MIN_WINS` of `N_RESAMPLES` bootstrap
samples. All methods follow the same rule.
"""

from collections.abc import Iterable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from comboost._types import Floats
from comboost.metrics import confusion_norm_loss, geometric_mean_score, mauc_score
from comboost.study._experiment import ClassificationProblem, Study, load_problem
from comboost.study._methods import METHODS, Method, Setting

# Measured on one core; they only affect the order of the tasks and the estimated time.
SECONDS_PER_ROUND = 1e-4
SECONDS_PER_CELL = 6e-9

N_PARTS = 4  # the smallest class of all, in yeast, has 4 training samples then
ENOUGH_SAMPLES = 50  # of the smallest class in a part
N_RESAMPLES = 200
MIN_WINS = 0.84  # probability that a normal variable is less than a standard error above its mean

SPLIT, FIT = 1, 2  # purposes of a seed

Indices = tuple[NDArray[np.intp], NDArray[np.intp]]  # of training and test samples


class Task(NamedTuple):
    """One fold of one run of one method on one data set."""

    dataset: str
    method: str
    run: int
    fold: int


def list_tasks(datasets: Iterable[str], methods: Iterable[str], n_runs: int, study: Study) -> list[Task]:
    """List all tasks, without methods that do not run on a data set.

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
        The fold.
    study : Study
        Numbers of the experiment.

    Returns
    -------
    dict
        Plain data: the task, the measures, confusion counts, the chosen setting, and seconds.

    Examples
    --------
    >>> from comboost.study import Study, Task, run_task
    >>> result = run_task(Task("new-thyroid", "CoMBo depth 2 gini", 0, 0), Study(n_rounds=5))
    >>> result["classes"], result["class_counts"]
    (['hyper', 'hypo', 'normal'], [35, 30, 150])
    >>> sum(map(sum, result["counts"]))  # a fifth of the data set
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
    n_iter = getattr(fitted, "n_iter_", None)  # forests have none
    return {
        **task._asdict(),
        "measures": measures,
        "classes": problem.classes.tolist(),
        "class_counts": problem.class_counts.tolist(),
        "counts": confusion_matrix(problem.y[test], predicted, labels=problem.classes).tolist(),
        "setting": setting,
        "candidates": candidates,
        "n_iter": None if n_iter is None else int(n_iter),
        "seconds": {"choose": chosen - started, "fit": fit - chosen, "predict": done - fit},
    }


def split(y: NDArray[Any], study: Study, run: int) -> list[Indices]:
    """Stratified folds, the same for all methods."""
    folds = StratifiedKFold(study.n_folds, shuffle=True, random_state=draw_seed(study.seed, SPLIT, run))
    return list(folds.split(y, y))


def draw_seed(*key: int) -> int:
    """A seed that only depends on the key."""
    return int(np.random.SeedSequence(key).generate_state(1)[0])


def measure_fold(
    method: Method, fitted: Any, problem: ClassificationProblem, test: NDArray[np.intp], predicted: NDArray[Any]
) -> dict[str, float]:
    """Measures of a fitted classifier on the test samples."""
    X, y, classes = problem.X[test], problem.y[test], problem.classes
    measures = {
        "confusion_norm": confusion_norm_loss(y, predicted, labels=classes),
        "accuracy": float(np.mean(predicted == y)),
        "g_mean": geometric_mean_score(y, predicted, labels=classes),
    }
    for name, proba in (("mauc", "vote_fraction"), ("mauc_softmax", "softmax")):
        # Methods without this parameter have the same value twice.
        model = fitted.set_params(proba=proba) if method.has_proba_parameter else fitted
        measures[name] = mauc_score(y, model.predict_proba(X), labels=classes)
    return measures


def estimate_seconds(task: Task, study: Study) -> float:
    """Estimated time of a task on one core."""
    method, problem = METHODS[task.method], load_problem(task.dataset)
    train_fraction = 1 - 1 / study.n_folds
    n_candidates = len(method.candidates_for(problem.categorical))
    n_fits = 1 + count_inner_fits(n_candidates, int(train_fraction * problem.class_counts.min()))
    per_round = SECONDS_PER_ROUND + SECONDS_PER_CELL * train_fraction * problem.X.size
    return n_fits * (study.n_rounds * per_round * method.work + method.overhead)


# Choice of a setting


def choose_setting(
    method: Method, X: Floats, y: NDArray[Any], categorical: tuple[int, ...], *, seed: int, study: Study
) -> tuple[Setting, list[dict[str, Any]]]:
    """Choose a candidate on training samples; also return the norm of every candidate, unless there is only one."""
    candidates = method.candidates_for(categorical)
    if len(candidates) == 1:
        return candidates[0], []
    n_smallest = int(np.unique(y, return_counts=True)[1].min())
    folds = StratifiedKFold(N_PARTS, shuffle=True, random_state=seed).split(X, y)
    parts = list(folds)[: count_parts(n_smallest)]
    true = np.concatenate([y[test] for _, test in parts])
    predicted_by_setting = []
    for setting in candidates:
        predicted_parts = []
        for train, test in parts:
            fitted = method.make(setting, categorical, seed, study).fit(X[train], y[train])
            predicted_parts.append(fitted.predict(X[test]))
        predicted_by_setting.append(np.concatenate(predicted_parts))
    predictions = np.stack(predicted_by_setting)
    norms = [confusion_norm_loss(true, predicted, labels=np.unique(y)) for predicted in predictions]
    resampled = resample_norms(true, predictions, np.random.default_rng(seed))
    judged = [{"setting": setting, "norm": norm} for setting, norm in zip(candidates, norms, strict=True)]
    return candidates[choose_candidate(norms, resampled)], judged


def count_parts(n_smallest: int) -> int:
    """Number of parts to predict if the smallest class has that many samples."""
    return 1 if n_smallest // N_PARTS >= ENOUGH_SAMPLES else N_PARTS


def count_inner_fits(n_candidates: int, n_smallest: int) -> int:
    """Number of fits to choose a candidate if the smallest class has that many samples."""
    return n_candidates * count_parts(n_smallest) if n_candidates > 1 else 0


def resample_norms(true: NDArray[Any], predictions: NDArray[Any], rng: np.random.Generator) -> Floats:
    """Norms of the confusion matrices of all candidates on the same bootstrap samples within every class.

    ``predictions`` has a row per candidate, and so has the result, with a column per bootstrap sample.
    """
    labels = np.unique(true)
    confusions = np.zeros((len(predictions), N_RESAMPLES, len(labels), len(labels)))
    for k, label in enumerate(labels):
        # Samples with the same predictions of all candidates need not be distinguished.
        distinct, counts = np.unique(predictions[:, true == label], axis=1, return_counts=True)
        drawn = rng.multinomial(counts.sum(), counts / counts.sum(), size=N_RESAMPLES) / counts.sum()
        for candidate, predicted in enumerate(distinct):
            confusions[candidate, :, k] = drawn @ (predicted[:, np.newaxis] == labels)
        confusions[:, :, k, k] = 0.0
    norms: Floats = np.linalg.norm(confusions, 2, axis=(2, 3))
    return norms


def choose_candidate(norms: list[float], resampled: Floats) -> int:
    """Index of the candidate with the smallest norm if its lead is clear, else 0."""
    best = int(np.argmin(norms))
    return best if np.mean(resampled[best] < resampled[0]) >= MIN_WINS else 0
