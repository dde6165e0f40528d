"""The filtered join is the plain join."""

import datetime
import random
from typing import Any

import numpy as np
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType

from crivo import InvalidParameterError
from crivo.spark import semi_join
from crivo.spark._join import filter_of, masks_of, may_join


def rows(df: DataFrame) -> list[Any]:
    return sorted(map(tuple, df.collect()), key=repr)


def tables(spark: SparkSession, key: str, small_key: str | None = None) -> tuple[DataFrame, DataFrame]:
    """Keys as an expression of the number of a row."""
    big = spark.range(0, 3000, numPartitions=4).selectExpr(f"{key} as key", "id as payload")
    small = (
        spark.range(0, 60, numPartitions=3)
        .selectExpr("id * 31 as id")
        .selectExpr(f"{small_key or key} as key", "id as other")
    )
    return big, small.union(small.limit(5))


@pytest.mark.parametrize("how", ["left_semi", "inner"])
@pytest.mark.parametrize(
    ("key", "small_key"),
    [
        ("id", None),
        ("cast(id as int)", "id"),
        ("concat('key ', id)", None),
        ("cast(concat('key ', id) as binary)", None),
        ("date_add(date'2026-01-01', cast(id as int))", None),
        ("timestamp_seconds(id)", None),
        ("cast(id as decimal(12,2))", None),
        ("cast(id as double)", None),
        ("if(id % 5 = 0, null, id)", None),
    ],
)
def test_rows_are_those_of_the_plain_join(
    spark: SparkSession, key: str, small_key: str | None, how: Any
) -> None:
    big, small = tables(spark, key, small_key)
    expected = rows(big.join(small, "key", how))
    assert len(expected) >= 40
    assert rows(semi_join(big, small, "key", how)) == expected


def test_two_keys_and_too_many(spark: SparkSession) -> None:
    big, small = tables(spark, "id")
    big, small = (df.withColumn("the.half", F.floor(F.col("key") / 2)) for df in (big, small))
    expected = rows(big.join(small, ["key", "the.half"], "left_semi"))
    assert len(expected) == 60
    assert rows(semi_join(big, small, ["key", "the.half"])) == expected
    assert rows(semi_join(big, small, ["key", "the.half"], max_keys=3)) == expected
    assert rows(semi_join(big, small.limit(0), "key")) == []


def test_most_rows_are_dropped_before_the_join(spark: SparkSession) -> None:
    big = spark.range(0, 100_000, numPartitions=2).withColumnRenamed("id", "key")
    small = spark.range(0, 100_000, 100).withColumnRenamed("id", "key")
    kept = may_join(big, small, ["key"], [LongType()], 5000).count()
    assert 1000 <= kept < 2000, "about 500 strangers pass"
    assert semi_join(big, small, "key").count() == 1000


def test_strangers_pass_at_the_stated_rate() -> None:
    chance = np.random.default_rng(random.Random(1).randrange(2**32))
    masks = masks_of(np.random.default_rng(0))
    inside = chance.integers(0, 2**64, 20_000, np.uint64)
    words = filter_of(inside, masks)

    def passes(hashes: Any) -> Any:
        word = words[(hashes >> np.uint64(12)) % np.uint64(len(words))]
        mask = masks[hashes & np.uint64(4095)]
        return (word & mask) == mask

    assert passes(inside).all()
    strangers = chance.integers(0, 2**64, 400_000, np.uint64)
    # About 0.5 %, and 2,000 of them: a tenth more would be four standard deviations, and a quarter ten.
    assert 0.002 < passes(strangers).mean() < 0.0075


def test_settings_out_of_range_are_refused(spark: SparkSession) -> None:
    big, small = tables(spark, "id")
    wrong: Any
    for wrong, message in (
        ({"on": "kye"}, "on: expected one of 'key', 'payload', found 'kye'"),
        ({"on": []}, "on: expected the names"),
        ({"on": "payload"}, "on: expected one of 'key', 'other', found 'payload'"),
        ({"on": "key", "how": "outer"}, "how: expected 'left_semi' or 'inner', found 'outer'"),
        ({"on": "key", "max_keys": 0}, "max_keys: expected 1 or more"),
    ):
        with pytest.raises(InvalidParameterError, match=message):
            semi_join(big, small, **wrong)


def test_moments_before_and_after_are_no_partners(spark: SparkSession) -> None:
    moment = datetime.datetime(2026, 1, 1, 12)
    big = spark.createDataFrame([(moment,), (moment + datetime.timedelta(microseconds=1),)], "key timestamp")
    assert semi_join(big, big.limit(1), "key").count() == 1
