"""What is in each column of a table, of whatever library."""

import warnings
from typing import Any

from crivo._native import ColumnProfile
from crivo.errors import InvalidParameterError, KeyTypeError


def profile(table: Any, *, memory: int | None = None, seed: int = 0) -> dict[str, ColumnProfile]:
    """A `ColumnProfile` of each column of a table, by its name: of pandas or polars, an Arrow table or
    record batch, a dictionary of columns, or a Spark DataFrame, which is read where its rows are.

    Each profile takes at most `memory` bytes. Columns whose values have no text, such as lists, are left
    out with a warning.

    >>> import crivo
    >>> people = crivo.profile({"name": ["ana", "rui", None], "age": [31, 17, 44]})
    >>> people["name"].missing, people["age"].column_type, people["age"].max()
    (1, 'integer', 44)
    """
    if hasattr(table, "mapInArrow"):
        from crivo.spark import profile as on_spark

        return on_spark(table, memory=memory, seed=seed)
    profiles: dict[str, ColumnProfile] = {}
    left_out = []
    for place, (name, values) in enumerate(columns_of(table)):
        if name in profiles:
            raise InvalidParameterError(f"table: expected different names of columns, found '{name}' twice")
        column = (
            ColumnProfile(seed=seed, sample_seed=place)
            if memory is None
            else ColumnProfile.for_memory(memory, seed=seed, sample_seed=place)
        )
        try:
            column.insert_batch(values)
        except KeyTypeError:
            left_out.append(name)
            continue
        profiles[name] = column
    if left_out:
        warnings.warn(f"left out, since their values have no text: {', '.join(left_out)}", stacklevel=2)
    return profiles


def columns_of(table: Any) -> list[tuple[str, Any]]:
    """The names and the values of a table's columns."""
    if isinstance(table, dict):
        return [(str(name), values) for name, values in table.items()]
    if hasattr(table, "column_names") and hasattr(table, "column"):  # Arrow's table
        return list(zip(table.column_names, table.columns, strict=True))
    if hasattr(table, "schema") and hasattr(table, "columns") and hasattr(table.schema, "names"):
        names, columns = table.schema.names, table.columns
        if len(columns) and not isinstance(columns[0], str):  # Arrow's record batch
            return list(zip(names, columns, strict=True))
    if hasattr(table, "columns") and hasattr(table, "iloc"):  # pandas
        return [(str(name), table.iloc[:, place]) for place, name in enumerate(table.columns)]
    if hasattr(table, "get_columns"):  # polars
        return [(column.name, column) for column in table.get_columns()]
    found = type(table).__name__
    raise KeyTypeError(
        f"table: expected one of pandas, polars, Arrow or Spark, or a dict of columns, found {found}"
    )


profile.__module__ = "crivo"
