"""Profiles of tables: written to files, compared, and shown in notebooks."""

import contextlib
import datetime
import html
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from crivo._native import Estimate, ProfiledColumn, TableProfile


class Change(NamedTuple):
    """A change of a column that is more than chance."""

    what: str
    """What changed: "type", "kinds", "empty", "distinct", "min", "max", "distribution", "frequent value",
    "new value" or "vanished value"."""
    value: str | None
    """The value that it is about, of a frequent value."""
    before: float | str
    """What it was."""
    after: float | str
    """What it is."""
    effect: float
    """How large the change is."""
    p: float
    """How likely so large a difference is without a change, at most."""


class TableDrift:
    """What changed from one table to another, by more than chance: made by `TableProfile.compare`. True if
    anything did.
    """

    columns: dict[str, list[Change]]
    """The changes of each column that both tables have, the largest effect first."""
    added: list[str]
    """Columns that only the later table has."""
    removed: list[str]
    """Columns that only the earlier table has."""
    checks: int
    """How many checks share the level of all."""

    def __init__(
        self, columns: dict[str, list[Change]], added: list[str], removed: list[str], checks: int
    ) -> None:
        self.columns, self.added, self.removed, self.checks = columns, added, removed, checks

    @property
    def changed(self) -> list[str]:
        """The names of the columns that changed."""
        return [name for name, changes in self.columns.items() if changes]

    def __bool__(self) -> bool:
        return bool(self.changed or self.added or self.removed)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TableDrift) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        parts = [f"{len(self.changed)} columns changed"]
        parts += [
            f"{len(names)} {what}" for what, names in (("added", self.added), ("removed", self.removed))
        ]
        return f"<TableDrift: {', '.join(parts)}, {self.checks} checks>"

    def _repr_html_(self) -> str:
        """What a notebook shows: a table with a row for each change, in the colours of the notebook."""
        rows = [
            [name, change.what + (f" {change.value!r}" if change.value is not None else ""), *_sides(change)]
            for name, changes in self.columns.items()
            for change in changes
        ]
        rows += [[name, "added", "", "", ""] for name in self.added]
        rows += [[name, "removed", "", "", ""] for name in self.removed]
        verdict = "Something changed" if self else "Nothing changed by more than chance"
        return _table(
            ["column", "what", "before", "after", "effect"], rows, f"{verdict}; {self.checks} checks."
        )


class Spread(NamedTuple):
    """How far numbers spread, and to which side."""

    standard_deviation: float | None
    """That of a sample, with one less than their number below the sum."""
    skew: float | None
    """The adjusted skewness of Fisher and Pearson, as pandas has it."""


class Outliers(NamedTuple):
    """Numbers outside of Tukey's fences."""

    lower_fence: float
    upper_fence: float
    below: Estimate
    """How many are below the lower fence."""
    above: Estimate
    """How many are above the upper fence."""


class HistogramBar(NamedTuple):
    """Numbers from `start` to before `end`; the last bar has its end too."""

    start: float
    end: float
    numbers: Estimate
    """How many there are."""


class Histogram(NamedTuple):
    """Numbers in bars of equal width."""

    bars: list[HistogramBar]
    below: Estimate
    """How many are below the first bar."""
    above: Estimate
    """How many are above the last bar."""


class TextPattern(NamedTuple):
    """What a share of the texts looks like."""

    pattern: str
    example: str
    share: Estimate


class ColumnDates(NamedTuple):
    """The days in a column."""

    formats: dict[str, int]
    """How many values each format has; both readings of 03/04/2024 if both fit all values."""
    dates: int
    """How many values are days."""
    others: int
    """How many values are not."""
    first: datetime.date | None
    """None if the values have two readings, or lie before the year 1."""
    last: datetime.date | None
    missing_days: int | None
    """Days between that no value has; None if they are too far apart to be counted."""
    longest_gap: tuple[datetime.date, datetime.date] | None
    """The first and the last day of it."""


class Correlation(NamedTuple):
    """Two columns of numbers that rise or fall together."""

    left: str
    right: str
    rank_correlation: Estimate
    """Spearman's, from -1 to 1."""
    rows: int
    """How many rows both were computed from."""
    pearson: Estimate | None
    """Pearson's, from -1 to 1. None if the drawn rows lack numbers that decide it."""


class Dependency(NamedTuple):
    """A column that decides the value of another."""

    column: str
    decides: str
    share: Estimate
    """The share of rows with the most frequent value of their group."""
    rows: int
    """How many rows it was computed from."""
    exceptions: int
    """How many of these have another value."""


def histogram_of(bars: list[tuple[float, float, Estimate]], below: Estimate, above: Estimate) -> Histogram:
    """The histogram that the native half made."""
    return Histogram([HistogramBar(*bar) for bar in bars], below, above)


def dates_of(
    formats: list[tuple[str, int]],
    dates: int,
    others: int,
    days: tuple[int, int] | None,
    gaps: tuple[int, tuple[int, int] | None] | None,
) -> ColumnDates:
    """The days that the native half found, counted from 1970-01-01."""

    def day(number: int) -> datetime.date | None:
        ordinal = number + datetime.date(1970, 1, 1).toordinal()
        return datetime.date.fromordinal(ordinal) if ordinal >= 1 else None

    first, last = (day(days[0]), day(days[1])) if days else (None, None)
    missing, longest = gaps or (None, None)
    gap = (day(longest[0]), day(longest[1])) if longest else (None, None)
    whole = (gap[0], gap[1]) if gap[0] and gap[1] else None
    return ColumnDates(dict(formats), dates, others, first, last, missing, whole)


def _sides(change: Change) -> list[str]:
    return [_short(change.before), _short(change.after), f"{change.effect:.3g}"]


def drift_of(
    columns: Iterable[tuple[str, Iterable[tuple[str, str | None, float | str, float | str, float, float]]]],
    added: list[str],
    removed: list[str],
    checks: int,
) -> TableDrift:
    """The comparison that the native half made."""
    found = {name: [Change(*change) for change in changes] for name, changes in columns}
    return TableDrift(found, added, removed, checks)


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes a file, whole or not at all."""
    target = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        os.chmod(name, mode)
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def profile_html(profile: TableProfile) -> str:
    """The table that a notebook shows for a profile."""
    rows = []
    for name, column in profile.items():
        share = column.missing / column.rows if column.rows else 0.0
        least, greatest = column.min(), column.max()
        mean, deviation = column.mean(), profile.spread(name).standard_deviation
        rows.append(
            [
                name,
                column.column_type,
                f"{share:.1%}" if column.missing else "",
                _distinct(column),
                "" if least is None else _short(least),
                "" if greatest is None else _short(greatest),
                "" if mean is None else _short(mean),
                "" if deviation is None else _short(deviation),
                _looks(profile, name),
            ]
        )
    heading = ["column", "type", "empty", "different", "min", "max", "mean", "sd", "looks like"]
    return _table(heading, rows, f"{profile.rows:,} rows, {len(profile):,} columns")


def _looks(profile: TableProfile, name: str) -> str:
    """The formats of days, or the most frequent pattern of texts."""
    dates = profile.dates(name)
    if dates is not None:
        return " or ".join(dates.formats) if dates.first is None else ", ".join(dates.formats)
    patterns = profile.patterns(name, 1)
    return f"{_short(patterns[0].pattern)} {patterns[0].share.value:.0%}" if patterns else ""


def _distinct(column: ProfiledColumn) -> str:
    found: Estimate = column.distinct()
    return f"{found}{', key' if column.could_be_key() else ''}"


def _short(value: object) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 40 else text[:39] + "…"


# Colours are those of the notebook: lines are its text, paler. So it fits light and dark ones.
_CELL = (
    "padding:.2em .8em;text-align:left;border-top:1px solid color-mix(in srgb, currentColor 20%, transparent)"
)


def _table(heading: list[str], rows: list[list[str]], caption: str) -> str:
    def line(cells: list[str], tag: str) -> str:
        inner = "".join(f'<{tag} style="{_CELL}">{html.escape(cell)}</{tag}>' for cell in cells)
        return f"<tr>{inner}</tr>"

    body = "".join(line(row, "td") for row in rows)
    plain = "text-align:left;color:inherit"
    return (
        '<div class="crivo" style="overflow-x:auto;color:inherit">'
        '<table style="border-collapse:collapse;background:transparent;color:inherit">'
        f'<caption style="{plain}">{html.escape(caption)}</caption>'
        f"<thead>{line(heading, 'th')}</thead><tbody>{body}</tbody></table></div>"
    )


for _class in (
    Change,
    ColumnDates,
    Correlation,
    Dependency,
    Histogram,
    HistogramBar,
    Outliers,
    Spread,
    TableDrift,
    TextPattern,
):
    _class.__module__ = "crivo"
