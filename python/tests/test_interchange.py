"""Counts in the bytes of Apache DataSketches."""

import copy
import pickle
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from columns import refused

from crivo import DecodeError, IncompatibleError, InvalidParameterError, KeyTypeError
from crivo.interchange import Hll, Theta

CLASSES: list[Any] = [Hll, Theta]


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("count", [0, 1, 30, 3000, 100_000])
def test_counts_are_within_their_error(cls: Any, count: int) -> None:
    sketch = cls()
    keys = pa.array([f"key {number}" for number in range(count)] * 2 + ["", None])
    assert sketch.insert_batch(keys) == 2
    estimate = sketch.estimate()
    # Six standard errors of a fixed hash.
    assert abs(estimate.value - count) <= 6 * 1.04 / 64 * count
    assert estimate.lower <= estimate.value <= estimate.upper
    assert sketch.is_empty == (count == 0)


@pytest.mark.parametrize("cls", CLASSES)
def test_every_way_in_is_the_same(cls: Any) -> None:
    keys = [f"chave {number}" for number in range(500)]
    expected = cls()
    assert expected.insert_batch(keys) == 0
    for column in (
        np.array(keys),
        pa.array(keys),
        pa.array(keys).dictionary_encode(),
        iter(keys),
        tuple(keys),
    ):
        sketch = cls()
        sketch.insert_batch(column)
        assert bytes(sketch) == bytes(expected)
    one_by_one = cls()
    for key in keys:
        one_by_one.insert(key.encode())
    assert one_by_one == expected


@pytest.mark.parametrize("cls", CLASSES)
def test_integers_are_not_their_texts(cls: Any) -> None:
    integers, texts = cls(keys="int"), cls()
    integers.insert_batch(range(1000))
    texts.insert_batch(range(1000))
    assert integers.keys == "int" and texts.keys == "text"
    assert bytes(integers) != bytes(texts)
    with pytest.raises(IncompatibleError, match="keys: expected 'int', found 'text'"):
        integers.merge(texts)
    mixed = cls()
    mixed.insert("7")
    mixed.insert(7)
    assert round(mixed.estimate().value) == 1, "a text sketch takes the integer by its text"


@pytest.mark.parametrize("cls", CLASSES)
def test_merging_copying_pickling(cls: Any) -> None:
    one, other = cls(10), cls(10)
    one.insert_batch(range(2000))
    other.insert_batch(range(1000, 3000))
    joined = one | other
    assert abs(joined.estimate().value - 3000) <= 6 * 1.04 / 32 * 3000
    for again in (
        pickle.loads(pickle.dumps(joined)),
        copy.copy(joined),
        copy.deepcopy(joined),
        joined.copy(),
    ):
        assert again == joined and again.lg_k == 10 and again.keys == "text"
    before = bytes(one)
    copied = one.copy()
    copied |= other
    assert bytes(one) == before and copied.estimate() == joined.estimate()
    assert repr(cls(8, keys="int")) == f"<{cls.__name__} lg_k=8, keys='int': 0>"


@pytest.mark.parametrize("cls", CLASSES)
def test_settings_out_of_range_are_refused(cls: Any) -> None:
    for lg_k in (0, 3, 30, -1, 2**70):
        assert "lg_k" in refused(cls, lg_k)
    assert "keys: expected 'text' or 'int'" in refused(cls, keys="hash")
    assert "keys" in refused(cls, keys="words")
    with pytest.raises(KeyTypeError):
        cls(keys="int").insert("7")
    with pytest.raises(KeyTypeError):
        cls().insert(None)
    with pytest.raises(KeyTypeError):
        cls().insert_batch(pa.array([[1]]))


def test_hostile_bytes_are_an_error_or_a_sketch() -> None:
    chance = random.Random(3)
    originals = []
    for cls in CLASSES:
        for count in (0, 5, 200, 20_000):
            sketch = cls(9)
            sketch.insert_batch(range(count))
            originals.append(bytes(sketch))
    for original in originals:
        for _ in range(400):
            damaged = bytearray(original)
            for _ in range(chance.randrange(1, 4)):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            data = bytes(damaged[: chance.randrange(len(damaged) + 1)] if chance.random() < 0.4 else damaged)
            for cls in CLASSES:
                try:
                    sketch = cls.from_bytes(data)
                except DecodeError as error:
                    assert error.kind == "foreign"
                    continue
                sketch.insert("one more")
                (sketch | sketch).to_bytes()
                assert not np.isnan(sketch.estimate().value)
    for cls in CLASSES:
        with pytest.raises(TypeError):
            cls.from_bytes("text")
        with pytest.raises(InvalidParameterError):
            cls.from_bytes(bytes(cls()), keys="hash")
