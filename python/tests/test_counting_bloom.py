"""CountingBloom as a counter: against Python's own, and what can go wrong with removal."""

import random
from collections import Counter
from math import inf
from typing import Any

import pyarrow as pa
import pytest
import reference
from columns import refused

from crivo import AbsentError, CountingBloom, IncompatibleError, KeyTypeError

WORDS = [f"user{i}" for i in range(2000)]


def counting(values: Any, bits: Any = 16, **arguments: Any) -> CountingBloom:
    filter = CountingBloom.for_items(2100, 1e-9, counter_bits=bits, **arguments)
    filter.insert_batch(values)
    return filter


def test_a_rare_counting_filter_counts_as_a_counter_does() -> None:
    stream = random.Random(2).choices(WORDS[:300], weights=range(1, 301), k=20_000)
    filter, exact = counting(stream), Counter(stream)
    for word in WORDS[:400]:
        count = filter.count(word)
        assert count.value == count.lower == count.upper == exact[word]
    for word in random.Random(3).choices(stream, k=1000):
        if exact[word]:
            filter.remove(word)
            exact[word] -= 1
    assert filter == counting(exact.elements())


def test_add_is_insert_many_times() -> None:
    filter = counting([])
    filter.add("tea", 250)
    filter.add("coffee", 0)
    assert filter == counting(["tea"] * 250)
    for times in (-1, 2**64):
        assert refused(filter.add, "tea", times) == f"times: expected 0 to 2^64 - 1, found {times}"
    with pytest.raises(KeyTypeError):
        filter.add(None, 1)  # type: ignore[arg-type]


def test_removing_what_is_not_there_is_refused_and_changes_nothing() -> None:
    filter = counting(["a", "b", "b"])
    before = bytes(filter)
    with pytest.raises(AbsentError, match="^key: expected one whose counters are all above 0, found 0 in"):
        filter.remove("c")
    with pytest.raises(KeyError):
        filter.remove_batch(["a", "b", "b", "b"])
    with pytest.raises(KeyError):
        filter.remove_batch(["a"] * 5000)
    with pytest.raises(KeyTypeError, match="^value 2: .*; nothing was removed$"):
        filter.remove_batch(["a", "b", []])  # type: ignore[list-item]
    with pytest.raises(KeyTypeError, match="remove_batch takes columns"):
        filter.remove(None)  # type: ignore[arg-type]
    assert bytes(filter) == before
    assert filter.remove_batch(pa.array(["b", None, "a", "b"])) == 1
    assert filter.is_empty


def test_subtraction_takes_a_stream_out() -> None:
    week, monday = WORDS + WORDS[:500], WORDS[:700]
    rest = counting(week) - counting(monday)
    assert rest == counting(Counter(week) - Counter(monday))
    mine = counting(week)
    same = mine
    mine -= counting(monday)
    assert mine is same and mine == rest
    before = bytes(mine)
    with pytest.raises(AbsentError, match="^counters: expected at most"):
        mine.subtract(counting(["never"]))
    with pytest.raises(IncompatibleError, match="^counter bits: expected 16, found 8"):
        mine.subtract(counting([], bits=8))
    assert bytes(mine) == before


def test_an_intersection_has_what_both_have() -> None:
    shared = counting(["a"] * 3 + ["b"]) & counting(["a"] * 2 + ["c"])
    assert [key in shared for key in "abc"] == [True, False, False]


@pytest.mark.parametrize(("bits", "largest"), [(4, 15), (8, 255), (16, 65_535), (32, 2**32 - 1)])
def test_a_counter_at_its_largest_value_stays(bits: Any, largest: int) -> None:
    filter = counting([], bits)
    filter.add("a", largest - 1)
    assert filter.saturated == 0 and filter.count("a").upper == largest - 1
    filter.add("a", 10)
    assert filter.saturated == filter.hashes
    assert (filter.count("a").value, filter.count("a").upper) == (largest, inf)
    filter.remove("a")
    assert filter.count("a").value == largest


def test_counts_by_the_caller_s_hashes() -> None:
    filter = CountingBloom.for_items(100, 1e-9, keys="hash")
    hashes = [reference.hashed(word) for word in WORDS[:50]]
    filter.insert_hashes(hashes + hashes)
    assert [filter.count_hash(value).value for value in hashes] == [2.0] * 50
    assert filter.remove_hashes([*hashes, None]) == 1
    assert filter.count_hash(hashes[3], confidence=0.5).value == 1.0
    with pytest.raises(KeyTypeError, match="takes count_hash"):
        filter.count("a")
    with pytest.raises(KeyTypeError, match="takes remove_hashes"):
        filter.remove("a")
    with pytest.raises(KeyTypeError, match="keys='hash'"):
        counting([]).count_hash(7)
