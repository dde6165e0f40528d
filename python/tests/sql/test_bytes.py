"""Sketches from SQL have the bytes that the command line writes for the same column."""

from pathlib import Path

import duckdb
import pytest
from engine import connect, crivo, one

TYPES = {
    "text": "CASE WHEN range % 11 = 0 THEN '' ELSE 'São ' || range % 700 END",
    "flag": "range % 2 = 0",
    "tiny": "CAST(range % 100 - 50 AS TINYINT)",
    "small": "CAST(range % 60000 - 30000 AS SMALLINT)",
    "whole": "CAST(range * 70001 % 4000000000 - 2000000000 AS INTEGER)",
    "big": "CASE WHEN range % 2 = 0 THEN range * 1234567890123 ELSE -range END",
    "utiny": "CAST(range % 200 AS UTINYINT)",
    "usmall": "CAST(range % 60000 AS USMALLINT)",
    "uwhole": "CAST(range * 70001 % 4000000000 AS UINTEGER)",
    "ubig": "CAST(18446744073709551615 - range AS UBIGINT)",
    "float": "CASE WHEN range % 13 = 0 THEN 'NaN'::FLOAT ELSE CAST(range / 7.0 AS FLOAT) END",
    "double": "CASE WHEN range % 13 = 0 THEN 'inf'::DOUBLE ELSE CAST(range / 7e9 - 1e16 / (range + 1) AS DOUBLE) END",
    "cents": "CAST((range - 500) / 100.0 AS DECIMAL(9, 2))",
    "money": "CAST((range - 500) / 1000.0 AS DECIMAL(18, 3))",
    "exact": "CAST((range - 500) AS DECIMAL(38, 10)) / 7",
    "day": "DATE '1969-01-01' + CAST(range AS INTEGER)",
    "clock": "TIME '00:00:01' + INTERVAL (range * 37) SECOND + INTERVAL (range % 3) MICROSECOND",
    "moment": "TIMESTAMP '1969-12-31 23:59:00' + INTERVAL (range * 500) MILLISECOND",
    "moment_ms": "CAST(TIMESTAMP '2024-02-29 12:00:00' + INTERVAL (range * 7) MILLISECOND AS TIMESTAMP_MS)",
    "moment_ns": "CAST(TIMESTAMP '2024-02-29 12:00:00' + INTERVAL (range * 7) MICROSECOND AS TIMESTAMP_NS)",
    "zoned": "CAST(TIMESTAMP '2024-02-29 12:00:00' + INTERVAL (range) HOUR AS TIMESTAMPTZ)",
    "bytes": "CASE WHEN range % 5 = 0 THEN '\\xFF\\x00'::BLOB ELSE encode('b' || range) END",
    "choice": "CASE range % 3 WHEN 0 THEN 'red' WHEN 1 THEN 'green' ELSE 'blue' END::ENUM('red', 'green', 'blue')",
}

# Every ninth value is missing.
COLUMNS = ", ".join(f"CASE WHEN range % 9 > 0 THEN {value} END AS {name}" for name, value in TYPES.items())


def connect_in_sao_paulo() -> duckdb.DuckDBPyConnection:
    """A connection whose time zone is not UTC: a moment is the same key everywhere."""
    connection = connect()
    connection.execute("SET timezone = 'America/Sao_Paulo'")
    return connection


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of every type."""
    path = tmp_path_factory.mktemp("sql") / "types.parquet"
    connection = connect_in_sao_paulo()
    connection.execute(f"COPY (SELECT {COLUMNS} FROM range(5000)) TO '{path}' (FORMAT parquet)")
    return path


@pytest.mark.parametrize("name", TYPES)
def test_every_type_has_the_keys_of_the_command_line(name: str, table: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.crivo"
    crivo("distinct", table, "-f", name, "-o", file)
    connection = connect_in_sao_paulo()
    made = f"SELECT crivo_sketch({name}, 'hll') FROM (SELECT {COLUMNS} FROM range(5000))"
    assert one(connection, made) == file.read_bytes()
    assert one(connection, f"SELECT crivo_sketch({name}, 'hll') FROM '{table}'") == file.read_bytes()


def test_hugeints_have_the_keys_of_their_digits(tmp_path: Path) -> None:
    numbers = [7, -(2**127), 2**127 - 1, 10**30, -(10**19), 0]
    lines, file = tmp_path / "lines", tmp_path / "x.crivo"
    lines.write_text("".join(f"{number}\n" for number in numbers))
    crivo("distinct", lines, "-o", file)
    values = ", ".join(f"('{number}'::HUGEINT)" for number in numbers)
    connection = connect()
    assert one(connection, f"SELECT crivo_sketch(x, 'hll') FROM (VALUES {values}) t(x)") == file.read_bytes()
    unsigned = "SELECT crivo_distinct(x).value FROM (VALUES (340282366920938463463374607431768211455::UHUGEINT)) t(x)"
    assert one(connection, unsigned) == 1.0


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        ("hll", ["distinct"]),
        ("ull", ["distinct", "--method", "ull"]),
        ("kmv", ["distinct", "--method", "kmv"]),
        ("bloom", ["set", "build"]),
        ("countmin", ["freq"]),
        ("top", ["top"]),
    ],
)
@pytest.mark.parametrize("rows", [300, 30_000])
def test_every_kind_has_the_bytes_of_its_command(
    kind: str, command: list[str], rows: int, tmp_path: Path
) -> None:
    """Of `top` while it counts all values exactly."""
    values = "range" if kind != "top" else "range % 5000"
    table, file = tmp_path / "t.parquet", tmp_path / "x.crivo"
    connection = connect()
    connection.execute(f"COPY (SELECT {values} x FROM range({rows})) TO '{table}' (FORMAT parquet)")
    crivo(*command, table, "-f", "x", "-o", file)
    assert one(connection, f"SELECT crivo_sketch(x, '{kind}') FROM '{table}'") == file.read_bytes()


def test_few_numbers_have_the_bytes_of_the_command_line(tmp_path: Path) -> None:
    """Beyond 256 numbers the coins of a sketch depend on which thread saw which rows, there and here."""
    table, file = tmp_path / "t.parquet", tmp_path / "x.crivo"
    connection = connect(threads=1)
    connection.execute(
        f"COPY (SELECT CAST(range * 37 % 251 / 100 AS DECIMAL(9, 2)) x FROM range(250)) TO '{table}'"
    )
    crivo("quantile", table, "-f", "x", "-o", file)
    assert one(connection, f"SELECT crivo_sketch(x, 'kll') FROM '{table}'") == file.read_bytes()


def test_the_command_line_reads_what_sql_has_made(tmp_path: Path) -> None:
    file = tmp_path / "users.crivo"
    file.write_bytes(one(connect(), "SELECT crivo_sketch('user' || range, 'hll') FROM range(1000)"))
    assert "HyperLogLog" in crivo("show", file)


def test_sketches_of_integer_keys_are_asked_by_integers(tmp_path: Path) -> None:
    lines, file = tmp_path / "lines", tmp_path / "x.crivo"
    lines.write_text("".join(f"{number}\n" for number in range(1000)))
    crivo("set", "build", lines, "--keys", "int", "--items", "1000", "-o", file)
    connection = connect()
    connection.execute(f"CREATE TABLE s AS SELECT content s FROM read_blob('{file}')")
    assert one(connection, "SELECT crivo_contains(s, 17) AND crivo_contains(s, '0017') FROM s")
    with pytest.raises(Exception, match="an integer, because the sketch was made of integers"):
        one(connection, "SELECT crivo_contains(s, 'seventeen') FROM s")
