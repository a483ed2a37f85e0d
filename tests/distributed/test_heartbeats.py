"""A worker counts as lost if nothing is heard of it, and not because it, or somebody else, is slow."""

from hypothesis import given
from hypothesis import strategies as st

from comboost._distributed.heartbeats import MAX_PAUSE, PATIENCE_FACTOR, SHORTEST_LIMIT, Heartbeats

TIMEOUTS = st.none() | st.floats(1, 1e3)
PAUSES = st.lists(st.floats(0.01, 1e4), min_size=1, max_size=30)


def looks(heartbeats, pauses, heard, start=0.0):
    """Look after each of these pauses; who was heard when is asked with the time of the look."""
    now = start
    for pause in pauses:
        now += pause
        heartbeats.update(heard(now), now)
    return now


@given(TIMEOUTS, PAUSES)
def test_worker_that_is_heard_of_is_never_silent_however_rarely_one_looks(timeout, pauses):
    heartbeats = Heartbeats(timeout)
    looks(heartbeats, pauses, lambda now: {"busy": now, "stopped": 0.0})
    assert "busy" not in heartbeats.silent()


@given(st.floats(1, 1e3))
def test_worker_that_is_not_heard_of_falls_silent_after_the_timeout(timeout):
    heartbeats = Heartbeats(timeout)
    now = looks(heartbeats, [1.0] * int(timeout + 1), lambda now: {"stopped": 5.0, "busy": now})
    assert heartbeats.silent() == set()
    looks(heartbeats, [1.0] * 3, lambda now: {"stopped": 5.0, "busy": now}, start=now)
    assert heartbeats.silent() == {"stopped"}


@given(TIMEOUTS, st.sets(st.sampled_from("abcdef"), min_size=1))
def test_nobody_counts_as_silent_if_nobody_is_heard_of(timeout, workers):
    heartbeats = Heartbeats(timeout)
    looks(heartbeats, [4.0] * 300, lambda now: dict.fromkeys(workers, 5.0))
    assert heartbeats.silent() == set()


@given(TIMEOUTS, st.floats(0.01, 1e6))
def test_pause_between_two_looks_makes_nobody_silent(timeout, pause):
    heartbeats = Heartbeats(max(timeout or MAX_PAUSE, MAX_PAUSE))
    looks(heartbeats, [1.0, pause], lambda now: {"a": 5.0, "b": now})  # the heartbeats of `a` may be on their way
    assert heartbeats.silent() == set()


def test_false_alarm_makes_the_limit_longer_and_a_given_timeout_stays():
    for timeout, expected in [(None, PATIENCE_FACTOR * SHORTEST_LIMIT), (7.0, 7.0)]:
        heartbeats = Heartbeats(timeout)
        now = looks(heartbeats, [1.0] * 100, lambda now: {"a": 5.0, "b": 5.0, "busy": now})
        assert heartbeats.silent() == {"a", "b"}
        looks(heartbeats, [1.0], lambda now: {"a": 6.0, "b": 6.0, "busy": now}, start=now)
        assert heartbeats.silent() == set()
        assert heartbeats.limit == expected


def test_workers_that_come_and_leave_are_not_silent():
    heartbeats = Heartbeats(2.0)
    now = looks(heartbeats, [1.0] * 9, lambda now: {"a": 5.0, "busy": now})
    looks(heartbeats, [1.0], lambda now: {"b": 5.0, "busy": now}, start=now)
    assert heartbeats.silent() == set()
