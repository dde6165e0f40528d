"""The steps of ``near_duplicates``, for whoever spreads them over machines; ``crivo.spark`` does.

``Signer.sign`` makes a few numbers of each text: those who share one are candidates. ``Signer.sets`` makes
the sets of the candidates, and ``Verifier`` compares them exactly. Each step is the one that
``crivo.near_duplicates`` takes, so the pairs are the same. ``LARGEST_BUCKET`` is up to how many who share a
number are compared each with each; of more only the first with each other.

>>> from crivo.distributed import Signer
>>> fingerprints, sizes, keys = Signer(shingle="words:1").sign(["one two", "Two, one!"])
>>> bool((keys[0] == keys[1]).all())
True
"""

from crivo._native import Signer, Verifier

__all__ = ["LARGEST_BUCKET", "Signer", "Verifier"]

LARGEST_BUCKET = 500
"""The engine's own number: a test holds the two together."""
