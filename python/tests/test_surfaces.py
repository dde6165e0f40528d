"""One column, every surface, the same bytes.

The command line reads the column from each format, compressed or not, on one thread and on four;
Python takes it as a list, a NumPy array and an Arrow column. All of them must write the same file.
"""

import csv
import datetime
import gzip
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import program as program

from crivo import HyperLogLog

ROOT = Path(__file__).parents[2]
PRECISION = 10

COLUMNS: dict[str, list[Any]] = {
    "text": [f'Zé {i % 700}, "{i % 3}"' for i in range(2000)] + ["", None, "linha\nnova"],
    "integers": [i * 7919 % 5003 - 2000 for i in range(3000)] + [2**63 - 1, -(2**63), None],
    "floats": [i / 8 for i in range(1500)] + [0.1, 1e-7, 1e16, -2.5e22, 1.0, -0.0, None],
    "booleans": [True, False, None, True],
    "times": [
        datetime.datetime(2026, 1, 1) + datetime.timedelta(seconds=i * 977, microseconds=i % 5 * 1000)
        for i in range(1200)
    ]
    + [None],
}


def text_of(value: Any) -> str:
    """As most programs write the value into a CSV file."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case datetime.datetime():
            return value.isoformat()
        case _:
            return str(value)


def write_csv(path: Path, values: list[Any], delimiter: str = ",") -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["n", "value"])
        writer.writerows([i, text_of(value)] for i, value in enumerate(values))


def write_tsv(path: Path, values: list[Any]) -> None:
    write_csv(path, values, "\t")


def write_jsonl(path: Path, values: list[Any]) -> None:
    def plain(value: Any) -> Any:
        return value.isoformat() if isinstance(value, datetime.datetime) else value

    path.write_text("".join(json.dumps({"n": i, "value": plain(v)}) + "\n" for i, v in enumerate(values)))


def write_parquet(path: Path, values: list[Any]) -> None:
    table = pa.table({"n": list(range(len(values))), "value": pa.array(values)})
    pq.write_table(table, path, row_group_size=500)


def gzipped(path: Path) -> Path:
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    return packed


def zstandard(path: Path) -> Path:
    packed = path.with_name(path.name + ".zst")
    with pa.CompressedOutputStream(str(packed), "zstd") as stream:
        stream.write(path.read_bytes())
    return packed


WRITERS: dict[str, Callable[[Path, list[Any]], None]] = {
    "csv": write_csv,
    "tsv": write_tsv,
    "jsonl": write_jsonl,
    "parquet": write_parquet,
}


def from_command_line(program: Path, path: Path, threads: int) -> bytes:
    sketch = path.with_name("sketch.crivo")
    options = ["--precision", PRECISION, "--threads", threads, "-o", sketch]
    arguments = ["distinct", "-f", "value", *options, path]
    subprocess.run([str(part) for part in [program, *arguments]], check=True, capture_output=True)
    return sketch.read_bytes()


def from_python(values: Any) -> bytes:
    sketch = HyperLogLog(PRECISION)
    sketch.insert_batch(values)
    return bytes(sketch)


@pytest.mark.parametrize("column", COLUMNS)
def test_every_surface_writes_the_same_file(column: str, program: Path, tmp_path: Path) -> None:
    values = COLUMNS[column]
    expected = from_python(values)
    assert from_python(pa.array(values)) == expected
    present = [value for value in values if value is not None]
    assert from_python(np.array(present)) == expected
    for name, write in WRITERS.items():
        path = tmp_path / f"column.{name}"
        write(path, values)
        files = [path] if name == "parquet" else [path, gzipped(path), zstandard(path)]
        for file in files:
            for threads in (1, 4):
                assert from_command_line(program, file, threads) == expected, (file.name, threads)
