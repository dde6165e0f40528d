"""Payloads of the counters, read from docs/format.md alone, and the draws that made them.

A payload against the page's rules is a ValueError; format_reader.py says what the file then is.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

from format_distinct import must

OPEN = 2**63
MOST = 2**64 - 1


class Generator:
    """xoshiro256++, and what the page draws from it."""

    def __init__(self, words: list[int]) -> None:
        self.words = words

    @classmethod
    def seeded(cls, seed: int) -> Generator:
        words = []
        for step in range(1, 5):
            x = (seed + step * 0x9E3779B97F4A7C15) & MOST
            x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MOST
            x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MOST
            words.append(x ^ x >> 31)
        return cls(words)

    def bits(self) -> int:
        a, b, c, d = self.words
        result = (_rotated((a + d) & MOST, 23) + a) & MOST
        c, d, shifted = c ^ a, d ^ b, b << 17 & MOST
        self.words = [a ^ d, b ^ c, c ^ shifted, _rotated(d, 45)]
        return result

    def unit(self) -> float:
        return ((self.bits() >> 12) + 0.5) / 2**52

    def failures(self, chance: float) -> int:
        return _failures(self.unit(), chance)

    def skip(self, chance: float) -> int:
        return _stored(self.failures(chance))


def _rotated(x: int, by: int) -> int:
    return (x << by | x >> (64 - by)) & MOST


def _failures(unit: float, chance: float) -> int:
    if chance in (0, 1):
        return 0 if chance else MOST
    return min(int(math.log(unit) / math.log1p(-chance)), MOST)


def _stored(failures: int) -> int:
    return failures if failures < OPEN else MOST


def _check_skip(skip: int, chance: float) -> None:
    # One more than the formula gives: elementary functions differ in their last bit.
    longest = _stored(_failures(2.0**-53, chance) + 1)
    must(skip <= longest, f"skip of {skip}, at most {longest}")
    must(chance > 0 or skip == MOST, f"skip of {skip} where nothing counts any more")


def _check_generator(words: tuple[int, ...]) -> None:
    must(any(words), "generator all zero")


def highest(base: float, bits: int) -> int:
    """The value at which a counter stays."""
    return min((1 << bits) - 1, int(693 / math.log(base)))


def chance(base: float, bits: int, value: int) -> float:
    """The probability that an event raises a counter with this value."""
    return base**-value if value < highest(base, bits) else 0


def events(base: float, value: int) -> float:
    """How many a value stands for."""
    return math.expm1(value * math.log(base)) / (base - 1)


@dataclass(frozen=True)
class SampledCounter:
    probability: float
    value: int
    skip: int
    generator: tuple[int, ...]

    @classmethod
    def read(cls, payload: bytes) -> SampledCounter:
        must(len(payload) == 56, f"payload of {len(payload)} bytes")
        probability, value, skip, *words = struct.unpack("<dQQ4Q", payload)
        must(2.0**-64 <= probability <= 1, f"probability {probability}")
        _check_skip(skip, probability)
        _check_generator(tuple(words))
        return cls(probability, value, skip, tuple(words))

    @property
    def answer(self) -> float:
        return self.value / self.probability

    def __str__(self) -> str:
        return f"SampledCounter, probability {self.probability}: about {self.answer:.0f}"


@dataclass(frozen=True)
class MorrisCounter:
    base: float
    bits: int
    value: int
    skip: int
    generator: tuple[int, ...]

    @classmethod
    def read(cls, payload: bytes) -> MorrisCounter:
        must(len(payload) == 51, f"payload of {len(payload)} bytes")
        base, bits, value, skip, *words = struct.unpack("<dBHQ4Q", payload)
        must(1.000001 <= base <= 2, f"base {base}")
        must(4 <= bits <= 16, f"{bits} bits")
        must(value <= highest(base, bits), f"value {value}")
        _check_skip(skip, chance(base, bits, value))
        _check_generator(tuple(words))
        return cls(base, bits, value, skip, tuple(words))

    @property
    def answer(self) -> float:
        return events(self.base, self.value)

    def __str__(self) -> str:
        return f"MorrisCounter, base {self.base}, {self.bits} bits: about {self.answer:.0f}"


@dataclass(frozen=True)
class CounterArray:
    bits: int
    base: float
    values: tuple[int, ...]
    generator: tuple[int, ...]

    @classmethod
    def read(cls, payload: bytes) -> CounterArray:
        must(len(payload) >= 49, f"payload of {len(payload)} bytes")
        count, bits, base, *words = struct.unpack_from("<QBd4Q", payload)
        must(count >= 1, "no counters")
        must(bits in (4, 8, 16), f"{bits} bits")
        must(1.000001 <= base <= 2, f"base {base}")
        _check_generator(tuple(words))
        body = payload[49:]
        must(len(body) == (count * bits + 7) // 8, f"{len(body)} bytes for {count} counters")
        if bits == 4:
            halves = [half for byte in body for half in (byte & 15, byte >> 4)]
            must(not any(halves[count:]), "a half after the last counter")
            values = tuple(halves[:count])
        else:
            values = struct.unpack(f"<{count}{'B' if bits == 8 else 'H'}", body)
        must(max(values) <= highest(base, bits), f"value {max(values)}")
        return cls(bits, base, values, tuple(words))

    @property
    def answer(self) -> float:
        """The events of all counters together."""
        return sum(events(self.base, value) for value in self.values)

    def __str__(self) -> str:
        size = f"{len(self.values)} of {self.bits} bits"
        return f"CounterArray, {size}, base {self.base}: about {self.answer:.0f}"
