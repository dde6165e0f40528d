"""Payloads of the sets of keys, and the indexes of a hash, read from docs/format.md alone.

A payload against the page's rules is a ValueError; format_reader.py says what the file then is.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

from format_distinct import fields, must

MOST = 2**64 - 1


def multiplier(row: int) -> int:
    """What the page calls c(r)."""
    if row == 0:
        return 1
    x = row * 0x9E3779B97F4A7C15 & MOST
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MOST
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MOST
    return x ^ x >> 31 | 1


MULTIPLIERS = [multiplier(row) for row in range(64)]


def value(h: int, row: int) -> int:
    return h * MULTIPLIERS[row] & MOST


def index(v: int, places: int) -> int:
    return v * places >> 64


def cells(h: int, places: int, rows: int) -> list[int]:
    """The indexes of a hash in the rows from 0 on; some may be the same."""
    return [index(value(h, row), places) for row in range(rows)]


def marks(h: int, blocks: int) -> list[int]:
    """The bits of a hash in a blocked filter, counted from the first block on."""
    first, v = 512 * index(value(h, 0), blocks), value(h, 1)
    return [first + 64 * word + (v >> (58 - 6 * word)) % 64 for word in range(8)]


def bit_array(body: bytes, bits: int) -> int:
    """A number of bits in whole words, as a number whose lowest bit is bit 0."""
    must(len(body) == 8 * ((bits + 63) // 64), f"{len(body)} bytes for {bits} bits")
    array = int.from_bytes(body, "little")
    must(array >> bits == 0, "ones after the last bit")
    return array


def holds(array: int, numbers: list[int]) -> bool:
    return all(array >> number & 1 for number in numbers)


@dataclass(frozen=True)
class DirectTable:
    universe: int
    array: int

    @classmethod
    def read(cls, payload: bytes) -> DirectTable:
        (universe,) = fields("Q", payload)
        must(1 <= universe <= 2**36, f"universe {universe}")
        return cls(universe, bit_array(payload[8:], universe))

    def __contains__(self, key: int) -> bool:
        return holds(self.array, [key])

    @property
    def answer(self) -> float:
        return self.array.bit_count()

    def __str__(self) -> str:
        return f"DirectTable, universe {self.universe}: {self.answer}"


@dataclass(frozen=True)
class Bloom:
    bits: int
    hashes: int
    capacity: int
    array: int

    @classmethod
    def read(cls, payload: bytes) -> Bloom:
        bits, hashes, capacity = fields("QIQ", payload)
        must(1 <= bits <= 2**43, f"{bits} bits")
        must(1 <= hashes <= 64, f"{hashes} hashes")
        must(1 <= capacity <= 2**43, f"capacity {capacity}")
        return cls(bits, hashes, capacity, bit_array(payload[20:], bits))

    def __contains__(self, h: int) -> bool:
        return holds(self.array, cells(h, self.bits, self.hashes))

    @property
    def answer(self) -> float:
        """How many keys, from the share of zeros; the page leaves it open."""
        zeros = self.bits - self.array.bit_count()
        return self.bits / self.hashes * math.log(self.bits / zeros) if zeros else math.inf

    def __str__(self) -> str:
        size = f"{self.bits} bits, {self.hashes} hashes, capacity {self.capacity}"
        return f"Bloom, {size}: about {self.answer:.0f}"


def mixed(x: int) -> int:
    """What the page calls M(x): the mixer of SplitMix64."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MOST
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MOST
    return x ^ x >> 31


def fuse_shape(keys: int) -> tuple[int, int]:
    """Segment bits and segments of a binary fuse filter."""
    if keys == 0:
        return 0, 0
    exponent = keys.bit_length() - 1
    log2 = exponent + keys / (1 << exponent) - 1
    bits = min(max(int(log2 / 1.7355221772 + 2.25), 2), 18)
    slots = int(keys * max(0.875 + 0.25 * 19.931568569 / max(log2, 1.0), 1.125))
    return bits, max(-(-slots // (1 << bits)) - 2, 1)


def fuse_slots(h: int, bits: int, segments: int) -> tuple[int, int, int]:
    """The three slots of a spread hash."""
    length = 1 << bits
    first = index(h, segments * length)
    return first, (first + length) ^ (h >> 18) % length, (first + 2 * length) ^ h % length


def fuse_byte(h: int) -> int:
    return value(h, 1) >> 56


@dataclass(frozen=True)
class BinaryFuse:
    keys: int
    seed: int
    bits: int
    segments: int
    table: bytes

    @classmethod
    def read(cls, payload: bytes) -> BinaryFuse:
        keys, seed, bits, segments = fields("QQBI", payload)
        must(keys <= 2**31, f"{keys} keys")
        must((bits, segments) == fuse_shape(keys), f"{segments} segments of 2^{bits} for {keys} keys")
        must(keys > 0 or seed == 0, "a seed without keys")
        must(len(payload) - 21 == ((segments + 2 << bits) if keys else 0), "the length of the table")
        return cls(keys, seed, bits, segments, payload[21:])

    def __contains__(self, h: int) -> bool:
        spread = mixed(h ^ self.seed) if self.seed else h
        a, b, c = fuse_slots(spread, self.bits, self.segments)
        return self.keys > 0 and self.table[a] ^ self.table[b] ^ self.table[c] == fuse_byte(spread)

    @property
    def answer(self) -> float:
        return self.keys

    def __str__(self) -> str:
        return f"BinaryFuse: {self.keys}"


@dataclass(frozen=True)
class BlockedBloom:
    blocks: int
    capacity: int
    array: int

    @classmethod
    def read(cls, payload: bytes) -> BlockedBloom:
        blocks, capacity = fields("QQ", payload)
        must(1 <= blocks <= 2**34, f"{blocks} blocks")
        must(1 <= capacity <= 2**43, f"capacity {capacity}")
        return cls(blocks, capacity, bit_array(payload[16:], 512 * blocks))

    def __contains__(self, h: int) -> bool:
        return holds(self.array, marks(h, self.blocks))

    @property
    def answer(self) -> float:
        """How many keys, from the share of zeros of each block; the page leaves it open."""
        keys = 0.0
        for block in range(self.blocks):
            zeros = 512 - (self.array >> 512 * block & (1 << 512) - 1).bit_count()
            keys += math.log(zeros / 512) / math.log(63 / 64) if zeros else math.inf
        return keys

    def __str__(self) -> str:
        return f"BlockedBloom, {self.blocks} blocks, capacity {self.capacity}: about {self.answer:.0f}"


@dataclass(frozen=True)
class CountingBloom:
    capacity: int
    hashes: int
    bits: int
    counters: tuple[int, ...]

    @classmethod
    def read(cls, payload: bytes) -> CountingBloom:
        count, capacity, hashes, bits = fields("QQBB", payload)
        must(1 <= count <= 2**43, f"{count} cells")
        must(1 <= capacity <= 2**43, f"capacity {capacity}")
        must(1 <= hashes <= 64, f"{hashes} hashes")
        must(bits in (4, 8, 16, 32), f"counters of {bits} bits")
        body = payload[18:]
        bit_array(body, count * bits)
        if bits == 4:
            counters = tuple(half for byte in body for half in (byte & 15, byte >> 4))[:count]
        else:
            counters = struct.unpack_from(f"<{count}{ {8: 'B', 16: 'H', 32: 'I'}[bits] }", body)
        return cls(capacity, hashes, bits, counters)

    def count(self, h: int) -> int:
        """How often a key is in there, or more."""
        return min(self.counters[cell] for cell in cells(h, len(self.counters), self.hashes))

    @property
    def answer(self) -> float:
        """How many keys, each as often as it is in there; the page leaves it open."""
        return sum(self.counters) / self.hashes

    def __str__(self) -> str:
        size = (
            f"{len(self.counters)} cells of {self.bits} bits, {self.hashes} hashes, capacity {self.capacity}"
        )
        return f"CountingBloom, {size}: about {self.answer:.0f}"
