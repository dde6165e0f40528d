"""What is in each column of a table, of whatever library."""

import warnings
from collections.abc import Iterable
from itertools import chain
from typing import Any

from crivo import _huggingface
from crivo._native import ProfiledColumn
from crivo._tables import columns_of
from crivo.errors import InvalidParameterError, KeyTypeError


def profile(table: Any, *, memory: int | None = None, seed: int = 0) -> dict[str, ProfiledColumn]:
    """A `ProfiledColumn` of each column of a table, by its name: of pandas or polars, an Arrow table,
    record batch or reader, a DuckDB relation, a dataset of Hugging Face, a dictionary of columns, or a
    Spark DataFrame, which is read where its rows are. A streaming dataset is read once, a batch at a
    time.

    Each takes at most `memory` bytes, from 24 KiB on, and gives the answers of `crivo profile`. Every
    column must have as many rows as the first. Columns with values that have no text, such as lists, are
    left out with a warning that says which.

    >>> import crivo
    >>> people = crivo.profile({"name": ["ana", "rui", None], "age": [31, 17, 44]})
    >>> people["name"].missing, people["age"].column_type, people["age"].max()
    (1, 'integer', 44)
    """
    if hasattr(table, "mapInArrow"):
        from crivo.spark import profile as on_spark

        return on_spark(table, memory=memory, seed=seed)
    if _huggingface.is_dataset(table) and _huggingface.is_streaming(table):
        return profile_batches(None, _huggingface.batches_of(table), memory=memory, seed=seed)
    return profile_batches(None, [table], memory=memory, seed=seed)


def profile_batches(
    first: Any, batches: Iterable[Any], *, memory: int | None = None, seed: int = 0
) -> dict[str, ProfiledColumn]:
    """The profile of a table whose rows come in batches, `first` an empty one, if it is known, that has
    the columns.
    """
    profiles: dict[str, ProfiledColumn] = {}
    left_out: dict[str, str] = {}
    for number, batch in enumerate(batches if first is None else chain([first], batches)):
        columns = columns_of(batch)
        for place, (name, values) in enumerate(columns):
            if name in [other for other, _ in columns[:place]]:
                raise InvalidParameterError(
                    f"table: expected different names of columns, found '{name}' twice"
                )
            if name in left_out:
                continue
            if number == 0:
                profiles[name] = empty(memory, seed, place)
            elif name not in profiles:
                raise InvalidParameterError(
                    f"table: expected the columns of the first rows, found '{name}' too"
                )
            try:
                profiles[name].insert_batch(values)
            except KeyTypeError as refused:
                # What it says of the values before belongs to a sketch that is kept.
                left_out[name] = str(refused).partition("; the values before")[0]
                del profiles[name]
    for name, column in profiles.items():
        first_name = next(iter(profiles))
        if column.rows != profiles[first_name].rows:
            found = f"{profiles[first_name].rows} rows in '{first_name}' and {column.rows} in '{name}'"
            raise InvalidParameterError(f"table: expected columns of one length, found {found}")
    if left_out:
        listed = ", ".join(f"'{name}' ({reason})" for name, reason in left_out.items())
        warnings.warn(f"left out, since not all values have a text: {listed}", stacklevel=3)
    return profiles


def empty(memory: int | None, seed: int, *parts: int) -> ProfiledColumn:
    """An empty column, which draws its sample of values by itself in each part."""
    column = ProfiledColumn(seed=seed) if memory is None else ProfiledColumn(memory=memory, seed=seed)
    for part in parts:
        column.reseed(part)
    return column


profile.__module__ = "crivo"
