"""Reservoir and WeightedReservoir: fair, repeatable, and what they give back."""

import inspect
import random
from collections import Counter
from math import inf, nan, sqrt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference
from columns import columns_of, columns_with_gaps, refused, with_gaps

from crivo import IncompatibleError, KeyTypeError, Reservoir, WeightedReservoir


def drawn(values: Any, capacity: int = 20, **arguments: Any) -> Reservoir:
    sample = Reservoir(capacity, **arguments)
    sample.insert_batch(values)
    return sample


def weighted(values: Any, weights: Any, capacity: int = 20, **arguments: Any) -> WeightedReservoir:
    sample = WeightedReservoir(capacity, **arguments)
    sample.insert_batch(values, weights)
    return sample


def test_a_short_stream_is_kept_whole() -> None:
    assert drawn(["a", None, "b", "a"]).sample() == ["a", "b", "a"]
    sample = weighted(["a", "b", None, "c"], [1, 0, 5, 2])
    assert sorted(sample.sample()) == ["a", "c"]
    assert (sample.seen, sample.weightless) == (2, 1)


def test_every_key_is_as_likely() -> None:
    """2000 samples of 10 of 100: each key comes 200 times, give or take six standard deviations."""
    samples = (drawn(range(100), 10, seed=seed, keys="int").sample() for seed in range(2000))
    counts = Counter(key for sample in samples for key in sample)
    deviation = sqrt(2000 * 0.1 * 0.9)
    assert len(counts) == 100
    assert all(abs(count - 200) < 6 * deviation for count in counts.values())


def test_merged_samples_are_fair_to_both_streams() -> None:
    """From streams of 900 and 100 each key comes with a chance of 1 %; six deviations, by stream."""
    trials, long = 2000, 0
    for seed in range(trials):
        first = drawn(range(900), 10, seed=2 * seed, keys="int")
        second = drawn(range(900, 1000), 10, seed=2 * seed + 1, keys="int")
        merged = first | second
        assert merged.seen == 1000 and len(set(merged.sample())) == 10
        long += sum(int(key) < 900 for key in merged.sample())
    assert abs(long - 9 * trials) < 6 * sqrt(trials * 10 * 0.9 * 0.1)


def test_weights_decide_who_is_drawn_first() -> None:
    """3000 draws of one of four, by weights of 1 to 4: six standard deviations."""
    trials = 3000
    samples = (weighted(["a", "b", "c", "d"], [1, 2, 3, 4], 1, seed=seed) for seed in range(trials))
    counts = Counter(sample.sample()[0] for sample in samples)
    for key, weight in zip("abcd", [1, 2, 3, 4], strict=True):
        chance = weight / 10
        assert abs(counts[key] - trials * chance) < 6 * sqrt(trials * chance * (1 - chance))


def test_merged_weighted_samples_are_those_of_both_streams() -> None:
    """One of two streams, whose only keys have weights of 1 and 3."""
    trials = 3000
    heavy = sum(
        (weighted(["a"], [1], 1, seed=seed) | weighted(["b"], [3], 1, seed=seed + trials)).sample() == ["b"]
        for seed in range(trials)
    )
    assert abs(heavy - 0.75 * trials) < 6 * sqrt(trials * 0.75 * 0.25)


@pytest.mark.parametrize("keys", ["text", "int"])
def test_one_by_one_and_every_batch_give_the_same_bytes(keys: Any) -> None:
    values = list(range(-500, 4000, 3))
    uniform, heavy = Reservoir(20, seed=3, keys=keys), WeightedReservoir(20, seed=3, keys=keys)
    weights = [random.Random(value).random() for value in values]
    for value, weight in zip(values, weights, strict=True):
        uniform.insert(value)
        heavy.insert(value, weight)
    for column in columns_of(values):
        assert drawn(column, seed=3, keys=keys) == uniform, type(column)
        assert weighted(column, weights, seed=3, keys=keys) == heavy, type(column)
    columns: list[Any] = [tuple(weights), iter(weights), np.array(weights), pl.Series(weights)]
    for column in [*columns, pa.array(weights), pd.Series(weights)]:
        assert weighted(values, column, seed=3, keys=keys) == heavy, type(column)
    whole = weighted(values, range(len(values)), seed=3, keys=keys)
    assert weighted(values, np.arange(len(values)), seed=3, keys=keys) == whole


def test_missing_values_are_skipped_with_their_weights() -> None:
    values = with_gaps(list(range(1500)), seed=4)
    weights = [random.Random(i).random() for i in range(len(values))]
    kept = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None]
    expected = weighted([value for value, _ in kept], [weight for _, weight in kept], keys="int")
    for column in columns_with_gaps(values, 0):
        sample = WeightedReservoir(20, keys="int")
        assert sample.insert_batch(column, weights) == values.count(None)
        assert sample == expected, type(column)


def test_the_seed_decides_the_draws() -> None:
    assert drawn(range(1000), seed=1) == drawn(range(1000), seed=1)
    assert drawn(range(1000), seed=1).sample() != drawn(range(1000), seed=2).sample()


def test_a_stored_sample_goes_on_as_if_it_had_not_been_stored() -> None:
    sample = drawn(range(1000), seed=1)
    restored = Reservoir.from_bytes(bytes(sample))
    for other in (sample, restored):
        other.insert_batch(range(1000, 50_000))
    assert sample == restored and sample.sample() == restored.sample()


def test_keys_come_back_as_they_went_in() -> None:
    mixed: list[Any] = ["maçã", b"\xff\xfe", 42, 1.5, True]
    assert drawn(mixed).sample() == ["maçã", b"\xff\xfe", "42", "1.5", "true"]
    assert drawn([-1, 2**64 - 1, 2**63 - 1], keys="int").sample() == [-1, -1, 2**63 - 1]
    hashes = [reference.hashed(str(i)) for i in range(5)]
    sample, heavy = Reservoir(9, keys="hash"), WeightedReservoir(9, keys="hash")
    assert sample.insert_hashes([*hashes, None]) == 1 == heavy.insert_hashes([*hashes, None], [1] * 6)
    assert sample.sample() == hashes and sorted(heavy.sample()) == sorted(hashes)
    with pytest.raises(KeyTypeError, match="takes insert_hashes"):
        sample.insert(1)
    with pytest.raises(KeyTypeError, match="takes insert_hashes"):
        heavy.insert_batch([1], [1])


def test_weights_that_are_none_are_refused() -> None:
    sample = WeightedReservoir(3)
    for weight in (-1.0, inf, nan):
        assert refused(sample.insert, "a", weight).startswith("weight: expected a finite number, 0 or above")
        for weights in ([1.0, weight], np.array([1.0, weight])):
            assert refused(sample.insert_batch, ["a", "b"], weights).startswith("weight: expected a finite")
    assert refused(sample.insert_batch, ["a"], [1, 2]).startswith("number of weights: expected 1, one for")
    assert refused(sample.insert_batch, ["a"], np.array(["1"])).startswith("weights: expected numbers, found")
    with pytest.raises(TypeError):
        sample.insert_batch(["a"], ["1"])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        sample.insert("a")  # type: ignore[call-arg]
    assert sample.is_empty and sample.weightless == 0


@pytest.mark.parametrize("cls", [Reservoir, WeightedReservoir])
def test_settings_are_kept_and_checked(cls: Any) -> None:
    sample = cls(5, seed=1, keys="int", key_seed=2**64 - 1)
    restored = cls.from_bytes(bytes(sample))
    assert (restored.capacity, restored.keys, restored.key_seed, restored.seen) == (5, "int", 2**64 - 1, 0)
    assert bool(sample) and sample.is_empty and sample.sample() == []
    for capacity in (0, -1, 2**32, 2**64):
        assert refused(cls, capacity) == f"capacity: expected 1 to {2**32 - 1}, found {capacity}"
    for name in ("seed", "key_seed"):
        assert refused(cls, 5, **{name: -1}) == "seed: expected 0 to 2^64 - 1, found -1"
    others = [(cls(6), "capacity"), (cls(5, keys="int"), "key kind"), (cls(5, key_seed=1), "seed")]
    for other, field in others:
        with pytest.raises(IncompatibleError, match=f"^{field}: expected"):
            cls(5).merge(other)
    assert str(inspect.signature(cls)) == "(capacity, *, seed=0, keys='text', key_seed=0)"
    assert repr(sample) == f"<{cls.__name__} capacity=5, keys='int': 0 of 0>"
