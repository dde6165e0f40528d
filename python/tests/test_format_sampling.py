"""Holds docs/format.md to the golden files of the samples.

The recipes are copied from the page by hand, and every draw is made by a generator written from the
page alone: the samples agree only if each coin falls alike.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from format_counters import Generator
from format_frequency import MOST, Key, stored
from format_reader import Contents, Header, Invalid, Other, TrailingBytes, Truncated, read
from format_sampling import Reservoir, WeightedReservoir
from test_format_distinct import HASHES, INTEGERS, TEXT, envelope

GOLDEN = Path(__file__).parents[2] / "crates" / "crivo" / "tests" / "golden"


def below(generator: Generator, places: int) -> int:
    """An index below a number of places, by the page's rejection."""
    while True:
        product = generator.bits() * places
        if product & MOST >= 2**64 % places:
            return product >> 64


class Sample:
    """A uniform sample as the page describes it, key by key."""

    def __init__(self, capacity: int, seed: int, keys: Iterable[Key] = ()) -> None:
        self.capacity, self.seen, self.chance, self.skip = capacity, 0, 1.0, 0
        self.generator = Generator.seeded(seed)
        self.items: list[Key] = []
        for key in keys:
            self.show(key if isinstance(key, bytes) else key & MOST)

    def show(self, key: Key) -> None:
        self.seen += 1
        if self.seen <= self.capacity:
            self.items.append(key)
            if self.seen == self.capacity:
                self.renew()
        elif self.skip:
            self.skip -= 1
        else:
            self.items[below(self.generator, self.capacity)] = key
            self.renew()

    def renew(self) -> None:
        self.chance *= math.exp(math.log(self.generator.unit()) / self.capacity)
        self.skip = self.generator.failures(self.chance)

    def join(self, other: Sample) -> Sample:
        """For samples that are both full."""
        left, taken = [self.seen, other.seen], [0, 0]
        for _ in range(self.capacity):
            stream = 0 if below(self.generator, sum(left)) < left[0] else 1
            left[stream] -= 1
            taken[stream] += 1
        self.items = self.chosen(self.items, taken[0]) + self.chosen(other.items, taken[1])
        self.seen += other.seen
        exponent = 0.0
        for j in range(self.capacity):
            exponent += math.log(self.generator.unit()) / (self.seen - j)
        self.chance = -math.expm1(exponent)
        self.skip = self.generator.failures(self.chance)
        return self

    def chosen(self, items: list[Key], count: int) -> list[Key]:
        for slot in range(count):
            other = slot + below(self.generator, len(items) - slot)
            items[slot], items[other] = items[other], items[slot]
        return items[:count]

    def contents(self) -> Reservoir:
        words = tuple(self.generator.words)
        return Reservoir(self.capacity, self.seen, self.chance, self.skip, words, tuple(self.items))


class WeightedSample:
    """A sample by weight as the page describes it, key by key."""

    def __init__(self, capacity: int, seed: int, keys: Iterable[tuple[Key, float]] = ()) -> None:
        self.capacity, self.seen, self.weightless, self.jump = capacity, 0, 0, 0.0
        self.generator = Generator.seeded(seed)
        self.items: list[tuple[float, Key]] = []
        for key, weight in keys:
            self.show(key, weight)

    def show(self, key: Key, weight: float) -> None:
        if weight == 0:
            self.weightless += 1
            return
        self.seen += 1
        if self.seen <= self.capacity:
            clock = -math.log(self.generator.unit()) / weight
        elif weight < self.jump:
            self.jump -= weight
            return
        else:
            last, _ = self.items.pop()
            clock = -math.log1p(self.generator.unit() * math.expm1(-weight * last)) / weight
            clock = min(clock, last)
        self.items.append((clock, key))
        self.items.sort()
        self.renew()

    def renew(self) -> None:
        if len(self.items) == self.capacity:
            self.jump = -math.log(self.generator.unit()) / self.items[-1][0]

    def join(self, other: WeightedSample) -> WeightedSample:
        self.items = sorted(self.items + other.items)[: self.capacity]
        self.seen += other.seen
        self.weightless += other.weightless
        self.renew()
        return self

    def contents(self) -> WeightedReservoir:
        words, items = tuple(self.generator.words), tuple(self.items)
        return WeightedReservoir(self.capacity, self.seen, self.weightless, self.jump, words, items)


def texts(first: int, end: int) -> list[Key]:
    return [f"key {i}".encode() for i in range(first, end)]


def weighted(first: int, end: int) -> list[tuple[Key, float]]:
    return list(zip(texts(first, end), map(float, range(first, end)), strict=True))


# Family, hash function and key kind, seed, contents.
Recipe = tuple[int, tuple[int, int], int, Callable[[], Sample | WeightedSample]]

RECIPES: dict[str, Recipe] = {
    "reservoir_v1_empty": (0x50, TEXT, 0, lambda: Sample(5, 0)),
    "reservoir_v1_filling": (0x50, TEXT, 0, lambda: Sample(100, 7, texts(0, 60))),
    "reservoir_v1_texts": (0x50, TEXT, 0, lambda: Sample(20, 7, texts(0, 100_000))),
    "reservoir_v1_integers": (0x50, INTEGERS, 7, lambda: Sample(50, 7, range(-1000, 1000))),
    "reservoir_v1_hash": (0x50, HASHES, 0, lambda: Sample(1, 7, (i << 57 & MOST for i in range(100)))),
    "reservoir_v1_merged": (
        0x50,
        TEXT,
        0,
        lambda: Sample(10, 1, texts(0, 1000)).join(Sample(10, 2, texts(1000, 1500))),
    ),
    "weighted_reservoir_v1_empty": (0x51, TEXT, 0, lambda: WeightedSample(5, 0)),
    "weighted_reservoir_v1_filling": (0x51, TEXT, 0, lambda: WeightedSample(100, 7, weighted(0, 60))),
    "weighted_reservoir_v1_texts": (0x51, TEXT, 0, lambda: WeightedSample(20, 7, weighted(0, 10_000))),
    "weighted_reservoir_v1_integers": (
        0x51,
        INTEGERS,
        0,
        lambda: WeightedSample(20, 7, ((i, i % 3 / 8) for i in range(500))),
    ),
    "weighted_reservoir_v1_merged": (
        0x51,
        TEXT,
        0,
        lambda: WeightedSample(10, 1, weighted(0, 1000)).join(WeightedSample(10, 2, weighted(1000, 1500))),
    ),
}
each_recipe = pytest.mark.parametrize("name", RECIPES)


def golden(name: str) -> bytes:
    return (GOLDEN / f"{name}.bin").read_bytes()


def packed(contents: Contents) -> bytes:
    if isinstance(contents, Reservoir):
        head = (contents.capacity, contents.seen, contents.chance, contents.skip, *contents.generator)
        return struct.pack("<IQdQ4Q", *head) + b"".join(map(stored, contents.items))
    assert isinstance(contents, WeightedReservoir)
    numbers = (contents.capacity, contents.seen, contents.weightless, contents.jump, *contents.generator)
    items = (struct.pack("<d", clock) + stored(key) for clock, key in contents.items)
    return struct.pack("<IQQd4Q", *numbers) + b"".join(items)


@each_recipe
def test_the_recipe_gives_everything_in_the_file(name: str) -> None:
    # The last bits of floats are those of the elementary functions, which differ between libraries.
    family, (function, kind), seed, sample = RECIPES[name]
    sketch, made = read(golden(name)), sample().contents()
    assert isinstance(sketch, Other)
    assert sketch.header == Header(1, family, 1, function, kind, seed)
    found = sketch.contents
    if isinstance(made, Reservoir):
        assert isinstance(found, Reservoir)
        assert found.chance == pytest.approx(made.chance, rel=1e-12)
        assert (found.capacity, found.seen, found.skip) == (made.capacity, made.seen, made.skip)
        assert found.items == made.items
    else:
        assert isinstance(found, WeightedReservoir)
        assert found.jump == pytest.approx(made.jump, rel=1e-9)
        assert (found.capacity, found.seen, found.weightless) == (made.capacity, made.seen, made.weightless)
        assert [key for _, key in found.items] == [key for _, key in made.items]
        clocks = [clock for clock, _ in made.items]
        assert [clock for clock, _ in found.items] == pytest.approx(clocks, rel=1e-12)
    assert found.generator == made.generator


@each_recipe
def test_the_contents_are_every_byte_of_the_file(name: str) -> None:
    family, keys, seed, _ = RECIPES[name]
    sketch = read(golden(name))
    assert isinstance(sketch, Other)
    assert envelope(family, keys, seed, packed(sketch.contents)) == golden(name)


@each_recipe
def test_a_file_that_is_cut_or_goes_on_is_refused(name: str) -> None:
    data = golden(name)
    for end in [*range(0, len(data), 97), len(data) - 1]:
        with pytest.raises(Truncated):
            read(data[:end])
    with pytest.raises(TrailingBytes):
        read(data + b"\0")


# The rules of the page, one by one, on forged payloads whose checksum is right.


def uniform(
    k: int = 2,
    seen: int = 2,
    chance: float = 0.5,
    skip: int = 3,
    word: int = 1,
    items: Iterable[int] = (7, 7),
) -> tuple[int, bytes]:
    return 0x50, packed(Reservoir(k, seen, chance, skip, (word, 0, 0, 0), tuple(items)))


def by_weight(
    k: int = 2,
    seen: int = 2,
    weightless: int = 0,
    jump: float = 4.0,
    word: int = 1,
    items: Iterable[tuple[float, int]] = ((0.5, 9), (2.0, 7)),
) -> tuple[int, bytes]:
    return 0x51, packed(WeightedReservoir(k, seen, weightless, jump, (word, 0, 0, 0), tuple(items)))


@pytest.mark.parametrize(
    "forged",
    [
        uniform(),
        uniform(skip=52),
        uniform(chance=1, skip=0),
        uniform(chance=2.0**-1022, skip=2**63 - 3),
        uniform(seen=2**63 - 4),
        uniform(3, chance=1, skip=0),
        uniform(2**32 - 1, chance=1, skip=0),
        by_weight(),
        by_weight(jump=0),
        by_weight(jump=18.3),
        by_weight(seen=2**63 - 1, weightless=2**63 - 1),
        by_weight(items=[(2, 7), (2, 9)]),
        by_weight(items=[(0, 7), (0, 7)], jump=math.inf),
        by_weight(3, jump=0),
    ],
)
def test_the_limits_are_read(forged: tuple[int, bytes]) -> None:
    family, payload = forged
    sketch = read(envelope(family, INTEGERS, 0, payload))
    assert isinstance(sketch, Other)
    assert (family, packed(sketch.contents)) == forged


FAULTS: dict[str, tuple[int, bytes]] = {
    "generator cut": (0x50, bytes(59)),
    "capacity 0": uniform(0, items=()),
    "too many seen": uniform(seen=2**63, skip=0),
    "chance while filling": uniform(3, skip=0),
    "skip while filling": uniform(3, chance=1),
    "chance 0": uniform(chance=0, skip=0),
    "chance too small": uniform(chance=2.0**-1023, skip=0),
    "chance above 1": uniform(chance=1.5, skip=0),
    "chance not a number": uniform(chance=math.nan, skip=0),
    "skip too long": uniform(skip=54),
    "skip of a certain key": uniform(chance=1, skip=1),
    "skip past the end": uniform(chance=2.0**-1022, skip=2**63 - 2),
    "generator zero": uniform(word=0),
    "an item missing": uniform(items=[7]),
    "an item too many": uniform(items=[7, 7, 7]),
    "weighted: generator cut": (0x51, bytes(59)),
    "weighted: capacity 0": by_weight(0, items=()),
    "weighted: too many seen": by_weight(seen=2**63),
    "weighted: too many weightless": by_weight(weightless=2**63),
    "weighted: jump while filling": by_weight(3),
    "weighted: jump −0": by_weight(jump=-0.0),
    "weighted: jump below 0": by_weight(jump=-1),
    "weighted: jump not a number": by_weight(jump=math.nan),
    "weighted: jump too long": by_weight(jump=18.4),
    "weighted: jump without end": by_weight(jump=math.inf),
    "weighted: generator zero": by_weight(word=0),
    "weighted: clock −0": by_weight(items=[(-0.0, 9), (2, 7)]),
    "weighted: clock not finite": by_weight(items=[(0.5, 9), (math.inf, 7)], jump=0),
    "weighted: clock not a number": by_weight(items=[(0.5, 9), (math.nan, 7)], jump=0),
    "weighted: clocks descend": by_weight(items=[(2, 9), (0.5, 7)]),
    "weighted: keys descend": by_weight(items=[(2, 9), (2, 7)]),
    "weighted: an item missing": by_weight(items=[(0.5, 9)]),
    "weighted: an item too many": by_weight(items=[(0.5, 9), (2, 7), (2, 7)]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_payload_against_the_rules_is_invalid(fault: str) -> None:
    family, payload = FAULTS[fault]
    with pytest.raises(Invalid):
        read(envelope(family, INTEGERS, 0, payload))
