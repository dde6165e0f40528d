"""`crivo distinct` beside wc, sort and DuckDB, on files that it makes first.

    cargo xtask bench rows [--write FOLDER] [--small]

The ratios are what counts. `wc -l` does nothing but find line ends; DuckDB is the fastest general
tool for such questions; `sort -u | wc -l` is what people type.
"""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb
from measure import Contender, Page, argument_parser

PYTHON = sys.executable


def make(folder: Path, scale: float) -> dict[str, Path]:
    """The files, made once: DuckDB writes them from a hash of the row number."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = {name: int(count * scale) for name, count in
            {"lines": 95_000_000, "table": 7_000_000, "long": 40_000, "quoted": 5_000_000, "wide": 60_000}.items()}
    number = "lpad((hash(i) % 10000000000)::VARCHAR, 10, '0')"
    table = """i AS id, hash(i) % 1000000 AS user, 'p' || hash(i + 1) % 5000 AS page, hash(i + 2) % 200 AS country,
        (hash(i + 3) % 1000000) / 100 AS price, hash(i + 4) % 2 = 0 AS paid, hash(i + 5) % 100 AS quantity,
        TIMESTAMP '2026-01-01' + to_seconds(i % 31536000) AS time, md5(i::VARCHAR) AS token,
        'item ' || hash(i + 6) % 90000 AS item, hash(i + 7) % 10000000 AS session, hash(i + 8) % 7 AS shard"""
    wide = ", ".join(f"hash(i + {c}) % 1000 AS c{c}" for c in range(500))
    plain = "(FORMAT csv, HEADER false)"
    jobs = {
        "lines.txt": (f"SELECT {number} FROM range({rows['lines']}) t(i)", plain),
        "table.csv": (f"SELECT {table} FROM range({rows['table']}) t(i)", "(FORMAT csv)"),
        "table.parquet": (f"SELECT {table} FROM range({rows['table']}) t(i)", "(FORMAT parquet)"),
        "long.txt": (f"SELECT repeat(md5(i::VARCHAR), 320) FROM range({rows['long']}) t(i)", plain),
        "quoted.csv": (f"SELECT {table} FROM range({rows['quoted']}) t(i)", "(FORMAT csv, FORCE_QUOTE *)"),
        "wide.csv": (f"SELECT {wide} FROM range({rows['wide']}) t(i)", "(FORMAT csv)"),
        "lines.txt.gz": (f"SELECT {number} FROM range({rows['lines'] // 5}) t(i)",
                         "(FORMAT csv, HEADER false, COMPRESSION gzip)"),
        "small.txt": (f"SELECT {number} FROM range(90) t(i)", plain),
    }
    for name, (query, options) in jobs.items():
        if not (folder / name).exists():
            print(f"making {name}", file=sys.stderr, flush=True)
            duckdb.sql(f"COPY ({query}) TO '{folder / (name + '.part')}' {options}")
            (folder / (name + ".part")).rename(folder / name)
    return {name: folder / name for name in jobs}


def crivo(program: Path, *arguments: str | Path) -> Contender:
    return Contender("crivo distinct", [str(program), "distinct", "--json", *map(str, arguments)])


def duck(query: str) -> Contender:
    script = f"import duckdb; duckdb.sql('SET threads = 2'); print(duckdb.sql({query!r}).fetchall()[0][0])"
    return Contender("DuckDB approx_count_distinct", [PYTHON, "-c", script])


def wc(path: Path) -> Contender:
    return Contender("wc -l", ["wc", "-l", str(path)])


def main() -> None:
    options = argument_parser("a hundredth").parse_args()
    files = make(options.data, 0.01 if options.small else 1.0)
    program = options.crivo
    page = Page(
        "rows",
        "Rows in: `crivo distinct` over whole files",
        "Wall time of whole commands on two threads, start-up included. DuckDB runs in a Python process; its start-up "
        "(about 0.1 s) is in its figure. Peak memory is the high-water mark of the one process, read every millisecond.",
    )

    def size(name: str) -> str:
        return f"{files[name].stat().st_size / 1e6:,.0f} MB"

    lines = files["lines.txt"]
    # A delimiter that does not occur: the line is the value.
    columns = "columns = {'v': 'VARCHAR'}, header = false, delim = '|', auto_detect = false"
    page.compare(f"{size('lines.txt')} of 11-byte lines", [
        crivo(program, "--threads", "2", lines),
        wc(lines),
        duck(f"SELECT approx_count_distinct(v) FROM read_csv('{lines}', {columns})"),
        Contender("sort -u | wc -l", ["sh", "-c", f"LC_ALL=C sort --parallel=2 -S 4G -u '{lines}' | wc -l"], rounds=1, alone=False),
    ])
    table = files["table.csv"]
    page.compare(f"One column of a {size('table.csv')} CSV with 12 columns", [
        crivo(program, "--threads", "2", "-f", "user", table),
        duck(f"SELECT approx_count_distinct(user) FROM '{table}'"),
        wc(table),
    ])
    parquet = files["table.parquet"]
    page.compare(f"The same column from Parquet, {size('table.parquet')}", [
        crivo(program, "--threads", "2", "-f", "user", parquet),
        duck(f"SELECT approx_count_distinct(user) FROM '{parquet}'"),
    ])
    for name, arguments, job in [
        ("long.txt", [], "10 KB lines"),
        ("quoted.csv", ["-f", "user"], "every field quoted"),
        ("wide.csv", ["-f", "c250"], "500 columns"),
    ]:
        page.compare(f"{size(name)}: {job}", [crivo(program, "--threads", "2", *arguments, files[name]), wc(files[name])])
    packed = files["lines.txt.gz"]
    page.compare(f"{size('lines.txt.gz')} of gzip", [
        crivo(program, "--threads", "2", packed),
        Contender("zcat | wc -l", ["sh", "-c", f"zcat '{packed}' | wc -l"], alone=False),
    ])
    page.compare("A file of 1 KB: start-up", [crivo(program, files["small.txt"]), wc(files["small.txt"])])
    page.write(options.write)


if __name__ == "__main__":
    main()
