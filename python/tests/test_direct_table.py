"""DirectTable: a set, exactly."""

import random
from typing import Any

import numpy as np
import pytest
from columns import columns_of, columns_with_gaps, with_gaps

from crivo import AbsentError, DirectTable, IncompatibleError, KeyTypeError


def table_of(values: Any, universe: int = 500) -> DirectTable:
    table = DirectTable(universe)
    table.insert_batch(values)
    return table


def test_a_direct_table_is_a_set() -> None:
    generator = random.Random(4)
    table, exact = DirectTable(500), set[int]()
    for _ in range(5000):
        key = generator.randrange(500)
        if generator.random() < 0.6:
            assert table.insert(key) == (key not in exact)
            exact.add(key)
        elif key in exact:
            table.remove(key)
            exact.remove(key)
        else:
            with pytest.raises(AbsentError, match=f"^key: expected one that is in the set, found {key}"):
                table.remove(key)
        assert len(table) == len(exact) == table.items().value
    assert list(table) == sorted(exact) == table.to_numpy().tolist()
    assert table.to_numpy().dtype == np.uint64
    assert table.contains_batch(range(-10, 600)).tolist() == [key in exact for key in range(-10, 600)]
    assert table.items().certain
    assert table.fill == len(exact) / 500


@pytest.mark.parametrize("seed", range(20))
def test_the_algebra_is_that_of_sets(seed: int) -> None:
    generator = random.Random(seed)
    a, b = (set(generator.sample(range(500), generator.randrange(500))) for _ in range(2))
    mine, theirs = table_of(a), table_of(b)
    assert set(mine | theirs) == a | b
    assert set(mine & theirs) == a & b
    assert set(mine - theirs) == a - b
    assert mine.jaccard(theirs) == (len(a & b) / len(a | b) if a | b else 1.0)
    assert set(mine) == a and set(theirs) == b, "operators leave both as they were"
    same = mine
    mine -= theirs
    mine |= table_of(b)
    mine &= table_of(range(500))
    assert mine is same and set(mine) == a | b
    mine.subtract(mine)
    assert mine.is_empty and not mine and list(mine) == []


def test_integers_outside_the_universe_are_refused_and_not_found() -> None:
    table = table_of([1, 2])
    for key in (500, -1, 2**64 - 1):
        with pytest.raises(IncompatibleError, match="^key: expected an integer of the universe, 0 to 499, f"):
            table.insert(key)
        with pytest.raises(IncompatibleError, match="^key: expected an integer of the universe"):
            table.insert_batch([3, 4, key])
        assert key not in table
        with pytest.raises(AbsentError):
            table.remove(key)
    assert list(table) == [1, 2]
    for wrong in ("1", 1.0, None, True, 2**64, [1]):
        for call in (table.insert, table.remove, table.contains):
            with pytest.raises(KeyTypeError):
                call(wrong)  # type: ignore[arg-type]


def test_every_column_of_integers_fills_a_table_the_same() -> None:
    values = list(range(0, 500, 3))
    for column in columns_of(values):
        table = table_of(column)
        assert list(table) == values
        assert table.contains_batch(column).all()


def test_missing_integers_are_skipped_counted_and_not_found() -> None:
    values = with_gaps(list(range(500)), seed=1)
    missing, table = values.count(None), table_of(range(250))
    expected = [value is not None and value < 250 for value in values]
    for column in columns_with_gaps(values, 0):
        assert table.contains_batch(column).tolist() == expected
    for column in columns_with_gaps(values, 0):
        filled = DirectTable(500)
        assert filled.insert_batch(column) == missing
        assert list(filled) == list(range(500))


def test_tables_that_differ_refuse_each_other() -> None:
    table = table_of(range(10))
    for other, field in [(DirectTable(501), "universe"), (DirectTable(500, seed=1), "seed")]:
        for combine in (table.merge, table.intersect, table.subtract, table.jaccard, table.__sub__):
            with pytest.raises(IncompatibleError, match=f"^{field}: expected"):
                combine(other)
    assert list(table) == list(range(10))


def test_a_table_may_change_while_it_is_iterated() -> None:
    table = table_of(range(100))
    for key in table:
        table.remove(key)
    assert table.is_empty
