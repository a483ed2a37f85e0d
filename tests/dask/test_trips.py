"""What travels in a round: one trip per level, one histogram per split and wire, and no tasks at all."""

import numpy as np
import pytest
from clusters import cut
from distributed.diagnostics.plugin import SchedulerPlugin

from comboost._distributed.steps import SplitStep, SumLeavesStep, UpdateStep
from comboost._distributed.survey import PartLocation
from comboost.dask import DaskCoMBoClassifier, DaskConfusionBoostingClassifier
from comboost.dask._shard_group import ShardGroup, assign_parts
from comboost.datasets import load_yeast


@pytest.fixture
def trips(monkeypatch):
    """All steps that are run, each with its result."""
    steps = []
    run = ShardGroup.run

    def recording(shards, step):
        result = run(shards, step)
        steps.append((step, result))
        return result

    monkeypatch.setattr(ShardGroup, "run", recording)
    return steps


def fit(client, classifier=DaskCoMBoClassifier, **parameters):
    X, y = load_yeast(return_X_y=True)
    return classifier(client=client, **parameters).fit(cut(X, 200), cut(y, 200))


def kinds_of(trips):
    return [type(step).__name__ for step, _ in trips]


@pytest.mark.parametrize("max_depth", [1, 2, 4])
def test_round_takes_one_trip_per_level(client, trips, max_depth):
    fit(client, n_estimators=5, max_depth=max_depth)
    one_round = ["UpdateStep", *["SplitStep"] * (max_depth - 1)]
    assert kinds_of(trips) == [*one_round * 5, "UpdateStep", "ConfusionStep"]


@pytest.mark.parametrize(
    ("limits", "n_splits"),
    [({"max_depth": 3}, 2), ({"max_leaf_nodes": 6}, 4)],
    ids=["one trip per level", "one trip per split but the last"],
)
def test_leaf_values_take_one_trip_more(client, trips, limits, n_splits):
    fit(client, DaskConfusionBoostingClassifier, n_estimators=3, smoothing=10, **limits)
    one_round = ["UpdateStep", *["SplitStep"] * n_splits, "SumLeavesStep"]
    assert kinds_of(trips) == [*one_round * 3, "UpdateStep", "ConfusionStep"]


@pytest.mark.parametrize("classifier", [DaskCoMBoClassifier, DaskConfusionBoostingClassifier])
def test_one_histogram_per_split_and_the_root_travel(client, trips, classifier):
    fit(client, classifier, n_estimators=3, max_depth=3)
    for step, result in trips:
        if isinstance(step, SplitStep):
            assert len(result) == len(step.splits)
        elif isinstance(step, UpdateStep) and step.with_root:
            assert len(result.root) == 1


def test_leaf_values_travel_only_as_factors(client, trips):
    fit(client, DaskConfusionBoostingClassifier, n_estimators=3, max_depth=2)
    trees = [step.tree for step, _ in trips if isinstance(step, UpdateStep | SumLeavesStep)]
    assert trees[0] is None
    assert [tree.leaf_values for tree in trees[1:]] == [None] * 6


def test_last_round_travels_with_the_first_trip_of_the_next_round(client, trips):
    model = fit(client, n_estimators=4, max_depth=2)
    factors = [step.factors for step, _ in trips if isinstance(step, UpdateStep)]
    assert factors[0] is None
    assert [factor.growth.tolist() for factor in factors[1:]] == [[x] for x in np.exp(model.estimator_weights_)]


class Started(SchedulerPlugin):
    """Tasks that the scheduler has started; others may end at any time."""

    def __init__(self):
        self.keys = []

    def transition(self, key, start, finish, *args, **kwargs):
        if finish == "processing":
            self.keys.append(key)


def test_rounds_give_the_scheduler_no_tasks(client, monkeypatch):
    started, seen = Started(), []
    run = ShardGroup.run

    def counting(shards, step):
        seen.append(len(started.keys))
        return run(shards, step)

    monkeypatch.setattr(ShardGroup, "run", counting)
    client.cluster.scheduler.add_plugin(started)
    fit(client, n_estimators=4)
    assert seen[0] > 0
    assert set(seen) == {len(started.keys)}


def test_parts_stay_where_they_were_read():
    parts = [PartLocation(*part) for part in [(0, 100, "a"), (1, 90, "b"), (2, 100, "a"), (3, 110, "b")]]
    assert assign_parts(parts, {"a": 1, "b": 1}) == {"a": [parts[0], parts[2]], "b": [parts[3], parts[1]]}


def test_parts_too_many_for_a_worker_go_to_others_by_their_threads():
    parts = [PartLocation(number, 10, "a") for number in range(8)]
    assigned = assign_parts(parts, {"a": 1, "b": 3})
    assert sorted(part for each in assigned.values() for part in each) == parts
    assert {worker: len(each) for worker, each in assigned.items()} == {"a": 2, "b": 6}


def test_single_part_stays_where_it_is():
    part = PartLocation(0, 10, "b")
    assert assign_parts([part], {"a": 1, "b": 1}) == {"b": [part]}
