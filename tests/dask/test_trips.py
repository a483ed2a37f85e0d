"""What travels in a round: one trip per level, one histogram per split and wire, and no tasks at all."""

import dask.array as da
import numpy as np
import pytest

from comboost.dask import DaskCoMBoClassifier
from comboost.dask._crew import Crew, share_out
from comboost.dask._shard import Advance, Split
from comboost.dask._survey import Home
from comboost.datasets import load_yeast


@pytest.fixture
def trips(monkeypatch):
    """The steps that are asked for, each with its answer."""
    asked = []
    ask = Crew.ask

    def recording(crew, step):
        answer = ask(crew, step)
        asked.append((step, answer))
        return answer

    monkeypatch.setattr(Crew, "ask", recording)
    return asked


def fit(client, **parameters):
    X, y = load_yeast(return_X_y=True)
    return DaskCoMBoClassifier(client=client, **parameters).fit(
        da.from_array(X, chunks=(200, -1)), da.from_array(y, chunks=200)
    )


@pytest.mark.parametrize("max_depth", [1, 2, 4])
def test_round_takes_one_trip_per_level(client, trips, max_depth):
    fit(client, n_estimators=5, max_depth=max_depth)
    kinds = [type(step).__name__ for step, _ in trips]
    one_round = ["Advance", *["Split"] * (max_depth - 1)]
    assert kinds == [*one_round * 5, "Advance", "Confusion"]


def test_one_histogram_per_split_and_the_root_travel(client, trips):
    fit(client, n_estimators=3)
    for step, answer in trips:
        if isinstance(step, Split):
            assert len(answer) == len(step.splits)
        elif isinstance(step, Advance) and step.with_root:
            assert len(answer.root) == 1


def test_last_vote_travels_with_the_first_trip_of_the_next_round(client, trips):
    model = fit(client, n_estimators=4, max_depth=2)
    votes = [step.vote for step, _ in trips if isinstance(step, Advance)]
    assert votes[0] is None
    assert [vote.up for vote in votes[1:]] == np.exp(model.estimator_weights_).tolist()


def test_rounds_give_the_scheduler_no_tasks(client, monkeypatch):
    scheduler = client.cluster.scheduler
    seen = []
    ask = Crew.ask

    def counting(crew, step):
        seen.append(scheduler.transition_counter)
        return ask(crew, step)

    monkeypatch.setattr(Crew, "ask", counting)
    fit(client, n_estimators=4)
    assert len(set(seen)) == 1


def test_parts_stay_where_they_were_read():
    homes = [Home(0, 100, "a"), Home(1, 90, "b"), Home(2, 100, "a"), Home(3, 110, "b")]
    assert share_out(homes, {"a": 1, "b": 1}) == {"a": [0, 2], "b": [3, 1]}


def test_parts_too_many_for_a_worker_go_to_others_by_their_threads():
    homes = [Home(place, 10, "a") for place in range(8)]
    shared = share_out(homes, {"a": 1, "b": 3})
    assert sorted(place for places in shared.values() for place in places) == list(range(8))
    assert {worker: len(places) for worker, places in shared.items()} == {"a": 2, "b": 6}


def test_single_part_stays_where_it_is():
    assert share_out([Home(0, 10, "b")], {"a": 1, "b": 1}) == {"b": [0]}
