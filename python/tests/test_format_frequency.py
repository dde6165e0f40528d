"""Holds docs/format.md to the golden files of the sketches that weigh keys.

The recipes are copied from the page by hand, and updates and merges are made by its words alone; the
hashes come from the xxhash package, so nothing here can agree with crivo by sharing its code.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
import xxhash
from format_frequency import (
    MOST,
    UNBOUNDED,
    CountMin,
    HeavyHitters,
    Hitters,
    Key,
    Majority,
    RangeCountMin,
    Weighted,
    code_of,
    error_of,
    stored,
)
from format_membership import cells
from format_reader import Contents, Header, Invalid, Other, TrailingBytes, Truncated, read
from test_format_distinct import GOLDEN_RATIO, HASHES, INTEGERS, TEXT, envelope

GOLDEN = Path(__file__).parents[2] / "crates" / "crivo" / "tests" / "golden"


def text(key: str) -> int:
    return int(xxhash.xxh3_64_intdigest(key.encode(), seed=0))


def integer(key: int, seed: int) -> int:
    return int(xxhash.xxh3_64_intdigest((key & MOST).to_bytes(8, "little"), seed=seed))


def pack(numbers: Iterable[int]) -> bytes:
    return b"".join(number.to_bytes(8, "little") for number in numbers)


# Payloads made from keys, as the page says.


def added(counters: list[int], width: int, depth: int, h: int, weight: int, conservative: bool) -> None:
    places = [width * row + cell for row, cell in enumerate(cells(h, width, depth))]
    goal = min(min(counters[place] for place in places) + weight, MOST)
    for place in places:
        plain = min(counters[place] + weight, MOST)
        counters[place] = max(counters[place], goal) if conservative else plain


def count_min(width: int, depth: int, update: int, hashes: Iterable[tuple[int, int]] = ()) -> bytes:
    counters, total = [0] * (width * depth), 0
    for h, weight in hashes:
        added(counters, width, depth, h, weight, update == 1)
        total = min(total + weight, MOST)
    return struct.pack("<IBBQ", width, depth, update, total) + pack(counters)


def ranges(levels: int, width: int, depth: int, seed: int, keys: Iterable[tuple[int, int]] = ()) -> bytes:
    sketched = levels
    while sketched and 2 ** (levels - sketched + 1) <= width * depth:
        sketched -= 1
    leaves = [0] * 2 ** (levels - sketched)
    tables = [[0] * (width * depth) for _ in range(sketched)]
    for key, weight in keys:
        leaves[key >> sketched] = min(leaves[key >> sketched] + weight, MOST)
        for level, counters in enumerate(tables):
            added(counters, width, depth, integer(key >> level, seed), weight, False)
    return struct.pack("<BIB", levels, width, depth) + pack(leaves) + b"".join(map(pack, tables))


def majority(votes: Weighted) -> bytes:
    total = lead = counted = 0
    candidate: Key = 0
    for key, weight in votes:
        total = min(total + weight, MOST)
        if lead and key == candidate:
            lead, counted = min(lead + weight, MOST), min(counted + weight, MOST)
        elif weight > lead:
            candidate, lead, counted = key, weight - lead, weight
        else:
            lead -= weight
    return pack([total, lead]) + (pack([counted]) + stored(candidate) if lead else b"")


def squares() -> list[tuple[int, int]]:
    return [(text(f"key {i * i % 300}"), 1) for i in range(1000)]


def remainders() -> list[tuple[int, int]]:
    """The remainder has the sign of the number, unlike Python's."""
    return [(abs(i) % 23 * (-1 if i < 0 else 1), i * i) for i in range(-100, 100)]


def halves() -> list[tuple[int, int]]:
    return [(i * 2**61, MOST // 2**i) for i in range(8)]


def in_ranges(levels: int) -> list[tuple[int, int]]:
    return [(i * i % 2**levels, i % 4) for i in range(500)]


def hashed(keys: Iterable[tuple[int, int]], seed: int) -> list[tuple[int, int]]:
    return [(integer(key, seed), weight) for key, weight in keys]


def harmonic(first: int, last: int) -> Weighted:
    return [(f"key {i}".encode(), 100 // i) for i in range(first, last + 1)]


def lengths() -> Weighted:
    return [(("á" * i).encode(), 1) for i in range(151)]


def residues() -> Weighted:
    return [(i * i % 101 - 50, 1 + i % 7) for i in range(10_000)]


HEAVY: dict[str, tuple[tuple[int, int], int, Callable[[], Hitters], Callable[[], Weighted]]] = {
    "empty": (TEXT, 0, lambda: Hitters(100, []), list),
    "exact": (TEXT, 0, lambda: Hitters(100, harmonic(1, 100)), lambda: harmonic(1, 100)),
    "purged": (TEXT, 0, lambda: Hitters(10, harmonic(1, 100)), lambda: harmonic(1, 100)),
    "merged": (
        TEXT,
        0,
        lambda: Hitters(20, harmonic(1, 60)).merge(Hitters(10, harmonic(5, 100))),
        lambda: harmonic(1, 60) + harmonic(5, 100),
    ),
    "texts": (TEXT, GOLDEN_RATIO, lambda: Hitters(8, lengths()), lengths),
    "integers": (INTEGERS, 7, lambda: Hitters(50, residues()), residues),
    "hashes": (HASHES, MOST, lambda: Hitters(3, [(h, 2) for h in (0, 1, MOST)]), lambda: []),
    "saturated": (INTEGERS, 0, lambda: Hitters(2, [(i, MOST // 3) for i in range(4)]), lambda: []),
}

# Family, hash function and key kind, seed, payload.
Recipe = tuple[int, tuple[int, int], int, Callable[[], bytes]]
B, LONG = b"b", "á".encode()
THREE = [(key, 2**63 - 1) for key in (7, 8, 200)]

RECIPES: dict[str, Recipe] = {
    "count_min_v1_empty": (0x40, TEXT, 0, lambda: count_min(3, 2, 0)),
    "count_min_v1_words": (0x40, TEXT, 0, lambda: count_min(100, 5, 0, squares())),
    "count_min_v1_weights": (0x40, INTEGERS, 7, lambda: count_min(17, 7, 0, hashed(remainders(), 7))),
    "count_min_v1_conservative": (0x40, INTEGERS, 7, lambda: count_min(17, 7, 1, hashed(remainders(), 7))),
    "count_min_v1_saturated": (0x40, HASHES, MOST, lambda: count_min(4, 3, 0, halves())),
    "count_min_v1_conservative_saturated": (0x40, HASHES, MOST, lambda: count_min(4, 3, 1, halves())),
    "range_count_min_v1_empty": (0x41, INTEGERS, 0, lambda: ranges(5, 2, 2, 0)),
    "range_count_min_v1_exact": (0x41, INTEGERS, 0, lambda: ranges(7, 50, 3, 0, in_ranges(7))),
    "range_count_min_v1_sketched": (0x41, INTEGERS, 7, lambda: ranges(20, 20, 4, 7, in_ranges(20))),
    "range_count_min_v1_widest": (0x41, INTEGERS, MOST, lambda: ranges(64, 3, 3, MOST, in_ranges(64))),
    "range_count_min_v1_one_leaf": (0x41, INTEGERS, 0, lambda: ranges(10, 1, 1, 0, in_ranges(10))),
    "range_count_min_v1_saturated": (0x41, INTEGERS, 0, lambda: ranges(8, 3, 2, 0, THREE)),
    "majority_v1_empty": (0x42, TEXT, 0, lambda: majority([])),
    "majority_v1_texts": (0x42, TEXT, 0, lambda: majority([(LONG, 5), (B, 2), (LONG, 1)])),
    "majority_v1_tie": (0x42, TEXT, 0, lambda: majority([(LONG, 5), (B, 5)])),
    "majority_v1_nameless": (0x42, TEXT, 0, lambda: majority([(b"a", 1), (b"", 3)])),
    "majority_v1_integers": (0x42, INTEGERS, 7, lambda: majority([(i, 1) for i in (-1, 2, 2, 2, -1)])),
    "majority_v1_hashes": (0x42, HASHES, MOST, lambda: majority([(2**63, 1)])),
    "majority_v1_saturated": (0x42, TEXT, 0, lambda: majority([(b"a", MOST - 1), (B, 7)])),
    **{
        f"heavy_hitters_v1_{name}": (0x43, keys, seed, lambda made=made: made().payload())  # type: ignore[misc]
        for name, (keys, seed, made, _) in HEAVY.items()
    },
}
each_recipe = pytest.mark.parametrize("name", RECIPES)


def golden(name: str) -> bytes:
    return (GOLDEN / f"{name}.bin").read_bytes()


def contents(name: str) -> Contents:
    sketch = read(golden(name))
    assert isinstance(sketch, Other)
    return sketch.contents


@each_recipe
def test_the_recipe_gives_every_byte_of_the_file(name: str) -> None:
    family, keys, seed, payload = RECIPES[name]
    assert envelope(family, keys, seed, payload()) == golden(name)


@each_recipe
def test_the_file_is_read(name: str) -> None:
    family, (function, kind), seed, _ = RECIPES[name]
    sketch = read(golden(name))
    assert isinstance(sketch, Other)
    assert sketch.header == Header(1, family, 1, function, kind, seed)
    assert type(sketch.contents).__name__.lower() == name.split("_v1_")[0].replace("_", "")


@each_recipe
def test_a_file_that_is_cut_or_goes_on_is_refused(name: str) -> None:
    data = golden(name)
    for end in [*range(0, len(data), 97), len(data) - 1]:
        with pytest.raises(Truncated):
            read(data[:end])
    with pytest.raises(TrailingBytes):
        read(data + b"\0")


@pytest.mark.parametrize("name", ["count_min_v1_weights", "count_min_v1_conservative"])
def test_a_count_is_never_below_the_truth(name: str) -> None:
    sketch, truth = contents(name), Counter[int]()
    for key, weight in remainders():
        truth[key] += weight
    assert isinstance(sketch, CountMin)
    assert sketch.answer == truth.total()
    assert all(sketch.count(integer(key, 7)) >= weight for key, weight in truth.items())


@pytest.mark.parametrize(
    ("name", "levels", "seed"),
    [("exact", 7, 0), ("sketched", 20, 7), ("widest", 64, MOST), ("one_leaf", 10, 0)],
)
def test_the_weight_of_a_range_is_never_below_the_truth(name: str, levels: int, seed: int) -> None:
    sketch, keys = contents(f"range_count_min_v1_{name}"), in_ranges(levels)
    assert isinstance(sketch, RangeCountMin)
    total = sum(weight for _, weight in keys)
    ends = [0, 1, 3, 10, 77, 2 ** (levels - 1) + 5, 2**levels - 1, 2**levels]
    for low, high in ((low, high) for low in ends for high in ends if low <= high <= 2**levels):
        truth = sum(weight for key, weight in keys if low <= key < high)
        answer = sketch.count(low, high, lambda key: integer(key, seed))
        assert truth <= answer <= total
        assert answer == truth or name != "exact"
    assert sketch.count(0, 2**levels, lambda key: integer(key, seed)) == total


@pytest.mark.parametrize("name", [name for name, (*_, weights) in HEAVY.items() if weights()])
def test_every_key_came_as_often_as_its_bounds_say(name: str) -> None:
    sketch, truth = contents(f"heavy_hitters_v1_{name}"), Counter[Key]()
    for key, weight in HEAVY[name][3]():
        truth[key & MOST if isinstance(key, int) else key] += weight
    assert isinstance(sketch, HeavyHitters)
    assert sketch.total == truth.total()
    for key, weight in truth.items():
        low, high = sketch.bounds(key)
        assert low <= weight <= high
    k = sketch.capacity
    assert sketch.maximum_error * (k + 1 - k // 4) <= sketch.total


def test_codes_stand_for_errors_in_their_order() -> None:
    assert [error_of(code) for code in (0, 1023, 1024, 2047, 2048, 2049)] == [0, 1023, 1024, 2047, 2048, 2050]
    assert [code_of(error) for error in (0, 1023, 2047, 2049, 2050)] == [0, 1023, 2047, 2049, 2049]
    assert [code_of(2046 << 53), code_of((2046 << 53) + 1), code_of(MOST)] == [
        UNBOUNDED - 1,
        *[UNBOUNDED] * 2,
    ]


# The rules of the page, one by one, on forged payloads whose checksum is right.


def table(width: int, depth: int, update: int, total: int, *counters: int) -> bytes:
    return struct.pack("<IBBQ", width, depth, update, total) + pack(counters)


def spans(levels: int, width: int, depth: int, *counts: int) -> bytes:
    return struct.pack("<BIB", levels, width, depth) + pack(counts)


def hitters(k: int, total: int, error: int, *counters: tuple[Key, int, int], number: int = -1) -> bytes:
    head = struct.pack("<IQQI", k, total, error, len(counters) if number < 0 else number)
    return head + b"".join(stored(key) + struct.pack("<QH", u, code) for key, u, code in counters)


@pytest.mark.parametrize(
    ("family", "payload", "expected"),
    [
        (0x40, table(1, 2, 0, 7, 7, 7), CountMin(0, 7, ((7,), (7,)))),
        (0x40, table(2, 1, 0, MOST, MOST, 1), CountMin(0, MOST, ((MOST, 1),))),
        (0x40, table(1, 2, 1, 7, 0, 7), CountMin(1, 7, ((0,), (7,)))),
        (0x40, table(1, 2, 1, 7, 3, 4), CountMin(1, 7, ((3,), (4,)))),
        (0x41, spans(1, 2, 1, 3, 4), RangeCountMin(1, 2, 1, (3, 4), ())),
        (0x41, spans(1, 1, 1, 7, 7), RangeCountMin(1, 1, 1, (7,), (((7,),),))),
        (0x42, pack([4, 0]), Majority(4, 0)),
        (0x42, pack([5, 1, 3, 9]), Majority(5, 1, 3, 9)),
        (0x42, pack([MOST, 2, MOST, 9]), Majority(MOST, 2, MOST, 9)),
        (0x43, hitters(2, 9, 0, (1, 4, 0), (2, 5, 0)), HeavyHitters(2, 9, 0, {1: (4, 0), 2: (5, 0)})),
        (0x43, hitters(4, 9, 2, (1, 3, 2)), HeavyHitters(4, 9, 2, {1: (3, 2)})),
        (0x43, hitters(4, MOST, 9, (1, 99, 9)), HeavyHitters(4, MOST, 9, {1: (99, 9)})),
        (0x43, hitters(1, MOST, MOST), HeavyHitters(1, MOST, MOST, {})),
    ],
)
def test_the_limits_are_read(family: int, payload: bytes, expected: object) -> None:
    sketch = read(envelope(family, INTEGERS, 0, payload))
    assert isinstance(sketch, Other)
    assert (sketch.header, sketch.contents) == (Header(1, family, 1, 1, 2, 0), expected)


FAULTS: dict[str, tuple[int, bytes]] = {
    "count: total cut": (0x40, bytes(13)),
    "count: width 0": (0x40, table(0, 1, 0, 0)),
    "count: width too large": (0x40, table(2**30 + 1, 1, 0, 0)),
    "count: depth 0": (0x40, table(1, 0, 0, 0)),
    "count: depth 33": (0x40, table(1, 33, 0, 1, *[1] * 33)),
    "count: update 2": (0x40, table(1, 1, 2, 1, 1)),
    "count: a counter missing": (0x40, table(1, 2, 0, 1, 1)),
    "count: a counter too many": (0x40, table(1, 1, 0, 1, 1, 1)),
    "plain: a row below the total": (0x40, table(1, 2, 0, 7, 7, 6)),
    "plain: a row above the total": (0x40, table(1, 2, 0, 7, 7, 8)),
    "plain: a row below a full total": (0x40, table(2, 1, 0, MOST, MOST - 1, 0)),
    "conservative: a row above the total": (0x40, table(1, 2, 1, 7, 7, 8)),
    "conservative: rows below the total": (0x40, table(1, 2, 1, 7, 3, 3)),
    "conservative: rows below a full total": (0x40, table(1, 2, 1, MOST, 3, 3)),
    "ranges: depth cut": (0x41, bytes(5)),
    "ranges: level 0": (0x41, spans(0, 1, 1, 1)),
    "ranges: level 65": (0x41, spans(65, 1, 1, *[1] * 66)),
    "ranges: width 0": (0x41, spans(1, 0, 1, 1, 1)),
    "ranges: width too large": (0x41, spans(1, 2**30 + 1, 1, 1, 1)),
    "ranges: depth 0": (0x41, spans(1, 1, 0, 1, 1)),
    "ranges: depth 33": (0x41, spans(1, 1, 33, 1, 1)),
    "ranges: a counter missing": (0x41, spans(1, 1, 1, 7)),
    "ranges: a counter too many": (0x41, spans(1, 1, 1, 7, 7, 7)),
    "ranges: a row that is not the total": (0x41, spans(1, 1, 1, 7, 8)),
    "majority: lead cut": (0x42, bytes(15)),
    "majority: lead above the total": (0x42, pack([1, 3, 3, 9])),
    "majority: an odd difference": (0x42, pack([4, 1, 1, 9])),
    "majority: a candidate without a lead": (0x42, pack([4, 0, 2, 9])),
    "majority: no candidate": (0x42, pack([5, 1, 3])),
    "majority: counted less than the lead": (0x42, pack([5, 3, 2, 9])),
    "majority: counted too much": (0x42, pack([5, 1, 4, 9])),
    "majority: a byte too many": (0x42, pack([5, 1, 3, 9]) + b"\0"),
    "hitters: number cut": (0x43, bytes(23)),
    "hitters: capacity 0": (0x43, hitters(0, 0, 0)),
    "hitters: capacity too large": (0x43, hitters(2**24 + 1, 0, 0)),
    "hitters: more counters than capacity": (0x43, hitters(1, 9, 0, (1, 4, 0), (2, 5, 0))),
    "hitters: a counter missing": (0x43, hitters(2, 4, 0, (1, 4, 0), number=2)),
    "hitters: a counter too many": (0x43, hitters(2, 4, 0, (1, 4, 0), (2, 0, 0), number=1)),
    "hitters: equal keys": (0x43, hitters(2, 9, 0, (1, 4, 0), (1, 5, 0))),
    "hitters: keys ascending only as bytes": (0x43, hitters(2, 9, 0, (256, 4, 0), (1, 5, 0))),
    "hitters: count 0": (0x43, hitters(2, 0, 0, (1, 0, 0))),
    "hitters: count not above the error": (0x43, hitters(4, 99, 2, (1, 2, 2))),
    "hitters: code above that of the error": (0x43, hitters(4, 99, 2, (1, 3, 3))),
    "hitters: code above all": (0x43, hitters(1, MOST, MOST - 1, (1, MOST, UNBOUNDED + 1))),
    "hitters: total below the counts": (0x43, hitters(2, 8, 0, (1, 4, 0), (2, 5, 0))),
    "hitters: total above exact counts": (0x43, hitters(2, 10, 0, (1, 4, 0), (2, 5, 0))),
    "hitters: error beyond the guarantee": (0x43, hitters(4, 7, 2)),
    "hitters: error and counts beyond the total": (0x43, hitters(4, 8, 2, (1, 3, 2))),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_payload_against_the_rules_is_invalid(fault: str) -> None:
    family, payload = FAULTS[fault]
    with pytest.raises(Invalid):
        read(envelope(family, INTEGERS, 0, payload))


def test_bytes_are_stored_whole_in_their_order_and_at_most_4096_in_a_counter() -> None:
    read(envelope(0x43, TEXT, 0, hitters(2, 2, 0, (b"a", 1, 0), (b"a" * 4096, 1, 0))))
    for keys in [(b"b", b"a"), (b"ab", b"a"), (b"a", b"a" * 4097)]:
        with pytest.raises(Invalid):
            read(envelope(0x43, TEXT, 0, hitters(2, 2, 0, *((key, 1, 0) for key in keys))))
    for cut in (1, 5, 6):
        with pytest.raises(Invalid):
            read(envelope(0x42, TEXT, 0, (pack([1, 1, 1]) + stored(b"ab"))[:-cut]))


@pytest.mark.parametrize("keys", [TEXT, HASHES])
def test_ranges_of_other_keys_than_integers_are_invalid(keys: tuple[int, int]) -> None:
    with pytest.raises(Invalid):
        read(envelope(0x41, keys, 0, spans(1, 1, 1, 7, 7)))
