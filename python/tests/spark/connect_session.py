"""The verbs of crivo.spark over Spark Connect, in a process of its own: one process has one kind of session.

Prints one JSON object; `test_spark_connect.py` compares it with one machine.
"""

import json
import sys
import tempfile
import warnings
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import crivo
from crivo.spark import (
    _sketch,
    benchmark_overlap,
    clusters,
    dedup,
    estimate,
    from_datasketches,
    near_duplicates,
    overlap,
    passages,
    removed,
    repeated_passages,
    semi_join,
    sketch,
    sketch_stream,
    to_datasketches,
)

warnings.simplefilter("ignore", ResourceWarning)
texts, pages, items = json.loads(Path(sys.argv[1]).read_text())
builder = SparkSession.builder.remote("local[2]").appName("crivo tests")
for name, value in json.loads(sys.argv[2]).items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
assert type(spark).__module__.startswith("pyspark.sql.connect")

# A filter is larger than what one task is given at once, so that parts are merged on the server.
_sketch.AT_ONCE = 1 << 18
numbers = spark.range(0, 5000, numPartitions=4)
visits = numbers.select(
    F.concat(F.lit("user "), F.pmod(F.col("id") * F.col("id"), F.lit(701))).alias("user"),
    (F.col("id") % 3).cast("int").alias("day"),
)
grouped = sketch(visits, "user", "distinct", group_by="day")
documents = spark.createDataFrame(list(enumerate(texts)), "id bigint, text string").repartition(3)
pairs = spark.createDataFrame(
    crivo.near_duplicates(texts, 0.6, linking="chains").pairs, "a bigint, b bigint, similarity double"
)
small = spark.range(0, 40).select((F.col("id") * 31).alias("id"))
theta = to_datasketches(visits, "user", "theta")
by_day = to_datasketches(visits, "user", "hll", group_by="day")
found = crivo.profile(visits)
pieces = spark.createDataFrame(list(enumerate(pages)), "id bigint, text string").repartition(3)


def rows_of(frame: DataFrame) -> list[list[object]]:
    return sorted(list(row) for row in frame.collect())


def streamed() -> dict[str, list[object]]:
    """The sketches of a stream, kept by the server in a table, after two batches."""
    with tempfile.TemporaryDirectory() as folder:
        for part in range(2):
            chosen = visits.where(F.pmod(F.hash("user"), F.lit(2)) == part)
            chosen.coalesce(1).write.mode("append").parquet(f"{folder}/visits")
        reader = spark.readStream.schema("user string, day int").option("maxFilesPerTrigger", "1")
        query = (
            sketch_stream(reader.parquet(f"{folder}/visits"), "user", "distinct", "day", precision=10)
            .writeStream.outputMode("update")
            .format("memory")
            .queryName("daily")
            .trigger(availableNow=True)
            .option("checkpointLocation", f"{folder}/checkpoint")
            .start()
        )
        assert query.awaitTermination(120)
        # The last of each group is the one of most rows.
        last = spark.table("daily").orderBy("rows").collect()
    return {str(row["day"]): [bytes(row["sketch"]).hex(), row["rows"], row["skipped"]] for row in last}


answers = {
    "parallelism": _sketch.parallelism(spark),
    "hll": bytes(sketch(visits, "user", "distinct")).hex(),
    "bloom": bytes(sketch(visits, "user", "membership", items=100_000, rate=0.01)).hex(),
    "groups": {str(row["day"]): bytes(row["sketch"]).hex() for row in grouped.collect()},
    "estimates": {str(row["day"]): row["value"] for row in estimate(grouped).collect()},
    "clusters": {str(row["id"]): row["cluster"] for row in clusters(pairs).collect()},
    "kept": sorted(row["id"] for row in dedup(documents, "id", "text", 0.6).collect()),
    "removed": rows_of(removed(documents, "id", "text", 0.6)),
    "pairs": rows_of(near_duplicates(documents, "id", "text", 0.6)),
    "repeated": rows_of(repeated_passages(pieces, "id", "text", min_words=10)),
    "passages": rows_of(passages(pieces, "id", "text", min_words=10)),
    "hits": rows_of(benchmark_overlap(pieces, "id", "text", items, words=6)),
    "overlap": rows_of(overlap(pieces, "text", items, words=6, cut="words")),
    "stream": streamed(),
    "joined": sorted(row["id"] for row in semi_join(numbers, small, "id").collect()),
    "theta": theta.estimate().value,
    "hll_again": from_datasketches(by_day, "hll").estimate().value,
    "profile": {name: found[name].distinct().value for name in found},
}
try:
    sketch(visits, "nobody", "distinct")
except crivo.InvalidParameterError as error:
    answers["refused"] = str(error)
print(json.dumps(answers))
spark.stop()
