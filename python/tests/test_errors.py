"""One tree of exceptions, each also the built-in one it resembles."""

import pickle

import pytest

import crivo
from crivo import (
    BudgetExceededError,
    CrivoError,
    DecodeError,
    IncompatibleError,
    InvalidParameterError,
    KeyTypeError,
)


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (InvalidParameterError, ValueError),
        (IncompatibleError, ValueError),
        (DecodeError, ValueError),
        (KeyTypeError, TypeError),
        (BudgetExceededError, RuntimeError),
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
