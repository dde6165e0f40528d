"""Columns of the pandas that Spark needs, which do not speak Arrow: the keys of docs/keys.md all the same."""

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

import crivo
from crivo import HyperLogLog, KeyTypeError

SECONDS = ["2024-07-01T13:00:00", "2024-12-01T13:00:00.000000005", None]
SERIES: dict[str, tuple[Any, list[str | None]]] = {
    "zoned": (
        pd.Series(SECONDS).astype("datetime64[ns]").dt.tz_localize("Europe/Lisbon"),
        ["2024-07-01T12:00:00Z", "2024-12-01T13:00:00.000000005Z", None],
    ),
    "zoneless": (pd.Series(SECONDS).astype("datetime64[ns]"), [*SECONDS]),
    # Of a column all have the digits of the one that has most, as in Arrow.
    "decimals": (pd.Series([Decimal("12.5"), Decimal("0.25"), None]), ["12.50", "0.25", None]),
    "days": (pd.Series([datetime.date(2024, 2, 29), None]), ["2024-02-29", None]),
    "text": (pd.Series(["a", None, "b"]), ["a", None, "b"]),
    "categories": (pd.Series(["a", None, "b"], dtype="category"), ["a", None, "b"]),
    "nullable": (pd.Series([2**62 + 1, None], dtype="Int64"), [str(2**62 + 1), None]),
    "floats": (pd.Series([1.5, np.nan]), ["1.5", None]),
    "mixed": (
        pd.Series(["a", 7, 0.5, None, pd.Timestamp(0, tz="UTC")], dtype=object),
        ["a", "7", "0.5", None, "1970-01-01T00:00:00Z"],
    ),
}


@pytest.mark.parametrize("column", SERIES)
def test_a_series_has_the_keys_of_its_texts(column: str) -> None:
    series, texts = SERIES[column]
    found, expected = HyperLogLog(), HyperLogLog()
    assert found.insert_batch(series) == expected.insert_batch(texts) == texts.count(None)
    assert found == expected
    index = HyperLogLog()
    index.insert_batch(pd.Index(series))
    assert index == expected


def test_tables_are_profiled_and_cleaned() -> None:
    table = pd.DataFrame({"when": SERIES["zoned"][0], "text": ["a b c", "d e f", "A b, c"]})
    found = crivo.profile(table)
    assert found["when"].missing == 1 and found["when"].column_type == "timestamp"
    assert crivo.dedup(table, column="text", shingle="words:2").index.tolist() == [0, 1]


def test_months_are_refused() -> None:
    with pytest.raises(KeyTypeError, match="pandas.period"):
        HyperLogLog().insert_batch(pd.Series(pd.period_range("2024-01", periods=2, freq="M")))
