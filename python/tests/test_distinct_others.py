"""The other ways to count different items: what holds for all of them, and for each.

Bytes are compared with the golden files in test_golden.py, and with the format in
test_format_distinct.py; here the answers are compared with Python's sets.
"""

import copy
import datetime
import inspect
import pickle
import random
from collections.abc import Callable, Iterable
from math import inf, log2, sqrt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from crivo import (
    Comparison,
    DecodeError,
    ExactDistinct,
    HyperLogLog,
    IncompatibleError,
    InvalidParameterError,
    KeyTypeError,
    KMinValues,
    LinearCounting,
    LogLog,
    ProbabilisticCounting,
    UltraLogLog,
)

# Each with the settings that most tests use.
SKETCHES: dict[str, Callable[..., Any]] = {
    "ExactDistinct": ExactDistinct,
    "LinearCounting": lambda **rest: LinearCounting(20_000, **rest),
    "KMinValues": lambda **rest: KMinValues(512, **rest),
    "ProbabilisticCounting": ProbabilisticCounting,
    "LogLog": lambda **rest: LogLog(10, **rest),
    "UltraLogLog": lambda **rest: UltraLogLog(10, **rest),
}
each_sketch = pytest.mark.parametrize("new", SKETCHES.values(), ids=SKETCHES)


def filled(new: Callable[..., Any], values: Any, **rest: Any) -> Any:
    sketch = new(**rest)
    sketch.insert_batch(values)
    return sketch


@each_sketch
def test_settings_are_kept_and_shown(new: Callable[..., Any]) -> None:
    default = new()
    assert (default.keys, default.seed, default.is_empty) == ("text", 0, True)
    for keys in ("text", "int", "hash"):
        sketch = new(keys=keys, seed=2**64 - 1)
        restored = type(sketch).from_bytes(bytes(sketch))
        assert (restored.keys, restored.seed) == (keys, 2**64 - 1)
        assert f"keys='{keys}', seed={2**64 - 1}: 0>" in repr(sketch)
        assert repr(sketch).startswith(f"<{type(sketch).__name__} ")
    signature = str(inspect.signature(type(default)))
    assert signature.endswith("*, keys='text', seed=0)")


@each_sketch
def test_settings_outside_their_range_are_refused(new: Callable[..., Any]) -> None:
    for seed in (-1, 2**64):
        with pytest.raises(InvalidParameterError, match=f"seed: expected 0 to 2\\^64 - 1, found {seed}"):
            new(seed=seed)
    with pytest.raises(InvalidParameterError, match="keys: expected 'text', 'int' or 'hash', found 'bytes'"):
        new(keys="bytes")
    for confidence in (0.0, 1.0, 95.0, float("nan")):
        with pytest.raises(InvalidParameterError, match="confidence"):
            new().estimate(confidence)


WORDS = [f"Zé {i % 700}" for i in range(2000)]
NUMBERS = [i * 7919 % 5003 - 2000 for i in range(3000)]
COLUMNS: dict[str, tuple[list[Any], list[Any]]] = {
    "text": (
        WORDS,
        [
            np.array(WORDS),
            pa.array(WORDS),
            pa.array(WORDS).dictionary_encode(),
            pl.Series(WORDS),
            pd.Series(WORDS),
            tuple(WORDS),
            dict.fromkeys(WORDS),
            [word.encode() for word in WORDS],
        ],
    ),
    "integers": (
        NUMBERS,
        [
            np.array(NUMBERS),
            np.array(NUMBERS, "i2")[::-1],
            pa.array(NUMBERS, pa.int32()),
            pl.Series(NUMBERS),
            pd.Series(NUMBERS),
            [str(number) for number in NUMBERS],
        ],
    ),
    "floats": ([i / 8 for i in range(500)], [np.arange(500) / 8, pa.array(np.arange(500) / 8)]),
    "booleans": ([True, False], [np.array([True, False]), pa.array([False, True])]),
    "days": (
        [datetime.date(2026, 1, day) for day in range(1, 32)],
        [np.arange("2026-01-01", "2026-02-01", dtype="M8[D]")],
    ),
}


@each_sketch
@pytest.mark.parametrize("column", COLUMNS)
def test_a_column_of_any_type_is_the_same_as_one_by_one(new: Callable[..., Any], column: str) -> None:
    values, same = COLUMNS[column]
    one_by_one = new()
    for value in values:
        one_by_one.insert(value)
    for other in [values, *same]:
        sketch = new()
        assert sketch.insert_batch(other) == 0
        assert bytes(sketch) == bytes(one_by_one)


@each_sketch
def test_integers_and_hashes_are_the_same_from_lists_and_columns(new: Callable[..., Any]) -> None:
    one_by_one = new(keys="int")
    for number in NUMBERS:
        one_by_one.insert(number)
    for column in (NUMBERS, np.array(NUMBERS), pa.array(NUMBERS), iter(NUMBERS)):
        assert filled(new, column, keys="int") == one_by_one
    generator = random.Random(1)
    hashes = [generator.getrandbits(64) for _ in range(500)]
    sketches = [new(keys="hash") for _ in range(3)]
    columns = [hashes, np.array(hashes, "u8"), pa.array(hashes, pa.uint64())]
    for sketch, same in zip(sketches, columns, strict=True):
        assert sketch.insert_hashes(same) == 0
    assert sketches[0] == sketches[1] == sketches[2]


@each_sketch
def test_what_is_no_key_is_skipped_or_refused(new: Callable[..., Any]) -> None:
    assert new().insert_batch(["a", None, float("nan"), ""]) == 3
    assert new().insert_batch(pa.array([None, "a", None])) == 2
    with pytest.raises(KeyTypeError, match="key: expected a value, found a missing one"):
        new().insert(None)
    with pytest.raises(KeyTypeError, match="key: expected an integer, found str 'a'"):
        new(keys="int").insert("a")
    with pytest.raises(KeyTypeError, match="value 1"):
        new(keys="int").insert_batch([1, "a"])
    with pytest.raises(KeyTypeError, match="insert_hashes"):
        new(keys="hash").insert_batch([1])
    with pytest.raises(KeyTypeError, match="keys='hash'"):
        new().insert_hashes([1])


@each_sketch
def test_repetition_and_order_change_nothing(new: Callable[..., Any]) -> None:
    shuffled = [*NUMBERS, *NUMBERS]
    random.Random(2).shuffle(shuffled)
    assert filled(new, shuffled) == filled(new, NUMBERS)


@each_sketch
def test_merge_equals_joined_stream(new: Callable[..., Any]) -> None:
    for mine, theirs in [(0, 0), (0, 100), (100, 0), (400, 300), (5000, 40_000)]:
        a, b = filled(new, range(mine)), filled(new, range(mine // 2, mine // 2 + theirs))
        joined = filled(new, range(mine))
        joined.insert_batch(range(mine // 2, mine // 2 + theirs))
        before = bytes(a), bytes(b)
        assert a | b == b | a == joined
        assert (bytes(a), bytes(b)) == before
        a |= b
        a.merge(a)
        assert bytes(a) == bytes(joined)


@each_sketch
def test_merge_refuses_other_keys_seeds_and_types_and_changes_nothing(new: Callable[..., Any]) -> None:
    sketch = filled(new, range(10))
    before = bytes(sketch)
    for other, field in [(new(keys="int"), "key kind"), (new(seed=1), "seed")]:
        with pytest.raises(IncompatibleError, match=field):
            sketch.merge(other)
        with pytest.raises(IncompatibleError, match=field):
            sketch | other
    for wrong in (None, 3, b"", HyperLogLog()):
        with pytest.raises(TypeError):
            sketch.merge(wrong)
        with pytest.raises(TypeError):
            sketch | wrong
    assert bytes(sketch) == before


@each_sketch
@pytest.mark.parametrize("count", [0, 50, 5000])
def test_copies_and_pickles_are_equal_and_independent(new: Callable[..., Any], count: int) -> None:
    sketch = filled(new, range(count), keys="int", seed=3)
    copies = [sketch.copy(), copy.copy(sketch), copy.deepcopy(sketch), type(sketch).from_bytes(bytes(sketch))]
    copies += [pickle.loads(pickle.dumps(sketch, protocol)) for protocol in range(2, 6)]
    before = bytes(sketch)
    for other in copies:
        assert type(other) is type(sketch)
        assert other == sketch and bytes(other) == before
        other.insert_batch(range(-50_000, 0))
        assert other != sketch
    assert bytes(sketch) == before
    with pytest.raises(TypeError, match="unhashable"):
        hash(sketch)


@each_sketch
def test_bytes_that_are_not_such_a_sketch_are_refused(new: Callable[..., Any]) -> None:
    data = bytes(filled(new, range(100)))
    cls = type(new())
    assert cls.from_bytes(bytearray(data)) == cls.from_bytes(memoryview(data)) == filled(new, range(100))
    for bad, kind in [
        (b"PAR1" + data, "foreign"),
        (data[:-1], "truncated"),
        (data + b"\0", "trailing_bytes"),
        (data[:-5] + bytes([data[-5] ^ 1]) + data[-4:], "damaged"),
        (bytes(HyperLogLog()), "wrong_family"),
    ]:
        with pytest.raises(DecodeError) as caught:
            cls.from_bytes(bad)
        assert caught.value.kind == kind


@each_sketch
def test_intervals_hold_the_truth_as_often_as_they_say(new: Callable[..., Any]) -> None:
    """200 independent seeds at 95 %: fewer than 170 covered has probability below 10^-7."""
    count, trials = 6000, 200
    numbers = np.arange(count)
    estimates = [filled(new, numbers, keys="int", seed=seed).estimate() for seed in range(trials)]
    assert sum(count in estimate for estimate in estimates) >= 170
    narrow, wide = (filled(new, numbers).estimate(confidence) for confidence in (0.5, 0.999))
    assert wide.lower <= narrow.lower <= narrow.value == wide.value <= narrow.upper <= wide.upper


# Each on its own.


@pytest.mark.parametrize("count", [0, 1, 1000, 100_000])
def test_exact_distinct_counts_as_a_set_does(count: int) -> None:
    values = random.Random(count).choices(range(count // 2 + 1), k=count)
    estimate = filled(ExactDistinct, values).estimate()
    assert (estimate.value, estimate.certain) == (len(set(values)), True)


def test_linear_counting_is_sized_by_its_standard_error() -> None:
    for items, error in [(1, 0.5), (1000, 0.01), (1_000_000, 0.01), (10**9, 0.001)]:
        bits = LinearCounting.bits_for(items, error)
        assert LinearCounting.standard_error(bits, items) <= error
        assert items > 1e6 or LinearCounting.for_items(items, error, keys="int", seed=3).bits == bits
    for bits in (0, -1, 2**36 + 1, 2**70):
        with pytest.raises(InvalidParameterError, match=f"bits: expected 1 to {2**36}, found {bits}"):
            LinearCounting(bits)
    for items in (0, -1, 2**64):
        with pytest.raises(InvalidParameterError, match=f"items: expected at least 1, found {items}"):
            LinearCounting.bits_for(items, 0.01)
    for error in (0.0, 1.0, float("nan")):
        with pytest.raises(InvalidParameterError, match="error"):
            LinearCounting.for_items(1000, error)


def test_a_full_table_knows_only_a_lower_bound() -> None:
    sketch = filled(lambda: LinearCounting(50), range(10_000))
    assert sketch.is_full and sketch.estimate().upper == inf
    assert not LinearCounting(50).is_full
    with pytest.raises(IncompatibleError, match="bits"):
        sketch.merge(LinearCounting(51))


def test_probabilistic_counting_keeps_the_longest_run() -> None:
    sketch = ProbabilisticCounting(keys="hash")
    assert sketch.longest_run is None and sketch.estimate().value == 0
    for value, run in [(1, 0), (8, 3), (4, 3), (0, 64)]:
        sketch.insert_hashes([value])
        assert sketch.longest_run == run == log2(sketch.estimate().value)


def test_log_log_is_sized_by_its_standard_error() -> None:
    for precision in range(6, 19):
        error = LogLog.standard_error(precision)
        assert error == pytest.approx(1.298 / sqrt(2**precision), rel=0.01)
        assert LogLog.precision_for(error) == LogLog.for_error(error).precision == precision
    for wrong in (5, 19, -1, 2**70):
        for call in (LogLog, LogLog.standard_error):
            with pytest.raises(InvalidParameterError, match=f"precision: expected 6 to 18, found {wrong}"):
                call(wrong)
    assert (filled(lambda: LogLog(12), range(9)) | LogLog(8)).precision == 8


def test_k_min_values_is_sized_by_its_standard_error() -> None:
    for k in (4, 100, 10_002):
        assert KMinValues.standard_error(k) == pytest.approx(1 / sqrt(k - 2))
        assert KMinValues.for_error(KMinValues.standard_error(k) * 1.000001).k == k
    assert KMinValues.standard_error(2) == inf
    for k in (0, -1, 2**26 + 1, 2**70):
        for call in (KMinValues, KMinValues.standard_error):
            with pytest.raises(InvalidParameterError, match=f"k: expected 1 to {2**26}, found {k}"):
                call(k)
    for error in (0.0, 1.0, float("nan")):
        with pytest.raises(InvalidParameterError, match="error"):
            KMinValues.k_for(error)


def compared(a: Iterable[int], b: Iterable[int], k: int = 1024, other_k: int = 1024) -> Comparison:
    result: Comparison = filled(lambda: KMinValues(k), a).compare(filled(lambda: KMinValues(other_k), b))
    return result


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (range(0), range(0)),
        (range(5), range(0)),
        (range(9), range(3, 20)),
        (range(100), range(100)),
        (range(9), range(9, 700)),
    ],
)
def test_small_sets_are_compared_exactly(a: range, b: range) -> None:
    mine, theirs, result = set(a), set(b), compared(a, b)
    answers = [result.union(), result.intersection(), result.difference(), result.jaccard()]
    jaccard = len(mine & theirs) / len(mine | theirs) if mine | theirs else 1
    assert [answer.value for answer in answers] == [
        len(mine | theirs),
        len(mine & theirs),
        len(mine - theirs),
        jaccard,
    ]
    assert all(answer.certain for answer in answers)


@pytest.mark.parametrize(("k", "other_k"), [(2048, 2048), (2048, 8192)])
def test_large_sets_are_compared_within_their_bounds(k: int, other_k: int) -> None:
    result = compared(range(60_000), range(40_000, 100_000), k, other_k)
    truths = [
        (result.union, 100_000),
        (result.intersection, 20_000),
        (result.difference, 40_000),
        (result.jaccard, 0.2),
    ]
    for answer, truth in truths:
        assert truth in answer(confidence=0.999999)
        assert answer().relative_error < 0.15 and not answer().certain
        with pytest.raises(InvalidParameterError, match="confidence"):
            answer(1.0)


def test_comparisons_are_values() -> None:
    assert compared(range(5), range(3)) == compared(range(5), range(3)) != compared(range(5), range(4))
    assert repr(compared(range(5), range(3))) == "<Comparison 3 of 5 in common>"
    for other, field in [(KMinValues(9, keys="int"), "key kind"), (KMinValues(9, seed=1), "seed")]:
        with pytest.raises(IncompatibleError, match=field):
            KMinValues(9).compare(other)
    with pytest.raises(TypeError):
        KMinValues(9).compare(HyperLogLog())  # type: ignore[arg-type]
    assert (KMinValues(9) | KMinValues(5)).k == 5
