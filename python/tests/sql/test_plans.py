"""The same answers whatever the plan: groups, threads, windows, filters, and states that go to disk."""

import re
from pathlib import Path

import pytest
from engine import connect, one, rows


def test_100_000_groups_are_each_counted_exactly() -> None:
    connection = connect()
    connection.execute("CREATE TABLE t AS SELECT range % 100000 g, range % 3000000 x FROM range(4000000)")
    query = "SELECT count(*), min(d.value), max(d.value) FROM (SELECT crivo_distinct(x) d FROM t GROUP BY g)"
    assert rows(connection, query) == [(100_000, 30.0, 30.0)]


@pytest.mark.parametrize("kind", ["hll", "ull", "kmv", "bloom", "countmin", "top"])
def test_threads_do_not_change_the_bytes(kind: str) -> None:
    answers = []
    for threads in [1, 4]:
        connection = connect(threads)
        # A table, because its row groups are dealt to threads.
        connection.execute("CREATE TABLE t AS SELECT range % 5 g, range * 3 % 9973 x FROM range(1000000)")
        grouped = rows(connection, f"SELECT g, crivo_sketch(x, '{kind}') FROM t GROUP BY g ORDER BY g")
        answers.append((grouped, one(connection, f"SELECT crivo_sketch(x, '{kind}') FROM t")))
    assert answers[0] == answers[1]


def test_groups_grow_from_a_list_to_a_sketch_with_the_same_bytes() -> None:
    """Around every length at which the form of a group changes, with and without repetitions."""
    connection = connect()
    for length in [0, 1, 4, 8, 9, 63, 64, 255, 256, 257, 1000, 1535, 1536, 1537, 5000]:
        grouped = one(
            connection,
            f"SELECT crivo_sketch(x, 'hll') FROM (SELECT range % {max(length, 1)} x, 0 g FROM range({3 * length})"
            " UNION ALL SELECT NULL, 0) GROUP BY g",
        )
        whole = one(
            connection,
            f"SELECT crivo_sketch(x, 'hll') FROM (SELECT range x FROM range({length}) UNION ALL SELECT NULL)",
        )
        assert grouped == whole, length


def test_windows_see_their_frames() -> None:
    connection = connect()
    query = (
        "SELECT range, crivo_distinct(range % 50) OVER (ORDER BY range ROWS BETWEEN 99 PRECEDING AND CURRENT ROW) d,"
        " crivo_distinct(range) OVER (PARTITION BY range % 2 ORDER BY range) e,"
        " crivo_top(range % 3, 1) OVER (ORDER BY range ROWS BETWEEN 8 PRECEDING AND CURRENT ROW) t,"
        " crivo_quantile(range, 0.5) OVER (ORDER BY range ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) q"
        " FROM range(5000) ORDER BY range"
    )
    for at, distinct, partition, top, median in rows(connection, query):
        assert distinct["value"] == min(at + 1, 50)
        truth = at // 2 + 1
        assert partition["lower"] <= truth <= partition["upper"] or abs(partition["value"] / truth - 1) < 0.04
        assert top[0]["count"] == min((at + 3) // 3, 3)
        assert median["value"] == (at - 1 if at >= 2 else 0)


def test_filters_and_distinct_and_rollups_work() -> None:
    connection = connect()
    answers = rows(
        connection,
        "SELECT crivo_distinct(range) FILTER (range < 100), crivo_distinct(DISTINCT range % 10),"
        " crivo_sketch(range, 'hll') FILTER (range < 0), crivo_top(range, 3) FILTER (range < 0) FROM range(1000)",
    )[0]
    assert (answers[0]["value"], answers[1]["value"], answers[2:]) == (100.0, 10.0, (None, None))
    rolled = rows(
        connection,
        "SELECT range % 2 g, crivo_distinct(range % 10).value FROM range(1000) GROUP BY ROLLUP (range % 2) ORDER BY g",
    )
    assert sorted(value for _, value in rolled) == [5.0, 5.0, 10.0]


def test_groups_without_values_are_empty() -> None:
    connection = connect()
    empty = rows(
        connection,
        "SELECT crivo_distinct(x), crivo_top(x, 3), crivo_quantile(x, 0.5), crivo_estimate(crivo_sketch(x, 'hll')),"
        " crivo_merge(NULL::BLOB), crivo_near_duplicates(1, NULL::VARCHAR)"
        " FROM (SELECT NULL::BIGINT x FROM range(10))",
    )[0]
    nothing = {"value": 0.0, "lower": 0.0, "upper": 0.0}
    assert empty == (nothing, [], None, nothing, None, [])


def test_tables_without_rows_have_no_sketch() -> None:
    connection = connect()
    connection.execute("CREATE TABLE t (x BIGINT, s BLOB)")
    nothing = {"value": 0.0, "lower": 0.0, "upper": 0.0}
    assert rows(
        connection,
        "SELECT crivo_distinct(x), crivo_top(x, 3), crivo_quantile(x, 0.5), crivo_sketch(x, 'hll'), crivo_merge(s),"
        " crivo_near_duplicates(x, 'text') FROM t",
    ) == [(nothing, None, None, None, None, None)]
    assert rows(connection, "SELECT x, crivo_distinct(x) FROM t GROUP BY x") == []
    assert (
        rows(connection, "SELECT crivo_estimate(s), crivo_contains(s, 1), crivo_frequency(s, x) FROM t") == []
    )


def test_null_in_is_null_out() -> None:
    connection = connect()
    assert rows(
        connection,
        "SELECT crivo_estimate(NULL), crivo_contains(NULL, 1), crivo_frequency(NULL, 1), crivo_similarity(NULL, NULL),"
        " crivo_jaccard(NULL, 'a'), crivo_minhash(NULL), crivo_quantile_of(NULL, 0.5), crivo_top_of(NULL, 1)",
    ) == [(None,) * 8]
    assert rows(
        connection,
        "SELECT crivo_contains(s, k) FROM (SELECT crivo_sketch(range, 'bloom') s FROM range(10)),"
        " (VALUES ('1'), (NULL), ('')) t(k)",
    ) == [(True,), (None,), (None,)]


def test_states_survive_the_way_to_disk(tmp_path: Path) -> None:
    query = (
        "SELECT count(*), sum(d.value) FROM (SELECT crivo_distinct(range % 7) d FROM range(3000000)"
        " GROUP BY 'a key that is too long to stand in place ' || range % 1000000)"
    )
    connection = connect()
    expected = rows(connection, query)
    connection.execute(f"SET memory_limit = '100MB'; SET temp_directory = '{tmp_path}'")
    assert rows(connection, query) == expected == [(1_000_000, 3_000_000.0)]
    # Without room on disk the query fails: so it was there.
    connection.execute("SET max_temp_directory_size = '1MB'")
    with pytest.raises(
        Exception, match=re.compile("out of memory|max_temp_directory_size|failed to", re.IGNORECASE)
    ):
        rows(connection, query)
    connection.execute("RESET max_temp_directory_size; SET memory_limit = '1GB'")
    assert rows(connection, query) == expected
