"""Datasets of Hugging Face, in memory and streaming: cleaned and profiled, with features and order kept."""

from collections.abc import Iterator
from typing import Any

import datasets
import pytest

import crivo
from crivo import InvalidParameterError, KeyTypeError, dedup, overlap, passages, profile

TEXTS = ["one two three four", "five six", "One two, three four!", None, "five six", "seven"]
KEPT = [0, 1, 3, 5]
FEATURES = datasets.Features(
    {
        "n": datasets.Value("int32"),
        "text": datasets.Value("string"),
        "label": datasets.ClassLabel(names=["x", "y"]),
    }
)
COLUMNS = {"n": list(range(6)), "text": TEXTS, "label": [0, 1] * 3}


def dataset() -> Any:
    return datasets.Dataset.from_dict(COLUMNS, features=FEATURES)


def numbers(rows: Any) -> list[int]:
    return [int(row["n"]) for row in rows]


def test_dedup_keeps_features_order_and_format() -> None:
    kept = dedup(dataset(), shingle="words:2")
    assert isinstance(kept, datasets.Dataset)
    assert numbers(kept) == KEPT and kept.features == FEATURES
    backwards = dataset().select(range(5, -1, -1))
    assert numbers(dedup(backwards, shingle="words:2")) == [5, 4, 3, 2]
    shown = dedup(dataset().with_format("numpy"), shingle="words:2")
    assert shown.format["type"] == "numpy" and numbers(shown) == KEPT
    assert numbers(dedup(dataset().rename_column("text", "body"), column="body", shingle="words:2")) == KEPT


@pytest.mark.parametrize("shards", [1, 3])
def test_streams_are_read_again_and_keep_their_rows(shards: int) -> None:
    stream = dataset().to_iterable_dataset(num_shards=shards)
    kept = dedup(stream, shingle="words:2")
    assert isinstance(kept, datasets.IterableDataset)
    assert numbers(kept) == numbers(kept) == KEPT and kept.features == FEATURES
    assert numbers(kept.skip(2).take(1)) == [3]
    shown = dedup(stream.with_format("numpy"), shingle="words:2")
    assert numbers(shown) == KEPT and type(next(iter(shown))["n"]).__module__ == "numpy"


def test_streams_without_features_are_read_as_objects() -> None:
    def rows() -> Iterator[dict[str, Any]]:
        yield from ({"n": n, "text": text} for n, text in enumerate(TEXTS))

    stream = datasets.IterableDataset.from_generator(rows)
    assert numbers(dedup(stream, shingle="words:2")) == KEPT
    assert profile(stream)["text"].missing == 1


PASSAGE = "a b c d e f g h"
WITH_PASSAGE: dict[str, list[Any]] = {
    "n": [0, 1, 2],
    "text": [f"First: {PASSAGE}.", f"Then {PASSAGE}, too.", None],
}


def test_passages_and_overlap_change_texts_and_nothing_else() -> None:
    rows = datasets.Dataset.from_dict(WITH_PASSAGE)
    expected = [WITH_PASSAGE["text"][0], "Then , too.", None]
    for data in (rows, rows.to_iterable_dataset(), rows.select([0, 1, 2])):
        left = passages(data, min_words=8)
        assert [row["text"] for row in left] == expected and numbers(left) == [0, 1, 2]
        assert left.features == rows.features
        assert numbers(passages(data, min_words=8, min_left=3)) == [0, 2]
        benchmark = datasets.Dataset.from_dict({"question": ["then a b c"]})
        clean = overlap(data, benchmark, benchmark_column="question", words=4)
        assert numbers(clean) == [0, 2]
        cut = overlap(data, benchmark, benchmark_column="question", words=4, cut="words")
        assert [row["text"] for row in cut][1] == "d e f g h, too."
    shown = passages(rows.with_format("numpy"), min_words=8)
    assert shown.format["type"] == "numpy" and shown[1]["text"] == "Then , too."


def test_profiles_are_those_of_the_table() -> None:
    whole, streamed = profile(dataset()), profile(dataset().to_iterable_dataset(num_shards=2))
    assert list(whole) == list(streamed) == ["n", "text", "label"]
    for name in whole:
        assert whole[name].rows == streamed[name].rows == 6
        assert whole[name].missing == streamed[name].missing
        assert whole[name].distinct().value == streamed[name].distinct().value


def test_what_is_wrong_is_refused_by_name() -> None:
    for data in (dataset(), dataset().to_iterable_dataset()):
        with pytest.raises(InvalidParameterError, match="found 'zz'"):
            dedup(data, column="zz")
        with pytest.raises(KeyTypeError, match="a column of text"):
            dedup(data, column="n")
    with pytest.raises(KeyTypeError, match="choose one of 'train'"):
        dedup(datasets.DatasetDict({"train": dataset()}))
    nothing = dataset().select([])
    assert len(dedup(nothing)) == 0 and profile(nothing)["n"].rows == 0
    assert len(passages(nothing)) == len(overlap(nothing, ["x"])) == 0


def test_a_version_that_was_not_tested_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "__version__", "99.0.0")
    with pytest.warns(UserWarning, match="tested with datasets .* found 99.0.0"):
        crivo.dedup(dataset())
