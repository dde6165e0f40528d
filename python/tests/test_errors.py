"""One tree of exceptions, each also the built-in one it resembles."""

import pickle
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import crivo
from crivo import (
    BudgetExceededError,
    CrivoError,
    DecodeError,
    IncompatibleError,
    InternalError,
    InvalidParameterError,
    KeyTypeError,
)
from crivo.errors import _raised_inside


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (InvalidParameterError, ValueError),
        (IncompatibleError, ValueError),
        (DecodeError, ValueError),
        (KeyTypeError, TypeError),
        (BudgetExceededError, RuntimeError),
        (InternalError, RuntimeError),
    ],
)
def test_every_error_is_a_crivo_error_and_a_builtin(error: type[Exception], builtin: type[Exception]) -> None:
    assert issubclass(error, CrivoError)
    assert issubclass(error, builtin)


def test_the_message_is_the_library_s() -> None:
    with pytest.raises(CrivoError) as caught:
        crivo.HyperLogLog(30)
    assert str(caught.value) == "precision: expected 4 to 18, found 30"


def test_errors_survive_a_pickle() -> None:
    """They cross process borders in multiprocessing and Spark."""
    with pytest.raises(DecodeError) as caught:
        crivo.HyperLogLog.from_bytes(b"GIF89a")
    restored = pickle.loads(pickle.dumps(caught.value))
    assert type(restored) is DecodeError
    assert (str(restored), restored.kind) == (str(caught.value), "foreign")


def test_an_exception_of_crivo_comes_through_an_arrow_stream() -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"x": ["a"]})
        crivo.decode(b"zzz")

    def other() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"x": ["a"]})
        raise ZeroDivisionError("of another kind")

    def stream(rows: Iterator[pa.RecordBatch]) -> Any:
        return pa.RecordBatchReader.from_batches(pa.schema({"x": pa.string()}), rows)

    for read in (crivo.HyperLogLog(10).insert_batch, crivo.near_duplicates):
        with pytest.raises(crivo.DecodeError, match='^magic: expected the bytes "CRVO", found "zzz"'):
            read(stream(batches()))
        with pytest.raises(RuntimeError, match="of another kind"):
            read(stream(other()))
    for read_table in (crivo.profile, crivo.dedup, crivo.passages):
        with pytest.raises(crivo.DecodeError, match='^magic: expected the bytes "CRVO", found "zzz"'):
            read_table(stream(batches()))
        with pytest.raises(pa.ArrowException, match="of another kind"):
            read_table(stream(other()))


def test_the_kind_of_a_decode_error_comes_through_an_arrow_stream() -> None:
    whole = bytes(crivo.HyperLogLog(10))
    damaged = whole[:-1] + bytes([whole[-1] ^ 1])
    for data in (b"zzz", whole[:-3], whole + b"x", damaged, bytes(crivo.UltraLogLog(10))):
        with pytest.raises(DecodeError) as expected:
            crivo.HyperLogLog.from_bytes(data)

        def batches(data: bytes = data) -> Iterator[pa.RecordBatch]:
            yield pa.record_batch({"x": ["a"]})
            crivo.HyperLogLog.from_bytes(data)

        with pytest.raises(DecodeError) as caught:
            schema = pa.schema({"x": pa.string()})
            crivo.profile(pa.RecordBatchReader.from_batches(schema, batches()))
        assert (str(caught.value), caught.value.kind) == (str(expected.value), expected.value.kind)
    assert len({DecodeError(f"number {number}").kind for number in range(1000)}) == 1
    assert len(crivo.errors._kinds) <= 64


def test_only_classes_of_crivo_are_raised_again() -> None:
    assert type(_raised_inside("Invalid: x\ncrivo.errors.KeyTypeError: no key\n")) is KeyTypeError
    for text in ("", "crivo.errors.Literal: x", "crivo.errors.NoSuchError: x", "ValueError: x"):
        assert _raised_inside(text) is None, text
