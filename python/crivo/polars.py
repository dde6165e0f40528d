"""crivo in Polars: the same answers, with their bounds, as expressions.

Importing this module gives expressions, DataFrames and LazyFrames a namespace ``crivo``:

- ``pl.col("user").crivo.distinct()``: how many different?
- ``pl.col("page").crivo.top(10)``: which most often?
- ``pl.col("price").crivo.quantile(0.5)``: which value has that rank?
- ``pl.col("user").crivo.sketch("hll")``: the bytes that the command line and ``crivo`` itself write;
  ``.crivo.merge()`` and ``.crivo.estimate()`` of a column of such bytes
- ``pl.col("user").crivo.in_filter(sketch)`` and ``.crivo.frequency(sketch)``: an answer for each value
- ``frame.crivo.profile()``, ``.crivo.dedup("text")``, ``.crivo.near_duplicates("text")``,
  ``.crivo.passages("text")``, ``.crivo.overlap(benchmark, "text")``

Expressions work wherever those of Polars do: ``select``, ``with_columns``, ``group_by().agg()``,
``over``, lazily and with the streaming engine. An answer is a struct of ``value``, ``lower`` and
``upper``. Nulls, NaN and empty text are missing, as everywhere in crivo (docs/keys.md). The values of a
group are gathered as a list and read in place, so a group takes the memory of its values while it is
counted.

>>> import polars as pl
>>> import crivo.polars
>>> visits = pl.DataFrame({"page": ["/", "/", "/help"], "user": ["ana", "rui", "ana"]})
>>> answers = visits.group_by("page", maintain_order=True).agg(pl.col("user").crivo.distinct())
>>> answers["user"].to_list()
[{'value': 2.0, 'lower': 2.0, 'upper': 2.0}, {'value': 1.0, 'lower': 1.0, 'upper': 1.0}]
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

try:
    import polars as pl
except ImportError as missing:
    message = f"crivo.polars needs {missing.name}, which is not installed: pip install 'crivo[polars]'"
    raise ImportError(message, name=missing.name) from missing

import crivo
from crivo._guard import guarded
from crivo._kinds import distinct_kind, empty_sketch, filter_of, opened, require_share
from crivo._native import TableProfile, frequency_bounds, sketch_lists
from crivo._profile import profile_batches
from crivo._versions import warn_untested
from crivo.errors import InvalidParameterError, KeyTypeError

__all__ = ["ANSWER", "HITTER", "CrivoDataFrame", "CrivoExpr", "CrivoLazyFrame"]

OLDEST, NEWEST = "2.0", "2.1"
warn_untested("polars", pl.__version__, OLDEST, NEWEST)

NAMES = ("value", "lower", "upper")

ANSWER = pl.Struct(dict.fromkeys(NAMES, pl.Float64))
"""An estimate and its bounds."""

HITTER = pl.Struct({"key": pl.String, "count": pl.UInt64, "lower": pl.UInt64, "upper": pl.UInt64})
"""A frequent value as its text, and how often it came, with certain bounds."""


@pl.api.register_expr_namespace("crivo")
class CrivoExpr:
    """The expressions of crivo: ``pl.col("user").crivo``."""

    def __init__(self, expr: pl.Expr) -> None:
        self._expr = expr

    def distinct(self, *, method: str = "hll", confidence: float = 0.95, **parameters: Any) -> pl.Expr:
        """How many different values: a struct of `value`, `lower` and `upper`.

        `method` is "hll", "ull" or "kmv"; `error` or `precision` (of "kmv" `k`) says how exact, `keys`
        and `seed` are those of `crivo.HyperLogLog`. Small counts are exact. Without parameters the answer
        is that of `crivo distinct`.
        """
        crivo.HyperLogLog(4).estimate(confidence)

        def answer(sketch: Any) -> tuple[float, float, float] | None:
            return triple(sketch.estimate(confidence=confidence))

        return self._answers(distinct_kind(method), parameters, answer)

    def top(self, k: int = 10, **parameters: Any) -> pl.Expr:
        """The `k` most frequent values: a list of structs of `key`, `count`, `lower` and `upper`, the
        most frequent first. The key is the text of the value (docs/keys.md). `counters` says how many
        values are kept in view.
        """
        if isinstance(k, bool) or not isinstance(k, int) or k < 0:
            raise InvalidParameterError(f"k: expected how many to list, found {k!r}")

        def hitters(sketch: Any) -> list[dict[str, Any]]:
            return [
                {"key": text_of(hit.key), "count": hit.count, "lower": hit.lower, "upper": hit.upper}
                for hit in sketch.top(k)
            ]

        def column(sketches: Sequence[Any]) -> pl.Series:
            lists = [None if sketch is None else hitters(sketch) for sketch in sketches]
            return pl.Series(lists, dtype=pl.List(HITTER))

        return self._aggregated("top", parameters, column, pl.List(HITTER))

    def quantile(self, q: float | Iterable[float] = 0.5, **parameters: Any) -> pl.Expr:
        """The number at which a share `q` of all numbers is reached: a struct of `value`, `lower` and
        `upper`, with bounds at 95 %; null if there are no numbers. Of several shares, a list of structs.

        `error` is by what share of all ranks an answer may be off; with `tails` of the distance from the
        nearer end. Without parameters the answer is that of `crivo quantile`.
        """
        if not isinstance(q, Iterable):
            share = require_share(q)
            return self._answers("kll", parameters, lambda sketch: triple(sketch.quantile(share)))
        shares = [require_share(share) for share in q]
        dtype = pl.List(ANSWER)

        def column(sketches: Sequence[Any]) -> pl.Series:
            lists = [None if sketch is None else structs(sketch.quantiles(shares)) for sketch in sketches]
            return pl.Series(lists, dtype=dtype)

        return self._aggregated("kll", parameters, column, dtype)

    def sketch(self, kind: Any = "hll", **parameters: Any) -> pl.Expr:
        """The sketch of the values as bytes, for `crivo.decode`, the command line and `merge`.

        `kind` is "hll", "ull", "kmv", "bloom" (with `items` and `rate`), "countmin" (`error`, `confidence`),
        "top" (`counters`) or "kll" (`error`), or an empty sketch of any class. The bytes are those that
        `insert_batch` gives for the same column; the command line's too, but for "kll", which draws, and for
        "top" beyond its counters.
        """
        return self._aggregated(kind, parameters, column_of_bytes, pl.Binary())

    def merge(self) -> pl.Expr:
        """One sketch of all sketches of a column of bytes, as bytes; null if there are none."""

        def merged(lists: pl.Series) -> pl.Series:
            sketches = [None if parts is None else merged_bytes(parts) for parts in lists]
            return pl.Series(lists.name, sketches, dtype=pl.Binary)

        return self._of_lists(merged, pl.Binary())

    def estimate(self, confidence: float = 0.95) -> pl.Expr:
        """For each sketch of a column of bytes how many different values it has seen: a struct of
        `value`, `lower` and `upper`.
        """
        crivo.HyperLogLog(4).estimate(confidence)

        def estimated(values: pl.Series) -> pl.Series:
            require_bytes(values)
            sketches = [None if data is None else counter_of(data) for data in values]
            answers = [sketch and triple(sketch.estimate(confidence=confidence)) for sketch in sketches]
            return answers_column(answers).alias(values.name)

        return self._expr.map_batches(guarded(estimated), return_dtype=ANSWER, is_elementwise=True)

    def in_filter(self, sketch: Any) -> pl.Expr:
        """Whether each value may be in a filter, such as a `crivo.Bloom`, or its bytes. Null for null."""
        members = opened(sketch, "contains_batch", "answers whether a value is in it")

        def asked(values: pl.Series) -> pl.Series:
            answers = pl.Series(values.name, members.contains_batch(plain(values)), dtype=pl.Boolean)
            return with_nulls(answers, values)

        return self._expr.map_batches(guarded(asked), return_dtype=pl.Boolean, is_elementwise=True)

    def frequency(self, sketch: Any) -> pl.Expr:
        """How often each value came by a sketch that knows it, such as a `crivo.CountMin` or
        `crivo.HeavyHitters`, or its bytes: a struct of `value`, `lower` and `upper`. Null for what is
        missing.
        """
        counts = opened(sketch, "frequency", "answers how often a value came")

        def asked(values: pl.Series) -> pl.Series:
            rows = frequency_bounds(counts, plain(values))
            columns = [pl.Series(name, rows[:, at]).fill_nan(None) for at, name in enumerate(NAMES)]
            answers = pl.DataFrame(columns).to_struct(values.name)
            return with_nulls(answers, columns[0])

        return self._expr.map_batches(guarded(asked), return_dtype=ANSWER, is_elementwise=True)

    def _answers(self, kind: Any, parameters: dict[str, Any], answer: Callable[[Any], Any]) -> pl.Expr:
        """A struct of each group."""

        def column(sketches: Sequence[Any]) -> pl.Series:
            return answers_column([None if sketch is None else answer(sketch) for sketch in sketches])

        return self._aggregated(kind, parameters, column, ANSWER)

    def _aggregated(
        self,
        kind: Any,
        parameters: dict[str, Any],
        column: Callable[[Sequence[Any]], pl.Series],
        dtype: pl.DataType,
    ) -> pl.Expr:
        """What `column` makes of the sketches of all groups. Parameters are checked when the query is
        written.
        """
        empty = empty_sketch(kind, parameters)

        def of_lists(lists: pl.Series) -> pl.Series:
            lists = plain(lists)
            if empty is not None:
                return column(sketch_lists(lists, empty)).alias(lists.name)
            sketches = [None if values is None else filled(values, parameters) for values in lists]
            return column(sketches).alias(lists.name)

        return self._of_lists(of_lists, dtype)

    def _of_lists(self, function: Callable[[pl.Series], pl.Series], dtype: pl.DataType) -> pl.Expr:
        """The lists of all groups come at once: a call of Python for each group would take fifty times as
        long.
        """
        return self._expr.implode().map_batches(guarded(function), return_dtype=dtype, is_elementwise=True)


@pl.api.register_dataframe_namespace("crivo")
class CrivoDataFrame:
    """What crivo does with whole tables: ``frame.crivo``."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def profile(self, **settings: Any) -> TableProfile:
        """What is in each column: `crivo.profile`, whose settings are taken."""
        return crivo.profile(self._frame, **settings)

    def dedup(self, column: str, threshold: float = 0.8, **settings: Any) -> pl.DataFrame:
        """The rows without near-duplicates of the texts in a column: `crivo.dedup`, whose settings are
        taken.
        """
        return cast(pl.DataFrame, crivo.dedup(self._frame, threshold, column=column, **settings))

    def near_duplicates(self, column: str, threshold: float = 0.8, **settings: Any) -> pl.DataFrame:
        """The pairs of rows whose texts are near-duplicates: `one` and `other` are their positions,
        `similarity` how alike they are. The settings are those of `crivo.near_duplicates`.
        """
        if "ids" in settings:
            raise InvalidParameterError("ids: rows are named by their positions")
        found = crivo.near_duplicates(self._frame.get_column(column), threshold, **settings)
        places = found.pair_positions
        return pl.DataFrame({"one": places[:, 0], "other": places[:, 1], "similarity": found.similarities})

    def passages(self, column: str, **settings: Any) -> pl.DataFrame:
        """The rows without the passages that stand in an earlier text: `crivo.passages`, whose settings
        are taken.
        """
        return cast(pl.DataFrame, crivo.passages(self._frame, column=column, **settings))

    def overlap(self, benchmark: Any, column: str, **settings: Any) -> pl.DataFrame:
        """The rows whose texts contain no item of a benchmark: `crivo.overlap`, whose settings are taken."""
        return cast(pl.DataFrame, crivo.overlap(self._frame, benchmark, column=column, **settings))


@pl.api.register_lazyframe_namespace("crivo")
class CrivoLazyFrame:
    """What crivo does with whole tables that are still to be read: ``plan.crivo``."""

    def __init__(self, plan: pl.LazyFrame) -> None:
        self._plan = plan

    def profile(self, **settings: Any) -> TableProfile:
        """What is in each column: the query is run by the streaming engine, and its batches are looked at
        one after the other, so that a table needs not fit in memory. The settings are those of
        `crivo.profile`.
        """
        batches = self._plan.collect_batches(engine="streaming", maintain_order=True)
        empty = self._plan.collect_schema().to_frame()
        return profile_batches(empty, batches, **settings)

    def dedup(self, column: str, threshold: float = 0.8, **settings: Any) -> pl.LazyFrame:
        """The rows without near-duplicates of the texts in a column, when the query is run."""
        return self._whole(lambda frame: CrivoDataFrame(frame).dedup(column, threshold, **settings))

    def passages(self, column: str, **settings: Any) -> pl.LazyFrame:
        """The rows without the passages that stand in an earlier text, when the query is run."""
        return self._whole(lambda frame: CrivoDataFrame(frame).passages(column, **settings))

    def overlap(self, benchmark: Any, column: str, **settings: Any) -> pl.LazyFrame:
        """The rows whose texts contain no item of a benchmark, when the query is run."""
        return self._whole(lambda frame: CrivoDataFrame(frame).overlap(benchmark, column, **settings))

    def _whole(self, function: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.LazyFrame:
        """All rows are needed at once: a text may be like any other. So a filter, a slice or a selection of
        columns after this step must not be applied before it.
        """
        return self._plan.map_batches(
            guarded(function), predicate_pushdown=False, projection_pushdown=False, slice_pushdown=False
        )


def plain(values: pl.Series) -> pl.Series:
    """A column as Arrow takes it: one without a type has no values, and integers of 128 bits are none of
    Arrow's.
    """
    is_list = isinstance(values.dtype, pl.List)
    inner = values.dtype.inner if isinstance(values.dtype, pl.List) else values.dtype
    if inner == pl.Null:
        return values.cast(pl.List(pl.Int8) if is_list else pl.Int8)
    if inner in (pl.Int128, pl.UInt128):
        return values.cast(pl.List(pl.String) if is_list else pl.String)
    return values


def filled(values: pl.Series, parameters: dict[str, Any]) -> Any:
    """A filter of as many values as there are."""
    sketch = filter_of(values, parameters)
    sketch.insert_batch(values)
    return sketch


def triple(answer: Any) -> tuple[float, float, float] | None:
    return None if answer is None else (answer.value, answer.lower, answer.upper)


def structs(answers: Sequence[Any]) -> list[dict[str, float] | None]:
    return [answer and dict(zip(NAMES, triple(answer) or (), strict=True)) for answer in answers]


def answers_column(answers: Sequence[tuple[float, float, float] | None]) -> pl.Series:
    """Structs, made by columns: a dictionary for each would take several times as long."""
    nothing = (None, None, None)
    columns = zip(*(nothing if answer is None else answer for answer in answers), strict=True)
    parts = list(columns) or [(), (), ()]
    series = [pl.Series(name, part, dtype=pl.Float64) for name, part in zip(NAMES, parts, strict=True)]
    return with_nulls(pl.DataFrame(series).to_struct(), series[0])


def with_nulls(answers: pl.Series, values: pl.Series) -> pl.Series:
    """The answers, with nulls where the values are null."""
    if values.null_count() == 0:
        return answers
    frame = pl.select(pl.when(pl.lit(values.is_not_null())).then(pl.lit(answers)))
    return frame.to_series().alias(answers.name)


def column_of_bytes(sketches: Sequence[Any]) -> pl.Series:
    data = [None if sketch is None else sketch.to_bytes() for sketch in sketches]
    return pl.Series(data, dtype=pl.Binary)


def merged_bytes(parts: pl.Series) -> bytes | None:
    require_bytes(parts)
    merged: Any = None
    for data in parts.drop_nulls():
        sketch = crivo.decode(data)
        if merged is None:
            merged = sketch
        elif type(sketch) is type(merged):
            merged.merge(sketch)
        else:
            found = f"a {type(merged).__name__} and a {type(sketch).__name__}"
            raise crivo.IncompatibleError(f"sketch: expected sketches of one kind, found {found}")
    return None if merged is None else cast(bytes, merged.to_bytes())


def counter_of(data: bytes) -> Any:
    return opened(data, "estimate", "counts different values")


def require_bytes(values: pl.Series) -> None:
    if values.dtype not in (pl.Binary, pl.Null):
        raise KeyTypeError(f"sketch: expected a column of bytes, found {values.dtype}")


def text_of(key: Any) -> str:
    """The text of a key; bytes that are no text have none."""
    if isinstance(key, bytes):
        advice = "write the column as text first, such as with .bin.encode('hex')"
        raise KeyTypeError(f"key: expected text, found bytes that are not UTF-8 ({advice})")
    return str(key)
