"""Passages and overlap from Python: what the command line finds, for every kind of data."""

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from command_line import program as program

from crivo import (
    InvalidParameterError,
    KeyTypeError,
    benchmark_overlap,
    overlap,
    passages,
    repeated_passages,
)
from crivo.distributed import OverlapFinder

ROOT = Path(__file__).parents[2]
SEED = int(os.environ.get("CRIVO_TEST_SEED", "0"))


def draw_texts(draw: random.Random, count: int) -> list[str]:
    """Texts of random words with sentences that come again, whole or in part."""
    shared = [" ".join(f"s{draw.randrange(500)}" for _ in range(40)) for _ in range(12)]
    texts = []
    for _ in range(count):
        parts = []
        for _ in range(draw.randrange(1, 6)):
            words = draw.choice(shared).split() if draw.random() < 0.5 else []
            own = [f"wörd{draw.randrange(3000)}" for _ in range(draw.randrange(3, 30))]
            start = draw.randrange(0, 10)
            parts.append(" ".join(own + words[start:]).capitalize() + draw.choice([". ", "!\n\n", "? "]))
        texts.append("".join(parts))
    return texts


def run(program: Path, *arguments: object) -> None:
    subprocess.run([str(part) for part in (program, *arguments)], check=True, capture_output=True)


def write(path: Path, texts: list[str]) -> Path:
    path.write_text("".join(json.dumps({"id": n, "text": t}) + "\n" for n, t in enumerate(texts)))
    return path


def read(path: Path) -> list[tuple[int, str]]:
    return [(row["id"], row["text"]) for row in map(json.loads, path.read_text().splitlines())]


@pytest.mark.parametrize("cut", ["words", "sentence", "paragraph", "document"])
def test_the_outcome_is_that_of_the_command_line(cut: Any, program: Path, tmp_path: Path) -> None:
    draw = random.Random(SEED)
    drawn = draw_texts(draw, 315)
    texts, items = drawn[:300], drawn[300:]
    corpus, benchmark = write(tmp_path / "corpus.jsonl", texts), write(tmp_path / "items.jsonl", items)
    out, report = tmp_path / "out.jsonl", tmp_path / "report.tsv"

    options = ["--min-words", 12, "--cut", cut, "--min-left", 9]
    run(program, "passages", corpus, *options, "-o", out, "--report", report)
    found = repeated_passages(texts, min_words=12, cut=cut, min_left=9)
    changed = dict(found.changed)
    assert [(n, changed.get(n, texts[n])) for n in found.kept.tolist()] == read(out)
    rows = [tuple(map(int, line.split("\t"))) for line in report.read_text().splitlines()]
    assert found.passages == rows and len(rows) == len(found) > 100
    assert passages(texts, min_words=12, cut=cut, min_left=9) == [text for _, text in read(out)]

    run(
        program, "overlap", corpus, "--with", benchmark, "--words", 6, "--share", 0.2, "--cut", cut, "-o", out
    )
    run(program, "overlap", corpus, "--with", benchmark, "--words", 6, "--share", 0.2, "--report", report)
    hit = benchmark_overlap(texts, items, words=6, share=0.2, cut=cut)
    changed = dict(hit.changed)
    assert [(n, changed.get(n, texts[n])) for n in hit.kept.tolist()] == read(out)
    lines = [line.split("\t") for line in report.read_text().splitlines()]
    assert hit.hits == [(int(a), int(b), float(share), int(words)) for a, b, share, words in lines]
    assert hit.hits and hit.documents_hit < hit.documents == 300 and hit.items == 15
    assert overlap(texts, items, words=6, share=0.2, cut=cut) == [text for _, text in read(out)]

    finder = OverlapFinder([None, *items], words=6)
    batches = {start: finder.find(texts[start : start + 100], share=0.2, cut=cut) for start in (0, 100, 200)}
    assert hit.hits == [
        (start + text, item - 1, share, run)
        for start, batch in batches.items()
        for text, item, share, run in batch.hits
    ]
    assert hit.kept.tolist() == [
        start + text for start, batch in batches.items() for text in batch.kept.tolist()
    ]
    assert repr(finder) == "<OverlapFinder words=6: 15 items>"


PASSAGE = "a b c d e f g h"
TEXTS = [f"First: {PASSAGE}.", None, f"Then {PASSAGE}, too.", "", f"{PASSAGE}!"]
LEFT = [TEXTS[0], None, "Then , too.", "", "!"]


def test_what_comes_back_is_of_the_kind_that_came() -> None:
    assert passages(TEXTS, min_words=8) == LEFT
    assert passages(tuple(TEXTS), min_words=8) == tuple(LEFT)
    assert passages(iter(TEXTS), min_words=8) == LEFT
    assert passages(np.array(TEXTS, dtype=object), min_words=8).tolist() == LEFT
    assert passages(pl.Series(TEXTS), min_words=8).to_list() == LEFT
    series = passages(pd.Series(TEXTS, index=list("abcde"), dtype="string"), min_words=8)
    assert series.fillna("none").tolist() == [text if text is not None else "none" for text in LEFT]
    text_types = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
    for kind in text_types:
        for column in (pa.array(TEXTS, kind), pa.chunked_array([TEXTS[:2], TEXTS[2:]], kind)):
            left = passages(column, min_words=8)
            assert left.type == kind and left.to_pylist() == LEFT
            table = pa.table({"n": range(5), "text": column})
            left = passages(table, column="text", min_words=8, min_left=1)
            assert left.schema == table.schema and left.column("n").to_pylist() == [0, 1, 2, 3]
    columns = {"n": range(5), "text": TEXTS}
    assert passages(pd.DataFrame(columns), column="text", min_words=8)["text"].tolist()[2] == "Then , too."
    assert passages(pl.DataFrame(columns), column="text", min_words=8)["text"].to_list() == LEFT
    as_bytes = [None if text is None else text.encode() for text in TEXTS]
    left_bytes = [None if text is None else text.encode() for text in LEFT]
    assert passages(as_bytes, min_words=8) == left_bytes
    assert passages(pa.array(as_bytes), min_words=8).to_pylist() == left_bytes
    assert passages(pl.Series(as_bytes), min_words=8).to_list() == left_bytes


def test_a_benchmark_may_be_of_another_kind() -> None:
    items = ["then a b c"]
    table = pa.table({"text": TEXTS})
    for benchmark in (items, pa.table({"text": items}), pl.DataFrame({"text": items}), iter(items)):
        assert overlap(table, benchmark, column="text", words=4).num_rows == 4
    questions = pd.DataFrame({"question": items})
    assert len(overlap(TEXTS, questions, benchmark_column="question", words=4)) == 4


def test_counts_say_what_was_read() -> None:
    found = repeated_passages(TEXTS, min_words=8)
    assert (found.documents, found.missing, found.documents_with_passages) == (3, 2, 2)
    assert found.bytes == sum(len(text or "") for text in TEXTS) and found.bytes_repeated == 2 * len(PASSAGE)
    assert found.guaranteed_words == 8
    assert repr(benchmark_overlap([], [])) == "<BenchmarkOverlap 0 of 0 documents contain 0 of 0 items>"
    nothing = repeated_passages([None, ""])
    assert nothing.kept.tolist() == [0, 1] and nothing.changed == [] and len(nothing) == 0
    twice = f"{PASSAGE}; {PASSAGE}."
    assert len(repeated_passages([twice], min_words=8)) == 0
    assert len(repeated_passages([twice], min_words=8, within=True)) == 1
    assert len(repeated_passages(TEXTS, min_words=8, min_count=4)) == 0


def test_what_is_wrong_is_refused_by_name() -> None:
    wrong: list[tuple[str, Any]] = [("min_count", 1), ("memory", 5), ("cut", "half"), ("threads", -1)]
    for setting, value in wrong:
        with pytest.raises(InvalidParameterError, match=setting.replace("_", ".")):
            passages(TEXTS, **{setting: value})
    with pytest.raises(InvalidParameterError, match="8 to 50000 words, found 3"):
        passages(TEXTS, min_words=3)
    wrong = [("words", 0), ("words", 65), ("share", 0.0), ("share", 1.5), ("cut", "half")]
    for setting, value in wrong:
        with pytest.raises(InvalidParameterError, match=setting):
            overlap(TEXTS, ["x"], **{setting: value})
    with pytest.raises(InvalidParameterError, match="items"):
        overlap(TEXTS, ["x"], items=3)
    with pytest.raises(KeyTypeError, match="text"):
        passages([1, 2])
    with pytest.raises(KeyTypeError, match="put a single text in a list"):
        benchmark_overlap(TEXTS, "x")
    with pytest.raises(InvalidParameterError, match="column: expected one of the table's"):
        passages(pa.table({"text": TEXTS}), column="zz")
