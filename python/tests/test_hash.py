"""crivo.hash: what a bad hash does, how likely collisions are, and hashed features."""

import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import xxhash
from columns import refused

from crivo import InvalidParameterError, KeyTypeError
from crivo.hash import (
    FeatureHasher,
    approximate_collision_probability,
    collision_probability,
    djb31ma,
    forge,
    forge_after,
    items_for_collision,
)


def by_hand(data: bytes, seed: int) -> int:
    for byte in data:
        seed = (31 * seed + byte) % 2**32
    return seed


def test_djb31ma_is_its_definition() -> None:
    for text, seed in (("", 7), ("a", 0), ("crivo é", 17), ("a longer text", 2**32 - 1)):
        assert djb31ma(text, seed) == djb31ma(text.encode(), seed) == by_hand(text.encode(), seed)
    assert djb31ma(b"\xff") == 255
    assert refused(djb31ma, "a", -1).startswith("seed: expected 0 to 4294967295")
    assert "seed" in refused(djb31ma, "a", 2**32)
    with pytest.raises(KeyTypeError):
        djb31ma(3)  # type: ignore[arg-type]


def test_any_text_can_be_forged() -> None:
    for text in ("", "Rui owes Ana ten euros.", "á" * 100):
        forged = forge(text, 17)
        assert forged is not None and forged != text and djb31ma(forged, 17) == djb31ma(text, 17)
        assert forge(text, 17) == forged != forge(text, 17, choice=1)
        longer = forge_after("I agree.", text, seed=3, choice=5)
        assert longer is not None and longer.startswith("I agree. ")
        assert djb31ma(longer, 3) == djb31ma(text, 3)


def test_collisions_are_those_of_exact_arithmetic() -> None:
    for items, places in ((2, 2), (23, 365), (50, 100), (300, 10_000)):
        apart = math.prod(Fraction(places - i, places) for i in range(items))
        assert collision_probability(items, places) == pytest.approx(float(1 - apart), rel=1e-12)
        near = approximate_collision_probability(items, places)
        assert near == pytest.approx(-math.expm1(-(items**2) / 2 / places), rel=1e-12)
    assert (collision_probability(1, 10), collision_probability(11, 10)) == (0, 1)
    assert items_for_collision(0.5, 365) == 23 and items_for_collision(0.5, 2**32) == 77_164
    assert "probability" in refused(items_for_collision, 1, 10)
    assert "items" in refused(collision_probability, -1, 10)


def place(name: bytes, bits: int, seed: int) -> tuple[int, int]:
    """From the definition: the high bits choose the slot, the lowest the sign."""
    hash = xxhash.xxh3_64_intdigest(name, seed)
    return hash >> (64 - bits), -1 if hash & 1 else 1


def test_features_are_where_their_hash_puts_them() -> None:
    for bits in (1, 10, 30):
        hasher = FeatureHasher(bits, seed=7)
        for name in ("cheap", "watches", "é", ""):
            slot, sign = place(name.encode(), bits, 7)
            assert hasher.place(name, 2.5) == hasher.place(name.encode(), 2.5) == (slot, sign * 2.5)
            assert hasher.place(name) == (slot, sign)
    subject = FeatureHasher(10, seed=7).namespace("subject")
    seed = xxhash.xxh3_64_intdigest(b"subject", 7)
    assert subject.seed == seed and subject.place("x")[0] == place(b"x", 10, seed)[0]
    assert subject == FeatureHasher(10, seed)
    assert pickle.loads(pickle.dumps(subject)) == subject == eval(repr(subject))
    assert (subject.slot_bits, subject.slots) == (10, 1024)


def test_vectors_add_features_up() -> None:
    hasher = FeatureHasher(6)
    features = [(f"word {i % 50}", float(i)) for i in range(200)]
    expected = np.zeros(64, "f4")
    for name, weight in features:
        slot, signed = hasher.place(name, weight)
        expected[slot] += signed
    dense = hasher.dense(features)
    assert dense.dtype == np.float32 and np.allclose(dense, expected)
    slots, weights = hasher.sparse(features)
    assert (np.diff(slots.astype(int)) > 0).all() and np.allclose(expected[slots], weights)
    assert np.count_nonzero(expected) == len(slots)
    hasher.add_dense([("a", 1), (b"b", 2)], dense)
    assert np.allclose(dense, expected + hasher.dense({"a": 1, "b": 2}))
    assert hasher.sparse({})[0].tolist() == []


def test_what_are_no_features_is_refused() -> None:
    hasher = FeatureHasher(6)
    assert refused(FeatureHasher, 0) == "slot bits: expected 1 to 30, found 0"
    with pytest.raises(InvalidParameterError, match="64 elements"):
        hasher.add_dense({}, np.zeros(63, "f4"))
    wrong: Any
    for wrong in (["a"], [("a",)], [(1, 1)], {3: 1}, [("a", "b")]):
        with pytest.raises((KeyTypeError, TypeError)):
            hasher.sparse(wrong)
    frozen = np.zeros(64, "f4")
    frozen.flags.writeable = False
    with pytest.raises(Exception, match="writeable|read-?only"):
        hasher.add_dense({"a": 1}, frozen)
