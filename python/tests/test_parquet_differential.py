"""Parquet beside pyarrow: the same rows, or crivo refuses.

Valid files of many types, encodings and compressions must be read as pyarrow reads them. Of damaged ones
crivo may refuse more than pyarrow does, but what it reads must be the same.
"""

from __future__ import annotations

import io
import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from command_line import program as program

ROOT = Path(__file__).parents[2]
SEED = int(os.environ.get("CRIVO_TEST_SEED", "0"))
VALID = 60
DAMAGED = 600


def draw_table(draw: random.Random) -> pa.Table:
    rows = draw.choice([0, 1, 7, 100, 1000])

    def some(make: Callable[[], object], null: float) -> list[object]:
        return [None if draw.random() < null else make() for _ in range(rows)]

    def text() -> str:
        return "é" * draw.randrange(4) + str(draw.randrange(50))

    null = draw.choice([0.0, 0.1, 1.0])
    return pa.table(
        {
            "text": pa.array(some(text, null), pa.string()),
            "number": pa.array(some(lambda: draw.randrange(-(2**63), 2**63), null), pa.int64()),
            "small": pa.array(some(lambda: draw.randrange(-100, 100), null), pa.int8()),
            "real": pa.array(some(lambda: draw.uniform(-1e9, 1e9), null), pa.float64()),
            "yes": pa.array(some(lambda: draw.random() < 0.5, null), pa.bool_()),
            "bytes": pa.array(some(lambda: draw.randbytes(draw.randrange(6)), null), pa.binary()),
        }
    )


def write(table: pa.Table, draw: random.Random) -> bytes:
    out = io.BytesIO()
    pq.write_table(
        table,
        out,
        compression=draw.choice(["none", "snappy", "gzip", "zstd"]),
        use_dictionary=draw.random() < 0.5,
        data_page_version=draw.choice(["1.0", "2.0"]),
        row_group_size=draw.choice([10, 300, 10000]),
        data_page_size=draw.choice([64, 4096]),
        store_schema=draw.random() < 0.5,
        write_page_checksum=draw.random() < 0.2,
    )
    return out.getvalue()


def damage(file: bytes, draw: random.Random) -> bytes:
    changed = bytearray(file)
    footer = int.from_bytes(file[-8:-4], "little") + 8
    for _ in range(draw.randrange(1, 4)):
        # Half of the changes are in the footer.
        start = max(len(changed) - footer, 0) if draw.random() < 0.5 else 0
        at = draw.randrange(start, len(changed))
        changed[at] = draw.choice([changed[at] ^ 1 << draw.randrange(8), 0, 0x7F, 0x80, 0xFF])
    return bytes(changed)


def by_crivo(program: Path, path: Path) -> bytes | None:
    """All rows, through the command that copies them; None if it refuses, with a message."""
    command = [str(program), "sample", "-n", "1000000", str(path)]
    run = subprocess.run(command, capture_output=True, timeout=60)
    assert run.returncode in (0, 2), run.stderr
    if run.returncode == 2:
        assert run.stderr.startswith(b"crivo: ") and b"panicked" not in run.stderr, run.stderr
        return None
    return run.stdout


def by_pyarrow(file: bytes) -> pa.Table | None:
    if not file:
        # What crivo writes where there is no row.
        return pa.table({})
    try:
        table = pq.read_table(io.BytesIO(file), use_threads=False)
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, MemoryError):
        return None
    return table


def rows_of(table: pa.Table | None) -> list[tuple[str, str]] | None:
    """Columns as text, because floats that are not numbers equal nothing; none where there is no row."""
    if table is None:
        return None
    if table.num_rows == 0:
        return []
    return [(name, repr(table.column(at).to_pylist())) for at, name in enumerate(table.column_names)]


def test_valid_files_are_read_as_pyarrow_reads_them(program: Path, tmp_path: Path) -> None:
    draw = random.Random(SEED)
    path = tmp_path / "a.parquet"
    for case in range(VALID):
        table = draw_table(draw)
        path.write_bytes(write(table, draw))
        copied = by_crivo(program, path)
        assert copied is not None, f"case {case}"
        assert rows_of(by_pyarrow(copied)) == rows_of(table), f"case {case}"


def test_damaged_files_are_refused_or_read_as_pyarrow_reads_them(program: Path, tmp_path: Path) -> None:
    draw = random.Random(SEED + 1)
    path = tmp_path / "a.parquet"
    compared = 0
    for case in range(DAMAGED):
        file = damage(write(draw_table(draw), draw), draw)
        path.write_bytes(file)
        copied, expected = by_crivo(program, path), by_pyarrow(file)
        if copied is not None and expected is not None:
            assert rows_of(by_pyarrow(copied)) == rows_of(expected), f"case {case}"
            compared += 1
    assert compared > DAMAGED // 20, compared
