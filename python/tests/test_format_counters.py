"""Holds docs/format.md to the golden files of the counters.

The recipes are copied from the page by hand, and every draw is made by a generator written from the
page alone: the bytes agree only if each coin falls alike.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from format_counters import MOST, CounterArray, Generator, MorrisCounter, SampledCounter, chance, highest
from format_reader import Header, Invalid, Other, TrailingBytes, Truncated, read
from test_format_distinct import HASHES, INTEGERS, envelope

GOLDEN = Path(__file__).parents[2] / "crates" / "crivo" / "tests" / "golden"


class Sampled:
    """A counter as the page describes it, event by event where that is quick enough."""

    def __init__(self, probability: float, seed: int, events: int) -> None:
        self.probability, self.value = probability, 0
        self.generator = Generator.seeded(seed)
        self.skip = self.generator.skip(probability)
        if probability == 1:
            self.value = events
            return
        while self.skip < events:
            events -= self.skip + 1
            self.value += 1
            self.skip = self.generator.skip(probability)
        self.skip -= events

    def joined(self, other: Sampled) -> Sampled:
        self.value += other.value
        return self

    def payload(self) -> bytes:
        return struct.pack("<dQQ4Q", self.probability, self.value, self.skip, *self.generator.words)


class Morris:
    def __init__(self, base: float, bits: int, seed: int, events: int) -> None:
        self.base, self.bits, self.value = base, bits, 0
        self.generator = Generator.seeded(seed)
        self.skip = self.generator.skip(self.chance())
        self.add(events)

    def chance(self) -> float:
        return chance(self.base, self.bits, self.value)

    def add(self, events: int) -> Morris:
        while self.value < highest(self.base, self.bits):
            if events <= self.skip:
                self.skip -= events
                break
            events -= self.skip + 1
            self.value += 1
            self.skip = self.generator.skip(self.chance())
        return self

    def joined(self, other: Morris) -> Morris:
        before = self.value
        self.value = max(before, other.value)
        for step in range(min(before, other.value)):
            if self.value < highest(self.base, self.bits):
                self.value += self.generator.unit() < self.base ** (step - self.value)
        if self.value != before:
            self.skip = self.generator.skip(self.chance())
        return self

    def payload(self) -> bytes:
        words = self.generator.words
        return struct.pack("<dBHQ4Q", self.base, self.bits, self.value, self.skip, *words)


class Array:
    """An array after 1000/(i + 1) events of each index i."""

    def __init__(self, count: int, bits: int, base: float, seed: int) -> None:
        self.bits, self.base, self.values = bits, base, [0] * count
        self.generator = Generator.seeded(seed)
        for index in range(count):
            for _ in range(1000 // (index + 1)):
                self.values[index] += self.coin(self.values[index]) and self.can_grow(index)

    def can_grow(self, index: int) -> bool:
        return self.values[index] < highest(self.base, self.bits)

    def coin(self, exponent: int) -> bool:
        if self.bits == 16:
            high = int(self.base ** -(exponent >> 8 << 8) * 2**63)
            limit = int(self.base ** -(exponent & 255) * 2**63) * high >> 63
        else:
            limit = int(self.base**-exponent * 2**63)
        return self.generator.bits() >> 1 < limit

    def joined(self, other: Array) -> Array:
        for index, theirs in enumerate(other.values):
            mine = self.values[index]
            self.values[index] = max(mine, theirs)
            for step in range(min(mine, theirs)):
                if self.can_grow(index):
                    self.values[index] += self.coin(self.values[index] - step)
        return self

    def add(self, index: int, events: int) -> Array:
        while self.can_grow(index):
            failures = self.generator.failures(self.base ** -self.values[index])
            if events <= failures:
                break
            events -= failures + 1
            self.values[index] += 1
        return self

    def payload(self) -> bytes:
        if self.bits == 4:
            pairs = [*self.values, 0]
            body = bytes(a | b << 4 for a, b in zip(pairs[:-1:2], pairs[1::2], strict=True))
        else:
            body = struct.pack(f"<{len(self.values)}{'B' if self.bits == 8 else 'H'}", *self.values)
        return struct.pack("<QBd4Q", len(self.values), self.bits, self.base, *self.generator.words) + body


RECIPES: dict[str, tuple[int, Callable[[], Sampled | Morris | Array]]] = {
    "sampled_counter_v1_empty": (0x10, lambda: Sampled(1 / 2, 0, 0)),
    "sampled_counter_v1_half": (0x10, lambda: Sampled(1 / 2, 7, 10_000)),
    "sampled_counter_v1_rare": (0x10, lambda: Sampled(1 / 64, MOST, 1_000_000)),
    "sampled_counter_v1_every": (0x10, lambda: Sampled(1, 3, 123_456_789)),
    "sampled_counter_v1_merged": (0x10, lambda: Sampled(1 / 4, 1, 1000).joined(Sampled(1 / 4, 2, 500))),
    "morris_counter_v1_empty": (0x11, lambda: Morris(2, 8, 0, 0)),
    "morris_counter_v1_base_two": (0x11, lambda: Morris(2, 8, 7, 1_000_000)),
    "morris_counter_v1_byte": (0x11, lambda: Morris(1.084, 8, 7, 1_000_000_000)),
    "morris_counter_v1_wide": (0x11, lambda: Morris(1.0002, 16, 7, 1_000_000)),
    "morris_counter_v1_saturated": (0x11, lambda: Morris(2, 4, 1, 10_000_000)),
    "morris_counter_v1_merged": (
        0x11,
        lambda: Morris(1.084, 8, 1, 100_000).joined(Morris(1.084, 8, 2, 50_000)).add(10),
    ),
    "counter_array_v1_nibbles": (0x12, lambda: Array(31, 4, 1.5, 7)),
    "counter_array_v1_bytes": (0x12, lambda: Array(100, 8, 1.084, 7)),
    "counter_array_v1_words": (0x12, lambda: Array(50, 16, 1.01, 7)),
    "counter_array_v1_merged": (
        0x12,
        lambda: Array(20, 8, 1.084, 5).joined(Array(20, 8, 1.084, 6)).add(19, 1_000_000),
    ),
}
each_recipe = pytest.mark.parametrize("name", RECIPES)

# How many events there were, and how near the answer must be: six standard errors.
ANSWERS: dict[str, tuple[float, float]] = {
    "sampled_counter_v1_empty": (0, 0),
    "sampled_counter_v1_half": (10_000, 0.06),
    "sampled_counter_v1_rare": (1_000_000, 0.05),
    "sampled_counter_v1_every": (123_456_789, 0),
    "sampled_counter_v1_merged": (1500, 0.27),
    "morris_counter_v1_wide": (1_000_000, 0.06),
    "counter_array_v1_bytes": (sum(1000 // (i + 1) for i in range(100)), 0.4),
    "counter_array_v1_words": (sum(1000 // (i + 1) for i in range(50)), 0.15),
}


def golden(name: str) -> bytes:
    return (GOLDEN / f"{name}.bin").read_bytes()


@each_recipe
def test_the_recipe_gives_every_byte_of_the_file(name: str) -> None:
    family, build = RECIPES[name]
    assert envelope(family, HASHES, 0, build().payload()) == golden(name)


@each_recipe
def test_the_file_is_read(name: str) -> None:
    sketch = read(golden(name))
    assert isinstance(sketch, Other)
    assert sketch.header == Header(1, RECIPES[name][0], 1, 0, 3, 0)
    if name in ANSWERS:
        events, error = ANSWERS[name]
        assert sketch.contents.answer == pytest.approx(events, rel=error)


@each_recipe
def test_a_file_that_is_cut_or_goes_on_is_refused(name: str) -> None:
    data = golden(name)
    for end in range(len(data)):
        with pytest.raises(Truncated):
            read(data[:end])
    with pytest.raises(TrailingBytes):
        read(data + b"\0")


# The rules of the page, one by one, on forged payloads whose checksum is right.

WORDS = (1, 2, 3, 4)


def sampled(p: float = 0.5, value: int = 9, skip: int = 3, words: tuple[int, ...] = WORDS) -> bytes:
    return struct.pack("<dQQ4Q", p, value, skip, *words)


def morris(
    base: float = 1.5, bits: int = 8, value: int = 9, skip: int = 3, words: tuple[int, ...] = WORDS
) -> bytes:
    return struct.pack("<dBHQ4Q", base, bits, value, skip, *words)


def array(
    count: int = 3,
    bits: int = 4,
    base: float = 1.5,
    words: tuple[int, ...] = WORDS,
    body: bytes = b"\x21\x03",
) -> bytes:
    return struct.pack("<QBd4Q", count, bits, base, *words) + body


@pytest.mark.parametrize(
    ("family", "payload", "contents"),
    [
        (0x10, sampled(), SampledCounter(0.5, 9, 3, WORDS)),
        (0x10, sampled(2.0**-64, MOST, MOST), SampledCounter(2.0**-64, MOST, MOST, WORDS)),
        (0x11, morris(), MorrisCounter(1.5, 8, 9, 3, WORDS)),
        (0x11, morris(2, 4, 15, MOST), MorrisCounter(2, 4, 15, MOST, WORDS)),
        (0x12, array(), CounterArray(4, 1.5, (1, 2, 3), WORDS)),
        (0x12, array(1, 16, body=b"\x01\x01"), CounterArray(16, 1.5, (257,), WORDS)),
    ],
)
def test_what_the_rules_allow_is_read(family: int, payload: bytes, contents: object) -> None:
    sketch = read(envelope(family, HASHES, 0, payload))
    assert isinstance(sketch, Other)
    assert (sketch.header, sketch.contents) == (Header(1, family, 1, 0, 3, 0), contents)


@pytest.mark.parametrize(
    ("family", "payload"),
    [
        pytest.param(0x10, sampled()[:-1], id="sampled: a byte missing"),
        pytest.param(0x10, sampled() + b"\0", id="sampled: a byte too many"),
        pytest.param(0x10, sampled(0.0), id="sampled: probability 0"),
        pytest.param(0x10, sampled(1.5), id="sampled: probability above 1"),
        pytest.param(0x10, sampled(float("nan")), id="sampled: probability NaN"),
        pytest.param(0x10, sampled(skip=1000), id="sampled: skip too long"),
        pytest.param(0x10, sampled(words=(0, 0, 0, 0)), id="sampled: generator zero"),
        pytest.param(0x11, morris() + b"\0", id="morris: a byte too many"),
        pytest.param(0x11, morris(1.0), id="morris: base 1"),
        pytest.param(0x11, morris(2.1), id="morris: base above 2"),
        pytest.param(0x11, morris(bits=3), id="morris: 3 bits"),
        pytest.param(0x11, morris(bits=17), id="morris: 17 bits"),
        pytest.param(0x11, morris(2, 4, 16), id="morris: value too high"),
        pytest.param(0x11, morris(2, 4, 15, 3), id="morris: skip at the highest value"),
        pytest.param(0x11, morris(words=(0, 0, 0, 0)), id="morris: generator zero"),
        pytest.param(0x12, array(0, body=b""), id="array: no counters"),
        pytest.param(0x12, array(bits=5), id="array: 5 bits"),
        pytest.param(0x12, array(base=1.0), id="array: base 1"),
        pytest.param(0x12, array(body=b"\x21\x13"), id="array: a half after the last"),
        pytest.param(0x12, array(body=b"\x21"), id="array: a byte missing"),
        pytest.param(0x12, array(2**63, body=b""), id="array: forged number of counters"),
        pytest.param(0x12, array(1, 16, 2, body=b"\xff\xff"), id="array: value too high"),
        pytest.param(0x12, array(words=(0, 0, 0, 0)), id="array: generator zero"),
    ],
)
def test_a_payload_against_the_rules_is_invalid(family: int, payload: bytes) -> None:
    with pytest.raises(Invalid):
        read(envelope(family, HASHES, 0, payload))


@pytest.mark.parametrize(("keys", "seed"), [(INTEGERS, 0), ((1, 1), 0), (HASHES, 1)])
def test_a_counter_with_keys_is_invalid(keys: tuple[int, int], seed: int) -> None:
    with pytest.raises(Invalid):
        read(envelope(0x10, keys, seed, sampled()))
