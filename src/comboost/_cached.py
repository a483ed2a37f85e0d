"""Cached properties without a lock."""

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 - named as its base
        """A property that is computed on first access; two threads may compute it at once, to the same value.

        Before Python 3.12, ``functools.cached_property`` holds one lock for all objects while it computes. Threads that
        fit at the same time would wait for each other, and a process that is forked meanwhile would wait forever.
        """

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value


__all__ = ["cached_property"]
