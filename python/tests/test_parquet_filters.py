"""Filters inside of Parquet files, both ways beside DuckDB, which writes and asks them too."""

import json
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import program as program

NUMBERS = [number * 13 for number in range(4_000)]
TABLE = pa.table(
    {
        "text": [f"kéy {number}" if number % 9 else None for number in NUMBERS],
        "int": pa.array(NUMBERS, pa.int64()),
        "small": pa.array([number % 1_000 for number in NUMBERS], pa.int32()),
        "unsigned": pa.array([2**64 - 1 - number for number in NUMBERS], pa.uint64()),
        "float": pa.array([number / 8 for number in NUMBERS], pa.float64()),
        "date": pa.array([number % 20_000 for number in NUMBERS], pa.date32()),
    }
)


def run(program: Path, *arguments: Any) -> subprocess.CompletedProcess[str]:
    command = [str(part) for part in (program, *arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def members(program: Path, file: Path, column: str, keys: list[str]) -> list[bool]:
    ran = run(program, "set", "has", file, "-f", column, "--json", "--", *keys)
    assert ran.returncode in (0, 1), ran.stderr
    answers = json.loads(ran.stdout)["answers"]
    assert [answer["key"] for answer in answers] == keys
    return [answer["member"] for answer in answers]


def probed(file: Path, column: str, value: Any, kind: str) -> bool:
    """Whether DuckDB must read some row group for the value."""
    asked = f"SELECT bloom_filter_excludes FROM parquet_bloom_probe('{file}', '{column}', $1::{kind})"
    excluded = duckdb.execute(asked, [str(value)]).fetchall()
    assert excluded
    return not all(row[0] for row in excluded)


KINDS = {
    "text": "VARCHAR",
    "int": "BIGINT",
    "small": "INTEGER",
    "unsigned": "UBIGINT",
    "float": "DOUBLE",
}


@pytest.mark.parametrize("how", ["set build", "filter"])
def test_duckdb_asks_what_is_written(program: Path, tmp_path: Path, how: str) -> None:
    source, file = tmp_path / "table.parquet", tmp_path / "filtered.parquet"
    pq.write_table(TABLE, source, row_group_size=1_500)
    names = ",".join(TABLE.column_names)
    if how == "filter":
        ran = run(program, "filter", "true", source, "-o", file, "--parquet-filter", names, "--fpr", "2%")
    else:
        ran = run(program, "set", "build", "--parquet-filter", "-f", names, source, "-o", file, "--fpr", "2%")
    assert ran.returncode == 0, ran.stderr
    assert pq.read_table(file).equals(TABLE)
    for column, kind in KINDS.items():
        values = TABLE.column(column).to_pylist()[::97]
        inside = [str(value) for value in values if value is not None]
        other = [f"kéy {number}" if column == "text" else f"{number}" for number in range(7, 700, 9)]
        answers = members(program, file, column, [*inside, *other])
        assert all(answers[: len(inside)]), column
        assert answers[len(inside) :] == [probed(file, column, value, kind) for value in other], column
        if column != "small":
            assert sum(answers[len(inside) :]) < len(other), column
    assert members(program, file, "date", ["1970-01-14", "2300-01-01"]) == [True, False]


def test_filters_of_duckdb_are_asked(program: Path, tmp_path: Path) -> None:
    file = tmp_path / "duckdb.parquet"
    # DuckDB writes filters of columns that have a dictionary.
    duckdb.sql(
        "COPY (SELECT 'user ' || (range * 7 % 1009) AS user, (range % 900)::INTEGER AS number, "
        f"range * 1.5 AS amount FROM range(40000)) TO '{file}' (FORMAT parquet, ROW_GROUP_SIZE 10000)"
    )
    users = [f"user {number}" for number in range(0, 1009, 20)]
    absent = [f"user {number}" for number in range(5000, 5900)]
    answers = members(program, file, "user", [*users, *absent])
    assert all(answers[: len(users)])
    assert answers[len(users) :] == [probed(file, "user", user, "VARCHAR") for user in absent]
    assert sum(answers[len(users) :]) < 100
    asked = run(program, "set", "has", file, "-f", "number", "899", "900")
    assert (asked.returncode, asked.stdout.splitlines()[1]) == (1, "900  no, certainly")
    assert "has no filter" in run(program, "set", "has", file, "-f", "amount", "1").stderr
