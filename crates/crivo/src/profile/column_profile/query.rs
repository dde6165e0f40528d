//! The answers of a profile.

use std::fmt;

use super::kind::number_of;
use super::{ColumnProfile, Kind, ProfileConfig};
use crate::codec::{Encode as _, Parameter, Parameters, Summary};
use crate::estimate::{Confidence, Estimate};
use crate::frequency::{HeavyHitters, Hitter, Reading, certain};
use crate::keys::{KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::profile::DDSketch;
use crate::profile::ddsketch::rank_of;

/// The type of a whole column, by the kinds of its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ColumnType {
    /// There are no values.
    Empty,
    /// Booleans only.
    Boolean,
    /// Integers only.
    Integer,
    /// Floats, or floats and integers.
    Float,
    /// Dates only.
    Date,
    /// Timestamps, or timestamps and dates.
    Timestamp,
    /// Texts, or a mixture of other kinds.
    Text,
}

impl ColumnType {
    /// Returns the name in lower case, as `crivo profile` writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Float => "float",
            Self::Date => "date",
            Self::Timestamp => "timestamp",
            Self::Text => "text",
        }
    }

    /// Returns the type of a column whose values are of these kinds.
    ///
    /// ```
    /// use crivo::profile::{ColumnType, Kind};
    /// assert_eq!(ColumnType::of(&[Kind::Float, Kind::Integer]), ColumnType::Float);
    /// assert_eq!(ColumnType::of(&[Kind::Integer, Kind::Date]), ColumnType::Text);
    /// ```
    pub fn of(kinds: &[Kind]) -> Self {
        let are_all = |allowed: &[Kind]| kinds.iter().all(|kind| allowed.contains(kind));
        [
            (&[][..], Self::Empty),
            (&[Kind::Boolean], Self::Boolean),
            (&[Kind::Integer], Self::Integer),
            (&[Kind::Integer, Kind::Float], Self::Float),
            (&[Kind::Date], Self::Date),
            (&[Kind::Date, Kind::Timestamp], Self::Timestamp),
        ]
        .into_iter()
        .find(|(allowed, _)| are_all(allowed))
        .map_or(Self::Text, |(_, column_type)| column_type)
    }

    /// Returns true if values of this type are numbers.
    pub const fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Float)
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The least or the greatest value: a number in a column of numbers, otherwise a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// An integer, exactly.
    Integer(i64),
    /// A float, or the float nearest to an integer beyond 64 bits.
    Float(f64),
    /// The bytes of a text, cut to [`ProfileConfig::longest`].
    Text(Vec<u8>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(integer) => integer.fmt(f),
            Self::Float(float) => float.fmt(f),
            Self::Text(text) => KeyRef::Bytes(text).fmt(f),
        }
    }
}

/// The lengths of the values, in characters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lengths {
    /// The length of the shortest value.
    pub min: u64,
    /// The mean length.
    pub mean: f64,
    /// The length of the longest value.
    pub max: u64,
}

/// The confidence of [`ColumnProfile::could_be_key`]. A key is wrongly rejected with at most the
/// remaining probability.
const KEY_CONFIDENCE: f64 = 0.9999;

// ---- counts and type ----

impl ColumnProfile {
    /// The number of rows, with or without a value.
    pub fn rows(&self) -> u64 {
        self.values().saturating_add(self.missing)
    }

    /// The number of rows without a value.
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// The number of rows with a value.
    pub fn values(&self) -> u64 {
        self.facts.values()
    }

    /// Returns the number of values of a kind.
    pub fn count_of(&self, kind: Kind) -> u64 {
        self.facts.kinds[kind as usize]
    }

    /// Returns the type of the column, which all its values have.
    pub fn column_type(&self) -> ColumnType {
        let mut kinds = [Kind::Text; Kind::ALL.len()];
        let mut found = 0;
        for kind in Kind::ALL.into_iter().filter(|&kind| self.count_of(kind) > 0) {
            kinds[found] = kind;
            found += 1;
        }
        ColumnType::of(&kinds[..found])
    }

    /// The number of values longer than [`ProfileConfig::longest`] bytes. All answers include them
    /// except the most frequent values.
    pub fn long(&self) -> u64 {
        self.facts.long
    }

    /// Returns the lengths of the values, or `None` if there are none.
    pub fn lengths(&self) -> Option<Lengths> {
        let (min, max) = (self.facts.shortest, self.facts.longest);
        let mean = self.facts.total_length as f64 / self.values() as f64;
        (self.values() > 0).then_some(Lengths { min, mean, max })
    }
}

// ---- values ----

impl ColumnProfile {
    /// Returns the number of different values, with bounds at 95 %. It is exact while there are
    /// few.
    pub fn distinct(&self) -> Estimate {
        self.distinct_at(Confidence::P95)
    }

    /// Returns the number of different values, with bounds at the given confidence.
    pub fn distinct_at(&self, confidence: Confidence) -> Estimate {
        self.sketches.distinct.estimate_at(confidence).limited_to(0.0, self.values() as f64)
    }

    /// Returns true if every row may have a value of its own. The column is certainly no key if a
    /// value is missing or known to occur twice. Otherwise it returns false if the estimated number
    /// of different values is too small. That rejects at most one key in ten thousand by chance.
    pub fn could_be_key(&self) -> bool {
        let values = self.values();
        if self.missing > 0 || values == 0 {
            return false;
        }
        // A share between those of one and of two occurrences selects the values that occur more
        // than once.
        let counted = self.sketches.top.total();
        let twice = self.sketches.top.above(1.5 / counted as f64, Reading::NoFalsePositives);
        let confidence = Confidence::new(KEY_CONFIDENCE).unwrap_or_default();
        let is_repeated = counted > 1 && twice.is_ok_and(|hitters| !hitters.is_empty());
        !is_repeated && self.sketches.distinct.estimate_at(confidence).covers(values as f64)
    }

    /// Returns the most frequent values, with certain bounds for each.
    pub fn top(&self, count: usize) -> Vec<Hitter> {
        self.sketches.top.top(count)
    }

    /// Returns the only value that can make up more than half of all values, with certain bounds.
    /// It certainly does if its lower bound is above half. Returns `None` if there certainly is no
    /// such value of at most [`ProfileConfig::longest`] bytes.
    pub fn majority(&self) -> Option<Hitter> {
        self.top(1).into_iter().find(|hitter| hitter.upper() > self.values() / 2)
    }

    /// Returns a uniform sample of the values, in no particular order. Each is cut to
    /// [`ProfileConfig::longest`] bytes.
    pub fn sample(&self) -> impl ExactSizeIterator<Item = KeyRef<'_>> {
        self.sketches.sample.sample()
    }

    /// The sketch of the most frequent values.
    pub fn heavy_hitters(&self) -> &HeavyHitters {
        &self.sketches.top
    }

    /// Returns the least value. In a column of numbers it is the least finite number, otherwise the
    /// first value in byte order. Returns `None` if there is no such value.
    pub fn min(&self) -> Option<Value> {
        self.extreme(DDSketch::min, |integers| integers.0, &self.facts.first)
    }

    /// Returns the greatest value; see [`min`](Self::min).
    pub fn max(&self) -> Option<Value> {
        self.extreme(DDSketch::max, |integers| integers.1, &self.facts.last)
    }

    fn extreme(
        &self,
        of_numbers: impl Fn(&DDSketch) -> Option<f64>,
        of_integers: impl Fn((i64, i64)) -> i64,
        text: &super::facts::Text,
    ) -> Option<Value> {
        let column_type = self.column_type();
        if !column_type.is_number() {
            return (column_type != ColumnType::Empty).then(|| Value::Text(text.bytes().to_vec()));
        }
        let number = of_numbers(&self.sketches.numbers)?;
        // Integers beyond 64 bits are known only as floats.
        let integer = self.facts.integers.map(of_integers).filter(|&integer| integer as f64 == number);
        match integer {
            Some(integer) if column_type == ColumnType::Integer => Some(Value::Integer(integer)),
            _ => Some(Value::Float(number)),
        }
    }
}

// ---- numbers ----

impl ColumnProfile {
    /// Returns the sum of all finite numbers in the column, rounded once. Integers of 64 bits are
    /// added exactly, all other numbers as the nearest float. Returns `None` if there are no
    /// numbers, or if their count is saturated.
    pub fn sum(&self) -> Option<f64> {
        let numbers = &self.sketches.numbers;
        numbers.exact_sum(self.facts.lost).filter(|_| !numbers.is_empty()).map(|sum| sum.value())
    }

    /// Returns the mean of all finite numbers in the column; see [`sum`](Self::sum).
    pub fn mean(&self) -> Option<f64> {
        let numbers = &self.sketches.numbers;
        numbers
            .exact_sum(self.facts.lost)
            .filter(|_| !numbers.is_empty())
            .map(|sum| sum.mean(numbers.count()))
    }

    /// Returns a quantile of the finite numbers in the column, with certain bounds; see
    /// [`DDSketch::quantile`]. It is exact while there are so few different values that the counts
    /// of all are known. [`numbers`](Self::numbers) has the number of infinities and NaNs, which
    /// are left out.
    pub fn quantile(&self, share: f64) -> Option<Estimate> {
        let estimate = self.sketches.numbers.quantile(share)?;
        Some(self.exact_quantile(share).map_or(estimate, Estimate::exact))
    }

    /// Returns the quantile by counting, if the counts of all numbers are known.
    fn exact_quantile(&self, share: f64) -> Option<f64> {
        let rank = rank_of(share, self.sketches.numbers.count());
        let mut below = 0;
        let found = self.counted_numbers()?.into_iter().find(|(_, count)| {
            below += count;
            rank < below
        });
        found.map(|(number, _)| number)
    }

    /// Returns the finite numbers in ascending order with their counts, if the counts of all are
    /// known.
    pub(in crate::profile) fn counted_numbers(&self) -> Option<Vec<(f64, u64)>> {
        let total = self.sketches.numbers.count();
        let mut numbers: Vec<(f64, u64)> = Vec::new();
        for hitter in self.top(usize::MAX) {
            let KeyRef::Bytes(text) = hitter.key() else { return None };
            let Some(number) = number_of(text) else { continue };
            if hitter.lower() != hitter.upper() {
                return None;
            }
            numbers.push((number, hitter.lower()));
        }
        let counted = numbers.iter().try_fold(0_u64, |sum, (_, count)| sum.checked_add(*count));
        if counted != Some(total) {
            return None;
        }
        numbers.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        Some(numbers)
    }

    /// The sketch of all numbers in the column, even if there are other values.
    pub fn numbers(&self) -> &DDSketch {
        &self.sketches.numbers
    }
}

// ---- the profile itself ----

impl ColumnProfile {
    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows() == 0
    }

    /// The sizes of the profile's parts.
    pub fn config(&self) -> ProfileConfig {
        self.config
    }

    /// The scheme under which values are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// The number of bytes of memory in use, including the struct itself.
    pub fn memory(&self) -> usize {
        let sketches = &self.sketches;
        size_of::<Self>()
            + size_of_val(&*self.facts)
            + self.facts.memory()
            + sketches.distinct.memory()
            + sketches.top.memory()
            + sketches.sample.memory()
            + sketches.numbers.memory()
    }

    /// Returns the sizes the profile was built with, in the order of its [`ProfileConfig`].
    pub fn parameters(&self) -> Parameters {
        let ProfileConfig { precision, counters, sample, accuracy, bins, longest } = self.config;
        vec![
            ("precision", Parameter::Count(precision.into())),
            ("counters", Parameter::Count(counters.into())),
            ("sample", Parameter::Count(sample.into())),
            ("accuracy", Parameter::Ratio(accuracy)),
            ("bins", Parameter::Count(bins.into())),
            ("longest", Parameter::Count(longest.into())),
        ]
    }

    /// Returns the summary that `crivo show` prints.
    pub fn summary(&self) -> Summary {
        let rows = self.rows();
        let facts = vec![
            ("type", Parameter::Name(self.column_type().name())),
            ("missing", Parameter::Count(self.missing)),
        ];
        Summary {
            family: Self::FAMILY,
            parameters: [self.parameters(), facts].concat(),
            scheme: self.scheme,
            items: certain(rows, rows, rows),
            fill: None,
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}
