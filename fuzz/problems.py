"""Problems. In: chance. Out: lines that make plain rows and weights, and a classifier that the laws hold for."""

from random import Random

from fuzz.parameters import constructor
from fuzz.tables import draw_rows
from fuzz.targets import draw_classes

CLASSIFIERS = ["CoMBoClassifier", "AdaBoostMMClassifier"] + 2 * ["ConfusionBoostingClassifier"]


def draw_rows_and_labels(random: Random, *, odd: float = 0.15) -> tuple[list[str], int, int]:
    """Lines that make X and y, the number of rows and that of classes; large tables are drawn by the program itself."""
    n_classes = random.choice([2, 2, 3, 4, 5])
    if random.random() < 0.1:
        return draw_large(random, n_classes)
    n_samples, n_features = random.randint(n_classes, 25), random.randint(1, 3)
    odd = random.choice([0.0, odd])
    X = f"np.array({draw_rows(random, n_samples, n_features, odd=odd)}).reshape({n_samples}, {n_features})"
    return [f"X = {X}", f"y = np.array({draw_classes(random, n_samples, n_classes)})"], n_samples, n_classes


def draw_large(random: Random, n_classes: int) -> tuple[list[str], int, int]:
    """More rows than one thread takes at a time."""
    n_samples, n_features = random.randint(4097, 9000), random.randint(1, 5)
    lines = [
        f"draws = np.random.default_rng({random.randrange(1000)})",
        f"X = draws.normal(size=({n_samples}, {n_features}))",
        f"y = (np.abs(X[:, 0]) + draws.exponential(size={n_samples})).astype(int) % {n_classes}",
        f"y[:{n_classes}] = np.arange({n_classes})",
    ]
    return lines, n_samples, n_classes


def draw_weight_line(random: Random, n_samples: int, *, zeros: bool) -> str:
    """A line that makes weights of a few magnitudes; every class keeps rows that count."""
    if n_samples > 100:
        return f"sample_weight = draws.integers({int(not zeros)}, 4, size={n_samples}) + 0.0"
    choices = random.choice(
        [["1.0", "2.0", "3.0"], ["0.25", "1.5"], ["0.1", "0.7", "3.3"], ["1e-3", "1e3"], ["1e200", "3e200"]]
    )
    weights = [random.choice(choices + ["0.0"] * zeros) for _ in range(n_samples)]
    return f"sample_weight = np.array([{', '.join(weights)}])"


def draw_booster(random: Random, classifier: str, *, counts_rows: bool) -> str:
    """A classifier that depends on rows and weights alone; ``counts_rows`` allows leaves to count the rows."""
    drawn = {"n_estimators": str(random.randint(1, 6)), "random_state": str(random.randint(0, 5))}
    drawn["max_depth"] = random.choice(["1", "2", "3", "4", "None"])
    options = {
        "learning_rate": ["1.0", "0.5", "0.1"],
        "min_weight_fraction_leaf": ["0.0", "0.01", "0.2"],
        "max_features": ["None", "1", "'sqrt'"],
        "max_bins": ["255", "2", "3", "8"],
    }
    if counts_rows:
        options["min_samples_leaf"] = ["1", "2", "3"]
    if classifier == "ConfusionBoostingClassifier":
        options |= {
            "loss": ["'log'", "'exponential'"],
            "smoothing": ["0.0", "1.0", "10.0"],
            "balance": ["1", "0.5", "0"],
        }
        options |= {"max_leaf_nodes": ["None", "3", "5"], "max_thresholds": ["None", "1", "3"], "noise": ["0.0", "1.0"]}
        options |= {"priors": ["'uniform'", "'training'"]}
    else:
        options |= {"criterion": ["'gini'", "'cost'"], "step": ["'edge'", "'exact'"]}
        options |= {"proba": ["'softmax'", "'vote_fraction'"]}
    for name in random.sample(sorted(options), random.randint(0, 4)):
        drawn[name] = random.choice(options[name])
    return constructor(classifier, drawn)
