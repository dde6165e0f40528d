//! How does the number of different values grow with the rows, and which values do two columns share?
//!
//! **Idea.** Keep the values with the `k` smallest hashes, each with the first row it came in. Whether a value is kept
//! depends on its hash alone, so those kept are a fair sample of the different values, whenever they came; of the
//! different values in the first `n` rows the same share is kept as of all. So one small table, filled in one pass on
//! any number of threads, has the whole curve, and merging takes the smaller row of a value: the result
//! does not depend on who read what.
//!
//! The same hashes are a [`KMinValues`] sketch, which says how much of one column's values another column holds. And every value
//! of the sample is recognised when it comes again: a column of which one value in a hundred comes twice has ten such
//! values in a sample of a thousand, so that it is certainly no key.
//!
//! **Cost.** A value that is not among the smallest is refused by one comparison, and one that came shortly before by a
//! second; the table is touched by the rest.

use crivo::distinct::KMinValues;
use crivo::keys::KeyScheme;
use crivo::math::sampled_total;
use crivo::{Confidence, Estimate};
use hashbrown::HashTable;

/// The smallest hashes of a column, and the row each came in first.
#[derive(Debug, Clone)]
pub(super) struct FirstRows {
    k: usize,
    /// Every hash so far that is at most this is in the table.
    threshold: u64,
    table: HashTable<Seen>,
    /// Whether a value came again while it was in the table.
    is_repeated: bool,
    /// Hashes that are in the table already, by their low bits.
    recent: Box<[u64; RECENT]>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    hash: u64,
    row: u64,
}

/// As many different values as columns of categories often have; 2 KiB.
const RECENT: usize = 256;

impl FirstRows {
    /// Bytes that each of the `k` can take: twice as many are collected, in a table that may be half full.
    pub(super) const BYTES_EACH: usize = 4 * (size_of::<Seen>() + 1);
    /// Bytes that a table takes beside that.
    pub(super) const BYTES: usize = RECENT * size_of::<u64>();

    pub(super) fn new(k: usize) -> Self {
        let mut recent = Box::new([0; RECENT]);
        // No hash is looked for where its low bits do not fit.
        recent.iter_mut().enumerate().for_each(|(at, hash)| *hash = (at ^ 1) as u64);
        Self { k: k.max(2), threshold: u64::MAX, table: HashTable::new(), is_repeated: false, recent }
    }

    /// Takes the hashes of a batch; `row` has the row of each.
    #[inline]
    pub(super) fn insert(&mut self, hashes: &[u64], row: impl Fn(usize) -> u64) {
        for (at, &hash) in hashes.iter().enumerate() {
            if hash <= self.threshold {
                if self.recent[hash as usize % RECENT] == hash {
                    self.is_repeated = true;
                } else {
                    self.admit(Seen { hash, row: row(at) });
                }
            }
        }
    }

    #[inline(never)]
    fn admit(&mut self, seen: Seen) {
        self.recent[seen.hash as usize % RECENT] = seen.hash;
        if let Some(known) = self.table.find_mut(place(seen.hash), |known| known.hash == seen.hash) {
            known.row = known.row.min(seen.row);
            self.is_repeated = true;
            return;
        }
        self.table.insert_unique(place(seen.hash), seen, |known| place(known.hash));
        if self.table.len() >= 2 * self.k {
            self.keep_smallest();
        }
    }

    #[cold]
    fn keep_smallest(&mut self) {
        let mut hashes: Vec<u64> = self.table.iter().map(|seen| seen.hash).collect();
        let (_, largest, _) = hashes.select_nth_unstable(self.k - 1);
        self.threshold = *largest;
        self.table.retain(|seen| seen.hash <= self.threshold);
    }

    /// Makes this the table of both columns' rows.
    pub(super) fn merge(&mut self, other: &Self) {
        self.is_repeated |= other.is_repeated;
        self.threshold = self.threshold.min(other.threshold);
        self.table.retain(|seen| seen.hash <= self.threshold);
        for &seen in &other.table {
            // It may have fallen meanwhile.
            if seen.hash <= self.threshold {
                self.admit(seen);
            }
        }
    }

    /// Whether a value certainly came twice. Among values that each come once with few exceptions, those are missed with
    /// probability `(1 − s)^k`, where `s` is their share.
    pub(super) fn is_repeated(&self) -> bool {
        self.is_repeated
    }

    /// The sketch of the column's different values.
    pub(super) fn key_set(&self, scheme: KeyScheme) -> crivo::Result<KMinValues> {
        let mut set = KMinValues::with_scheme(self.k as u32, scheme)?;
        self.table.iter().for_each(|seen| set.insert_hash(seen.hash));
        Ok(set)
    }

    /// How many different values there were up to each of these rows, which rise. `number` says which row of all it is
    /// that a value came in.
    pub(super) fn growth(&self, rows: &[u64], number: impl Fn(u64) -> u64) -> Vec<Estimate> {
        let mut hashes: Vec<u64> = self.table.iter().map(|seen| seen.hash).collect();
        hashes.sort_unstable();
        // Below the k-th smallest hash everything is known; it is not counted itself.
        let limit = hashes.get(self.k - 1).copied().filter(|_| hashes.len() >= self.k);
        let share = limit.map_or(1.0, |limit| limit as f64 / 2_f64.powi(64));
        let below = |seen: &&Seen| limit.is_none_or(|limit| seen.hash < limit);
        let mut firsts: Vec<u64> = self.table.iter().filter(below).map(|seen| number(seen.row)).collect();
        firsts.sort_unstable();
        rows.iter()
            .map(|&row| {
                let count = firsts.partition_point(|&first| first <= row) as u64;
                sampled_total(count, share, Confidence::P95).limited_to(count as f64, row as f64)
            })
            .collect()
    }
}

/// Small hashes differ in their low bits only, and the table looks at both ends.
fn place(hash: u64) -> u64 {
    hash.rotate_left(32) ^ hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(value: u64) -> u64 {
        KeyScheme::integers().hash(&value).unwrap()
    }

    /// Value `i` comes in row `2i` and again later, on any number of parts.
    fn parts(values: u64, parts: u64, k: usize) -> FirstRows {
        let mut all: Vec<FirstRows> = (0..parts).map(|_| FirstRows::new(k)).collect();
        for i in 0..values {
            all[(i % parts) as usize].insert(&[hash(i)], |_| 2 * i);
            all[(i * 7 % parts) as usize].insert(&[hash(i / 2)], |_| 2 * i + 1);
        }
        let mut whole = all.remove(0);
        all.iter().for_each(|part| whole.merge(part));
        whole
    }

    #[test]
    fn few_values_give_the_exact_curve() {
        let growth = parts(50, 3, 64).growth(&[1, 10, 51, 100], |row| row + 1);
        assert_eq!(growth, [1.0, 5.0, 26.0, 50.0].map(Estimate::exact));
    }

    #[test]
    fn many_values_give_a_curve_whose_bounds_hold_and_parts_do_not_matter() {
        let rows = [1_000, 20_000, 100_000, 200_000];
        let whole = parts(100_000, 1, 1024).growth(&rows, |row| row + 1);
        assert_eq!(whole, parts(100_000, 4, 1024).growth(&rows, |row| row + 1));
        for (row, estimate) in rows.iter().zip(whole) {
            let truth = *row as f64 / 2.0;
            // Five standard errors, of the hashes of this test: they are the same in every run.
            let allowed = 5.0 / (1024.0 * truth / 100_000.0).sqrt();
            assert!((estimate.value() / truth - 1.0).abs() < allowed, "{row}: {estimate:?}");
            assert!(estimate.lower() <= truth * 1.1 && truth * 0.9 <= estimate.upper());
        }
    }

    #[test]
    fn values_that_come_twice_are_noticed_in_one_part_and_between_parts() {
        let insert = |rows: &mut FirstRows, values: std::ops::Range<u64>| {
            values.for_each(|i| rows.insert(&[hash(i)], |_| i));
        };
        let (mut one, mut other) = (FirstRows::new(64), FirstRows::new(64));
        insert(&mut one, 0..5_000);
        insert(&mut other, 5_000..10_000);
        one.merge(&other);
        assert!(!one.is_repeated(), "all are different");
        // Half of the values again: some of the 64 that are kept are among them.
        let mut again = one.clone();
        insert(&mut again, 0..5_000);
        assert!(again.is_repeated());
        one.merge(&other);
        assert!(one.is_repeated(), "a value of both parts came twice");
    }

    #[test]
    fn the_sketch_is_that_of_all_values() {
        let mut set = KMinValues::with_scheme(256, KeyScheme::integers()).unwrap();
        (0..10_000).for_each(|i| set.insert_hash(hash(i)));
        assert_eq!(parts(10_000, 3, 256).key_set(KeyScheme::integers()).unwrap(), set);
    }
}
