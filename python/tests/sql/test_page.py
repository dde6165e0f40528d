"""The examples in SQL of the pages run, and answer what the page says."""

import re

import pytest
from engine import ROOT, connect


@pytest.mark.parametrize(("name", "least"), [("duckdb", 12), ("engines", 4), ("users/sql", 5)])
def test_the_examples_of_the_page_run(name: str, least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    page = (ROOT / f"docs/{name}.md").read_text(encoding="utf-8")
    connection = connect(threads=1)
    checked = 0
    for block in re.findall(r"```sql\n(.*?)```", page, flags=re.DOTALL):
        for statement, expected in re.findall(r"(.+?;)\n((?:-- [^\n]*\n)*)", block, flags=re.DOTALL):
            answer = connection.execute(statement).fetchall()
            if expected:
                found = "".join("-- " + ", ".join(map(str, row)) + "\n" for row in answer)
                assert found == expected, statement
                checked += 1
    assert checked >= least


def test_the_page_has_every_function() -> None:
    page = (ROOT / "docs/duckdb.md").read_text(encoding="utf-8")
    names = connect().execute("SELECT DISTINCT function_name FROM duckdb_functions()").fetchall()
    ours = {name for (name,) in names if name.startswith("crivo_") and "panic" not in name}
    assert len(ours) >= 15 and all(f"`{name}(" in page for name in ours), ours
