"""Counts of different values as other systems store them: Apache DataSketches.

``Hll`` and ``Theta`` make and read the bytes that Spark (``hll_*``, ``theta_*``), Druid, Snowflake,
PostgreSQL and others exchange. DataSketches hashes differently from crivo, so these are built from the
keys: no crivo sketch can be converted into one of them, nor one of them into a crivo sketch.

>>> from crivo.interchange import Hll
>>> visitors = Hll()
>>> visitors.insert_batch(["ana", "rui", "ana"])
0
>>> round(Hll.from_bytes(bytes(visitors)).estimate().value)
2
"""

from typing import Literal

from crivo._native import Hll, Theta

__all__ = ["Hll", "Theta"]


def _hll(data: bytes, keys: Literal["text", "int"]) -> Hll:
    """What a pickle of one calls."""
    return Hll.from_bytes(data, keys=keys)


def _theta(data: bytes, lg_k: int, keys: Literal["text", "int"]) -> Theta:
    """What a pickle of one calls."""
    return Theta.from_bytes(data, lg_k, keys=keys)
