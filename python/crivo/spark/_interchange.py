"""Counts that Spark's own functions read, and those that they wrote."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import BinaryType

from crivo.errors import InvalidParameterError, KeyTypeError
from crivo.interchange import Hll, Theta
from crivo.spark._columns import INTEGERS, TEXTS, names_of, numbered, require_keys, type_of
from crivo.spark._sketch import PartialSketches, Recipe, Sketched, merge, of_column, part

Form = Literal["hll", "theta"]

FORMS: dict[str, Any] = {"hll": Hll, "theta": Theta}


def class_of(kind: str) -> Any:
    if kind not in FORMS:
        raise InvalidParameterError(f"kind: expected 'hll' or 'theta', found {kind!r}")
    return FORMS[kind]


def to_datasketches(
    df: DataFrame,
    column: str,
    kind: Form = "hll",
    group_by: str | Sequence[str] | None = None,
    *,
    lg_k: int = 12,
) -> Sketched | DataFrame:
    """Counts the different values of a column as Apache DataSketches does, so that Spark's `hll_union_agg` or
    `theta_union_agg`, and other systems, can go on with it.

    The column has integers, text or bytes: what `hll_sketch_agg` and `theta_sketch_agg` take too, hashed as
    they do. Without `group_by` the answer is a `Sketched` of a `crivo.interchange.Hll` or `Theta`; with it
    a DataFrame of those columns, `sketch` (bytes for Spark's functions), `rows` and `skipped`.
    """
    cls = class_of(kind)
    found = type_of(df, column)
    if not isinstance(found, (*INTEGERS, *TEXTS, BinaryType)):
        expected, advice = "integers, text or bytes", "cast the column: the other side must do the same"
        raise KeyTypeError(f"column '{column}': expected {expected}, found {found.simpleString()} ({advice})")
    recipe = Recipe(cls(lg_k, keys="int" if isinstance(found, INTEGERS) else "text"))
    require_keys(df, column, recipe.keys)
    groups = names_of(group_by, "group_by")
    if groups:
        from crivo.spark._groups import by_group

        return by_group(df, column, groups, recipe)
    return of_column(df, column, recipe)


Bytes = bytes | bytearray | memoryview
Keys = Literal["text", "int"]


@overload
def from_datasketches(data: Bytes, kind: Literal["hll"] = "hll", *, keys: Keys = "text") -> Hll: ...
@overload
def from_datasketches(
    data: Bytes, kind: Literal["theta"], *, keys: Keys = "text", lg_k: int | None = None
) -> Theta: ...
@overload
def from_datasketches(
    data: DataFrame,
    kind: Form = "hll",
    column: str = "sketch",
    *,
    keys: Keys = "text",
    lg_k: int | None = None,
) -> Any: ...
def from_datasketches(
    data: Any, kind: Form = "hll", column: str = "sketch", *, keys: Keys = "text", lg_k: int | None = None
) -> Any:
    """The count in the bytes that Spark's `hll_sketch_agg`, `hll_union_agg`, `theta_sketch_agg` or
    `theta_union_agg` wrote, or another system: a `crivo.interchange.Hll` or `Theta`. Of a DataFrame all
    sketches in a column of bytes are merged, where they lie; nulls are skipped.

    The bytes do not say what was counted: `keys="int"` if it was a column of integers, so that more of
    those can be added or merged. Those of a theta sketch do not say either how many hashes it may keep:
    2^`lg_k` of them, 12 if nothing is said. Give the `lgNomEntries` that the sketches were made with, since
    of more hashes than that merging keeps only the smallest.
    """
    cls = class_of(kind)
    if lg_k is not None and cls is Hll:
        raise InvalidParameterError("lg_k: the bytes of 'hll' say it; only 'theta' needs it")
    empty = cls(keys=keys) if lg_k is None else cls(lg_k, keys=keys)
    if isinstance(data, (bytes, bytearray, memoryview)):
        return Recipe(empty).read(bytes(data))
    found = type_of(data, column)
    if not isinstance(found, BinaryType):
        raise KeyTypeError(f"column '{column}': expected bytes, found {found.simpleString()}")
    return merged_column(data, column, Recipe(empty))


def merged_column(df: DataFrame, name: str, recipe: Recipe) -> Any:
    partials = numbered(df, [name]).mapInArrow(JoinedSketches(recipe), PartialSketches.schema)
    return merge(partials, recipe, 0).sketch


@dataclass(frozen=True)
class JoinedSketches:
    """A partition of sketches into one row."""

    recipe: Recipe

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        merged: Any = None
        rows = skipped = 0
        for batch in batches:
            for data in batch.column(0):
                rows += 1
                if not data.is_valid:
                    skipped += 1
                elif merged is None:
                    merged = self.recipe.read(data.as_py())
                else:
                    merged.merge(self.recipe.read(data.as_py()))
        if merged is not None:
            columns = [
                pa.array([part()], pa.int32()),
                pa.array([merged.to_bytes()], pa.binary()),
                pa.array([rows], pa.int64()),
                pa.array([skipped], pa.int64()),
            ]
            yield pa.RecordBatch.from_arrays(columns, names=["part", "sketch", "rows", "skipped"])
