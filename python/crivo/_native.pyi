"""Types of the native half. The docstrings are those of the module itself; a test compares them.

Classes whose name begins with an underscore exist only here, for what several sketches have in common.

This file is long because it has every class of the module.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Literal, SupportsFloat, SupportsIndex, final, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from crivo._hitter import Hitter
from crivo._table import (
    ColumnDates,
    Correlation,
    Dependency,
    Histogram,
    Outliers,
    Spread,
    TableDrift,
    TextPattern,
)
from crivo._typing import (
    ArrowArray,
    ArrowStream,
    ColumnType,
    CounterBits,
    Features,
    Hashes,
    Indexes,
    InterchangeKeys,
    Key,
    KeyKind,
    Keys,
    Numbers,
    Reading,
    RealWeights,
    Texts,
    Times,
    ValueKind,
    Weights,
)

__all__ = [
    "Bands",
    "BenchmarkOverlap",
    "BinaryFuse",
    "BlockedBloom",
    "Bloom",
    "BloomFilter",
    "ColumnProfile",
    "CombinedFilter",
    "Comparison",
    "CountMin",
    "CounterArray",
    "CountingBloom",
    "Cpc",
    "DDSketch",
    "DirectTable",
    "DistinctGrowth",
    "Estimate",
    "ExactDistinct",
    "FeatureHasher",
    "FrequentItems",
    "Groups",
    "HeavyHitters",
    "Hll",
    "HyperLogLog",
    "KMinValues",
    "KeyQuantiles",
    "Kll",
    "LinearCounting",
    "LogLog",
    "LshIndex",
    "Majority",
    "MinHash",
    "MorrisCounter",
    "NearDuplicateShare",
    "NearDuplicates",
    "NumberQuantiles",
    "OverlapFinder",
    "Panes",
    "PassageFinder",
    "PrivateClient",
    "PrivateCountMean",
    "ProbabilisticCounting",
    "ProfiledColumn",
    "Protocol",
    "RangeCountMin",
    "RepeatedPassages",
    "Req",
    "Reservoir",
    "RowSample",
    "SampledCounter",
    "Signer",
    "Similar",
    "SimilarPair",
    "TDigest",
    "TableProfile",
    "Tally",
    "Theta",
    "UltraLogLog",
    "Verifier",
    "WeightedReservoir",
    "approximate_collision_probability",
    "benchmark_overlap",
    "collision_probability",
    "decode",
    "djb31ma",
    "forge",
    "forge_after",
    "frequency_bounds",
    "items_for_collision",
    "jaccard",
    "near_duplicates",
    "repeated_passages",
    "shingles",
    "sketch_lists",
]

__version__: str

@final
class Estimate:
    """A number with the interval that holds the true value.

    `certain` distinguishes bounds that no input can break from bounds that hold with the stated
    confidence. `truth in estimate` is True if a number lies in the interval. Where a number is
    expected, `float`, `int`, `round` and formats such as `f"{estimate:,.0f}"` use the value.

    >>> from crivo import Estimate
    >>> visitors = Estimate(1702788, 1689000, 1716000, confidence=0.95)
    >>> print(visitors)
    1 702 788 ± 0.8 %
    >>> 1_700_000 in visitors, visitors.certain
    (True, False)
    >>> round(visitors, -3), f"{visitors:,.0f}"
    (1703000.0, '1,702,788')
    """

    def __new__(cls, value: float, lower: float, upper: float, confidence: float = 0.95) -> Self: ...
    @property
    def value(self) -> float:
        """The estimated value."""

    @property
    def lower(self) -> float:
        """The lower end of the interval."""

    @property
    def upper(self) -> float:
        """The upper end of the interval."""

    @property
    def confidence(self) -> float:
        """The probability with which the interval holds the true value; 1.0 if certain."""

    @property
    def certain(self) -> bool:
        """True if the bounds hold for every input."""

    @property
    def relative_error(self) -> float:
        """The distance from the value to the farther bound, as a share of the value."""

    def __contains__(self, truth: float, /) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __float__(self) -> float: ...
    def __int__(self) -> int: ...
    @overload
    def __round__(self, ndigits: None = None) -> int: ...
    @overload
    def __round__(self, ndigits: SupportsIndex) -> float: ...
    def __format__(self, format_spec: str) -> str: ...
    def _repr_html_(self) -> str:
        """What a notebook shows: the value and its error, and the bounds when it is pointed at."""

    def __reduce__(self) -> tuple[type[Estimate], tuple[float, float, float, float]]: ...

# ---- what sketches have in common ----

# A key that a sketch gives back.
_GivenKey = str | bytes | int

class _Stored:
    def merge(self, other: Self) -> None:
        """Makes this the sketch of both streams. `IncompatibleError`, and no change, if the
        two differ in a way that forbids it.
        """

    def __or__(self, other: Self, /) -> Self: ...
    def __ror__(self, other: Self, /) -> Self: ...
    def __ior__(self, other: Self, /) -> Self: ...
    def reseed(self, part: SupportsIndex) -> None:
        """Derives a new random seed from the current one and `part`, so that sketches of
        separate parts of a stream draw independently. No effect on sketches that draw
        nothing.
        """

    def copy(self) -> Self:
        """An independent copy."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def to_bytes(self) -> bytes:
        """The sketch as bytes: the contents of a `.crivo` file, the same from every
        language. `bytes(sketch)` does the same.
        """

    def __bytes__(self) -> bytes: ...
    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> Self:
        """The sketch that the bytes hold. `DecodeError`, whose `kind` tells why, if they are
        not the whole and undamaged bytes of such a sketch.
        """

    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...

class _Sketch(_Stored):
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
        """Whether nothing was inserted. (A sketch without a length is always true, as objects
        are.)
        """

class _TakesBatches(_Sketch):
    def insert_batch(self, values: Keys) -> int:
        """Adds many keys and returns how many missing values (None, NaN, null, empty text)
        were skipped.

        `values` is a list or other iterable, a NumPy array, or a column of anything that
        speaks the Arrow interface: pyarrow, polars, pandas, and others. Arrow and NumPy
        columns are read in place and without the GIL; NumPy arrays of text or objects are
        read as lists. A column of a type that holds no keys is refused whole; an iterable
        is inserted up to the first value that is no key, and the `KeyTypeError` names its
        position.
        """

class _TakesHashes(_TakesBatches):
    def insert_hashes(self, hashes: Hashes) -> int:
        """Adds hashes of the caller's own, as 64-bit integers, to a sketch with `keys="hash"`,
        and returns how many missing values were skipped. They must be uniform over all 64
        bits.
        """

# ---- how many events? ----

@final
class SampledCounter(_Stored):
    """Counts each event with a fixed probability p: after k events the standard error is √((1 −
    p)/(p·k)).

    Random draws follow from the seed, so the same events give the same counter. Counters that will
    be merged need different seeds, or their errors add up.

    >>> from crivo import SampledCounter
    >>> requests = SampledCounter(1 / 64, seed=7)
    >>> requests.add(1_000_000)
    >>> requests.value < 20_000, 1_000_000 in requests.estimate()
    (True, True)
    """

    def __new__(cls, probability: float, *, seed: SupportsIndex = 0) -> Self: ...
    @staticmethod
    def for_error(error: float, events: float, *, seed: SupportsIndex = 0) -> SampledCounter:
        """Returns a counter whose standard error after `events` events is `error`."""

    @staticmethod
    def probability_for(error: float, events: float) -> float:
        """The probability with which the standard error after `events` events is `error`.

        >>> SampledCounter.probability_for(0.5, 12)
        0.25
        """

    @staticmethod
    def standard_error(probability: float, events: float) -> float:
        """The standard error after `events` events, as a share of them.

        >>> round(SampledCounter.standard_error(1 / 64, 10_000), 3)
        0.079
        """

    def increment(self) -> None:
        """Counts one event."""

    def add(self, events: SupportsIndex) -> None:
        """Counts many events. Same result as one by one, at the cost of the events that are sampled."""

    def estimate(self, confidence: float = 0.95) -> Estimate:
        """The number of events, with bounds at the given confidence. If every event is sampled, it is
        exact and certain.
        """

    @property
    def probability(self) -> float:
        """The probability with which an event is sampled."""

    @property
    def value(self) -> int:
        """The number of events that were sampled."""

    @property
    def is_empty(self) -> bool:
        """True if no event was sampled yet."""

    @property
    def is_saturated(self) -> bool:
        """True if the value is the largest that can be stored. It stays there, and only a lower bound
        is known.
        """

    @property
    def memory(self) -> int:
        """Bytes of memory in use."""

@final
class Tally(_Stored):
    """Counts events, and adds the numbers that some of them carry. Both are exact, so neither depends
    on the order of events or on how a stream was split. The sum is rounded once, when it is
    requested.

    >>> from crivo import Tally
    >>> sales = Tally()
    >>> sales.insert_batch([0.1] * 10)
    0
    >>> sales.add(2)
    >>> sales.count, sales.numbers, sales.sum, sales.mean
    (12, 10, 1.0, 0.1)
    """

    def __new__(cls) -> Self: ...
    def add(self, events: SupportsIndex) -> None:
        """Counts `events` events without a number."""

    def insert(self, number: SupportsFloat | SupportsIndex) -> None:
        """Counts one event with a number. NaN and infinities are counted but not added."""

    def insert_batch(self, values: Numbers) -> int:
        """Counts one event for each number, and returns the number of missing values (None, null) that
        were skipped.

        `values` is a list or other iterable, a NumPy array, or a column of any library with the
        Arrow interface. Columns of floats are read in place and without the GIL.
        """

    def estimate(self) -> Estimate:
        """The number of events, as an `Estimate` like that of other counters. Exact here."""

    @property
    def count(self) -> int:
        """The number of events."""

    @property
    def numbers(self) -> int:
        """The number of events that carried a finite number."""

    @property
    def sum(self) -> float | None:
        """The sum of the numbers. None if there were none."""

    @property
    def mean(self) -> float | None:
        """The mean of the numbers. None if there were none."""

    @property
    def is_empty(self) -> bool:
        """True if nothing was counted. (As an object without a length, a sketch itself is always
        true.)
        """

    @property
    def memory(self) -> int:
        """Bytes of memory in use."""

@final
class MorrisCounter(_Stored):
    """Counts events on a logarithmic scale: in 4 to 16 bits, with a standard error of √((base − 1)/2)
    at any count.

    Random draws follow from the seed, so the same events give the same counter. Counters that will
    be merged need different seeds, or their errors add up.

    >>> from crivo import MorrisCounter
    >>> views = MorrisCounter.for_reach(1e10, counter_bits=8, seed=7)
    >>> views.add(3_000_000)
    >>> views.value < 256, 3_000_000 in views.estimate()
    (True, True)
    """

    def __new__(cls, base: float, counter_bits: SupportsIndex, *, seed: SupportsIndex = 0) -> Self: ...
    @staticmethod
    def for_reach(reach: float, counter_bits: SupportsIndex, *, seed: SupportsIndex = 0) -> MorrisCounter:
        """Returns the most precise counter of `counter_bits` bits that counts up to `reach` events."""

    @staticmethod
    def for_error(error: float, counter_bits: SupportsIndex, *, seed: SupportsIndex = 0) -> MorrisCounter:
        """Returns a counter with a standard error of `error`. Its width decides its reach."""

    @staticmethod
    def base_for(reach: float, counter_bits: SupportsIndex) -> float:
        """The smallest base with which a counter of `counter_bits` bits counts up to `reach` events.

        >>> round(MorrisCounter.base_for(1e10, 8), 3)
        1.084
        """

    @staticmethod
    def base_for_error(error: float) -> float:
        """The base whose standard error is `error`.

        >>> MorrisCounter.base_for_error(0.5)
        1.5
        """

    @staticmethod
    def standard_error(base: float) -> float:
        """The standard error of a large count, as a share of it.

        >>> MorrisCounter.standard_error(1.5)
        0.5
        """

    def increment(self) -> None:
        """Counts one event."""

    def add(self, events: SupportsIndex) -> None:
        """Counts many events. Same result as one by one, at the cost of the steps by which the value
        rises.
        """

    def estimate(self, confidence: float = 0.95) -> Estimate:
        """The number of events, with bounds at the given confidence. Zero events are exact. A
        saturated counter has no upper bound.
        """

    @property
    def base(self) -> float:
        """The base of the scale."""

    @property
    def counter_bits(self) -> int:
        """The width in bits."""

    @property
    def value(self) -> int:
        """The counter's value: the number of times that it was raised."""

    @property
    def highest(self) -> int:
        """The highest value, at which the counter stays."""

    @property
    def reach(self) -> float:
        """The largest estimate: the estimate at the highest value."""

    @property
    def is_empty(self) -> bool:
        """True if nothing was counted."""

    @property
    def is_saturated(self) -> bool:
        """True if the value is at its highest. It stays there, and only a lower bound is known."""

    @property
    def memory(self) -> int:
        """Bytes of memory in use. The value takes few of them: see `CounterArray`."""

@final
class CounterArray(_Stored):
    """Counts the events of very many kinds, approximately, with one counter of 4, 8 or 16 bits for
    each kind. Kinds are numbered from 0.

    Each counter is a `MorrisCounter`, with a relative standard error of √((base − 1)/2). Random
    draws follow from the seed, so the same calls in the same order give the same array. Arrays that
    will be merged need different seeds, or their errors add up.

    >>> from crivo import CounterArray
    >>> views = CounterArray.for_reach(1_000_000, reach=1e10, counter_bits=8, seed=7)
    >>> views.increment_batch([3, 999_999, 3])
    >>> views.add(17, 5000)
    >>> 5000 in views.estimate(17), len(views), views.memory < 1_010_000
    (True, 1000000, True)
    """

    def __new__(
        cls, len: SupportsIndex, base: float, counter_bits: SupportsIndex, *, seed: SupportsIndex = 0
    ) -> Self: ...
    @staticmethod
    def for_reach(
        len: SupportsIndex, reach: float, counter_bits: SupportsIndex, *, seed: SupportsIndex = 0
    ) -> CounterArray:
        """Returns the `len` most precise counters of `counter_bits` bits that each count up to `reach`
        events.
        """

    @staticmethod
    def base_for(reach: float, counter_bits: SupportsIndex) -> float:
        """The smallest base with which counters of `counter_bits` bits count up to `reach` events.

        >>> round(CounterArray.base_for(1e10, 16), 4)
        1.0002
        """

    def increment(self, index: SupportsIndex) -> None:
        """Counts one event of the given index.

        >>> CounterArray(10, 1.1, 8).increment(10)
        Traceback (most recent call last):
        ...
        crivo.errors.InvalidParameterError: index: expected 0 to 9, found 10
        """

    def increment_batch(self, indexes: Indexes) -> None:
        """Counts one event of each of the given indexes, which may repeat. Same result as one by one,
        but faster.

        `indexes` is a NumPy array of integers, an object that converts to one, or an iterable of
        integers. A NumPy array of 64-bit integers is read in place and without the GIL. If an index
        has no counter, nothing is counted.
        """

    def add(self, index: SupportsIndex, events: SupportsIndex) -> None:
        """Counts many events of one index. The cost is the number of steps by which its counter rises."""

    def estimate(self, index: SupportsIndex, confidence: float = 0.95) -> Estimate:
        """The number of events of an index, with bounds at the given confidence. Zero events are
        exact. A saturated counter has no upper bound.
        """

    def total(self, confidence: float = 0.95) -> Estimate:
        """The number of events of all indexes together, with bounds at the given confidence. The
        errors of the counters average out: a million counters of 20 % give a sum of 0.02 % if none
        of them dominates.
        """

    def value(self, index: SupportsIndex) -> int:
        """The value of a counter: the number of times that it was raised."""

    def values(self) -> NDArray[np.uint16]:
        """The values of all counters, in the order of their indexes, as a NumPy array.

        >>> array = CounterArray(4, 1.1, 8)
        >>> array.increment_batch([2, 0])
        >>> array.values().tolist()
        [1, 0, 1, 0]
        """

    @property
    def counter_bits(self) -> int:
        """The width of a counter in bits."""

    @property
    def base(self) -> float:
        """The base of the scale."""

    @property
    def highest(self) -> int:
        """The highest value of a counter, at which it stays."""

    @property
    def reach(self) -> float:
        """The largest estimate of one counter: the estimate at its highest value."""

    @property
    def saturated(self) -> int:
        """The number of counters at their highest value. They stay there, and have no upper bound."""

    @property
    def memory(self) -> int:
        """Bytes of memory in use."""

    def __len__(self) -> int: ...

# ---- how many different? ----

class _Distinct(_TakesHashes):
    def insert(self, key: Key) -> None:
        """Adds one key. `KeyTypeError` if it is not of the sketch's kind; None is no key
        either. Empty text is a key here, but `insert_batch` skips it.
        """

    def estimate(self, confidence: float = 0.95) -> Estimate:
        """The number of different items, with bounds at the given confidence."""

@final
class HyperLogLog(_Distinct):
    """Counts different items in 2^precision bytes, with a standard error of 1.04/√(2^precision). Small
    counts are exact.

    `keys` says what the items are. With "text", the default, a value is keyed by its text: bytes as
    they are, integers in decimal, floats as Python writes them, True as true, times in ISO 8601. So
    a column gives the same sketch from CSV, Parquet, NumPy or a list. With "int" the keys are
    64-bit integers and nothing else is accepted. With "hash" they are hashes of the caller's own,
    given to `insert_hashes`. Only sketches with the same `keys` and `seed` can be merged.

    >>> from crivo import HyperLogLog
    >>> visitors = HyperLogLog(precision=12)
    >>> visitors.insert_batch(("ana", "rui", None, "ana"))
    1
    >>> print(visitors.estimate())
    2
    >>> numbers = HyperLogLog(14)
    >>> numbers.insert_batch(range(100_000))
    0
    >>> estimate = numbers.estimate(confidence=0.99)
    >>> 100_000 in estimate, estimate.relative_error < 0.03
    (True, True)
    >>> orders = HyperLogLog(keys="int")
    >>> orders.insert(1234)
    >>> orders.insert("1234")
    Traceback (most recent call last):
    ...
    crivo.errors.KeyTypeError: key: expected an integer, found str '1234' (...)
    """

    def __new__(
        cls, precision: SupportsIndex = 14, *, keys: KeyKind = "text", seed: SupportsIndex = 0
    ) -> Self: ...
    @staticmethod
    def for_error(error: float, *, keys: KeyKind = "text", seed: SupportsIndex = 0) -> HyperLogLog:
        """Returns an empty sketch of the smallest size whose standard error is at most
        `error`.

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
        """The number of different items up to which counts are exact.

        >>> HyperLogLog.exact_up_to(14)
        1536
        """

    @staticmethod
    def history_error(precision: SupportsIndex) -> float:
        """The standard error of a large count of a sketch with history, as a share of the
        count.
        """

    def with_history(self) -> HyperLogLog:
        """Returns a copy that also uses the order in which items arrive. Its error is a fifth
        smaller in the same memory, until a merge ends the history. `InvalidParameterError`
        if the sketch is past its exact state.
        """

    @property
    def keeps_history(self) -> bool:
        """True if the sketch keeps a history."""

    @property
    def precision(self) -> int:
        """The base-2 logarithm of the number of registers."""

@final
class ExactDistinct(_Distinct):
    """Counts different items exactly, in 11 to 21 bytes for each.

    It keeps a 64-bit hash of each item, not the item. Among n different items, two share a hash and
    count as one with a probability of at most n²/2^65. `keys` and `seed` are those of
    `HyperLogLog`, which takes a few kilobytes for any number of items.

    >>> from crivo import ExactDistinct
    >>> visitors = ExactDistinct()
    >>> visitors.insert_batch(("ana", "rui", None, "ana"))
    1
    >>> visitors.estimate().value, visitors.estimate().certain
    (2.0, True)
    """

    def __new__(cls, *, keys: KeyKind = "text", seed: SupportsIndex = 0) -> Self: ...

@final
class LinearCounting(_Distinct):
    """Counts different items with a table of bits, for when their approximate number is known
    beforehand.

    With n items in L bits and t = n/L the standard error is √(L·(e^t − t − 1))/n: for a million
    items 1 % in 19 KiB. It grows without limit as the table fills. A full table gives only a lower
    bound. `HyperLogLog` needs no expected number; its documentation explains `keys`.

    >>> from crivo import LinearCounting
    >>> visitors = LinearCounting.for_items(100_000, 0.01)
    >>> visitors.insert_batch(range(100_000))
    0
    >>> estimate = visitors.estimate(confidence=0.99)
    >>> 100_000 in estimate, estimate.relative_error < 0.04, visitors.memory < 4000
    (True, True, True)
    """

    def __new__(cls, bits: SupportsIndex, *, keys: KeyKind = "text", seed: SupportsIndex = 0) -> Self: ...
    @staticmethod
    def for_items(
        items: SupportsIndex, error: float, *, keys: KeyKind = "text", seed: SupportsIndex = 0
    ) -> LinearCounting:
        """Returns an empty sketch with the fewest bits for which a count of up to `items` has a
        standard error of at most `error`.
        """

    @staticmethod
    def bits_for(items: SupportsIndex, error: float) -> int:
        """The fewest bits for which a count of up to `items` has a standard error of at most `error`,
        and the table is full with a probability of less than 1 %.

        >>> LinearCounting.bits_for(1_000_000, 0.01)
        154171
        """

    @staticmethod
    def standard_error(bits: SupportsIndex, items: SupportsIndex) -> float:
        """The standard error of a count of `items` with that number of bits, as a share of the count.

        >>> round(LinearCounting.standard_error(154_171, 1_000_000), 4)
        0.01
        """

    @property
    def bits(self) -> int:
        """The number of bits."""

    @property
    def is_full(self) -> bool:
        """True if every bit is set. From then on more items change nothing."""

@final
class KMinValues(_Distinct):
    """Keeps the k smallest hashes of a set. It estimates the number of different items, and the number
    that the set has in common with another.

    Below k different items every answer is exact. From k items on the standard error of the count
    is 1/√(k − 2), and 8·k bytes are kept. `compare` estimates the union, intersection, difference
    and similarity of two sets. To count only, `HyperLogLog` has the same error in a sixteenth of
    the memory. Its documentation explains `keys`.

    >>> from crivo import KMinValues
    >>> monday, tuesday = KMinValues(1024), KMinValues(1024)
    >>> monday.insert_batch(["ana", "rui", "eva"])
    0
    >>> tuesday.insert_batch(["rui", "zé"])
    0
    >>> compared = monday.compare(tuesday)
    >>> compared.union().value, compared.intersection().value, compared.jaccard().value
    (4.0, 1.0, 0.25)
    """

    def __new__(cls, k: SupportsIndex, *, keys: KeyKind = "text", seed: SupportsIndex = 0) -> Self: ...
    @staticmethod
    def for_error(error: float, *, keys: KeyKind = "text", seed: SupportsIndex = 0) -> KMinValues:
        """An empty sketch of the smallest size whose standard error is at most `error`.

        >>> KMinValues.for_error(0.02).k
        2502
        """

    @staticmethod
    def k_for(error: float) -> int:
        """The smallest k whose standard error is at most `error`.

        >>> KMinValues.k_for(0.01)
        10002
        """

    @staticmethod
    def standard_error(k: SupportsIndex) -> float:
        """The standard error of a large count, as a share of it; infinite for k up to 2."""

    @property
    def k(self) -> int:
        """The number of smallest hashes that are kept."""

    def compare(self, other: KMinValues) -> Comparison:
        """Compares this set with another. Sketches of different k can be compared too; the smaller k
        decides the error. `IncompatibleError` if their `keys` or `seed` differ.
        """

@final
class Comparison:
    """The comparison of two sets, made by `KMinValues.compare`.

    Each answer has bounds at the requested confidence. While both sketches hold all hashes of their
    sets, every answer is exact.

    >>> from crivo import KMinValues
    >>> evens, threes = (KMinValues(4096, keys="int", seed=1) for _ in range(2))
    >>> evens.insert_batch(range(0, 600_000, 2)), threes.insert_batch(range(0, 600_000, 3))
    (0, 0)
    >>> compared = evens.compare(threes)
    >>> 400_000 in compared.union(), 100_000 in compared.intersection()
    (True, True)
    >>> 200_000 in compared.difference(), 0.25 in compared.jaccard()
    (True, True)
    """

    def union(self, confidence: float = 0.95) -> Estimate:
        """The number of different items in either set."""

    def intersection(self, confidence: float = 0.95) -> Estimate:
        """The number of different items in both sets."""

    def difference(self, confidence: float = 0.95) -> Estimate:
        """The number of different items that are in the first set but not in the second."""

    def jaccard(self, confidence: float = 0.95) -> Estimate:
        """The Jaccard similarity: the intersection as a share of the union. It is 1 for two empty
        sets, because they are equal.
        """

    def __eq__(self, other: object, /) -> bool: ...

    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class ProbabilisticCounting(_Distinct):
    """Estimates the order of magnitude of the number of different items, in one byte.

    It keeps the longest run of zeros at the end of a hash, z, and answers 2^z. The answer is within
    a factor of 4 of the truth three times out of four. It is for study. To count, use
    `HyperLogLog`, which averages many such registers. Its documentation explains `keys`.

    >>> from crivo import ProbabilisticCounting
    >>> visitors = ProbabilisticCounting()
    >>> visitors.insert_batch(f"user{i}" for i in range(1000))
    0
    >>> visitors.longest_run, visitors.estimate().value
    (14, 16384.0)
    >>> 1000 in visitors.estimate()
    True
    """

    def __new__(cls, *, keys: KeyKind = "text", seed: SupportsIndex = 0) -> Self: ...
    @property
    def longest_run(self) -> int | None:
        """The longest run of zeros at the end of a hash, from 0 to 64. None if nothing was inserted."""

@final
class LogLog(_Distinct):
    """Counts different items in 2^precision bytes, with a standard error of 1.3/√(2^precision) from
    5·2^precision items on. Smaller counts are estimated too high, and their bounds are wide enough
    to hold.

    It is for study. To count, use `HyperLogLog`, which has the same registers, a smaller error and
    no bias. Its documentation explains `keys`.

    >>> from crivo import LogLog
    >>> visitors = LogLog.for_error(0.02)
    >>> visitors.insert_batch(range(100_000))
    0
    >>> estimate = visitors.estimate(confidence=0.99)
    >>> 100_000 in estimate, estimate.relative_error < 0.07
    (True, True)
    """

    def __new__(
        cls, precision: SupportsIndex, *, keys: KeyKind = "text", seed: SupportsIndex = 0
    ) -> Self: ...
    @staticmethod
    def for_error(error: float, *, keys: KeyKind = "text", seed: SupportsIndex = 0) -> LogLog:
        """Returns an empty sketch of the smallest size whose standard error is at most
        `error`.

        >>> LogLog.for_error(0.01).precision
        15
        """

    @staticmethod
    def precision_for(error: float) -> int:
        """The smallest precision whose standard error is at most `error`."""

    @staticmethod
    def standard_error(precision: SupportsIndex) -> float:
        """The standard error of a large count, as a share of it.

        >>> round(LogLog.standard_error(14), 4)
        0.0101
        """

    @property
    def precision(self) -> int:
        """The base-2 logarithm of the number of registers."""

@final
class UltraLogLog(_Distinct):
    """Counts different items in 2^precision bytes, with a standard error of 0.76/√(2^precision). Small
    counts are exact.

    The error is three quarters of that of `HyperLogLog` in the same memory, and an insert takes
    half as long again. `keys` and `seed` are as for `HyperLogLog`.

    >>> from crivo import UltraLogLog
    >>> visitors = UltraLogLog.for_error(0.01)
    >>> visitors.insert_batch(range(100_000))
    0
    >>> estimate = visitors.estimate(confidence=0.99)
    >>> 100_000 in estimate, estimate.relative_error < 0.03
    (True, True)
    """

    def __new__(
        cls, precision: SupportsIndex, *, keys: KeyKind = "text", seed: SupportsIndex = 0
    ) -> Self: ...
    @staticmethod
    def for_error(error: float, *, keys: KeyKind = "text", seed: SupportsIndex = 0) -> UltraLogLog:
        """Returns an empty sketch of the smallest size whose standard error is at most
        `error`.

        >>> UltraLogLog.for_error(0.01).precision
        13
        """

    @staticmethod
    def precision_for(error: float) -> int:
        """The smallest precision whose standard error is at most `error`."""

    @staticmethod
    def standard_error(precision: SupportsIndex) -> float:
        """The standard error of a large count, as a share of it.

        >>> round(UltraLogLog.standard_error(14), 4)
        0.0059
        """

    @staticmethod
    def exact_up_to(precision: SupportsIndex) -> int:
        """The number of different items up to which counts are exact.

        >>> UltraLogLog.exact_up_to(14)
        1536
        """

    @staticmethod
    def history_error(precision: SupportsIndex) -> float:
        """The standard error of a large count of a sketch with history, as a share of the
        count.
        """

    def with_history(self) -> UltraLogLog:
        """Returns a copy that also uses the order in which items arrive. Its error is a fifth
        smaller in the same memory, until a merge ends the history. `InvalidParameterError`
        if the sketch is past its exact state.
        """

    @property
    def keeps_history(self) -> bool:
        """True if the sketch keeps a history."""

    @property
    def precision(self) -> int:
        """The base-2 logarithm of the number of registers."""

# ---- is it in there? ----

@final
class DirectTable(_TakesBatches):
    """A set of integers from 0 to below `universe`, one bit for each that there could be: exact, and
    without false positives. `|`, `&` and `-` unite, intersect and subtract.

    Nothing is hashed: `seed` is only a label, and sets with different ones cannot be combined.

    >>> from crivo import DirectTable
    >>> ana, rui = DirectTable(1682), DirectTable(1682)
    >>> ana.insert_batch([3, 50, 181, 1681]), rui.insert_batch([50, 181])
    (0, 0)
    >>> ana.jaccard(rui)
    0.5
    >>> list(ana - rui), len(ana), 50 in rui
    ([3, 1681], 4, True)
    """

    def __new__(cls, universe: SupportsIndex, *, seed: SupportsIndex = 0) -> Self: ...
    def insert(self, key: SupportsIndex) -> bool:
        """Adds one integer; True if it is new. `IncompatibleError` if it is not below the universe;
        `KeyTypeError` if it is no integer.

        >>> ports = DirectTable(65_536)
        >>> ports.insert(443), ports.insert(443)
        (True, False)
        >>> ports.insert(-1)
        Traceback (most recent call last):
        ...
        crivo.errors.IncompatibleError: key: expected an integer of the universe, 0 to 65535, ...
        """

    def remove(self, key: SupportsIndex) -> None:
        """Takes one integer out. `AbsentError` if it is not in the set."""

    def contains(self, key: SupportsIndex) -> bool:
        """Whether the integer is in the set; `key in table` asks the same. One outside the universe is
        not.
        """

    def __contains__(self, key: SupportsIndex, /) -> bool: ...
    def contains_batch(self, values: Keys) -> NDArray[np.bool_]:
        """Whether each of many integers is in the set, as an array with an answer for every value, in
        their order. `values` is whatever `insert_batch` takes; missing values are not in there.
        """

    def intersect(self, other: DirectTable) -> None:
        """Keeps what is in both sets. `IncompatibleError`, and no change, if universe or seed differ."""

    def subtract(self, other: DirectTable) -> None:
        """Takes out what is in the other set, which may hold more than that. `IncompatibleError`, and
        no change, if universe or seed differ.
        """

    def jaccard(self, other: DirectTable) -> float:
        """The Jaccard similarity, |A ∩ B| / |A ∪ B|: 1.0 for equal sets, two empty ones among them,
        and 0.0 for sets that share nothing.
        """

    def __and__(self, other: DirectTable, /) -> DirectTable: ...
    def __rand__(self, other: DirectTable, /) -> DirectTable: ...
    def __iand__(self, other: DirectTable, /) -> Self: ...
    def __sub__(self, other: DirectTable, /) -> DirectTable: ...
    def __rsub__(self, other: DirectTable, /) -> DirectTable: ...
    def __isub__(self, other: DirectTable, /) -> Self: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[int]: ...
    def to_numpy(self) -> NDArray[np.uint64]:
        """The integers of the set, ascending, as an array."""

    def items(self) -> Estimate:
        """The number of integers in the set, as every sketch says it: exact here."""

    @property
    def universe(self) -> int:
        """The integers that can be in the set are those below this."""

    @property
    def fill(self) -> float:
        """The share of the universe that is in the set."""

class _Filter(_TakesHashes):
    def insert(self, key: Key) -> bool:
        """Adds one key; True if it was certainly not there before. `KeyTypeError` if it is not
        of the filter's kind; None is no key either. Empty text is a key here;
        `insert_batch` skips it.
        """

    def contains(self, key: Key) -> bool:
        """Whether the key may be in there; False is certain. `key in filter` asks the same."""

    def __contains__(self, key: Key, /) -> bool: ...
    def contains_batch(self, values: Keys) -> NDArray[np.bool_]:
        """Whether each of many keys may be in there, as an array with an answer for every
        value, in their order. `values` is whatever `insert_batch` takes; missing values are
        not in there.
        """

    def contains_hashes(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Whether the key of each of many hashes may be in there, in a filter with
        `keys="hash"`.
        """

    def items(self, confidence: float = 0.95) -> Estimate:
        """The number of different keys, with bounds at the given confidence."""

    def shared_items(self, other: Self, confidence: float = 0.95) -> Estimate:
        """The number of different keys that both filters hold, with bounds at the given
        confidence. `IncompatibleError` if the filters differ in size, `keys` or `seed`.
        """

    def intersection(self, other: Self) -> CombinedFilter:
        """The filter of what is in both sets, whatever the sizes of their filters; `a & b`
        makes the same. It knows that it is an intersection, and how many keys are shared.
        `IncompatibleError` if the filters differ in `keys` or `seed`.
        """

    def __and__(self, other: Self, /) -> CombinedFilter: ...
    def __rand__(self, other: Self, /) -> CombinedFilter: ...
    @property
    def capacity(self) -> int:
        """How many different keys the filter was made for; with more its rate exceeds what was
        asked for.
        """

    @property
    def fill(self) -> float:
        """The share of the filter that is in use."""

    @property
    def false_positive_rate(self) -> float:
        """The chance that a key which was not inserted is taken for one that was, at the
        present fill.
        """

@final
class CombinedFilter(_TakesHashes):
    """The union or the intersection of sets, from their filters: of any sizes, and of any of the kinds
    `Bloom`, `BlockedBloom` and `CountingBloom`. Made by `union`, by `intersection`, and by `&`
    between filters.

    The filters are kept side by side, so that an intersection knows how many keys its sets share.
    Filters of a union that have the same sizes are joined into one.

    >>> from crivo import Bloom, CombinedFilter
    >>> few, many = Bloom.for_items(10, 1e-6), Bloom.for_items(10_000, 1e-6)
    >>> few.insert_batch(["ana", "rui"]), many.insert_batch(["rui", "eva"])
    (0, 0)
    >>> either, both = CombinedFilter.union(few, many), CombinedFilter.intersection(few, many)
    >>> [name in either for name in ("ana", "rui", "gil")], [name in both for name in ("ana", "rui")]
    ([True, True, False], [False, True])
    """

    @staticmethod
    def union(first: _Filter | CombinedFilter, second: _Filter | CombinedFilter) -> CombinedFilter:
        """The filter of what is in one set or the other, whatever their filters are.
        `IncompatibleError` if their `keys` or `seed` differ.
        """

    @staticmethod
    def intersection(first: _Filter | CombinedFilter, second: _Filter | CombinedFilter) -> CombinedFilter:
        """The filter of what is in both sets, whatever their filters are. `IncompatibleError` if their
        `keys` or `seed` differ.
        """

    def __and__(self, other: CombinedFilter, /) -> CombinedFilter: ...
    def __rand__(self, other: CombinedFilter, /) -> CombinedFilter: ...
    def insert(self, key: Key) -> None:
        """Adds one key: to the largest filter of a union, to all filters of an intersection.
        `KeyTypeError` if it is not of the filter's kind; None is no key either. Empty text is a key
        here; `insert_batch` skips it.
        """

    def contains(self, key: Key) -> bool:
        """Whether the key may be in there; False is certain. `key in filter` asks the same."""

    def __contains__(self, key: Key, /) -> bool: ...
    def contains_batch(self, values: Keys) -> NDArray[np.bool_]:
        """Whether each of many keys may be in there, as an array with an answer for every value, in
        their order. `values` is whatever `insert_batch` takes; missing values are not in there.
        """

    def contains_hashes(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Whether the key of each of many hashes may be in there, in a filter with `keys="hash"`."""

    def items(self) -> Estimate:
        """The number of different keys, with bounds at 95 %: of a union from the largest of its sets
        to all of them together, of an intersection of two filters of one size the number that they
        share.
        """

    @property
    def false_positive_rate(self) -> float:
        """The most that the chance can be that a key which is in none of the sets is taken for a
        member.
        """

    @property
    def rate_for_some(self) -> float | None:
        """The chance that a key which is in some sets of an intersection, but not in all, is taken for
        a member; None if there is no intersection.
        """

    @property
    def filters(self) -> int:
        """How many filters there are."""

@final
class Bloom(_Filter):
    """Remembers keys in `bits` bits, `hashes` of them for each key: "no" is certain, and "yes" is
    wrong at a known rate. 9.6 bits a key give a rate of 1 %: `for_items` finds the size.

    `keys` and `seed` are as for `HyperLogLog`.

    >>> from crivo import Bloom
    >>> seen = Bloom.for_items(10_000, 0.01)
    >>> seen.insert("ana")
    True
    >>> seen.insert_batch(["rui", "eva", None])
    1
    >>> "rui" in seen, "zoe" in seen
    (True, False)
    >>> seen.contains_batch(["eva", "zoe", None, "ana"])
    array([ True, False, False,  True])
    """

    def __new__(
        cls, bits: SupportsIndex, hashes: SupportsIndex, *, keys: KeyKind = "text", seed: SupportsIndex = 0
    ) -> Self: ...
    @staticmethod
    def for_items(
        items: SupportsIndex, rate: float, *, keys: KeyKind = "text", seed: SupportsIndex = 0
    ) -> Bloom:
        """An empty filter of the smallest size that has the wanted false-positive rate with `items`
        different keys.

        >>> seen = Bloom.for_items(1_000_000, 0.01)
        >>> seen.bits, seen.hashes, seen.capacity
        (9592955, 7, 1000000)
        """

    @staticmethod
    def size_for(items: SupportsIndex, rate: float) -> tuple[int, int]:
        """The fewest bits, and how many of them a key sets, for `items` different keys at the wanted
        false-positive rate.

        >>> Bloom.size_for(1_000_000, 0.001)
        (14377640, 10)
        """

    @staticmethod
    def expected_rate(bits: SupportsIndex, hashes: SupportsIndex, items: SupportsIndex) -> float:
        """The false-positive rate that `items` different keys are expected to give.

        >>> round(Bloom.expected_rate(9_592_955, 7, 2_000_000), 3)
        0.157
        """

    @property
    def bits(self) -> int:
        """How many bits there are."""

    @property
    def hashes(self) -> int:
        """How many bits a key sets."""

@final
class BinaryFuse(_Sketch):
    """The filter of a finished set: "no" is certain, and "yes" is wrong for 0.39 % of absent keys, in
    9 bits a key. It is built from all keys at once; none can be added, and `merge` is refused:
    `Bloom` can do both.

    `values` is whatever `insert_batch` of other sketches takes; missing values are skipped and
    equal ones count once. With `keys="hash"` they are hashes. `keys` and `seed` are as for
    `HyperLogLog`.

    >>> from crivo import BinaryFuse
    >>> customers = BinaryFuse(["ana", "rui", "eva", "rui", None])
    >>> customers
    <BinaryFuse keys='text', seed=0: 3>
    >>> "rui" in customers, "gil" in customers
    (True, False)
    >>> customers.contains_batch(["eva", "gil", None])
    array([ True, False, False])
    """

    def __new__(cls, values: Keys | Hashes, *, keys: KeyKind = "text", seed: SupportsIndex = 0) -> Self: ...
    @staticmethod
    def table_bytes_for(items: SupportsIndex) -> int:
        """How many bytes the table for that many different keys has.

        >>> BinaryFuse.table_bytes_for(1_000_000)
        1130496
        """

    def contains(self, key: Key) -> bool:
        """Whether the key may be in the set; False is certain. `key in filter` asks the same."""

    def __contains__(self, key: Key, /) -> bool: ...
    def contains_batch(self, values: Keys) -> NDArray[np.bool_]:
        """Whether each of many keys may be in the set, as an array with an answer for every value, in
        their order. `values` is whatever the constructor takes; missing values are not in there.
        """

    def contains_hashes(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Whether the key of each of many hashes may be in the set, in a filter with `keys="hash"`."""

    def items(self) -> Estimate:
        """The number of different keys, which is known."""

    @property
    def fill(self) -> float:
        """The number of keys as a share of the table's bytes."""

    @property
    def false_positive_rate(self) -> float:
        """The chance that a key which is not in the set is taken for a member: 1/256, and 0 for the
        empty set.
        """

@final
class BlockedBloom(_Filter):
    """Remembers keys as `Bloom` does, in one cache line of 64 bytes a key: faster in large filters,
    for a little more memory, 10.1 bits a key at a rate of 1 %. `for_items` finds the size.

    `keys` and `seed` are as for `HyperLogLog`.

    >>> from crivo import BlockedBloom
    >>> seen = BlockedBloom.for_items(10_000, 0.01)
    >>> seen.insert("ana"), seen.insert("ana")
    (True, False)
    >>> seen.insert_batch(["rui", "eva", None])
    1
    >>> "rui" in seen, "zoe" in seen
    (True, False)
    """

    def __new__(cls, blocks: SupportsIndex, *, keys: KeyKind = "text", seed: SupportsIndex = 0) -> Self: ...
    @staticmethod
    def for_items(
        items: SupportsIndex, rate: float, *, keys: KeyKind = "text", seed: SupportsIndex = 0
    ) -> BlockedBloom:
        """An empty filter of the smallest size that has the wanted false-positive rate with `items`
        different keys.

        >>> seen = BlockedBloom.for_items(1_000_000, 0.01)
        >>> seen.blocks, seen.capacity
        (19726, 1000000)
        """

    @staticmethod
    def blocks_for(items: SupportsIndex, rate: float) -> int:
        """The fewest blocks for `items` different keys at the wanted false-positive rate.

        >>> BlockedBloom.blocks_for(1_000_000, 0.001)
        30713
        """

    @staticmethod
    def expected_rate(blocks: SupportsIndex, items: SupportsIndex) -> float:
        """The false-positive rate that `items` different keys are expected to give.

        >>> round(BlockedBloom.expected_rate(19_726, 2_000_000), 3)
        0.167
        """

    @property
    def blocks(self) -> int:
        """How many blocks of 64 bytes there are."""

@final
class CountingBloom(_Filter):
    """Remembers keys as `Bloom` does, counts them and lets them be removed again: `cells` counters of
    `counter_bits` bits (4, 8, 16 or 32), `hashes` of them for each key. `for_items` finds the size.

    Only remove what was inserted: removing a key that never was is refused where it can be noticed,
    and otherwise does harm to other keys. A counter at its largest value is saturated and never
    lowered again. `|` adds the counts of two filters, `-` takes them out and `&` keeps the lower
    ones.

    `keys` and `seed` are as for `HyperLogLog`.

    >>> from crivo import CountingBloom
    >>> senders = CountingBloom.for_items(100_000, 0.001)
    >>> senders.insert_batch(["ana", "rui", None, "ana"])
    1
    >>> senders.count("ana").value
    2.0
    >>> senders.remove("rui")
    >>> "ana" in senders, "rui" in senders
    (True, False)
    """

    def __new__(
        cls,
        cells: SupportsIndex,
        hashes: SupportsIndex,
        counter_bits: CounterBits = 8,
        *,
        keys: KeyKind = "text",
        seed: SupportsIndex = 0,
    ) -> Self: ...
    @staticmethod
    def for_items(
        items: SupportsIndex,
        rate: float,
        *,
        counter_bits: CounterBits = 8,
        keys: KeyKind = "text",
        seed: SupportsIndex = 0,
    ) -> CountingBloom:
        """An empty filter of the smallest size that has the wanted false-positive rate with `items`
        different keys.

        >>> senders = CountingBloom.for_items(1_000_000, 0.01, counter_bits=4)
        >>> senders.cells, senders.hashes, senders.counter_bits, senders.capacity
        (9592955, 7, 4, 1000000)
        """

    @staticmethod
    def size_for(items: SupportsIndex, rate: float) -> tuple[int, int]:
        """The fewest cells, and how many of them a key has, for `items` different keys at the wanted
        false-positive rate.

        >>> CountingBloom.size_for(1_000_000, 0.01)
        (9592955, 7)
        """

    @staticmethod
    def expected_rate(cells: SupportsIndex, hashes: SupportsIndex, items: SupportsIndex) -> float:
        """The false-positive rate that `items` different keys are expected to give."""

    def add(self, key: Key, times: SupportsIndex) -> None:
        """Adds one key many times: the same as inserting it that often.

        >>> stock = CountingBloom.for_items(1000, 0.001, counter_bits=16)
        >>> stock.add("tea", 250)
        >>> stock.count("tea").value
        250.0
        """

    def remove(self, key: Key) -> None:
        """Takes one key out, once. `AbsentError`, and no change, if it is certainly not in there.

        >>> senders = CountingBloom(1000, 4)
        >>> senders.remove("ana")
        Traceback (most recent call last):
        ...
        crivo.errors.AbsentError: key: expected one whose counters are all above 0, found 0 ...
        """

    def remove_batch(self, values: Keys) -> int:
        """Takes many keys out, each as often as it occurs, and returns how many missing values were
        skipped. `values` is whatever `insert_batch` takes. All are taken out, or none:
        `AbsentError` if one of them is certainly not in there, `KeyTypeError` if one is no key.
        """

    def remove_hashes(self, hashes: Hashes) -> int:
        """Takes keys out by their hashes, in a filter with `keys="hash"`: as `remove_batch` does."""

    def count(self, key: Key, confidence: float = 0.95) -> Estimate:
        """How often the key is in there. It is never more often than the upper bound, which is
        infinite if the counters are saturated; the lower bound holds with the given confidence.
        """

    def count_hash(self, hash: SupportsIndex, confidence: float = 0.95) -> Estimate:
        """How often the key of this hash is in there, in a filter with `keys="hash"`."""

    def subtract(self, other: CountingBloom) -> None:
        """Takes out everything that the other filter holds. `AbsentError`, and no change, if that
        certainly holds something that this one does not, as often; `IncompatibleError` if the
        filters differ in size, `keys` or `seed`.

        >>> week, monday = CountingBloom(1000, 4), CountingBloom(1000, 4)
        >>> week.insert_batch(["ana", "rui"]), monday.insert_batch(["ana"])
        (0, 0)
        >>> rest = week - monday
        >>> "ana" in rest, "rui" in rest
        (False, True)
        """

    def __sub__(self, other: CountingBloom, /) -> CountingBloom: ...
    def __rsub__(self, other: CountingBloom, /) -> CountingBloom: ...
    def __isub__(self, other: CountingBloom, /) -> Self: ...
    @property
    def cells(self) -> int:
        """How many counters there are."""

    @property
    def hashes(self) -> int:
        """How many counters a key has."""

    @property
    def counter_bits(self) -> CounterBits:
        """How wide a counter is."""

    @property
    def saturated(self) -> int:
        """How many counters are at their largest value, and so no longer know what they count."""

# ---- how often, and which most often? ----

class _Frequency(_TakesBatches):
    def add_batch(self, values: Keys, weights: Weights) -> int:
        """Adds many keys, each with the weight at its position. Returns the number of missing
        values, which are skipped with their weights. `values` is whatever `insert_batch`
        takes. `weights` is an array or an iterable of whole numbers, one for each value.
        """

    @property
    def total(self) -> int:
        """The total weight of everything that was counted; 2^64 - 1 if it is that or more."""

    @property
    def is_saturated(self) -> bool:
        """True if the total has reached 2^64 - 1, where counting stops."""

@final
class CountMin(_Frequency, _TakesHashes):
    """Counts the frequency of each key, in `depth` rows of `width` counters. An answer is never below
    the truth. It exceeds the truth by more than e/width of the total weight with a probability of
    e^-depth. `for_bound` finds the size.

    Keys may have weights: a number of times, bytes, cents. With `conservative=True` answers are
    closer to the truth, but such sketches cannot be merged or multiplied. `keys` and `seed` are as
    for `HyperLogLog`.

    >>> from crivo import CountMin
    >>> words = CountMin.for_bound(0.001, 0.01)
    >>> words.insert_batch("the cat and the dog and the bird".split())
    0
    >>> words.frequency("the").value
    3.0
    >>> words.frequencies(["and", "fish", None, "bird"])
    array([2, 0, 0, 1], dtype=uint64)
    """

    def __new__(
        cls,
        width: SupportsIndex,
        depth: SupportsIndex,
        *,
        conservative: bool = False,
        keys: KeyKind = "text",
        seed: SupportsIndex = 0,
    ) -> Self: ...
    @staticmethod
    def for_bound(
        epsilon: float,
        delta: float,
        *,
        conservative: bool = False,
        keys: KeyKind = "text",
        seed: SupportsIndex = 0,
    ) -> CountMin:
        """Returns an empty sketch of the smallest size that guarantees an error of at most `epsilon`
        times the total weight with a probability of at least 1 - `delta`.
        """

    @staticmethod
    def size_for(epsilon: float, delta: float) -> tuple[int, int]:
        """The least width and depth that guarantee an error of at most `epsilon` times the total
        weight with a probability of at least 1 - `delta`.

        >>> CountMin.size_for(0.001, 0.01)
        (2719, 5)
        """

    @staticmethod
    def epsilon(width: SupportsIndex) -> float:
        """The upper bound of an answer's error, as a share of the total weight: e/width."""

    @staticmethod
    def delta(depth: SupportsIndex) -> float:
        """The probability that an answer exceeds this error: e^-depth."""

    def insert(self, key: Key) -> None:
        """Counts one key once. `KeyTypeError` if it is not of the sketch's kind; None is no key
        either. Empty text is a key here, but `insert_batch` skips it.
        """

    def add(self, key: Key, weight: SupportsIndex) -> None:
        """Adds a weight to one key."""

    def add_hashes(self, hashes: Hashes, weights: Weights) -> int:
        """Adds keys by hashes of the caller's own, each with a weight, to a sketch with
        `keys="hash"`. Otherwise like `add_batch`.
        """

    def frequency(self, key: Key, confidence: float | None = None) -> Estimate:
        """The frequency of the key. It is never less than the truth, and exceeds it by at most
        `margin(confidence)` with that confidence, or with 1 - delta if none is given. An answer of
        0 is certain.

        >>> sales = CountMin(272, 5, keys="int")
        >>> sales.insert_batch(range(100_000))
        0
        >>> sales.add(7, 4_999)
        >>> sold = sales.frequency(7)
        >>> 5_000 in sold, sold.upper == sold.value
        (True, True)
        """

    def frequency_of_hash(self, hash: SupportsIndex, confidence: float | None = None) -> Estimate:
        """The frequency of the key with this hash, in a sketch with `keys="hash"`."""

    def frequencies(self, values: Keys) -> NDArray[np.uint64]:
        """The frequencies of many keys, as an array with one answer for each value, in their order.
        The true frequency is at most the answer, and at least the answer minus `margin()` with a
        probability of 1 - delta. `values` is whatever `insert_batch` takes; missing values have 0.
        """

    def frequencies_of_hashes(self, hashes: Hashes) -> NDArray[np.uint64]:
        """The frequencies of the keys with these hashes, in a sketch with `keys="hash"`."""

    def margin(self, confidence: float | None = None) -> int:
        """The upper bound of an answer's error, with the given confidence, or with 1 - delta if none
        is given.
        """

    def inner_product(self, other: CountMin, confidence: float | None = None) -> Estimate:
        """The inner product of the frequencies of two streams: the number of rows of their join. Never
        below the truth. `IncompatibleError` if the two differ in size, `keys` or `seed`, or one is
        conservative.

        >>> orders, visits = CountMin(1000, 5), CountMin(1000, 5)
        >>> orders.insert_batch(["ana", "ana", "rui"]), visits.insert_batch(["ana", "eva", "ana"])
        (0, 0)
        >>> orders.inner_product(visits).value
        4.0
        """

    @property
    def confidence(self) -> float:
        """The confidence of answers for which none is given: 1 - delta."""

    @property
    def is_conservative(self) -> bool:
        """True if updates are conservative."""

    @property
    def width(self) -> int:
        """The number of counters in a row."""

    @property
    def depth(self) -> int:
        """The number of rows."""

@final
class RangeCountMin(_Frequency):
    """Counts integers of the universe from 0 to 2^levels - 1. Estimates how many lie in any range that
    is named later, and finds quantiles. Each sketched level has `depth` rows of `width` counters.
    An answer is never below the truth. `for_bound` finds the size.

    Negative integers need an offset: `from_signed` adds one that keeps the order. Only sketches
    with the same sizes and `seed` can be merged.

    >>> from crivo import RangeCountMin
    >>> latencies = RangeCountMin.for_bound(20, 0.01, 0.01)
    >>> latencies.insert_batch([i * i % 3_000 for i in range(10_000)])
    0
    >>> slow = latencies.range(2_000, 2_999)
    >>> sum(i * i % 3_000 >= 2_000 for i in range(10_000)) in slow
    True
    >>> 1_000 < latencies.quantile(0.5).value < 1_500
    True
    """

    def __new__(
        cls, levels: SupportsIndex, width: SupportsIndex, depth: SupportsIndex, *, seed: SupportsIndex = 0
    ) -> Self: ...
    @staticmethod
    def for_bound(
        levels: SupportsIndex, epsilon: float, delta: float, *, seed: SupportsIndex = 0
    ) -> RangeCountMin:
        """Returns an empty sketch of the smallest size with which the answer for any range exceeds the
        truth by at most `epsilon` times the total weight with a probability of at least 1 -
        `delta`.
        """

    @staticmethod
    def size_for(levels: SupportsIndex, epsilon: float, delta: float) -> tuple[int, int]:
        """The least width and depth with which the answer for any range exceeds the truth by at most
        `epsilon` times the total weight with a probability of at least 1 - `delta`.

        >>> RangeCountMin.size_for(32, 0.01, 0.01)
        (8699, 9)
        """

    @staticmethod
    def sketched_levels(levels: SupportsIndex, width: SupportsIndex, depth: SupportsIndex) -> int:
        """The number of levels that are sketched. The others are counted exactly.

        >>> RangeCountMin.sketched_levels(32, 4096, 4), RangeCountMin.sketched_levels(12, 4096, 4)
        (18, 0)
        """

    @staticmethod
    def epsilon(
        levels: SupportsIndex, width: SupportsIndex, depth: SupportsIndex, confidence: float = 0.95
    ) -> float:
        """The upper bound of the error of the answer for any range, as a share of the total weight, at
        the given confidence.
        """

    @staticmethod
    def from_signed(integer: SupportsIndex) -> int:
        """Returns a key for a signed integer. The keys have the order of the integers. Ranges over
        such keys need all 64 levels.

        >>> degrees = RangeCountMin(64, 500, 4)
        >>> degrees.insert_batch([RangeCountMin.from_signed(degree) for degree in (-12, -3, 0, 4, 19)])
        0
        >>> degrees.range(RangeCountMin.from_signed(-100), RangeCountMin.from_signed(-1)).value
        2.0
        """

    def insert(self, key: SupportsIndex) -> None:
        """Counts one integer once. `InvalidParameterError` if it is outside the universe;
        `KeyTypeError` if it is no integer.
        """

    def add(self, key: SupportsIndex, weight: SupportsIndex) -> None:
        """Adds a weight to one integer."""

    def range(self, first: SupportsIndex, last: SupportsIndex, confidence: float = 0.95) -> Estimate:
        """The number of integers from `first` to `last`, both included. It is never less than the
        truth. The lower bound holds with the given confidence.
        """

    def frequency(self, key: SupportsIndex) -> Estimate:
        """The frequency of one integer, with bounds at 95 %."""

    def rank(self, key: SupportsIndex) -> Estimate:
        """The number of integers that are at most this one, with bounds at 95 %."""

    def quantile(self, share: float, confidence: float = 0.95) -> Estimate:
        """The quantile of a share, with bounds at the given confidence: the least integer such that at
        least that share of all integers are at most it. 0.5 is the median.
        """

    @property
    def greatest(self) -> int:
        """The greatest integer of the universe."""

    @property
    def levels(self) -> int:
        """The base-2 logarithm of the size of the universe."""

    @property
    def width(self) -> int:
        """The number of counters in a row of a sketched level."""

    @property
    def depth(self) -> int:
        """The number of rows of a sketched level."""

@final
class Majority(_Frequency, _TakesHashes):
    """Finds the one key that may have more than half of all votes, in the memory of one key. If a key
    has the majority, it is the candidate. Often it is certain that the candidate has the majority.
    Otherwise a second pass over the votes that counts the candidate decides.

    `keys` and `seed` are as for `HyperLogLog`; nothing is hashed.

    >>> from crivo import Majority
    >>> votes = Majority()
    >>> votes.insert_batch(["ana", "ana", "rui", "ana", "eva", "ana"])
    0
    >>> votes.candidate()
    Hitter(key='ana', count=4, lower=4, upper=4)
    >>> votes.is_certain
    True
    """

    def __new__(cls, *, keys: KeyKind = "text", seed: SupportsIndex = 0) -> Self: ...
    def insert(self, key: Key) -> None:
        """Adds one vote for a key. `KeyTypeError` if it is not of the sketch's kind; None is no key
        either. Empty text is a key here, but `insert_batch` skips it.
        """

    def add(self, key: Key, weight: SupportsIndex) -> None:
        """Adds the given number of votes for a key."""

    def add_hashes(self, hashes: Hashes, weights: Weights) -> int:
        """Adds keys by hashes of the caller's own, each with a weight, to a sketch with
        `keys="hash"`. Otherwise like `add_batch`.
        """

    def candidate(self) -> Hitter | None:
        """The only key that can have a majority, with certain bounds of its votes. None if it is
        certain that no key has one.
        """

    @property
    def is_certain(self) -> bool:
        """True if it is certain that the candidate has more than half of all votes."""

    def is_majority(self, count: SupportsIndex) -> bool:
        """Returns True if `count` votes are more than half of all. For a second pass that counts the
        candidate.
        """

    def frequency(self, key: Key) -> Estimate:
        """The number of votes for a key, with certain bounds.

        >>> votes = Majority()
        >>> votes.insert_batch(["ana", "rui", "ana"])
        0
        >>> votes.frequency("rui")
        Estimate(0.0, 0.0, 1.0, confidence=1.0)
        """

    def frequency_of_hash(self, hash: SupportsIndex) -> Estimate:
        """The number of votes for the key with this hash, in a sketch with `keys="hash"`."""

@final
class HeavyHitters(_Frequency, _TakesHashes):
    """Finds the most frequent keys with `capacity` counters. Each count has bounds that no input can
    break: no count is wrong by more than about 4/3 of the total weight, divided by the capacity.
    Counts are exact while there are at most `capacity` different keys. `for_share` finds the
    capacity.

    `keys` and `seed` are as for `HyperLogLog`. Texts of more than 4096 bytes are refused.

    >>> from crivo import HeavyHitters
    >>> pages = HeavyHitters.for_share(0.01)
    >>> pages.insert_batch(["/home", "/about", "/home", None, "/home"])
    1
    >>> pages.top(1)
    [Hitter(key='/home', count=3, lower=3, upper=3)]
    >>> [page.key for page in pages.above(0.2, "no_false_negatives")]
    ['/home', '/about']
    """

    def __new__(cls, capacity: SupportsIndex, *, keys: KeyKind = "text", seed: SupportsIndex = 0) -> Self: ...
    @staticmethod
    def for_share(share: float, *, keys: KeyKind = "text", seed: SupportsIndex = 0) -> HeavyHitters:
        """Returns an empty sketch that is certain to find every key above a share of the total weight.
        No count is wrong by more than that share.
        """

    @staticmethod
    def capacity_for(share: float) -> int:
        """The fewest counters that find every key above a share of the total weight.

        >>> HeavyHitters.capacity_for(0.001)
        1331
        """

    @staticmethod
    def guaranteed_share(capacity: SupportsIndex) -> float:
        """The share of the total weight that no error exceeds."""

    def insert(self, key: Key) -> None:
        """Counts one key once. `KeyTypeError` if it is not of the sketch's kind; None is no key
        either. Empty text is a key here, but `insert_batch` skips it.
        """

    def add(self, key: Key, weight: SupportsIndex) -> None:
        """Adds a weight to one key."""

    def add_hashes(self, hashes: Hashes, weights: Weights) -> int:
        """Adds keys by hashes of the caller's own, each with a weight, to a sketch with
        `keys="hash"`. Otherwise like `add_batch`.
        """

    def frequency(self, key: Key) -> Estimate:
        """The frequency of a key, with certain bounds."""

    def frequency_of_hash(self, hash: SupportsIndex) -> Estimate:
        """The frequency of the key with this hash, in a sketch with `keys="hash"`."""

    def top(self, count: SupportsIndex) -> list[Hitter]:
        """The most frequent keys, at most `count` of them, the most frequent first. A key without a
        counter is not listed; its frequency is at most `max_error`.
        """

    def above(self, share: float, reading: Reading) -> list[Hitter]:
        """The keys above a share of the total weight, the most frequent first. If the bounds leave
        open whether a key is above the share, `reading` decides. `"no_false_positives"` leaves the
        key out. `"no_false_negatives"` lists it, so that no key above the share is missing. It
        raises `InvalidParameterError` if the sketch is too small to guarantee that.
        """

    @property
    def max_error(self) -> int:
        """The upper bound of the frequency of a key without a counter; 0 while every key has one."""

    @property
    def counters(self) -> int:
        """The number of keys that have a counter."""

    @property
    def capacity(self) -> int:
        """The largest number of counters."""

# ---- a fair sample ----

class _Sample(_Stored):
    @property
    def keys(self) -> KeyKind:
        """What the keys are: "text", "int" or "hash"."""

    @property
    def key_seed(self) -> int:
        """The seed of other sketches of the same keys. Nothing is hashed here: it is a label,
        and only samples with the same one can be merged.
        """

    @property
    def capacity(self) -> int:
        """How many keys can be kept."""

    @property
    def memory(self) -> int:
        """Bytes of memory in use."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was sampled. (A sketch without a length is always true, as objects
        are.)
        """

@final
class Reservoir(_Sample):
    """Keeps a fair sample of `capacity` keys of a stream of any length: every set of that many is as
    likely as any other. Merging two samples gives a fair sample of both streams.

    Draws follow from `seed`, so the same keys in the same order give the same sample. Samples that
    will be merged need different seeds, or they choose the same positions of both streams. `keys`
    is as for `HyperLogLog`; `key_seed` is a label.

    >>> from crivo import Reservoir
    >>> sample = Reservoir(100, seed=7, keys="int")
    >>> sample.insert_batch(range(100_000))
    0
    >>> sample.seen, len(sample.sample())
    (100000, 100)
    >>> 25 < sum(number < 50_000 for number in sample.sample()) < 75
    True
    """

    def __new__(
        cls,
        capacity: SupportsIndex,
        *,
        seed: SupportsIndex = 0,
        keys: KeyKind = "text",
        key_seed: SupportsIndex = 0,
    ) -> Self: ...
    def insert(self, key: Key) -> None:
        """Shows one key to the sample. `KeyTypeError` if it is not of the sample's kind; None is no
        key either. Empty text is a key here; `insert_batch` skips it.
        """

    def insert_batch(self, values: Keys) -> int:
        """Adds many keys and returns how many missing values (None, NaN, null, empty text)
        were skipped.

        `values` is a list or other iterable, a NumPy array, or a column of anything that
        speaks the Arrow interface: pyarrow, polars, pandas, and others. Arrow and NumPy
        columns are read in place and without the GIL; NumPy arrays of text or objects are
        read as lists. A column of a type that holds no keys is refused whole; an iterable
        is inserted up to the first value that is no key, and the `KeyTypeError` names its
        position.
        """

    def insert_hashes(self, hashes: Hashes) -> int:
        """Adds hashes of the caller's own, as 64-bit integers, to a sketch with `keys="hash"`,
        and returns how many missing values were skipped. They must be uniform over all 64
        bits.
        """

    def sample(self) -> list[str | bytes | int]:
        """The sampled keys: text as str (as bytes if it is not UTF-8), integers with their sign,
        hashes without one. Their order means nothing.
        """

    @property
    def seen(self) -> int:
        """How many keys were shown."""

@final
class RowSample(_Stored):
    """Keeps `capacity` rows of a table, the same ones however the table was read: rows are drawn by
    place.

    Every set of that many rows is as likely as any other; with `weighted` a row of twice the weight
    is twice as likely to be drawn next. Merging the samples of parts gives the sample of the whole,
    if no two rows have the same place.

    >>> from crivo import RowSample
    >>> sample = RowSample(2, seed=7)
    >>> for place in range(1000):
    ...     sample.insert(place, f"row {place}".encode())
    >>> sample.seen, len(sample.rows())
    (1000, 2)
    """

    def __new__(cls, capacity: SupportsIndex, *, seed: SupportsIndex = 0, weighted: bool = False) -> Self: ...
    def insert(
        self, place: SupportsIndex, row: bytes | bytearray | memoryview, weight: float | None = None
    ) -> None:
        """Shows the row at a place, as bytes; to a weighted sample with its weight."""

    def rows(self) -> list[tuple[int, bytes]]:
        """The sampled rows with their places, in the order of these."""

    @property
    def seen(self) -> int:
        """How many rows were shown, those of weight 0 left out."""

    @property
    def capacity(self) -> int:
        """How many rows can be kept."""

    @property
    def weighted(self) -> bool:
        """Whether rows are drawn by weight."""

    @property
    def seed(self) -> int:
        """The seed of the draws."""

    @property
    def memory(self) -> int:
        """Bytes of memory in use."""

    @property
    def is_empty(self) -> bool:
        """Whether no row was shown. (A sketch without a length is always true, as objects are.)"""

@final
class WeightedReservoir(_Sample):
    """Keeps a sample of `capacity` keys, drawn by weight without replacement: a key of twice the
    weight is twice as likely to be drawn first. Merging two samples gives that of both streams.

    Draws follow from `seed`, so the same keys in the same order give the same sample. Samples that
    will be merged need different seeds, or they choose the same positions of both streams. `keys`
    is as for `HyperLogLog`; `key_seed` is a label.

    >>> from crivo import WeightedReservoir
    >>> winners = WeightedReservoir(2, seed=7)
    >>> winners.insert("rui", 1e9)
    >>> winners.insert_batch(["ana", "eva", None, "zoe"], [1, 0, 5, 1])
    1
    >>> "rui" in winners.sample(), winners.seen, winners.weightless
    (True, 3, 1)
    """

    def __new__(
        cls,
        capacity: SupportsIndex,
        *,
        seed: SupportsIndex = 0,
        keys: KeyKind = "text",
        key_seed: SupportsIndex = 0,
    ) -> Self: ...
    def insert(self, key: Key, weight: float) -> None:
        """Shows one key with its weight, a finite number not below 0. A key of weight 0 is counted as
        weightless and never sampled. Empty text is a key here; `insert_batch` skips it.
        """

    def insert_batch(self, values: Keys, weights: RealWeights) -> int:
        """Shows many keys, each with the weight at its place, and returns how many missing values
        (None, NaN, null, empty text) were skipped, with their weights.

        `values` is a list or other iterable, a NumPy array, or a column of anything that speaks the
        Arrow interface; `weights` is an array or an iterable of numbers, as many as there are
        values.
        """

    def insert_hashes(self, hashes: Hashes, weights: RealWeights) -> int:
        """Shows keys by hashes of the caller's own, in a sample with `keys="hash"`: as `insert_batch`
        does.
        """

    def sample(self) -> list[str | bytes | int]:
        """The sampled keys, in the order in which draws without replacement would have found them:
        text as str (as bytes if it is not UTF-8), integers with their sign, hashes without one.
        """

    @property
    def seen(self) -> int:
        """How many keys with a weight above 0 were shown."""

    @property
    def weightless(self) -> int:
        """How many keys of weight 0 were shown."""

# ---- which are alike? ----

@final
class MinHash(_TakesHashes):
    """Keeps k numbers of a set by which its Jaccard similarity to others is told, within 1/√k with a
    confidence of about 95 %: 0.09 for k = 128. Merging gives the sketch of both sets together.

    `keys` and `seed` are as for `HyperLogLog`; of hashes of the caller's own any different integers
    will do. Two empty sets have no similarity, and are refused.

    >>> from crivo import MinHash
    >>> ana, rui = MinHash.for_bound(0.05), MinHash.for_bound(0.05)
    >>> ana.insert_batch(range(600)), rui.insert_batch(range(200, 800))
    (0, 0)
    >>> alike = ana.similarity(rui)
    >>> 0.5 in alike, alike.upper - alike.lower < 0.11
    (True, True)
    """

    def __new__(cls, k: SupportsIndex, *, keys: KeyKind = "text", seed: SupportsIndex = 0) -> Self: ...
    @staticmethod
    def for_bound(bound: float, *, keys: KeyKind = "text", seed: SupportsIndex = 0) -> MinHash:
        """The sketch of an empty set, of the size at which similarities are off by less than `bound`
        with about 95 % confidence.

        >>> MinHash.for_bound(0.05).k
        400
        """

    @staticmethod
    def k_for(bound: float) -> int:
        """The number of slots at which similarities are off by less than `bound` with about 95 %
        confidence.
        """

    @staticmethod
    def bound(k: SupportsIndex) -> float:
        """By how much a similarity is off, at most, with about 95 % confidence: 1/√k.

        >>> MinHash.bound(400)
        0.05
        """

    @property
    def k(self) -> int:
        """The number of slots."""

    def insert(self, key: Key) -> None:
        """Adds one key. `KeyTypeError` if it is not of the sketch's kind; None is no key either.
        Empty text is a key here; `insert_batch` skips it.
        """

    def similarity(self, other: Self, confidence: float = 0.95) -> Estimate:
        """The Jaccard similarity of the two sets, with bounds at the given confidence; 0, and certain,
        if one is empty. `IncompatibleError` if both are, or if they differ in k, `keys` or `seed`.
        """

    def items(self, confidence: float = 0.95) -> Estimate:
        """How many different elements the set has, to about 1/√k, with bounds at the given confidence.

        >>> numbers = MinHash(400)
        >>> numbers.insert_batch(range(10_000))
        0
        >>> 10_000 in numbers.items(confidence=0.999)
        True
        """

    def update(self, key: Key) -> None:
        """`insert`, as datasketch calls it."""

    def update_batch(self, values: Keys) -> int:
        """`insert_batch`, as datasketch calls it."""

    def jaccard(self, other: Self) -> float:
        """The value of `similarity` alone, as datasketch calls it."""

    def count(self) -> float:
        """The value of `items` alone, as datasketch calls it."""

    def slots(self) -> NDArray[np.uint64]:
        """The slots: k of them, or none if the set is empty. The share of equal slots of two sketches
        is their similarity.
        """

@final
class Bands:
    """A way to cut signatures into `bands` bands of `rows` slots each. Two sets of similarity J meet,
    in at least one band, with probability 1 − (1 − J^rows)^bands.

    >>> from crivo import Bands
    >>> bands = Bands.for_threshold(0.8, hashes=128)
    >>> bands
    Bands(16, 6)
    >>> bands.probability(0.8) > 0.99, bands.probability(0.3) < 0.02
    (True, True)
    """

    def __new__(cls, bands: SupportsIndex, rows: SupportsIndex) -> Self: ...
    @staticmethod
    def for_threshold(threshold: float, hashes: SupportsIndex = 128) -> Bands:
        """The bands in which pairs of the threshold's similarity meet with a probability of at least
        99 %, pairs above it more often, and as few pairs below it as that number of hashes allows.
        """

    @staticmethod
    def for_recall(threshold: float, recall: float, hashes: SupportsIndex = 128) -> Bands:
        """The bands in which pairs of the threshold's similarity meet with at least the probability
        `recall`, and as few pairs below it as that number of hashes allows.

        >>> Bands.for_recall(0.8, 0.9999)
        Bands(24, 5)
        """

    @staticmethod
    def for_weights(
        threshold: float, miss_weight: float, false_alarm_weight: float, hashes: SupportsIndex = 128
    ) -> Bands:
        """The bands that lose least, where a pair above the threshold that does not meet costs
        `miss_weight` and one below it that does costs `false_alarm_weight`, all similarities being
        equally frequent.
        """

    @staticmethod
    def for_points(low: tuple[float, float], high: tuple[float, float]) -> Bands:
        """The bands of fewest slots whose curve passes below one point and above another, each a
        similarity and the probability to meet there.

        >>> Bands.for_points((0.6, 0.01), (0.9, 0.99))
        Bands(20, 15)
        """

    @property
    def bands(self) -> int:
        """How many bands there are: how many chances a pair has to meet."""

    @property
    def rows(self) -> int:
        """How many slots have to be equal for a band to be."""

    @property
    def slots(self) -> int:
        """How many slots of a signature are used: bands times rows."""

    @property
    def approximate_threshold(self) -> float:
        """Where the curve is about steepest: (1/bands)^(1/rows)."""

    def probability(self, similarity: float) -> float:
        """The probability that a pair of the given similarity meets.

        >>> round(Bands(20, 5).probability(0.8), 4)
        0.9996
        """

    def curve(self, similarities: RealWeights) -> NDArray[np.float64]:
        """The probabilities that pairs of the given similarities meet: the curve, ready to be drawn.

        >>> Bands(20, 5).curve([0, 0.2, 0.4, 0.6, 0.8, 1]).round(3)
        array([0.   , 0.006, 0.186, 0.802, 1.   , 1.   ])
        """

    def expected_missed(self, similarities: RealWeights, confidence: float = 0.95) -> Estimate:
        """How many pairs exist beside those that were found, from the similarities of all that were
        found. Where none was found nothing is known, and the upper bound is infinite.

        >>> missed = Bands(16, 6).expected_missed([0.8] * 1000)
        >>> round(missed.value, 1), missed.lower >= 2, missed.upper <= 16
        (7.8, True, True)
        """

    def keys(self, sketch: MinHash) -> NDArray[np.uint64]:
        """One number for each band of a sketch, equal for those that are equal in all rows of the
        band. `IncompatibleError` if the sketch has fewer slots than the bands use, as that of an
        empty set.
        """

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Bands], tuple[int, int]]: ...

@final
class LshIndex:
    """An index of `MinHash` sketches by their bands, under ids of the caller's own: it finds those
    that are alike without comparing all. It lives in memory and is not stored, since it keeps only
    16 bits of each slot: store the sketches. It can be pickled, to go to another process of the
    same version, and copied.

    A pair of similarity J is found with probability `bands.probability(J)`. Of more than
    `all_pairs_up_to` sets that share a bucket only the pairs with the smallest id are named, which
    still connect all of them.

    >>> from crivo import LshIndex, MinHash
    >>> index = LshIndex.for_threshold(0.5)
    >>> for id, text in enumerate(["a b c d e f g", "a b c d e f h", "x y z"]):
    ...     words = MinHash(128)
    ...     missing = words.insert_batch(text.split())
    ...     index.insert(id, words)
    >>> (pair,) = index.similars(0.5)
    >>> pair.ids, 0.75 in pair.estimate()
    ((0, 1), True)
    """

    def __new__(
        cls,
        k: SupportsIndex,
        bands: Bands,
        *,
        keys: KeyKind = "text",
        seed: SupportsIndex = 0,
        all_pairs_up_to: SupportsIndex = 100,
    ) -> Self: ...
    @staticmethod
    def for_threshold(
        threshold: float, k: SupportsIndex = 128, *, keys: KeyKind = "text", seed: SupportsIndex = 0
    ) -> LshIndex:
        """An empty index for sketches of k slots, in bands that find at least 99 % of the pairs at the
        threshold.
        """

    def insert(self, id: SupportsIndex, sketch: MinHash) -> None:
        """Adds a set under an id. `InvalidParameterError` if the id is in the index already;
        `IncompatibleError` if the set is empty, or its k, `keys` or `seed` is not the index's.
        """

    def remove(self, id: SupportsIndex) -> bool:
        """Takes a set out, and says whether it was in."""

    def candidates(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """All pairs that share a bucket: the smaller ids, and in the same order the larger ones."""

    def candidates_to(self, sketch: MinHash) -> NDArray[np.uint64]:
        """The ids of the sets that share a bucket with this one, its own among them if it is in the
        index.
        """

    def query(self, sketch: MinHash) -> list[int]:
        """`candidates_to` as a list, as datasketch calls it."""

    def similars(self, threshold: float) -> list[SimilarPair]:
        """The pairs whose estimated similarity is at least the threshold, in the order of their ids."""

    def similars_to(self, sketch: MinHash, threshold: float) -> list[Similar]:
        """The sets like this one, whose estimated similarity is at least the threshold, in the order
        of their ids; itself among them if it is in the index.
        """

    def copy(self) -> Self:
        """An independent copy."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any, /) -> Self: ...
    @property
    def keys(self) -> KeyKind:
        """What the sketches' keys are: "text", "int" or "hash"."""

    @property
    def seed(self) -> int:
        """The seed of the sketches' hash."""

    @property
    def k(self) -> int:
        """The number of slots of the sketches."""

    @property
    def bands(self) -> Bands:
        """How signatures are cut."""

    @property
    def memory(self) -> int:
        """Bytes of memory in use."""

    def __len__(self) -> int: ...
    def __contains__(self, id: SupportsIndex, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

@final
class Similar:
    """A set that is like the one asked for: made by `LshIndex.similars_to`.

    >>> from crivo import LshIndex, MinHash
    >>> index, letters = LshIndex.for_threshold(0.8), MinHash(128)
    >>> letters.insert_batch(list("abc"))
    0
    >>> index.insert(7, letters)
    >>> (found,) = index.similars_to(letters, 0.9)
    >>> found.id, found.similarity
    (7, 1.0)
    """

    @property
    def id(self) -> int:
        """The id of the set."""

    @property
    def similarity(self) -> float:
        """The estimated similarity: the share of equal slots."""

    def estimate(self, confidence: float = 0.95) -> Estimate:
        """The similarity with bounds at the given confidence."""

    def __eq__(self, other: object, /) -> bool: ...

    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class SimilarPair:
    """Two sets that are alike: made by `LshIndex.similars`.

    >>> from crivo import LshIndex, MinHash
    >>> index, one, other = LshIndex.for_threshold(0.8), MinHash(128), MinHash(128)
    >>> for id, sketch in enumerate((one, other)):
    ...     missing = sketch.insert_batch(range(50))
    ...     index.insert(id, sketch)
    >>> index.similars(0.8)
    [<SimilarPair ids=(0, 1), similarity=1>]
    """

    @property
    def ids(self) -> tuple[int, int]:
        """The ids of the two sets, the smaller one first."""

    @property
    def similarity(self) -> float:
        """The estimated similarity: the share of equal slots."""

    def estimate(self, confidence: float = 0.95) -> Estimate:
        """The similarity with bounds at the given confidence."""

    def __eq__(self, other: object, /) -> bool: ...

    __hash__: ClassVar[None]  # type: ignore[assignment]

def jaccard(a: Keys, b: Keys, *, keys: KeyKind = "text") -> float | None:
    """The Jaccard similarity of two sets, exactly: what is in both as a share of what is in either.
    None if both are empty.

    Each is a list, set or other iterable, a NumPy array or an Arrow column, in any order; what is
    repeated counts once, and what is missing not at all. `keys` is as for `HyperLogLog`: with
    "hash" the elements are 64-bit hashes, such as those of `shingles`.

    >>> from crivo import jaccard, shingles
    >>> jaccard({"ana", "rui", "eva"}, ["rui", "eva", "zé", "rui"])
    0.5
    >>> cat, other = (shingles(text, "words:2") for text in ("the cat sat on it", "A cat sat on it."))
    >>> round(jaccard(cat, other, keys="hash"), 3)
    0.6
    """

def shingles(text: str | bytes, kind: str = "words:5", *, seed: SupportsIndex = 0) -> NDArray[np.uint64]:
    """The set of a text's shingles, as hashes: ascending, each once. `kind` is "words:N" or "chars:N"
    for runs of N words or characters, or "stopwords" for a frequent English word and the two after
    it.

    Only shingles of the same kind and seed can be compared. A text with fewer than N words has
    none.

    >>> from crivo import MinHash, shingles
    >>> len(shingles("To be, or not to be?", "words:2"))
    4
    >>> text = MinHash(128, keys="hash")
    >>> text.insert_hashes(shingles("To be, or not to be?", "words:2"))
    0
    """

def near_duplicates(
    texts: Texts,
    threshold: float = 0.8,
    *,
    shingle: str = "words:5",
    ids: Iterable[Any] | None = None,
    measure: Literal["jaccard", "containment"] = "jaccard",
    keep: Literal["first", "longest"] | None = None,
    linking: Literal["kept", "chains", "representative"] = "kept",
    html: bool = False,
    fast: bool = False,
    all_pairs: bool = False,
    nfc: bool = False,
    memory: SupportsIndex = 2147483648,
    threads: SupportsIndex = 0,
    hashes: SupportsIndex = 128,
    bands: Bands | None = None,
    seed: SupportsIndex = 0,
) -> NearDuplicates:
    """Finds the near-duplicates among texts: documents whose shingles have a Jaccard similarity of at
    least `threshold`. Every similarity is exact, unless `fast` trusts signatures. `expected_missed`
    estimates how many pairs were not found.

    `texts` is a list or other iterable of str or bytes, or an Arrow column of text, which is read
    in place and without the GIL. A missing or empty text is similar to no other. `ids` names the
    texts in `pairs`, and must be different for each. Without `ids`, texts are named by their
    positions.

    With the `measure` "containment", the similarity is the share of the shorter text's shingles
    that the longer one has too. A text is then removed if that share reaches `threshold` for a text
    that is kept, and the longest text of a cluster is kept.

    `keep` says which text of a cluster is kept, the "first" or the "longest". `linking` says what a
    cluster is: with "kept", the texts that are similar to the kept one; with "chains", all texts
    that a chain of near-duplicates connects. `removed` lists why each text is not kept. Of very
    large clusters not all pairs are listed, unless `all_pairs` is true; `not_listed` estimates how
    many are left out. With `html` the texts are pages, and only what a reader sees of them is
    compared. With `nfc` texts are converted to normal form C first. About `memory` bytes are used,
    and a temporary file if that is too little. 0 `threads` are as many as there are processors.
    Without `bands`, those are chosen that find 99 % of the pairs at the threshold, with signatures
    of `hashes` hashes.

    >>> from crivo import near_duplicates
    >>> texts = ["the cat sat on the mat", "a dog barked at it", "The cat sat on the mat!"]
    >>> found = near_duplicates(texts, shingle="words:2")
    >>> found.pairs
    [(0, 2, 1.0)]
    >>> found.clusters, found.kept
    (array([0, 1, 0], dtype=uint32), array([0, 1], dtype=uint32))
    >>> found.removed
    [(2, 0, 1.0)]
    """

@final
class NearDuplicates:
    """The near-duplicates of a collection: made by `near_duplicates`.

    >>> from crivo import near_duplicates
    >>> found = near_duplicates(["one two three"] * 2 + [None, "four"], shingle="words:2", ids="abcd")
    >>> found
    <NearDuplicates 1 pairs among 3 documents>
    >>> found.pairs, found.missing, found.too_short
    ([('a', 'b', 1.0)], 1, 1)
    >>> found.pair_positions, found.similarities
    (array([[0, 1]], dtype=uint32), array([1.]))
    >>> found.removed, found.not_listed.value
    ([('b', 'a', 1.0)], 0.0)
    """

    @property
    def pairs(self) -> list[tuple[Any, Any, float]]:
        """The pairs, in the order of their positions: the ids of both texts, and their similarity."""

    @property
    def pair_positions(self) -> NDArray[np.uint32]:
        """The positions of both texts of each pair, one row a pair."""

    @property
    def similarities(self) -> NDArray[np.float64]:
        """The similarity of each pair."""

    @property
    def clusters(self) -> NDArray[np.uint32]:
        """For each text the position of the one that is kept in its place: its own, if it is kept."""

    @property
    def kept(self) -> NDArray[np.uint32]:
        """The positions of the texts that are kept."""

    @property
    def removed(self) -> list[tuple[Any, Any, float]]:
        """The certificate: the id of each text that is not kept, the id of the text that is kept in its
        place, and their similarity, in the order of the texts. Where chains link texts, one that was
        not compared with the kept one is left out. `crivo dedup --removed` and
        `crivo.spark.removed` list the same.
        """

    @property
    def expected_missed(self) -> Estimate:
        """How many pairs at or above the threshold were probably not found."""

    @property
    def not_listed(self) -> Estimate:
        """How many pairs at or above the threshold are not in `pairs`, because very large clusters have
        too many. With `all_pairs` it is 0.
        """

    @property
    def documents(self) -> int:
        """How many texts there are, missing ones left out."""

    @property
    def missing(self) -> int:
        """How many texts are missing."""

    @property
    def too_short(self) -> int:
        """How many texts are too short for one shingle: they are alike only if they are the same."""

    @property
    def compared(self) -> int:
        """How many pairs of candidates were compared."""

    @property
    def bands(self) -> Bands:
        """How signatures were cut."""

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

def _panic() -> None:
    """Panics, so that tests can check what a panic inside an engine leads to."""

def repeated_passages(
    texts: Texts,
    *,
    min_words: SupportsIndex = 50,
    within: bool = False,
    min_count: SupportsIndex = 2,
    cut: Literal["words", "sentence", "paragraph", "document", "none"] = "words",
    min_left: SupportsIndex = 0,
    memory: SupportsIndex = 268435456,
    threads: SupportsIndex = 0,
    seed: SupportsIndex = 0,
) -> RepeatedPassages:
    """Finds every run of at least `min_words` words that stands in an earlier text too, word for word.
    Complete: no such run is missed. With `within` also what stands twice in one text; with
    `min_count` only what stands that often in all.

    `texts` is a list or other iterable of str or bytes, or an Arrow column of text. `cut` says what
    is taken out of the later text: the "words" of the passage, the "sentence" or "paragraph" it is
    in, the whole "document", or "none". A text that was cut and has fewer than `min_left` words
    left is dropped. About `memory` bytes are used, and temporary files; 0 `threads` are as many as
    there are processors. `crivo passages` gives the same outcome.

    >>> from crivo import repeated_passages
    >>> texts = ["It is so: a b c d e f g h. True.", "What? A b c d e f g h! No."]
    >>> found = repeated_passages(texts, min_words=8)
    >>> found.passages, found.changed
    ([(1, 6, 21, 0, 10, 25)], [(1, 'What? ! No.')])
    """

@final
class RepeatedPassages:
    """The passages of a collection that stand in two places: made by `repeated_passages`.

    >>> from crivo import repeated_passages
    >>> repeated_passages(["a b c d e f g h i", None, "x a b c d e f g h i"], min_words=9)
    <RepeatedPassages 1 in 1 of 2 documents>
    """

    @property
    def passages(self) -> list[tuple[int, int, int, int, int, int]]:
        """Each passage, in the order of the texts: the position of its text, its first byte and the
        byte behind its last, and the same three of its first occurrence. Bytes are those of UTF-8.
        """

    @property
    def kept(self) -> NDArray[np.uint64]:
        """The positions of the texts that stay, missing ones among them."""

    @property
    def changed(self) -> list[tuple[int, str | bytes]]:
        """The positions of the texts that stay and change, and what is left of each: bytes if it is
        not UTF-8.
        """

    @property
    def documents(self) -> int:
        """How many texts there are, missing and empty ones left out."""

    @property
    def documents_with_passages(self) -> int:
        """How many texts have a passage that stood before."""

    @property
    def missing(self) -> int:
        """How many texts are missing or empty."""

    @property
    def bytes(self) -> int:
        """The bytes of all texts."""

    @property
    def bytes_repeated(self) -> int:
        """The bytes that are in a passage, each counted once."""

    @property
    def guaranteed_words(self) -> int:
        """The words of the shortest run that is sure to be found."""

    def __len__(self) -> int: ...

def benchmark_overlap(
    texts: Texts,
    items: Texts,
    *,
    words: SupportsIndex = 8,
    share: float = 0.5,
    cut: Literal["words", "sentence", "paragraph", "document", "none"] = "document",
    threads: SupportsIndex = 0,
) -> BenchmarkOverlap:
    """Finds the texts that contain items of a benchmark: at least a `share` of the item's runs of that
    many `words`, word for word; an item with fewer words has to stand there whole. Shares are
    exact.

    `texts` and `items` are lists or other iterables of str or bytes, or Arrow columns of text.
    `cut` says what is taken out of texts that are hit: the whole "document", the "words" that they
    share with an item, the "sentence" or "paragraph" these are in, or "none". The items are held in
    memory. `crivo overlap` gives the same outcome.

    >>> from crivo import benchmark_overlap
    >>> texts = ["Quiz: what is the capital of France? Paris.", "something else"]
    >>> found = benchmark_overlap(texts, ["What is the capital of France?"], words=5)
    >>> found.hits, len(found.kept)
    ([(0, 0, 1.0, 6)], 1)
    """

@final
class BenchmarkOverlap:
    """Which texts contain which items: made by `benchmark_overlap`.

    >>> from crivo import benchmark_overlap
    >>> benchmark_overlap(["two plus two", "three"], ["Two plus two?", "one"])
    <BenchmarkOverlap 1 of 2 documents contain 1 of 2 items>
    """

    @property
    def hits(self) -> list[tuple[int, int, float, int]]:
        """Each hit, in the order of the texts: the positions of the text and of the item, the share of
        the item's runs, and the words of the longest run in common.
        """

    @property
    def kept(self) -> NDArray[np.uint64]:
        """The positions of the texts that stay, missing ones among them."""

    @property
    def changed(self) -> list[tuple[int, str | bytes]]:
        """The positions of the texts that stay and change, and what is left of each: bytes if it is
        not UTF-8.
        """

    @property
    def documents(self) -> int:
        """How many texts there are, missing and empty ones left out."""

    @property
    def documents_hit(self) -> int:
        """How many texts contain an item."""

    @property
    def items(self) -> int:
        """How many items there are, missing and empty ones left out."""

    @property
    def items_hit(self) -> int:
        """How many items some text contains."""

    @property
    def missing(self) -> int:
        """How many texts are missing or empty."""

# ---- what is in this column? ----

@final
class NumberQuantiles(_Stored):
    """Keeps about 3·`size` numbers of a stream, from which any quantile and rank is answered: with
    `accuracy` "uniform" to within 1.1/`size` of all ranks, with "tails" to within 0.5/`size` of the
    distance from the nearer end, both 95 % sure. Few numbers are answered exactly.

    Coins follow from `seed`. Sketches that will be merged need different seeds.

    >>> from crivo import NumberQuantiles
    >>> prices = NumberQuantiles.for_bound(0.01, seed=7)
    >>> prices.insert_batch([cents / 100 for cents in range(1, 100_001)])
    0
    >>> median = prices.quantile(0.5)
    >>> 500.0 in median, prices.count, prices.max
    (True, 100000, 1000.0)
    """

    def __new__(cls, size: SupportsIndex, *, accuracy: str = "uniform", seed: SupportsIndex = 0) -> Self: ...
    @staticmethod
    def for_bound(error: float, *, accuracy: str = "uniform", seed: SupportsIndex = 0) -> NumberQuantiles:
        """An empty sketch whose ranks are right to within that share, 95 % sure: of all values, or
        with "tails" of the distance from the nearer end.
        """

    def insert(self, value: SupportsFloat | SupportsIndex) -> None:
        """Adds a number. NaN is only counted as `not_a_number`."""

    def add(self, value: SupportsFloat | SupportsIndex, weight: SupportsIndex) -> None:
        """Adds a number as often as its weight says."""

    def insert_batch(self, values: Numbers) -> int:
        """Adds many numbers and returns how many missing values (None, null) were skipped. NaN is not
        missing here, but `not_a_number`.

        `values` is a list or other iterable, a NumPy array, or a column of anything that speaks the
        Arrow interface; columns of floats are read in place and without the GIL.
        """

    def quantile(self, share: float) -> Estimate | None:
        """The number at which that share of all numbers is reached, with bounds at 95 %. None if there
        are no numbers, or the share is not from 0 to 1.
        """

    def quantiles(self, shares: Iterable[float]) -> list[Estimate | None]:
        """Many quantiles, at the cost of one."""

    def rank(self, limit: float) -> Estimate | None:
        """Which share of all numbers is at most a limit, with bounds at 95 %. None if there are no
        numbers.
        """

    def count_below(self, limit: float) -> Estimate:
        """How many numbers are below a limit, with bounds at 95 %."""

    @property
    def count(self) -> int:
        """How many numbers there are, NaN left out; 2^64 - 1 if that many or more."""

    @property
    def not_a_number(self) -> int:
        """How many NaNs came, which are in no other answer."""

    @property
    def min(self) -> float | None:
        """The least number, exactly; None if there are none."""

    @property
    def max(self) -> float | None:
        """The greatest number, exactly; None if there are none."""

    @property
    def size(self) -> int:
        """The size that the sketch was built with."""

    @property
    def accuracy(self) -> str:
        """Which ranks are to be right: "uniform" or "tails"."""

    @property
    def standard_error(self) -> float:
        """The standard error of ranks now, as a share of all numbers; with "tails" that in the middle."""

    @property
    def is_exact(self) -> bool:
        """Whether every answer is exact."""

    @property
    def is_empty(self) -> bool:
        """Whether there are no numbers. (A sketch without a length is always true, as objects are.)"""

    @property
    def memory(self) -> int:
        """Bytes of memory in use."""

@final
class KeyQuantiles(_Stored):
    """Keeps about 3·`size` keys of a stream, from which any quantile of texts or integers is answered,
    as `NumberQuantiles` does for numbers. Texts are in the order of their bytes, integers in that
    of their values.

    Coins follow from `seed`. Sketches that will be merged need different seeds. `keys` is as for
    `HyperLogLog`; `key_seed` is a label.

    >>> from crivo import KeyQuantiles
    >>> names = KeyQuantiles(200, seed=7)
    >>> names.insert_batch(["eva", "ana", "zoe"])
    0
    >>> names.quantile(0.5), names.min, names.max
    (('eva', 'eva', 'eva'), 'ana', 'zoe')
    """

    def __new__(
        cls,
        size: SupportsIndex,
        *,
        accuracy: str = "uniform",
        seed: SupportsIndex = 0,
        keys: KeyKind = "text",
        key_seed: SupportsIndex = 0,
    ) -> Self: ...
    @staticmethod
    def for_bound(
        error: float,
        *,
        accuracy: str = "uniform",
        seed: SupportsIndex = 0,
        keys: KeyKind = "text",
        key_seed: SupportsIndex = 0,
    ) -> KeyQuantiles:
        """An empty sketch whose ranks are right to within that share, 95 % sure: of all keys, or with
        "tails" of the distance from the nearer end.
        """

    def insert(self, key: Key) -> None:
        """Adds one key. `KeyTypeError` if it is not of the sketch's kind; None is no key either.
        Empty text is a key here; `insert_batch` skips it.
        """

    def add(self, key: Key, weight: SupportsIndex) -> None:
        """Adds a key as often as its weight says."""

    def insert_batch(self, values: Keys) -> int:
        """Adds many keys and returns how many missing values (None, NaN, null, empty text)
        were skipped.

        `values` is a list or other iterable, a NumPy array, or a column of anything that
        speaks the Arrow interface: pyarrow, polars, pandas, and others. Arrow and NumPy
        columns are read in place and without the GIL; NumPy arrays of text or objects are
        read as lists. A column of a type that holds no keys is refused whole; an iterable
        is inserted up to the first value that is no key, and the `KeyTypeError` names its
        position.
        """

    def quantile(self, share: float) -> tuple[_GivenKey, _GivenKey, _GivenKey] | None:
        """The key at which that share of all keys is reached, its lower and its upper bound at 95 %.
        None if there are no keys, or the share is not from 0 to 1.
        """

    def quantiles(self, shares: Iterable[float]) -> list[tuple[_GivenKey, _GivenKey, _GivenKey] | None]:
        """Many quantiles, at the cost of one."""

    def count_below(self, key: Key) -> Estimate:
        """How many keys come before one, with bounds at 95 %."""

    @property
    def keys(self) -> KeyKind:
        """What the keys are: "text", "int" or "hash"."""

    @property
    def key_seed(self) -> int:
        """The seed of other sketches of the same keys. Nothing is hashed here: it is a label, and only
        sketches with the same one can be merged.
        """

    @property
    def count(self) -> int:
        """How many keys there are; 2^64 - 1 if that many or more."""

    @property
    def min(self) -> _GivenKey | None:
        """The first key in order; None if there are none."""

    @property
    def max(self) -> _GivenKey | None:
        """The last key in order; None if there are none."""

    @property
    def size(self) -> int:
        """The size that the sketch was built with."""

    @property
    def accuracy(self) -> str:
        """Which ranks are to be right: "uniform" or "tails"."""

    @property
    def standard_error(self) -> float:
        """The standard error of ranks now, as a share of all keys; with "tails" that in the middle."""

    @property
    def is_exact(self) -> bool:
        """Whether every answer is exact."""

    @property
    def is_empty(self) -> bool:
        """Whether there are no keys. (A sketch without a length is always true, as objects are.)"""

    @property
    def memory(self) -> int:
        """Bytes of memory in use."""

@final
class Groups(_Sketch):
    """One sketch for each group, all of the same kind: what `crivo count --by` writes. A small group
    takes a few words of memory, a large one as much as its sketch.

    Every group begins as the given empty sketch. The key of a group is a text, or bytes; `fields`
    is the number of values that the key is made of. Merging merges group by group.

    >>> from crivo import Groups, HyperLogLog
    >>> visitors = Groups(HyperLogLog(12))
    >>> visitors.insert_batch("/", ["ana", "rui", "ana"]), visitors.insert_batch("/help", ["ana"])
    (0, 0)
    >>> len(visitors), "/" in visitors, visitors.get("/"), visitors.get("/none")
    (2, True, <HyperLogLog precision=12, keys='text', seed=0: 2>, None)
    """

    def __new__(cls, sketch: _Stored, *, fields: SupportsIndex = 1) -> Self: ...
    def insert_batch(self, group: str | bytes, values: Keys | Numbers) -> int:
        """Adds many keys, or numbers to sketches of numbers, to a group. Creates the group if there is
        none. Returns the number of missing values that were skipped. `values` is whatever the
        sketch's own `insert_batch` takes.
        """

    def get(self, group: str | bytes) -> Any:
        """The current sketch of a group. None if there is no such group."""

    def __contains__(self, group: str | bytes, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str | bytes]: ...
    @property
    def sketch(self) -> Any:
        """The empty sketch that every group begins as."""

    @property
    def fields(self) -> int:
        """The number of values that the key of a group is made of."""

@final
class DDSketch(_Stored):
    """Counts numbers in bins of equal relative width: every quantile is answered within
    `relative_error` of itself, and no input can break the bounds. Count, sum, mean, least and
    greatest number are exact.

    If the numbers need more than `max_bins` bins, pairs of them are joined and the error about
    doubles; `relative_error` says so. `for_bound` chooses bins for eighteen decades. Merging is
    exact, in any order.

    >>> from crivo import DDSketch
    >>> latencies = DDSketch.for_bound(0.01)
    >>> latencies.insert_batch([i / 1000 for i in range(1, 10_001)])
    0
    >>> median = latencies.quantile(0.5)
    >>> 5.0 in median, median.certain, latencies.max, latencies.sum
    (True, True, 10.0, 50005.0)
    """

    def __new__(cls, relative_error: float, max_bins: SupportsIndex) -> Self: ...
    @staticmethod
    def for_bound(relative_error: float) -> DDSketch:
        """An empty sketch with that relative error for numbers of eighteen decades."""

    @staticmethod
    def bins_for(relative_error: float) -> int:
        """How many bins numbers of eighteen decades take.

        >>> DDSketch.bins_for(0.01)
        2073
        """

    def insert(self, value: SupportsFloat | SupportsIndex) -> None:
        """Counts a number. NaN and infinities are only counted as `not_finite`."""

    def add(self, value: SupportsFloat | SupportsIndex, weight: SupportsIndex) -> None:
        """Counts a number `weight` times."""

    def insert_batch(self, values: Numbers) -> int:
        """Counts many numbers and returns how many missing values (None, null) were skipped. NaN is
        not missing here, but `not_finite`.

        `values` is a list or other iterable, a NumPy array, or a column of anything that speaks the
        Arrow interface; columns of floats are read in place and without the GIL.
        """

    def quantile(self, share: float) -> Estimate | None:
        """The quantile of a share, with certain bounds: the least number that at least that share of
        all is not above. 0.5 is the median, 0 the least and 1 the greatest. None if there are no
        numbers, or the share is not from 0 to 1.
        """

    def quantiles(self, shares: Iterable[float]) -> list[Estimate | None]:
        """Many quantiles, at the cost of one.

        >>> numbers = DDSketch.for_bound(0.01)
        >>> numbers.insert_batch(range(101))
        0
        >>> [round(float(quantile)) for quantile in numbers.quantiles([0, 0.25, 0.5, 1])]
        [0, 25, 50, 100]
        """

    def count_below(self, limit: float) -> Estimate:
        """How many numbers are below a limit, with certain bounds."""

    @property
    def count(self) -> int:
        """How many numbers there are, those that are not finite left out; 2^64 - 1 if that many or
        more.
        """

    @property
    def not_finite(self) -> int:
        """How many infinities and NaNs came, which are in no other answer."""

    @property
    def zeros(self) -> int:
        """How many numbers are 0."""

    @property
    def min(self) -> float | None:
        """The least number, exactly; None if there are none."""

    @property
    def max(self) -> float | None:
        """The greatest number, exactly; None if there are none."""

    @property
    def sum(self) -> float | None:
        """The sum of all numbers, rounded once; None if the count is saturated."""

    @property
    def mean(self) -> float | None:
        """The mean of all numbers; None if there are none, or the count is saturated."""

    @property
    def relative_error(self) -> float:
        """The relative error of quantiles now: what was asked for as long as no bins had to be joined."""

    @property
    def accuracy(self) -> float:
        """The relative error that was asked for."""

    @property
    def bins(self) -> int:
        """How many bins are in use."""

    @property
    def max_bins(self) -> int:
        """How many bins there may be."""

    @property
    def is_collapsed(self) -> bool:
        """Whether bins had to be joined."""

    @property
    def is_saturated(self) -> bool:
        """Whether the count has reached 2^64 - 1, where counting stops."""

    @property
    def is_empty(self) -> bool:
        """Whether there are no numbers. (A sketch without a length is always true, as objects are.)"""

    @property
    def memory(self) -> int:
        """Bytes of memory in use."""

@final
class DistinctGrowth(_Sketch):
    """How the number of different values grows with the rows: a curve that flattens is a category, one
    that stays straight is a key.

    Keeps the values with the `k` smallest hashes, each with the first row it came in. Exact while
    there are fewer than `k` different values. `keys` and `seed` are as for `HyperLogLog`.

    >>> from crivo import DistinctGrowth
    >>> cities = DistinctGrowth(1024)
    >>> cities.insert_batch(["Porto", "Lisboa", "Porto", "Faro"])
    0
    >>> [distinct.value for distinct in cities.growth([1, 2, 3, 4])]
    [1.0, 2.0, 2.0, 3.0]
    >>> cities.is_repeated()
    True
    """

    def __new__(cls, k: SupportsIndex, *, keys: KeyKind = "text", seed: SupportsIndex = 0) -> Self: ...
    def insert(self, key: Key, row: SupportsIndex) -> None:
        """Takes the value of a row. Rows are numbered from 1."""

    def insert_batch(self, values: Keys, first_row: SupportsIndex = 1) -> int:
        """Takes the values of rows that follow each other, and returns how many of them are missing
        (None, NaN, null, empty text). Missing values have rows too.
        """

    def growth(self, rows: Iterable[int], confidence: float = 0.95) -> list[Estimate]:
        """The number of different values up to each of these rows, with bounds at the given
        confidence.
        """

    def is_repeated(self) -> bool:
        """Whether a value certainly came twice."""

    def shift_rows(self, rows: SupportsIndex) -> None:
        """Adds `rows` to the number of every row: a part of a table that counted its rows from 1 gets
        their numbers in the whole table before it is merged.
        """

    def key_set(self) -> KMinValues:
        """The sketch of the different values, which compares columns."""

    @property
    def k(self) -> int:
        """How many of the smallest hashes are kept."""

@final
class NearDuplicateShare(_TakesBatches):
    """The share of documents, which are texts of 32 bytes or more with three blanks, that have a
    near-duplicate: another that shares at least four fifths of all their runs of eight bytes.

    Keeps up to `capacity` texts. While all different texts fit, all pairs are compared.

    >>> from crivo import NearDuplicateShare
    >>> letters = NearDuplicateShare(512)
    >>> letter = "Dear {}, thank you for the parcel that came on Monday, unharmed and in time"
    >>> other = "No two words of this one are shared with any of the letters above"
    >>> letters.insert_batch([letter.format("Ana"), letter.format("Eva"), other, "a name"])
    0
    >>> letters.documents, round(letters.share(), 3)
    (3, 0.667)
    """

    def __new__(cls, capacity: SupportsIndex, *, seed: SupportsIndex = 0) -> Self: ...
    def insert(self, key: Key) -> None:
        """Takes a text, if it is a document."""

    def share(self) -> Estimate | None:
        """The share of documents with a near-duplicate, with bounds at 95 %. None without documents."""

    @property
    def documents(self) -> int:
        """How many documents there were."""

    @property
    def capacity(self) -> int:
        """How many texts can be kept."""

@final
class ProfiledColumn:
    """All that is kept of one column of a table: its `ColumnProfile`, the growth of its different
    values, and the share of its near-duplicates. `crivo.profile` makes one for each column.

    It has the questions of `ColumnProfile` too: `column.mean()` is `column.profile.mean()`. Takes
    at most `memory` bytes, from 24 KiB on, 1.25 MiB unless told.

    >>> from crivo import ProfiledColumn
    >>> city = ProfiledColumn()
    >>> city.insert_batch(["Porto", "Lisboa", "Porto", None])
    1
    >>> city.distinct().value, city.could_be_key(), city.missing
    (2.0, False, 1)
    >>> [point.value for point in city.growth_at([1, 2, 3, 4])]
    [1.0, 2.0, 2.0, 2.0]
    """

    def __new__(cls, *, memory: SupportsIndex = 1310720, seed: SupportsIndex = 0) -> Self: ...
    def insert_batch(self, values: Keys) -> int:
        """Takes the values of the next rows and returns how many of them are missing (None, NaN, null,
        empty text), which are counted too.
        """

    def reseed(self, part: SupportsIndex) -> None:
        """Derives a new random seed for the sample of values from the current one and `part`."""

    def append(self, other: Self) -> None:
        """Makes this the column of both parts of a table. The rows of `other` follow those of this
        one.
        """

    @property
    def profile(self) -> ColumnProfile:
        """A copy of what is in the column."""

    @property
    def growth(self) -> DistinctGrowth:
        """A copy of the growth of its different values."""

    @property
    def near_duplicates(self) -> NearDuplicateShare | None:
        """A copy of the sample of its documents. None if there was no memory for enough of them."""

    def distinct(self) -> Estimate:
        """The number of different values, with bounds at 95 %. The interval of a column that could be
        a key reaches the number of its rows.
        """

    def could_be_key(self) -> bool:
        """Whether all rows may have values that are all different."""

    def growth_at(self, rows: Iterable[int]) -> list[Estimate]:
        """The number of different values up to each of these rows, numbered from 1, with bounds at 95
        %.
        """

    def near_duplicate_share(self) -> Estimate | None:
        """The share of documents with a near-duplicate, with bounds at 95 %. None without documents."""

    def joins(
        self, other: Self, *, same_name: bool = False
    ) -> tuple[Literal["joins", "undecided", "no"], Estimate, Estimate, Estimate] | None:
        """Whether this column and another could join: "joins", "undecided" or "no", how many different
        values both have, which share of this column's values the other has, and which share of the
        other's this one has. None if the pair is not worth comparing: values of different kinds, or
        neither could be a key and the names differ.
        """

    def to_parts(self) -> tuple[bytes, bytes, bytes | None]:
        """The bytes of the three parts, each the contents of a `.crivo` file."""

    @classmethod
    def from_parts(
        cls,
        profile: bytes | bytearray | memoryview,
        growth: bytes | bytearray | memoryview,
        near_duplicates: bytes | bytearray | memoryview | None = None,
    ) -> Self:
        """The column that the bytes of its parts hold."""

    def __reduce__(self) -> tuple[Any, tuple[bytes, bytes, bytes | None]]: ...
    def __eq__(self, other: object, /) -> bool: ...

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __getattr__(self, name: str, /) -> Any: ...

@final
class TableProfile(_Stored):
    """The profile of a table: a `ProfiledColumn` of each column by its name, as a dictionary has them,
    and the number of rows. `crivo.profile` makes one.

    `save` writes the file that `crivo profile -o` writes, and `load` reads one. `merge` makes this
    the profile of both tables, the rows of the other after those of this one. `compare` says what
    changed since another.

    >>> import crivo
    >>> people = crivo.profile({"name": ["ana", "rui", None], "age": [31, 17, 44]})
    >>> people.rows, list(people), people["name"].missing
    (3, ['name', 'age'], 1)
    """

    @staticmethod
    def of_columns(
        columns: Sequence[tuple[str, Any]],
        *,
        memory: SupportsIndex | None = None,
        seed: SupportsIndex = 0,
        part: int = 0,
    ) -> tuple[TableProfile, list[tuple[str, str]]]:
        """The profile of a table whose columns have these names and values, and the columns that were
        left out because a value has no text, with the reason. Each column takes at most `memory`
        bytes, from 42 KiB on. Unless told, all share 24 MiB, as they do on the command line.
        Profiles that will be merged have different numbers of their `part`, so that they draw
        independently.
        """

    @property
    def rows(self) -> int:
        """The number of rows."""

    @property
    def bytes_read(self) -> int:
        """How many bytes were read; 0 of a table that came from memory."""

    @property
    def memory(self) -> int:
        """Bytes of memory in use."""

    @property
    def seed(self) -> int:
        """The seed of the hash."""

    def discard(self, name: str) -> None:
        """Forgets a column, if there is one of that name."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the profile to a file, whole or not at all: the same bytes as `crivo profile -o`."""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The profile in a file that `save` or `crivo profile -o` wrote."""

    def compare(
        self, before: Self, *, ignore: Sequence[str] = (), min_effect: float = 0.0, level: float = 0.01
    ) -> TableDrift:
        """What changed in this table since another, by more than chance: a `TableDrift`, which is true
        if anything did. If both come from the same source, anything is reported with a probability
        of at most `level`, over all columns and checks together. Changes with an effect below
        `min_effect` and columns in `ignore` are left out.
        """

    @staticmethod
    def find_joins(
        profiles: Sequence[TableProfile], least: float, needs_key: bool, most: int
    ) -> tuple[
        list[tuple[tuple[int, str], tuple[int, str], Estimate, Estimate, Estimate, bool, bool]],
        int,
        int,
        list[tuple[tuple[int, str], tuple[int, str]]],
    ]:
        """The pairs of columns that could join: of each pair the number of its tables and the names of
        its columns, which share of each one's values the other has, the common values, and whether
        each could be a key. Then how many pairs were found, how many are undecided, and the first
        of those. `crivo.joins` calls it.
        """

    def spread(self, name: str) -> Spread:
        """Standard deviation and skew of a column's finite numbers, exactly; each None if there are
        too few.
        """

    def outliers(self, name: str) -> Outliers | None:
        """How many of a column's finite numbers lie outside of Tukey's fences, which are one and a
        half times the distance of the quartiles away from them. None if both quartiles are the
        same, or there are no numbers.
        """

    def histogram(self, name: str, bars: int = 20) -> Histogram | None:
        """A column's finite numbers in at most `bars` bars of equal width, with bounds for each, and
        how many are below and above all bars: the bars end at the fences of `outliers`. None if
        there are no numbers.
        """

    def patterns(self, name: str, most: int = 5) -> list[TextPattern]:
        """What the texts of a column look like, the most frequent first: `A` for a capital, `a` for
        another letter, `9` for a digit. The share of each is from the drawn rows, with bounds at 95
        %.
        """

    def dates(self, name: str) -> ColumnDates | None:
        """The days in a column, in any of the usual formats: the formats with their counts, the first
        and the last day, and what is missing between. Exact. None if more than one value in twenty
        is no day.
        """

    def correlations(self) -> list[Correlation]:
        """Pairs of columns of numbers that rise or fall together, the strongest first, by Spearman's
        correlation of the ranks in the drawn rows: exact while all rows are drawn, then with bounds
        at 95 %. Pearson's correlation of the numbers is told beside it.
        """

    def dependencies(self) -> list[Dependency]:
        """Columns of at most 64 values that decide the value of others, as a country its currency: the
        share of rows with the most frequent value of their group, from the drawn rows.
        """

    def keys(self) -> list[str]:
        """The names of the columns."""

    def values(self) -> list[ProfiledColumn]:
        """The columns."""

    def items(self) -> list[tuple[str, ProfiledColumn]]:
        """The names and the columns."""

    def __getitem__(self, name: str, /) -> ProfiledColumn: ...
    def __contains__(self, name: object, /) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def _repr_html_(self) -> str:
        """What a notebook shows: a table with a row for each column, in the colours of the notebook."""

@final
class ColumnProfile(_Stored):
    """What is in a column, in one pass and a fixed amount of memory: its type, what is missing, how
    many different values, which most often, the least, greatest and mean, quantiles, a sample, and
    whether it could be a key.

    `for_memory` chooses sizes that stay within `memory` bytes. Profiles of parts merge to that of
    the whole, if their sizes and `seed` are the same; give each part another `sample_seed`. Values
    are taken by their texts: the integer 12 and the text "12" are the same.

    >>> from crivo import ColumnProfile
    >>> ages = ColumnProfile.for_memory(64 * 1024)
    >>> ages.insert_batch([31, 17, None, 44, 31, 8, None])
    2
    >>> ages.column_type, ages.rows, ages.missing, ages.min(), ages.mean()
    ('integer', 7, 2, 8, 26.2)
    >>> (most,) = ages.top(1)
    >>> ages.distinct().value, most.key, ages.could_be_key()
    (4.0, '31', False)
    """

    def __new__(
        cls,
        *,
        precision: SupportsIndex = 12,
        counters: SupportsIndex = 666,
        sample: SupportsIndex = 100,
        accuracy: float = 0.01,
        bins: SupportsIndex = 2048,
        longest: SupportsIndex = 128,
        seed: SupportsIndex = 0,
        sample_seed: SupportsIndex = 0,
    ) -> Self: ...
    @staticmethod
    def for_memory(
        memory: SupportsIndex, *, seed: SupportsIndex = 0, sample_seed: SupportsIndex = 0
    ) -> ColumnProfile:
        """An empty profile that never takes more than `memory` bytes, from 16 KiB on, with the largest
        parts for that.
        """

    def insert(self, value: Key) -> None:
        """Takes one value, which is not missing. Empty text is a value here; in
        `insert_batch` it is missing.
        """

    def insert_batch(self, values: Keys) -> int:
        """Takes many values and returns how many of them are missing (None, NaN, null, empty text),
        which are counted too.

        `values` is a list or other iterable, a NumPy array, or a column of anything that speaks the
        Arrow interface, which is read in place and without the GIL.
        """

    def add_missing(self, rows: SupportsIndex) -> None:
        """Counts rows without a value."""

    @property
    def rows(self) -> int:
        """How many rows there were, with a value or without."""

    @property
    def missing(self) -> int:
        """How many rows had no value."""

    @property
    def values(self) -> int:
        """How many rows had a value."""

    def count_of(self, kind: ValueKind) -> int:
        """How many values are of a kind: "boolean", "integer", "float", "date", "timestamp" or "text"."""

    @property
    def column_type(self) -> ColumnType:
        """The type that all values have: "boolean", "integer", "float", "date", "timestamp", "text",
        or "empty" if there are none.
        """

    @property
    def long(self) -> int:
        """How many values were longer than `longest` bytes: they are in every answer but the most
        frequent values.
        """

    def lengths(self) -> tuple[int, float, int] | None:
        """The length of the shortest value in characters, the mean length, and that of the longest.
        None if there are no values.
        """

    def distinct(self, confidence: float = 0.95) -> Estimate:
        """How many different values there are, with bounds at the given confidence; exact while they
        are few.
        """

    def could_be_key(self) -> bool:
        """Whether all rows may have values that are all different."""

    def top(self, count: SupportsIndex) -> list[Hitter]:
        """The most frequent values, with certain bounds for each."""

    def majority(self) -> Hitter | None:
        """The only value that can be more than half of all, with certain bounds; None if there is
        none.
        """

    def sample(self) -> list[str | bytes]:
        """A uniform sample of the values, in no order, as text, each cut to `longest` bytes."""

    def min(self) -> int | float | str | bytes | None:
        """Returns the least value. In a column of numbers it is the least finite number, otherwise the
        first value in byte order, cut to `longest` bytes. Returns None if there is no such value.
        """

    def max(self) -> int | float | str | bytes | None:
        """The greatest value, as `min`."""

    def sum(self) -> float | None:
        """The sum of all numbers in the column, rounded once. None if there is no number."""

    def mean(self) -> float | None:
        """The mean of all numbers in the column. None if there is no number."""

    def quantile(self, share: float) -> Estimate | None:
        """A quantile of the numbers in the column, with certain bounds: see `DDSketch.quantile`."""

    def numbers(self) -> DDSketch:
        """The sketch of all numbers in the column, also if there are other values."""

    def heavy_hitters(self) -> HeavyHitters:
        """The sketch of the most frequent values."""

    @property
    def config(self) -> dict[str, int | float]:
        """The sizes of the parts, by the names that the constructor has for them."""

    @property
    def seed(self) -> int:
        """The seed of the hash."""

    @property
    def memory(self) -> int:
        """Bytes of memory in use."""

    @property
    def is_empty(self) -> bool:
        """Whether there were no rows. (A sketch without a length is always true, as objects are.)"""

# ---- over the last day only? ----

@final
class Panes(_Stored):
    """A sketch of the last hour, day or month: a ring of sketches, one for each of the latest `panes`
    panes of time, each `pane_width` units wide. `merged` is the sketch of the window; old panes are
    dropped.

    Every pane begins as the empty sketch that is given. Times are whole numbers of any unit, and no
    clock is read: the ring is as late as the latest time it was told. Items may come out of order;
    those whose pane was dropped are refused and counted as `late`. `for_window` makes a ring that
    always covers a window.

    >>> from crivo import HyperLogLog, Panes
    >>> visitors = Panes(HyperLogLog(12), pane_width=3600, panes=24)
    >>> visitors.insert_batch(["ana", "rui"], 7200)
    0
    >>> visitors.insert_batch(["ana", "eva", "zé"], [90_000, 90_010, 200_000])
    0
    >>> visitors.merged(200_000).estimate().value, visitors.covered(200_000)
    (1.0, (115200, 201599))
    >>> visitors.insert("ana", 7200), visitors.late
    (False, 1)
    """

    def __new__(cls, sketch: Any, pane_width: SupportsIndex, panes: SupportsIndex) -> Self: ...
    @staticmethod
    def for_window(sketch: Any, window: SupportsIndex, panes: SupportsIndex) -> Panes:
        """Returns a ring that always covers a window of the given length, and at most one pane more.
        The window is cut into `panes` panes.

        >>> day = Panes.for_window(HyperLogLog(12), 86_400, panes=24)
        >>> day.pane_width, day.pane_count
        (3600, 25)
        """

    def insert(self, key: Key, time: SupportsIndex) -> bool:
        """Adds one key, or one number to sketches of numbers, of a time, and says whether the window
        still has its pane. Empty text is a key here; `insert_batch` skips it.
        """

    def insert_batch(self, values: Keys, time: Times) -> int:
        """Adds many keys, or numbers to sketches of numbers, and returns how many missing values were
        skipped.

        `values` is whatever the sketch's own `insert_batch` takes; `time` is the time of all of
        them, or a list or array of as many times as there are values. Those whose pane was dropped
        are `late`.
        """

    def insert_hashes(self, hashes: Hashes, time: Times) -> int:
        """Adds hashes of the caller's own to sketches with `keys="hash"`: as `insert_batch` does."""

    def add(self, events: SupportsIndex, time: SupportsIndex) -> bool:
        """Counts events of a time, if the sketch is a counter, and says whether the window still has
        its pane.

        >>> from crivo import MorrisCounter
        >>> clicks = Panes(MorrisCounter(1.084, 8), pane_width=60, panes=60)
        >>> clicks.add(5, time=30)
        True
        """

    def merge_at(self, sketch: Any, time: SupportsIndex) -> bool:
        """Merges a sketch of items of one time into its pane, and says whether the window still has
        it. This is how sketches with weights, and any others, are filled.
        """

    def advance(self, now: SupportsIndex) -> None:
        """Tells the ring what time it is: panes that the window has passed are dropped."""

    def merged(self, now: SupportsIndex) -> Any:
        """The sketch of the window at `now`: of all items whose times are `covered`."""

    def covered(self, now: SupportsIndex) -> tuple[int, int]:
        """The first and the last time that the window at `now` covers. `InvalidParameterError` if the
        ring has no pane of it any more.
        """

    def panes(self) -> list[tuple[tuple[int, int], Any]]:
        """The panes that were used, the oldest first: the first and the last time of each, and its
        sketch.
        """

    def empty(self) -> Any:
        """The sketch that every pane begins as."""

    @property
    def latest(self) -> tuple[int, int] | None:
        """The first and the last time of the latest pane that the ring was told of; None if there was
        none.
        """

    @property
    def late(self) -> int:
        """How many items were refused because the window had passed their time."""

    @property
    def pane_width(self) -> int:
        """How many units of time are in a pane."""

    @property
    def pane_count(self) -> int:
        """How many panes are in the window."""

    @property
    def keys(self) -> KeyKind:
        """What the sketches' keys are: "text", "int" or "hash"."""

    @property
    def seed(self) -> int:
        """The seed of the sketches' hash."""

    @property
    def memory(self) -> int:
        """Bytes of memory in use."""

    @property
    def is_empty(self) -> bool:
        """Whether no pane is in use. (A sketch without a length is always true, as objects are.)"""

# ---- how often, without seeing anyone's value? ----

@final
class Protocol:
    """The settings that clients and server agree on before the first report: the privacy ε of a
    report, the number of `rows`, the `width` of a row in bits, and how keys are hashed. Each report
    belongs to one row. `for_reports` finds the size.

    >>> from crivo import Protocol
    >>> protocol = Protocol(2.0, rows=16, width=256)
    >>> round(protocol.flip_probability, 6), round(protocol.standard_error(10_000), 1)
    (0.268941, 96.3)
    """

    def __new__(
        cls,
        epsilon: float,
        rows: SupportsIndex,
        width: SupportsIndex,
        *,
        keys: KeyKind = "text",
        seed: SupportsIndex = 0,
    ) -> Self: ...
    @staticmethod
    def for_reports(
        epsilon: float, reports: SupportsIndex, *, keys: KeyKind = "text", seed: SupportsIndex = 0
    ) -> Protocol:
        """Returns a protocol with reports of 1024 bits, for that number of reports. It has the fewest
        rows for which collisions add no more to the error than privacy does.

        >>> Protocol.for_reports(4.0, 1_000_000).rows
        5395
        """

    def header(self) -> bytes:
        """The header of a file of reports. The reports follow it."""

    @staticmethod
    def from_header(header: bytes | bytearray | memoryview) -> Protocol:
        """Returns the protocol that a header describes: the first 36 bytes of a file of reports.

        >>> protocol = Protocol(2.0, 16, 256)
        >>> Protocol.from_header(protocol.header()) == protocol
        True
        """

    @property
    def epsilon(self) -> float:
        """The privacy ε that one report spends."""

    @property
    def rows(self) -> int:
        """The number of rows."""

    @property
    def width(self) -> int:
        """The number of bits of a report."""

    @property
    def keys(self) -> KeyKind:
        """The kind of the keys: "text", "int" or "hash"."""

    @property
    def seed(self) -> int:
        """The seed of the hash."""

    @property
    def record_len(self) -> int:
        """The number of bytes of a report."""

    @property
    def flip_probability(self) -> float:
        """The probability with which each bit of a report is flipped: 1/(1 + e^(ε/2))."""

    def standard_error(self, reports: SupportsIndex) -> float:
        """The least standard error of an estimate from that number of reports."""

    def __eq__(self, other: object, /) -> bool: ...

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...

@final
class PrivateClient:
    """Makes reports of one person's values, with the randomness of the operating system. Each report
    reveals no more than the protocol's ε allows. Refuses to exceed the person's `budget`.

    To continue a budget in the next run, store two numbers: `budget` and the `spent` of this run.

    >>> from crivo import PrivateClient, Protocol
    >>> client = PrivateClient(Protocol(2.0, 16, 256), budget=3.0)
    >>> report = client.encode("secret")
    >>> len(report), client.spent, client.remaining
    (38, 2.0, 1.0)
    >>> client.encode("another")
    Traceback (most recent call last):
    ...
    crivo.errors.BudgetExceededError: budget: expected 2 left for this report, found 1 ...
    """

    def __new__(cls, protocol: Protocol, budget: float, *, spent: float = 0.0) -> Self: ...
    @staticmethod
    def with_predictable_coins(protocol: Protocol, budget: float, seed: SupportsIndex) -> PrivateClient:
        """Returns a client for tests and simulations. Its random draws follow from a seed, so its
        reports are **not private**: anyone who knows the seed can compute the draws.
        """

    def encode(self, key: Key) -> bytes:
        """Returns a report about one key, as bytes. `BudgetExceededError` if the budget would be
        exceeded. Nothing is spent then.
        """

    def encode_hash(self, hash: SupportsIndex) -> bytes:
        """Returns a report about the key with this hash, for a protocol with `keys="hash"`."""

    @property
    def protocol(self) -> Protocol:
        """The protocol agreed on with the server."""

    @property
    def budget(self) -> float:
        """The privacy that may be spent in total."""

    @property
    def spent(self) -> float:
        """The privacy that was spent so far."""

    @property
    def remaining(self) -> float:
        """The privacy that is left to spend."""

    @property
    def is_predictable(self) -> bool:
        """True if the random draws are predictable, as in tests. The reports are not private then."""

@final
class PrivateCountMean(_Sketch):
    """Estimates how often each key was reported. The reports do not reveal the key of any person;
    `PrivateClient` makes them.

    >>> from crivo import PrivateClient, PrivateCountMean, Protocol
    >>> protocol = Protocol.for_reports(4.0, 3000)
    >>> answers = PrivateCountMean(protocol)
    >>> for person in range(3000):
    ...     client = PrivateClient(protocol, budget=4.0)
    ...     answers.insert(client.encode("yes" if person % 3 else "no"))
    >>> answers.reports, 2000 in answers.frequency("yes", confidence=1 - 1e-9)
    (3000, True)
    """

    def __new__(cls, protocol: Protocol) -> Self: ...
    def insert(self, report: bytes | bytearray | memoryview) -> None:
        """Adds one report. `DecodeError` if it is damaged, or made for another protocol."""

    def insert_records(self, records: bytes | bytearray | memoryview) -> None:
        """Adds many reports from one bytes object, one after the other as after the header of a file
        of reports. `DecodeError` if a report is damaged, cut off or made for another protocol. The
        error names the report, and no report is added then.
        """

    def frequency(self, key: Key, confidence: float = 0.95) -> Estimate:
        """The number of reports of a key, with bounds at the given confidence."""

    def frequency_of_hash(self, hash: SupportsIndex, confidence: float = 0.95) -> Estimate:
        """The number of reports of the key with this hash, in a sketch with `keys="hash"`."""

    def unbiased(self, key: Key) -> float:
        """The number of reports of a key, unbiased: right on average, so sometimes below 0."""

    def frequencies(self, values: Keys) -> NDArray[np.float64]:
        """The numbers of reports of many keys, unbiased and in their order; 0 for missing values."""

    def frequencies_of_hashes(self, hashes: Hashes) -> NDArray[np.float64]:
        """The numbers of reports of the keys with these hashes, in a sketch with `keys="hash"`.
        Otherwise like `frequencies`.
        """

    @property
    def reports(self) -> int:
        """The number of reports."""

    @property
    def protocol(self) -> Protocol:
        """The protocol agreed on with the clients."""

# ---- any sketch ----

def decode(data: bytes | bytearray | memoryview) -> Any:
    """Returns the sketch of any class that the bytes of a `.crivo` file hold. `DecodeError` if they
    are not the whole and undamaged bytes of one; its `kind` says why.

    >>> from crivo import HyperLogLog, decode
    >>> decode(bytes(HyperLogLog(12)))
    <HyperLogLog precision=12, keys='text', seed=0: 0>
    """

# ---- crivo.hash ----

def djb31ma(data: str | bytes, seed: SupportsIndex = 0) -> int:
    """The hash function of textbooks: starting with the seed, h ← 31·h + byte modulo 2^32 for each
    byte. It is for study, and no sketch uses it.

    >>> from crivo.hash import djb31ma
    >>> djb31ma("ab"), 31 * 97 + 98
    (3105, 3105)
    >>> djb31ma("Aa", seed=5) == djb31ma("BB", seed=5)
    True
    """

def forge(text: str, seed: SupportsIndex = 0, choice: SupportsIndex = 0) -> str | None:
    """Returns another readable text with the same `djb31ma` value as `text` under the seed. It shows
    that a checksum is no signature. Another `choice` gives another text. None if no sentence has
    that value, which has never been seen.

    >>> from crivo.hash import djb31ma, forge
    >>> contract = "Rui owes Ana ten euros."
    >>> forged = forge(contract, seed=17)
    >>> forged != contract, djb31ma(forged, 17) == djb31ma(contract, 17)
    (True, True)
    """

def forge_after(beginning: str, text: str, seed: SupportsIndex = 0, choice: SupportsIndex = 0) -> str | None:
    """Returns a text that begins with `beginning`, continues with a readable sentence, and has the
    same `djb31ma` value as `text`.

    >>> from crivo.hash import djb31ma, forge_after
    >>> contract = "Rui owes Ana ten euros."
    >>> forged = forge_after("Rui owes Ana ten thousand euros.", contract)
    >>> forged.startswith("Rui owes Ana ten thousand euros. "), djb31ma(forged) == djb31ma(contract)
    (True, True)
    """

def collision_probability(items: SupportsIndex, places: SupportsIndex) -> float:
    """The probability that at least two of the items share a place: 1 − Π (1 − i/places).

    >>> from crivo.hash import collision_probability
    >>> round(collision_probability(23, 365), 6)
    0.507297
    """

def approximate_collision_probability(items: SupportsIndex, places: SupportsIndex) -> float:
    """Returns the approximation of `collision_probability` in textbooks: 1 − e^(−items²/(2·places)).

    >>> from crivo.hash import approximate_collision_probability
    >>> round(approximate_collision_probability(23, 365), 4)
    0.5155
    """

def items_for_collision(probability: float, places: SupportsIndex) -> int:
    """Returns the least number of items so that two share a place with at least this probability.

    >>> from crivo.hash import items_for_collision
    >>> items_for_collision(0.5, 365), items_for_collision(0.5, 2**32)
    (23, 77164)
    """

@final
class FeatureHasher:
    """Maps named features to 2^bits slots, each with a sign, without a dictionary of names. Dot
    products of hashed vectors are unbiased. For vectors of length 1 they are off by at most about
    √(2/2^bits).

    Features are a dictionary of weights by name, or pairs of a name and a weight. Names are str or
    bytes.

    >>> from crivo.hash import FeatureHasher
    >>> hasher = FeatureHasher(18)
    >>> slots, weights = hasher.sparse({"sender:ana": 1, "hour:9": 1})
    >>> subject = hasher.namespace("subject")
    >>> subject.place("cheap") == hasher.place("cheap")
    False
    >>> float(hasher.dense({"cheap": 2}) @ hasher.dense([("cheap", 3), ("watches", 1)]))
    6.0
    """

    def __new__(cls, slot_bits: SupportsIndex, seed: SupportsIndex = 0) -> Self: ...
    def namespace(self, name: str | bytes) -> FeatureHasher:
        """Returns a hasher with the same slots for a separate set of features. A word in the subject
        becomes another feature than the same word in the body.
        """

    @property
    def slot_bits(self) -> int:
        """The base-2 logarithm of the number of slots."""

    @property
    def slots(self) -> int:
        """The number of slots."""

    @property
    def seed(self) -> int:
        """The seed of the hash."""

    def place(self, name: str | bytes, weight: float = 1.0) -> tuple[int, float]:
        """The slot of a feature, and its weight with the sign of the feature."""

    def sparse(self, features: Features) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
        """The slots of the features in ascending order, and in the same order the sums of their
        weights.
        """

    def dense(self, features: Features) -> NDArray[np.float32]:
        """A vector of all slots with the sums of the features' weights."""

    def add_dense(self, features: Features, dense: NDArray[np.float32]) -> None:
        """Adds features in place to a vector of all slots, which is an array of float32."""

    def __eq__(self, other: object, /) -> bool: ...

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[FeatureHasher], tuple[int, int]]: ...

# ---- other systems ----

@final
class Hll:
    """Counts different items in `2^lg_k` bytes, as Apache DataSketches does: its bytes are what
    Spark's `hll_sketch_agg` and `hll_union_agg`, Druid and others write and read (`HLL_8`; of
    others `HLL_4` and `HLL_6` too).

    DataSketches hashes differently, so that a `HyperLogLog` cannot be converted: this is built from
    the keys. With `keys="text"` they are text or bytes, with "int" integers, which are other keys
    than their texts: use it where the other side counts an integer column.

    >>> from crivo.interchange import Hll
    >>> visitors = Hll()
    >>> visitors.insert_batch(["ana", "rui", None, "ana"])
    1
    >>> round(visitors.estimate().value), len(bytes(visitors))
    (2, 16)
    >>> Hll.from_bytes(bytes(visitors)) == visitors
    True
    """

    def __new__(cls, lg_k: SupportsIndex = 12, *, keys: InterchangeKeys = "text") -> Self: ...
    @property
    def keys(self) -> InterchangeKeys:
        """What the keys are: "text" or "int"."""

    @property
    def lg_k(self) -> int:
        """The base-2 logarithm of the size."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was inserted."""

    def insert(self, key: Key) -> None:
        """Adds one key. `KeyTypeError` if it is not of the sketch's kind; None is no key
        either. Empty text adds nothing, as in other systems.
        """

    def insert_batch(self, values: Keys) -> int:
        """Adds many keys and returns how many missing values (None, NaN, null, empty text)
        were skipped. `values` is whatever `HyperLogLog.insert_batch` takes.
        """

    def estimate(self) -> Estimate:
        """How many different keys there are, with bounds at two standard deviations, about 95
        %.
        """

    def merge(self, other: Self) -> None:
        """Merges `other`, so that this is the sketch of both streams. Raises
        `IncompatibleError` if one has keys of text and the other integers.
        """

    def copy(self) -> Self:
        """An independent copy."""

    def to_bytes(self) -> bytes:
        """The bytes that other systems read. `bytes(sketch)` does the same."""

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview, *, keys: InterchangeKeys = "text") -> Self:
        """The sketch that the bytes of any system hold. `DecodeError` if they are no such sketch; they
        have no checksum, so that a change inside goes unnoticed. Nor do they say what the keys are.
        """

    def __or__(self, other: Self, /) -> Self: ...
    def __ror__(self, other: Self, /) -> Self: ...
    def __ior__(self, other: Self, /) -> Self: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any, /) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __bytes__(self) -> bytes: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes, InterchangeKeys]]: ...

@final
class Theta:
    """Counts different items by the `2^lg_k` smallest of their hashes, exactly while they are fewer,
    as Apache DataSketches does: its bytes are what Spark's `theta_sketch_agg` and
    `theta_union_agg`, Druid and others write and read, and they can be intersected and subtracted
    there.

    It is built from the keys, as `Hll` is.

    >>> from crivo.interchange import Theta
    >>> monday, tuesday = Theta(), Theta()
    >>> monday.insert_batch(range(3000)), tuesday.insert_batch(range(2000, 4000))
    (0, 0)
    >>> print((monday | tuesday).estimate())
    4 000
    """

    def __new__(cls, lg_k: SupportsIndex = 12, *, keys: InterchangeKeys = "text") -> Self: ...
    @property
    def keys(self) -> InterchangeKeys:
        """What the keys are: "text" or "int"."""

    @property
    def lg_k(self) -> int:
        """The base-2 logarithm of the size."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was inserted."""

    def insert(self, key: Key) -> None:
        """Adds one key. `KeyTypeError` if it is not of the sketch's kind; None is no key
        either. Empty text adds nothing, as in other systems.
        """

    def insert_batch(self, values: Keys) -> int:
        """Adds many keys and returns how many missing values (None, NaN, null, empty text)
        were skipped. `values` is whatever `HyperLogLog.insert_batch` takes.
        """

    def estimate(self) -> Estimate:
        """How many different keys there are, with bounds at two standard deviations, about 95
        %.
        """

    def merge(self, other: Self) -> None:
        """Merges `other`, so that this is the sketch of both streams. Raises
        `IncompatibleError` if one has keys of text and the other integers.
        """

    def copy(self) -> Self:
        """An independent copy."""

    def to_bytes(self) -> bytes:
        """The bytes that other systems read. `bytes(sketch)` does the same."""

    @classmethod
    def from_bytes(
        cls, data: bytes | bytearray | memoryview, lg_k: SupportsIndex = 12, *, keys: InterchangeKeys = "text"
    ) -> Self:
        """The sketch that the bytes of any system hold. `DecodeError` if they are no such sketch; they
        have no checksum, so that a change inside may go unnoticed. Nor do they say what the keys
        are, or how many hashes to keep of what comes later: `keys` and `lg_k` do.
        """

    def __or__(self, other: Self, /) -> Self: ...
    def __ror__(self, other: Self, /) -> Self: ...
    def __ior__(self, other: Self, /) -> Self: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any, /) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __bytes__(self) -> bytes: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes, int, InterchangeKeys]]: ...

@final
class Cpc:
    """Counts different items as Apache DataSketches does, in about half of the bytes that an `Hll` of
    the same error takes: its bytes are what the project's libraries and Druid read and write.

    It is built from the keys, as `Hll` is.

    >>> from crivo.interchange import Cpc
    >>> visitors = Cpc()
    >>> visitors.insert_batch(["ana", "rui", None, "ana"])
    1
    >>> round(Cpc.from_bytes(bytes(visitors)).estimate().value)
    2
    """

    def __new__(cls, lg_k: SupportsIndex = 12, *, keys: InterchangeKeys = "text") -> Self: ...
    @property
    def keys(self) -> InterchangeKeys:
        """What the keys are: "text" or "int"."""

    @property
    def lg_k(self) -> int:
        """The base-2 logarithm of the size."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was inserted."""

    def insert(self, key: Key) -> None:
        """Adds one key. `KeyTypeError` if it is not of the sketch's kind; None is no key
        either. Empty text adds nothing, as in other systems.
        """

    def insert_batch(self, values: Keys) -> int:
        """Adds many keys and returns how many missing values (None, NaN, null, empty text)
        were skipped. `values` is whatever `HyperLogLog.insert_batch` takes.
        """

    def estimate(self) -> Estimate:
        """How many different keys there are, with bounds at two standard deviations, about 95
        %.
        """

    def merge(self, other: Self) -> None:
        """Merges `other`, so that this is the sketch of both streams. Raises
        `IncompatibleError` if one has keys of text and the other integers.
        """

    def copy(self) -> Self:
        """An independent copy."""

    def to_bytes(self) -> bytes:
        """The bytes that other systems read. `bytes(sketch)` does the same."""

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview, *, keys: InterchangeKeys = "text") -> Self:
        """The sketch that the bytes of any system hold. `DecodeError` if they are no such sketch. They
        do not say what the keys are.
        """

    def __or__(self, other: Self, /) -> Self: ...
    def __ror__(self, other: Self, /) -> Self: ...
    def __ior__(self, other: Self, /) -> Self: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any, /) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __bytes__(self) -> bytes: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes, InterchangeKeys]]: ...

@final
class Kll:
    """Quantiles of numbers, as Apache DataSketches keeps them: its bytes are what Spark's
    `kll_sketch_*` functions and others write and read. `numbers` is "double", "float" or "long", as
    the other side has them.

    Bounds are those that DataSketches states, 99 % sure; crivo's `NumberQuantiles` takes the same
    memory for a smaller error. Its coins are not seeded, so that the same numbers give different
    bytes every time. Whole numbers of "long" keep all their digits; answers are rounded to doubles.

    >>> from crivo.interchange import Kll
    >>> prices = Kll()
    >>> prices.insert_batch([3, 1, None, 2])
    1
    >>> Kll.from_bytes(bytes(prices)).quantile(0.5).value
    2.0
    """

    def __new__(
        cls, k: SupportsIndex = 200, *, numbers: Literal["double", "float", "long"] = "double"
    ) -> Self: ...
    @property
    def numbers(self) -> Literal["double", "float", "long"]:
        """What its numbers are: "double", "float" or "long"."""

    @property
    def count(self) -> int:
        """How many numbers there are."""

    @property
    def k(self) -> int:
        """The size."""

    def insert(self, value: float) -> None:
        """Adds a number. NaN adds nothing."""

    def insert_batch(self, values: Numbers) -> int:
        """Adds many numbers and returns how many missing values (None, null) were skipped.
        `values` is whatever `NumberQuantiles.insert_batch` takes.
        """

    def quantile(self, share: float) -> Estimate | None:
        """The number at which that share of all is reached, with bounds. None if there are no
        numbers.
        """

    def rank(self, limit: float) -> Estimate | None:
        """Which share of all numbers is at most a limit, with bounds. None if there are no
        numbers.
        """

    def merge(self, other: Self) -> None:
        """Merges `other`, so that this is the sketch of both streams. Raises
        `IncompatibleError` if the two sketches differ in a setting that must be the same.
        """

    def copy(self) -> Self:
        """An independent copy."""

    def to_bytes(self) -> bytes:
        """The bytes that other systems read. `bytes(sketch)` does the same."""

    @classmethod
    def from_bytes(
        cls,
        data: bytes | bytearray | memoryview,
        *,
        numbers: Literal["double", "float", "long"] | None = None,
    ) -> Self:
        """The sketch that the bytes of any system hold. `DecodeError` if they are no such sketch. They
        do not say what their numbers are; without `numbers` it is told from their length and from
        numbers that no double is.
        """

    def __or__(self, other: Self, /) -> Self: ...
    def __ror__(self, other: Self, /) -> Self: ...
    def __ior__(self, other: Self, /) -> Self: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any, /) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __bytes__(self) -> bytes: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes, str]]: ...

@final
class Req:
    """Quantiles whose error is a share of the distance from one end, as Apache DataSketches keeps
    them, of floats.

    >>> from crivo.interchange import Req
    >>> latencies = Req()
    >>> latencies.insert_batch(range(1000))
    0
    >>> latencies.quantile(1.0).value
    999.0
    """

    def __new__(cls, k: SupportsIndex = 12, *, high_ranks: bool = True) -> Self: ...
    @property
    def high_ranks(self) -> bool:
        """Whether it is right about high ranks, or about low ones."""

    @property
    def count(self) -> int:
        """How many numbers there are."""

    @property
    def k(self) -> int:
        """The size."""

    def insert(self, value: float) -> None:
        """Adds a number. NaN adds nothing."""

    def insert_batch(self, values: Numbers) -> int:
        """Adds many numbers and returns how many missing values (None, null) were skipped.
        `values` is whatever `NumberQuantiles.insert_batch` takes.
        """

    def quantile(self, share: float) -> Estimate | None:
        """The number at which that share of all is reached, with bounds. None if there are no
        numbers.
        """

    def rank(self, limit: float) -> Estimate | None:
        """Which share of all numbers is at most a limit, with bounds. None if there are no
        numbers.
        """

    def merge(self, other: Self) -> None:
        """Merges `other`, so that this is the sketch of both streams. Raises
        `IncompatibleError` if the two sketches differ in a setting that must be the same.
        """

    def copy(self) -> Self:
        """An independent copy."""

    def to_bytes(self) -> bytes:
        """The bytes that other systems read. `bytes(sketch)` does the same."""

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> Self:
        """The sketch that the bytes of any system hold. `DecodeError` if they are no such sketch."""

    def __or__(self, other: Self, /) -> Self: ...
    def __ror__(self, other: Self, /) -> Self: ...
    def __ior__(self, other: Self, /) -> Self: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any, /) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __bytes__(self) -> bytes: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...

@final
class TDigest:
    """Quantiles that are close at both ends, as Apache DataSketches keeps them: a t-digest of doubles.
    No bound of its error holds for every input, so that its answers are certain to lie between the
    least and the greatest number only.

    >>> from crivo.interchange import TDigest
    >>> latencies = TDigest()
    >>> latencies.insert_batch([3, 1, 2])
    0
    >>> latencies.quantile(0.5).value
    2.0
    """

    def __new__(cls, k: SupportsIndex = 200) -> Self: ...
    @property
    def count(self) -> int:
        """How many numbers there are."""

    @property
    def k(self) -> int:
        """The size."""

    def insert(self, value: float) -> None:
        """Adds a number. NaN adds nothing."""

    def insert_batch(self, values: Numbers) -> int:
        """Adds many numbers and returns how many missing values (None, null) were skipped.
        `values` is whatever `NumberQuantiles.insert_batch` takes.
        """

    def quantile(self, share: float) -> Estimate | None:
        """The number at which that share of all is reached, with bounds. None if there are no
        numbers.
        """

    def rank(self, limit: float) -> Estimate | None:
        """Which share of all numbers is at most a limit, with bounds. None if there are no
        numbers.
        """

    def merge(self, other: Self) -> None:
        """Merges `other`, so that this is the sketch of both streams. Raises
        `IncompatibleError` if the two sketches differ in a setting that must be the same.
        """

    def copy(self) -> Self:
        """An independent copy."""

    def to_bytes(self) -> bytes:
        """The bytes that other systems read. `bytes(sketch)` does the same."""

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> Self:
        """The digest that the bytes of any system hold, of doubles or floats. `DecodeError` if they
        are no digest.
        """

    def __or__(self, other: Self, /) -> Self: ...
    def __ror__(self, other: Self, /) -> Self: ...
    def __ior__(self, other: Self, /) -> Self: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any, /) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __bytes__(self) -> bytes: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...

@final
class FrequentItems:
    """The most frequent keys with certain bounds, as Apache DataSketches keeps them: its bytes are
    those of the `frequent_strings_sketch` of its Python package, of the `ItemsSketch<String>` and,
    with `keys="int"`, of the `LongsSketch` of Java.

    >>> from crivo.interchange import FrequentItems
    >>> words = FrequentItems()
    >>> words.insert_batch("the cat and the dog and the bird".split())
    0
    >>> [(key, int(count.value)) for key, count in words.top(2)]
    [('the', 3), ('and', 2)]
    """

    def __new__(cls, lg_size: SupportsIndex = 15, *, keys: InterchangeKeys = "text") -> Self: ...
    @property
    def keys(self) -> InterchangeKeys:
        """What the keys are: "text" or "int"."""

    @property
    def total(self) -> int:
        """The sum of all weights."""

    @property
    def max_error(self) -> int:
        """How often a key that is not listed may have come."""

    @property
    def lg_size(self) -> int:
        """The base-2 logarithm of the size of the map, which holds three quarters of that."""

    def add(self, key: Key, weight: SupportsIndex) -> None:
        """Adds a weight to one key. All weights together are less than 2^63, as other systems count
        them.
        """

    def frequency(self, key: Key) -> Estimate:
        """How often a key came, with certain bounds."""

    def top(self, k: SupportsIndex = 10) -> list[tuple[str | bytes | int, Estimate]]:
        """The keys with the highest counts, at most `k` of them, each with certain bounds."""

    def insert(self, key: Key) -> None:
        """Adds one key. `KeyTypeError` if it is not of the sketch's kind; None is no key
        either. Empty text adds nothing, as in other systems.
        """

    def insert_batch(self, values: Keys) -> int:
        """Adds many keys and returns how many missing values (None, NaN, null, empty text)
        were skipped. `values` is whatever `HyperLogLog.insert_batch` takes.
        """

    def merge(self, other: Self) -> None:
        """Merges `other`, so that this is the sketch of both streams. Raises
        `IncompatibleError` if the two sketches differ in a setting that must be the same.
        """

    def copy(self) -> Self:
        """An independent copy."""

    def to_bytes(self) -> bytes:
        """The bytes that other systems read. `bytes(sketch)` does the same."""

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview, *, keys: InterchangeKeys | None = None) -> Self:
        """The sketch that the bytes of any system hold. `DecodeError` if they are no such sketch.
        Without `keys` it is told from the bytes whether they are texts or integers.
        """

    def __or__(self, other: Self, /) -> Self: ...
    def __ror__(self, other: Self, /) -> Self: ...
    def __ior__(self, other: Self, /) -> Self: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any, /) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __bytes__(self) -> bytes: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes, InterchangeKeys]]: ...

@final
@final
class BloomFilter:
    """A set that takes a few of the absent keys for members, as Apache DataSketches keeps it: its
    bytes are what the project's Java, C++ and Rust libraries read and write.

    >>> from crivo.interchange import BloomFilter
    >>> seen = BloomFilter(1000)
    >>> seen.insert_batch(["ana", "rui"])
    0
    >>> "ana" in seen, "eva" in seen
    (True, False)
    """

    def __new__(
        cls, items: SupportsIndex, false_positive_rate: float = 0.01, *, keys: InterchangeKeys = "text"
    ) -> Self: ...
    @property
    def keys(self) -> InterchangeKeys:
        """What the keys are: "text" or "int"."""

    @property
    def false_positive_rate(self) -> float:
        """The chance that an absent key is taken for a member, at the present fill."""

    @property
    def bits(self) -> int:
        """The number of bits."""

    @property
    def hashes(self) -> int:
        """The number of bits of a key."""

    def items(self) -> Estimate:
        """How many different keys there are, with bounds at 95 %."""

    def __contains__(self, key: Key, /) -> bool: ...
    def insert(self, key: Key) -> None:
        """Adds one key. `KeyTypeError` if it is not of the sketch's kind; None is no key
        either. Empty text adds nothing, as in other systems.
        """

    def insert_batch(self, values: Keys) -> int:
        """Adds many keys and returns how many missing values (None, NaN, null, empty text)
        were skipped. `values` is whatever `HyperLogLog.insert_batch` takes.
        """

    def merge(self, other: Self) -> None:
        """Merges `other`, so that this is the sketch of both streams. Raises
        `IncompatibleError` if the two sketches differ in a setting that must be the same.
        """

    def copy(self) -> Self:
        """An independent copy."""

    def to_bytes(self) -> bytes:
        """The bytes that other systems read. `bytes(sketch)` does the same."""

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview, *, keys: InterchangeKeys = "text") -> Self:
        """The filter that the bytes of any system hold. `DecodeError` if they are no such filter. They
        do not say what the keys are.
        """

    def __or__(self, other: Self, /) -> Self: ...
    def __ror__(self, other: Self, /) -> Self: ...
    def __ior__(self, other: Self, /) -> Self: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any, /) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __bytes__(self) -> bytes: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes, InterchangeKeys]]: ...

# ---- the parts of near_duplicates, repeated_passages and benchmark_overlap ----

@final
class OverlapFinder:
    """Finds the texts that contain items of a benchmark, in batch after batch: the items are read once.
    `items` and `words` are those of `benchmark_overlap`, and what is found is the same.

    >>> from crivo.distributed import OverlapFinder
    >>> finder = OverlapFinder(["What is the capital of France?"], words=5)
    >>> finder.find(["Quiz: what is the capital of France? Paris."]).hits
    [(0, 0, 1.0, 6)]
    >>> finder.find(["something else"]).hits
    []
    """

    def __new__(cls, items: Texts, *, words: SupportsIndex = 8, threads: SupportsIndex = 0) -> Self: ...
    def find(
        self,
        texts: Texts,
        *,
        share: float = 0.5,
        cut: str = "document",
        threads: SupportsIndex = 0,
    ) -> BenchmarkOverlap:
        """Which of the texts contain which items. The arguments are those of `benchmark_overlap`."""

@final
class PassageFinder:
    """Makes of texts what has to travel to find passages that stand in two of them. Each step is that
    of `repeated_passages`, and so are the passages that come of it.

    `anchors` of all texts meet by their hashes. Of those that stand in several places, `windows`
    meet by anchor and key; the first of equal ones is the first occurrence of the others.
    `passages` extends them to whole passages, and `cut` takes those out of a text.

    >>> from crivo.distributed import PassageFinder
    >>> finder = PassageFinder(8)
    >>> texts = ["So: a b c d e f g h i.", "And a b c d e f g h i?"]
    >>> starts, hashes, positions = finder.anchors(texts)
    >>> starts, windows, anchors, keys = finder.windows(texts, starts, positions)
    >>> starts, windows
    (array([0, 3, 6]), array([0, 1, 2, 0, 1, 2], dtype=uint32))
    >>> bool((keys[1:3] == keys[4:]).all())
    True
    >>> import numpy as np
    >>> one, none = np.array([1], "u4"), np.array([0], "u4")
    >>> found = finder.passages(texts[1], texts[:1], one, none, one)
    >>> found
    [(4, 21, 0, 4, 21)]
    >>> finder.cut(texts[1], [(start, end) for start, end, *_ in found])
    'And ?'
    """

    def __new__(cls, min_words: SupportsIndex = 50, *, seed: SupportsIndex = 0) -> Self: ...
    def anchors(self, texts: Texts) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint32]]:
        """For each text where its anchors begin, with the end of the last; the hash of each anchor and
        the number of its first word. A missing text has none. `texts` are as for `Signer.sign`.
        """

    def windows(
        self, texts: Texts, starts: NDArray[np.int64], positions: NDArray[np.uint32]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint64], NDArray[np.uint64]]:
        """The windows that select some anchors of each text: where those of each text begin, with the
        end of the last; the number of each window's first word, the hash of its anchor, and its
        key. `starts` and `positions` are as `anchors` gives them, those of each text ascending.
        """

    def passages(
        self,
        text: str | bytes,
        earlier: Texts,
        windows: NDArray[np.uint32],
        places: NDArray[np.uint32],
        firsts: NDArray[np.uint32],
    ) -> list[tuple[int, int, int, int, int]]:
        """The passages of a text, from left to right: first byte, byte behind the last, which of the
        `earlier` texts has it, and the same bytes there. `windows` are the first words of windows
        that stood before; `places` says in which of the earlier texts each stands first, and
        `firsts` with which word it begins there. `RuntimeError` if one differs: the texts changed
        meanwhile.
        """

    def cut(
        self,
        text: str | bytes,
        ranges: Sequence[tuple[int, int]],
        cut: str = "words",
        min_left: int = 0,
    ) -> str | bytes | None:
        """What is left of a text without some bytes; None if it goes. `cut` and `min_left` are as for
        `repeated_passages`; `ranges` may overlap.
        """

@final
class Signer:
    """Makes of texts what has to travel to find near-duplicates among them. The settings are those of
    `near_duplicates`, and so are the pairs that come of it.

    >>> from crivo.distributed import Signer
    >>> signer = Signer(0.8, shingle="words:2")
    >>> texts = ["the cat sat on the mat", "short", None, "The cat sat on the mat!"]
    >>> fingerprints, sizes, keys = signer.sign(texts)
    >>> sizes
    array([ 5,  0, -1,  5])
    >>> first, _, _, last = keys
    >>> bool((first == last).all()), keys.shape, signer.bands
    (True, (4, 16), Bands(16, 6))
    """

    def __new__(
        cls,
        threshold: float = 0.8,
        *,
        shingle: str = "words:5",
        html: bool = False,
        hashes: SupportsIndex = 128,
        bands: Bands | None = None,
        seed: SupportsIndex = 0,
        fast: bool = False,
        nfc: bool = False,
    ) -> Self: ...
    @property
    def bands(self) -> Bands:
        """How signatures are cut."""

    def sign(self, texts: Texts) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint64]]:
        """For each text a fingerprint (two halves of 128 bits, equal for equal content), the number of
        its shingles (0 if it is too short for one, -1 if it is missing), and its band keys, one for
        each band: those that share one are candidates. Texts without a shingle have keys of 0,
        which mean nothing.

        `texts` is a list or other iterable of str or bytes, or an Arrow column of text, which is
        read in place and without the GIL.
        """

    def sets(self, texts: Texts) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """The sets of shingles of all texts, one after the other, each ascending and every hash once;
        and where they begin, with the end of the last. A missing text has none. With `fast` they
        are signatures, packed two slots a word; a text too short for a shingle has none.

        >>> from crivo.distributed import Signer
        >>> starts, hashes = Signer(shingle="words:2").sets(["one two three", None, "one two"])
        >>> starts, len(hashes)
        (array([0, 2, 2, 3]), 3)
        """

@final
class Verifier:
    """Compares candidates exactly, as the sets they are. They come in groups: first the sets of a
    group, each with the id it goes by, then the pairs of ids. Only the sets of one group are held.
    `signatures` is the number of hashes of a `Signer` with `fast`, whose signatures are compared in
    the place of sets.

    >>> import numpy as np
    >>> from crivo.distributed import Signer, Verifier
    >>> starts, hashes = Signer(shingle="words:2").sets(["a b c d e", "a b c d f", "g h i"])
    >>> _, *sets, _ = np.split(hashes, starts)
    >>> rows, similarities = Verifier(0.5).verify(
    ...     groups=np.array([1, 1, 1, 1, 1]),
    ...     ones=["x", "y", "z", "x", "x"],
    ...     others=[None, None, None, "y", "z"],
    ...     sets=[*map(np.ndarray.tobytes, sets), None, None],
    ... )
    >>> int(*rows), float(*similarities)
    (3, 0.6)
    """

    def __new__(cls, threshold: float, *, signatures: SupportsIndex | None = None) -> Self: ...
    def verify(
        self, groups: NDArray[np.int64], ones: Texts, others: Texts, sets: Texts
    ) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """The rows whose pairs are at least as similar as the threshold, and how similar they are.

        A row is a set (`ones` has its id, `others` nothing, and `sets` its hashes as little-endian
        bytes, ascending) or a pair (`ones` and `others` have the ids). Rows of one group stand
        together, sets before pairs; a group may go on in the next call. Ids are texts.
        `InvalidParameterError` if an id has two sets, or a pair one that did not come.
        """

# ---- what engines build upon ----

def sketch_lists(lists: ArrowArray | ArrowStream, sketch: Any, *, threads: SupportsIndex = 0) -> list[Any]:
    """The sketch of each list of an Arrow column of lists, as `group_by` of polars makes them: each
    begins as the empty `sketch` that is given. None for a list that is null. 0 `threads` are as
    many as there are processors.

    Each has the bytes that its `insert_batch` of the list would give, whatever the number of
    threads.

    >>> import pyarrow as pa
    >>> from crivo import HyperLogLog
    >>> from crivo.distributed import sketch_lists
    >>> visitors = pa.array([["ana", "rui", "ana"], [], None])
    >>> [sketch and sketch.estimate().value for sketch in sketch_lists(visitors, HyperLogLog(12))]
    [2.0, 0.0, None]
    """

def frequency_bounds(sketch: Any, values: Keys) -> NDArray[np.float64]:
    """Returns the frequency of each of many values, by any sketch that estimates it. There is one row
    for each value, in their order: the estimate, its lower and its upper bound. `values` is
    whatever `insert_batch` takes. The row of a missing value is NaN.

    >>> from crivo import HeavyHitters
    >>> from crivo.distributed import frequency_bounds
    >>> pages = HeavyHitters(10)
    >>> pages.insert_batch(["/home", "/about", "/home"])
    0
    >>> frequency_bounds(pages, ["/home", None, "/none"])
    array([[ 2.,  2.,  2.],
           [nan, nan, nan],
           [ 0.,  0.,  0.]])
    """
