"""The detail of a column of a table, read from docs/format.md alone.

A payload against the page's rules is a ValueError; format_reader.py says what the file then is.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from format_distinct import fields, must
from format_frequency import stored_key

MOST = 2**64 - 1
FORMATS = 11
COMPACT = 3
# The formats whose days each set has.
SETS = ((0, 1, 2, 4, 5, 6), (7, 9), (8, 10), (COMPACT,))
# The first day of the year 0 and the last of the year 9999.
DAYS = range(-719_528, 2_932_897)


@dataclass(frozen=True)
class DaySet:
    first: int
    last: int
    days: tuple[int, ...] | None

    @classmethod
    def read(cls, rest: bytes, width: int) -> tuple[DaySet | None, bytes]:
        (state,) = fields("B", rest)
        must(state <= 2, f"days {state}")
        if state == 0:
            return None, rest[1:]
        must(len(rest) >= 9, "days cut off")
        first, last = struct.unpack_from("<ii", rest, 1)
        must(first <= last and first in DAYS and last in DAYS, f"days {first} to {last}")
        must((state == 2) == (last - first >= width), f"days {first} to {last} with room for {width}")
        rest = rest[9:]
        if state == 2:
            return cls(first, last, None), rest
        words = last // 64 - first // 64 + 1
        bits = int.from_bytes(rest[: 8 * words], "little")
        must(len(rest) >= 8 * words, "days cut off")
        start = first // 64 * 64
        days = tuple(start + bit for bit in range(64 * words) if bits >> bit & 1)
        must(bool(days) and (days[0], days[-1]) == (first, last), "bits outside of the days")
        return cls(first, last, days), rest[8 * words :]


@dataclass(frozen=True)
class Detail:
    squares: int
    cubes: int
    counts: tuple[int, ...]
    either: tuple[int, int]
    sets: tuple[DaySet | None, ...]
    drawn: tuple[tuple[int, int, bytes], ...]

    @classmethod
    def read(cls, rest: bytes, last_row: int, profile: Any) -> tuple[Detail, bytes]:
        values = min(sum(profile.kinds), MOST)
        squares, rest = wide_sum(rest, 135)
        cubes, rest = wide_sum(rest, 201)
        check_moments(profile.parts[3], squares, cubes)
        width, other_numbers, *counts = fields(f"IB{FORMATS + 2}Q", rest)
        must(width % 64 == 0 and width <= 2**20, f"room for {width} days")
        must(other_numbers <= 1, f"other numbers {other_numbers}")
        counts, (slashes, dashes) = counts[:FORMATS], counts[FORMATS:]
        rest = rest[5 + 8 * (FORMATS + 2) :]
        must(not other_numbers or counts[COMPACT] == 0, "numbers that are days beside others")
        for all_values, readings in ((slashes, counts[7:9]), (dashes, counts[9:11])):
            must(max(readings) <= all_values <= sum(readings), "readings of other values")
        sets: list[DaySet | None] = []
        for formats in SETS:
            days, rest = DaySet.read(rest, width)
            count = min(sum(counts[number] for number in formats), MOST)
            must((days is not None) == (count > 0), "days that were not counted")
            must(days is None or days.first == days.last or count > 1, "two days of one value")
            sets.append(days)
        k, is_full, drawn = fields("IBI", rest)
        must(1 <= k <= 2**20 and is_full <= 1, f"{k} rows drawn")
        must(drawn == (k if is_full else values) and drawn <= min(k, values), f"{drawn} rows drawn")
        rest, rows = rest[9:], []
        for _ in range(drawn):
            hash_of_row, row = fields("QQ", rest)
            text, rest = stored_key(rest[16:], 1)
            assert isinstance(text, bytes)
            must(1 <= row <= last_row, f"row {row}")
            must(len(text) <= 48, "a drawn value that is too long")
            rows.append((hash_of_row, row, text))
        must(rows == sorted(rows), "drawn rows that are not in order")
        must(not is_full or rows[-1][0] < MOST, "the largest hash")
        return cls(squares, cubes, tuple(counts), (slashes, dashes), tuple(sets), tuple(rows)), rest


def wide_sum(rest: bytes, most: int) -> tuple[int, bytes]:
    sign, first, limbs = fields("BBB", rest)
    must(sign <= 1 and first + limbs <= most, f"{limbs} limbs from {first}")
    must(limbs > 0 or first == sign == 0, "a sum of 0 with a sign or a place")
    must(len(rest) >= 3 + 4 * limbs, "a sum that is cut off")
    words = struct.unpack_from(f"<{limbs}I", rest, 3)
    must(not limbs or (words[0] != 0 and words[-1] != 0), "limbs of 0 at the ends")
    total = sum(word << 32 * (first + i) for i, word in enumerate(words))
    return (-total if sign else total), rest[3 + 4 * limbs :]


def check_moments(numbers: Any, squares: int, cubes: int) -> None:
    must(squares >= 0, "a sum of squares below zero")
    n, total = numbers.count, numbers.total
    if n in (0, MOST):
        must(squares == cubes == 0, "sums of no numbers")
        return
    second = n * squares - total**2
    third = n * n * cubes - 3 * n * total * squares + 2 * total**3
    must((second > 0 and n > 1) or (second == 0 and third == 0), "sums of powers of other numbers")
