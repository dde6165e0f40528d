"""Sketches in the bytes of Apache DataSketches, both ways beside the package of that project.

The package has no Bloom filter: its bytes are read here from their layout, with the xxhash package.
"""

import copy
import pickle
import random
from collections import Counter
from typing import Any

import datasketches as ds
import numpy as np
import pyarrow as pa
import pytest
import xxhash
from columns import refused

from crivo import DecodeError, IncompatibleError, InvalidParameterError, KeyTypeError
from crivo.interchange import BloomFilter, Cpc, FrequentItems, Hll, Kll, Req, TDigest, Theta

SIZES = [0, 1, 30, 600, 4_000, 50_000]


def keys_of(keys: str, count: int, step: int = 1) -> list[Any]:
    """Texts, or integers of both signs."""
    numbers = range(0, count * step, step)
    return [f"kéy {number}" for number in numbers] if keys == "text" else [7 - number for number in numbers]


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("keys", ["text", "int"])
def test_hll_is_read_both_ways(count: int, keys: Any) -> None:
    items, others = keys_of(keys, count), keys_of(keys, count, 2)
    for lg_k, registers in ((12, ds.tgt_hll_type.HLL_8), (10, ds.tgt_hll_type.HLL_4)):
        ours, theirs = Hll(lg_k, keys=keys), ds.hll_sketch(lg_k, registers)
        ours.insert_batch(items)
        for item in others:
            theirs.update(item)
        # The same hashes set the same registers, so the other library's answer is its own of these keys.
        same = ds.hll_sketch(lg_k)
        for item in items:
            same.update(item)
        given = ds.hll_sketch.deserialize(bytes(ours))
        assert given.lg_config_k == ours.lg_k == lg_k
        margin = 6 * 1.04 / 2 ** (lg_k / 2) * count
        assert abs(given.get_estimate() - count) <= margin
        union_of_same, union = ds.hll_union(lg_k), ds.hll_union(lg_k)
        union_of_same.update(given)
        union_of_same.update(same)
        # A key that was hashed in another way would count twice.
        assert abs(union_of_same.get_estimate() - count) <= margin
        union.update(given)
        union.update(theirs)
        distinct = len({*items, *others})
        wide = 6 * 1.04 / 2 ** (lg_k / 2) * distinct
        assert abs(union.get_estimate() - distinct) <= wide
        for data in (theirs.serialize_compact(), theirs.serialize_updatable()):
            read = Hll.from_bytes(data, keys=keys)
            assert read.keys == keys
            assert abs(read.estimate().value - count) <= margin
            assert abs((read | ours).estimate().value - distinct) <= wide
            # What is added again is known already.
            before = read.estimate().value
            read.insert_batch(others)
            assert read.estimate().value == before


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("keys", ["text", "int"])
def test_theta_is_read_both_ways(count: int, keys: Any) -> None:
    items, others = keys_of(keys, count), keys_of(keys, count, 2)
    ours, theirs, same = Theta(keys=keys), ds.update_theta_sketch(12), ds.update_theta_sketch(12)
    ours.insert_batch(items)
    for item in others:
        theirs.update(item)
    for item in items:
        same.update(item)
    given = ds.compact_theta_sketch.deserialize(bytes(ours))
    # The same hashes are kept, so the answers are the same.
    assert given.get_estimate() == pytest.approx(ours.estimate().value)
    if count < 4_096:
        assert given.get_estimate() == same.get_estimate() == count
    union_of_same = ds.theta_union(12)
    union_of_same.update(given)
    union_of_same.update(same)
    margin = 6 / 2**6 * count
    assert abs(union_of_same.get_result().get_estimate() - count) <= margin
    union = ds.theta_union(12)
    union.update(given)
    union.update(theirs)
    distinct = len({*items, *others})
    wide = 6 / 2**6 * distinct
    assert abs(union.get_result().get_estimate() - distinct) <= wide
    for compact in (theirs.compact(True), theirs.compact(False)):
        read = Theta.from_bytes(compact.serialize(), keys=keys)
        assert read.estimate().value == pytest.approx(theirs.get_estimate()) and read.keys == keys
        assert abs((read | ours).estimate().value - distinct) <= wide
        if distinct <= 4_096:
            assert (read | ours).estimate().value == distinct
        before = read.estimate().value
        read.insert_batch(others)
        # What is added again is known already, but a sketch that was read may have more hashes than it keeps.
        assert abs(read.estimate().value - before) <= (0 if count < 4_096 else margin)


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("keys", ["text", "int"])
def test_cpc_is_read_both_ways(count: int, keys: Any) -> None:
    items = [f"key {number}" for number in range(count)] if keys == "text" else list(range(count))
    ours, theirs = Cpc(11, keys=keys), ds.cpc_sketch(11)
    ours.insert_batch(items)
    for item in items:
        theirs.update(item)
    # The same hashes give the same coupons, and so the same answer.
    read = Cpc.from_bytes(theirs.serialize(), keys=keys)
    assert read.estimate().value == pytest.approx(theirs.get_estimate())
    assert ds.cpc_sketch.deserialize(bytes(ours)).get_estimate() == pytest.approx(ours.estimate().value)
    united = (read | ours).estimate().value
    assert united == pytest.approx(theirs.get_estimate(), rel=0.1)
    union = ds.cpc_union(11)
    union.update(theirs)
    union.update(ds.cpc_sketch.deserialize(bytes(ours)))
    assert union.get_result().get_estimate() == pytest.approx(united)
    assert Cpc.from_bytes(union.get_result().serialize()).estimate().value == pytest.approx(united)


KLLS: list[Any] = [
    ("double", ds.kll_doubles_sketch),
    ("float", ds.kll_floats_sketch),
]


@pytest.mark.parametrize("count", [0, 1, 2, 150, 20_000])
@pytest.mark.parametrize(("numbers", "theirs_of"), KLLS)
def test_kll_is_read_both_ways(count: int, numbers: Any, theirs_of: Any) -> None:
    ours, theirs = Kll(numbers=numbers), theirs_of(200)
    values = [float(number * 7919 % 20_011) for number in range(count)]
    ours.insert_batch(values)
    for value in values:
        theirs.update(value)
    read, given = Kll.from_bytes(theirs.serialize()), theirs_of.deserialize(bytes(ours))
    assert read.count == count == given.n
    assert Kll.from_bytes(theirs.serialize(), numbers=numbers).numbers == numbers
    if count:
        assert read.numbers == numbers
        for share in (0.1, 0.5, 0.9):
            mine, yours = read.quantile(share), ours.quantile(share)
            assert mine is not None and mine.value == theirs.get_quantile(share, True)
            assert yours is not None and yours.value == given.get_quantile(share, True)
        # Both keep the ends exactly.
        ends = [read.quantile(0.0), read.quantile(1.0)]
        assert [end and end.value for end in ends] == [theirs.get_min_value(), theirs.get_max_value()]
        rank = read.rank(5_000.0)
        assert rank is not None and rank.value == pytest.approx(theirs.get_rank(5_000.0, True))


WHOLE = [-(2**63), -(2**53) - 1, 2**53 + 1, 1_700_000_000_123_456_789, 2**63 - 1]


@pytest.mark.parametrize(
    "values",
    [
        WHOLE,
        iter(WHOLE),
        np.array(WHOLE),
        np.array(WHOLE, "O"),
        pa.array([*WHOLE, None]),
        pa.array(WHOLE).dictionary_encode(),
        [*WHOLE, 2.5, None],
    ],
    ids=["list", "iterator", "array", "objects", "column", "dictionary", "mixed"],
)
def test_whole_numbers_keep_all_digits(values: Any) -> None:
    sketch = Kll(numbers="long")
    sketch.insert_batch(values)
    one_by_one = Kll(numbers="long")
    for number in WHOLE:
        one_by_one.insert(number)
    for data in (bytes(sketch), bytes(one_by_one)):
        assert all(number.to_bytes(8, "little", signed=True) in data for number in WHOLE)


def test_whole_numbers_out_of_range_become_the_nearest_one() -> None:
    for values in (
        [2**63, 2**64 - 1, 2**70],
        np.array([2**63, 2**64 - 1], "u8"),
        pa.array([2**63], pa.uint64()),
    ):
        sketch = Kll(numbers="long")
        sketch.insert_batch(values)
        assert (2**63 - 1).to_bytes(8, "little") in bytes(sketch)
    doubles = Kll()
    doubles.insert_batch(pa.array([2**63 + 2**40], pa.uint64()))
    answer = doubles.quantile(0.5)
    assert answer is not None and answer.value == 2.0**63 + 2.0**40


def test_req_and_digests_are_read_both_ways() -> None:
    values = [float(number * 7919 % 20_011) for number in range(20_000)]
    req, digest = Req(), TDigest()
    req.insert_batch(values)
    digest.insert_batch(pa.array(values))
    their_req, their_digest = ds.req_floats_sketch(12, True), ds.tdigest_double(200)
    small = ds.tdigest_float(100)
    for value in values:
        their_req.update(value)
        their_digest.update(value)
        small.update(value)
    for share in (0.0, 0.001, 0.01, 0.5, 0.999, 1.0):
        digests: list[tuple[Any, Any]] = [
            (digest.quantile(share), ds.tdigest_double.deserialize(bytes(digest)).get_quantile(share)),
            (TDigest.from_bytes(their_digest.serialize()).quantile(share), their_digest.get_quantile(share)),
            (TDigest.from_bytes(small.serialize()).quantile(share), small.get_quantile(share)),
        ]
        for ours, theirs in digests:
            # Centroids at the ends are single numbers. Between others the libraries interpolate differently.
            is_end = not 0.001 < share < 0.999
            assert ours.value == pytest.approx(theirs, abs=1e-9 if is_end else 600)
            assert ours.value == pytest.approx(share * 20_011, abs=100)
        if share not in (0.0, 1.0):
            given = ds.req_floats_sketch.deserialize(bytes(req))
            pairs: list[tuple[Any, Any]] = [
                (req.quantile(share), given.get_quantile(share, True)),
                (Req.from_bytes(their_req.serialize()).quantile(share), their_req.get_quantile(share, True)),
            ]
            for ours, theirs in pairs:
                assert ours.value == theirs
                assert ours.value == pytest.approx(share * 20_011, abs=900)  # six standard errors
    both = digest | TDigest.from_bytes(their_digest.serialize())
    assert both.count == 40_000 and digest.count == 20_000


@pytest.mark.parametrize("count", [0, 3, 500, 20_000])
def test_frequent_items_are_read_both_ways(count: int) -> None:
    chance = random.Random(5)
    keys = [f"kéy {int(2 ** (chance.random() * 12))}" for _ in range(count)]
    exact = Counter(keys)
    ours, theirs = FrequentItems(8), ds.frequent_strings_sketch(8)
    ours.insert_batch(keys)
    for key in keys:
        theirs.update(key)
    read, given = (
        FrequentItems.from_bytes(theirs.serialize()),
        ds.frequent_strings_sketch.deserialize(bytes(ours)),
    )
    assert read.total == theirs.total_weight == given.total_weight == ours.total == count
    for key, truth in exact.items():
        assert truth in ours.frequency(key) and truth in read.frequency(key)
        assert read.frequency(key).upper == theirs.get_upper_bound(key)
        assert (given.get_lower_bound(key), given.get_upper_bound(key)) == (
            ours.frequency(key).lower,
            ours.frequency(key).upper,
        )
    merged = read | ours
    assert all(2 * truth in merged.frequency(key) for key, truth in exact.items())
    assert [key for key, _ in ours.top(1)] == [key for key, _ in exact.most_common(1)]


def test_weights_that_other_systems_cannot_count_are_refused() -> None:
    words = FrequentItems()
    for wrong in (-1, 2**63, 2**64):
        with pytest.raises(InvalidParameterError, match=rf"weight: expected 0 to 2\^63 - 1, found {wrong}"):
            words.add("a", wrong)
    words.add("a", 2**63 - 2)
    with pytest.raises(InvalidParameterError, match=r"weights that add up to less than 2\^63"):
        words.add("b", 2)
    words.add("b", 1)
    assert words.total == ds.frequent_strings_sketch.deserialize(bytes(words)).total_weight == 2**63 - 1


def test_a_filter_has_the_layout_that_is_documented() -> None:
    """Version, family, flags, hashes, seed, words of bits, bits set, bits; double hashing with XXH64."""
    ours = BloomFilter(1_000, 0.01)
    members = [f"key {number}" for number in range(800)]
    ours.insert_batch(members)
    data = bytes(ours)
    assert data[:4] == bytes([4, 1, 21, 0])
    hashes, seed = int.from_bytes(data[4:6], "little"), int.from_bytes(data[8:16], "little")
    words = int.from_bytes(data[16:20], "little")
    assert (hashes, seed, 64 * words) == (ours.hashes, 9001, ours.bits)
    bits = int.from_bytes(data[32:], "little")
    assert bits.bit_count() == int.from_bytes(data[24:32], "little")

    def contains(key: str) -> bool:
        first = xxhash.xxh64_intdigest(key.encode(), seed)
        second = xxhash.xxh64_intdigest(key.encode(), first)
        places = ((((first + i * second) % 2**64) >> 1) % (64 * words) for i in range(1, hashes + 1))
        return all(bits >> place & 1 for place in places)

    assert all(contains(key) and key in ours for key in members)
    others = [f"other {number}" for number in range(5_000)]
    assert [contains(key) for key in others] == [key in ours for key in others]
    assert sum(key in ours for key in others) < 100
    assert 800 in ours.items() and ours.false_positive_rate < 0.01
    with pytest.raises(IncompatibleError):
        ours.merge(BloomFilter(2_000))
    with pytest.raises(IncompatibleError, match="keys: expected 'text', found 'int'"):
        ours.merge(BloomFilter(1_000, keys="int"))


def samples() -> list[Any]:
    kll, req, digest = Kll(), Req(16, high_ranks=False), TDigest(100)
    longs = Kll(numbers="long")
    for sketch in (kll, req, digest, longs):
        sketch.insert_batch(range(3_000))
    cpc, items, seen = Cpc(9, keys="int"), FrequentItems(6, keys="int"), BloomFilter(500, keys="int")
    for keyed in (cpc, items, seen):
        keyed.insert_batch(range(400))
    return [kll, longs, req, digest, cpc, items, seen]


@pytest.mark.parametrize("sketch", samples(), ids=lambda sketch: type(sketch).__name__)
def test_copies_pickles_and_refusals(sketch: Any) -> None:
    # Bytes alone do not say what the keys are.
    keys = {"keys": sketch.keys} if isinstance(sketch, Cpc | BloomFilter) else {}
    for again in (
        pickle.loads(pickle.dumps(sketch)),
        copy.copy(sketch),
        copy.deepcopy(sketch),
        type(sketch).from_bytes(bytes(sketch), **keys),
    ):
        assert again == sketch and repr(again) == repr(sketch)
        # Frequent items are stored in no order.
        assert isinstance(sketch, FrequentItems) or bytes(again) == sketch.to_bytes()
        again.insert_batch(range(3_000, 3_100))
        assert again != sketch
    if keys:
        assert type(sketch).from_bytes(bytes(sketch)) != sketch
    before = bytes(sketch)
    joined = sketch.copy()
    joined |= sketch
    assert bytes(sketch) == before
    with pytest.raises(DecodeError):
        type(sketch).from_bytes(bytes(Hll()))
    with pytest.raises(TypeError):
        type(sketch).from_bytes("text")


def test_hostile_bytes_are_an_error_or_a_sketch() -> None:
    chance = random.Random(3)
    for sketch in samples():
        original = bytes(sketch)
        for _ in range(300):
            damaged = bytearray(original)
            for _ in range(chance.randrange(1, 4)):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            try:
                again = type(sketch).from_bytes(bytes(damaged))
            except DecodeError as error:
                assert error.kind == "foreign"
                continue
            again.insert(1)
            again.to_bytes()


def test_settings_out_of_range_are_refused() -> None:
    assert "lg_k: expected 4 to 16" in refused(Cpc, 17)
    assert "k: expected 8 to 65535, found 7" in refused(Kll, 7)
    assert "numbers: expected 'double', 'float' or 'long'" in refused(Kll, numbers="half")
    assert "k" in refused(Req, 3) and "k" in refused(TDigest, 9)
    assert "lg_size: expected 3 to 16" in refused(FrequentItems, 17)
    assert "false_positive_rate" in refused(BloomFilter, 10, 1.5)
    with pytest.raises(KeyTypeError):
        FrequentItems(keys="int").insert("7")
