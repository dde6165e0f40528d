"""The border to engines that run functions of Python inside of theirs."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from crivo.errors import InternalError

P = ParamSpec("P")
R = TypeVar("R")


def guarded(function: Callable[P, R]) -> Callable[P, R]:
    """The function, whose panics are exceptions. The one that pyo3 raises for a panic is none of those that
    `except Exception` catches, so that it would pass every handler of an engine and of its caller.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            if is_panic(error):
                raise InternalError(f"crivo has a defect, please report it: {error}") from error
            raise

    return call


def is_panic(error: BaseException) -> bool:
    """Whether an exception is a panic of the native module. Its class cannot be imported."""
    kind = type(error)
    return (kind.__module__, kind.__name__) == ("pyo3_runtime", "PanicException")
