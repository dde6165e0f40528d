//! The answer of `crivo profile` as plain data. The JSON, the table on a terminal and the page are
//! three views of it.
//!
//! One table is one JSON object, with the fields of the contract in its order, and other fields
//! after them. Several tables are listed under `files`. `joins` lists the pairs of columns that
//! have values in common, and `undecided` is the number of pairs that cannot be decided. Fields may
//! be added, never renamed.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::output::Interval;

/// The answer about one or more tables.
#[derive(Debug)]
pub(crate) struct ProfileReport {
    pub(crate) tables: Vec<TableReport>,
    /// The columns of different tables that could join, the closest first; empty for one table.
    pub(crate) joins: Vec<Join>,
    /// The number of pairs of columns that the samples cannot decide, and the first of them.
    pub(crate) undecided: u64,
    pub(crate) undecided_pairs: Vec<Undecided>,
}

/// Files with the same fields, read as one table.
#[derive(Debug, serde::Serialize)]
pub(crate) struct TableReport {
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    pub(crate) columns: Vec<ColumnReport>,
    /// The name of the table: the first file, and how many more there are.
    pub(crate) name: String,
    /// The table's files, as they were named; empty for standard input.
    pub(crate) paths: Vec<String>,
    /// The number of bad records, which were left out.
    pub(crate) bad: u64,
    /// The number of rows that the condition left out; they are not among `rows`.
    pub(crate) left_out: u64,
    /// The pairs of columns of numbers that rise or fall together, the strongest first.
    pub(crate) correlations: Vec<CorrelationReport>,
    /// The columns of few values that decide others, the surest first.
    pub(crate) dependencies: Vec<DependencyReport>,
    /// The number of columns that were not compared with others, because there are too many.
    pub(crate) not_compared: NotCompared,
}

/// Two columns of numbers whose ranks are correlated.
#[derive(Debug, serde::Serialize)]
pub(crate) struct CorrelationReport {
    pub(crate) left: String,
    pub(crate) right: String,
    /// Spearman's correlation of the ranks.
    pub(crate) rank_correlation: Interval,
    /// Pearson's correlation of the numbers; `None` if the drawn rows lack numbers that decide it.
    pub(crate) pearson: Option<Interval>,
    /// The number of rows that both were computed from. If both are exact, it is all rows with both
    /// values.
    pub(crate) rows: usize,
}

/// A column that decides another.
#[derive(Debug, serde::Serialize)]
pub(crate) struct DependencyReport {
    pub(crate) from: String,
    pub(crate) to: String,
    /// The share of rows with the most frequent value of their group.
    pub(crate) share: Interval,
    /// The number of rows that the share was computed from, and how many of these are exceptions.
    pub(crate) rows: usize,
    pub(crate) exceptions: usize,
}

/// The numbers of columns that were not compared with others.
#[derive(Debug, Default, serde::Serialize)]
pub(crate) struct NotCompared {
    /// Columns of numbers beyond the first 32.
    pub(crate) numbers: usize,
    /// Columns of few values beyond the first 32.
    pub(crate) few_values: usize,
}

/// The report of one column.
#[derive(Debug, serde::Serialize)]
pub(crate) struct ColumnReport {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    /// The number of rows without a value.
    pub(crate) empty: u64,
    pub(crate) distinct: Interval,
    /// Whether every row may have a different value.
    pub(crate) key: bool,
    /// The most frequent values, in descending order of their counts. Only values are listed whose
    /// count is certainly larger than that of any value without a counter.
    pub(crate) top: Vec<Frequent>,
    /// The value that is certainly more than half of all values.
    pub(crate) majority: Option<String>,
    /// Uniformly drawn values.
    pub(crate) sample: Vec<String>,
    pub(crate) min: Option<Scalar>,
    pub(crate) max: Option<Scalar>,
    /// The sum of the finite numbers; `None` in a column that is not of numbers.
    pub(crate) sum: Option<f64>,
    pub(crate) mean: Option<f64>,
    pub(crate) quantiles: Option<Quantiles>,
    pub(crate) length: Length,
    /// The share of documents (longer texts) with a near-duplicate in the column; `None` without
    /// documents.
    pub(crate) near_duplicates: Option<Interval>,

    /// The number of rows with a value.
    pub(crate) values: u64,
    /// The number of values of each kind that occurs.
    pub(crate) kinds: Vec<KindCount>,
    /// The rows where the type of the column had to change, in order. All values before fitted
    /// `from`.
    pub(crate) changes: Vec<TypeChange>,
    /// The growth of the number of different values with the rows. The last point is all rows.
    pub(crate) growth: Vec<GrowthPoint>,
    /// The number of values too long to be counted one by one. They are in every answer but `top`
    /// and `majority`.
    pub(crate) long: u64,
    /// The number of documents among the values.
    pub(crate) documents: u64,
    /// An upper bound on the count of every value that is not in `top` and not too long for it.
    pub(crate) others_at_most: u64,
    /// The number of infinities, NaNs and numbers too large for a float. They are values, but in no
    /// answer about numbers.
    pub(crate) not_finite: u64,
    /// The exact standard deviation of the finite numbers as a sample: the divisor is one less than
    /// their number.
    pub(crate) standard_deviation: Option<f64>,
    /// The adjusted skewness of the finite numbers.
    pub(crate) skew: Option<f64>,
    /// The finite numbers in bars of equal width.
    pub(crate) histogram: Option<HistogramReport>,
    /// The finite numbers outside Tukey's fences.
    pub(crate) outliers: Option<OutlierReport>,
    /// The patterns of the texts, the most frequent first.
    pub(crate) patterns: Vec<PatternReport>,
    /// The days in the column, if nearly all values are days.
    pub(crate) dates: Option<DatesReport>,
}

/// The numbers in bars of equal width, and the counts of numbers on both sides of the bars.
#[derive(Debug, serde::Serialize)]
pub(crate) struct HistogramReport {
    pub(crate) bars: Vec<HistogramBar>,
    pub(crate) below: Interval,
    pub(crate) above: Interval,
}

/// The count of numbers from `from` up to, but not including, `to`. The last bar includes `to`.
#[derive(Debug, serde::Serialize)]
pub(crate) struct HistogramBar {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) count: Interval,
}

/// The numbers further outside the quartiles than one and a half times their distance.
#[derive(Debug, serde::Serialize)]
pub(crate) struct OutlierReport {
    pub(crate) lower_fence: f64,
    pub(crate) upper_fence: f64,
    pub(crate) below: Interval,
    pub(crate) above: Interval,
}

/// A pattern, and the share of texts that have it.
#[derive(Debug, serde::Serialize)]
pub(crate) struct PatternReport {
    pub(crate) pattern: String,
    pub(crate) example: String,
    pub(crate) share: Interval,
}

/// The days of a column.
#[derive(Debug, serde::Serialize)]
pub(crate) struct DatesReport {
    pub(crate) formats: Vec<FormatCount>,
    pub(crate) dates: u64,
    /// The number of values that are not days.
    pub(crate) others: u64,
    /// `None` if the days have two readings, such as 03/04/2024.
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
    /// The number of days in the range that no value has. `None` if the range is too long to be
    /// counted, or if the days have two readings.
    pub(crate) missing_days: Option<u64>,
    pub(crate) longest_gap: Option<DateGap>,
}

/// A format of days, and how many values have it.
#[derive(Debug, serde::Serialize)]
pub(crate) struct FormatCount {
    pub(crate) format: &'static str,
    pub(crate) count: u64,
}

/// Consecutive days without a value.
#[derive(Debug, serde::Serialize)]
pub(crate) struct DateGap {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) days: u64,
}

impl ColumnReport {
    /// Returns a value with a leading zero in a column of integers, from the drawn and the frequent
    /// values.
    pub(crate) fn leading_zeros(&self) -> Option<&str> {
        if self.kind != "integer" {
            return None;
        }
        let is_code = |value: &&str| {
            let digits = value.trim_start_matches(['+', '-']);
            digits.len() > 1 && digits.starts_with('0')
        };
        let frequent = self.top.iter().map(|frequent| frequent.key.as_str());
        self.sample.iter().map(String::as_str).chain(frequent).find(is_code)
    }

    /// Returns true if every row certainly has a different value.
    pub(crate) fn is_certain_key(&self) -> bool {
        self.key && self.distinct.confidence == 1.0 && self.distinct.upper.is_finite()
    }
}

/// A value and its count.
#[derive(Debug, serde::Serialize)]
pub(crate) struct Frequent {
    pub(crate) key: String,
    pub(crate) count: Interval,
}

/// A least or greatest value.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Scalar {
    Integer(i64),
    Float(f64),
    Text(String),
}

impl Scalar {
    /// Returns the value as a number, if it is one.
    pub(crate) fn as_number(&self) -> Option<f64> {
        match self {
            Self::Integer(integer) => Some(*integer as f64),
            Self::Float(float) => Some(*float),
            Self::Text(_) => None,
        }
    }
}

/// Quantiles of numbers, with certain bounds.
#[derive(Debug, serde::Serialize)]
pub(crate) struct Quantiles {
    pub(crate) p01: Interval,
    pub(crate) p25: Interval,
    pub(crate) p50: Interval,
    pub(crate) p75: Interval,
    pub(crate) p99: Interval,
}

/// The lengths of values in characters; all 0 if there are no values.
#[derive(Debug, serde::Serialize)]
pub(crate) struct Length {
    pub(crate) min: u64,
    pub(crate) mean: f64,
    pub(crate) max: u64,
}

/// The number of values of a kind.
#[derive(Debug, serde::Serialize)]
pub(crate) struct KindCount {
    pub(crate) kind: &'static str,
    pub(crate) count: u64,
}

/// The first row whose value did not fit the type of all rows before it.
#[derive(Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct TypeChange {
    /// The number of the row over all files of the table, from 1. The header is no row.
    pub(crate) row: u64,
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
    /// The value of that row, cut if it is long.
    pub(crate) value: String,
}

/// The number of different values in the first `rows` rows.
#[derive(Debug, serde::Serialize)]
pub(crate) struct GrowthPoint {
    pub(crate) rows: u64,
    pub(crate) distinct: Interval,
}

/// Two columns that could join.
#[derive(Debug, serde::Serialize)]
pub(crate) struct Join {
    pub(crate) left: ColumnName,
    pub(crate) right: ColumnName,
    /// The number of different values that both columns have.
    pub(crate) common: Interval,
    /// The share of the left column's different values that the right one has.
    pub(crate) left_in_right: Interval,
    /// The share of the right column's different values that the left one has.
    pub(crate) right_in_left: Interval,
}

/// Two columns that may or may not join, because the sample of one has too few values of the other
/// to decide.
#[derive(Debug, serde::Serialize)]
pub(crate) struct Undecided {
    pub(crate) left: ColumnName,
    pub(crate) right: ColumnName,
}

/// A column of one of several tables.
#[derive(Debug, serde::Serialize)]
pub(crate) struct ColumnName {
    /// The table's name.
    pub(crate) file: String,
    pub(crate) column: String,
    /// Whether every row may have a different value in the column.
    pub(crate) key: bool,
    /// Whether `key` is certain.
    #[serde(skip)]
    pub(crate) is_certain_key: bool,
}

impl Serialize for ProfileReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let [table] = self.tables.as_slice() {
            return table.serialize(serializer);
        }
        let sum = |of: fn(&TableReport) -> u64| self.tables.iter().map(of).sum::<u64>();
        let mut object = serializer.serialize_struct("Report", 6)?;
        object.serialize_field("rows", &sum(|table| table.rows))?;
        object.serialize_field("bytes", &sum(|table| table.bytes))?;
        object.serialize_field("files", &self.tables)?;
        object.serialize_field("joins", &self.joins)?;
        object.serialize_field("undecided", &self.undecided)?;
        object.serialize_field("undecided_pairs", &self.undecided_pairs)?;
        object.end()
    }
}
