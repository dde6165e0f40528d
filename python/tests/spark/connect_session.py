"""The verbs of crivo.spark over Spark Connect, in a process of its own: one process has one kind of session.

Prints one JSON object; `test_spark_connect.py` compares it with one machine. Deduplication runs the whole
search for near-duplicates, so that the search is not run a second time.
"""

import json
import sys
import warnings
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import crivo
from crivo.spark import (
    _sketch,
    clusters,
    dedup,
    estimate,
    from_datasketches,
    semi_join,
    sketch,
    to_datasketches,
)

warnings.simplefilter("ignore", ResourceWarning)
texts = json.loads(Path(sys.argv[1]).read_text())
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
answers = {
    "parallelism": _sketch.parallelism(spark),
    "hll": bytes(sketch(visits, "user", "distinct")).hex(),
    "bloom": bytes(sketch(visits, "user", "membership", items=100_000, rate=0.01)).hex(),
    "groups": {str(row["day"]): bytes(row["sketch"]).hex() for row in grouped.collect()},
    "estimates": {str(row["day"]): row["value"] for row in estimate(grouped).collect()},
    "clusters": {str(row["id"]): row["cluster"] for row in clusters(pairs).collect()},
    "kept": sorted(row["id"] for row in dedup(documents, "id", "text", 0.6).collect()),
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
