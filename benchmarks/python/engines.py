"""crivo inside of engines: `.crivo.distinct()` beside `approx_n_unique` of Polars, `crivo.dedup(dataset)`
beside the command line.

    python benchmarks/python/engines.py polars [--rows 20000000] [--rounds 5]
    python benchmarks/python/engines.py datasets CORPUS.jsonl --program target/release/crivo

Contenders take turns, and the best of some rounds stands. The error is that of the count, beside the exact
one; the usual error is that of 40 sets of 100,000 keys. The command line's outcome must be that of the
dataset: the ids that stay are compared.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any


def cpu_seconds(who: int = resource.RUSAGE_SELF) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def measured(work: Any) -> tuple[float, float, Any]:
    wall, cpu = time.perf_counter(), cpu_seconds()
    answer = work()
    return time.perf_counter() - wall, cpu_seconds() - cpu, answer


def polars(rows: int, rounds: int) -> None:
    import polars as pl

    import crivo.polars  # noqa: F401, gives expressions their namespace

    different = rows // 2
    number = (pl.int_range(rows) * 2_654_435_761) % different
    frame = pl.select(key=pl.format("user-{}", number)).lazy()
    exact = min(rows, different)
    queries: dict[str, Any] = {
        "`approx_n_unique()`": pl.col("key").approx_n_unique(),
        "`.crivo.distinct()`": pl.col("key").crivo.distinct(),
        "`.crivo.distinct(method='ull')`": pl.col("key").crivo.distinct(method="ull"),
    }
    frame = frame.collect().lazy()
    print(f"\n{rows:,} strings of 6 to 14 bytes, {exact:,} different, polars {pl.__version__}:\n")
    print("| engine | expression | seconds | CPU seconds | error | usual error |")
    print("|---|---|---|---|---|---|")
    for engine in ("in-memory", "streaming"):
        best: dict[str, tuple[float, float, Any]] = {}
        for _ in range(rounds):
            for name, query in queries.items():
                plan = frame.select(query)
                taken = measured(lambda plan=plan, engine=engine: plan.collect(engine=engine).item())
                best[name] = min(best.get(name, taken), taken, key=lambda one: one[0])
        for name, (wall, cpu, answer) in best.items():
            value = answer["value"] if isinstance(answer, dict) else answer
            error, usual = abs(value / exact - 1), error_of(queries[name], engine)
            print(f"| {engine} | {name} | {wall:.3f} | {cpu:.3f} | {error:.2%} | {usual:.2%} |")


def error_of(query: Any, engine: Any, sets: int = 40, keys: int = 100_000) -> float:
    """The root mean square error over different sets of keys."""
    import polars as pl

    squares = 0.0
    for number in range(sets):
        frame = pl.select(key=pl.format(f"set {number} key {{}}", pl.int_range(keys))).lazy()
        answer = frame.select(query).collect(engine=engine).item()
        value = answer["value"] if isinstance(answer, dict) else answer
        squares += (value / keys - 1) ** 2
    return float((squares / sets) ** 0.5)


def hugging_face(corpus: Path, program: Path, rounds: int) -> None:
    import datasets

    import crivo

    datasets.disable_progress_bars()
    with corpus.open(encoding="utf-8") as lines:
        rows = datasets.Dataset.from_list([json.loads(line) for line in lines])
    print(f"\n{len(rows):,} documents, datasets {datasets.__version__}:\n")
    print("| what | seconds | CPU seconds | documents that stay |")
    print("|---|---|---|---|")
    own: list[tuple[float, float, Any]] = []
    others: list[tuple[float, float, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "clean.jsonl"
        command = [program, "dedup", corpus, "-o", out, "--quiet"]
        for _ in range(rounds):
            own.append(measured(lambda: crivo.dedup(rows)))
            wall, cpu = time.perf_counter(), cpu_seconds(resource.RUSAGE_CHILDREN)
            subprocess.run([str(part) for part in command], check=True, capture_output=True)
            spent = cpu_seconds(resource.RUSAGE_CHILDREN) - cpu
            others.append((time.perf_counter() - wall, spent, None))
        with out.open(encoding="utf-8") as lines:
            kept = [json.loads(line)["id"] for line in lines]
    named = {"`crivo.dedup(dataset)`": min(own, key=lambda one: one[1])}
    named["`crivo dedup corpus.jsonl`"] = min(others, key=lambda one: one[1])
    for name, (wall, cpu, _) in named.items():
        print(f"| {name} | {wall:.2f} | {cpu:.2f} | {len(kept):,} |")
    same = list(own[0][2]["id"]) == kept
    print(f"\nThe outcome is {'the same' if same else 'NOT the same'}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="what", required=True)
    columns = commands.add_parser("polars")
    columns.add_argument("--rows", type=int, default=20_000_000)
    columns.add_argument("--rounds", type=int, default=5)
    documents = commands.add_parser("datasets")
    documents.add_argument("corpus", type=Path)
    documents.add_argument("--program", type=Path, required=True)
    documents.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    if given.what == "polars":
        polars(given.rows, given.rounds)
    else:
        hugging_face(given.corpus, given.program, given.rounds)


if __name__ == "__main__":
    main()
