"""What is in each column of a table, of whatever library."""

import warnings
from collections.abc import Iterable
from itertools import chain
from typing import Any

from crivo import _huggingface
from crivo._native import TableProfile
from crivo._tables import columns_of
from crivo.errors import InvalidParameterError


def profile(table: Any, *, memory: int | None = None, seed: int = 0) -> TableProfile:
    """The `TableProfile` of a table, which has a `ProfiledColumn` of each column by its name: of pandas or
    polars, an Arrow table, record batch or reader, a DuckDB relation, a dataset of Hugging Face, a
    dictionary of columns, or a Spark DataFrame, which is read where its rows are. A streaming dataset is
    read once, a batch at a time.

    Each column takes at most `memory` bytes, from 42 KiB on. Unless told, all columns share 24 MiB. The
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
    if _huggingface.is_dataset(table) and _huggingface.is_streaming(table):
        return profile_batches(None, _huggingface.batches_of(table), memory=memory, seed=seed)
    return profile_batches(None, [table], memory=memory, seed=seed)


def profile_batches(
    first: Any, batches: Iterable[Any], *, memory: int | None = None, seed: int = 0
) -> TableProfile:
    """The profile of a table whose rows come in batches, `first` an empty one, if it is known, that has
    the columns.
    """
    whole: TableProfile | None = None
    names: list[str] = []
    left_out: dict[str, str] = {}
    for number, batch in enumerate(batches if first is None else chain([first], batches)):
        columns = columns_of(batch)
        require_names([name for name, _ in columns], names if number else None)
        names = names or [name for name, _ in columns]
        found, refused = TableProfile.of_columns(columns, memory=memory, seed=seed, part=number)
        # What a reason says of the values before belongs to a sketch that is kept.
        left_out |= {name: reason.partition("; the values before")[0] for name, reason in refused}
        if whole is None:
            whole = found
            continue
        for name in left_out:
            whole.discard(name)
            found.discard(name)
        whole.merge(found)
    if left_out:
        listed = ", ".join(f"'{name}' ({reason})" for name, reason in left_out.items())
        warnings.warn(f"left out, since not all values have a text: {listed}", stacklevel=3)
    return TableProfile.of_columns([], memory=memory, seed=seed)[0] if whole is None else whole


def require_names(found: list[str], expected: list[str] | None) -> None:
    """Refuses names that come twice, and those of rows that have other columns than the first."""
    for place, name in enumerate(found):
        if name in found[:place]:
            raise InvalidParameterError(f"table: expected different names of columns, found '{name}' twice")
        if expected is not None and name not in expected:
            raise InvalidParameterError(f"table: expected the columns of the first rows, found '{name}' too")
    for name in expected or []:
        if name not in found:
            raise InvalidParameterError(
                f"table: expected the columns of the first rows, found none named '{name}'"
            )


profile.__module__ = "crivo"
