"""Structured streaming: sketches go on with every batch, and after a restart."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import crivo
from crivo import InvalidParameterError
from crivo.spark import sketch, sketch_stream

SCHEMA = "user string, at timestamp"


def visits(spark: SparkSession, first: int, last: int) -> DataFrame:
    numbers = spark.range(first, last, numPartitions=2)
    user = F.when(
        F.col("id") % 17 != 0, F.concat(F.lit("user "), F.pmod(F.col("id") * F.col("id"), F.lit(997)))
    )
    at = F.timestamp_seconds(F.lit(1_767_225_600) + F.col("id") * 7)
    return numbers.select(user.alias("user"), at.alias("at"))


def add(spark: SparkSession, folder: Path, first: int, last: int) -> None:
    visits(spark, first, last).coalesce(1).write.mode("append").parquet(str(folder))


def stream(spark: SparkSession, folder: Path) -> DataFrame:
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", "1")
    return reader.parquet(str(folder))


def test_groups_and_windows_go_on_after_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    folder, checkpoint = tmp_path / "visits", tmp_path / "checkpoint"
    latest: dict[Any, Any] = {}
    batches: list[int] = []

    def keep(batch: DataFrame, number: int) -> None:
        batches.append(number)
        for row in batch.collect():
            latest[row["window"]["start"]] = (bytes(row["sketch"]), row["rows"], row["skipped"])

    def run() -> None:
        windows = stream(spark, folder).withColumn("window", F.window("at", "1 hour"))
        query = (
            sketch_stream(windows, "user", "distinct", "window", precision=10)
            .writeStream.outputMode("update")
            .option("checkpointLocation", str(checkpoint))
            .trigger(availableNow=True)
            .foreachBatch(keep)
            .start()
        )
        assert query.awaitTermination(120)

    add(spark, folder, 0, 1000)
    add(spark, folder, 1000, 1500)
    run()
    before = len(batches)
    # Another process goes on where this one was: what it knows is in the checkpoint.
    add(spark, folder, 1500, 2000)
    run()
    assert before >= 2 and len(batches) > before and len(set(batches)) == len(batches)
    hourly = visits(spark, 0, 2000).withColumn("window", F.window("at", "1 hour"))
    whole = sketch(hourly, "user", "distinct", group_by="window", precision=10)
    assert isinstance(whole, DataFrame)
    expected = {
        row["window"]["start"]: (bytes(row["sketch"]), row["rows"], row["skipped"]) for row in whole.collect()
    }
    assert latest == expected and len(expected) == 4


def test_batches_can_be_sketched_one_by_one(spark: SparkSession, tmp_path: Path) -> None:
    """A batch that is tried again has the same number, so that its file is written again and counts once."""
    folder, kept = tmp_path / "visits", tmp_path / "kept"
    kept.mkdir()

    def keep(batch: DataFrame, number: int) -> None:
        found: Any = sketch(batch, "user", "distinct")
        (kept / f"{number}.crivo").write_bytes(bytes(found))

    for part in range(2):
        add(spark, folder, 500 * part, 500 * part + 500)
        query = (
            stream(spark, folder)
            .writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .foreachBatch(keep)
            .start()
        )
        assert query.awaitTermination(120)
    merged = crivo.HyperLogLog()
    for file in kept.iterdir():
        merged.merge(crivo.decode(file.read_bytes()))
    whole: Any = sketch(visits(spark, 0, 1000), "user", "distinct")
    assert bytes(merged) == bytes(whole)


def test_what_is_no_stream_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError, match="expected a streaming DataFrame"):
        sketch_stream(visits(spark, 0, 9), "user", "distinct", "at")
    add(spark, tmp_path / "visits", 0, 9)
    streamed = stream(spark, tmp_path / "visits")
    with pytest.raises(InvalidParameterError, match="group_by: expected the names of columns"):
        sketch_stream(streamed, "user", "distinct", [])
    with pytest.raises(InvalidParameterError, match="forget_after: expected a duration"):
        sketch_stream(streamed, "user", "distinct", "at", forget_after="soon")
    assert sketch_stream(streamed, "user", "distinct", "at", forget_after="2 hours").isStreaming
