"""The stored files of the Rust library: Python builds the same bytes, and reads them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crivo import (
    CounterArray,
    ExactDistinct,
    HyperLogLog,
    KMinValues,
    LinearCounting,
    LogLog,
    MorrisCounter,
    ProbabilisticCounting,
    SampledCounter,
    UltraLogLog,
)

FOLDER = Path(__file__).parents[2] / "crates" / "crivo" / "tests" / "golden"


def words(precision: int, count: int) -> HyperLogLog:
    sketch = HyperLogLog(precision)
    sketch.insert_batch([f"key {i}" for i in range(count)])
    return sketch


def integers() -> HyperLogLog:
    sketch = HyperLogLog(10, keys="int", seed=7)
    sketch.insert_batch(np.arange(10_000))
    return sketch


def hashes(precision: int, values: list[int], seed: int = 0) -> HyperLogLog:
    sketch = HyperLogLog(precision, keys="hash", seed=seed)
    sketch.insert_hashes(values)
    return sketch


def numbers(last: int) -> HyperLogLog:
    sketch = HyperLogLog(8, keys="int")
    sketch.insert_batch(range(-12, last + 1))
    return sketch


def texts() -> HyperLogLog:
    sketch = HyperLogLog(8, seed=11_400_714_785_074_694_797)
    for length in range(151):
        sketch.insert("á" * length)
    return sketch


CASES = {
    "hyperloglog_v1_empty": words(14, 0),
    "hyperloglog_v1_exact": words(12, 300),
    "hyperloglog_v1_dense": words(12, 100_000),
    "hyperloglog_v1_texts": texts(),
    "hyperloglog_v1_limit": numbers(11),
    "hyperloglog_v1_past_limit": numbers(12),
    "hyperloglog_v1_integers": integers(),
    "hyperloglog_v1_hashes": hashes(6, [0, 1, 2**64 - 1, 2**63], seed=2**64 - 1),
    "hyperloglog_v1_saturated": hashes(4, [register << 60 for register in range(16)]),
}


@pytest.mark.parametrize("name", CASES)
def test_the_bytes_are_those_of_the_stored_file(name: str) -> None:
    stored = (FOLDER / f"{name}.bin").read_bytes()
    assert bytes(CASES[name]) == stored
    assert HyperLogLog.from_bytes(stored) == CASES[name]


def test_every_stored_hyperloglog_has_a_case() -> None:
    assert {path.stem for path in FOLDER.glob("hyperloglog_*.bin")} == set(CASES)


# The other ways to count different items, and the counters of events.


def keyed(sketch: Any, count: int = 0) -> Any:
    """With texts, or numbers if that is what the sketch takes."""
    sketch.insert_batch(range(count) if sketch.keys == "int" else [f"key {i}" for i in range(count)])
    return sketch


def hashed(sketch: Any, values: list[int]) -> Any:
    sketch.insert_hashes(values)
    return sketch


def counted(counter: Any, events: int) -> Any:
    counter.add(events)
    return counter


def array(count: int, bits: int, base: float, seed: int) -> CounterArray:
    counters = CounterArray(count, bits, base, seed=seed)
    indexes = np.arange(count)
    counters.increment_batch(np.repeat(indexes, 1000 // (indexes + 1)))
    return counters


def merged_morris() -> Any:
    counter = counted(MorrisCounter(1.084, 8, seed=1), 100_000)
    return counted(counter | counted(MorrisCounter(1.084, 8, seed=2), 50_000), 10)


def merged_array() -> CounterArray:
    counters = array(20, 8, 1.084, 5) | array(20, 8, 1.084, 6)
    counters.add(19, 1_000_000)
    return counters


def ultra_texts() -> UltraLogLog:
    sketch = UltraLogLog(8, seed=11_400_714_785_074_694_797)
    for length in range(151):
        sketch.insert("á" * length)
    return sketch


def ultra_numbers(last: int) -> UltraLogLog:
    sketch = UltraLogLog(8, keys="int")
    sketch.insert_batch(range(-12, last + 1))
    return sketch


SOME = [2**64 - 1, 0, 1, 2**63, 0]

# What the file answers, as the Rust library's tests freeze it: the same to the last bit.
OTHERS: dict[str, tuple[float, Callable[[], Any]]] = {
    "exact_distinct_v1_empty": (0, lambda: ExactDistinct(keys="int", seed=9)),
    "exact_distinct_v1_words": (300, lambda: keyed(ExactDistinct(), 300)),
    "exact_distinct_v1_hashes": (4, lambda: hashed(ExactDistinct(keys="hash", seed=2**64 - 1), SOME)),
    "linear_counting_v1_empty": (0, lambda: LinearCounting(1000, keys="int", seed=7)),
    "linear_counting_v1_words": (19_782.467_514_037_457, lambda: keyed(LinearCounting(10_007), 20_000)),
    "linear_counting_v1_hashes": (
        4.130_465_352_804_555,  # -64 ln(60/64)
        lambda: hashed(LinearCounting(64, keys="hash"), [0, 2**64 - 1, 2**63, 2**63 - 1]),
    ),
    "linear_counting_v1_full": (0, lambda: keyed(LinearCounting(100, keys="int", seed=7), 2000)),
    "k_min_values_v1_empty": (0, lambda: KMinValues(1)),
    "k_min_values_v1_one": (2_248.604_123_900_129, lambda: keyed(KMinValues(1), 1000)),
    "k_min_values_v1_exact": (300, lambda: keyed(KMinValues(1000), 300)),
    "k_min_values_v1_limit": (300, lambda: keyed(KMinValues(300), 300)),
    "k_min_values_v1_sampling": (96_153.292_513_752_52, lambda: keyed(KMinValues(1024), 100_000)),
    "k_min_values_v1_integers": (
        9_936.940_502_803_325,
        lambda: keyed(KMinValues(64, keys="int", seed=7), 10_000),
    ),
    "k_min_values_v1_hashes": (4, lambda: hashed(KMinValues(3, keys="hash", seed=2**64 - 1), SOME)),
    "probabilistic_counting_v1_empty": (0, lambda: ProbabilisticCounting()),
    "probabilistic_counting_v1_words": (512, lambda: keyed(ProbabilisticCounting(), 1000)),
    "probabilistic_counting_v1_zero": (
        2.0**64,
        lambda: hashed(ProbabilisticCounting(keys="hash"), [5, 0, 12]),
    ),
    "log_log_v1_empty": (0, lambda: LogLog(6)),
    "log_log_v1_words": (103_722.146_301_570_13, lambda: keyed(LogLog(10), 100_000)),
    "log_log_v1_few": (0, lambda: keyed(LogLog(6, keys="int", seed=7), 40)),
    "log_log_v1_saturated": (0, lambda: hashed(LogLog(6, keys="hash"), [i << 58 for i in range(64)])),
    "ultraloglog_v1_empty": (0, lambda: UltraLogLog(14)),
    "ultraloglog_v1_exact": (300, lambda: keyed(UltraLogLog(12), 300)),
    "ultraloglog_v1_dense": (100_767.474_458_912_26, lambda: keyed(UltraLogLog(12), 100_000)),
    "ultraloglog_v1_texts": (0, ultra_texts),
    "ultraloglog_v1_integers": (
        10_211.687_675_525_067,
        lambda: keyed(UltraLogLog(10, keys="int", seed=7), 10_000),
    ),
    "ultraloglog_v1_limit": (24, lambda: ultra_numbers(11)),
    "ultraloglog_v1_past_limit": (0, lambda: ultra_numbers(12)),
    "ultraloglog_v1_hashes": (4, lambda: hashed(UltraLogLog(6, keys="hash", seed=2**64 - 1), SOME)),
    "ultraloglog_v1_saturated": (
        0,
        lambda: hashed(
            UltraLogLog(4, keys="hash"), [i << 60 | low for i in range(16) for low in (0, 1 << 59, 1 << 58)]
        ),
    ),
    "sampled_counter_v1_empty": (0, lambda: SampledCounter(0.5)),
    "sampled_counter_v1_half": (9792, lambda: counted(SampledCounter(0.5, seed=7), 10_000)),
    "sampled_counter_v1_rare": (
        997_056,
        lambda: counted(SampledCounter(1 / 64, seed=2**64 - 1), 1_000_000),
    ),
    "sampled_counter_v1_every": (123_456_789, lambda: counted(SampledCounter(1, seed=3), 123_456_789)),
    "sampled_counter_v1_merged": (
        1516,
        lambda: counted(SampledCounter(0.25, seed=1), 1000) | counted(SampledCounter(0.25, seed=2), 500),
    ),
    "morris_counter_v1_empty": (0, lambda: MorrisCounter(2, 8)),
    "morris_counter_v1_base_two": (262_143, lambda: counted(MorrisCounter(2, 8, seed=7), 1_000_000)),
    "morris_counter_v1_byte": (
        711_576_104.537_084_1,
        lambda: counted(MorrisCounter(1.084, 8, seed=7), 1_000_000_000),
    ),
    "morris_counter_v1_wide": (
        1_013_724.102_447_634_3,
        lambda: counted(MorrisCounter(1.0002, 16, seed=7), 1_000_000),
    ),
    "morris_counter_v1_saturated": (32_767, lambda: counted(MorrisCounter(2, 4, seed=1), 10_000_000)),
    "morris_counter_v1_merged": (175_459.072_979_089_28, merged_morris),
    "counter_array_v1_nibbles": (3_393.823_669_433_593_8, lambda: array(31, 4, 1.5, 7)),
    "counter_array_v1_bytes": (5_414.475_158_572_454, lambda: array(100, 8, 1.084, 7)),
    "counter_array_v1_words": (4_497.830_881_450_114, lambda: array(50, 16, 1.01, 7)),
    "counter_array_v1_merged": (961_659.941_717_876_6, merged_array),
}
# The Rust library's tests leave the values of these open: most of them are no more than a bound.
OPEN = {
    "linear_counting_v1_full",
    "log_log_v1_few",
    "log_log_v1_saturated",
    "ultraloglog_v1_texts",
    "ultraloglog_v1_past_limit",
    "ultraloglog_v1_saturated",
}


@pytest.mark.parametrize("name", OTHERS)
def test_bytes_and_answer_are_those_of_the_stored_file(name: str) -> None:
    stored = (FOLDER / f"{name}.bin").read_bytes()
    answer, build = OTHERS[name]
    sketch = build()
    assert bytes(sketch) == stored
    restored = type(sketch).from_bytes(stored)
    assert restored == sketch
    estimate = restored.total() if isinstance(restored, CounterArray) else restored.estimate()
    assert name in OPEN or estimate.value == answer


def test_every_stored_sketch_of_these_families_has_a_case() -> None:
    families = {name.split("_v1_")[0] for name in OTHERS}
    stored = {path.stem for path in FOLDER.glob("*.bin") if path.stem.split("_v1_")[0] in families}
    assert stored == set(OTHERS)
