"""Records of the data sets: name, file, checksum and categorical features; `make_bunch` makes what loaders return.

A new data set is a record here, a file in ``data/`` (with its donors in ``data/NOTICE``) and a description in
``descr/``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import numpy as np
from sklearn.utils import Bunch


@dataclass(frozen=True)
class Scale:
    """The values of a categorical feature; the index of a value is its code."""

    values: tuple[str, ...]
    ordered: bool


def ordinal(*values: str) -> Scale:
    """Values in their order."""
    return Scale(values, ordered=True)


def nominal(*values: str) -> Scale:
    """Values without an order."""
    return Scale(values, ordered=False)


@dataclass(frozen=True)
class DatasetRecord:
    """Metadata of a data set."""

    name: str  # in the paper's table
    filename: str  # with a header line and the class in the last column
    sha256: str  # of the compressed file
    scales: Mapping[str, Scale] = field(default_factory=dict)  # by feature; features not listed here are numeric
    aliases: tuple[str, ...] = ()  # other names, besides other spellings of the name


PRICE_LEVELS = ordinal("low", "med", "high", "vhigh")

BUNDLED = (
    DatasetRecord(
        "new-thyroid", "new_thyroid.csv.gz", sha256="229e6888f0b371a1f29cce173cdf606fa6d397542ce5bfeaeba5302f769ebb38"
    ),
    DatasetRecord(
        "balance",
        "balance.csv.gz",
        sha256="fa071c34c27abc2c250d462bddfa05ad9dc499fc5e29a63e135f87424011d932",
        aliases=("balance-scale",),
    ),
    DatasetRecord(
        "car",
        "car.csv.gz",
        sha256="0d732665eba0965227ff4278fbc8fa4ff302d1416a313aa92fe2e4fa8f4ca7e8",
        scales={
            "buying": PRICE_LEVELS,
            "maint": PRICE_LEVELS,
            "doors": ordinal("2", "3", "4", "5more"),
            "persons": ordinal("2", "4", "more"),
            "lug_boot": ordinal("small", "med", "big"),
            "safety": ordinal("low", "med", "high"),
        },
        aliases=("car-evaluation",),
    ),
    DatasetRecord(
        "nursery-s",
        "nursery.csv.gz",
        sha256="62b0ded1369c55565dc07d37ce6a6c861a8973fd8d66bdcb8c5efb00eb0d97b8",
        scales={
            "parents": ordinal("usual", "pretentious", "great_pret"),
            "has_nurs": ordinal("proper", "less_proper", "improper", "critical", "very_crit"),
            "form": nominal("complete", "completed", "incomplete", "foster"),
            "children": ordinal("1", "2", "3", "more"),
            "housing": ordinal("convenient", "less_conv", "critical"),
            "finance": ordinal("convenient", "inconv"),
            "social": ordinal("nonprob", "slightly_prob", "problematic"),
            # A recommendation, not a degree of health: by urgency or by admission, the order would differ.
            "health": nominal("recommended", "priority", "not_recom"),
        },
        aliases=("nursery",),
    ),
    DatasetRecord("glass", "glass.csv.gz", sha256="e2bb5c3598ec8ab4609c3545da53100a8164ec0b858bcb0151305b4ad32787f7"),
    DatasetRecord("ecoli", "ecoli.csv.gz", sha256="390a23ee37d5e0fdd493c7c910f0be3e0daabcb2a73b10885ea514d05bd21820"),
    DatasetRecord("yeast", "yeast.csv.gz", sha256="66376aaa6eae6a00fd56132481d04b472f49d7e87b0e790512651ce1b2574eab"),
    DatasetRecord(
        "satimage", "satimage.csv.gz", sha256="61d1327c638267c9d8eaea254d29b601ff6c86b66af2c5adcd84220151d44f49"
    ),
)
RECORDS: dict[str, DatasetRecord] = {record.name: record for record in BUNDLED}

# Not bundled: the file may be compressed by any program, so the checksum is that of the sorted rows.
CONNECT4 = DatasetRecord(
    "connect-4",
    "connect_4.tsv.gz",
    sha256="d948645294dbbdc25f198c0f53812d2c2264bff5f19991d3e2b21719c05fc57e",
    scales={f"{column}{row}": nominal("b", "o", "x") for column in "abcdefg" for row in range(1, 7)},
)


def find_record(name: str) -> DatasetRecord:
    """Find a data set by its name or an alias; letter case, hyphens and underscores do not matter."""
    records = [*RECORDS.values(), CONNECT4]
    by_spelling = {plain_spelling(known): record for record in records for known in (record.name, *record.aliases)}
    record = by_spelling.get(plain_spelling(name)) if isinstance(name, str) else None
    if record is None:
        names = ", ".join(repr(known.name) for known in sorted(records, key=lambda known: known.name))
        raise ValueError(f"Unknown data set {name!r}. Known data sets: {names}.")
    return record


def plain_spelling(name: str) -> str:
    """Normalise a name for comparison."""
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")


def make_bunch(
    record: DatasetRecord,
    feature_names: list[str],
    data: np.ndarray,
    target: np.ndarray,
    *,
    return_X_y: bool,
    pandas: Any | None,
) -> Any:
    """Create the return value of a loader; with ``pandas``, convert arrays to frames and codes to categories."""
    stem = record.filename.partition(".")[0]
    description = resources.files("comboost.datasets") / "descr" / f"{stem}.rst"
    bunch = Bunch(
        data=data,
        target=target,
        frame=None,
        feature_names=feature_names,
        target_names=np.unique(target),
        categories={name: list(scale.values) for name, scale in record.scales.items()},
        DESCR=description.read_text(encoding="utf-8"),
        filename=record.filename,
    )
    if pandas is not None:
        columns = {}
        for name, values in zip(bunch.feature_names, bunch.data.T, strict=True):
            scale = record.scales.get(name)
            if scale is not None:
                columns[name] = pandas.Categorical.from_codes(
                    values.astype(np.int8), categories=list(scale.values), ordered=scale.ordered
                )
            else:
                # Whole numbers, such as counts and pixels, become integers.
                columns[name] = values.astype(np.int64) if np.array_equal(values, np.rint(values)) else values
        bunch.data = pandas.DataFrame(columns)
        bunch.target = pandas.Series(bunch.target, name="target")
        bunch.frame = pandas.concat([bunch.data, bunch.target], axis=1)
    return (bunch.data, bunch.target) if return_X_y else bunch
