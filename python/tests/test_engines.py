"""One table of every type, every engine, the same bytes.

The command line reads the table from a Parquet file, Python from an Arrow table, Polars and pandas hold it
as theirs. Each makes every kind of sketch of every column.
"""

import datetime
import decimal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import program as program

import crivo
import crivo.pandas
import crivo.polars
from crivo._kinds import KINDS, sketch_of

ROOT = Path(__file__).parents[2]

ROWS = 400


def with_nulls(values: list[Any]) -> list[Any]:
    return [None if place % 11 == 3 else value for place, value in enumerate(values)]


def column(kind: Any, value: Any) -> pa.Array:
    return pa.array(with_nulls([value(place) for place in range(ROWS)]), kind)


START = datetime.datetime(2026, 1, 1)
TABLE = pa.table(
    {
        "text": column(pa.string(), lambda i: f'Zé {i % 170}, "{i % 3}"' if i % 7 else ""),
        "long_text": column(pa.large_string(), lambda i: f"https://example.org/{i % 90}/a/long/path"),
        "bytes": column(pa.binary(), lambda i: bytes([i % 256, 255])),
        "category": column(pa.string(), lambda i: "abc"[i % 3]).dictionary_encode(),
        "int8": column(pa.int8(), lambda i: i % 100 - 50),
        "int64": column(pa.int64(), lambda i: i * 7919 % 503 - 2**62),
        "uint64": column(pa.uint64(), lambda i: 2**64 - 1 - i % 60),
        "float32": column(pa.float32(), lambda i: i % 50 / 8),
        "float64": column(pa.float64(), lambda i: float("nan") if i % 13 == 0 else i % 77 / 7),
        "boolean": column(pa.bool_(), lambda i: i % 3 == 0),
        "date": column(pa.date32(), lambda i: datetime.date(2026, 1, 1) + datetime.timedelta(days=i % 99)),
        "time": column(pa.time64("us"), lambda i: datetime.time(i % 24, i % 60, 0, i % 5 * 1000)),
        "instant": column(pa.timestamp("us"), lambda i: START + datetime.timedelta(seconds=i % 88 * 977)),
        "zoned": column(
            pa.timestamp("ms", "UTC"), lambda i: START + datetime.timedelta(milliseconds=i % 66 * 977)
        ),
        "decimal": column(pa.decimal128(10, 2), lambda i: decimal.Decimal(i % 120) / 4),
        "nothing": column(pa.string(), lambda i: None),
    }
)
NUMBERS = ("int8", "int64", "uint64", "float32", "float64")

COMMANDS: dict[str, list[str]] = {
    "hll": ["distinct"],
    "ull": ["distinct", "--method", "ull"],
    "kmv": ["distinct", "--method", "kmv"],
    "bloom": ["set", "build"],
    "countmin": ["freq"],
    "top": ["top"],
    "kll": ["quantile"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_engine_writes_the_same_bytes(kind: str, program: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.parquet"
    pq.write_table(TABLE, table, row_group_size=150)
    frame: Any = pl.from_arrow(TABLE)
    pandas: Any = TABLE.to_pandas(types_mapper=pd.ArrowDtype)
    for name in NUMBERS if kind == "kll" else TABLE.column_names:
        sketch = tmp_path / f"{name}.crivo"
        arguments = [*COMMANDS[kind], "-f", name, "-o", sketch, table]
        subprocess.run([str(part) for part in [program, *arguments]], check=True, capture_output=True)
        expected = sketch.read_bytes()
        own = sketch_of(TABLE.column(name), kind, {})
        if kind == "kll":
            # The command line draws by the place of rows: the answers agree within their bounds.
            written, shares = crivo.decode(expected), [0.01, 0.25, 0.5, 0.75, 0.99]
            assert own.count == written.count, name
            for one, other in zip(own.quantiles(shares), written.quantiles(shares), strict=True):
                assert max(one.lower, other.lower) <= min(one.upper, other.upper), name
            expected = bytes(own)
        assert bytes(own) == expected, name
        value: Any = pl.col(name)
        assert frame.select(value.crivo.sketch(kind)).item() == expected, name
        streamed = frame.lazy().select(value.crivo.sketch(kind)).collect(engine="streaming")
        assert streamed.item() == expected, name
        assert pandas[name].crivo.sketch(kind) == expected, name


def test_the_names_of_kinds_are_those_that_commands_make() -> None:
    assert tuple(COMMANDS) == KINDS


@pytest.mark.parametrize("engine", ["polars", "pandas"])
def test_a_missing_engine_is_named_with_what_to_install(engine: str) -> None:
    code = f"import sys; sys.modules['{engine}'] = None; import crivo.{engine}"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    message = f"crivo.{engine} needs {engine}, which is not installed: pip install 'crivo[{engine}]'"
    assert message in result.stderr


@pytest.mark.parametrize("engine", ["polars", "pandas"])
def test_a_version_that_was_not_tested_is_named(engine: str) -> None:
    code = f"import {engine}; {engine}.__version__ = '99.1.0'; import crivo.{engine}"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"crivo was tested with {engine} " in result.stderr and "found 99.1.0" in result.stderr


def test_engines_are_imported_only_when_asked_for() -> None:
    code = (
        "import sys, crivo; print([name for name in ('polars', 'pandas', 'datasets') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"
    assert crivo.polars.__doc__ and crivo.pandas.__doc__
