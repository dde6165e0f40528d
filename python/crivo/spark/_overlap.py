"""Documents that contain items of a benchmark: the small side travels, the documents stay where they lie."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import BinaryType

import crivo
from crivo.distributed import OverlapFinder
from crivo.errors import KeyTypeError
from crivo.spark._columns import TEXTS, all_numbered, column, type_of
from crivo.spark._passages import CutName

Items = list[Any]


def overlap(
    df: DataFrame,
    text: str,
    benchmark: Any,
    *,
    benchmark_column: str | None = None,
    words: int = 8,
    share: float = 0.5,
    cut: CutName = "document",
) -> DataFrame:
    """The rows of `df` without the documents that contain an item of a benchmark, or with `cut` without what
    they share with it. Rows without a text stay.

    `text` names a column of text or bytes. `benchmark` is a DataFrame, whose column is `benchmark_column`,
    or that of the documents if none is given; or a list or another collection of texts of this machine. Its
    items are collected and sent to every executor. The other arguments are those of `crivo.overlap`, and so
    is what is left. `benchmark_overlap` says which document contains which item.
    """
    items = items_of(df, text, benchmark, benchmark_column)
    check(items, words, share, cut)
    rows = all_numbered(df)
    cut_overlaps = CutOverlaps(df.columns.index(text), items, words, share, cut)
    return rows.mapInArrow(cut_overlaps, rows.schema).toDF(*df.columns)


def benchmark_overlap(
    df: DataFrame,
    id: str,
    text: str,
    benchmark: Any,
    *,
    benchmark_column: str | None = None,
    words: int = 8,
    share: float = 0.5,
) -> DataFrame:
    """Which document contains which item: a DataFrame of `id`, `item` (the number of the item in the
    benchmark, from 0), `share` (of the item's runs of that many words) and `run` (the words of the longest
    run in common). The arguments are as for `overlap`; `id` names any column of the documents.
    """
    items = items_of(df, text, benchmark, benchmark_column)
    check(items, words, share, "none")
    id_type = type_of(df, id, "id").simpleString()
    documents = df.select(column(id).alias("id"), column(text).alias("text"))
    schema = f"id {id_type}, item int, share double, run int"
    return documents.mapInArrow(FindOverlaps(items, words, share), schema)


def items_of(df: DataFrame, text: str, benchmark: Any, benchmark_column: str | None) -> Items:
    """The items of a benchmark, after the column of the documents was checked."""
    text_type = type_of(df, text, "text")
    if not isinstance(text_type, (*TEXTS, BinaryType)):
        raise KeyTypeError(f"text '{text}': expected text or bytes, found {text_type.simpleString()}")
    if not isinstance(benchmark, DataFrame):
        return list(benchmark)
    name = text if benchmark_column is None else benchmark_column
    item_type = type_of(benchmark, name, "benchmark_column")
    if not isinstance(item_type, (*TEXTS, BinaryType)):
        raise KeyTypeError(
            f"benchmark_column '{name}': expected text or bytes, found {item_type.simpleString()}"
        )
    return [row[0] for row in benchmark.select(column(name)).collect()]


def check(items: Items, words: int, share: float, cut: CutName) -> None:
    """Refuses what is out of range before anything is run."""
    crivo.benchmark_overlap([], items, words=words, share=share, cut=cut)


@dataclass(frozen=True)
class CutOverlaps:
    """Rows into those that contain no item, or what is left of them. `text` is the place of their text."""

    text: int
    items: Items
    words: int
    share: float
    cut: CutName

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        finder = OverlapFinder(self.items, words=self.words, threads=1)
        for batch in batches:
            texts = batch.column(self.text)
            found = finder.find(texts, share=self.share, cut=self.cut, threads=1)
            if found.changed:
                left = texts.to_pylist()
                for position, text in found.changed:
                    left[position] = text
                field = batch.schema.field(self.text)
                batch = batch.set_column(self.text, field, pa.array(left, texts.type))
            yield batch.take(pa.array(found.kept))


@dataclass(frozen=True)
class FindOverlaps:
    """Documents into their hits."""

    items: Items
    words: int
    share: float

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        finder = OverlapFinder(self.items, words=self.words, threads=1)
        for batch in batches:
            found = finder.find(batch.column(1), share=self.share, cut="none", threads=1)
            hits = found.hits
            columns = [
                batch.column(0).take(pa.array([hit[0] for hit in hits], pa.int64())),
                pa.array([hit[1] for hit in hits], pa.int32()),
                pa.array([hit[2] for hit in hits], pa.float64()),
                pa.array([hit[3] for hit in hits], pa.int32()),
            ]
            yield pa.RecordBatch.from_arrays(columns, names=["id", "item", "share", "run"])
