"""Near-duplicates among documents on many machines: the pairs that one machine would find.

The steps are the engine's (`crivo.distributed`), and what travels between them is small:

1. Documents are signed where they lie. A fingerprint, the id and some band keys of each travel, and those
   of the same content meet: only the first of them, by its id, is compared with others.
2. Documents that share a band key become pairs of candidates: all pairs of up to 500 documents, and of more
   only the first with each other one. So a million nearly equal documents cost a million comparisons.
3. The smallest id that a pair's first document was paired with decides where the pair is compared. In a
   cluster of documents that are all alike, that is one place, and each set of shingles travels there once.
   Only candidates travel: a Bloom filter of their ids finds them at the second reading.
4. The pairs of a content are those of all documents that have it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType

import crivo
from crivo.distributed import LARGEST_BUCKET, Signer, Verifier
from crivo.errors import KeyTypeError
from crivo.spark._cache import cached_with
from crivo.spark._columns import INTEGERS, TEXTS, column, type_of
from crivo.spark._sketch import Recipe, of_column

PAIRS_AT_ONE_PLACE = 50_000
"""More pairs than this are compared at several places."""

TEXT_AT_ONCE = 32 << 20
"""Of how many bytes of text the sets are made at once: they take up to eight times as much."""


@dataclass(frozen=True)
class Settings:
    """What counts as alike: the arguments of a `Signer`."""

    threshold: float
    shingle: str
    html: bool
    hashes: int
    bands: crivo.Bands | None
    seed: int
    fast: bool
    nfc: bool

    def signer(self) -> Signer:
        return Signer(**vars(self))

    def verifier(self) -> Verifier:
        return Verifier(self.threshold, signatures=self.hashes if self.fast else None)


@dataclass(frozen=True)
class Found:
    """What was found among documents."""

    documents: DataFrame
    """`id` and `text` of each."""
    repeated: DataFrame
    """The `members` of each content that several documents have, ascending."""
    has_repeated: bool
    verified: DataFrame | None
    """The pairs of contents, each named by its first document; none if there are no candidates."""
    cached: list[DataFrame]
    """What has to stay as long as the answer does."""


def near_duplicates(
    df: DataFrame,
    id: str,
    text: str,
    threshold: float = 0.8,
    *,
    shingle: str = "words:5",
    html: bool = False,
    hashes: int = 128,
    bands: crivo.Bands | None = None,
    seed: int = 0,
    fast: bool = False,
    nfc: bool = False,
) -> DataFrame:
    """Returns the pairs of documents whose shingles have a Jaccard similarity of at least `threshold`, as a
    DataFrame of `a`, `b` (two ids, the smaller first) and `similarity`, which is exact unless `fast` trusts
    signatures.

    `id` names a column of integers or text that is different for each document, `text` a column of text or
    bytes. Rows without an id are left out, and rows without a text or with an empty one. The other arguments
    are those of `crivo.near_duplicates`. It finds the same pairs if it is given the documents in the order of
    their ids.

    This call finds the candidates. Actions on the returned DataFrame compare them, and read the documents a
    second time. The candidates stay cached as long as that DataFrame is referred to, so give it a name: after
    `near_duplicates(…).where(…)` nothing refers to it, and Spark finds the candidates again for every action.
    """
    found = find(df, id, text, Settings(threshold, shingle, html, hashes, bands, seed, fast, nfc))
    pairs = twins_of(found.repeated)
    if found.verified is not None:
        verified = found.verified
        pairs = pairs.unionByName(with_twins(verified, found.repeated) if found.has_repeated else verified)
    return cached_with(pairs, found.cached)


def find(df: DataFrame, id: str, text: str, settings: Settings) -> Found:
    """Finds the candidates among documents, and leaves comparing them to the pairs that come back."""
    id_type, text_type = type_of(df, id, "id"), type_of(df, text, "text")
    if not isinstance(id_type, (*INTEGERS, *TEXTS)):
        raise KeyTypeError(
            f"id '{id}': expected integers or text, found {id_type.simpleString()} (cast the column)"
        )
    if not isinstance(text_type, (*TEXTS, BinaryType)):
        raise KeyTypeError(f"text '{text}': expected text or bytes, found {text_type.simpleString()}")
    settings.signer()  # refuses what is out of range before anything is run

    documents = df.select(column(id).alias("id"), column(text).alias("text")).dropna()
    # An empty text is no document, as a missing one is none.
    documents = documents.where(F.octet_length("text") > 0)
    name = id_type.simpleString()
    contents = contents_of(documents, settings, name)
    contents.persist(StorageLevel.MEMORY_AND_DISK)
    repeated = contents.where(F.size("members") > 1).select("members").persist(StorageLevel.MEMORY_AND_DISK)
    candidates = candidates_of(contents).persist(StorageLevel.MEMORY_AND_DISK)
    has_repeated = repeated.count() > 0
    has_candidates = candidates.count() > 0
    contents.unpersist()

    cached = [repeated, candidates]
    verified = None
    if has_candidates:
        placed = placed_pairs(candidates).persist(StorageLevel.MEMORY_AND_DISK)
        cached.append(placed)
        verified = verify(documents, placed, settings, name, cached)
    return Found(documents, repeated, has_repeated, verified, cached)


# ---- signing ----


def contents_of(documents: DataFrame, settings: Settings, id_type: str) -> DataFrame:
    """Each different content once: the ids of the documents that have it, ascending, and its band keys."""
    schema = f"id {id_type}, high bigint, low bigint, keys array<bigint>"
    signed = documents.mapInArrow(Sign(settings), schema)
    members = F.sort_array(F.collect_list("id")).alias("members")
    # Rows are smaller than what `groupBy` would make of each before it sends it.
    met = signed.repartition("high", "low")
    return met.groupBy("high", "low").agg(members, F.first("keys").alias("keys")).select("members", "keys")


@dataclass(frozen=True)
class Sign:
    """Documents into fingerprints and band keys."""

    settings: Settings

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        signer = self.settings.signer()
        for batch in batches:
            fingerprints, sizes, keys = signer.sign(batch.column(1))
            counts = np.where(sizes > 0, signer.bands.bands, 0)
            offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
            values = keys[sizes > 0].reshape(-1).view(np.int64)
            halves = fingerprints.view(np.int64)
            yield pa.RecordBatch.from_arrays(
                [
                    batch.column(0),
                    pa.array(np.ascontiguousarray(halves[:, 0])),
                    pa.array(np.ascontiguousarray(halves[:, 1])),
                    pa.ListArray.from_arrays(pa.array(offsets), pa.array(values)),
                ],
                names=["id", "high", "low", "keys"],
            )


# ---- pairing ----


def pairs_of(groups: DataFrame) -> DataFrame:
    """The pairs of each group of `members`: all of them, or of very many the first with each other."""
    centres = F.when(F.size("members") <= LARGEST_BUCKET, F.col("members")).otherwise(
        F.slice("members", 1, 1)
    )
    led = groups.select(F.posexplode(centres).alias("place", "a"), "members")
    after = F.slice(
        "members", F.col("place") + 2, F.greatest(F.size("members") - F.col("place") - 1, F.lit(0))
    )
    return led.select("a", F.explode(after).alias("b"))


def candidates_of(contents: DataFrame) -> DataFrame:
    """The contents that share a band key, each named by its first document, each pair once."""
    banded = contents.select(F.col("members")[0].alias("first"), F.explode("keys").alias("key"))
    buckets = (
        banded.repartition("key").groupBy("key").agg(F.sort_array(F.collect_set("first")).alias("members"))
    )
    return pairs_of(buckets.where(F.size("members") > 1)).distinct()


def twins_of(repeated: DataFrame) -> DataFrame:
    """The pairs of documents with the same content."""
    return pairs_of(repeated).where("a < b").withColumn("similarity", F.lit(1.0))


def with_twins(verified: DataFrame, repeated: DataFrame) -> DataFrame:
    """The pairs of contents as the pairs of the documents that have them. Contents of very many documents are
    shown by their first."""
    shown = repeated.where(F.size("members") <= LARGEST_BUCKET).select(
        F.col("members")[0].alias("first"), "members"
    )
    for side in ("a", "b"):
        named = shown.select(F.col("first").alias(side), F.col("members").alias(f"all_{side}"))
        verified = verified.join(named, side, "left")
        members = F.coalesce(F.col(f"all_{side}"), F.array(side))
        verified = verified.withColumn(side, F.explode(members)).drop(f"all_{side}")
    return verified.select(F.least("a", "b").alias("a"), F.greatest("a", "b").alias("b"), "similarity")


# ---- comparing ----


def placed_pairs(candidates: DataFrame) -> DataFrame:
    """The candidates, each with the number of the place where it is compared.

    That is the smallest id its first member was paired with, or the first itself. Different places that
    happen to have the same number do no harm.
    """
    before = candidates.groupBy(F.col("b").alias("a")).agg(F.min("a").alias("before"))
    homes = candidates.join(before, "a", "left").select("a", "b", F.coalesce("before", "a").alias("home"))
    many = homes.groupBy("home").count().where(F.col("count") > PAIRS_AT_ONE_PLACE)
    split = many.select("home", F.ceil(F.col("count") / PAIRS_AT_ONE_PLACE).alias("places"))
    part = F.pmod(F.xxhash64("b"), F.coalesce("places", F.lit(1)))
    return homes.join(F.broadcast(split), "home", "left").select(
        F.xxhash64("home", part).alias("place"), "a", "b"
    )


def verify(
    documents: DataFrame, placed: DataFrame, settings: Settings, id_type: str, cached: list[DataFrame]
) -> DataFrame:
    """The pairs that are as similar as they have to be."""
    ends = F.explode(F.array("a", "b")).alias("id")
    wanted = placed.select("place", ends).distinct().persist(StorageLevel.MEMORY_AND_DISK)
    cached.append(wanted)
    count = wanted.count()
    known = of_column(wanted, "id", Recipe(crivo.Bloom.for_items(max(1, count), 0.01))).sketch
    sets = documents.mapInArrow(MakeSets(settings, known), f"id {id_type}, hashes binary").join(wanted, "id")
    nothing, no_set = F.lit(None).cast(id_type), F.lit(None).cast("binary")
    rows = sets.select(
        "place", F.lit(False).alias("is_pair"), F.col("id").alias("a"), nothing.alias("b"), "hashes"
    )
    rows = rows.unionByName(
        placed.select("place", F.lit(True).alias("is_pair"), "a", "b", no_set.alias("hashes"))
    )
    gathered = rows.repartition("place").sortWithinPartitions("place", "is_pair")
    return gathered.mapInArrow(Compare(settings), f"a {id_type}, b {id_type}, similarity double")


@dataclass(frozen=True)
class MakeSets:
    """The documents whose id may be among the wanted ones into their sets of shingles."""

    settings: Settings
    wanted: crivo.Bloom

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        signer = self.settings.signer()
        for batch in batches:
            ids = batch.column(0)
            wanted = pa.array(self.wanted.contains_batch(ids))
            if not pa.types.is_integer(ids.type):
                # Empty text is missing from a column, but it is an id like any other.
                wanted = pc.or_(wanted, pc.equal(ids, ""))
            chosen = batch.filter(wanted)
            for piece in pieces(chosen):
                starts, hashes = signer.sets(piece.column(1))
                offsets = pa.py_buffer((starts * 8).astype(np.int32))
                sets = pa.Array.from_buffers(
                    pa.binary(), piece.num_rows, [None, offsets, pa.py_buffer(hashes)]
                )
                yield pa.RecordBatch.from_arrays([piece.column(0), sets], names=["id", "hashes"])


def pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The rows of a batch, a few at a time if their texts are long."""
    ends = np.cumsum(pc.binary_length(batch.column(1)).to_numpy(zero_copy_only=False).astype(np.int64))
    start = 0
    while start < batch.num_rows:
        before = ends[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + TEXT_AT_ONCE, side="right")))
        yield batch.slice(start, end - start)
        start = end


@dataclass(frozen=True)
class Compare:
    """Sets and pairs in the order of their places into the pairs that are alike."""

    settings: Settings

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        verifier = self.settings.verifier()
        for batch in batches:
            places = batch.column(0).to_numpy()
            one, other = batch.column(2), batch.column(3)
            rows, similarities = verifier.verify(
                places, one.cast(pa.string()), other.cast(pa.string()), batch.column(4)
            )
            chosen = pa.array(rows)
            columns = [one.take(chosen), other.take(chosen), pa.array(similarities)]
            yield pa.RecordBatch.from_arrays(columns, names=["a", "b", "similarity"])
