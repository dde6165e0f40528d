"""Counts go to Spark's own functions and come back."""

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from crivo import DecodeError, InvalidParameterError, KeyTypeError
from crivo.interchange import Hll, Theta
from crivo.spark import Sketched, from_datasketches, to_datasketches


@pytest.fixture(scope="module")
def visits(spark: SparkSession) -> DataFrame:
    numbers = spark.range(0, 30_000, numPartitions=4)
    number = F.pmod(F.col("id") * F.col("id") * 7919, F.lit(9001))
    return numbers.select(
        number.alias("wide"),
        number.cast("int").alias("narrow"),
        F.when(F.col("id") % 50 != 0, F.concat(F.lit("usér "), number)).alias("text"),
        F.concat(F.lit("b"), number).cast("binary").alias("bytes"),
        (F.col("id") % 3).alias("day"),
    )


AGGREGATES: dict[str, tuple[Any, Any]] = {
    "hll": (F.hll_sketch_agg, F.hll_sketch_estimate),
    "theta": (F.theta_sketch_agg, F.theta_sketch_estimate),
}


@pytest.mark.parametrize("kind", ["hll", "theta"])
@pytest.mark.parametrize("column", ["text", "bytes", "wide", "narrow"])
def test_spark_reads_what_crivo_counts_and_crivo_what_spark_counts(
    visits: DataFrame, kind: Any, column: str
) -> None:
    aggregate, estimate = AGGREGATES[kind]
    ours = to_datasketches(visits, column, kind)
    assert isinstance(ours, Sketched)
    assert (ours.rows, ours.skipped) == (30_000, 600 if column == "text" else 0)
    spark = visits.sparkSession
    theirs = visits.agg(aggregate(column).alias("sketch")).first()["sketch"]
    read = (
        spark.createDataFrame([(bytearray(bytes(ours)),)], "sketch binary").select(estimate("sketch")).first()
    )
    assert read is not None and abs(read[0] - ours.estimate().value) <= 1
    back = from_datasketches(bytes(theirs), kind, keys=ours.keys)
    # The same keys, hashed the same: united they are no more.
    both = back | ours.sketch
    truth = visits.select(column).dropna().distinct().count()
    assert abs(both.estimate().value - truth) <= 6 * 1.04 / 64 * truth
    union = {"hll": F.hll_union, "theta": F.theta_union}[kind]
    united = spark.createDataFrame([(bytearray(theirs), bytearray(bytes(ours)))], "a binary, b binary")
    answer = united.select(estimate(union("a", "b"))).first()
    assert answer is not None and abs(answer[0] - both.estimate().value) <= 1


@pytest.mark.parametrize("kind", ["hll", "theta"])
def test_groups_are_columns_for_sparks_functions(visits: DataFrame, kind: Any) -> None:
    _, estimate = AGGREGATES[kind]
    grouped = to_datasketches(visits, "text", kind, group_by="day", lg_k=10)
    assert isinstance(grouped, DataFrame)
    counted = {row["day"]: row["n"] for row in grouped.select("day", estimate("sketch").alias("n")).collect()}
    truth = dict(visits.groupBy("day").agg(F.countDistinct("text")).collect())
    assert counted.keys() == truth.keys()
    assert all(abs(counted[day] - truth[day]) <= 6 * 1.04 / 32 * truth[day] for day in truth)
    whole = from_datasketches(grouped, kind)
    total = visits.select("text").dropna().distinct().count()
    assert abs(whole.estimate().value - total) <= 6 * 1.04 / 32 * total
    if kind == "theta":
        # At this size every hash is kept, so the count is exact, also in a sketch of the same size.
        exact = to_datasketches(visits, "text", kind, group_by="day", lg_k=14)
        large = from_datasketches(exact, kind, lg_k=14)
        assert large.estimate().value == total and large.lg_k == 14
        assert from_datasketches(bytes(large), kind, lg_k=14) == large


def test_nothing_and_nulls(spark: SparkSession) -> None:
    empty = spark.createDataFrame([(None,), ("",)], "text string")
    kind: Any
    for kind, cls in (("hll", Hll), ("theta", Theta)):
        counted: Any = to_datasketches(empty, "text", kind)
        assert isinstance(counted.sketch, cls) and counted.is_empty and counted.skipped == 2
        nulls = spark.createDataFrame([(None,), (bytearray(bytes(counted)),)], "sketch binary")
        assert from_datasketches(nulls, kind).is_empty


def test_what_cannot_be_done_is_said(visits: DataFrame) -> None:
    with pytest.raises(InvalidParameterError, match="kind: expected 'hll' or 'theta', found 'kll'"):
        to_datasketches(visits, "text", "kll")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="lg_k: expected 4 to 21, found 30"):
        to_datasketches(visits, "text", lg_k=30)
    with pytest.raises(KeyTypeError, match="expected integers, text or bytes, found double"):
        to_datasketches(visits.selectExpr("double(wide) x"), "x")
    with pytest.raises(KeyTypeError, match="expected bytes, found string"):
        from_datasketches(visits, column="text")
    with pytest.raises(InvalidParameterError, match="lg_k: the bytes of 'hll' say it"):
        from_datasketches(visits, "hll", lg_k=12)
    with pytest.raises(InvalidParameterError, match="lg_k: expected 5 to 26, found 30"):
        from_datasketches(b"", "theta", lg_k=30)
    with pytest.raises(DecodeError, match="DataSketches HLL"):
        from_datasketches(b"no sketch")
