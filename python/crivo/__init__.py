"""Answers about data too big to hold: one pass, small memory, an honest error bound.

>>> from crivo import HyperLogLog
>>> visitors = HyperLogLog.for_error(0.01)
>>> visitors.insert_batch(["ana", "rui", "ana"])
0
>>> print(visitors.estimate())
2

Every sketch has the same verbs: it is built from a goal (``for_error``) or a size; takes one key
(``insert``) or a column (``insert_batch``); answers with an ``Estimate``; combines with ``merge``
or ``|``; and is stored with ``to_bytes`` and ``from_bytes`` in the format that the command line
and the Rust library read and write, byte for byte the same.

- How many different? ``HyperLogLog``, ``UltraLogLog``, ``KMinValues``, ``LogLog``, ``LinearCounting``,
  ``ProbabilisticCounting``, ``ExactDistinct``
- Is it in there? ``Bloom``, ``BlockedBloom``, ``CountingBloom``, ``DirectTable``, ``CombinedFilter``,
  ``BinaryFuse``
- How often, and which most often? ``CountMin``, ``RangeCountMin``, ``HeavyHitters``, ``Majority``
- How many events? ``MorrisCounter``, ``SampledCounter``, ``CounterArray``, ``Tally``
- A fair sample? ``Reservoir``, ``WeightedReservoir``, ``RowSample``
- How often, without seeing anyone's value? ``PrivateClient``, ``PrivateCountMean``
- Which value has that rank? ``quantiles``, ``NumberQuantiles``, ``KeyQuantiles``
- What is in this table, what changed, what joins? ``profile``, ``TableProfile.compare``, ``joins``
- What is in this column? ``profile`` for tables; ``ColumnProfile``, ``DDSketch``, ``DistinctGrowth``,
  ``NearDuplicateShare``, and ``ProfiledColumn`` with all of a column
- Over the last day only? ``Panes`` of any sketch; for each group? ``Groups`` of any sketch
- Which are alike? ``dedup`` and ``near_duplicates`` for texts; ``MinHash``, ``Bands``, ``LshIndex``,
  ``jaccard`` and ``shingles`` for anything
- What stands in two places? ``passages`` and ``repeated_passages``; in a benchmark? ``overlap`` and
  ``benchmark_overlap``

``decode`` opens the bytes of any of them. ``crivo.hash`` has what is worth knowing about hashes,
``crivo.spark`` answers from data on many machines, ``crivo.polars`` and ``crivo.pandas`` inside of those
libraries, ``crivo.interchange`` exchanges counts with other systems.
"""

from crivo._dedup import dedup
from crivo._hitter import Hitter
from crivo._joins import Join, Joins, joins
from crivo._native import (
    Bands,
    BenchmarkOverlap,
    BinaryFuse,
    BlockedBloom,
    Bloom,
    ColumnProfile,
    CombinedFilter,
    Comparison,
    CounterArray,
    CountingBloom,
    CountMin,
    DDSketch,
    DirectTable,
    DistinctGrowth,
    Estimate,
    ExactDistinct,
    Groups,
    HeavyHitters,
    HyperLogLog,
    KeyQuantiles,
    KMinValues,
    LinearCounting,
    LogLog,
    LshIndex,
    Majority,
    MinHash,
    MorrisCounter,
    NearDuplicates,
    NearDuplicateShare,
    NumberQuantiles,
    Panes,
    PrivateClient,
    PrivateCountMean,
    ProbabilisticCounting,
    ProfiledColumn,
    Protocol,
    RangeCountMin,
    RepeatedPassages,
    Reservoir,
    RowSample,
    SampledCounter,
    Similar,
    SimilarPair,
    TableProfile,
    Tally,
    UltraLogLog,
    WeightedReservoir,
    benchmark_overlap,
    decode,
    jaccard,
    near_duplicates,
    repeated_passages,
    shingles,
)
from crivo._native import __version__ as __version__
from crivo._passages import overlap, passages
from crivo._profile import profile
from crivo._quantiles import quantiles
from crivo._table import (
    Change,
    ColumnDates,
    Correlation,
    Dependency,
    Histogram,
    HistogramBar,
    Outliers,
    Spread,
    TableDrift,
    TextPattern,
)
from crivo.errors import (
    AbsentError,
    BudgetExceededError,
    CrivoError,
    DecodeError,
    IncompatibleError,
    InternalError,
    InvalidParameterError,
    KeyTypeError,
    OutOfMemoryError,
)

__all__ = [
    "AbsentError",
    "Bands",
    "BenchmarkOverlap",
    "BinaryFuse",
    "BlockedBloom",
    "Bloom",
    "BudgetExceededError",
    "Change",
    "ColumnDates",
    "ColumnProfile",
    "CombinedFilter",
    "Comparison",
    "Correlation",
    "CountMin",
    "CounterArray",
    "CountingBloom",
    "CrivoError",
    "DDSketch",
    "DecodeError",
    "Dependency",
    "DirectTable",
    "DistinctGrowth",
    "Estimate",
    "ExactDistinct",
    "Groups",
    "HeavyHitters",
    "Histogram",
    "HistogramBar",
    "Hitter",
    "HyperLogLog",
    "IncompatibleError",
    "InternalError",
    "InvalidParameterError",
    "Join",
    "Joins",
    "KMinValues",
    "KeyQuantiles",
    "KeyTypeError",
    "LinearCounting",
    "LogLog",
    "LshIndex",
    "Majority",
    "MinHash",
    "MorrisCounter",
    "NearDuplicateShare",
    "NearDuplicates",
    "NumberQuantiles",
    "OutOfMemoryError",
    "Outliers",
    "Panes",
    "PrivateClient",
    "PrivateCountMean",
    "ProbabilisticCounting",
    "ProfiledColumn",
    "Protocol",
    "RangeCountMin",
    "RepeatedPassages",
    "Reservoir",
    "RowSample",
    "SampledCounter",
    "Similar",
    "SimilarPair",
    "Spread",
    "TableDrift",
    "TableProfile",
    "Tally",
    "TextPattern",
    "UltraLogLog",
    "WeightedReservoir",
    "benchmark_overlap",
    "decode",
    "dedup",
    "jaccard",
    "joins",
    "near_duplicates",
    "overlap",
    "passages",
    "profile",
    "quantiles",
    "repeated_passages",
    "shingles",
]
