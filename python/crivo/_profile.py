"""What is in each column of a table, of whatever library."""

import warnings
from typing import Any

from crivo._native import TableProfile
from crivo._tables import columns_of
from crivo.errors import InvalidParameterError


def profile(table: Any, *, memory: int | None = None, seed: int = 0) -> TableProfile:
    """The `TableProfile` of a table, which has a `ProfiledColumn` of each column by its name: of pandas or
    polars, an Arrow table, record batch or reader, a DuckDB relation, a dictionary of columns, or a Spark
    DataFrame, which is read where its rows are.

    Each column takes at most `memory` bytes, from 30 KiB on. Unless told, all columns share 20 MiB. The
    answers are those of `crivo profile`. Every column must have as many rows as the first. Columns with
    values that have no text, such as lists, are left out with a warning that says which.

    >>> import crivo
    >>> people = crivo.profile({"name": ["ana", "rui", None], "age": [31, 17, 44]})
    >>> people["name"].missing, people["age"].column_type, people["age"].max()
    (1, 'integer', 44)
    >>> bool(people.compare(people))
    False
    """
    if hasattr(table, "mapInArrow"):
        from crivo.spark import profile as on_spark

        return on_spark(table, memory=memory, seed=seed)
    columns = columns_of(table)
    names = [name for name, _ in columns]
    for name in names:
        if names.count(name) > 1:
            raise InvalidParameterError(f"table: expected different names of columns, found '{name}' twice")
    found, left_out = TableProfile.of_columns(columns, memory=memory, seed=seed)
    if left_out:
        # What a reason says of the values before belongs to a sketch that is kept.
        reasons = (f"'{name}' ({reason.partition('; the values before')[0]})" for name, reason in left_out)
        warnings.warn(f"left out, since not all values have a text: {', '.join(reasons)}", stacklevel=2)
    return found


profile.__module__ = "crivo"
