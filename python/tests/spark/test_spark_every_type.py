"""The sketches of one table of every type, from Spark: the bytes of every other surface."""

from pathlib import Path

import pyarrow.parquet as pq
from every_type import TABLE, expected, fingerprint
from pyspark.sql import SparkSession

from crivo.spark import sketch


def test_the_table_of_every_type_has_the_same_bytes(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "table.parquet"
    pq.write_table(TABLE, file, row_group_size=150)
    table = spark.read.parquet(str(file))
    fixed = expected()["hll"]
    found = {name: fingerprint(bytes(sketch(table, name, "distinct"))) for name in TABLE.column_names}
    assert found == fixed
