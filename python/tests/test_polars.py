"""Expressions in Polars give the answers of the sketches themselves, wherever an expression may stand."""

import random
from typing import Any

import polars as pl
import pytest

import crivo
import crivo.polars
from crivo import DecodeError, HyperLogLog, InvalidParameterError, KeyTypeError, decode
from crivo._native import _panic, sketch_lists

ENGINES: list[Any] = ["in-memory", "streaming"]

FRAME = pl.DataFrame(
    {
        "group": ["a", "a", "b", "b", "c", "d"],
        "user": ["ana", "rui", "eva", "eva", None, ""],
        "price": [1.0, 3.0, 2.0, None, float("nan"), 7.0],
    }
)


def col(name: str) -> Any:
    return pl.col(name)


def answers(values: Any) -> dict[str, float]:
    sketch = HyperLogLog(14)
    sketch.insert_batch(values)
    answer = sketch.estimate()
    return {"value": answer.value, "lower": answer.lower, "upper": answer.upper}


@pytest.mark.parametrize("engine", ENGINES)
def test_distinct_answers_in_every_context(engine: Any) -> None:
    whole = FRAME.lazy().select(col("user").crivo.distinct()).collect(engine=engine)
    assert whole.item() == answers(FRAME["user"])
    grouped = FRAME.lazy().group_by("group").agg(col("user").crivo.distinct()).collect(engine=engine)
    found = dict(grouped.iter_rows())
    assert found == {name[0]: answers(part["user"]) for name, part in FRAME.group_by("group")}
    assert found["c"] == found["d"] == {"value": 0.0, "lower": 0.0, "upper": 0.0}
    rows = FRAME.lazy().with_columns(col("user").crivo.distinct().over("group")).collect(engine=engine)
    assert rows["user"].to_list() == [found[name] for name in FRAME["group"]]
    beside = FRAME.lazy().with_columns(n=col("user").crivo.distinct()).collect(engine=engine)
    assert beside["n"].to_list() == [whole.item()] * len(FRAME)


def test_many_groups_on_several_threads_have_the_bytes_of_each_alone() -> None:
    draw = random.Random(5)
    rows = 300_000
    frame = pl.DataFrame(
        {
            "group": [draw.randrange(1000) if draw.random() < 0.5 else 0 for _ in range(rows)],
            "key": [None if draw.random() < 0.1 else f"key {draw.randrange(50_000)}" for _ in range(rows)],
        }
    )
    grouped = frame.group_by("group").agg(col("key").crivo.sketch("hll"), values="key")
    for group, data, values in grouped.iter_rows():
        alone = HyperLogLog(14)
        alone.insert_batch(values)
        assert data == bytes(alone), group
    for kind in ("hll", "kmv", "top", "countmin"):
        whole = crivo._kinds.sketch_of(frame["key"], kind, {})
        assert frame.select(col("key").crivo.sketch(kind)).item() == bytes(whole), kind


def test_top_lists_the_most_frequent() -> None:
    listed = FRAME.select(col("user").crivo.top(2)).item().to_list()
    assert listed[0] == {"key": "eva", "count": 2, "lower": 2, "upper": 2}
    assert [hit["count"] for hit in listed] == [2, 1]
    numbers = pl.DataFrame({"n": [7, 7, 8]}).select(col("n").crivo.top(1, counters=4)).item().to_list()
    assert numbers == [{"key": "7", "count": 2, "lower": 2, "upper": 2}]
    with pytest.raises(KeyTypeError, match="not UTF-8"):
        pl.DataFrame({"b": [b"\xff"]}).select(col("b").crivo.top(1))
    with pytest.raises(InvalidParameterError, match="k: expected how many"):
        col("user").crivo.top(-1)


def test_quantiles_are_those_of_the_numbers() -> None:
    prices = FRAME.select(col("price").crivo.quantile(0.5)).item()
    assert prices == {"value": 2.0, "lower": 2.0, "upper": 2.0}
    both = FRAME.select(col("price").crivo.quantile([0, 1])).item().to_list()
    assert [answer["value"] for answer in both] == [1.0, 7.0]
    grouped = FRAME.group_by("group", maintain_order=True).agg(col("price").crivo.quantile(1.0))
    assert [answer and answer["value"] for answer in grouped["price"]] == [3.0, 2.0, None, 7.0]
    for share in (1.5, "x", True):
        with pytest.raises(InvalidParameterError, match="q: expected a share from 0 to 1"):
            col("price").crivo.quantile(share) if share != "x" else col("price").crivo.quantile(["x"])


def test_sketches_are_merged_and_estimated() -> None:
    parts = FRAME.group_by("group").agg(s=col("user").crivo.sketch("ull", precision=10))
    merged = parts.select(col("s").crivo.merge())
    assert decode(merged.item()) == crivo._kinds.sketch_of(FRAME["user"], "ull", {"precision": 10})
    assert merged.select(col("s").crivo.estimate()).item()["value"] == 3.0
    nothing = pl.DataFrame({"s": pl.Series([None], dtype=pl.Binary)})
    assert nothing.select(col("s").crivo.merge()).item() is None
    assert nothing.select(col("s").crivo.estimate()).item() is None
    with pytest.raises(DecodeError, match="not a crivo sketch"):
        pl.DataFrame({"s": [b"damaged"]}).select(col("s").crivo.estimate())
    with pytest.raises(KeyTypeError, match="column of bytes"):
        FRAME.select(col("user").crivo.merge())
    with pytest.raises(crivo.IncompatibleError, match="one kind"):
        mixed = [bytes(HyperLogLog(10)), bytes(crivo.UltraLogLog(10))]
        pl.DataFrame({"s": mixed}).select(col("s").crivo.merge())


@pytest.mark.parametrize("engine", ENGINES)
def test_filters_and_counts_answer_for_each_value(engine: Any) -> None:
    members = crivo.Bloom.for_items(100, 0.0001)
    members.insert_batch(["ana", "eva"])
    expected = [True, False, True, True, None, False]
    for given in (members, bytes(members)):
        found = FRAME.lazy().select(col("user").crivo.in_filter(given)).collect(engine=engine)
        assert found["user"].to_list() == expected
    kept = FRAME.lazy().filter(col("user").crivo.in_filter(members)).collect(engine=engine)
    assert kept["user"].to_list() == ["ana", "eva", "eva"]
    counts = crivo.CountMin(1024, 4)
    counts.insert_batch(FRAME["user"])
    found = FRAME.lazy().select(col("user").crivo.frequency(counts)).collect(engine=engine)
    assert [answer and answer["value"] for answer in found["user"]] == [1.0, 1.0, 2.0, 2.0, None, None]
    with pytest.raises(KeyTypeError, match="expected one that answers whether"):
        col("user").crivo.in_filter(HyperLogLog(10))
    with pytest.raises(KeyTypeError, match="expected one that answers how often"):
        col("user").crivo.frequency("x")
    with pytest.raises(DecodeError):
        col("user").crivo.frequency(b"x")


@pytest.mark.parametrize("engine", ENGINES)
def test_wrong_types_are_refused_with_the_library_s_message(engine: Any) -> None:
    for value in (pl.struct("user"), pl.concat_list("price"), pl.duration(days="price")):
        wrong: Any = value
        with pytest.raises(KeyTypeError, match="key: expected a column of text, bytes, numbers"):
            FRAME.lazy().select(wrong.crivo.distinct()).collect(engine=engine)
    with pytest.raises(KeyTypeError, match="key: expected a column of numbers"):
        FRAME.lazy().select(col("user").crivo.quantile(0.5)).collect(engine=engine)
    with pytest.raises(KeyTypeError, match="integers"):
        FRAME.lazy().group_by("group").agg(col("user").crivo.distinct(keys="int")).collect(engine=engine)


def test_wrong_parameters_are_refused_when_the_query_is_written() -> None:
    user = col("user").crivo
    with pytest.raises(InvalidParameterError, match="kind: expected 'hll', 'ull'"):
        user.sketch("nothing")
    with pytest.raises(InvalidParameterError, match="hll: has no parameter size"):
        user.sketch("hll", size=3)
    with pytest.raises(InvalidParameterError, match="found both"):
        user.distinct(error=0.1, precision=10)
    with pytest.raises(InvalidParameterError, match="method: expected 'hll', 'ull' or 'kmv'"):
        user.distinct(method="top")
    with pytest.raises(InvalidParameterError, match="confidence"):
        user.distinct(confidence=2)
    with pytest.raises(InvalidParameterError, match="expected an empty sketch"):
        full = HyperLogLog(10)
        full.insert("x")
        user.sketch(full)
    with pytest.raises(InvalidParameterError, match="Panes needs the time"):
        user.sketch(crivo.Panes(HyperLogLog(10), 60, 24))
    own = FRAME.select(user.sketch(HyperLogLog(10, seed=3))).item()
    assert decode(own) == crivo._kinds.sketch_of(FRAME["user"], HyperLogLog(10, seed=3), {})


def test_columns_without_values_have_answers() -> None:
    for frame in (FRAME.clear(), pl.DataFrame({"user": [None], "price": [None]})):
        found = frame.select(
            col("user").crivo.distinct(),
            col("price").crivo.quantile(0.5),
            top=col("user").crivo.top(3),
            s=col("user").crivo.sketch("bloom"),
        )
        row = found.row(0)
        assert row[:3] == ({"value": 0.0, "lower": 0.0, "upper": 0.0}, None, [])
    assert FRAME.clear().group_by("group").agg(col("user").crivo.distinct()).is_empty()
    assert FRAME.clear().select(col("user").crivo.in_filter(crivo.Bloom(100, 3))).is_empty()


def test_integers_of_128_bits_and_categories_are_keys() -> None:
    frame = pl.DataFrame({"n": [1, 2, 2, None]})
    wide = frame.select(pl.col("n").cast(pl.Int128))
    assert wide.select(col("n").crivo.distinct()).item()["value"] == 2
    for kind in (pl.Categorical(), pl.Enum(["ana", "rui", "eva", ""])):
        as_category: Any = pl.col("user").cast(kind)
        assert FRAME.select(as_category.crivo.distinct()).item() == answers(FRAME["user"])


def test_lists_are_sketched_one_by_one() -> None:
    lists = pl.Series([["a", "b"], None, [], ["a", None]])
    found = sketch_lists(lists, HyperLogLog(10))
    assert [sketch and sketch.estimate().value for sketch in found] == [2.0, None, 0.0, 1.0]
    fixed = sketch_lists(pl.Series([[1, 2], [3, 3]], dtype=pl.Array(pl.Int64, 2)), HyperLogLog(10))
    assert [sketch.estimate().value for sketch in fixed] == [2.0, 1.0]
    assert sketch_lists(lists.clear(), HyperLogLog(10)) == []
    with pytest.raises(KeyTypeError, match="expected a column of lists"):
        sketch_lists(pl.Series(["a"]), HyperLogLog(10))
    with pytest.raises(InvalidParameterError, match="expected an empty one"):
        full = HyperLogLog(10)
        full.insert("x")
        sketch_lists(lists, full)


TEXTS = ["one two three four", "five six", "One two, three four!", None]


def test_tables_are_cleaned_lazily_and_at_once() -> None:
    frame: Any = pl.DataFrame({"n": range(4), "text": TEXTS})
    kept = frame.crivo.dedup("text", shingle="words:2")
    assert kept["n"].to_list() == [0, 1, 3]
    for engine in ENGINES:
        plan: Any = frame.lazy()
        assert plan.crivo.dedup("text", shingle="words:2").collect(engine=engine).equals(kept)
    pairs = frame.crivo.near_duplicates("text", shingle="words:2")
    assert pairs.rows() == [(0, 2, 1.0)]
    with pytest.raises(InvalidParameterError, match="ids"):
        frame.crivo.near_duplicates("text", ids=[1])
    passage = "a b c d e f g h"
    texts: Any = pl.DataFrame({"text": [f"First: {passage}.", f"Then {passage}, too."]})
    left = ["First: a b c d e f g h.", "Then , too."]
    assert texts.crivo.passages("text", min_words=8)["text"].to_list() == left
    assert texts.lazy().crivo.passages("text", min_words=8).collect()["text"].to_list() == left
    assert texts.crivo.overlap(["then a b c"], "text", words=4)["text"].to_list() == [left[0]]
    assert texts.lazy().crivo.overlap(["then a b c"], "text", words=4).collect().height == 1


def test_what_follows_a_cleaned_plan_sees_the_cleaned_rows() -> None:
    passage = "a b c d e f g h"
    texts = [f"First: {passage}.", f"first {passage}", "something else altogether here", "then another one"]
    frame: Any = pl.DataFrame({"n": range(4), "text": texts})

    def cleaned(table: Any) -> list[Any]:
        return [
            table.crivo.dedup("text", 0.5, shingle="words:2"),
            table.crivo.passages("text", min_words=8),
            table.crivo.overlap(["something else altogether"], "text", words=3),
        ]

    for eager, plan in zip(cleaned(frame), cleaned(frame.lazy()), strict=True):
        for engine in ENGINES:
            filtered = plan.filter(pl.col("n") > 0).collect(engine=engine)
            assert filtered.equals(eager.filter(pl.col("n") > 0))
            assert plan.head(3).collect(engine=engine).equals(eager.head(3))
            assert plan.select("n").collect(engine=engine).equals(eager.select("n"))


def test_profiles_of_plans_are_those_of_their_tables() -> None:
    frame: Any = pl.DataFrame({"n": range(5000), "text": [f"t{n % 70}" for n in range(5000)]})
    whole, streamed = frame.crivo.profile(), frame.lazy().crivo.profile()
    assert list(whole) == list(streamed) == ["n", "text"]
    for name, column in whole.items():
        assert (column.rows, column.missing) == (streamed[name].rows, streamed[name].missing) == (5000, 0)
        assert column.distinct().value == streamed[name].distinct().value
    nothing: Any = frame.lazy().filter(False)
    assert {name: column.rows for name, column in nothing.crivo.profile().items()} == {"n": 0, "text": 0}


def test_a_panic_is_an_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that pyo3 raises is no `Exception`, and would pass every handler."""

    def panics(*_: Any) -> Any:
        _panic()

    with pytest.raises(BaseException, match="a panic that a test asked for") as raised:
        panics()
    assert not isinstance(raised.value, Exception)
    monkeypatch.setattr(crivo.polars, "sketch_lists", panics)
    monkeypatch.setattr(crivo.polars, "frequency_bounds", panics)
    monkeypatch.setattr(crivo.polars.CrivoDataFrame, "dedup", panics)
    frame: Any = pl.DataFrame({"n": [1, 1, 2], "text": ["a", "b", "c"]})
    text: Any = pl.col("text")
    for engine in ENGINES:
        plan: Any = frame.lazy()
        for query in (
            plan.select(text.crivo.distinct()),
            plan.group_by("n").agg(text.crivo.sketch("hll")),
            plan.select(text.crivo.frequency(crivo.CountMin(100, 3))),
            plan.crivo.dedup("text"),
        ):
            with pytest.raises(crivo.InternalError, match="has a defect, please report it: a panic that"):
                query.collect(engine=engine)
    assert frame.select(pl.col("n").sum()).item() == 4
