"""Sketches merged from partitions are those of one machine."""

import datetime
import typing
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import crivo
from crivo import CrivoError, InvalidParameterError, KeyTypeError
from crivo._kinds import COUNTERS, KINDS, QUESTIONS, SAMPLED, empty_sketch, sketch_of
from crivo.spark import Sketched, estimate, sketch
from crivo.spark._groups import MergedGroups
from crivo.spark._sketch import Kind, recipe_of

COLUMNS: dict[str, tuple[str, list[Any]]] = {
    "text": ("string", [f"Zé {i % 700}" for i in range(2000)] + ["", None, "linha\nnova"]),
    "integers": ("bigint", [i * 7919 % 5003 - 2000 for i in range(3000)] + [2**63 - 1, -(2**63), None]),
    "small": ("tinyint", [i % 256 - 128 for i in range(600)] + [None]),
    "floats": ("double", [i / 8 for i in range(1500)] + [0.1, 1e-7, 1e16, -0.0, float("nan"), None]),
    "booleans": ("boolean", [True, False, None, True]),
    "bytes": ("binary", [bytes([i % 251, i % 7]) for i in range(1000)] + [b"", None]),
    "days": (
        "date",
        [datetime.date(2026, 1, 1) + datetime.timedelta(days=i % 90) for i in range(300)] + [None],
    ),
    "times": (
        "timestamp_ntz",
        [
            datetime.datetime(2026, 1, 1) + datetime.timedelta(seconds=i * 977, microseconds=i % 5 * 1000)
            for i in range(1200)
        ]
        + [None],
    ),
    "clock": (
        "time",
        [datetime.time(i % 24, i * 7 % 60, i % 60, i % 2 * 500_000) for i in range(900)] + [None],
    ),
    "prices": ("decimal(10,2)", [Decimal(i % 977) / 4 for i in range(1200)] + [None]),
}


def table(spark: SparkSession, values: list[Any], kind: str, partitions: int) -> DataFrame:
    rows = [(value,) for value in values]
    return spark.createDataFrame(rows, f"value {kind}").repartition(partitions)


@pytest.mark.parametrize("column", COLUMNS)
def test_a_column_of_any_type_gives_the_bytes_of_one_machine(column: str, spark: SparkSession) -> None:
    kind, values = COLUMNS[column]
    one = crivo.HyperLogLog(10)
    quantum = Decimal("0.01")
    plain = [value.quantize(quantum) if isinstance(value, Decimal) else value for value in values]
    skipped = one.insert_batch([str(value) if isinstance(value, Decimal) else value for value in plain])
    found = sketch(table(spark, values, kind, 5), "value", "distinct", precision=10)
    assert isinstance(found, Sketched)
    assert bytes(found) == bytes(one)
    assert (found.rows, found.skipped) == (len(values), skipped)
    assert found.estimate() == one.estimate()


@pytest.fixture(scope="module")
def visits(spark: SparkSession) -> DataFrame:
    """20,000 rows, 300 of them without a user, in seven partitions, one of them empty."""
    numbers = spark.range(0, 20_000, numPartitions=6)
    users = numbers.select(
        F.when(
            F.col("id") % 67 != 0, F.concat(F.lit("user "), F.pmod(F.col("id") * F.col("id"), F.lit(4001)))
        ).alias("user"),
        F.concat(F.lit("/page/"), F.floor(F.sqrt(F.col("id") % 900))).alias("page"),
        (F.col("id") % 3).cast("int").alias("day"),
    )
    return users.union(users.limit(0))


def on_one_machine(df: DataFrame, column: str, empty: Any) -> tuple[Any, int]:
    return empty, empty.insert_batch(df.select(column).toArrow().column(0))


@pytest.mark.parametrize(
    ("kind", "parameters", "empty"),
    [
        ("distinct", {"error": 0.02}, lambda: crivo.HyperLogLog.for_error(0.02)),
        ("distinct", {"method": "ull", "precision": 9, "seed": 5}, lambda: crivo.UltraLogLog(9, seed=5)),
        ("membership", {"items": 5000, "rate": 0.001}, lambda: crivo.Bloom.for_items(5000, 0.001)),
        ("frequency", {"error": 0.01, "confidence": 0.9}, lambda: crivo.CountMin.for_bound(0.01, 1 - 0.9)),
        (crivo.KMinValues(256), {}, lambda: crivo.KMinValues(256)),
        (crivo.MinHash(64), {}, lambda: crivo.MinHash(64)),
    ],
)
def test_merging_is_exact_where_it_can_be(
    visits: DataFrame, kind: Any, parameters: dict[str, Any], empty: Any
) -> None:
    one, skipped = on_one_machine(visits, "user", empty())
    found = sketch(visits, "user", kind, **parameters)
    assert isinstance(found, Sketched)
    assert bytes(found) == bytes(one)
    assert (found.rows, found.skipped) == (20_000, skipped) and skipped == 299


def test_counts_are_as_sure_as_was_asked() -> None:
    """What `crivo freq --error 0.001 --confidence 0.99` makes has this width and depth too."""
    usual = recipe_of("frequency", {}).empty
    assert (usual.width, usual.depth) == (2719, 5)
    assert usual == recipe_of("frequency", {"error": 0.001, "confidence": 0.99}).empty
    for confidence in (0.5, 0.9, 0.999):
        assert recipe_of("frequency", {"confidence": confidence}).empty.confidence >= confidence
    for wrong in (0, 1, 99):
        with pytest.raises(InvalidParameterError, match=f"confidence: expected .* found {wrong}"):
            recipe_of("frequency", {"confidence": wrong})


QUESTIONS_AS_KINDS: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("distinct", {}, "hll", {}),
    ("distinct", {"method": "ull", "error": 0.02}, "ull", {"error": 0.02}),
    ("distinct", {"method": "kmv", "k": 300}, "kmv", {"k": 300}),
    ("membership", {"items": 500}, "bloom", {"items": 500}),
    ("frequency", {"seed": 3}, "countmin", {"seed": 3}),
    ("top", {"keys": "int"}, "top", {"keys": "int"}),
]


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_have_the_names_and_sizes_of_other_engines(kind: str) -> None:
    """Polars and pandas make their sketches by `empty_sketch`, which is held to the command line."""
    parameters = {"items": 1000} if kind == "bloom" else {}
    assert recipe_of(kind, parameters).empty == empty_sketch(kind, parameters)
    with pytest.raises(InvalidParameterError, match=f"{kind}: has no parameter size"):
        recipe_of(kind, {**parameters, "size": 7})


@pytest.mark.parametrize(("question", "asked", "kind", "parameters"), QUESTIONS_AS_KINDS)
def test_questions_are_answered_by_those_kinds(
    question: str, asked: dict[str, Any], kind: str, parameters: dict[str, Any]
) -> None:
    assert recipe_of(question, asked).empty == empty_sketch(kind, parameters)
    assert recipe_of("top", {}).empty.capacity == COUNTERS == 16_384
    assert recipe_of("sample", {}).empty == crivo.Reservoir(SAMPLED)
    assert set(QUESTIONS) | set(KINDS) == set(typing.get_args(Kind))


@pytest.mark.parametrize("kind", ["membership", "bloom"])
def test_values_of_a_filter_are_counted_first(visits: DataFrame, kind: Any) -> None:
    users = visits.select("user").toArrow().column(0)
    found = sketch(visits, "user", kind, rate=0.001, seed=5)
    assert isinstance(found, Sketched)
    assert bytes(found) == bytes(sketch_of(users, "bloom", {"rate": 0.001, "seed": 5}))
    with pytest.raises(InvalidParameterError, match="items: expected how many .* found nothing"):
        sketch(visits, "user", kind, group_by="day")


def test_large_sketches_are_merged_on_the_executors(
    visits: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crivo.spark._sketch.AT_ONCE", 1000)
    one, _ = on_one_machine(visits, "user", crivo.Bloom.for_items(5000, 0.01))
    found = sketch(visits, "user", "membership", items=5000)
    assert isinstance(found, Sketched)
    assert bytes(found) == bytes(one) and "user 1" in found and found.rows == 20_000


def test_top_keeps_its_guarantee(visits: DataFrame) -> None:
    truth = {row["page"]: row["count"] for row in visits.groupBy("page").count().collect()}
    found = sketch(visits, "page", "top", counters=200)
    assert isinstance(found, Sketched)
    best = found.top(5)
    assert [hitter.key for hitter in best] == sorted(truth, key=lambda page: -truth[page])[:5]
    assert all(hitter.lower <= truth[hitter.key] <= hitter.upper for hitter in best)
    few = sketch(visits, "page", "top", counters=8)
    assert isinstance(few, Sketched)
    assert all(hitter.lower <= truth[hitter.key] <= hitter.upper for hitter in few.top(8))


def test_a_sample_is_of_all_rows_and_repeats(visits: DataFrame) -> None:
    first, second, other = (sketch(visits, "user", "sample", capacity=400, seed=seed) for seed in (3, 3, 4))
    assert isinstance(first, Sketched) and isinstance(second, Sketched) and isinstance(other, Sketched)
    assert first.seen == 20_000 - 299 and len(first.sample()) == 400
    assert sorted(first.sample()) == sorted(second.sample()) != sorted(other.sample())
    # Parts that drew the same places of their partitions would repeat every choice six times.
    assert len(set(first.sample())) > 300


@pytest.mark.parametrize("groups", ["day", ["day", "page"]])
def test_each_group_has_the_sketch_of_its_rows(visits: DataFrame, groups: Any) -> None:
    names = [groups] if isinstance(groups, str) else groups
    found = sketch(visits, "user", "distinct", group_by=groups, precision=8)
    assert isinstance(found, DataFrame)
    assert found.columns == [*names, "sketch", "rows", "skipped"]
    expected: dict[Any, list[Any]] = {}
    for row in visits.collect():
        expected.setdefault(tuple(row[name] for name in names), []).append(row["user"])
    rows = found.collect()
    assert len(rows) == len(expected)
    for row in rows:
        one = crivo.HyperLogLog(8)
        values = expected[tuple(row[name] for name in names)]
        assert one.insert_batch(values) == row["skipped"] and row["rows"] == len(values)
        assert bytes(row["sketch"]) == bytes(one)


def test_estimates_are_those_of_the_sketches(visits: DataFrame) -> None:
    grouped = sketch(visits, "user", "distinct", group_by="day", precision=8)
    assert isinstance(grouped, DataFrame)
    answers = {row["day"]: row for row in estimate(grouped, confidence=0.9).collect()}
    for row in grouped.collect():
        truth = crivo.decode(bytes(row["sketch"])).estimate(confidence=0.9)
        answer = answers[row["day"]]
        assert (answer["value"], answer["lower"], answer["upper"]) == (truth.value, truth.lower, truth.upper)
    assert estimate(grouped.limit(0)).collect() == []


class Weighed:
    """A sketch that counts how often it was weighed."""

    times = 0

    def __init__(self, memory: int) -> None:
        self.size = memory

    @property
    def memory(self) -> int:
        Weighed.times += 1
        return self.size

    def merge(self, other: "Weighed") -> None:
        self.size += other.size

    def to_bytes(self) -> bytes:
        return str(self.size).encode()


class Weights:
    """A recipe whose sketches are `Weighed`."""

    def read(self, data: bytes) -> Weighed:
        return Weighed(int(data))


def merged_groups(keys: list[int]) -> list[pa.RecordBatch]:
    """Partial sketches of a hundred bytes each, merged as a task does it."""
    Weighed.times = 0
    count = len(keys)
    columns = [pa.array(keys), pa.array([b"100"] * count), pa.array([1] * count), pa.array([0] * count)]
    batch = pa.RecordBatch.from_arrays(columns, names=["c0", "sketch", "rows", "skipped"])
    recipe: Any = Weights()
    return list(MergedGroups(recipe, 1)(iter(batch.slice(start, 700) for start in range(0, count, 700))))


def test_numbers_have_quantiles(spark: SparkSession) -> None:
    numbers = spark.range(0, 1000, numPartitions=3).selectExpr("if(id % 10 = 0, null, id) as n", "'x' as t")
    empty = crivo.NumberQuantiles.for_bound(0.005)
    median = sketch(numbers, "n", empty).quantile(0.5)
    assert median.lower <= 500 <= median.upper
    with pytest.raises(KeyTypeError, match="expected numbers, found string"):
        sketch(numbers, "t", empty)


def test_groups_may_be_structs_such_as_windows(spark: SparkSession) -> None:
    rows = [(datetime.datetime(2026, 1, 1, 0, minute), f"user {minute % 7}") for minute in range(30)]
    visits = spark.createDataFrame([*rows, (None, "nobody")], "time timestamp_ntz, user string")
    windows = visits.select(F.window("time", "10 minutes").alias("window"), "user")
    found = estimate(sketch(windows, "user", "distinct", group_by="window")).collect()
    assert {row.window.start: row.value for row in found} == {
        datetime.datetime(2026, 1, 1, 0, minute): 7.0 for minute in (0, 10, 20)
    }
    some = visits.select(F.when(F.col("time").isNotNull(), F.struct("user")).alias("who"), "user")
    grouped = {row.who: row.rows for row in sketch(some, "user", "distinct", group_by="who").collect()}
    assert len(grouped) == 8 and grouped[None] == 1
    with pytest.raises(KeyTypeError, match="expected a struct of text"):
        nested = visits.select(F.struct(F.array("user").alias("list")).alias("who"), "user")
        sketch(nested, "user", "distinct", group_by="who")


def test_a_group_costs_the_same_however_many_others_there_are() -> None:
    (merged,) = merged_groups(sorted([*range(5000), *range(5000)]))
    assert merged.column("rows").to_pylist() == [2] * 5000
    assert Weighed.times <= 3 * 10_000


def test_groups_leave_when_they_take_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crivo.spark._groups.AT_ONCE", 1000)
    batches = merged_groups([*range(30), *[30] * 40, 31, 31])
    assert 3 < len(batches) < 8
    found = [row for batch in batches for row in batch.to_pylist()]
    assert [row["c0"] for row in found] == list(range(32)), "each group once, in order"
    assert [row["sketch"] for row in found] == [b"100"] * 30 + [b"4000", b"200"]


def test_columns_may_be_called_anything(visits: DataFrame) -> None:
    renamed = visits.select(F.col("user").alias("the.user"), F.col("day").alias("a `day`"))
    found = estimate(sketch(renamed, "the.user", "distinct", group_by=["a `day`", "the.user"]))
    assert found.columns == ["a `day`", "the.user", "rows", "skipped", "value", "lower", "upper"]
    rows = found.collect()
    assert len(rows) == visits.select("day", "user").distinct().count()
    assert all(row["value"] == (row["the.user"] is not None) for row in rows)
    whole = sketch(renamed, "the.user", "distinct", precision=9)
    assert isinstance(whole, Sketched) and whole.rows == 20_000
    for group in ("Rows", "sketch"):
        taken = visits.withColumnRenamed("day", group)
        with pytest.raises(InvalidParameterError, match=rf"\(sketch, rows, skipped\), found '{group}'"):
            sketch(taken, "user", "distinct", group_by=group)
    taken = sketch(visits.withColumnRenamed("day", "Lower"), "user", "distinct", group_by="Lower")
    assert isinstance(taken, DataFrame)
    with pytest.raises(InvalidParameterError, match=r"\(value, lower, upper\), found 'Lower' \(rename it"):
        estimate(taken)


def test_groups_may_be_missing_or_not_a_number(spark: SparkSession) -> None:
    rows = [(float("nan"), "a"), (None, "b"), (float("nan"), "c"), (1.0, None), (None, "b")]
    df = spark.createDataFrame(rows, "key double, value string").repartition(3)
    grouped = sketch(df, "value", "distinct", group_by="key")
    assert isinstance(grouped, DataFrame)
    found = sorted(
        (str(row["key"]), row["rows"], row["skipped"], row["value"]) for row in estimate(grouped).collect()
    )
    assert found == [("1.0", 1, 1, 0.0), ("None", 2, 0, 1.0), ("nan", 2, 0, 2.0)]


def test_groups_may_be_days_and_times_that_python_does_not_have(spark: SparkSession) -> None:
    days = spark.range(0, 40, numPartitions=3).select(
        F.expr("date_add(date'9999-12-30', cast(id % 4 as int))").alias("day"),
        F.expr("timestamp'0001-01-01 00:00:00' - make_interval(id % 2)").alias("time"),
        F.expr("timestamp_ntz'9999-12-31 23:59:59' + make_interval(id % 2)").alias("local"),
        F.col("id").alias("value"),
    )
    grouped = sketch(days, "value", "distinct", group_by=["day", "time", "local"])
    assert isinstance(grouped, DataFrame)
    texts = [F.col(name).cast("string").alias(name) for name in ("day", "time", "local")]
    found = estimate(grouped).select(*texts, "rows", "value").collect()
    expected = days.groupBy("day", "time", "local").count().select(*texts, "count").collect()
    assert sorted(tuple(row)[:4] for row in found) == sorted(map(tuple, expected))
    assert len(found) == 4 and all(row["value"] == 10.0 for row in found)


def test_an_empty_table_gives_an_empty_sketch(spark: SparkSession) -> None:
    empty = spark.createDataFrame([], "value string, day int")
    found = sketch(empty, "value", "distinct")
    assert isinstance(found, Sketched)
    assert found.is_empty and (found.rows, found.skipped) == (0, 0)
    grouped = sketch(empty, "value", "distinct", group_by="day")
    assert isinstance(grouped, DataFrame)
    assert grouped.collect() == []


@pytest.mark.parametrize(
    ("arguments", "named", "error", "message"),
    [
        (("user", "distict"), {}, InvalidParameterError, "kind: expected 'distinct'"),
        (("user", "distinct"), {"eror": 0.1}, InvalidParameterError, "distinct: has no parameter eror"),
        (("user", "distinct"), {"error": 0.1, "precision": 9}, InvalidParameterError, "found both"),
        (
            ("user", "distinct"),
            {"precision": 40},
            InvalidParameterError,
            "precision: expected 4 to 18, found 40",
        ),
        (
            ("user", "distinct"),
            {"method": "exact"},
            InvalidParameterError,
            "method: expected 'hll', 'ull' or 'kmv'",
        ),
        (("user", "membership"), {"rate": 2}, InvalidParameterError, "rate"),
        (("usr", "membership"), {}, InvalidParameterError, "column: expected one of 'user', 'page', 'day'"),
        (("user", "kll"), {}, KeyTypeError, "column 'user': expected numbers, found string"),
        (
            ("usr", "distinct"),
            {},
            InvalidParameterError,
            "column: expected one of 'user', 'page', 'day', found 'usr'",
        ),
        ((7, "distinct"), {}, KeyTypeError, "column: expected the name of a column, found int"),
        (
            ("user", "distinct"),
            {"keys": "int"},
            KeyTypeError,
            "column 'user': expected integers, found string",
        ),
        (("user", "distinct"), {"group_by": "dy"}, InvalidParameterError, "found 'dy'"),
        (
            ("user", "distinct"),
            {"group_by": ["day", "day"]},
            InvalidParameterError,
            "expected different columns",
        ),
        (("user", crivo.WeightedReservoir(5)), {}, InvalidParameterError, "the weight of each value"),
        (("user", crivo.DistinctGrowth(5)), {}, InvalidParameterError, "the row of each value"),
        (
            ("user", crivo.Panes(crivo.HyperLogLog(5), pane_width=60, panes=24)),
            {},
            InvalidParameterError,
            "kind: Panes needs the time of each value (give a sketch of the kind inside",
        ),
        (("user", crivo.Groups(crivo.HyperLogLog(5))), {}, InvalidParameterError, "the group of each value"),
        (("user", crivo.HyperLogLog(5)), {"precision": 6}, InvalidParameterError, "has its parameters"),
        (("user", 5), {}, KeyTypeError, "kind: expected the name of a kind or an empty sketch, found int"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_run(
    visits: DataFrame, arguments: Any, named: Any, error: type[CrivoError], message: str
) -> None:
    with pytest.raises(error) as refused:
        sketch(visits, *arguments, **named)
    assert message in str(refused.value)


def test_columns_without_a_text_are_refused(spark: SparkSession) -> None:
    nested = spark.sql("select array(1, 2) as list, struct(1 as a) as record, map('a', 1) as named")
    for name in nested.columns:
        with pytest.raises(KeyTypeError, match=f"column '{name}': expected text"):
            sketch(nested, name, "distinct")
    with pytest.raises(KeyTypeError, match="expected a Spark DataFrame, found list"):
        sketch([1, 2], "a", "distinct")
