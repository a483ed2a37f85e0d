"""The page. In: stored coverage and speed. Out: docs/bounds.md."""

import inspect
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

from benchmarks._lib.page import cell, describe, markdown
from benchmarks._lib.store import Row
from benchmarks.bounds.cases import CASES, EQUAL, ETA, KINDS, OTHER_ETA, SIZES, WEIGHTS, Case
from benchmarks.bounds.simulation import OBSERVED
from benchmarks.bounds.speed import REPEATS

Stored = tuple[dict[str, Any], list[Row]]
Result = tuple[Case, Row]

#: Ours, as the page calls them.
BOUNDS = {
    "norm": "‖C‖ (`confusion_norm_bound`)",
    "error rate, any priors": "error rate, any priors (`error_rate_bound`)",
    "error rate, uniform priors": "error rate, uniform priors",
    "error rate, priors of the samples": "error rate, priors of the samples",
    "recalls": "all recalls at once (`recall_bounds`)",
    "smallest recall": "smallest recall (`min_recall_bound`)",
    "G-mean": "G-mean (`geometric_mean_bound`)",
    "norm, corollary": '‖C‖, `method="corollary"`',
}
EXACT, ROWS, ENTRIES, COROLLARY = "norm", "norm, entrywise and rows", "norm, entrywise", "norm, corollary"
VACUOUS = 1.0 - 1e-6  # of the largest norm
SHAPE = ("classes", "samples")  # of a timed problem
ERROR_LEVEL = 0.05  # of the test that no coverage is below nominal
WORDS = Path(__file__).with_name("words.md")
MIDDLE = "1 000 to 20"


def render(coverage: Stored, speed: Stored) -> str:
    """The page of the stored results."""
    header, entries = coverage
    by_name = {case.name: case for case in CASES}
    results = [(by_name[entry["case"]], entry) for entry in entries if entry["case"] in by_name]
    draws, eta_results = header["settings"]["draws"], having(results, eta=ETA)
    return WORDS.read_text(encoding="utf-8").format(
        n_cases=len(results),
        draws=cell(draws),
        answer=f"{answer(results, draws)}\n{answer_speed(speed[1])}",
        eta=ETA,
        nominal=1 - ETA,
        other_nominal=1 - OTHER_ETA,
        error=np.sqrt(ETA * (1 - ETA) / draws),
        other_error=np.sqrt(OTHER_ETA * (1 - OTHER_ETA) / draws),
        n_cases_eta=len(eta_results),
        bonferroni=ERROR_LEVEL / len(eta_results),
        coverage=markdown(coverage_rows(results)),
        sizes=markdown([norm_row(result) for result in having(results, kind="diffuse", weights=EQUAL, eta=ETA)]),
        kinds=markdown([norm_row(result, by_kind=True) for result in middle(results, weights=EQUAL)]),
        middle=MIDDLE,
        repeats=REPEATS,
        narrower=narrower(results),
        others=markdown([other_row(result) for result in having(results, kind="diffuse", weights=EQUAL, eta=ETA)]),
        weights=markdown([weight_row(result) for result in middle(results, kind="diffuse")]),
        speed=markdown([{**row, "samples": cell(row["samples"])} for row in speed[1]]),
        kind_list="\n".join(f"- Errors *{name}*: {first_sentence(kind)}" for name, kind in KINDS.items()),
        size_list="; ".join(SIZES),
        weight_list="; ".join(WEIGHTS),
        run=f"Run of `{header['command']}`, {header['started']}:\n\n{textwrap.indent(describe(header), '    ')}",
    )


def having(results: Iterable[Result], **properties: Any) -> list[Result]:
    """Results of the cases with these properties."""
    return [
        (case, entry)
        for case, entry in results
        if all(getattr(case, name) == value for name, value in properties.items())
    ]


def middle(results: Iterable[Result], **properties: Any) -> list[Result]:
    """Results of ten classes with some imbalance."""
    return having(results, n_classes=10, size=MIDDLE, eta=ETA, **properties)


def largest_norm(case: Case) -> float:
    """√(K−1)."""
    return float(np.sqrt(case.n_classes - 1))


def mean_of(result: Result, bound: str) -> float:
    """The mean of a bound of ‖C‖, at most the largest norm."""
    case, entry = result
    return min(float(entry["bounds"][bound]["mean"]), largest_norm(case))


def is_vacuous(result: Result, bound: str) -> bool:
    """Whether a bound of ‖C‖ says nothing on average."""
    return mean_of(result, bound) >= VACUOUS * largest_norm(result[0])


def coverages(results: Iterable[Result], bound: str) -> dict[str, tuple[float, float]]:
    """Coverage of a bound, and its one-sided p-value, by case."""
    found = {}
    for case, entry in results:
        held, draws = entry["bounds"][bound]["held"], entry["draws"]
        found[case.name] = (held / draws, float(binom.cdf(held, draws, 1.0 - case.eta)))
    return found


def coverage_rows(results: Sequence[Result]) -> list[Row]:
    """A row per level and bound."""
    rows = []
    for eta in (ETA, OTHER_ETA):
        for bound, title in BOUNDS.items():
            found = coverages(having(results, eta=eta), bound)
            if found:
                values = np.array(list(found.values()))
                rows.append(
                    {
                        "bound": title,
                        "nominal": f"{1 - eta:g}",
                        "cases": len(found),
                        "lowest": f"{values[:, 0].min():.4f}",
                        "median": f"{np.median(values[:, 0]):.4f}",
                        "below nominal": int((values[:, 0] < 1 - eta).sum()),
                        "p": f"{values[:, 1].min():.2g}",
                    }
                )
    return rows


def answer(results: Sequence[Result], draws: int) -> str:
    """The findings in a few sentences."""
    lowest = {
        eta: min(value for bound in BOUNDS for value, _ in coverages(having(results, eta=eta), bound).values())
        for eta in (ETA, OTHER_ETA)
        if having(results, eta=eta)
    }
    levels = " and ".join(f"{value:.4f} for a nominal {1 - eta:g}" for eta, value in lowest.items())
    p = min(p for bound in BOUNDS for _, p in coverages(results, bound).values())
    n_tests = len(results) * len(BOUNDS)
    verdict = "none is significantly below nominal" if p > ERROR_LEVEL / n_tests else "SOME ARE BELOW NOMINAL"
    equal = having(results, weights=EQUAL, eta=ETA)
    vacuous = {bound: sum(is_vacuous(result, bound) for result in equal) for bound in (EXACT, COROLLARY)}
    times = {bound: relative_excess(equal, bound) for bound in (ROWS, ENTRIES, COROLLARY)}
    return "\n".join(
        (
            f"- **They hold.** The lowest coverage of any bound in any case is {levels}. Of {cell(n_tests)} coverages, "
            f"each estimated from {cell(draws)} test sets, {verdict}.",
            "- **They are much tighter than the corollary of the CoMBo paper.** The corollary says nothing in "
            f"{vacuous[COROLLARY]} of {len(equal)} cases without weights: it exceeds √(K−1), the largest norm that "
            f"exists. `confusion_norm_bound` says nothing in {vacuous[EXACT]}.",
            "- Simultaneous bounds of all entries of C exceed the true norm by "
            f"{times[ENTRIES]:.1f} times as much as `confusion_norm_bound`, those of all entries and rows by "
            f"{times[ROWS]:.1f} times as much, the corollary by {times[COROLLARY]:.1f} times as much (geometric means "
            "over the cases).",
        )
    )


def answer_speed(rows: Sequence[Row]) -> str:
    """How long the slowest calls take."""
    slowest: dict[int, float] = {}
    for row in rows:
        times = [value for name, value in row.items() if name not in SHAPE]
        slowest[row["samples"]] = max(*times, slowest.get(row["samples"], 0.0))
    few, many = min(slowest), max(slowest)
    return (
        f"- **They are quick.** A call takes at most {slowest[few]:.0f} ms for {cell(few)} samples, and "
        f"{slowest[many]:.0f} ms for {cell(many)}."
    )


def relative_excess(results: Iterable[Result], bound: str) -> float:
    """How far a bound lies above the true norm, relative to ours; the geometric mean of the cases where ours does."""
    ratios = []
    for _, entry in results:
        ours, other = (entry["bounds"][name]["mean"] - entry["bounds"][name]["truth"] for name in (EXACT, bound))
        if ours > 0:
            ratios.append(np.log(other / ours))
    return float(np.exp(np.mean(ratios)))


def norm_row(result: Result, *, by_kind: bool = False) -> Row:
    """Truth and all bounds of the norm."""
    case, entry = result
    start: Row = {"errors": case.kind} if by_kind else {"K": case.n_classes, "samples": case.size}
    bounds = {"bound": EXACT, "rows": ROWS, "entries": ENTRIES, "corollary": COROLLARY}
    return {
        **start,
        "true ‖C‖": three(entry["bounds"][EXACT]["truth"]),
        "observed": three(entry[OBSERVED]),
        **{
            title: None if is_vacuous(result, bound) else three(entry["bounds"][bound]["mean"])
            for title, bound in bounds.items()
        },
        "√(K−1)": three(largest_norm(case)),
    }


def other_row(result: Result) -> Row:
    """Truth and bound of all other quantities."""
    case, entry = result
    titles = {
        "error rate, any priors": "error, any priors",
        "error rate, uniform priors": "error, uniform priors",
        "error rate, priors of the samples": "error, priors of the samples",
        "recalls": "recalls",
        "smallest recall": "smallest recall",
        "G-mean": "G-mean",
    }
    row: Row = {"K": case.n_classes, "samples": case.size}
    for bound, title in titles.items():
        row[title] = f"{three(entry['bounds'][bound]['truth'])}: {three(entry['bounds'][bound]['mean'])}"
    return row | {"G-mean, product": three(entry["bounds"]["G-mean, all recalls"]["mean"])}


def weight_row(result: Result) -> Row:
    """Truth and bounds of some quantities, by weights."""
    case, entry = result
    bounds = {
        "‖C‖": EXACT,
        "‖C‖, corollary": COROLLARY,
        "error, any priors": "error rate, any priors",
        "error, uniform priors": "error rate, uniform priors",
        "G-mean": "G-mean",
    }
    fraction = np.mean([effective_fraction(groups) for groups in case.groups])
    return {
        "weights": case.weights,
        "effective samples": f"{100 * fraction:.0f} %",
        **{
            title: f"{three(entry['bounds'][bound]['truth'])}: {three(entry['bounds'][bound]['mean'])}"
            for title, bound in bounds.items()
        },
    }


def effective_fraction(groups: list[tuple[float, int]]) -> float:
    """Effective number of samples of a class, by their number."""
    weight, n_samples = np.array(groups).T
    return float((weight @ n_samples) ** 2 / (weight**2 @ n_samples) / n_samples.sum())


def narrower(results: Sequence[Result]) -> str:
    """Where the reference bounds are narrower than ours."""
    equal = having(results, weights=EQUAL)
    wider = [result for result in equal if mean_of(result, ROWS) < mean_of(result, EXACT)]
    if not wider:
        return f"In none of the {len(equal)} cases without weights is one of the reference bounds narrower."
    most = max(mean_of(result, EXACT) / mean_of(result, ROWS) - 1 for result in wider)
    smallest = max(case.sizes.min() for case, _ in wider)
    return (
        f"In {len(wider)} of the {len(equal)} cases without weights the bound by entries and rows is narrower, by up "
        f"to {100 * most:.0f} %. All of them have a class of {smallest} samples or fewer, many of which are predicted "
        "wrongly."
    )


def first_sentence(kind: Any) -> str:
    """What a kind of errors is."""
    return (inspect.getdoc(kind) or "").splitlines()[0]


def three(value: float) -> str:
    """A number with three decimals."""
    return f"{value:.3f}"
