"""What is in each column of a table, of whatever library."""

import warnings
from typing import Any

from crivo._native import ProfiledColumn
from crivo._tables import columns_of
from crivo.errors import InvalidParameterError, KeyTypeError


def profile(table: Any, *, memory: int | None = None, seed: int = 0) -> dict[str, ProfiledColumn]:
    """A `ProfiledColumn` of each column of a table, by its name: of pandas or polars, an Arrow table, record
    batch or reader, a DuckDB relation, a dictionary of columns, or a Spark DataFrame, which is read where
    its rows are.

    Each takes at most `memory` bytes, from 24 KiB on, and gives the answers of `crivo profile`. Every column
    must have as many rows as the first. Columns with values that have no text, such as lists, are left out
    with a warning that says which.

    >>> import crivo
    >>> people = crivo.profile({"name": ["ana", "rui", None], "age": [31, 17, 44]})
    >>> people["name"].missing, people["age"].column_type, people["age"].max()
    (1, 'integer', 44)
    """
    if hasattr(table, "mapInArrow"):
        from crivo.spark import profile as on_spark

        return on_spark(table, memory=memory, seed=seed)
    profiles: dict[str, ProfiledColumn] = {}
    left_out = []
    for place, (name, values) in enumerate(columns_of(table)):
        if name in profiles:
            raise InvalidParameterError(f"table: expected different names of columns, found '{name}' twice")
        column = empty(memory, seed, place)
        try:
            column.insert_batch(values)
        except KeyTypeError as refused:
            # What it says of the values before belongs to a sketch that is kept.
            reason = str(refused).partition("; the values before")[0]
            left_out.append(f"'{name}' ({reason})")
            continue
        profiles[name] = column
        first = next(iter(profiles))
        if column.rows != profiles[first].rows:
            found = f"{profiles[first].rows} rows in '{first}' and {column.rows} in '{name}'"
            raise InvalidParameterError(f"table: expected columns of one length, found {found}")
    if left_out:
        warnings.warn(f"left out, since not all values have a text: {', '.join(left_out)}", stacklevel=2)
    return profiles


def empty(memory: int | None, seed: int, *parts: int) -> ProfiledColumn:
    """An empty column, which draws its sample of values by itself in each part."""
    column = ProfiledColumn(seed=seed) if memory is None else ProfiledColumn(memory=memory, seed=seed)
    for part in parts:
        column.reseed(part)
    return column


profile.__module__ = "crivo"
