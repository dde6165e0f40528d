"""Sketches of groups that go on with a stream, kept by Spark between its batches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

from crivo.errors import InvalidParameterError
from crivo.spark._columns import group_column, names_of, require_keys
from crivo.spark._groups import ADDED, partial_groups
from crivo.spark._sketch import Kind, Recipe, recipe_of

STATE = "sketch binary, rows bigint, skipped bigint"


def sketch_stream(
    df: DataFrame,
    column: str,
    kind: Kind | Any,
    group_by: str | Sequence[str],
    *,
    forget_after: str | None = None,
    **parameters: Any,
) -> DataFrame:
    """The sketch of a column for each group of a streaming DataFrame, which goes on with every batch.

    `kind`, `group_by` and the parameters are those of `sketch`; a group can be a window, as `F.window` makes
    it. The answer is a streaming DataFrame of those columns, `sketch`, `rows` and `skipped`, in the output
    mode "update": each batch has the groups that it changed, with all that came so far. Spark keeps the
    sketches in its checkpoint, so that a query that is started again goes on where it was, and every row
    counts once.

    `forget_after`, such as "2 hours", forgets groups to which nothing was added for that time by the clock.
    """
    if not df.isStreaming:
        raise InvalidParameterError("df: expected a streaming DataFrame (crivo.spark.sketch reads others)")
    recipe = recipe_of(kind, parameters)
    require_keys(df, column, recipe.keys)
    groups = names_of(group_by, "group_by")
    if not groups:
        raise InvalidParameterError("group_by: expected the names of columns, found none")
    milliseconds = None if forget_after is None else milliseconds_of(forget_after)
    timeout = GroupStateTimeout.NoTimeout if milliseconds is None else GroupStateTimeout.ProcessingTimeTimeout
    partials, schema, own = partial_groups(df, column, groups, recipe)
    keys = [key for names in own for key in names]
    merged = partials.groupBy(*keys).applyInPandasWithState(
        GrowingSketches(recipe, tuple(keys), milliseconds), schema, STATE, "update", timeout
    )
    rebuilt = [group_column(df, group, names) for group, names in zip(groups, own, strict=True)]
    return merged.select(*rebuilt, *ADDED)


def milliseconds_of(duration: str) -> int:
    try:
        milliseconds = int(pd.Timedelta(duration) / np.timedelta64(1, "ms"))
    except ValueError:
        milliseconds = 0
    if milliseconds < 1:
        raise InvalidParameterError(
            f"forget_after: expected a duration such as '2 hours', found {duration!r}"
        )
    return milliseconds


@dataclass(frozen=True)
class GrowingSketches:
    """Partial sketches of a group, and the one that is kept of it, into one."""

    recipe: Recipe
    keys: tuple[str, ...]
    forget_after: int | None

    def __call__(
        self, key: tuple[Any, ...], parts: Iterator[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        if state.hasTimedOut:
            state.remove()
            return
        merged: Any = None
        rows = skipped = 0
        if state.exists:
            data, rows, skipped = state.get
            merged = self.recipe.read(bytes(data))
        for part in parts:
            for data, more, missing in zip(part["sketch"], part["rows"], part["skipped"], strict=True):
                sketch = self.recipe.read(bytes(data))
                if merged is None:
                    merged = sketch
                else:
                    merged.merge(sketch)
                rows, skipped = rows + int(more), skipped + int(missing)
        if merged is None:
            return
        data = merged.to_bytes()
        state.update((data, rows, skipped))
        if self.forget_after is not None:
            state.setTimeoutDuration(self.forget_after)
        values = [[value] for value in (*key, data, rows, skipped)]
        yield pd.DataFrame(dict(zip((*self.keys, *ADDED), values, strict=True)))
