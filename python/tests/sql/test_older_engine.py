"""One binary for several versions of DuckDB: the older one has the same answers and the same bytes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
from engine import EXTENSION, ROOT, connect, one

# `cargo xtask test` installs it.
OLDER = os.environ.get("CRIVO_DUCKDB_OLDER", str(ROOT / "target/duckdb-older"))

SKETCH = "SELECT hex(crivo_sketch('user ' || range % 700, 'hll')) FROM range(5000)"
QUERIES = [
    SKETCH,
    "SELECT hex(crivo_merge(s)) FROM (SELECT crivo_sketch(range, 'ull') s FROM range(9000) GROUP BY range % 7)",
    "SELECT crivo_distinct(range)::VARCHAR FROM range(1000)",
    "SELECT crivo_top('key ' || CAST(sqrt(range) AS INT), 3)::VARCHAR FROM range(2000)",
    "SELECT list(d ORDER BY k)::VARCHAR FROM "
    "(SELECT range % 5 k, crivo_distinct(range) d FROM range(1000) GROUP BY ALL)",
]

ASK = """
import duckdb, json, sys
extension, queries = json.load(sys.stdin)
connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
connection.execute(f"LOAD '{extension}'")
answers = [connection.execute(query).fetchone()[0] for query in queries]
try:
    connection.execute("SELECT crivo_estimate('no sketch'::BLOB)").fetchall()
except duckdb.Error as error:
    answers.append(str(error))
print(json.dumps([duckdb.__version__, answers]))
"""


def ask_older(queries: list[str]) -> Any:
    environment = {**os.environ, "PYTHONPATH": OLDER}
    given = json.dumps([EXTENSION, queries])
    ran = subprocess.run(
        [sys.executable, "-c", ASK], input=given, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_the_older_engine_has_the_same_answers() -> None:
    assert Path(OLDER, "duckdb").is_dir(), "run through `cargo xtask test`, which installs it"
    version, answers = ask_older([*QUERIES, "SELECT crivo_version()"])
    assert version.startswith("1.4.") and not duckdb.__version__.startswith("1.")
    *same, named, refused = answers
    connection = connect()
    assert same == [one(connection, query) for query in QUERIES]
    assert f"v{version}" in named and "not tested" not in named
    assert "magic" in refused
