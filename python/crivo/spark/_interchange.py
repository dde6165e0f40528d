"""Sketches that Spark's own functions read, and those that they wrote."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import BinaryType, DataType, DoubleType, FloatType

from crivo.errors import InvalidParameterError, KeyTypeError
from crivo.interchange import Hll, Kll, Theta
from crivo.spark._columns import INTEGERS, TEXTS, names_of, numbered, require_keys, type_of
from crivo.spark._sketch import PartialSketches, Recipe, Sketched, merge, of_column, part

Form = Literal["hll", "theta", "kll"]
Keys = Literal["text", "int"]
Numbers = Literal["double", "float", "long"]

COUNTS: dict[str, Any] = {"hll": Hll, "theta": Theta}
"""The forms that count different values. The other one has quantiles of numbers."""


def require_form(kind: str) -> None:
    if kind != "kll" and kind not in COUNTS:
        raise InvalidParameterError(f"kind: expected 'hll', 'theta' or 'kll', found {kind!r}")


def refuse_given(kind: str, **given: Any) -> None:
    """Raises an error if a parameter was given that sketches of a kind do not have."""
    for name, value in given.items():
        if value is not None:
            raise InvalidParameterError(f"{kind}: has no parameter {name}")


def to_datasketches(
    df: DataFrame,
    column: str,
    kind: Form = "hll",
    group_by: str | Sequence[str] | None = None,
    *,
    lg_k: int | None = None,
    k: int | None = None,
) -> Sketched | DataFrame:
    """Sketches a column as Apache DataSketches does, so that Spark's own functions, and other systems, can go
    on with it: "hll" for `hll_union_agg`, "theta" for `theta_union_agg`, "kll" for `kll_merge_agg_bigint` and
    its siblings.

    The column of "hll" and "theta" has integers, text or bytes: what `hll_sketch_agg` and `theta_sketch_agg`
    take too, hashed as they do. They have the size `lg_k`, 12 if none is given. The column of "kll" has
    integers, floats or doubles, for `kll_sketch_*_bigint`, `_float` and `_double`. It has the size `k`, 200
    if none is given, and draws coins without a seed, so that its bytes differ every time.

    Without `group_by` the answer is a `Sketched` of a `crivo.interchange.Hll`, `Theta` or `Kll`; with it
    a DataFrame of those columns, `sketch` (bytes for Spark's functions), `rows` and `skipped`.
    """
    require_form(kind)
    found = type_of(df, column)
    if kind == "kll":
        refuse_given(kind, lg_k=lg_k)
        numbers = numbers_of(column, found)
        recipe = Recipe(Kll(200 if k is None else k, numbers=numbers), numbers)
    else:
        refuse_given(kind, k=k)
        if not isinstance(found, (*INTEGERS, *TEXTS, BinaryType)):
            raise refused(column, found, "integers, text or bytes")
        keys: Keys = "int" if isinstance(found, INTEGERS) else "text"
        recipe = Recipe(COUNTS[kind](12 if lg_k is None else lg_k, keys=keys))
    require_keys(df, column, recipe.keys)
    groups = names_of(group_by, "group_by")
    if groups:
        from crivo.spark._groups import by_group

        return by_group(df, column, groups, recipe)
    return of_column(df, column, recipe)


def numbers_of(column: str, found: DataType) -> Numbers:
    """What the numbers of a column are in a sketch of quantiles."""
    if isinstance(found, INTEGERS):
        return "long"
    if isinstance(found, FloatType):
        return "float"
    if isinstance(found, DoubleType):
        return "double"
    raise refused(column, found, "integers, floats or doubles")


def refused(column: str, found: DataType, expected: str) -> KeyTypeError:
    advice = "cast the column: the other side must do the same"
    return KeyTypeError(f"column '{column}': expected {expected}, found {found.simpleString()} ({advice})")


Bytes = bytes | bytearray | memoryview


@overload
def from_datasketches(data: Bytes, kind: Literal["hll"] = "hll", *, keys: Keys = "text") -> Hll: ...
@overload
def from_datasketches(
    data: Bytes, kind: Literal["theta"], *, keys: Keys = "text", lg_k: int | None = None
) -> Theta: ...
@overload
def from_datasketches(data: Bytes, kind: Literal["kll"], *, numbers: Numbers | None = None) -> Kll: ...
@overload
def from_datasketches(
    data: DataFrame,
    kind: Form = "hll",
    column: str = "sketch",
    *,
    keys: Keys | None = None,
    lg_k: int | None = None,
    numbers: Numbers | None = None,
) -> Any: ...
def from_datasketches(
    data: Any,
    kind: Form = "hll",
    column: str = "sketch",
    *,
    keys: Keys | None = None,
    lg_k: int | None = None,
    numbers: Numbers | None = None,
) -> Any:
    """The sketch in the bytes that Spark's `hll_sketch_agg`, `theta_sketch_agg`, `kll_sketch_agg_bigint` or
    their siblings and unions wrote, or another system: a `crivo.interchange.Hll`, `Theta` or `Kll`. Of a
    DataFrame all sketches in a column of bytes are merged, where they lie; nulls are skipped.

    The bytes of counts do not say what was counted: `keys="int"` if it was a column of integers, so that more
    of those can be added or merged, and "text" if nothing is said. Those of a theta sketch do not say either
    how many hashes it may keep: 2^`lg_k` of them, 12 if nothing is said. Give the `lgNomEntries` that the
    sketches were made with, since of more hashes than that merging keeps only the smallest.

    The bytes of "kll" do not say what their `numbers` are: "double", "float" or "long", for the functions
    that end with `_double`, `_float` and `_bigint`. If nothing is said, they are told as
    `crivo.interchange.Kll.from_bytes` tells them, which fails for whole numbers that are all 0.
    """
    require_form(kind)
    if kind == "kll":
        refuse_given(kind, keys=keys, lg_k=lg_k)
        recipe = Recipe(Kll(numbers="double" if numbers is None else numbers), numbers)
    else:
        refuse_given(kind, numbers=numbers)
        if lg_k is not None and kind == "hll":
            raise InvalidParameterError("lg_k: the bytes of 'hll' say it; only 'theta' needs it")
        sizes = [] if lg_k is None else [lg_k]
        recipe = Recipe(COUNTS[kind](*sizes, keys="text" if keys is None else keys))
    if isinstance(data, (bytes, bytearray, memoryview)):
        return recipe.read(bytes(data))
    found = type_of(data, column)
    if not isinstance(found, BinaryType):
        raise KeyTypeError(f"column '{column}': expected bytes, found {found.simpleString()}")
    return merged_column(data, column, recipe)


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
