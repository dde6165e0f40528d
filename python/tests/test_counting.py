"""The counters of events: answers, sizes, refusals, batches, copies.

Bytes are compared with the golden files in test_golden.py, and draw by draw with the format in
test_format_counters.py.
"""

import copy
import inspect
import pickle
from collections.abc import Callable
from math import inf, sqrt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from crivo import (
    CounterArray,
    DecodeError,
    HyperLogLog,
    IncompatibleError,
    InvalidParameterError,
    MorrisCounter,
    SampledCounter,
)

COUNTERS: dict[str, Callable[..., Any]] = {
    "SampledCounter": lambda **rest: SampledCounter(0.25, **rest),
    "MorrisCounter": lambda **rest: MorrisCounter(1.1, 8, **rest),
    "CounterArray": lambda **rest: CounterArray(5, 1.1, 8, **rest),
}
each_counter = pytest.mark.parametrize("new", COUNTERS.values(), ids=COUNTERS)
each_single = pytest.mark.parametrize(
    "new", [COUNTERS["SampledCounter"], COUNTERS["MorrisCounter"]], ids=["SampledCounter", "MorrisCounter"]
)


def counted(new: Callable[..., Any], events: int, **rest: Any) -> Any:
    counter = new(**rest)
    if isinstance(counter, CounterArray):
        counter.add(3, events)
    else:
        counter.add(events)
    return counter


def answer(counter: Any, confidence: float = 0.95) -> Any:
    if isinstance(counter, CounterArray):
        return counter.total(confidence)
    return counter.estimate(confidence)


def test_signatures_are_the_library_s_with_a_seed_by_name() -> None:
    assert str(inspect.signature(SampledCounter)) == "(probability, *, seed=0)"
    assert str(inspect.signature(MorrisCounter)) == "(base, counter_bits, *, seed=0)"
    assert str(inspect.signature(CounterArray)) == "(len, base, counter_bits, *, seed=0)"


@each_counter
def test_seeds_decide_and_are_checked(new: Callable[..., Any]) -> None:
    assert new() == new(seed=0) != new(seed=1)
    assert counted(new, 5000, seed=3) == counted(new, 5000, seed=3)
    for seed in (-1, 2**64):
        with pytest.raises(InvalidParameterError, match=f"seed: expected 0 to 2\\^64 - 1, found {seed}"):
            new(seed=seed)
    with pytest.raises(TypeError):
        new(seed="7")


@each_single
def test_events_in_portions_and_one_by_one_are_the_same(new: Callable[..., Any]) -> None:
    whole, portions, single = (new(seed=7) for _ in range(3))
    whole.add(3000)
    for portion in (0, 1, 999, 2000):
        portions.add(portion)
    for _ in range(3000):
        single.increment()
    assert bytes(whole) == bytes(portions) == bytes(single)


@each_counter
def test_events_that_are_no_count_are_refused(new: Callable[..., Any]) -> None:
    for events in (-1, 2**64):
        with pytest.raises(InvalidParameterError, match=f"events: expected 0 to 2\\^64 - 1, found {events}"):
            counted(new, events)
    for wrong in (1.5, "1", None):
        with pytest.raises(TypeError):
            counted(new, wrong)  # type: ignore[arg-type]


@each_counter
def test_intervals_hold_the_truth_as_often_as_they_say(new: Callable[..., Any]) -> None:
    """400 independent seeds at 95 %: fewer than 350 covered has probability below 10^-8."""
    events, trials = 5000, 400
    estimates = [answer(counted(new, events, seed=seed)) for seed in range(trials)]
    assert sum(events in estimate for estimate in estimates) >= 350
    # Unbiased: the mean of 400 is within 6 of its own standard errors.
    error = SampledCounter.standard_error(0.25, events) if new is COUNTERS["SampledCounter"] else sqrt(0.05)
    mean = sum(float(estimate) for estimate in estimates) / trials
    assert abs(mean / events - 1) < 6 * error / sqrt(trials)


@each_counter
def test_more_confidence_is_a_wider_interval(new: Callable[..., Any]) -> None:
    counter = counted(new, 50_000, seed=2)
    narrow, wide = answer(counter, 0.5), answer(counter, 0.999)
    assert wide.lower < narrow.lower < narrow.value == wide.value < narrow.upper < wide.upper
    for confidence in (0.0, 1.0, 95.0, float("nan")):
        with pytest.raises(InvalidParameterError, match="confidence"):
            answer(counter, confidence)


@each_counter
def test_merged_counters_count_both(new: Callable[..., Any]) -> None:
    a, b = counted(new, 60_000, seed=1), counted(new, 40_000, seed=2)
    before = bytes(a), bytes(b)
    joined = a | b
    assert (bytes(a), bytes(b)) == before, "| leaves both as they were"
    assert 100_000 in answer(joined, 0.999999)
    if isinstance(joined, SampledCounter):
        assert joined.value == a.value + b.value
    a |= b
    assert a == joined
    with pytest.raises(TypeError):
        a.merge(HyperLogLog())


def test_merge_refuses_other_settings_and_changes_nothing() -> None:
    pairs: list[tuple[Any, Any, str]] = [
        (SampledCounter(0.5), SampledCounter(0.25), "probability"),
        (MorrisCounter(1.1, 8), MorrisCounter(1.2, 8), "base"),
        (MorrisCounter(1.1, 8), MorrisCounter(1.1, 9), "counter bits"),
        (CounterArray(5, 1.1, 8), CounterArray(6, 1.1, 8), "len"),
        (CounterArray(5, 1.1, 8), CounterArray(5, 1.1, 16), "counter bits"),
    ]
    for mine, theirs, field in pairs:
        before = bytes(mine)
        with pytest.raises(IncompatibleError, match=field):
            mine.merge(theirs)
        assert bytes(mine) == before


@each_counter
@pytest.mark.parametrize("events", [0, 1, 5000])
def test_copies_and_pickles_go_on_alike(new: Callable[..., Any], events: int) -> None:
    counter = counted(new, events, seed=9)
    copies = [counter.copy(), copy.copy(counter), copy.deepcopy(counter)]
    copies += [type(counter).from_bytes(bytes(counter))]
    copies += [pickle.loads(pickle.dumps(counter, protocol)) for protocol in range(2, 6)]
    before = bytes(counter)
    for other in copies:
        assert type(other) is type(counter)
        assert other == counter and bytes(other) == before
        counted(lambda other=other: other, 1000)
        assert other != counter
    assert len({bytes(other) for other in copies}) == 1, "the coins are stored with the counter"
    assert bytes(counter) == before
    with pytest.raises(TypeError, match="unhashable"):
        hash(counter)


@each_counter
def test_bytes_that_are_not_such_a_counter_are_refused(new: Callable[..., Any]) -> None:
    data = bytes(counted(new, 100))
    for bad, kind in [
        (b"PAR1" + data, "foreign"),
        (data[:-1], "truncated"),
        (data + b"\0", "trailing_bytes"),
        (data[:-5] + bytes([data[-5] ^ 1]) + data[-4:], "damaged"),
        (bytes(HyperLogLog()), "wrong_family"),
    ]:
        with pytest.raises(DecodeError) as caught:
            type(new()).from_bytes(bad)
        assert caught.value.kind == kind


# Each on its own.


def test_sampled_counter_with_probability_1_is_exact() -> None:
    counter = SampledCounter(1)
    assert counter.is_empty and repr(counter) == "<SampledCounter probability=1, value=0: 0>"
    counter.add(2**40)
    counter.increment()
    estimate = counter.estimate()
    assert (counter.value, estimate.value, estimate.certain) == (2**40 + 1, 2**40 + 1, True)
    counter.add(2**64 - 1)
    assert counter.is_saturated and counter.estimate().upper == inf


def test_sampled_counter_is_sized_by_its_standard_error() -> None:
    for error, events in [(0.5, 12.0), (0.01, 1e6), (0.001, 1e12)]:
        probability = SampledCounter.probability_for(error, events)
        assert SampledCounter.standard_error(probability, events) == pytest.approx(error)
        assert SampledCounter.for_error(error, events, seed=3) == SampledCounter(probability, seed=3)
    for probability in (0.0, -1.0, 1.5, 1e-20, float("nan")):
        for call in (SampledCounter, lambda p: SampledCounter.standard_error(p, 1.0)):
            with pytest.raises(InvalidParameterError, match="probability: expected above 0"):
                call(probability)
    with pytest.raises(InvalidParameterError, match="error: expected a positive standard error"):
        SampledCounter.for_error(0.0, 10)
    with pytest.raises(InvalidParameterError, match="events: expected at least 1, found 0"):
        SampledCounter.for_error(0.1, 0)


def test_morris_counter_of_base_2_counts_powers() -> None:
    counter = MorrisCounter(2, 4, seed=1)
    assert (counter.is_empty, counter.highest, counter.reach) == (True, 15, 2**15 - 1)
    assert (counter.estimate().value, counter.estimate().certain) == (0, True)
    counter.increment()
    assert (counter.value, counter.estimate().value) == (1, 1), "the first event always counts"
    counter.add(10**9)
    assert counter.is_saturated and counter.value == 15
    assert (counter.estimate().value, counter.estimate().upper) == (2**15 - 1, inf)
    assert (counter.base, counter.counter_bits) == (2, 4)
    assert repr(counter).startswith("<MorrisCounter base=2, counter_bits=4, value=15: ")


def test_morris_counter_is_sized_by_reach_or_error() -> None:
    for reach, bits in [(1e5, 8), (1e10, 8), (1e10, 16)]:
        counter = MorrisCounter.for_reach(reach, bits, seed=3)
        assert counter.reach == pytest.approx(reach, rel=1e-6)
        assert counter.base == MorrisCounter.base_for(reach, bits) == CounterArray.base_for(reach, bits)
    for error in (0.01, 0.1, 0.7):
        counter = MorrisCounter.for_error(error, 16)
        assert counter.base == MorrisCounter.base_for_error(error)
        assert MorrisCounter.standard_error(counter.base) == pytest.approx(error)
    for bits in (3, 17, -1, 256, 2**70):
        with pytest.raises(InvalidParameterError, match=f"counter bits: expected 4 to 16, found {bits}"):
            MorrisCounter(1.1, bits)
    for base in (1.0, 2.1, float("nan")):
        for call in (lambda b: MorrisCounter(b, 8), MorrisCounter.standard_error):
            with pytest.raises(InvalidParameterError, match="base"):
                call(base)
    with pytest.raises(InvalidParameterError, match="reach"):
        MorrisCounter.for_reach(1.0, 8)
    with pytest.raises(InvalidParameterError, match="error"):
        MorrisCounter.for_error(0.0, 8)


def test_array_settings_are_kept_and_checked() -> None:
    array = CounterArray.for_reach(1001, 1e4, 4, seed=3)
    assert (len(array), array.counter_bits, array.highest, array.saturated) == (1001, 4, 15, 0)
    assert array.reach == pytest.approx(1e4, rel=1e-6)
    assert array.memory < 501 + 5000
    assert repr(CounterArray(5, 1.5, 8)) == "<CounterArray len=5, base=1.5, counter_bits=8: 0>"
    for count in (0, -1, 2**64):
        with pytest.raises(InvalidParameterError, match=f"len: expected at least 1 counter, found {count}"):
            CounterArray(count, 1.1, 8)
    for bits in (0, 5, 32, -8):
        with pytest.raises(InvalidParameterError, match=f"counter bits: expected 4, 8 or 16, found {bits}"):
            CounterArray(5, 1.1, bits)
    with pytest.raises(InvalidParameterError, match="base"):
        CounterArray(5, 1.0, 8)


INDEXES = np.random.default_rng(1).integers(0, 100, 5000)
BATCHES: dict[str, Any] = {
    "list": INDEXES.tolist(),
    "tuple": tuple(INDEXES.tolist()),
    "objects": [np.int16(index) for index in INDEXES],
    **{dtype: INDEXES.astype(dtype) for dtype in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")},
    "swapped": INDEXES.astype(">i4"),
    "swapped and unsigned": INDEXES.astype(">u8"),
    "strided": np.repeat(INDEXES, 2)[::2],
    "pandas": pd.Series(INDEXES),
    "polars": pl.Series(INDEXES),
    "pyarrow": pa.array(INDEXES),
}


@pytest.mark.parametrize("bits", [4, 8, 16])
@pytest.mark.parametrize("batch", BATCHES)
def test_a_batch_of_any_type_is_the_same_as_one_by_one(batch: str, bits: int) -> None:
    one_by_one, batched = (CounterArray(100, 1.3, bits, seed=5) for _ in range(2))
    for index in INDEXES.tolist():
        one_by_one.increment(index)
    batched.increment_batch(BATCHES[batch])
    assert bytes(batched) == bytes(one_by_one)


def test_every_index_has_its_own_counter() -> None:
    """The first event always counts, so whether there was one is known exactly."""
    for bits in (4, 8, 16):
        array = CounterArray(1001, 1.5, bits)
        array.increment_batch(range(0, 1001, 7))
        expected = [int(index % 7 == 0) for index in range(1001)]
        assert array.values().tolist() == expected
        assert array.values().dtype == np.uint16
        assert [array.value(index) for index in range(1001)] == expected
        assert array.estimate(7).value == 1 and array.estimate(8).certain
    array.add(8, 1000)
    assert 1000 in array.estimate(8, confidence=0.999999)


def test_saturated_counters_are_told() -> None:
    array = CounterArray(3, 2, 4)
    array.add(1, 10**9)
    assert (array.value(1), array.saturated) == (15, 1)
    assert array.estimate(1).upper == array.total().upper == inf


@pytest.mark.parametrize("index", [-1, 5, 2**63, 2**64, -(2**70)])
def test_an_index_without_a_counter_is_refused_and_nothing_counted(index: int) -> None:
    array = CounterArray(5, 1.1, 8)
    before = bytes(array)
    calls: list[Callable[[], object]] = [
        lambda: array.increment(index),
        lambda: array.add(index, 1),
        lambda: array.estimate(index),
        lambda: array.value(index),
        lambda: array.increment_batch([0, index]),
    ]
    if -(2**63) <= index < 2**64:
        calls.append(lambda: array.increment_batch(np.array([0, index], "i8" if index < 2**63 else "u8")))
    for call in calls:
        with pytest.raises(InvalidParameterError, match=f"index: expected 0 to 4, found {index}"):
            call()
    assert bytes(array) == before


def test_what_holds_no_indexes_is_refused() -> None:
    array = CounterArray(5, 1.1, 8)
    array.increment_batch([])
    array.increment_batch(np.array([], "i8"))
    arrays = [np.array([1.0]), np.array(["1"]), np.array([True]), np.array([[1, 2]]), pa.array([1, None])]
    for wrong in arrays:
        with pytest.raises(InvalidParameterError, match="indexes: expected an array of integers"):
            array.increment_batch(wrong)
    for other in ("12", [1.0], ["1"], [None], 3, None):
        with pytest.raises(TypeError):
            array.increment_batch(other)  # type: ignore[arg-type]
    assert array == CounterArray(5, 1.1, 8)


def test_the_sum_is_sharper_than_its_parts() -> None:
    array = CounterArray(10_000, 1.5, 8, seed=4)
    array.increment_batch(np.tile(np.arange(10_000), 20))
    assert 200_000 in array.total(0.999999)
    assert array.total().relative_error < 0.02 < 0.3 < array.estimate(0).relative_error
