"""Holds docs/format.md to the golden files of the rank sketches.

The recipes are copied from the page by hand, and every coin is tossed by a generator written from the page
alone: the sketches agree only if each coin falls alike.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from format_counters import Generator
from format_quantiles import RankSketch, capacity, capacity_at, depth_of
from format_reader import Invalid, Other, read

GOLDEN = Path(__file__).parents[2] / "crates" / "crivo" / "tests" / "golden"


def number(i: int) -> float:
    return float((i * 0x9E3779B97F4A7C15 % 2**64) >> 48)


class Uniform:
    """A uniform rank sketch as the page describes it, value by value."""

    def __init__(self, size: int, seed: int, values: list[float]) -> None:
        self.size, self.generator = size, Generator.seeded(seed)
        self.levels: list[list[float]] = [[]]
        self.coins: list[int | None] = [None]
        self.lowest, self.seen, self.pick, self.held = 0, 0, 0, 0.0
        self.compacted = self.sampled = 0
        for value in values:
            self.show(value, 1)
            self.make_room()

    def show(self, value: float, weight: int) -> None:
        if self.lowest == 0:
            self.levels[0].append(value)
            return
        while weight:
            part = min(weight, (1 << self.lowest) - self.seen)
            if self.seen == 0 or self.seen <= self.pick < self.seen + part:
                self.held = value
            self.seen += part
            weight -= part
            if self.seen == 1 << self.lowest:
                self.levels[0].append(self.held)
                self.sampled += 4**self.lowest
                self.begin()

    def begin(self) -> None:
        self.seen, self.pick = 0, self.generator.bits() >> (64 - self.lowest)

    def make_room(self) -> None:
        while sum(map(len, self.levels)) >= capacity(self.size, len(self.levels)):
            if len(self.levels) > depth_of(self.size) + 1:
                if len(self.levels[0]) > 1:
                    self.compact(0)
                left, seen = self.levels.pop(0), self.seen
                self.coins.pop(0)
                self.lowest += 1
                self.begin()
                if seen:
                    self.show(self.held, seen)
                for value in left:
                    self.show(value, 1 << (self.lowest - 1))
                continue
            top = len(self.levels) - 1
            full = (i for i, level in enumerate(self.levels) if len(level) >= capacity_at(self.size, top - i))
            self.compact(next(full))

    def compact(self, level: int) -> None:
        if level + 1 == len(self.levels):
            self.levels.append([])
            self.coins.append(None)
        bits = self.generator.bits()
        values = sorted(self.levels[level])
        first, last = 0, len(values)
        if len(values) % 2:
            first, last = (1, last) if bits & 1 else (0, last - 1)
        elif bits & 1:
            first, last = 1, last - 1
        coin = self.coins[level]
        if coin is None:
            coin = bits >> 1 & 1
            self.coins[level] = coin
            self.compacted += 4 ** (self.lowest + level)
        else:
            self.coins[level], coin = None, 1 - coin
        self.levels[level + 1] += values[first + coin : last : 2]
        self.levels[level] = values[:first] + values[last:]


def stored(name: str) -> RankSketch:
    sketch = read((GOLDEN / f"{name}.bin").read_bytes())
    assert isinstance(sketch, Other) and isinstance(sketch.contents, RankSketch)
    return sketch.contents


@pytest.mark.parametrize(
    ("name", "size", "count"),
    [
        ("number_quantiles_v1_exact", 200, 100),
        ("number_quantiles_v1_compacted", 16, 1000),
        ("number_quantiles_v1_sampled", 8, 100_001),
    ],
)
def test_every_coin_falls_as_the_page_says(name: str, size: int, count: int) -> None:
    sketch = stored(name)
    mine = Uniform(size, 7, [number(i) for i in range(count)])
    assert [list(level.values) for level in sketch.levels] == [sorted(level) for level in mine.levels]
    assert [level.coin for level in sketch.levels] == [0 if c is None else 1 + c for c in mine.coins]
    assert (sketch.lowest, sketch.compacted, sketch.sampled) == (mine.lowest, mine.compacted, mine.sampled)
    assert sketch.generator == tuple(mine.generator.words)
    if sketch.lowest:
        held = mine.held if mine.seen else None
        assert sketch.block == (mine.seen, mine.pick, held)


def test_the_other_files_hold_what_the_page_says() -> None:
    assert stored("number_quantiles_v1_empty").count == 0
    extremes = stored("number_quantiles_v1_extremes")
    assert (extremes.count, extremes.unordered) == (5, 1)
    assert extremes.levels[0].values == (float("-inf"), 0.0, 5e-324, 1.5, 1.7976931348623157e308)
    weights = stored("number_quantiles_v1_weights")
    assert weights.count == sum((1 << i) + 1 for i in range(1, 13))
    assert stored("number_quantiles_v1_saturated").count == 2**64 - 1
    for merged in ("number_quantiles_v1_merged", "number_quantiles_v1_merged_tails"):
        assert stored(merged).count == 5300
    tails = stored("number_quantiles_v1_tails")
    median = next(v for v, below in running(tails) if below >= 5000)
    assert abs(median - 32768) < 2000
    assert stored("key_quantiles_v1_exact").levels[0].values[0].startswith(b"key ")
    assert stored("key_quantiles_v1_texts").count == 5000
    assert stored("key_quantiles_v1_integers").ends == (-500, 499)


def running(sketch: RankSketch) -> list[tuple[float, int]]:
    below, steps = 0, []
    for value, weight in sketch.weighted():
        below += weight
        steps.append((value, below))
    return steps


def test_a_state_that_no_values_lead_to_is_refused() -> None:
    import struct
    import zlib

    data = bytearray((GOLDEN / "number_quantiles_v1_exact.bin").read_bytes())
    data[36] ^= 1  # another count
    data[-4:] = struct.pack("<I", zlib.crc32(bytes(data[:-4])))
    with pytest.raises(Invalid):
        read(bytes(data))
