"""A collection without its near-duplicates."""

from typing import Any

from crivo._collection import opened
from crivo._native import near_duplicates
from crivo.errors import InvalidParameterError


def dedup(data: Any, threshold: float = 0.8, *, column: str | None = None, **settings: Any) -> Any:
    """The data without its near-duplicates: of each cluster one is kept, in the order of the data. Missing
    texts stay.

    `data` is a list or other iterable of texts, an Arrow or polars column, a pandas series, a table of
    those libraries with the name of its text `column`, or a dataset of Hugging Face, whose column is
    "text" unless it is named; what comes back is of the same kind. Of a generator, a set or the like it is
    a list, and of rows that are only streamed, as those of a DuckDB relation, an Arrow table. A streaming
    dataset is read once for its texts, which are held in memory, and again when the answer is read; so it
    has to give the same rows both times. The settings are those of `near_duplicates`, where one can also
    see what is like what.

    >>> import crivo
    >>> crivo.dedup(["the cat sat on the mat", "a dog barked", "The cat sat on the mat!"], shingle="words:2")
    ['the cat sat on the mat', 'a dog barked']
    """
    if "ids" in settings:
        raise InvalidParameterError("ids: dedup names nothing; near_duplicates does")
    collection = opened(data, column, "crivo.spark.dedup takes it")
    found = near_duplicates(collection.texts, threshold, **settings)
    return collection.rebuilt(found.kept, ())


dedup.__module__ = "crivo"
