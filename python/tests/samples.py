"""One sketch of every class, and of every state that is told apart, for tests that hold for all.

A new class adds its lines here; `test_sketches.py` fails as long as it has none.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

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
    TableProfile,
    Tally,
    UltraLogLog,
    WeightedReservoir,
    profile,
)

WORDS = [f"word {i}" for i in range(300)]


def of(sketch: Any, values: Any) -> Any:
    sketch.insert_batch(values)
    return sketch


def removed() -> CountingBloom:
    filter = CountingBloom(300, 3, 4, keys="int", seed=3)
    filter.insert_batch(range(60))
    filter.remove_batch(range(30))
    return filter


def events(counter: Any, number: int) -> Any:
    counter.add(number)
    return counter


def array() -> CounterArray:
    counters = CounterArray(31, 1.5, 4, seed=7)
    counters.increment_batch(range(31))
    return counters


def weighted(sample: WeightedReservoir, values: list[str]) -> WeightedReservoir:
    sample.insert_batch(values, range(len(values)))
    return sample


def filters() -> tuple[Bloom, BlockedBloom]:
    return of(Bloom.for_items(100, 0.01), WORDS[:100]), of(BlockedBloom.for_items(300, 0.01), WORDS[50:])


def grouped(groups: Groups) -> Groups:
    for start, group in enumerate(["a", "b", "ç"]):
        groups.insert_batch(group, WORDS[start * 90 :])
    return groups


def placed(sample: RowSample) -> RowSample:
    for place, word in enumerate(WORDS):
        sample.insert(place, word.encode())
    return sample


def small_profile() -> ColumnProfile:
    return ColumnProfile(precision=4, counters=5, sample=3, bins=20, longest=8, sample_seed=7)


def window(panes: Panes) -> Panes:
    panes.insert_batch(WORDS[:40], range(40))
    return panes


def report(answers: PrivateCountMean, keys: list[str]) -> PrivateCountMean:
    client = PrivateClient.with_predictable_coins(answers.protocol, 1e9, 7)
    for key in keys:
        answers.insert(client.encode(key))
    return answers


SAMPLES: dict[str, Callable[[], Any]] = {
    "HyperLogLog, empty": lambda: HyperLogLog(6),
    "HyperLogLog, exact": lambda: of(HyperLogLog(8), WORDS[:10]),
    "HyperLogLog, dense": lambda: of(HyperLogLog(6, seed=7), WORDS),
    "ExactDistinct": lambda: of(ExactDistinct(), WORDS[:50]),
    "LinearCounting": lambda: of(LinearCounting(1000, keys="int", seed=9), range(200)),
    "KMinValues, exact": lambda: of(KMinValues(100), WORDS[:50]),
    "KMinValues, sampling": lambda: of(KMinValues(30), WORDS),
    "ProbabilisticCounting": lambda: of(ProbabilisticCounting(seed=5), WORDS[:1]),
    "LogLog": lambda: of(LogLog(6), WORDS),
    "UltraLogLog, exact": lambda: of(UltraLogLog(8), WORDS[:10]),
    "UltraLogLog, dense": lambda: of(UltraLogLog(6, seed=7), WORDS),
    "SampledCounter": lambda: events(SampledCounter(0.25, seed=1), 1000),
    "MorrisCounter": lambda: events(MorrisCounter(1.084, 8, seed=2), 100_000),
    "CounterArray": array,
    "Tally, empty": lambda: Tally(),
    "Tally": lambda: of(Tally(), [0.1, -5, 1e300, None]),
    "DirectTable": lambda: of(DirectTable(1000, seed=7), range(0, 1000, 7)),
    "Bloom, empty": lambda: Bloom(300, 3),
    "Bloom": lambda: of(Bloom.for_items(100, 0.01, seed=2**64 - 1), WORDS[:100]),
    "BlockedBloom": lambda: of(BlockedBloom.for_items(100, 0.01), WORDS[:100]),
    "BinaryFuse, empty": lambda: BinaryFuse([]),
    "BinaryFuse": lambda: BinaryFuse(WORDS[:100], seed=7),
    "CountingBloom, 4 bits": removed,
    "CountingBloom, 32 bits": lambda: of(CountingBloom(100, 2, 32), WORDS),
    "CombinedFilter, union": lambda: CombinedFilter.union(*filters()),
    "CombinedFilter, intersection": lambda: CombinedFilter.intersection(*filters()),
    "CountMin": lambda: of(CountMin(20, 4, seed=7), WORDS),
    "RangeCountMin": lambda: of(RangeCountMin(12, 5, 3), range(0, 3000, 7)),
    "Majority, none": lambda: Majority(keys="int", seed=2),
    "Majority": lambda: of(Majority(), ["a", "b", "a"]),
    "HeavyHitters, exact": lambda: of(HeavyHitters(100), WORDS[:30] + WORDS[:10]),
    "HeavyHitters, purged": lambda: of(HeavyHitters(20, keys="int"), [*range(300), *range(9)]),
    "Reservoir, filling": lambda: of(Reservoir(100, seed=1), WORDS[:20]),
    "Reservoir": lambda: of(Reservoir(10, seed=1, keys="int", key_seed=5), range(1000)),
    "WeightedReservoir, filling": lambda: weighted(WeightedReservoir(100, seed=2), WORDS[:20]),
    "WeightedReservoir": lambda: weighted(WeightedReservoir(10, seed=2), WORDS),
    "MinHash, empty": lambda: MinHash(20),
    "MinHash": lambda: of(MinHash(50, seed=3), WORDS[:80]),
    "DDSketch, empty": lambda: DDSketch(0.01, 100),
    "DDSketch": lambda: of(DDSketch(0.05, 100), range(-20, 50)),
    "DDSketch, joined": lambda: of(DDSketch(0.01, 16), [2.5**i for i in range(40)]),
    "ColumnProfile, empty": lambda: small_profile(),
    "ColumnProfile": lambda: of(small_profile(), [None, *range(-20, 20), "text", 1.5]),
    "NumberQuantiles, exact": lambda: of(NumberQuantiles(64, seed=7), range(50)),
    "NumberQuantiles": lambda: of(NumberQuantiles(8, seed=7), range(-500, 500)),
    "KeyQuantiles, exact": lambda: of(KeyQuantiles(64, seed=7), WORDS[:50]),
    "KeyQuantiles": lambda: of(KeyQuantiles(8, seed=7, keys="int"), range(-500, 500)),
    "Groups, empty": lambda: Groups(HyperLogLog(8), fields=2),
    "Groups": lambda: grouped(Groups(HyperLogLog(8, seed=2))),
    "Groups of counts": lambda: grouped(Groups(CountMin(20, 4))),
    "DistinctGrowth": lambda: of(DistinctGrowth(30), WORDS),
    "NearDuplicateShare": lambda: of(NearDuplicateShare(64), [f"{w} in a text of some words" for w in WORDS]),
    "TableProfile": lambda: profile({"n": ["1", None, "x"], "m": [1, 2, 2]}, memory=1 << 16),
    "RowSample": lambda: placed(RowSample(10, seed=7)),
    "Panes, empty": lambda: Panes(HyperLogLog(8), 10, 3),
    "Panes": lambda: window(Panes(HyperLogLog(8, seed=2), 10, 3)),
    "Panes of samples": lambda: window(Panes(Reservoir(2, seed=2), 10, 3)),
    "PrivateCountMean, empty": lambda: PrivateCountMean(Protocol(2.0, 3, 9)),
    "PrivateCountMean": lambda: report(PrivateCountMean(Protocol(2.0, 3, 9, seed=4)), WORDS[:20]),
}


def insert_something(sketch: Any) -> None:
    """Changes the sketch, whatever it is."""
    if isinstance(sketch, CounterArray):
        sketch.add(3, 1_000_000)
    elif isinstance(sketch, SampledCounter | MorrisCounter):
        sketch.add(1_000_000)
    elif isinstance(sketch, WeightedReservoir):
        sketch.insert_batch(range(900, 1000), np.full(100, 1e6))
    elif isinstance(sketch, Groups):
        sketch.insert_batch("another", WORDS[:5])
    elif isinstance(sketch, Panes):
        sketch.insert_batch(range(900, 1000), 35)
    elif isinstance(sketch, PrivateCountMean):
        report(sketch, WORDS)
    elif isinstance(sketch, TableProfile):
        sketch.merge(profile({"n": [7], "other": ["y"]}, memory=1 << 16))
    elif isinstance(sketch, RowSample):
        sketch.insert(2**40, b"another")
    elif isinstance(sketch, NearDuplicateShare):
        sketch.insert("another text that has a few words and is long enough")
    else:
        sketch.insert_batch(range(900, 1000))
