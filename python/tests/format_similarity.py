"""Payloads of the sketches of similarity, read from docs/format.md alone.

A payload against the page's rules is a ValueError; format_reader.py says what the file then is.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from format_distinct import fields, must


@dataclass(frozen=True)
class MinHash:
    k: int
    slots: tuple[int, ...]

    @classmethod
    def read(cls, payload: bytes) -> MinHash:
        k, count = fields("II", payload)
        must(1 <= k <= 32767, f"k of {k}")
        must(count in (0, k), f"{count} slots for k = {k}")
        must(len(payload) == 8 + 8 * count, f"payload of {len(payload)} bytes for {count} slots")
        slots: tuple[int, ...] = struct.unpack_from(f"<{count}Q", payload, 8)
        rounds = [slot >> 48 for slot in slots]
        must(all(r < k or r == k + i for i, r in enumerate(rounds)), "a slot of another's round")
        must(not slots or 0 in rounds, "no slot of round 0")
        return cls(k, slots)

    @property
    def answer(self) -> float:
        """Whether there is anything: how alike it is to others takes two of them."""
        return float(bool(self.slots))

    def similarity(self, other: MinHash) -> float:
        if not self.slots or not other.slots:
            return 0
        return sum(a == b for a, b in zip(self.slots, other.slots, strict=True)) / self.k

    def __str__(self) -> str:
        return f"MinHash, k = {self.k}, {'filled' if self.slots else 'empty'}"
