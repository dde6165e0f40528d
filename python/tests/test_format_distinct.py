"""Holds docs/format.md to the golden files of the sketches that count different items.

The recipes are copied from the page by hand; the hashes come from the xxhash package, so nothing
here can agree with crivo by sharing its code.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import format_coded
import pytest
import xxhash
from format_distinct import (
    ExactDistinct,
    KMinValues,
    LinearCounting,
    LogLog,
    ProbabilisticCounting,
    UltraLogLog,
)
from format_reader import Header, Invalid, Other, TrailingBytes, Truncated, read

GOLDEN = Path(__file__).parents[2] / "crates" / "crivo" / "tests" / "golden"
MOST = 2**64 - 1

TEXT, INTEGERS, HASHES = (1, 1), (1, 2), (0, 3)  # hash function and key kind


def texts(count: int) -> list[int]:
    return [xxhash.xxh3_64_intdigest(f"key {i}".encode(), seed=0) for i in range(count)]


def integers(count: int, seed: int, first: int = 0) -> list[int]:
    numbers = range(first, first + count)
    return [xxhash.xxh3_64_intdigest(i.to_bytes(8, "little", signed=True), seed=seed) for i in numbers]


def lengths(longest: int, seed: int) -> list[int]:
    return [xxhash.xxh3_64_intdigest(("á" * i).encode(), seed=seed) for i in range(longest + 1)]


# Payloads made from hashes, as the page says.


def hashes_of(hashes: Iterable[int]) -> bytes:
    return b"".join(h.to_bytes(8, "little") for h in sorted(set(hashes)))


def exact(hashes: Iterable[int]) -> bytes:
    body = hashes_of(hashes)
    return struct.pack("<Q", len(body) // 8) + body


def linear(bits: int, hashes: Iterable[int]) -> bytes:
    table = 0
    for h in hashes:
        table |= 1 << (h * bits >> 64)
    return struct.pack("<Q", bits) + table.to_bytes((bits + 7) // 8, "little")


def smallest(k: int, hashes: Iterable[int]) -> bytes:
    body = hashes_of(hashes)[: 8 * k]
    return struct.pack("<II", k, len(body) // 8) + body


def rank(h: int, width: int) -> int:
    """One more than the zeros at the end of the low bits; a stop bit above them ends the run."""
    low = h & ((1 << width) - 1) | 1 << width
    return (low & -low).bit_length()


def probabilistic(hashes: Iterable[int]) -> bytes:
    return bytes([max((rank(h, 64) for h in hashes), default=0)])


def log_log(precision: int, hashes: Iterable[int]) -> bytes:
    registers = bytearray(1 << precision)
    for h in hashes:
        index = h >> (64 - precision)
        registers[index] = max(registers[index], rank(h, 64 - precision))
    return bytes([precision]) + bytes(registers)


def ultra(precision: int, hashes: Iterable[int]) -> bytes:
    body = hashes_of(hashes := set(hashes))
    if len(hashes) <= (3 << precision) // 32:
        return struct.pack("<BBI", precision, 0, len(hashes)) + body
    levels: list[set[int]] = [set() for _ in range(1 << precision)]
    for h in hashes:
        levels[h >> (64 - precision)].add(rank(h, 64 - precision))
    registers = bytearray()
    for seen in levels:
        u = max(seen, default=0)
        registers.append(4 * u + 2 * (u - 1 in seen) + (u - 2 in seen))
    return bytes([precision, 1]) + bytes(registers)


def coded(payload: bytes) -> bytes:
    """The second version of a payload of UltraLogLog."""
    precision, state = payload[:2]
    registers = format_coded.encode(payload[2:], precision, 2) if state == 1 else None
    return bytes([precision, 2]) + registers if registers else payload


def coded_by(payload: Callable[[], bytes]) -> bytes:
    return coded(payload())


# Family, hash function and key kind, seed, payload.
Recipe = tuple[int, tuple[int, int], int, Callable[[], bytes]]
SOME = (0, 1, 2**63, MOST)
GOLDEN_RATIO = 11400714785074694797

RECIPES: dict[str, Recipe] = {
    "exact_distinct_v1_empty": (0x21, INTEGERS, 9, lambda: exact(())),
    "exact_distinct_v1_words": (0x21, TEXT, 0, lambda: exact(texts(300))),
    "exact_distinct_v1_hashes": (0x21, HASHES, MOST, lambda: exact(SOME)),
    "linear_counting_v1_empty": (0x22, INTEGERS, 7, lambda: linear(1000, ())),
    "linear_counting_v1_words": (0x22, TEXT, 0, lambda: linear(10_007, texts(20_000))),
    "linear_counting_v1_hashes": (0x22, HASHES, 0, lambda: linear(64, (0, MOST, 2**63, 2**63 - 1))),
    "linear_counting_v1_full": (0x22, INTEGERS, 7, lambda: linear(100, integers(2000, 7))),
    "k_min_values_v1_empty": (0x23, TEXT, 0, lambda: smallest(1, ())),
    "k_min_values_v1_one": (0x23, TEXT, 0, lambda: smallest(1, texts(1000))),
    "k_min_values_v1_exact": (0x23, TEXT, 0, lambda: smallest(1000, texts(300))),
    "k_min_values_v1_limit": (0x23, TEXT, 0, lambda: smallest(300, texts(300))),
    "k_min_values_v1_sampling": (0x23, TEXT, 0, lambda: smallest(1024, texts(100_000))),
    "k_min_values_v1_integers": (0x23, INTEGERS, 7, lambda: smallest(64, integers(10_000, 7))),
    "k_min_values_v1_hashes": (0x23, HASHES, MOST, lambda: smallest(3, SOME)),
    "probabilistic_counting_v1_empty": (0x24, TEXT, 0, lambda: probabilistic(())),
    "probabilistic_counting_v1_words": (0x24, TEXT, 0, lambda: probabilistic(texts(1000))),
    "probabilistic_counting_v1_zero": (0x24, HASHES, 0, lambda: probabilistic((5, 0, 12))),
    "log_log_v1_empty": (0x25, TEXT, 0, lambda: log_log(6, ())),
    "log_log_v1_words": (0x25, TEXT, 0, lambda: log_log(10, texts(100_000))),
    "log_log_v1_few": (0x25, INTEGERS, 7, lambda: log_log(6, integers(40, 7))),
    "log_log_v1_saturated": (0x25, HASHES, 0, lambda: log_log(6, (i << 58 for i in range(64)))),
    "ultraloglog_v1_empty": (0x26, TEXT, 0, lambda: ultra(14, ())),
    "ultraloglog_v1_exact": (0x26, TEXT, 0, lambda: ultra(12, texts(300))),
    "ultraloglog_v1_dense": (0x26, TEXT, 0, lambda: ultra(12, texts(100_000))),
    "ultraloglog_v1_texts": (0x26, TEXT, GOLDEN_RATIO, lambda: ultra(8, lengths(150, GOLDEN_RATIO))),
    "ultraloglog_v1_integers": (0x26, INTEGERS, 7, lambda: ultra(10, integers(10_000, 7))),
    "ultraloglog_v1_limit": (0x26, INTEGERS, 0, lambda: ultra(8, integers(24, 0, -12))),
    "ultraloglog_v1_past_limit": (0x26, INTEGERS, 0, lambda: ultra(8, integers(25, 0, -12))),
    "ultraloglog_v1_hashes": (0x26, HASHES, MOST, lambda: ultra(6, SOME)),
    "ultraloglog_v1_saturated": (
        0x26,
        HASHES,
        0,
        lambda: ultra(4, (i * 2**60 + j for i in range(16) for j in (0, 2**58, 2**59))),
    ),
}
# The second version of UltraLogLog differs in its number and in coded registers.
VERSION_2: dict[str, Recipe] = {
    name.replace("_v1_", "_v2_"): (family, keys, seed, partial(coded_by, payload))
    for name, (family, keys, seed, payload) in RECIPES.items()
    if family == 0x26
}
RECIPES |= VERSION_2
each_recipe = pytest.mark.parametrize("name", RECIPES)

# What the files answer to a reader that knows only the textbook's estimate, and how near it must be.
ANSWERS: dict[str, tuple[float, float]] = {
    "exact_distinct_v1_words": (300, 0),
    "exact_distinct_v1_hashes": (4, 0),
    "linear_counting_v1_words": (20_000, 0.05),
    "k_min_values_v1_exact": (300, 0),
    "k_min_values_v1_sampling": (100_000, 0.1),
    "k_min_values_v1_integers": (10_000, 0.4),
    "probabilistic_counting_v1_words": (1000, 0.75),
    "log_log_v1_words": (100_000, 0.13),
    "ultraloglog_v1_exact": (300, 0),
    "ultraloglog_v1_dense": (100_000, 0.05),
    "ultraloglog_v2_dense": (100_000, 0.05),
    "ultraloglog_v1_integers": (10_000, 0.1),
}


def envelope(family: int, keys: tuple[int, int], seed: int, payload: bytes, family_version: int = 1) -> bytes:
    header = struct.pack("<4s6BHQQ", b"CRVO", 1, family, family_version, 0, *keys, 0, seed, len(payload))
    return header + payload + struct.pack("<I", zlib.crc32(header + payload))


def golden(name: str) -> bytes:
    return (GOLDEN / f"{name}.bin").read_bytes()


@each_recipe
def test_the_recipe_gives_every_byte_of_the_file(name: str) -> None:
    family, keys, seed, payload = RECIPES[name]
    assert envelope(family, keys, seed, payload(), 2 if name in VERSION_2 else 1) == golden(name)


@each_recipe
def test_the_file_is_read(name: str) -> None:
    family, (function, kind), seed, _ = RECIPES[name]
    sketch = read(golden(name))
    assert isinstance(sketch, Other)
    assert sketch.header == Header(1, family, 2 if name in VERSION_2 else 1, function, kind, seed)
    assert type(sketch.contents).__name__.lower() == re.split("_v[12]_", name)[0].replace("_", "")


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answer_is_near_the_truth(name: str) -> None:
    sketch = read(golden(name))
    truth, error = ANSWERS[name]
    assert isinstance(sketch, Other)
    assert sketch.contents.answer == pytest.approx(truth, rel=error)


@each_recipe
def test_a_file_that_is_cut_or_goes_on_is_refused(name: str) -> None:
    data = golden(name)
    for end in [*range(0, len(data), 97), len(data) - 1]:
        with pytest.raises(Truncated):
            read(data[:end])
    with pytest.raises(TrailingBytes):
        read(data + b"\0")


# The rules of the page, one by one, on forged payloads whose checksum is right.

ODD_REGISTERS = bytes([4, 8, 10, 12, 247] + [0] * 11)


@pytest.mark.parametrize(
    ("family", "payload", "contents"),
    [
        (0x21, exact([7]), ExactDistinct((7,))),
        (0x22, linear(1, [7]), LinearCounting(1, b"\1")),
        (0x22, linear(9, [MOST]), LinearCounting(9, b"\0\1")),
        (0x23, smallest(1, [7]), KMinValues(1, (7,))),
        (0x23, smallest(2**26, [7]), KMinValues(2**26, (7,))),
        (0x24, b"\x41", ProbabilisticCounting(65)),
        (0x25, log_log(6, [0]), LogLog(6, bytes([59] + [0] * 63))),
        (0x26, ultra(4, [7]), UltraLogLog(4, (7,))),
        (0x26, ultra(4, [0, 1, 2]), UltraLogLog(4, registers=bytes([244] + [0] * 15))),
        (0x26, b"\4\1" + ODD_REGISTERS, UltraLogLog(4, registers=ODD_REGISTERS)),
    ],
)
def test_the_limits_are_read(family: int, payload: bytes, contents: object) -> None:
    sketch = read(envelope(family, TEXT, 0, payload))
    assert isinstance(sketch, Other)
    assert (sketch.header, sketch.contents) == (Header(1, family, 1, 1, 1, 0), contents)


@pytest.mark.parametrize(
    ("family", "payload"),
    [
        pytest.param(0x21, b"", id="no number of hashes"),
        pytest.param(0x21, exact([1, 2])[:-1], id="exact: a byte missing"),
        pytest.param(0x21, exact([1, 2]) + b"\0", id="exact: a byte too many"),
        pytest.param(0x21, struct.pack("<Q", MOST), id="exact: forged number of hashes"),
        pytest.param(0x21, struct.pack("<3Q", 2, 1, 1), id="exact: equal hashes"),
        pytest.param(0x21, struct.pack("<3Q", 2, 256, 1), id="exact: descending hashes"),
        pytest.param(0x22, struct.pack("<Q", 0), id="linear: no bits"),
        pytest.param(0x22, struct.pack("<Q", 2**36 + 1), id="linear: too many bits"),
        pytest.param(0x22, linear(9, [1])[:-1], id="linear: a byte missing"),
        pytest.param(0x22, linear(9, [1]) + b"\0", id="linear: a byte too many"),
        pytest.param(0x22, struct.pack("<QH", 9, 512), id="linear: a one after the last bit"),
        pytest.param(0x23, smallest(1, [])[:-1], id="smallest: number of hashes cut"),
        pytest.param(0x23, struct.pack("<II", 0, 0), id="smallest: k 0"),
        pytest.param(0x23, struct.pack("<II", 2**26 + 1, 0), id="smallest: k too large"),
        pytest.param(0x23, struct.pack("<IIQQ", 1, 2, 1, 2), id="smallest: more than k"),
        pytest.param(0x23, struct.pack("<IIQQ", 2, 2, 1, 1), id="smallest: equal hashes"),
        pytest.param(0x23, smallest(9, [1]) + b"\0", id="smallest: a byte too many"),
        pytest.param(0x24, b"", id="no rank"),
        pytest.param(0x24, b"\x42", id="rank 66"),
        pytest.param(0x24, b"\1\1", id="two ranks"),
        pytest.param(0x25, b"", id="no precision"),
        pytest.param(0x25, log_log(5, [1]), id="loglog: precision 5"),
        pytest.param(0x25, bytes([19]) + bytes(2**19), id="loglog: precision 19"),
        pytest.param(0x25, log_log(6, [1])[:-1], id="loglog: a register missing"),
        pytest.param(0x25, log_log(6, [1]) + b"\0", id="loglog: a register too many"),
        pytest.param(0x25, bytes([6, 60]) + bytes(63), id="loglog: register too high"),
        pytest.param(0x26, b"\4", id="ultra: no state"),
        pytest.param(0x26, ultra(3, []), id="ultra: precision 3"),
        pytest.param(0x26, ultra(19, []), id="ultra: precision 19"),
        pytest.param(0x26, struct.pack("<BBI", 4, 2, 0), id="ultra: state 2"),
        pytest.param(0x26, struct.pack("<BBIQQ", 4, 0, 2, 1, 2), id="ultra: too many hashes"),
        pytest.param(0x26, ultra(6, [1, 2]) + b"\0", id="ultra: a byte too many"),
        pytest.param(0x26, bytes([4, 1]) + bytes(16), id="ultra: registers all 0"),
        pytest.param(0x26, bytes([4, 1, 248]) + bytes(15), id="ultra: register too high"),
        *(
            pytest.param(0x26, bytes([4, 1, value]) + bytes(15), id=f"ultra: register of {value}")
            for value in (1, 2, 3, 5, 6, 7, 9, 11)
        ),
    ],
)
def test_a_payload_against_the_rules_is_invalid(family: int, payload: bytes) -> None:
    with pytest.raises(Invalid):
        read(envelope(family, TEXT, 0, payload))
