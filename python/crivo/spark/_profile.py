"""What is in each column of a DataFrame: one pass, one partial profile a partition. Partial profiles that are
too many for the driver are merged on the executors first.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import crivo
from crivo.errors import InvalidParameterError
from crivo.spark._columns import KEYS, numbered
from crivo.spark._sketch import merged_in_rounds, part

SCHEMA = "part int, profile binary"


def profile(df: DataFrame, *, memory: int | None = None, seed: int = 0) -> crivo.TableProfile:
    """A `crivo.TableProfile`, as `crivo.profile` makes of a table on one machine. Each column takes at most
    `memory` bytes. Columns of arrays, maps and structures are left out, with a warning.

    What merging keeps exactly is as on one machine. The most frequent values, the sample, the ranks
    and the drawn rows depend on how the table is divided, and keep their guarantees. The bytes of all are
    those that one machine makes by merging the same parts in their order.
    """
    if len(set(df.columns)) != len(df.columns):
        raise InvalidParameterError(f"df: expected different names of columns, found {df.columns}")
    names = [field.name for field in df.schema.fields if isinstance(field.dataType, KEYS)]
    left_out = [
        f"'{field.name}' ({field.dataType.simpleString()})"
        for field in df.schema.fields
        if field.name not in names
    ]
    if left_out:
        warnings.warn(f"left out, since not all values have a text: {', '.join(left_out)}", stacklevel=3)
    nothing, _ = crivo.TableProfile.of_columns([(name, []) for name in names], memory=memory, seed=seed)
    if not names:
        return nothing
    partials = numbered(df, names).mapInArrow(PartialProfiles(names, memory, seed), SCHEMA)
    # How large the profiles are is known when they are there.
    partials = partials.persist(StorageLevel.MEMORY_AND_DISK)
    whole = None
    try:
        ((last, size),) = partials.agg(F.max("part"), F.max(F.octet_length("profile"))).collect()
        if last is not None:
            merged = merged_in_rounds(partials, size, last + 1, MergedProfiles)
            for row in sorted(merged.toArrow().to_pylist(), key=lambda row: row["part"]):
                found = crivo.TableProfile.from_bytes(row["profile"])
                if whole is None:
                    # A table in one part has the bytes of one machine: an empty profile would draw once more.
                    whole = found
                else:
                    whole.merge(found)
    finally:
        partials.unpersist()
    return nothing if whole is None else whole


@dataclass(frozen=True)
class PartialProfiles:
    """A partition into one row with its profile."""

    names: list[str]
    memory: int | None
    seed: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        number = part()
        whole = None
        for index, batch in enumerate(batches):
            columns = list(zip(self.names, batch.columns, strict=True))
            # Each batch draws its sample by itself.
            found, _ = crivo.TableProfile.of_columns(
                columns, memory=self.memory, seed=self.seed, part=(number << 32) + index
            )
            if whole is None:
                whole = found
            else:
                whole.merge(found)
        if whole is not None:
            yield row_of(number, whole)


@dataclass(frozen=True)
class MergedProfiles:
    """Rows of partial profiles, in their order, into one row."""

    parts: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        whole, number = None, 0
        for batch in batches:
            for row in batch.to_pylist():
                found = crivo.TableProfile.from_bytes(row["profile"])
                if whole is None:
                    whole, number = found, row["part"] % self.parts
                else:
                    whole.merge(found)
        if whole is not None:
            yield row_of(number, whole)


def row_of(number: int, profile: crivo.TableProfile) -> pa.RecordBatch:
    arrays = [pa.array([number], pa.int32()), pa.array([profile.to_bytes()], pa.binary())]
    return pa.RecordBatch.from_arrays(arrays, names=["part", "profile"])
