"""HyperLogLog: construction, answers, merging, copies, pickles."""

import copy
import inspect
import pickle
from math import sqrt
from typing import Any

import numpy as np
import pytest
import reference

from crivo import HyperLogLog, IncompatibleError, InvalidParameterError

PRECISIONS = range(4, 19)


def filled(count: int, precision: int = 12, **arguments: Any) -> HyperLogLog:
    sketch = HyperLogLog(precision, **arguments)
    sketch.insert_batch(np.arange(count))
    return sketch


def test_a_known_sketch_has_known_bytes() -> None:
    """Frozen: these bytes are in files already."""
    sketch = HyperLogLog(12, seed=7)
    sketch.insert_batch(["ana", "rui"])
    assert sketch.to_bytes().hex() == (
        "4352564f0120010001010000070000000000000016000000000000000c0002000000"
        "f2d9f2036b06a888590e03b39f7ba3abaaa465de"
    )


def test_defaults() -> None:
    sketch = HyperLogLog()
    assert (sketch.precision, sketch.keys, sketch.seed) == (14, "text", 0)
    assert sketch.is_empty
    assert bool(sketch), "an empty sketch is no false value: `sketch or default` must keep it"
    assert sketch == HyperLogLog(14, keys="text", seed=0)
    assert str(inspect.signature(HyperLogLog)) == "(precision=14, *, keys='text', seed=0)"


@pytest.mark.parametrize("keys", ["text", "int", "hash"])
def test_settings_are_kept(keys: Any) -> None:
    for sketch in (
        HyperLogLog(5, keys=keys, seed=2**64 - 1),
        HyperLogLog.for_error(0.2, keys=keys, seed=2**64 - 1),
    ):
        restored = HyperLogLog.from_bytes(bytes(sketch))
        assert (restored.precision, restored.keys, restored.seed) == (5, keys, 2**64 - 1)


@pytest.mark.parametrize("precision", [-1, 0, 3, 19, 255, 256, 2**70, -(2**70)])
def test_precision_outside_the_range_is_refused(precision: int) -> None:
    for call in (HyperLogLog, HyperLogLog.standard_error, HyperLogLog.exact_up_to):
        with pytest.raises(InvalidParameterError, match=f"precision: expected 4 to 18, found {precision}"):
            call(precision)


def test_other_settings_outside_their_range_are_refused() -> None:
    for seed in (-1, 2**64):
        with pytest.raises(InvalidParameterError, match=f"seed: expected 0 to 2\\^64 - 1, found {seed}"):
            HyperLogLog(seed=seed)
    with pytest.raises(InvalidParameterError, match="keys: expected 'text', 'int' or 'hash', found 'bytes'"):
        HyperLogLog(keys="bytes")  # type: ignore[arg-type]
    for error in (0.0, -1.0, 1.0, 0.0001, float("nan")):
        with pytest.raises(InvalidParameterError, match="error"):
            HyperLogLog.for_error(error)
    for confidence in (0.0, 1.0, 95.0, float("nan")):
        with pytest.raises(InvalidParameterError, match="confidence"):
            HyperLogLog().estimate(confidence)
    for wrong in ("14", 14.0, None, [14]):
        if wrong is not None:
            with pytest.raises(TypeError):
                HyperLogLog(wrong)  # type: ignore[arg-type]


def test_sizing_finds_the_smallest_precision() -> None:
    for precision in PRECISIONS:
        error = HyperLogLog.standard_error(precision)
        assert error == pytest.approx(1.04 / sqrt(2**precision), rel=0.01)
        assert HyperLogLog.precision_for(error) == precision
        assert HyperLogLog.for_error(error).precision == precision


@pytest.mark.parametrize("precision", [4, 10, 18])
def test_small_counts_are_exact_up_to_the_stated_limit(precision: int) -> None:
    limit = HyperLogLog.exact_up_to(precision)
    exact = filled(limit, precision).estimate()
    assert (exact.value, exact.certain) == (limit, True)
    assert not filled(limit + 1, precision).estimate().certain


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """400 independent seeds at 95 %: fewer than 350 covered has probability below 10^-8."""
    count, trials = 20_000, 400
    integers = np.arange(count)
    estimates = []
    for seed in range(trials):
        sketch = HyperLogLog(10, keys="int", seed=seed)
        sketch.insert_batch(integers)
        estimates.append(sketch.estimate())
    assert sum(count in estimate for estimate in estimates) >= 350
    assert all(estimate.relative_error < 0.08 for estimate in estimates)
    # The mean of 400 is within 6 of its own standard errors.
    mean = sum(float(estimate) for estimate in estimates) / trials
    assert abs(mean / count - 1) < 6 * HyperLogLog.standard_error(10) / sqrt(trials)


def test_more_confidence_is_a_wider_interval() -> None:
    sketch = filled(50_000)
    narrow, wide = sketch.estimate(0.5), sketch.estimate(confidence=0.999)
    assert wide.lower < narrow.lower < narrow.value == wide.value < narrow.upper < wide.upper
    assert (narrow.confidence, wide.confidence) == (0.5, 0.999)


@pytest.mark.parametrize("mine", [0, 100, 50_000])
@pytest.mark.parametrize("theirs", [0, 100, 50_000])
@pytest.mark.parametrize("precision", [10, 12, 14])
def test_merge_equals_joined_stream(mine: int, theirs: int, precision: int) -> None:
    a, b = HyperLogLog(12), HyperLogLog(precision)
    a.insert_batch(range(mine))
    b.insert_batch(range(mine // 2, mine // 2 + theirs))
    joined = HyperLogLog(min(12, precision))
    joined.insert_batch(range(mine))
    joined.insert_batch(range(mine // 2, mine // 2 + theirs))
    before = bytes(a), bytes(b)
    assert a | b == b | a == joined
    assert (bytes(a), bytes(b)) == before, "| leaves both as they were"
    same = a
    a |= b
    assert a is same
    assert bytes(a) == bytes(joined)
    b.merge(b)
    assert bytes(b) == before[1], "a sketch merged with itself is itself"


def test_merge_refuses_other_keys_and_seeds_and_changes_nothing() -> None:
    sketch = filled(10)
    before = bytes(sketch)
    for other, field in [(filled(5, keys="int"), "key kind"), (filled(5, seed=1), "seed")]:
        with pytest.raises(IncompatibleError, match=field):
            sketch.merge(other)
        with pytest.raises(IncompatibleError, match=field):
            sketch |= other
        with pytest.raises(IncompatibleError, match=field):
            sketch | other
    assert bytes(sketch) == before
    for wrong in (None, 3, b"", {1}):
        with pytest.raises(TypeError):
            sketch.merge(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            sketch | wrong  # type: ignore[operator]


@pytest.mark.parametrize("count", [0, 50, 50_000])
def test_copies_and_pickles_are_equal_and_independent(count: int) -> None:
    sketch = filled(count, keys="int", seed=3)
    copies = [
        sketch.copy(),
        copy.copy(sketch),
        copy.deepcopy(sketch),
        HyperLogLog.from_bytes(sketch.to_bytes()),
    ]
    copies += [pickle.loads(pickle.dumps(sketch, protocol)) for protocol in range(2, 6)]
    before = bytes(sketch)
    for other in copies:
        assert type(other) is HyperLogLog
        assert other == sketch
        assert bytes(other) == before
        other.insert_batch(range(-100, 0))
        assert other != sketch
    assert bytes(sketch) == before


def test_equality_is_of_contents() -> None:
    assert filled(10) == filled(10)
    assert filled(10) != filled(11)
    assert filled(10) != filled(10, seed=1)
    assert filled(10) != "a sketch"
    with pytest.raises(TypeError, match="unhashable"):
        hash(filled(10))


def test_bytes_like_objects_are_read() -> None:
    data = bytes(filled(100))
    for like in (data, bytearray(data), memoryview(data), memoryview(b"x" + data + b"x")[1:-1]):
        assert HyperLogLog.from_bytes(like) == filled(100)
    for wrong in ("text", None, 3, [1, 2]):
        with pytest.raises(TypeError):
            HyperLogLog.from_bytes(wrong)  # type: ignore[arg-type]


def test_repr_tells_settings_and_answer() -> None:
    assert repr(filled(3, keys="int")) == "<HyperLogLog precision=12, keys='int', seed=0: 3>"
    assert "±" in repr(filled(5000))


def test_memory_stays_within_the_registers() -> None:
    for count in (0, 10, 384, 100_000):
        assert filled(count).memory <= 2**12 + 1024


def test_large_states_have_the_bytes_of_the_format() -> None:
    expected = reference.of_keys(range(10_000), 12, kind="int", seed=9)
    assert bytes(filled(10_000, keys="int", seed=9)) == expected
