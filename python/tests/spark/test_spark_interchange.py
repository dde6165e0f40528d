"""Counts and quantiles go to Spark's own functions and come back."""

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from crivo import DecodeError, IncompatibleError, InvalidParameterError, KeyTypeError
from crivo.interchange import Hll, Kll, Theta
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
    numbers = spark.createDataFrame([(None,), (None,)], "number float")
    none = to_datasketches(numbers, "number", "kll")
    assert isinstance(none.sketch, Kll) and (none.count, none.skipped) == (0, 2)
    nulls = spark.createDataFrame([(None,), (bytearray(bytes(none)),)], "sketch binary")
    assert from_datasketches(nulls, "kll", numbers="float").count == 0
    for kind, cls in (("hll", Hll), ("theta", Theta)):
        counted: Any = to_datasketches(empty, "text", kind)
        assert isinstance(counted.sketch, cls) and counted.is_empty and counted.skipped == 2
        nulls = spark.createDataFrame([(None,), (bytearray(bytes(counted)),)], "sketch binary")
        assert from_datasketches(nulls, kind).is_empty


SHARES = [0.01, 0.25, 0.5, 0.75, 0.99]

MARGIN = 0.04
"""Three times the error of a rank that is stated at 99 %, so nearly eight standard errors."""


@pytest.mark.parametrize(
    ("name", "column", "numbers"),
    [
        ("bigint", "bigint", "long"),
        ("bigint", "int", "long"),
        ("float", "float", "float"),
        ("double", "double", "double"),
    ],
)
def test_quantiles_are_read_both_ways(spark: SparkSession, name: str, column: str, numbers: Any) -> None:
    """Answers of the same bytes are the same, and those of both libraries are close to the truth. Their coins
    have no seed, so that each run has other errors.
    """
    rows = spark.range(0, 30_000, numPartitions=4)
    values = rows.select(
        F.when(F.col("id") % 50 != 0, F.pmod(F.col("id") * 7919, F.lit(20_011))).cast(column).alias("value"),
        (F.col("id") % 3).alias("day"),
    )
    aggregate, merge, quantile, rank, count = (
        getattr(F, f"kll_{verb}_{name}")
        for verb in ("sketch_agg", "merge_agg", "sketch_get_quantile", "sketch_get_rank", "sketch_get_n")
    )
    truth = sorted(row["value"] for row in values.dropna().collect())
    ours = to_datasketches(values, "value", "kll")
    assert isinstance(ours, Sketched) and ours.numbers == numbers
    assert (ours.rows, ours.skipped, ours.count) == (30_000, 600, 29_400)
    theirs = bytes(values.agg(aggregate("value").alias("sketch")).first()["sketch"])
    sketch: Any
    for sketch in (ours.sketch, from_datasketches(theirs, "kll", numbers=numbers)):
        held = spark.createDataFrame([(bytearray(bytes(sketch)),)], "sketch binary")
        limit = F.lit(5_000).cast(column)
        asked = [quantile("sketch", F.lit(share)) for share in SHARES]
        *answers, below, found = held.select(*asked, rank("sketch", limit), count("sketch")).first()
        assert found == sketch.count == len(truth)
        assert answers == [sketch.quantile(share).value for share in SHARES]
        assert below == pytest.approx(sketch.rank(5_000).value, abs=1e-12)
        for share, answer in zip(SHARES, answers, strict=True):
            assert abs(sum(value <= answer for value in truth) / len(truth) - share) < MARGIN
    assert from_datasketches(theirs, "kll").numbers == numbers
    # Sketches of groups that each library made, merged by the other.
    grouped = to_datasketches(values, "value", "kll", group_by="day", k=300)
    assert isinstance(grouped, DataFrame)
    united = grouped.agg(merge("sketch").alias("sketch")).select(
        count("sketch"), quantile("sketch", F.lit(0.5))
    )
    total, middle = united.first() or (0, 0)
    days = values.groupBy("day").agg(aggregate("value").alias("sketch"))
    whole = from_datasketches(days, "kll", numbers=numbers)
    assert total == whole.count == len(truth)
    for median in (middle, whole.quantile(0.5).value):
        assert abs(sum(value <= median for value in truth) / len(truth) - 0.5) < MARGIN


def test_numbers_of_two_kinds_are_not_merged(spark: SparkSession) -> None:
    sketches = [Kll(), Kll(numbers="long")]
    for sketch in sketches:
        sketch.insert_batch(range(1, 50))
    rows = [(bytearray(bytes(sketch)),) for sketch in sketches]
    both = spark.createDataFrame(rows, "sketch binary").coalesce(1)
    with pytest.raises(Exception, match="numbers: expected Double in both, found Long"):
        from_datasketches(both, "kll")
    with pytest.raises(IncompatibleError):
        sketches[0].merge(sketches[1])


def test_what_cannot_be_done_is_said(visits: DataFrame) -> None:
    with pytest.raises(InvalidParameterError, match="kind: expected 'hll', 'theta' or 'kll', found 'req'"):
        to_datasketches(visits, "text", "req")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="kind: expected 'hll', 'theta' or 'kll', found 'cpc'"):
        from_datasketches(b"", "cpc")  # type: ignore[call-overload]
    with pytest.raises(
        KeyTypeError, match="column 'text': expected integers, floats or doubles, found string"
    ):
        to_datasketches(visits, "text", "kll")
    with pytest.raises(KeyTypeError, match="expected integers, floats or doubles, found decimal"):
        to_datasketches(visits.selectExpr("decimal(wide) x"), "x", "kll")
    with pytest.raises(InvalidParameterError, match="k: expected 8 to 65535, found 7"):
        to_datasketches(visits, "wide", "kll", k=7)
    with pytest.raises(InvalidParameterError, match="kll: has no parameter lg_k"):
        to_datasketches(visits, "wide", "kll", lg_k=12)
    with pytest.raises(InvalidParameterError, match="theta: has no parameter k"):
        to_datasketches(visits, "wide", "theta", k=200)
    with pytest.raises(InvalidParameterError, match="kll: has no parameter keys"):
        from_datasketches(visits, "kll", keys="int")
    with pytest.raises(InvalidParameterError, match="hll: has no parameter numbers"):
        from_datasketches(visits, "hll", numbers="long")
    with pytest.raises(InvalidParameterError, match="numbers: expected 'double', 'float' or 'long'"):
        from_datasketches(visits, "kll", numbers="int")  # type: ignore[call-overload]
    with pytest.raises(DecodeError, match="KLL"):
        from_datasketches(b"no sketch", "kll")
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
