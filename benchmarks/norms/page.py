"""The page of the study. In: stored results. Out: docs/norms.md, by ``python -m benchmarks.norms --page``."""

import textwrap
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks._lib import store
from benchmarks._lib.machine import REPOSITORY
from benchmarks._lib.page import describe, markdown, write_page
from benchmarks.norms.problems import LOOKED_AT, PROBLEMS

PAGE = REPOSITORY / "docs" / "norms.md"
COMMAND = "python -m benchmarks.norms"
COMBO = "CoMBo"
LOSSES = ("log", "logistic", "exponential", COMBO)
BASE = ("log", "entrywise")
MEASURES = {
    "train_norm": "train ‖C‖",
    "norm": "test ‖C‖",
    "smallest_recall": "smallest recall",
    "balanced_accuracy": "balanced accuracy",
    "log_loss": "log-loss",
}
LEAST_NORM = 1e-6  # below, ratios of bounds mean nothing
GOAL_RECALL, GOAL_ACCURACY = 0.03, 0.01

#: The text above the tables: what the results mean. Edit it when results change.
ANSWER = Path(__file__).with_name("answer.md")

Objective = tuple[str, str]
Samples = dict[tuple[str, Objective], dict[int, store.Row]]  # by problem and objective, then by seed


def by_seed(entries: Iterable[store.Row]) -> Samples:
    """Results by problem, objective and seed."""
    samples: Samples = {}
    for entry in entries:
        samples.setdefault((entry["problem"], (entry["loss"], entry["minimised"])), {})[entry["seed"]] = entry
    return samples


def differences(samples: Samples, problem: str, objective: Objective, base: Objective, key: str) -> NDArray[np.float64]:
    """What an objective changes on the splits of a problem that both were fitted on."""
    ours, theirs = samples.get((problem, objective), {}), samples.get((problem, base), {})
    return np.array([ours[seed][key] - theirs[seed][key] for seed in sorted(ours.keys() & theirs.keys())])


def mean_and_error(values: NDArray[np.float64]) -> str:
    """A mean with its sign and its standard error."""
    if not len(values):
        return "–"
    error = f" ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}" if len(values) > 1 else ""
    return f"{values.mean():+.3f}{error}"


def over_problems(
    samples: Samples, problems: list[str], objectives: list[Objective], base: Objective
) -> list[store.Row]:
    """A row per objective: what it changes against a base, in the mean over the problems."""
    rows = []
    for objective in objectives:
        row: store.Row = {"loss": objective[0], "norm": objective[1]}
        for key, title in MEASURES.items():
            means = [differences(samples, problem, objective, base, key).mean() for problem in problems]
            row[title] = mean_and_error(np.array(means))
        better = [
            differences(samples, problem, objective, base, "smallest_recall").mean() >= GOAL_RECALL
            and differences(samples, problem, objective, base, "balanced_accuracy").mean() >= -GOAL_ACCURACY
            for problem in problems
        ]
        row[f"+{GOAL_RECALL} smallest recall for {GOAL_ACCURACY}"] = f"{sum(better)} of {len(problems)}"
        rows.append(row)
    return rows


def of_problem(samples: Samples, problem: str, objectives: list[Objective]) -> list[store.Row]:
    """A row per objective: means and standard errors of a problem."""
    rows = []
    for objective in objectives:
        entries = samples.get((problem, objective), {})
        if entries:
            row: store.Row = {"loss": objective[0], "norm": objective[1]}
            for key, title in MEASURES.items():
                values = np.array([entry[key] for entry in entries.values()])
                error = f" ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}" if len(values) > 1 else ""
                row[title] = f"{values.mean():.3f}{error}"
            row["rounds"] = float(np.mean([entry["n_iter"] for entry in entries.values()]))
            rows.append(row)
    return rows


def worst_class_by_problem(samples: Samples, problems: list[str]) -> list[store.Row]:
    """What worst-class changes on every problem, against the default."""
    rows = []
    for problem in problems:
        base = list(samples[problem, BASE].values())
        row: store.Row = {
            "table": f"{problem} *" if problem in LOOKED_AT else problem,
            "smallest class": base[0]["smallest_class"],
            "smallest recall, entrywise": float(np.mean([entry["smallest_recall"] for entry in base])),
        }
        for norm in ("worst-class", "l2-class"):
            for key in ("smallest_recall", "balanced_accuracy", "norm", "log_loss"):
                title = f"{norm}: {MEASURES[key]}"
                row[title] = mean_and_error(differences(samples, problem, ("log", norm), BASE, key))
        rows.append(row)
    return rows


def times(entries: list[store.Row]) -> list[store.Row]:
    """A row per objective: milliseconds of a round, and the ratio to entrywise, by shape."""
    rows: dict[Objective, store.Row] = {}
    for entry in entries:
        row = rows.setdefault((entry["loss"], entry["minimised"]), {"loss": entry["loss"], "norm": entry["minimised"]})
        row[entry["problem"]] = f"{entry['milliseconds']:.3g} ms, {entry['ratio']:.2f}"
    return list(rows.values())


def certificate_row(entry: store.Row) -> store.Row:
    """A row of the table of certificates."""
    row = {
        "data set": entry["data set"],
        "rounds": entry["rounds"],
        "‖C_S‖": entry["train norm"],
        "√bound, the paper's": entry["root of the product bound"],
        "√L": entry["root of L"],
        "‖S‖": entry["spectral norm of S"],
    }
    if entry["spectral norm of S"] > LEAST_NORM:
        row["√L / ‖S‖"] = f"{entry['root of L'] / entry['spectral norm of S']:.1f}"
    else:
        row["√L / ‖S‖"] = None
    for norm in ("frobenius", "spectral"):
        chain = (entry[f"{norm}: {what}"] for what in ("train norm", "loss", "bound"))
        row[norm] = " ≤ ".join(f"{value:.3g}" for value in chain)
    return row


def stored(results: Path, problem: str) -> Path:
    """Where the results of a problem are."""
    return results / f"{problem}.jsonl"


def write(results: Path) -> None:
    """Write the page from stored results."""
    runs = [store.read(stored(results, problem)) for problem in PROBLEMS]
    header = next(header for header, _ in runs if header)
    entries = [entry for _, rows in runs for entry in rows]
    samples = by_seed(entries)
    problems = [name for name in PROBLEMS if (name, BASE) in samples]
    objectives = list(dict.fromkeys(objective for _, objective in samples))
    complete = [problem for problem in problems if all((problem, objective) in samples for objective in objectives)]
    of_combo = [each for each in objectives if each[0] == COMBO]
    time_header, time_entries = store.read(results / "times.jsonl")
    parts = [
        ANSWER.read_text(encoding="utf-8"),
        f"Run of `{header['command']}`: {len({entry['seed'] for entry in entries})} random splits of every table into "
        "70 % training and 30 % test samples. ± is the standard error, of the splits of a table or over the tables.",
        textwrap.indent(describe(header), "    "),
        "## Class norms, table by table",
        'Differences to the default (`loss="log", norm="entrywise"`) on the same split. * looked at while the method '
        "was designed.",
        markdown(worst_class_by_problem(samples, problems)),
        "## All norms and losses",
        f"Differences to the default, means over the {len(complete)} tables with all results: {', '.join(complete)}.",
        markdown(over_problems(samples, complete, [each for each in objectives if each[0] != COMBO], BASE)),
        "The same for CoMBo with 200 rounds of depth 4 and the exact step, against its entrywise norm:",
        markdown(over_problems(samples, complete, of_combo, (COMBO, "entrywise"))),
    ]
    if time_entries:
        parts += [
            "## Time of a round",
            f"Run of `{time_header['command']}` on an idle machine, one thread: milliseconds, and the ratio to the "
            "entrywise norm of the same loss (`log` for `logistic`, whose sum is not available in one pass).",
            textwrap.indent(describe(time_header), "    "),
            markdown(times(time_entries)),
        ]
    certificate_header, certificates = store.read(results / "certificates.jsonl")
    if certificates:
        parts += [
            "## Certificates on the training data",
            f"Run of `{certificate_header['command']}`: CoMBo with its defaults on all samples of the paper's data "
            'sets. The first columns are one model, fitted with `norm="entrywise"`: ‖C_S‖ on its training data, and '
            'three upper bounds of it, from loose to tight. The others are models fitted with `norm="frobenius"` and '
            '`norm="spectral"`: ‖C_S‖ ≤ `loss_curve_[-1]` ≤ `bound_curve_[-1]`.',
            markdown([certificate_row(entry) for entry in certificates]),
        ]
    parts.append("## By table")
    for problem in problems:
        parts += [f"### {problem}", markdown(of_problem(samples, problem, objectives))]
    write_page(PAGE, f"{COMMAND} --page", "\n\n".join(parts) + "\n")
