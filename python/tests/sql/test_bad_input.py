"""Errors are SQL errors with the library's message, and DuckDB goes on."""

import random
import threading
import time

import duckdb
import pytest
from engine import connect, one, rows


def test_corrupt_bytes_are_refused_by_every_function() -> None:
    connection = connect()
    sketch = one(connection, "SELECT crivo_sketch(range, 'hll') FROM range(5000)")
    damaged = bytearray(sketch)
    damaged[len(damaged) // 2] ^= 1
    calls = [
        "crivo_estimate(?)",
        "crivo_contains(?, 1)",
        "crivo_frequency(?, 1)",
        "crivo_merge(?)",
        "crivo_similarity(?, crivo_minhash('a'))",
        "crivo_quantile_of(?, 0.5)",
        "crivo_top_of(?, 1)",
    ]
    for call in calls:
        for wrong in [bytes(damaged), sketch[:-1], b"", b"no sketch at all"]:
            with pytest.raises(duckdb.Error, match="^Invalid Input Error: crivo_"):
                connection.execute(f"SELECT {call}", [wrong])
    with pytest.raises(duckdb.Error, match="checksum"):
        connection.execute("SELECT crivo_estimate(?)", [bytes(damaged)])
    assert one(connection, "SELECT crivo_distinct(1).value") == 1.0


def test_any_damage_is_an_error_or_a_sketch() -> None:
    connection = connect()
    random.seed(1)
    for kind in ["hll", "kmv", "bloom", "countmin", "top", "kll"]:
        sketch = one(connection, f"SELECT crivo_sketch(range, '{kind}') FROM range(100)")
        for _ in range(50):
            damaged = bytearray(sketch)
            for _ in range(random.randint(1, 4)):
                damaged[random.randrange(len(damaged))] = random.randrange(256)
            try:
                connection.execute(
                    "SELECT crivo_estimate(?), crivo_merge(?)", [bytes(damaged)] * 2
                ).fetchall()
            except duckdb.InvalidInputException as error:
                assert str(error)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT crivo_sketch(1, 'hyperloglog')", "kind: expected one of hll, ull, kmv"),
        (
            "SELECT crivo_sketch(range, x) FROM range(2), (VALUES ('hll'), ('ull')) t(x)",
            "the same value in all rows",
        ),
        ("SELECT crivo_sketch(1, NULL)", "kind: expected a value, found NULL"),
        ("SELECT crivo_sketch(1, 'hll', 30)", "precision: expected 4 to 18, found 30"),
        ("SELECT crivo_sketch(1, 'hll', -1)", "precision: expected a number in its range, found -1"),
        ("SELECT crivo_sketch('text', 'kll')", "expected numbers"),
        ("SELECT crivo_quantile('text', 0.5)", "expected numbers"),
        ("SELECT crivo_quantile(1, 1.5)", "q: expected a share from 0 to 1"),
        ("SELECT crivo_top(1, 0)", "k: expected 1 to"),
        ("SELECT crivo_distinct([1, 2])", "found LIST: cast it to VARCHAR"),
        ("SELECT crivo_distinct({'a': 1})", "found STRUCT"),
        ("SELECT crivo_distinct(INTERVAL 1 DAY)", "found INTERVAL"),
        ("SELECT crivo_top(repeat('x', 5000), 1)", "4096"),
        ("SELECT crivo_estimate('text')", "crivo_estimate"),
        ("SELECT crivo_contains(crivo_sketch(1, 'hll'), 1)", "HyperLogLog"),
        ("SELECT crivo_frequency(crivo_sketch(1, 'hll'), 1)", "HyperLogLog"),
        ("SELECT crivo_similarity(crivo_sketch(1, 'hll'), crivo_minhash('a'))", "HyperLogLog"),
        (
            "SELECT crivo_merge(s) FROM (SELECT crivo_sketch(1, 'hll') s UNION SELECT crivo_sketch(1, 'ull'))",
            "LogLog",
        ),
        ("SELECT crivo_minhash('a', 'syllables:2')", "syllables"),
        ("SELECT crivo_near_duplicates(1, 'a', 0)", "threshold"),
        (
            "SELECT crivo_near_duplicates(i, 'a', if(i < 5000, 0.8, 0.9)) FROM range(10000) t(i)",
            "threshold: expected the same value in all rows",
        ),
        ("SELECT crivo_near_duplicates(NULL::BIGINT, 'a')", "id: expected a value for each text"),
    ],
)
def test_errors_say_what_was_expected(query: str, message: str) -> None:
    connection = connect()
    with pytest.raises(duckdb.Error) as error:
        rows(connection, query)
    assert message in str(error.value)
    assert one(connection, "SELECT crivo_distinct(1).value") == 1.0


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        ("crivo_quantile(x, if(x < 122880, 0.5, 0.9))", "q"),
        ("crivo_distinct(x, if(x < 122880, 0.01, 0.02))", "error"),
        ("crivo_top(x, if(x < 122880, 5, 900))", "k"),
        ("crivo_sketch(x, if(x < 122880, 'hll', 'ull'))", "kind and size"),
        ("crivo_near_duplicates(x, 'a', if(x < 122880, 0.8, 0.9))", "threshold"),
    ],
)
def test_parameters_are_the_same_on_all_threads(call: str, parameter: str) -> None:
    connection = connect(threads=2)
    # Each thread reads one of the two row groups.
    connection.execute("CREATE TABLE numbers AS SELECT range x FROM range(245760)")
    for _ in range(5):
        with pytest.raises(duckdb.Error, match=f"{parameter}: expected the same value in all rows"):
            rows(connection, f"SELECT {call} FROM numbers")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT crivo_panic(range) FROM range(10)",
        "SELECT crivo_panic_at(1) FROM range(10)",
        "SELECT crivo_panic_at(2) FROM numbers GROUP BY x % 10",
        "SELECT crivo_panic_at(3) FROM range(10)",
    ],
)
def test_a_panic_is_an_error_of_the_query_only(query: str) -> None:
    connection = connect(threads=4)
    connection.execute("CREATE TABLE numbers AS SELECT range x FROM range(1000000)")
    with pytest.raises(duckdb.Error, match="a defect of crivo, please report it: a panic"):
        rows(connection, query)
    assert one(connection, "SELECT crivo_distinct(range).value FROM range(100)") == 100.0


def test_a_panic_at_the_end_of_a_state_goes_no_further() -> None:
    connection = connect()
    assert rows(connection, "SELECT crivo_panic_at(4)") == [(4,)]
    assert one(connection, "SELECT crivo_distinct(range).value FROM range(100)") == 100.0


def test_a_query_can_be_cancelled() -> None:
    connection = connect()
    timer = threading.Timer(0.5, connection.interrupt)
    timer.start()
    begun = time.monotonic()
    with pytest.raises(duckdb.InterruptException):
        rows(
            connection,
            "SELECT count(d) FROM (SELECT crivo_distinct(a.range + b.range) d FROM range(1000000) a, range(100000) b"
            " GROUP BY a.range)",
        )
    timer.join()
    assert time.monotonic() - begun < 20
    assert one(connection, "SELECT crivo_distinct(1).value") == 1.0


def test_the_version_names_the_engine() -> None:
    version = one(connect(), "SELECT crivo_version()")
    known = duckdb.__version__ == "2.0.0"
    assert f"in DuckDB v{duckdb.__version__} ({'tested' if known else 'not tested'})" in version
