"""One sketch of a column, however many machines its rows lie on.

Each partition becomes one partial sketch where it lies; only sketches travel. Small ones are merged on the
driver, in the order of the partitions; those that are large, or many, first on the executors, a few at a
time. Of groups of rows each partition makes a sketch a group, and those of one group meet in a shuffle.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyspark import TaskContext
from pyspark.errors import PySparkAttributeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, DoubleType, StructField, StructType

import crivo
from crivo._kinds import counter_for, question_sketch, with_items
from crivo.errors import InvalidParameterError, KeyTypeError
from crivo.interchange import Hll, Kll, Theta
from crivo.spark._columns import names_of, numbered, require_keys, require_unlike, type_of

Kind = Literal[
    "distinct",
    "membership",
    "frequency",
    "top",
    "sample",
    "hll",
    "ull",
    "kmv",
    "bloom",
    "countmin",
    "kll",
]
"""The names in `QUESTIONS` and `KINDS` of `crivo._kinds`, which has their sizes."""

Merging = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""What a task makes of partial results."""

AT_ONCE = 256 << 20
"""How many bytes of sketches one task, or the driver, is given at once."""


@dataclass(frozen=True)
class Sketched:
    """The sketch of a column, and what was read: the number of `rows`, and how
    many of them were `skipped` because they had no value.

    Besides, it has the methods of the sketch itself: `sketched.estimate()` is `sketched.sketch.estimate()`.
    """

    sketch: Any
    rows: int
    skipped: int

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.sketch, name)

    def __contains__(self, key: Any) -> bool:
        return key in self.sketch

    def __bytes__(self) -> bytes:
        return bytes(self.sketch)


@dataclass(frozen=True)
class Recipe:
    """How a task makes an empty sketch, and reads one that another task wrote."""

    empty: Any
    numbers: Literal["double", "float", "long"] | None = None
    """What the numbers of a `Kll` are. None if its bytes have to tell."""

    def fresh(self, *parts: int) -> Any:
        """An empty sketch. Those that draw do so by themselves in each part."""
        sketch = self.empty.copy()
        # The coins of `Kll` have no seed.
        if not isinstance(sketch, Hll | Theta | Kll):
            for number in parts:
                sketch.reseed(number)
        return sketch

    def read(self, data: bytes) -> Any:
        if isinstance(self.empty, Hll):
            return Hll.from_bytes(data, keys=self.empty.keys)
        if isinstance(self.empty, Theta):
            return Theta.from_bytes(data, self.empty.lg_k, keys=self.empty.keys)
        if isinstance(self.empty, Kll):
            return Kll.from_bytes(data, numbers=self.numbers)
        return crivo.decode(data)

    @property
    def keys(self) -> str:
        """The kind of keys; "numbers" for a sketch that has none."""
        return str(getattr(self.empty, "keys", "numbers"))

    @property
    def size(self) -> int:
        """About how many bytes a full one has."""
        memory = getattr(self.empty, "memory", 1 << 16)
        return max(int(memory), len(self.empty.to_bytes()))


def recipe_of(kind: Any, parameters: dict[str, Any]) -> Recipe:
    """The sketch that a kind and its parameters ask for."""
    empty = question_sketch(kind, parameters, INSTEAD)
    if empty is None:
        message = "items: expected how many different values there are at most, found nothing"
        raise InvalidParameterError(f"{message} (sketch(df, column, 'distinct') counts them)")
    return Recipe(empty)


INSTEAD = {
    "WeightedReservoir": "kind='sample' draws without weights",
    "DistinctGrowth": "crivo.spark.profile numbers them",
    "Panes": "give a sketch of the kind inside, with the time cut into panes as group_by",
    "Groups": "give a sketch of the kind inside, with the groups as group_by",
}
"""What to give instead of a sketch that needs more than values."""


def part() -> int:
    """The number of the partition that a task works on: the same when it is tried again."""
    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


@dataclass(frozen=True)
class PartialSketches:
    """A partition of one column into one row: its number, its sketch, what was read."""

    recipe: Recipe

    schema = "part int, sketch binary, rows bigint, skipped bigint"

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        number = part()
        sketch, rows, skipped = self.recipe.fresh(number), 0, 0
        for batch in batches:
            rows += batch.num_rows
            skipped += sketch.insert_batch(batch.column(0))
        yield pa.RecordBatch.from_pydict(
            {
                "part": pa.array([number], pa.int32()),
                "sketch": pa.array([sketch.to_bytes()], pa.binary()),
                "rows": pa.array([rows], pa.int64()),
                "skipped": pa.array([skipped], pa.int64()),
            }
        )


@dataclass(frozen=True)
class MergedSketches:
    """Rows of partial sketches, in their order, into one row."""

    recipe: Recipe
    parts: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        merged: Any = None
        number = rows = skipped = 0
        for batch in batches:
            for row in batch.to_pylist():
                sketch = self.recipe.read(row["sketch"])
                if merged is None:
                    merged, number = sketch, row["part"] % self.parts
                else:
                    merged.merge(sketch)
                rows, skipped = rows + row["rows"], skipped + row["skipped"]
        if merged is not None:
            yield pa.RecordBatch.from_pydict(
                {
                    "part": pa.array([number], pa.int32()),
                    "sketch": pa.array([merged.to_bytes()], pa.binary()),
                    "rows": pa.array([rows], pa.int64()),
                    "skipped": pa.array([skipped], pa.int64()),
                }
            )


def merged_in_rounds(
    partials: DataFrame, size: int, parts: int, merging: Callable[[int], Merging]
) -> DataFrame:
    """Merges partial results on the executors, a few at a time in the order of their `part`, until the driver
    can take those that are left. There are about `parts` of them, of about `size` bytes each. `merging` makes
    a round for the number of parts that it leaves.
    """
    schema = partials.schema
    fan_in = max(2, AT_ONCE // size)
    while parts > fan_in and parts * size > AT_ONCE:
        parts = -(-parts // fan_in)
        grouped = partials.repartition(parts, F.col("part") % parts).sortWithinPartitions("part")
        partials = grouped.mapInArrow(merging(parts), schema)
    return partials


def merge(partials: DataFrame, recipe: Recipe, parts: int) -> Sketched:
    """Merge all partial sketches, about ``parts`` of them, into one."""
    partials = merged_in_rounds(partials, recipe.size, parts, partial(MergedSketches, recipe))
    merged, rows, skipped = None, 0, 0
    for row in sorted(partials.toArrow().to_pylist(), key=lambda row: row["part"]):
        sketch = recipe.read(row["sketch"])
        if merged is None:
            merged = sketch
        else:
            merged.merge(sketch)
        rows, skipped = rows + row["rows"], skipped + row["skipped"]
    return Sketched(recipe.fresh() if merged is None else merged, rows, skipped)


def sketch(
    df: DataFrame,
    column: str,
    kind: Kind | Any,
    group_by: str | Sequence[str] | None = None,
    **parameters: Any,
) -> Sketched | DataFrame:
    """The sketch of a column, merged from one partial sketch a partition.

    `kind` is a question: "distinct" (with `error` or `precision`, and `method` "hll", "ull" or "kmv"),
    "membership" (`items`, `rate`), "frequency" (`error`, `confidence`), "top" (`counters`) or "sample"
    (`capacity`). It may also be a kind of sketch as in Polars and pandas: "hll", "ull", "kmv", "bloom",
    "countmin", "top" or "kll". Parameters that are not given are those of Polars, pandas and the command
    line. A third form is an empty sketch of any class, which every partition begins with. `keys` and `seed`
    are as for `crivo.HyperLogLog`: by default a value is keyed by its text, as the command line does
    (docs/keys.md). Nulls, NaN and empty text are skipped and counted.

    Without `group_by` the job is run, and the answer is a `Sketched`: the sketch, how many rows there were
    and how many of them were skipped. The bytes are those of one machine where merging is exact: for all but
    "top", if it meets more different values than it has counters, "sample" and "kll", which keep their
    guarantees. The values of a filter without `items` are counted first, in a job of its own.

    With `group_by`, the name of a column or several, nothing is run yet: the answer is a DataFrame with those
    columns, `sketch` (bytes for `crivo.decode`), `rows` and `skipped`; `estimate` reads it. A filter of
    groups needs `items`, because those of a group have one size.
    """
    groups = names_of(group_by, "group_by")
    if not groups and question_sketch(kind, parameters, INSTEAD) is None:
        parameters = with_items(parameters, counted(df, column, parameters))
    recipe = recipe_of(kind, parameters)
    require_keys(df, column, recipe.keys)
    if groups:
        from crivo.spark._groups import by_group

        return by_group(df, column, groups, recipe)
    return of_column(df, column, recipe)


def counted(df: DataFrame, name: str, parameters: dict[str, Any]) -> Sketched:
    """The different values of a column, counted for a filter with those parameters."""
    counter = Recipe(counter_for(parameters))
    require_keys(df, name, counter.keys)
    return of_column(df, name, counter)


def of_column(df: DataFrame, name: str, recipe: Recipe) -> Sketched:
    """One sketch of all rows, now."""
    selected = numbered(df, [name])
    parallel = parallelism(df.sparkSession)
    if recipe.size * 4 * parallel > AT_ONCE:
        # Every partition makes a whole sketch: no more of large ones than can be made at a time.
        selected = selected.coalesce(parallel)
    partials = selected.mapInArrow(PartialSketches(recipe), PartialSketches.schema)
    return merge(partials, recipe, parallel if recipe.size * 4 * parallel > AT_ONCE else 0)


def parallelism(session: SparkSession) -> int:
    """How many tasks run at a time."""
    try:
        return int(session.sparkContext.defaultParallelism)
    except PySparkAttributeError:
        # A session of Spark Connect has no context.
        if session not in SERVERS:
            # The server cuts a range into as many parts.
            parts = session.range(1 << 16).select(F.spark_partition_id().alias("part"))
            last = parts.agg(F.max("part").alias("last")).first()
            SERVERS[session] = 1 if last is None else int(last["last"]) + 1
        return SERVERS[session]


SERVERS: WeakKeyDictionary[SparkSession, int] = WeakKeyDictionary()
"""How many tasks the server of a session runs at a time, which is asked once."""


ANSWER = ("value", "lower", "upper")


def estimate(sketches: DataFrame, confidence: float = 0.95) -> DataFrame:
    """Adds `value`, `lower` and `upper` to a DataFrame of sketches that count different values, as `sketch`
    with `group_by` makes it, and leaves the sketches out. (Those of `to_datasketches` are for Spark's
    `hll_sketch_estimate`.)
    """
    crivo.HyperLogLog(4).estimate(confidence)
    if not isinstance(type_of(sketches, "sketch"), BinaryType):
        raise KeyTypeError("sketch: expected a column of bytes")
    others = [field for field in sketches.schema.fields if field.name != "sketch"]
    names = [field.name for field in others]
    require_unlike(names, ANSWER, "sketches", "rename it with withColumnRenamed")
    ordered = numbered(sketches, [*names, "sketch"])
    kept = [StructField(plain, field.dataType) for plain, field in zip(ordered.columns, others, strict=False)]
    schema = StructType([*kept, *(StructField(name, DoubleType()) for name in ANSWER)])
    return ordered.mapInArrow(Estimates(confidence), schema).toDF(*names, *ANSWER)


@dataclass(frozen=True)
class Estimates:
    """Rows that end with a sketch into rows that end with its answer."""

    confidence: float

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            answers = [self.answer(data.as_py()) for data in batch.columns[-1]]
            columns = batch.columns[:-1]
            columns += [pa.array(numbers, pa.float64()) for numbers in zip(*answers, strict=True)] or [
                pa.array([], pa.float64())
            ] * 3
            yield pa.RecordBatch.from_arrays(columns, names=[*batch.schema.names[:-1], *ANSWER])

    def answer(self, data: bytes | None) -> tuple[float | None, float | None, float | None]:
        if data is None:
            return (None, None, None)
        sketch = crivo.decode(data)
        if not hasattr(sketch, "estimate"):
            raise KeyTypeError(
                f"sketch: expected one that counts different values, found a {type(sketch).__name__}"
            )
        answer = sketch.estimate(confidence=self.confidence)
        return (answer.value, answer.lower, answer.upper)
