"""Over the last day only? Panes of any sketch."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from columns import refused
from samples import SAMPLES, small_profile

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
    DecodeError,
    DirectTable,
    DistinctGrowth,
    ExactDistinct,
    Groups,
    HeavyHitters,
    HyperLogLog,
    IncompatibleError,
    InvalidParameterError,
    KeyQuantiles,
    KeyTypeError,
    KMinValues,
    LinearCounting,
    LogLog,
    Majority,
    MinHash,
    MorrisCounter,
    NearDuplicateShare,
    NumberQuantiles,
    Panes,
    PrivateCountMean,
    ProbabilisticCounting,
    Protocol,
    RangeCountMin,
    Reservoir,
    RowSample,
    SampledCounter,
    TableProfile,
    Tally,
    UltraLogLog,
    WeightedReservoir,
)


def test_the_window_is_the_sketch_of_what_it_covers() -> None:
    generator = random.Random(2)
    events = [(generator.randrange(200), generator.randrange(-500, 500)) for _ in range(2000)]
    panes = Panes(ExactDistinct(keys="int"), 10, 7)
    late, now = 0, -1000
    for key, time in sorted(events, key=lambda event: event[1] + generator.randrange(100)):
        now = max(now, time)
        first, _ = panes.covered(now)
        assert panes.insert(key, time) == (time >= first)
        late += time < first
    first, last = panes.covered(now)
    kept = {key for key, time in events if first <= time <= last}
    assert panes.late == late > 0
    assert panes.merged(now).estimate().value <= len(kept)
    assert (last - first + 1, last // 10) == (70, now // 10)


def test_one_by_one_in_batches_and_by_time_are_the_same() -> None:
    times = [0, 1, 1, 25, 26, 3, 11, 40, 41, 12, 5]
    keys = [f"key {i}" for i in range(len(times))]
    one_by_one, batches, columns = (Panes(HyperLogLog(8), 10, 3) for _ in range(3))
    for key, time in zip(keys, times, strict=True):
        one_by_one.insert(key, time)
        batches.insert_batch([key], time)
    columns.insert_batch(keys, times)
    assert one_by_one == batches == columns and columns.late == 2
    for values, of in (
        (pa.array(keys), np.array(times)),
        (np.array(keys), pa.array(times)),
        (iter(keys), iter(times)),
    ):
        other = Panes(HyperLogLog(8), 10, 3)
        other.insert_batch(values, of)
        assert other == columns


def test_missing_values_are_skipped_with_their_times() -> None:
    panes, other = Panes(HyperLogLog(8), 10, 3), Panes(HyperLogLog(8), 10, 3)
    assert panes.insert_batch(["a", None, "b", ""], [0, 99, 15, 99]) == 2
    other.insert_batch(["a", "b"], [0, 15])
    assert panes == other
    numbers = Panes(DDSketch(0.01, 100), 10, 3)
    assert numbers.insert_batch([1.5, None, 2.5], [0, 99, 15]) == 1
    assert numbers.latest == (10, 19)


def test_times_and_values_are_as_many() -> None:
    panes = Panes(HyperLogLog(8), 10, 3)
    moments: Any = np.array(["2026-01-01"], "M8[s]")
    assert refused(panes.insert_batch, ["a"], moments).startswith("times: expected whole numbers of 64 bits")
    message = "number of times: expected 2, one for each value, found 1"
    assert refused(panes.insert_batch, ["a", "b"], [1]) == message
    assert panes.is_empty
    assert "number of times" in refused(panes.insert_batch, iter(["a", "b"]), [1])
    assert "number of times" in refused(panes.insert_batch, iter(["a", "b"]), [1, 2, 3])
    assert "time" in refused(panes.insert, "a", 2**63)
    with pytest.raises(TypeError):
        panes.insert("a", 1.5)  # type: ignore[arg-type]


def test_rings_merge_pane_by_pane() -> None:
    times = np.arange(100)
    north, south, both = (Panes(HyperLogLog(8), 10, 5) for _ in range(3))
    north.insert_batch(times[:60], times[:60])
    south.insert_batch(times[40:], times[40:])
    both.insert_batch(times, times)
    assert (north | south) == both
    assert [times for times, _ in both.panes()] == [(50, 59), (60, 69), (70, 79), (80, 89), (90, 99)]
    assert all(sketch.estimate().value == 10 for _, sketch in both.panes())
    for wrong in (Panes(HyperLogLog(8), 11, 5), Panes(HyperLogLog(8), 10, 6), Panes(ExactDistinct(), 10, 5)):
        with pytest.raises((IncompatibleError, DecodeError)):
            north.merge(wrong)


def test_the_clock_is_the_caller_s() -> None:
    panes = Panes.for_window(HyperLogLog(8), window=100, panes=10)
    assert (panes.pane_width, panes.pane_count, panes.latest) == (10, 11, None)
    panes.insert("a", 5)
    panes.advance(114)
    assert panes.merged(114).estimate().value == 0 and panes.is_empty
    assert panes.latest == (110, 119)
    with pytest.raises(InvalidParameterError, match="now"):
        panes.covered(0)
    assert panes.empty() == HyperLogLog(8)
    assert repr(panes) == "<Panes of HyperLogLog, pane_width=10, panes=11: 0 used>"
    assert (panes.keys, panes.seed) == ("text", 0)


def test_counters_count_in_panes() -> None:
    for counter in (SampledCounter(1.0), MorrisCounter(1.1, 8, seed=3)):
        panes = Panes(counter, 60, 10)
        assert panes.add(1000, 30) and panes.add(500, 90)
        assert 1500 in panes.merged(90).estimate(confidence=1 - 1e-9)
        with pytest.raises(KeyTypeError):
            panes.insert_hashes([5], 30)
    with pytest.raises(KeyTypeError, match="merge_at"):
        Panes(HyperLogLog(8), 60, 10).add(5, 30)


# An empty sketch of the same settings as each sample.
EMPTY: dict[str, Callable[[], Any]] = {
    "HyperLogLog, dense": lambda: HyperLogLog(6, seed=7),
    "ExactDistinct": lambda: ExactDistinct(),
    "LinearCounting": lambda: LinearCounting(1000, keys="int", seed=9),
    "KMinValues, sampling": lambda: KMinValues(30),
    "ProbabilisticCounting": lambda: ProbabilisticCounting(seed=5),
    "LogLog": lambda: LogLog(6),
    "UltraLogLog, dense": lambda: UltraLogLog(6, seed=7),
    "SampledCounter": lambda: SampledCounter(0.25, seed=9),
    "MorrisCounter": lambda: MorrisCounter(1.084, 8, seed=9),
    "CounterArray": lambda: CounterArray(31, 1.5, 4, seed=9),
    "DirectTable": lambda: DirectTable(1000, seed=7),
    "Bloom": lambda: Bloom.for_items(100, 0.01, seed=2**64 - 1),
    "BlockedBloom": lambda: BlockedBloom.for_items(100, 0.01),
    "CountingBloom, 32 bits": lambda: CountingBloom(100, 2, 32),
    "CountMin": lambda: CountMin(20, 4, seed=7),
    "RangeCountMin": lambda: RangeCountMin(12, 5, 3),
    "Majority": lambda: Majority(),
    "HeavyHitters, exact": lambda: HeavyHitters(100),
    "Reservoir": lambda: Reservoir(10, seed=9, keys="int", key_seed=5),
    "WeightedReservoir": lambda: WeightedReservoir(10, seed=9),
    "MinHash": lambda: MinHash(50, seed=3),
    "DDSketch": lambda: DDSketch(0.05, 100),
    "ColumnProfile": small_profile,
    "PrivateCountMean": lambda: PrivateCountMean(Protocol(2.0, 3, 9, seed=4)),
    "NumberQuantiles": lambda: NumberQuantiles(8, seed=7),
    "DistinctGrowth": lambda: DistinctGrowth(30),
    "NearDuplicateShare": lambda: NearDuplicateShare(64),
    "RowSample": lambda: RowSample(10, seed=7),
    "KeyQuantiles": lambda: KeyQuantiles(8, seed=7, keys="int"),
    "Tally": lambda: Tally(),
}
TOSSING = (
    SampledCounter,
    MorrisCounter,
    CounterArray,
    Reservoir,
    WeightedReservoir,
    ColumnProfile,
    NumberQuantiles,
    KeyQuantiles,
)


def test_every_class_is_among_them() -> None:
    never = {Panes, Groups, CombinedFilter, TableProfile, BinaryFuse}  # containers, and what cannot be merged
    classes = {type(make()) for make in SAMPLES.values()} - never
    assert {type(make()) for make in EMPTY.values()} == classes
    assert all(type(EMPTY[name]()) is type(SAMPLES[name]()) for name in EMPTY)


@pytest.mark.parametrize("name", EMPTY)
def test_every_sketch_can_be_in_a_ring(name: str) -> None:
    sketch, empty = SAMPLES[name](), EMPTY[name]()
    panes = Panes(empty, 10, 3)
    assert panes.merge_at(sketch, 5) and not panes.merge_at(sketch, -100)
    merged = panes.merged(5)
    assert type(merged) is type(sketch)
    if not isinstance(sketch, TOSSING):
        assert merged == empty | sketch
    assert type(panes.empty()) is type(sketch)
    assert Panes.from_bytes(bytes(panes)) == panes


def test_what_cannot_be_in_a_ring_is_refused() -> None:
    full = HyperLogLog(8)
    full.insert("a")
    assert "an empty one" in refused(Panes, full, 10, 3)
    assert "no container" in refused(Panes, Panes(HyperLogLog(8), 10, 3), 10, 3)
    for wrong in (None, 3, "text", HyperLogLog):
        with pytest.raises(TypeError):
            Panes(wrong, 10, 3)
    assert refused(Panes, HyperLogLog(8), 0, 3).startswith("pane_width: expected 1 to")
    assert refused(Panes, HyperLogLog(8), 1, 0) == "panes: expected 1 to 65536, found 0"
    panes = Panes(CountMin(8, 2, conservative=True), 10, 3)
    panes.insert_batch(["a"], 5)
    with pytest.raises(IncompatibleError):
        Panes(HyperLogLog(8), 10, 3).merge_at(HyperLogLog(8, seed=1), 5)
    ring = Panes(HyperLogLog(8), 10, 3)
    assert ring.merge_at(HyperLogLog(9), 5) and Panes.from_bytes(bytes(ring)) == ring
    assert "settings of the panes" in refused(ring.merge_at, HyperLogLog(7), 5)
    with pytest.raises(DecodeError) as caught:
        ring.merge_at(ExactDistinct(), 5)
    assert caught.value.kind == "wrong_family"
    with pytest.raises(KeyTypeError, match="a hash"):
        Panes(HyperLogLog(8, keys="hash"), 10, 3).insert("a", 5)
    with pytest.raises(KeyTypeError, match="merge_at"):
        Panes(WeightedReservoir(5), 10, 3).insert_batch(["a"], 5)
