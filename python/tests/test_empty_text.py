"""Empty text is missing from a column, as a CSV field cannot tell the two apart, but is a key by itself."""

from collections.abc import Callable
from typing import Any

import pytest
from test_sketches import CLASSES

from crivo import (
    BlockedBloom,
    Bloom,
    ColumnProfile,
    CounterArray,
    CountingBloom,
    CountMin,
    DDSketch,
    DirectTable,
    ExactDistinct,
    HeavyHitters,
    HyperLogLog,
    KMinValues,
    LinearCounting,
    LogLog,
    Majority,
    MinHash,
    MorrisCounter,
    Panes,
    PrivateCountMean,
    ProbabilisticCounting,
    RangeCountMin,
    Reservoir,
    SampledCounter,
    UltraLogLog,
    WeightedReservoir,
)
from crivo.interchange import Hll, Theta

SKETCHES: dict[type, Callable[[], Any]] = {
    BlockedBloom: lambda: BlockedBloom.for_items(100, 0.01),
    Bloom: lambda: Bloom(300, 3),
    ColumnProfile: ColumnProfile,
    CountMin: lambda: CountMin(20, 4),
    CountingBloom: lambda: CountingBloom(300, 3),
    ExactDistinct: ExactDistinct,
    HeavyHitters: lambda: HeavyHitters(20),
    HyperLogLog: lambda: HyperLogLog(6),
    KMinValues: lambda: KMinValues(30),
    LinearCounting: lambda: LinearCounting(1000),
    LogLog: lambda: LogLog(6),
    Majority: Majority,
    MinHash: lambda: MinHash(20),
    Panes: lambda: Panes(HyperLogLog(8), 10, 3),
    ProbabilisticCounting: ProbabilisticCounting,
    Reservoir: lambda: Reservoir(3),
    UltraLogLog: lambda: UltraLogLog(6),
    WeightedReservoir: lambda: WeightedReservoir(3),
}
WITHOUT_TEXT = {CounterArray, DDSketch, DirectTable, MorrisCounter, RangeCountMin, SampledCounter}
WITHOUT_TEXT |= {PrivateCountMean}  # it takes reports
each_sketch = pytest.mark.parametrize("cls", SKETCHES, ids=lambda cls: cls.__name__)


def insert(sketch: Any, key: str | bytes) -> Any:
    beside: dict[type, list[Any]] = {Panes: [5], WeightedReservoir: [1.0]}
    sketch.insert(key, *beside.get(type(sketch), []))
    return sketch


def insert_batch(sketch: Any, values: list[Any]) -> tuple[int, Any]:
    beside: dict[type, list[Any]] = {Panes: [5], WeightedReservoir: [[1.0] * len(values)]}
    return sketch.insert_batch(values, *beside.get(type(sketch), [])), sketch


def test_no_class_is_left_out() -> None:
    assert set(SKETCHES) | WITHOUT_TEXT == set(CLASSES)


@each_sketch
def test_by_itself_it_is_a_key(cls: type) -> None:
    one = insert(SKETCHES[cls](), "")
    assert bytes(one) != bytes(SKETCHES[cls]())
    assert bytes(one) == bytes(insert(SKETCHES[cls](), b""))
    if isinstance(one, ColumnProfile):
        assert (one.values, one.missing) == (1, 0)


@each_sketch
def test_in_a_column_it_is_missing_as_none_is(cls: type) -> None:
    skipped, column = insert_batch(SKETCHES[cls](), ["", "a", b"", None])
    assert skipped == 3
    assert (skipped, column) == insert_batch(SKETCHES[cls](), [None, "a", None, None])
    if isinstance(column, ColumnProfile):
        assert (column.values, column.missing) == (1, 3)
    else:
        assert (0, column) == insert_batch(SKETCHES[cls](), ["a"])


@pytest.mark.parametrize("cls", [Hll, Theta])
def test_other_systems_never_count_it(cls: type[Hll] | type[Theta]) -> None:
    sketch = cls()
    sketch.insert("")
    assert sketch.insert_batch(["", b""]) == 2
    assert sketch.is_empty
