"""Passages that stand in two documents, on many machines: those that one machine would find.

1. The anchors of each document (`crivo.distributed.PassageFinder`) meet by their hashes: about one for
   twenty words. Any run of `min_words` words that two documents share has one in common.
2. Of anchors that stand in several places, the windows of words that select them meet. The first of equal
   windows, by id and place, is the first occurrence of the others.
3. A document with such windows meets the documents that had them first, and the windows are extended to
   whole passages, word by word.
4. To cut, the passages of a document meet the document.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import StorageLevel
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType

from crivo.distributed import PassageFinder
from crivo.errors import InvalidParameterError, KeyTypeError
from crivo.spark._cache import cached_with
from crivo.spark._columns import INTEGERS, TEXTS, all_numbered, column, type_of

CutName = Literal["words", "sentence", "paragraph", "document", "none"]
CUTS = ("words", "sentence", "paragraph", "document", "none")


def passages(
    df: DataFrame,
    id: str,
    text: str,
    *,
    min_words: int = 50,
    within: bool = False,
    min_count: int = 2,
    cut: CutName = "words",
    min_left: int = 0,
) -> DataFrame:
    """The rows of `df` without the passages that stand in an earlier document, word for word: the first
    occurrence stays, and every byte around a cut stays as it is. Rows without a text stay.

    `id` names a column of integers or text that is different for each document; documents are earlier by
    their ids. `text` is a column of text or bytes. The other arguments are those of `crivo.passages`, and so
    is what is left, if the documents are given to it in the order of their ids. `repeated_passages` says
    where the passages stand.

    They are found at once, and stay cached as long as the DataFrame that comes back is referred to.
    """
    if cut not in CUTS:
        raise InvalidParameterError(f"cut: expected one of {', '.join(map(repr, CUTS))}, found {cut!r}")
    if min_left < 0:
        raise InvalidParameterError(f"min_left: expected 0 or more, found {min_left}")
    found = repeated_passages(df, id, text, min_words=min_words, within=within, min_count=min_count)
    ranges = F.collect_list(F.struct("start", "end"))
    by_id = found.groupBy(F.col("id").alias("crivo id")).agg(ranges.alias("crivo ranges"))
    by_id = by_id.persist(StorageLevel.MEMORY_AND_DISK)
    by_id.count()
    rows = all_numbered(df)
    key = rows[f"c{df.columns.index(id)}"]
    joined = rows.join(by_id, key == by_id["crivo id"], "left").drop("crivo id")
    # Rows without a passage stay in the JVM.
    whole = joined.where("`crivo ranges` is null").select(*rows.columns)
    changed = joined.where("`crivo ranges` is not null")
    left = changed.mapInArrow(CutRows(df.columns.index(text), cut, min_left), rows.schema)
    return cached_with(whole.unionByName(left).toDF(*df.columns), [by_id])


def repeated_passages(
    df: DataFrame, id: str, text: str, *, min_words: int = 50, within: bool = False, min_count: int = 2
) -> DataFrame:
    """Every run of at least `min_words` words that stands in an earlier document too, as a DataFrame of `id`,
    `start`, `end`, `first_id`, `first_start` and `first_end`: what `crivo passages --report` writes. Places
    are bytes of the texts in UTF-8.

    The arguments are as for `passages`. The windows that documents share are found at once and stay cached as
    long as the DataFrame that comes back is referred to; extending them is left to it.
    """
    id_type, text_type = type_of(df, id, "id"), type_of(df, text, "text")
    if not isinstance(id_type, (*INTEGERS, *TEXTS)):
        raise KeyTypeError(
            f"id '{id}': expected integers or text, found {id_type.simpleString()} (cast the column)"
        )
    if not isinstance(text_type, (*TEXTS, BinaryType)):
        raise KeyTypeError(f"text '{text}': expected text or bytes, found {text_type.simpleString()}")
    if min_count < 2:
        raise InvalidParameterError(f"min_count: expected 2 or more, found {min_count}")
    PassageFinder(min_words)  # refuses what is out of range before anything is run
    documents = df.select(column(id).alias("id"), column(text).alias("text")).dropna()
    name, kind = id_type.simpleString(), text_type.simpleString()
    shared = shared_windows(documents, name, min_words, within, min_count)
    shared = shared.persist(StorageLevel.MEMORY_AND_DISK)
    shared.count()
    return cached_with(extended(documents, shared, name, kind, min_words), [shared])


# ---- windows that stand in two places ----


def shared_windows(
    documents: DataFrame, id_type: str, min_words: int, within: bool, min_count: int
) -> DataFrame:
    """Each window that stands before: `id`, the number `window` of its first word, and the same of its first
    occurrence, `first_id` and `first`.
    """
    schema = f"id {id_type}, anchor bigint, position int"
    anchors = documents.mapInArrow(FindAnchors(min_words), schema)
    met = anchors.groupBy("anchor").agg(
        F.count("*").alias("count"), F.min("id").alias("least"), F.max("id").alias("most")
    )
    enough = F.col("count") >= min_count
    repeated = met.where(enough if within else enough & (F.col("least") != F.col("most"))).select("anchor")
    chosen = (
        anchors.join(repeated, "anchor", "left_semi")
        .groupBy("id")
        .agg(F.sort_array(F.collect_list("position")).alias("positions"))
    )
    schema = f"id {id_type}, window int, anchor bigint, key bigint"
    windows = documents.join(chosen, "id").select("id", "text", "positions")
    windows = windows.mapInArrow(FindWindows(min_words), schema)
    # An anchor is a function of the window, so that both together are a key of 128 bits.
    same = Window.partitionBy("anchor", "key")
    first = F.min(F.struct("id", "window")).over(same)
    placed = windows.select("id", "window", first.alias("at"), F.count("*").over(same).alias("count"))
    is_first = (F.col("id") == F.col("at.id")) & (F.col("window") == F.col("at.window"))
    is_later = ~is_first if within else F.col("id") != F.col("at.id")
    later = placed.where((F.col("count") >= min_count) & is_later)
    return later.select("id", "window", F.col("at.id").alias("first_id"), F.col("at.window").alias("first"))


@dataclass(frozen=True)
class FindAnchors:
    """Documents into their anchors."""

    min_words: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        finder = PassageFinder(self.min_words)
        for batch in batches:
            starts, hashes, positions = finder.anchors(batch.column(1))
            columns = [
                rows_of(batch.column(0), starts),
                pa.array(hashes.view(np.int64)),
                pa.array(positions.astype(np.int32)),
            ]
            yield pa.RecordBatch.from_arrays(columns, names=["id", "anchor", "position"])


@dataclass(frozen=True)
class FindWindows:
    """Documents and the positions of some of their anchors into the windows that select those."""

    min_words: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        finder = PassageFinder(self.min_words)
        for batch in batches:
            lists = batch.column(2)
            counts = lists.value_lengths().to_numpy(zero_copy_only=False)
            starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
            positions = lists.flatten().to_numpy(zero_copy_only=False).astype(np.uint32)
            starts, windows, anchors, keys = finder.windows(batch.column(1), starts, positions)
            columns = [
                rows_of(batch.column(0), starts),
                pa.array(windows.astype(np.int32)),
                pa.array(anchors.view(np.int64)),
                pa.array(keys.view(np.int64)),
            ]
            yield pa.RecordBatch.from_arrays(columns, names=["id", "window", "anchor", "key"])


def rows_of(ids: pa.Array, starts: Any) -> pa.Array:
    """The id of each of the things that the rows of a batch have."""
    return ids.take(pa.array(np.repeat(np.arange(len(ids)), np.diff(starts))))


# ---- passages ----


def extended(
    documents: DataFrame, shared: DataFrame, id_type: str, text_type: str, min_words: int
) -> DataFrame:
    """The windows of each document, extended along the documents that had them first."""
    # A document comes to each place where it is needed: to its own, and to those of documents that repeat it.
    needed = shared.select(F.col("id").alias("home"), F.col("first_id").alias("id"))
    needed = needed.unionByName(shared.select(F.col("id").alias("home"), "id")).distinct()
    texts = documents.join(needed, "id").select("home", "id", "text")
    nothing = F.lit(None)
    no_word = nothing.cast("int")
    rows = texts.select("home", "id", "text", no_word.alias("window"), no_word.alias("first"))
    found = shared.select(
        F.col("id").alias("home"),
        F.col("first_id").alias("id"),
        nothing.cast(text_type).alias("text"),
        "window",
        "first",
    )
    schema = f"id {id_type}, start int, end int, first_id {id_type}, first_start int, first_end int"

    def extend(table: pa.Table) -> pa.Table:
        return passages_of(table, min_words)

    return rows.unionByName(found).groupBy("home").applyInArrow(extend, schema)


def passages_of(table: pa.Table, min_words: int) -> pa.Table:
    """The passages of one document. The table has its text, those of the documents that had its windows
    first, and the windows.
    """
    home = table.column("home")[0]
    is_window = pc.is_valid(table.column("window"))
    texts, windows = table.filter(pc.invert(is_window)), table.filter(is_window)
    ids = texts.column("id").combine_chunks()
    if len(pc.unique(ids)) != len(ids):
        message = f"id: expected one document for each, found two among {home.as_py()!r} and those it repeats"
        raise InvalidParameterError(message)
    own = pc.index(ids, home).as_py()

    def numbers(values: Any) -> Any:
        return values.to_numpy().astype(np.uint32)

    found = PassageFinder(min_words).passages(
        texts.column("text")[own].as_py(),
        texts.column("text"),
        numbers(windows.column("window")),
        numbers(pc.index_in(windows.column("id"), value_set=ids)),
        numbers(windows.column("first")),
    )
    starts, ends, firsts, first_starts, first_ends = (
        pa.array([passage[part] for passage in found], pa.int32()) for part in range(5)
    )
    return pa.table(
        {
            "id": pa.array([home.as_py()] * len(found), ids.type),
            "start": starts,
            "end": ends,
            "first_id": ids.take(firsts),
            "first_start": first_starts,
            "first_end": first_ends,
        }
    )


@dataclass(frozen=True)
class CutRows:
    """Rows and the ranges of their passages, in the last column, into what is left of them. `text` is the
    place of their text.
    """

    text: int
    cut: CutName
    min_left: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        finder = PassageFinder()
        for batch in batches:
            rows = batch.select(list(range(batch.num_columns - 1)))
            ranges = batch.column(batch.num_columns - 1).to_pylist()
            texts = rows.column(self.text)
            left = [
                finder.cut(text, [(one["start"], one["end"]) for one in own], self.cut, self.min_left)
                for text, own in zip(texts.to_pylist(), ranges, strict=True)
            ]
            field = rows.schema.field(self.text)
            rows = rows.set_column(self.text, field, pa.array(left, texts.type))
            yield rows.filter(pa.array([text is not None for text in left]))
