"""Payloads of the sketches that count different items, read from docs/format.md alone.

A payload against the page's rules is a ValueError; format_reader.py says what the file then is.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from itertools import pairwise


def must(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)


def fields(layout: str, payload: bytes) -> tuple[int, ...]:
    """The numbers at the beginning of a payload, little-endian and without padding."""
    must(len(payload) >= struct.calcsize("<" + layout), f"payload of {len(payload)} bytes")
    return struct.unpack_from("<" + layout, payload)


def ascending(body: bytes, count: int) -> tuple[int, ...]:
    """A number of hashes, which must be all of the bytes."""
    must(len(body) == 8 * count, f"{len(body)} bytes for {count} hashes")
    hashes: tuple[int, ...] = struct.unpack(f"<{count}Q", body)
    must(all(a < b for a, b in pairwise(hashes)), "hashes not strictly ascending")
    return hashes


@dataclass(frozen=True)
class ExactDistinct:
    hashes: tuple[int, ...]

    @classmethod
    def read(cls, payload: bytes) -> ExactDistinct:
        (count,) = fields("Q", payload)
        return cls(ascending(payload[8:], count))

    @property
    def answer(self) -> float:
        return len(self.hashes)

    def __str__(self) -> str:
        return f"ExactDistinct: {len(self.hashes)}"


@dataclass(frozen=True)
class LinearCounting:
    bits: int
    table: bytes

    @classmethod
    def read(cls, payload: bytes) -> LinearCounting:
        (bits,) = fields("Q", payload)
        table = payload[8:]
        must(1 <= bits <= 2**36, f"{bits} bits")
        must(len(table) == (bits + 7) // 8, f"{len(table)} bytes for {bits} bits")
        must(int.from_bytes(table, "little") >> bits == 0, "ones after the last bit")
        return cls(bits, table)

    @property
    def zeros(self) -> int:
        return self.bits - int.from_bytes(self.table, "little").bit_count()

    @property
    def answer(self) -> float:
        """Whang's estimate; the page leaves it open."""
        return self.bits * math.log(self.bits / self.zeros) if self.zeros else math.inf

    def __str__(self) -> str:
        return f"LinearCounting, {self.bits} bits, {self.zeros} of them 0: about {self.answer:.0f}"


@dataclass(frozen=True)
class KMinValues:
    k: int
    hashes: tuple[int, ...]

    @classmethod
    def read(cls, payload: bytes) -> KMinValues:
        k, count = fields("II", payload)
        must(1 <= k <= 2**26, f"k {k}")
        must(count <= k, f"{count} hashes of at most {k}")
        return cls(k, ascending(payload[8:], count))

    @property
    def answer(self) -> float:
        """Exact below k hashes; otherwise the unbiased estimate, which the page leaves open."""
        if len(self.hashes) < self.k:
            return len(self.hashes)
        return max(self.k - 1, 1) * 2**64 / (self.hashes[-1] + 1)

    def __str__(self) -> str:
        about = "" if len(self.hashes) < self.k else "about "
        return f"KMinValues, k {self.k}: {about}{self.answer:.0f}"


@dataclass(frozen=True)
class ProbabilisticCounting:
    rank: int

    @classmethod
    def read(cls, payload: bytes) -> ProbabilisticCounting:
        (rank,) = fields("B", payload)
        must(rank <= 65, f"rank {rank}")
        must(len(payload) == 1, f"payload of {len(payload)} bytes")
        return cls(rank)

    @property
    def answer(self) -> float:
        return 2.0 ** (self.rank - 1) if self.rank else 0

    def __str__(self) -> str:
        return f"ProbabilisticCounting, rank {self.rank}: about {self.answer:.0f}"


@dataclass(frozen=True)
class LogLog:
    precision: int
    registers: bytes

    @classmethod
    def read(cls, payload: bytes) -> LogLog:
        (precision,) = fields("B", payload)
        registers = payload[1:]
        must(6 <= precision <= 18, f"precision {precision}")
        must(len(registers) == 1 << precision, f"{len(registers)} registers")
        must(max(registers) <= 65 - precision, f"register of {max(registers)}")
        return cls(precision, registers)

    @property
    def answer(self) -> float:
        """The estimate of Durand and Flajolet; the page leaves it open."""
        m = len(self.registers)
        return 0.39701 * m * 2.0 ** (sum(self.registers) / m) if any(self.registers) else 0

    def __str__(self) -> str:
        return f"LogLog, precision {self.precision}: about {self.answer:.0f}"


@dataclass(frozen=True)
class UltraLogLog:
    """Exact if there are no registers."""

    precision: int
    hashes: tuple[int, ...] = ()
    registers: bytes = b""

    @classmethod
    def read(cls, payload: bytes) -> UltraLogLog:
        precision, state = fields("BB", payload)
        must(4 <= precision <= 18, f"precision {precision}")
        must(state in (0, 1), f"state {state}")
        if state == 0:
            _, _, count = fields("BBI", payload)
            must(count <= (3 << precision) // 32, f"{count} hashes at precision {precision}")
            return cls(precision, hashes=ascending(payload[6:], count))
        registers = payload[2:]
        must(len(registers) == 1 << precision, f"{len(registers)} registers")
        allowed = {0, 4, 8, 10, *range(12, 4 * (65 - precision) + 4)}
        must(set(registers) <= allowed, f"registers {sorted(set(registers) - allowed)}")
        must(any(registers), "dense state with nothing in it")
        return cls(precision, registers=registers)

    @property
    def answer(self) -> float:
        """HyperLogLog's estimate from the highest levels alone; the page leaves it open."""
        if not self.registers:
            return len(self.hashes)
        m = len(self.registers)
        return 0.7213 / (1 + 1.079 / m) * m * m / sum(2.0 ** -(value >> 2) for value in self.registers)

    def __str__(self) -> str:
        state, about = ("dense", "about ") if self.registers else ("exact", "")
        return f"UltraLogLog, precision {self.precision}, {state}: {about}{self.answer:.0f}"
