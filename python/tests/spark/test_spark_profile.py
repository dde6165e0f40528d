"""Profiles merged from partitions say what those of one machine say."""

import warnings
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import crivo
from crivo import InvalidParameterError, TableDrift, TableProfile
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


def orders(spark: SparkSession, rows: int, *, shift: int = 0, partitions: int = 3) -> DataFrame:
    """A table whose rows depend on their number only. Prices and cities are others if it is shifted."""
    number = F.col("id")
    price = F.pmod(F.xxhash64(number), F.lit(10_000)) / 100 + shift
    day = F.date_add(F.lit("2026-01-01").cast("date"), (number % 200).cast("int"))
    city = F.element_at(
        F.array(*map(F.lit, ("Porto", "Faro", "Lisboa"))), F.pmod(F.hash(number), F.lit(3)).cast("int") + 1
    )
    return spark.range(0, rows, numPartitions=partitions).select(
        price.alias("price"),
        (F.when(city == "Porto", "Braga").otherwise(city) if shift else city).alias("city"),
        F.date_format(day, "yyyy-MM-dd").alias("day"),
        F.when(number % 3 != 0, F.concat_ws(" ", F.lit("a note of some words about order"), number)).alias(
            "note"
        ),
    )


def test_a_profile_has_the_bytes_that_one_machine_makes_of_the_same_parts(
    spark: SparkSession, tmp_path: Path
) -> None:
    df = orders(spark, 7000)
    found = crivo.profile(df)
    parts = df.withColumn("part", F.spark_partition_id()).toArrow()
    merged: TableProfile | None = None
    sizes = []
    for number in range(3):
        rows = parts.filter([number == part for part in parts["part"].to_pylist()]).select(df.columns)
        sizes.append(rows.num_rows)
        # One part of a table is one batch here, and draws its sample by itself.
        columns = list(zip(rows.column_names, rows.columns, strict=True))
        one, refused = TableProfile.of_columns(columns, part=number << 32)
        assert not refused
        if merged is None:
            merged = one
        else:
            merged.merge(one)
    assert merged is not None and sum(sizes) == 7000 and min(sizes) > 2000
    saved = tmp_path / "orders.crivo"
    found.save(saved)
    assert saved.read_bytes() == merged.to_bytes()
    assert TableProfile.load(saved) == merged == found


def test_what_merging_keeps_exactly_has_the_bytes_of_one_pass(spark: SparkSession) -> None:
    df = orders(spark, 7000, partitions=5)
    found, one = crivo.profile(df), crivo.profile(df.toArrow())
    for name in df.columns:
        ours, theirs = found[name], one[name]
        # The first part has the frequent values and the sample, whose bytes are others.
        (_, growth, documents), (_, other_growth, other_documents) = ours.to_parts(), theirs.to_parts()
        assert growth == other_growth and documents == other_documents
        assert documents is not None or name != "note"
        assert (ours.rows, ours.missing, ours.lengths()) == (theirs.rows, theirs.missing, theirs.lengths())
        assert (ours.min(), ours.max(), ours.sum()) == (theirs.min(), theirs.max(), theirs.sum())
        assert (found.spread(name), found.dates(name)) == (one.spread(name), one.dates(name))
    assert found.dates("day") is not None and found.to_bytes() != one.to_bytes()
    # One part, in one batch, is one pass.
    whole = crivo.profile(df.coalesce(1))
    assert whole.to_bytes() == one.to_bytes()


def verdicts(drift: TableDrift) -> dict[str, set[tuple[str, str | None]]]:
    return {
        name: {(change.what, change.value) for change in changes} for name, changes in drift.columns.items()
    }


def test_profiles_of_spark_and_of_one_machine_are_compared_both_ways(spark: SparkSession) -> None:
    same, later = orders(spark, 7000), orders(spark, 7000, shift=9)
    ours, theirs = crivo.profile(same), crivo.profile(same.toArrow())
    for one, other in ((ours, theirs), (theirs, ours)):
        drift = one.compare(other)
        assert not drift and drift.checks > 10
    changed, changed_theirs = crivo.profile(later), crivo.profile(later.toArrow())
    expected = changed_theirs.compare(theirs)
    assert expected.changed == ["price", "city"]
    assert {"distribution", "min"} <= {what for what, _ in verdicts(expected)["price"]}
    assert ("vanished value", "Porto") in verdicts(expected)["city"]
    for one, other in ((changed, theirs), (changed_theirs, ours), (changed, ours)):
        drift = one.compare(other)
        assert verdicts(drift) == verdicts(expected) and drift.checks == expected.checks
    backwards = theirs.compare(changed_theirs)
    for one, other in ((theirs, changed), (ours, changed_theirs), (ours, changed)):
        assert verdicts(one.compare(other)) == verdicts(backwards)


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
