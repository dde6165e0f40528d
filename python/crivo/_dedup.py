"""A collection without its near-duplicates."""

from collections.abc import Sequence
from typing import Any

from crivo._native import near_duplicates
from crivo._tables import column_of, from_stream, require_collected
from crivo.errors import InvalidParameterError, KeyTypeError


def dedup(data: Any, threshold: float = 0.8, *, column: str | None = None, **settings: Any) -> Any:
    """The data without its near-duplicates: of each cluster one is kept, in the order of the data. Missing
    texts stay.

    `data` is a list or other iterable of texts, an Arrow or polars column, a pandas series, or a table of
    those libraries with the name of its text `column`; what comes back is of the same kind. Of a generator,
    a set or the like it is a list, and of rows that are only streamed, as those of a DuckDB relation, an
    Arrow table. The settings are those of `near_duplicates`, where one can also see what is like what.

    >>> import crivo
    >>> crivo.dedup(["the cat sat on the mat", "a dog barked", "The cat sat on the mat!"], shingle="words:2")
    ['the cat sat on the mat', 'a dog barked']
    """
    if "ids" in settings:
        raise InvalidParameterError("ids: dedup names nothing; near_duplicates does")
    if hasattr(data, "mapInArrow"):
        raise KeyTypeError(
            "data: expected data of this machine, found a Spark DataFrame (crivo.spark.dedup takes it)"
        )
    if column is None and isinstance(data, (list, tuple)):
        kept = near_duplicates(data, threshold, **settings).kept
        return type(data)(data[place] for place in kept)
    if isinstance(data, dict):
        raise KeyTypeError("data: expected texts or a table of pandas, polars or Arrow, found dict")
    require_collected(data)
    if not any(hasattr(data, way) for way in ("iloc", "take", "gather", "get_columns")):
        streamed = from_stream(data)
        if streamed is None and column is None and not isinstance(data, Sequence):
            return dedup(list(data), threshold, **settings)
        data = data if streamed is None else streamed
    texts = data if column is None else column_of(data, column)
    kept = near_duplicates(texts, threshold, **settings).kept
    if hasattr(data, "iloc"):  # pandas
        return data.iloc[kept]
    if hasattr(data, "schema") and hasattr(data, "set_column"):  # Arrow's table or record batch
        rows = [taken(values, kept) for values in data.columns]
        return type(data).from_arrays(rows, schema=data.schema)
    if hasattr(data, "take"):  # Arrow, NumPy
        return taken(data, kept)
    if hasattr(data, "gather") or hasattr(data, "get_columns"):  # polars
        return data[kept]
    return [data[place] for place in kept]


def taken(values: Any, places: Any) -> Any:
    """Those at the places. Arrow cannot take from views, but it can from what they view."""
    kind = str(getattr(values, "type", ""))
    if kind in ("string_view", "binary_view"):
        return values.cast("large_" + kind.removesuffix("_view")).take(places).cast(values.type)
    return values.take(places)


dedup.__module__ = "crivo"
