"""Which features hold categories. In: what was asked for, and a table. Out: their indices, and codes of rows."""

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np

from comboost._data.categories import Categories, Column
from comboost._data.floats import Offences
from comboost._data.tables import EVERY_ROW, RawTable, Source
from comboost._data.text import NUMBERS, Mixture
from comboost._types import Codes, Weights

BY_DTYPE = "from_dtype"
TOLD_BY_VALUES = ("text", "objects")  # dtypes that leave open whether a column holds categories


def find_categorical(raw: RawTable, categorical_features: Any) -> list[int]:
    """Indices of the features that hold categories whatever their values are: by their dtype, or as listed."""
    if categorical_features is None:
        return []
    if takes_text(categorical_features):
        return raw.source.dtype_categories()
    return read_features(categorical_features, raw.names, raw.shape[1])


def takes_text(categorical_features: Any) -> bool:
    """Whether features that hold text are categories without being listed."""
    return isinstance(categorical_features, str) and categorical_features == BY_DTYPE


def find_open(source: Source, known: Iterable[int]) -> list[int]:
    """Features of which only the values tell what they hold, besides known ones; an error about those of no use."""
    offences, certain, found = Offences(), set(known), []
    for f in source.odd_columns():
        if f in certain:
            continue
        if source.kind(f) in TOLD_BY_VALUES:
            found.append(f)
        elif source.kind(f) in ("nested", "other"):
            with offences:
                source.numbers(f)
    offences.raise_any()
    return found


def fit_categories(
    raw: RawTable, categorical_features: Any, weights: Weights | None
) -> tuple[Categories, dict[int, Codes]]:
    """The categories of a table, and the codes of its rows, 0 for missing values; all that offends in one error."""
    known = find_categorical(raw, categorical_features)
    text_allowed = takes_text(categorical_features)
    categories, codes, offences = Categories(), {}, Offences()
    for f in sorted({*known, *raw.source.odd_columns()}):
        part = raw.part(EVERY_ROW, f, f + 1)
        with offences:
            column = part.column(0) if f in known else text_column(part, weights, text_allowed=text_allowed)
            if column is not None:
                codes[f] = categories.learn(f, column, weights)
    offences.raise_any()
    return categories, codes


def text_column(part: Source, weights: Weights | None, *, text_allowed: bool) -> Column | None:
    """The only column of a source, if it holds categories by its values; None if it holds numbers."""
    kind = part.kind(0)
    if kind in TOLD_BY_VALUES:
        mixture, column = mix(part, 0, weights)
        is_category = mixture.is_category(text_allowed=text_allowed, if_empty=text_allowed and kind == "text")
        return column if is_category else None
    if kind != "times":
        part.numbers(0)  # says what is wrong with it
    return None


def mix(source: Source, f: int, weights: Weights | None) -> tuple[Mixture, Column | None]:
    """Of what the values of a feature are, and these values, if they had to be found."""
    if source.kind(f) == "numbers":
        given = source.numbers(f)
        present = given[~np.isnan(given)]
        return Mixture(
            source.label(f), source.shape[0], dict(zip((NUMBERS,), present[:1].tolist(), strict=False))
        ), None
    if source.kind(f) == "objects":
        return Mixture.of_objects(source.label(f), source.objects(f), weights, lambda: source.column(f))
    column = source.column(f)
    return Mixture.of_column(column, weights), column


def read_features(given: Any, names: list[str] | None, n_features: int) -> list[int]:
    """The features that a list of indices, a mask or a list of names stands for, in order."""
    is_list = np.iterable(given) and not isinstance(given, (str, bytes))
    items = list(given) if is_list else [given]
    if is_list and not items:
        return []
    if is_list and all(isinstance(item, (bool, np.bool_)) for item in items):
        return masked_features(items, n_features)
    if is_list and all(isinstance(item, numbers.Integral) and not isinstance(item, bool) for item in items):
        return indexed_features(items, n_features)
    if is_list and all(isinstance(item, str) for item in items):
        return named_features(items, names)
    raise ValueError(
        f'categorical_features={given!r}; give "from_dtype", None, or a list: indices of columns, their names, or a '
        "boolean for every column."
    )


def masked_features(mask: list[bool], n_features: int) -> list[int]:
    """The features that a mask chooses."""
    if len(mask) != n_features:
        raise ValueError(
            f"categorical_features is a mask of length {len(mask)}, but X has {n_features} features; give a boolean "
            "for every feature."
        )
    return [feature for feature, is_given in enumerate(mask) if is_given]


def indexed_features(indices: list[int], n_features: int) -> list[int]:
    """The features at some indices."""
    outside = sorted({int(index) for index in indices if not 0 <= index < n_features})
    if outside:
        raise ValueError(
            f"categorical_features holds {outside}, but X has {n_features} features; give indices from 0 to "
            f"{n_features - 1}."
        )
    check_distinct([int(index) for index in indices])
    return sorted(int(index) for index in indices)


def named_features(wanted: list[str], names: list[str] | None) -> list[int]:
    """The features of some names."""
    if names is None:
        raise ValueError(
            f"categorical_features gives names, {wanted}, but the columns of X have none that are text; give indices "
            "or a mask, or a data frame with column names."
        )
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise ValueError(f"categorical_features holds {unknown}, but X has no such columns; its columns are {names}.")
    check_distinct(wanted)
    return [feature for feature, name in enumerate(names) if name in wanted]


def check_distinct(items: list[Any]) -> None:
    """Raise if a feature is given twice: one of them may be a slip for another feature."""
    repeated = sorted({item for item in items if items.count(item) > 1})
    if repeated:
        raise ValueError(f"categorical_features holds {repeated} more than once; give every feature once.")
