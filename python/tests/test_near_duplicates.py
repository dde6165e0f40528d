"""Near-duplicates in one call, against all pairs compared exactly."""

import copy
import json
import pickle
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from columns import refused
from command_line import program as program
from test_threads import lets_others_run

from crivo import Bands, CrivoError, KeyTypeError, NearDuplicates, jaccard, near_duplicates, shingles

GENERATOR = random.Random(5)
WORDS = [f"w{i}" for i in range(500)]


def changed(words: list[str], places: int) -> list[str]:
    other = list(words)
    for _ in range(places):
        other[GENERATOR.randrange(len(other))] = GENERATOR.choice(WORDS)
    return other


ORIGINALS = [[GENERATOR.choice(WORDS) for _ in range(100)] for _ in range(60)]
TEXTS = [" ".join(words) for words in ORIGINALS]
TEXTS += [" ".join(changed(words, n % 5)) for n, words in enumerate(ORIGINALS)]
GENERATOR.shuffle(TEXTS)


def truth(texts: list[str], kind: str, threshold: float) -> list[tuple[int, int, float]]:
    sets = [shingles(text, kind) for text in texts]
    pairs = []
    for one in range(len(texts)):
        for other in range(one + 1, len(texts)):
            similarity = jaccard(sets[one], sets[other], keys="hash")
            if similarity is not None and similarity >= threshold:
                pairs.append((one, other, similarity))
    return pairs


# With one row a band every pair that shares a slot is a candidate: nothing can be missed.
SURE = Bands(128, 1)


@pytest.mark.parametrize("kind", ["words:2", "words:5", "chars:9"])
def test_all_pairs_are_found_with_their_exact_similarity(kind: str) -> None:
    expected = truth(TEXTS, kind, 0.6)
    assert 20 < len(expected) < 70
    found = near_duplicates(TEXTS, 0.6, shingle=kind, bands=SURE)
    assert found.pairs == expected
    assert found.pair_positions.tolist() == [[one, other] for one, other, _ in expected]
    assert found.similarities.tolist() == [similarity for _, _, similarity in expected]
    assert (found.documents, found.missing, found.bands) == (120, 0, SURE)
    assert found.compared >= sum(similarity < 1 for _, _, similarity in expected)


def test_usual_bands_miss_few_and_say_so() -> None:
    expected, found = truth(TEXTS, "words:5", 0.8), near_duplicates(TEXTS)
    assert set(found.pairs) <= set(expected)
    assert len(expected) - len(found.pairs) <= found.expected_missed.upper <= 5
    assert found.bands == Bands.for_threshold(0.8)


def test_clusters_and_what_is_kept() -> None:
    texts = ["a b c d e f g h i j", "x", "b c d e f g h i j k", "c d e f g h i j k l", "x", "nothing like it"]
    settings: dict[str, Any] = {"threshold": 0.7, "shingle": "words:1", "bands": SURE}
    chains = near_duplicates(texts, linking="chains", **settings)
    assert [pair[:2] for pair in chains.pairs] == [(0, 2), (1, 4), (2, 3)]
    assert chains.clusters.tolist() == [0, 1, 0, 0, 1, 5]
    assert chains.kept.tolist() == [0, 1, 5]
    around = near_duplicates(texts, **settings)
    assert around.clusters.tolist() == [0, 1, 0, 3, 1, 5]
    longer = [*texts[:2], texts[2] + " !!!", *texts[3:]]
    longest = near_duplicates(longer, keep="longest", **settings)
    assert longest.clusters.tolist() == [2, 1, 2, 2, 1, 5]
    # The ends of the chain were compared and are not near-duplicates: there is no witness for the last one.
    assert chains.removed == [(2, 0, 9 / 11), (4, 1, 1.0)]
    assert around.removed == [(2, 0, 9 / 11), (4, 1, 1.0)]
    assert longest.removed == [(0, 2, 9 / 11), (3, 2, 9 / 11), (4, 1, 1.0)]


def kept_by_model(
    pairs: list[tuple[int, int, float]], order: list[int]
) -> tuple[list[int], list[tuple[int, int, float]]]:
    """The text that is kept in the place of each, and the certificate, if texts are taken in an order."""
    alike: dict[int, dict[int, float]] = {place: {} for place in order}
    for one, other, similarity in pairs:
        alike[one][other] = alike[other][one] = similarity
    rank = {place: number for number, place in enumerate(order)}
    kept = {place: place for place in order}
    for place in order:
        if kept[place] == place:
            for other in alike[place]:
                if kept[other] == other and rank[other] > rank[place]:
                    kept[other] = place
    removed = [
        (place, kept[place], alike[place][kept[place]]) for place in sorted(order) if kept[place] != place
    ]
    return [kept[place] for place in range(len(order))], removed


@pytest.mark.parametrize("keep", ["first", "longest"])
@pytest.mark.parametrize("named", [False, True])
def test_the_certificate_is_that_of_all_pairs(keep: Any, named: bool) -> None:
    # Some contents several times, and copies that are longer than what they are copies of.
    texts = [
        *TEXTS,
        *TEXTS[::9],
        *(f"{text} and {place} more words" for place, text in enumerate(TEXTS[::4])),
    ]
    order = list(range(len(texts)))
    if keep == "longest":
        order.sort(key=lambda place: (-len(texts[place].encode()), place))
    clusters, removed = kept_by_model(truth(texts, "words:5", 0.6), order)
    assert len(removed) > 40
    ids = [f"text {place}" for place in range(len(texts))] if named else None
    found = near_duplicates(texts, 0.6, keep=keep, ids=ids, bands=SURE)
    assert found.clusters.tolist() == clusters
    if ids is not None:
        removed_ids = [(ids[gone], ids[stays], similarity) for gone, stays, similarity in removed]
        assert found.removed == removed_ids
    else:
        assert found.removed == removed
        assert [gone for gone, _, _ in removed] == sorted(set(range(len(texts))) - set(found.kept.tolist()))
    assert (found.not_listed.value, found.not_listed.certain) == (0.0, True)


@pytest.mark.parametrize("keep", ["first", "longest"])
def test_the_command_line_tells_the_same(program: Path, tmp_path: Path, keep: Any) -> None:
    common = " ".join(f"word{number}" for number in range(60))
    texts = [*TEXTS, *(f"{common} and number {number}" for number in range(600)), *TEXTS[::11]]
    lines = [json.dumps({"id": f"n{place}", "text": text}) for place, text in enumerate(texts)]
    (tmp_path / "docs.jsonl").write_text("\n".join(lines) + "\n")
    arguments = ["--threshold", "0.6", "--keep", keep, "--pairs", "pairs.tsv", "--removed", "removed.tsv"]
    command = [program, "dedup", "docs.jsonl", *arguments, "-o", "clean.jsonl", "--json"]
    run = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    report = json.loads(run.stdout)
    found = near_duplicates(texts, 0.6, keep=keep, ids=[f"n{place}" for place in range(len(texts))])

    def rows(name: str) -> list[tuple[str, str, float]]:
        lines = (tmp_path / name).read_text().splitlines()
        return [(one, other, float(similarity)) for one, other, similarity in map(str.split, lines)]

    assert rows("pairs.tsv") == found.pairs and rows("removed.tsv") == found.removed
    assert (report["removed"], report["kept"]) == (len(found.removed), len(found.kept))
    for name in ("not_listed", "expected_missed"):
        told, answer = report[name], getattr(found, name)
        assert [told["value"], told["lower"], told["upper"]] == [answer.value, answer.lower, answer.upper]
    assert found.not_listed.value > 1000


def test_pairs_of_a_very_large_cluster_are_counted_even_if_they_are_not_listed() -> None:
    common = " ".join(f"word{number}" for number in range(60))
    texts = [f"{common} and number {number}" for number in range(700)]
    pairs = 700 * 699 // 2
    found = near_duplicates(texts)
    assert 0 < len(found.pairs) < pairs / 2
    assert len(found.pairs) + found.not_listed.lower <= pairs
    assert len(found.pairs) + found.not_listed.upper + found.expected_missed.upper >= pairs
    assert not found.not_listed.certain
    # Removal does not depend on the pairs that are not listed.
    assert [row[:2] for row in found.removed] == [(place, 0) for place in range(1, 700)]
    every = near_duplicates(texts, all_pairs=True)
    assert (len(every.pairs), every.not_listed.upper) == (pairs, 0.0)
    # Of many copies the certificate has each, though pairs have them with the first only.
    copies = near_duplicates(["the same words again and again"] * 600)
    assert (len(copies.pairs), copies.not_listed.value) == (599, 600 * 599 / 2 - 599)
    assert copies.removed == [(place, 0, 1.0) for place in range(1, 600)]


def test_what_stands_in_a_longer_text_goes() -> None:
    page = " ".join(f"w{number}" for number in range(60))
    texts = [
        page,
        page + " " + " ".join(f"c{number}" for number in range(90)),
        "another text that is alone here",
    ]
    found = near_duplicates(texts, measure="containment")
    assert found.pairs == [(0, 1, 1.0)]
    assert found.kept.tolist() == [1, 2]
    assert near_duplicates(texts).pairs == []
    assert refused(near_duplicates, texts, measure="containment", keep="first")
    assert refused(near_duplicates, texts, measure="containment", linking="chains")
    assert refused(near_duplicates, texts, measure="containment", fast=True)


COLUMNS: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "generator": lambda texts: (text for text in texts),
    "bytes": lambda texts: [text and text.encode() for text in texts],
    "string": lambda texts: pa.array(texts),
    "large_string": lambda texts: pa.array(texts, pa.large_string()),
    "string_view": lambda texts: pa.array(texts, pa.string_view()),
    "binary": lambda texts: pa.array([text and text.encode() for text in texts], pa.binary()),
    "dictionary": lambda texts: pa.array(texts).dictionary_encode(),
    "chunks": lambda texts: pa.chunked_array([texts[:50], [], texts[50:]]),
    "column of a table": lambda texts: pa.table({"text": texts})["text"],
    "sliced": lambda texts: pa.array(["x y z", *texts, "x y z"])[1:-1],
    "polars": pl.Series,
    "pandas": pd.Series,
    "objects": lambda texts: np.array(texts, dtype=object),
}


@pytest.mark.parametrize("column", COLUMNS)
def test_every_kind_of_column_gives_the_same_answer(column: str) -> None:
    texts = [*TEXTS[:70], None, *TEXTS[70:], None, "á b", "short", "short"]
    expected = near_duplicates(texts, 0.6)
    found = near_duplicates(COLUMNS[column](texts), 0.6)
    assert found.pairs == expected.pairs
    assert found.clusters.tolist() == expected.clusters.tolist()
    assert (found.documents, found.missing, found.too_short) == (123, 2, 3)


def test_missing_texts_are_like_nothing() -> None:
    texts: Any = [None, "a b", None, float("nan"), "a b"]
    found = near_duplicates(texts, shingle="words:1")
    assert found.pairs == [(1, 4, 1.0)]
    assert found.clusters.tolist() == [0, 1, 2, 3, 1]
    assert found.kept.tolist() == [0, 1, 2, 3]
    assert (found.documents, found.missing) == (2, 3)
    empty = near_duplicates([])
    assert empty.pairs == [] and len(empty.kept) == 0 and empty.pair_positions.shape == (0, 2)


def test_ids_name_the_pairs() -> None:
    texts = ["a b c", "d e f", "a b c"]
    for ids in (["x", "y", "z"], np.array(["x", "y", "z"]), pa.array(["x", "y", "z"]), iter("xyz")):
        assert near_duplicates(texts, shingle="words:2", ids=ids).pairs == [("x", "z", 1.0)]
    assert near_duplicates(texts, shingle="words:2", ids=[(1, 2), None, 3.5]).pairs == [((1, 2), 3.5, 1.0)]
    message = "number of ids: expected 3, one for each text, found 2"
    assert refused(near_duplicates, texts, ids="ab") == message


def test_ids_are_different() -> None:
    texts = ["a b c", "d e f", "a b c"]
    assert (
        refused(near_duplicates, texts, ids=["x", "y", "x"])
        == "ids: expected a different one for each text, found 'x' again at 2"
    )
    assert "found None again at 1" in refused(near_duplicates, texts, ids=[None, None, None])
    assert "found list at 0" in refused(near_duplicates, texts, ids=[[1], [2], [3]])


class Unlucky:
    def __hash__(self) -> int:
        raise RuntimeError("no hash today")


def test_what_an_id_raises_comes_through() -> None:
    with pytest.raises(RuntimeError, match="no hash today"):
        near_duplicates(["a"], ids=[Unlucky()])


def parts(found: NearDuplicates) -> list[Any]:
    names = [name for name in dir(found) if not name.startswith("_")]
    values = [getattr(found, name) for name in names]
    return [(value.dtype, value.tolist()) if isinstance(value, np.ndarray) else value for value in values]


@pytest.mark.parametrize("named", [False, True])
def test_what_was_found_survives_a_pickle(named: bool) -> None:
    texts = [*TEXTS, None, "short"]
    ids = [("id", place) for place in range(len(texts))] if named else None
    for found in (near_duplicates(texts, 0.6, ids=ids), near_duplicates([])):
        copies = [pickle.loads(pickle.dumps(found, protocol)) for protocol in range(2, 6)]
        for other in [*copies, copy.copy(found), copy.deepcopy(found)]:
            assert parts(other) == parts(found)
            assert repr(other) == repr(found)


def test_a_pickle_whose_parts_do_not_fit_together_is_refused() -> None:
    found = near_duplicates(["a b", "a b", None], shingle="words:1", ids="xyz")
    restore, state = found.__reduce__()
    assert parts(restore(*state)) == parts(found)
    wrong: dict[int, list[Any]] = {
        0: [np.array([[0, 3]], "u4"), np.zeros((1, 3), "u4"), np.zeros((0, 2), "u4"), np.zeros(2), None],
        1: [np.array([1.5]), np.array([np.nan]), np.array([]), [1.0]],
        2: [np.array(clusters, "u4") for clusters in ([0, 0], [0, 3, 2], [1, 0, 2], [])] + [b""],
        3: [(4, 0, 0), (-1, 0, 0), (2**32, 0, 0), (1, 1), None],
        4: [None, (16, 6)],
        5: [None, 1.0],
        6: [["x"], ["x", "x", "x"], 7],
        7: [np.array(rows, "u4") for rows in ([[1, 2]], [[0, 0]], [[1, 3]], [[1, 0], [1, 0]], [[1, 0, 2]])]
        + [np.zeros((0, 2), "u4"), None],
        8: [np.array([1.5]), np.array([]), [1.0]],
        9: [None, 0.0],
    }
    for place, values in wrong.items():
        for value in values:
            with pytest.raises((CrivoError, TypeError, ValueError, OverflowError)):
                restore(*state[:place], value, *state[place + 1 :])


def test_pages_are_what_a_reader_sees() -> None:
    pages = ["<p>one <b>two</b> three</p>", "one two three", "<script>one two three</script>"]
    assert near_duplicates(pages, shingle="words:2", html=True).pairs == [(0, 1, 1.0)]
    assert near_duplicates(pages, shingle="words:2").pairs == []


def test_the_answer_does_not_depend_on_threads_or_memory() -> None:
    expected = near_duplicates(TEXTS, 0.6)
    for threads in (1, 2, 7):
        found = near_duplicates(TEXTS, 0.6, threads=threads, memory=16 << 20)
        assert found.pairs == expected.pairs and found.clusters.tolist() == expected.clusters.tolist()


def test_fast_similarities_are_estimates() -> None:
    exact = {pair[:2]: pair[2] for pair in truth(TEXTS, "words:5", 0.3)}
    fast = near_duplicates(TEXTS, 0.6, fast=True, hashes=512)
    assert len(fast.pairs) > 10
    assert all(abs(exact[one, other] - similarity) < 0.15 for one, other, similarity in fast.pairs)


def test_settings_out_of_range_are_refused() -> None:
    for named in (
        {"threshold": 0},
        {"threshold": 1.1},
        {"shingle": "words:0"},
        {"keep": "shortest"},
        {"measure": "overlap"},
        {"linking": "none"},
        {"memory": 1000},
        {"memory": -1},
        {"threads": -1},
        {"hashes": 0},
        {"hashes": 10, "bands": Bands(4, 4)},
        {"seed": -1},
    ):
        assert refused(near_duplicates, ["a"], **named)


def test_what_is_no_text_is_refused_with_its_position() -> None:
    with pytest.raises(KeyTypeError, match="value 1: key: expected text: str or bytes, found int"):
        near_duplicates(["a", 3])  # type: ignore[list-item]
    with pytest.raises(KeyTypeError, match="surrogate"):
        near_duplicates(["\ud800"])
    wrong: Any
    for wrong in ("a text", b"a text", 3, pa.array([1, 2]), pa.table({"a": ["x"], "b": ["y"]})):
        with pytest.raises(KeyTypeError):
            near_duplicates(wrong)


def test_python_runs_meanwhile() -> None:
    texts = pa.array([" ".join(GENERATOR.choices(WORDS, k=200)) for _ in range(3000)])
    assert lets_others_run(lambda: near_duplicates(texts))
