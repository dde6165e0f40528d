"""Profiles of whole tables: saved, merged, compared and shown."""

import copy
import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from command_line import program as program

import crivo
from crivo import InvalidParameterError, TableDrift, TableProfile, profile


def table(rows: int = 2000, shift: float = 0.0, seed: int = 1) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    return {
        "id": list(range(rows)),
        "price": [round(value, 3) for value in random.normal(100 + shift, 10, rows).tolist()],
        "city": [("Porto", "Faro", "Lisboa")[n] for n in random.integers(0, 3, rows)],
        "note": [None if n % 3 else f"note {n}" for n in range(rows)],
    }


def test_a_profile_is_a_mapping_of_columns() -> None:
    found = profile(table())
    assert isinstance(found, TableProfile)
    assert list(found) == list(found.keys()) == ["id", "price", "city", "note"] and len(found) == 4
    assert "id" in found and "none" not in found and 3 not in found
    assert found["id"].could_be_key() and found["note"].missing == 1333
    assert dict(found.items())["city"].distinct().value == 3
    assert [column.rows for column in found.values()] == [2000] * 4 and found.rows == 2000
    with pytest.raises(KeyError, match="none"):
        found["none"]


def test_a_saved_profile_is_the_same_afterwards(tmp_path: Path) -> None:
    found = profile(table(), memory=1 << 16)
    for again in (
        TableProfile.from_bytes(found.to_bytes()),
        pickle.loads(pickle.dumps(found)),
        copy.deepcopy(found),
        crivo.decode(found.to_bytes()),
    ):
        assert again == found and bytes(again) == bytes(found)
    path = tmp_path / "day.crivo"
    found.save(path)
    found.save(str(path))
    assert TableProfile.load(path) == found and os.listdir(tmp_path) == ["day.crivo"]
    with pytest.raises(FileNotFoundError):
        TableProfile.load(tmp_path / "gone.crivo")
    path.write_bytes(found.to_bytes()[:-1])
    with pytest.raises(crivo.DecodeError):
        TableProfile.load(path)
    with pytest.raises(FileNotFoundError):
        found.save(tmp_path / "no" / "folder.crivo")


def test_merged_profiles_are_those_of_both_tables() -> None:
    parts = [table(1500, seed=3), table(700, seed=4)]
    both = {name: parts[0][name] + parts[1][name] for name in parts[0]}
    whole = profile(both)
    week = profile(parts[0])
    week.merge(profile(parts[1]))
    assert week.rows == 2200
    for name in both:
        ours, theirs = week[name], whole[name]
        assert ours.distinct() == theirs.distinct() and ours.growth == theirs.growth
        assert (ours.missing, ours.min(), ours.max(), ours.sum()) == (
            theirs.missing,
            theirs.min(),
            theirs.max(),
            theirs.sum(),
        )
    assert (profile(parts[0]) | profile({"other": [1]})).rows == 1501


def test_comparing_says_what_changed() -> None:
    before, same, shifted = profile(table(seed=5)), profile(table(seed=6)), profile(table(shift=5, seed=7))
    ignored = ["id", "note"]
    assert not same.compare(before, ignore=ignored)
    drift = shifted.compare(before, ignore=ignored)
    assert isinstance(drift, TableDrift) and drift and drift.changed == ["price"]
    kinds = {change.what: change for change in drift.columns["price"]}
    assert kinds["distribution"].effect > 0.1 and kinds["distribution"].p < 1e-4
    assert (
        drift.checks > 5
        and repr(drift) == f"<TableDrift: 1 columns changed, 0 added, 0 removed, {drift.checks} checks>"
    )
    assert not shifted.compare(before, ignore=ignored, min_effect=0.9)
    other = profile({"id": [1]}).compare(profile({"key": [1]}))
    assert (other.added, other.removed, bool(other)) == (["id"], ["key"], True)
    with pytest.raises(InvalidParameterError, match="level"):
        same.compare(before, level=2.0)


def test_saved_bytes_are_those_of_the_command_line(program: Path, tmp_path: Path) -> None:
    columns = table()
    lines = ["id,price,city,note"]
    lines += [
        ",".join("" if value is None else str(value) for value in row)
        for row in zip(*columns.values(), strict=True)
    ]
    (tmp_path / "day.csv").write_text("\n".join(lines) + "\n")
    subprocess.run(
        [program, "profile", "day.csv", "-o", "day.crivo", "--quiet"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    theirs, ours = (tmp_path / "day.crivo").read_bytes(), profile(columns).to_bytes()
    # The command knows how many bytes it read: at 28 + 8, and so in the checksum at the end.
    known = slice(36, 44)
    assert int.from_bytes(theirs[known], "little") == (tmp_path / "day.csv").stat().st_size
    assert theirs[:36] + bytes(8) + theirs[44:-4] == ours[:-4]


def test_detail_is_that_of_the_values() -> None:
    import datetime
    import statistics

    import pandas as pd

    random = np.random.default_rng(11)
    rows = 900
    price = np.round(random.exponential(100, rows), 2)
    start = datetime.date(2024, 1, 1)
    days = [start + datetime.timedelta(days=int(n)) for n in random.integers(0, 60, rows)]
    country = [("PT", "ES", "US")[n] for n in random.integers(0, 3, rows)]
    columns = {
        "price": price.tolist(),
        "total": (price * 2 + random.normal(0, 5, rows)).tolist(),
        "day": [f"{day:%d/%m/%Y}" for day in days],
        "code": [f"A-{n:06d}" for n in random.integers(0, 10**6, rows)],
        "country": country,
        "currency": ["USD" if one == "US" else "EUR" for one in country],
    }
    found = profile(columns)
    spread = found.spread("price")
    assert spread.standard_deviation == pytest.approx(statistics.stdev(price.tolist()), rel=1e-12)
    assert spread.skew == pytest.approx(pd.Series(price).skew(), rel=1e-10)
    outliers = found.outliers("price")
    assert outliers is not None
    assert int((price > outliers.upper_fence).sum()) in outliers.above and 0 in outliers.below
    histogram = found.histogram("price", bars=10)
    assert histogram is not None and len(histogram.bars) == 10
    for bar in histogram.bars[:-1]:
        assert int(((price >= bar.start) & (price < bar.end)).sum()) in bar.numbers
    (pattern,) = found.patterns("code")
    assert (pattern.pattern, pattern.share.value) == ("A-999999", 1.0)
    dates = found.dates("day")
    assert dates is not None and dates.formats == {"DD/MM/YYYY": rows}
    assert (dates.first, dates.last) == (min(days), max(days))
    assert dates.missing_days == (max(days) - min(days)).days + 1 - len(set(days))
    (correlation,) = found.correlations()
    expected = pd.DataFrame({"a": columns["price"], "b": columns["total"]}).corr("spearman").iloc[0, 1]
    assert correlation.rank_correlation.value == pytest.approx(expected, abs=1e-12)
    expected = np.corrcoef(columns["price"], columns["total"])[0, 1]
    assert correlation.pearson is not None and correlation.pearson.value == pytest.approx(expected, abs=1e-12)
    (dependency,) = found.dependencies()
    assert (dependency.column, dependency.decides, dependency.exceptions) == ("country", "currency", 0)
    assert found.outliers("code") is None and found.dates("code") is None and found.patterns("price") == []
    shown = found._repr_html_()
    assert "A-999999 100%" in shown and "DD/MM/YYYY" in shown
    with pytest.raises(KeyError, match="none"):
        found.spread("none")


def test_notebooks_show_profiles_comparisons_and_estimates() -> None:
    columns = {"<b>name": ["ana", "rui", None], "age": [31, 17, 44]}
    shown = profile(columns)._repr_html_()
    assert "&lt;b&gt;name" in shown and "<b>" not in shown and "3 rows, 2 columns" in shown
    assert shown.count("<tr>") == 3 and "33.3%" in shown and "integer" in shown
    # The colours are the notebook's own, light or dark.
    assert "color:inherit" in shown and "currentColor" in shown and "#" not in shown.replace("&#", "")
    drift = profile({"<i>": [1]}).compare(profile(columns))
    assert "&lt;i&gt;" in drift._repr_html_() and "Something changed" in drift._repr_html_()
    assert "Nothing changed" in profile(columns).compare(profile(columns))._repr_html_()
    estimate = crivo.Estimate(1702788, 1689000, 1716000)._repr_html_()
    assert "1 702 788 ± 0.8 %" in estimate and "1689000 to 1716000, 95 % sure" in estimate
    assert "certain" in crivo.Estimate(3, 3, 3, 1.0)._repr_html_()


def test_joins_of_tables_profiles_and_files(tmp_path: Path) -> None:
    people = {"id": [str(n) for n in range(3000)], "city": ["Porto", "Faro", "Lisboa"] * 1000}
    orders = {"customer": [str(n % 1500) for n in range(4000)]}
    found = crivo.joins({"people": people, "orders": orders})
    assert [(join.left, join.right) for join in found] == [(("people", "id"), ("orders", "customer"))]
    join = found[0]
    assert join.left_is_key and not join.right_is_key
    assert 1.0 in join.right_in_left and 0.5 in join.left_in_right and 1500 in join.common
    assert (found.found, found.undecided, found.undecided_pairs) == (1, 0, [])

    import pyarrow.parquet as pq
    from pyarrow import csv

    profile(people).save(tmp_path / "people.crivo")
    pq.write_table(pa.table(orders), tmp_path / "orders.parquet")
    csv.write_csv(pa.table(orders), tmp_path / "orders.csv")
    (tmp_path / "orders.jsonl").write_text("".join(f'{{"customer": "{n}"}}\n' for n in orders["customer"]))
    for name in ("orders.parquet", "orders.csv", "orders.jsonl"):
        files = crivo.joins([tmp_path / "people.crivo", tmp_path / name])
        assert [(one.left[1], one.right[1], one.common) for one in files] == [("id", "customer", join.common)]
        assert files[0].right[0] == str(tmp_path / name)
    assert crivo.joins([people, orders], min_containment=1.0, keys=True, limit=0) == []
    for bad in (0.0, 1.5, float("nan")):
        with pytest.raises(InvalidParameterError, match="min_containment"):
            crivo.joins([people], min_containment=bad)
    with pytest.raises(InvalidParameterError, match="expected .crivo"):
        (tmp_path / "x.txt").write_text("x")
        crivo.joins([tmp_path / "x.txt"])


def test_quantiles_in_one_call() -> None:
    assert [found.value for found in crivo.quantiles(range(1, 101), [0.5, 0.99]) if found] == [50.0, 99.0]
    assert crivo.quantiles([], [0.5]) == [None]
    values = np.random.default_rng(3).normal(size=200_000)
    median = crivo.quantiles(values, [0.5])[0]
    assert median is not None and median.lower <= np.median(values) <= median.upper
