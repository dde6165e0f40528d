"""Bloom, BlockedBloom, CountingBloom as filters: answers against sets, columns, refusals."""

import inspect
import random
import subprocess
import sys
from math import inf, sqrt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import reference
from columns import columns_of, columns_of_text, columns_with_gaps, refused, with_gaps

from crivo import (
    BinaryFuse,
    BlockedBloom,
    Bloom,
    CombinedFilter,
    CountingBloom,
    CrivoError,
    DirectTable,
    IncompatibleError,
    InvalidParameterError,
    KeyTypeError,
    decode,
)

FILTERS = [Bloom, BlockedBloom, CountingBloom]
each_filter = pytest.mark.parametrize("cls", FILTERS)

WORDS = ["a", "maçã", "日本語", "x" * 300] + [f"user{i}" for i in range(2000)]
STRANGERS = [f"stranger{i}" for i in range(2000)]


def filled(cls: Any, values: Any, rate: float = 1e-6, **arguments: Any) -> Any:
    filter = cls.for_items(2100, rate, **arguments)
    filter.insert_batch(values)
    return filter


@each_filter
def test_a_rare_filter_answers_as_a_set_does(cls: Any) -> None:
    """4000 questions at a rate of a millionth: the seed is fixed, and none of them is answered wrongly."""
    filter, exact = filled(cls, WORDS), set(WORDS)
    for word in WORDS + STRANGERS:
        assert filter.contains(word) == (word in filter) == (word in exact)


@each_filter
def test_insert_tells_what_is_certainly_new(cls: Any) -> None:
    filter, exact = cls.for_items(2100, 1e-6), set[str]()
    for word in random.Random(1).choices(WORDS, k=3000):
        assert filter.insert(word) == (word not in exact)
        exact.add(word)


@each_filter
@pytest.mark.parametrize("keys", ["text", "int"])
def test_one_by_one_and_every_batch_give_the_same_bytes(cls: Any, keys: Any) -> None:
    values = list(range(-500, 2000, 3))
    one_by_one = cls.for_items(2100, 0.01, keys=keys, seed=9)
    for value in values:
        one_by_one.insert(value)
    for column in columns_of(values):
        assert filled(cls, column, 0.01, keys=keys, seed=9) == one_by_one, type(column)


@each_filter
@pytest.mark.parametrize("keys", ["text", "int"])
def test_every_column_is_answered_value_by_value(cls: Any, keys: Any) -> None:
    filter = filled(cls, range(1000), keys=keys)
    values = list(range(-500, 2000, 3))
    expected = [0 <= value < 1000 for value in values]
    for column in columns_of(values):
        answers = filter.contains_batch(column)
        assert answers.dtype == bool
        assert answers.tolist() == expected, type(column)


@each_filter
def test_columns_of_text_are_answered_value_by_value(cls: Any) -> None:
    filter = filled(cls, WORDS)
    words = [word for pair in zip(WORDS, STRANGERS, strict=False) for word in pair]
    expected = [word in filter for word in words]
    for column in columns_of_text(words):
        assert filter.contains_batch(column).tolist() == expected, type(column)


@each_filter
@pytest.mark.parametrize("seed", range(3))
def test_missing_values_are_not_in_there_and_move_no_answer(cls: Any, seed: int) -> None:
    filter = filled(cls, [f"user{i}" for i in range(0, 2000, 2)])
    values = with_gaps([f"user{i}" for i in range(1500)], seed)
    expected = [value is not None and value in filter for value in values]
    assert sum(expected) == 750
    for column in columns_with_gaps(values, "user0"):
        assert filter.contains_batch(column).tolist() == expected, type(column)


@each_filter
@pytest.mark.parametrize("keys", ["text", "int"])
def test_missing_integers_are_not_in_there_and_move_no_answer(cls: Any, keys: Any) -> None:
    filter = filled(cls, range(0, 2000, 2), keys=keys)
    values = with_gaps(list(range(1500)), seed=5)
    expected = [value is not None and value in filter for value in values]
    for column in columns_with_gaps(values, 0):
        assert filter.contains_batch(column).tolist() == expected, type(column)
    assert filter.contains_batch(pa.nulls(3000)).tolist() == [False] * 3000
    assert filter.contains_batch([]).tolist() == []


@each_filter
def test_what_is_no_key_is_refused_by_position(cls: Any) -> None:
    filter = filled(cls, WORDS)
    with pytest.raises(KeyTypeError, match=r"^value 3: key: expected text, .*found list \[\] \(.*\)$"):
        filter.contains_batch(["a", None, "b", []])
    with pytest.raises(KeyTypeError, match="expected many keys, found str .*or use contains"):
        filter.contains_batch("a")
    with pytest.raises(KeyTypeError, match=r"found a missing one \(contains_batch takes"):
        filter.contains(None)
    with pytest.raises(KeyTypeError, match="expected an integer, found str '1'"):
        assert "1" in filled(cls, [1], keys="int")


@each_filter
def test_hashes_of_the_caller(cls: Any) -> None:
    hashes = [reference.hashed(word) for word in WORDS]
    others = [reference.hashed(word) for word in STRANGERS]
    filter = cls.for_items(2100, 1e-6, keys="hash")
    assert filter.insert_hashes([*hashes, None]) == 1
    assert filter.contains_hashes(np.array(hashes + others, "u8")).tolist() == [True] * 2004 + [False] * 2000
    assert filter.contains_hashes([None, hashes[0]]).tolist() == [False, True]
    with pytest.raises(KeyTypeError, match="takes contains_hashes"):
        filter.contains("a")
    with pytest.raises(KeyTypeError, match="takes contains_hashes"):
        filter.contains_batch(["a"])
    with pytest.raises(KeyTypeError, match="keys='hash'"):
        filled(cls, WORDS).contains_hashes(hashes)


@each_filter
def test_the_rate_is_the_one_asked_for(cls: Any) -> None:
    """One seed, 200,000 strangers: five standard errors of the share that is taken for known, and 2 %."""
    count, rate = 20_000, 0.01
    filter = cls.for_items(count, rate, keys="int")
    filter.insert_batch(np.arange(count))
    strangers = 200_000
    found = int(filter.contains_batch(np.arange(count, count + strangers)).sum())
    margin = 5 * sqrt(strangers * rate) + 0.02 * strangers * rate
    assert abs(found - strangers * rate) < margin
    assert filter.false_positive_rate == pytest.approx(rate, rel=0.1)
    assert filter.capacity == count


@each_filter
def test_items_are_counted_within_their_bounds(cls: Any) -> None:
    """20 seeds at 99.9 %: more than two outside has a probability below 10^-5, and the seeds are fixed."""
    inside = shared = 0
    for seed in range(20):
        mine, theirs = (cls.for_items(5000, 0.01, keys="int", seed=seed) for _ in range(2))
        mine.insert_batch(np.arange(4000))
        theirs.insert_batch(np.arange(3000, 6000))
        inside += 4000 in mine.items(confidence=0.999)
        shared += 1000 in mine.shared_items(theirs, confidence=0.999)
        assert mine.items(0.5).upper < mine.items(0.999).upper
    assert inside >= 18 and shared >= 18


@each_filter
def test_union_is_the_filter_of_both(cls: Any) -> None:
    mine, theirs = filled(cls, WORDS[:1200]), filled(cls, WORDS[1000:])
    both = filled(cls, WORDS) if cls is not CountingBloom else filled(cls, WORDS[:1200] + WORDS[1000:])
    assert mine | theirs == theirs | mine == both


@each_filter
def test_intersection_finds_all_that_both_hold(cls: Any) -> None:
    mine, theirs = filled(cls, WORDS[:1200]), filled(cls, WORDS[1000:])
    before = bytes(mine), bytes(theirs)
    shared = mine & theirs
    assert (bytes(mine), bytes(theirs)) == before, "& leaves both as they were"
    assert shared.contains_batch(WORDS[1000:1200]).all()
    assert shared.contains_batch(WORDS[:1000] + WORDS[1200:]).sum() < 5
    assert shared == mine.intersection(theirs) == CombinedFilter.intersection(mine, theirs)
    kept = mine
    mine &= theirs
    assert mine == shared and type(kept) is cls, "&= names the intersection, and changes no filter"


@each_filter
def test_an_intersection_knows_how_many_keys_are_shared(cls: Any) -> None:
    mine, theirs = filled(cls, WORDS[:1200]), filled(cls, WORDS[1000:])
    shared = mine & theirs
    assert shared.items() == mine.shared_items(theirs)
    assert 200 in shared.items()
    assert shared.filters == 2
    assert shared.rate_for_some == max(mine.false_positive_rate, theirs.false_positive_rate)
    assert shared.false_positive_rate <= min(mine.false_positive_rate, theirs.false_positive_rate)


def test_filters_of_any_kind_and_size_are_combined() -> None:
    few, many = filled(Bloom, WORDS[:1200]), filled(BlockedBloom, WORDS[1000:])
    either, both = CombinedFilter.union(few, many), CombinedFilter.intersection(few, many)
    in_few, in_many = few.contains_batch(WORDS), many.contains_batch(WORDS)
    assert (either.contains_batch(WORDS) == (in_few | in_many)).all()
    assert (both.contains_batch(WORDS) == (in_few & in_many)).all()
    assert either.rate_for_some is None and len(WORDS) in either.items()
    assert decode(bytes(both)) == both and (either | both).filters == 4
    assert not CombinedFilter.intersection(few, Bloom.for_items(5, 0.1)).contains(WORDS[0])
    with pytest.raises(IncompatibleError, match="^seed: expected"):
        CombinedFilter.union(few, filled(Bloom, WORDS[:3], seed=1))
    with pytest.raises(TypeError):
        CombinedFilter.union(few, "no filter")  # type: ignore[arg-type]


@each_filter
def test_filters_that_differ_refuse_each_other(cls: Any) -> None:
    filter = filled(cls, WORDS[:10])
    before = bytes(filter)
    others = [
        (filled(cls, [1], keys="int"), "key kind"),
        (filled(cls, ["a"], seed=1), "seed"),
        (cls.for_items(5000, 1e-6), "bits|blocks|cells"),
        (cls.for_items(2099, 1e-6), "bits|blocks|cells|capacity"),
    ]
    for other, _ in others[:2]:
        with pytest.raises(IncompatibleError, match="^(key kind|seed): expected"):
            filter.intersection(other)
    for other, field in others:
        for combine in (filter.merge, filter.shared_items, filter.__or__):
            with pytest.raises(IncompatibleError, match=f"^({field}): expected"):
                combine(other)
    assert bytes(filter) == before


@each_filter
def test_an_empty_filter_is_empty_and_true(cls: Any) -> None:
    filter = cls.for_items(10, 0.5)
    assert filter.is_empty and filter.fill == 0.0 and filter.false_positive_rate == 0.0
    assert filter.items().value == 0.0
    assert bool(filter), "`filter or default` must keep it"
    filter.insert("a")
    assert not filter.is_empty and filter.fill > 0.0


@each_filter
def test_goals_outside_their_range_are_refused(cls: Any) -> None:
    for items in (0, -1, 2**42 + 1, 2**64, -(2**70)):
        assert refused(cls.for_items, items, 0.01) == f"items: expected 1 to {2**42}, found {items}"
    for rate in (0.0, 1.0, -0.5, 2.0, float("nan"), inf, 1e-300):
        assert refused(cls.for_items, 10, rate).startswith("rate: expected a")
    assert refused(cls.for_items, 10, 0.1, keys="bytes").startswith("keys: expected 'text', 'int' or 'hash'")
    assert refused(cls.for_items, 10, 0.1, seed=-1) == "seed: expected 0 to 2^64 - 1, found -1"
    for wrong in ("10", 10.0, None, [10]):
        with pytest.raises(TypeError):
            cls.for_items(wrong, 0.01)
    for confidence in (0.0, 1.0, 95.0, float("nan")):
        assert refused(cls.for_items(10, 0.1).items, confidence).startswith("confidence")


def test_sizes_outside_their_range_are_refused() -> None:
    for bits in (0, -1, 2**43 + 1, 2**64):
        assert refused(Bloom, bits, 3) == f"bits: expected 1 to {2**43}, found {bits}"
        assert refused(Bloom.expected_rate, bits, 3, 1) == f"bits: expected 1 to {2**43}, found {bits}"
        assert refused(CountingBloom, bits, 3) == f"cells: expected 1 to {2**43}, found {bits}"
    for hashes in (0, -1, 65, 2**32):
        assert refused(Bloom, 100, hashes) == f"hashes: expected 1 to 64, found {hashes}"
        assert refused(CountingBloom, 100, hashes) == f"hashes: expected 1 to 64, found {hashes}"
    for blocks in (0, -1, 2**34 + 1, 2**64):
        assert refused(BlockedBloom, blocks) == f"blocks: expected 1 to {2**34}, found {blocks}"
    for width in (0, 5, 64):
        assert refused(CountingBloom, 10, 1, width) == f"counter bits: expected 4, 8, 16 or 32, found {width}"
    for universe in (0, -1, 2**36 + 1, 2**64):
        assert refused(DirectTable, universe) == f"universe: expected 1 to {2**36}, found {universe}"


@pytest.mark.skipif(sys.platform == "win32", reason="the limit on memory is one of Unix")
def test_memory_that_cannot_be_had_is_an_error() -> None:
    program = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (2**33, 2**33))
from crivo import Bloom, CrivoError
try:
    Bloom(2**43, 1)
except MemoryError as error:
    print(isinstance(error, CrivoError), error)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.startswith("True memory: expected"), result.stdout


def test_sizes_are_kept_and_found_for_goals() -> None:
    assert Bloom.size_for(1_000_000, 0.01) == CountingBloom.size_for(1_000_000, 0.01) == (9_592_955, 7)
    for rate in (0.5, 0.01, 1e-5):
        bits, hashes = Bloom.size_for(5000, rate)
        sized = Bloom.for_items(5000, rate)
        assert (sized.bits, sized.hashes, sized.capacity) == (bits, hashes, 5000)
        assert Bloom.expected_rate(bits, hashes, 5000) == pytest.approx(rate, rel=0.01)
        assert CountingBloom.expected_rate(bits, hashes, 5000) == Bloom.expected_rate(bits, hashes, 5000)
        blocks = BlockedBloom.blocks_for(5000, rate)
        assert BlockedBloom.for_items(5000, rate).blocks == blocks
        assert BlockedBloom.expected_rate(blocks, 5000) == pytest.approx(rate, rel=0.03)
    assert Bloom(1000, 3).capacity == CountingBloom(1000, 3).capacity == 231
    assert BlockedBloom(10).capacity == 443
    assert CountingBloom(1000, 3).counter_bits == 8


def test_signatures_tell_the_defaults() -> None:
    assert str(inspect.signature(Bloom)) == "(bits, hashes, *, keys='text', seed=0)"
    assert str(inspect.signature(BlockedBloom)) == "(blocks, *, keys='text', seed=0)"
    assert str(inspect.signature(DirectTable)) == "(universe, *, seed=0)"
    expected = "(cells, hashes, counter_bits=8, *, keys='text', seed=0)"
    assert str(inspect.signature(CountingBloom)) == expected


def test_reprs_tell_settings_and_items() -> None:
    assert repr(Bloom(1000, 3)) == "<Bloom bits=1000, hashes=3, keys='text', seed=0: 0>"
    assert repr(BlockedBloom(3, seed=7)) == "<BlockedBloom blocks=3, keys='text', seed=7: 0>"
    expected = "<CountingBloom cells=50, hashes=2, counter_bits=4, keys='int', seed=0: 0>"
    assert repr(CountingBloom(50, 2, 4, keys="int")) == expected
    table = DirectTable(100, seed=5)
    table.insert_batch([1, 2, 3])
    assert repr(table) == "<DirectTable universe=100, seed=5: 3>"


def test_a_static_filter_is_that_of_its_set() -> None:
    filter = BinaryFuse(WORDS)
    assert filter == BinaryFuse(pa.array([None, *reversed(WORDS), WORDS[0]]))
    items = filter.items()
    assert items.lower == items.value == items.upper == len(set(WORDS))
    assert filter.contains_batch(WORDS).all()
    strangers = [f"stranger {i}" for i in range(100_000)]
    found = int(filter.contains_batch(strangers).sum())
    # 391 are expected with a deviation of 20.
    assert 291 < found < 491
    assert [word in filter for word in strangers[:500]] == filter.contains_batch(strangers[:500]).tolist()
    numbers = BinaryFuse(np.arange(1000), keys="int", seed=3)
    assert 999 in numbers and numbers.contains_batch([5, None, 7]).tolist() == [True, False, True]
    hashes = BinaryFuse([0, 1, 2**64 - 1], keys="hash")
    assert hashes.contains_hashes([0, 1, 2**64 - 1]).all()
    assert (filter.false_positive_rate, BinaryFuse([]).false_positive_rate) == (1 / 256, 0)
    assert 0.5 < filter.fill < 1 and filter.memory < 2 * len(WORDS) + 1000
    assert not BinaryFuse([]).contains_batch(WORDS).any()


def test_a_static_filter_refuses_what_it_cannot_do() -> None:
    filter = BinaryFuse(WORDS)
    with pytest.raises(CrivoError, match="build one from the keys of both sets"):
        filter |= filter
    with pytest.raises(KeyTypeError, match="value 1.*no filter was built"):
        BinaryFuse(["a", object()])  # type: ignore[list-item]
    with pytest.raises(KeyTypeError):
        BinaryFuse(["a"], keys="int")
    with pytest.raises(KeyTypeError):
        _ = object() in filter  # type: ignore[operator]
    with pytest.raises(InvalidParameterError):
        BinaryFuse([], keys="other")  # type: ignore[arg-type]
    with pytest.raises(CrivoError):
        CombinedFilter.union(filter, Bloom.for_items(9, 0.01))  # type: ignore[arg-type]
    assert not hasattr(filter, "insert")
