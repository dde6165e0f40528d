"""Payloads of filters side by side, read from docs/format.md alone.

A payload against the page's rules is a ValueError; format_reader.py says what the file then is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from format_distinct import fields, must
from format_profile import ReadEnvelope, keys_of


@dataclass(frozen=True)
class CombinedFilter:
    """Filters side by side: a key is in there if all filters of one group say so."""

    groups: tuple[tuple[Any, ...], ...]

    @classmethod
    def read(cls, payload: bytes, header: Any, envelope: ReadEnvelope) -> CombinedFilter:
        (count,) = fields("I", payload)
        must(1 <= count <= 64, f"{count} groups")
        rest = payload[4:]
        groups: list[tuple[Any, ...]] = []
        for _ in range(count):
            (filters,) = fields("I", rest)
            must(1 <= filters <= 64, f"{filters} filters")
            rest = rest[4:]
            group: list[Any] = []
            for _ in range(filters):
                must(len(rest) >= 6 and rest[5] in (0x31, 0x32, 0x33), "a filter of another kind")
                found, contents, rest = envelope(rest)
                must(keys_of(found) == keys_of(header), "a filter of other keys")
                group.append(contents)
            groups.append(tuple(group))
        must(sum(map(len, groups)) <= 64, "more than 64 filters")
        must(not rest, f"{len(rest)} bytes after the last filter")
        return cls(tuple(groups))

    def __contains__(self, h: int) -> bool:
        return any(all(h in part for part in group) for group in self.groups)

    @property
    def answer(self) -> float:
        """How many keys at most: of each group the fewest; the page leaves it open."""
        return float(sum(min(part.answer for part in group) for group in self.groups))

    def __str__(self) -> str:
        return f"CombinedFilter, {len(self.groups)} united: at most {self.answer:.0f}"
