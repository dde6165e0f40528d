"""A notebook shows profiles, comparisons and estimates as HTML; a kernel runs it, as Jupyter does."""

import asyncio
import warnings
from html.parser import HTMLParser
from typing import Any

import pytest

CELLS = [
    """
import crivo
monday = {"city <b>": ["Porto", "Faro", "Porto", None] * 500, "price": [float(n % 80) for n in range(2000)]}
tuesday = {"city <b>": ["Porto", "Faro", "Porto", None] * 500, "price": [n % 80 + 40.0 for n in range(2000)]}
before = crivo.profile(monday)
before
""",
    "crivo.profile(tuesday).compare(before)",
    "before.compare(before)",
    "counter = crivo.HyperLogLog.for_error(0.01)\ncounter.insert_batch(range(100_000))\ncounter.estimate()",
]

ALONE = {"br", "col", "hr", "img"}


class Page(HTMLParser):
    """The texts of a piece of HTML, cell by cell of its tables, and whether every element is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.titles: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in ALONE:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        self.titles += [value for name, value in attributes if name == "title" and value]

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def shown() -> list[dict[str, Any]]:
    """What each cell shows, by the type of the content."""
    with warnings.catch_warnings():
        # The kernel's own packages warn of each other.
        warnings.simplefilter("ignore")
        import nbformat
        from nbclient import NotebookClient

        notebook = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
        notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]  # type: ignore[no-untyped-call]
        client = NotebookClient(notebook, timeout=60, kernel_name="python3")
        asyncio.run(client.async_execute())
    return [cell.outputs[-1]["data"] for cell in notebook.cells]


def test_a_profile_shows_a_row_for_each_column(shown: list[dict[str, Any]]) -> None:
    page = Page(shown[0]["text/html"])
    assert page.open == [] and "2,000 rows, 2 columns" in page.text
    heading, city, price = page.rows
    assert heading[:8] == ["column", "type", "empty", "different", "min", "max", "mean", "sd"]
    assert city[:4] == ["city <b>", "text", "25.0%", "2"] and price[:1] + price[2:3] == ["price", ""]
    assert [float(part) for part in price[3:8]] == pytest.approx([80, 0, 79, 39.5, 23.098], abs=1e-3)
    assert len(city) == len(price) == len(heading)
    assert "<TableProfile: 2000 rows, 2 columns>" in shown[0]["text/plain"]


def test_a_comparison_shows_what_changed(shown: list[dict[str, Any]]) -> None:
    changed, same = Page(shown[1]["text/html"]), Page(shown[2]["text/html"])
    assert changed.open == same.open == []
    assert "Something changed" in changed.text and "Nothing changed" in same.text
    assert {row[0] for row in changed.rows[1:]} == {"price"} and len(same.rows) == 1


def test_an_estimate_shows_its_error_and_its_bounds(shown: list[dict[str, Any]]) -> None:
    page = Page(shown[3]["text/html"])
    (bounds,) = page.titles
    lower, upper = (float(part) for part in bounds.partition(",")[0].split(" to "))
    assert page.open == [] and "±" in page.text and "95 % sure" in bounds
    assert 90_000 < lower < upper < 110_000


def test_colours_are_those_of_the_notebook(shown: list[dict[str, Any]]) -> None:
    for data in shown[:3]:
        html = data["text/html"]
        assert "color:inherit" in html and "currentColor" in html
        assert "#" not in html.replace("&#", "") and "rgb(" not in html and "<script" not in html
