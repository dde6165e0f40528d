"""Hostile bytes: whatever is handed to from_bytes, the answer is a sketch or a DecodeError."""

import pickle
import random
import struct
import zlib

import pytest
import reference

from crivo import DecodeError, HyperLogLog
from crivo.errors import DecodeFailure


def bytes_of(count: int) -> bytes:
    sketch = HyperLogLog(6)
    sketch.insert_batch(range(count))
    return bytes(sketch)


SMALL, DENSE = bytes_of(5), bytes_of(500)


def failure(data: bytes) -> DecodeFailure:
    with pytest.raises(DecodeError) as caught:
        HyperLogLog.from_bytes(data)
    assert str(caught.value), "there is a message"
    return caught.value.kind


def resealed(data: bytes) -> bytes:
    """The same bytes with the right checksum."""
    return data[:-4] + struct.pack("<I", zlib.crc32(data[:-4]))


def patched(data: bytes, offset: int, value: int) -> bytes:
    return resealed(data[:offset] + bytes([value]) + data[offset + 1 :])


@pytest.mark.parametrize("data", [SMALL, DENSE])
def test_each_cause_has_its_kind(data: bytes) -> None:
    assert failure(b"PAR1" + data) == "foreign"
    assert failure(data + b"\0") == "trailing_bytes"
    assert failure(data[:-5] + bytes([data[-5] ^ 1]) + data[-4:]) == "damaged"
    assert failure(patched(data, 4, 2)) == "future_version"
    assert failure(patched(data, 6, 99)) == "future_version"
    assert failure(patched(data, 28, 77)) == "invalid_contents"
    assert failure(patched(data, 10, 1)) == "invalid_contents"


@pytest.mark.parametrize("data", [SMALL, DENSE])
def test_every_prefix_is_truncated(data: bytes) -> None:
    for length in range(len(data)):
        assert failure(data[:length]) == "truncated"


@pytest.mark.parametrize("data", [SMALL, DENSE])
def test_every_flipped_bit_is_noticed(data: bytes) -> None:
    for position in range(8 * len(data)):
        changed = bytearray(data)
        changed[position // 8] ^= 1 << position % 8
        failure(bytes(changed))


@pytest.mark.parametrize("data", [SMALL, DENSE])
def test_mutations_with_a_right_checksum_give_a_sketch_or_an_error(data: bytes) -> None:
    generator = random.Random(1)
    outcomes = set()
    for _ in range(5000):
        changed = bytearray(data)
        for _ in range(generator.randint(1, 4)):
            changed[generator.randrange(4, len(data) - 4)] = generator.choice(
                [0, 1, 127, 128, 255, generator.randrange(256)]
            )
        try:
            sketch = HyperLogLog.from_bytes(resealed(bytes(changed)))
        except DecodeError as error:
            outcomes.add(error.kind)
        else:
            if changed[6] == 2:  # an older version is read, and written as this one
                assert bytes(sketch) == resealed(bytes(changed)), "what is read is written the same"
            assert float(sketch.estimate()) >= 0
            outcomes.add("sketch")  # type: ignore[arg-type]
    assert {"sketch", "invalid_contents", "future_version"} <= outcomes


def test_noise_is_refused() -> None:
    generator = random.Random(2)
    for _ in range(5000):
        failure(generator.randbytes(generator.randrange(200)))
        failure(b"CRVO" + generator.randbytes(generator.randrange(200)))


def test_a_length_beyond_all_memory_is_refused_at_once() -> None:
    data = SMALL[:20] + struct.pack("<Q", 2**63) + SMALL[28:]
    assert failure(data) == "truncated"
    payload = struct.pack("<BBI", 18, 0, 2**32 - 1)
    assert failure(reference.envelope(payload, "text", 0)) == "invalid_contents"


def test_a_damaged_pickle_is_a_decode_error() -> None:
    pickled = pickle.dumps(HyperLogLog.from_bytes(DENSE))
    position = pickled.index(b"CRVO") + 60
    damaged = pickled[:position] + bytes([pickled[position] ^ 1]) + pickled[position + 1 :]
    with pytest.raises(DecodeError):
        pickle.loads(damaged)
