"""The exceptions of crivo: one tree, in which each also is the built-in one it resembles.

The messages are the library's: they name the field, what was expected and what was found.
"""

from typing import Literal

DecodeFailure = Literal[
    "foreign",
    "truncated",
    "trailing_bytes",
    "future_version",
    "damaged",
    "wrong_family",
    "invalid_contents",
]


class CrivoError(Exception):
    """Any failure that crivo reports."""


class InvalidParameterError(CrivoError, ValueError):
    """A size, probability or other setting lies outside its range."""


class IncompatibleError(CrivoError, ValueError):
    """Two sketches, or a sketch and a key, differ in a way that forbids combining them."""


class AbsentError(CrivoError, KeyError):
    """What was to be removed is certainly not there."""

    # A KeyError would show its message as the repr of a key.
    __str__ = Exception.__str__


class BudgetExceededError(CrivoError, RuntimeError):
    """A private report would give away more of a person than was promised."""


class OutOfMemoryError(CrivoError, MemoryError):
    """The memory that the settings ask for cannot be had."""


class InternalError(CrivoError, RuntimeError):
    """A defect of crivo itself, which engines are told as an exception like any other. Please report it."""


class KeyTypeError(CrivoError, TypeError):
    """A value is no key of the kind that the sketch was built for."""


class DecodeError(CrivoError, ValueError):
    """The bytes are not a whole, undamaged sketch of the kind asked for.

    ``kind`` tells why: "foreign" (no crivo sketch at all), "truncated", "trailing_bytes",
    "damaged" (the checksum does not match), "future_version" (written by a newer crivo),
    "wrong_family" (another kind of sketch) or "invalid_contents".
    """

    kind: DecodeFailure

    def __init__(self, message: str, kind: DecodeFailure = "invalid_contents") -> None:
        super().__init__(message)
        self.kind = kind
        _remember(message, kind)


_REMEMBERED = 64
_kinds: dict[str, DecodeFailure] = {}


def _remember(message: str, kind: DecodeFailure) -> None:
    """Keeps the kinds of the latest messages for `_raised_inside`, which has nothing but a text."""
    first, *_ = message.splitlines() or [""]
    _kinds.pop(first, None)
    _kinds[first] = kind
    for oldest in list(_kinds)[:-_REMEMBERED]:
        _kinds.pop(oldest, None)


def _raised_inside(text: str) -> CrivoError | None:
    """Returns the exception of crivo that ended a stream of Arrow, or None if something else did.

    Only a text comes through Arrow's interface. If Python feeds the stream, that text ends with a traceback,
    whose last line has the class and the message.
    """
    for line in reversed(text.splitlines()):
        name, _, message = line.removeprefix("crivo.errors.").partition(": ")
        raised = globals().get(name)
        if line.startswith("crivo.errors.") and isinstance(raised, type) and issubclass(raised, CrivoError):
            if issubclass(raised, DecodeError):
                return raised(message, _kinds.get(message, "invalid_contents"))
            return raised(message)
    return None
