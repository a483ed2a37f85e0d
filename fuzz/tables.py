"""Expressions of X in containers of all kinds, from plain arrays to what is not a table."""

from random import Random

from fuzz.values import FLOAT32_KINDS, FLOAT64_KINDS

ODD_NUMBERS = ["np.nan", "-0.0", "1e308", "-1.7976931348623157e308", "5e-324", "2.2e-308", "1e-45", "16777217.0"]
WRONG_NUMBERS = ["np.inf", "-np.inf"]
ODD_OBJECTS = [
    "None", "'a'", "''", "10**400", "-(10**25)", "2**63", "Decimal('sNaN')", "Decimal('1.5')", "Fraction(1, 3)", "1j",
    "b'x'", "[1]", "True", "np.nan", "pd.NA", "pd.NaT", "np.datetime64('NaT', 's')", "np.ma.masked", "object()",
    "(1, 2)", "np.float32(0.1)", "'1e5'", "'nan'", "float('inf')", "datetime.date(2020, 1, 1)", "np.array(3)", "{}",
]  # fmt: skip
DTYPES = ["float32", "float16", "int8", "uint8", "int64", "uint64", "bool", "longdouble", ">f8", ">i2", "object"]
ODD_DTYPES = ["complex128", "str", "S5", "datetime64[ns]", "timedelta64[s]", "V8"]
SPARSE = ["csr_matrix", "csc_matrix", "coo_matrix", "lil_matrix", "dok_matrix", "bsr_matrix", "dia_matrix"]
SPARSE += ["csr_array", "csc_array", "coo_array"]


def draw_numbers(random: Random, n: int, *, odd: float = 0.0, wrong: float = 0.0) -> list[str]:
    """Literals of numbers of one kind; fractions of them are unusual or not allowed."""
    kind = random.choice([*FLOAT32_KINDS * 3, *FLOAT64_KINDS])
    constant = kind(random) if random.random() < 0.15 else None

    def one() -> str:
        if random.random() < wrong:
            return random.choice(WRONG_NUMBERS)
        if random.random() < odd:
            return random.choice(ODD_NUMBERS)
        return repr(kind(random) if constant is None else constant)

    return [one() for _ in range(n)]


def draw_rows(random: Random, n_samples: int, n_features: int, *, odd: float = 0.0, wrong: float = 0.0) -> str:
    """A nested list of numbers, column by column of another kind."""
    columns = [draw_numbers(random, n_samples, odd=odd, wrong=wrong) for _ in range(n_features)]
    rows = (", ".join(column[i] for column in columns) for i in range(n_samples))
    return f"[{', '.join(f'[{row}]' for row in rows)}]"


def draw_array(random: Random, n_samples: int, n_features: int, **kinds: float) -> str:
    """A plain array of floats."""
    return f"np.array({draw_rows(random, n_samples, n_features, **kinds)}).reshape({n_samples}, {n_features})"


def draw_table(random: Random, n_samples: int, n_features: int) -> str:
    """X in any container, from plain to invalid."""
    kinds = [plain, plain, other_dtype, odd_layout, masked, objects, sparse_matrix, pandas_frame, pandas_frame]
    kinds += [polars_frame, arrow_table, odd_shape, no_table]
    return random.choice(kinds)(random, n_samples, n_features)


def plain(random: Random, n_samples: int, n_features: int) -> str:
    odd, wrong = random.choice([(0.0, 0.0), (0.2, 0.0), (0.9, 0.0), (0.1, 0.05)])
    if random.random() < 0.3:
        return draw_rows(random, n_samples, n_features, odd=odd, wrong=wrong)
    return draw_array(random, n_samples, n_features, odd=odd, wrong=wrong)


def other_dtype(random: Random, n_samples: int, n_features: int) -> str:
    dtype = random.choice(DTYPES * 3 + ODD_DTYPES)
    # Small numbers, which all of these can hold.
    rows = f"(np.arange({n_samples * n_features}).reshape({n_samples}, {n_features}) * {random.randint(1, 7)} % 5)"
    return f"{rows}.astype({dtype!r})"


def odd_layout(random: Random, n_samples: int, n_features: int) -> str:
    array = draw_array(random, n_samples, n_features)
    layouts = ["np.asfortranarray({})", "{}[::-1]", "np.repeat({}, 2, axis=0)[::2]", "np.repeat({}, 3, axis=1)[:, ::3]"]
    layouts += [
        "np.broadcast_to({0}[:1], ({1}, {2}))",
        "np.asmatrix({})",
        "np.frombuffer({}.tobytes()).reshape({1}, {2})",
    ]
    layouts += ["np.frombuffer(b'x' + {}.tobytes(), offset=1).reshape({1}, {2})", "memoryview({})"]
    layout = random.choice(layouts)
    return (
        layout.replace("{}", array).replace("{0}", array).replace("{1}", str(n_samples)).replace("{2}", str(n_features))
    )


def draw_mask(random: Random, n: int) -> str:
    """Some of the positions, rarely all or none."""
    fraction = random.choice([0.0, 0.2, 0.2, 0.5, 1.0])
    return repr([random.random() < fraction for _ in range(n)])


def masked(random: Random, n_samples: int, n_features: int) -> str:
    array = draw_array(random, n_samples, n_features)
    dtype = random.choice(["float", "float", "int", "np.float32", "object", "bool"])
    mask = f"np.array({draw_mask(random, n_samples * n_features)}, bool).reshape({n_samples}, {n_features})"
    return f"np.ma.array(np.nan_to_num({array}).clip(-100, 100).astype({dtype}), mask={mask})"


def objects(random: Random, n_samples: int, n_features: int) -> str:
    fraction = random.choice([0.0, 0.05, 0.3])

    def one() -> str:
        return random.choice(ODD_OBJECTS) if random.random() < fraction else str(random.randint(-3, 3))

    cells = [one() for _ in range(n_samples * n_features)]
    return f"as_objects([{', '.join(cells)}], ({n_samples}, {n_features}))"


def sparse_matrix(random: Random, n_samples: int, n_features: int) -> str:
    odd, wrong = random.choice([(0.0, 0.0), (0.3, 0.0), (0.1, 0.05)])
    matrix = f"sparse.{random.choice(SPARSE)}({draw_array(random, n_samples, n_features, odd=odd, wrong=wrong)})"
    return random.choice(
        [matrix, matrix, f"sparse.csr_matrix({matrix}, dtype='float32')", f"with_wide_indices({matrix})"]
    )


# Frames


def draw_categories(random: Random, n_samples: int) -> list[str]:
    values = random.choice(
        [
            ["'a'", "'b'", "'c'"],
            ["'a'", "'a\\0'", "''", "None"],
            ["1", "2", "3"],
            ["1.5", "np.nan", "-0.0", "0.0"],
            ["2**53", "2**53 + 1", "-1"],
            ["True", "False"],
            ["pd.Timestamp(1)", "pd.Timestamp(2)", "pd.Timestamp(3)"],
            ["'1'", "1", "1.0"],
            ["('a', 1)", "('b', 2)"],
        ]
    )
    return [random.choice(values) for _ in range(n_samples)]


def pandas_column(random: Random, n_samples: int) -> str:
    numbers = f"[{', '.join(draw_numbers(random, n_samples, odd=random.choice([0, 0, 0.3])))}]"
    small = [str(random.randint(0, 3)) for _ in range(n_samples)]
    some = [random.choice([each, each, each, "None"]) for each in small]
    kinds = [
        f"pd.Series({numbers}, dtype=float)",
        f"pd.Series({numbers}, dtype=float)",
        f"pd.Series([{', '.join(small)}], dtype={random.choice(['int8', 'uint16', 'Int64', 'float32', 'Float64'])!r})",
        f"pd.Series([{', '.join(some)}], dtype={random.choice(['Int64', 'Float64', 'object', 'Int8'])!r})",
        f"pd.Series(pd.Categorical([{', '.join(draw_categories(random, n_samples))}]))",
        f"pd.Series(pd.Categorical([{', '.join(draw_categories(random, n_samples))}]))",
        f"pd.Series([{', '.join(draw_categories(random, n_samples))}], dtype=object)",
        f"pd.Series(['a', 'b', None] * {n_samples}, dtype='string')[:{n_samples}]",
        f"pd.Series(pd.to_datetime(np.arange({n_samples})))",
        f"pd.Series(pd.to_timedelta(np.arange({n_samples})))",
        f"pd.Series(pd.period_range('2020', periods={n_samples}, freq='D'))",
        f"pd.Series(pd.arrays.SparseArray(np.arange({n_samples}, dtype=float)))",
        f"pd.Series(pd.interval_range(0, {n_samples}))",
        f"pd.Series([1 + 2j] * {n_samples})",
        f"pd.Series([True, False, True] * {n_samples})[:{n_samples}]",
    ]
    weights = [6, 6, 4, 4, 4, 4, 2, 1, 1, 1, 1, 1, 1, 1, 2]
    return random.choices(kinds, weights)[0]


def pandas_frame(random: Random, n_samples: int, n_features: int) -> str:
    names: list[str] = random.choice(
        [
            [f"'x{i}'" for i in range(n_features)],
            [f"'x{i}'" for i in range(n_features)],
            [str(i) for i in range(n_features)],
            ["'x'"] * n_features,
            [random.choice(["'x'", "1", "None", "('a', 'b')", "np.nan", "''", "'\\n'"]) for _ in range(n_features)],
        ]
    )
    columns = ", ".join(pandas_column(random, n_samples) for _ in range(n_features))
    index = random.choice(["", "", f", index=[7] * {n_samples}", f", index=list('ab' * {n_samples})[:{n_samples}]"])
    return f"as_frame([{columns}], [{', '.join(names)}], {n_samples}{index})"


def polars_frame(random: Random, n_samples: int, n_features: int) -> str:
    def column() -> str:
        numbers = f"[{', '.join(draw_numbers(random, n_samples))}]"
        small = [random.choice(["0", "1", "2", "None"]) for _ in range(n_samples)]
        texts = [random.choice(["'a'", "'b'", "None", "''"]) for _ in range(n_samples)]
        return random.choice(
            [
                f"pl.Series({numbers}, dtype=pl.Float64)",
                f"pl.Series([{', '.join(small)}], dtype={random.choice(['pl.Int8', 'pl.UInt64', 'pl.Float32'])})",
                f"pl.Series([{', '.join(texts)}], dtype=pl.Categorical)",
                f"pl.Series([{', '.join(texts)}], dtype=pl.Enum(['a', 'b', '']))",
                f"pl.Series([{', '.join(texts)}], dtype=pl.String)",
                f"pl.Series([True, None, False] * {n_samples}, dtype=pl.Boolean)[:{n_samples}]",
                f"pl.Series([datetime.date(2020, 1, 1)] * {n_samples}, dtype=pl.Date)",
                f"pl.Series([[1.0]] * {n_samples}, dtype=pl.List(pl.Float64))",
                f"pl.Series([{', '.join(small)}], dtype=pl.Decimal(10, 2))",
                f"pl.Series([None] * {n_samples}, dtype=pl.Null)",
            ]
        )

    frame = f"pl.DataFrame({{{', '.join(f'{chr(34)}x{i}{chr(34)}: {column()}' for i in range(n_features))}}})"
    return random.choice([frame] * 9 + [frame + ".lazy()"])


def arrow_table(random: Random, n_samples: int, n_features: int) -> str:
    def column() -> str:
        numbers = f"[{', '.join(draw_numbers(random, n_samples))}]"
        small = [random.choice(["0", "1", "2", "None"]) for _ in range(n_samples)]
        texts = [random.choice(["'a'", "'b'", "None"]) for _ in range(n_samples)]
        cut = random.randint(0, n_samples)
        return random.choice(
            [
                f"pa.array({numbers}, pa.float64())",
                f"pa.array([{', '.join(small)}], {random.choice(['pa.int8()', 'pa.uint64()', 'pa.float32()'])})",
                f"pa.chunked_array([pa.array({numbers}[:{cut}], 'f8'), pa.array({numbers}[{cut}:], 'f8')])",
                f"pa.array([{', '.join(texts)}], pa.string()).dictionary_encode()",
                f"pa.array([{', '.join(texts)}], pa.string())",
                f"pa.array([None] * {n_samples}, pa.null())",
                f"pa.array([{', '.join(small)}], pa.decimal128(10, 2))",
                f"pa.array([[1.0]] * {n_samples}, pa.list_(pa.float64()))",
                f"pa.array([{', '.join(small)}], pa.date32())",
            ]
        )

    columns = f"[{', '.join(column() for _ in range(n_features))}]"
    names = f"[{', '.join(repr(f'x{i}') for i in range(n_features))}]"
    return f"pa.table({columns}, names={names})"


# What is not a table, or hardly one


def odd_shape(random: Random, n_samples: int, n_features: int) -> str:
    shapes = [
        "(0, 0)",
        f"(0, {n_features})",
        f"({n_samples}, 0)",
        f"({n_samples},)",
        f"({n_samples}, {n_features}, 1)",
        "()",
        "(1, 1)",
    ]
    filled = random.choice(["np.zeros", "np.ones"])
    return f"{filled}({random.choice(shapes)})"


def no_table(random: Random, n_samples: int, n_features: int) -> str:
    odd = [
        "None",
        "'table'",
        "3.5",
        "[]",
        "[[]]",
        "[[1.0], [2.0, 3.0]]",
        "{'x': [1.0]}",
        "{1.0, 2.0}",
        "object()",
        "b'x'",
    ]
    odd += ["iter([[1.0]])", "np.float64(1)", "[None]", "[[None]]", "pd.Series([1.0, 2.0])", "range(5)", "lambda: 0"]
    odd += ["np.zeros(3, dtype=[('a', float)])", "pl.Series([1.0])", "pa.array([1.0])", "slice(3)", "[['a', 'b']]"]
    return random.choice(odd)
