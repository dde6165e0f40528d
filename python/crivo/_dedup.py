"""A collection without its near-duplicates."""

from typing import Any

from crivo._native import near_duplicates
from crivo._tables import column_of, require_collected
from crivo.errors import InvalidParameterError, KeyTypeError


def dedup(data: Any, threshold: float = 0.8, *, column: str | None = None, **settings: Any) -> Any:
    """The data without its near-duplicates: of each cluster one is kept, in the order of the data. Missing
    texts stay.

    `data` is a list or other iterable of texts, an Arrow or polars column, a pandas series, or a table of
    those libraries with the name of its text `column`; what comes back is of the same kind. The settings
    are those of `near_duplicates`, where one can also see what is like what.

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
    texts = data if column is None else column_of(data, column)
    if not hasattr(data, "__len__"):
        return dedup(list(data), threshold, **settings)
    kept = near_duplicates(texts, threshold, **settings).kept
    if hasattr(data, "iloc"):  # pandas
        return data.iloc[kept]
    if hasattr(data, "take"):  # Arrow, NumPy
        return data.take(kept)
    if hasattr(data, "gather") or hasattr(data, "get_columns"):  # polars
        return data[kept]
    return [data[place] for place in kept]


dedup.__module__ = "crivo"
