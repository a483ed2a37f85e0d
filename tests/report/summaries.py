"""Summaries made by hand, for tests of the page: of any classes and features, with figures that fit together."""

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
MEASURES = [
    ("norm", "‖C‖", "The norm of the confusion matrix: how far the worst mixture of classes is misjudged.", "low"),
    ("g_mean", "G-mean", "The geometric mean of the recalls: 0 as soon as a class is never found.", "high"),
    ("mean_recall", "Mean recall", "The mean of the recalls: every class counts the same.", "high"),
    ("worst_recall", "Worst recall", "The recall of the class that is found least.", "high"),
    ("accuracy", "Accuracy", "The share of rows that is right: large classes count most.", "high"),
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
        "format": 1,
        "title": f"{titles[0]} on {sum(rows)} rows, {len(names)} classes",
        "asked": make_question(titles, sum(rows), len(features), len(names)),
        "verdict": make_verdict(classes, baseline),
        "notes": ["One class has fewer than 5 rows: its interval is wide.", "3 rows look like rows of the training."],
        "models": [make_model(title, each, len(names)) for title, each in zip(titles, counts, strict=True)],
        "columns": columns,
        "differences": [make_difference(*measure, random) for measure in MEASURES] if baseline else None,
        "classes": classes,
        "bounds": make_bounds(len(names)),
        "curves": make_curves(),
        "calibration": [make_calibration(title, random) for title in titles],
        "pairs": make_pairs(names, features, counts),
        "importances": make_importances(names, features, random),
        "settings": [
            make_setting("learning_rate", "0.1", "0.3"),
            make_setting("cost_matrix", "None", "None"),
            make_setting("n_estimators", "200", "100"),
        ],
        "baseline_settings": [make_setting("max_iter", "100", "100")] if baseline else None,
        "absent": {},
        "versions": {"comboost": "0.1.0", "python": "3.11.7", "numpy": "2.4.0", "scikit-learn": "1.8.0"},
        "reproduce": make_recipe(),
    }


def make_question(titles, n_rows, n_features, n_classes):
    model, other = titles if len(titles) > 1 else (*titles, None)
    comparison = "?" if other is None else f", and is that more than {other} finds?"
    return {
        "model": model,
        "baseline": other,
        "n_rows": n_rows,
        "n_features": n_features,
        "n_classes": n_classes,
        "target": "target",
        "source": "data.csv",
        "confidence": 0.95,
        "sentence": f"How much of every class does {model} find in {n_rows} rows{comparison}",
    }


def make_verdict(classes, baseline):
    sides = {
        side: [each["name"] for each in classes if side_of(each["difference"]) == side]
        for side in ("better", "worse", "undecided")
    }
    sentences = [
        f"Of {len(classes)} classes, {len(sides['better'])} are found more often than by the baseline.",
        f"{len(sides['worse'])} are found less often; for the others these rows cannot tell.",
    ]
    return {"kind": "mixed" if baseline else "alone", "sentences": sentences, **sides}


def make_bounds(n_classes):
    return {
        "available": True,
        "reason": None,
        "training_norm": 0.21,
        "loss": 0.34,
        "certified": 0.41,
        "corollary": {"value": 1.37, "norm": 0.41, "confidence": 0.95, "most": math.sqrt(n_classes)},
        "sentences": ["On the training rows ‖C‖ is 0.210, and the rounds certify that it is at most 0.640."],
    }


def make_setting(name, value, default):
    return {"name": name, "value": value, "default": default, "changed": value != default}


def make_recipe():
    return {
        "sentences": ["Run this with the same data and the same versions; every byte will be the same."],
        "code": 'from comboost import load_model\n\nmodel = load_model("a<b.comboost")\nprint("&amp;")\n',
        "data_digest": "sha256:" + "0123456789abcdef" * 4,
    }


def draw_row(random, place, n, n_columns, good):
    """Predictions for the rows of a class: most of them right, the others spread over a few classes."""
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
        "rows": int(counts[0][place].sum()),
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
        "low": float(max(0, recall - width)),
        "high": float(min(1, recall + width)),
        "precision": float(recall) ** 2,
        "taken_for": [*names, "rejected"][most] if others[most] else None,
        "taken_for_share": float(others[most] / n) if others[most] else None,
    }


def difference_of(model, other):
    value = model["recall"] - other["recall"]
    low, high = value - 0.08, value + 0.08
    return {"value": value, "low": low, "high": high, "sure": low > 0 or high < 0}


def side_of(difference):
    if difference is None or not difference["sure"]:
        return "undecided"
    return "better" if difference["value"] > 0 else "worse"


def make_model(title, counts, n_classes):
    shares = counts / counts.sum(axis=1, keepdims=True)
    recalls = np.diagonal(shares)
    confusion = np.where(np.eye(*shares.shape, dtype=bool), 0.0, shares)
    values = [
        float(np.linalg.norm(confusion)),  # a little more than the norm, and fast for a thousand classes
        float(np.exp(np.log(np.maximum(recalls, 1e-9)).mean())),
        float(recalls.mean()),
        float(recalls.min()),
        float(counts.diagonal().sum() / counts.sum()),
    ]
    measures = [
        {
            "key": key,
            "name": name,
            "meaning": meaning,
            "value": value,
            "low": 0.9 * value,
            "high": 1.1 * value,
            "best": best,
        }
        for (key, name, meaning, best), value in zip(MEASURES, values, strict=True)
    ]
    unsure = {"low": None, "high": None, "best": "high", "meaning": "How well probabilities rank pairs of classes."}
    measures.append({"key": "mauc", "name": "MAUC", "value": 0.91, **unsure})
    return {
        "name": title,
        "kind": title,
        "measures": measures,
        "counts": counts.tolist(),
        "confusion": confusion.tolist(),
    }


def make_difference(key, name, meaning, best, random):
    value = float(random.normal(0.0, 0.05))
    return {
        "key": key,
        "name": name,
        "value": value,
        "low": value - 0.04,
        "high": value + 0.04,
        "sure": abs(value) > 0.04,
    }


def make_curves(n_rounds=120):
    rounds = list(range(1, n_rounds + 1))
    series = {
        "loss": ("Loss", [90 * 0.95**number for number in rounds]),
        "bound": ("Certified bound", [90 * 0.96**number for number in rounds]),
        "norm_train": ("‖C‖ on training rows", [0.9 * 0.98**number for number in rounds]),
        "norm_validation": (
            "‖C‖ on validation rows",
            [0.3 + 0.6 * 0.97**number if number > 3 else None for number in rounds],
        ),
    }
    return {
        "rounds": rounds,
        "series": [{"key": key, "name": name, "values": values} for key, (name, values) in series.items()],
        "stopped": "all rounds were made",
        "best_round": 87,
        "thinned": False,
    }


def make_calibration(title, random):
    bins = []
    for low in np.arange(0.2, 1.0, 0.1).tolist():
        right = min(1.0, low + float(random.uniform(-0.05, 0.1)))
        limits = {"low": max(0.0, right - 0.07), "high": min(1.0, right + 0.06)}
        bins.append({"from": low, "to": low + 0.1, "rows": 40, "predicted": low + 0.05, "right": right, **limits})
    return {"model": title, "bins": bins, "error": 0.034}


def make_pairs(names, features, counts):
    off = np.where(np.eye(*counts[0].shape, dtype=bool), 0, counts[0])[:, : len(names)]
    places = [divmod(int(flat), off.shape[1]) for flat in np.argsort(-off, axis=None)[:10]]
    sizes = counts[0].sum(axis=1)
    values = [f"{number}.5 <b>" for number in range(len(features[:8]))]
    return [
        {
            "truth": names[truth],
            "taken_for": names[other],
            "rows": int(off[truth, other]),
            "share": float(off[truth, other] / sizes[truth]),
            "baseline_share": float(counts[1][truth, other] / sizes[truth]) if len(counts) > 1 else None,
            "examples": {
                "columns": list(features[:8]),
                "rows": [{"row": row, "values": values} for row in (3, 17, "row <x>")],
            },
        }
        for truth, other in places
        if off[truth, other]
    ]


def make_importances(names, features, random):
    shares = random.dirichlet(np.ones(len(features)), len(names))[:, :12]
    return {
        "features": list(features[:12]),
        "classes": list(names),
        "values": shares.tolist(),
        "overall": shares.mean(axis=0).tolist(),
        "n_features": len(features),
        "meaning": "How much a feature moves the votes for a class, on average over the training rows.",
    }
