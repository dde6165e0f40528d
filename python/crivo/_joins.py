"""Which columns of many tables could join?"""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from crivo._native import Estimate, TableProfile
from crivo._profile import profile
from crivo.errors import InvalidParameterError


class Join(NamedTuple):
    """Two columns that could join."""

    left: tuple[str, str]
    """The table and the column."""
    right: tuple[str, str]
    """The other table and its column."""
    left_in_right: Estimate
    """Which share of the left column's different values the right one has."""
    right_in_left: Estimate
    """Which share of the right column's different values the left one has."""
    common: Estimate
    """How many different values both have."""
    left_is_key: bool
    """Whether every row may have a value of its own in the left column."""
    right_is_key: bool
    """The same of the right column."""


class Joins(list[Join]):
    """The pairs of columns that could join, the best first: made by `crivo.joins`."""

    def __init__(
        self,
        pairs: Iterable[Join],
        found: int,
        undecided: int,
        undecided_pairs: list[tuple[tuple[str, str], tuple[str, str]]],
    ) -> None:
        super().__init__(pairs)
        self.found = found
        self.undecided = undecided
        self.undecided_pairs = undecided_pairs

    found: int
    """How many pairs there are, listed or not."""
    undecided: int
    """How many pairs the samples cannot tell of."""
    undecided_pairs: list[tuple[tuple[str, str], tuple[str, str]]]
    """The first of them."""


def joins(
    tables: Mapping[str, Any] | Iterable[Any],
    *,
    min_containment: float = 0.5,
    keys: bool = False,
    limit: int = 1_000_000,
    seed: int = 0,
) -> Joins:
    """The pairs of columns of different tables where one column has at least the share `min_containment` of
    the other's different values.

    `tables` are tables as `crivo.profile` takes them, profiles, or files: saved profiles, Parquet, CSV, TSV
    and JSON lines, the latter four read with pyarrow. In a dictionary they have names; in a list a file has
    its path and any other its number. With `keys`, one column of each pair could be a key. Pairs that the
    samples cannot tell of are counted as `undecided`. No other pair is missing, with a probability of
    1 - 10^-6.

    >>> import crivo
    >>> people = {"id": range(100), "city": ["Porto", "Faro"] * 50}
    >>> orders = {"customer": [n % 60 for n in range(300)]}
    >>> found = crivo.joins({"people": people, "orders": orders})
    >>> [(join.left, join.right, join.left_is_key, join.right_in_left.value) for join in found]
    [(('people', 'id'), ('orders', 'customer'), True, 1.0)]
    """
    if not 0.0 < min_containment <= 1.0:
        raise InvalidParameterError(
            f"min_containment: expected above 0 and at most 1, found {min_containment}"
        )
    named = list(_named(tables))
    names = [name for name, _ in named]
    profiles = [_profile_of(table, seed) for _, table in named]
    found, count, undecided, undecided_pairs = TableProfile.find_joins(profiles, min_containment, keys, limit)

    def place(at: tuple[int, str]) -> tuple[str, str]:
        return names[at[0]], at[1]

    pairs = (
        Join(place(left), place(right), forth, back, common, left_is_key, right_is_key)
        for left, right, forth, back, common, left_is_key, right_is_key in found
    )
    unclear = [(place(left), place(right)) for left, right in undecided_pairs]
    return Joins(pairs, count, undecided, unclear)


def _named(tables: Mapping[str, Any] | Iterable[Any]) -> Iterator[tuple[str, Any]]:
    if isinstance(tables, Mapping):
        yield from ((str(name), table) for name, table in tables.items())
        return
    for number, table in enumerate(tables):
        yield (os.fspath(table) if isinstance(table, str | os.PathLike) else str(number)), table


def _profile_of(table: Any, seed: int) -> TableProfile:
    if isinstance(table, TableProfile):
        return table
    if not isinstance(table, str | os.PathLike):
        return profile(table, seed=seed)
    path = Path(table)
    with path.open("rb") as file:
        if file.read(4) == b"CRVO":
            return TableProfile.load(path)
    return profile(_read(path), seed=seed)


def _read(path: Path) -> Any:
    """A file as Arrow's table. Fields of CSV and TSV stay the texts that they are."""
    kind = path.suffix.lower()
    if kind == ".parquet":
        import pyarrow.parquet

        return pyarrow.parquet.read_table(path)
    if kind in {".csv", ".tsv"}:
        import pyarrow as pa
        from pyarrow import csv

        parse = csv.ParseOptions(delimiter="\t" if kind == ".tsv" else ",", newlines_in_values=True)
        names = csv.open_csv(path, parse_options=parse).schema.names
        texts = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
        return csv.read_csv(path, parse_options=parse, convert_options=texts)
    if kind in {".jsonl", ".ndjson"}:
        from pyarrow import json

        return json.read_json(path)
    raise InvalidParameterError(f"tables: expected .crivo, .parquet, .csv, .tsv or .jsonl, found '{path}'")


for _object in (Join, Joins, joins):
    _object.__module__ = "crivo"
