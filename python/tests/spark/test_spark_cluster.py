"""A real cluster: crivo comes with the job, and a worker that dies changes nothing."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cluster import Cluster
from pyspark.sql import DataFrame, SparkSession

import crivo
from crivo.spark import Sketched, clusters, near_duplicates, sketch

PARTITIONS = 16


def slow(df: DataFrame, seconds: float = 0.5) -> DataFrame:
    # Nested, because such a function is pickled by value: executors cannot import this file.
    def wait(batches: Iterator[Any], seconds: float = seconds) -> Iterator[Any]:
        import time

        for batch in batches:
            time.sleep(seconds)
            yield batch

    return df.mapInArrow(wait, df.schema)


def killed_meanwhile(spark: SparkSession, cluster: Cluster, job: Callable[[], Any]) -> Any:
    """What the job answers, though a worker was killed after some of its tasks."""
    victim = next(worker for worker in cluster.workers if worker.process.poll() is None)
    tracker, answers = spark.sparkContext.statusTracker(), []
    thread = threading.Thread(target=lambda: answers.append(job()))
    thread.start()
    try:
        done = 0
        while done < 3:
            assert thread.is_alive(), "the job ended before a worker could be killed"
            infos = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            done = max(
                [0, *(info.numCompletedTasks for info in infos if info and info.numTasks >= PARTITIONS)]
            )
            time.sleep(0.02)
        victim.kill()
        assert thread.is_alive(), "the job ended before the worker did"
    finally:
        thread.join(1200)
    assert not thread.is_alive() and len(answers) == 1, "the job did not end"
    cluster.add_worker()
    return answers[0]


def test_executors_take_crivo_from_the_archive(on_cluster: SparkSession) -> None:
    def where(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        import crivo

        for _ in batches:
            yield pyarrow.RecordBatch.from_pydict({"path": [crivo.__file__]})

    paths = {
        row["path"]
        for row in on_cluster.range(0, 8, numPartitions=4).mapInArrow(where, "path string").collect()
    }
    assert paths and all("crivo_env" in path for path in paths)


def test_a_lost_worker_does_not_change_a_sketch(on_cluster: SparkSession, cluster: Cluster) -> None:
    df = on_cluster.range(0, 50_000, numPartitions=PARTITIONS).selectExpr("concat('key ', id % 20011) as key")
    one = crivo.HyperLogLog(12)
    one.insert_batch([f"key {number}" for number in range(20_011)])
    found = killed_meanwhile(on_cluster, cluster, lambda: sketch(slow(df), "key", "distinct", precision=12))
    assert isinstance(found, Sketched)
    assert bytes(found) == bytes(one) and found.rows == 50_000


def test_a_lost_worker_does_not_change_the_pairs(
    on_cluster: SparkSession, cluster: Cluster, texts: list[str]
) -> None:
    one = crivo.near_duplicates(texts, 0.7)
    df = on_cluster.createDataFrame(list(enumerate(texts)), "id bigint, text string").repartition(
        PARTITIONS, "id"
    )

    def job() -> Any:
        pairs = near_duplicates(slow(df), "id", "text", 0.7)
        return sorted(map(tuple, pairs.collect())), dict(clusters(pairs).collect())

    pairs, named = killed_meanwhile(on_cluster, cluster, job)
    assert pairs == one.pairs and len(pairs) > 20
    in_pairs = {place for pair in one.pairs for place in pair[:2]}
    assert named == {place: kept for place, kept in enumerate(one.clusters.tolist()) if place in in_pairs}


def test_a_task_that_fails_says_why(on_cluster: SparkSession) -> None:
    df = on_cluster.createDataFrame(
        [(1, "a b c d e f"), (2, "a b c d e f g"), (1, "x")], "id int, text string"
    )
    with pytest.raises(Exception, match="expected one document for each"):
        near_duplicates(df, "id", "text", 0.3).collect()
    assert sketch(df, "text", "distinct").estimate().value == 3
