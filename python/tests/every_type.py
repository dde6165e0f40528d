"""One table of every type, and the fingerprints of its sketches.

Every surface makes the sketches of this table: `test_engines.py` the command line, Python, Polars and pandas,
`sql/test_sql_every_type.py` DuckDB, `spark/test_spark_every_type.py` Spark. All are held to
`every_type.json`, so that one that writes other bytes is found, whichever it is.
`crates/crivo-cli/tests/cli/agreement.rs` holds the command line to the library.
"""

import datetime
import decimal
import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa

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

FILE = Path(__file__).with_name("every_type.json")


def fingerprint(sketch: bytes) -> str:
    return hashlib.sha256(sketch).hexdigest()[:16]


def expected() -> dict[str, dict[str, str]]:
    """The fingerprint of each kind of sketch of each column, where bytes do not depend on chance."""
    found: dict[str, dict[str, str]] = json.loads(FILE.read_text())
    return found
