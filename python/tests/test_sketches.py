"""What every sketch has: copies, pickles, equality, bytes, merging, and errors for wrong bytes."""

import copy
import pickle
import random
import struct
import zlib
from typing import Any

import format_reader
import pytest
from samples import SAMPLES, insert_something

import crivo
from crivo import DecodeError
from crivo.errors import DecodeFailure

CLASSES = [
    cls
    for cls in (getattr(crivo, name) for name in crivo.__all__)
    if isinstance(cls, type) and hasattr(cls, "from_bytes")
]
each_sample = pytest.mark.parametrize("name", SAMPLES)
each_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)


def sample_of(cls: type) -> Any:
    return next(sketch for sketch in (make() for make in SAMPLES.values()) if type(sketch) is cls)


def failure(cls: Any, data: bytes) -> DecodeFailure:
    with pytest.raises(DecodeError) as caught:
        cls.from_bytes(data)
    assert str(caught.value), "there is a message"
    return caught.value.kind


def resealed(data: bytes) -> bytes:
    """The same bytes with the right checksum."""
    return data[:-4] + struct.pack("<I", zlib.crc32(data[:-4]))


def test_every_class_has_a_sample() -> None:
    assert {type(make()) for make in SAMPLES.values()} == set(CLASSES)


@each_sample
def test_the_same_items_give_the_same_bytes(name: str) -> None:
    assert bytes(SAMPLES[name]()) == SAMPLES[name]().to_bytes()
    assert SAMPLES[name]() == SAMPLES[name]()


@each_sample
def test_copies_and_pickles_are_equal_and_independent(name: str) -> None:
    sketch = SAMPLES[name]()
    before = bytes(sketch)
    copies = [sketch.copy(), copy.copy(sketch), copy.deepcopy(sketch), type(sketch).from_bytes(before)]
    copies += [pickle.loads(pickle.dumps(sketch, protocol)) for protocol in range(2, 6)]
    for other in copies:
        assert type(other) is type(sketch)
        assert other == sketch
        assert bytes(other) == before
        if isinstance(other, crivo.BinaryFuse):
            continue  # nothing changes it
        insert_something(other)
        assert other != sketch
    assert bytes(sketch) == before


@each_sample
def test_settings_survive_the_bytes(name: str) -> None:
    sketch = SAMPLES[name]()
    restored = type(sketch).from_bytes(bytes(sketch))
    names = [name for name in dir(sketch) if not name.startswith("_") and not callable(getattr(sketch, name))]
    for attribute in set(names) - {"memory"}:  # a table that grew may have room to spare
        assert getattr(restored, attribute) == getattr(sketch, attribute), attribute
    assert repr(restored) == repr(sketch)
    assert repr(sketch).startswith((f"<{type(sketch).__name__} ", f"<{type(sketch).__name__}:"))


@each_sample
def test_bytes_like_objects_are_read(name: str) -> None:
    sketch = SAMPLES[name]()
    data = bytes(sketch)
    for like in (data, bytearray(data), memoryview(data), memoryview(b"x" + data + b"x")[1:-1]):
        assert type(sketch).from_bytes(like) == sketch
    for wrong in ("text", None, 3, [1, 2]):
        with pytest.raises(TypeError):
            type(sketch).from_bytes(wrong)


@each_sample
def test_a_sketch_is_no_key_of_a_dictionary(name: str) -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(SAMPLES[name]())


@each_sample
def test_merge_leaves_the_other_as_it_was(name: str) -> None:
    mine, theirs = SAMPLES[name](), SAMPLES[name]()
    if isinstance(theirs, crivo.BinaryFuse):
        with pytest.raises(crivo.CrivoError, match="whose keys were placed together and are gone"):
            mine.merge(theirs)
        assert mine == theirs
        return
    if isinstance(theirs, crivo.RowSample):
        theirs = crivo.RowSample(theirs.capacity, seed=theirs.seed)  # a row is in one sample only
    insert_something(theirs)
    before = bytes(mine), bytes(theirs)
    joined = mine | theirs
    assert (bytes(mine), bytes(theirs)) == before
    same = mine
    mine |= theirs
    assert mine is same
    assert mine == joined
    assert bytes(theirs) == before[1]


@each_class
def test_other_things_cannot_be_merged_or_compared(cls: type) -> None:
    sketch = sample_of(cls)
    before = bytes(sketch)
    others = [sample_of(other) for other in CLASSES if other is not cls]
    for wrong in (None, 3, b"", {1}, *others):
        with pytest.raises(TypeError):
            sketch.merge(wrong)
        with pytest.raises(TypeError):
            sketch | wrong
        assert sketch != wrong
    assert bytes(sketch) == before


@each_class
def test_the_bytes_of_another_class_are_refused(cls: Any) -> None:
    for make in SAMPLES.values():
        other = make()
        if type(other) is not cls:
            assert failure(cls, bytes(other)) == "wrong_family"


@each_sample
def test_each_fault_of_the_bytes_has_its_kind(name: str) -> None:
    data = bytes(SAMPLES[name]())
    cls = type(SAMPLES[name]())
    assert failure(cls, b"PAR1" + data) == "foreign"
    assert failure(cls, data + b"\0") == "trailing_bytes"
    assert failure(cls, data[:-5] + bytes([data[-5] ^ 1]) + data[-4:]) == "damaged"
    assert failure(cls, resealed(data[:4] + b"\2" + data[5:])) == "future_version"
    assert failure(cls, resealed(data[:6] + b"\x63" + data[7:])) == "future_version"
    assert failure(cls, resealed(data[:10] + b"\1" + data[11:])) == "invalid_contents"
    shorter = struct.pack("<Q", len(data) - 33)
    assert failure(cls, resealed(data[:20] + shorter + data[28:-5] + b"####")) == "invalid_contents"
    for length in range(len(data)):
        assert failure(cls, data[:length]) == "truncated"


@each_sample
def test_every_flipped_bit_is_noticed(name: str) -> None:
    data = bytes(SAMPLES[name]())
    cls = type(SAMPLES[name]())
    for position in range(8 * len(data)):
        changed = bytearray(data)
        changed[position // 8] ^= 1 << position % 8
        failure(cls, bytes(changed))


@each_sample
def test_changed_contents_give_a_sketch_of_those_bytes_or_an_error(name: str) -> None:
    data = bytes(SAMPLES[name]())
    cls = type(SAMPLES[name]())
    generator = random.Random(1)
    for _ in range(1000):
        changed = bytearray(data)
        for _ in range(generator.randint(1, 4)):
            changed[generator.randrange(4, len(data) - 4)] = generator.choice(
                [0, 1, 127, 128, 255, generator.randrange(256)]
            )
        forged = resealed(bytes(changed))
        try:
            sketch = cls.from_bytes(forged)
        except DecodeError:
            continue
        if not format_reader.holds_an_older_version(forged):
            assert bytes(sketch) == forged, "what is read is written the same"
        assert repr(sketch)


def test_a_damaged_pickle_is_a_decode_error() -> None:
    for make in SAMPLES.values():
        pickled = pickle.dumps(make())
        position = pickled.index(b"CRVO") + 30
        damaged = pickled[:position] + bytes([pickled[position] ^ 1]) + pickled[position + 1 :]
        with pytest.raises(DecodeError):
            pickle.loads(damaged)


@each_sample
def test_memory_is_at_least_the_payload_without_its_head(name: str) -> None:
    sketch = SAMPLES[name]()
    assert sketch.memory >= len(bytes(sketch)) - 120
