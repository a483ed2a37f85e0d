"""How tight certificates are on the paper's data sets. Out: results/certificates.jsonl."""

import math
from pathlib import Path

import numpy as np

from benchmarks._lib import store
from comboost import CoMBoClassifier
from comboost.datasets import load_dataset
from comboost.metrics import soft_confusion_matrix

DATA_SETS = ("new-thyroid", "balance", "glass", "ecoli", "car", "yeast", "satimage", "nursery-s", "connect-4")
ROUNDS = (50, 200)
NORMS = ("frobenius", "schatten-4", "spectral")


def certificates(name: str, n_rounds: int) -> store.Row:
    """Fit CoMBo on a whole data set with every norm of pairs; compare what bounds ‖C‖."""
    X, y = load_dataset(name, return_X_y=True)
    paper = CoMBoClassifier(n_estimators=n_rounds).fit(X, y)
    soft = soft_confusion_matrix(y, paper.decision_function(X), loss="exponential")
    row: store.Row = {
        "data set": name,
        "rounds": n_rounds,
        "train norm": float(np.linalg.norm(paper.train_confusion_, ord=2)),
        "root of the product bound": math.sqrt(paper.bound_curve_[-1]),
        "root of L": math.sqrt(paper.loss_curve_[-1]),
        "spectral norm of S": float(np.linalg.norm(soft, ord=2)),
    }
    for norm in NORMS:
        model = CoMBoClassifier(n_estimators=n_rounds, norm=norm).fit(X, y)
        row |= {
            f"{norm}: train norm": float(np.linalg.norm(model.train_confusion_, ord=2)),
            f"{norm}: loss": float(model.loss_curve_[-1]),
            f"{norm}: bound": float(model.bound_curve_[-1]),
        }
    return {key: float(f"{value:.4g}") if isinstance(value, float) else value for key, value in row.items()}


def run(path: Path) -> None:
    """Fit all data sets anew."""
    entries = []
    for name in DATA_SETS:
        for n_rounds in ROUNDS:
            entries.append(certificates(name, n_rounds))
            print(entries[-1], flush=True)
    store.write(path, store.describe_setting("norms", (), {"rounds": ROUNDS}), entries)
