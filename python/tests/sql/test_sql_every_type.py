"""The sketches of one table of every type, from SQL: the bytes of every other surface."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from engine import connect, one
from every_type import TABLE, expected, fingerprint

KINDS = expected()


@pytest.mark.parametrize("kind", KINDS)
def test_the_table_of_every_type_has_the_same_bytes(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "table.parquet"
    pq.write_table(TABLE, file, row_group_size=150)
    connection = connect()
    found = {
        name: fingerprint(one(connection, f"SELECT crivo_sketch(\"{name}\", '{kind}') FROM '{file}'"))
        for name in TABLE.column_names
    }
    assert found == KINDS[kind]
