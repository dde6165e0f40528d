"""crivo's functions in DuckDB beside DuckDB's own: time, error and memory.

    cargo xtask bench duckdb

Each query runs in a process of its own that has loaded the extension, so that peak memory is the query's. Rounds take
turns, and the best time of each counts. The page docs/benchmarks/duckdb.md is written by this script.
"""

import argparse
import datetime
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb

ROWS = 100_000_000
GROUPS = 1_000_000
ERROR_GROUPS, ERROR_ITEMS = 200, 200_000
TOP_ROWS = 20_000_000

OWN_COUNT, CRIVO_COUNT = "approx_count_distinct({})", "crivo_distinct({}).value"
SHARP_COUNT = "crivo_distinct({}, 0.003).value"
SKEWED = f"CREATE TABLE t AS SELECT CAST(pow(1000000, (hash(range) % 1000003) / 1000003) AS BIGINT) x FROM range({TOP_ROWS})"


def one_group(count: str) -> str:
    return f"SELECT {count.format('range')} FROM range({ROWS})"


def many_groups(count: str) -> str:
    grouped = f"SELECT {count.format('range')} n FROM range({ROWS}) GROUP BY range % {GROUPS}"
    return f"SELECT count(*), sqrt(avg(pow(n / {ROWS // GROUPS} - 1, 2))) FROM ({grouped})"


def errors(count: str) -> str:
    grouped = f"SELECT {count.format('range')} n FROM range({ERROR_GROUPS * ERROR_ITEMS}) GROUP BY range % {ERROR_GROUPS}"
    return f"SELECT sqrt(avg(pow(n / {ERROR_ITEMS} - 1, 2))) FROM ({grouped})"


def child(extension: str, threads: int, before: str, query: str) -> None:
    """Runs one query and prints its time, its answer and the memory that it took at most."""
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": threads})
    connection.execute(f"LOAD '{extension}'")
    if before:
        connection.execute(before)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    answer = connection.execute(query).fetchone()
    seconds = time.perf_counter() - start
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    print(json.dumps({"seconds": seconds, "answer": answer, "kilobytes": kilobytes}, default=str))


class Runner:
    def __init__(self, extension: str, threads: int) -> None:
        self.extension, self.threads = extension, threads

    def run(self, query: str, before: str = "") -> dict[str, Any]:
        command = [sys.executable, __file__, self.extension, "--threads", str(self.threads)]
        output = subprocess.run(
            [*command, "--before", before, "--query", query], check=True, capture_output=True, text=True
        ).stdout
        result: dict[str, Any] = json.loads(output)
        print(f"{result['seconds']:8.2f} s  {query[:90]}", file=sys.stderr)
        return result

    def best(self, queries: list[str], rounds: int, before: str = "") -> list[dict[str, Any]]:
        """The best of several rounds, in which the queries take turns."""
        rows = [[self.run(query, before) for query in queries] for _ in range(rounds)]
        return [
            min(column, key=lambda result: float(result["seconds"])) for column in zip(*rows, strict=True)
        ]


def page(runner: Runner) -> str:
    counts = [OWN_COUNT, CRIVO_COUNT, SHARP_COUNT]
    own, ours, sharp = runner.best([one_group(count) for count in counts], rounds=5)
    own_error, our_error, sharp_error = (runner.run(errors(count))["answer"][0] for count in counts)
    many_own, many_ours = runner.best([many_groups(OWN_COUNT), many_groups(CRIVO_COUNT)], rounds=1)
    top_own, top_ours = runner.best(
        ["SELECT approx_top_k(x, 10) FROM t", "SELECT crivo_top(x, 10) FROM t"], rounds=3, before=SKEWED
    )
    exact = runner.run(
        "SELECT list(x) FROM (SELECT x FROM t GROUP BY x ORDER BY count(*) DESC LIMIT 10)", before=SKEWED
    )["answer"][0]
    own_found = len(set(map(int, top_own["answer"][0])) & set(exact))
    our_found = len({int(hitter["key"]) for hitter in top_ours["answer"][0]} & set(exact))
    width = max(hitter["upper"] - hitter["lower"] for hitter in top_ours["answer"][0])

    def per_group(result: dict[str, Any]) -> str:
        return f"{result['kilobytes'] * 1024 / GROUPS:,.0f}"

    def ratio(ours: dict[str, Any], own: dict[str, Any]) -> str:
        return f"{ours['seconds'] / own['seconds']:.2f}"

    def less(error: float) -> str:
        return "0" if error == 0 else f"{error:.2%}, {own_error / error:.1f} times less"

    return f"""# In DuckDB

crivo's functions beside DuckDB's own, in DuckDB {duckdb.__version__} from PyPI with {runner.threads} threads. Each query ran in
a process of its own; rounds took turns, and the best time of each counts. Values are integers, which crivo keys by their
decimal text, so that a sketch has the bytes that the command line writes.

Measured {datetime.date.today()} on two cores of AMD EPYC. Repeat with `cargo xtask bench duckdb`, which writes this page.

## How many different?

{ROWS:,} different integers of `range()`. The error is the root of the mean square over {ERROR_GROUPS:,} groups of
{ERROR_ITEMS:,} different values. `crivo_distinct` begins as a list of hashes,
counts exactly up to 1,536 different values, and has 16 KB at most; at an error of 0.003 it has 128 KB at most.

| one group | seconds | this ÷ DuckDB | error |
|---|---:|---:|---|
| `approx_count_distinct` | {own["seconds"]:.2f} | 1.00 | {own_error:.1%} |
| **`crivo_distinct`** | {ours["seconds"]:.2f} | {ratio(ours, own)} | {less(our_error)} |
| **`crivo_distinct(x, 0.003)`** | {sharp["seconds"]:.2f} | {ratio(sharp, own)} | {less(sharp_error)} |

| {GROUPS:,} groups of {ROWS // GROUPS} | seconds | this ÷ DuckDB | error | bytes a group, at the peak |
|---|---:|---:|---|---:|
| `approx_count_distinct` | {many_own["seconds"]:.1f} | 1.00 | {many_own["answer"][1]:.1%} | {per_group(many_own)} |
| **`crivo_distinct`** | {many_ours["seconds"]:.1f} | {ratio(many_ours, many_own)} | {many_ours["answer"][1]:.1%} | {per_group(many_ours)} |

The bytes a group are the growth of the whole process: DuckDB's own table of groups is in both.

## Which most often?

{TOP_ROWS:,} integers up to a million, where the number `n` comes about as often as `1/n`; ten are asked for.

| | seconds | this ÷ DuckDB | of the true ten | counts |
|---|---:|---:|---:|---|
| `approx_top_k` | {top_own["seconds"]:.2f} | 1.00 | {own_found} | none |
| **`crivo_top`** | {top_ours["seconds"]:.2f} | {ratio(top_ours, top_own)} | {our_found} | with certain bounds, at most {width:,} apart |
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("extension")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--before", default="")
    parser.add_argument("--query")
    parser.add_argument("--page", type=Path)
    arguments = parser.parse_args()
    if arguments.query:
        return child(arguments.extension, arguments.threads, arguments.before, arguments.query)
    text = page(Runner(arguments.extension, arguments.threads))
    print(text)
    if arguments.page:
        arguments.page.write_text(text)
    return None


if __name__ == "__main__":
    main()
