//! Could two columns join?
//!
//! **Question.** Which share of each column's different values does the other one have, and is it
//! enough to join them?
//!
//! **Idea.** Columns join if one contains the values of the other. Each column has a sample of its
//! different values, those with the smallest hashes ([`DistinctGrowth`]). Two such samples can be
//! compared: take the values that would be in both samples if both columns had them, and count
//! those that are in both.
//!
//! Numbers that count from 1 are in every column of such numbers. So a pair is compared only if one
//! column could be a key or both have the same name: any other join pairs rows at random.
//!
//! **Guarantee.** Both shares are intervals at 95 %. The verdict is [`JoinVerdict::Joins`] if the
//! estimate of one of them reaches [`JoinColumn::LEAST_SHARE`], and [`JoinVerdict::No`] if both
//! upper bounds are below it. Otherwise the samples cannot decide, and the verdict is
//! [`JoinVerdict::Undecided`]. For example, twenty values and 300,000 values leave nothing to
//! compare, because none of the twenty is likely to be in the larger sample. Columns whose ranges
//! do not overlap certainly have nothing in common.

use super::{ColumnProfile, ColumnType, DistinctGrowth, Kind, Value};
use crate::distinct::k_min_values::Comparison;
use crate::error::Result;
use crate::estimate::Estimate;
use crate::keys::KeyScheme;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The facts about a column that are needed to compare it with others.
///
/// ```
/// use crivo::profile::{ColumnProfile, DistinctGrowth, JoinColumn, JoinVerdict};
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
/// let (customers, orders) = (column(0..5_000)?, column(2_000..4_000)?);
/// let found = orders.compare(&customers, true)?.expect("ids of one name are worth comparing");
/// assert_eq!(found.verdict, JoinVerdict::Joins);
/// assert!(found.left_in_right.covers(1.0) && found.right_in_left.covers(0.4));
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct JoinColumn {
    scheme: KeyScheme,
    /// The smallest hashes in ascending order. If there are more, `largest` is the largest of
    /// these.
    pub(super) hashes: Box<[u64]>,
    pub(super) largest: Option<u64>,
    /// A bit for each kind of value that occurs.
    pub(super) kinds: u8,
    is_key: bool,
    /// True if the column has several values of a type that columns are joined by.
    pub(super) is_candidate: bool,
    /// The least and the greatest value, if all values lie between them.
    range: Option<(Value, Value)>,
}

/// What two columns have in common; the result of [`JoinColumn::compare`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Joinability {
    /// Whether they could join.
    pub verdict: JoinVerdict,
    /// The number of different values that both columns have.
    pub common: Estimate,
    /// The share of the left column's different values that the right one has.
    pub left_in_right: Estimate,
    /// The share of the right column's different values that the left one has.
    pub right_in_left: Estimate,
}

/// Whether two columns could join.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JoinVerdict {
    /// One column holds enough of the other's values.
    Joins,
    /// The samples are too small to tell.
    Undecided,
    /// Neither column holds enough of the other's values.
    No,
}

impl JoinVerdict {
    /// Returns the name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Joins => "joins",
            Self::Undecided => "undecided",
            Self::No => "no",
        }
    }
}

impl JoinColumn {
    /// Below this share of common values, columns are not reported to join.
    pub const LEAST_SHARE: f64 = 0.5;

    /// Collects the facts from a column's profile and the sample of its different values.
    ///
    /// # Errors
    /// Never for samples of the sizes that [`DistinctGrowth`] can have.
    pub fn new(profile: &ColumnProfile, growth: &DistinctGrowth) -> Result<Self> {
        let is_joined_by = !matches!(profile.column_type(), ColumnType::Boolean | ColumnType::Empty);
        // Infinities lie beyond the least and the greatest finite number.
        let has_range = profile.numbers().not_finite() == 0 || !profile.column_type().is_number();
        let (hashes, largest) = growth.ascending();
        let bit = |(at, kind)| u8::from(profile.count_of(kind) > 0) << at;
        Ok(Self {
            scheme: growth.scheme(),
            hashes,
            largest,
            kinds: Kind::ALL.into_iter().enumerate().map(bit).sum(),
            is_key: profile.could_be_key() && !growth.is_repeated(),
            is_candidate: is_joined_by && profile.distinct().value() > 1.0,
            range: profile.min().zip(profile.max()).filter(|_| has_range),
        })
    }

    /// Compares this column, as the left one, with another. Returns `None` if the pair is not worth
    /// comparing: the values are of different kinds, or neither column could be a key and the names
    /// differ.
    ///
    /// # Errors
    /// If the values were hashed under different schemes.
    pub fn compare(&self, right: &Self, is_named_alike: bool) -> Result<Option<Joinability>> {
        // Equal values are of the same kind. A column of texts with some numbers may contain a
        // column of numbers.
        let has_common_kind = self.kinds & right.kinds != 0;
        let may_join = self.is_key || right.is_key || is_named_alike;
        if !(self.is_candidate && right.is_candidate && has_common_kind && may_join) {
            return Ok(None);
        }
        if self.is_apart_from(right) {
            let [common, left_in_right, right_in_left] = [Estimate::exact(0.0); 3];
            let verdict = JoinVerdict::No;
            return Ok(Some(Joinability { verdict, common, left_in_right, right_in_left }));
        }
        self.scheme.require_same(right.scheme)?;
        let (common, left_in_right, right_in_left) = shares(&self.sampled_with(right));
        let best = left_in_right.value().max(right_in_left.value());
        let can_be = left_in_right.upper().max(right_in_left.upper());
        let verdict = if best >= Self::LEAST_SHARE && common.value() >= 1.0 {
            JoinVerdict::Joins
        } else if can_be >= Self::LEAST_SHARE {
            JoinVerdict::Undecided
        } else {
            JoinVerdict::No
        };
        Ok(Some(Joinability { verdict, common, left_in_right, right_in_left }))
    }

    /// Returns true if every row may have a value of its own.
    pub fn is_key(&self) -> bool {
        self.is_key
    }

    /// The scheme under which values are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Compares the smallest hashes of two columns of the same scheme.
    pub(super) fn sampled_with(&self, right: &Self) -> Comparison {
        Comparison::of_ascending((&self.hashes, self.largest), (&right.hashes, right.largest))
    }

    /// Returns true if all values of one column are certainly below all values of the other.
    pub(super) fn is_apart_from(&self, other: &Self) -> bool {
        match (&self.range, &other.range) {
            (Some(mine), Some(theirs)) => is_below(&mine.1, &theirs.0) || is_below(&theirs.1, &mine.0),
            _ => false,
        }
    }
}

/// Returns the number of common values, and their shares of the left and of the right column, at 95
/// %.
pub(super) fn shares(compared: &Comparison) -> (Estimate, Estimate, Estimate) {
    let share = |compared: &Comparison| compared.containment().limited_to(0.0, 1.0);
    (compared.intersection(), share(compared), share(&compared.reversed()))
}

/// Returns true if the greatest value of one column is certainly below the least of another.
fn is_below(greatest: &Value, least: &Value) -> bool {
    match (greatest, least) {
        // A text that was cut represents all texts that begin with it.
        (Value::Text(greatest), Value::Text(least)) => greatest < least && !least.starts_with(greatest),
        (Value::Integer(greatest), Value::Integer(least)) => greatest < least,
        (Value::Text(_), _) | (_, Value::Text(_)) => false,
        (greatest, least) => number(greatest) < number(least),
    }
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Integer(integer) => *integer as f64,
        Value::Float(float) => *float,
        Value::Text(_) => f64::NAN,
    }
}
