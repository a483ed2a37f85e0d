"""``python -m benchmarks.selection``: fits every variant on every problem, and writes the table of the results.

Results are stored in results/results.jsonl as they come, and what is stored is not run again. One thread.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._lib import store
from benchmarks._lib.command import exit_code
from benchmarks._lib.page import markdown, write_page
from benchmarks.defaults.problems import Fold
from benchmarks.quality.measures import ACCURACY, LOG_LOSS, NORM, measure
from benchmarks.quality.methods import fixed_settings
from benchmarks.selection.variants import FIXED, PROBLEMS, SELECTED, VARIANTS, Variant, load, split
from comboost import ConfusionBoostingClassifier

RESULTS = Path(__file__).parent / "results"
MEASURES = (LOG_LOSS.key, NORM.key, ACCURACY.key)
SECONDS = "cpu_seconds"
LEAST_LOSS = 1e-3  # smaller losses count as this one; their ratios mean nothing
CLEAN = 0.9  # balanced accuracy of the fixed settings, from which a problem is called clean
NOTES = """# Which settings a fit should select

{run}. {n_problems} problems, test samples of 5 folds or of one split; other programs ran meanwhile, so times are rough.

- Log-losses are class-balanced. Their changes are geometric means over the problems, with standard errors, and medians,
  which one problem cannot decide. Losses below {least} count as that. Norm and balanced accuracy are mean differences.
- A problem is clean if the fixed settings have a balanced accuracy of {clean} or more.
- "Selected, ...": a fit with the settings that the default fit selected, and a change; its time is without the search.
  "Selected anew, ...": the search has the change, too.

## Against fixed settings

{fixed}

## Against the default, which selects its settings

{selected}

## Problems

Log-loss / norm / balanced accuracy, and the settings that were selected in every fold.

{problems}
"""

Means = dict[str, dict[str, dict[str, float]]]  # by problem, variant and measure


def fit_and_measure(variant: Variant, problem: str, fold: Fold, seed: int, selected: dict[str, Any]) -> store.Row:
    """Fit a variant on the training samples, and measure it on the test samples."""
    X, y = load(problem)
    train, test = fold
    params = variant.params(fixed_settings(len(train), int(y.max()) + 1), selected)
    model = ConfusionBoostingClassifier(n_jobs=1, random_state=seed, **params)
    with variant.patched():
        started = time.process_time()
        model.fit(X[train], y[train])
        seconds = time.process_time() - started
    figures = measure(y[test], model.predict(X[test]), model.predict_proba(X[test]))
    return {
        **{key: round(figures[key], 6) for key in MEASURES},
        SECONDS: round(seconds, 3),
        "n_iter": model.n_iter_,
        "best_params": model.best_params_,
    }


def run(problems: list[str], path: Path) -> None:
    """Fit what is not stored yet."""
    header, entries = store.read(path)
    header = header or store.describe_setting("selection", (), {"threads": 1})
    done = {(entry["problem"], entry["fold"], entry["variant"]): entry for entry in entries}
    for problem in problems:
        started = time.perf_counter()
        for number, fold in enumerate(split(problem)):
            for variant in VARIANTS:
                key = (problem, number, variant.name)
                if key not in done:
                    selected = {} if variant is SELECTED else done[problem, number, SELECTED.name]["best_params"]
                    measured = fit_and_measure(variant, problem, fold, number, selected)
                    done[key] = {"problem": problem, "fold": number, "variant": variant.name, **measured}
                    store.write(path, header, done.values())
        print(f"{problem}: {time.perf_counter() - started:.0f} s", flush=True)


def collect(entries: list[store.Row]) -> Means:
    """Means over the folds, by problem and variant, of problems for which every fold has every variant."""
    means: Means = {}
    for problem in dict.fromkeys(entry["problem"] for entry in entries):
        of_problem = [entry for entry in entries if entry["problem"] == problem]
        if len(of_problem) == len(split(problem)) * len(VARIANTS):
            means[problem] = {
                variant.name: {
                    key: float(np.mean([entry[key] for entry in of_problem if entry["variant"] == variant.name]))
                    for key in (*MEASURES, SECONDS)
                }
                for variant in VARIANTS
            }
    return means


def compare(means: Means, base: Variant) -> list[store.Row]:
    """A row for every other variant: how it differs from a base, over all problems."""

    def values(variant: Variant, key: str) -> NDArray[np.float64]:
        return np.array([of_problem[variant.name][key] for of_problem in means.values()])

    is_clean = values(FIXED, ACCURACY.key) >= CLEAN
    base_losses = np.maximum(values(base, LOG_LOSS.key), LEAST_LOSS)
    rows = []
    for variant in VARIANTS:
        if variant is not base:
            losses = np.maximum(values(variant, LOG_LOSS.key), LEAST_LOSS)
            ratios = np.log(losses / base_losses)
            norm, accuracy = ((values(variant, key) - values(base, key)).mean() for key in (NORM.key, ACCURACY.key))
            times = np.log(values(variant, SECONDS) / values(base, SECONDS))
            rows.append(
                {
                    "variant": variant.name,
                    "log-loss": change(ratios),
                    "median": f"{100 * np.expm1(np.median(ratios)):+.1f} %",
                    f"{is_clean.sum()} clean problems": change(ratios[is_clean]),
                    f"{(~is_clean).sum()} others": change(ratios[~is_clean]),
                    "lower on": int((losses < base_losses).sum()),
                    "norm": f"{norm:+.4f}",
                    "balanced accuracy": f"{accuracy:+.4f}",
                    "CPU time": f"× {np.exp(times.mean()):.2g}",
                }
            )
    return rows


def change(log_ratios: NDArray[np.float64]) -> str | None:
    """The mean of ratios as a change in percent, with its standard error."""
    if len(log_ratios) < 2:
        return None
    error = log_ratios.std(ddof=1) / np.sqrt(len(log_ratios))
    return f"{100 * np.expm1(log_ratios.mean()):+.1f} ± {100 * error:.1f} %"


def by_problem(means: Means, entries: list[store.Row]) -> list[store.Row]:
    """A row for every problem: the figures of the fixed and of the selected settings, and what was selected."""
    rows = []
    for problem, of_problem in means.items():
        y = load(problem)[1]
        chosen = [e["best_params"] for e in entries if e["problem"] == problem and e["variant"] == SELECTED.name]
        fixed, selected = (
            " / ".join(f"{of_problem[variant.name][key]:.3f}" for key in MEASURES) for variant in (FIXED, SELECTED)
        )
        rows.append(
            {
                "problem": problem,
                "samples": len(y),
                "classes": int(y.max()) + 1,
                "fixed": fixed,
                "selected": selected,
                "depths": " ".join(str(params["max_depth"]) for params in chosen),
                "smoothing": " ".join(f"{params['smoothing']:.2g}" for params in chosen),
                "rounds": " ".join(str(params["n_estimators"]) for params in chosen),
            }
        )
    return rows


def render(header: dict[str, Any], entries: list[store.Row]) -> str:
    """The page: every variant over all problems, then every problem."""
    means = collect(entries)
    versions = ", ".join(f"{name} {header['versions'][name]}" for name in ("python", "numpy", "sklearn"))
    return NOTES.format(
        run=f"`{header['command']}`, {header['started']}, commit {header['source']['commit'][:10]}, {versions}",
        n_problems=len(means),
        clean=CLEAN,
        least=LEAST_LOSS,
        fixed=markdown(compare(means, FIXED)),
        selected=markdown(compare(means, SELECTED)),
        problems=markdown(by_problem(means, entries)),
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.selection", description=__doc__)
    parser.add_argument("--problem", action="append", choices=PROBLEMS, help="this one alone; may be repeated")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--page", action="store_true", help="write the page only")
    options = parser.parse_args(arguments)
    path = options.results / "results.jsonl"

    def run_and_write() -> bool:
        if not options.page:
            run(options.problem or list(PROBLEMS), path)
        header, entries = store.read(path)
        if not collect(entries):
            print("no problem has all fits yet; run some first", file=sys.stderr)
            return False
        text = render(header, entries)
        print(text)
        write_page(options.results / "tables.md", "python -m benchmarks.selection", text)
        return True

    return exit_code(run_and_write, "the fits that were done are stored")


if __name__ == "__main__":
    raise SystemExit(main())
