//! Divides the memory among columns.
//!
//! `--memory` is for the whole program. The memory for reading is set aside. The remaining memory
//! is divided among the threads, because each has its own part, and among the columns. Every part
//! of a column has a size that its values cannot exceed, so the budget holds for any number of
//! rows. Columns that first appear in later rows, which only JSONL can have, get the least possible
//! size.

use std::collections::HashSet;
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::{Result, bail};
use crivo::profile::TableColumnSizes;

use crate::output;

/// The memory of the program itself, and of the reader of each thread.
const PROGRAM: usize = 11 << 20;
const READER: usize = 1 << 20;
/// The memory that the columns of a thread share by default.
const DEFAULT: usize = TableColumnSizes::TABLE_MEMORY;
/// The least memory of a column. A profile with its names and lists does not fit into less.
const LEAST_COLUMN: usize = TableColumnSizes::LEAST_MEMORY;

/// The memory budget of a pass.
#[derive(Debug)]
pub(super) struct Budget {
    /// The memory of all columns of one thread.
    memory: usize,
    threads: usize,
    /// The sizes of every column, if they do not depend on the number of columns.
    fixed: Option<TableColumnSizes>,
    /// The columns of the first batch, and the sizes of each.
    first: OnceLock<(HashSet<String>, TableColumnSizes)>,
    later: Mutex<HashSet<String>>,
}

impl Budget {
    /// Divides the memory among `threads`, or among fewer if the columns do not fit on all of them.
    /// By default the memory is what the columns of each thread usually share, and at least the
    /// need of one thread.
    ///
    /// # Errors
    /// If the columns do not fit on one thread.
    pub(super) fn new(memory: Option<u64>, threads: usize, columns: usize) -> Result<Self> {
        let reading = |threads: usize| PROGRAM + threads * READER;
        let least = columns.max(1) * LEAST_COLUMN;
        let usual = (reading(threads) + threads * DEFAULT).max(reading(1) + least);
        let total = memory.map_or(usual, |bytes| bytes as usize);
        let share = |threads: usize| total.saturating_sub(reading(threads)) / threads;
        let Some(threads) = (1..=threads.max(1)).rev().find(|&threads| share(threads) >= least) else {
            bail!(
                "--memory {}: {} columns take at least {}",
                output::bytes(total),
                output::count(columns as u64),
                output::bytes(reading(1) + least)
            )
        };
        Ok(Self {
            memory: share(threads),
            threads,
            fixed: None,
            first: OnceLock::new(),
            later: Mutex::default(),
        })
    }

    /// Returns a budget with the same sizes for every column.
    pub(super) fn fixed(sizes: TableColumnSizes, threads: usize) -> Self {
        let (first, later) = (OnceLock::new(), Mutex::default());
        Self { memory: usize::MAX, threads, fixed: Some(sizes), first, later }
    }

    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// Returns the sizes of a column, given the names of all present columns. Returns the reason as
    /// an error if the column does not fit.
    pub(super) fn sizes(&self, name: &str, all: &[String]) -> Result<TableColumnSizes, String> {
        if let Some(sizes) = self.fixed {
            return Ok(sizes);
        }
        let (first, sizes) = self.first.get_or_init(|| {
            (all.iter().cloned().collect(), TableColumnSizes::for_table(self.memory, all.len()))
        });
        if first.contains(name) {
            return Ok(*sizes);
        }
        let mut later = self.later.lock().unwrap_or_else(PoisonError::into_inner);
        later.insert(name.to_owned());
        let used = first.len() * sizes.most_memory() + later.len() * LEAST_COLUMN;
        if used > self.memory.max(first.len() * LEAST_COLUMN) {
            return Err(format!(
                "there is no memory for {} columns: give more with --memory, or choose one with -f",
                first.len() + later.len()
            ));
        }
        Ok(TableColumnSizes::for_memory(LEAST_COLUMN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("column {number}")).collect()
    }

    #[test]
    fn columns_of_all_threads_stay_within_the_budget() {
        for (memory, threads, columns) in [(24, 1, 1), (64, 2, 12), (64, 8, 500), (40, 2, 500), (1000, 4, 3)]
        {
            let budget = Budget::new(Some(memory << 20), threads, columns).unwrap();
            let names = names(columns);
            let sizes = budget.sizes(&names[0], &names).unwrap();
            let taken = PROGRAM + budget.threads() * (READER + columns * sizes.most_memory());
            assert!(taken <= (memory as usize) << 20, "{columns} columns on {threads} threads: {taken}");
            assert!(sizes.column.profile.precision >= 10);
        }
    }

    #[test]
    fn unless_told_there_is_room_for_any_number_of_columns() {
        for (threads, columns) in [(1, 1), (2, 900), (2, 5_000), (8, 20_000)] {
            let budget = Budget::new(None, threads, columns).unwrap();
            let names = names(columns);
            let sizes = budget.sizes(&names[0], &names).unwrap();
            let taken = PROGRAM + budget.threads() * (READER + columns * sizes.most_memory());
            let least = PROGRAM + READER + columns * LEAST_COLUMN;
            let usual = PROGRAM + threads * (READER + DEFAULT);
            assert!(taken <= usual.max(least), "{columns} columns on {threads} threads: {taken}");
        }
    }

    #[test]
    fn columns_without_room_are_refused() {
        let error = Budget::new(Some(16 << 20), 2, 500).unwrap_err().to_string();
        assert!(error.contains("500 columns take at least 33 MiB"), "{error}");
        let budget = Budget::new(None, 2, 3).unwrap();
        let few = names(3);
        assert!(budget.sizes("column 1", &few).is_ok());
        let refused = names(10_000).iter().find_map(|name| budget.sizes(name, &few).err());
        assert!(refused.unwrap().contains("--memory"));
    }
}
