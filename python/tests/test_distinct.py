"""The register sketches, HyperLogLog and UltraLogLog: construction, answers, merging, copies, pickles.

A new one adds a line to `REGISTER_SKETCHES`.
"""

import copy
import inspect
import pickle
from math import sqrt
from typing import Any

import numpy as np
import pytest
import reference

from crivo import HyperLogLog, IncompatibleError, InvalidParameterError, UltraLogLog

PRECISIONS = range(4, 19)

# Each with the standard error of a large count, times the square root of the number of registers.
REGISTER_SKETCHES: dict[Any, float] = {
    HyperLogLog: 1.0367,
    UltraLogLog: 0.7609,
}
each_class = pytest.mark.parametrize("cls", REGISTER_SKETCHES, ids=lambda cls: cls.__name__)


def filled(cls: Any, count: int, precision: int = 12, **arguments: Any) -> Any:
    sketch = cls(precision, **arguments)
    sketch.insert_batch(np.arange(count))
    return sketch


def test_a_known_sketch_has_known_bytes() -> None:
    """Frozen: these bytes are in files already."""
    sketch = HyperLogLog(12, seed=7)
    sketch.insert_batch(["ana", "rui"])
    assert sketch.to_bytes().hex() == (
        "4352564f0120020001010000070000000000000016000000000000000c0002000000"
        "f2d9f2036b06a888590e03b39f7ba3ab0cec1da0"
    )
    of_the_first_version = (
        "4352564f0120010001010000070000000000000016000000000000000c0002000000"
        "f2d9f2036b06a888590e03b39f7ba3abaaa465de"
    )
    assert HyperLogLog.from_bytes(bytes.fromhex(of_the_first_version)) == sketch


def test_defaults() -> None:
    sketch = HyperLogLog()
    assert (sketch.precision, sketch.keys, sketch.seed) == (14, "text", 0)
    assert sketch.is_empty
    assert bool(sketch), "an empty sketch is no false value: `sketch or default` must keep it"
    assert sketch == HyperLogLog(14, keys="text", seed=0)
    assert str(inspect.signature(HyperLogLog)) == "(precision=14, *, keys='text', seed=0)"


@each_class
@pytest.mark.parametrize("keys", ["text", "int", "hash"])
def test_settings_are_kept(cls: Any, keys: Any) -> None:
    for sketch in (
        cls(5, keys=keys, seed=2**64 - 1),
        cls.for_error(cls.standard_error(5), keys=keys, seed=2**64 - 1),
    ):
        restored = cls.from_bytes(bytes(sketch))
        assert (restored.precision, restored.keys, restored.seed) == (5, keys, 2**64 - 1)


@each_class
@pytest.mark.parametrize("precision", [-1, 0, 3, 19, 255, 256, 2**70, -(2**70)])
def test_precision_outside_the_range_is_refused(cls: Any, precision: int) -> None:
    for call in (cls, cls.standard_error, cls.exact_up_to):
        with pytest.raises(InvalidParameterError, match=f"precision: expected 4 to 18, found {precision}"):
            call(precision)


@each_class
def test_other_settings_outside_their_range_are_refused(cls: Any) -> None:
    for seed in (-1, 2**64):
        with pytest.raises(InvalidParameterError, match=f"seed: expected 0 to 2\\^64 - 1, found {seed}"):
            cls(12, seed=seed)
    with pytest.raises(InvalidParameterError, match="keys: expected 'text', 'int' or 'hash', found 'bytes'"):
        cls(12, keys="bytes")
    for error in (0.0, -1.0, 1.0, 0.0001, float("nan")):
        with pytest.raises(InvalidParameterError, match="error"):
            cls.for_error(error)
    for confidence in (0.0, 1.0, 95.0, float("nan")):
        with pytest.raises(InvalidParameterError, match="confidence"):
            cls(12).estimate(confidence)
    for wrong in ("14", 14.0, None, [14]):
        if wrong is not None:
            with pytest.raises(TypeError):
                cls(wrong)


@each_class
def test_sizing_finds_the_smallest_precision(cls: Any) -> None:
    for precision in PRECISIONS:
        error = cls.standard_error(precision)
        assert error == pytest.approx(REGISTER_SKETCHES[cls] / sqrt(2**precision), rel=0.001)
        assert cls.precision_for(error) == precision
        assert cls.for_error(error).precision == precision


@each_class
@pytest.mark.parametrize("precision", [4, 10, 18])
def test_small_counts_are_exact_up_to_the_stated_limit(cls: Any, precision: int) -> None:
    limit = cls.exact_up_to(precision)
    exact = filled(cls, limit, precision).estimate()
    assert (exact.value, exact.certain) == (limit, True)
    assert not filled(cls, limit + 1, precision).estimate().certain


@each_class
def test_intervals_hold_the_truth_as_often_as_they_say(cls: Any) -> None:
    """400 independent seeds at 95 %: fewer than 350 covered has probability below 10^-8."""
    count, trials = 20_000, 400
    integers = np.arange(count)
    estimates = []
    for seed in range(trials):
        sketch = cls(10, keys="int", seed=seed)
        sketch.insert_batch(integers)
        estimates.append(sketch.estimate())
    assert sum(count in estimate for estimate in estimates) >= 350
    assert all(estimate.relative_error < 0.08 for estimate in estimates)
    # The mean of 400 is within 6 of its own standard errors.
    mean = sum(float(estimate) for estimate in estimates) / trials
    assert abs(mean / count - 1) < 6 * cls.standard_error(10) / sqrt(trials)


@each_class
def test_more_confidence_is_a_wider_interval(cls: Any) -> None:
    sketch = filled(cls, 50_000)
    narrow, wide = sketch.estimate(0.5), sketch.estimate(confidence=0.999)
    assert wide.lower < narrow.lower < narrow.value == wide.value < narrow.upper < wide.upper
    assert (narrow.confidence, wide.confidence) == (0.5, 0.999)


@each_class
@pytest.mark.parametrize("mine", [0, 100, 50_000])
@pytest.mark.parametrize("theirs", [0, 100, 50_000])
@pytest.mark.parametrize("precision", [10, 12, 14])
def test_merge_equals_joined_stream(cls: Any, mine: int, theirs: int, precision: int) -> None:
    a, b = cls(12), cls(precision)
    a.insert_batch(range(mine))
    b.insert_batch(range(mine // 2, mine // 2 + theirs))
    joined = cls(min(12, precision))
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


@each_class
def test_merge_refuses_other_keys_and_seeds_and_changes_nothing(cls: Any) -> None:
    sketch = filled(cls, 10)
    before = bytes(sketch)
    for other, field in [(filled(cls, 5, keys="int"), "key kind"), (filled(cls, 5, seed=1), "seed")]:
        with pytest.raises(IncompatibleError, match=field):
            sketch.merge(other)
        with pytest.raises(IncompatibleError, match=field):
            sketch |= other
        with pytest.raises(IncompatibleError, match=field):
            sketch | other
    assert bytes(sketch) == before
    for wrong in (None, 3, b"", {1}):
        with pytest.raises(TypeError):
            sketch.merge(wrong)
        with pytest.raises(TypeError):
            sketch | wrong


@each_class
@pytest.mark.parametrize("count", [0, 50, 50_000])
def test_copies_and_pickles_are_equal_and_independent(cls: Any, count: int) -> None:
    sketch = filled(cls, count, keys="int", seed=3)
    copies = [
        sketch.copy(),
        copy.copy(sketch),
        copy.deepcopy(sketch),
        cls.from_bytes(sketch.to_bytes()),
    ]
    copies += [pickle.loads(pickle.dumps(sketch, protocol)) for protocol in range(2, 6)]
    before = bytes(sketch)
    for other in copies:
        assert type(other) is cls
        assert other == sketch
        assert bytes(other) == before
        other.insert_batch(range(-100, 0))
        assert other != sketch
    assert bytes(sketch) == before


@each_class
def test_equality_is_of_contents(cls: Any) -> None:
    assert filled(cls, 10) == filled(cls, 10)
    assert filled(cls, 10) != filled(cls, 11)
    assert filled(cls, 10) != filled(cls, 10, seed=1)
    assert filled(cls, 10) != "a sketch"
    with pytest.raises(TypeError, match="unhashable"):
        hash(filled(cls, 10))


@each_class
def test_bytes_like_objects_are_read(cls: Any) -> None:
    data = bytes(filled(cls, 100))
    for like in (data, bytearray(data), memoryview(data), memoryview(b"x" + data + b"x")[1:-1]):
        assert cls.from_bytes(like) == filled(cls, 100)
    for wrong in ("text", None, 3, [1, 2]):
        with pytest.raises(TypeError):
            cls.from_bytes(wrong)


@each_class
def test_repr_tells_settings_and_answer(cls: Any) -> None:
    assert repr(filled(cls, 3, keys="int")) == f"<{cls.__name__} precision=12, keys='int', seed=0: 3>"
    assert "±" in repr(filled(cls, 5000))


@each_class
def test_memory_stays_within_the_registers(cls: Any) -> None:
    for count in (0, 10, 384, 100_000):
        assert filled(cls, count).memory <= 2**12 + 1024


def test_large_states_have_the_bytes_of_the_format() -> None:
    expected = reference.of_keys(range(10_000), 12, kind="int", seed=9)
    assert bytes(filled(HyperLogLog, 10_000, keys="int", seed=9)) == expected
