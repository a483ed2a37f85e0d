"""Write model files and pickles of the current format, and the predictions of their models.

Existing files are kept: later versions must read them. Run it as ``python tests/files/write.py``.
"""

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd

from comboost import AdaBoostMMClassifier, CoMBoClassifier, ConfusionBoostingClassifier
from comboost._persistence.schema import FORMAT
from comboost.baselines import AdaBoostNCClassifier, SMOTEBoostClassifier

FOLDER = Path(__file__).parent
MODELS = {
    "combo": CoMBoClassifier(
        n_estimators=4,
        cost_matrix={"ash": 1.0, "elm": 2.0, "fir": 3.0},
        calibration="temperature",
        priors="training",
        random_state=0,
    ),
    "mm": AdaBoostMMClassifier(
        n_estimators=4, max_depth=2, proba="vote_fraction", step="exact", priors={"ash": 0.5, "elm": 0.3, "fir": 0.2}
    ),
    "confusion": ConfusionBoostingClassifier(
        n_estimators=3,
        max_depth=2,
        priors="training",
        early_stopping=True,
        calibration="isotonic",
        decision="expected_cost",
        reject_cost=0.4,
    ),
    "nc": AdaBoostNCClassifier(n_estimators=3, random_state=0),
    "smote": SMOTEBoostClassifier(n_estimators=3, random_state=0),
}


def make_columns(n_samples, seed):
    """Numbers, some of them missing, and categories, by the names of the columns."""
    random = np.random.default_rng(seed)
    numbers = random.normal(size=(n_samples, 2)).round(3)
    columns = {"Höhe": numbers[:, 0].tolist(), "girth": numbers[:, 1].tolist()}
    columns["girth"][:: 1 + n_samples // 7] = [None] * len(columns["girth"][:: 1 + n_samples // 7])
    return columns | {"soil": random.choice(["clay", "loam", "sand", None], size=n_samples).tolist()}


def as_frame(columns):
    """A table of such columns."""
    frame = pd.DataFrame(columns)
    return frame.assign(girth=frame["girth"].astype(float), soil=frame["soil"].astype("category"))


def make_labels(columns, seed):
    """Three classes that depend on the columns, with mistakes."""
    random = np.random.default_rng(seed)
    labels = [(height > 0) + (soil == "clay") for height, soil in zip(columns["Höhe"], columns["soil"], strict=True)]
    return np.array(["ash", "elm", "fir"])[np.where(random.random(len(labels)) < 0.2, 2, labels)]


def answers_of(model, frame):
    """Predictions of a model: scores to the last bit, probabilities as the machine's exp rounds them."""
    return {
        "predict": model.predict(frame).tolist(),
        "decision_function": [[score.hex() for score in row] for row in model.decision_function(frame).tolist()],
        "predict_proba": model.predict_proba(frame).tolist(),
    }


def write():
    """Write the files that do not exist."""
    columns, rows = make_columns(120, 0), make_columns(20, 1)
    for name, model in MODELS.items():
        path = FOLDER / f"{name}-{FORMAT}.comboost"
        if path.exists():
            continue
        model.fit(as_frame(columns), make_labels(columns, 0))
        model.save_model(path)
        path.with_suffix(".pickle").write_bytes(pickle.dumps(model, protocol=4))
        said = {"rows": rows, "answers": answers_of(model, as_frame(rows))}
        path.with_suffix(".json").write_text(json.dumps(said, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    write()
