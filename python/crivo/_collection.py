"""Texts in whatever holds them, and the same kind of data again with fewer texts, or with others."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crivo import _huggingface
from crivo._tables import column_of, from_stream, require_collected
from crivo.errors import KeyTypeError

Changes = Sequence[tuple[int, str | bytes]]
"""Positions of texts, ascending, and what stands there instead."""


class Collection(NamedTuple):
    """Texts, and how data of the same kind is made with those at some positions, after some changed."""

    texts: Any
    rebuilt: Callable[[NDArray[Any], Changes], Any]


def opened(data: Any, column: str | None, on_spark: str) -> Collection:
    """The texts of a list or other iterable, a column, or a column of a table. `on_spark` says what to do
    with those of Spark.
    """
    if hasattr(data, "mapInArrow"):
        raise KeyTypeError(f"data: expected data of this machine, found a Spark DataFrame ({on_spark})")
    if _huggingface.is_dataset(data):
        return Collection(*_huggingface.opened(data, column, replaced))
    if column is None and isinstance(data, list | tuple):
        return Collection(data, lambda kept, changes: type(data)(listed(data, kept, changes)))
    if isinstance(data, dict):
        raise KeyTypeError(
            "data: expected texts, a table of pandas, polars or Arrow, or a dataset, found dict"
        )
    require_collected(data)
    if not any(hasattr(data, way) for way in ("iloc", "take", "gather", "get_columns")):
        streamed = from_stream(data)
        if streamed is None and column is None and not isinstance(data, Sequence):
            return opened(list(data), None, on_spark)
        data = data if streamed is None else streamed
    texts = data if column is None else column_of(data, column)
    return Collection(texts, lambda kept, changes: rebuilt(data, column, kept, changes))


def rebuilt(data: Any, column: str | None, kept: NDArray[Any], changes: Changes) -> Any:
    """The data at the positions that are kept, after the texts of a column changed."""
    if hasattr(data, "iloc"):  # pandas
        return pandas_changed(data, column, changes).iloc[kept]
    if hasattr(data, "schema") and hasattr(data, "set_column"):  # Arrow's table or record batch
        columns = list(data.columns)
        if changes:
            place = 0 if column is None else data.schema.names.index(column)
            columns[place] = replaced(columns[place], changes)
        return type(data).from_arrays([taken(values, kept) for values in columns], schema=data.schema)
    if hasattr(data, "get_columns"):  # polars, a table
        if changes:
            name = data.columns[0] if column is None else column
            data = data.with_columns(scattered(data.get_column(name), changes))
        return data[kept]
    if hasattr(data, "gather"):  # polars, a column
        return (scattered(data, changes) if changes else data)[kept]
    if hasattr(data, "dtype") and hasattr(data, "take"):  # NumPy
        if changes:
            data = data.copy()
            for place, text in changes:
                data[place] = like(text, data[place])
        return data.take(kept)
    if hasattr(data, "take"):  # Arrow, a column
        return taken(replaced(data, changes) if changes else data, kept)
    return listed(data, kept, changes)


def listed(data: Sequence[Any], kept: NDArray[Any], changes: Changes) -> list[Any]:
    new = dict(changes)
    return [like(new[place], data[place]) if place in new else data[place] for place in kept.tolist()]


def like(text: str | bytes, former: Any) -> str | bytes:
    """The text as str or bytes, whichever the former one is."""
    if isinstance(former, bytes) and isinstance(text, str):
        return text.encode()
    return text


def pandas_changed(data: Any, column: str | None, changes: Changes) -> Any:
    if not changes:
        return data
    data = data.copy()
    values = (
        data if data.ndim == 1 else data.iloc[:, 0 if column is None else list(data.columns).index(column)]
    )
    new = values.copy()
    places = [place for place, _ in changes]
    new.iloc[places] = [like(text, values.iloc[place]) for place, text in changes]
    if data.ndim == 1:
        return new
    data[values.name] = new
    return data


def scattered(values: Any, changes: Changes) -> Any:
    """A column of polars with other texts."""
    binary = str(values.dtype) == "Binary"
    texts = [like(text, b"" if binary else "") for _, text in changes]
    kind = values.dtype
    # A categorical column takes only what is among its categories.
    plain = values if binary else values.cast(type(values)([""]).dtype)
    changed = plain.clone().scatter([place for place, _ in changes], texts)
    return changed if binary else changed.cast(kind)


def replaced(values: Any, changes: Changes) -> Any:
    """A column of Arrow with other texts. What Arrow's function cannot change, it can change as plain
    text.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    binary = any(check(kind) for check in (pa.types.is_binary, pa.types.is_large_binary)) or (
        str(kind) == "binary_view"
    )
    plain = values.cast(pa.large_binary() if binary else pa.large_string())
    mask = np.zeros(len(values), bool)
    mask[[place for place, _ in changes]] = True
    new = pa.array([like(text, b"" if binary else "") for _, text in changes], plain.type)
    changed = pc.replace_with_mask(plain, pa.array(mask), new)
    if pa.types.is_dictionary(kind):
        return changed.cast(kind.value_type).dictionary_encode().cast(kind)
    return changed.cast(kind)


def taken(values: Any, places: Any) -> Any:
    """Those at the places. Arrow cannot take from views, but it can from what they view."""
    kind = str(getattr(values, "type", ""))
    if kind in ("string_view", "binary_view"):
        return values.cast("large_" + kind.removesuffix("_view")).take(places).cast(values.type)
    return values.take(places)
