//! Reads a whole input, and generates random numbers.

use std::path::PathBuf;

use crivo_rows::{Counts, Input, Result, RowId, Scan};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use tempfile::TempDir;

/// The values of a record. A missing one is `None`.
pub(crate) type Row = Vec<Option<String>>;

/// Returns all records and values of a scan, in input order. Bytes that are not UTF-8 are shown as
/// Latin-1.
pub(crate) fn read(scan: &Scan<'_>) -> Result<(Vec<Row>, Counts)> {
    let mut folded = scan.clone().number_rows(true).fold(
        Vec::<(RowId, Row)>::new,
        |rows, batch| {
            for row in 0..batch.rows() {
                let values = (0..batch.names().len()).map(|column| {
                    batch.value(column, row).map(|bytes| bytes.iter().map(|&b| b as char).collect())
                });
                rows.push((batch.id(row), values.collect()));
            }
            Ok(())
        },
        |rows, others| {
            rows.extend(others);
            Ok(())
        },
    )?;
    let mut rows = std::mem::take(&mut folded.state);
    rows.sort_by_key(|(id, _)| *id);
    assert!(rows.windows(2).all(|pair| pair[0].0 < pair[1].0), "every record has its own name");
    for (number, (id, _)) in (1..).zip(&rows) {
        assert_eq!(folded.row_number(*id), Some(number), "rows are numbered in input order");
    }
    Ok((rows.into_iter().map(|(_, row)| row).collect(), folded.counts))
}

/// The numbers of threads and the chunk sizes of every check.
pub(crate) const WAYS: [(usize, usize); 5] = [(1, 1), (1, 7), (4, 3), (4, 64), (1, 256 << 10)];

pub(crate) fn row(values: &[&str]) -> Row {
    values.iter().map(|value| Some((*value).to_owned()).filter(|value| !value.is_empty())).collect()
}

/// A folder of files that is deleted when dropped.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn input(&self, name: &str, bytes: impl AsRef<[u8]>) -> Input {
        Input::file(self.write(name, bytes))
    }
}

pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.0.next_u64() % limit as u64) as usize
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Returns a random text of pieces from an alphabet, up to a number of pieces.
    pub(crate) fn soup(&mut self, alphabet: &[&str], pieces: usize) -> String {
        (0..self.below(pieces + 1)).map(|_| self.pick(alphabet)).collect()
    }
}
