"""Payloads of what is kept of a column beside its profile, read from docs/format.md alone.

A payload against the page's rules is a ValueError; format_reader.py says what the file then is.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

from format_distinct import fields, must

ALL = 2**64 - 1
BANDS, KEPT, MOST_RUNS = 8, 16, 64


@dataclass(frozen=True)
class DistinctGrowth:
    """Entries are a hash, the first row, and whether the value came again."""

    k: int
    entries: tuple[tuple[int, int, bool], ...]

    @classmethod
    def read(cls, payload: bytes) -> DistinctGrowth:
        k, count = fields("II", payload)
        must(2 <= k <= 2**20, f"k = {k}")
        must(count <= k, f"{count} hashes of {k}")
        must(len(payload) == 8 + 16 * count, f"payload of {len(payload)} bytes")
        words = fields(f"{2 * count}Q", payload[8:])
        entries = tuple(
            (hash, first >> 1, first & 1 == 1) for hash, first in zip(words[::2], words[1::2], strict=True)
        )
        must(all(a[0] < b[0] for a, b in pairwise(entries)), "hashes not strictly ascending")
        return cls(k, entries)

    @property
    def answer(self) -> float:
        """How many different values: exactly if there are fewer than k."""
        if len(self.entries) < self.k:
            return len(self.entries)
        return (self.k - 1) * 2.0**64 / self.entries[-1][0]

    def __str__(self) -> str:
        return f"DistinctGrowth, k = {self.k}: {len(self.entries)} hashes"


@dataclass(frozen=True)
class Text:
    hash: int
    count: int
    band_keys: tuple[int, ...]
    runs: tuple[int, ...]

    def rank(self) -> int:
        return min(self.hash // 2, *self.band_keys)


def is_threshold(number: int) -> bool:
    if number in (0, ALL):
        return True
    return number >= 64 and number % 2 ** (number.bit_length() - 7) == 0


def drawn(texts: list[Text], threshold: int) -> tuple[set[int], int]:
    """The hashes of the texts that are drawn, and how often a text is."""
    chosen = {text.hash for text in texts if text.hash // 2 < threshold}
    places = len(chosen)
    for band in range(BANDS):
        buckets = defaultdict(list)
        for text in texts:
            if text.band_keys[band] < threshold:
                buckets[text.band_keys[band]].append((text.band_keys[(band + 1) % BANDS], text.hash))
        for bucket in buckets.values():
            first = sorted(bucket)[:KEPT]
            chosen |= {hash for _, hash in first}
            places += len(first)
    return chosen, places


@dataclass(frozen=True)
class NearDuplicateShare:
    capacity: int
    documents: int
    threshold: int
    texts: tuple[Text, ...]

    @classmethod
    def read(cls, payload: bytes, kind: int) -> NearDuplicateShare:
        must(kind == 1, f"key kind {kind}")
        capacity, documents, threshold, count = fields("IQQI", payload)
        must(64 <= capacity <= 8192, f"capacity {capacity}")
        must(is_threshold(threshold), f"threshold {threshold:x}")
        must(count <= capacity, f"{count} texts of {capacity}")
        texts, rest = [], payload[24:]
        for _ in range(count):
            hash, times, *keys, runs = fields(f"QQ{BANDS}QB", rest)
            must(times >= 1, "a text that never came")
            must(1 <= runs <= MOST_RUNS, f"{runs} runs")
            text = Text(hash, times, tuple(keys), fields(f"{runs}I", rest[81:]))
            must(all(a < b for a, b in pairwise(text.runs)), "runs not strictly ascending")
            must(text.rank() < threshold, "a text that is not drawn")
            texts.append(text)
            rest = rest[81 + 4 * runs :]
        must(not rest, f"{len(rest)} bytes after the last text")
        must(all(a.hash < b.hash for a, b in pairwise(texts)), "texts not strictly ascending")
        came = min(sum(text.count for text in texts), ALL)
        if threshold == ALL:
            must(documents == came, f"{documents} documents of {came}")
        else:
            chosen, places = drawn(texts, threshold)
            must(len(chosen) == count, "a text that is not among the first of a bucket")
            must(places <= capacity * 7 // 8, f"{places} places of {capacity}")
            must(documents >= came, f"{documents} documents of {came}")
        return cls(capacity, documents, threshold, tuple(texts))

    @property
    def answer(self) -> float:
        return self.documents

    def __str__(self) -> str:
        return f"NearDuplicateShare, capacity {self.capacity}: {len(self.texts)} texts of {self.documents}"
