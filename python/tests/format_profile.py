"""Payloads of quantiles and profiles, read from docs/format.md alone.

A payload against the page's rules is a ValueError; format_reader.py says what the file then is.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from format_distinct import fields, must
from format_frequency import HeavyHitters, stored_key
from format_sampling import Reservoir, numbers

MOST = 2**64 - 1


@cache
def table() -> tuple[int, ...]:
    """⌊2^40·log2(1 + k/256)⌋ for k = 0 … 256, by squaring: each square of a number in [1, 2) gives a bit."""
    values = []
    for k in range(256):
        x, value = (256 + k) << 992, 0  # 1000 bits after the point
        for _ in range(40):
            x = x * x >> 1000
            value <<= 1
            if x >> 1001:
                x >>= 1
                value += 1
        values.append(value)
    return (*values, 1 << 40)


def position(x: float) -> int:
    """Of a positive number."""
    mantissa, exponent = math.frexp(x)  # x = mantissa·2^exponent, 1/2 ≤ mantissa < 1
    fraction = int(mantissa * 2**53) * 2 - 2**53  # of 2^53: what is above 1
    e, k, r = exponent - 1, fraction >> 45, (fraction & (1 << 45) - 1) >> 14
    t = table()
    return (e + 1087) * 2**40 + t[k] + ((t[k + 1] - t[k]) * r >> 31)


@cache
def divisor(accuracy: float) -> int:
    u = int(2**40 * math.log2((1 + accuracy) / (1 - accuracy))) - 3025720
    return MOST // u + 1


LEAST_FLOAT, GREATEST_FLOAT = 2.0**-1074, math.ldexp(2 - 2.0**-52, 1023)


def sketch_bin(x: float, accuracy: float) -> int:
    """The bin of level 0 of a positive number."""
    return position(x) * divisor(accuracy) >> 64


@dataclass(frozen=True)
class DDSketch:
    accuracy: float
    max_bins: int
    level: int
    zeros: int
    not_finite: int
    negative: tuple[tuple[int, int], ...]
    positive: tuple[tuple[int, int], ...]
    least: float | None = None
    greatest: float | None = None
    total: int = 0  # the sum, in units of 2^-1074

    @classmethod
    def read(cls, payload: bytes) -> DDSketch:
        must(len(payload) >= 37, f"payload of {len(payload)} bytes")
        accuracy, m, level, zeros, not_finite, a, b = struct.unpack_from("<dIBQQII", payload)
        must(0.0001 <= accuracy <= 0.5, f"relative error {accuracy}")
        must(16 <= m <= 65536, f"{m} bins at most")
        must(level <= 31, f"level {level}")
        must(a + b <= m, f"{a} + {b} bins of {m}")
        body = 37 + 12 * (a + b)
        must(len(payload) >= body, "bins cut off")
        bins = [struct.unpack_from("<IQ", payload, 37 + 12 * i) for i in range(a + b)]
        negative, positive = tuple(bins[:a]), tuple(bins[a:])
        lowest, highest = (sketch_bin(x, accuracy) >> level for x in (LEAST_FLOAT, GREATEST_FLOAT))
        must(all(lowest <= number <= highest for number, _ in bins), "a bin of no number")
        for side in (negative, positive):
            must(all(one[0] < next[0] for one, next in pairwise(side)), "bins not strictly ascending")
        must(all(count >= 1 for _, count in bins), "an empty bin")
        must(level == 0 or sum(min(2, count) for _, count in bins) > m, "joined without need")
        n = min(zeros + sum(count for _, count in bins), MOST)
        sketch = cls(accuracy, m, level, zeros, not_finite, negative, positive)
        if n == 0:
            must(len(payload) == body, "bytes after the bins of no numbers")
            return sketch
        least, greatest = numbers("dd", payload[body:])
        sign, first, limbs = fields("BBB", payload[body + 16 :])
        for number in (least, greatest):
            must(math.isfinite(number) and not (number == 0 and math.copysign(1, number) < 0), f"{number}")
        must(least <= greatest and (n > 1 or least == greatest), f"from {least} to {greatest}")
        order = (
            [(-1, i) for i, _ in reversed(negative)] + [(0, 0)] * (zeros > 0) + [(1, i) for i, _ in positive]
        )
        must(sketch.bin(least) == order[0], f"{least} in another bin than the lowest")
        must(sketch.bin(greatest) == order[-1], f"{greatest} in another bin than the highest")
        must(sign <= 1, f"sign {sign}")
        must(first + limbs <= 68, f"{limbs} limbs from {first}")
        must(len(payload) == body + 19 + 4 * limbs, f"payload of {len(payload)} bytes")
        words = struct.unpack_from(f"<{limbs}I", payload, body + 19)
        if limbs == 0:
            must(first == sign == 0, "a sum of 0 with a sign or a place")
        else:
            must(words[0] != 0 and words[-1] != 0, "limbs of 0 at the ends")
        total = sum(word << 32 * (first + i) for i, word in enumerate(words)) * (-1 if sign else 1)
        if n == MOST:
            must(total == 0, "a sum of too many numbers")
        else:
            must(n * units(least) <= total <= n * units(greatest), "a sum that the numbers cannot have")
        return cls(accuracy, m, level, zeros, not_finite, negative, positive, least, greatest, total)

    def bin(self, x: float) -> tuple[int, int]:
        """The sign and the number of a number's bin."""
        if x == 0:
            return (0, 0)
        return (1 if x > 0 else -1, sketch_bin(abs(x), self.accuracy) >> self.level)

    @property
    def count(self) -> int:
        return min(self.zeros + sum(count for _, count in self.negative + self.positive), MOST)

    @property
    def answer(self) -> float:
        return self.count

    def __str__(self) -> str:
        return f"DDSketch, relative error {self.accuracy}, level {self.level}: {self.count} numbers"


def units(x: float) -> int:
    """A float in units of 2^-1074: every float is a whole number of them."""
    numerator, denominator = x.as_integer_ratio()
    return numerator * 2**1074 // denominator


# Reads an envelope at the beginning of bytes: the header, the contents and what follows.
ReadEnvelope = Callable[[bytes], tuple[Any, Any, bytes]]


@dataclass(frozen=True)
class ColumnProfile:
    sizes: tuple[float, ...]
    missing: int
    kinds: tuple[int, ...]
    long: int
    lengths: tuple[int, int, int] | None
    texts: tuple[bytes, bytes] | None
    integers: tuple[int, int, int] | None
    parts: tuple[Any, ...]

    @classmethod
    def read(cls, payload: bytes, header: Any, envelope: ReadEnvelope) -> ColumnProfile:
        precision, counters, sample, _, bins, longest, missing, *kinds = fields("BIIQIIQ6Q", payload)
        (accuracy,) = numbers("d", payload[9:])
        must(header.key_kind == 1, f"key kind {header.key_kind}")
        must(8 <= longest <= 4096, f"{longest} bytes kept")
        v, rest, long = min(sum(kinds), MOST), payload[81:], 0
        lengths = texts = None
        if v:
            long, shortest, most, every = fields("QQQQ", rest)
            must(shortest <= most, "lengths")
            must(min(v * shortest, MOST) <= every <= min(v * most, MOST), "all lengths")
            first, rest = stored_key(rest[32:], 1)
            last, rest = stored_key(rest, 1)
            assert isinstance(first, bytes) and isinstance(last, bytes)
            must(max(len(first), len(last)) <= longest, "a text that is too long")
            must(first <= last and (v > 1 or first == last), "first and last text")
            lengths, texts = (shortest, most, every), (first, last)
        (has_integers,) = fields("B", rest)
        must(has_integers <= 1, f"integers {has_integers}")
        rest, integers = rest[1:], None
        if has_integers:
            must(len(rest) >= 32, "integers cut off")
            least, greatest = struct.unpack_from("<qq", rest)
            lost = int.from_bytes(rest[16:32], "little", signed=True)
            must(least <= greatest, "least and greatest integer")
            must(abs(lost) <= 512 * kinds[1], f"{lost} lost")
            must(lost == 0 or max(-least, greatest) > 2**53, f"{lost} lost of small integers")
            rest, integers = rest[32:], (least, greatest, lost)
        parts = []
        for family in PARTS:
            part, contents, rest = envelope(rest)
            must(type(contents).__name__ == family, f"no {family}")
            must(family == "DDSketch" or keys_of(part) == keys_of(header), f"{family} of other keys")
            parts.append(contents)
        must(not rest, f"{len(rest)} bytes after the last part")
        distinct, top, drawn, count = parts
        must(distinct.precision == precision, "another precision")
        must(top.capacity == counters and drawn.capacity == sample, "other capacities")
        must((count.accuracy, count.max_bins) == (accuracy, bins), "other bins")
        must(is_empty(distinct) == (v == 0), "different values of none, or none of some")
        check_values(v, long, longest, top, drawn)
        must(min(count.count + count.not_finite, MOST) == min(kinds[1] + kinds[2], MOST), "numbers")
        if integers:
            must(kinds[1] > 0 and count.least is not None, "integers of none")
            must(
                count.least <= float(integers[0]) and float(integers[1]) <= count.greatest,
                "integers and numbers",
            )
        sizes = (precision, counters, sample, accuracy, bins, longest)
        return cls(sizes, missing, tuple(kinds), long, lengths, texts, integers, tuple(parts))

    @property
    def answer(self) -> float:
        return sum(self.kinds) + self.missing

    def __str__(self) -> str:
        return f"ColumnProfile: {self.answer} rows, {self.missing} missing"


PARTS = ["UltraLogLog", "HeavyHitters", "Reservoir", "DDSketch"]


def keys_of(header: Any) -> tuple[int, int, int]:
    return header.key_kind, header.hash_function, header.seed


def is_empty(distinct: Any) -> bool:
    return not distinct.hashes and not distinct.registers


def check_values(v: int, long: int, longest: int, top: HeavyHitters, drawn: Reservoir) -> None:
    must(min(top.total + long, MOST) == v, "the most frequent of other values")
    must(drawn.seen == min(v, 2**63 - 1), f"a sample of {drawn.seen}")
    kept = [*top.counters, *drawn.items]
    must(all(isinstance(key, bytes) and len(key) <= longest for key in kept), "a key that is too long")
