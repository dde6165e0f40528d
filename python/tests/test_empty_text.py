"""Empty text is missing from a column, as a CSV field cannot tell the two apart, but is a key by itself."""

from collections.abc import Callable
from typing import Any

import pytest
from test_sketches import CLASSES

import crivo
from crivo.interchange import Hll, Theta

SKETCHES: dict[type, Callable[[], Any]] = {
    crivo.BlockedBloom: lambda: crivo.BlockedBloom.for_items(100, 0.01),
    crivo.Bloom: lambda: crivo.Bloom(300, 3),
    crivo.ColumnProfile: crivo.ColumnProfile,
    crivo.CountMin: lambda: crivo.CountMin(20, 4),
    crivo.CountingBloom: lambda: crivo.CountingBloom(300, 3),
    crivo.ExactDistinct: crivo.ExactDistinct,
    crivo.HeavyHitters: lambda: crivo.HeavyHitters(20),
    crivo.HyperLogLog: lambda: crivo.HyperLogLog(6),
    crivo.KMinValues: lambda: crivo.KMinValues(30),
    crivo.KeyQuantiles: lambda: crivo.KeyQuantiles(8),
    crivo.LinearCounting: lambda: crivo.LinearCounting(1000),
    crivo.LogLog: lambda: crivo.LogLog(6),
    crivo.Majority: crivo.Majority,
    crivo.MinHash: lambda: crivo.MinHash(20),
    crivo.Panes: lambda: crivo.Panes(crivo.HyperLogLog(8), 10, 3),
    crivo.ProbabilisticCounting: crivo.ProbabilisticCounting,
    crivo.Reservoir: lambda: crivo.Reservoir(3),
    crivo.UltraLogLog: lambda: crivo.UltraLogLog(6),
    crivo.WeightedReservoir: lambda: crivo.WeightedReservoir(3),
}
WITHOUT_TEXT = {
    crivo.BinaryFuse,  # it is built from a column
    crivo.CombinedFilter,  # it is made of filters
    crivo.CounterArray,
    crivo.DDSketch,
    crivo.DirectTable,
    crivo.DistinctGrowth,  # it takes rows beside values
    crivo.Groups,  # it takes groups beside values
    crivo.MorrisCounter,
    crivo.NearDuplicateShare,  # an empty text is no document
    crivo.NumberQuantiles,
    crivo.PrivateCountMean,  # it takes reports
    crivo.RangeCountMin,
    crivo.RowSample,  # it takes rows
    crivo.SampledCounter,
    crivo.TableProfile,  # it takes tables
    crivo.Tally,
}
each_sketch = pytest.mark.parametrize("cls", SKETCHES, ids=lambda cls: cls.__name__)


def insert(sketch: Any, key: str | bytes) -> Any:
    beside: dict[type, list[Any]] = {crivo.Panes: [5], crivo.WeightedReservoir: [1.0]}
    sketch.insert(key, *beside.get(type(sketch), []))
    return sketch


def insert_batch(sketch: Any, values: list[Any]) -> tuple[int, Any]:
    beside: dict[type, list[Any]] = {crivo.Panes: [5], crivo.WeightedReservoir: [[1.0] * len(values)]}
    return sketch.insert_batch(values, *beside.get(type(sketch), [])), sketch


def test_no_class_is_left_out() -> None:
    assert set(SKETCHES) | WITHOUT_TEXT == set(CLASSES)


@each_sketch
def test_by_itself_it_is_a_key(cls: type) -> None:
    one = insert(SKETCHES[cls](), "")
    assert bytes(one) != bytes(SKETCHES[cls]())
    assert bytes(one) == bytes(insert(SKETCHES[cls](), b""))
    if isinstance(one, crivo.ColumnProfile):
        assert (one.values, one.missing) == (1, 0)


@each_sketch
def test_in_a_column_it_is_missing_as_none_is(cls: type) -> None:
    skipped, column = insert_batch(SKETCHES[cls](), ["", "a", b"", None])
    assert skipped == 3
    assert (skipped, column) == insert_batch(SKETCHES[cls](), [None, "a", None, None])
    if isinstance(column, crivo.ColumnProfile):
        assert (column.values, column.missing) == (1, 3)
    else:
        assert (0, column) == insert_batch(SKETCHES[cls](), ["a"])


@pytest.mark.parametrize("cls", [Hll, Theta])
def test_other_systems_never_count_it(cls: type[Hll] | type[Theta]) -> None:
    sketch = cls()
    sketch.insert("")
    assert sketch.insert_batch(["", b""]) == 2
    assert sketch.is_empty
