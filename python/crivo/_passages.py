"""A collection without the passages that stand in two places, or without what a benchmark asks."""

from typing import Any

from crivo._collection import opened
from crivo._native import benchmark_overlap, repeated_passages
from crivo.errors import InvalidParameterError

ON_SPARK = "choose its texts with toPandas() or toArrow()"


def passages(data: Any, *, column: str | None = None, **settings: Any) -> Any:
    """The data without the passages that stand in an earlier text, word for word: the first occurrence
    stays, and every byte around a cut stays as it is. Missing texts stay.

    `data` and `column` are as for `dedup`; what comes back is of the same kind. The settings are those of
    `repeated_passages`, which also says where passages stand: `min_words`, 50 unless it is given, `cut`,
    `min_left` and others. The outcome is that of `crivo passages`.

    >>> import crivo
    >>> crivo.passages(["so: a b c d e f g h.", "And a b c d e f g h, too."], min_words=8)
    ['so: a b c d e f g h.', 'And , too.']
    """
    collection = opened(data, column, ON_SPARK)
    found = repeated_passages(collection.texts, **settings)
    return collection.rebuilt(found.kept, found.changed)


def overlap(
    data: Any,
    benchmark: Any,
    *,
    column: str | None = None,
    benchmark_column: str | None = None,
    **settings: Any,
) -> Any:
    """The data without the texts that contain an item of a benchmark, or with `cut` without what they
    share with it. Missing texts stay.

    `data` and `column` are as for `dedup`, `benchmark` and `benchmark_column` too; what comes back is of
    the kind of the data. Without `benchmark_column` that of the data is meant, if the benchmark is a
    table. The settings are those of `benchmark_overlap`, which also says which text contains which item:
    `words`, `share`, `cut`. The outcome is that of `crivo overlap`.

    >>> import crivo
    >>> crivo.overlap(["Two plus two? Four!", "a dog barked"], ["two plus two"])
    ['a dog barked']
    """
    if "items" in settings:
        raise InvalidParameterError("items: those of the benchmark are meant")
    collection = opened(data, column, ON_SPARK)
    named = column if benchmark_column is None and is_table(benchmark) else benchmark_column
    items = opened(benchmark, named, ON_SPARK).texts
    found = benchmark_overlap(collection.texts, items, **settings)
    return collection.rebuilt(found.kept, found.changed)


def is_table(data: Any) -> bool:
    """Whether it has columns with names."""
    return any(hasattr(data, names) for names in ("columns", "column_names", "features"))


passages.__module__ = overlap.__module__ = "crivo"
