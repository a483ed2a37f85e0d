"""Cached properties without a lock.

Before Python 3.12, ``functools.cached_property`` holds one lock for all objects while it computes. Threads that fit at
the same time would wait for each other, and a process that is forked meanwhile would wait forever.
"""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801 - named as that of functools
    """A property that is computed on first access; two threads may compute it at once, to the same value."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__
        self.__module__ = compute.__module__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> Self | T:
        if instance is None:
            return self
        value = vars(instance)[self.name] = self.compute(instance)  # found there from now on, without this call
        return value
