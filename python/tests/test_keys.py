"""Which keys are in a list, a NumPy array, an Arrow column?

This file is long because every kind of input has its keys listed.
"""

import datetime
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import reference

from crivo import CountMin, HyperLogLog, KeyTypeError

WORDS = ["a", "maçã", "日本語", "x" * 300] + [f"user{i}" for i in range(5000)]
INTEGERS = [0, 1, -1, 42, 2**31, -(2**63), 2**63 - 1] + list(range(1000, 4000))


def sketch_of(values: Any, skipped: int = 0, **arguments: Any) -> bytes:
    sketch = HyperLogLog(**arguments)
    assert sketch.insert_batch(values) == skipped
    return bytes(sketch)


def one_by_one(values: list[Any], **arguments: Any) -> bytes:
    sketch = HyperLogLog(**arguments)
    for value in values:
        sketch.insert(value)
    return bytes(sketch)


@pytest.mark.parametrize("precision", [4, 12, 18])
@pytest.mark.parametrize("seed", [0, 2**64 - 1])
def test_text_gives_the_bytes_of_the_format_from_every_input(precision: int, seed: int) -> None:
    expected = reference.of_keys(WORDS, precision, seed=seed)
    arguments: dict[str, Any] = {"precision": precision, "seed": seed}
    assert one_by_one(WORDS, **arguments) == expected
    encoded = [word.encode() for word in WORDS]
    inputs: list[Any] = [
        WORDS,
        tuple(WORDS),
        set(WORDS),
        (word for word in WORDS),
        dict.fromkeys(WORDS),
        encoded,
        [bytearray(word) for word in encoded],
        np.array(WORDS),
        np.array(WORDS, dtype=object),
        np.array(WORDS, dtype=np.dtypes.StringDType()),
        pl.Series(WORDS),
        pl.Series(WORDS, dtype=pl.Categorical),
        pd.Series(WORDS),
        pd.Series(WORDS, dtype=object),
        pd.Series(WORDS, dtype="category"),
        pd.Series(WORDS, dtype=pd.ArrowDtype(pa.string())),
        pd.Index(WORDS),
        pa.chunked_array([WORDS[:10], [], WORDS[10:]]),
        pa.array(WORDS).dictionary_encode(),
        pa.array(encoded, pa.large_binary()).dictionary_encode(),
    ]
    for text_type in (pa.string(), pa.large_string(), pa.string_view()):
        inputs.append(pa.array(WORDS, text_type))
    for bytes_type in (pa.binary(), pa.large_binary(), pa.binary_view()):
        inputs.append(pa.array(encoded, bytes_type))
    for values in inputs:
        assert sketch_of(values, **arguments) == expected, type(values)


def test_bytes_need_not_be_text() -> None:
    keys = [bytes([first, second, 0, 255]) for first in range(256) for second in range(5)]
    expected = reference.of_keys(keys)
    assert sketch_of(keys) == expected
    assert sketch_of(pa.array(keys, pa.binary(4))) == expected
    assert sketch_of(pa.array([*keys, None], pa.binary(4)), skipped=1) == expected
    assert sketch_of(np.array(keys, dtype="S4")) == expected


@pytest.mark.parametrize("kind", ["text", "int"])
def test_integers_are_the_same_keys_from_every_input(kind: Any) -> None:
    keys: list[Any] = INTEGERS if kind == "int" else [str(i) for i in INTEGERS]
    expected = reference.of_keys(keys, kind=kind)
    array = np.array(INTEGERS, dtype=np.int64)
    assert one_by_one(INTEGERS, keys=kind) == expected
    inputs: list[Any] = [
        INTEGERS,
        iter(INTEGERS),
        array,
        np.repeat(array, 2)[::2],
        array.astype(">i8"),
        array.astype(object),
        list(array),
        pa.array(INTEGERS, pa.int64()),
        pa.array(INTEGERS, pa.int64()).dictionary_encode(),
        pl.Series(INTEGERS),
        pd.Series(INTEGERS),
    ]
    for values in inputs:
        assert sketch_of(values, keys=kind) == expected, type(values)


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("sign", ["i", "u"])
@pytest.mark.parametrize("kind", ["text", "int"])
def test_integers_of_every_width_are_the_same_keys(width: int, sign: str, kind: Any) -> None:
    limits = np.iinfo(f"{sign}{width}")
    values = [limits.min, limits.max, 0, 1, 100]
    expected = sketch_of(values, keys=kind)
    array = np.array(values, dtype=f"{sign}{width}")
    assert sketch_of(array, keys=kind) == expected
    assert sketch_of(pa.array(array), keys=kind) == expected


def test_empty_text_is_missing_from_a_column_but_can_be_inserted() -> None:
    """docs/keys.md: a CSV field cannot tell empty from missing, so no column does."""
    expected = reference.of_keys(["a", "b"])
    column = ["a", "", None, "b", ""]
    inputs: list[Any] = [column, pa.array(column), pa.array(column, pa.string_view()), pl.Series(column)]
    for values in [*inputs, pa.array(column).dictionary_encode(), np.array(column, dtype=object)]:
        assert sketch_of(values, skipped=3) == expected
    assert sketch_of([b"", b"a", b"b"], skipped=1) == expected
    assert one_by_one(["a", "", "b"]) == reference.of_keys(["a", "", "b"]) != expected


def test_decimals_keep_their_scale() -> None:
    column = pa.array([Decimal("12.50"), Decimal("-0.05"), None, Decimal("3.00")])
    expected = reference.of_keys(["12.50", "-0.05", "3.00"])
    for kind in (pa.decimal128(10, 2), pa.decimal256(40, 2)):
        assert sketch_of(column.cast(kind), skipped=1) == expected
    values = column.to_pylist()
    for objects in (values, np.array(values, dtype=object), pd.Series(values), pl.Series(values)):
        assert sketch_of(objects, skipped=1) == expected
    plain = {"1E+3": "1000", "-0.00": "0.00", "1E-7": "0.0000001", "-7": "-7"}
    assert sketch_of(map(Decimal, plain)) == reference.of_keys(plain.values())
    assert sketch_of([Decimal("NaN")], skipped=1) == reference.of_keys([])


def test_numbers_stand_for_their_shortest_text() -> None:
    floats = [0.1, 1.0, -2.5, 1e21, 1e-7, -0.0, float("inf"), 123456789.125]
    texts = ["0.1", "1.0", "-2.5", "1e+21", "1e-07", "-0.0", "inf", "123456789.125"]
    assert texts == [repr(value) for value in floats], "the text is the one that Python writes"
    expected = reference.of_keys(texts)
    for values in (floats, np.array(floats), pa.array(floats), pl.Series(floats), pd.Series(floats)):
        assert sketch_of(values) == expected
    singles = np.array([0.1, 16777216.0, 3.4e38], dtype=np.float32)
    expected = reference.of_keys(["0.1", "16777216.0", "3.4e+38"])
    assert sketch_of(singles) == sketch_of(pa.array(singles)) == sketch_of(list(singles)) == expected
    halves = np.array([0.5, 2048], dtype=np.float16)
    assert sketch_of(halves) == sketch_of(pa.array(halves)) == sketch_of(list(halves))


def test_random_floats_are_written_as_python_writes_them() -> None:
    generator = np.random.default_rng(1)
    bits = generator.integers(0, 2**64, 5000, dtype="u8").view("f8")
    near = 10.0 ** generator.uniform(-8, 25, 5000) * generator.choice([-1, 1], 5000)
    whole = generator.integers(-(10**7), 10**7, 1000).astype("f8")
    floats = np.concatenate([bits[np.isfinite(bits)], near, whole])
    for value in floats:
        assert sketch_of([value]) == sketch_of([repr(float(value))]), value
    assert sketch_of(floats) == sketch_of(list(floats)) == sketch_of([repr(float(value)) for value in floats])


def test_random_floats_of_32_bits_have_the_digits_that_suffice_for_them() -> None:
    generator = np.random.default_rng(2)
    floats = generator.integers(0, 2**32, 5000, dtype="u4").view("f4")
    floats = floats[np.isfinite(floats)]
    for value in floats:
        # The fewest digits for 32 bits, laid out as Python lays out a float of those digits.
        assert sketch_of([value]) == sketch_of([repr(float(np.format_float_scientific(value)))]), value
    assert sketch_of(floats) == sketch_of(list(floats))


def test_long_integers_are_text_like_any_other() -> None:
    assert sketch_of([2**64, -(10**30)]) == reference.of_keys([str(2**64), str(-(10**30))])
    assert sketch_of([2**64 - 1]) == sketch_of(np.array([2**64 - 1])) == reference.of_keys([str(2**64 - 1)])
    with pytest.raises(KeyTypeError, match="value 0: .*found one with too many digits"):
        HyperLogLog().insert_batch([10**5000])


def test_booleans_are_true_and_false() -> None:
    expected = reference.of_keys(["true", "false"])
    values = [True, False, True]
    for column in (values, np.array(values), pa.array(values), list(np.array(values)), pl.Series(values)):
        assert sketch_of(column) == expected


def test_times_are_iso_8601_from_every_input() -> None:
    naive = [
        datetime.datetime(1969, 12, 31, 23, 59, 59),
        datetime.datetime(2024, 2, 29, 1, 2, 3, 500_000),
        datetime.datetime(2024, 2, 29, 1, 2, 3, 4),
    ]
    texts = ["1969-12-31T23:59:59", "2024-02-29T01:02:03.500000", "2024-02-29T01:02:03.000004"]
    expected = reference.of_keys(texts)
    inputs: list[Any] = [naive, np.array(naive, "M8[us]"), np.array(naive, "M8[ns]"), pl.Series(naive)]
    inputs += [pa.array(naive, pa.timestamp(unit)) for unit in ("us", "ns")] + [pd.Series(naive)]
    for values in inputs:
        assert sketch_of(values) == expected
    coarse = np.array(["2024-02-29T01:00"], "M8[m]")
    assert sketch_of(coarse) == reference.of_keys(["2024-02-29T01:00:00"])


def test_times_with_a_zone_are_keyed_in_utc() -> None:
    lisbon = datetime.timezone(datetime.timedelta(hours=1))
    aware = datetime.datetime(2024, 7, 1, 13, tzinfo=lisbon)
    expected = reference.of_keys(["2024-07-01T12:00:00Z"])
    assert sketch_of([aware]) == expected
    for zone in ("UTC", "Europe/Lisbon", "+05:30"):
        assert sketch_of(pa.array([aware], pa.timestamp("ms", zone))) == expected


def test_times_of_pandas_and_numpy_are_keyed_as_their_columns_are() -> None:
    """Their classes inherit from Python's, and have nanoseconds."""
    texts = ["2024-02-29T01:02:03.500000", "2024-02-29T01:02:03.000000004", "1900-01-01T00:00:00"]
    expected = reference.of_keys(texts)
    assert sketch_of([pd.NaT, *map(pd.Timestamp, texts)], skipped=1) == expected
    assert sketch_of([np.datetime64("NaT"), *(np.datetime64(text) for text in texts)], skipped=1) == expected
    assert sketch_of([np.datetime64("2024-02"), np.datetime64("2024-02-29T01")]) == reference.of_keys(
        ["2024-02-01", "2024-02-29T01:00:00"]
    )
    local = [pd.Timestamp("2024-07-01T13:00", tz="Europe/Lisbon"), pd.Timestamp(4, tz="Asia/Kolkata")]
    expected = reference.of_keys(["2024-07-01T12:00:00Z", "1970-01-01T00:00:00.000000004Z"])
    assert sketch_of(local) == one_by_one(local) == expected
    series = pd.Series(["2024-07-01T13:00", None, "2024-12-01T13:00"]).astype("datetime64[ns]")
    expected = reference.of_keys(["2024-07-01T12:00:00Z", "2024-12-01T13:00:00Z"])
    zoned = series.dt.tz_localize("Europe/Lisbon")
    assert sketch_of(zoned, skipped=1) == sketch_of(zoned.array, skipped=1) == expected

    class Moment(datetime.datetime):
        pass

    assert sketch_of([Moment(2024, 1, 2)]) == reference.of_keys(["2024-01-02T00:00:00"])


def test_moments_before_the_first_year_have_a_key() -> None:
    east = datetime.timezone(datetime.timedelta(hours=5))
    assert sketch_of([datetime.datetime(1, 1, 1, tzinfo=east)]) == reference.of_keys(["0000-12-31T19:00:00Z"])


def test_objects_in_a_polars_column_are_keyed_one_by_one() -> None:
    """Arrow is given their addresses."""
    assert sketch_of(pl.Series(["a", 7], dtype=pl.Object)) == reference.of_keys(["a", "7"])


def test_extensions_of_arrow_are_read_if_they_say_what_they_store() -> None:
    key = bytes(range(16))
    assert sketch_of(pa.array([key], pa.uuid())) == reference.of_keys([key])
    assert sketch_of(pa.array(['{"a": 1}'], pa.json_())) == reference.of_keys(['{"a": 1}'])
    with pytest.raises(KeyTypeError, match=r"the extension type 'arrow\.bool8' of Int8"):
        HyperLogLog().insert_batch(pa.array([1], pa.bool8()))


def test_long_integers_of_polars_are_keyed_by_their_digits() -> None:
    column = pl.Series([2**100, None, -5], dtype=pl.Int128)
    assert sketch_of(column, skipped=1) == reference.of_keys([str(2**100), "-5"])


def test_days_and_times_of_day_are_iso_8601() -> None:
    days = [datetime.date(1969, 7, 20), datetime.date(2024, 2, 29)]
    expected = reference.of_keys(["1969-07-20", "2024-02-29"])
    inputs: list[Any] = [days, np.array(days, "M8[D]"), pa.array(days), pa.array(days, pa.date64())]
    for values in [*inputs, pl.Series(days)]:
        assert sketch_of(values) == expected
    times = [datetime.time(1, 2, 3), datetime.time(23, 59, 59, 999_000)]
    expected = reference.of_keys(["01:02:03", "23:59:59.999000"])
    assert sketch_of(times) == sketch_of(pa.array(times)) == sketch_of(pl.Series(times)) == expected
    assert (
        sketch_of(pa.array(times, pa.time32("ms"))) == sketch_of(pa.array(times, pa.time64("ns"))) == expected
    )


def test_nullable_integers_keep_all_their_digits() -> None:
    long = [2**53 + 1, 2**63 - 1]
    nullable = pd.array([*long, None], dtype="Int64")
    for column in (nullable, pd.Index(nullable), pd.Series(nullable)):
        assert sketch_of(column, skipped=1) == sketch_of(long)


def test_years_beyond_four_digits_have_a_sign_and_six() -> None:
    seconds = 253_402_300_800  # the first of the year 10000
    column = pa.array([seconds], pa.timestamp("s"))
    assert sketch_of(column) == reference.of_keys(["+010000-01-01T00:00:00"])


@pytest.mark.parametrize("kind", ["text", "int"])
def test_missing_values_are_skipped_and_counted(kind: Any) -> None:
    expected = sketch_of([1, 2], keys=kind)
    nan = float("nan")
    assert sketch_of([1, None, nan, 2, np.nan, pd.NA, pd.NaT], skipped=5, keys=kind) == expected
    assert sketch_of(pa.array([None, 1, 2, None]), skipped=2, keys=kind) == expected
    assert sketch_of(pa.array([None, 1, 2, None]).dictionary_encode(), skipped=2, keys=kind) == expected
    assert sketch_of(pl.Series([1, None, 2]), skipped=1, keys=kind) == expected
    nullable = pd.array([1, None, 2], dtype="Int64")
    assert sketch_of(nullable, skipped=1, keys=kind) == expected
    assert sketch_of(pd.Series(nullable), skipped=1, keys=kind) == expected
    for nothing in (pa.nulls(7), pl.Series([None] * 7)):
        assert sketch_of(nothing, skipped=7, keys=kind) == sketch_of([], keys=kind)
    masked = np.ma.MaskedArray([1, 9, 2], mask=[False, True, False])
    assert sketch_of(masked, skipped=1, keys=kind) == expected


def test_missing_floats_texts_and_times_are_skipped_and_counted() -> None:
    nan = float("nan")
    for column in (np.array([1.5, nan]), pa.array([1.5, nan]), pl.Series([1.5, None]), pd.Series([1.5, nan])):
        assert sketch_of(column, skipped=1) == reference.of_keys(["1.5"])
    for text_type in (pa.string(), pa.large_string(), pa.string_view()):
        assert sketch_of(pa.array(["a", None, "b"], text_type), skipped=1) == reference.of_keys(["a", "b"])
    assert sketch_of(pd.Series(["a", None]), skipped=1) == reference.of_keys(["a"])
    assert sketch_of(np.array(["NaT", "2024-01-01"], "M8[D]"), skipped=1) == reference.of_keys(["2024-01-01"])
    # A pandas column of integers with a gap holds floats, and is keyed as floats are.
    assert sketch_of(pd.Series([1, None, 2]), skipped=1) == reference.of_keys(["1.0", "2.0"])


def test_slices_of_arrow_columns_hold_only_their_own_values() -> None:
    for text_type in (
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.string()),
    ):
        column = pa.array(["a", None, "b", "c", None], text_type)
        assert sketch_of(column.slice(1, 2), skipped=1) == reference.of_keys(["b"])
    assert sketch_of(pa.array([b"ab", b"cd", b"ef"], pa.binary(2)).slice(1, 1)) == reference.of_keys([b"cd"])
    assert sketch_of(pa.array([True, False]).slice(1)) == reference.of_keys(["false"])


def test_runs_of_equal_values_are_keyed_as_often_as_they_occur() -> None:
    column = pa.array(["a"] * 3000 + [None] * 2000 + ["b"] + [""] * 5)
    runs = pc.run_end_encode(column)
    assert sketch_of(runs, skipped=2005) == reference.of_keys(["a", "b"])
    assert sketch_of(runs.slice(2990, 2011), skipped=2000) == reference.of_keys(["a", "b"])
    counts = CountMin(64, 4)
    counts.insert_batch(runs)
    assert counts.frequency("a").value == 3000
    integers = pc.run_end_encode(pa.array([7, 7, 8]))
    assert sketch_of(integers, keys="int") == sketch_of([7, 8], keys="int")


def test_a_dictionary_is_keyed_as_its_values_are() -> None:
    plain = pa.array([None if i % 5 == 0 else WORDS[i % 50] for i in range(20_000)])
    expected = sketch_of(plain, skipped=4000)
    categories = plain.dictionary_encode()
    assert sketch_of(categories, skipped=4000) == expected
    chunks = pa.chunked_array([categories.slice(0, 7), categories.slice(7, 30), categories.slice(37)])
    assert sketch_of(chunks, skipped=4000) == expected
    dates = pa.array([datetime.date(2024, 1, 1 + i % 9) for i in range(100)])
    assert sketch_of(dates.dictionary_encode()) == sketch_of(dates)
    # A value that is null or empty, and one that no row has.
    values = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0], pa.int8()), ["a", None, "", "unused"])
    assert sketch_of(values, skipped=2) == reference.of_keys(["a"])


def test_a_refused_column_is_named_with_its_type() -> None:
    for kind in (pa.list_(pa.int64()), pa.duration("s")):
        table = pa.table({"tags": pa.array([None], kind)})
        with pytest.raises(KeyTypeError, match=r"found (List|Duration).* in column 'tags'"):
            HyperLogLog().insert_batch(table)


def test_the_end_of_a_day_is_a_time_and_what_is_before_its_beginning_is_not() -> None:
    end = pa.array([86_400_000_000], pa.int64()).cast(pa.time64("us"))
    assert sketch_of(end) == reference.of_keys(["24:00:00"])
    with pytest.raises(KeyTypeError, match="expected a time of day, found -1 Second"):
        HyperLogLog().insert_batch(pa.array([-1], pa.int32()).cast(pa.time32("s")))


def test_empty_inputs_insert_nothing() -> None:
    inputs: list[Any] = [[], (), iter([]), np.array([]), np.array([], dtype="U1"), pa.array([], pa.string())]
    inputs += [pa.chunked_array([], pa.string()), pl.Series([], dtype=pl.String), pd.Series([], dtype=object)]
    for values in inputs:
        sketch = HyperLogLog()
        assert sketch.insert_batch(values) == 0
        assert sketch.is_empty


def test_mixed_lists_are_keyed_value_by_value() -> None:
    mixed = ["1", 1, 1.0, b"1", True, np.int8(1), np.float32(0.1), 0.1]
    assert sketch_of(mixed) == reference.of_keys(["1", "1.0", "true", "0.1"])


def test_a_stream_made_by_python_code_is_read() -> None:
    """Reading it takes the GIL, which must not be held by a thread that waits for the sketch."""
    schema = pa.schema([("word", pa.string())])

    class Column:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            chunks = pa.chunked_array([pa.array(WORDS[i : i + 100]) for i in range(0, len(WORDS), 100)])
            return chunks.__arrow_c_stream__(requested_schema)

    assert sketch_of(Column()) == reference.of_keys(WORDS)

    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch([pa.array(["a"])], schema=schema)

    reader = pa.RecordBatchReader.from_batches(schema, batches())
    assert sketch_of(reader) == reference.of_keys(["a"]), "the only column of a table is a column"


def test_the_only_column_of_a_table_is_a_column() -> None:
    expected = reference.of_keys(WORDS)
    for table in (pa.table({"word": WORDS}), pa.record_batch({"word": WORDS}), pl.DataFrame({"word": WORDS})):
        assert sketch_of(table) == expected
    with pytest.raises(KeyTypeError, match="Struct"):
        HyperLogLog().insert_batch(pa.table({"a": [1], "b": [2]}))
    # A structure that may be missing is no table.
    with pytest.raises(KeyTypeError, match="Struct"):
        HyperLogLog().insert_batch(pa.chunked_array([pa.array([{"a": 1}, None])]))


@pytest.mark.parametrize(
    "values",
    [
        "text",
        b"bytes",
        3,
        None,
        np.array(3),
        np.zeros((2, 2)),
        np.array([1j]),
        np.array([1], "m8[s]"),
        np.array([(1, 2)], dtype=[("a", "i4"), ("b", "i4")]),
        pa.array([[1]]),
        pa.array([{"a": 1}]),
        pa.table({"a": [1], "b": [2]}),
        pl.DataFrame({"a": [1], "b": [2]}),
        pl.LazyFrame({"a": [1]}),
        bytearray(b"bytes"),
        memoryview(b"bytes"),
        pd.Series(pd.period_range("2024-01", periods=2, freq="M")),
        pl.Series([object()], dtype=pl.Object),
        [Decimal("Infinity")],
        [Decimal("1E+999999999")],
        [Decimal("1E-999999999")],
        [datetime.time(1, tzinfo=datetime.timezone.utc)],
        [datetime.timedelta(1)],
        [object()],
        [["nested"]],
        [pa.scalar(1.5)],
        ["\ud800"],
        [1j],
    ],
    ids=repr,
)
def test_what_holds_no_keys_is_refused(values: Any) -> None:
    sketch = HyperLogLog()
    with pytest.raises(KeyTypeError):
        sketch.insert_batch(values)
    assert sketch.is_empty


@pytest.mark.parametrize(
    "values",
    [
        ["1"],
        [b"1"],
        [1.0],
        [True],
        [2**64],
        [-(2**63) - 1],
        [10**400],
        [np.float32(1)],
        [np.bool_(True)],
        [datetime.date(2024, 1, 1)],
        np.array(["1"]),
        np.array([1.0]),
        np.array([True]),
        np.array(["2024-01-01"], "M8[D]"),
        np.array([2**64], dtype=object),
        pa.array(["1"]),
        pa.array(["1"], pa.string_view()),
        pa.array([b"1"], pa.binary(1)),
        pa.array([1.0]),
        pa.array([True]),
        pa.array(["1"]).dictionary_encode(),
    ],
    ids=repr,
)
def test_an_integer_sketch_takes_integers_of_64_bits_only(values: Any) -> None:
    sketch = HyperLogLog(keys="int")
    with pytest.raises(KeyTypeError, match="integer"):
        sketch.insert_batch(values)
    assert sketch.is_empty


def test_integers_are_two_s_complement() -> None:
    assert sketch_of([-1], keys="int") == sketch_of([2**64 - 1], keys="int")


def test_a_refused_value_is_named_and_those_before_it_are_inserted() -> None:
    sketch = HyperLogLog()
    with pytest.raises(KeyTypeError, match=r"^value 20000: .*found list \[\]"):
        sketch.insert_batch([*range(20_000), [], "never reached"])  # type: ignore[list-item]
    assert bytes(sketch) == sketch_of(range(20_000))


def test_an_exception_of_the_iterator_comes_through() -> None:
    def failing() -> Iterator[str]:
        yield "a"
        raise RuntimeError("the source failed")

    sketch = HyperLogLog()
    with pytest.raises(RuntimeError, match="the source failed"):
        sketch.insert_batch(failing())
    assert bytes(sketch) == sketch_of(["a"])


def test_hashes_of_the_caller() -> None:
    hashes = [reference.hashed(word) for word in WORDS]
    expected = reference.of_hashes(hashes)
    array = np.array(hashes, dtype=np.uint64)
    for values in (hashes, array, array.view(np.int64), pa.array(array), pl.Series(array)):
        sketch = HyperLogLog(keys="hash")
        assert sketch.insert_hashes(values) == 0
        assert bytes(sketch) == expected


def test_hashes_and_keys_do_not_mix() -> None:
    hashes = HyperLogLog(keys="hash")
    for narrow in (np.arange(3, dtype=np.int32), pa.array([1], pa.uint8())):
        with pytest.raises(KeyTypeError, match="64-bit"):
            hashes.insert_hashes(narrow)
    with pytest.raises(KeyTypeError, match="insert_hashes"):
        hashes.insert(1)
    with pytest.raises(KeyTypeError, match="insert_hashes"):
        hashes.insert_batch([1])
    with pytest.raises(KeyTypeError, match="keys='hash'"):
        HyperLogLog().insert_hashes([1])
