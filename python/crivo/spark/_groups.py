"""One sketch of each group of rows: made where the rows lie, merged where those of a group meet."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

from crivo.spark._columns import column, group_column, group_parts, require_unlike
from crivo.spark._sketch import AT_ONCE, Recipe, part

Key = tuple[Any, ...]

ADDED = ("sketch", "rows", "skipped")


def by_group(df: DataFrame, name: str, groups: Sequence[str], recipe: Recipe) -> DataFrame:
    """The groups, with a sketch of the column for each."""
    partials, schema, own = partial_groups(df, name, groups, recipe)
    keys = [key for names in own for key in names]
    met = partials.repartition(*keys).sortWithinPartitions(*keys)
    merged = met.mapInArrow(MergedGroups(recipe, len(keys)), schema)
    rebuilt = [group_column(df, group, names) for group, names in zip(groups, own, strict=True)]
    return merged.select(*rebuilt, *ADDED)


def partial_groups(
    df: DataFrame, name: str, groups: Sequence[str], recipe: Recipe
) -> tuple[DataFrame, StructType, list[list[str]]]:
    """A sketch of each group in each partition, its columns, and the names of those that each group is."""
    require_unlike(groups, ADDED, "group_by", "rename it with withColumnRenamed")
    parts = [group_parts(df, group) for group in groups]
    selected = [part for group in parts for part, _ in group]
    keys = [f"c{place}" for place in range(len(selected))]
    kinds = [kind for group in parts for _, kind in group]
    chosen = [part.alias(key) for part, key in zip(selected, keys, strict=True)]
    values = column(name).alias(f"c{len(keys)}")
    fields = zip((*keys, *ADDED), (*kinds, BinaryType(), LongType(), LongType()), strict=True)
    schema = StructType([StructField(name, kind) for name, kind in fields])
    partials = df.select(*chosen, values).mapInArrow(GroupedSketches(recipe, len(keys)), schema)
    ends = np.cumsum([len(group) for group in parts]).tolist()
    own = [keys[end - len(group) : end] for end, group in zip(ends, parts, strict=True)]
    return partials, schema, own


def groups_of(columns: Sequence[pa.Array]) -> Iterator[NDArray[np.int64]]:
    """The rows of each group, of those in one batch."""
    codes: NDArray[np.int64] = np.zeros(len(columns[0]), np.int64)
    for values in columns:
        encoded = values.dictionary_encode(null_encoding="encode")
        codes = codes * max(1, len(encoded.dictionary)) + encoded.indices.to_numpy(zero_copy_only=False)
        # Renumbered after each column: products of many would overflow.
        codes = np.unique(codes, return_inverse=True)[1]
    order = np.argsort(codes, kind="stable")
    yield from (rows for rows in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1) if len(rows))


def comparable(columns: Sequence[pa.Array]) -> list[pa.Array]:
    """Columns whose values Python can hold: dates and times as integers, since Spark has them outside of the
    years 1 to 9999 too.
    """
    integers = {32: pa.int32(), 64: pa.int64()}
    return [
        values.view(integers[values.type.bit_width]) if pa.types.is_temporal(values.type) else values
        for values in columns
    ]


def key_of(columns: Sequence[pa.Array], row: int) -> Key:
    """What the group is called, from `comparable` columns; NaN, which is not equal to itself, by its name."""
    values = (column[row].as_py() for column in columns)
    return tuple("NaN" if value != value else value for value in values)


@dataclass
class Group:
    """A group while it is counted: a row of its key columns, its sketch, what was read."""

    key: list[pa.Array]
    sketch: Any
    rows: int = 0
    skipped: int = 0
    size: int = 0


@dataclass
class Table:
    """Groups on their way out."""

    names: Sequence[str]
    groups: dict[Key, Group] = field(default_factory=dict)
    size: int = 0

    def weigh(self, group: Group) -> None:
        """Takes notice of how much the sketch of a group takes by now."""
        # Sketches that do not say how much they take are small.
        size = int(getattr(group.sketch, "memory", 1 << 16))
        self.size += size - group.size
        group.size = size

    def is_large(self) -> bool:
        return self.size > AT_ONCE

    def drain(self) -> Iterator[pa.RecordBatch]:
        groups, self.groups, self.size = list(self.groups.values()), {}, 0
        if groups:
            keys = [pa.concat_arrays(parts) for parts in zip(*(group.key for group in groups), strict=True)]
            sketches = pa.array([group.sketch.to_bytes() for group in groups], pa.binary())
            rows = pa.array([group.rows for group in groups], pa.int64())
            skipped = pa.array([group.skipped for group in groups], pa.int64())
            yield pa.RecordBatch.from_arrays([*keys, sketches, rows, skipped], names=[*self.names, *ADDED])


@dataclass(frozen=True)
class GroupedSketches:
    """Rows of key columns and a value into one row for each group of a partition, or more of large ones."""

    recipe: Recipe
    keys: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        number, made, table = part(), 0, Table(())
        for batch in batches:
            table.names = batch.schema.names[: self.keys]
            columns, values = batch.columns[: self.keys], batch.columns[self.keys]
            key_columns = comparable(columns)
            for rows in groups_of(columns):
                key, first = key_of(key_columns, rows[0]), int(rows[0])
                group = table.groups.get(key)
                if group is None:
                    row = [column.slice(first, 1) for column in columns]
                    group = table.groups[key] = Group(row, self.recipe.fresh(number, made))
                    made += 1
                group.skipped += group.sketch.insert_batch(values.take(pa.array(rows)))
                group.rows += len(rows)
                table.weigh(group)
            if table.is_large():
                yield from table.drain()
        yield from table.drain()


@dataclass(frozen=True)
class MergedGroups:
    """Partial sketches in the order of their groups into one row for each group."""

    recipe: Recipe
    keys: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        table = Table(())
        last: Key | None = None
        for batch in batches:
            table.names = batch.schema.names[: self.keys]
            columns = batch.columns[: self.keys]
            key_columns = comparable(columns)
            rest = batch.select(list(ADDED)).to_pylist()
            for row, found in enumerate(rest):
                key, sketch = key_of(key_columns, row), self.recipe.read(found["sketch"])
                if key != last and table.is_large():
                    yield from table.drain()
                last = key
                group = table.groups.get(key)
                if group is None:
                    group = table.groups[key] = Group([column.slice(row, 1) for column in columns], sketch)
                else:
                    group.sketch.merge(sketch)
                group.rows += found["rows"]
                group.skipped += found["skipped"]
                table.weigh(group)
        yield from table.drain()
