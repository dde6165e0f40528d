"""Sketches as other systems store them: Apache DataSketches.

The classes here make and read the bytes that Spark (``hll_*``, ``theta_*``, ``kll_*``), Druid, Snowflake,
PostgreSQL and others exchange: ``Hll``, ``Theta`` and ``Cpc`` count different values, ``Kll``, ``Req`` and
``TDigest`` know quantiles, ``FrequentItems`` the most frequent keys, ``BloomFilter`` whether a key is in a
set. DataSketches hashes differently from crivo, so they are built from the keys: no crivo sketch can be
converted into one of them, nor one of them into a crivo sketch.

>>> from crivo.interchange import Hll
>>> visitors = Hll()
>>> visitors.insert_batch(["ana", "rui", "ana"])
0
>>> round(Hll.from_bytes(bytes(visitors)).estimate().value)
2
"""

from typing import Literal

from crivo._native import BloomFilter, Cpc, FrequentItems, Hll, Kll, Req, TDigest, Theta

__all__ = [
    "BloomFilter",
    "Cpc",
    "FrequentItems",
    "Hll",
    "Kll",
    "Req",
    "TDigest",
    "Theta",
]

_Keys = Literal["text", "int"]


def _hll(data: bytes, keys: _Keys) -> Hll:
    """What a pickle of one calls."""
    return Hll.from_bytes(data, keys=keys)


def _theta(data: bytes, lg_k: int, keys: _Keys) -> Theta:
    """What a pickle of one calls."""
    return Theta.from_bytes(data, lg_k, keys=keys)


def _cpc(data: bytes, keys: _Keys) -> Cpc:
    """What a pickle of one calls."""
    return Cpc.from_bytes(data, keys=keys)


def _kll(data: bytes, numbers: Literal["double", "float", "long"]) -> Kll:
    """What a pickle of one calls."""
    return Kll.from_bytes(data, numbers=numbers)


def _frequent_items(data: bytes, keys: _Keys) -> FrequentItems:
    """What a pickle of one calls."""
    return FrequentItems.from_bytes(data, keys=keys)


def _bloom(data: bytes, keys: _Keys) -> BloomFilter:
    """What a pickle of one calls."""
    return BloomFilter.from_bytes(data, keys=keys)
