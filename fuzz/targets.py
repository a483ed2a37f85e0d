"""Labels. In: a number of rows and classes, and chance. Out: expressions of y, from plain to hostile."""

from random import Random

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
