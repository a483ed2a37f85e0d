"""Bits. In: chance. Out: programs that make a model in two ways, which must give the same model to the last bit."""

from collections.abc import Callable
from random import Random

from fuzz.problems import CLASSIFIERS, draw_booster, draw_rows_and_labels, draw_weight_line
from fuzz.programs import program

SECONDS = 30
SHARE = 3.0

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
    """One law, on one problem."""
    return random.choice(LAWS)(random)


def weighted(law: str, *, zeros: bool = False) -> Callable[[Random], str]:
    """Programs of a law for rows with or without weights."""

    def draw_law(random: Random) -> str:
        classifier = random.choice(CLASSIFIERS)
        lines, n_samples, _ = draw_rows_and_labels(random)
        given = ""
        if zeros or random.random() < 0.5:
            lines.append(draw_weight_line(random, n_samples, zeros=zeros))
            given = ", sample_weight=sample_weight"
        lines.append(f"model = {draw_booster(random, classifier, counts_rows=True)}")
        return program("\n".join([*lines, law.format(given, random.randrange(1000))]))

    return draw_law


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


LAWS = [
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
