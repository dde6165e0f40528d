//! The loops over rows: updates and queries, one hash at a time or many.
//!
//! Batches process four rows at a time, a constant number. So a hash is loaded once for all four,
//! and the starts of the rows stay in registers. In a table larger than the second-level cache most
//! accesses wait for memory. There all counters of a chunk of hashes are prefetched before the
//! first is changed, so that the waits overlap.

use super::{MOST_ROWS, Rows};
use crate::cpu::prefetch;
use crate::hash::{index, remix};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The number of rows that a batch processes together.
const GROUP: usize = 4;

/// The number of counters that are prefetched together: more than a processor fetches at once.
/// Twice as many measured slower.
const LINES: usize = 64;

/// The number of hashes whose counters in every row are prefetched together.
const CHUNK: usize = 16;

/// A table with more counters than this (2 MiB) is large.
const LARGE: usize = 1 << 18;

impl Rows {
    /// Returns the position of a hash's counter in a row.
    #[inline]
    fn place(self, hash: u64, row: usize) -> usize {
        index(remix(hash, row as u32), u64::from(self.width)) as usize
    }

    /// Returns how many rows belong to whole groups.
    fn grouped(self) -> usize {
        self.depth as usize - self.depth as usize % GROUP
    }
}

// ---- update ----

impl Rows {
    /// Adds the weight to the counter of the hash in every row.
    #[inline]
    pub(in crate::frequency) fn add(self, table: &mut [u64], hash: u64, weight: u64) {
        let mut start = 0;
        for row in 0..self.depth as usize {
            let counter = &mut table[start + self.place(hash, row)];
            *counter = counter.saturating_add(weight);
            start += self.width as usize;
        }
    }

    /// Adds to the counters of many hashes. Hash `i` has the weight `weight(i)`.
    pub(in crate::frequency) fn add_all(
        self,
        table: &mut [u64],
        hashes: &[u64],
        weight: impl Fn(usize) -> u64 + Copy,
    ) {
        let (width, grouped) = (self.width as usize, self.grouped());
        let large = table.len() > LARGE;
        let (groups, others) = table.split_at_mut(grouped * width);
        for (group, rows) in groups.chunks_exact_mut(GROUP * width).enumerate() {
            self.add_in::<GROUP>(rows, group * GROUP, hashes, weight, large);
        }
        for (row, rows) in others.chunks_exact_mut(width).enumerate() {
            self.add_in::<1>(rows, grouped + row, hashes, weight, large);
        }
    }

    /// Does the same for `ROWS` rows, which begin with row number `first`.
    #[allow(clippy::inline_always)] // a call would pass the rows through memory
    #[inline(always)]
    fn add_in<const ROWS: usize>(
        self,
        mut table: &mut [u64],
        first: usize,
        hashes: &[u64],
        weight: impl Fn(usize) -> u64,
        large: bool,
    ) {
        let rows: [&mut [u64]; ROWS] = std::array::from_fn(|_| {
            let (row, rest) = std::mem::take(&mut table).split_at_mut(self.width as usize);
            table = rest;
            row
        });
        if !large {
            for (i, &hash) in hashes.iter().enumerate() {
                let weight = weight(i);
                for row in 0..ROWS {
                    let counter = &mut rows[row][self.place(hash, first + row)];
                    *counter = counter.saturating_add(weight);
                }
            }
            return;
        }
        let mut places = [0; LINES];
        let (places, _) = places.as_chunks_mut::<ROWS>();
        for (chunk, hashes) in hashes.chunks(places.len()).enumerate() {
            for (places, &hash) in places.iter_mut().zip(hashes) {
                for row in 0..ROWS {
                    places[row] = self.place(hash, first + row);
                    prefetch(rows[row], places[row]);
                }
            }
            for (i, places) in places[..hashes.len()].iter().enumerate() {
                let weight = weight(chunk * LINES / ROWS + i);
                for row in 0..ROWS {
                    let counter = &mut rows[row][places[row]];
                    *counter = counter.saturating_add(weight);
                }
            }
        }
    }

    /// Conservative update: raises the counters of the hash just enough that each is at least their
    /// former minimum plus the weight. Unlike additions, the result of such updates depends on
    /// their order.
    #[inline(never)] // so that loops of plain updates around the choice stay small
    pub(in crate::frequency) fn raise(self, table: &mut [u64], hash: u64, weight: u64) {
        let mut positions = [0; MOST_ROWS];
        let positions = self.positions(hash, &mut positions);
        raise_to_minimum(table, positions, weight);
    }

    /// Conservative update of many hashes, in their order.
    pub(in crate::frequency) fn raise_all(
        self,
        table: &mut [u64],
        hashes: &[u64],
        weight: impl Fn(usize) -> u64,
    ) {
        let depth = self.depth as usize;
        let mut positions = [[0; MOST_ROWS]; CHUNK];
        for (chunk, hashes) in hashes.chunks(CHUNK).enumerate() {
            for (positions, &hash) in positions.iter_mut().zip(hashes) {
                self.positions(hash, positions).iter().for_each(|&at| prefetch(table, at));
            }
            for (i, positions) in positions[..hashes.len()].iter().enumerate() {
                raise_to_minimum(table, &positions[..depth], weight(chunk * CHUNK + i));
            }
        }
    }

    /// Returns the positions of a hash's counters in the table, row by row.
    #[inline]
    fn positions(self, hash: u64, positions: &mut [usize; MOST_ROWS]) -> &[usize] {
        let positions = &mut positions[..self.depth as usize];
        let mut start = 0;
        for (row, position) in positions.iter_mut().enumerate() {
            *position = start + self.place(hash, row);
            start += self.width as usize;
        }
        positions
    }
}

#[inline]
fn raise_to_minimum(table: &mut [u64], positions: &[usize], weight: u64) {
    let least = positions.iter().map(|&at| table[at]).min().unwrap_or(0);
    let least = least.saturating_add(weight);
    positions.iter().for_each(|&at| table[at] = table[at].max(least));
}

// ---- query ----

impl Rows {
    /// Returns the least of the counters of the hash.
    #[inline]
    pub(in crate::frequency) fn minimum(self, table: &[u64], hash: u64) -> u64 {
        let (mut least, mut start) = (u64::MAX, 0);
        for row in 0..self.depth as usize {
            lower(&mut least, table[start + self.place(hash, row)]);
            start += self.width as usize;
        }
        least
    }

    /// Writes the minimum of each hash, in their order, to `minima`, and replaces its former
    /// content.
    pub(in crate::frequency) fn minima(self, table: &[u64], hashes: &[u64], minima: &mut Vec<u64>) {
        minima.clear();
        minima.resize(hashes.len(), u64::MAX);
        let (width, grouped) = (self.width as usize, self.grouped());
        let large = table.len() > LARGE;
        let (groups, others) = table.split_at(grouped * width);
        for (group, rows) in groups.chunks_exact(GROUP * width).enumerate() {
            self.lower_in::<GROUP>(rows, group * GROUP, hashes, minima, large);
        }
        for (row, rows) in others.chunks_exact(width).enumerate() {
            self.lower_in::<1>(rows, grouped + row, hashes, minima, large);
        }
    }

    /// Lowers each minimum to the least counter of its hash in `ROWS` rows, which begin with row
    /// number `first`.
    #[allow(clippy::inline_always)] // a call would pass the rows through memory
    #[inline(always)]
    fn lower_in<const ROWS: usize>(
        self,
        table: &[u64],
        first: usize,
        hashes: &[u64],
        minima: &mut [u64],
        large: bool,
    ) {
        let width = self.width as usize;
        let rows: [&[u64]; ROWS] = std::array::from_fn(|row| &table[row * width..][..width]);
        if !large {
            for (least, &hash) in minima.iter_mut().zip(hashes) {
                for row in 0..ROWS {
                    lower(least, rows[row][self.place(hash, first + row)]);
                }
            }
            return;
        }
        let mut places = [0; LINES];
        let (places, _) = places.as_chunks_mut::<ROWS>();
        for (minima, hashes) in minima.chunks_mut(places.len()).zip(hashes.chunks(places.len())) {
            for (places, &hash) in places.iter_mut().zip(hashes) {
                for row in 0..ROWS {
                    places[row] = self.place(hash, first + row);
                    prefetch(rows[row], places[row]);
                }
            }
            for (least, places) in minima.iter_mut().zip(&*places) {
                for row in 0..ROWS {
                    lower(least, rows[row][places[row]]);
                }
            }
        }
    }
}

/// Sets `least` to the lesser of the two, without a branch. A processor cannot predict which
/// counter is the least.
#[inline]
fn lower(least: &mut u64, counter: u64) {
    *least -= least.saturating_sub(counter);
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::super::sum;
    use super::*;

    /// Depths with and without a whole group, tables on both sides of "large", incomplete chunks.
    #[test]
    fn batches_are_what_single_hashes_are() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for (width, depth) in [(1, 1), (7, 3), (100, 4), (33, 9), (5, 32), ((1 << 16) + 1, 4), (90_000, 6)] {
            let rows = Rows { width, depth };
            let hashes: Vec<u64> = (0..999).map(|_| random.next_u64()).collect();
            let weights: Vec<u64> = (0..999).map(|_| random.next_u64() >> 50).collect();
            let empty = vec![0; rows.cells() as usize];

            let (mut added, mut one_by_one) = (empty.clone(), empty.clone());
            rows.add_all(&mut added, &hashes, |i| weights[i]);
            hashes.iter().zip(&weights).for_each(|(&hash, &weight)| rows.add(&mut one_by_one, hash, weight));
            assert_eq!(added, one_by_one, "{rows:?}");
            let total: u64 = weights.iter().sum();
            assert!(rows.of(&added).all(|row| sum(row) == u128::from(total)));

            let (mut raised, mut one_by_one) = (empty.clone(), empty);
            rows.raise_all(&mut raised, &hashes, |i| weights[i]);
            hashes
                .iter()
                .zip(&weights)
                .for_each(|(&hash, &weight)| rows.raise(&mut one_by_one, hash, weight));
            assert_eq!(raised, one_by_one, "{rows:?}");
            assert!(raised.iter().zip(&added).all(|(raised, added)| raised <= added));

            let mut minima = vec![3; 5];
            rows.minima(&added, &hashes, &mut minima);
            let expected: Vec<u64> = hashes.iter().map(|&hash| rows.minimum(&added, hash)).collect();
            assert_eq!(minima, expected, "{rows:?}");
        }
    }

    #[test]
    fn a_hash_has_its_own_counter_in_each_row() {
        let rows = Rows { width: 1000, depth: 5 };
        let mut table = vec![0; 5000];
        rows.add(&mut table, 42, 3);
        for (row, counters) in rows.of(&table).enumerate() {
            let place = index(remix(42, row as u32), 1000) as usize;
            assert!(counters.iter().enumerate().all(|(at, &count)| count == if at == place { 3 } else { 0 }));
        }
    }
}
