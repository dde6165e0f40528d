"""Whole collections and tables at once: dedup and profile."""

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import crivo
from crivo import InvalidParameterError, KeyTypeError, dedup, near_duplicates, profile

TEXTS = ["one two three four", "five six", "One two, three four!", None, "five six", "seven", None]
KEPT = [0, 1, 3, 5, 6]
SETTINGS: dict[str, Any] = {"shingle": "words:2"}


def test_dedup_keeps_what_near_duplicates_keeps_in_the_kind_it_came() -> None:
    expected = [TEXTS[place] for place in KEPT]
    assert near_duplicates(TEXTS, **SETTINGS).kept.tolist() == KEPT
    assert dedup(TEXTS, **SETTINGS) == expected
    assert dedup(tuple(TEXTS), **SETTINGS) == tuple(expected)
    assert dedup(iter(TEXTS), **SETTINGS) == expected
    assert dedup(pa.array(TEXTS), **SETTINGS).equals(pa.array(expected))
    assert dedup(pa.chunked_array([TEXTS[:3], TEXTS[3:]]), **SETTINGS).to_pylist() == expected
    assert dedup(pl.Series(TEXTS), **SETTINGS).to_list() == expected
    assert dedup(np.array(["a b", "a b", "c d"]), **SETTINGS).tolist() == ["a b", "c d"]
    series = dedup(pd.Series(TEXTS, index=list("abcdefg")), **SETTINGS)
    assert list(series.index) == [list("abcdefg")[place] for place in KEPT]


def test_dedup_of_a_table_keeps_its_rows() -> None:
    columns = {"number": list(range(7)), "text": TEXTS}
    assert dedup(pa.table(columns), column="text", **SETTINGS).column("number").to_pylist() == KEPT
    assert dedup(pd.DataFrame(columns), column="text", **SETTINGS)["number"].tolist() == KEPT
    assert dedup(pl.DataFrame(columns), column="text", **SETTINGS)["number"].to_list() == KEPT


def test_dedup_takes_the_settings_of_near_duplicates() -> None:
    texts = ["a b c d", "a b c d e f", "a b c d e"]
    assert dedup(texts, 0.5, shingle="words:1", keep="longest") == ["a b c d e f"]
    with pytest.raises(InvalidParameterError, match="ids"):
        dedup(texts, ids=[1, 2, 3])
    with pytest.raises(InvalidParameterError, match="threshold"):
        dedup(texts, 2.0)
    with pytest.raises(TypeError):
        dedup(texts, treshold=0.5)


def test_profile_is_the_same_of_every_kind_of_table() -> None:
    columns: dict[str, list[Any]] = {
        "name": ["ana", None, "rui", "ana"],
        "age": [1, 2, 3, 4],
        "share": [0.5, None, 0.25, 1.0],
    }
    table = pa.table(columns)
    tables = [columns, table, table.to_batches()[0], pl.DataFrame(columns), pd.DataFrame(table.to_pandas())]
    for one in tables:
        found = profile(one)
        assert list(found) == ["name", "age", "share"]
        assert [column.missing for column in found.values()] == [1, 0, 1], type(one)
        assert found["name"].column_type == "text" and found["age"].column_type == "integer"
        assert found["share"].max() == 1.0 and found["name"].distinct().value == 2
        assert found["age"].could_be_key() and not found["name"].could_be_key()


def test_profile_leaves_out_what_has_no_text_and_says_so() -> None:
    table = pa.table({"a": [1], "list": [[1, 2]]})
    with pytest.warns(UserWarning, match=r"not all values have a text: 'list' \(key: expected .* found List"):
        assert list(profile(table, memory=1 << 16)) == ["a"]
    with pytest.warns(UserWarning, match=r"'b' \(value 2: key: expected .*, found list \[\] \([^;]*\)\)$"):
        assert list(profile({"a": [1, 2, 3], "b": ["x", 2, []]})) == ["a"]
    with pytest.raises(KeyTypeError, match="table: expected one of pandas"):
        profile([1, 2])
    with pytest.raises(InvalidParameterError, match="'a' twice"):
        profile(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(InvalidParameterError, match="memory"):
        profile(table, memory=5)


class Relation:
    """What streams its rows and can do nothing else, as a relation of DuckDB."""

    def __init__(self, **columns: Any) -> None:
        self.table = pa.table(columns)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


def test_rows_that_are_only_streamed_are_read() -> None:
    relation = Relation(number=list(range(7)), text=TEXTS)
    for rows in (relation, relation.table.to_reader()):
        found = profile(rows)
        assert [column.missing for column in found.values()] == [0, 2]
    for rows in (relation, relation.table.to_reader()):
        kept = dedup(rows, column="text", **SETTINGS)
        assert isinstance(kept, pa.Table) and kept.column("number").to_pylist() == KEPT
    only = Relation(text=TEXTS)
    assert near_duplicates(only, **SETTINGS).kept.tolist() == KEPT
    assert dedup(only, **SETTINGS).column("text").to_pylist() == [TEXTS[place] for place in KEPT]
    assert near_duplicates(only.table.to_reader(), **SETTINGS).kept.tolist() == KEPT
    with pytest.raises(KeyTypeError, match="Struct"):
        near_duplicates(relation)
    with pytest.raises(KeyTypeError, match="table: expected one of pandas"):
        profile(pl.Series(TEXTS))


def test_columns_without_a_value_are_columns() -> None:
    found = profile(pl.DataFrame({"a": [1, 2], "b": [None, None]}))
    assert (found["b"].rows, found["b"].missing, found["b"].column_type) == (2, 2, "empty")
    assert len(dedup(pl.DataFrame({"t": []}), column="t")) == 0
    assert near_duplicates(pl.Series([None, None])).missing == 2


@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view(), pa.large_string()])
def test_dedup_takes_rows_of_every_text_type(kind: Any) -> None:
    texts = pa.array(TEXTS).cast(pa.binary() if kind == pa.binary_view() else pa.string()).cast(kind)
    expected = [texts[place].as_py() for place in KEPT]
    for column in (texts, pa.chunked_array([texts[:3], texts[3:]])):
        kept = dedup(column, **SETTINGS)
        assert kept.type == kind and kept.to_pylist() == expected
    columns = {"number": pa.array(range(7)), "text": texts}
    for table in (pa.table(columns), pa.record_batch(columns)):
        rows = dedup(table, column="text", **SETTINGS)
        assert rows.schema == table.schema and rows.column("number").to_pylist() == KEPT
        assert rows.column("text").to_pylist() == expected


def test_dedup_of_what_has_no_places_is_a_list() -> None:
    texts = ["one two three", "four five"]
    assert sorted(dedup({*texts, "One two, three!"}, **SETTINGS), key=str.lower)[0] == "four five"
    assert dedup(dict.fromkeys(texts).keys(), **SETTINGS) == texts
    assert dedup(dict(enumerate([*texts, *texts])).values(), **SETTINGS) == texts


def test_profile_refuses_columns_of_different_lengths() -> None:
    with pytest.raises(InvalidParameterError, match="found 1 rows in 'a' and 2 in 'b'"):
        profile({"a": [1], "b": [1, 2]})
    with pytest.raises(InvalidParameterError, match="found 3 rows in 'b' and 2 in 'c'"):
        profile({"b": iter([1, None, ""]), "c": pa.array(["x", None])})
    assert profile({"a": [None, ""], "b": np.array([1, 2])})["a"].rows == 2


def test_a_plan_for_a_table_is_refused_at_once() -> None:
    """Warnings are errors here: asking the plan for its columns would fail otherwise."""
    plan = pl.LazyFrame({"a": ["x"]})
    message = r"found a LazyFrame, which has none yet \(\.collect\(\) it first\)"
    for call in (lambda: profile(plan), lambda: dedup(plan), lambda: dedup(plan, column="a")):
        with pytest.raises(KeyTypeError, match=message):
            call()


def test_dedup_names_the_columns_there_are() -> None:
    columns = {"number": [1], "text": ["x"]}
    message = r"column: expected one of the table's \('number', 'text'\), found 'zz'"
    for table in (pa.table(columns), pa.record_batch(columns), pd.DataFrame(columns), pl.DataFrame(columns)):
        with pytest.raises(InvalidParameterError, match=message):
            dedup(table, column="zz")
    with pytest.raises(InvalidParameterError, match="found 'a' 2 times"):
        dedup(pd.DataFrame([["x", "y"]], columns=["a", "a"]), column="a")
    for no_table in (["x"], iter(["x"]), columns):
        with pytest.raises(KeyTypeError, match="table"):
            dedup(no_table, column="text")


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_spark_is_imported_only_by_who_asks_for_it() -> None:
    asked = run(
        "import sys, crivo, crivo.interchange, crivo.distributed; "
        "print('pyspark' in sys.modules, 'pyarrow' in sys.modules)"
    )
    assert asked.stdout == "False False\n", asked.stderr
    missing = run("import sys; sys.modules['pyspark'] = None; import crivo.spark")
    assert (
        "ImportError: crivo.spark needs pyspark, which is not installed: pip install 'crivo[spark]'"
        in missing.stderr
    )
    assert crivo.__all__ == sorted(crivo.__all__, key=str)
