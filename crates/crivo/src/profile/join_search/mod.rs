//! Which columns of many tables could join?
//!
//! **Question.** A folder has a thousand tables: which pairs of columns contain each other's
//! values?
//!
//! **Idea.** Every column has a sample of its different values, those with the smallest hashes
//! ([`JoinColumn`]). If a column `B` contains the values of a column `A`, it also contains the
//! smallest hashes of `A`. So it is enough to look up the few smallest hashes of each column in an
//! inverted index, which lists the columns that contain a hash. Only the columns found there are
//! compared hash by hash. Columns of the same table are not compared with each other.
//!
//! **Guarantee.** Let `c` be the share of `A`'s different values that `B` has, `least` the share in
//! the rule, `n` the number of columns, and `δ = MISSED / (n (n − 1))`. If `c ≥ least`, the pair is
//! listed or undecided with a probability of at least `1 − δ`. So all such pairs are, with a
//! probability of at least `1 − MISSED`. (Values whose 64-bit hashes are equal count as equal.) The
//! reason is that a pair is left out in only three cases:
//! - None of the `m₀ = ⌈ln(δ/2) / ln(1 − least)⌉` smallest hashes of `A` is one of `B`, though
//!   `B`'s sample reaches as far. The probability of that is at most `(1 − c)^m₀ ≤ δ/2`.
//! - Of the `m` hashes of `A` in the part of the sample that both columns know, `x` are in `B`, and
//!   `P(Binomial(m, least) ≤ x) ≤ δ/2`. The part ends where one of the samples is full, and that
//!   hash itself is not counted. The bound holds in spite of this choice, because a sample that is
//!   full earlier has more common hashes.
//! - The answer is certain: all values are known, or too few values are unknown, or the ranges of
//!   the columns do not overlap, or they have no kind of value in common.
//!
//! If a column has fewer different values than the sample can hold, all of them are known. Two such
//! columns are compared exactly. Columns of booleans, and columns with fewer than two different
//! values, are never part of a pair.
//!
//! **Cost.** For `n` columns with samples of `k` hashes: `8 k n` bytes, and at most `4 (k + m₀) n`
//! more for the index. The time is proportional to the number of pairs that share one of their
//! smallest hashes, plus the number of undecided pairs, at a few nanoseconds each.
//!
//! **When not to use it.** For two tables, [`JoinColumn::compare`] does the same without an index.
//!
//! **Sources.** Clopper and Pearson: *The use of confidence or fiducial limits* (1934) for the
//! bound; Zhu, Nargesian, Pu and Miller: *LSH Ensemble* (2016) for the problem.

mod index;
mod listed;

use hashbrown::HashMap;

use self::index::ProbeIndex;
use self::listed::{Best, Rank};
pub use self::listed::{ColumnPlace, FoundJoins, FoundPair};
use super::joinability::shares;
use super::{JoinColumn, JoinVerdict, Joinability, TableProfile};
use crate::distinct::k_min_values::Comparison;
use crate::error::{Error, Result};
use crate::estimate::Estimate;
use crate::hash::TableSecret;
use crate::math::at_most;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The conditions for a pair that could join, and how many pairs are listed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JoinRule {
    /// The least share of one column's different values that the other must have.
    pub least: f64,
    /// If true, pairs in which neither column could be a key are left out.
    pub needs_key: bool,
    /// The largest number of pairs to list. All pairs are counted.
    pub most: usize,
    /// The largest number of undecided pairs to list. All of them are counted.
    pub most_undecided: usize,
}

/// Half of the values, any columns, a million pairs, and a thousand undecided pairs.
impl Default for JoinRule {
    fn default() -> Self {
        Self { least: JoinColumn::LEAST_SHARE, needs_key: false, most: 1_000_000, most_undecided: 1_000 }
    }
}

/// A search for pairs of columns that could join, among the columns of many tables. See the
/// [module](self) for the guarantee.
///
/// ```
/// use crivo::profile::join_search::{JoinRule, JoinSearch};
/// use crivo::profile::{ColumnProfile, DistinctGrowth, JoinColumn};
///
/// let column = |ids: std::ops::Range<u64>| {
///     let mut profile = ColumnProfile::for_memory(64 << 10)?;
///     let mut growth = DistinctGrowth::new(1024)?;
///     for (row, id) in ids.enumerate() {
///         profile.insert(&id.to_string())?;
///         growth.insert(id.to_string().as_str(), row as u64 + 1)?;
///     }
///     JoinColumn::new(&profile, &growth)
/// };
/// let mut search = JoinSearch::new(JoinRule::default())?;
/// search.add_table([("id", column(0..5_000)?)])?;
/// search.add_table([("customer", column(2_000..4_000)?), ("amount", column(90_000..95_000)?)])?;
/// let found = search.search();
/// assert_eq!((found.joins.len(), found.undecided), (1, 0));
/// let pair = found.joins[0];
/// assert_eq!((search.name(pair.left), search.name(pair.right)), ("id", "customer"));
/// assert!(search.compare(&pair).right_in_left.covers(1.0));
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug)]
pub struct JoinSearch {
    rule: JoinRule,
    columns: Vec<Searched>,
    /// The index of each name in lower case.
    names: HashMap<String, u32, TableSecret>,
    tables: u32,
    /// The number of columns, including columns that are never part of a pair.
    all_columns: u64,
}

/// A column and its place.
#[derive(Debug)]
struct Searched {
    place: ColumnPlace,
    column: JoinColumn,
    name: String,
    /// Equal for names that differ only in case.
    name_index: u32,
}

impl JoinSearch {
    /// The probability that any pair at all is neither listed nor undecided though it should be.
    pub const MISSED: f64 = 1e-6;

    /// The largest number of columns that are searched.
    pub const MOST_COLUMNS: usize = u32::MAX as usize;

    /// Creates an empty search.
    ///
    /// # Errors
    /// If the least share is not above 0 and at most 1.
    pub fn new(rule: JoinRule) -> Result<Self> {
        if !(rule.least > 0.0 && rule.least <= 1.0) {
            return Err(Error::parameter("least share", "above 0 and at most 1", rule.least));
        }
        let names = HashMap::default();
        Ok(Self { rule, columns: Vec::new(), names, tables: 0, all_columns: 0 })
    }

    /// Adds the columns of a table, with their names. Returns the number of the table, from 0.
    ///
    /// # Errors
    /// If a column was hashed under another scheme than the columns before it, or if there are too
    /// many columns. Nothing is added then.
    pub fn add_table<N: Into<String>>(
        &mut self,
        columns: impl IntoIterator<Item = (N, JoinColumn)>,
    ) -> Result<u32> {
        let table = self.tables;
        let mut added = Vec::new();
        let mut count = 0;
        for (number, (name, column)) in (0..).zip(columns) {
            let first = self.columns.first().or(added.first()).map(|first: &Searched| first.column.scheme());
            first.unwrap_or(column.scheme()).require_same(column.scheme())?;
            count += 1;
            if !column.is_candidate {
                continue;
            }
            if self.columns.len() + added.len() >= Self::MOST_COLUMNS {
                let allowed = format_args!("at most {}", Self::MOST_COLUMNS).to_string();
                return Err(Error::parameter("columns", allowed, Self::MOST_COLUMNS as u64 + 1));
            }
            let (name, name_index) = (name.into(), u32::MAX);
            added.push(Searched { place: ColumnPlace { table, column: number }, column, name, name_index });
        }
        // Nothing can fail from here on.
        for searched in &mut added {
            let next = self.names.len() as u32;
            searched.name_index = *self.names.entry(searched.name.to_lowercase()).or_insert(next);
        }
        self.columns.append(&mut added);
        self.all_columns += count;
        self.tables += 1;
        Ok(table)
    }

    /// Adds the columns of a profiled table. Returns the number of the table, from 0.
    ///
    /// # Errors
    /// As for [`add_table`](Self::add_table).
    pub fn add_profile(&mut self, profile: &TableProfile) -> Result<u32> {
        let columns = profile.columns().iter();
        let columns = columns.map(|column| Ok((column.name(), column.data().join_column()?)));
        self.add_table(columns.collect::<Result<Vec<_>>>()?)
    }

    /// Returns the number of tables.
    pub fn tables(&self) -> u32 {
        self.tables
    }

    /// The number of columns, including columns that are never part of a pair.
    pub fn columns(&self) -> u64 {
        self.all_columns
    }

    /// The number of bytes of memory that the columns take.
    pub fn memory(&self) -> usize {
        let hashes = |searched: &Searched| size_of_val(&*searched.column.hashes) + searched.name.len();
        self.columns.iter().map(|searched| size_of::<Searched>() + hashes(searched)).sum()
    }

    /// Finds all pairs.
    pub fn search(&self) -> FoundJoins {
        self.search_while(|_, _| true).unwrap_or_default()
    }

    /// Finds all pairs as long as `goes_on` returns true. Its arguments are the number of columns
    /// done and the number of all columns. Returns `None` if it was stopped.
    pub fn search_while(&self, mut goes_on: impl FnMut(usize, usize) -> bool) -> Option<FoundJoins> {
        let mut run = SearchRun::new(self);
        for at in 0..self.columns.len() {
            if !goes_on(at, self.columns.len()) {
                return None;
            }
            run.compare_all_of(at);
        }
        let SearchRun { joins, undecided, .. } = run;
        let (found, joins) = joins.finish();
        let (undecided, undecided_pairs) = undecided.finish();
        Some(FoundJoins { joins, found, undecided, undecided_pairs })
    }

    /// Returns what the columns of a pair have in common, with the verdict.
    pub fn compare(&self, pair: &FoundPair) -> Joinability {
        let (left, right) = (self.searched(pair.left), self.searched(pair.right));
        let (Some(left), Some(right)) = (left, right) else {
            let nothing = Estimate::exact(0.0);
            let [common, left_in_right, right_in_left] = [nothing; 3];
            return Joinability { verdict: JoinVerdict::No, common, left_in_right, right_in_left };
        };
        let compared = left.column.sampled_with(&right.column);
        let (common, left_in_right, right_in_left) = shares(&compared);
        let verdict = self.verdict(&compared, self.unlikely());
        Joinability { verdict, common, left_in_right, right_in_left }
    }

    /// Returns the name of a column.
    pub fn name(&self, place: ColumnPlace) -> &str {
        self.searched(place).map_or("", |searched| &searched.name)
    }

    /// Returns true if every row of the column may have a value of its own.
    pub fn is_key(&self, place: ColumnPlace) -> bool {
        self.searched(place).is_some_and(|searched| searched.column.is_key())
    }

    fn searched(&self, place: ColumnPlace) -> Option<&Searched> {
        let at = self.columns.binary_search_by_key(&place, |searched| searched.place).ok()?;
        self.columns.get(at)
    }

    /// Returns the probability at which one pair may be missed for one reason, in one direction.
    fn unlikely(&self) -> f64 {
        let columns = self.columns.len().max(2) as f64;
        Self::MISSED / (columns * (columns - 1.0)) / 2.0
    }

    fn verdict(&self, compared: &Comparison, unlikely: f64) -> JoinVerdict {
        let directions = [*compared, compared.reversed()];
        let best = directions.iter().map(Comparison::containment_value).fold(0.0, f64::max);
        let (common, _) = compared.sampled_of_first();
        if best >= self.rule.least && common > 0.0 {
            return JoinVerdict::Joins;
        }
        let is_too_little = |one: &Comparison| {
            let (common, sampled) = one.sampled_of_first();
            one.most_contained() < self.rule.least
                || sampled > 0.0 && at_most(common, sampled, self.rule.least) <= unlikely
        };
        if directions.iter().all(is_too_little) { JoinVerdict::No } else { JoinVerdict::Undecided }
    }
}

/// The state of a running search.
struct SearchRun<'a> {
    search: &'a JoinSearch,
    unlikely: f64,
    index: ProbeIndex,
    /// Columns by the end of their sample, the smallest first. Columns whose values are all known
    /// are left out.
    by_end: Vec<(u64, u32)>,
    /// For each column, the last column it was compared with.
    met: Vec<u32>,
    joins: Best,
    undecided: Best,
}

impl<'a> SearchRun<'a> {
    fn new(search: &'a JoinSearch) -> Self {
        let (unlikely, least) = (search.unlikely(), search.rule.least);
        let columns: Vec<&JoinColumn> = search.columns.iter().map(|searched| &searched.column).collect();
        let ends = (0..).zip(&columns).filter_map(|(at, column)| Some((column.largest?, at)));
        let mut by_end: Vec<(u64, u32)> = ends.collect();
        by_end.sort_unstable();
        let index = ProbeIndex::new(&columns, least, unlikely);
        let met = vec![u32::MAX; columns.len()];
        let (joins, undecided) = (Best::new(search.rule.most), Best::new(search.rule.most_undecided));
        Self { search, unlikely, index, by_end, met, joins, undecided }
    }

    /// Compares a column with all columns it could join, except those that find it by their own
    /// probes.
    fn compare_all_of(&mut self, at: usize) {
        let columns = &self.search.columns;
        let mine = &columns[at];
        for probe in self.index.probes(at) {
            for &other in self.index.holders(probe) {
                if self.met[other as usize] == at as u32 {
                    continue;
                }
                self.met[other as usize] = at as u32;
                let theirs = &columns[other as usize];
                let is_compared_there =
                    (other as usize) < at && self.index.finds(other as usize, &mine.column);
                if is_compared_there || !self.may_join(mine, theirs) {
                    continue;
                }
                let compared = mine.column.sampled_with(&theirs.column);
                match self.search.verdict(&compared, self.unlikely) {
                    JoinVerdict::Joins => {
                        self.joins.push(pair(mine, theirs), || rank(mine, theirs, &compared));
                    }
                    JoinVerdict::Undecided => {
                        self.undecided.push(pair(mine, theirs), || rank(mine, theirs, &compared));
                    }
                    JoinVerdict::No => {}
                }
            }
        }
        // If a sample ends before the smallest hashes of this column, having none in common decides
        // nothing.
        let reach = self.index.reach(at);
        for &(end, other) in self.by_end.iter().take_while(|(end, _)| *end <= reach) {
            let theirs = &columns[other as usize];
            let is_twice = mine.column.largest.is_some_and(|own| own <= self.index.reach(other as usize));
            let is_counted_there = is_twice && (other as usize) < at;
            if self.met[other as usize] == at as u32 || is_counted_there || !self.may_join(mine, theirs) {
                continue;
            }
            debug_assert!(
                theirs.column.largest == Some(end),
                "columns are listed by the end of their samples"
            );
            self.undecided.push(pair(mine, theirs), || without_common(mine, theirs));
        }
    }

    /// Returns false if the columns certainly have nothing in common, or need not be compared.
    fn may_join(&self, mine: &Searched, theirs: &Searched) -> bool {
        mine.place.table != theirs.place.table
            && mine.column.kinds & theirs.column.kinds != 0
            && (!self.search.rule.needs_key || mine.column.is_key() || theirs.column.is_key())
            && !mine.column.is_apart_from(&theirs.column)
    }
}

/// Returns the pair, with the column of the earlier table on the left.
fn pair(one: &Searched, other: &Searched) -> FoundPair {
    let (left, right) = if one.place <= other.place { (one, other) } else { (other, one) };
    FoundPair { left: left.place, right: right.place }
}

/// Returns the evidence by which a pair is sorted: a key, equal names, a large share, and many
/// common values.
fn rank(one: &Searched, other: &Searched, compared: &Comparison) -> Rank {
    let shares = [compared.containment_value(), compared.reversed().containment_value()];
    let (common, _) = compared.sampled_of_first();
    Rank { share: shares[0].max(shares[1]), common, ..without_common(one, other) }
}

fn without_common(one: &Searched, other: &Searched) -> Rank {
    Rank {
        has_key: one.column.is_key() || other.column.is_key(),
        is_named_alike: one.name_index == other.name_index,
        share: 0.0,
        common: 0.0,
    }
}
