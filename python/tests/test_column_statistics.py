"""Growth, near-duplicates, joins and samples of rows: the answers of the library and of the command line."""

import json
import pickle
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from columns import refused
from test_surfaces import program, write_csv

import crivo
from crivo import (
    DistinctGrowth,
    IncompatibleError,
    KeyTypeError,
    NearDuplicateShare,
    ProfiledColumn,
    Reservoir,
    RowSample,
)

__all__ = ["program"]

VALUES = [f"city {i * i % 701}" for i in range(3000)]
TEXTS = [
    f"the report of day {i % 900} says that nothing of note happened in quarter {i % 7} of the city"
    for i in range(2000)
]


def column(values: Any, **named: Any) -> ProfiledColumn:
    made = ProfiledColumn(**named)
    made.insert_batch(values)
    return made


def test_growth_is_the_exact_curve_while_values_are_few() -> None:
    growth = DistinctGrowth(1024)
    growth.insert_batch(VALUES)
    rows = [1, 10, 500, 3000]
    assert [point.value for point in growth.growth(rows)] == [len(set(VALUES[:row])) for row in rows]
    assert growth.is_repeated() and growth.k == 1024
    assert growth.key_set().estimate().value == len(set(VALUES))


def test_parts_are_shifted_and_merged_to_the_whole() -> None:
    whole, first, second = DistinctGrowth(64), DistinctGrowth(64), DistinctGrowth(64)
    whole.insert_batch([None, *VALUES])
    first.insert_batch([None, *VALUES[:1000]])
    second.insert_batch(VALUES[1000:])
    second.shift_rows(1001)
    first.merge(second)
    assert first == whole
    numbered = DistinctGrowth(64)
    numbered.insert_batch(VALUES, first_row=2)
    assert numbered == whole
    with pytest.raises(IncompatibleError, match="seed"):
        whole.merge(DistinctGrowth(64, seed=1))
    assert "k" in refused(DistinctGrowth, 1)


def test_near_duplicates_are_found() -> None:
    found = NearDuplicateShare(512)
    assert found.share() is None
    found.insert_batch(TEXTS + VALUES)
    share = found.share()
    assert share is not None and found.documents == len(TEXTS) and 1.0 in share
    assert "capacity" in refused(NearDuplicateShare, 3)


def test_the_same_rows_are_sampled_however_a_table_was_read() -> None:
    def part(places: range) -> RowSample:
        sample = RowSample(10, seed=7)
        for place in places:
            sample.insert(place, f"row {place}".encode())
        return sample

    whole = part(range(1000))
    assert part(range(600, 1000)) | part(range(600)) == whole
    assert [row for _, row in whole.rows()] == [f"row {place}".encode() for place, _ in whole.rows()]
    with pytest.raises(IncompatibleError, match="places"):
        part(range(10)).merge(part(range(10)))
    weighted = RowSample(1, weighted=True)
    weighted.insert(1, b"light", 0.0)
    weighted.insert(2, b"heavy", 3.5)
    assert weighted.rows() == [(2, b"heavy")] and weighted.weighted
    assert "weight" in refused(whole.insert, 5, b"x", 2.0)


def test_parts_draw_by_themselves() -> None:
    one, other = Reservoir(10, seed=3), Reservoir(10, seed=3)
    other.reseed(1)
    one.insert_batch(range(10_000))
    other.insert_batch(range(10_000))
    assert one.sample() != other.sample()
    assert one.capacity == other.capacity


def test_a_column_has_all_answers() -> None:
    texts = column([*TEXTS, None])
    assert (texts.rows, texts.missing, texts.column_type) == (2001, 1, "text")
    assert texts.distinct().value == texts.profile.distinct().value
    assert texts.near_duplicate_share() == texts.near_duplicates.share()  # type: ignore[union-attr]
    assert texts.growth_at([2000])[0] == texts.growth.growth([2000])[0]
    assert pickle.loads(pickle.dumps(texts)) == texts
    with pytest.raises(AttributeError, match="to_bytes"):
        texts.to_bytes()
    with pytest.raises(KeyTypeError):
        texts.insert_batch([["a"]])  # type: ignore[list-item]
    assert column(["a"], memory=24 << 10).near_duplicates is None
    assert refused(ProfiledColumn, memory=100) == "memory: expected at least 24576 bytes, found 100"


def test_parts_of_a_column_follow_each_other() -> None:
    whole, first, second = column([*VALUES, *TEXTS]), column(VALUES), column(TEXTS)
    first.append(second)
    assert first.growth == whole.growth and first.near_duplicates == whole.near_duplicates
    assert (first.rows, first.distinct()) == (whole.rows, whole.distinct())


def test_columns_that_hold_each_other_join() -> None:
    customers, orders = column(range(5000)), column([i % 2000 + 1000 for i in range(8000)])
    found = orders.joins(customers, same_name=True)
    assert found is not None and found[0] == "joins"
    _, common, forth, back = found
    assert 2000 in common and 1.0 in forth and 0.4 in back
    apart = column(range(10_000, 11_000)).joins(customers)
    assert apart is not None and apart[0] == "no"
    assert customers.joins(column(TEXTS)) is None


def test_python_answers_what_the_command_line_answers(program: Path, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    write_csv(path, TEXTS)
    command = [str(program), "profile", str(path), "--json", "--threads", "2"]
    told = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    found = crivo.profile(pa.table({"n": [str(i) for i in range(len(TEXTS))], "value": TEXTS}))
    for of_cli in told["columns"]:
        ours = found[of_cli["name"]]
        assert (of_cli["type"], of_cli["key"]) == (ours.column_type, ours.could_be_key())
        assert bounds(ours.distinct()) == of_cli["distinct"]
        points = of_cli["growth"]
        curve = ours.growth_at([point["rows"] for point in points])
        # The last point is the number of different values of the whole column.
        for mine, point in list(zip(curve, points, strict=True))[:-1]:
            assert bounds(mine) == point["distinct"]
        near, share = of_cli["near_duplicates"], ours.near_duplicate_share()
        assert near == (None if share is None else bounds(share))


def bounds(estimate: Any) -> dict[str, float]:
    named = {name: getattr(estimate, name) for name in ("value", "lower", "upper", "confidence")}
    return {name: float(number) for name, number in named.items()}
