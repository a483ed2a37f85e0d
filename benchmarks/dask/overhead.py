"""The case about overhead: what a round costs on a cluster where the rows cost nothing."""

from functools import partial
from statistics import median
from typing import Any

from benchmarks._lib.comparison import MILLI
from benchmarks._lib.store import Result, Row
from benchmarks._lib.timing import take_turns
from benchmarks._lib.verdicts import Target, Verdict
from benchmarks.dask import local
from benchmarks.dask.apart import say
from benchmarks.dask.boosters import OURS
from benchmarks.dask.clusters import connected
from benchmarks.dask.plan import Plan
from benchmarks.dask.rows import Rows
from benchmarks.dask.speed import timed_fit

N_WORKERS = 2
ROWS = Rows(2000, 10, 3, n_chunks=2)  # not made fewer by a quick run
N_ROUNDS = (10, 20, 120)  # a small fit as it is, and two whose difference is that of 100 rounds
DASK, LOCAL = "on Dask", "local, 1 thread"
PER_ROUND = Target("<", 60)  # milliseconds


class OverheadCase:
    """Time of a round, and of a small fit as a whole."""

    name = "overhead"

    def title(self, plan: Plan) -> str:
        """What is measured."""
        return f"small rows on {N_WORKERS} workers, {ROWS.name}"

    def run(self, plan: Plan) -> Result:
        """Fit short and long, on the cluster and without it, in turns."""
        with connected(N_WORKERS) as client:
            data = ROWS.persisted(client)
            local.load(ROWS)
            fits = {(DASK, n_rounds): partial(timed_fit, OURS(), client, data, n_rounds) for n_rounds in N_ROUNDS}
            fits |= {(LOCAL, n_rounds): partial(local.fit, n_rounds, 1) for n_rounds in N_ROUNDS}
            fits[DASK, N_ROUNDS[0]](), fits[LOCAL, N_ROUNDS[0]]()  # the first time also loads code
            turns = take_turns({name: partial(checked, fit, *name) for name, fit in fits.items()}, plan.repeats)
        return result_of(turns.results, turns.errors)


def checked(fit: Any, where: str, n_rounds: int) -> float:
    """Seconds of a fit that did all its rounds."""
    seconds, model = fit()
    if model.n_iter_ != n_rounds:
        raise RuntimeError(f"stopped after {model.n_iter_} of {n_rounds} rounds: {model.stop_reason_}")
    say(f"{n_rounds} rounds {where}: {seconds:.3f} s")
    return seconds


def result_of(seconds: dict[tuple[str, int], list[float]], errors: dict[tuple[str, int], str]) -> Result:
    """All fits, and what a further round costs: best against best, since a difference of single fits is noise."""
    result = Result(left_out={f"{n_rounds} rounds {where}": error for (where, n_rounds), error in errors.items()})
    result.tables["fits"] = [fit_row(*name, times) for name, times in seconds.items()]
    per_round = {where: round_milliseconds(seconds, where) for where in (DASK, LOCAL)}
    result.tables["rounds"] = [{"where": where, "ms per round": value} for where, value in per_round.items()]
    result.verdicts = [Verdict("ms per round on Dask", PER_ROUND, per_round[DASK])]
    result.raw = {f"{n_rounds} rounds {where}": times for (where, n_rounds), times in seconds.items()}
    return result


def fit_row(where: str, n_rounds: int, times: list[float]) -> Row:
    """A line of the table of fits."""
    return {"where": where, "rounds": n_rounds, "best, s": min(times), "median, s": median(times)}


def round_milliseconds(seconds: dict[tuple[str, int], list[float]], where: str) -> float | None:
    """What a further round costs; None where a fit could not be done."""
    _, short, long = N_ROUNDS
    if not {(where, short), (where, long)} <= set(seconds):
        return None
    return MILLI * (min(seconds[where, long]) - min(seconds[where, short])) / (long - short)
