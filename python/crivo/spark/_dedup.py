"""Which document stays of each cluster: by the rules of one machine, and with the same outcome.

With the linking `kept` documents are taken in the order of preference, and each goes if it is alike with one
that stays already. That order is kept by sorting: the pairs of a component come to one place, by the
preferred document and then by the other, and one pass over them decides. It holds an entry in memory for each
document of the component that goes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

import crivo
from crivo.distributed import LARGEST_BUCKET
from crivo.errors import InvalidParameterError
from crivo.spark._cache import cached_with, forget
from crivo.spark._clusters import clusters
from crivo.spark._columns import quoted
from crivo.spark._near import Found, Settings, find

Keep = Literal["first", "longest"]
Linking = Literal["kept", "chains"]


def dedup(
    df: DataFrame,
    id: str,
    text: str,
    threshold: float = 0.8,
    *,
    keep: Keep = "first",
    linking: Linking = "kept",
    shingle: str = "words:5",
    html: bool = False,
    hashes: int = 128,
    bands: crivo.Bands | None = None,
    seed: int = 0,
    fast: bool = False,
    nfc: bool = False,
) -> DataFrame:
    """The rows of `df` without near-duplicates, those without a text included. What stays is what
    `crivo.near_duplicates` and `crivo dedup` keep of the same documents in the order of their ids.

    `keep` says which document of a cluster stays: the "first" by its id, or the "longest" by the bytes of its
    text. With the `linking` "kept" a document goes only if it is itself alike with the one that stays in its
    place; "chains" follow from one near-duplicate to the next. The other settings are those of
    `near_duplicates`. `removed` says why each document goes.

    What is to be dropped is found at once, and stays cached as long as the DataFrame that comes back is
    referred to.
    """
    settings = Settings(threshold, shingle, html, hashes, bands, seed, fast, nfc)
    dropped = find_dropped(df, id, text, settings, keep, linking)
    # Joined by an expression: a join by name would bring the id to the front.
    kept = df.join(dropped, df[quoted(id)] == dropped["id"], "left_anti")
    return cached_with(kept, [dropped])


def removed(
    df: DataFrame,
    id: str,
    text: str,
    threshold: float = 0.8,
    *,
    keep: Keep = "first",
    shingle: str = "words:5",
    html: bool = False,
    hashes: int = 128,
    bands: crivo.Bands | None = None,
    seed: int = 0,
    fast: bool = False,
    nfc: bool = False,
) -> DataFrame:
    """The certificate of `dedup` with the linking "kept": a DataFrame of `id` (each document that goes),
    `kept` (the one that stays in its place) and their `similarity`, which is exact unless `fast` trusts
    signatures. It is what `crivo dedup --removed` writes.

    It is found at once, and stays cached as long as the DataFrame that comes back is referred to.
    """
    settings = Settings(threshold, shingle, html, hashes, bands, seed, fast, nfc)
    certificate = find_dropped(df, id, text, settings, keep, "kept")
    return cached_with(certificate.select("id", "kept", "similarity"), [certificate])


def find_dropped(
    df: DataFrame, id: str, text: str, settings: Settings, keep: Keep, linking: Linking
) -> DataFrame:
    """The documents that go, found at once and cached."""
    if keep not in ("first", "longest"):
        raise InvalidParameterError(f"keep: expected 'first' or 'longest', found {keep!r}")
    if linking not in ("kept", "chains"):
        raise InvalidParameterError(f"linking: expected 'kept' or 'chains', found {linking!r}")
    found = find(df, id, text, settings)
    dropped = dropped_of(found, keep, linking).persist(StorageLevel.MEMORY_AND_DISK)
    dropped.count()
    forget(found.cached)
    return dropped


def dropped_of(found: Found, keep: Keep, linking: Linking) -> DataFrame:
    """The documents that go, as `id`, `kept` and `similarity`; with chains the similarity is missing."""
    name = dict(found.repeated.dtypes)["members"].removeprefix("array<").removesuffix(">")
    repeated = found.repeated.select(F.col("members")[0].alias("first"), "members")
    if found.verified is None:
        contents = None
    elif linking == "kept":
        contents = around_kept(ranked(found, keep, centres_first=True), found, name)
    else:
        contents = along_chains(ranked(found, keep, centres_first=False), found, name)
    # What holds for a content holds for every document that has it.
    twins = repeated.select(F.col("first").alias("id"), F.explode("members").alias("member"))
    others = twins.where("member != id")
    if contents is None:
        same = F.lit(1.0).alias("similarity")
        return others.select(F.col("member").alias("id"), F.col("id").alias("kept"), same)
    gone = others.join(contents, "id", "left").select(
        F.col("member").alias("id"),
        F.coalesce("kept", "id").alias("kept"),
        F.when(F.col("kept").isNull(), 1.0).otherwise(F.col("similarity")).alias("similarity"),
    )
    return contents.unionByName(gone)


def ranked(found: Found, keep: Keep, *, centres_first: bool) -> DataFrame:
    """The pairs of contents as `preferred`, `other`, `similarity`, and the ranks of both: the smaller one is
    preferred, and of equal ones the smaller id. With `centres_first` those with more near-duplicates than a
    bucket compares in full come before longer ones: the others of it were compared with them only."""
    assert found.verified is not None
    pairs = found.verified.persist(StorageLevel.MEMORY_AND_DISK)
    found.cached.append(pairs)
    if keep == "first":
        zero = F.lit(0).cast("bigint")
        return pairs.select(
            F.col("a").alias("preferred"),
            F.col("b").alias("other"),
            "similarity",
            zero.alias("rank"),
            zero.alias("other_rank"),
        )
    ends = pairs.select(F.explode(F.array("a", "b")).alias("id")).groupBy("id").count()
    # A length is stored in 32 bits on one machine.
    length = F.least(F.octet_length("text").cast("bigint"), F.lit(0xFFFF_FFFF))
    is_centre = F.col("count") > LARGEST_BUCKET if centres_first else F.lit(False)
    before_all = F.when(is_centre, F.lit(-(1 << 33))).otherwise(F.lit(0))
    lengths = found.documents.join(ends, "id").select("id", (before_all - length).alias("rank"))
    for end in ("a", "b"):
        pairs = pairs.join(lengths.select(F.col("id").alias(end), F.col("rank").alias(f"rank_{end}")), end)
    order = {end: F.struct(F.col(f"rank_{end}").alias("rank"), F.col(end).alias("id")) for end in ("a", "b")}
    swapped = order["b"] < order["a"]

    def chosen(first: str, second: str) -> Any:
        return F.when(swapped, F.col(second)).otherwise(F.col(first))

    return pairs.select(
        chosen("a", "b").alias("preferred"),
        chosen("b", "a").alias("other"),
        "similarity",
        chosen("rank_a", "rank_b").alias("rank"),
        chosen("rank_b", "rank_a").alias("other_rank"),
    )


def components_of(pairs: DataFrame, found: Found) -> DataFrame:
    """What pairs connect, cached as long as what was found."""
    components = clusters(pairs.select(F.col("preferred").alias("a"), F.col("other").alias("b")))
    found.cached.append(components)
    return components


def around_kept(pairs: DataFrame, found: Found, id_type: str) -> DataFrame:
    """The contents that go, each with the first preferred one that it is alike with."""
    components = components_of(pairs, found)
    placed = pairs.join(components.withColumnRenamed("id", "preferred"), "preferred")
    gathered = placed.repartition("cluster").sortWithinPartitions(
        "cluster", "rank", "preferred", "other_rank", "other"
    )
    chosen = gathered.select("cluster", "preferred", "other", "similarity")
    return chosen.mapInArrow(ChooseKept(), f"id {id_type}, kept {id_type}, similarity double")


@dataclass(frozen=True)
class ChooseKept:
    """Pairs in the order of preference into the documents that go."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        component: Any = None
        gone: set[Any] = set()
        for batch in batches:
            rows = []
            columns = [column.to_pylist() for column in batch.columns[:3]]
            for row, (cluster, preferred, other) in enumerate(zip(*columns, strict=True)):
                if cluster != component:
                    component, gone = cluster, set()
                # Whether the preferred one stays has been decided by the pairs before.
                if preferred not in gone and other not in gone:
                    gone.add(other)
                    rows.append(row)
            taken = batch.take(pa.array(rows, pa.int64()))
            yield pa.RecordBatch.from_arrays(
                [taken.column(2), taken.column(1), taken.column(3)], names=["id", "kept", "similarity"]
            )


def along_chains(pairs: DataFrame, found: Found, id_type: str) -> DataFrame:
    """The contents that go, each with the preferred one of those that chains connect it with."""
    components = components_of(pairs, found)
    ends = pairs.select(
        F.explode(
            F.array(
                F.struct(F.col("preferred").alias("id"), "rank"),
                F.struct(F.col("other").alias("id"), F.col("other_rank").alias("rank")),
            )
        ).alias("end")
    )
    members = ends.select("end.*").distinct().join(components, "id")
    best = F.min(F.struct("rank", "id")).over(Window.partitionBy("cluster"))
    named = members.withColumn("kept", best["id"]).where("id != kept")
    unknown = F.lit(None).cast("double").alias("similarity")
    return named.select("id", F.col("kept").cast(id_type).alias("kept"), unknown)
