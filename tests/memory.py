"""What the tests of memory share: the bytes that a call takes."""

import tracemalloc


def peak_of(action):
    """Bytes that an action takes beside what was there before, as far as Python and NumPy allocate them.

    Threads that other tests have left, of a cluster for example, may allocate meanwhile: that only adds, so the
    smallest of three counts.
    """
    return min(peak_once(action) for _ in range(3))


def peak_once(action):
    """Bytes that were allocated while an action ran, by whom ever."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        action()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
