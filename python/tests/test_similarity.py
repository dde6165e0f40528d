"""Which are alike? MinHash, bands, the index, exact similarity and shingles."""

import copy
import pickle
import random
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pytest
from columns import columns_of, refused

from crivo import (
    Bands,
    DecodeError,
    IncompatibleError,
    InvalidParameterError,
    KeyTypeError,
    LshIndex,
    MinHash,
    jaccard,
    shingles,
)

KINDS: list[Literal["text", "int", "hash"]] = ["text", "int", "hash"]


def of(values: Any, k: int = 128, **named: Any) -> MinHash:
    sketch = MinHash(k, **named)
    sketch.insert_batch(values)
    return sketch


def test_similarity_is_within_its_bounds() -> None:
    """At a confidence of 1 − 10⁻⁹, so that no set of hashes fails it."""
    for first, last, truth in [(0, 1000, 1), (200, 1200, 2 / 3), (500, 1500, 1 / 3), (2000, 3000, 0)]:
        alike = of(range(1000), 400).similarity(of(range(first, last), 400), confidence=1 - 1e-9)
        assert truth in alike and abs(alike.value - truth) < 0.2


def test_the_similarity_is_the_share_of_equal_slots() -> None:
    one, other = of(range(600), 400), of(range(200, 800), 400)
    share = float(np.mean(one.slots() == other.slots()))
    assert one.similarity(other).value == share
    assert one.slots().dtype == np.uint64 and len(MinHash(5).slots()) == 0


def test_every_kind_of_column_gives_the_same_signature() -> None:
    numbers = [i * 7 for i in range(100)]
    sketches = [of(column, keys="int") for column in columns_of(numbers)]
    assert all(sketch == sketches[0] for sketch in sketches)
    one_by_one = MinHash(128, keys="int")
    for number in numbers:
        one_by_one.insert(number)
    assert one_by_one == sketches[0]


def test_merge_is_the_sketch_of_the_union() -> None:
    assert of(range(300)) | of(range(200, 900)) == of(range(900))


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(IncompatibleError, match="two empty sets"):
        MinHash(8).similarity(MinHash(8))
    assert MinHash(8).similarity(of(["a", "b"], 8)).value == 0
    for other in (MinHash(9), MinHash(8, seed=1), MinHash(8, keys="int")):
        with pytest.raises(IncompatibleError):
            MinHash(8).similarity(other)
    assert refused(MinHash, 0) == "k: expected 1 to 32767, found 0"
    assert refused(MinHash, 2**40).startswith("k: expected 1 to 32767")
    assert "bound" in refused(MinHash.for_bound, 0)


def test_items_are_counted_too() -> None:
    assert MinHash(100).items().value == 0
    assert 20_000 in of(range(20_000), 1000).items(confidence=1 - 1e-9)


def test_bands_are_values() -> None:
    bands = Bands(20, 5)
    assert bands == Bands(20, 5) != Bands(5, 20)
    assert len({bands, Bands(20, 5)}) == 1
    assert pickle.loads(pickle.dumps(bands)) == bands
    assert eval(repr(bands)) == bands
    assert (bands.bands, bands.rows, bands.slots) == (20, 5, 100)
    assert abs(bands.approximate_threshold - (1 / 20) ** (1 / 5)) < 1e-12


def test_the_curve_is_the_formula() -> None:
    similarities = np.linspace(0, 1, 101)
    curve = Bands(16, 8).curve(similarities)
    assert np.allclose(curve, 1 - (1 - similarities**8) ** 16, atol=1e-12)
    assert curve[50] == Bands(16, 8).probability(0.5)
    assert Bands(16, 8).curve([0.5]).tolist() == [curve[50]]


def test_bands_reach_what_they_are_made_for() -> None:
    for threshold in (0.5, 0.7, 0.8, 0.9):
        bands = Bands.for_threshold(threshold, hashes=256)
        assert bands.probability(threshold) >= 0.99 and bands.slots <= 256
        assert Bands.for_recall(threshold, 0.9, hashes=256).probability(threshold) >= 0.9
    steep = Bands.for_points((0.6, 0.01), (0.9, 0.99))
    assert steep.probability(0.6) <= 0.01 and steep.probability(0.9) >= 0.99
    careful, quick = Bands.for_weights(0.8, 9, 1), Bands.for_weights(0.8, 1, 9)
    assert careful.probability(0.8) > quick.probability(0.8)
    assert "threshold" in refused(Bands.for_threshold, 0)
    assert "rows" in refused(Bands, 5, 0)
    assert "points" in refused(Bands.for_points, (0.9, 0.5), (0.6, 0.6))


def test_what_was_missed_follows_from_what_was_found() -> None:
    bands = Bands(16, 6)
    found = [0.8] * 500 + [0.9] * 300
    truth = sum(1 / bands.probability(similarity) - 1 for similarity in found)
    missed = bands.expected_missed(np.array(found))
    assert abs(missed.value - truth) < 1e-9 and truth in missed
    assert bands.expected_missed([]).upper == float("inf")
    assert "similarity" in refused(bands.expected_missed, [0.5, 2])


def test_keys_of_bands_are_equal_where_the_slots_are() -> None:
    bands, one, other = Bands(32, 4), of(range(500)), of(range(20, 520))
    same = (one.slots() == other.slots()).reshape(32, 4).all(axis=1)
    assert 0 < same.sum() < 32
    assert ((bands.keys(one) == bands.keys(other)) == same).all()
    with pytest.raises(IncompatibleError, match="slots"):
        bands.keys(MinHash(128))


def test_the_index_finds_what_is_alike() -> None:
    index = LshIndex.for_threshold(0.7, keys="int")
    sets = {id: set(range(id * 1000, id * 1000 + 100)) for id in range(50)}
    sets |= {100 + id: sets[id] | {-id - 1} for id in range(50)}
    for id, members in sets.items():
        index.insert(id, of(members, keys="int"))
    pairs = index.similars(0.7)
    assert {pair.ids for pair in pairs} == {(id, 100 + id) for id in range(50)}
    assert all(100 / 101 in pair.estimate(confidence=1 - 1e-9) for pair in pairs)
    first, second = index.candidates()
    assert {pair.ids for pair in pairs} <= set(zip(first.tolist(), second.tolist(), strict=True))
    [same, near] = index.similars_to(of(sets[7], keys="int"), 0.7)
    assert (same.id, same.similarity, near.id) == (7, 1.0, 107)
    assert index.candidates_to(of(sets[7], keys="int")).tolist() == [7, 107]
    assert index.remove(107) and not index.remove(107)
    assert len(index) == 99 and 7 in index and 107 not in index
    assert index.candidates_to(of(sets[7], keys="int")).tolist() == [7]
    assert (index.k, index.keys, index.seed) == (128, "int", 0)
    assert index.bands == Bands.for_threshold(0.7)
    assert index.memory > 99 * 256
    assert repr(index) == f"<LshIndex k=128, bands={index.bands!r}, keys='int', seed=0: 99 sets>"


def test_names_of_datasketch_mean_the_same() -> None:
    one, other, same = MinHash(64), of(range(50), 64), MinHash(64)
    for number in range(100):
        one.update(number)
    assert same.update_batch([*range(100), None]) == 1
    assert one == same == of(range(100), 64)
    assert one.jaccard(other) == one.similarity(other).value and isinstance(one.count(), float)
    assert one.count() == one.items().value
    with pytest.raises(IncompatibleError):
        MinHash(64).jaccard(MinHash(64))
    index = LshIndex(64, Bands(64, 1))
    index.insert(7, one)
    assert index.query(other) == index.candidates_to(other).tolist() == [7]
    wrong: Any = "seven"
    for call in (lambda: index.insert(wrong, one), lambda: index.remove(wrong), lambda: wrong in index):
        with pytest.raises(KeyTypeError, match=r"id: expected an integer, found str \(keep keys"):
            call()


def test_copies_of_an_index_are_equal_and_independent() -> None:
    index = LshIndex(128, Bands(32, 4), keys="int", seed=3, all_pairs_up_to=2)
    sketches = [of(range(id // 4 * 50, id // 4 * 50 + 60), keys="int", seed=3) for id in range(20)]
    for id, sketch in enumerate(sketches):
        index.insert(id, sketch)
    index.remove(5)

    def answers(index: LshIndex) -> list[Any]:
        first, second = index.candidates()
        near = [index.candidates_to(sketch).tolist() for sketch in sketches]
        return [repr(index), first.tolist(), second.tolist(), index.similars(0.3), near]

    before = answers(index)
    pickled = pickle.loads(pickle.dumps(index))
    for other in (index.copy(), copy.copy(index), copy.deepcopy(index), pickled):
        assert answers(other) == before
        other.insert(5, sketches[5])
        assert answers(other) != before == answers(index)


def test_a_damaged_pickle_of_an_index_is_refused() -> None:
    index = LshIndex(128, Bands(32, 4))
    index.insert(1, of(["x"]))
    restore, state = index.__reduce__()
    for part in range(5, 8):
        with pytest.raises(DecodeError, match="the pickle is damaged"):
            restore(*(array[:0] if place == part else array for place, array in enumerate(state)))
    empty = pickle.loads(pickle.dumps(LshIndex.for_threshold(0.8)))
    assert len(empty) == 0 and empty.bands == LshIndex.for_threshold(0.8).bands


def test_crowds_are_stars() -> None:
    index = LshIndex(128, Bands(16, 8), all_pairs_up_to=5)
    for id in range(10):
        index.insert(id, of(["x"]))
    first, second = index.candidates()
    assert first.tolist() == [0] * 9 and second.tolist() == list(range(1, 10))


def test_the_index_refuses_what_does_not_fit() -> None:
    index = LshIndex(128, Bands(16, 8))
    index.insert(1, of(["x"]))
    with pytest.raises(InvalidParameterError, match="id"):
        index.insert(1, of(["y"]))
    for wrong in (MinHash(128), of(["x"], 64), of(["x"], seed=1)):
        with pytest.raises(IncompatibleError):
            index.insert(2, wrong)
    with pytest.raises(InvalidParameterError, match="bands"):
        LshIndex(100, Bands(16, 8))
    assert "id" in refused(index.insert, -1, of(["x"]))
    assert "threshold" in refused(index.similars, 1.5)


def test_jaccard_is_that_of_python_s_sets() -> None:
    generator = random.Random(1)
    for _ in range(50):
        a, b = ([generator.randrange(60) for _ in range(generator.randrange(80))] for _ in range(2))
        union = set(a) | set(b)
        truth = len(set(a) & set(b)) / len(union) if union else None
        for keys in KINDS:
            assert jaccard(a, b, keys=keys) == truth
        assert jaccard(np.array(a, "i8"), pa.array(b, pa.int64())) == truth
        assert jaccard({str(x) for x in a}, [str(x).encode() for x in b]) == truth
    assert jaccard([], []) is None and jaccard([], [1]) == 0
    assert jaccard(["a", None, "a"], ["a"]) == 1
    with pytest.raises(KeyTypeError, match="value 1"):
        jaccard([1, object()], [])  # type: ignore[list-item]
    assert "keys" in refused(jaccard, [], [], keys="words")


def test_jaccard_of_two_texts_says_how_texts_are_compared() -> None:
    with pytest.raises(KeyTypeError, match=r"found str \(jaccard\(shingles\(a\), shingles\(b\)"):
        jaccard("abc", "abd")
    with pytest.raises(KeyTypeError, match="found bytes"):
        jaccard(["abc"], b"abd")


def test_shingles_are_a_sorted_set() -> None:
    text = "a rose is a rose is a rose"
    words = text.split()
    for n in (1, 2, 3, 5):
        found = shingles(text, f"words:{n}")
        assert len(found) == len({tuple(words[i : i + n]) for i in range(len(words) - n + 1)})
        assert found.dtype == np.uint64 and (np.diff(found.astype(object)) > 0).all()
    assert shingles("One two three four five").tolist() == [0xE8DA_BBEF_1AA3_C5BB]
    assert shingles("crivo", "chars:5").tolist() == [0xCBB6_5B46_528B_2CC0]
    assert shingles("one two", "words:2", seed=7).tolist() == [0x9C93_561F_A920_6413]
    assert shingles(b"ONE, two!", "words:2").tolist() == shingles("one two", "words:2").tolist()
    assert len(shingles("too short")) == 0
    assert "words:N, chars:N or stopwords" in refused(shingles, "a", "letters")
    with pytest.raises(KeyTypeError, match="str or bytes"):
        shingles(3)  # type: ignore[arg-type]
