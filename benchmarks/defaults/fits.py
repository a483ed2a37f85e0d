"""One fit. In: a problem, a fold, and a setting or a peer. Out: its time, and its measures at every checkpoint."""

from time import perf_counter
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

from benchmarks.defaults.bags import stages_of
from benchmarks.defaults.grid import checkpoints_of
from benchmarks.defaults.measures import MEASURES, measure
from benchmarks.defaults.problems import PROBLEMS, load_rows, split_rows
from benchmarks.defaults.settings import BAGS, Setting, make_classifier, make_peer

PEER_ROUNDS = 100  # of LightGBM; the forest has 100 trees


class Task(NamedTuple):
    """One fold of a problem for one setting, or for a peer, which has none."""

    problem: str
    method: str  # the name of a setting or of a peer
    fold: int
    setting: Setting | None

    @property
    def work(self) -> float:
        """How much there is to do, in a unit of its own: for the time left."""
        problem = PROBLEMS[self.problem]
        most_bins = (self.setting or {}).get("max_bins", 255)
        bins = min(most_bins, problem.n_training_rows / 20)  # few rows have few nodes whose bins are searched
        work = problem.n_features * (problem.n_training_rows + 16 * bins * problem.n_classes) + 20_000
        return work if self.setting is None else work * self.setting[BAGS] ** 0.5


def run_task(task: Task) -> dict[str, Any]:
    """Fit and measure."""
    X, y = load_rows(task.problem)
    train, test = split_rows(task.problem)[task.fold]
    rounds = (PEER_ROUNDS,) if task.setting is None else checkpoints_of(task.setting)
    model = (
        make_peer(task.method, task.fold)
        if task.setting is None
        else make_classifier(task.setting, rounds[-1], task.fold)
    )
    with threadpool_limits(1):
        started = perf_counter()
        model.fit(X[train], y[train])
        seconds = perf_counter() - started
        stages = [model.predict_proba(X[test])] if task.setting is None else stages_of(model, X[test], rounds)
        found = [measure(y[test], proba) for proba in stages]
    return {
        "problem": task.problem,
        "method": task.method,
        "fold": task.fold,
        "seconds": round(seconds, 3),
        "n_iter": PEER_ROUNDS if task.setting is None else int(model.n_iter_),
        "rounds": list(rounds),
        **{name: [figures[name] for figures in found] for name in MEASURES},
    }
