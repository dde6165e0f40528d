"""`crivo.spark` beside what Spark has itself: counts, near-duplicates and joins, on local[2].

    cargo xtask bench spark [--write FOLDER] [--small] [--only distinct|near|join]

CPU time counts, of the driver, the JVM and the Python workers together, after three rounds to warm up;
contenders take turns, and the best of their rounds stands. Wall time is beside it. The data is made once
and kept.
"""

from __future__ import annotations

import argparse
import datetime
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from measure import processor
from bench_near import make_corpus
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import crivo
from crivo.spark import near_duplicates, semi_join, sketch

WARM_UPS = 3
ROUNDS = 5
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_of_tree() -> float:
    """CPU seconds of this process and all below it, those that have ended included."""
    parents: dict[int, list[int]] = {}
    times: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
            times[int(entry.name)] = sum(map(int, fields[11:15])) / TICKS
    waiting, total = [os.getpid()], 0.0
    while waiting:
        pid = waiting.pop()
        total += times.get(pid, 0.0)
        waiting += parents.get(pid, [])
    return total


@dataclass
class Contender:
    name: str
    work: Callable[[], Any]
    cpu: float = float("inf")
    wall: float = float("inf")
    answer: Any = None

    def run(self, counts: bool) -> None:
        before, began = cpu_of_tree(), time.perf_counter()
        self.answer = self.work()
        if counts:
            self.cpu = min(self.cpu, cpu_of_tree() - before)
            self.wall = min(self.wall, time.perf_counter() - began)


def compare(title: str, contenders: list[Contender], rounds: int = ROUNDS, warm_ups: int = WARM_UPS) -> str:
    for number in range(-warm_ups, rounds):
        for contender in contenders:
            contender.run(number >= 0)
    first = contenders[0]
    lines = [
        f"| {'**' + one.name + '**' if one is first else one.name} | {one.cpu:.2f} | {one.cpu / first.cpu:.2f} | {one.wall:.2f} "
        f"| {one.wall / first.wall:.2f} | {one.answer} |"
        for one in contenders
    ]
    head = "| who | CPU s | this ÷ crivo | wall s | this ÷ crivo | answer |\n|---|---:|---:|---:|---:|---|\n"
    part = f"## {title}\n\n{head}" + "\n".join(lines)
    print(part, end="\n\n", flush=True)
    return part


def stored(spark: SparkSession, path: Path, make: Callable[[], DataFrame]) -> DataFrame:
    """A Parquet file, made if it is not there."""
    if not (path / "_SUCCESS").exists():
        shutil.rmtree(path, ignore_errors=True)
        make().write.parquet(str(path))
    return spark.read.parquet(str(path))


def distinct(spark: SparkSession, data: Path, scale: int) -> str:
    rows = 4_000_000 // scale
    key = F.format_string("%011d", F.pmod(F.col("id") * 7919, F.lit(10**11)))
    df = stored(
        spark,
        data / f"spark-keys-{rows}",
        lambda: spark.range(0, rows, numPartitions=8).select(key.alias("key")),
    )

    def count_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow

        rows = sum(batch.num_rows for batch in batches)
        yield pyarrow.RecordBatch.from_pydict({"rows": pyarrow.array([rows], pyarrow.int64())})

    def rows_only() -> int:
        return sum(df.mapInArrow(count_rows, "rows bigint").toArrow().column(0).to_pylist())

    def built_in() -> int:
        return int(df.agg(F.hll_sketch_estimate(F.hll_sketch_agg("key", 12))).first()[0])  # type: ignore[index]

    return compare(
        f"How many different among {rows:,} strings",
        [
            Contender(
                "crivo.spark.sketch",
                lambda: round(sketch(df, "key", "distinct", precision=12).estimate().value),
            ),
            Contender("a mapInArrow that only counts rows", rows_only),
            Contender("hll_sketch_agg, built in", built_in),
        ],
        rounds=20,
    )


def near(spark: SparkSession, data: Path, scale: int) -> str:
    from pyspark.ml.feature import HashingTF, MinHashLSH, NGram, RegexTokenizer

    documents = 100_000 // scale
    path = data / f"near-{documents}.jsonl"
    make_corpus(path, documents)
    df = stored(spark, data / f"spark-near-{documents}", lambda: spark.read.json(str(path)).repartition(8))
    truth = {
        pair[:2]
        for pair in crivo.near_duplicates(
            [row["text"] for row in sorted(df.collect(), key=lambda row: row["id"])],
            bands=crivo.Bands(128, 1),
        ).pairs
    }

    moved = 0

    def ours() -> str:
        nonlocal moved
        before = shuffle_bytes(spark)
        pairs = {(row["a"], row["b"]) for row in near_duplicates(df, "id", "text").collect()}
        moved = shuffle_bytes(spark) - before
        return f"{len(pairs)} pairs, recall {len(pairs & truth) / len(truth):.4f}"

    def theirs() -> str:
        words = RegexTokenizer(inputCol="text", outputCol="words", pattern=r"\W+").transform(df)
        grams = NGram(n=5, inputCol="words", outputCol="grams").transform(words).where(F.size("grams") > 0)
        vectors = HashingTF(inputCol="grams", outputCol="vector", numFeatures=1 << 20, binary=True).transform(
            grams
        )
        vectors = vectors.select("id", "vector").cache()
        # One row a band: three chances find 1 - 0.2^3 = 99 % of the pairs at 0.8, as crivo's bands do.
        model = MinHashLSH(inputCol="vector", outputCol="hashes", numHashTables=3, seed=7).fit(vectors)
        joined = model.approxSimilarityJoin(vectors, vectors, 0.2 + 1e-9, "distance").where(
            "datasetA.id < datasetB.id"
        )
        pairs = {(row[0], row[1]) for row in joined.select("datasetA.id", "datasetB.id").collect()}
        vectors.unpersist()
        return f"{len(pairs)} pairs, recall {len(pairs & truth) / len(truth):.4f}"

    part = compare(
        f"Near-duplicates among {documents:,} texts, threshold 0.8",
        [
            Contender("crivo.spark.near_duplicates, exact", ours),
            Contender("MLlib MinHashLSH, approxSimilarityJoin", theirs),
        ],
        rounds=2,
        warm_ups=1,
    )
    text = df.agg(F.sum(F.length("text"))).first()
    line = f"crivo shuffled {moved / documents:,.0f} bytes a document; its text has {text[0] / documents:,.0f} characters."  # type: ignore[index]
    print(line, flush=True)
    return f"{part}\n\n{line}"


def join(spark: SparkSession, data: Path, scale: int) -> str:
    rows = 20_000_000 // scale
    payload = F.concat(F.lit("payload "), F.col("id"))
    key = F.pmod(F.xxhash64("id"), F.lit(rows))
    big = stored(
        spark,
        data / f"spark-big-{rows}",
        lambda: spark.range(0, rows, numPartitions=8).select(
            key.alias("key"), payload.alias("payload"), F.col("id").alias("value")
        ),
    )
    small = stored(
        spark,
        data / f"spark-small-{rows}",
        lambda: spark.range(0, rows, 100, numPartitions=2).select(F.col("id").alias("key")),
    )
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    moved: dict[str, int] = {}

    def shuffled(name: str, joined: DataFrame) -> int:
        before = shuffle_bytes(spark)
        answer = joined.agg(F.count("*"), F.sum("value")).first()
        moved[name] = shuffle_bytes(spark) - before
        return int(answer[0])  # type: ignore[index]

    part = compare(
        f"A join of {rows:,} rows, one in a hundred with a partner",
        [
            Contender("crivo.spark.semi_join", lambda: shuffled("crivo", semi_join(big, small, "key"))),
            Contender(
                "the plain join, without a broadcast",
                lambda: shuffled("plain", big.join(small, "key", "left_semi")),
            ),
        ],
        rounds=3,
        warm_ups=1,
    )
    line = f"Shuffled: {moved['crivo'] / 1e6:.1f} MB beside {moved['plain'] / 1e6:.1f} MB, 1/{moved['plain'] / moved['crivo']:.0f}."
    print(line, flush=True)
    return f"{part}\n\n{line}"


def shuffle_bytes(spark: SparkSession) -> int:
    """Written by all tasks of the session so far."""
    executors = spark.sparkContext._jsc.sc().statusStore().executorList(True)
    return sum(executors.apply(number).totalShuffleWrite() for number in range(executors.size()))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--small", action="store_true", help="a twentieth of the size, to try the script")
    parser.add_argument("--only", choices=["distinct", "near", "join"])
    options = parser.parse_args()
    options.data.mkdir(parents=True, exist_ok=True)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "3g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.shuffle.partitions", "8")
        .getOrCreate()
    )
    parts = [
        run(spark, options.data, 20 if options.small else 1)
        for name, run in (("distinct", distinct), ("near", near), ("join", join))
        if options.only in (None, name)
    ]
    spark.stop()
    if options.write:
        introduction = (
            "CPU seconds of driver, JVM and Python workers together on local[2], the best of several rounds after others to "
            "warm up, contenders taking turns; wall time beside it."
        )
        measured = f"Measured {datetime.date.today()} on {os.cpu_count()} cores of {processor()}. Repeat with `cargo xtask bench spark`."
        page = "\n\n".join(["# On Spark: `crivo.spark`", introduction, measured, *parts]) + "\n"
        (options.write / "spark.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
