"""Shared by the tests of memory: the bytes that a call allocates."""

import tracemalloc


def peak_of(action):
    """Bytes that Python and NumPy allocate during a call.

    Threads of other tests, of a cluster for example, may allocate meanwhile. That only adds, so the smallest of three
    counts.
    """
    return min(peak_once(action) for _ in range(3))


def peak_once(action):
    """Bytes allocated during a call, by any thread."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        action()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
