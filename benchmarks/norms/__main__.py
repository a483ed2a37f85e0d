"""``python -m benchmarks.norms``: fit every norm and loss on every problem, and write docs/norms.md.

Results are stored in results/ as they come, a file per problem, and what is stored is not run again. One thread.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks._lib import store
from benchmarks._lib.command import exit_code
from benchmarks.norms import certificates, page, timing
from benchmarks.norms.problems import PROBLEMS, split
from comboost import CoMBoClassifier, ConfusionBoostingClassifier
from comboost._engine.norms import NORMS, get_norm
from comboost.metrics import balanced_log_loss, confusion_norm_loss, min_recall_score

RESULTS = Path(__file__).parent / "results"
N_SEEDS = 5
COMBO: dict[str, Any] = {"n_estimators": 200, "max_depth": 4, "step": "exact"}


class Variant(NamedTuple):
    """A loss and a norm; the exponential loss of CoMBo is called "CoMBo"."""

    loss: str
    norm: str

    def make(self, seed: int) -> CoMBoClassifier | ConfusionBoostingClassifier:
        """The estimator: CoMBo with fixed settings, or a default fit, which selects its settings for this objective."""
        if self.loss == page.COMBO:
            return CoMBoClassifier(norm=self.norm, n_jobs=1, random_state=seed, **COMBO)
        return ConfusionBoostingClassifier(loss=self.loss, norm=self.norm, n_jobs=1, random_state=seed)


VARIANTS = [
    Variant(loss, norm) for loss in page.LOSSES for norm in NORMS if loss != "log" or get_norm(norm).of != "pairs"
]


def fit_and_measure(variant: Variant, problem: str, seed: int) -> store.Row:
    """Fit a variant on the training samples of a split, and measure it on both parts."""
    X_train, X_test, y_train, y_test = split(problem, seed)
    started = time.process_time()
    model = variant.make(seed).fit(X_train, y_train)
    seconds = time.process_time() - started
    predicted, proba = model.predict(X_test), model.predict_proba(X_test)
    figures = {
        "train_norm": float(np.linalg.norm(model.train_confusion_, ord=2)),
        "norm": confusion_norm_loss(y_test, predicted),
        "smallest_recall": min_recall_score(y_test, predicted),
        "balanced_accuracy": float(np.mean([(predicted[y_test == k] == k).mean() for k in np.unique(y_test)])),
        "log_loss": balanced_log_loss(y_test, proba),
    }
    return {
        **{name: round(value, 6) for name, value in figures.items()},
        "smallest_class": int(np.bincount(y_train).min() + np.bincount(y_test).min()),
        "cpu_seconds": round(seconds, 3),
        "n_iter": model.n_iter_,
    }


def run(problem: str, n_seeds: int, path: Path) -> None:
    """Fit what is not stored yet."""
    header, entries = store.read(path)
    header = header or store.describe_setting("norms", (), {"threads": 1, "combo": COMBO})
    done = {(row["seed"], row["loss"], row["minimised"]) for row in entries}
    for seed in range(n_seeds):
        for variant in VARIANTS:
            if (seed, *variant) not in done:
                key = {"problem": problem, "seed": seed, "loss": variant.loss, "minimised": variant.norm}
                entries.append({**key, **fit_and_measure(variant, problem, seed)})
                store.write(path, header, entries)
        print(f"{problem}, seed {seed}: done", flush=True)


def main() -> int:
    """Run the study, or measure the time of a round; then write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.norms", description=__doc__)
    parser.add_argument("problem", nargs="*", choices=[[], *PROBLEMS], help="problems to run; by default all")
    parser.add_argument("--seeds", type=int, default=N_SEEDS, help=f"splits of every problem; {N_SEEDS} by default")
    parser.add_argument("--times", action="store_true", help="measure the time of a round instead, on a quiet machine")
    parser.add_argument(
        "--certificates", action="store_true", help="compare certificates on the paper's data sets instead"
    )
    parser.add_argument("--page", action="store_true", help="write the page from stored results, and run nothing")
    options = parser.parse_args()

    def work() -> bool:
        if options.times:
            timing.run(RESULTS / "times.jsonl")
        elif options.certificates:
            certificates.run(RESULTS / "certificates.jsonl")
        elif not options.page:
            for problem in options.problem or PROBLEMS:
                run(problem, options.seeds, page.stored(RESULTS, problem))
        page.write(RESULTS)
        return True

    return exit_code(work, "the fits that were done are stored")


if __name__ == "__main__":
    sys.exit(main())
