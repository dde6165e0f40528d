"""Answers in SQL, beside the exact ones."""

import math
from collections import Counter

import pytest
from engine import connect, covers, one, rows


def test_small_counts_are_exact() -> None:
    connection = connect()
    assert one(connection, "SELECT crivo_distinct(range % 1500) FROM range(100000)") == {
        "value": 1500.0,
        "lower": 1500.0,
        "upper": 1500.0,
    }


def test_counts_have_the_stated_error() -> None:
    """400 groups of 10,000 values. The mean error is a normal variable with the deviation 0.0081/20; it is off by
    five deviations with a probability below 10^-6, and a constant that is wrong by 3 % is off by 70. Bounds hold in
    95 of 100 groups, and in fewer than 340 of 400 with a probability below 10^-9."""
    answers = rows(connect(), "SELECT crivo_distinct(range) FROM range(4000000) GROUP BY range % 400")
    mean = sum(answer["value"] for (answer,) in answers) / len(answers) / 10_000
    assert len(answers) == 400 and abs(mean - 1) < 5 * 0.0081 / math.sqrt(400)
    assert sum(covers(answer, 10_000) for (answer,) in answers) >= 340


def test_most_frequent_values_have_certain_bounds() -> None:
    connection = connect()
    connection.execute(
        "CREATE TABLE t AS SELECT CAST(200000 / (1 + hash(range) % 200000) AS BIGINT) x FROM range(500000)"
    )
    truth = Counter(dict(rows(connection, "SELECT CAST(x AS VARCHAR), count(*) FROM t GROUP BY x")))
    top = one(connection, "SELECT crivo_top(x, 20) FROM t")
    assert len(top) == 20
    assert all(hitter["lower"] <= truth[hitter["key"]] <= hitter["upper"] for hitter in top)
    assert [hitter["key"] for hitter in top[:5]] == [key for key, _ in truth.most_common(5)]


def test_quantiles_are_between_their_bounds() -> None:
    connection = connect()
    small = one(connection, "SELECT crivo_quantile(range, 0.5) FROM range(101)")
    assert small == {"value": 50.0, "lower": 50.0, "upper": 50.0}
    shares = [0.0, 0.01, 0.1, 0.5, 0.9, 0.99, 1.0]
    for share in shares:
        answer = one(
            connection, f"SELECT crivo_quantile((range * 7919) % 1000003, {share}) FROM range(1000003)"
        )
        # 0.5 % of the ranks with a confidence of 95 %; four times that is off with a probability below 10^-14.
        assert abs(answer["value"] - share * 1_000_003) <= 4 * 0.005 * 1_000_003
        assert answer["lower"] <= answer["value"] <= answer["upper"]


def test_stored_sketches_answer() -> None:
    connection = connect()
    connection.execute(
        "CREATE TABLE s AS SELECT crivo_sketch(x, 'hll') hll, crivo_sketch(x, 'ull') ull, crivo_sketch(x, 'kmv') kmv,"
        " crivo_sketch(x, 'bloom') bloom, crivo_sketch(x, 'bloom', 5000) sized, crivo_sketch(x, 'countmin') countmin,"
        " crivo_sketch(x, 'top') top, crivo_sketch(x, 'kll') kll, crivo_sketch(x, 'hll', 10) small"
        " FROM (SELECT range % 1000 x FROM range(50000))"
    )
    for kind in ["hll", "ull", "kmv"]:
        assert one(connection, f"SELECT crivo_estimate({kind}).value FROM s") == 1000.0
    assert covers(one(connection, "SELECT crivo_estimate(small) FROM s"), 1000)
    for kind in ["bloom", "sized"]:
        assert one(connection, f"SELECT bool_and(crivo_contains({kind}, range)) FROM s, range(1000)")
        strangers = one(
            connection,
            f"SELECT count(*) FILTER (crivo_contains({kind}, 'no' || range)) FROM s, range(100000)",
        )
        # Of 100,000 absent keys 1 % are taken for members; more than 1300 are with a probability below 10^-18.
        assert strangers < 1300
    exact = rows(connection, "SELECT crivo_frequency(top, range) FROM s, range(1000)")
    assert all(answer == {"value": 50.0, "lower": 50.0, "upper": 50.0} for (answer,) in exact)
    counted = rows(connection, "SELECT crivo_frequency(countmin, range) FROM s, range(1000)")
    # No count is too low; 99 of 100 are not too high by more than the bound says.
    assert all(answer["upper"] >= 50 for (answer,) in counted)
    assert sum(covers(answer, 50) for (answer,) in counted) >= 950
    assert one(connection, "SELECT crivo_frequency(top, 'nobody').upper FROM s") == 0.0
    assert one(connection, "SELECT len(crivo_top_of(top, 7)) FROM s") == 7
    median = one(connection, "SELECT crivo_quantile_of(kll, 0.5) FROM s")
    assert abs(median["value"] - 500) <= 20


def test_merged_sketches_are_those_of_all_rows() -> None:
    connection = connect()
    for kind in ["hll", "ull", "kmv", "countmin", "bloom', 100000, '"]:
        call = f"crivo_sketch(range, '{kind}')" if "," not in kind else "crivo_sketch(range, 'bloom', 100000)"
        merged, whole = rows(
            connection,
            f"SELECT (SELECT crivo_merge(s) FROM (SELECT {call} s FROM range(100000) GROUP BY range % 37)),"
            f" (SELECT {call} FROM range(100000))",
        )[0]
        assert merged == whole, kind


def test_texts_are_as_alike_as_their_shingles() -> None:
    connection = connect()
    one_text = " ".join(f"w{number}" for number in range(400))
    other = " ".join(f"w{number}" for number in range(100, 500))

    def shingles(text: str) -> set[tuple[str, ...]]:
        words = text.split()
        return {tuple(words[at : at + 5]) for at in range(len(words) - 4)}

    truth = len(shingles(one_text) & shingles(other)) / len(shingles(one_text) | shingles(other))
    assert one(connection, f"SELECT crivo_jaccard('{one_text}', '{other}')") == pytest.approx(truth)
    answer = one(
        connection, f"SELECT crivo_similarity(crivo_minhash('{one_text}'), crivo_minhash('{other}'))"
    )
    # 128 slots: a deviation of 0.044 at most, and five of them.
    assert abs(answer["value"] - truth) < 5 * 0.044
    assert one(connection, "SELECT crivo_jaccard('a b c', 'a b d', 'words:2')") == pytest.approx(1 / 3)
    assert one(connection, "SELECT crivo_jaccard('short', 'text')") is None
    assert one(connection, "SELECT crivo_similarity(crivo_minhash('short'), crivo_minhash('text'))") is None


def test_near_duplicates_are_those_that_comparing_all_finds() -> None:
    connection = connect()
    connection.execute("CREATE TABLE d (id BIGINT, text VARCHAR)")
    for number in range(200):
        # Four versions of each text, whose last words differ.
        words = [f"w{number // 4}x{at}" for at in range(80)] + [f"v{number}"] * (number % 4 * 3)
        connection.execute("INSERT INTO d VALUES (?, ?)", [number, " ".join(words)])
    expected = rows(
        connection,
        "SELECT a.id, b.id, crivo_jaccard(a.text, b.text) j FROM d a, d b WHERE a.id < b.id AND j >= 0.8 ORDER BY ALL",
    )
    query = "SELECT unnest(crivo_near_duplicates({}, text, 0.8), recursive := true) FROM d ORDER BY ALL"
    found = rows(connection, query.format("id"))
    assert len(expected) > 20 and found == [(a, b, pytest.approx(j)) for a, b, j in expected]
    texts = rows(connection, query.format("'doc' || id"))
    assert {frozenset([a, b]) for a, b, _ in texts} == {
        frozenset([f"doc{a}", f"doc{b}"]) for a, b, _ in found
    }
    assert one(connection, "SELECT len(crivo_near_duplicates(id, text)) FROM d") == len(found)
