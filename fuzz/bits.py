"""Programs that fit a model in two ways, which must agree to the last bit."""

from collections.abc import Callable
from random import Random

from fuzz.arguments import NORMS, constructor, draw_classes
from fuzz.programs import program
from fuzz.tables import draw_rows

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
    """A classifier that depends on samples and weights alone; ``counts_rows`` allows leaves to count the rows."""
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
            "loss": ["'log'", "'logistic'", "'exponential'"],
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
    if classifier != "AdaBoostMMClassifier" and random.random() < 0.5:
        drawn["norm"] = random.choice(NORMS)
        drawn["loss"] = random.choice(["'logistic'", "'exponential'"])  # which have pairs of classes
    if classifier == "CoMBoClassifier" and "norm" in drawn:
        drawn |= {"step": "'auto'"}
        del drawn["loss"]
    return constructor(classifier, drawn)


NAMES = [
    "np.array(['ash', 'elm', 'fir', 'oak', 'yew'])",
    "np.array([-7, 0, 3, 2**40, 2**62])",
    "np.array([0.0, 1.0, 5.0, 9.0, 1e15])",
    "np.array(['a', 'b', 'c', 'd', 'é'], dtype=object)",
    "np.array([0, 1, 2, 3, 2**64 - 1], dtype=np.uint64)",
]
CONTAINERS = {
    "list": "X.tolist()",
    "Fortran order": "np.asfortranarray(X)",
    "every second row": "np.repeat(X, 2, axis=0)[::2]",
    "every third column": "np.repeat(X, 3, axis=1)[:, ::3]",
    "backwards": "X[::-1].copy()[::-1]",
    "bytes swapped": "X.astype('>f8')",
    "unaligned": "np.frombuffer(b'x' + X.tobytes(), offset=1).reshape(X.shape)",
    "read only": "np.frombuffer(X.tobytes()).reshape(X.shape)",
    "long doubles": "X.astype('longdouble')",
    "objects": "X.astype(object)",
    "masked where NaN": "np.ma.masked_invalid(X)",
    "pandas": "pd.DataFrame(X)",
    "pandas with names": "pd.DataFrame(X).rename(columns='x{}'.format)",
    "pandas Float64": "pd.DataFrame(X).astype('Float64')",
    "polars": "pl.DataFrame(X, schema=[f'x{i}' for i in range(X.shape[1])])",
    "Arrow": "pa.table([pa.array(column) for column in X.T], names=[f'x{i}' for i in range(X.shape[1])])",
    "CSR": "sparse.csr_matrix(X)",
    "CSC": "sparse.csc_array(X)",
    "COO": "sparse.coo_matrix(X)",
}


def draw(random: Random) -> str:
    """One property, on one problem."""
    return random.choice(PROPERTIES)(random)


def weighted(call: str, *, zeros: bool = False) -> Callable[[Random], str]:
    """Programs of a property for samples with or without weights."""

    def draw_property(random: Random) -> str:
        classifier = random.choice(CLASSIFIERS)
        lines, n_samples, _ = draw_rows_and_labels(random)
        given = ""
        if zeros or random.random() < 0.5:
            lines.append(draw_weight_line(random, n_samples, zeros=zeros))
            given = ", sample_weight=sample_weight"
        lines.append(f"model = {draw_booster(random, classifier, counts_rows=True)}")
        return program("\n".join([*lines, call.format(given, random.randrange(1000))]))

    return draw_property


def copies(random: Random) -> str:
    """Weights that count rows; leaves must not count them."""
    lines, n_samples, _ = draw_rows_and_labels(random)
    counts = f"draws.integers(0, 4, size={n_samples})"
    if n_samples <= 100:
        counts = f"np.array({[random.choice([0, 1, 1, 2, 3]) for _ in range(n_samples)]})"
    model = draw_booster(random, random.choice(CLASSIFIERS), counts_rows=False)
    lines += [f"counts = {counts}", f"model = {model}"]
    return program("\n".join([*lines, "never_refused(same_for_copies, model, X, y, counts)"]))


def names(random: Random) -> str:
    """Classes of other names."""
    lines, *_ = draw_rows_and_labels(random)
    lines += [
        f"names = {random.choice(NAMES)}",
        f"model = {draw_booster(random, random.choice(CLASSIFIERS), counts_rows=True)}",
    ]
    return program("\n".join([*lines, "never_refused(same_for_other_names, model, X, y, names)"]))


def containers(random: Random) -> str:
    """Other containers, and float32 where nothing is lost by it."""
    lines, *_ = draw_rows_and_labels(random)
    chosen = random.sample(sorted(CONTAINERS), 4)
    items = ", ".join(f"{name!r}: {CONTAINERS[name]}" for name in chosen)
    if random.random() < 0.4:
        lines += ["X = np.nan_to_num(X).clip(-1e30, 1e30).astype('float32').astype(float)"]
        items += ", 'float32': X.astype('float32')"
    lines.append(f"model = {draw_booster(random, random.choice(CLASSIFIERS), counts_rows=True)}")
    return program("\n".join([*lines, f"never_refused(same_for_containers, model, X, y, {{{items}}})"]))


def scaled(random: Random) -> str:
    """Weights times a power of two; smoothing counts rows by their weight, so only for the paper's classifiers."""
    lines, n_samples, _ = draw_rows_and_labels(random)
    lines.append(draw_weight_line(random, n_samples, zeros=False))
    lines.append(f"model = {draw_booster(random, random.choice(CLASSIFIERS[:2]), counts_rows=True)}")
    factor = f"2.0 ** {random.choice([1, -1, 10, -30, 200, -200])}"
    return program("\n".join([*lines, f"never_refused(same_for_scaled_weights, model, X, y, sample_weight, {factor})"]))


PROPERTIES = [
    weighted("never_refused(same_for_any_threads, model, X, y{0})"),
    weighted("never_refused(same_for_any_order, model, X, y{0}, seed={1})"),
    weighted("never_refused(same_without_weightless_rows, model, X, y{0})", zeros=True),
    weighted("never_refused(same_after_copies, model, X, y{0})"),
    weighted("never_refused(same_for_a_warm_start, model, X, y, 1{0})"),
    weighted("never_refused(same_row_by_row, model, X, y{0})"),
    copies,
    names,
    containers,
    containers,
    scaled,
]
