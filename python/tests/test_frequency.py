"""CountMin and RangeCountMin: against Python's own counters, columns with weights, refusals."""

import inspect
import random
from collections import Counter
from math import e, exp, inf
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference
from columns import columns_of, columns_of_text, columns_with_gaps, refused, with_gaps

from crivo import CountMin, HeavyHitters, IncompatibleError, KeyTypeError, Majority, RangeCountMin

WORDS = [f"user{i}" for i in range(500)]
STREAM = random.Random(1).choices(WORDS, weights=range(1, 501), k=20_000)
EXACT = Counter(STREAM)


def counted(values: Any, **arguments: Any) -> CountMin:
    sketch = CountMin(2719, 5, **arguments)
    sketch.insert_batch(values)
    return sketch


# ---- one by one, in columns, with weights: the same for every sketch of frequencies ----

WEIGHTED: dict[str, Any] = {
    "CountMin": lambda keys: CountMin(50, 4, keys=keys),
    "CountMin, conservative": lambda keys: CountMin(50, 4, conservative=True, keys=keys),
    "RangeCountMin": lambda keys: RangeCountMin(12, 20, 3),
    "Majority": lambda keys: Majority(keys=keys),
    "HeavyHitters": lambda keys: HeavyHitters(40, keys=keys),
}
each_weighted = pytest.mark.parametrize("name", WEIGHTED)


@each_weighted
@pytest.mark.parametrize("keys", ["text", "int"])
def test_one_by_one_and_every_batch_give_the_same_bytes(name: str, keys: str) -> None:
    values = [i * i % 701 for i in range(1500)]
    one_by_one = WEIGHTED[name](keys)
    for value in values:
        one_by_one.insert(value)
    for column in columns_of(values):
        if not isinstance(column, dict):  # which has each key once
            sketch = WEIGHTED[name](keys)
            assert sketch.insert_batch(column) == 0
            assert sketch == one_by_one, type(column)


@each_weighted
@pytest.mark.parametrize("keys", ["text", "int"])
def test_weights_belong_to_the_values_at_their_places(name: str, keys: str) -> None:
    values = with_gaps([i * i % 701 for i in range(1500)], seed=3)
    weights = [random.Random(i).randrange(1000) for i in range(len(values))]
    one_by_one = WEIGHTED[name](keys)
    for value, weight in zip(values, weights, strict=True):
        if value is not None:
            one_by_one.add(value, weight)
    missing = values.count(None)
    for column in columns_with_gaps(values, 0):
        sketch = WEIGHTED[name](keys)
        assert sketch.add_batch(column, weights) == missing
        assert sketch == one_by_one, type(column)
    numbers = np.array(weights)
    columns: list[Any] = [tuple(weights), iter(weights), numbers, numbers.astype("u2"), pl.Series(weights)]
    columns += [pa.array(weights), pd.Series(weights), np.repeat(numbers, 2)[::2], numbers.astype(">i4")]
    for column in columns:
        sketch = WEIGHTED[name](keys)
        sketch.add_batch(values, column)
        assert sketch == one_by_one, type(column)


@each_weighted
def test_weights_that_do_not_fit_are_refused_before_anything_is_added(name: str) -> None:
    sketch = WEIGHTED[name]("int")
    for values in ([1, 2, 3], np.arange(3), pa.array([1, None, 2])):
        expected = "number of weights: expected 3, one for each value, found 2"
        assert refused(sketch.add_batch, values, [1, 1]) == expected
    for wrong in (-1, 2**64):
        assert refused(sketch.add_batch, [1], [wrong]) == f"weight: expected 0 to 2^64 - 1, found {wrong}"
        assert refused(sketch.add, 1, wrong) == f"weight: expected 0 to 2^64 - 1, found {wrong}"
    assert refused(sketch.add_batch, [1, 2], np.array([3, -5])) == "weight: expected 0 or more, found -5"
    for array in (np.array([1.0]), np.array([True]), np.array(["1"]), pa.array([1, None])):
        assert refused(sketch.add_batch, [1] * len(array), array).startswith("weights: expected whole")
    assert refused(sketch.add_batch, [1, 2], np.ones((1, 2), "i8")).startswith("weights: expected whole")
    for wrong_type in (1.5, "1", None):
        with pytest.raises(TypeError):
            sketch.add_batch([1], [wrong_type])
    assert sketch.is_empty
    assert sketch.add_batch([], []) == sketch.add_batch([], np.array([])) == 0


@each_weighted
def test_an_iterator_s_weights_are_counted_at_its_end(name: str) -> None:
    sketch = WEIGHTED[name]("int")
    expected = "number of weights: expected 5000, one for each value, found 5001"
    assert refused(sketch.add_batch, iter([7] * 5000), [1] * 5001) == expected
    assert sketch.total == 5000
    fewer = refused(sketch.add_batch, iter([7] * 5000), [1] * 4999)
    assert fewer == "number of weights: expected more, one for each value, found 4999"


@each_weighted
def test_totals_stop_at_the_largest_number(name: str) -> None:
    sketch = WEIGHTED[name]("int")
    sketch.add(1, 2**64 - 2)
    assert (sketch.total, sketch.is_saturated) == (2**64 - 2, False)
    sketch.add(1, 5)
    assert (sketch.total, sketch.is_saturated) == (2**64 - 1, True)
    assert sketch.frequency(1).upper == inf


# ---- CountMin ----


def test_a_wide_sketch_counts_as_a_counter_does() -> None:
    sketch = counted(STREAM)
    assert sketch.total == 20_000
    for word in [*WORDS, "stranger"]:
        answer = sketch.frequency(word)
        assert EXACT[word] in answer
        assert answer.value - EXACT[word] <= sketch.margin() == int(e / 2719 * 20_000)
    assert sketch.frequency("stranger").certain
    asked = [*WORDS, "stranger"]
    assert sketch.frequencies(asked).tolist() == [sketch.frequency(word).value for word in asked]


def test_conservative_answers_are_between_the_truth_and_the_plain_ones() -> None:
    plain, close = (CountMin(100, 4, conservative=conservative) for conservative in (False, True))
    for sketch in (plain, close):
        sketch.insert_batch(STREAM)
    truth = np.array([EXACT[word] for word in WORDS])
    assert (truth <= close.frequencies(WORDS)).all()
    assert (close.frequencies(WORDS) <= plain.frequencies(WORDS)).all()
    assert close.frequencies(WORDS).sum() < plain.frequencies(WORDS).sum()
    assert close.is_conservative and not plain.is_conservative
    for combine in (close.merge, close.inner_product, plain.merge):
        with pytest.raises(IncompatibleError, match="^update: expected"):
            combine(close)


def test_every_column_is_answered_value_by_value() -> None:
    sketch = counted(STREAM)
    words = [word for pair in zip(WORDS, (f"no{i}" for i in range(500)), strict=True) for word in pair]
    expected = [int(sketch.frequency(word).value) for word in words]
    for column in columns_of_text(words):
        answers = sketch.frequencies(column)
        assert answers.dtype == np.uint64
        assert answers.tolist() == expected, type(column)
    values = with_gaps(words, seed=2)
    in_order = iter(expected)
    with_zeros = [0 if value is None else next(in_order) for value in values]
    for column in columns_with_gaps(values, "user0"):
        assert sketch.frequencies(column).tolist() == with_zeros, type(column)


def test_merge_and_inner_product_are_those_of_the_streams() -> None:
    first, second = STREAM[:12_000], STREAM[8_000:]
    assert counted(first) | counted(second) == counted(first + second)
    product = counted(first).inner_product(counted(second))
    a, b = Counter(first), Counter(second)
    truth = sum(a[word] * b[word] for word in WORDS)
    assert truth in product and product.value >= truth
    assert counted(first).inner_product(counted(second), confidence=0.5).lower >= product.lower
    for other, field in [
        (CountMin(2718, 5), "width"),
        (CountMin(2719, 4), "depth"),
        (counted([], seed=1), "seed"),
        (counted([], keys="int"), "key kind"),
    ]:
        for combine in (counted(first).merge, counted(first).inner_product):
            with pytest.raises(IncompatibleError, match=f"^{field}: expected"):
                combine(other)


def test_confidence_widens_the_margin() -> None:
    sketch = CountMin(2719, 3)
    sketch.insert_batch(STREAM)
    assert sketch.confidence == 1 - CountMin.delta(3) == pytest.approx(1 - exp(-3))
    assert sketch.margin(0.5) < sketch.margin() < sketch.margin(0.999)
    answer, wide = sketch.frequency("user499"), sketch.frequency("user499", confidence=0.999)
    assert (answer.confidence, wide.confidence) == (sketch.confidence, 0.999)
    assert answer.value - answer.lower == sketch.margin()
    assert wide.lower < answer.lower <= answer.value == wide.value == answer.upper


def test_hashes_of_the_caller() -> None:
    hashes = [reference.hashed(word) for word in STREAM]
    sketch = CountMin(2719, 5, keys="hash")
    assert sketch.insert_hashes([*hashes, None]) == 1
    assert sketch.add_hashes(np.array(hashes, "u8"), np.full(len(hashes), 2)) == 0
    asked = [reference.hashed(word) for word in WORDS]
    truth = np.array([3 * EXACT[word] for word in WORDS])
    answers = sketch.frequencies_of_hashes(asked)
    assert (answers >= truth).all() and (answers <= truth + sketch.margin()).all()
    assert sketch.frequency_of_hash(asked[7]).value == answers[7]
    with pytest.raises(KeyTypeError, match="takes frequency_of_hash"):
        sketch.frequency("a")
    with pytest.raises(KeyTypeError, match="takes insert_hashes"):
        sketch.insert("a")
    with pytest.raises(KeyTypeError, match="takes frequencies_of_hashes"):
        sketch.frequencies(["a"])
    with pytest.raises(KeyTypeError, match="takes add_hashes"):
        sketch.add_batch(["a"], [1])
    with pytest.raises(KeyTypeError, match="keys='hash'"):
        counted([]).add_hashes([1], [1])


def test_sizes_are_found_and_checked() -> None:
    assert CountMin.size_for(0.001, 0.01) == (2719, 5)
    sketch = CountMin.for_bound(0.001, 0.01, keys="int", seed=3)
    assert (sketch.width, sketch.depth, sketch.keys, sketch.seed) == (2719, 5, "int", 3)
    assert CountMin.for_bound(0.01, 0.1, conservative=True).is_conservative
    assert CountMin.epsilon(2719) == e / 2719
    for width in (0, -1, 2**30 + 1, 2**64):
        expected = f"width: expected 1 to {2**30}, found {width}"
        assert refused(CountMin, width, 3) == refused(CountMin.epsilon, width) == expected
    for depth in (0, -1, 33):
        expected = f"depth: expected 1 to 32, found {depth}"
        assert refused(CountMin, 3, depth) == refused(CountMin.delta, depth) == expected
    for share in (0.0, 1.0, -1.0, float("nan"), 1e-30):
        assert refused(CountMin.for_bound, share, 0.01).startswith("epsilon: expected")
        assert refused(CountMin.for_bound, 0.01, share).startswith("delta: expected")
    expected = "(width, depth, *, conservative=False, keys='text', seed=0)"
    assert str(inspect.signature(CountMin)) == expected
    assert repr(CountMin(3, 2)) == "<CountMin width=3, depth=2, keys='text', seed=0: 0 counted>"
    conservative = CountMin(3, 2, conservative=True, keys="int", seed=7)
    expected = "<CountMin width=3, depth=2, conservative=True, keys='int', seed=7: 0 counted>"
    assert repr(conservative) == expected


# ---- RangeCountMin ----


def integers_of(values: Any, levels: int = 20) -> RangeCountMin:
    sketch = RangeCountMin.for_bound(levels, 0.01, 0.01)
    sketch.insert_batch(values)
    return sketch


def test_ranges_ranks_and_quantiles_hold_the_truth() -> None:
    generator = np.random.default_rng(1)
    values = np.minimum(generator.lognormal(10, 1, 20_000), 2**20 - 1).astype("i8")
    sketch, ordered = integers_of(values), np.sort(values)
    for first, last in [(0, 2**20 - 1), (1000, 20_000), (22_026, 22_026), (2**19, 2**20 - 1), (0, 99)]:
        truth = int(((values >= first) & (values <= last)).sum())
        answer = sketch.range(first, last)
        assert truth in answer and answer.value - truth <= 200
    for key in (0, 5_000, 22_026, 2**20 - 1):
        assert int((values <= key).sum()) in sketch.rank(key)
        assert int((values == key).sum()) in sketch.frequency(key)
    for share in (0.01, 0.25, 0.5, 0.75, 0.99):
        truth = int(ordered[int(np.ceil(share * 20_000)) - 1])
        assert truth in sketch.quantile(share, confidence=0.99)


def test_a_small_universe_is_counted_exactly() -> None:
    ages = RangeCountMin(7, 100, 4)
    ages.insert_batch([3, 17, 17, None, 40, 99])
    answer = ages.range(10, 50)
    assert (answer.value, answer.certain) == (3.0, True)
    assert [ages.quantile(share).value for share in (0.0, 0.2, 0.5, 1.0)] == [3.0, 3.0, 17.0, 99.0]
    assert (ages.greatest, ages.levels, ages.width, ages.depth, ages.total) == (127, 7, 100, 4, 5)
    assert RangeCountMin.sketched_levels(7, 100, 4) == 0 == RangeCountMin.epsilon(7, 100, 4)


def test_merge_is_that_of_the_streams() -> None:
    first, second = list(range(1000)), list(range(500, 900))
    assert integers_of(first) | integers_of(second) == integers_of(first + second)
    for other, field in [(RangeCountMin(20, 10, 3), "width"), (RangeCountMin(19, 4000, 8), "levels")]:
        with pytest.raises(IncompatibleError, match=f"^({field}|width|depth): expected"):
            integers_of([]).merge(other)


def test_signed_integers_keep_their_order() -> None:
    signed = [-(2**63), -100, -1, 0, 1, 2**63 - 1]
    keys = [RangeCountMin.from_signed(integer) for integer in signed]
    assert keys == sorted(keys) and keys[0] == 0 and keys[-1] == 2**64 - 1
    assert refused(RangeCountMin.from_signed, 2**63) == f"integer: expected -2^63 to 2^63 - 1, found {2**63}"


def test_what_is_outside_is_refused() -> None:
    sketch = RangeCountMin(8, 3, 2)
    for key in (256, -1, 2**64 - 1):
        for call in (sketch.insert, sketch.frequency, sketch.rank, lambda key: sketch.insert_batch([1, key])):
            assert refused(call, key).startswith("key: expected an integer from 0 to 255, of 8 levels, found")
    for wrong in ("1", 1.0, None, 2**64):
        for call in (sketch.insert, sketch.frequency, sketch.rank):
            with pytest.raises(KeyTypeError):
                call(wrong)  # type: ignore[arg-type]
    assert sketch.is_empty
    for first, last in [(5, 4), (0, 256)]:
        assert refused(sketch.range, first, last).startswith("range: expected a first and a last key from 0")
    assert refused(sketch.range, -1, 3) == "first: expected 0 to 255, found -1"
    assert refused(sketch.quantile, 0.5).startswith("items: expected at least one")
    sketch.insert(3)
    for share in (-0.1, 1.1, float("nan")):
        assert refused(sketch.quantile, share).startswith("share: expected a number from 0 to 1")
    for levels in (0, 65, -1):
        expected = f"levels: expected 1 to 64, found {levels}"
        assert refused(RangeCountMin, levels, 3, 2) == expected
        assert refused(RangeCountMin.for_bound, levels, 0.1, 0.1) == expected
    assert refused(RangeCountMin, 8, 0, 1).startswith("width: expected 1 to")
    assert refused(RangeCountMin.for_bound, 8, 0.0, 0.1).startswith("epsilon: expected")
    assert repr(sketch) == "<RangeCountMin levels=8, width=3, depth=2, seed=0: 1 counted>"
