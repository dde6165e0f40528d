"""Which value has that rank? NumberQuantiles and KeyQuantiles."""

from __future__ import annotations

import math
import pickle
import random

import pytest

import crivo
from crivo import IncompatibleError, KeyQuantiles, NumberQuantiles


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
    sketch = NumberQuantiles.for_bound(0.02, accuracy=accuracy, seed=7)
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
        NumberQuantiles.for_bound(0.9)
    with pytest.raises(IncompatibleError, match="size"):
        NumberQuantiles(8).merge(NumberQuantiles(16))


def test_few_keys_are_answered_exactly() -> None:
    names = KeyQuantiles(200)
    assert names.is_empty and names.quantile(0.5) is None and [names.min] == [None]
    assert names.insert_batch(["eva", None, "ana", "zoe"]) == 1
    names.insert("rui")
    names.add("zoe", 2)
    assert (names.count, names.min, names.max, names.is_exact) == (6, "ana", "zoe", True)
    assert names.quantiles([0, 0.5, 1]) == [("ana",) * 3, ("rui",) * 3, ("zoe",) * 3]
    assert names.count_below("rui").value == 2.0 and names.count_below("a").value == 0.0
    assert repr(names) == "<KeyQuantiles size=200, accuracy='uniform', keys='text': 6 keys>"
    names.insert(7)
    assert names.min == "7", "a number is its text among texts"


def test_integers_are_in_the_order_of_their_values() -> None:
    """One fixed seed; bounds at 95 % that hold here hold whenever the code is the same."""
    keys = list(range(-20_000, 20_000))
    random.Random(1).shuffle(keys)
    sketch = KeyQuantiles.for_bound(0.01, keys="int", seed=5)
    sketch.insert_batch(keys)
    quantile = sketch.quantile(0.25)
    assert quantile is not None
    value, lower, upper = quantile
    assert isinstance(lower, int) and isinstance(upper, int) and isinstance(value, int)
    assert lower <= -10_000 <= upper and abs(value + 10_000) < 0.02 * 40_000
    assert (sketch.min, sketch.max, sketch.keys) == (-20_000, 19_999, "int")
    assert 15_000 in sketch.count_below(-5_000)
    other = KeyQuantiles.for_bound(0.01, keys="int", seed=6, key_seed=1)
    with pytest.raises(IncompatibleError, match="^seed: expected"):
        sketch.merge(other)
    assert crivo.decode(bytes(sketch)) == pickle.loads(pickle.dumps(sketch)) == sketch
