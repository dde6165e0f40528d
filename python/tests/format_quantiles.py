"""Payloads of the rank sketches, read from docs/format.md alone.

A payload against the page's rules is a ValueError; format_reader.py says what the file then is.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from format_distinct import must
from format_frequency import stored_key

MOST = 2**64 - 1
UNIFORM, TAILS = 0, 1
HEAD = struct.Struct("<IBBBBQQ4Q6Q")

# Reads one value from the beginning of bytes, and returns the rest.
ReadValue = Callable[[bytes], tuple[Any, bytes]]


def capacity_at(size: int, depth: int) -> int:
    capacity = float(size)
    for _ in range(depth):
        capacity *= 2.0 / 3.0
    return max(8, math.ceil(capacity))


def depth_of(size: int) -> int:
    return (size - 1).bit_length() + 2


def capacity(size: int, levels: int) -> int:
    return sum(capacity_at(size, depth) for depth in range(min(levels, depth_of(size) + 1)))


def tails_capacity(size: int, compactions: int) -> int:
    section, count = float(size), 3
    while count < 64 and compactions >= 1 << (count - 1) and section / math.sqrt(2) >= 4:
        section, count = section / math.sqrt(2), 2 * count
    return 4 * 2 * math.floor(section / 2 + 0.5) * count


@dataclass(frozen=True)
class Level:
    compactions: int
    coin: int
    region: tuple[Any, Any] | None
    values: tuple[Any, ...]


@dataclass(frozen=True)
class RankSketch:
    size: int
    accuracy: int
    lowest: int
    count: int
    unordered: int
    generator: tuple[int, ...]
    compacted: int
    sampled: int
    most_error: int
    ends: tuple[Any, Any] | None
    block: tuple[int, int, Any]
    levels: tuple[Level, ...]
    places: tuple[tuple[tuple[Any, int], ...], ...]

    @classmethod
    def parse(cls, payload: bytes, value: ReadValue) -> RankSketch:
        must(len(payload) >= HEAD.size, f"payload of {len(payload)} bytes")
        size, accuracy, lowest, levels, reserved, count, unordered, *words = HEAD.unpack_from(payload)
        must(8 <= size <= 2**20 and size % 2 == 0, f"size {size}")
        must(accuracy in (UNIFORM, TAILS), f"accuracy {accuracy}")
        must(lowest <= (63 if accuracy == UNIFORM else 0), f"lowest level {lowest}")
        must(1 <= levels <= 64 - lowest, f"{levels} levels")
        must(reserved == 0, "a reserved byte")
        must(any(words[:4]), "generator all zero")
        compacted, sampled, most_error = (words[i] | words[i + 1] << 64 for i in (4, 6, 8))
        rest = payload[HEAD.size :]
        ends = None
        if count:
            least, rest = value(rest)
            greatest, rest = value(rest)
            must(least <= greatest, "ends in the wrong order")
            ends = (least, greatest)
        block: tuple[int, int, Any] = (0, 0, None)
        if lowest:
            must(len(rest) >= 16, "a block that is cut off")
            seen, pick = struct.unpack_from("<QQ", rest)
            must(max(seen, pick) < 1 << lowest, "a place after the end of the block")
            held, rest = value(rest[16:]) if seen else (None, rest[16:])
            block = (seen, pick, held)
        read: list[Level] = []
        for _ in range(levels):
            level, rest = read_level(rest, accuracy, value)
            read.append(level)
        places: list[tuple[tuple[Any, int], ...]] = []
        if accuracy == TAILS:
            for ascending in (True, False):
                side, rest = read_places(rest, ascending, value)
                places.append(side)
            must(bool(places[0]) == bool(places[1]), "places of error on one side only")
        must(not rest, f"{len(rest)} bytes after the last field")
        sketch = cls(
            size, accuracy, lowest, count, unordered, tuple(words[:4]), compacted, sampled, most_error,
            ends, block, tuple(read), tuple(places),
        )  # fmt: skip
        sketch.check()
        return sketch

    def check(self) -> None:
        weight = sum(len(level.values) << (self.lowest + i) for i, level in enumerate(self.levels))
        weight += self.block[0]
        expected = 0 if self.count == MOST else self.count
        must(weight == expected, f"a weight of {weight} for {self.count} values")
        if self.accuracy == UNIFORM:
            kept = sum(len(level.values) for level in self.levels)
            must(kept < capacity(self.size, len(self.levels)), f"{kept} values without a compaction")
        else:
            for level in self.levels:
                must(len(level.values) < tails_capacity(self.size, level.compactions), "a level too full")
        must((self.compacted + self.sampled > 0) == (self.most_error > 0), "errors without compactions")
        pending = any(level.coin for level in self.levels)
        must(not pending or self.compacted > 0, "a coin without a compaction")
        must(self.sampled == 0 or self.lowest > 0, "sampled values without a sampler")
        must(not any(self.places) or self.compacted > 0, "places of error without a compaction")
        if self.ends:
            least, greatest = self.ends
            values = [value for level in self.levels for value in level.values]
            values += [self.block[2]] if self.block[0] else []
            must(all(least <= value <= greatest for value in values), "a value outside of the ends")

    def weighted(self) -> list[tuple[Any, int]]:
        """All kept values in order, each with the number of values that it stands for."""
        pairs = [
            (value, 1 << (self.lowest + i)) for i, level in enumerate(self.levels) for value in level.values
        ]
        pairs += [(self.block[2], self.block[0])] if self.block[0] else []
        return sorted(pairs)

    @property
    def answer(self) -> float:
        return self.count

    def __str__(self) -> str:
        accuracy = ("uniform", "tails")[self.accuracy]
        return f"rank sketch, size {self.size}, {accuracy}: {self.count} values"


def read_level(rest: bytes, accuracy: int, value: ReadValue) -> tuple[Level, bytes]:
    must(len(rest) >= 9, "a level that is cut off")
    compactions, coin = struct.unpack_from("<QB", rest)
    rest = rest[9:]
    must(coin <= 2, f"coin {coin}")
    must(compactions == 0 or accuracy == TAILS, "compactions of a uniform sketch")
    region = None
    if coin and accuracy == TAILS:
        low, rest = value(rest)
        high, rest = value(rest)
        must(low <= high, "a region in the wrong order")
        region = (low, high)
    must(len(rest) >= 4, "a level that is cut off")
    (length,) = struct.unpack_from("<I", rest)
    rest = rest[4:]
    values = []
    for _ in range(length):
        item, rest = value(rest)
        values.append(item)
    must(all(one <= other for one, other in pairwise(values)), "values not in order")
    return Level(compactions, coin, region, tuple(values)), rest


def read_places(rest: bytes, ascending: bool, value: ReadValue) -> tuple[tuple[tuple[Any, int], ...], bytes]:
    must(len(rest) >= 1, "places of error that are cut off")
    length, rest = rest[0], rest[1:]
    must(length <= 64, f"{length} places of error")
    places = []
    for _ in range(length):
        place, rest = value(rest)
        must(len(rest) >= 16, "a variance that is cut off")
        low, high = struct.unpack_from("<QQ", rest)
        rest = rest[16:]
        must(low | high > 0, "a variance of 0")
        places.append((place, low | high << 64))
    for (one, _), (other, _) in pairwise(places):
        must(one < other if ascending else one > other, "places of error not in order")
    return tuple(places), rest


def _number(data: bytes) -> tuple[float, bytes]:
    must(len(data) >= 8, "a number that is cut off")
    (number,) = struct.unpack_from("<d", data)
    must(not math.isnan(number), "NaN")
    must(number != 0 or math.copysign(1, number) > 0, "zero with a sign")
    return number, data[8:]


class NumberQuantiles:
    """Quantiles of numbers."""

    @staticmethod
    def read(payload: bytes) -> RankSketch:
        return RankSketch.parse(payload, _number)


class KeyQuantiles:
    """Quantiles of texts, signed integers or hashes."""

    @staticmethod
    def read(payload: bytes, kind: int) -> RankSketch:
        def value(data: bytes) -> tuple[Any, bytes]:
            key, rest = stored_key(data, kind)
            if kind == 2 and isinstance(key, int) and key >= 2**63:
                key -= 2**64
            return key, rest

        return RankSketch.parse(payload, value)
