"""Holds docs/format.md to the golden files of similarity, quantiles and private counts.

The recipes are copied from the page by hand; the hashes come from the xxhash package, so nothing
here can agree with crivo by sharing its code.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import xxhash
from format_counters import Generator
from format_private import PrivateCountMean, Reports, hash_of, place
from format_profile import DDSketch, units
from format_reader import Invalid, Other, read
from format_sampling import Reservoir
from format_similarity import MinHash
from test_format_distinct import HASHES, INTEGERS, SOME, TEXT, envelope, integers, texts
from test_format_sampling import Sample

GOLDEN = Path(__file__).parents[2] / "crates" / "crivo" / "tests" / "golden"
MOST = 2**64 - 1


def contents(name: str) -> Any:
    sketch = read((GOLDEN / f"{name}.bin").read_bytes())
    assert isinstance(sketch, Other)
    return sketch.contents


# ---- MinHash ----


def key_of_round(r: int) -> int:
    x = (r + 1) * 0x9E3779B97F4A7C15 & MOST
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MOST
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MOST
    return x ^ x >> 31


def slots(k: int, hashes: Sequence[int]) -> bytes:
    if not hashes:
        return struct.pack("<II", k, 0)
    found = [1 << 64] * k
    for r in range(2 * k):
        y = key_of_round(r)
        for h in hashes:
            x = (h ^ y) * 0xBF58476D1CE4E5B9 & MOST
            x = (x ^ x >> 32) * 0x94D049BB133111EB & MOST
            slot, low = divmod(x * k, 1 << 64) if r < k else (r - k, x)
            found[slot] = min(found[slot], (r << 48) + (low >> 16))
        if max(found) <= MOST:
            break
    return struct.pack(f"<II{k}Q", k, k, *found)


MIN_HASHES: dict[str, tuple[tuple[int, int], int, Callable[[], bytes]]] = {
    "empty": (TEXT, 0, lambda: slots(128, [])),
    "one_slot": (TEXT, 0, lambda: slots(1, texts(1000))),
    "one_key": (TEXT, 0, lambda: slots(50, texts(1))),
    "words": (TEXT, 0, lambda: slots(400, texts(300))),
    "other_words": (TEXT, 0, lambda: slots(400, texts(400)[100:])),
    "many": (TEXT, 0, lambda: slots(128, texts(100_000))),
    "integers": (INTEGERS, 7, lambda: slots(100, integers(100, 7, -50))),
    "hashes": (HASHES, MOST, lambda: slots(9, SOME)),
}


@pytest.mark.parametrize("name", MIN_HASHES)
def test_the_slots_are_those_of_the_page(name: str) -> None:
    keys, seed, payload = MIN_HASHES[name]
    assert envelope(0x60, keys, seed, payload()) == (GOLDEN / f"min_hash_v1_{name}.bin").read_bytes()


def test_the_similarity_is_the_share_of_equal_slots() -> None:
    words, others = contents("min_hash_v1_words"), contents("min_hash_v1_other_words")
    assert isinstance(words, MinHash) and words.similarity(others) == 0.4875


@pytest.mark.parametrize(
    "payload",
    [
        struct.pack("<II", 0, 0),
        struct.pack("<II", 32768, 0),
        struct.pack("<II", 2, 1) + bytes(8),
        struct.pack("<IIQQ", 2, 2, 0, 2 << 48),
        struct.pack("<IIQQ", 2, 2, 1 << 48, 1 << 48),
        struct.pack("<IIQ", 1, 1, 0) + b"\0",
    ],
)
def test_slots_against_the_rules_are_invalid(payload: bytes) -> None:
    with pytest.raises(Invalid):
        read(envelope(0x60, TEXT, 0, payload))


# ---- DDSketch ----


def counted(accuracy: float, max_bins: int, numbers: Iterable[float], level: int = 0) -> DDSketch:
    """The sketch of numbers whose level is known, from the page's formulas."""
    empty = DDSketch(accuracy, max_bins, level, 0, 0, (), ())
    numbers = list(numbers)
    finite = [number for number in numbers if math.isfinite(number)]
    bins = Counter(empty.bin(number) for number in finite)

    def side(sign: int) -> tuple[tuple[int, int], ...]:
        return tuple(sorted((number, count) for (of, number), count in bins.items() if of == sign))

    total = sum(units(number) for number in finite)
    rest = (min(finite), max(finite), total) if finite else ()
    outside = len(numbers) - len(finite)
    return DDSketch(accuracy, max_bins, level, bins[0, 0], outside, side(-1), side(1), *rest)


def saturated() -> DDSketch:
    """The sum of too many numbers is given up."""
    one = counted(0.01, 100, [1, -2])
    (below, _), (above, _) = one.negative[0], one.positive[0]
    return DDSketch(0.01, 100, 0, 0, 0, ((below, MOST - 1),), ((above, MOST - 1),), -2.0, 1.0, 0)


LARGEST = math.ldexp(2 - 2.0**-52, 1023)
EXTREMES = [LARGEST, -LARGEST, 2.0**-1074, 2.0**-1022, 0.0, -0.0, math.nan, math.inf]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("empty", lambda: counted(0.01, 2073, [])),
        ("integers", lambda: counted(0.01, 2073, range(-100, 1001))),
        ("halves", lambda: counted(0.001, 4096, [i / 2 for i in range(-9, 10)])),
        ("joined", lambda: counted(0.01, 50, [i * i + 1.0 for i in range(4000)], level=4)),
        ("extremes", lambda: counted(0.01, 16, EXTREMES)),
        ("weights", lambda: counted(0.05, 64, [i / 4 for i in range(1, 21) for _ in range(1 << i)])),
        ("saturated", saturated),
    ],
)
def test_the_bins_are_those_of_the_page(name: str, expected: Callable[[], DDSketch]) -> None:
    assert contents(f"ddsketch_v1_{name}") == expected()


def test_bins_are_joined_no_further_than_needed() -> None:
    numbers = [i * i + 1.0 for i in range(4000)]
    before, after = counted(0.01, 50, numbers, level=3), counted(0.01, 50, numbers, level=4)
    assert len(after.positive) <= 50 < len(before.positive)


# ---- private counts ----


@pytest.mark.parametrize(
    ("name", "keys"),
    [("texts", [f"key {i * i % 10}" for i in range(50)]), ("integers", list(range(-20, 20)))],
)
def test_reports_are_read_and_counted(name: str, keys: list[str | int]) -> None:
    file = (GOLDEN / f"private_reports_v1_{name}.reports").read_bytes()
    reports = Reports.read(file)
    assert len(reports.reports) == len(keys)
    counts = reports.counted()
    assert sum(counts.reports) == len(keys)
    if name == "integers":
        assert counts == contents("private_count_mean_v1_integers")
    else:
        # With this epsilon seven bits of eight are as they were, that of the key among them.
        kept = sum(
            bits >> place(hash_of(key, reports.seed), row, reports.width) & 1
            for key, (row, bits) in zip(keys, reports.reports, strict=True)
        )
        assert kept > 30
    for position in range(0, 8 * len(file), 61):
        changed = bytearray(file)
        changed[position // 8] ^= 1 << position % 8
        with pytest.raises(ValueError):
            Reports.read(bytes(changed))


def threshold(epsilon: float) -> int:
    """What the page calls t, in whole numbers."""
    one = 1 << 63
    y, s = int(epsilon * 2**57), one
    for j in range(20, 0, -1):
        s = one - (y * s >> 63) // j
    for _ in range(5):
        s = s * s >> 63
    return (s << 64) // (one + s) + 257


def report(words: Generator, epsilon: float, rows: int, width: int, h: int) -> tuple[int, int]:
    row, bits, t = words.bits() * rows >> 64, 0, threshold(epsilon)
    for first in range(0, width, 64):
        ones, undecided, digits = 0, MOST, t
        while undecided and digits:
            word, digit = words.bits(), digits >> 63
            digits = digits << 1 & MOST
            if digit:
                ones |= undecided & ~word
                undecided &= word
            else:
                undecided &= ~word & MOST
        bits |= ones << first
    return row, (bits & (1 << width) - 1) ^ 1 << place(h, row, width)


@pytest.mark.parametrize(
    ("name", "sizes", "seed", "hashes"),
    [
        ("texts", (4.0, 16, 64), 7, lambda: [hash_of(f"key {i * i % 10}", 0) for i in range(1000)]),
        ("integers", (0.5, 100, 13), MOST, lambda: [hash_of(i, 7) for i in range(-20, 20)]),
        ("empty", (1.0, 3, 5), 0, lambda: []),
    ],
)
def test_reports_are_made_as_the_page_says(
    name: str, sizes: tuple[float, int, int], seed: int, hashes: Callable[[], list[int]]
) -> None:
    words = Generator.seeded(seed)
    reports = tuple(report(words, *sizes, h) for h in hashes())
    assert Reports(1, 0, *sizes, reports).counted() == contents(f"private_count_mean_v1_{name}")


# ---- windows and profiles ----


def test_panes_are_where_their_times_are() -> None:
    words, before = contents("panes_v1_words"), contents("panes_v1_before")
    assert (words.width, words.capacity, words.late, words.latest) == (100, 11, 5, 29)
    assert [number for number, _ in words.panes] == list(range(19, 30))
    assert (before.width, before.capacity, before.late, before.latest) == (10, 5, 4, 0)
    times = {0: [0], -1: [-1, -10], -2: [-11]}
    hashes = {pane: sorted(hash_of(time, 7) for time in of) for pane, of in times.items()}
    assert {number: list(sketch.hashes) for number, sketch in before.panes} == hashes
    samples, counters = contents("panes_v1_samples"), contents("panes_v1_counters")
    assert [(number, sample.seen) for number, sample in samples.panes] == [(i, 100) for i in range(6, 10)]
    assert [number for number, _ in counters.panes] == [2**63 - 2, 2**63 - 1]
    assert contents("panes_v1_empty").panes == ()


def is_same(drawn: Sample, stored: Reservoir) -> bool:
    """But for the last bits of a chance: elementary functions differ there."""
    is_near = math.isclose(drawn.chance, stored.chance, rel_tol=1e-13)
    return is_near and replace(drawn.contents(), chance=stored.chance) == stored


def test_panes_toss_coins_of_their_own() -> None:
    samples = contents("panes_v1_samples")
    state = struct.pack("<4Q", *samples.empty.generator)
    for number, sample in samples.panes:
        seed = xxhash.xxh3_64_intdigest(state, number)
        drawn = Sample(3, seed, [f"key {i}".encode() for i in range(100 * number, 100 * number + 100)])
        assert is_same(drawn, sample)


def test_profiles_hold_what_the_values_say() -> None:
    values = [i * i % 101 - 50 for i in range(1000)]
    profile = contents("column_profile_v1_integers")
    assert profile.sizes == (6, 10, 5, 0.01, 100, 12)
    assert (profile.missing, profile.kinds, profile.long) == (3, (0, 1000, 0, 0, 0, 0), 0)
    lengths = [len(str(value)) for value in values]
    assert profile.lengths == (min(lengths), max(lengths), sum(lengths))
    assert profile.texts == (min(map(str, values)).encode(), max(map(str, values)).encode())
    assert profile.integers == (-50, 50, 0)
    distinct, top, sample, numbers = profile.parts
    assert numbers == counted(0.01, 100, values, numbers.level)
    assert is_same(Sample(5, 7, [str(value).encode() for value in values]), sample)
    assert top.total == sample.seen == 1000 and distinct.precision == 6
    large = contents("column_profile_v1_large").integers
    exact = [-(2**63), 2**63 - 1, 2**53 + 1, 0, -1]
    assert large == (-(2**63), 2**63 - 1, sum(exact) - sum(int(float(value)) for value in exact))
    kinds = contents("column_profile_v1_kinds")
    assert kinds.kinds == (1, 1, 2, 1, 1, 3) and kinds.texts == (b"", "á".encode())
    merged = contents("column_profile_v1_merged")
    assert merged.kinds == (0, 500, 500, 0, 0, 0) and merged.missing == 1
    assert contents("column_profile_v1_missing").missing == 1234
    assert contents("column_profile_v1_empty").answer == 0


RECIPES = {
    *(f"min_hash_v1_{name}" for name in MIN_HASHES),
    *(
        f"ddsketch_v1_{name}"
        for name in ["empty", "integers", "halves", "joined", "extremes", "weights", "saturated"]
    ),
    *(f"private_count_mean_v1_{name}" for name in ("texts", "integers", "empty")),
    *(f"panes_v1_{name}" for name in ("empty", "words", "before", "samples", "counters")),
    *(f"column_profile_v1_{name}" for name in ["empty", "missing", "integers", "large", "kinds", "merged"]),
}


def test_the_unbiased_answer_is_that_of_the_page() -> None:
    texts = contents("private_count_mean_v1_texts")
    assert isinstance(texts, PrivateCountMean)
    found = [round(texts.unbiased(hash_of(f"key {i}", 0))) for i in range(3)]
    assert found == [92, 187, -15]
