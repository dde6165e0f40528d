"""The accessors of pandas give the answers of the sketches themselves."""

from typing import Any

import pandas as pd
import pytest

import crivo
import crivo.pandas
from crivo import DecodeError, HyperLogLog, InvalidParameterError, KeyTypeError, decode

FRAME: Any = pd.DataFrame(
    {
        "group": ["a", "a", "b", None],
        "user": ["ana", "rui", "ana", None],
        "price": [1.0, 3.0, 2.0, float("nan")],
    },
    index=[10, 20, 30, 40],
)


def test_columns_have_answers() -> None:
    assert FRAME.user.crivo.distinct().value == 2.0
    assert FRAME.user.crivo.distinct(method="ull", precision=10, confidence=0.99).value == 2.0
    top = FRAME.user.crivo.top(1)
    assert top.to_dict("records") == [{"key": "ana", "count": 2, "lower": 2, "upper": 2}]
    assert FRAME.price.crivo.quantile(0.5).value == 2.0
    assert FRAME.price.crivo.quantile([0.0, 1.0])["value"].tolist() == [1.0, 3.0]
    assert FRAME.user[:0].crivo.distinct().value == 0.0 and FRAME.price[:0].crivo.quantile(0.5) is None
    own = HyperLogLog(12)
    own.insert_batch(["ana", "rui"])
    assert FRAME.user.crivo.sketch("hll", precision=12) == bytes(own)
    assert decode(FRAME.user.crivo.sketch(HyperLogLog(12))) == own


def test_groups_have_answers_and_rows_without_a_group_are_one() -> None:
    found = FRAME.crivo.distinct("user", by="group")
    assert found["value"].tolist() == [2.0, 1.0, 0.0] and found.index.name == "group"
    two = FRAME.crivo.distinct("user", by=["group", "price"])
    assert two.index.names == ["group", "price"] and len(two) == 4
    medians = FRAME.crivo.quantile("price", 0.5, by=["group"])
    assert medians["value"].tolist()[:2] == [1.0, 2.0] and medians["value"].isna().tolist()[2]
    assert FRAME.crivo.top("user", 1, by="group")["key"].tolist() == ["ana", "ana"]
    sketches = FRAME.crivo.sketch("user", "bloom", by="group", items=10)
    assert "rui" in decode(sketches["a"]) and "rui" not in decode(sketches["b"])
    assert FRAME[:0].crivo.distinct("user", by="group").empty
    assert FRAME[:0].crivo.top("user", by="group").empty


def test_filters_and_counts_answer_for_each_value() -> None:
    members = crivo.Bloom.for_items(100, 0.0001)
    members.insert("ana")
    for given in (members, bytes(members)):
        found = FRAME.user.crivo.in_filter(given)
        assert found.tolist() == [True, False, True, False] and list(found.index) == [10, 20, 30, 40]
    counts = crivo.HeavyHitters(10)
    counts.insert_batch(FRAME.user)
    found = FRAME.user.crivo.frequency(counts)
    assert found["upper"].tolist()[:3] == [2.0, 1.0, 2.0] and found.isna().iloc[3].all()


def test_tables_are_cleaned() -> None:
    texts = ["one two three four", "five six", "One two, three four!", None]
    frame: Any = pd.DataFrame({"text": texts}, index=list("pqrs"))
    assert list(frame.crivo.dedup("text", shingle="words:2").index) == ["p", "q", "s"]
    assert list(frame.text.crivo.dedup(shingle="words:2").index) == ["p", "q", "s"]
    pairs = frame.crivo.near_duplicates("text", shingle="words:2")
    assert pairs.values.tolist() == [["p", "r", 1.0]]
    passage = "a b c d e f g h"
    frame = pd.DataFrame({"n": [1, 2], "text": [f"First: {passage}.", f"Then {passage}, too."]})
    assert frame.crivo.passages("text", min_words=8)["text"].tolist()[1] == "Then , too."
    assert frame["text"].tolist()[1] == f"Then {passage}, too."
    assert frame.crivo.overlap(["then a b c"], "text", words=4)["n"].tolist() == [1]
    assert list(frame.crivo.profile()) == ["n", "text"]


def test_what_is_wrong_is_refused_by_name() -> None:
    with pytest.raises(KeyTypeError, match="number"):
        FRAME.user.crivo.quantile(0.5)
    with pytest.raises(KeyTypeError, match="key: expected"):
        pd.Series([[1], [2]]).crivo.distinct()  # type: ignore[attr-defined, unused-ignore]
    with pytest.raises(InvalidParameterError, match="kind: expected"):
        FRAME.user.crivo.sketch("nothing")
    with pytest.raises(InvalidParameterError, match="column: expected one of the table's"):
        FRAME.crivo.distinct("zz", by="group")
    with pytest.raises(InvalidParameterError, match="column: expected one of the table's"):
        FRAME.crivo.distinct("user", by="zz")
    with pytest.raises(InvalidParameterError, match="ids"):
        FRAME.crivo.near_duplicates("user", ids=[1])
    with pytest.raises(DecodeError):
        FRAME.user.crivo.in_filter(b"damaged")
