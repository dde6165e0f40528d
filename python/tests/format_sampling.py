"""Payloads of the samples, read from docs/format.md alone.

A payload against the page's rules is a ValueError; format_reader.py says what the file then is.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from itertools import pairwise

from format_distinct import fields, must
from format_frequency import Key, stored_key

LONGEST = -math.log(2.0**-53)  # minus the logarithm of the smallest unit


def slack(bound: float) -> float:
    """A bound with room for elementary functions that differ in their last bits."""
    return bound * (1 + 1e-15)


def numbers(layout: str, payload: bytes) -> tuple[float, ...]:
    must(len(payload) >= struct.calcsize("<" + layout), f"payload of {len(payload)} bytes")
    return struct.unpack_from("<" + layout, payload)


@dataclass(frozen=True)
class Reservoir:
    capacity: int
    seen: int
    chance: float
    skip: int
    generator: tuple[int, ...]
    items: tuple[Key, ...]

    @classmethod
    def read(cls, payload: bytes, kind: int) -> Reservoir:
        capacity, seen, _, skip, *words = fields("IQQQ4Q", payload)
        (chance,) = numbers("d", payload[12:])
        must(capacity >= 1, "capacity 0")
        must(seen < 2**63, f"{seen} keys seen")
        must(any(words), "generator all zero")
        if seen < capacity:
            must((chance, skip) == (1, 0), f"chance {chance} and skip {skip} before the sample is full")
        else:
            must(2.0**-1022 <= chance <= 1, f"chance {chance}")
            longest = slack(LONGEST / -math.log1p(-chance)) if chance < 1 else 0
            must(skip <= longest, f"skip of {skip}, at most {longest}")
            must(seen + skip < 2**63, f"skip of {skip} after {seen} keys")
        items, rest = [], payload[60:]
        for _ in range(min(capacity, seen)):
            key, rest = stored_key(rest, kind)
            items.append(key)
        must(not rest, f"{len(rest)} bytes after the last item")
        return cls(capacity, seen, chance, skip, tuple(words), tuple(items))

    @property
    def answer(self) -> float:
        return self.seen

    def __str__(self) -> str:
        return f"Reservoir, capacity {self.capacity}: {len(self.items)} of {self.seen} keys"


@dataclass(frozen=True)
class WeightedReservoir:
    """Items are a clock and a key."""

    capacity: int
    seen: int
    weightless: int
    jump: float
    generator: tuple[int, ...]
    items: tuple[tuple[float, Key], ...]

    @classmethod
    def read(cls, payload: bytes, kind: int) -> WeightedReservoir:
        capacity, seen, weightless, _, *words = fields("IQQQ4Q", payload)
        (jump,) = numbers("d", payload[20:])
        must(capacity >= 1, "capacity 0")
        must(seen < 2**63, f"{seen} keys seen")
        must(weightless < 2**63, f"{weightless} keys of weight 0 seen")
        must(any(words), "generator all zero")
        items, rest = [], payload[60:]
        for _ in range(min(capacity, seen)):
            (clock,) = numbers("d", rest)
            must(math.isfinite(clock) and math.copysign(1, clock) > 0, f"clock {clock}")
            key, rest = stored_key(rest[8:], kind)
            items.append((clock, key))
        must(not rest, f"{len(rest)} bytes after the last item")
        # Python orders pairs by the clock and then by the key, and bytes as the page does.
        must(all(a <= b for a, b in pairwise(items)), "items not in the order of their clocks and keys")
        must(math.copysign(1, jump) > 0 and jump >= 0, f"jump {jump}")
        if seen < capacity:
            must(jump == 0, f"jump {jump} before the sample is full")
        else:
            last = items[-1][0]
            longest = slack(LONGEST / last) if last > 0 else math.inf
            must(jump <= longest, f"jump {jump}, at most {longest}")
        return cls(capacity, seen, weightless, jump, tuple(words), tuple(items))

    @property
    def answer(self) -> float:
        return self.seen + self.weightless

    def __str__(self) -> str:
        return f"WeightedReservoir, capacity {self.capacity}: {len(self.items)} of {self.answer} keys"


MASK = 2**64 - 1


def mixed(x: int) -> int:
    """The first value of SplitMix64 from a seed."""
    x = x + 0x9E3779B97F4A7C15 & MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


@dataclass(frozen=True)
class RowSample:
    """Rows are a number, a place and the bytes."""

    capacity: int
    weighted: bool
    seen: int
    weightless: int
    rows: tuple[tuple[int, int, Key], ...]

    @classmethod
    def read(cls, payload: bytes, kind: int, seed: int) -> RowSample:
        must(kind == 1, f"key kind {kind}")
        capacity, draws, seen, weightless = fields("IBQQ", payload)
        must(capacity >= 1, "capacity 0")
        must(draws <= 1, f"draws {draws}")
        must(draws == 1 or weightless == 0, f"{weightless} rows without a weight in a uniform sample")
        rows, rest = [], payload[21:]
        for _ in range(min(capacity, seen)):
            number, place = fields("QQ", rest)
            if draws:
                must(number <= 0x7FEFFFFFFFFFFFFF, f"clock {number:x}")
            else:
                must(number == mixed(mixed(seed) ^ place), f"number {number:x} of place {place}")
            row, rest = stored_key(rest[16:], 1)
            rows.append((number, place, row))
        must(not rest, f"{len(rest)} bytes after the last row")
        must(all(a[:2] < b[:2] for a, b in pairwise(rows)), "rows not in the order of their numbers")
        must(len({place for _, place, _ in rows}) == len(rows), "a place that two rows have")
        return cls(capacity, draws == 1, seen, weightless, tuple(rows))

    @property
    def answer(self) -> float:
        return self.seen

    def __str__(self) -> str:
        return f"RowSample, capacity {self.capacity}: {len(self.rows)} of {self.seen} rows"
