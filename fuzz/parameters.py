"""Parameters. In: a classifier's name, and chance. Out: expressions of its parameters: odd types, and out of range."""

from random import Random

INTEGERS = ["np.int8({})", "np.uint8({})", "np.int16({})", "np.uint16({})", "np.int64({})", "np.uint64({})", "{}"]
WRONG = [
    "None",
    "True",
    "0",
    "-1",
    "'3'",
    "np.nan",
    "[]",
    "1.5",
    "np.array(3)",
    "np.array([3])",
    "1j",
    "object()",
    "10**400",
]
WRONG += [
    "-(10**400)",
    "np.inf",
    "Decimal('0.5')",
    "Decimal('sNaN')",
    "2**31",
    "2**63",
    "b'x'",
    "np.float16(0.5)",
    "pd.NA",
    "''",
]

REALS = ["0.5", "1", "1.0", "np.float32(0.5)", "np.float16(0.25)", "Fraction(1, 2)", "np.int8(1)", "5e-324", "1e-9"]


def integers(low: int, high: int) -> list[str]:
    """A few integers of all types."""
    return [kind.format(value) for kind in INTEGERS for value in {low, (low + high) // 2, high}]


SHARED: dict[str, list[str]] = {
    "max_depth": [*integers(1, 5), "None", "2**31", "10**400", "np.int8(127)", "np.uint8(255)", "np.uint16(65535)"],
    "min_samples_leaf": [*integers(1, 4), "2**31 - 1"],
    "max_bins": [*integers(2, 100), "255", "np.uint8(255)"],
    "categorical_features": ["'from_dtype'", "None", "[0]", "[]", "[True]", "['x0']", "[-1]", "[0, 0]", "[99]", "0",
                             "['x0', 0]", "np.array([0], dtype='uint8')", "[0.0]", "[None]", "'all'", "slice(1)", "{0}",
                             "[2**63]"],
    "n_jobs": ["1", "2", "-1", "None", "0", "2**31", "-(2**31)", "np.int8(2)", "2**31 - 1", "10**400"],
    "random_state": ["0", "np.random.RandomState(3)", "np.random.default_rng(3)", "np.int64(5)", "-1", "2**32", "None",
                     "np.random"],
}  # fmt: skip
BOOSTERS = SHARED | {
    "learning_rate": REALS,
    "min_weight_fraction_leaf": ["0", "0.5", "np.float32(0.1)", "Fraction(1, 3)", "0.51", "5e-324"],
    "max_features": [
        *integers(1, 3),
        "'sqrt'",
        "'log2'",
        "None",
        "0.5",
        "Fraction(1, 2)",
        "2**63",
        "np.float32(0.3)",
        "'auto'",
    ],
    "early_stopping": ["True", "np.True_", "True", "'auto'", "1"],
    "scoring": [
        "None",
        "'accuracy'",
        "'g_mean'",
        "'nope'",
        "lambda model, X, y: 0.0",
        "lambda model, X, y: np.nan",
        "3",
    ],
    "validation_fraction": ["0.5", "0.1", "1e-9", "0.999", "Fraction(1, 2)", "np.float32(0.2)"],
    "n_iter_no_change": [*integers(1, 5), "10**400"],
    "tol": ["0", "0.1", "Fraction(1, 9)", "1e308", "10**400"],
    "refit": ["True", "False", "np.True_"],
    "warm_start": ["True", "False", "np.True_"],
    "verbose": [*integers(0, 3), "True", "2**70"],
    "calibration": ["None", "'temperature'", "'isotonic'", "'platt'"],
    "calibration_folds": [*integers(2, 4), "1", "2**31", "10**400"],
    "decision": ["'argmax'", "'expected_cost'", "'cost'"],
    "reject_cost": ["None", "0.1", "1", "Fraction(1, 3)", "0", "1e300"],
    "reject_label": ["None", "-1", "'reject'", "0", "1.5", "()"],
}
VOTERS = BOOSTERS | {
    "priors": ["None", "'uniform'", "'training'", "'balanced'", "[0.5, 0.5]", "{0: 0.5, 1: 0.5}", "np.full(3, 1 / 3)"],
    "criterion": ["'gini'", "'cost'", "'entropy'"],
    "step": ["'edge'", "'exact'", "'line'"],
    "proba": ["'softmax'", "'vote_fraction'", "'shares'"],
    "estimator": [
        "None",
        "DecisionTreeClassifier(max_depth=1)",
        "LogisticRegression()",
        "object()",
        "DecisionTreeClassifier",
    ],
}
CONFUSION = BOOSTERS | {
    "max_leaf_nodes": [*integers(2, 6), "None", "2**31", "10**400"],
    "loss": ["'log'", "'exponential'", "'hinge'"],
    "smoothing": ["0", "1e6", "1e-300", "5e-324", "np.float32(3)", "Fraction(1, 3)", "10**6 + 1"],
    "balance": ["0", "1", "0.5", "Fraction(1, 2)", "5e-324"],
    "max_thresholds": [*integers(1, 5), "None", "254", "255"],
    "noise": ["0", "1", "100", "Fraction(1, 3)", "5e-324"],
    "priors": ["'uniform'", "'training'", "'balanced'", "None"],
}
BASELINES = {name: SHARED[name] for name in SHARED} | {"criterion": VOTERS["criterion"], "proba": VOTERS["proba"]}

CHOICES = {
    "CoMBoClassifier": VOTERS,
    "AdaBoostMMClassifier": VOTERS,
    "ConfusionBoostingClassifier": CONFUSION,
    "SMOTEBoostClassifier": BASELINES | {"k_neighbors": [*integers(1, 4), "2**63", "10**400"]},
    "AdaBoostNCClassifier": BASELINES,
}


def draw_parameters(random: Random, classifier: str, n_changed: int, wrong: float = 0.2) -> dict[str, str]:
    """A few rounds, and some parameters off their defaults, a share of them anything at all."""
    drawn = {"n_estimators": str(random.randint(1, 6))}
    if random.random() < 0.2:
        drawn["n_estimators"] = random.choice([*integers(1, 5), *WRONG[:14]])
    for name in random.sample(sorted(CHOICES[classifier]), n_changed):
        drawn[name] = random.choice(WRONG if random.random() < wrong else CHOICES[classifier][name])
    return drawn


def constructor(classifier: str, parameters: dict[str, str]) -> str:
    """The call that makes the classifier."""
    return f"{classifier}({', '.join(f'{name}={value}' for name, value in parameters.items())})"
