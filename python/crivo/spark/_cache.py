"""Results that other results are made of stay cached as long as somebody has those."""

import weakref
from contextlib import suppress

from pyspark.sql import DataFrame


def cached_with(result: DataFrame, parts: list[DataFrame]) -> DataFrame:
    """The result, with which the cached parts it is made of are forgotten. Whoever still has something made
    of it gets the same answer later, only more slowly: Spark makes the parts again.
    """
    weakref.finalize(result, forget, parts).atexit = False
    return result


def forget(parts: list[DataFrame]) -> None:
    # The session may have ended before.
    with suppress(Exception):
        for part in parts:
            part.unpersist()
