"""A command line with a table of cases. In: its options, the cases, and who runs them. Out: an exit code."""

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar


class Named(Protocol):
    """What can be picked by its name."""

    name: str


NamedCase = TypeVar("NamedCase", bound=Named)


def pick(cases: Sequence[NamedCase], names: Iterable[str]) -> list[NamedCase]:
    """The cases of these names, or whose names begin with them; all cases if no name is given."""
    names = tuple(names)
    unknown = [name for name in names if not any(case.name.startswith(name) for case in cases)]
    if unknown:
        raise ValueError(f"no case is called {', '.join(unknown)}; --list says which there are.")
    return [case for case in cases if not names or case.name.startswith(names)]


def run_command(
    options: argparse.Namespace,
    cases: Sequence[NamedCase],
    title_of: Callable[[NamedCase], str],
    run: Callable[[list[NamedCase]], bool],
) -> int:
    """List the cases, or run those that are asked for; 0 if all went well."""
    if options.list:
        width = max(len(case.name) for case in cases) + 3
        for case in cases:
            print(f"{case.name:<{width}}{title_of(case)}")
        return 0
    try:
        picked = pick(cases, options.case)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    return exit_code(lambda: run(picked), "the cases that were done are stored")


def exit_code(run: Callable[[], Any], when_stopped: str) -> int:
    """Run; 0 if that went well, 1 if not, and 130, as of any program, if it was stopped by Ctrl-C."""
    try:
        return 0 if run() else 1
    except KeyboardInterrupt:
        print(f"\nstopped; {when_stopped}", file=sys.stderr)
        return 130
