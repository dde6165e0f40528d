"""Which value has that rank? NumberQuantiles."""

from __future__ import annotations

import math
import pickle
import random

import pytest

import crivo
from crivo import IncompatibleError, NumberQuantiles


def shuffled(count: int) -> list[float]:
    values = [float(i) for i in range(count)]
    random.Random(1).shuffle(values)
    return values


def test_few_numbers_are_answered_exactly() -> None:
    sketch = NumberQuantiles(200)
    assert sketch.is_empty and sketch.quantile(0.5) is None and sketch.rank(3) is None
    assert sketch.insert_batch([3, None, 1.5, -2, math.nan]) == 1
    sketch.insert(10)
    sketch.add(4, 2)
    assert (sketch.count, sketch.not_a_number, sketch.min, sketch.max) == (6, 1, -2, 10)
    median = sketch.quantile(0.5)
    assert median is not None and (float(median), median.lower, median.upper) == (3.0, 3.0, 3.0)
    rank = sketch.rank(4)
    assert rank is not None and float(rank) == pytest.approx(5 / 6)
    assert float(sketch.count_below(4)) == 3
    assert sketch.is_exact and sketch.standard_error == 0


@pytest.mark.parametrize("accuracy", ["uniform", "tails"])
def test_bounds_hold_and_bytes_come_back(accuracy: str) -> None:
    sketch = NumberQuantiles.for_error(0.02, accuracy=accuracy, seed=7)
    sketch.insert_batch(shuffled(50_000))
    other = NumberQuantiles(sketch.size, accuracy=accuracy, seed=8)
    other.insert_batch([float(i) for i in range(50_000, 60_000)])
    sketch.merge(other)
    assert (sketch.count, sketch.accuracy, sketch.is_exact) == (60_000, accuracy, False)
    # The coins are fixed, so that what holds once holds always.
    for share, answer in zip([0.1, 0.5, 0.9], sketch.quantiles([0.1, 0.5, 0.9]), strict=True):
        assert answer is not None and share * 60_000 - 1 in answer
    assert NumberQuantiles.from_bytes(bytes(sketch)) == sketch
    assert crivo.decode(bytes(sketch)) == sketch
    assert pickle.loads(pickle.dumps(sketch)) == sketch
    assert "60000 numbers" in repr(sketch)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="size"):
        NumberQuantiles(7)
    with pytest.raises(ValueError, match="accuracy"):
        NumberQuantiles(8, accuracy="sharp")
    with pytest.raises(ValueError, match="error"):
        NumberQuantiles.for_error(0.9)
    with pytest.raises(IncompatibleError, match="size"):
        NumberQuantiles(8).merge(NumberQuantiles(16))
