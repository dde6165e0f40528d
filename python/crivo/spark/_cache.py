"""Results that other results are made of stay cached as long as those are in use."""

import weakref
from contextlib import suppress
from typing import Any

from pyspark.sql import DataFrame


def cached_with(result: DataFrame, parts: list[DataFrame]) -> DataFrame:
    """The result, with which the cached parts it is made of are forgotten. A caller that still has something
    made of it gets the same answer later, only more slowly: Spark makes the parts again.
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
