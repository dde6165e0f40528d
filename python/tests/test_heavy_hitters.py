"""HeavyHitters and Majority: bounds that no stream breaks, and the keys that are given back."""

import inspect
import pickle
import random
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
import reference
from columns import refused

from crivo import HeavyHitters, Hitter, IncompatibleError, InvalidParameterError, KeyTypeError, Majority

WORDS = [f"user{i}" for i in range(2000)]


def zipf(seed: int, count: int = 20_000) -> list[str]:
    return random.Random(seed).choices(WORDS, weights=[1 / rank for rank in range(1, 2001)], k=count)


def hitters(stream: Any, capacity: int = 100, **arguments: Any) -> HeavyHitters:
    sketch = HeavyHitters(capacity, **arguments)
    sketch.insert_batch(stream)
    return sketch


# ---- HeavyHitters ----


def test_few_keys_are_counted_exactly() -> None:
    stream = random.Random(1).choices(WORDS[:50], weights=range(1, 51), k=5000)
    sketch, exact = hitters(stream), Counter(stream)
    assert sketch.max_error == 0
    ordered = sorted(exact.items(), key=lambda pair: (-pair[1], pair[0].encode()))
    assert sketch.top(50) == [Hitter(key, count, count, count) for key, count in ordered]
    assert sketch.top(3) == sketch.top(100)[:3]
    assert sketch.top(0) == []
    assert all(hitter.is_exact for hitter in sketch.top(50))
    assert sketch.counters == len(exact)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("capacity", [1, 10, 100])
def test_no_bound_is_broken(seed: int, capacity: int) -> None:
    stream = zipf(seed)
    sketch, exact = hitters(stream, capacity), Counter(stream)
    assert sketch.total == len(stream) and sketch.counters <= capacity
    assert sketch.max_error <= HeavyHitters.guaranteed_share(capacity) * len(stream)
    listed = sketch.top(capacity)
    for hitter in listed:
        assert isinstance(hitter.key, str)
        assert hitter.lower <= exact[hitter.key] <= hitter.upper
        assert hitter.lower <= hitter.count <= hitter.upper
    found = {hitter.key for hitter in listed}
    for word in WORDS:
        answer = sketch.frequency(word)
        assert answer.certain and exact[word] in answer
        assert word in found or exact[word] <= sketch.max_error
    assert [hitter.count for hitter in listed] == sorted((hitter.count for hitter in listed), reverse=True)


def test_shares_are_read_in_both_ways() -> None:
    stream = zipf(7)
    sketch, exact = HeavyHitters.for_share(0.005), Counter(stream)
    sketch.insert_batch(stream)
    above = {word for word, count in exact.items() if count > 0.01 * len(stream)}
    certain = {hitter.key for hitter in sketch.above(0.01, "no_false_positives")}
    possible = {hitter.key for hitter in sketch.above(0.01, reading="no_false_negatives")}
    assert certain <= above <= possible and above
    assert refused(sketch.above, 0.0, "no_false_negatives").startswith("share: expected at least")
    assert sketch.above(0.0, "no_false_positives")
    for share in (-0.1, 1.0, float("nan")):
        assert refused(sketch.above, share, "no_false_positives").startswith("share: expected a share from 0")
    expected = "reading: expected 'no_false_positives' or 'no_false_negatives', found 'all'"
    assert refused(sketch.above, 0.1, "all") == expected


def test_merged_bounds_hold_for_both_streams() -> None:
    first, second = zipf(1), zipf(2)
    merged, exact = hitters(first) | hitters(second, 50), Counter(first) + Counter(second)
    assert (merged.capacity, merged.total) == (50, 40_000)
    assert merged.max_error <= HeavyHitters.guaranteed_share(50) * 40_000
    for word in WORDS:
        assert exact[word] in merged.frequency(word)
    for other, field in [(hitters([1], keys="int"), "key kind"), (hitters([], seed=1), "seed")]:
        with pytest.raises(IncompatibleError, match=f"^{field}: expected"):
            hitters(first).merge(other)


def test_keys_come_back_as_they_went_in() -> None:
    mixed: list[Any] = ["maçã", b"\xff\xfe", 42, 1.5, True, "maçã"]
    assert {hitter.key for hitter in hitters(mixed).top(9)} == {"maçã", b"\xff\xfe", "42", "1.5", "true"}
    integers = [-1, 2**64 - 1, 2**63 - 1, 0]
    counts = {hitter.key: hitter.count for hitter in hitters(integers, keys="int").top(9)}
    assert counts == {-1: 2, 2**63 - 1: 1, 0: 1}
    sketch = HeavyHitters(9, keys="hash")
    hashes = [reference.hashed(word) for word in WORDS[:3]]
    sketch.insert_hashes(hashes)
    sketch.add_hashes(np.array(hashes, "u8"), [5, 6, 7])
    assert [hitter.key for hitter in sketch.top(9)] == hashes[::-1]
    assert sketch.frequency_of_hash(hashes[1]).value == 7
    with pytest.raises(KeyTypeError, match="takes frequency_of_hash"):
        sketch.frequency("a")


def test_hitters_are_records() -> None:
    hitter = hitters(["a", "a", "b"]).top(1)[0]
    assert hitter == Hitter("a", 2, 2, 2) == pickle.loads(pickle.dumps(hitter))
    assert repr(hitter) == "Hitter(key='a', count=2, lower=2, upper=2)"
    assert not Hitter("a", 2, 1, 3).is_exact
    assert not Hitter("a", 2**64 - 1, 2**64 - 1, 2**64 - 1).is_exact
    table = pd.DataFrame(hitters(["a", "a", "b"]).top(2))
    assert table.columns.tolist() == ["key", "count", "lower", "upper"]
    assert table["count"].tolist() == [2, 1]
    with pytest.raises(AttributeError):
        hitter.count = 3  # type: ignore[misc]


def test_long_keys_are_refused() -> None:
    sketch = HeavyHitters(10)
    sketch.insert("x" * 4096)
    assert refused(sketch.insert, "x" * 4097).startswith("key: expected at most 4096 bytes, found 4097")
    with pytest.raises(InvalidParameterError, match="4097"):
        sketch.insert_batch(["a", "x" * 4097, "b"])
    assert [sketch.frequency(key).value for key in "ab"] == [1.0, 0.0], "those before it are counted"


def test_sizes_are_found_and_checked() -> None:
    assert HeavyHitters.capacity_for(0.001) == HeavyHitters.for_share(0.001).capacity == 1331
    assert HeavyHitters.guaranteed_share(1331) == pytest.approx(0.001, rel=0.01)
    for capacity in (0, -1, 2**24 + 1, 2**64):
        for call in (HeavyHitters, HeavyHitters.guaranteed_share):
            assert refused(call, capacity) == f"capacity: expected 1 to {2**24}, found {capacity}"
    for share in (0.0, 1.0, -1.0, 1e-12, float("nan")):
        assert refused(HeavyHitters.for_share, share).startswith("share: expected a share from")
    with pytest.raises(InvalidParameterError, match="^count: expected 0 or more, found -1"):
        HeavyHitters(3).top(-1)
    assert str(inspect.signature(HeavyHitters)) == "(capacity, *, keys='text', seed=0)"
    expected = "<HeavyHitters capacity=100, keys='text', seed=0: 2 counters, 3 counted>"
    assert repr(hitters(["a", "a", "b"])) == expected


# ---- Majority ----


def votes(stream: Any, **arguments: Any) -> Majority:
    sketch = Majority(**arguments)
    sketch.insert_batch(stream)
    return sketch


@pytest.mark.parametrize("seed", range(40))
def test_a_majority_is_always_found_and_no_bound_broken(seed: int) -> None:
    generator = random.Random(seed)
    weights = [generator.random() * 3, 1, 1, 0.1]
    stream = generator.choices("abcd", weights, k=generator.randrange(1, 60))
    sketch, exact = votes(stream), Counter(stream)
    key, most = exact.most_common(1)[0]
    candidate = sketch.candidate()
    if most > len(stream) / 2:
        assert candidate and candidate.key == key and sketch.is_majority(most)
    if sketch.is_certain:
        assert most > len(stream) / 2
    for letter in "abcde":
        answer = sketch.frequency(letter)
        assert answer.certain and exact[letter] in answer
    if candidate:
        assert candidate.lower <= exact[str(candidate.key)] <= candidate.upper


def test_a_tie_has_no_candidate() -> None:
    sketch = votes(["a", "b", "a", "b"])
    assert sketch.candidate() is None and not sketch.is_certain and sketch.total == 4
    assert repr(sketch) == "<Majority keys='text', seed=0: no candidate of 4 votes>"
    assert repr(votes([3, 3], keys="int", seed=5)) == "<Majority keys='int', seed=5: '3' of 2 votes>"


def test_merged_votes_keep_the_guarantee() -> None:
    first, second = ["a"] * 30 + ["b"] * 20, ["c"] * 9 + ["a"] * 15
    merged = votes(first) | votes(second)
    candidate = merged.candidate()
    assert candidate and candidate.key == "a" and merged.total == 74
    assert candidate.lower <= 45 <= candidate.upper
    with pytest.raises(IncompatibleError, match="^seed: expected 0, found 1"):
        votes([]).merge(votes([], seed=1))


def test_candidates_come_back_as_they_went_in() -> None:
    kinds: list[tuple[Any, Any]] = [("text", "maçã"), ("text", b"\xff"), ("int", -5), ("text", "")]
    for keys, key in kinds:
        sketch = Majority(keys=keys)
        sketch.add(key, 3)
        assert sketch.candidate() == Hitter(key, 3, 3, 3)
    sketch = Majority(keys="hash")
    sketch.insert_hashes([2**63, None])
    assert sketch.candidate() == Hitter(2**63, 1, 1, 1)
    assert sketch.frequency_of_hash(2**63).value == 1.0
    with pytest.raises(InvalidParameterError, match="^count: expected 0 to"):
        sketch.is_majority(-1)
