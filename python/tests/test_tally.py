"""Tally: counts and sums that do not depend on the order."""

import math
import random

import numpy as np
import pytest

from crivo import InvalidParameterError, Tally


def of(values: object) -> Tally:
    tally = Tally()
    tally.insert_batch(values)  # type: ignore[arg-type]
    return tally


def test_the_sum_is_exact_and_rounded_once() -> None:
    generator = random.Random(1)
    values = [generator.uniform(-1, 1) * 10.0 ** generator.randrange(-200, 200) for _ in range(2_000)]
    tally = of(values)
    assert tally.sum == math.fsum(values)
    assert (tally.count, tally.numbers) == (2_000, 2_000)
    generator.shuffle(values)
    assert of(values) == tally
    assert of(values[:700]) | of(np.array(values[700:])) == tally


def test_what_is_no_finite_number_is_counted_and_not_added() -> None:
    tally = of([1.5, math.inf, math.nan, None, 2])
    assert (tally.count, tally.numbers, tally.sum, tally.mean) == (4, 2, 3.5, 1.75)
    tally.add(6)
    tally.insert(-3.5)
    assert (tally.count, tally.sum, tally.estimate().value) == (11, 0.0, 11.0)
    assert tally.estimate().certain
    assert repr(tally) == "<Tally: 11 events, 3 with a number, sum 0>"


def test_an_empty_tally_has_no_sum() -> None:
    tally = Tally()
    assert tally.is_empty and tally.sum is None and tally.mean is None
    with pytest.raises(InvalidParameterError, match="^events: expected 0 to"):
        tally.add(-1)
