//! Measurements: are the indexes that a hash chooses as good as random ones?
//!
//! A sketch's theory assumes that indexes are uniform and rows are independent. [`Indexes`] holds
//! one column of indexes for each function. Three questions can be asked of any such functions:
//!
//! - **distribution**: does every index occur equally often? Pearson's χ² over groups of indexes. A
//!   hash may fail it both ways: too uneven, or more even than chance.
//! - **correlation**: does one function's index grow with another's? Over `n` keys, a pair of good
//!   functions has a coefficient of about `1/√n`. The largest of all 4,950 pairs of a hundred
//!   functions is below 0.01 from 400,000 keys on.
//! - **independence**: does one function's index reveal anything about another's? This is the
//!   stronger question. It compares the share of keys in each cell of a grid with the product of
//!   the shares of its row and column. With 400,000 keys in a grid of 10 × 10 they differ by about
//!   0.0001, and in the worst of thousands of cells by 0.0008.

use crate::error::{Error, Result};
use crate::math::{chi_square_above, chi_square_below};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The indexes that several functions give to the same keys: a column for each function.
///
/// ```
/// use crivo::hash::{Indexes, index, remix};
/// use crivo::keys::KeyScheme;
///
/// let scheme = KeyScheme::bytes();
/// let hashes: Vec<u64> = (0..50_000).filter_map(|i| scheme.hash(&format!("key {i}")).ok()).collect();
/// let rows = Indexes::of(&hashes, 4, 1000, |&hash, row| index(remix(hash, row), 1000) as u32)?;
/// assert!(rows.distribution(0, 100)?.is_plausible(1e-6));
/// assert!(rows.largest_correlation()?.value.abs() < 0.03);
/// assert!(rows.largest_dependence(10)?.value < 0.005);
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indexes {
    size: u32,
    columns: Vec<Vec<u32>>,
}

/// A measurement of two functions, which are given by their numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The first function.
    pub first: usize,
    /// The second function.
    pub second: usize,
    /// The measured value.
    pub value: f64,
}

impl Indexes {
    /// Computes the indexes below `size` that `functions` functions give to the keys.
    ///
    /// # Errors
    /// If there are no keys or functions, or an index is not below the size.
    pub fn of<K>(keys: &[K], functions: u32, size: u32, index: impl Fn(&K, u32) -> u32) -> Result<Self> {
        let column = |function| keys.iter().map(|key| index(key, function)).collect();
        Self::from_columns(size, (0..functions).map(column).collect())
    }

    /// Takes columns of indexes below `size`, all of one length.
    ///
    /// # Errors
    /// If there are no columns, they are empty or of different lengths, or an index is not below
    /// the size.
    pub fn from_columns(size: u32, columns: Vec<Vec<u32>>) -> Result<Self> {
        let keys = columns.first().map_or(0, Vec::len);
        if keys == 0 {
            return Err(Error::parameter("columns", "at least one function and one key", "none"));
        }
        if let Some(other) = columns.iter().find(|column| column.len() != keys) {
            return Err(Error::parameter("columns", format_args!("{keys} keys in each"), other.len()));
        }
        if let Some(index) = columns.iter().flatten().find(|&&index| index >= size) {
            return Err(Error::parameter("index", format_args!("below {size}"), index));
        }
        Ok(Self { size, columns })
    }

    /// Tests how evenly one function's indexes are distributed, over `groups` groups of neighbours.
    ///
    /// # Errors
    /// If there is no such function, if the number of groups is not from 2 to the size, or if fewer
    /// than five keys are expected in a group.
    pub fn distribution(&self, function: usize, groups: u32) -> Result<ChiSquare> {
        let column = self.columns.get(function).ok_or_else(|| {
            Error::parameter("function", format_args!("below {}", self.columns.len()), function)
        })?;
        let shares = self.shares(groups)?;
        let mut counts = vec![0; groups as usize];
        column.iter().for_each(|&index| counts[self.group(index, groups)] += 1);
        ChiSquare::of(&counts, &shares)
    }

    /// Returns the correlation coefficient of two functions that is largest in absolute value.
    ///
    /// # Errors
    /// If there are fewer than two functions.
    pub fn largest_correlation(&self) -> Result<Pair> {
        let means: Vec<(f64, f64)> = self.columns.iter().map(|column| mean_and_norm(column)).collect();
        self.largest(|first, second| {
            let ((mean, norm), (other_mean, other_norm)) = (means[first], means[second]);
            let products = self.columns[first].iter().zip(&self.columns[second]);
            let sum: f64 = products.map(|(&a, &b)| (f64::from(a) - mean) * (f64::from(b) - other_mean)).sum();
            // A function without variation is correlated with nothing.
            if norm > 0.0 && other_norm > 0.0 { sum / (norm * other_norm) } else { 0.0 }
        })
    }

    /// Returns the largest difference, over all pairs of functions and all cells of a grid, between
    /// the share of keys in a cell and the product of the shares of its row and column.
    ///
    /// # Errors
    /// If there are fewer than two functions, or the number of groups is not from 2 to the size.
    pub fn largest_dependence(&self, groups: u32) -> Result<Pair> {
        self.check_groups(groups)?;
        self.largest(|first, second| {
            let grid = self.grid(first, second, groups);
            grid.expected().zip(&grid.counts).fold(0.0, |largest: f64, (expected, &count)| {
                largest.max((count as f64 - expected).abs() / grid.total)
            })
        })
    }

    /// Tests whether two functions are independent, by Pearson's χ² over a grid of groups with
    /// `(groups − 1)²` degrees of freedom.
    ///
    /// # Errors
    /// If there are no such functions, if the number of groups is not from 2 to the size, or if
    /// fewer than five keys are expected in a cell.
    pub fn independence(&self, first: usize, second: usize, groups: u32) -> Result<ChiSquare> {
        self.check_groups(groups)?;
        let functions = self.columns.len();
        if let Some(missing) = [first, second].into_iter().find(|&function| function >= functions) {
            return Err(Error::parameter("function", format_args!("below {functions}"), missing));
        }
        let grid = self.grid(first, second, groups);
        let mut statistic = 0.0;
        for (expected, &count) in grid.expected().zip(&grid.counts) {
            if expected > 0.0 {
                check_expected(expected)?;
                statistic += (count as f64 - expected) * (count as f64 - expected) / expected;
            } else {
                // No index falls in this group. The test of the distribution reports that.
            }
        }
        Ok(ChiSquare { statistic, degrees: u64::from(groups - 1) * u64::from(groups - 1) })
    }

    /// Returns the pair whose value is largest in absolute value.
    fn largest(&self, value: impl Fn(usize, usize) -> f64) -> Result<Pair> {
        let pairs = (0..self.columns.len()).flat_map(|first| (0..first).map(move |second| (second, first)));
        pairs
            .map(|(first, second)| Pair { first, second, value: value(first, second) })
            .max_by(|a, b| a.value.abs().total_cmp(&b.value.abs()))
            .ok_or_else(|| Error::parameter("columns", "at least two functions", self.columns.len()))
    }

    fn check_groups(&self, groups: u32) -> Result<()> {
        if (2..=self.size).contains(&groups) {
            Ok(())
        } else {
            Err(Error::parameter("groups", format_args!("2 to {}", self.size), groups))
        }
    }

    #[inline]
    fn group(&self, index: u32, groups: u32) -> usize {
        (u64::from(index) * u64::from(groups) / u64::from(self.size)) as usize
    }

    /// Returns the share of all indexes that fall in each group.
    fn shares(&self, groups: u32) -> Result<Vec<f64>> {
        self.check_groups(groups)?;
        let (size, groups) = (u64::from(self.size), u64::from(groups));
        let start = |group: u64| (group * size).div_ceil(groups);
        Ok((0..groups).map(|group| (start(group + 1) - start(group)) as f64 / size as f64).collect())
    }

    fn grid(&self, first: usize, second: usize, groups: u32) -> Grid {
        let groups_len = groups as usize;
        let mut counts = vec![0_u64; groups_len * groups_len];
        for (&a, &b) in self.columns[first].iter().zip(&self.columns[second]) {
            counts[self.group(a, groups) * groups_len + self.group(b, groups)] += 1;
        }
        let rows = counts.chunks_exact(groups_len).map(|row| row.iter().sum::<u64>() as f64).collect();
        let columns = (0..groups_len)
            .map(|column| counts.iter().skip(column).step_by(groups_len).sum::<u64>() as f64)
            .collect();
        Grid { total: self.columns[first].len() as f64, counts, rows, columns }
    }
}

/// The number of keys in each cell of a grid of two functions' groups.
struct Grid {
    total: f64,
    counts: Vec<u64>,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl Grid {
    /// Returns the number of keys expected in each cell if the two functions are independent.
    fn expected(&self) -> impl Iterator<Item = f64> + '_ {
        self.rows.iter().flat_map(move |row| self.columns.iter().map(move |column| row * column / self.total))
    }
}

/// Returns the mean, and the square root of the sum of squared distances from it.
fn mean_and_norm(column: &[u32]) -> (f64, f64) {
    let mean = column.iter().map(|&index| f64::from(index)).sum::<f64>() / column.len() as f64;
    let squares: f64 =
        column.iter().map(|&index| (f64::from(index) - mean) * (f64::from(index) - mean)).sum();
    (mean, libm::sqrt(squares))
}

fn check_expected(expected: f64) -> Result<()> {
    if expected >= 5.0 {
        Ok(())
    } else {
        Err(Error::parameter("keys", "enough for five in every group", format_args!("{expected:.2} in one")))
    }
}

/// Pearson's χ²: how far counts are from what chance would make them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChiSquare {
    statistic: f64,
    degrees: u64,
}

impl ChiSquare {
    /// Computes the statistic of counts and the probabilities of their cells.
    ///
    /// # Errors
    /// If the numbers of counts and probabilities differ or are below two, if the probabilities do
    /// not add up to 1, or if fewer than five items are expected in a cell.
    ///
    /// ```
    /// use crivo::hash::ChiSquare;
    /// let die = ChiSquare::of(&[95, 104, 98, 110, 92, 101], &[1.0 / 6.0; 6])?;
    /// assert!((die.statistic() - 2.1).abs() < 1e-9 && die.degrees() == 5);
    /// assert!((die.p_value() - 0.835_2).abs() < 1e-4);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn of(counts: &[u64], probabilities: &[f64]) -> Result<Self> {
        if counts.len() != probabilities.len() || counts.len() < 2 {
            let expected = format_args!("one for each of at least two counts, {}", counts.len());
            return Err(Error::parameter("probabilities", expected, probabilities.len()));
        }
        let sum: f64 = probabilities.iter().sum();
        if !((sum - 1.0).abs() < 1e-9 && probabilities.iter().all(|&p| p >= 0.0)) {
            return Err(Error::parameter("probabilities", "numbers that add up to 1", sum));
        }
        let total = counts.iter().map(|&count| count as f64).sum::<f64>();
        let mut statistic = 0.0;
        for (&count, probability) in counts.iter().zip(probabilities) {
            let expected = probability * total;
            check_expected(expected)?;
            statistic += (count as f64 - expected) * (count as f64 - expected) / expected;
        }
        Ok(Self { statistic, degrees: counts.len() as u64 - 1 })
    }

    /// The value of the statistic.
    pub fn statistic(self) -> f64 {
        self.statistic
    }

    /// The degrees of freedom, which are the mean of the statistic if all is chance.
    pub fn degrees(self) -> u64 {
        self.degrees
    }

    /// Returns the probability that chance would be as uneven, or more uneven.
    pub fn p_value(self) -> f64 {
        chi_square_above(self.statistic, self.degrees as f64)
    }

    /// Returns the probability that chance would be as even, or more even.
    pub fn p_value_even(self) -> f64 {
        chi_square_below(self.statistic, self.degrees as f64)
    }

    /// Returns true if the statistic is plausible: a random one is more uneven or more even than
    /// this with a probability of at least `level`, two-sided.
    pub fn is_plausible(self, level: f64) -> bool {
        self.p_value().min(self.p_value_even()) >= level / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_share_the_indexes_as_they_do() {
        let indexes = Indexes::from_columns(10, vec![vec![0; 9]]).unwrap();
        assert_eq!(indexes.shares(3), Ok(vec![0.4, 0.3, 0.3]));
        let groups: Vec<usize> = (0..10).map(|index| indexes.group(index, 3)).collect();
        assert_eq!(groups, [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]);
        for groups in [2, 7, 10] {
            let shares = indexes.shares(groups).unwrap();
            let mut counted = vec![0.0; groups as usize];
            (0..10).for_each(|index| counted[indexes.group(index, groups)] += 0.1);
            assert!(shares.iter().zip(&counted).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        assert!(Indexes::from_columns(10, vec![]).is_err());
        assert!(Indexes::from_columns(10, vec![vec![]]).is_err());
        assert!(Indexes::from_columns(10, vec![vec![1], vec![1, 2]]).is_err());
        assert_eq!(Indexes::from_columns(10, vec![vec![10]]).unwrap_err().field(), "index");
        let one = Indexes::from_columns(10, vec![vec![1; 20]]).unwrap();
        assert!(one.distribution(1, 2).is_err() && one.distribution(0, 1).is_err());
        assert!(one.distribution(0, 11).is_err());
        assert_eq!(one.distribution(0, 10).unwrap_err().field(), "keys");
        assert!(one.largest_correlation().is_err() && one.largest_dependence(2).is_err());
        assert!(one.independence(0, 1, 2).is_err());
        assert!(ChiSquare::of(&[10, 10], &[0.5, 0.6]).is_err() && ChiSquare::of(&[10], &[1.0]).is_err());
    }

    #[test]
    fn what_goes_together_is_seen() {
        let up: Vec<u32> = (0..1000).collect();
        let down: Vec<u32> = up.iter().rev().copied().collect();
        let flat = vec![7; 1000];
        let indexes = Indexes::from_columns(1000, vec![up, flat, down]).unwrap();
        let largest = indexes.largest_correlation().unwrap();
        assert_eq!((largest.first, largest.second), (0, 2));
        assert!((largest.value + 1.0).abs() < 1e-12);
        // Ten groups: a cell of the antidiagonal has a tenth instead of a hundredth.
        assert!((indexes.largest_dependence(10).unwrap().value - 0.09).abs() < 1e-12);
        assert!(indexes.independence(0, 2, 10).unwrap().p_value() < 1e-300);
        // More even than chance.
        let even = indexes.distribution(0, 100).unwrap();
        assert_eq!(even.statistic(), 0.0);
        assert!(even.p_value_even() == 0.0 && even.p_value() == 1.0 && !even.is_plausible(1e-6));
    }
}
