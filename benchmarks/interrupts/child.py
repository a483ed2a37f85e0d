"""The process that is interrupted. In: a case, threads, how often. Out: lines that say when it began and answered."""

import sys
import time
from typing import Any

from benchmarks.interrupts.cases import CASES


def objects_of(estimator: Any) -> list[tuple[str, int]]:
    """What an estimator holds, by name and identity."""
    return [(name, id(value)) for name, value in vars(estimator).items()]


def main() -> None:
    name, n_jobs, n_times = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    estimator, call = CASES[name](n_jobs)
    for _ in range(n_times):
        before = objects_of(estimator)
        try:
            print("begun", flush=True)
            call()
        except KeyboardInterrupt:
            answered = time.monotonic()
            print("answered" if objects_of(estimator) == before else "changed", answered, flush=True)
        else:
            print("done", time.monotonic(), flush=True)


if __name__ == "__main__":
    main()
