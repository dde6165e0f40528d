//! Which columns hold a hash?
//!
//! Only the hashes that some column looks up are in the index: the smallest of each, its probes.
//! All lists are arrays in ascending order, so hashes that were chosen by an attacker cost no more
//! than others.

use core::ops::Range;

#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::profile::JoinColumn;

/// The columns that hold each hash that is looked up.
#[derive(Debug)]
pub(super) struct ProbeIndex {
    /// All hashes that are looked up, ascending.
    hashes: Vec<u64>,
    /// Where the columns of each hash begin in `holders`; one more at the end.
    begins: Vec<usize>,
    holders: Vec<u32>,
    /// Where the probes of each column begin in `probes`; one more at the end.
    first_probe: Vec<usize>,
    /// Indices into `hashes`, ascending for each column.
    probes: Vec<u32>,
    reaches: Vec<u64>,
}

impl ProbeIndex {
    /// Indexes columns, so that a pair where one column has the share `least` of the other's values
    /// is overlooked with at most the probability `unlikely`.
    pub(super) fn new(columns: &[&JoinColumn], least: f64, unlikely: f64) -> Self {
        let probes_each = probes_for(least, unlikely);
        let probes_of = |column: &JoinColumn| column.hashes.len().min(probes_each);
        let mut hashes: Vec<u64> =
            columns.iter().flat_map(|column| &column.hashes[..probes_of(column)]).copied().collect();
        hashes.sort_unstable();
        hashes.dedup();

        let mut counts = vec![0_usize; hashes.len() + 1];
        for column in columns {
            each_place(&hashes, &column.hashes, |place| counts[place + 1] += 1);
        }
        let mut sum = 0;
        for count in &mut counts {
            sum += *count;
            *count = sum;
        }
        let begins = counts;
        let mut next = begins.clone();
        let mut holders = vec![0; sum];
        for (at, column) in (0..).zip(columns) {
            each_place(&hashes, &column.hashes, |place| {
                holders[next[place]] = at;
                next[place] += 1;
            });
        }

        let (mut first_probe, mut probes) = (vec![0], Vec::new());
        for column in columns {
            each_place(&hashes, &column.hashes[..probes_of(column)], |place| probes.push(place as u32));
            first_probe.push(probes.len());
        }
        let reaches = columns.iter().map(|column| reach(column, probes_each, least)).collect();
        Self { hashes, begins, holders, first_probe, probes, reaches }
    }

    /// Returns the probes of a column, as places in the index.
    pub(super) fn probes(&self, column: usize) -> Range<usize> {
        self.first_probe[column]..self.first_probe[column + 1]
    }

    /// Returns the columns that hold the hash of a probe, ascending.
    pub(super) fn holders(&self, probe: usize) -> &[u32] {
        let place = self.probes[probe] as usize;
        &self.holders[self.begins[place]..self.begins[place + 1]]
    }

    /// Returns true if a probe of one column is a hash of the other.
    pub(super) fn finds(&self, column: usize, other: &JoinColumn) -> bool {
        let hash = |probe: usize| self.hashes[self.probes[probe] as usize];
        self.probes(column).any(|probe| other.hashes.binary_search(&hash(probe)).is_ok())
    }

    /// Returns the hash that a sample must reach beyond, so that no common hash means a share below
    /// the least.
    pub(super) fn reach(&self, column: usize) -> u64 {
        self.reaches[column]
    }
}

/// How many probes a column has: `m` with `(1 − least)^m ≤ unlikely`.
fn probes_for(least: f64, unlikely: f64) -> usize {
    if least >= 1.0 {
        return 1;
    }
    // More than any sample holds is as good as all.
    libm::ceil(libm::log(unlikely) / libm::log1p(-least)).clamp(1.0, f64::from(u32::MAX)) as usize
}

fn reach(column: &JoinColumn, probes_each: usize, least: f64) -> u64 {
    let hashes = &column.hashes;
    let of_probes = hashes.get(probes_each - 1).copied();
    // Of a column that is known entirely, enough values that are not in the other leave too few
    // that may be.
    let known = column.largest.is_none().then(|| {
        let others = libm::floor(hashes.len() as f64 * (1.0 - least)) as usize;
        hashes.get(others).or(hashes.last()).copied().unwrap_or(0)
    });
    of_probes.into_iter().chain(known).min().unwrap_or(u64::MAX)
}

/// Calls `each` with the place in `all` of every hash that is there; both are ascending.
fn each_place(all: &[u64], hashes: &[u64], mut each: impl FnMut(usize)) {
    let mut from = 0;
    for hash in hashes {
        match all[from..].binary_search(hash) {
            Ok(place) => {
                each(from + place);
                from += place + 1;
            }
            Err(place) => from += place,
        }
        if from == all.len() {
            break;
        }
    }
}
