"""Properties that are computed once: that they are, and that nobody waits for another object's."""

import threading
from concurrent.futures import ThreadPoolExecutor

from comboost._cached import cached_property


def test_value_is_computed_once_for_every_object():
    class Counter:
        n_calls = 0

        @cached_property
        def value(self):
            """What is counted."""
            self.n_calls += 1
            return self.n_calls

    first, second = Counter(), Counter()
    assert (first.value, first.value, second.value) == (1, 1, 1)
    assert Counter.value.__doc__ == "What is counted."


def test_threads_compute_the_values_of_their_objects_at_once():
    both_compute = threading.Barrier(2, timeout=60)

    class Meeting:
        @cached_property
        def place(self):
            return both_compute.wait()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(lambda each: each.place, [Meeting(), Meeting()])) == [0, 1]
