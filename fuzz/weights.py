"""Sample weights. In: a number of rows, and chance. Out: expressions of any magnitude and container."""

from random import Random

WRONG = ["-1.0", "np.nan", "np.inf", "'1'", "None", "1j", "10**400", "Decimal('sNaN')", "pd.NA"]


def draw_weight_list(random: Random, n_samples: int) -> list[str]:
    """Literals of weights of one kind, none of them wrong."""
    low, high = random.choice([(0, 0), (-2, 2), (-9, 0), (-8, 8), (-300, 300), (-320, -300), (300, 307)])
    kind = random.choice(["counts", "counts", "few", "wide", "heavy", "wide"])

    def one() -> str:
        if kind == "counts":
            return str(random.randint(0, 3))
        if kind == "few":
            return random.choice(["0.5", "1.0", "2.0"])
        if kind == "heavy":
            return random.choice(["1.0", "1.0", "1e9", "1e8", "1e6", "1e12", "1e-9"])
        return repr(random.uniform(1, 10) * 10.0 ** random.randint(low, high))

    return [one() for _ in range(n_samples)]


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
        weights[random.randrange(n_samples)] = random.choice(WRONG)
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
