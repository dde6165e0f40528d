"""What chains of pairs connect: connected components, in a bounded number of rounds.

A round is a large star and a small star (Kiveris, Lattanzi, Mirrokni, Rastogi, Vassilvitskii: Connected
Components in MapReduce and Beyond, 2014). In the large star every document tells those after it the first
one it knows of; in the small star those before it. Edges then point to ever earlier documents, until each
cluster is a star around its first. Cliques are done in one round, and a chain of n documents in about log
n.
"""

from pyspark import StorageLevel
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from crivo.errors import CrivoError, InvalidParameterError, KeyTypeError
from crivo.spark._cache import cached_with, without_history
from crivo.spark._columns import type_of


def clusters(pairs: DataFrame, *, max_rounds: int = 50) -> DataFrame:
    """The clusters that pairs make, as a DataFrame of `id` and `cluster`: every id that is in a pair, and
    the smallest id of those that chains of pairs connect with it, which is the name that
    `crivo.near_duplicates` gives.

    `pairs` has two columns `a` and `b` of ids, and may have others. It is run at once, in at most
    `max_rounds` rounds, which are enough for chains of 2^`max_rounds` documents. The answer stays cached
    until it is no longer referred to.
    """
    one, other = type_of(pairs, "a", "pairs"), type_of(pairs, "b", "pairs")
    if one != other:
        raise KeyTypeError(
            f"pairs: expected ids of one type, found {one.simpleString()} and {other.simpleString()}"
        )
    if max_rounds < 1:
        raise InvalidParameterError(f"max_rounds: expected 1 or more, found {max_rounds}")
    oriented = pairs.dropna(subset=["a", "b"]).where("a != b")
    edges = oriented.select(
        F.greatest("a", "b").alias("later"), F.least("a", "b").alias("earlier")
    ).distinct()
    edges, before = cached(edges)
    for _ in range(max_rounds):
        joined, after = cached(small_star(large_star(without_history(edges))))
        edges.unpersist()
        edges = joined
        if after == before:
            return cached_with(named(without_history(edges)), [edges])
        before = after
    edges.unpersist()
    raise CrivoError(f"clusters: not done after {max_rounds} rounds; give more with max_rounds")


def cached(edges: DataFrame) -> tuple[DataFrame, tuple[int, int]]:
    """The edges, kept for the next round, and by which they can be told from others."""
    edges = edges.persist(StorageLevel.MEMORY_AND_DISK)
    mark = F.sum(F.xxhash64("later", "earlier").cast("decimal(38,0)"))
    count, total = edges.agg(F.count("*"), mark).first() or (0, 0)
    return edges, (count, int(total or 0))


def large_star(edges: DataFrame) -> DataFrame:
    """Everybody tells their later neighbours of their first."""
    both = F.explode(
        F.array(
            F.struct(F.col("later").alias("who"), F.col("earlier").alias("neighbour")),
            F.struct(F.col("earlier").alias("who"), F.col("later").alias("neighbour")),
        )
    )
    seen = edges.select(both.alias("edge")).select("edge.*")
    first = F.least("who", F.min("neighbour").over(Window.partitionBy("who")))
    told = seen.withColumn("first", first).where("neighbour > who")
    # Repeated edges go away in the small star.
    return told.select(F.col("neighbour").alias("later"), F.col("first").alias("earlier"))


def small_star(edges: DataFrame) -> DataFrame:
    """Everybody joins the first of their earlier neighbours, and takes the others along."""
    first = F.min("earlier").over(Window.partitionBy("later"))
    joins = F.explode(
        F.array(
            F.struct("later", F.col("first").alias("earlier")),
            F.struct(F.col("earlier").alias("later"), F.col("first").alias("earlier")),
        )
    )
    joined = edges.withColumn("first", first).select(joins.alias("edge")).select("edge.*")
    return joined.where("later != earlier").distinct()


def named(stars: DataFrame) -> DataFrame:
    """Who belongs to which star, its centre included."""
    members = F.explode(
        F.array(
            F.struct(F.col("later").alias("id"), F.col("earlier").alias("cluster")),
            F.struct(F.col("earlier").alias("id"), F.col("earlier").alias("cluster")),
        )
    )
    return stars.select(members.alias("member")).select("member.*").distinct()
