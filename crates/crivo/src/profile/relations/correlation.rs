//! Finds correlations of ranks, and selects the pairs of columns that are reported.

use core::cmp::Ordering;

use super::{Correlation, Drawn, MOST_NUMBERS, Relations, pearson};
use crate::estimate::{Confidence, Estimate};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::profile::TableColumn;
use crate::profile::column_profile::number_of;
use crate::profile::detail::{DrawnRow, DrawnRows};

/// Weaker correlations are not reported.
const LEAST: f64 = 0.1;
/// The largest number of pairs that are reported.
const MOST_TOLD: usize = 100;
/// The least number of rows for a correlation, even if these are all rows.
const LEAST_ROWS: usize = 10;
/// The number of groups of rows. Each group is left out in turn (jackknife).
pub(super) const GROUPS: usize = 32;
/// The 97.5 % quantile of Student's t, whose degrees of freedom are one less than the number of
/// groups.
const STUDENT: f64 = 2.0395;

pub(super) fn find(columns: &[TableColumn], relations: &mut Relations) {
    let is_number = |column: &TableColumn| column.data().profile.column_type().is_number();
    let mut numbers: Vec<Drawn<f64>> = Vec::new();
    for (place, column) in columns.iter().enumerate().filter(|(_, column)| is_number(column)) {
        if numbers.len() == MOST_NUMBERS {
            relations.compared_numbers.1 += 1;
            continue;
        }
        // Infinities are left out. Numbers that were cut are left out too, because they changed.
        let number = |row: &DrawnRow| number_of(&row.text).filter(|_| row.text.len() < DrawnRows::LONGEST);
        numbers.extend(Drawn::new(place, column, number));
    }
    relations.compared_numbers.0 = numbers.len();
    let mut found: Vec<(f64, [&Drawn<f64>; 2], Sample)> = Vec::new();
    for (at, left) in numbers.iter().enumerate() {
        for right in &numbers[at + 1..] {
            let Some(pairs) = left.paired(right).filter(|pairs| pairs.len() >= LEAST_ROWS) else { continue };
            let sample = Sample::new(pairs, left.are_all && right.are_all);
            if let Some(value) = sample.correlation(None).filter(|value| value.abs() >= LEAST) {
                found.push((value, [left, right], sample));
            }
        }
    }
    found.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let lacking = |drawn: &Drawn<f64>| {
        pearson::lacking_variance(&columns[drawn.place], drawn.rows.iter().map(|(_, number)| *number))
    };
    for (value, [left, right], sample) in found.into_iter().take(MOST_TOLD) {
        let rank_correlation = sample.estimate(value);
        // A correlation that may be 0 is not reported.
        if rank_correlation.lower() > 0.0 || rank_correlation.upper() < 0.0 {
            relations.correlations.push(Correlation {
                left: left.place,
                right: right.place,
                rank_correlation,
                pearson: pearson::estimate(&sample, [lacking(left), lacking(right)]),
                rows: sample.pairs.len(),
            });
        }
    }
}

/// Rows of two columns, sorted by either number.
pub(super) struct Sample {
    pub(super) pairs: Vec<(f64, f64)>,
    /// The rows in the order of the first and of the second number.
    orders: [Vec<u32>; 2],
    pub(super) are_all: bool,
}

impl Sample {
    fn new(pairs: Vec<(f64, f64)>, are_all: bool) -> Self {
        let order = |number: fn(&(f64, f64)) -> f64| {
            let mut order: Vec<u32> = (0..pairs.len() as u32).collect();
            order.sort_unstable_by(|&a, &b| compare(number(&pairs[a as usize]), number(&pairs[b as usize])));
            order
        };
        let orders = [order(|pair| pair.0), order(|pair| pair.1)];
        Self { pairs, orders, are_all }
    }

    /// Returns Spearman's correlation without the rows of a group, or `None` if all numbers of a
    /// column are equal.
    fn correlation(&self, without: Option<usize>) -> Option<f64> {
        let is_in = |row: u32| without.is_none_or(|group| row as usize % GROUPS != group);
        let left = ranks(&self.orders[0], |row| self.pairs[row as usize].0, is_in);
        let right = ranks(&self.orders[1], |row| self.pairs[row as usize].1, is_in);
        let (mut squares, mut products) = ([0.0; 2], 0.0);
        for (left, right) in left.iter().zip(&right) {
            // The values are twice a rank minus the middle rank: whole numbers, whose sums floats
            // represent exactly.
            squares[0] += left * left;
            squares[1] += right * right;
            products += left * right;
        }
        (squares[0] > 0.0 && squares[1] > 0.0)
            .then(|| (products / (squares[0] * squares[1]).sqrt()).clamp(-1.0, 1.0))
    }

    fn estimate(&self, value: f64) -> Estimate {
        if self.are_all {
            return Estimate::exact(value);
        }
        let replicas = (0..GROUPS).filter_map(|group| self.correlation(Some(group)));
        let (lower, upper) = nearest_to_perfect(value, interval(value, replicas), self.pairs.len());
        Estimate::probable(value, lower.max(-1.0), upper.min(1.0), Confidence::P95)
    }
}

/// Returns the bounds of a correlation at 95 %. They are computed from the correlations without one
/// group of rows at a time (the jackknife), on the scale of Fisher's z.
pub(super) fn interval(value: f64, without_groups: impl Iterator<Item = f64>) -> (f64, f64) {
    let replicas: Vec<f64> = without_groups.map(fisher).collect();
    let groups = replicas.len() as f64;
    let mean = replicas.iter().sum::<f64>() / groups;
    let squares: f64 = replicas.iter().map(|replica| (replica - mean) * (replica - mean)).sum();
    let margin = STUDENT * (squares * (groups - 1.0) / groups).sqrt();
    let z = fisher(value);
    (libm::tanh(z - margin), libm::tanh(z + margin))
}

/// Widens the bounds of a correlation near 1 or −1, because the sample may lack exceptions. By the
/// rule of three, three rows in as many as were drawn may be exceptions. Each takes at most six
/// times its share from a correlation of ranks.
pub(super) fn nearest_to_perfect(value: f64, (lower, upper): (f64, f64), rows: usize) -> (f64, f64) {
    let nearest = 18.0 / rows as f64;
    if value > 1.0 - nearest {
        (lower.min(1.0 - nearest), upper)
    } else if value < nearest - 1.0 {
        (lower, upper.max(nearest - 1.0))
    } else {
        (lower, upper)
    }
}

/// Returns Fisher's z. A perfect correlation is replaced by one slightly less perfect.
fn fisher(correlation: f64) -> f64 {
    libm::atanh(correlation.clamp(-1.0 + 1e-12, 1.0 - 1e-12))
}

fn compare(one: f64, other: f64) -> Ordering {
    (one + 0.0).total_cmp(&(other + 0.0))
}

/// Returns twice the rank of each row minus the middle rank. Equal numbers have the mean of their
/// ranks. Rows that are left out have 0.
fn ranks(order: &[u32], number: impl Fn(u32) -> f64, is_in: impl Fn(u32) -> bool) -> Vec<f64> {
    let mut ranks = vec![0.0; order.len()];
    let kept: Vec<u32> = order.iter().copied().filter(|&row| is_in(row)).collect();
    let mut below = 0;
    for same in kept.chunk_by(|&one, &other| compare(number(one), number(other)).is_eq()) {
        // Ranks count from 1. This is twice the mean of `below + 1` to `below + same`, minus twice
        // the mean of 1 to all.
        let twice = (2 * below + same.len() + 1) as f64 - (kept.len() + 1) as f64;
        same.iter().for_each(|&row| ranks[row as usize] = twice);
        below += same.len();
    }
    ranks
}
