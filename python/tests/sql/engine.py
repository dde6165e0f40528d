"""DuckDB with the extension, and the command line beside it."""

import os
import subprocess
from pathlib import Path
from typing import Any

import duckdb

ROOT = Path(__file__).parents[3]
# `cargo xtask test` builds both and says where they are.
EXTENSION = os.environ.get("CRIVO_DUCKDB", str(ROOT / "target/duckdb/test-extension/crivo.duckdb_extension"))
PROGRAM = os.environ.get("CRIVO_PROGRAM", str(ROOT / "target/debug/crivo"))


def connect(threads: int = 2) -> duckdb.DuckDBPyConnection:
    """A database in memory that has loaded the extension."""
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": threads})
    connection.execute(f"LOAD '{EXTENSION}'")
    return connection


def rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    """Every row of a query."""
    return connection.execute(query).fetchall()


def one(connection: duckdb.DuckDBPyConnection, query: str) -> Any:
    """The one value of a query with one row and one column."""
    ((value,),) = rows(connection, query)
    return value


def crivo(*arguments: str | Path) -> str:
    """What the command line prints."""
    command = [PROGRAM, *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def covers(estimate: dict[str, float], truth: float) -> bool:
    """Whether the bounds hold the truth."""
    return estimate["lower"] <= truth <= estimate["upper"]
