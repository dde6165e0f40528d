"""Reads .crivo files from docs/format.md alone; shares no code with crivo.

It exists to show that the document is enough to read the files, so it favours following the
document step by step over speed. Run it as `python format_reader.py FILE...` to describe files.
"""

from __future__ import annotations

import math
import re
import struct
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import format_coded
import format_columns
import format_combined
import format_counters
import format_distinct
import format_frequency
import format_groups
import format_membership
import format_private
import format_profile
import format_quantiles
import format_sampling
import format_similarity
import format_tables
import format_windows


class Contents(Protocol):
    """What a payload holds; its text describes it."""

    @property
    def answer(self) -> float: ...


MAGIC = b"CRVO"
# magic, envelope version, family, family version, flags, hash function, key kind, reserved,
# seed, payload length. "<" means little-endian without padding, as the document's offsets are.
HEADER = struct.Struct("<4s6BHQQ")
CHECKSUM = struct.Struct("<I")

FAMILIES = {  # by family and family version
    (0x20, 1): "HyperLogLog",
    (0x20, 2): "HyperLogLog",
    (0x21, 1): "ExactDistinct",
    (0x22, 1): "LinearCounting",
    (0x23, 1): "KMinValues",
    (0x24, 1): "ProbabilisticCounting",
    (0x25, 1): "LogLog",
    (0x26, 1): "UltraLogLog",
    (0x26, 2): "UltraLogLog",
    (0x10, 1): "SampledCounter",
    (0x11, 1): "MorrisCounter",
    (0x12, 1): "CounterArray",
    (0x30, 1): "DirectTable",
    (0x31, 1): "Bloom",
    (0x32, 1): "BlockedBloom",
    (0x33, 1): "CountingBloom",
    (0x34, 1): "CombinedFilter",
    (0x35, 1): "BinaryFuse",
    (0x40, 1): "CountMin",
    (0x41, 1): "RangeCountMin",
    (0x42, 1): "Majority",
    (0x43, 1): "HeavyHitters",
    (0x50, 1): "Reservoir",
    (0x51, 1): "WeightedReservoir",
    (0x52, 1): "RowSample",
    (0x44, 1): "PrivateCountMean",
    (0x60, 1): "MinHash",
    (0x70, 1): "Panes",
    (0x71, 1): "ColumnProfile",
    (0x72, 1): "DDSketch",
    (0x73, 1): "NearDuplicateShare",
    (0x74, 1): "DistinctGrowth",
    (0x80, 1): "NumberQuantiles",
    (0x81, 1): "KeyQuantiles",
    (0x13, 1): "Tally",
    (0x75, 1): "TableProfile",
    (0x75, 2): "TableProfile",
    (0x78, 1): "Groups",
}
# What reads a payload, where it has a file of its own; a ValueError is a payload against the rules.
PAYLOADS: dict[str, Callable[[bytes], Contents]] = {
    "ExactDistinct": format_distinct.ExactDistinct.read,
    "LinearCounting": format_distinct.LinearCounting.read,
    "KMinValues": format_distinct.KMinValues.read,
    "ProbabilisticCounting": format_distinct.ProbabilisticCounting.read,
    "LogLog": format_distinct.LogLog.read,
    "UltraLogLog": format_distinct.UltraLogLog.read,
    "SampledCounter": format_counters.SampledCounter.read,
    "MorrisCounter": format_counters.MorrisCounter.read,
    "CounterArray": format_counters.CounterArray.read,
    "Tally": format_groups.Tally.read,
    "DirectTable": format_membership.DirectTable.read,
    "Bloom": format_membership.Bloom.read,
    "BlockedBloom": format_membership.BlockedBloom.read,
    "CountingBloom": format_membership.CountingBloom.read,
    "BinaryFuse": format_membership.BinaryFuse.read,
    "CountMin": format_frequency.CountMin.read,
    "RangeCountMin": format_frequency.RangeCountMin.read,
    "PrivateCountMean": format_private.PrivateCountMean.read,
    "MinHash": format_similarity.MinHash.read,
    "DDSketch": format_profile.DDSketch.read,
    "DistinctGrowth": format_columns.DistinctGrowth.read,
    "NumberQuantiles": format_quantiles.NumberQuantiles.read,
}
# The same for payloads that hold keys, which are read by their kind.
KEYED: dict[str, Callable[[bytes, int], Contents]] = {
    "Majority": format_frequency.Majority.read,
    "HeavyHitters": format_frequency.HeavyHitters.read,
    "Reservoir": format_sampling.Reservoir.read,
    "WeightedReservoir": format_sampling.WeightedReservoir.read,
    "NearDuplicateShare": format_columns.NearDuplicateShare.read,
    "KeyQuantiles": format_quantiles.KeyQuantiles.read,
}
# The same for payloads that hold whole envelopes.
CONTAINERS: dict[str, Callable[[bytes, Header, format_profile.ReadEnvelope], Contents]] = {
    "CombinedFilter": format_combined.CombinedFilter.read,
    "Panes": format_windows.Panes.read,
    "Groups": format_groups.Groups.read,
    "ColumnProfile": format_profile.ColumnProfile.read,
    "TableProfile": format_tables.TableProfile.read,
}
KEYLESS = {"SampledCounter", "MorrisCounter", "Tally", "DDSketch", "NumberQuantiles"}
OF_INTEGERS = {"DirectTable", "RangeCountMin"}
HASH_FUNCTIONS = {0: "caller's hash", 1: "XXH3", 2: "Rrmxmx"}
KEY_KINDS = {1: "bytes", 2: "integers", 3: "hashes"}
PAIRS = {(1, 1), (2, 1), (2, 2), (3, 0)}  # allowed key kind and hash function
EXACT, DENSE, CODED = 0, 1, 2
# Added to the state of a sketch that keeps the history of its stream.
HISTORY = 128
# How many levels below its highest a register remembers, where registers are coded from version 2 on.
REMEMBERED = {"HyperLogLog": 0, "UltraLogLog": 2}


class Refused(ValueError):
    """The bytes are not a sketch that this reader accepts; the subclass says why."""


class NotCrivo(Refused):
    """The first bytes differ from the magic."""


class Truncated(Refused):
    """The bytes end before the envelope does."""


class Newer(Refused):
    """Written by a newer crivo: a version, family or hash function that the document lacks."""


class TrailingBytes(Refused):
    """The bytes go on after the end of the envelope."""


class Damaged(Refused):
    """The checksum is wrong."""


class Invalid(Refused):
    """The envelope is whole, but its contents are against the rules."""


@dataclass(frozen=True)
class Header:
    """The fields of the envelope that can differ between files of the format."""

    envelope_version: int
    family: int
    family_version: int
    hash_function: int
    key_kind: int
    seed: int


@dataclass(frozen=True)
class Sketch:
    """A HyperLogLog sketch: the state says which of hashes and registers is in use."""

    header: Header
    precision: int
    state: int
    hashes: tuple[int, ...] = ()
    registers: bytes = b""

    @property
    def answer(self) -> float:
        """How many different items: exactly in the exact state, otherwise estimated."""
        return len(self.hashes) if self.state == EXACT else estimate(self.registers)


@dataclass(frozen=True)
class Other:
    """A sketch of another family than HyperLogLog."""

    header: Header
    contents: Contents


def read(data: bytes) -> Sketch | Other:
    """Reads one file, with the checks in the order that the document states."""
    # 1. Fewer bytes than the magic that agree with it so far do not differ: step 2 is for them.
    if data[: len(MAGIC)] != MAGIC[: len(data)]:
        raise NotCrivo("the first bytes are not CRVO")
    # 2.
    if len(data) < HEADER.size:
        raise Truncated(f"{len(data)} bytes are fewer than a header")
    _, version, family, family_version, flags, function, kind, reserved, seed, length = HEADER.unpack_from(
        data
    )
    # 3. Before the length and the checksum, because a newer envelope may have them elsewhere.
    if version > 1:
        raise Newer(f"envelope version {version}")
    # 4.
    end = HEADER.size + length
    if len(data) < end + CHECKSUM.size:
        raise Truncated(f"{len(data)} bytes of {end + CHECKSUM.size}")
    if len(data) > end + CHECKSUM.size:
        raise TrailingBytes(f"{len(data)} bytes instead of {end + CHECKSUM.size}")
    # 5.
    if (zlib.crc32(data[:end]),) != CHECKSUM.unpack_from(data, end):
        raise Damaged("wrong checksum")
    # 6. A version 0 is not above the known: step 7 is for it.
    if (family, max(family_version, 1)) not in FAMILIES:
        raise Newer(f"family {family:02x} version {family_version}")
    if function not in HASH_FUNCTIONS:
        raise Newer(f"hash function {function}")
    # 7.
    _must(version == 1, f"envelope version {version}")
    _must(family_version > 0, "family version 0")
    _must(flags == 0, f"flags {flags:02x}")
    _must(reserved == 0, f"reserved bytes {reserved:04x}")
    _must((kind, function) in PAIRS, f"key kind {kind} with hash function {function}")
    header = Header(version, family, family_version, function, kind, seed)
    name, payload = FAMILIES[family, family_version], data[HEADER.size : end]
    if name in REMEMBERED and family_version > 1:
        payload = _first_version(payload, REMEMBERED[name])
    if name == "HyperLogLog":
        return _hyperloglog(header, payload)
    _must(name not in KEYLESS or (kind, function, seed) == (3, 0, 0), "keys of a sketch that has none")
    _must(name != "CounterArray" or kind != 3 or seed == 0, "a seed of counters that are not found by keys")
    _must(name not in OF_INTEGERS or kind == 2, f"key kind {kind} of a sketch of integers")
    try:
        if name == "RowSample":
            return Other(header, format_sampling.RowSample.read(payload, kind, seed))
        if name in CONTAINERS:
            return Other(header, CONTAINERS[name](payload, header, _first))
        return Other(header, KEYED[name](payload, kind) if name in KEYED else PAYLOADS[name](payload))
    except Refused:
        raise  # of an envelope inside, which is checked in the same way
    except ValueError as error:
        raise Invalid(str(error)) from error


def holds_an_older_version(data: bytes) -> bool:
    """Registers were not coded in the first version, and tables had no detail."""
    return re.search(rb"CRVO.[\x20\x26\x75]\x01", data, re.DOTALL) is not None


def _first(data: bytes) -> tuple[Header, Contents, bytes]:
    """The envelope at the beginning of bytes that go on."""
    _must(len(data) >= HEADER.size, "an envelope that is cut off")
    end = HEADER.size + HEADER.unpack_from(data)[-1] + CHECKSUM.size
    _must(len(data) >= end, "an envelope that is cut off")
    sketch = read(data[:end])
    return sketch.header, sketch.contents if isinstance(sketch, Other) else sketch, data[end:]


def _must(holds: bool, what: str) -> None:
    if not holds:
        raise Invalid(what)


def _first_version(payload: bytes, remembered: int) -> bytes:
    """A payload as the first version has it: its registers are not coded, and it has no history."""
    if len(payload) >= 2 and payload[1] & HISTORY and 4 <= payload[0] <= 18:
        state, rest = payload[1] ^ HISTORY, payload[2:]
        if state != EXACT:
            _must(len(rest) >= 16, "a history that is cut off")
            count, variance = struct.unpack_from("<dd", rest)
            _must((3 << payload[0]) // 32 < count < math.inf, f"a history of {count}")
            _must(0 <= variance < math.inf, f"a variance of {variance}")
            rest = rest[16:]
        payload = bytes([payload[0], state]) + rest
    if len(payload) < 2 or payload[1] not in (DENSE, CODED) or not 4 <= payload[0] <= 18:
        return payload
    precision, state = payload[0], payload[1]
    if state == DENSE:
        registers = payload[2:]
        shorter = len(registers) == 1 << precision and format_coded.encode(registers, precision, remembered)
        _must(not shorter, "registers that coding shortens")
        return payload
    _must(len(payload) >= 4, "coded state without rate")
    (rate,) = struct.unpack_from("<H", payload, 2)
    _must(rate < format_coded.RATES, f"rate {rate}")
    try:
        registers = format_coded.decode(rate, precision, remembered, payload[4:])
    except ValueError as error:
        raise Invalid(str(error)) from error
    return bytes([precision, DENSE]) + registers


def _hyperloglog(header: Header, payload: bytes) -> Sketch:
    _must(len(payload) >= 2, "payload without precision and state")
    precision, state = payload[0], payload[1]
    _must(4 <= precision <= 18, f"precision {precision}")
    _must(state in (EXACT, DENSE), f"state {state}")
    if state == EXACT:
        _must(len(payload) >= 6, "exact state without number of hashes")
        (count,) = struct.unpack_from("<I", payload, 2)
        _must(count <= (3 << precision) // 32, f"{count} hashes at precision {precision}")
        _must(len(payload) == 6 + 8 * count, f"payload of {len(payload)} for {count} hashes")
        hashes: tuple[int, ...] = struct.unpack_from(f"<{count}Q", payload, 6)
        _must(all(a < b for a, b in pairwise(hashes)), "hashes not strictly ascending")
        return Sketch(header, precision, state, hashes=hashes)
    registers = payload[2:]
    _must(len(registers) == 1 << precision, f"{len(registers)} registers")
    _must(max(registers) <= 65 - precision, f"register of {max(registers)}")
    _must(max(registers) > 0, "dense state with nothing in it")
    return Sketch(header, precision, state, registers=registers)


def estimate(registers: bytes) -> float:
    """The estimate of the HyperLogLog paper (Flajolet and others, 2007).

    The document leaves the estimator open, so this agrees with crivo's answer only to a few per
    cent. The paper's correction for large counts is left out: it is for 32-bit hashes.
    """
    m = len(registers)
    alpha = {16: 0.673, 32: 0.697, 64: 0.709}.get(m, 0.7213 / (1 + 1.079 / m))
    raw = alpha * m * m / sum(2.0**-rank for rank in registers)
    empty = registers.count(0)
    # Few items leave registers empty, which biases the raw estimate; how many are empty does not.
    return m * math.log(m / empty) if raw <= 2.5 * m and empty else raw


def main(names: list[str]) -> int:
    """Prints one line per file; returns 1 if one was refused, so that scripts notice."""
    status = 0
    for name in names:
        try:
            sketch = read(Path(name).read_bytes())
        except Refused as refusal:
            print(f"{name}: {type(refusal).__name__}: {refusal}")
            status = 1
            continue
        header = sketch.header
        family = FAMILIES[header.family, header.family_version]
        kind, function = KEY_KINDS[header.key_kind], HASH_FUNCTIONS[header.hash_function]
        if isinstance(sketch, Other):
            print(f"{name}: {sketch.contents}; {kind}, {function}, seed {header.seed}")
            continue
        state, about = ("exact", "") if sketch.state == EXACT else ("dense", "about ")
        print(
            f"{name}: {family}, precision {sketch.precision}, {state}, {kind}, {function}, "
            f"seed {header.seed}: {about}{round(sketch.answer)}"
        )
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
