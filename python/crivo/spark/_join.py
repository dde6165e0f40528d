"""Rows that cannot join are dropped before they are moved.

A join of a large table with a small one moves all rows of both to where their keys meet, also those that
meet no row. A Bloom filter of the small side's keys, sent to every machine, tells most of those where they
lie.

The filter is one that Spark's own generated code can ask, so that no row leaves the JVM for it: a key is
hashed by `xxhash64`; some of its bits choose a word of 64 bits, others one of 4,096 masks with five bits
each; the key may be there if the word has all bits of the mask. With 16 bits a key about one in 200
strangers passes. They cost a little time, never a wrong row: the exact join follows.
"""

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    LongType,
    StringType,
    TimestampType,
)

from crivo.errors import InvalidParameterError
from crivo.spark._columns import INTEGERS, column, names_of, type_of

MASK_BITS = 12
BITS_A_MASK = 5
KEYS_A_WORD = 4

# Equal values of these types have equal hashes.
HASHED_BY_VALUE = (BinaryType, BooleanType, DateType, DecimalType, TimestampType)


def semi_join(
    big: DataFrame,
    small: DataFrame,
    on: str | Sequence[str],
    how: Literal["left_semi", "inner"] = "left_semi",
    *,
    max_keys: int = 20_000_000,
) -> DataFrame:
    """The rows of `big` that have a partner in `small`: what `big.join(small, on, how)` gives, without moving
    the others. `on` names the key columns, which both have.

    The keys of `small` are read at once, on the cluster, and their hashes collected; everything else is
    left to the DataFrame that comes back. With more than `max_keys` different keys, whose filter
    would have some 40 MB, and with keys of other types than integers, text, bytes, booleans, dates,
    timestamps and decimals, it is the plain join.
    """
    names = names_of(on, "on")
    if not names:
        raise InvalidParameterError("on: expected the names of the key columns, found none")
    if how not in ("left_semi", "inner"):
        raise InvalidParameterError(f"how: expected 'left_semi' or 'inner', found {how!r}")
    if max_keys < 1:
        raise InvalidParameterError(f"max_keys: expected 1 or more, found {max_keys}")
    types = [comparable(type_of(big, name, "on"), type_of(small, name, "on")) for name in names]
    return may_join(big, small, names, types, max_keys).join(small, names, how)


def may_join(
    big: DataFrame, small: DataFrame, names: list[str], types: list[DataType | None], max_keys: int
) -> DataFrame:
    """The rows of `big` whose keys may be among those of `small`; all, if there is no filter for those."""
    if not all(types):
        return big

    def hashed() -> Column:
        return F.xxhash64(*(column(name).cast(kind) for name, kind in zip(names, types, strict=True)))

    there = reduce(and_, (column(name).isNotNull() for name in names))
    keys = small.where(there).select(hashed().alias("hash")).distinct()
    hashes = keys.limit(max_keys + 1).toArrow()
    if hashes.num_rows > max_keys:
        return big
    masks = masks_of(np.random.default_rng(0))
    words = filter_of(hashes.column("hash").to_numpy().view(np.uint64), masks)

    def stored(numbers: NDArray[np.int64]) -> Column:
        table = pa.table({"numbers": pa.array([numbers], pa.list_(pa.int64()))})
        return big.sparkSession.createDataFrame(table).scalar()

    # The words are stored inverted: of a key that may be there no bit of its mask is left.
    place = F.pmod(F.shiftrightunsigned(hashed(), MASK_BITS), F.lit(len(words)))
    word = F.get(stored(~words.view(np.int64)), place.cast("int"))
    mask = F.get(stored(masks.view(np.int64)), hashed().bitwiseAND((1 << MASK_BITS) - 1).cast("int"))
    return big.where(word.bitwiseAND(mask) == 0)


def comparable(one: DataType, other: DataType) -> DataType | None:
    """The type in which two key columns are hashed alike, if there is one."""
    if isinstance(one, INTEGERS) and isinstance(other, INTEGERS):
        return LongType()
    if isinstance(one, StringType) and one == other == StringType():
        return one
    return one if one == other and isinstance(one, HASHED_BY_VALUE) else None


def masks_of(chance: np.random.Generator) -> NDArray[np.uint64]:
    """Words with five bits each."""
    places = np.array(
        [chance.choice(64, BITS_A_MASK, replace=False) for _ in range(1 << MASK_BITS)], np.uint64
    )
    masks: NDArray[np.uint64] = np.bitwise_or.reduce(np.uint64(1) << places, axis=1)
    return masks


def filter_of(hashes: NDArray[np.uint64], masks: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The filter that holds all keys with these hashes."""
    words = np.zeros(max(64, len(hashes) // KEYS_A_WORD), np.uint64)
    places = (hashes >> np.uint64(MASK_BITS)) % np.uint64(len(words))
    np.bitwise_or.at(
        words, places.astype(np.int64), masks[(hashes & np.uint64((1 << MASK_BITS) - 1)).astype(np.int64)]
    )
    return words
