"""Expressions of all arguments but X: parameters, y, sample_weight and cost_matrix, from plain to invalid."""

from random import Random

from fuzz.values import COST_KINDS, WEIGHT_KINDS

# Parameters

INTEGERS = ["np.int8({})", "np.uint8({})", "np.int16({})", "np.uint16({})", "np.int64({})", "np.uint64({})", "{}"]
WRONG_PARAMETERS = [
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
WRONG_PARAMETERS += [
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
PAPER = BOOSTERS | {
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
NORMS = ["'entrywise'", "'frobenius'", "'schatten-4'", "'spectral'", "'worst-class'", "'l2-class'"]
OTHER_NORMS = [
    "OwnNorm()",
    "OwnNorm('classes')",
    "OwnNorm('rows')",
    "OwnNorm(factor=-1.0)",
    "OwnNorm(factor=np.nan)",
    "OwnNorm",
    "'nuclear'",
    "'Spectral'",
]
COMBO = PAPER | {"norm": NORMS + OTHER_NORMS}
CONFUSION = BOOSTERS | {
    "norm": NORMS + OTHER_NORMS,
    "max_leaf_nodes": [*integers(2, 6), "None", "2**31", "10**400"],
    "loss": ["'log'", "'logistic'", "'exponential'", "'hinge'"],
    "smoothing": ["0", "1e6", "1e-300", "5e-324", "np.float32(3)", "Fraction(1, 3)", "10**6 + 1"],
    "balance": ["0", "1", "0.5", "Fraction(1, 2)", "5e-324"],
    "max_thresholds": [*integers(1, 5), "None", "254", "255"],
    "noise": ["0", "1", "100", "Fraction(1, 3)", "5e-324"],
    "priors": ["'uniform'", "'training'", "'balanced'", "None"],
}
BASELINES = {name: SHARED[name] for name in SHARED} | {"criterion": PAPER["criterion"], "proba": PAPER["proba"]}

CHOICES = {
    "CoMBoClassifier": COMBO,
    "AdaBoostMMClassifier": PAPER,
    "ConfusionBoostingClassifier": CONFUSION,
    "SMOTEBoostClassifier": BASELINES | {"k_neighbors": [*integers(1, 4), "2**63", "10**400"]},
    "AdaBoostNCClassifier": BASELINES,
}


def draw_parameters(random: Random, classifier: str, n_changed: int, wrong: float = 0.2) -> dict[str, str]:
    """A few rounds, and some parameters off their defaults, a fraction `wrong` of them anything at all."""
    drawn = {"n_estimators": str(random.randint(1, 6))}
    if random.random() < 0.2:
        drawn["n_estimators"] = random.choice([*integers(1, 5), *WRONG_PARAMETERS[:14]])
    for name in random.sample(sorted(CHOICES[classifier]), n_changed):
        drawn[name] = random.choice(WRONG_PARAMETERS if random.random() < wrong else CHOICES[classifier][name])
    return drawn


def constructor(classifier: str, parameters: dict[str, str]) -> str:
    """The call that makes the classifier."""
    return f"{classifier}({', '.join(f'{name}={value}' for name, value in parameters.items())})"


# Labels

ALPHABETS: list[list[str]] = [
    ["0", "1", "2", "3", "4"],
    ["-5", "7", "100", "2", "3"],
    ["'ash'", "'elm'", "'fir'", "'oak'", "'yew'"],
    ["2**53", "2**53 + 1", "2**53 + 2", "-1", "0"],
    ["2**63", "2**64 - 1", "1", "2", "3"],
    ["10**30", "10**30 + 1", "0", "1", "2"],
    ["'a'", "'a\\0'", "''", "' '", "'\\n'"],
    ["0.0", "1.0", "2.0", "3.0", "-1.0"],
    ["True", "False"],
    ["b'a'", "b'b'", "b'c'"],
    ["(0, 1)", "(1, 2)", "(2, 3)"],
    ["Fraction(1, 2)", "Fraction(3)", "Fraction(5)"],
    ["np.datetime64('2020-01-01')", "np.datetime64('2021-01-01')"],
    ["np.int8(1)", "np.int8(2)", "np.int8(3)"],
    ["datetime.date(2020, 1, 1)", "datetime.date(2020, 1, 2)"],
]
STRANGERS = [
    "np.nan",
    "None",
    "np.datetime64('NaT', 's')",
    "pd.NA",
    "pd.NaT",
    "'1'",
    "1",
    "0.5",
    "np.inf",
    "1j",
    "[1]",
    "'nan'",
]
CONTAINERS = ["{}", "{}", "np.array({})", "np.array({}, dtype=object)", "tuple({})", "pd.Series({})"]
ODD_CONTAINERS = [
    "as_objects({0}, ({1}, 1))", "pd.Categorical({0})", "pd.Series({0}, index=range({1}, 0, -1))",
    "pl.Series({0}, strict=False)",
    "pd.Series({0}, dtype='category')", "pd.DataFrame({{'y': {0}}})", "np.ma.array({0}, mask={2})", "iter({0})",
    "np.array({0}).astype(str)", "pd.Series({0}).astype('string')", "set({0})", "np.ma.array({0})", "pd.Index({0})",
]  # fmt: skip
NO_LABELS = ["None", "3", "'ab'", "[]", "np.zeros((3, 2))", "object()", "[[1], [2, 3]]", "np.array(1)", "lambda: 0"]


def draw_classes(random: Random, n_samples: int, n_classes: int) -> list[int]:
    """Class indices, every class among them if there are rows enough."""
    drawn = [i % n_classes if i < n_classes else random.randrange(n_classes) for i in range(n_samples)]
    random.shuffle(drawn)
    return drawn


def draw_labels(random: Random, n_samples: int) -> tuple[str, str]:
    """The labels as a list, and y in a container."""
    alphabet = random.choice(ALPHABETS[:3] * 3 + ALPHABETS)
    n_classes = random.choice([1, 2, 2, 3, 3, len(alphabet)])
    labels = [alphabet[i % len(alphabet)] for i in draw_classes(random, n_samples, min(n_classes, len(alphabet)))]
    if random.random() < 0.2 and labels:
        labels[random.randrange(n_samples)] = random.choice(STRANGERS)
    if random.random() < 0.05:
        labels = labels[:-1]
    if random.random() < 0.04:
        return "[]", random.choice(NO_LABELS)
    listed = f"[{', '.join(labels)}]"
    if random.random() < 0.6:
        return listed, random.choice(CONTAINERS).replace("{}", "labels")
    mask = repr([random.random() < 0.2 for _ in labels])
    return listed, random.choice(ODD_CONTAINERS).format("labels", len(labels), mask)


# Sample weights

WRONG_WEIGHTS = ["-1.0", "np.nan", "np.inf", "'1'", "None", "1j", "10**400", "Decimal('sNaN')", "pd.NA"]


def draw_weight_list(random: Random, n_samples: int) -> list[str]:
    """Literals of weights of one kind, none of them wrong; some kinds reach the ends of float64."""
    low, high = random.choice([(-300, 300), (-320, -300), (300, 307)])
    if random.random() < 0.2:
        return [repr(random.uniform(1, 10) * 10.0 ** random.randint(low, high)) for _ in range(n_samples)]
    kind = random.choice(WEIGHT_KINDS)
    return [repr(kind(random)) for _ in range(n_samples)]


def draw_weights(random: Random, n_samples: int) -> str:
    """An expression of ``sample_weight``."""
    if random.random() < 0.4:
        return "None"
    if random.random() < 0.1:
        return random.choice(
            ["1.0", "2", "np.float32(0.5)", "np.array(3.0)", "0", "'balanced'", "[]", "True", "-1", "object()"]
        )
    weights = draw_weight_list(random, n_samples)
    if random.random() < 0.1 and weights:
        weights[random.randrange(n_samples)] = random.choice(WRONG_WEIGHTS)
    if random.random() < 0.04:
        weights = weights[:-1]
    mask = repr([random.random() < 0.2 for _ in weights])
    containers = [
        "np.array({})",
        "{}",
        "np.array({}, dtype='float32')",
        "pd.Series({}, index=range({1}, 0, -1))",
        "pl.Series({})",
    ]
    containers += ["np.ma.array({}, mask={2})", "np.array({})[:, None]", "np.array({}, dtype=object)", "tuple({})"]
    container = random.choices(containers, [6, 3, 2, 1, 1, 1, 1, 1, 1])[0]
    listed = f"[{', '.join(weights)}]"
    return container.replace("{}", listed).replace("{1}", str(len(weights))).replace("{2}", mask)


# Cost matrices

WRONG_COSTS = ["-1.0", "np.nan", "np.inf", "10**400", "Decimal('sNaN')", "'x'", "1j", "None", "1e9", "Fraction(1, 3)"]


def draw_costs(random: Random, n_classes: int) -> str:
    """An expression of ``cost_matrix`` for classes that are numbered."""
    kind = random.choice(
        ["none", "none", "plain", "plain", "vector", "dict", "frame", "wrong", "masked", "shape", "odd"]
    )
    one = random.choice(COST_KINDS)
    rows = [["0" if i == j else repr(one(random)) for j in range(n_classes)] for i in range(n_classes)]
    if kind == "none":
        return "None"
    if kind == "vector":
        return f"[{', '.join(row[0] if i else row[-1] for i, row in enumerate(rows))}]"
    if kind == "dict":
        return f"dict(enumerate([{', '.join(rows[i][i - 1] for i in range(n_classes))}]))"
    if kind == "wrong":
        rows[random.randrange(n_classes)][random.randrange(n_classes)] = random.choice(WRONG_COSTS)
    if kind == "shape":
        rows = rows[:-1]
    listed = f"[{', '.join('[' + ', '.join(row) + ']' for row in rows)}]"
    if kind == "frame":
        return f"pd.DataFrame({listed})"
    if kind == "masked":
        return f"np.ma.array({listed}, mask=np.arange({n_classes**2}).reshape({n_classes}, {n_classes}) == 1)"
    if kind == "odd":
        return random.choice(
            [f"pl.DataFrame({listed})", f"sparse.csr_matrix({listed})", "'balanced'", "3", "{}", "[]", "object()"]
        )
    return random.choice([listed, f"np.array({listed})"])
