"""The steps of ``near_duplicates``, ``repeated_passages`` and ``benchmark_overlap``, for programs that
spread them over machines; ``crivo.spark`` does.

``Signer.sign`` makes a few numbers of each text: texts that share one are candidates. ``Signer.sets``
makes the sets of the candidates, and ``Verifier`` compares them exactly. Each step is the one that
``crivo.near_duplicates`` takes, so the pairs are the same. Up to ``LARGEST_BUCKET`` texts that share
a number are compared each with each; of more only the first with each other.

``PassageFinder`` has the steps of ``repeated_passages`` in the same way. ``OverlapFinder`` is
``benchmark_overlap`` for batch after batch, with the items read once.

``sketch_lists`` and ``frequency_bounds`` are what ``crivo.polars`` builds upon: a sketch of each group,
and the answers of one about a column.

>>> from crivo.distributed import Signer
>>> fingerprints, sizes, keys = Signer(shingle="words:1").sign(["one two", "Two, one!"])
>>> bool((keys[0] == keys[1]).all())
True
"""

from crivo._native import OverlapFinder, PassageFinder, Signer, Verifier, frequency_bounds, sketch_lists

__all__ = [
    "LARGEST_BUCKET",
    "OverlapFinder",
    "PassageFinder",
    "Signer",
    "Verifier",
    "frequency_bounds",
    "sketch_lists",
]

LARGEST_BUCKET = 500
"""The engine's own number: a test holds the two together."""
