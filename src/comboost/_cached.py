"""Properties that are computed once. In: a method. Out: a property that keeps what it returns.

That of functools, before Python 3.12, holds a lock of all objects while it computes: threads that fit at once would
wait for each other, and a process that is forked meanwhile for ever.
"""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801 - named as what it stands for
    """A property that is computed when it is first asked for; two threads may compute it at once, to the same value."""

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
