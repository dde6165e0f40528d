"""One table of every type, every engine, the same bytes.

The command line reads the table from a Parquet file, Python from an Arrow table, Polars and pandas hold it
as theirs. Each makes every kind of sketch of every column.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from command_line import program as program
from every_type import NUMBERS, TABLE, expected, fingerprint

import crivo
import crivo.pandas
import crivo.polars
from crivo._kinds import KINDS, sketch_of

ROOT = Path(__file__).parents[2]

COMMANDS: dict[str, list[str]] = {
    "hll": ["distinct"],
    "ull": ["distinct", "--method", "ull"],
    "kmv": ["distinct", "--method", "kmv"],
    "bloom": ["set", "build"],
    "countmin": ["freq"],
    "top": ["top"],
    "kll": ["quantile"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_engine_writes_the_same_bytes(kind: str, program: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.parquet"
    pq.write_table(TABLE, table, row_group_size=150)
    frame: Any = pl.from_arrow(TABLE)
    pandas: Any = TABLE.to_pandas(types_mapper=pd.ArrowDtype)
    fixed = expected().get(kind, {})
    assert kind == "kll" or list(fixed) == TABLE.column_names
    for name in NUMBERS if kind == "kll" else TABLE.column_names:
        sketch = tmp_path / f"{name}.crivo"
        arguments = [*COMMANDS[kind], "-f", name, "-o", sketch, table]
        subprocess.run([str(part) for part in [program, *arguments]], check=True, capture_output=True)
        written = sketch.read_bytes()
        own = sketch_of(TABLE.column(name), kind, {})
        if kind == "kll":
            # The command line draws by the place of rows: the answers agree within their bounds.
            stored, shares = crivo.decode(written), [0.01, 0.25, 0.5, 0.75, 0.99]
            assert own.count == stored.count, name
            for one, other in zip(own.quantiles(shares), stored.quantiles(shares), strict=True):
                assert max(one.lower, other.lower) <= min(one.upper, other.upper), name
            written = bytes(own)
        else:
            assert fingerprint(written) == fixed[name], name
        assert bytes(own) == written, name
        value: Any = pl.col(name)
        assert frame.select(value.crivo.sketch(kind)).item() == written, name
        streamed = frame.lazy().select(value.crivo.sketch(kind)).collect(engine="streaming")
        assert streamed.item() == written, name
        assert pandas[name].crivo.sketch(kind) == written, name


def test_the_names_of_kinds_are_those_that_commands_make() -> None:
    assert tuple(COMMANDS) == KINDS


@pytest.mark.parametrize("engine", ["polars", "pandas"])
def test_a_missing_engine_is_named_with_what_to_install(engine: str) -> None:
    code = f"import sys; sys.modules['{engine}'] = None; import crivo.{engine}"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    message = f"crivo.{engine} needs {engine}, which is not installed: pip install 'crivo[{engine}]'"
    assert message in result.stderr


@pytest.mark.parametrize("engine", ["polars", "pandas"])
def test_a_version_that_was_not_tested_is_named(engine: str) -> None:
    code = f"import {engine}; {engine}.__version__ = '99.1.0'; import crivo.{engine}"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"crivo was tested with {engine} " in result.stderr and "found 99.1.0" in result.stderr


def test_engines_are_imported_only_when_asked_for() -> None:
    code = (
        "import sys, crivo; print([name for name in ('polars', 'pandas', 'datasets') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"
    assert crivo.polars.__doc__ and crivo.pandas.__doc__
