//! One pass over a table: every column of every batch into its profile, on every thread.
//!
//! Each thread has a [`Part`], and parts merge. Columns are found by name, because the records of JSONL need not
//! have the same fields in the same order; of two columns with the same name the first is the first one everywhere.
//! A batch is taken column by column: the values of one column lie side by side, are hashed once, and meet
//! one column's sketches in the cache.
//!
//! What is kept of a column is the library's [`ProfiledColumn`], and beside it the first row of each kind of value.

use std::cmp::Reverse;
use std::collections::HashMap;

use crivo::keys::{KeyBatch, KeyRef, KeyScheme};
use crivo::profile::{ColumnSizes, Kind, ProfiledColumn};
use crivo_rows::{RowBatch, RowId};

use super::budget::Budget;
use super::separators::{Separator, Stripped};

/// How much of a value is kept to show it.
const SHOWN: usize = 60;

/// What all threads of a pass know.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) budget: Budget,
    pub(super) scheme: KeyScheme,
    pub(super) separator: Option<Separator>,
}

/// What one thread has seen of a table; at the end, all of it.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) columns: Vec<Column>,
    /// Which of `columns` each is, by its name: of several with one name in the order of their twins.
    by_name: HashMap<String, Vec<usize>>,
    /// The names of the last batch's columns, and which of `columns` each is.
    names: Vec<String>,
    places: Vec<usize>,
    /// Which row of all each row of the last batch is: with a condition not one after the other.
    rows: Vec<u64>,
    stripped: Stripped,
}

/// What was seen of a column.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    /// How many columns of the same name come before it.
    twin: usize,
    /// Where it turned up: a row, and its place among the columns there.
    began: (u64, usize),
    pub(super) data: ProfiledColumn,
    pub(super) kinds: [Option<First>; Kind::ALL.len()],
}

/// The first value of a kind.
#[derive(Debug, Clone)]
pub(super) struct First {
    pub(super) row: u64,
    pub(super) text: Box<[u8]>,
}

impl Part {
    /// Takes a batch.
    pub(super) fn insert(&mut self, batch: &mut RowBatch<'_>, setting: &Setting) -> crivo_rows::Result<()> {
        if self.names != batch.names() {
            self.find_columns(batch, setting)?;
        }
        self.rows.clear();
        self.rows.extend((0..batch.rows()).map(|row| batch.id(row).to_u64()));
        for at in 0..self.places.len() {
            let column = &mut self.columns[self.places[at]];
            let values = batch.column(at);
            if let Some(separator) = setting.separator {
                let (keys, rows) = self.stripped.keys(values.iter(), separator, setting.scheme)?;
                column.insert(&keys, |key| self.rows[rows[key] as usize])?;
            } else if values.missing() == 0 {
                column.insert(&batch.keys(at)?, |key| self.rows[key])?;
            } else {
                let found = batch.keys_with_rows(at)?;
                column.insert(&found.keys, |key| self.rows[found.rows[key] as usize])?;
            }
        }
        Ok(())
    }

    /// Says which columns a batch has: new ones begin here.
    #[cold]
    fn find_columns(&mut self, batch: &RowBatch<'_>, setting: &Setting) -> crivo_rows::Result<()> {
        self.names = batch.names().to_vec();
        self.places.clear();
        // How many columns of each name the batch has had so far.
        let mut twins: HashMap<&str, usize> = HashMap::new();
        for (at, name) in self.names.iter().enumerate() {
            let seen = twins.entry(name).or_default();
            let twin = *seen;
            *seen += 1;
            let known = self.by_name.get(name).and_then(|places| places.get(twin)).copied();
            self.places.push(if let Some(place) = known {
                place
            } else {
                let sizes =
                    setting.budget.sizes(name, &self.names).map_err(|reason| batch.error(0, reason))?;
                let began = (batch.id(0).to_u64(), at);
                self.columns.push(Column::new(name, twin, began, sizes, setting.scheme)?);
                let place = self.columns.len() - 1;
                self.by_name.entry(name.clone()).or_default().push(place);
                place
            });
        }
        Ok(())
    }

    /// Makes this the part of both.
    pub(super) fn merge(&mut self, other: Self) -> crivo_rows::Result<()> {
        for theirs in other.columns {
            let places = self.by_name.entry(theirs.name.clone()).or_default();
            if let Some(place) = places.get(theirs.twin) {
                self.columns[*place].merge(theirs)?;
            } else {
                places.push(self.columns.len());
                self.columns.push(theirs);
            }
        }
        Ok(())
    }

    /// Columns in the order they turned up, with every row in which they had no value.
    pub(super) fn finish(mut self, rows: u64) -> Vec<Column> {
        self.columns.sort_by_key(|column| column.began);
        for column in &mut self.columns {
            let profile = &mut column.data.profile;
            profile.add_missing(rows.saturating_sub(profile.rows()));
        }
        self.columns
    }
}

impl Column {
    fn new(
        name: &str,
        twin: usize,
        began: (u64, usize),
        sizes: ColumnSizes,
        scheme: KeyScheme,
    ) -> crivo::Result<Self> {
        let mut data = ProfiledColumn::new(sizes, scheme)?;
        // Where a part began tells it from the others.
        data.reseed(began.0);
        Ok(Self { name: name.to_owned(), twin, began, data, kinds: [const { None }; Kind::ALL.len()] })
    }

    /// A column that no row had: of a table with nothing but a header.
    pub(super) fn without_rows(name: &str, setting: &Setting, all: &[String]) -> anyhow::Result<Self> {
        let sizes = setting.budget.sizes(name, all).map_err(|reason| anyhow::anyhow!(reason))?;
        Ok(Self::new(name, 0, (0, 0), sizes, setting.scheme)?)
    }

    fn insert(&mut self, keys: &KeyBatch<'_>, row: impl Fn(usize) -> u64) -> crivo::Result<()> {
        self.data.insert_batch(keys, &row)?;
        for kind in Kind::ALL {
            if self.kinds[kind as usize].is_none() && self.data.profile.count_of(kind) > 0 {
                self.kinds[kind as usize] = first_of(kind, keys, &row);
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Self) -> crivo::Result<()> {
        self.data.merge(&other.data)?;
        self.began = self.began.min(other.began);
        for (mine, theirs) in self.kinds.iter_mut().zip(other.kinds) {
            // The earlier of two, and anything before nothing.
            let earliest = |first: &Option<First>| first.as_ref().map(|first| Reverse(first.row));
            if earliest(&theirs) > earliest(mine) {
                *mine = theirs;
            }
        }
        Ok(())
    }
}

/// The first value of a kind in a batch.
#[cold]
fn first_of(kind: Kind, keys: &KeyBatch<'_>, row: impl Fn(usize) -> u64) -> Option<First> {
    keys.iter().enumerate().find_map(|(at, (key, _))| match key {
        KeyRef::Bytes(text) if Kind::of(text) == kind => {
            Some(First { row: row(at), text: text[..text.len().min(SHOWN)].into() })
        }
        _ => None,
    })
}

impl First {
    pub(super) fn id(&self) -> RowId {
        RowId::from_u64(self.row)
    }
}
