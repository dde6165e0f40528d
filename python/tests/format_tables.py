"""The payload of the profile of a table, read from docs/format.md alone.

A payload against the page's rules is a ValueError; format_reader.py says what the file then is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from format_detail import Detail
from format_distinct import fields, must
from format_frequency import stored_key
from format_profile import ReadEnvelope, keys_of

KINDS = 6


@dataclass(frozen=True)
class TableColumn:
    """`firsts` has, for each kind of value, the row and text of its first value, or None."""

    name: str
    firsts: tuple[tuple[int, bytes] | None, ...]
    profile: Any
    growth: Any
    ranks: Any
    documents: Any
    detail: Detail | None = None

    @classmethod
    def read(
        cls, rest: bytes, last_row: int, header: Any, envelope: ReadEnvelope
    ) -> tuple[TableColumn, bytes]:
        name, rest = text(rest)
        firsts: list[tuple[int, bytes] | None] = []
        for _ in range(KINDS):
            (is_there,) = fields("B", rest)
            must(is_there <= 1, f"first of a kind {is_there}")
            rest = rest[1:]
            if not is_there:
                firsts.append(None)
                continue
            (row,) = fields("Q", rest)
            must(1 <= row <= last_row, f"row {row}")
            value, rest = text(rest[8:])
            must(len(value) <= 60, "a first value that is too long")
            firsts.append((row, value))
        parts: list[Any] = []
        for family in ("ColumnProfile", "DistinctGrowth", "RankSketch", "NearDuplicateShare"):
            if family == "NearDuplicateShare":
                (has_documents,) = fields("B", rest)
                must(has_documents <= 1, f"near-duplicates {has_documents}")
                rest = rest[1:]
                if not has_documents:
                    parts.append(None)
                    continue
            part, contents, rest = envelope(rest)
            must(type(contents).__name__ == family, f"no {family}")
            must(family == "RankSketch" or keys_of(part) == keys_of(header), f"{family} of other keys")
            parts.append(contents)
        detail = None
        if header.family_version > 1:
            (has_detail,) = fields("B", rest)
            must(has_detail <= 1, f"detail {has_detail}")
            rest = rest[1:]
            if has_detail:
                detail, rest = Detail.read(rest, last_row, parts[0])
        profile, growth, ranks, documents = parts
        column = cls(name.decode(), tuple(firsts), profile, growth, ranks, documents, detail)
        column.check()
        return column, rest

    def check(self) -> None:
        kinds, numbers = self.profile.kinds, self.profile.parts[3]
        have = zip(self.firsts, kinds, strict=True)
        must(all((first is not None) == (count > 0) for first, count in have), "firsts")
        must(bool(self.growth.entries) == (sum(kinds) > 0), "growth")
        ends = (numbers.least, numbers.greatest) if numbers.count else None
        must((self.ranks.count, self.ranks.unordered) == (numbers.count, 0), "count of ranks")
        must(self.ranks.ends == ends, "ends of ranks")


def text(data: bytes) -> tuple[bytes, bytes]:
    key, rest = stored_key(data, 1)
    assert isinstance(key, bytes)
    return key, rest


@dataclass(frozen=True)
class TableProfile:
    rows: int
    bytes_read: int
    bad: int
    left_out: int
    columns: tuple[TableColumn, ...]

    @classmethod
    def read(cls, payload: bytes, header: Any, envelope: ReadEnvelope) -> TableProfile:
        must(header.key_kind == 1, f"key kind {header.key_kind}")
        rows, bytes_read, bad, left_out, count = fields("QQQQI", payload)
        must(count <= 2**24, f"{count} columns")
        rest, columns = payload[36:], []
        for _ in range(count):
            column, rest = TableColumn.read(rest, rows + left_out, header, envelope)
            must(column.profile.answer == rows, f"{column.profile.answer} rows of a column")
            columns.append(column)
        must(not rest, f"{len(rest)} bytes after the last column")
        return cls(rows, bytes_read, bad, left_out, tuple(columns))

    @property
    def answer(self) -> float:
        return self.rows

    def __str__(self) -> str:
        return f"TableProfile: {self.rows} rows, {len(self.columns)} columns"
