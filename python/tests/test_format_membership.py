"""Holds docs/format.md to the golden files of the sets of keys.

The recipes are copied from the page by hand; the hashes come from the xxhash package, so nothing
here can agree with crivo by sharing its code.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
import xxhash
from format_membership import (
    MOST,
    BinaryFuse,
    BlockedBloom,
    Bloom,
    CountingBloom,
    DirectTable,
    cells,
    fuse_byte,
    fuse_shape,
    fuse_slots,
    marks,
    mixed,
    multiplier,
)
from format_reader import Contents, Header, Invalid, Other, TrailingBytes, Truncated, read
from test_format_distinct import HASHES, INTEGERS, SOME, TEXT, envelope, integers, texts

GOLDEN = Path(__file__).parents[2] / "crates" / "crivo" / "tests" / "golden"

# Payloads made from keys, as the page says.


def words(numbers: Iterable[int], bits: int) -> bytes:
    """An array with ones at these numbers, in whole words."""
    array = bytearray(8 * ((bits + 63) // 64))
    for number in numbers:
        array[number // 8] |= 1 << number % 8
    return bytes(array)


def table(universe: int, keys: Iterable[int]) -> bytes:
    return struct.pack("<Q", universe) + words(keys, universe)


def bloom(bits: int, hashes: int, capacity: int, keys: Iterable[int]) -> bytes:
    numbers = (number for h in keys for number in cells(h, bits, hashes))
    return struct.pack("<QIQ", bits, hashes, capacity) + words(numbers, bits)


def blocked(blocks: int, capacity: int, keys: Iterable[int]) -> bytes:
    numbers = (number for h in keys for number in marks(h, blocks))
    return struct.pack("<QQ", blocks, capacity) + words(numbers, 512 * blocks)


def counting(
    count: int, hashes: int, bits: int, capacity: int, steps: Iterable[tuple[int, int]] = ()
) -> bytes:
    """Each step is a hash and how often it is inserted; removed if that is below 0."""
    counters, highest = [0] * count, (1 << bits) - 1
    for h, times in steps:
        for cell in set(cells(h, count, hashes)):
            if counters[cell] < highest:
                counters[cell] = min(counters[cell] + times, highest)
    array = sum(counter << bits * cell for cell, counter in enumerate(counters))
    head = struct.pack("<QQBB", count, capacity, hashes, bits)
    return head + array.to_bytes(8 * ((count * bits + 63) // 64), "little")


def fuse_table(hashes: list[int], bits: int, segments: int) -> bytes | None:
    """The table of spread hashes, or None if they cannot all be taken away."""
    of = {h: fuse_slots(h, bits, segments) for h in hashes}
    users: list[set[int]] = [set() for _ in range(segments + 2 << bits)]
    for h, slots in of.items():
        for slot in slots:
            users[slot].add(h)
    order = []
    for first in range(len(users)):
        stack = [first] if len(users[first]) == 1 else []
        while stack:
            own = stack.pop()
            if len(users[own]) != 1:
                continue
            (h,) = users[own]
            order.append((h, own))
            users[own].clear()
            for other in of[h]:
                if other != own:
                    users[other].discard(h)
                    if len(users[other]) == 1:
                        stack.append(other)
    if len(order) < len(hashes):
        return None
    table = bytearray(len(users))
    for h, own in reversed(order):
        a, b, c = of[h]
        table[own] = 0
        table[own] = fuse_byte(h) ^ table[a] ^ table[b] ^ table[c]
    return bytes(table)


def fuse(keys: Iterable[int]) -> bytes:
    hashes = sorted(set(keys))
    bits, segments = fuse_shape(len(hashes))
    if not hashes:
        return struct.pack("<QQBI", 0, 0, 0, 0)
    seed, table = 0, fuse_table(hashes, bits, segments)
    state = len(hashes)
    for h in hashes:
        state = mixed((state ^ h) + 0x9E3779B97F4A7C15 & MOST)
    while table is None:
        seed = state = max(mixed(state + 0x9E3779B97F4A7C15 & MOST), 1)
        table = fuse_table(sorted(mixed(h ^ seed) for h in hashes), bits, segments)
    return struct.pack("<QQBI", len(hashes), seed, bits, segments) + table


def once(keys: Iterable[int]) -> list[tuple[int, int]]:
    return [(h, 1) for h in keys]


def around_zero() -> list[int]:
    return integers(200, 7, first=-100)


def removed() -> list[tuple[int, int]]:
    return [*once(around_zero()), *((h, -1) for h in integers(100, 7))]


def wide() -> list[tuple[int, int]]:
    return [*once(integers(20, 7)), *((h, MOST) for h in integers(1, 7, first=5))]


def repeated() -> list[tuple[int, int]]:
    return [(h, i % 3 + 1) for i, h in enumerate(texts(600))]


def few() -> bytes:
    return envelope(0x31, TEXT, 0, bloom(96, 7, 10, texts(10)))


def many() -> bytes:
    return envelope(0x31, TEXT, 0, bloom(9593, 7, 1000, texts(1000)))


def lines() -> bytes:
    return envelope(0x32, TEXT, 0, blocked(20, 1000, texts(1000)))


def united(*groups: list[bytes]) -> bytes:
    """Groups of whole envelopes, one after the other."""
    bodies = [struct.pack("<I", len(group)) + b"".join(group) for group in groups]
    return struct.pack("<I", len(groups)) + b"".join(bodies)


# Family, hash function and key kind, seed, payload.
Recipe = tuple[int, tuple[int, int], int, Callable[[], bytes]]

RECIPES: dict[str, Recipe] = {
    "direct_table_v1_empty": (0x30, INTEGERS, 0, lambda: table(1000, ())),
    "direct_table_v1_multiples": (0x30, INTEGERS, 0, lambda: table(1682, range(0, 1681, 7))),
    "direct_table_v1_full": (0x30, INTEGERS, 7, lambda: table(100, range(100))),
    "direct_table_v1_one": (0x30, INTEGERS, MOST, lambda: table(1, [0])),
    "bloom_v1_empty": (0x31, TEXT, 0, lambda: bloom(9593, 7, 1000, ())),
    "bloom_v1_texts": (0x31, TEXT, 0, lambda: bloom(9593, 7, 1000, texts(1000))),
    "bloom_v1_integers": (0x31, INTEGERS, 7, lambda: bloom(1001, 4, 173, around_zero())),
    "bloom_v1_hashes": (0x31, HASHES, MOST, lambda: bloom(100, 64, 1, SOME)),
    "bloom_v1_full": (0x31, INTEGERS, 0, lambda: bloom(65, 1, 45, integers(2000, 0))),
    "blocked_bloom_v1_empty": (0x32, TEXT, 0, lambda: blocked(20, 1000, ())),
    "blocked_bloom_v1_texts": (0x32, TEXT, 0, lambda: blocked(20, 1000, texts(1000))),
    "blocked_bloom_v1_integers": (0x32, INTEGERS, 7, lambda: blocked(3, 133, around_zero())),
    "blocked_bloom_v1_hashes": (0x32, HASHES, MOST, lambda: blocked(5, 221, SOME)),
    "binary_fuse_v1_empty": (0x35, TEXT, 0, lambda: fuse(())),
    "binary_fuse_v1_one": (0x35, TEXT, 0, lambda: fuse([xxhash.xxh3_64_intdigest(b"ana")])),
    "binary_fuse_v1_texts": (0x35, TEXT, 0, lambda: fuse(texts(1000))),
    "binary_fuse_v1_integers": (0x35, INTEGERS, 7, lambda: fuse(around_zero())),
    "binary_fuse_v1_hashes": (0x35, HASHES, MOST, lambda: fuse(i << 40 for i in range(300))),
    "combined_filter_v1_union": (0x34, TEXT, 0, lambda: united([few()], [many()])),
    "combined_filter_v1_intersection": (0x34, TEXT, 0, lambda: united([many(), lines()])),
    "combined_filter_v1_both": (0x34, TEXT, 0, lambda: united([few()], [many(), lines()])),
    "counting_bloom_v1_empty": (0x33, TEXT, 0, lambda: counting(4797, 7, 8, 500)),
    "counting_bloom_v1_texts": (0x33, TEXT, 0, lambda: counting(4797, 7, 8, 500, repeated())),
    "counting_bloom_v1_integers": (0x33, INTEGERS, 7, lambda: counting(1001, 4, 4, 173, once(around_zero()))),
    "counting_bloom_v1_removed": (0x33, INTEGERS, 7, lambda: counting(1001, 4, 4, 173, removed())),
    "counting_bloom_v1_saturated": (0x33, INTEGERS, 7, lambda: counting(15, 2, 4, 5, once(integers(200, 7)))),
    "counting_bloom_v1_wide": (0x33, INTEGERS, 7, lambda: counting(101, 3, 32, 23, wide())),
    "counting_bloom_v1_hashes": (0x33, HASHES, MOST, lambda: counting(50, 64, 16, 1, once(SOME))),
}
each_recipe = pytest.mark.parametrize("name", RECIPES)

# What the files answer to a reader that knows only the textbook's estimate, and how near it must be.
ANSWERS: dict[str, tuple[float, float]] = {
    "direct_table_v1_empty": (0, 0),
    "direct_table_v1_multiples": (241, 0),
    "direct_table_v1_full": (100, 0),
    "bloom_v1_empty": (0, 0),
    "bloom_v1_texts": (1000, 0.05),
    "bloom_v1_integers": (200, 0.15),
    "binary_fuse_v1_empty": (0, 0),
    "binary_fuse_v1_texts": (1000, 0),
    "binary_fuse_v1_hashes": (300, 0),
    "blocked_bloom_v1_empty": (0, 0),
    "blocked_bloom_v1_texts": (1000, 0.05),
    "blocked_bloom_v1_integers": (200, 0.15),
    "counting_bloom_v1_texts": (1200, 0.01),
    "counting_bloom_v1_removed": (100, 0.01),
}


def golden(name: str) -> bytes:
    return (GOLDEN / f"{name}.bin").read_bytes()


def contents(name: str) -> Contents:
    sketch = read(golden(name))
    assert isinstance(sketch, Other)
    return sketch.contents


def test_the_multipliers_are_odd_and_begin_as_the_page_says() -> None:
    assert [multiplier(0), multiplier(1)] == [1, 0xE220A8397B1DCDAF]
    assert all(multiplier(row) % 2 for row in range(64))


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


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answer_is_near_the_truth(name: str) -> None:
    truth, error = ANSWERS[name]
    assert contents(name).answer == pytest.approx(truth, rel=error)


@each_recipe
def test_a_file_that_is_cut_or_goes_on_is_refused(name: str) -> None:
    data = golden(name)
    for end in [*range(0, len(data), 97), len(data) - 1]:
        with pytest.raises(Truncated):
            read(data[:end])
    with pytest.raises(TrailingBytes):
        read(data + b"\0")


def test_a_table_holds_its_integers_and_no_other() -> None:
    multiples = contents("direct_table_v1_multiples")
    assert isinstance(multiples, DirectTable)
    assert [key for key in range(1682) if key in multiples] == list(range(0, 1682, 7))


@pytest.mark.parametrize("name", ["bloom_v1_texts", "blocked_bloom_v1_texts", "binary_fuse_v1_texts"])
def test_a_filter_holds_its_keys_and_few_others(name: str) -> None:
    kept = contents(name)
    assert isinstance(kept, Bloom | BlockedBloom | BinaryFuse)
    keys = texts(11_000)
    assert all(h in kept for h in keys[:1000])
    # One per cent was asked for: 100 of 10,000, and 200 are ten standard deviations away.
    assert sum(h in kept for h in keys[1000:]) < 200


def test_a_counting_filter_knows_how_often_or_more() -> None:
    kept = contents("counting_bloom_v1_texts")
    assert isinstance(kept, CountingBloom)
    assert all(kept.count(h) >= times for h, times in repeated())
    exact = sum(kept.count(h) == times for h, times in repeated())
    assert exact > 0.95 * 600


def test_a_removed_key_is_gone_unless_others_hide_it() -> None:
    kept = contents("counting_bloom_v1_removed")
    assert isinstance(kept, CountingBloom)
    assert all(kept.count(h) >= 1 for h in integers(100, 7, first=-100))
    assert sum(kept.count(h) >= 1 for h in integers(100, 7)) < 20


# The rules of the page, one by one, on forged payloads whose checksum is right.


@pytest.mark.parametrize(
    ("family", "payload", "expected"),
    [
        (0x30, table(1, [0]), DirectTable(1, 1)),
        (0x30, table(65, [64]), DirectTable(65, 2**64)),
        (0x31, bloom(1, 64, 1, [7]), Bloom(1, 64, 1, 1)),
        (0x31, bloom(65, 1, 2**43, [MOST]), Bloom(65, 1, 2**43, 2**64)),
        (0x32, blocked(1, 2**43, [0]), BlockedBloom(1, 2**43, sum(1 << 64 * word for word in range(8)))),
        (0x33, counting(3, 1, 4, 2**43, [(0, 99)]), CountingBloom(2**43, 1, 4, (15, 0, 0))),
        (0x33, counting(3, 64, 8, 1, [(0, 99)]), CountingBloom(1, 64, 8, (99, 0, 0))),
        (0x33, counting(3, 1, 16, 1, [(MOST, 99)]), CountingBloom(1, 1, 16, (0, 0, 99))),
        (0x33, counting(3, 1, 32, 1, [(MOST, 2**40)]), CountingBloom(1, 1, 32, (0, 0, 2**32 - 1))),
    ],
)
def test_the_limits_are_read(family: int, payload: bytes, expected: object) -> None:
    sketch = read(envelope(family, INTEGERS, 0, payload))
    assert isinstance(sketch, Other)
    assert (sketch.header, sketch.contents) == (Header(1, family, 1, 1, 2, 0), expected)


@pytest.mark.parametrize(
    ("family", "payload"),
    [
        pytest.param(0x35, fuse([5])[:-1], id="fuse: a byte missing"),
        pytest.param(0x35, fuse([5]) + b"\0", id="fuse: a byte too many"),
        pytest.param(0x35, struct.pack("<QQBI", 0, 1, 0, 0), id="fuse: a seed without keys"),
        pytest.param(0x35, struct.pack("<QQBI", 1, 0, 3, 1) + bytes(24), id="fuse: other segments"),
        pytest.param(0x35, struct.pack("<QQBI", 2**31 + 1, 0, 18, 9214), id="fuse: too many keys"),
        pytest.param(0x30, b"", id="table: no universe"),
        pytest.param(0x30, table(0, []), id="table: universe 0"),
        pytest.param(0x30, struct.pack("<Q", 2**36 + 1), id="table: universe too large"),
        pytest.param(0x30, struct.pack("<Q", 2**36), id="table: forged universe"),
        pytest.param(0x30, table(64, [1])[:-1], id="table: a byte missing"),
        pytest.param(0x30, table(64, [1]) + b"\0", id="table: a byte too many"),
        pytest.param(0x30, table(1, [1]), id="table: a one after the last bit"),
        pytest.param(0x31, bytes(19), id="bloom: capacity cut"),
        pytest.param(0x31, bloom(0, 1, 1, []), id="bloom: no bits"),
        pytest.param(0x31, struct.pack("<QIQ", 2**43 + 1, 1, 1), id="bloom: too many bits"),
        pytest.param(0x31, bloom(9, 0, 1, []), id="bloom: no hashes"),
        pytest.param(0x31, bloom(9, 65, 1, []), id="bloom: 65 hashes"),
        pytest.param(0x31, bloom(9, 1, 0, []), id="bloom: capacity 0"),
        pytest.param(0x31, bloom(9, 1, 2**43 + 1, []), id="bloom: capacity too large"),
        pytest.param(0x31, bloom(9, 1, 1, [1])[:-1], id="bloom: a byte missing"),
        pytest.param(0x31, bloom(9, 1, 1, [1]) + bytes(8), id="bloom: a word too many"),
        pytest.param(
            0x31, struct.pack("<QIQ", 1, 1, 1) + table(2, [1])[8:], id="bloom: a one after the last bit"
        ),
        pytest.param(0x32, bytes(15), id="blocked: capacity cut"),
        pytest.param(0x32, blocked(0, 1, []), id="blocked: no blocks"),
        pytest.param(0x32, struct.pack("<QQ", 2**34 + 1, 1), id="blocked: too many blocks"),
        pytest.param(0x32, blocked(1, 0, []), id="blocked: capacity 0"),
        pytest.param(0x32, blocked(1, 2**43 + 1, []), id="blocked: capacity too large"),
        pytest.param(0x32, blocked(1, 1, [])[:-8], id="blocked: a word missing"),
        pytest.param(0x32, blocked(1, 1, []) + bytes(8), id="blocked: a word too many"),
        pytest.param(0x33, bytes(17), id="counting: counter bits cut"),
        pytest.param(0x33, counting(0, 1, 4, 1), id="counting: no cells"),
        pytest.param(0x33, struct.pack("<QQBB", 2**43 + 1, 1, 1, 4), id="counting: too many cells"),
        pytest.param(0x33, counting(3, 1, 4, 0), id="counting: capacity 0"),
        pytest.param(0x33, counting(3, 1, 4, 2**43 + 1), id="counting: capacity too large"),
        pytest.param(0x33, counting(3, 0, 4, 1), id="counting: no hashes"),
        pytest.param(0x33, counting(3, 65, 4, 1), id="counting: 65 hashes"),
        *(pytest.param(0x33, counting(3, 1, bits, 1), id=f"counting: {bits} bits") for bits in (0, 1, 5, 64)),
        pytest.param(0x33, counting(3, 1, 4, 1)[:-1], id="counting: a byte missing"),
        pytest.param(0x33, counting(3, 1, 4, 1) + bytes(8), id="counting: a word too many"),
        pytest.param(
            0x33, struct.pack("<QQBBQ", 3, 1, 1, 4, 1 << 12), id="counting: a one after the last counter"
        ),
    ],
)
def test_a_payload_against_the_rules_is_invalid(family: int, payload: bytes) -> None:
    with pytest.raises(Invalid):
        read(envelope(family, INTEGERS, 0, payload))


@pytest.mark.parametrize("keys", [TEXT, HASHES])
def test_a_table_of_other_keys_than_integers_is_invalid(keys: tuple[int, int]) -> None:
    with pytest.raises(Invalid):
        read(envelope(0x30, keys, 0, table(1, [0])))
