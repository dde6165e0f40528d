"""Sketches with a history against docs/format.md: each file is made again from the page's words alone."""

from __future__ import annotations

import struct

import format_coded
import pytest
from format_reader import read
from test_format_distinct import TEXT, envelope, golden, rank, texts

PRECISION = 10
EXACT_UP_TO = (3 << PRECISION) // 32
# The family, and how many levels below its highest a register remembers.
RECIPES = {"hyperloglog_v2_history": (0x20, 0), "ultraloglog_v2_history": (0x26, 2)}


def is_news(level: int, seen: set[int], remembered: int) -> bool:
    """Whether a level would change a register that saw others."""
    return level not in seen and level >= max(seen, default=0) - remembered


def with_history(remembered: int) -> bytes:
    width = 64 - PRECISION
    # Of the hashes of a register, as many have each level.
    frequency = {level: 1 << (width - level) for level in range(1, width + 1)} | {width + 1: 1}
    levels: list[set[int]] = [set() for _ in range(1 << PRECISION)]
    chance, count, variance = 1 << 64, 0.0, 0.0
    for place, h in enumerate(texts(100_000)):
        seen, level = levels[h >> width], rank(h, width)
        if place < EXACT_UP_TO:
            count += 1
        if is_news(level, seen, remembered):
            if place >= EXACT_UP_TO:
                share = 2.0**64 / chance
                count += share
                variance += share * (share - 1)
            before = sum(frequency[k] for k in frequency if is_news(k, seen, remembered))
            seen.add(level)
            chance -= before - sum(frequency[k] for k in frequency if is_news(k, seen, remembered))
    registers = bytearray()
    for seen in levels:
        u = max(seen, default=0)
        below = sum((u - back in seen) << (remembered - back) for back in range(1, remembered + 1))
        registers.append((u << remembered) + below)
    coded = format_coded.encode(bytes(registers), PRECISION, remembered)
    assert coded, "registers of this many items are stored in fewer bytes"
    return struct.pack("<BBdd", PRECISION, 128 + 2, count, variance) + coded


@pytest.mark.parametrize("name", RECIPES)
def test_a_file_with_history_is_made_from_the_words_of_the_page(name: str) -> None:
    family, remembered = RECIPES[name]
    stored = golden(name)
    assert envelope(family, TEXT, 0, with_history(remembered), 2) == stored
    read(stored)
