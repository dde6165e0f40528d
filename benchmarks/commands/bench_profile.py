"""`crivo profile` beside DuckDB's SUMMARIZE, on CSV and on Parquet, and what its memory depends on.

    cargo xtask bench profile [--write FOLDER] [--small]

Both look at every column of the same file on two threads. SUMMARIZE answers with type, least, greatest, about how many
different values, mean, standard deviation and quartiles; `crivo profile` with that (but for the deviation) and the most
frequent values, a sample, lengths, keys, near-duplicates and where a type changes, each with bounds.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import duckdb
from measure import Contender, Page, argument_parser

PYTHON = sys.executable
# Less often than usual: DuckDB takes ten seconds.
ROUNDS = 5


def draw(stream: int, below: int) -> str:
    """A number that looks random, of row `i`."""
    return f"(hash(i + {stream}) % {below})::BIGINT"


def pick(stream: int, *words: str) -> str:
    return f"{list(words)}[1 + {draw(stream, len(words))}]"


# Twelve columns as tables have them: an id, a moment, a customer, a name, a day, two categories, a truth, whole
# numbers, two floats, and a text.
COLUMNS = f"""
    i AS id,
    TIMESTAMP '2023-01-01' + to_seconds(i * 7) AS created,
    'C' || lpad(({draw(0, 900_000)})::VARCHAR, 7, '0') AS customer,
    {pick(1, "Ana", "Rui", "Eva", "Inês", "Tomás", "Lea", "Jonas", "Mila")} || ' ' ||
        {pick(2, "Prado", "Seixas", "Lobo", "Winter", "Kraft", "Duarte", "Reis", "Falk")} AS name,
    DATE '2023-01-01' + ({draw(3, 700)})::INTEGER AS day,
    ['PT', 'BR', 'DE', 'ES', 'FR', 'AO', 'JP'][1 + {draw(4, 100)} * {draw(5, 7)} // 100] AS country,
    {pick(6, "kitchen", "garden", "toys", "laboratory", "spare parts")} AS category,
    {draw(7, 3)} > 0 AS paid,
    1 + {draw(8, 12)} AS quantity,
    round({draw(9, 1_000_000)} / 100.0, 2) AS price,
    CASE WHEN {draw(10, 10)} > 0 THEN {draw(11, 100_000_000)} / 7.0e5 END AS weight,
    'order ' || {draw(12, 40)} || ' for the ' || {pick(13, "shop", "market", "school")} AS note
"""


def make(folder: Path, rows: int) -> dict[str, Path]:
    """The files, made once: the table, ten times less of it, and one of 500 columns."""
    folder.mkdir(parents=True, exist_ok=True)
    wide = ", ".join(f"hash(i * 500 + {c}) % {10 ** (1 + c % 7)} AS c{c}" for c in range(500))
    jobs = {
        "table.csv": (COLUMNS, rows, "(FORMAT csv)"),
        "table-tenth.csv": (COLUMNS, rows // 10, "(FORMAT csv)"),
        "table.parquet": (COLUMNS, rows, "(FORMAT parquet)"),
        "wide.csv": (wide, rows // 100, "(FORMAT csv)"),
        "wide-tenth.csv": (wide, rows // 1000, "(FORMAT csv)"),
    }
    paths = {}
    for name, (columns, count, options) in jobs.items():
        path = folder / f"profile-{rows}-{name}"
        if not path.exists():
            print(f"making {path.name}", file=sys.stderr, flush=True)
            duckdb.sql(f"COPY (SELECT {columns} FROM range({count}) t(i)) TO '{path}.part' {options}")
            Path(f"{path}.part").rename(path)
        paths[name] = path
    return paths


def duck(path: Path) -> Contender:
    script = f"import duckdb; duckdb.sql('SET threads = 2'); print(len(duckdb.sql(\"SUMMARIZE FROM '{path}'\").fetchall()))"
    return Contender("DuckDB SUMMARIZE", [PYTHON, "-c", script], rounds=ROUNDS)


def main() -> None:
    options = argument_parser("a tenth").parse_args()
    files = make(options.data, 780_000 if options.small else 7_800_000)

    def crivo(path: Path, *more: str) -> Contender:
        command = [str(options.crivo), "profile", "--json", "--threads", "2", *more, str(path)]
        return Contender("crivo profile", command, rounds=ROUNDS)

    page = Page(
        "profile",
        "A whole table at a glance: `crivo profile` beside DuckDB's SUMMARIZE",
        "Wall time and peak memory on two threads, start-up included: DuckDB's in a Python process is about 0.1 s and 50 MB. "
        "Both read every value of 12 columns. SUMMARIZE gives type, least, greatest, different values, mean, deviation and "
        "quartiles; `crivo profile` gives bounds with every answer, and the most frequent values, lengths, a sample, keys, "
        "near-duplicates and changes of type besides.",
        f"best of {ROUNDS} rounds, contenders taking turns, files in the page cache",
    )
    for name in ["table.csv", "table.parquet"]:
        path = files[name]
        page.compare(f"{path.stat().st_size / 1e6:,.0f} MB of {path.suffix[1:].upper()}, 12 columns", [crivo(path), duck(path)])

    table = []
    for label, small, large, more in [
        ("12 columns", "table-tenth.csv", "table.csv", []),
        ("500 columns", "wide-tenth.csv", "wide.csv", []),
        ("500 columns, `--memory 256M`", "wide-tenth.csv", "wide.csv", ["--memory", "256M"]),
    ]:
        peaks = []
        for name in [small, large]:
            run = crivo(files[name], *more)
            run.run_once()
            rows = json.loads(run.output)["rows"]
            peaks.append(run.megabytes)
        table.append(f"| {label} | {rows:,} | {peaks[0]:.1f} | {peaks[1]:.1f} | {peaks[1] / max(peaks[0], 0.1):.2f} |")
    head = ["| table | rows | MB at a tenth | MB | ratio |", "|---|---:|---:|---:|---:|"]
    page.add("Peak memory as files grow", [*head, *table])
    page.write(options.write)


if __name__ == "__main__":
    main()
