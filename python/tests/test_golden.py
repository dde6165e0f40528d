"""The stored files of the Rust library: Python builds the same bytes, and reads them.

This file is long because it has a case for every stored file.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crivo import (
    BinaryFuse,
    BlockedBloom,
    Bloom,
    ColumnProfile,
    CombinedFilter,
    CounterArray,
    CountingBloom,
    CountMin,
    DDSketch,
    DirectTable,
    DistinctGrowth,
    ExactDistinct,
    Groups,
    HeavyHitters,
    Hitter,
    HyperLogLog,
    KeyQuantiles,
    KMinValues,
    LinearCounting,
    LogLog,
    Majority,
    MinHash,
    MorrisCounter,
    NearDuplicateShare,
    NumberQuantiles,
    Panes,
    PrivateClient,
    PrivateCountMean,
    ProbabilisticCounting,
    Protocol,
    RangeCountMin,
    Reservoir,
    RowSample,
    SampledCounter,
    Tally,
    UltraLogLog,
    WeightedReservoir,
    decode,
)

FOLDER = Path(__file__).parents[2] / "crates" / "crivo" / "tests" / "golden"

GOLDEN_RATIO = 11_400_714_785_074_694_797
EXTREMES = [0, 1, 2**64 - 1, 2**63]


def of(sketch: Any, values: Any = ()) -> Any:
    sketch.insert_batch(values)
    return sketch


def of_hashes(sketch: Any, hashes: list[int]) -> Any:
    sketch.insert_hashes(hashes)
    return sketch


def words(count: int) -> list[str]:
    return [f"key {i}" for i in range(count)]


def long_texts(sketch: Any) -> Any:
    for length in range(151):
        sketch.insert("á" * length)
    return sketch


def repeated_words(count: int) -> CountingBloom:
    filter = CountingBloom.for_items(500, 0.01)
    for i in range(count):
        filter.add(f"key {i}", i % 3 + 1)
    return filter


def counted(cells: int, hashes: int, bits: Any, values: Any) -> Any:
    return of(CountingBloom(cells, hashes, bits, keys="int", seed=7), values)


def removed() -> CountingBloom:
    filter: CountingBloom = counted(1001, 4, 4, range(-100, 100))
    filter.remove_batch(range(100))
    return filter


def wide() -> CountingBloom:
    filter: CountingBloom = counted(101, 3, 32, range(20))
    filter.add(5, 2**64 - 1)
    return filter


def words_or_numbers(sketch: Any, count: int) -> Any:
    return of(sketch, range(count) if sketch.keys == "int" else words(count))


def events(counter: Any, number: int) -> Any:
    counter.add(number)
    return counter


def array(count: int, bits: int, base: float, seed: int) -> CounterArray:
    counters = CounterArray(count, base, bits, seed=seed)
    indexes = np.arange(count)
    counters.increment_batch(np.repeat(indexes, 1000 // (indexes + 1)))
    return counters


def merged_morris() -> Any:
    counter = events(MorrisCounter(1.084, 8, seed=1), 100_000)
    return events(counter | events(MorrisCounter(1.084, 8, seed=2), 50_000), 10)


def merged_array() -> CounterArray:
    counters = array(20, 8, 1.084, 5) | array(20, 8, 1.084, 6)
    counters.add(19, 1_000_000)
    return counters


def added(sketch: Any, values: Any, weights: Any) -> Any:
    if sketch.keys == "hash":
        sketch.add_hashes(values, weights)
    else:
        sketch.add_batch(values, weights)
    return sketch


def signed_remainders(sketch: CountMin) -> Any:
    numbers = range(-100, 100)
    return added(sketch, [int(math.fmod(i, 23)) for i in numbers], [i * i for i in numbers])


def falling(sketch: CountMin) -> Any:
    return added(sketch, [i << 61 for i in range(8)], [(2**64 - 1) >> i for i in range(8)])


def squares(sketch: RangeCountMin) -> Any:
    numbers = range(500)
    return added(sketch, [i * i % 2**sketch.levels for i in numbers], [i % 4 for i in numbers])


def harmonic(capacity: int, first: int, last: int) -> HeavyHitters:
    """Key i comes 100 div i times."""
    numbers = range(first, last + 1)
    sketch = added(HeavyHitters(capacity), [f"key {i}" for i in numbers], [100 // i for i in numbers])
    assert isinstance(sketch, HeavyHitters)
    return sketch


def votes(*pairs: tuple[str, int]) -> Majority:
    sketch = Majority()
    for key, weight in pairs:
        sketch.add(key, weight)
    return sketch


def drawn(sample: Any, first: int, last: int) -> Any:
    """Text and weight of each are its number."""
    keys, weights = [f"key {i}" for i in range(first, last + 1)], np.arange(first, last + 1)
    if isinstance(sample, WeightedReservoir):
        sample.insert_batch(keys, weights)
    else:
        sample.insert_batch(keys)
    return sample


def eighths() -> WeightedReservoir:
    sample = WeightedReservoir(20, seed=7, keys="int")
    sample.insert_batch(range(500), [i % 3 / 8 for i in range(500)])
    return sample


def weighted_numbers(sketch: DDSketch, pairs: list[tuple[float, int]]) -> DDSketch:
    for number, weight in pairs:
        sketch.add(number, weight)
    return sketch


def profile(values: list[Any], missing: int = 0, seed: int = 0, sample_seed: int = 7) -> ColumnProfile:
    """Small parts, so that each reaches all its states."""
    sizes: dict[str, Any] = {"precision": 6, "counters": 10, "sample": 5, "bins": 100, "longest": 12}
    column = ColumnProfile(**sizes, seed=seed, sample_seed=sample_seed)
    for value in values:
        column.insert(value)
    column.add_missing(missing)
    return column


KINDS = ["true", "12", "-0.5", "1e400", "2024-02-29", "2024-02-29T12:00Z", "á", "", "a long text, cut"]


def window_of_words() -> Panes:
    panes = Panes.for_window(HyperLogLog(6), 1000, 10)
    times = np.arange(3000)
    panes.insert_batch([f"key {time // 2}" for time in times], times)
    panes.insert_batch(["late"] * 5, 1000)
    return panes


def window_before() -> Panes:
    panes = Panes(ExactDistinct(keys="int", seed=7), 10, 5)
    for time in [-1, -45, -11, -41, 0, -41, -50, -10]:
        panes.insert_batch([time, time], time)
    return panes


def window_of_samples() -> Panes:
    panes = Panes(Reservoir(3, seed=7), 100, 4)
    panes.insert_batch(words(1000), range(1000))
    return panes


def window_of_counters() -> Panes:
    panes = Panes(SampledCounter(0.5, seed=7), 1, 3)
    assert panes.add(1000, 2**63 - 1) and panes.add(1000, 2**63 - 2)
    return panes


def reported(protocol: Protocol, keys: list[Any], seed: int) -> tuple[bytes, PrivateCountMean]:
    client = PrivateClient.with_predictable_coins(protocol, 1e9, seed)
    records = b"".join(client.encode(key) for key in keys)
    answers = PrivateCountMean(protocol)
    answers.insert_records(records)
    return protocol.header() + records, answers


def reported_texts() -> tuple[bytes, PrivateCountMean]:
    return reported(Protocol(4.0, 16, 64), [f"key {i * i % 10}" for i in range(1000)], 7)


def reported_integers() -> tuple[bytes, PrivateCountMean]:
    return reported(Protocol(0.5, 100, 13, keys="int", seed=7), list(range(-20, 20)), 2**64 - 1)


LARGEST, LEAST, LEAST_NORMAL = 1.797_693_134_862_315_7e308, 5e-324, 2.0**-1022
EXTREME_NUMBERS = [LARGEST, -LARGEST, LEAST, LEAST_NORMAL, 0.0, -0.0, math.nan, math.inf]
SOME = [2**64 - 1, 0, 1, 2**63, 0]

CASES: dict[str, Callable[[], Any]] = {
    "hyperloglog_v1_empty": lambda: HyperLogLog(14),
    "hyperloglog_v1_exact": lambda: of(HyperLogLog(12), words(300)),
    "hyperloglog_v1_dense": lambda: of(HyperLogLog(12), words(100_000)),
    "hyperloglog_v2_history": lambda: of(HyperLogLog(10).with_history(), words(100_000)),
    "hyperloglog_v1_texts": lambda: long_texts(HyperLogLog(8, seed=GOLDEN_RATIO)),
    "hyperloglog_v1_limit": lambda: of(HyperLogLog(8, keys="int"), range(-12, 12)),
    "hyperloglog_v1_past_limit": lambda: of(HyperLogLog(8, keys="int"), range(-12, 13)),
    "hyperloglog_v1_integers": lambda: of(HyperLogLog(10, keys="int", seed=7), np.arange(10_000)),
    "hyperloglog_v1_hashes": lambda: of_hashes(HyperLogLog(6, keys="hash", seed=2**64 - 1), EXTREMES),
    "hyperloglog_v1_saturated": lambda: of_hashes(
        HyperLogLog(4, keys="hash"), [register << 60 for register in range(16)]
    ),
    "exact_distinct_v1_empty": lambda: ExactDistinct(keys="int", seed=9),
    "exact_distinct_v1_words": lambda: words_or_numbers(ExactDistinct(), 300),
    "exact_distinct_v1_hashes": lambda: of_hashes(ExactDistinct(keys="hash", seed=2**64 - 1), SOME),
    "linear_counting_v1_empty": lambda: LinearCounting(1000, keys="int", seed=7),
    "linear_counting_v1_words": lambda: words_or_numbers(LinearCounting(10_007), 20_000),
    "linear_counting_v1_hashes": lambda: of_hashes(
        LinearCounting(64, keys="hash"), [0, 2**64 - 1, 2**63, 2**63 - 1]
    ),
    "linear_counting_v1_full": lambda: words_or_numbers(LinearCounting(100, keys="int", seed=7), 2000),
    "k_min_values_v1_empty": lambda: KMinValues(1),
    "k_min_values_v1_one": lambda: words_or_numbers(KMinValues(1), 1000),
    "k_min_values_v1_exact": lambda: words_or_numbers(KMinValues(1000), 300),
    "k_min_values_v1_limit": lambda: words_or_numbers(KMinValues(300), 300),
    "k_min_values_v1_sampling": lambda: words_or_numbers(KMinValues(1024), 100_000),
    "k_min_values_v1_integers": lambda: words_or_numbers(KMinValues(64, keys="int", seed=7), 10_000),
    "k_min_values_v1_hashes": lambda: of_hashes(KMinValues(3, keys="hash", seed=2**64 - 1), SOME),
    "probabilistic_counting_v1_empty": lambda: ProbabilisticCounting(),
    "probabilistic_counting_v1_words": lambda: words_or_numbers(ProbabilisticCounting(), 1000),
    "probabilistic_counting_v1_zero": lambda: of_hashes(ProbabilisticCounting(keys="hash"), [5, 0, 12]),
    "log_log_v1_empty": lambda: LogLog(6),
    "log_log_v1_words": lambda: words_or_numbers(LogLog(10), 100_000),
    "log_log_v1_few": lambda: words_or_numbers(LogLog(6, keys="int", seed=7), 40),
    "log_log_v1_saturated": lambda: of_hashes(LogLog(6, keys="hash"), [i << 58 for i in range(64)]),
    "ultraloglog_v1_empty": lambda: UltraLogLog(14),
    "ultraloglog_v1_exact": lambda: of(UltraLogLog(12), words(300)),
    "ultraloglog_v1_dense": lambda: of(UltraLogLog(12), words(100_000)),
    "ultraloglog_v2_history": lambda: of(UltraLogLog(10).with_history(), words(100_000)),
    "ultraloglog_v1_texts": lambda: long_texts(UltraLogLog(8, seed=GOLDEN_RATIO)),
    "ultraloglog_v1_limit": lambda: of(UltraLogLog(8, keys="int"), range(-12, 12)),
    "ultraloglog_v1_past_limit": lambda: of(UltraLogLog(8, keys="int"), range(-12, 13)),
    "ultraloglog_v1_integers": lambda: of(UltraLogLog(10, keys="int", seed=7), np.arange(10_000)),
    "ultraloglog_v1_hashes": lambda: of_hashes(UltraLogLog(6, keys="hash", seed=2**64 - 1), EXTREMES),
    "ultraloglog_v1_saturated": lambda: of_hashes(
        UltraLogLog(4, keys="hash"), [i << 60 | low for i in range(16) for low in (0, 1 << 59, 1 << 58)]
    ),
    "sampled_counter_v1_empty": lambda: SampledCounter(0.5),
    "sampled_counter_v1_half": lambda: events(SampledCounter(0.5, seed=7), 10_000),
    "sampled_counter_v1_rare": lambda: events(SampledCounter(1 / 64, seed=2**64 - 1), 1_000_000),
    "sampled_counter_v1_every": lambda: events(SampledCounter(1, seed=3), 123_456_789),
    "sampled_counter_v1_merged": lambda: (
        events(SampledCounter(0.25, seed=1), 1000) | events(SampledCounter(0.25, seed=2), 500)
    ),
    "morris_counter_v1_empty": lambda: MorrisCounter(2, 8),
    "morris_counter_v1_base_two": lambda: events(MorrisCounter(2, 8, seed=7), 1_000_000),
    "morris_counter_v1_byte": lambda: events(MorrisCounter(1.084, 8, seed=7), 1_000_000_000),
    "morris_counter_v1_wide": lambda: events(MorrisCounter(1.0002, 16, seed=7), 1_000_000),
    "morris_counter_v1_saturated": lambda: events(MorrisCounter(2, 4, seed=1), 10_000_000),
    "morris_counter_v1_merged": merged_morris,
    "counter_array_v1_nibbles": lambda: array(31, 4, 1.5, 7),
    "counter_array_v1_bytes": lambda: array(100, 8, 1.084, 7),
    "counter_array_v1_words": lambda: array(50, 16, 1.01, 7),
    "counter_array_v1_merged": merged_array,
    "direct_table_v1_empty": lambda: DirectTable(1000),
    "direct_table_v1_multiples": lambda: of(DirectTable(1682), range(0, 1682, 7)),
    "direct_table_v1_full": lambda: of(DirectTable(100, seed=7), range(100)),
    "direct_table_v1_one": lambda: of(DirectTable(1, seed=2**64 - 1), [0]),
    "bloom_v1_empty": lambda: Bloom.for_items(1000, 0.01),
    "bloom_v1_texts": lambda: of(Bloom.for_items(1000, 0.01), words(1000)),
    "bloom_v1_integers": lambda: of(Bloom(1001, 4, keys="int", seed=7), range(-100, 100)),
    "bloom_v1_hashes": lambda: of_hashes(Bloom(100, 64, keys="hash", seed=2**64 - 1), EXTREMES),
    "bloom_v1_full": lambda: of(Bloom(65, 1, keys="int"), range(2000)),
    "blocked_bloom_v1_empty": lambda: BlockedBloom.for_items(1000, 0.01),
    "blocked_bloom_v1_texts": lambda: of(BlockedBloom.for_items(1000, 0.01), words(1000)),
    "blocked_bloom_v1_integers": lambda: of(BlockedBloom(3, keys="int", seed=7), range(-100, 100)),
    "blocked_bloom_v1_hashes": lambda: of_hashes(BlockedBloom(5, keys="hash", seed=2**64 - 1), EXTREMES),
    "binary_fuse_v1_empty": lambda: BinaryFuse([]),
    "binary_fuse_v1_one": lambda: BinaryFuse(["ana"]),
    "binary_fuse_v1_texts": lambda: BinaryFuse(words(1000)),
    "binary_fuse_v1_integers": lambda: BinaryFuse(range(-100, 100), keys="int", seed=7),
    "binary_fuse_v1_hashes": lambda: BinaryFuse([i << 40 for i in range(300)], keys="hash", seed=2**64 - 1),
    "counting_bloom_v1_empty": lambda: repeated_words(0),
    "counting_bloom_v1_texts": lambda: repeated_words(600),
    "counting_bloom_v1_integers": lambda: counted(1001, 4, 4, range(-100, 100)),
    "counting_bloom_v1_removed": removed,
    "counting_bloom_v1_saturated": lambda: counted(15, 2, 4, range(200)),
    "counting_bloom_v1_wide": wide,
    "counting_bloom_v1_hashes": lambda: of_hashes(
        CountingBloom(50, 64, 16, keys="hash", seed=2**64 - 1), EXTREMES
    ),
    "count_min_v1_empty": lambda: CountMin(3, 2),
    "count_min_v1_words": lambda: of(CountMin(100, 5), [f"key {i * i % 300}" for i in range(1000)]),
    "count_min_v1_weights": lambda: signed_remainders(CountMin(17, 7, keys="int", seed=7)),
    "count_min_v1_conservative": lambda: signed_remainders(
        CountMin(17, 7, conservative=True, keys="int", seed=7)
    ),
    "count_min_v1_saturated": lambda: falling(CountMin(4, 3, keys="hash", seed=2**64 - 1)),
    "count_min_v1_conservative_saturated": lambda: falling(
        CountMin(4, 3, conservative=True, keys="hash", seed=2**64 - 1)
    ),
    "range_count_min_v1_empty": lambda: RangeCountMin(5, 2, 2),
    "range_count_min_v1_exact": lambda: squares(RangeCountMin(7, 50, 3)),
    "range_count_min_v1_sketched": lambda: squares(RangeCountMin(20, 20, 4, seed=7)),
    "range_count_min_v1_widest": lambda: squares(RangeCountMin(64, 3, 3, seed=2**64 - 1)),
    "range_count_min_v1_one_leaf": lambda: squares(RangeCountMin(10, 1, 1)),
    "range_count_min_v1_saturated": lambda: added(RangeCountMin(8, 3, 2), [7, 8, 200], [2**63 - 1] * 3),
    "majority_v1_empty": lambda: Majority(),
    "majority_v1_texts": lambda: votes(("á", 5), ("b", 2), ("á", 1)),
    "majority_v1_tie": lambda: votes(("á", 5), ("b", 5)),
    "majority_v1_nameless": lambda: votes(("a", 1), ("", 3)),
    "majority_v1_integers": lambda: of(Majority(keys="int", seed=7), [-1, 2, 2, 2, -1]),
    "majority_v1_hashes": lambda: of_hashes(Majority(keys="hash", seed=2**64 - 1), [2**63]),
    "majority_v1_saturated": lambda: votes(("a", 2**64 - 2), ("b", 7)),
    "heavy_hitters_v1_empty": lambda: HeavyHitters(100),
    "heavy_hitters_v1_exact": lambda: harmonic(100, 1, 100),
    "heavy_hitters_v1_purged": lambda: harmonic(10, 1, 100),
    "heavy_hitters_v1_merged": lambda: harmonic(20, 1, 60) | harmonic(10, 5, 100),
    "heavy_hitters_v1_texts": lambda: long_texts(HeavyHitters(8, seed=GOLDEN_RATIO)),
    "heavy_hitters_v1_integers": lambda: added(
        HeavyHitters(50, keys="int", seed=7),
        np.arange(10_000) ** 2 % 101 - 50,
        1 + np.arange(10_000) % 7,
    ),
    "heavy_hitters_v1_hashes": lambda: added(
        HeavyHitters(3, keys="hash", seed=2**64 - 1), [0, 1, 2**64 - 1], [2, 2, 2]
    ),
    "heavy_hitters_v1_saturated": lambda: added(
        HeavyHitters(2, keys="int"), range(4), [(2**64 - 1) // 3] * 4
    ),
    "reservoir_v1_empty": lambda: Reservoir(5),
    "reservoir_v1_filling": lambda: drawn(Reservoir(100, seed=7), 0, 59),
    "reservoir_v1_texts": lambda: drawn(Reservoir(20, seed=7), 0, 99_999),
    "reservoir_v1_integers": lambda: of(Reservoir(50, seed=7, keys="int", key_seed=7), range(-1000, 1000)),
    "reservoir_v1_hash": lambda: of_hashes(
        Reservoir(1, seed=7, keys="hash"), [(i << 57) % 2**64 for i in range(100)]
    ),
    "reservoir_v1_merged": lambda: (
        drawn(Reservoir(10, seed=1), 0, 999) | drawn(Reservoir(10, seed=2), 1000, 1499)
    ),
    "weighted_reservoir_v1_empty": lambda: WeightedReservoir(5),
    "weighted_reservoir_v1_filling": lambda: drawn(WeightedReservoir(100, seed=7), 0, 59),
    "weighted_reservoir_v1_texts": lambda: drawn(WeightedReservoir(20, seed=7), 0, 9999),
    "weighted_reservoir_v1_integers": eighths,
    "weighted_reservoir_v1_merged": lambda: (
        drawn(WeightedReservoir(10, seed=1), 0, 999) | drawn(WeightedReservoir(10, seed=2), 1000, 1499)
    ),
    "min_hash_v1_empty": lambda: MinHash(128),
    "min_hash_v1_one_slot": lambda: of(MinHash(1), words(1000)),
    "min_hash_v1_one_key": lambda: of(MinHash(50), words(1)),
    "min_hash_v1_words": lambda: of(MinHash(400), words(300)),
    "min_hash_v1_other_words": lambda: of(MinHash(400), words(400)[100:]),
    "min_hash_v1_many": lambda: of(MinHash(128), words(100_000)),
    "min_hash_v1_integers": lambda: of(MinHash(100, keys="int", seed=7), range(-50, 50)),
    "min_hash_v1_hashes": lambda: of_hashes(MinHash(9, keys="hash", seed=2**64 - 1), SOME),
    "ddsketch_v1_empty": lambda: DDSketch(0.01, 2073),
    "ddsketch_v1_integers": lambda: of(DDSketch(0.01, 2073), range(-100, 1001)),
    "ddsketch_v1_halves": lambda: of(DDSketch(0.001, 4096), np.arange(-9, 10) / 2),
    "ddsketch_v1_joined": lambda: of(DDSketch(0.01, 50), np.arange(4000) ** 2 + 1),
    "ddsketch_v1_extremes": lambda: of(DDSketch(0.01, 16), EXTREME_NUMBERS),
    "ddsketch_v1_weights": lambda: weighted_numbers(
        DDSketch(0.05, 64), [(i / 4, 1 << i) for i in range(1, 21)]
    ),
    "ddsketch_v1_saturated": lambda: weighted_numbers(DDSketch(0.01, 100), [(1, 2**64 - 2), (-2, 2**64 - 2)]),
    "column_profile_v1_empty": lambda: profile([]),
    "column_profile_v1_missing": lambda: profile([], 1234),
    "column_profile_v1_integers": lambda: profile([i * i % 101 - 50 for i in range(1000)], 3),
    "column_profile_v1_large": lambda: profile([-(2**63), 2**63 - 1, 2**53 + 1, 0, -1], seed=9),
    "column_profile_v1_kinds": lambda: profile(KINDS, 2),
    "column_profile_v1_merged": lambda: (
        profile([i * i % 97 for i in range(500)], 1)
        | profile([f"{i % 50}.5" for i in range(500)], sample_seed=8)
    ),
    "panes_v1_empty": lambda: Panes(HyperLogLog(10), 3600, 24),
    "panes_v1_words": window_of_words,
    "panes_v1_before": window_before,
    "panes_v1_samples": window_of_samples,
    "panes_v1_counters": window_of_counters,
    "private_count_mean_v1_empty": lambda: PrivateCountMean(Protocol(1.0, 3, 5, keys="hash", seed=9)),
    "private_count_mean_v1_texts": lambda: reported_texts()[1],
    "private_count_mean_v1_integers": lambda: reported_integers()[1],
}


# What files answer, where the Rust library's tests freeze it: the same to the last bit.
ANSWERS: dict[str, float] = {
    "exact_distinct_v1_empty": 0,
    "exact_distinct_v1_words": 300,
    "exact_distinct_v1_hashes": 4,
    "linear_counting_v1_empty": 0,
    "linear_counting_v1_words": 19_782.467_514_037_457,
    "linear_counting_v1_hashes": 4.130_465_352_804_555,  # -64 ln(60/64)
    "k_min_values_v1_empty": 0,
    "k_min_values_v1_one": 2_248.604_123_900_129,
    "k_min_values_v1_exact": 300,
    "k_min_values_v1_limit": 300,
    "k_min_values_v1_sampling": 96_153.292_513_752_52,
    "k_min_values_v1_integers": 9_936.940_502_803_325,
    "k_min_values_v1_hashes": 4,
    "probabilistic_counting_v1_empty": 0,
    "probabilistic_counting_v1_words": 512,
    "probabilistic_counting_v1_zero": 2.0**64,
    "log_log_v1_empty": 0,
    "log_log_v1_words": 103_722.146_301_570_13,
    "ultraloglog_v1_empty": 0,
    "ultraloglog_v1_exact": 300,
    "ultraloglog_v1_dense": 100_767.474_458_912_26,
    "ultraloglog_v1_integers": 10_211.687_675_525_067,
    "ultraloglog_v1_limit": 24,
    "ultraloglog_v1_hashes": 4,
    "sampled_counter_v1_empty": 0,
    "sampled_counter_v1_half": 9792,
    "sampled_counter_v1_rare": 997_056,
    "sampled_counter_v1_every": 123_456_789,
    "sampled_counter_v1_merged": 1516,
    "morris_counter_v1_empty": 0,
    "morris_counter_v1_base_two": 262_143,
    "morris_counter_v1_byte": 711_576_104.537_084_1,
    "morris_counter_v1_wide": 1_013_724.102_447_634_3,
    "morris_counter_v1_saturated": 32_767,
    "morris_counter_v1_merged": 175_459.072_979_089_28,
    "counter_array_v1_nibbles": 3_393.823_669_433_593_8,
    "counter_array_v1_bytes": 5_414.475_158_572_454,
    "counter_array_v1_words": 4_497.830_881_450_114,
    "counter_array_v1_merged": 961_659.941_717_876_6,
}


SCHEME: dict[str, Any] = {"keys": "int", "seed": 7}
KEYS = range(-300, 300)


def placed(sample: RowSample, places: range, weighted: bool = False) -> RowSample:
    for place in places:
        sample.insert(place, f"row {place}\n".encode(), place % 3 / 8 if weighted else None)
    return sample


def in_rows(k: int, last: int) -> DistinctGrowth:
    growth = DistinctGrowth(k, seed=7)
    growth.insert_batch([f"key {row - 1 if row % 3 == 0 else row}" for row in range(1, last + 1)])
    return growth


def weighted_ones() -> WeightedReservoir:
    sample = WeightedReservoir(20, seed=7, keys="int", key_seed=7)
    sample.insert_batch(KEYS, [1.0] * 600)
    return sample


CASES |= {
    "hyperloglog_v1_rrmxmx": lambda: of(HyperLogLog(8, **SCHEME), KEYS),
    "ultraloglog_v1_rrmxmx": lambda: of(UltraLogLog(8, **SCHEME), KEYS),
    "exact_distinct_v1_rrmxmx": lambda: of(ExactDistinct(**SCHEME), KEYS),
    "linear_counting_v1_rrmxmx": lambda: of(LinearCounting(1000, **SCHEME), KEYS),
    "k_min_values_v1_rrmxmx": lambda: of(KMinValues(64, **SCHEME), KEYS),
    "probabilistic_counting_v1_rrmxmx": lambda: of(ProbabilisticCounting(**SCHEME), KEYS),
    "log_log_v1_rrmxmx": lambda: of(LogLog(6, **SCHEME), KEYS),
    "bloom_v1_rrmxmx": lambda: of(Bloom(6001, 4, **SCHEME), KEYS),
    "blocked_bloom_v1_rrmxmx": lambda: of(BlockedBloom(16, **SCHEME), KEYS),
    "counting_bloom_v1_rrmxmx": lambda: of(CountingBloom(6001, 4, 8, **SCHEME), KEYS),
    "count_min_v1_rrmxmx": lambda: of(CountMin(100, 4, **SCHEME), KEYS),
    "heavy_hitters_v1_rrmxmx": lambda: of(HeavyHitters(50, **SCHEME), KEYS),
    "majority_v1_rrmxmx": lambda: of(Majority(**SCHEME), KEYS),
    "reservoir_v1_rrmxmx": lambda: of(Reservoir(50, seed=7, keys="int", key_seed=7), KEYS),
    "weighted_reservoir_v1_rrmxmx": weighted_ones,
    "min_hash_v1_rrmxmx": lambda: of(MinHash(64, **SCHEME), KEYS),
    "binary_fuse_v1_rrmxmx": lambda: BinaryFuse(KEYS, **SCHEME),
    "direct_table_v1_rrmxmx": lambda: of(DirectTable(700, seed=7), range(600)),
    "range_count_min_v1_rrmxmx": lambda: of(RangeCountMin(12, 20, 3, seed=7), range(600)),
    "distinct_growth_v1_rrmxmx": lambda: of(DistinctGrowth(64, **SCHEME), KEYS),
    "distinct_growth_v1_empty": lambda: in_rows(1024, 0),
    "distinct_growth_v1_exact": lambda: in_rows(1024, 100),
    "distinct_growth_v1_sampled": lambda: in_rows(64, 10_000),
    "distinct_growth_v1_merged": lambda: in_rows(64, 1000),
    "row_sample_v1_empty": lambda: RowSample(5, seed=7),
    "row_sample_v1_filling": lambda: placed(RowSample(100, seed=7), range(60)),
    "row_sample_v1_full": lambda: placed(RowSample(20, seed=7), range(10_000)),
    "row_sample_v1_weighted": lambda: placed(RowSample(20, seed=7, weighted=True), range(500), weighted=True),
    "row_sample_v1_merged": lambda: placed(RowSample(10, seed=7), range(2000)),
}
# Files that Python reads and does not build.
READ = {
    "counter_array_v1_rrmxmx": CounterArray,
    "distinct_growth_v1_integers": DistinctGrowth,
    **{path.stem: NearDuplicateShare for path in FOLDER.glob("near_duplicate_share_*.bin")},
    **{path.stem: NumberQuantiles for path in FOLDER.glob("number_quantiles_*.bin")},
    **{path.stem: CombinedFilter for path in FOLDER.glob("combined_filter_*.bin")},
    **{path.stem: Groups for path in FOLDER.glob("groups_*.bin")},
    **{path.stem: KeyQuantiles for path in FOLDER.glob("key_quantiles_*.bin")},
    **{path.stem: Tally for path in FOLDER.glob("tally_*.bin")},
}
# Families that have no class in Python yet; the reader of the page reads them.
WITHOUT_CLASS = ("table_profile_",)


def is_of_xxh3_integers(stored: bytes) -> bool:
    """Whether an older crivo wrote the file: integers are hashed with Rrmxmx now."""
    return (stored[8], stored[9]) == (1, 2) or b"CRVO\x01\x21\x01\x00\x01\x02" in stored


def written_today(name: str) -> str:
    """The file with what is written for a case: the registers of the first version are coded now."""
    later = name.replace("_v1_", "_v2_") if "loglog" in name else f"{name}_coded"
    return later if (FOLDER / f"{later}.bin").exists() else name


@pytest.mark.parametrize("name", READ)
def test_the_stored_file_is_read_and_written_back(name: str) -> None:
    older = (FOLDER / f"{name}.bin").read_bytes()
    stored = (FOLDER / f"{written_today(name)}.bin").read_bytes()
    assert type(decode(older)) is READ[name] and bytes(decode(older)) == stored


@pytest.mark.parametrize("name", CASES)
def test_the_bytes_are_those_of_the_stored_file(name: str) -> None:
    older = (FOLDER / f"{name}.bin").read_bytes()
    stored = (FOLDER / f"{written_today(name)}.bin").read_bytes()
    sketch = CASES[name]()
    assert type(decode(older)) is type(sketch) and bytes(decode(older)) == stored
    if is_of_xxh3_integers(stored):
        return
    assert bytes(sketch) == stored
    assert type(sketch).from_bytes(stored) == sketch
    assert type(decode(stored)) is type(sketch) and decode(stored) == sketch


def test_every_stored_file_has_a_case() -> None:
    stems = {path.stem for path in FOLDER.glob("*.bin")}
    cases = {*CASES, *map(written_today, CASES), *READ}
    assert {stem for stem in stems if not stem.startswith(WITHOUT_CLASS)} == cases


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answer_is_that_of_the_rust_library(name: str) -> None:
    sketch = type(CASES[name]()).from_bytes((FOLDER / f"{name}.bin").read_bytes())
    estimate = sketch.total() if isinstance(sketch, CounterArray) else sketch.estimate()
    assert estimate.value == ANSWERS[name]


def stored(cls: Any, name: str) -> Any:
    return cls.from_bytes((FOLDER / f"{name}.bin").read_bytes())


def test_the_frequencies_are_those_of_the_rust_library() -> None:
    counts = stored(CountMin, "count_min_v1_words").frequencies(["key 0", "key 1", "key 4", "key 5"])
    assert counts.tolist() == [34, 26, 27, 0]
    plain = stored(CountMin, "count_min_v1_weights").frequencies([-22, 0, 5, 22])
    assert plain.tolist() == [15414, 60249, 18295, 28668]
    conservative = stored(CountMin, "count_min_v1_conservative").frequencies([-22, 0, 5, 22])
    assert conservative.tolist() == [15414, 31740, 18295, 26340]
    ranges = stored(RangeCountMin, "range_count_min_v1_sketched")
    assert [ranges.range(*pair).value for pair in [(0, 99), (5000, 200_000), (77, 77)]] == [82, 691, 21]
    assert ranges.quantile(0.5).value == 61_375
    assert stored(HeavyHitters, "heavy_hitters_v1_merged").top(1) == [Hitter("key 1", 112, 100, 125)]
    assert stored(HeavyHitters, "heavy_hitters_v1_purged").max_error == 39
    candidate = stored(Majority, "majority_v1_saturated").candidate()
    assert candidate == Hitter("a", 2**64 - 2, 2**64 - 2, 2**64 - 1)
    assert stored(Majority, "majority_v1_tie").candidate() is None


def test_the_similarities_are_those_of_the_rust_library() -> None:
    words, others = stored(MinHash, "min_hash_v1_words"), stored(MinHash, "min_hash_v1_other_words")
    assert words.similarity(others).value == 0.4875
    assert words.items().value == 302.558_373_282_556_3
    assert stored(MinHash, "min_hash_v1_many").items().value == 84_056.098_342_322_16


def test_reports_are_those_of_the_stored_files() -> None:
    texts = (FOLDER / "private_reports_v1_texts.reports").read_bytes()
    assert reported_texts()[0][: len(texts)] == texts
    integers = (FOLDER / "private_reports_v1_integers.reports").read_bytes()
    # An older crivo wrote them: integers are hashed with another function now, and byte 5 tells which.
    assert (integers[5], reported_integers()[0][5]) == (1, 2)
    older = Protocol.from_header(integers[:36])
    assert older != Protocol(0.5, 100, 13, keys="int", seed=7)
    assert (older.epsilon, older.rows, older.width, older.seed) == (0.5, 100, 13, 7)


def test_the_private_counts_are_those_of_the_rust_library() -> None:
    texts = stored(PrivateCountMean, "private_count_mean_v1_texts")
    assert texts.frequencies(["key 0", "key 1", "key 2"]).round().tolist() == [92, 187, -15]
    assert texts.reports == 1000


def test_windows_profiles_and_quantiles_are_those_of_the_rust_library() -> None:
    words = stored(Panes, "panes_v1_words")
    assert (words.covered(2999), words.late) == ((1900, 2999), 5)
    assert 550 in words.merged(2999).estimate()
    before = stored(Panes, "panes_v1_before")
    assert (before.covered(0), before.late, before.merged(0).estimate().value) == ((-40, 9), 4, 4)
    assert stored(Panes, "panes_v1_samples").merged(999).seen == 400
    integers = stored(ColumnProfile, "column_profile_v1_integers")
    assert (integers.column_type, integers.rows, integers.min(), integers.max()) == ("integer", 1003, -50, 50)
    assert stored(ColumnProfile, "column_profile_v1_large").sum() == 9_007_199_254_740_991.0
    kinds = stored(ColumnProfile, "column_profile_v1_kinds")
    assert (kinds.column_type, kinds.long, kinds.min()) == ("text", 2, "")
    assert stored(ColumnProfile, "column_profile_v1_merged").column_type == "float"
    numbers = stored(DDSketch, "ddsketch_v1_integers")
    assert (numbers.count, numbers.sum) == (1101, 495_450)
    joined = stored(DDSketch, "ddsketch_v1_joined")
    assert joined.is_collapsed and 1999**2 + 1 in joined.quantile(0.5)
    extremes = stored(DDSketch, "ddsketch_v1_extremes")
    assert (extremes.count, extremes.zeros, extremes.not_finite) == (6, 2, 2)
    assert stored(DDSketch, "ddsketch_v1_saturated").sum is None
