//! One pass over a table: adds every column of every batch to its profile, on every thread.
//!
//! Each thread has a [`PartialProfile`], and parts merge. Columns are found by name, because the records of
//! JSONL need not have the same fields in the same order. Columns with the same name are told apart
//! by their order. A batch is processed column by column. The values of a column are stored side by
//! side and hashed once, and the sketches of one column fit into the cache.
//!
//! The data of a column are the library's [`TableColumn`]. At the end all of them become a
//! `TableProfile`.

use std::collections::HashMap;

use crivo::keys::KeyScheme;
use crivo::profile::expectations::{ColumnCheck, TableRules};
use crivo::profile::{RowDraw, TableColumn, TableColumnSizes};
use crivo_rows::RowBatch;

use super::budget::Budget;
use super::separators::{Separator, Stripped};

/// The settings that all threads of a pass share.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) budget: Budget,
    pub(super) scheme: KeyScheme,
    pub(super) separator: Option<Separator>,
    /// The rules that every row is checked against.
    pub(super) rules: TableRules,
}

/// The data that one thread collects from a table; after merging, those of all threads.
#[derive(Debug, Default)]
pub(super) struct PartialProfile {
    pub(super) columns: Vec<Column>,
    /// The indexes in `columns` of each name. Columns of the same name are in the order of their
    /// twins.
    by_name: HashMap<String, Vec<usize>>,
    /// The names of the last batch's columns, and the index in `columns` of each.
    names: Vec<String>,
    places: Vec<usize>,
    /// The number of each row of the last batch. With a condition the numbers are not consecutive.
    rows: Vec<u64>,
    /// The chunk of the last batch, and its salt.
    salted: Option<(u64, u64)>,
    stripped: Stripped,
    /// A check for each rule of the setting, and the index of its column in the last batch.
    checks: Vec<ColumnCheck>,
    checked: Vec<Option<usize>>,
}

/// The data of a column.
#[derive(Debug)]
pub(super) struct Column {
    /// The number of columns of the same name before it.
    twin: usize,
    /// Where the column first appeared: the row, and its index among the columns there.
    began: (u64, usize),
    pub(super) data: TableColumn,
}

impl PartialProfile {
    /// Adds a batch.
    pub(super) fn insert(&mut self, batch: &mut RowBatch<'_>, setting: &Setting) -> crivo_rows::Result<()> {
        if self.names != batch.names() {
            self.find_columns(batch, setting)?;
        }
        self.rows.clear();
        // Rows of the first chunk have their numbers in the table, as in Python.
        self.rows.extend((0..batch.rows()).map(|row| batch.id(row).to_u64() + 1));
        self.check(batch, setting)?;
        let draw = RowDraw::of_rows(self.salt(batch, setting.scheme)?, self.rows.iter().copied());
        for at in 0..self.places.len() {
            let column = &mut self.columns[self.places[at]];
            let values = batch.column(at);
            if let Some(separator) = setting.separator {
                let (keys, rows) = self.stripped.keys(values.iter(), separator, setting.scheme)?;
                column.data.insert_batch_drawn(&keys, draw, |key| self.rows[rows[key] as usize])?;
            } else if values.missing() == 0 {
                column.data.insert_batch_drawn(&batch.keys(at)?, draw, |key| self.rows[key])?;
            } else {
                let found = batch.keys_with_rows(at)?;
                column
                    .data
                    .insert_batch_drawn(&found.keys, draw, |key| self.rows[found.rows[key] as usize])?;
            }
        }
        Ok(())
    }

    /// Returns the salt for the drawing of rows. It is a hash of the first value of the batch's
    /// chunk, so that files with the same row numbers draw different rows. The batches of a chunk
    /// come one after the other.
    fn salt(&mut self, batch: &RowBatch<'_>, scheme: KeyScheme) -> crivo_rows::Result<u64> {
        let chunk = batch.id(0).to_u64() >> 32;
        match self.salted {
            Some((known, salt)) if known == chunk => Ok(salt),
            _ => {
                let first = batch.column(0).iter().next().flatten();
                let salt = first.map(|text| scheme.hash(text)).transpose()?.unwrap_or(0);
                self.salted = Some((chunk, salt));
                Ok(salt)
            }
        }
    }

    /// Checks a batch against the rules.
    fn check(&mut self, batch: &mut RowBatch<'_>, setting: &Setting) -> crivo_rows::Result<()> {
        for ((check, place), (_, rules)) in
            self.checks.iter_mut().zip(&self.checked).zip(&setting.rules.columns)
        {
            let Some(at) = *place else {
                // The records of this batch do not have the field.
                self.rows.first().into_iter().for_each(|row| check.add_missing(*row));
                continue;
            };
            if batch.column(at).missing() > 0 {
                let first = batch.column(at).iter().position(|value| value.is_none());
                first.into_iter().for_each(|row| check.add_missing(self.rows[row]));
            }
            let found = batch.keys_with_rows(at)?;
            check.insert_batch(rules, &found.keys, |key| self.rows[found.rows[key] as usize]);
        }
        Ok(())
    }

    /// Finds the columns of a batch. New columns are added.
    #[cold]
    fn find_columns(&mut self, batch: &RowBatch<'_>, setting: &Setting) -> crivo_rows::Result<()> {
        self.names = batch.names().to_vec();
        if self.checks.is_empty() {
            self.checks = setting.rules.checks();
        }
        let place = |name: &String| self.names.iter().position(|known| known == name);
        self.checked = setting.rules.columns.iter().map(|(name, _)| place(name)).collect();
        self.places.clear();
        // The number of columns of each name so far in the batch.
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

    /// Merges another part into this one.
    pub(super) fn merge(&mut self, other: Self) -> crivo_rows::Result<()> {
        if self.checks.is_empty() {
            self.checks = other.checks;
        } else {
            self.checks.iter_mut().zip(other.checks).for_each(|(mine, theirs)| mine.merge(theirs));
        }
        for theirs in other.columns {
            let places = self.by_name.entry(theirs.data.name().to_owned()).or_default();
            if let Some(place) = places.get(theirs.twin) {
                self.columns[*place].merge(&theirs)?;
            } else {
                places.push(self.columns.len());
                self.columns.push(theirs);
            }
        }
        Ok(())
    }

    /// Returns the columns in the order of their first appearance, and the checks of the rules.
    pub(super) fn finish(mut self) -> (Vec<TableColumn>, Vec<ColumnCheck>) {
        self.columns.sort_by_key(|column| column.began);
        (self.columns.into_iter().map(|column| column.data).collect(), self.checks)
    }
}

impl Column {
    fn new(
        name: &str,
        twin: usize,
        began: (u64, usize),
        sizes: TableColumnSizes,
        scheme: KeyScheme,
    ) -> crivo::Result<Self> {
        let mut data = TableColumn::new(name, sizes, scheme)?;
        // The first row of a part differs from that of the others.
        data.reseed(began.0);
        Ok(Self { twin, began, data })
    }

    /// Returns a column without rows, for a table that has only a header.
    pub(super) fn without_rows(name: &str, setting: &Setting, all: &[String]) -> anyhow::Result<TableColumn> {
        let sizes = setting.budget.sizes(name, all).map_err(|reason| anyhow::anyhow!(reason))?;
        Ok(Self::new(name, 0, (0, 0), sizes, setting.scheme)?.data)
    }

    fn merge(&mut self, other: &Self) -> crivo::Result<()> {
        self.data.merge(&other.data)?;
        self.began = self.began.min(other.began);
        Ok(())
    }
}
