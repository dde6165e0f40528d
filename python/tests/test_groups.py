"""Groups: the same sketch for each group, as if each had been filled alone."""

import pytest

from crivo import (
    CountMin,
    DDSketch,
    ExactDistinct,
    Groups,
    HyperLogLog,
    InvalidParameterError,
    KeyTypeError,
    Panes,
)

VISITS: dict[str | bytes, range] = {"/": range(5_000), "/help": range(40), "ção": range(3), b"\xff": range(1)}


def filled(sketch: HyperLogLog) -> Groups:
    groups = Groups(sketch)
    for page, visitors in VISITS.items():
        groups.insert_batch(page, visitors)
    return groups


def test_the_sketch_of_a_group_is_that_of_its_keys() -> None:
    groups = filled(HyperLogLog(10, keys="int", seed=3))
    assert set(groups) == set(VISITS) and len(groups) == 4
    for page, visitors in VISITS.items():
        alone = HyperLogLog(10, keys="int", seed=3)
        alone.insert_batch(visitors)
        assert groups.get(page) == alone and page in groups
    assert groups.get("/none") is None and "/none" not in groups
    assert groups.sketch == HyperLogLog(10, keys="int", seed=3)
    assert (groups.keys, groups.seed, groups.fields) == ("int", 3, 1)
    assert repr(groups) == "<Groups of HyperLogLog: 4>"


def test_groups_merge_one_by_one() -> None:
    first, second = Groups(ExactDistinct()), Groups(ExactDistinct())
    first.insert_batch("a", ["x", "y"])
    second.insert_batch("a", ["y", "z"])
    second.insert_batch("b", ["x", None, "x"])
    first |= second
    assert first.get("a").estimate().value == 3.0
    assert first.get("b").estimate().value == 1.0


def test_groups_hold_sketches_of_every_kind() -> None:
    counts = Groups(CountMin(50, 3))
    assert counts.insert_batch("a", ["x", "x", None]) == 1
    assert counts.get("a").frequency("x").value == 2.0
    sizes = Groups(DDSketch.for_bound(0.01))
    sizes.insert_batch("a", [1.0, 2.0, 3.0])
    assert sizes.get("a").sum == 6.0


def test_what_cannot_be_grouped_is_refused() -> None:
    used = HyperLogLog(8)
    used.insert("x")
    with pytest.raises(InvalidParameterError, match="^sketch of a group: expected an empty one"):
        Groups(used)
    with pytest.raises(InvalidParameterError, match="^sketch of a group: expected no container"):
        Groups(Panes(HyperLogLog(8), 10, 3))
    with pytest.raises(InvalidParameterError, match="^fields: expected 1 to 255, found 0"):
        Groups(HyperLogLog(8), fields=0)
    with pytest.raises(KeyTypeError):
        Groups(HyperLogLog(8)).insert_batch(7, ["x"])  # type: ignore[arg-type]
