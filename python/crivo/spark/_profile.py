"""What is in each column of a DataFrame: one pass, one partial profile a partition and column."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

import crivo
from crivo._profile import empty
from crivo.errors import InvalidParameterError
from crivo.spark._columns import KEYS, numbered
from crivo.spark._sketch import part

SCHEMA = "part int, place int, profile binary, growth binary, near_duplicates binary"


def profile(df: DataFrame, *, memory: int | None = None, seed: int = 0) -> dict[str, crivo.ProfiledColumn]:
    """A `crivo.ProfiledColumn` of each column, by its name: as `crivo.profile` makes of a table on one
    machine. Each takes at most `memory` bytes. Columns of arrays, maps and structures are left out, with a
    warning.
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
    profiles = {name: empty(memory, seed, place) for place, name in enumerate(names)}
    if not names:
        return profiles
    partials = numbered(df, names).mapInArrow(PartialProfiles(memory, seed), SCHEMA)
    rows = sorted(partials.toArrow().to_pylist(), key=lambda row: (row["part"], row["place"]))
    for row in rows:
        later = crivo.ProfiledColumn.from_parts(row["profile"], row["growth"], row["near_duplicates"])
        profiles[names[row["place"]]].append(later)
    return profiles


@dataclass(frozen=True)
class PartialProfiles:
    """A partition into one row for each column."""

    memory: int | None
    seed: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        number = part()
        profiles: list[Any] = []
        for batch in batches:
            if not profiles:
                columns = range(batch.num_columns)
                profiles = [empty(self.memory, self.seed, place, number) for place in columns]
            for of_column, values in zip(profiles, batch.columns, strict=True):
                of_column.insert_batch(values)
        parts = [of_column.to_parts() for of_column in profiles]
        arrays = [
            pa.array([number] * len(profiles), pa.int32()),
            pa.array(range(len(profiles)), pa.int32()),
            *(pa.array([of_column[at] for of_column in parts], pa.binary()) for at in range(3)),
        ]
        names = ["part", "place", "profile", "growth", "near_duplicates"]
        yield pa.RecordBatch.from_arrays(arrays, names=names)
