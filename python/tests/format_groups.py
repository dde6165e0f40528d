"""Payloads of groups and tallies, read from docs/format.md alone.

A payload against the page's rules is a ValueError; format_reader.py says what the file then is.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import Any

import xxhash
from format_distinct import fields, must
from format_profile import ReadEnvelope, keys_of, units
from format_windows import PARAMETERS

CONTAINERS = {0x70, 0x78}
LARGEST = struct.unpack("<d", bytes.fromhex("ffffffffffffef7f"))[0]


@dataclass(frozen=True)
class Tally:
    count: int
    numbers: int
    total: int  # the sum, in units of 2^-1074

    @classmethod
    def read(cls, payload: bytes) -> Tally:
        count, numbers = fields("QQ", payload)
        must(numbers <= count, f"{numbers} numbers of {count} events")
        if numbers == 0:
            must(len(payload) == 16, "a sum of no numbers")
            return cls(count, numbers, 0)
        sign, first, limbs = fields("BBB", payload[16:])
        must(sign < 2, f"sign {sign}")
        must(first + limbs <= 68, f"{limbs} limbs from {first}")
        must(len(payload) == 19 + 4 * limbs, f"payload of {len(payload)} bytes")
        words = struct.unpack_from(f"<{limbs}I", payload, 19)
        if limbs == 0:
            must(first == sign == 0, "a sum of 0 with a sign or a place")
        else:
            must(words[0] != 0 and words[-1] != 0, "limbs of 0 at the ends")
        total = sum(word << 32 * (first + i) for i, word in enumerate(words)) * (-1 if sign else 1)
        must(abs(total) <= numbers * units(LARGEST), "a sum that the numbers cannot have")
        return cls(count, numbers, total)

    @property
    def answer(self) -> float:
        return self.count

    def __str__(self) -> str:
        return f"Tally of {self.count}, {self.numbers} numbers"


@dataclass(frozen=True)
class Groups:
    fields: int
    empty: Any
    groups: tuple[tuple[bytes, Any], ...]

    @classmethod
    def read(cls, payload: bytes, header: Any, envelope: ReadEnvelope) -> Groups:
        (count_of_fields,) = fields("B", payload)
        must(count_of_fields > 0, "keys of no field")
        rest = payload[1:]
        must(len(rest) < 6 or rest[5] not in CONTAINERS or rest[:4] != b"CRVO", "a container in a container")
        kind, empty, after = envelope(rest)
        must(keys_of(kind) == keys_of(header), "an empty sketch of other keys")
        must(empty.answer == 0, "an empty sketch that is not empty")
        head = rest[:20]
        parameters = rest[28 : 28 + PARAMETERS.get(kind.family, 0)]
        (count,) = fields("Q", after)
        rest = after[8:]
        groups: list[tuple[bytes, Any]] = []
        before: tuple[int, bytes] | None = None
        for _ in range(count):
            (length,) = fields("I", rest)
            must(len(rest) >= 4 + length + 8, "a key that is cut off")
            key = rest[4 : 4 + length]
            (size,) = struct.unpack_from("<Q", rest, 4 + length)
            rest = rest[12 + length :]
            must(len(rest) >= size, "a group that is cut off")
            place = (int(xxhash.xxh3_64_intdigest(key, header.seed)), key)
            must(before is None or before < place, "groups that are not in order")
            before = place
            must(rest[: len(parameters)] == parameters, "a group of other parameters")
            # The payload stands without an envelope: it gets one for the reader.
            whole = head + struct.pack("<Q", size) + rest[:size]
            _, sketch, _ = envelope(whole + struct.pack("<I", zlib.crc32(whole)))
            groups.append((key, sketch))
            rest = rest[size:]
        must(not rest, f"{len(rest)} bytes after the last group")
        return cls(count_of_fields, empty, tuple(groups))

    @property
    def answer(self) -> float:
        return len(self.groups)

    def __str__(self) -> str:
        return f"Groups, {len(self.groups)} of {self.empty}"
