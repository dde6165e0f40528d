"""Keeps the intermediate DataFrames of a result cached as long as the result is referred to."""

import weakref
from contextlib import suppress
from typing import Any

from pyspark.sql import DataFrame


def cached_with(result: DataFrame, parts: list[DataFrame]) -> DataFrame:
    """Returns the result. When nothing refers to it any more, the `parts` that it is made of are dropped from
    Spark's cache. DataFrames derived from the result still give the same answer, but more slowly, because
    Spark computes the parts again.
    """
    weakref.finalize(result, forget, parts).atexit = False
    return result


def forget(parts: list[DataFrame]) -> None:
    # The session may have ended before.
    with suppress(Exception):
        for part in parts:
            part.unpersist()


def without_history(result: DataFrame) -> DataFrame:
    """The same rows under a plan that begins here.

    The plan of each round holds that of the round before, and Spark writes every plan that it adapted twice:
    after a few rounds the text alone fills the driver's memory. Lost rows can still be computed again.
    """
    session = result.sparkSession
    java_session = getattr(session, "_jsparkSession", None)
    if java_session is None:  # a session of Spark Connect, whose plans are on the server
        return result.localCheckpoint()
    plan: Any = result._jdf
    rows = plan.queryExecution().toRdd()
    return DataFrame(java_session.internalCreateDataFrame(rows, plan.schema(), False), session)
