"""crivo on Apache Spark: the same answers from data on many machines.

Every function takes DataFrames and does its work where the rows are: inside ``mapInArrow``, in native code,
one partial sketch a partition. What comes of it is what one machine would have made: the same bytes where
merging is exact, the same pairs of near-duplicates, the same guarantee elsewhere.

- ``sketch`` of a column, or one of each group of rows; ``estimate`` reads a DataFrame of sketches
- ``sketch_stream`` goes on with the sketches of groups of a streaming DataFrame
- ``near_duplicates``, ``clusters``, ``dedup`` and its certificate ``removed`` of a column of texts
- ``passages`` without what stands in two documents, and where it stands: ``repeated_passages``
- ``overlap`` without what a benchmark asks, and which document has which item: ``benchmark_overlap``
- ``semi_join`` drops the rows that cannot join before they are moved
- ``profile`` says what is in each column
- ``to_datasketches`` and ``from_datasketches`` exchange sketches with Spark's own ``hll_*``, ``theta_*`` and
  ``kll_*``
- ``pack_environment`` is for clusters where crivo is not installed

It needs ``pip install 'crivo[spark]'``, on the machine of the driver; docs/spark.md says how to run it and
what it costs.
"""

try:
    import pyarrow
    import pyspark
except ImportError as missing:
    message = f"crivo.spark needs {missing.name}, which is not installed: pip install 'crivo[spark]'"
    raise ImportError(message, name=missing.name) from missing

from crivo._versions import warn_untested
from crivo.spark._clusters import clusters
from crivo.spark._dedup import dedup, removed
from crivo.spark._environment import pack_environment
from crivo.spark._interchange import from_datasketches, to_datasketches
from crivo.spark._join import semi_join
from crivo.spark._near import near_duplicates
from crivo.spark._overlap import benchmark_overlap, overlap
from crivo.spark._passages import passages, repeated_passages
from crivo.spark._profile import profile
from crivo.spark._sketch import Sketched, estimate, sketch
from crivo.spark._stream import sketch_stream

__all__ = [
    "Sketched",
    "benchmark_overlap",
    "clusters",
    "dedup",
    "estimate",
    "from_datasketches",
    "near_duplicates",
    "overlap",
    "pack_environment",
    "passages",
    "profile",
    "removed",
    "repeated_passages",
    "semi_join",
    "sketch",
    "sketch_stream",
    "to_datasketches",
]

OLDEST, NEWEST = "4.3", "4.3"
warn_untested("pyspark", pyspark.__version__, OLDEST, NEWEST)

del pyarrow, pyspark
