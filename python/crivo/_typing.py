"""The types that stubs speak of: what can be a key, and what can hold many."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Literal, Protocol, SupportsFloat, SupportsIndex, TypeAlias

import numpy as np

KeyKind: TypeAlias = Literal["text", "int", "hash"]

InterchangeKeys: TypeAlias = Literal["text", "int"]

CounterBits: TypeAlias = Literal[4, 8, 16, 32]

Key: TypeAlias = (
    str | bytes | bytearray | bool | SupportsIndex | float | Decimal | datetime | date | time | np.datetime64
)


class ArrowArray(Protocol):
    """An array of pyarrow, nanoarrow, arro3, …"""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...


class ArrowStream(Protocol):
    """A column in chunks: of polars, pandas, DuckDB, pyarrow, …"""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


class ConvertsToArray(Protocol):
    """A NumPy array, or what converts to one."""

    def __array__(self, dtype: Any = None, /) -> Any: ...


Keys: TypeAlias = Iterable[Key | None] | ArrowArray | ArrowStream | ConvertsToArray

Hashes: TypeAlias = Iterable[SupportsIndex | None] | ArrowArray | ArrowStream | ConvertsToArray

Indexes: TypeAlias = Iterable[SupportsIndex] | ConvertsToArray

Weights: TypeAlias = Iterable[SupportsIndex] | ConvertsToArray

RealWeights: TypeAlias = Iterable[float] | ConvertsToArray

Reading: TypeAlias = Literal["no_false_positives", "no_false_negatives"]

Texts: TypeAlias = Iterable[str | bytes | None] | ArrowArray | ArrowStream | ConvertsToArray

Numbers: TypeAlias = (
    Iterable[SupportsFloat | SupportsIndex | None] | ArrowArray | ArrowStream | ConvertsToArray
)

Times: TypeAlias = SupportsIndex | Iterable[SupportsIndex] | ConvertsToArray

ValueKind: TypeAlias = Literal["boolean", "integer", "float", "date", "timestamp", "text"]

ColumnType: TypeAlias = Literal["empty", "boolean", "integer", "float", "date", "timestamp", "text"]

Features: TypeAlias = Mapping[str, float] | Mapping[bytes, float] | Iterable[tuple[str | bytes, float]]
