"""Payloads of the sketches that weigh keys, read from docs/format.md alone, and their work.

A payload against the page's rules is a ValueError; format_reader.py says what the file then is.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from format_distinct import fields, must
from format_membership import cells

MOST = 2**64 - 1
PLAIN, CONSERVATIVE = 0, 1
UNBOUNDED = 56319  # the error code that stands for any error

Key = bytes | int
Weighted = list[tuple[Key, int]]  # keys with their weights, in their order
Rows = tuple[tuple[int, ...], ...]


def numbers(body: bytes, count: int) -> tuple[int, ...]:
    must(len(body) == 8 * count, f"{len(body)} bytes for {count} numbers")
    return struct.unpack(f"<{count}Q", body)


def table(counters: tuple[int, ...], width: int) -> Rows:
    return tuple(counters[start : start + width] for start in range(0, len(counters), width))


def least(rows: Rows, h: int) -> int:
    """What a table answers for a key with this hash."""
    return min(row[cell] for row, cell in zip(rows, cells(h, len(rows[0]), len(rows)), strict=True))


def total_of(counts: tuple[int, ...]) -> int:
    return min(sum(counts), MOST)


def stored_key(data: bytes, kind: int) -> tuple[Key, bytes]:
    """The key at the beginning, and what comes after it."""
    if kind != 1:
        return fields("Q", data)[0], data[8:]
    (length,) = fields("I", data)
    must(len(data) >= 4 + length, f"{len(data)} bytes for a key of {length}")
    return data[4 : 4 + length], data[4 + length :]


def stored(key: Key) -> bytes:
    """The bytes that stored_key reads."""
    return struct.pack("<Q", key & MOST) if isinstance(key, int) else struct.pack("<I", len(key)) + key


@dataclass(frozen=True)
class CountMin:
    update: int
    total: int
    rows: Rows

    @classmethod
    def read(cls, payload: bytes) -> CountMin:
        width, depth, update, total = fields("IBBQ", payload)
        must(1 <= width <= 2**30, f"width {width}")
        must(1 <= depth <= 32, f"depth {depth}")
        must(update in (PLAIN, CONSERVATIVE), f"update {update}")
        rows = table(numbers(payload[14:], width * depth), width)
        for row in rows:
            if update == PLAIN:
                must(total_of(row) == total, f"a row of {sum(row)}, total {total}")
            else:
                must(sum(row) <= total or total == MOST, f"a row of {sum(row)}, total {total}")
        together = sum(sum(row) for row in rows)
        must(together >= total, f"rows of {together} together, total {total}")
        return cls(update, total, rows)

    def count(self, h: int) -> int:
        return least(self.rows, h)

    @property
    def answer(self) -> float:
        return self.total

    def __str__(self) -> str:
        update = "conservative" if self.update else "plain"
        return f"CountMin, {len(self.rows[0])} × {len(self.rows)}, {update}: total {self.total}"


@dataclass(frozen=True)
class RangeCountMin:
    levels: int
    width: int
    depth: int
    leaves: tuple[int, ...]
    tables: tuple[Rows, ...]

    @classmethod
    def read(cls, payload: bytes) -> RangeCountMin:
        levels, width, depth = fields("BIB", payload)
        must(1 <= levels <= 64, f"{levels} levels")
        must(1 <= width <= 2**30, f"width {width}")
        must(1 <= depth <= 32, f"depth {depth}")
        sketched = max(levels - ((width * depth).bit_length() - 1), 0)
        leaves, counters = 1 << (levels - sketched), width * depth
        body = numbers(payload[6:], leaves + sketched * counters)
        starts = range(leaves, len(body), counters)
        tables = tuple(table(body[start : start + counters], width) for start in starts)
        total = total_of(body[:leaves])
        for rows in tables:
            for row in rows:
                must(total_of(row) == total, f"a row of {sum(row)}, total {total}")
        return cls(levels, width, depth, body[:leaves], tables)

    def count(self, low: int, high: int, hashed: Callable[[int], int]) -> int:
        """The weight of the keys from low to high − 1, or more."""
        sketched = len(self.tables)
        inside: dict[int, int] = {}  # by leaf, what its blocks weigh
        for level, rows in enumerate(self.tables):
            ends = [low] if low < high and low % 2 else []
            low += len(ends)
            if low < high and high % 2:
                high -= 1
                ends.append(high)
            for block in ends:
                leaf = block << level >> sketched
                inside[leaf] = inside.get(leaf, 0) + least(rows, hashed(block))
            low, high = low >> 1, high >> 1
        weights = [min(weight, self.leaves[leaf]) for leaf, weight in inside.items()]
        return min(sum(weights) + sum(self.leaves[low:high]), MOST)

    @property
    def answer(self) -> float:
        return total_of(self.leaves)

    def __str__(self) -> str:
        size = f"{self.levels} levels, {len(self.tables)} of them {self.width} × {self.depth}"
        return f"RangeCountMin, {size}: total {self.answer}"


@dataclass(frozen=True)
class Majority:
    total: int
    lead: int
    counted: int = 0
    candidate: Key | None = None

    @classmethod
    def read(cls, payload: bytes, kind: int) -> Majority:
        total, lead = fields("QQ", payload)
        full = total == MOST
        must(lead <= total, f"lead {lead} of {total} votes")
        must(full or (total - lead) % 2 == 0, f"lead {lead} of {total} votes")
        if lead == 0:
            must(len(payload) == 16, f"{len(payload)} bytes without a candidate")
            return cls(total, lead)
        _, _, counted = fields("QQQ", payload)
        must(lead <= counted, f"{counted} counted with a lead of {lead}")
        must(full or counted <= (total + lead) // 2, f"{counted} counted of {total} votes")
        candidate, rest = stored_key(payload[24:], kind)
        must(not rest, f"{len(rest)} bytes after the candidate")
        return cls(total, lead, counted, candidate)

    @property
    def answer(self) -> float:
        return self.total

    def __str__(self) -> str:
        if self.candidate is None:
            return f"Majority: no candidate, total {self.total}"
        return f"Majority: {self.candidate!r} with a lead of {self.lead}, total {self.total}"


def error_of(code: int) -> int:
    """What an error code stands for; one without bound is larger than any count."""
    low, high = code & 1023, code >> 10
    if code == UNBOUNDED:
        return 2**64
    return (1024 + low) << (high - 1) if high else low


def code_of(error: int) -> int:
    """The smallest code that stands for an error or more: codes ascend with what they stand for."""
    low, high = 0, UNBOUNDED
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if error_of(middle) >= error else (middle + 1, high)
    return low


@dataclass(frozen=True)
class HeavyHitters:
    """Counters are a count and an error code by key, in the order of the keys."""

    capacity: int
    total: int
    maximum_error: int
    counters: dict[Key, tuple[int, int]]

    @classmethod
    def read(cls, payload: bytes, kind: int) -> HeavyHitters:
        capacity, total, maximum_error, number = fields("IQQI", payload)
        must(1 <= capacity <= 2**24, f"capacity {capacity}")
        must(number <= capacity, f"{number} counters of at most {capacity}")
        counters, keys, rest = {}, [], payload[24:]
        for _ in range(number):
            key, rest = stored_key(rest, kind)
            must(isinstance(key, int) or len(key) <= 4096, "a key of more than 4096 bytes")
            count, code = fields("QH", rest)
            must(count > maximum_error, f"a count of {count} with the maximum error {maximum_error}")
            must(code <= code_of(maximum_error), f"an error code of {code}")
            rest, counters[key] = rest[10:], (count, code)
            keys.append(key)
        must(not rest, f"{len(rest)} bytes after the last counter")
        must(all(_less(a, b) for a, b in pairwise(keys)), "keys not strictly ascending")
        above = sum(count - maximum_error for count, _ in counters.values())
        least_total = above + maximum_error * (capacity + 1 - capacity // 4)
        if total < MOST:
            must(least_total <= total, f"counts that need a total of {least_total}, not {total}")
            must(maximum_error > 0 or above == total, f"counts of {above}, total {total}")
        return cls(capacity, total, maximum_error, counters)

    def bounds(self, key: Key) -> tuple[int, int]:
        """A key came at least and at most so often."""
        if key not in self.counters:
            return 0, self.maximum_error
        count, code = self.counters[key]
        return max(count - error_of(code), 1), count

    @property
    def answer(self) -> float:
        return self.total

    def __str__(self) -> str:
        size = f"{len(self.counters)} of {self.capacity} counters, maximum error {self.maximum_error}"
        return f"HeavyHitters, {size}: total {self.total}"


def _less(a: Key, b: Key) -> bool:
    """Keys of one kind: Python compares bytes as the page does."""
    if isinstance(a, bytes) and isinstance(b, bytes):
        return a < b
    return isinstance(a, int) and isinstance(b, int) and a < b


class Hitters:
    """A HeavyHitters sketch at work, by the page's words on updates and merges."""

    def __init__(self, capacity: int, weights: Weighted) -> None:
        self.capacity, self.total, self.error = capacity, 0, 0
        self.counters: dict[Key, tuple[int, int]] = {}
        for key, weight in weights:
            self.add(key if isinstance(key, bytes) else key & MOST, weight)

    def add(self, key: Key, weight: int) -> None:
        self.total = min(self.total + weight, MOST)
        if key not in self.counters and self.error == MOST:
            return
        count, code = self.counters.get(key, (self.error, code_of(self.error)))
        self.counters[key] = min(count + weight, MOST), code
        if len(self.counters) > self.capacity:
            self.give_up(sorted(self.counts())[self.capacity // 4])

    def merge(self, other: Hitters) -> Hitters:
        error = min(self.error + other.error, MOST)
        counters = {}
        for key in self.counters.keys() | other.counters.keys():
            (u, e), (v, f) = self.entry(key), other.entry(key)
            counters[key] = min(u + v, MOST), code_of(min(e + f, error))
        self.capacity = min(self.capacity, other.capacity)
        self.total, self.error, self.counters = min(self.total + other.total, MOST), error, counters
        if len(counters) > self.capacity:
            self.give_up(sorted(self.counts(), reverse=True)[self.capacity])
        return self

    def entry(self, key: Key) -> tuple[int, int]:
        """The count and the error, as a number, of a key with or without a counter."""
        count, code = self.counters.get(key, (self.error, 0))
        return count, error_of(code) if key in self.counters else self.error

    def counts(self) -> list[int]:
        return [count for count, _ in self.counters.values()]

    def give_up(self, error: int) -> None:
        self.error = error
        self.counters = {key: kept for key, kept in self.counters.items() if kept[0] > error}

    def payload(self) -> bytes:
        head = struct.pack("<IQQI", self.capacity, self.total, self.error, len(self.counters))
        # Keys are of one kind, so that they have an order.
        ordered = sorted(self.counters.items(), key=lambda item: (item[0],))
        return head + b"".join(stored(key) + struct.pack("<QH", *kept) for key, kept in ordered)
