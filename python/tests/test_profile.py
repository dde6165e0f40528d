"""What is in this column? DDSketch and ColumnProfile."""

import math
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from columns import columns_of, refused, with_gaps
from test_threads import lets_others_run

from crivo import ColumnProfile, DDSketch, HeavyHitters, IncompatibleError, KeyTypeError

GENERATOR = random.Random(3)
NUMBERS = [GENERATOR.lognormvariate(2, 3) * GENERATOR.choice([1, 1, 1, -1]) for _ in range(3000)]


def of(values: Any, error: float = 0.01) -> DDSketch:
    sketch = DDSketch.for_bound(error)
    sketch.insert_batch(values)
    return sketch


def test_quantiles_are_within_the_error_of_the_truth() -> None:
    ordered = sorted(NUMBERS)
    for error in (0.001, 0.01, 0.2):
        sketch = of(NUMBERS, error)
        assert sketch.relative_error == sketch.accuracy == error
        shares = [i / 97 for i in range(98)]
        for share, quantile in zip(shares, sketch.quantiles(shares), strict=True):
            truth = ordered[max(math.ceil(share * len(ordered)) - 1, 0)]
            assert quantile is not None and quantile.certain
            assert truth in quantile and abs(quantile.value - truth) <= error * abs(truth) * (1 + 1e-9)
            assert quantile == sketch.quantile(share)


def test_what_is_exact_is_exact() -> None:
    sketch = of([*NUMBERS, 0.0, -0.0])
    assert (sketch.count, sketch.zeros, sketch.not_finite) == (3002, 2, 0)
    assert (sketch.min, sketch.max) == (min(NUMBERS), max(NUMBERS))
    exact = sum(map(Fraction, NUMBERS))
    assert sketch.sum == float(exact)
    assert sketch.mean == pytest.approx(float(exact / 3002), rel=1e-15)
    for limit in (-100, 0, 1, 50):
        assert sum(number < limit for number in [*NUMBERS, 0, 0]) in sketch.count_below(limit)


def test_an_empty_sketch_has_no_numbers() -> None:
    sketch = DDSketch(0.01, 100)
    assert sketch.is_empty and sketch.quantile(0.5) is None
    assert sketch.min is None and sketch.max is None and sketch.mean is None
    assert of([1]).quantile(2) is None and of([1]).quantile(math.nan) is None


def test_every_kind_of_column_gives_the_same_sketch() -> None:
    integers = [i * 7 - 50 for i in range(100)]
    assert all(of(column) == of(integers) for column in columns_of(integers))
    halves = [i / 2 for i in range(-100, 100)]
    array = np.array(halves)
    for column in (
        array,
        array.astype("f4"),
        array.astype("f2"),
        array[::-1],
        pa.array(halves),
        pl.Series(halves),
    ):
        assert of(column) == of(halves)
    for kind in (
        pa.float32(),
        pa.float16(),
        pa.int8(),
        pa.uint8(),
        pa.int16(),
        pa.uint16(),
        pa.uint32(),
        pa.uint64(),
    ):
        assert of(pa.array(np.arange(100), pa.int64()).cast(kind)) == of(range(100))
    one_by_one = DDSketch.for_bound(0.01)
    for number in halves:
        one_by_one.insert(number)
    assert one_by_one == of(halves)


def test_missing_values_are_skipped_and_counted() -> None:
    column = with_gaps([i / 4 for i in range(500)], 1)
    missing = column.count(None)
    filled = [0.5 if value is None else value for value in column]
    masked = np.ma.MaskedArray(filled, [value is None for value in column])
    objects = np.array(column, dtype=object)
    for values in (column, iter(column), pa.array(column), pl.Series(column), masked, objects):
        sketch = DDSketch.for_bound(0.01)
        assert sketch.insert_batch(values) == missing
        assert sketch == of([i / 4 for i in range(500)])
    nullable = pd.Series([1, None, 3], dtype="Int64")
    assert DDSketch.for_bound(0.01).insert_batch(nullable) == 1
    assert DDSketch.for_bound(0.01).insert_batch(pa.nulls(5)) == 5


def test_nan_is_not_missing_but_not_finite() -> None:
    for column in (
        [1.0, math.nan, math.inf],
        np.array([1.0, math.nan, math.inf]),
        pa.array([1.0, math.nan, math.inf]),
    ):
        sketch = DDSketch.for_bound(0.01)
        assert sketch.insert_batch(column) == 0
        assert (sketch.count, sketch.not_finite, sketch.max) == (1, 2, 1.0)


def test_what_is_no_number_is_refused_with_its_position() -> None:
    sketch = DDSketch.for_bound(0.01)
    with pytest.raises(
        KeyTypeError, match="value 2: key: expected a number, found str '3'; the values before it"
    ):
        sketch.insert_batch([1, 2, "3"])  # type: ignore[list-item]
    assert sketch.count == 2
    wrong: Any
    for wrong in ("12", 3, np.array(["a"]), pa.array(["a"]), np.ones((2, 2)), [True], [object()]):
        with pytest.raises(KeyTypeError):
            sketch.insert_batch(wrong)
    for wrong in (None, "1", True):
        with pytest.raises(KeyTypeError):
            sketch.insert(wrong)
    assert "max_bins" in refused(DDSketch, 0.01, 3)
    assert "relative error" in refused(DDSketch, 0.9, 100)
    with pytest.raises(IncompatibleError):
        DDSketch(0.01, 100).merge(DDSketch(0.02, 100))


def test_merge_equals_the_joined_stream() -> None:
    assert of(NUMBERS[:1000]) | of(NUMBERS[1000:]) == of(NUMBERS)
    joined = DDSketch(0.01, 16)
    joined.insert_batch(NUMBERS)
    assert joined.is_collapsed and joined.relative_error > 0.01 and joined.bins <= 16
    weighted = DDSketch.for_bound(0.01)
    for number, weight in Counter(i % 7 for i in range(100)).items():
        weighted.add(number, weight)
    assert weighted == of([i % 7 for i in range(100)])


def profile(values: Any, **named: Any) -> ColumnProfile:
    column = ColumnProfile(**named)
    column.insert_batch(values)
    return column


def test_a_profile_says_what_a_list_says() -> None:
    values = [GENERATOR.randrange(-500, 500) for _ in range(5000)]
    column = profile(values)
    assert (column.column_type, column.rows, column.values, column.missing) == ("integer", 5000, 5000, 0)
    assert (column.min(), column.max(), column.sum()) == (min(values), max(values), sum(values))
    assert column.mean() == pytest.approx(sum(values) / 5000, rel=1e-15)
    assert len(set(values)) in column.distinct(confidence=1 - 1e-9)
    median = column.quantile(0.5)
    assert median is not None and sorted(values)[2499] in median
    counts = Counter(map(str, values))
    for hitter in column.top(5):
        assert hitter.lower <= counts[str(hitter.key)] <= hitter.upper
    assert set(map(str, column.sample())) <= set(counts) and len(column.sample()) == 100
    lengths = [len(str(value)) for value in values]
    assert column.lengths() == (min(lengths), sum(lengths) / 5000, max(lengths))
    assert not column.could_be_key() and profile(range(5000)).could_be_key()
    assert column.numbers() == of_numbers(values)
    assert isinstance(column.heavy_hitters(), HeavyHitters) and column.heavy_hitters().total == 5000


def of_numbers(values: list[int]) -> DDSketch:
    sketch = DDSketch(0.01, 2048)
    sketch.insert_batch(values)
    return sketch


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([None], "empty"),
        ([True, False], "boolean"),
        ([1, 2], "integer"),
        ([1, 2.5], "float"),
        (["2024-02-29"], "date"),
        (["2024-02-29", "2024-02-29T12:00:00Z"], "timestamp"),
        (["a", 1], "text"),
        (np.arange("2026-01-01", "2026-02-01", dtype="M8[D]"), "date"),
        (pa.array([1.5, None]), "float"),
    ],
)
def test_types_are_found(values: Any, kind: str) -> None:
    assert profile(values).column_type == kind


def test_missing_values_are_rows() -> None:
    values = [1, None, 3.5, "", "x", float("nan")]
    for column in (values, iter(values), np.array(values, dtype=object)):
        found = ColumnProfile()
        assert found.insert_batch(column) == 3
        assert (found.rows, found.missing, found.values) == (6, 3, 3)
        assert [found.count_of(kind) for kind in ("integer", "float", "text", "date")] == [1, 1, 1, 0]
    found.add_missing(10)
    assert found.missing == 13
    with pytest.raises(KeyTypeError):
        found.insert(None)  # type: ignore[arg-type]
    assert "kind" in refused(found.count_of, "words")


def test_every_kind_of_column_gives_the_same_profile() -> None:
    integers = [i * 7 for i in range(100)]
    assert all(profile(column) == profile(integers) for column in columns_of(integers))


def test_profiles_of_parts_merge() -> None:
    values = [str(i % 800) for i in range(3000)]
    whole = profile(values[:1000], sample_seed=1) | profile(values[1000:], sample_seed=2)
    expected = profile(values)
    assert whole.distinct() == expected.distinct() and whole.numbers() == expected.numbers()
    assert (whole.rows, whole.min(), whole.max(), whole.sum()) == (3000, 0, 799, expected.sum())
    with pytest.raises(IncompatibleError, match="counters"):
        profile([]).merge(profile([], counters=7))


def test_profiles_stay_within_their_memory() -> None:
    for memory in (16 << 10, 100_000, 1 << 20):
        column = ColumnProfile.for_memory(memory, seed=5)
        column.insert_batch([GENERATOR.randbytes(20).hex() for _ in range(5000)])
        assert column.memory <= memory and column.seed == 5
        again = ColumnProfile(**column.config, seed=5)  # type: ignore[arg-type]
        assert again.config == column.config
    assert refused(ColumnProfile.for_memory, 1000) == "memory: expected at least 16384 bytes, found 1000"
    assert "precision" in refused(ColumnProfile, precision=40)
    assert "longest" in refused(ColumnProfile, longest=1)
    assert "bins" in refused(ColumnProfile, bins=-1)


def test_long_values_are_cut() -> None:
    column = profile(["x" * 100, "á" * 100], longest=9)
    assert column.long == 2 and column.top(3) == []
    assert sorted(map(str, column.sample())) == ["x" * 9, "á" * 4]
    assert column.majority() is None and profile(["a", "a", "b"]).majority().key == "a"  # type: ignore[union-attr]


def test_python_runs_meanwhile() -> None:
    numbers = np.random.default_rng(1).normal(size=1_000_000)
    assert lets_others_run(lambda: of(numbers))
    assert lets_others_run(lambda: profile(pa.array(numbers[:200_000])))
