"""Datasets of Hugging Face: their columns, and new ones with the same features in the same order.

The package `datasets` is never imported here: data can be one of its datasets only if it was imported before.
"""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from crivo._versions import warn_untested
from crivo.errors import InvalidParameterError, KeyTypeError

OLDEST, NEWEST = "5.2", "5.2"

BATCH_ROWS = 1000
"""Rows of a streaming dataset that are read at once."""


def is_dataset(data: Any) -> bool:
    """Whether it is a dataset of Hugging Face, in memory or streaming."""
    package = sys.modules.get("datasets")
    if package is None or not hasattr(package, "IterableDataset"):
        return False
    if isinstance(data, package.DatasetDict | package.IterableDatasetDict):
        splits = ", ".join(f"'{name}'" for name in data)
        raise KeyTypeError(f"data: expected one dataset, found several (choose one of {splits})")
    if not isinstance(data, package.Dataset | package.IterableDataset):
        return False
    warn_untested("datasets", package.__version__, OLDEST, NEWEST)
    return True


def is_streaming(data: Any) -> bool:
    """Whether it is a dataset that is read from its source each time."""
    package: Any = sys.modules.get("datasets")
    return package is not None and isinstance(data, package.IterableDataset)


def table_of(dataset: Any) -> Any:
    """The rows of a dataset as an Arrow table: mapped from its files where that is how they lie."""
    return dataset.with_format("arrow")[:]


def batches_of(dataset: Any) -> Iterator[Any]:
    """The rows of a streaming dataset: as Arrow tables, or as columns of Python's objects if its features are
    not known, because batches of Arrow would each have types of their own.
    """
    if dataset.features is None:
        return iter(dataset.with_format(None).iter(batch_size=BATCH_ROWS))
    return iter(dataset.with_format("arrow").iter(batch_size=BATCH_ROWS))


def opened(
    dataset: Any, column: str | None, replaced: Callable[[Any, Any], Any]
) -> tuple[Any, Callable[[Any, Any], Any]]:
    """The texts of a dataset, and how one is made of those that are kept. `replaced` changes a column of
    Arrow.
    """
    name = "text" if column is None else column
    if is_streaming(dataset):
        return streamed_texts(dataset, name), lambda kept, changes: streamed(dataset, name, kept, changes)
    require_column(dataset.column_names, name)
    texts = table_of(dataset.select_columns([name])).column(name)

    def rebuilt(kept: Any, changes: Any) -> Any:
        rows = changed(dataset, name, changes, replaced) if changes else dataset
        # Positions without a sign would become floats inside of `select`.
        return rows.select(kept.astype(np.int64))

    return texts, rebuilt


def require_column(names: Any, name: str) -> None:
    if name not in names:
        there = ", ".join(f"'{other}'" for other in names)
        raise InvalidParameterError(f"column: expected one of the dataset's ({there}), found '{name}'")


def changed(dataset: Any, name: str, changes: Any, replaced: Callable[[Any, Any], Any]) -> Any:
    """The dataset with other texts; all else, its features among it, stays."""
    package: Any = sys.modules["datasets"]
    table = table_of(dataset)
    place = table.schema.names.index(name)
    table = table.set_column(place, table.schema.field(place), replaced(table.column(place), changes))
    new = package.Dataset(package.table.InMemoryTable(table), info=dataset.info.copy(), split=dataset.split)
    shown = dict(dataset.format)
    new.set_format(
        type=shown["type"],
        columns=shown["columns"],
        output_all_columns=shown["output_all_columns"],
        **shown["format_kwargs"],
    )
    return new


def streamed_texts(dataset: Any, name: str) -> Any:
    """The texts of a streaming dataset: in chunks, or as a list if its features are not known."""
    chunks: list[Any] = []
    listed: list[Any] = []
    for batch in batches_of(dataset):
        is_plain = isinstance(batch, dict)
        require_column(list(batch) if is_plain else batch.column_names, name)
        if is_plain:
            listed.extend(batch[name])
        else:
            chunks.extend(batch.column(name).chunks)
    if not chunks:
        return listed
    import pyarrow as pa

    return pa.chunked_array(chunks)


class KeptRows:
    """Reads a streaming dataset again, and leaves out the rows that are not kept."""

    def __init__(self, dataset: Any, name: str, kept: Any, changes: Any) -> None:
        self.dataset, self.name = dataset, name
        self.stays = np.zeros(int(kept[-1]) + 1 if len(kept) else 0, bool)
        self.stays[kept] = True
        self.changes = dict(changes)

    def __call__(self) -> Iterator[Any]:
        for place, example in enumerate(self.dataset):
            if place >= len(self.stays):
                return
            if self.stays[place]:
                text = self.changes.get(place)
                yield example if text is None else {**example, self.name: text}


def streamed(dataset: Any, name: str, kept: Any, changes: Any) -> Any:
    """A streaming dataset of the rows that are kept. One worker reads all of them, because rows are known
    by their positions.
    """
    package: Any = sys.modules["datasets"]
    shown = getattr(dataset, "_formatting", None)
    rows = KeptRows(dataset if shown is None else dataset.with_format(None), name, kept, changes)
    # Without a split, `from_generator` would make several.
    split = package.NamedSplit("train") if dataset.split is None else dataset.split
    new = package.IterableDataset.from_generator(rows, features=dataset.features, split=split)
    return new if shown is None else new.with_format(shown.format_type)
