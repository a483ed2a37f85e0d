"""Cost matrices. In: a number of classes, and chance. Out: expressions of ``cost_matrix``, from plain to hostile."""

from random import Random

WRONG = ["-1.0", "np.nan", "np.inf", "10**400", "Decimal('sNaN')", "'x'", "1j", "None", "1e9", "Fraction(1, 3)"]


def draw_costs(random: Random, n_classes: int) -> str:
    """An expression of ``cost_matrix`` for classes that are numbered."""
    kind = random.choice(
        ["none", "none", "plain", "plain", "vector", "dict", "frame", "wrong", "masked", "shape", "odd"]
    )
    rows = [[cost(random, i, j) for j in range(n_classes)] for i in range(n_classes)]
    if kind == "none":
        return "None"
    if kind == "vector":
        return f"[{', '.join(row[0] if i else row[-1] for i, row in enumerate(rows))}]"
    if kind == "dict":
        return f"dict(enumerate([{', '.join(rows[i][i - 1] for i in range(n_classes))}]))"
    if kind == "wrong":
        rows[random.randrange(n_classes)][random.randrange(n_classes)] = random.choice(WRONG)
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


def cost(random: Random, i: int, j: int) -> str:
    """One cost; zero on the diagonal."""
    if i == j:
        return "0"
    return random.choice(["1", "2", "0", "0.5", repr(round(random.uniform(0.01, 100), 3)), "1000"])
