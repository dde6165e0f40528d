"""Golden files of integers that are hashed with Rrmxmx, and of columns, from docs/format.md alone."""

import re
import struct
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
import test_format_distinct as distinct
import test_format_membership as membership
import xxhash
from format_reader import FAMILIES, read
from reference import rrmxmx

GOLDEN = Path(__file__).parents[2] / "crates" / "crivo" / "tests" / "golden"
RRMXMX, XXH3, TEXT = (2, 2), (1, 2), (1, 1)
HASHES = [rrmxmx(key, 7) for key in range(-300, 300)]


def growth(k: int, rows: Iterable[tuple[int, int]]) -> bytes:
    """The payload of a DistinctGrowth of hashes with their rows."""
    first: dict[int, int] = {}
    repeated = set()
    for value, row in rows:
        if value in first:
            repeated.add(value)
        first[value] = min(row, first.get(value, row))
    kept = sorted(first)[:k]
    pairs = b"".join(struct.pack("<QQ", value, first[value] << 1 | (value in repeated)) for value in kept)
    return struct.pack("<II", k, len(kept)) + pairs


def texts_in_rows(last: int) -> list[tuple[int, int]]:
    """Rows from 1; every third has the value of the row before."""
    values = ((row, row - 1 if row % 3 == 0 else row) for row in range(1, last + 1))
    return [(xxhash.xxh3_64_intdigest(f"key {value}".encode(), 7), row) for row, value in values]


def last_row() -> list[tuple[int, int]]:
    return [(xxhash.xxh3_64_intdigest(struct.pack("<Q", key), 0), 2**63 - 2) for key in range(1, 10)]


# Family, hash function and key kind, seed, payload.
RECIPES: dict[str, tuple[int, tuple[int, int], int, Callable[[], bytes]]] = {
    "exact_distinct_v1_rrmxmx": (0x21, RRMXMX, 7, lambda: distinct.exact(HASHES)),
    "linear_counting_v1_rrmxmx": (0x22, RRMXMX, 7, lambda: distinct.linear(1000, HASHES)),
    "k_min_values_v1_rrmxmx": (0x23, RRMXMX, 7, lambda: distinct.smallest(64, HASHES)),
    "probabilistic_counting_v1_rrmxmx": (0x24, RRMXMX, 7, lambda: distinct.probabilistic(HASHES)),
    "log_log_v1_rrmxmx": (0x25, RRMXMX, 7, lambda: distinct.log_log(6, HASHES)),
    "ultraloglog_v1_rrmxmx": (0x26, RRMXMX, 7, lambda: distinct.ultra(8, HASHES)),
    "binary_fuse_v1_rrmxmx": (0x35, RRMXMX, 7, lambda: membership.fuse(HASHES)),
    "distinct_growth_v1_empty": (0x74, TEXT, 7, lambda: growth(1024, [])),
    "distinct_growth_v1_exact": (0x74, TEXT, 7, lambda: growth(1024, texts_in_rows(100))),
    "distinct_growth_v1_sampled": (0x74, TEXT, 7, lambda: growth(64, texts_in_rows(10_000))),
    "distinct_growth_v1_merged": (0x74, TEXT, 7, lambda: growth(64, texts_in_rows(1000))),
    "distinct_growth_v1_integers": (0x74, XXH3, 0, lambda: growth(16, last_row())),
    "distinct_growth_v1_rrmxmx": (
        0x74,
        RRMXMX,
        7,
        lambda: growth(64, zip(HASHES, range(1, 601), strict=True)),
    ),
}
BUILT_BY_RUST = (
    "row_sample",
    "near_duplicate_share",
    "groups",
    "tally",
    "key_quantiles",
    "number_quantiles",
    "table_profile",
)
# Files that are read here, and built by the Rust library only.
READ = {
    path.stem
    for path in GOLDEN.glob("*.bin")
    if path.stem.endswith(("_rrmxmx", "_coded")) or re.split("_v[12]_", path.stem)[0] in BUILT_BY_RUST
} - set(RECIPES)


@pytest.mark.parametrize("name", RECIPES)
def test_the_recipe_gives_every_byte_of_the_file(name: str) -> None:
    family, keys, seed, payload = RECIPES[name]
    stored = distinct.golden(name)
    assert stored[5] == family, f"family {stored[5]:#x}"
    assert distinct.envelope(family, keys, seed, payload()) == stored


@pytest.mark.parametrize("name", sorted({*RECIPES, *READ}))
def test_the_file_is_read(name: str) -> None:
    sketch = read(distinct.golden(name))
    header = sketch.header
    if name.endswith("_rrmxmx"):
        assert (header.hash_function, header.key_kind, header.seed) == (2, 2, 7)
    family = FAMILIES[header.family, header.family_version]
    assert family.lower() == re.split("_v[12]_", name)[0].replace("_", "")
