"""Holds docs/format.md to the golden files, by a reader written from that page alone.

The recipes below are copied from the page by hand; the hashes come from the xxhash package, so
nothing here can agree with crivo by sharing its code.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import format_coded
import format_reader
import pytest
import test_format_counters
import test_format_distinct
import test_format_frequency
import test_format_history
import test_format_integers
import test_format_membership
import test_format_sampling
import test_format_similarity
import xxhash
from format_reader import (
    CODED,
    DENSE,
    EXACT,
    Damaged,
    Header,
    Invalid,
    Newer,
    NotCrivo,
    Refused,
    Sketch,
    TrailingBytes,
    Truncated,
)


def read(data: bytes) -> Sketch:
    """These are the tests of HyperLogLog; other families have files of their own."""
    sketch = format_reader.read(data)
    assert isinstance(sketch, Sketch)
    return sketch


def golden_folder() -> Path:
    """The override is for trials outside the repository; a missing folder must not pass."""
    if override := os.environ.get("CRIVO_GOLDEN_DIR"):
        return Path(override)
    for parent in Path(__file__).resolve().parents:
        if (folder := parent / "crates" / "crivo" / "tests" / "golden").is_dir():
            return folder
    raise FileNotFoundError("no crates/crivo/tests/golden above this file")


GOLDEN = golden_folder()


@dataclass(frozen=True)
class Recipe:
    """One row of the page's table of golden files."""

    precision: int
    hash_function: int
    key_kind: int
    seed: int
    hashes: Callable[[], Iterable[int]]
    version: int = 1

    def header(self) -> Header:
        return Header(1, 0x20, self.version, self.hash_function, self.key_kind, self.seed)

    def distinct(self) -> list[int]:
        return sorted(set(self.hashes()))

    def is_exact(self) -> bool:
        return len(self.distinct()) <= (3 << self.precision) // 32

    def registers(self) -> bytes:
        registers = bytearray(1 << self.precision)
        low_bits = 64 - self.precision
        for h in self.hashes():
            # A stop bit above the low bits gives them their rank even if they are all zero.
            low = h & ((1 << low_bits) - 1) | (1 << low_bits)
            rank = (low & -low).bit_length()
            index = h >> low_bits
            registers[index] = max(registers[index], rank)
        return bytes(registers)


def texts(count: int) -> Iterable[int]:
    return (xxhash.xxh3_64_intdigest(f"key {i}".encode(), seed=0) for i in range(count))


def integers(numbers: range, seed: int) -> Iterable[int]:
    return (xxhash.xxh3_64_intdigest(i.to_bytes(8, "little", signed=True), seed=seed) for i in numbers)


def lengths(longest: int, seed: int) -> Iterable[int]:
    return (xxhash.xxh3_64_intdigest(("á" * i).encode(), seed=seed) for i in range(longest + 1))


GOLDEN_RATIO = 11400714785074694797


RECIPES = {
    "hyperloglog_v1_empty": Recipe(14, 1, 1, 0, lambda: ()),
    "hyperloglog_v1_exact": Recipe(12, 1, 1, 0, lambda: texts(300)),
    "hyperloglog_v1_dense": Recipe(12, 1, 1, 0, lambda: texts(100_000)),
    "hyperloglog_v1_integers": Recipe(10, 1, 2, 7, lambda: integers(range(10_000), 7)),
    "hyperloglog_v1_limit": Recipe(8, 1, 2, 0, lambda: integers(range(-12, 12), 0)),
    "hyperloglog_v1_past_limit": Recipe(8, 1, 2, 0, lambda: integers(range(-12, 13), 0)),
    "hyperloglog_v1_texts": Recipe(8, 1, 1, GOLDEN_RATIO, lambda: lengths(150, GOLDEN_RATIO)),
    "hyperloglog_v1_hashes": Recipe(6, 0, 3, 2**64 - 1, lambda: (0, 1, 2**63, 2**64 - 1)),
    "hyperloglog_v1_saturated": Recipe(4, 0, 3, 0, lambda: (i * 2**60 for i in range(16))),
}
# The second version differs in its number and in coded registers.
RECIPES |= {
    name.replace("_v1_", "_v2_"): dataclasses.replace(recipe, version=2) for name, recipe in RECIPES.items()
}
each_recipe = pytest.mark.parametrize("name", RECIPES)


def golden(name: str) -> bytes:
    return (GOLDEN / f"{name}.bin").read_bytes()


def refusal(data: bytes) -> type[Exception] | None:
    """The exact class, so that a refusal for another reason does not count."""
    try:
        read(data)
    except Refused as refused:
        return type(refused)
    return None


def envelope(payload: bytes, changes: dict[int, int] | None = None, keys: str = "0101") -> bytes:
    """A whole file around a payload, with bytes of the header changed before it is sealed."""
    data = bytearray.fromhex("4352564f 01 20 01 00" + keys + "0000")
    data += bytes(8) + len(payload).to_bytes(8, "little")
    for offset, value in (changes or {}).items():
        data[offset] = value
    data += payload
    return bytes(data) + zlib.crc32(data).to_bytes(4, "little")


def exact(precision: int, hashes: Iterable[int], count: int | None = None) -> bytes:
    body = b"".join(h.to_bytes(8, "little") for h in hashes)
    number = len(body) // 8 if count is None else count
    return bytes([precision, EXACT]) + number.to_bytes(4, "little") + body


def dense(precision: int, registers: bytes) -> bytes:
    return bytes([precision, DENSE]) + registers


# The golden files against their recipes.


def test_every_golden_file_has_a_recipe_and_every_recipe_a_file() -> None:
    recipes = {
        *RECIPES,
        *test_format_distinct.RECIPES,
        *test_format_counters.RECIPES,
        *test_format_membership.RECIPES,
        *test_format_frequency.RECIPES,
        *test_format_sampling.RECIPES,
        *test_format_similarity.RECIPES,
        *test_format_integers.RECIPES,
        *test_format_integers.READ,
        *test_format_history.RECIPES,
    }
    assert {path.stem for path in GOLDEN.glob("*.bin")} == recipes


def test_every_file_of_the_golden_folder_is_read() -> None:
    paths = sorted(GOLDEN.glob("*.bin"))
    assert paths
    for path in paths:
        format_reader.read(path.read_bytes())


@each_recipe
def test_the_header_says_what_the_recipe_says(name: str) -> None:
    sketch, recipe = read(golden(name)), RECIPES[name]
    assert sketch.header == recipe.header()
    assert sketch.precision == recipe.precision


@each_recipe
def test_the_state_is_exact_as_long_as_the_hashes_fit(name: str) -> None:
    assert (read(golden(name)).state == EXACT) == RECIPES[name].is_exact()


@each_recipe
def test_the_contents_are_those_computed_from_the_keys(name: str) -> None:
    sketch, recipe = read(golden(name)), RECIPES[name]
    if recipe.is_exact():
        assert list(sketch.hashes) == recipe.distinct()
        assert sketch.registers == b""
    else:
        assert sketch.registers == recipe.registers()
        assert sketch.hashes == ()


@each_recipe
def test_the_recipe_gives_every_byte_of_the_file(name: str) -> None:
    recipe = RECIPES[name]
    if recipe.is_exact():
        payload = exact(recipe.precision, recipe.distinct())
    else:
        payload = dense(recipe.precision, recipe.registers())
        coded = format_coded.encode(recipe.registers(), recipe.precision, 0)
        if recipe.version == 2 and coded:
            payload = bytes([recipe.precision, CODED]) + coded
    seed = {6: recipe.version, **dict(enumerate(recipe.seed.to_bytes(8, "little"), start=12))}
    keys = bytes([recipe.hash_function, recipe.key_kind]).hex()
    assert envelope(payload, seed, keys) == golden(name)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("hyperloglog_v2_empty", 0),
        ("hyperloglog_v2_exact", 300),
        ("hyperloglog_v1_empty", 0),
        ("hyperloglog_v1_exact", 300),
        ("hyperloglog_v1_hashes", 4),
    ],
)
def test_an_exact_sketch_answers_exactly(name: str, count: int) -> None:
    assert read(golden(name)).answer == count


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("hyperloglog_v2_dense", 100_000),
        ("hyperloglog_v1_dense", 100_000),
        ("hyperloglog_v1_integers", 10_000),
    ],
)
def test_a_dense_sketch_answers_within_three_standard_errors(name: str, count: int) -> None:
    # The paper's standard error is 1.04 / sqrt(m); the page does not say which estimator is used.
    sketch = read(golden(name))
    assert sketch.answer == pytest.approx(count, rel=3 * 1.04 / 2 ** (sketch.precision / 2))


def test_saturated_registers_are_all_at_the_highest_rank() -> None:
    # Their hashes were chosen, not random, so no estimate can find that there were 16 of them.
    assert read(golden("hyperloglog_v1_saturated")).registers == bytes([61] * 16)


def test_a_dense_sketch_of_few_items_counts_empty_registers() -> None:
    registers = Recipe(12, 1, 1, 0, lambda: texts(1000)).registers()
    assert format_reader.estimate(registers) == pytest.approx(1000, rel=0.05)


# Damage to the golden files.


@each_recipe
def test_every_truncation_is_truncated(name: str) -> None:
    data = golden(name)
    assert {refusal(data[:end]) for end in range(len(data))} == {Truncated}


@each_recipe
def test_every_flipped_bit_is_refused_at_the_first_check_that_sees_it(name: str) -> None:
    data = golden(name)
    length = int.from_bytes(data[20:28], "little")
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        expected: type[Exception] = Damaged
        if bit // 8 < 4:
            expected = NotCrivo
        elif bit // 8 == 4 and flipped[4] > 1:
            expected = Newer
        elif 20 <= bit // 8 < 28:
            longer = int.from_bytes(flipped[20:28], "little") > length
            expected = Truncated if longer else TrailingBytes
        assert refusal(bytes(flipped)) is expected, f"bit {bit}"


@each_recipe
def test_appended_bytes_are_trailing_bytes(name: str) -> None:
    data = golden(name)
    for tail in (b"\0", b"\n", bytes(32), data):
        assert refusal(data + tail) is TrailingBytes


# The rules of the page, one by one, on forged files whose checksum is right.

ONE_HASH = exact(4, [5])


def test_the_forged_files_are_read_when_nothing_is_wrong_with_them() -> None:
    assert read(envelope(ONE_HASH)) == Sketch(Header(1, 0x20, 1, 1, 1, 0), 4, EXACT, (5,))


@pytest.mark.parametrize("data", [b"X", b"CRVX", b"PK\3\4" * 20, b"crvo", b"\0" * 100])
def test_other_bytes_are_not_crivo_however_few(data: bytes) -> None:
    assert refusal(data) is NotCrivo


def test_the_start_of_the_magic_is_truncated() -> None:
    assert {refusal(b"CRVO"[:end]) for end in range(5)} == {Truncated}


def test_a_forged_length_is_truncated() -> None:
    assert refusal(envelope(ONE_HASH, dict.fromkeys(range(20, 28), 255))) is Truncated


@pytest.mark.parametrize(
    "changes",
    [{4: 2}, {4: 255}, {5: 0x1F}, {5: 20}, {5: 0}, {6: 3}, {8: 3}, {8: 255}],
)
def test_unknown_versions_families_and_hash_functions_are_newer(changes: dict[int, int]) -> None:
    assert refusal(envelope(ONE_HASH, changes)) is Newer


@pytest.mark.parametrize("changes", [{4: 0}, {7: 1}, {7: 128}, {10: 1}, {11: 1}])
def test_header_bytes_against_their_rule_are_invalid(changes: dict[int, int]) -> None:
    assert refusal(envelope(ONE_HASH, changes)) is Invalid


@pytest.mark.parametrize("kind", range(6))
@pytest.mark.parametrize("function", range(2))
def test_only_the_listed_pairs_of_key_kind_and_hash_function_are_read(function: int, kind: int) -> None:
    listed = (kind, function) in [(1, 1), (2, 1), (3, 0)]
    assert refusal(envelope(ONE_HASH, {8: function, 9: kind})) is (None if listed else Invalid)


@pytest.mark.parametrize("precision", range(4, 19))
def test_the_limits_of_the_payload_are_read_and_one_beyond_is_invalid(precision: int) -> None:
    most = (3 << precision) // 32
    assert refusal(envelope(exact(precision, range(most)))) is None
    assert refusal(envelope(exact(precision, range(most + 1)))) is Invalid
    rest, highest = bytes((1 << precision) - 1), 65 - precision
    assert refusal(envelope(dense(precision, rest + bytes([highest])))) is None
    assert refusal(envelope(dense(precision, rest + bytes([highest + 1])))) is Invalid


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(b"", id="empty payload"),
        pytest.param(b"\x04", id="no state"),
        pytest.param(exact(4, [])[:5], id="number of hashes cut"),
        pytest.param(exact(3, []), id="precision 3"),
        pytest.param(exact(19, []), id="precision 19"),
        pytest.param(dense(3, b"\1" * 8), id="dense precision 3"),
        pytest.param(dense(19, b"\1" * 2**19), id="dense precision 19"),
        pytest.param(b"\x04\x02" + b"\1" * 16, id="state 2"),
        pytest.param(exact(10, [1, 2], count=3), id="fewer hashes than their number"),
        pytest.param(exact(10, [1, 2], count=1), id="more hashes than their number"),
        pytest.param(exact(10, [1, 2]) + b"\0", id="bytes after the hashes"),
        pytest.param(exact(18, [], count=2**32 - 1), id="forged number of hashes"),
        pytest.param(exact(10, [1, 1]), id="equal hashes"),
        pytest.param(exact(10, [1, 3, 2]), id="descending hashes"),
        pytest.param(exact(10, [256, 1]), id="hashes ascending only as bytes"),
        pytest.param(dense(4, b""), id="no registers"),
        pytest.param(dense(4, b"\1" * 15), id="a register missing"),
        pytest.param(dense(4, b"\1" * 17), id="a register too many"),
        pytest.param(dense(4, bytes(16)), id="registers all 0"),
        pytest.param(dense(4, b"\xff" + bytes(15)), id="first register too high"),
    ],
)
def test_a_payload_against_the_rules_is_invalid(payload: bytes) -> None:
    assert refusal(envelope(payload)) is Invalid


def test_the_first_check_that_fails_decides() -> None:
    # Everything is wrong at first; then the faults are mended in the order of the page's steps.
    data = bytearray(envelope(b"\x04\x02", {0: 0, 4: 2, 5: 0, 7: 1}))
    assert refusal(bytes(data[:27])) is NotCrivo
    data[0] = ord("C")
    assert refusal(bytes(data[:27])) is Truncated
    assert refusal(bytes(data[:28])) is Newer
    data[4] = 1
    assert refusal(bytes(data[:28])) is Truncated
    assert refusal(bytes(data) + b"\0") is TrailingBytes
    assert refusal(bytes(data)) is Damaged
    assert refusal(envelope(b"\x04\x02", {5: 0, 7: 1})) is Newer
    assert refusal(envelope(b"\x04\x02", {7: 1})) is Invalid
    assert refusal(envelope(b"\x04\x02")) is Invalid


def test_the_command_prints_one_line_per_file_and_fails_on_a_refused_one(tmp_path: Path) -> None:
    bad = tmp_path / "bad.bin"
    bad.write_bytes(b"nothing")
    good = GOLDEN / "hyperloglog_v1_exact.bin"
    command = [sys.executable, format_reader.__file__, str(good), str(bad)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stdout.splitlines() == [
        f"{good}: HyperLogLog, precision 12, exact, bytes, XXH3, seed 0: 300",
        f"{bad}: NotCrivo: the first bytes are not CRVO",
    ]
    assert result.returncode == 1
