"""Synthetic summaries for tests of the page, with any names of classes and features."""

import math

import numpy as np

ODD_NAMES = [
    "<script>alert(1)</script>",
    "\"quoted\" & 'quoted' `too`",
    "\u202eright to left\u202c and עברית",
    "two\nlines and\ta tab",
    "x" * 300,
    "👩‍🔬 emoji ✅",
    "</td></table><h1>out",
    "",
    "{{ 7 * 7 }} {% raw %}",
    "bell\x07 and half \ud800 a character",
]
TITLES = ["ConfusionBoostingClassifier", "HistGradientBoostingClassifier"]
METRICS = [
    ("norm", "‖C‖", "Norm of the confusion matrix.", False),
    ("g_mean", "G-mean", "Geometric mean of the recalls.", True),
    ("mean_recall", "Mean recall", "Mean of the recalls.", True),
    ("worst_recall", "Worst recall", "Lowest recall of any class.", True),
    ("accuracy", "Accuracy", "Fraction of samples predicted correctly.", True),
]


def class_names(n_classes):
    """Odd names first, then plain ones."""
    return [*ODD_NAMES, *(f"class {number}" for number in range(n_classes))][:n_classes]


def make_summary(names, *, features=("area", "age", "mass"), baseline=True, seed=0, rejects=False):
    """A summary of a model on classes of these names, and of a baseline that is a little worse."""
    random = np.random.default_rng(seed)
    rows = np.sort(random.integers(3, 400, len(names)))[::-1].tolist()
    columns = [*names, "rejected"] if rejects else list(names)
    titles = TITLES[: 1 + baseline]
    counts = [
        np.array([draw_row(random, place, n, len(columns), good) for place, n in enumerate(rows)])
        for good in (0.8, 0.7)[: 1 + baseline]
    ]
    classes = [make_class(name, place, names, counts) for place, name in enumerate(names)]
    return {
        "format": 2,
        "title": f"{titles[0]} on {sum(rows)} samples, {len(names)} classes",
        "request": make_request(titles, sum(rows), len(features), len(names)),
        "verdict": make_verdict(classes, baseline),
        "notes": ["One class has fewer than 10 samples.", "Metrics on training data are optimistic."],
        "models": [make_model(title, each, len(names)) for title, each in zip(titles, counts, strict=True)],
        "predicted_labels": columns,
        "differences": [make_difference(*metric, random) for metric in METRICS] if baseline else None,
        "classes": classes,
        "bounds": make_bounds(len(names)),
        "curves": make_curves(),
        "calibration": [make_calibration(title, random) for title in titles],
        "confused_pairs": make_pairs(names, features, counts),
        "importances": make_importances(names, features, random),
        "search": make_search(),
        "parameters": [
            make_parameter("learning_rate", "0.1", "0.3"),
            make_parameter("cost_matrix", "None", "None"),
            make_parameter("n_estimators", "200", "100"),
        ],
        "baseline_parameters": [make_parameter("max_iter", "100", "100")] if baseline else None,
        "unavailable": {},
        "versions": {"comboost": "0.1.0", "python": "3.11.7", "numpy": "2.4.0", "scikit-learn": "1.8.0"},
        "reproduction": make_reproduction(),
    }


def make_request(titles, n_samples, n_features, n_classes):
    model, other = titles if len(titles) > 1 else (*titles, None)
    comparison = "?" if other is None else f", and does it differ from that of {other}?"
    return {
        "model": model,
        "baseline": other,
        "n_samples": n_samples,
        "n_features": n_features,
        "n_classes": n_classes,
        "target": "target",
        "source": "data.csv",
        "confidence": 0.95,
        "question": f"What is the recall of {model} on {n_samples} samples{comparison}",
    }


def make_verdict(classes, baseline):
    sides = {
        side: [each["name"] for each in classes if side_of(each["difference"]) == side]
        for side in ("higher", "lower", "not_significant")
    }
    sentences = [
        f"Recall is significantly higher for {len(sides['higher'])} of {len(classes)} classes.",
        f"It is significantly lower for {len(sides['lower'])}.",
    ]
    return {"kind": "mixed" if baseline else "no_baseline", "sentences": sentences, **sides}


def make_bounds(n_classes):
    return {
        "available": True,
        "reason": None,
        "measure": "‖C‖",
        "training_norm": 0.21,
        "loss": 0.34,
        "certified": 0.41,
        "generalization": {
            "confidence": 0.95,
            "maximum": math.sqrt(n_classes),
            "metrics": [
                make_bound("norm", "‖C‖", 0.41, 1.37, is_upper=True),
                make_bound("g_mean", "G-mean", 0.7, 0.51),
                make_bound("worst_recall", "Worst recall", 0.3, 0.0, vacuous=True),
            ],
        },
        "sentences": [
            "On new data ‖C‖ is at most 1.37 with 95 % confidence.",
            "On the training data ‖C‖ is 0.210; the certified bound is 0.640.",
        ],
    }


def make_bound(key, name, value, bound, *, is_upper=False, vacuous=False):
    return {"key": key, "name": name, "value": value, "bound": bound, "is_upper": is_upper, "vacuous": vacuous}


def make_search(n_candidates=6):
    candidates = [
        {
            "smoothing": 0.3 * 10 ** (number % 3),
            "max_depth": None if number == 1 else 3 + number,
            "loss": 1.2 + 0.01 * number,
            "best_round": 30 + number,
            "n_rounds": 1234 + number,
            "cost": 0.4 + number,
            "outcome": "selected" if number == 2 else ("completed", "stopped")[number % 2],
        }
        for number in range(n_candidates)
    ]
    return {
        "outcome": "selected",
        "sentences": [f"Selected by the class-balanced log-loss on held-out samples from {n_candidates} candidates."],
        "best_params": {"n_estimators": 248, "learning_rate": 0.1, "max_depth": 5, "smoothing": 3.0},
        "candidates": candidates,
        "cost": sum(each["cost"] for each in candidates),
    }


def make_parameter(name, value, default):
    return {"name": name, "value": value, "default": default, "changed": value != default}


def make_reproduction():
    return {
        "sentences": ["The same data and versions give the same report."],
        "code": 'from comboost import load_model\n\nmodel = load_model("a<b.comboost")\nprint("&amp;")\n',
        "data_digest": "sha256:" + "0123456789abcdef" * 4,
    }


def draw_row(random, place, n, n_columns, good):
    """Predictions for the samples of a class: most are correct, the others spread over a few classes."""
    taken = np.zeros(n_columns, dtype=int)
    taken[place] = right = int(random.binomial(n, good)) if n_columns > 1 else n
    others = [other % n_columns for other in range(place + 1, place + min(n_columns, 5))]
    if others:
        taken[others] += random.multinomial(n - right, random.dirichlet(np.ones(len(others))))
    return taken


def make_class(name, place, names, counts):
    figures = [recall_of(each[place], place, names) for each in counts]
    return {
        "name": name,
        "n_samples": int(counts[0][place].sum()),
        "known": True,
        "models": figures,
        "difference": difference_of(*figures) if len(figures) > 1 else None,
    }


def recall_of(taken, place, names):
    n = int(taken.sum())
    recall, width = taken[place] / n, 1.96 * math.sqrt(0.25 / n)
    others = np.where(np.arange(len(taken)) == place, 0, taken)
    most = int(others.argmax())
    return {
        "recall": float(recall),
        "interval": [float(max(0, recall - width)), float(min(1, recall + width))],
        "precision": float(recall) ** 2,
        "predicted_as": [*names, "rejected"][most] if others[most] else None,
        "predicted_as_fraction": float(others[most] / n) if others[most] else None,
    }


def difference_of(model, other):
    value = model["recall"] - other["recall"]
    return {"value": value, "interval": [value - 0.08, value + 0.08], "significant": abs(value) > 0.08}


def side_of(difference):
    if difference is None or not difference["significant"]:
        return "not_significant"
    return "higher" if difference["value"] > 0 else "lower"


def make_model(title, counts, n_classes):
    fractions = counts / counts.sum(axis=1, keepdims=True)
    recalls = np.diagonal(fractions)
    confusion = np.where(np.eye(*fractions.shape, dtype=bool), 0.0, fractions)
    values = [
        float(np.linalg.norm(confusion)),  # a little more than the norm, and fast for a thousand classes
        float(np.exp(np.log(np.maximum(recalls, 1e-9)).mean())),
        float(recalls.mean()),
        float(recalls.min()),
        float(counts.diagonal().sum() / counts.sum()),
    ]
    metrics = [
        {
            "key": key,
            "name": name,
            "description": description,
            "value": value,
            "interval": [0.9 * value, 1.1 * value],
            "higher_is_better": higher_is_better,
        }
        for (key, name, description, higher_is_better), value in zip(METRICS, values, strict=True)
    ]
    mauc = {"key": "mauc", "name": "MAUC", "description": "Area under the ROC curve.", "value": 0.91}
    metrics.append(mauc | {"interval": None, "higher_is_better": True})
    return {
        "name": title,
        "estimator": title,
        "metrics": metrics,
        "confusion_matrix": counts.tolist(),
        "error_confusion_matrix": confusion.tolist(),
    }


def make_difference(key, name, description, higher_is_better, random):
    value = float(random.normal(0.0, 0.05))
    return {
        "key": key,
        "name": name,
        "value": value,
        "interval": [value - 0.04, value + 0.04],
        "significant": abs(value) > 0.04,
    }


def make_curves(n_rounds=120):
    rounds = list(range(1, n_rounds + 1))
    series = {
        "loss": ("Loss", [90 * 0.95**number for number in rounds]),
        "bound": ("Certified bound", [90 * 0.96**number for number in rounds]),
        "norm_train": ("‖C‖ on the training samples", [0.9 * 0.98**number for number in rounds]),
        "norm_test": (
            "‖C‖ on the test samples",
            [0.3 + 0.6 * 0.97**number if number > 3 else None for number in rounds],
        ),
    }
    return {
        "rounds": rounds,
        "series": [{"key": key, "name": name, "values": values} for key, (name, values) in series.items()],
        "stop_reason": "n_estimators",
        "best_round": 87,
        "subsampled": False,
    }


def make_calibration(title, random):
    bins = []
    for low in np.arange(0.2, 1.0, 0.1).tolist():
        accuracy = min(1.0, low + float(random.uniform(-0.05, 0.1)))
        interval = [max(0.0, accuracy - 0.07), min(1.0, accuracy + 0.06)]
        entry = {"lower": low, "upper": low + 0.1, "n_samples": 40, "confidence": low + 0.05, "accuracy": accuracy}
        bins.append(entry | {"interval": interval})
    return {"model": title, "bins": bins, "calibration_error": 0.034}


def make_pairs(names, features, counts):
    off = np.where(np.eye(*counts[0].shape, dtype=bool), 0, counts[0])[:, : len(names)]
    places = [divmod(int(flat), off.shape[1]) for flat in np.argsort(-off, axis=None)[:10]]
    sizes = counts[0].sum(axis=1)
    values = [f"{number}.5 <b>" for number in range(len(features[:8]))]
    return [
        {
            "true_class": names[truth],
            "predicted_as": names[other],
            "n_samples": int(off[truth, other]),
            "fraction": float(off[truth, other] / sizes[truth]),
            "baseline_fraction": float(counts[1][truth, other] / sizes[truth]) if len(counts) > 1 else None,
            "examples": {
                "features": list(features[:8]),
                "samples": [{"index": index, "values": values} for index in (3, 17, "row <x>")],
            },
        }
        for truth, other in places
        if off[truth, other]
    ]


def make_importances(names, features, random):
    importances = random.dirichlet(np.ones(len(features)), len(names))[:, :12]
    return {
        "features": list(features[:12]),
        "classes": list(names),
        "values": importances.tolist(),
        "overall": importances.mean(axis=0).tolist(),
        "n_features": len(features),
        "description": "Fraction of the variance of the scores.",
    }
