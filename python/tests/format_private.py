"""Payloads of private counts, and files of private reports, read from docs/format.md alone.

A payload against the page's rules is a ValueError; format_reader.py says what the file then is.
"""

from __future__ import annotations

import math
import struct
import zlib
from dataclasses import dataclass

import xxhash
from format_distinct import must
from format_membership import MOST, multiplier

HEADER = struct.Struct("<4s4BQdII")
PAIRS = {(1, 1), (2, 1), (2, 2), (3, 0)}  # allowed key kind and hash function


def check_sizes(epsilon: float, rows: int, width: int) -> None:
    must(0.001 <= epsilon <= 32, f"epsilon {epsilon}")
    must(1 <= rows <= 2**16, f"{rows} rows")
    must(2 <= width <= 2**20, f"width {width}")


def place(h: int, row: int, width: int) -> int:
    """The place of a key in a row: the index of the value of its hash."""
    return (h * multiplier(row) & MOST) * width >> 64


@dataclass(frozen=True)
class PrivateCountMean:
    epsilon: float
    rows: int
    width: int
    reports: tuple[int, ...]
    ones: tuple[int, ...]

    @classmethod
    def read(cls, payload: bytes) -> PrivateCountMean:
        must(len(payload) >= 16, f"payload of {len(payload)} bytes")
        epsilon, rows, width = struct.unpack_from("<dII", payload)
        check_sizes(epsilon, rows, width)
        must(len(payload) == 16 + 4 * rows * (1 + width), f"payload of {len(payload)} bytes")
        reports: tuple[int, ...] = struct.unpack_from(f"<{rows}I", payload, 16)
        ones: tuple[int, ...] = struct.unpack_from(f"<{rows * width}I", payload, 16 + 4 * rows)
        for row, count in enumerate(reports):
            must(max(ones[row * width : (row + 1) * width]) <= count, "more ones than reports")
        return cls(epsilon, rows, width, reports, ones)

    @property
    def answer(self) -> float:
        return sum(self.reports)

    def unbiased(self, h: int) -> float:
        n, m = sum(self.reports), self.width
        p = sum(self.ones[row * m + place(h, row, m)] for row in range(self.rows))
        power = math.exp(self.epsilon / 2)
        c = (power + 1) / (power - 1)
        return m / (m - 1) * (c * (p - n / 2) + n / 2 - n / m)

    def __str__(self) -> str:
        size = f"{self.rows} × {self.width}"
        return f"PrivateCountMean, epsilon {self.epsilon}, {size}: {self.answer} reports"


@dataclass(frozen=True)
class Reports:
    """A file of reports: which protocol, and of each report its row and its bits, lowest first."""

    key_kind: int
    seed: int
    epsilon: float
    rows: int
    width: int
    reports: tuple[tuple[int, int], ...]

    @classmethod
    def read(cls, data: bytes) -> Reports:
        must(data[:4] == b"CRVP"[: len(data)] and len(data) >= 36, "no header of reports")
        magic, version, function, kind, reserved, seed, epsilon, rows, width = HEADER.unpack_from(data)
        must(magic == b"CRVP" and version == 1, "another magic or version")
        (checksum,) = struct.unpack_from("<I", data, 32)
        must(checksum == zlib.crc32(data[:32]), "a damaged header")
        must((kind, function) in PAIRS and reserved == 0, f"key kind {kind} with hash function {function}")
        check_sizes(epsilon, rows, width)
        length = 6 + (width + 7) // 8
        must((len(data) - 36) % length == 0, "a record that was cut off")
        reports = []
        for start in range(36, len(data), length):
            record = data[start : start + length]
            (row,), body = struct.unpack_from("<H", record), record[:-4]
            must(zlib.crc32(data[32:36] + body) == int.from_bytes(record[-4:], "little"), "a damaged record")
            bits = int.from_bytes(body[2:], "little")
            must(row < rows, f"row {row} of {rows}")
            must(bits < 1 << width, "a one past the width")
            reports.append((row, bits))
        return cls(kind, seed, epsilon, rows, width, tuple(reports))

    def counted(self) -> PrivateCountMean:
        """What a server makes of them."""
        reports, ones = [0] * self.rows, [0] * (self.rows * self.width)
        for row, bits in self.reports:
            reports[row] += 1
            for i in range(self.width):
                ones[row * self.width + i] += bits >> i & 1
        return PrivateCountMean(self.epsilon, self.rows, self.width, tuple(reports), tuple(ones))


def hash_of(key: str | int, seed: int) -> int:
    data = key.encode() if isinstance(key, str) else struct.pack("<q", key)
    return int(xxhash.xxh3_64_intdigest(data, seed))
