//! An index of the columns that contain a hash.
//!
//! Only the hashes that some column looks up are in the index. These are the smallest hashes of
//! each column, its probes. All lists are arrays in ascending order, so hashes that an attacker
//! chose cost no more than others.

use core::ops::Range;

#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::profile::JoinColumn;

/// The columns that contain each hash that is looked up.
#[derive(Debug)]
pub(super) struct ProbeIndex {
    /// All hashes that are looked up, in ascending order.
    hashes: Vec<u64>,
    /// The start of the columns of each hash in `holders`, and the end of the last ones.
    begins: Vec<usize>,
    holders: Vec<u32>,
    /// The start of the probes of each column in `probes`, and the end of the last ones.
    first_probe: Vec<usize>,
    /// Indices into `hashes`, in ascending order for each column.
    probes: Vec<u32>,
    reaches: Vec<u64>,
}

impl ProbeIndex {
    /// Indexes columns. If one column of a pair contains the share `least` of the other's values,
    /// the pair is missed with a probability of at most `unlikely`.
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

    /// Returns the probes of a column, as indices into `probes`.
    pub(super) fn probes(&self, column: usize) -> Range<usize> {
        self.first_probe[column]..self.first_probe[column + 1]
    }

    /// Returns the columns that contain the hash of a probe, in ascending order.
    pub(super) fn holders(&self, probe: usize) -> &[u32] {
        let place = self.probes[probe] as usize;
        &self.holders[self.begins[place]..self.begins[place + 1]]
    }

    /// Returns true if a probe of `column` is a hash of `other`.
    pub(super) fn finds(&self, column: usize, other: &JoinColumn) -> bool {
        let hash = |probe: usize| self.hashes[self.probes[probe] as usize];
        self.probes(column).any(|probe| other.hashes.binary_search(&hash(probe)).is_ok())
    }

    /// Returns the hash that the other column's sample must reach beyond. Only then does the lack
    /// of a common hash mean a share below `least`.
    pub(super) fn reach(&self, column: usize) -> u64 {
        self.reaches[column]
    }
}

/// Returns the number of probes of a column: the least `m` with `(1 − least)^m ≤ unlikely`.
fn probes_for(least: f64, unlikely: f64) -> usize {
    if least >= 1.0 {
        return 1;
    }
    // No sample has more hashes than the upper limit.
    libm::ceil(libm::log(unlikely) / libm::log1p(-least)).clamp(1.0, f64::from(u32::MAX)) as usize
}

fn reach(column: &JoinColumn, probes_each: usize, least: f64) -> u64 {
    let hashes = &column.hashes;
    let of_probes = hashes.get(probes_each - 1).copied();
    // If all values of the column are known, it is enough that sufficiently many of them are not in
    // the other column. The rest is then less than the share `least`.
    let known = column.largest.is_none().then(|| {
        let others = libm::floor(hashes.len() as f64 * (1.0 - least)) as usize;
        hashes.get(others).or(hashes.last()).copied().unwrap_or(0)
    });
    of_probes.into_iter().chain(known).min().unwrap_or(u64::MAX)
}

/// Calls `each` with the index in `all` of every hash that `all` contains. Both lists are in
/// ascending order.
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
