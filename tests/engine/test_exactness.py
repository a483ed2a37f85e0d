"""The same bytes, however they were computed: threads, vectors, blocks of rows, processes."""

import dataclasses
import itertools
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache, reduce

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models import CLASSIFIERS, booster_for, fit, model_bytes
from strategies import Problem, any_problems, problems, vote_problems

from comboost import CoMBoClassifier, ConfusionBoostingClassifier, _core
from comboost._boosting.learners import TreeLearner
from comboost._boosting.loop import boost
from comboost._data.validation import TrainingSet, read_table
from comboost._distributed.rows import DistributedRows
from comboost._distributed.steps import ShardState, add
from comboost._engine.binning import bin_table
from comboost._engine.rows import ShardRows, make_grower

FEW = settings(max_examples=settings.default.max_examples // 2)  # of each of many laws
MODEL_SCRIPT = """
import hashlib, sys
import numpy as np
from comboost import CoMBoClassifier, ConfusionBoostingClassifier

random = np.random.default_rng(5)
X = random.normal(size=(5000, 6))
y = (X[:, :3] + random.normal(size=(5000, 3))).argmax(axis=1)

def digest(n_jobs):
    models = [cls(n_estimators=8, n_jobs=n_jobs).fit(X, y) for cls in (CoMBoClassifier, ConfusionBoostingClassifier)]
    parts = [part for model in models for part in (model._forest.nodes, model.loss_curve_, model.edges_)]
    parts += [models[0].estimator_weights_, models[1]._forest.leaf_values]
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()
"""


OTHER_PROCESS = """
import os, signal
from comboost._boosting.monitor import RoundCounter

print(digest(1), digest(2))
if sys.platform != "linux":
    sys.exit()

reader, writer = os.pipe()
if os.fork() == 0:
    os.write(writer, digest(2).encode())
    os._exit(0)
os.wait()
print(os.read(reader, 1000).decode())

model = CoMBoClassifier(n_estimators=3, n_jobs=2).fit(X, y)
n_threads = len(os.listdir("/proc/self/task"))
model.set_params(n_estimators=10**9)
try:
    model.set_callbacks(RoundCounter(lambda n: n == 5 and os.kill(os.getpid(), signal.SIGINT)))
    model.fit(X, y)
except KeyboardInterrupt:
    print("interrupted", model.n_iter_, len(os.listdir("/proc/self/task")) <= n_threads)
"""


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the other process forks, and counts threads in /proc")


@pytest.fixture(scope="module")
def digest():
    """The function that the other process runs."""
    namespace = {}
    exec(MODEL_SCRIPT, namespace)
    return cache(namespace["digest"])


@pytest.fixture(scope="module")
def other_process():
    """The words that another process says: of itself, of its forked child and of its interrupted fit."""
    command = [sys.executable, "-c", MODEL_SCRIPT + OTHER_PROCESS]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return [line.split() for line in done.stdout.splitlines()]


class Blocks:
    """Samples cut into blocks, each of which knows only its own; their results are added up, as those of shards."""

    def __init__(self, blocks):
        self.shards = [ShardState(block) for block in blocks]

    def run(self, step):
        return reduce(add, (step.run(shard) for shard in self.shards))


def fit_in_blocks(problem, cuts):
    """What the classifier does, with the samples in blocks: nodes, leaf values, weights, edges and losses."""
    booster = booster_for(problem)
    settings = booster._settings()
    raw = read_table(booster, problem.X, reset=True)
    data = TrainingSet.read(problem.y, problem.sample_weight, raw.shape[0])
    raw = raw if data.rows is None else raw.take(data.rows)
    _, _, bins, codes = bin_table(
        raw, settings.categorical_features, data.weights, settings.max_bins, 1, lambda _: None
    )
    n_classes = len(data.candidates.classes)
    seed = booster._seed(settings, raw.shape[0], data.candidates.classes, None)
    plan = booster._plan(settings, raw.shape[0], data.candidates, data.weight_sums, seed, 1, by_class=False)
    rules, loss = booster._tree_rules(settings, plan, bins.n_features), plan.values.objective.loss
    blocks = [
        ShardRows(
            data.labels[part],
            None if data.weights is None else data.weights[part],
            loss,
            np.ascontiguousarray(codes[:, part]),
            make_grower(bins, n_classes, rules),
            1,
        )
        for part in np.split(np.arange(len(data.labels)), cuts)
    ]
    learner = TreeLearner(bins.kinds, n_classes, rules.smoothing)
    rows = DistributedRows(Blocks(blocks), loss, make_grower(bins, n_classes, rules), rules, 1)
    history = boost(rows, learner, plan.values, settings.n_estimators)
    return bits_of(learner.forest(history.alphas)), history.edges, history.losses


def leafy_problem(*, weighted=False, **settings):
    """Noise, on which trees have many leaves."""
    random = np.random.default_rng(3)
    X = random.normal(size=(900, 7)).round(1)
    X[random.random(X.shape) < 0.05] = np.nan
    X[:, 0] = random.integers(12, size=len(X))
    settings = {"algorithm": "confusion", "n_estimators": 2, "max_bins": 40} | settings
    if settings["algorithm"] == "confusion":
        settings = {"smoothing": 10.0, "learning_rate": 0.3} | settings
    weights = random.uniform(size=len(X)) if weighted else None
    return Problem(X, random.integers(4, size=len(X)), weights, settings=settings, categorical=(0,))


def bits_of(forest):
    votes = np.empty(0) if forest.leaf_values is None else forest.leaf_values
    return forest.nodes.tobytes(), forest.sets.tobytes(), votes.tobytes(), forest.weights.tobytes()


@FEW
@given(problem=any_problems() | any_problems(missing=True, categories=True), data=st.data())
def test_rows_in_blocks_give_the_same_bits(problem, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(problem.y)), max_size=4)))
    model = fit(problem)
    assert fit_in_blocks(problem, cuts) == (bits_of(model._forest), model.edges_.tolist(), model.loss_curve_.tolist())


def fit_by(problem, small_share, packed_bytes, budget):
    """The model of a problem whose nodes are searched as these limits say."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("comboost._engine.rows.SMALL_SHARE", small_share)
        patch.setattr("comboost._engine.rows.PACKED_BYTES", packed_bytes)
        patch.setattr("comboost._engine.rows.HISTOGRAM_BUDGET", budget)
        return fit(problem)


SEARCHES = list(
    itertools.product(
        (0.0, 1.0, np.inf),  # every node by its histogram, each as suits it, every node by its rows
        (0, 2**19),  # histograms counted by all threads together, or by one
        (1, 2**28),  # histograms dropped, or kept
    )
)


@FEW
@given(
    problem=any_problems() | any_problems(missing=True, categories=True),
    search=st.sampled_from(SEARCHES),
)
def test_nodes_searched_by_rows_and_by_histograms_give_the_same_bits(problem, search):
    model = fit_by(problem, *search)
    assert fit_in_blocks(problem, []) == (bits_of(model._forest), model.edges_.tolist(), model.loss_curve_.tolist())


@pytest.mark.parametrize(
    "settings",
    [
        {"max_depth": None},
        {"max_depth": 7, "max_features": 0.4},
        {"max_leaf_nodes": 70, "max_depth": None},
        {"max_leaf_nodes": 60, "max_depth": 6, "min_samples_leaf": 3, "weighted": True},
        {"algorithm": "combo", "max_depth": 9, "max_bins": 255},
    ],
    ids=str,
)
def test_trees_of_many_leaves_are_the_same_however_nodes_are_searched(settings):
    problem = leafy_problem(**settings)
    models = [fit_by(problem, *search) for search in SEARCHES]
    assert len(models[0]._forest.nodes) > 2 * 64
    assert len({model_bytes(model) for model in models}) == 1
    assert fit_in_blocks(problem, [])[0] == bits_of(models[0]._forest)


@FEW
@given(problem=any_problems() | any_problems(missing=True, categories=True))
def test_narrow_and_wide_vectors_give_the_same_bits(problem):
    wide = model_bytes(fit(problem))
    _core.allow_wide_vectors(False)
    try:
        assert model_bytes(fit(problem)) == wide
    finally:
        _core.allow_wide_vectors(True)


@pytest.mark.parametrize("algorithm", ["combo", "confusion"])
@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 8, 9, 17, 33])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("min_samples_leaf", [1, 3])
def test_vectors_and_threads_give_the_same_bits_for_any_number_of_classes(
    algorithm, n_classes, weighted, min_samples_leaf
):
    n_samples = 4200  # more than the 4096 that a thread takes at a time
    random = np.random.default_rng(n_classes)
    X = random.normal(size=(n_samples, 3))
    y = np.concatenate([np.arange(n_classes), random.integers(n_classes, size=n_samples - n_classes)])
    weights = random.uniform(size=n_samples) if weighted else None
    booster = CLASSIFIERS[algorithm](n_estimators=2, max_bins=60, min_samples_leaf=min_samples_leaf)
    models = set()
    for wide, n_jobs in ((True, 1), (True, 7), (False, 2)):
        _core.allow_wide_vectors(wide)
        models.add(model_bytes(booster.set_params(n_jobs=n_jobs).fit(X, y, weights)))
    _core.allow_wide_vectors(True)
    assert len(models) == 1


@FEW
@given(problem=problems(weighted=False) | vote_problems(weighted=False, fixed={"smoothing": 0.0}))
def test_largest_weights_leave_the_sums_exact(problem):
    # Equal weights that add up to nearly 2^32 are the unweighted rows scaled up as far as they go.
    heaviest = dataclasses.replace(problem, sample_weight=np.full(len(problem.y), 2.0**1000))
    assert model_bytes(fit(heaviest)) == model_bytes(fit(problem))


def test_fresh_process_gives_the_same_bits(digest, other_process):
    assert other_process[0] == [digest(1)] * 2


@on_linux
def test_forked_child_of_a_threaded_parent_gives_the_same_bits(digest, other_process):
    assert other_process[1] == [digest(1)]


@on_linux
def test_interrupted_fit_ends_and_leaves_the_estimator_and_its_threads_as_they_were(other_process):
    assert other_process[2] == ["interrupted", "3", "True"]


def test_python_threads_at_once_give_the_same_bits(digest):
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(digest.__wrapped__, [1, 2, 2, 7, 1, 2])) == {digest(1)}


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_jobs_of_joblib_give_the_same_bits(backend):
    X = np.random.default_rng(0).normal(size=(500, 3))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    boosters = [cls(n_estimators=5, n_jobs=2) for cls in (CoMBoClassifier, ConfusionBoostingClassifier)]
    jobs = (joblib.delayed(booster.fit)(X, y) for booster in 2 * boosters)
    models = joblib.Parallel(n_jobs=2, backend=backend)(jobs)
    assert [model_bytes(model) for model in models] == 2 * [model_bytes(booster.fit(X, y)) for booster in boosters]
