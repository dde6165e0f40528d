"""Profiles merged from partitions say what those of one machine say."""

import warnings
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import crivo
from crivo import InvalidParameterError
from crivo.spark._profile import MergedProfiles


def test_profiles_are_those_of_one_machine(spark: SparkSession) -> None:
    df = spark.range(0, 5000, numPartitions=6).select(
        F.when(F.col("id") % 11 != 0, F.concat(F.lit("name "), F.col("id") % 40)).alias("name"),
        (F.col("id") % 97).cast("int").alias("age"),
        F.when(F.col("id") % 100 == 0, F.lit(float("nan"))).otherwise(F.sqrt("id")).alias("score"),
        F.col("id").alias("the key"),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = crivo.profile(df)
    one = crivo.profile(df.toArrow())
    assert list(found) == list(one) == df.columns
    for name in df.columns:
        ours, theirs = found[name], one[name]
        assert (ours.rows, ours.missing, ours.column_type) == (
            theirs.rows,
            theirs.missing,
            theirs.column_type,
        )
        assert ours.distinct() == theirs.distinct() and ours.lengths() == theirs.lengths()
        assert (ours.min(), ours.max(), ours.sum()) == (theirs.min(), theirs.max(), theirs.sum())
        assert ours.quantile(0.5) == theirs.quantile(0.5)
        assert ours.growth == theirs.growth and ours.near_duplicates == theirs.near_duplicates
        assert len(set(ours.sample())) > 10 or name == "name"
    truth: dict[Any, int] = {
        f"name {n}": sum(1 for i in range(5000) if i % 40 == n and i % 11) for n in range(40)
    }
    assert all(hitter.lower <= truth[hitter.key] <= hitter.upper for hitter in found["name"].top(5))
    assert found["the key"].could_be_key() and not found["age"].could_be_key()


def test_large_profiles_are_merged_on_the_executors(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    df = spark.range(0, 3000, numPartitions=7).selectExpr("id % 50 as a", "concat('x', id) as b")
    whole = crivo.profile(df)
    rounds: list[int] = []

    def merging(parts: int) -> MergedProfiles:
        rounds.append(parts)
        return MergedProfiles(parts)

    monkeypatch.setattr("crivo.spark._profile.MergedProfiles", merging)
    assert crivo.profile(df).to_bytes() == whole.to_bytes() and not rounds
    monkeypatch.setattr("crivo.spark._sketch.AT_ONCE", 1000)
    merged = crivo.profile(df)
    assert rounds == [4, 2]
    for name, column in whole.items():
        assert (column.rows, column.distinct()) == (merged[name].rows, merged[name].distinct())
        assert (column.min(), column.max(), column.sum()) == (
            merged[name].min(),
            merged[name].max(),
            merged[name].sum(),
        )
    assert {hitter.key: hitter.count for hitter in merged["a"].top(50)} == {str(a): 60 for a in range(50)}


def test_nested_columns_are_left_out_and_named(spark: SparkSession) -> None:
    df = spark.sql("select 1 as a, array(1) as list")
    with pytest.warns(UserWarning, match=r"not all values have a text: 'list' \(array<int>\)"):
        assert list(crivo.profile(df, memory=1 << 16)) == ["a"]
    with pytest.raises(InvalidParameterError, match="different names"):
        crivo.profile(spark.sql("select 1 as a, 2 as a"))


def test_an_empty_table(spark: SparkSession) -> None:
    found = crivo.profile(spark.createDataFrame([], "a string"))
    assert found["a"].rows == 0 and found["a"].column_type == "empty"
