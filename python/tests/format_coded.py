"""Coded registers of HyperLogLog and UltraLogLog, read and written from docs/format.md alone.

A payload against the page's rules is a ValueError; format_reader.py says what the file then is.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

ONE = 1 << 62
RATES = 2688
RARE = 255
LEAST = 1 << 31


def times(a: int, b: int) -> int:
    return a * b >> 62


def absent_levels(number: int, highest: int) -> list[int]:
    """By level, from 1 on: the probability that no hash of it came."""
    mantissa, exponent = 32 + number % 32, number // 32 - 20

    def at(j: int) -> int:
        if j < -6:
            return 0
        if j >= 62:
            return ONE
        if j >= 20:
            y = (mantissa << 57) >> j
            return ONE - y + times(y, y) // 2 - times(times(y, y), y) // 6
        root = at(j + 1)
        return times(root, root)

    return [0, *(at(min(level, highest - 1) - exponent) for level in range(1, highest + 1))]


def probabilities(number: int, highest: int, below: int) -> dict[int, int]:
    """By value of a register, which remembers `below` levels below its highest."""
    absent = absent_levels(number, highest)
    found, none_above = {}, ONE
    for level in range(highest, 0, -1):
        reached = times(none_above, ONE - absent[level])
        for pattern in range(1 << below):
            probability = reached
            for back in range(1, below + 1):
                is_set = pattern >> (below - back) & 1
                if level > back:
                    other = absent[level - back]
                    probability = times(probability, ONE - other if is_set else other)
                elif is_set:
                    probability = 0
            found[(level << below) + pattern] = probability
        none_above = times(none_above, absent[level])
    found[0] = none_above
    return found


def frequencies(number: int, highest: int, below: int) -> list[int]:
    chances = probabilities(number, highest, below)
    counts = [0] * 256
    for value, chance in chances.items():
        counts[value] = ((chance >> 49) + 1) // 2
    rare = max(0, ONE - sum(chance for value, chance in chances.items() if counts[value]))
    counts[RARE] = max(1, rare >> 50)
    counts[counts.index(max(counts))] += 4096 - sum(counts)
    return counts


def decode(number: int, precision: int, below: int, coded: bytes) -> bytes:
    registers = 1 << precision
    if not registers <= 20 * len(coded) or len(coded) >= registers:
        raise ValueError(f"{len(coded)} bytes for {registers} registers")
    if len(coded) < 16 or len(coded) % 4:
        raise ValueError("states or words are cut off")
    counts = frequencies(number, 65 - precision, below)
    starts = [sum(counts[:value]) for value in range(256)]
    owner = [value for value in range(256) for _ in range(counts[value])]
    states = list(struct.unpack_from("<QQ", coded))
    words = iter(struct.unpack(f"<{len(coded) // 4 - 4}I", coded[16:]))
    if not all(LEAST <= x < LEAST << 32 for x in states):
        raise ValueError("a state out of its limits")

    def take(which: int, count: int, offset: int) -> None:
        x = count * (states[which] >> 12) + offset
        if x < LEAST:
            word = next(words, None)
            if word is None:
                raise ValueError("too few words")
            x = x << 32 | word
        states[which] = x

    values = bytearray()
    for index in range(registers):
        slot = states[index & 1] & 4095
        value = owner[slot]
        take(index & 1, counts[value], slot - starts[value])
        if value == RARE:
            slot = states[index & 1] & 4095
            value = slot >> 4
            take(index & 1, 16, slot & 15)
            if counts[value]:
                raise ValueError("a frequent value among the rare")
        values.append(value)
    if states != [LEAST, LEAST] or next(words, None) is not None:
        raise ValueError("more than the registers")
    if rate(values, precision, below) != number:
        raise ValueError("a rate that is not the likeliest")
    return bytes(values)


def encode(values: Sequence[int], precision: int, below: int) -> bytes | None:
    """The rate and the coded registers, or None if they are stored as they are."""
    number = rate(values, precision, below)
    if number is None:
        return None
    counts = frequencies(number, 65 - precision, below)
    starts = [sum(counts[:value]) for value in range(256)]
    states, words = [LEAST, LEAST], []

    def put(which: int, start: int, count: int) -> None:
        x = states[which]
        if x >= count << 51:
            words.append(x & 0xFFFFFFFF)
            x >>= 32
        states[which] = (x // count << 12) + x % count + start

    for index in range(len(values) - 1, -1, -1):
        value = values[index]
        if not counts[value]:
            put(index & 1, 16 * value, 16)
            value = RARE
        put(index & 1, starts[value], counts[value])
    coded = struct.pack(f"<QQ{len(words)}I", *states, *reversed(words))
    return struct.pack("<H", number) + coded if len(values) <= 20 * len(coded) < 20 * len(values) else None


def rate(values: Sequence[int], precision: int, below: int) -> int | None:
    """The number of the rate nearest to the likeliest one; None if too few registers are used."""
    if 12 * sum(value > 0 for value in values) < len(values):
        return None
    highest = 65 - precision
    # The frequencies of levels known not to have occurred, and how often each is known to have.
    absent, occurred = 0.0, [0] * (highest + 1)
    for value in values:
        level = value >> below
        if level:
            occurred[min(level, highest - 1)] += 1
        for back in range(1, min(below, level - 1) + 1):
            if value >> (below - back) & 1:
                occurred[min(level - back, highest - 1)] += 1
            else:
                absent += 2.0 ** -min(level - back, highest - 1)
        absent += 2.0**-level if level < highest else 0.0
    if absent == 0.0:
        return RATES - 1

    def slope(rate: float) -> float:
        return (
            sum(
                count * rate * 2.0**-level / math.expm1(rate * 2.0**-level)
                for level, count in enumerate(occurred)
                if count and rate * 2.0**-level < 700
            )
            - absent * rate
        )

    low, high = 2.0**-30, 2.0**70
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    fraction, exponent = math.frexp(low)
    number = 32 * (exponent - 1 + 20) + math.floor((2 * fraction - 1) * 32 + 0.5)
    return min(max(number, 0), RATES - 1)
