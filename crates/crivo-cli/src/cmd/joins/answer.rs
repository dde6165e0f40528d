//! The answer of `crivo joins` as JSON, as a listing for programs, and as text.

use std::io::{BufWriter, Write as _};

use anyhow::Result;
use crivo::profile::Joinability;
use crivo::profile::join_search::{ColumnPlace, FoundJoins, FoundPair, JoinSearch};
use serde::Serialize;
use serde::ser::{SerializeSeq as _, Serializer};

use super::tables::ReadTables;
use crate::output::{self, Cell, Form, Interval, Listing, Output};

/// The most pairs that are printed for people. The other forms have all pairs.
const MOST_PRINTED: usize = 50;
const MOST_UNDECIDED_PRINTED: usize = 10;

/// The result of the search, and the tables that were read.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub(super) search: &'a JoinSearch,
    pub(super) read: &'a ReadTables,
    pub(super) found: &'a FoundJoins,
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct JoinsReport<'a> {
    tables: u32,
    columns: u64,
    joins: EachPair<'a, Join<'a>>,
    undecided: u64,
    /// The number of found pairs, if not all are listed.
    found: u64,
    undecided_pairs: EachPair<'a, Undecided<'a>>,
    unreadable: Vec<Unreadable<'a>>,
    rows: u64,
    cached: u64,
}

/// Two columns that could join.
#[derive(Debug, Serialize)]
pub(super) struct Join<'a> {
    pub(super) left: ColumnName<'a>,
    pub(super) right: ColumnName<'a>,
    pub(super) left_in_right: Interval,
    pub(super) right_in_left: Interval,
    pub(super) common: Interval,
    /// The side that could be a key: `left`, `right` or `both`; `None` if neither could.
    pub(super) key: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct Undecided<'a> {
    left: ColumnName<'a>,
    right: ColumnName<'a>,
}

/// A column of a table.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct ColumnName<'a> {
    pub(super) table: &'a str,
    pub(super) column: &'a str,
}

#[derive(Debug, Serialize)]
struct Unreadable<'a> {
    table: &'a str,
    error: &'a str,
}

/// Pairs whose details are computed while they are written. All details at once would take more
/// memory than the search.
#[derive(Debug)]
struct EachPair<'a, T>(&'a Answer<'a>, &'a [FoundPair], fn(&'a Answer<'a>, &FoundPair) -> T);

impl<T: Serialize> Serialize for EachPair<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(Some(self.1.len()))?;
        for pair in self.1 {
            sequence.serialize_element(&self.2(self.0, pair))?;
        }
        sequence.end()
    }
}

impl<'a> Answer<'a> {
    pub(super) fn new(search: &'a JoinSearch, read: &'a ReadTables, found: &'a FoundJoins) -> Self {
        Self { search, read, found }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.found == 0
    }

    /// Returns true if not all found pairs are listed.
    pub(super) fn is_cut(&self) -> bool {
        self.found.found > self.found.joins.len() as u64
    }

    pub(super) fn has_unreadable(&self) -> bool {
        !self.read.unreadable.is_empty()
    }

    fn name(&self, place: ColumnPlace) -> ColumnName<'_> {
        let table = self.read.names.get(place.table as usize).map_or("", String::as_str);
        ColumnName { table, column: self.search.name(place) }
    }

    /// Returns a pair with its details.
    pub(super) fn join(&self, pair: &FoundPair) -> Join<'_> {
        let Joinability { common, left_in_right, right_in_left, .. } = self.search.compare(pair);
        let key = match (self.search.is_key(pair.left), self.search.is_key(pair.right)) {
            (true, true) => Some("both"),
            (true, false) => Some("left"),
            (false, true) => Some("right"),
            (false, false) => None,
        };
        Join {
            left: self.name(pair.left),
            right: self.name(pair.right),
            left_in_right: left_in_right.into(),
            right_in_left: right_in_left.into(),
            common: common.into(),
            key,
        }
    }

    fn undecided(&self, pair: &FoundPair) -> Undecided<'_> {
        Undecided { left: self.name(pair.left), right: self.name(pair.right) }
    }

    pub(super) fn print_json(&self) -> Result<()> {
        let unreadable = self.read.unreadable.iter();
        let report = JoinsReport {
            tables: self.search.tables(),
            columns: self.search.columns(),
            joins: EachPair(self, &self.found.joins, Answer::join),
            undecided: self.found.undecided,
            found: self.found.found,
            undecided_pairs: EachPair(self, &self.found.undecided_pairs, Answer::undecided),
            unreadable: unreadable.map(|(table, error)| Unreadable { table, error }).collect(),
            rows: self.read.rows,
            cached: self.read.cached,
        };
        let mut writer = BufWriter::with_capacity(1 << 16, output::rows());
        serde_json::to_writer(&mut writer, &report)?;
        writer.write_all(b"\n")?;
        writer.flush()?;
        Ok(())
    }

    pub(super) fn print_listing(&self, form: Form, out: &Output) -> Result<()> {
        const NAMES: [&str; 8] = [
            "left_table",
            "left_column",
            "right_table",
            "right_column",
            "left_in_right",
            "right_in_left",
            "common",
            "key",
        ];
        let empty = || Listing::named(NAMES).with_intervals(["left_in_right", "right_in_left", "common"]);
        out.raw(empty().header(form).as_bytes())?;
        // The listing is written in pieces, because there may be a million pairs.
        for pairs in self.found.joins.chunks(1_000) {
            let mut listing = empty();
            for join in pairs.iter().map(|pair| self.join(pair)) {
                let cells = [
                    Cell::Text(join.left.table.into()),
                    Cell::Text(join.left.column.into()),
                    Cell::Text(join.right.table.into()),
                    Cell::Text(join.right.column.into()),
                    Cell::Interval(join.left_in_right),
                    Cell::Interval(join.right_in_left),
                    Cell::Interval(join.common),
                    Cell::of_text(join.key),
                ];
                listing.push(NAMES.into_iter().zip(cells));
            }
            out.raw(listing.body(form).as_bytes())?;
        }
        if self.found.undecided > 0 {
            out.tell(format_args!("{} are undecided.", pairs_text(self.found.undecided)));
        }
        Ok(())
    }

    pub(super) fn print(&self, out: &Output) -> Result<()> {
        let tables = output::count(self.search.tables().into());
        let columns = output::count(self.search.columns());
        let pairs = if self.found.found == 1 { "pair could join" } else { "pairs could join" };
        out.answer(output::count(self.found.found), pairs)?;
        out.detail(format_args!("{tables} tables, {columns} columns"))?;
        for join in self.found.joins.iter().take(MOST_PRINTED).map(|pair| self.join(pair)) {
            let side = |name: ColumnName<'_>, is_key: bool| {
                let key = if is_key { " (key)" } else { "" };
                format!("{}: {}{key}", name.table, name.column)
            };
            let is_key = |side: &str| join.key == Some("both") || join.key == Some(side);
            out.line(output::harmless(format_args!(
                "{}  ~  {}",
                side(join.left, is_key("left")),
                side(join.right, is_key("right"))
            )))?;
            out.detail(format_args!(
                "    {} of the first in the second, {} of the second in the first, {} in common",
                percents(&join.left_in_right),
                percents(&join.right_in_left),
                about(&join.common)
            ))?;
        }
        let printed = self.found.joins.len().min(MOST_PRINTED) as u64;
        if self.found.found > printed {
            out.detail(format_args!(
                "{} more: --output tsv lists them",
                output::count(self.found.found - printed)
            ))?;
        }
        if self.found.undecided > 0 {
            out.line(format_args!(
                "{} of columns could join or not: too few of their values were compared to tell.",
                pairs_text(self.found.undecided)
            ))?;
            for pair in self.found.undecided_pairs.iter().take(MOST_UNDECIDED_PRINTED) {
                let Undecided { left, right } = self.undecided(pair);
                let [left, right] = [left, right].map(|name| format!("{}: {}", name.table, name.column));
                out.detail(format_args!("    {left}  ~  {right}"))?;
            }
            if self.found.undecided > MOST_UNDECIDED_PRINTED as u64 {
                out.detail(
                    "    and more: --json has the first 1000; --hashes with a larger number decides more",
                )?;
            }
        }
        Ok(())
    }
}

fn pairs_text(count: u64) -> String {
    format!("{} {}", output::count(count), if count == 1 { "pair" } else { "pairs" })
}

/// Returns a share such as `87 % (84 to 90 %)`.
fn percents(share: &Interval) -> String {
    let percent = |share: f64| format!("{:.0}", share * 100.0);
    if share.lower == share.upper {
        return format!("{} %", percent(share.value));
    }
    format!("{} % ({} to {} %)", percent(share.value), percent(share.lower), percent(share.upper))
}

fn about(count: &Interval) -> String {
    let value = output::count(count.value.round() as u64);
    if count.lower == count.upper { value } else { format!("about {value}") }
}
