"""The reader written from docs/format.md and crivo refuse the same bytes, for the same reason.

Golden files are changed at random and sealed again with the right checksum. What one of the two would
read and the other refuse is a rule that is missing from the page, or from the code.
"""

import os
import random
import re
import zlib
from pathlib import Path
from typing import Any

import format_reader
import pytest

import crivo
from crivo import DecodeError

GOLDEN = Path(__file__).parents[2] / "crates" / "crivo" / "tests" / "golden"
SEED = int(os.environ.get("CRIVO_TEST_SEED", "0"))
TRIALS = 150

CONTAINERS = {0x34, 0x70, 0x71, 0x75, 0x78}

# What the page calls the causes, in the words of DecodeError.
KINDS = {
    format_reader.NotCrivo: "foreign",
    format_reader.Truncated: "truncated",
    format_reader.TrailingBytes: "trailing_bytes",
    format_reader.Newer: "future_version",
    format_reader.Damaged: "damaged",
    format_reader.Invalid: "invalid_contents",
}


def of_the_page(data: bytes) -> str:
    try:
        format_reader.read(data)
    except format_reader.Refused as refusal:
        return KINDS[type(refusal)]
    return "read"


def of_crivo(data: bytes) -> tuple[str, str]:
    """By the class of the family that the bytes name; another one's would refuse them for that alone."""
    name = format_reader.FAMILIES.get((data[5], 1), "HyperLogLog")
    cls: Any = getattr(crivo, name)
    try:
        sketch = cls.from_bytes(data)
    except DecodeError as error:
        return error.kind, str(error)
    if not format_reader.holds_an_older_version(data):
        assert bytes(sketch) == data, "what is read is written the same"
    return "read", ""


def is_one_too_many(message: str) -> bool:
    """The reader allows a skip one more than the page: its logarithms are another library's."""
    skip = re.match(r"skip: expected (?:0 to|at most) (\d+), found (\d+)", message)
    return skip is not None and int(skip[2]) == int(skip[1]) + 1


def changed(data: bytes, generator: random.Random) -> bytes:
    """The header, the head of the payload and its end are where rules are, so they are changed most."""
    payload = bytearray(data[28:-4])
    header = bytearray(data[:28])
    for _ in range(generator.choice([1, 1, 2, 3])):
        value = generator.choice([0, 1, 2, 127, 128, 255, generator.randrange(256)])
        match generator.randrange(10):
            case 0:
                header[generator.randrange(5, 20)] = value
            case 1 if payload:
                del payload[generator.randrange(len(payload)) :]
            case 2:
                payload += generator.randbytes(generator.choice([1, 8, generator.randrange(40)]))
            case 3 | 4 | 5 | 6 if payload:
                payload[generator.randrange(min(len(payload), 60))] = value
            case 7 if payload:
                payload[-1 - generator.randrange(min(len(payload), 16))] = value
            case _ if payload:
                payload[generator.randrange(len(payload))] = value
    header[20:28] = len(payload).to_bytes(8, "little")
    body = bytes(header + payload)
    return body + zlib.crc32(body).to_bytes(4, "little")


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.bin")), ids=lambda path: path.stem)
def test_page_and_code_read_and_refuse_the_same_bytes(path: Path) -> None:
    data = path.read_bytes()
    generator = random.Random(f"{SEED} {path.stem}")
    verdicts = set()
    for trial in range(TRIALS):
        forged = changed(data, generator)
        of_page, (of_code, message) = of_the_page(forged), of_crivo(forged)
        # Of two faults, one of them in an envelope inside, either may be found first.
        both_refuse = "read" not in (of_page, of_code) and data[5] in CONTAINERS
        if not both_refuse and not (of_page == "read" and is_one_too_many(message)):
            assert of_page == of_code, f"trial {trial}: {message}: {forged[:120].hex(' ')}"
        verdicts.add(of_code)
    assert "invalid_contents" in verdicts
