"""crivo in pandas: the same answers, with their bounds, of columns, groups and tables.

Importing this module gives series and DataFrames an accessor ``crivo``, with the verbs that expressions
have in ``crivo.polars``:

- ``series.crivo.distinct()`` and ``.crivo.quantile(0.5)`` give a `crivo.Estimate`, ``.crivo.top(10)`` a
  DataFrame
- ``series.crivo.sketch("hll")`` gives the bytes that the command line and ``crivo`` itself write
- ``series.crivo.in_filter(sketch)`` and ``.crivo.frequency(sketch)`` give an answer for each value
- ``frame.crivo.profile()``, ``.crivo.dedup("text")``, ``.crivo.near_duplicates("text")``,
  ``.crivo.passages("text")``, ``.crivo.overlap(benchmark, "text")``
- ``frame.crivo.distinct("user", by="page")``, and so ``top``, ``quantile`` and ``sketch``: an answer for
  each group

NaN, None, NA and empty text are missing, as everywhere in crivo (docs/keys.md).

>>> import pandas as pd
>>> import crivo.pandas
>>> visits = pd.DataFrame({"page": ["/", "/", "/help"], "user": ["ana", "rui", "ana"]})
>>> print(visits["user"].crivo.distinct())
2
>>> visits.crivo.distinct("user", by="page")["value"].to_dict()
{'/': 2.0, '/help': 1.0}
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

try:
    import pandas as pd
except ImportError as missing:
    message = f"crivo.pandas needs {missing.name}, which is not installed: pip install 'crivo[pandas]'"
    raise ImportError(message, name=missing.name) from missing

import crivo
from crivo._kinds import distinct_kind, opened, require_share, sketch_of
from crivo._native import Estimate, TableProfile, frequency_bounds
from crivo._tables import column_of
from crivo._versions import warn_untested
from crivo.errors import InvalidParameterError

__all__ = ["CrivoDataFrame", "CrivoSeries"]

OLDEST, NEWEST = "2.3", "3.1"
warn_untested("pandas", pd.__version__, OLDEST, NEWEST)

ANSWER = ["value", "lower", "upper"]


class CrivoSeries:
    """What crivo says about a column: ``series.crivo``."""

    def __init__(self, series: Any) -> None:
        self._series = series

    def distinct(self, *, method: str = "hll", confidence: float = 0.95, **parameters: Any) -> Estimate:
        """How many different values. `method` is "hll", "ull" or "kmv"; `error` or `precision` (of "kmv"
        `k`) says how exact, `keys` and `seed` are those of `crivo.HyperLogLog`. Small counts are exact.
        """
        sketch = sketch_of(self._series, distinct_kind(method), parameters)
        estimate: Estimate = sketch.estimate(confidence=confidence)
        return estimate

    def top(self, k: int = 10, **parameters: Any) -> Any:
        """The `k` most frequent values, the most frequent first: a DataFrame of `key`, `count`, `lower`
        and `upper`, whose bounds are certain. The key is the text of the value, or bytes that are none.
        """
        hits = sketch_of(self._series, "top", parameters).top(k)
        rows = [(hit.key, hit.count, hit.lower, hit.upper) for hit in hits]
        return pd.DataFrame(rows, columns=["key", "count", "lower", "upper"])

    def quantile(self, q: float | Iterable[float] = 0.5, **parameters: Any) -> Any:
        """The number at which a share `q` of all numbers is reached: an `Estimate` with bounds at 95 %,
        None if there are no numbers. Of several shares, a DataFrame with a row for each.
        """
        if not isinstance(q, Iterable):
            share = require_share(q)
            return sketch_of(self._series, "kll", parameters).quantile(share)
        shares = [require_share(share) for share in q]
        answers = sketch_of(self._series, "kll", parameters).quantiles(shares)
        return pd.DataFrame([bounds(answer) for answer in answers], index=shares, columns=ANSWER)

    def sketch(self, kind: Any = "hll", **parameters: Any) -> bytes:
        """The sketch of the values as bytes, for `crivo.decode` and the command line. `kind` is "hll",
        "ull", "kmv", "bloom" (with `items` and `rate`), "countmin" (`error`, `confidence`), "top"
        (`counters`) or "kll" (`error`), or an empty sketch of any class.
        """
        return bytes(sketch_of(self._series, kind, parameters))

    def in_filter(self, sketch: Any) -> Any:
        """Whether each value may be in a filter, such as a `crivo.Bloom`, or its bytes: False for what is
        missing.
        """
        members = opened(sketch, "contains_batch", "answers whether a value is in it")
        answers = members.contains_batch(self._series)
        return pd.Series(answers, index=self._series.index, name=self._series.name)

    def frequency(self, sketch: Any) -> Any:
        """How often each value came by a sketch that knows it, such as a `crivo.CountMin`, or its bytes:
        a DataFrame of `value`, `lower` and `upper`, NaN for what is missing.
        """
        counts = opened(sketch, "frequency", "answers how often a value came")
        return pd.DataFrame(frequency_bounds(counts, self._series), index=self._series.index, columns=ANSWER)

    def dedup(self, threshold: float = 0.8, **settings: Any) -> Any:
        """The texts without near-duplicates: `crivo.dedup`, whose settings are taken."""
        return crivo.dedup(self._series, threshold, **settings)


class CrivoDataFrame:
    """What crivo says about a table: ``frame.crivo``."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def profile(self, **settings: Any) -> TableProfile:
        """What is in each column: `crivo.profile`, whose settings are taken."""
        return crivo.profile(self._frame, **settings)

    def distinct(self, column: str, *, by: str | Sequence[str], **parameters: Any) -> Any:
        """How many different values a column has in each group: a DataFrame of `value`, `lower` and
        `upper`.
        """
        return self._grouped(column, by, lambda values: bounds(CrivoSeries(values).distinct(**parameters)))

    def quantile(self, column: str, q: float = 0.5, *, by: str | Sequence[str], **parameters: Any) -> Any:
        """The quantile of a column in each group: a DataFrame of `value`, `lower` and `upper`."""
        require_share(q)
        return self._grouped(column, by, lambda values: bounds(CrivoSeries(values).quantile(q, **parameters)))

    def top(self, column: str, k: int = 10, *, by: str | Sequence[str], **parameters: Any) -> Any:
        """The most frequent values of a column in each group: a DataFrame as `series.crivo.top` gives it,
        with the group in its index.
        """
        groups = self._groups(column, by)
        tables = {group: CrivoSeries(values).top(k, **parameters) for group, values in groups}
        if not tables:
            return CrivoSeries(self._frame[column]).top(k, **parameters)
        names = [by] if isinstance(by, str) else list(by)
        return pd.concat(tables, names=[*names, "rank"])

    def sketch(self, column: str, kind: Any = "hll", *, by: str | Sequence[str], **parameters: Any) -> Any:
        """The sketch of a column in each group, as bytes: a series of them."""
        groups = self._groups(column, by)
        sketches = {group: CrivoSeries(values).sketch(kind, **parameters) for group, values in groups}
        index = index_of(list(sketches), by)
        return pd.Series(list(sketches.values()), index=index, name=column, dtype=object)

    def dedup(self, column: str, threshold: float = 0.8, **settings: Any) -> Any:
        """The rows without near-duplicates of the texts in a column: `crivo.dedup`, whose settings are
        taken.
        """
        return crivo.dedup(self._frame, threshold, column=column, **settings)

    def near_duplicates(self, column: str, threshold: float = 0.8, **settings: Any) -> Any:
        """The pairs of rows whose texts are near-duplicates: `one` and `other` are their labels in the index,
        `similarity` how alike they are. The settings are those of `crivo.near_duplicates`.
        """
        if "ids" in settings:
            raise InvalidParameterError("ids: rows are named by the index")
        found = crivo.near_duplicates(column_of(self._frame, column), threshold, **settings)
        places, index = found.pair_positions, self._frame.index
        ones, others = index[places[:, 0]], index[places[:, 1]]
        return pd.DataFrame({"one": ones, "other": others, "similarity": found.similarities})

    def passages(self, column: str, **settings: Any) -> Any:
        """The rows without the passages that stand in an earlier text: `crivo.passages`, whose settings
        are taken.
        """
        return crivo.passages(self._frame, column=column, **settings)

    def overlap(self, benchmark: Any, column: str, **settings: Any) -> Any:
        """The rows whose texts contain no item of a benchmark: `crivo.overlap`, whose settings are taken."""
        return crivo.overlap(self._frame, benchmark, column=column, **settings)

    def _groups(self, column: str, by: str | Sequence[str]) -> list[tuple[Any, Any]]:
        """The values of a column in each group; rows without a group are one, as in `crivo distinct --by`."""
        for name in [column, *([by] if isinstance(by, str) else by)]:
            column_of(self._frame, name)
        # A list of one name gives groups of one value each.
        keys = by if isinstance(by, str) or len(by) != 1 else by[0]
        grouped = self._frame.groupby(
            keys if isinstance(keys, str) else list(keys), dropna=False, observed=True
        )
        return [(group, values) for group, values in grouped[column]]

    def _grouped(self, column: str, by: str | Sequence[str], answer: Callable[[Any], Any]) -> Any:
        answers = [(group, answer(values)) for group, values in self._groups(column, by)]
        index = index_of([group for group, _ in answers], by)
        return pd.DataFrame([found for _, found in answers], index=index, columns=ANSWER, dtype=float)


def index_of(groups: list[Any], by: str | Sequence[str]) -> Any:
    """The index of answers by group."""
    names = [by] if isinstance(by, str) else list(by)
    if len(names) == 1:
        return pd.Index(groups, name=names[0])
    return pd.MultiIndex.from_tuples(groups, names=names)


def bounds(answer: Estimate | None) -> tuple[float, float, float]:
    """An estimate and its bounds; of no values, nothing that is a number."""
    nothing = float("nan")
    return (nothing, nothing, nothing) if answer is None else (answer.value, answer.lower, answer.upper)


pd.api.extensions.register_series_accessor("crivo")(CrivoSeries)
pd.api.extensions.register_dataframe_accessor("crivo")(CrivoDataFrame)
