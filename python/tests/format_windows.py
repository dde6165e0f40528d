"""Payloads of rings of panes, read from docs/format.md alone.

A payload against the page's rules is a ValueError; format_reader.py says what the file then is.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from format_distinct import fields, must
from format_profile import ReadEnvelope, keys_of

# How many bytes at the beginning of a payload are parameters, by family.
PARAMETERS = {
    0x10: 8, 0x11: 9, 0x12: 17, 0x20: 1, 0x22: 8, 0x23: 4, 0x25: 1, 0x26: 1, 0x30: 8, 0x31: 20, 0x32: 16,
    0x33: 18, 0x40: 6, 0x41: 6, 0x43: 4, 0x50: 4, 0x51: 4, 0x71: 25, 0x72: 12,
}  # fmt: skip
CONTAINERS = {0x70, 0x78}


@dataclass(frozen=True)
class Panes:
    width: int
    capacity: int
    late: int
    latest: int | None
    empty: Any
    panes: tuple[tuple[int, Any], ...]

    @classmethod
    def read(cls, payload: bytes, header: Any, envelope: ReadEnvelope) -> Panes:
        width, capacity, late, started, _ = fields("QIQBQ", payload)
        (latest,) = struct.unpack_from("<q", payload, 21)
        must(started == 1 or started == late == latest == 0, "late or latest before the start")
        rest = payload[29:]
        kind, empty, parameters, rest = pane(rest, envelope)
        must(keys_of(kind) == keys_of(header), "an empty sketch of other keys")
        must(1 <= width < 2**63, f"panes of {width}")
        must(1 <= capacity <= 65536, f"{capacity} panes")
        must(empty.answer == 0, "an empty sketch that is not empty")
        lowest, highest = -(2**63) // width, (2**63 - 1) // width
        must(not started or lowest <= latest <= highest, f"pane {latest} of no time")
        (used,) = fields("I", rest)
        must(used <= (capacity if started else 0), f"{used} panes of {capacity}")
        panes: list[tuple[int, Any]] = []
        rest = rest[4:]
        for _ in range(used):
            must(len(rest) >= 8, "a pane without a number")
            (number,) = struct.unpack_from("<q", rest)
            must(max(latest - capacity + 1, lowest) <= number <= latest, f"pane {number}")
            must(not panes or panes[-1][0] < number, "panes not strictly ascending")
            found, sketch, first_bytes, rest = pane(rest[8:], envelope)
            must(keys_of(found) == keys_of(kind), "a pane of other keys")
            must((found.family, found.family_version) == (kind.family, kind.family_version), "another family")
            must(first_bytes == parameters, "a pane of other parameters")
            panes.append((number, sketch))
        must(not rest, f"{len(rest)} bytes after the last pane")
        return cls(width, capacity, late, latest if started else None, empty, tuple(panes))

    @property
    def answer(self) -> float:
        return len(self.panes)

    def __str__(self) -> str:
        return f"Panes, {len(self.panes)} of {self.capacity} used, {self.width} wide; {self.empty}"


def pane(data: bytes, envelope: ReadEnvelope) -> tuple[Any, Any, bytes, bytes]:
    """Header, contents and parameters of the sketch at the beginning, and what comes after it."""
    must(len(data) < 6 or data[5] not in CONTAINERS or data[:4] != b"CRVO", "a container in a ring")
    header, contents, rest = envelope(data)
    return header, contents, data[28 : 28 + PARAMETERS.get(header.family, 0)], rest
