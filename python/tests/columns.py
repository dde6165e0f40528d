"""The same values as every kind of column, and the words of a refusal."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from crivo import InvalidParameterError

TEXT_TYPES = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]


def columns_of(values: list[int]) -> list[Any]:
    """Integers, none of them missing."""
    array = np.array(values)
    return [
        values,
        tuple(values),
        dict.fromkeys(values),
        array,
        array.astype(">i8"),
        array.astype(object),
        np.repeat(array, 2)[::2],
        pa.array(values),
        pa.chunked_array([values[:10], [], values[10:]]),
        pa.array(values).dictionary_encode(),
        pl.Series(values),
        pd.Series(values),
    ]


def columns_of_text(values: list[str]) -> list[Any]:
    """Texts, none of them missing or empty."""
    columns = [values, (value for value in values), np.array(values), pl.Series(values), pd.Series(values)]
    for kind in TEXT_TYPES:
        columns += [pa.array(values, kind), pa.chunked_array([values[:9], [], values[9:]], kind)]
    return columns


def columns_with_gaps(values: list[Any], filler: Any) -> list[Any]:
    """Values, some of them None; the filler stands where a mask hides it."""
    shown = [filler if value is None else value for value in values]
    masked = np.ma.MaskedArray(shown, [value is None for value in values])
    columns = [values, (value for value in values), np.array(values, dtype=object), pl.Series(values), masked]
    if isinstance(filler, str):
        empty = ["" if value is None else value for value in values]
        return columns + [empty, pa.array(empty)] + [pa.array(values, kind) for kind in TEXT_TYPES]
    column = pa.array(values)
    return columns + [column, column.dictionary_encode(), pd.Series(values, dtype="Int64")]


def with_gaps(values: list[Any], seed: int) -> list[Any]:
    """The values with missing ones between them: single ones, long runs, at the ends."""
    generator = random.Random(seed)
    column: list[Any] = [None] * 3
    for value in values:
        long = 1500 if generator.random() < 0.01 else 0
        column += [value] + [None] * generator.choice([0, 0, 0, 1, 2, long])
    return column + [None] * 2000


def refused(call: Callable[..., object], *arguments: Any, **named: Any) -> str:
    with pytest.raises(InvalidParameterError) as caught:
        call(*arguments, **named)
    return str(caught.value)
