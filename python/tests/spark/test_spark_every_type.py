"""The sketches of one table of every type, from Spark: the bytes of every other surface."""

from typing import Any

import pyarrow.parquet as pq
import pytest
from every_type import NUMBERS, TABLE, expected, fingerprint
from pyspark.sql import DataFrame, SparkSession

import crivo
from crivo._kinds import COUNTERS, KINDS, sketch_of
from crivo.spark import sketch


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    file = tmp_path_factory.mktemp("every_type") / "table.parquet"
    pq.write_table(TABLE, file, row_group_size=150)
    # Sketches are merged from several parts.
    return spark.read.parquet(str(file)).repartition(3).cache()


def test_every_kind_is_compared() -> None:
    assert {*expected(), "kll"} == set(KINDS)


@pytest.mark.parametrize("kind", sorted(expected()))
def test_the_table_of_every_type_has_the_same_bytes(table: DataFrame, kind: Any) -> None:
    fixed = expected()[kind]
    assert list(fixed) == TABLE.column_names
    found = {name: sketch(table, name, kind) for name in TABLE.column_names}
    assert {name: fingerprint(bytes(sketched)) for name, sketched in found.items()} == fixed
    if kind == "top":
        # Merging is exact as long as no value is pushed out, which needs the same number of counters.
        assert {sketched.capacity for sketched in found.values()} == {COUNTERS}


def test_quantiles_agree_within_their_bounds(table: DataFrame) -> None:
    # Spark has no unsigned integers: it reads them as decimals, which are no numbers of a sketch.
    for name in [name for name in NUMBERS if name != "uint64"]:
        one, found = sketch_of(TABLE.column(name), "kll", {}), sketch(table, name, "kll")
        assert (found.count, found.size) == (one.count, one.size), name
        shares = [0.01, 0.25, 0.5, 0.75, 0.99]
        for ours, theirs in zip(found.quantiles(shares), one.quantiles(shares), strict=True):
            assert max(ours.lower, theirs.lower) <= min(ours.upper, theirs.upper), name
    with pytest.raises(crivo.KeyTypeError, match="column 'uint64': expected numbers, found decimal"):
        sketch(table, "uint64", "kll")
