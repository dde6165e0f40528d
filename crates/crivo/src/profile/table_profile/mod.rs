//! `TableProfile`: the contents of a whole table, saved in one file.
//!
//! **Question.** What was in this table? The profile can be read again later, merged with those of
//! other days, and compared with tomorrow's.
//!
//! **Guarantee.** The counters of the table are exact. Each column has all parts of
//! [`ProfiledColumn`], the first row of each kind of value, and a rank sketch of its finite numbers
//! ([`NumberQuantiles`]). The error of that sketch does not depend on the values, so two profiles
//! can be compared number by number ([`drift`](super::drift)). Its detail consists of sums of
//! powers, dates, and the values of some rows, the same rows in every column. The detail gives
//! [`spread`](TableColumn::spread), [`dates`](TableColumn::dates),
//! [`patterns`](TableColumn::patterns) and [`relations`](super::relations) between columns.
//!
//! **Merging** gives the profile of both tables one after the other. The following parts are, bit
//! for bit, those of one pass over both tables: rows, missing values, kinds, lengths, least and
//! greatest values, sums, moments, dates, counts of different values, growth, near-duplicates and
//! first rows. Four parts cannot promise that, and keep their guarantees instead: the most frequent
//! values, the sample, the ranks, and the drawn rows. Columns are matched by name, and columns of
//! the same name by their order. A column that one table lacks has no value in any of that table's
//! rows. If one side of a column was saved without detail, by an earlier version, the merged column
//! has none either.
//!
//! **When not to use it.** For one column of numbers, [`NumberQuantiles`] alone is enough.

mod beside;
mod bytes;

use core::cmp::Reverse;

use self::beside::BesideProfile;
use super::detail::{ColumnDetail, DateFacts, DrawnRows, RowDraw, Spread};
use super::{Kind, ProfiledColumn, TableColumnSizes};
use crate::codec::{Encode as _, Parameter, Parameters, Summary};
use crate::error::{Error, Result};
use crate::estimate::Estimate;
use crate::keys::{KeyBatch, KeyKind, KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::quantiles::{Accuracy, NumberQuantiles};
use crate::sketch::{Merge, impl_sketch};

/// The profile of a table; see the [module](self) for the guarantee of merging.
///
/// ```
/// use crivo::keys::{KeyBuffer, KeyScheme, Span};
/// use crivo::profile::{TableColumn, TableColumnSizes, TableProfile};
///
/// let scheme = KeyScheme::bytes();
/// let day = |texts: [&str; 2]| {
///     let mut price = TableColumn::new("price", TableColumnSizes::for_memory(64 << 10), scheme)?;
///     for (row, text) in texts.into_iter().enumerate() {
///         let keys = [Span::new(0..text.len())?];
///         price.insert_batch(&KeyBuffer::new(scheme).hash_spans_of(&keys, text.as_bytes())?, |_| row as u64 + 1)?;
///     }
///     TableProfile::new(2, scheme, vec![price])
/// };
/// let (mut week, tuesday) = (day(["1", "2"])?, day(["3", "x"])?);
/// week.merge(&tuesday)?;
/// assert_eq!((week.rows(), week.columns()[0].ranks().max()), (4, Some(3.0)));
/// assert_eq!(TableProfile::decode(&week.encode())?, week);
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TableProfile {
    scheme: KeyScheme,
    rows: u64,
    /// The number of bytes that were read.
    pub bytes: u64,
    /// The number of records that were left out because they were bad.
    pub bad: u64,
    /// The number of rows that a condition left out. They do not count as rows, but have row
    /// numbers.
    pub left_out: u64,
    columns: Vec<TableColumn>,
}

/// The data of one column.
#[derive(Debug, Clone, PartialEq)]
pub struct TableColumn {
    name: String,
    data: ProfiledColumn,
    ranks: NumberQuantiles,
    firsts: [Option<FirstOfKind>; Kind::ALL.len()],
    /// `None` if the caller did not request detail, or if the column was saved by a version without
    /// it.
    detail: Option<Box<ColumnDetail>>,
}

/// The first value of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstOfKind {
    /// The number of its row, from 1.
    pub row: u64,
    /// The value, cut to [`LONGEST`](Self::LONGEST) bytes.
    pub text: Box<[u8]>,
}

impl FirstOfKind {
    /// The number of bytes of a value that are kept to show it.
    pub const LONGEST: usize = 60;
}

// ---- limits ----

impl TableProfile {
    /// The largest number of columns of a table.
    pub const MOST_COLUMNS: usize = 1 << 24;
}

// ---- columns ----

impl TableColumn {
    /// Returns an empty column, whose values are hashed under the given scheme. The sample and the
    /// ranks draw random numbers from the scheme's seed. Parts that will be merged must be
    /// [reseeded](Self::reseed).
    ///
    /// # Errors
    /// If a part cannot have its size, or if the scheme's keys are not bytes.
    pub fn new(name: &str, sizes: TableColumnSizes, scheme: KeyScheme) -> Result<Self> {
        Ok(Self {
            name: name.into(),
            data: ProfiledColumn::new(sizes.column, scheme)?,
            ranks: NumberQuantiles::new(sizes.ranks, Accuracy::Uniform, scheme.seed())?,
            firsts: [const { None }; Kind::ALL.len()],
            detail: sizes.detail.map(|sizes| Box::new(ColumnDetail::new(sizes))),
        })
    }

    /// Derives a new random seed for the sample and the ranks; see [`Merge::reseed`].
    pub fn reseed(&mut self, part: u64) {
        self.data.reseed(part);
        self.ranks.reseed(part);
    }

    /// Adds the values of a batch. `row` returns the row of a value by its index in the batch.
    ///
    /// # Errors
    /// As for [`ColumnProfile::insert_batch`](super::ColumnProfile::insert_batch).
    pub fn insert_batch(&mut self, batch: &KeyBatch<'_>, row: impl Fn(usize) -> u64) -> Result<()> {
        self.insert_batch_salted(batch, 0, row)
    }

    /// Like [`insert_batch`](Self::insert_batch), with a salt for drawing rows. All columns of a
    /// table need the same salt for the same rows. If the salt depends on the values, tables that
    /// are merged later draw independently.
    ///
    /// # Errors
    /// As for [`insert_batch`](Self::insert_batch).
    pub fn insert_batch_salted(
        &mut self,
        batch: &KeyBatch<'_>,
        salt: u64,
        row: impl Fn(usize) -> u64,
    ) -> Result<()> {
        self.insert_batch_drawn(batch, RowDraw::new(salt), row)
    }

    /// Like [`insert_batch_salted`](Self::insert_batch_salted), with a draw that is computed once
    /// for all columns.
    ///
    /// # Errors
    /// As for [`insert_batch`](Self::insert_batch).
    pub fn insert_batch_drawn(
        &mut self,
        batch: &KeyBatch<'_>,
        draw: RowDraw,
        row: impl Fn(usize) -> u64,
    ) -> Result<()> {
        let Self { data, ranks, detail, .. } = self;
        let mut beside = BesideProfile { ranks, detail: detail.as_deref_mut() };
        data.insert_batch_with(batch, &row, &mut beside)?;
        if let Some(detail) = detail {
            detail.insert_rows(batch, &data.profile, draw, &row);
        }
        for kind in Kind::ALL {
            if self.firsts[kind as usize].is_none() && self.data.profile.count_of(kind) > 0 {
                self.firsts[kind as usize] = first_of(kind, batch, &row);
            }
        }
        Ok(())
    }

    /// Counts rows without a value.
    pub fn add_missing(&mut self, rows: u64) {
        self.data.profile.add_missing(rows);
    }

    /// Gives every row that is kept another number. The numbers must keep the order of the rows.
    pub fn renumber(&mut self, number: impl Fn(u64) -> u64) {
        self.data.growth.renumber(&number);
        self.detail.iter_mut().for_each(|detail| detail.renumber(&number));
        self.firsts.iter_mut().flatten().for_each(|first| first.row = number(first.row));
    }

    /// Merges another part of the table. The rows of both parts must be numbered continuously.
    ///
    /// # Errors
    /// If schemes or sizes differ. The column is unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if self.ranks.size() != other.ranks.size() {
            let advice = "only profiles of the same sizes can be merged: give both the same --memory";
            return Err(Error::incompatible("size of ranks", self.ranks.size(), other.ranks.size(), advice));
        }
        if let (Some(mine), Some(theirs)) = (&self.detail, &other.detail) {
            mine.require_same(theirs)?;
        }
        self.data.merge(&other.data)?;
        self.ranks.merge(&other.ranks)?;
        match (&mut self.detail, &other.detail) {
            (Some(mine), Some(theirs)) => mine.merge(theirs, &self.data.profile),
            // A part without detail has seen values that no detail has.
            (mine, None) => *mine = None,
            (None, Some(_)) => {}
        }
        for (mine, theirs) in self.firsts.iter_mut().zip(&other.firsts) {
            // Keep the earlier of two first values. A missing one comes last.
            let earliest = |first: &Option<FirstOfKind>| first.as_ref().map(|first| Reverse(first.row));
            if earliest(theirs) > earliest(mine) {
                mine.clone_from(theirs);
            }
        }
        Ok(())
    }

    /// The name of the column.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The parts of the column without the ranks and the detail.
    pub fn data(&self) -> &ProfiledColumn {
        &self.data
    }

    /// The rank sketch of the column's finite numbers.
    pub fn ranks(&self) -> &NumberQuantiles {
        &self.ranks
    }

    /// Returns the first value of a kind.
    pub fn first(&self, kind: Kind) -> Option<&FirstOfKind> {
        self.firsts[kind as usize].as_ref()
    }

    /// Returns the standard deviation and the skew of the finite numbers, each rounded only at the
    /// end. Integers beyond 2^53 count as the nearest float. Without detail both are `None`.
    pub fn spread(&self) -> Spread {
        self.detail.as_ref().map_or_else(Spread::default, |detail| detail.spread(&self.data.profile))
    }

    /// Returns the facts about the dates in the column, exactly. Returns `None` without detail, or
    /// if more than one value in twenty is not a date.
    pub fn dates(&self) -> Option<DateFacts> {
        self.detail.as_ref()?.dates(&self.data.profile)
    }

    /// Returns the values of the drawn rows, which are the same rows in every column. Returns
    /// `None` without detail.
    pub fn drawn(&self) -> Option<&DrawnRows> {
        Some(&self.detail.as_ref()?.drawn)
    }

    fn memory(&self) -> usize {
        let data = &self.data;
        let documents = data.near_duplicates.as_ref().map_or(0, super::NearDuplicateShare::memory);
        let detail = self.detail.as_ref().map_or(0, |detail| detail.memory());
        self.name.len()
            + data.profile.memory()
            + data.growth.memory()
            + documents
            + self.ranks.memory()
            + detail
    }
}

/// Returns the first value of a kind in a batch.
#[cold]
fn first_of(kind: Kind, keys: &KeyBatch<'_>, row: impl Fn(usize) -> u64) -> Option<FirstOfKind> {
    keys.iter().enumerate().find_map(|(at, (key, _))| match key {
        KeyRef::Bytes(text) if Kind::of(text) == kind => {
            Some(FirstOfKind { row: row(at), text: text[..text.len().min(FirstOfKind::LONGEST)].into() })
        }
        _ => None,
    })
}

// ---- the table ----

impl TableProfile {
    fn require_count(columns: usize) -> Result<()> {
        if columns > Self::MOST_COLUMNS {
            let allowed = format!("at most {}", Self::MOST_COLUMNS);
            return Err(Error::parameter("columns", allowed, columns));
        }
        Ok(())
    }

    /// Creates the profile of a table with this many rows. Each column has a value or a missing one
    /// in every row, so rows that a column has not seen are added to it as missing.
    ///
    /// # Errors
    /// If a column has more rows, if its scheme is not `scheme` or not one of bytes, or if there
    /// are too many columns.
    pub fn new(rows: u64, scheme: KeyScheme, mut columns: Vec<TableColumn>) -> Result<Self> {
        if scheme.kind() != KeyKind::Bytes {
            return Err(scheme.wrong_kind(KeyKind::Bytes));
        }
        Self::require_count(columns.len())?;
        for column in &mut columns {
            scheme.require_same(column.data.profile.scheme())?;
            let seen = column.data.profile.rows();
            if seen > rows {
                return Err(Error::parameter("rows", format_args!("at least {seen}"), rows));
            }
            column.add_missing(rows - seen);
        }
        Ok(Self { scheme, rows, bytes: 0, bad: 0, left_out: 0, columns })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the columns, in their order.
    pub fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    /// Returns each column with its name and the number of columns of the same name before it.
    pub fn named(&self) -> Vec<((&str, usize), &TableColumn)> {
        let mut seen: hashbrown::HashMap<&str, usize, crate::hash::TableSecret> =
            hashbrown::HashMap::default();
        let named = self.columns.iter().map(|column| {
            let twins = seen.entry(column.name()).or_default();
            *twins += 1;
            ((column.name(), *twins - 1), column)
        });
        named.collect()
    }

    /// Returns true if there are neither rows nor columns.
    pub fn is_empty(&self) -> bool {
        self.rows == 0 && self.columns.is_empty()
    }

    /// The scheme under which values are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// The number of bytes of memory in use, including the struct itself.
    pub fn memory(&self) -> usize {
        size_of::<Self>()
            + self.columns.iter().map(|column| size_of::<TableColumn>() + column.memory()).sum::<usize>()
    }

    /// Returns the number of columns, which is all that a table is built with.
    pub fn parameters(&self) -> Parameters {
        vec![("columns", Parameter::Count(self.columns.len() as u64))]
    }

    /// Returns the summary that `crivo show` prints.
    pub fn summary(&self) -> Summary {
        let counts = [("bytes_read", self.bytes), ("bad", self.bad), ("left_out", self.left_out)];
        let counts = counts.map(|(name, count)| (name, Parameter::Count(count)));
        Summary {
            family: Self::FAMILY,
            parameters: self.parameters().into_iter().chain(counts).collect(),
            scheme: self.scheme,
            items: Estimate::exact(self.rows as f64),
            fill: None,
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

// ---- update ----

impl TableProfile {
    /// Removes the columns with this name, if there are any.
    pub fn discard(&mut self, name: &str) {
        self.columns.retain(|column| column.name() != name);
    }
}

// ---- merge ----

impl TableProfile {
    /// Merges the profile of another table, whose rows follow those of this one.
    ///
    /// # Errors
    /// If the schemes differ, or the sizes of two columns with the same name, or if there are too
    /// many columns. The profile is unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        let before = self.rows.saturating_add(self.left_out);
        let mut columns = self.columns.clone();
        let mut others: hashbrown::HashMap<(&str, usize), &TableColumn, crate::hash::TableSecret> =
            other.named().into_iter().collect();
        for ((name, _), column) in self.named().iter().zip(&mut columns) {
            match others.remove(name) {
                Some(theirs) => {
                    let mut later = theirs.clone();
                    later.renumber(|row| row.saturating_add(before));
                    column.merge(&later)?;
                }
                None => column.add_missing(other.rows),
            }
        }
        for (name, theirs) in other.named() {
            if others.contains_key(&name) {
                let mut added = theirs.clone();
                added.renumber(|row| row.saturating_add(before));
                added.add_missing(self.rows);
                columns.push(added);
            }
        }
        drop(others);
        Self::require_count(columns.len())?;
        self.columns = columns;
        self.rows = self.rows.saturating_add(other.rows);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.bad = self.bad.saturating_add(other.bad);
        self.left_out = self.left_out.saturating_add(other.left_out);
        Ok(())
    }
}

impl_sketch!(TableProfile);

impl Merge for TableProfile {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }

    fn reseed(&mut self, part: u64) {
        self.columns.iter_mut().for_each(|column| column.reseed(part));
    }
}
