"""Types of the native half. The docstrings are those of the module itself; a test compares them."""

from typing import Any, ClassVar, SupportsIndex, final

from typing_extensions import Self

from crivo._typing import Hashes, Key, KeyKind, Keys

__all__ = ["Estimate", "HyperLogLog"]

@final
class Estimate:
    """A number with the interval that holds the truth.

    `certain` tells bounds that no input can break from bounds that hold with the stated
    confidence. `truth in estimate` asks whether a number lies in the interval.

    >>> from crivo import Estimate
    >>> visitors = Estimate(1702788, 1689000, 1716000, confidence=0.95)
    >>> print(visitors)
    1 702 788 ± 0.8 %
    >>> 1_700_000 in visitors, visitors.certain
    (True, False)
    """

    def __new__(cls, value: float, lower: float, upper: float, confidence: float = 0.95) -> Self: ...
    @property
    def value(self) -> float:
        """The answer itself."""

    @property
    def lower(self) -> float:
        """The lower end of the interval."""

    @property
    def upper(self) -> float:
        """The upper end of the interval."""

    @property
    def confidence(self) -> float:
        """How sure the interval is: a probability, 1.0 if certain."""

    @property
    def certain(self) -> bool:
        """Whether the bounds hold for every input."""

    @property
    def relative_error(self) -> float:
        """The larger distance from the value to a bound, as a share of the value."""

    def __contains__(self, truth: float, /) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __float__(self) -> float: ...
    def __reduce__(self) -> tuple[type[Estimate], tuple[float, float, float, float]]: ...

@final
class HyperLogLog:
    """Counts different items in 2^precision bytes, with a standard error of 1.04/√(2^precision);
    exactly while they are few.

    `keys` says what the items are. With "text", the default, a value is keyed by its text (bytes
    as they are, integers in decimal, floats as Python writes them, True as true, times in ISO
    8601), so that a column gives the same sketch from CSV, Parquet, NumPy or a list. With "int" the keys are
    64-bit integers and nothing else is accepted. With "hash" they are hashes of the caller's
    own, given to `insert_hashes`. Only sketches with the same `keys` and `seed` can be merged.

    >>> from crivo import HyperLogLog
    >>> visitors = HyperLogLog(precision=12)
    >>> visitors.insert_batch(("ana", "rui", None, "ana"))
    1
    >>> print(visitors.estimate())
    2
    """

    def __new__(
        cls, precision: SupportsIndex = 14, *, keys: KeyKind = "text", seed: SupportsIndex = 0
    ) -> Self: ...
    @staticmethod
    def for_error(error: float, *, keys: KeyKind = "text", seed: SupportsIndex = 0) -> HyperLogLog:
        """An empty sketch of the smallest size whose standard error is at most `error`.

        >>> HyperLogLog.for_error(0.01).precision
        14
        """

    @staticmethod
    def precision_for(error: float) -> int:
        """The smallest precision whose standard error is at most `error`."""

    @staticmethod
    def standard_error(precision: SupportsIndex) -> float:
        """The standard error of a large count, as a share of it.

        >>> round(HyperLogLog.standard_error(14), 4)
        0.0081
        """

    @staticmethod
    def exact_up_to(precision: SupportsIndex) -> int:
        """How many different items are counted exactly.

        >>> HyperLogLog.exact_up_to(14)
        1536
        """

    @property
    def precision(self) -> int:
        """The base-2 logarithm of the number of registers."""

    @property
    def keys(self) -> KeyKind:
        """What the keys are: "text", "int" or "hash"."""

    @property
    def seed(self) -> int:
        """The seed of the hash."""

    @property
    def memory(self) -> int:
        """Bytes of memory in use."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was inserted. (The sketch itself is always true, as objects are.)"""

    def insert(self, key: Key) -> None:
        """Adds one key. `KeyTypeError` if it is not of the sketch's kind; None is no key either.

        >>> orders = HyperLogLog(keys="int")
        >>> orders.insert(1234)
        >>> orders.insert("1234")
        Traceback (most recent call last):
        ...
        crivo.errors.KeyTypeError: key: expected an integer, found str '1234' (...)
        """

    def insert_batch(self, values: Keys) -> int:
        """Adds many keys and returns how many missing values (None, NaN, null) were skipped.

        `values` is a list or other iterable, a NumPy array, or a column of anything that speaks
        the Arrow interface: pyarrow, polars, pandas, and others. Arrow and NumPy columns are read in
        place and without the GIL; NumPy arrays of text or objects are read as lists. A column of
        a type that holds no keys is refused whole; an iterable is inserted up to the first value
        that is no key, and the `KeyTypeError` names its position.
        """

    def insert_hashes(self, hashes: Hashes) -> int:
        """Adds hashes of the caller's own, as 64-bit integers, to a sketch with `keys="hash"`, and
        returns how many missing values were skipped. They must be uniform over all 64 bits.
        """

    def estimate(self, confidence: float = 0.95) -> Estimate:
        """The number of different items, with bounds at the given confidence; exact, and certain,
        up to `exact_up_to(precision)`.

        >>> numbers = HyperLogLog(14)
        >>> numbers.insert_batch(range(100_000))
        0
        >>> estimate = numbers.estimate(confidence=0.99)
        >>> 100_000 in estimate, estimate.relative_error < 0.03
        (True, True)
        """

    def merge(self, other: HyperLogLog) -> None:
        """Makes this the sketch of both streams. `IncompatibleError`, and no change, if the
        two differ in a way that forbids it.
        """

    def __or__(self, other: HyperLogLog, /) -> HyperLogLog: ...
    def __ror__(self, other: HyperLogLog, /) -> HyperLogLog: ...
    def __ior__(self, other: HyperLogLog, /) -> Self: ...
    def copy(self) -> HyperLogLog:
        """An independent copy."""

    def __copy__(self) -> HyperLogLog: ...
    def __deepcopy__(self, _memo: Any) -> HyperLogLog: ...
    def __eq__(self, other: object, /) -> bool: ...

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def to_bytes(self) -> bytes:
        """The sketch as bytes: the contents of a `.crivo` file, the same from every
        language. `bytes(sketch)` does the same.
        """

    def __bytes__(self) -> bytes: ...
    @staticmethod
    def from_bytes(data: bytes | bytearray | memoryview) -> HyperLogLog:
        """The sketch that the bytes hold. `DecodeError`, whose `kind` tells why, if they are
        not the whole and undamaged bytes of such a sketch.
        """

    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...
