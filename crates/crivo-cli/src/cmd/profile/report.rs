//! What `crivo profile` answers, as plain data: the JSON, the table on a terminal and the page are
//! three views of it.
//!
//! One table is one JSON object, with the fields of the contract in its order; what is not in the
//! contract comes after them. Several tables are listed under `files`; `joins` says which of their
//! columns hold each other's values, and `undecided` how many pairs of columns cannot be decided.
//! Fields may be added, never renamed.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::output::Interval;

/// The whole answer: at least one table.
#[derive(Debug)]
pub(crate) struct ProfileReport {
    pub(crate) tables: Vec<TableReport>,
    /// Columns of different tables that could join, the closest first; empty for one table.
    pub(crate) joins: Vec<Join>,
    /// How many pairs of columns the samples cannot tell of, and the first of them.
    pub(crate) undecided: u64,
    pub(crate) undecided_pairs: Vec<Undecided>,
}

/// Files of the same shape, taken as one table.
#[derive(Debug, serde::Serialize)]
pub(crate) struct TableReport {
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    pub(crate) columns: Vec<ColumnReport>,
    /// How it is called: the first file, and how many more there are.
    pub(crate) name: String,
    /// Its files, as they were named; none for standard input.
    pub(crate) paths: Vec<String>,
    /// Records that were left out because they were bad.
    pub(crate) bad: u64,
    /// Rows that the condition left out; they are not among `rows`.
    pub(crate) left_out: u64,
    /// Pairs of columns of numbers that rise or fall together, the strongest first.
    pub(crate) correlations: Vec<CorrelationReport>,
    /// Columns of few values that decide others, the surest first.
    pub(crate) dependencies: Vec<DependencyReport>,
    /// How many columns were not compared with others, because there are too many.
    pub(crate) not_compared: NotCompared,
}

/// Two columns of numbers whose ranks are correlated.
#[derive(Debug, serde::Serialize)]
pub(crate) struct CorrelationReport {
    pub(crate) left: String,
    pub(crate) right: String,
    /// Spearman's correlation of the ranks.
    pub(crate) rank_correlation: Interval,
    /// Pearson's correlation of the numbers; none if the drawn rows lack numbers that decide it.
    pub(crate) pearson: Option<Interval>,
    /// How many rows both were computed from: all that have both values if they are exact.
    pub(crate) rows: usize,
}

/// A column that decides another.
#[derive(Debug, serde::Serialize)]
pub(crate) struct DependencyReport {
    pub(crate) from: String,
    pub(crate) to: String,
    /// The share of rows with the most frequent value of their group.
    pub(crate) share: Interval,
    /// How many rows it was computed from, and how many of these are exceptions.
    pub(crate) rows: usize,
    pub(crate) exceptions: usize,
}

/// Columns that were not compared with others.
#[derive(Debug, Default, serde::Serialize)]
pub(crate) struct NotCompared {
    /// Of numbers, beyond the first 32.
    pub(crate) numbers: usize,
    /// Of few values, beyond the first 32.
    pub(crate) few_values: usize,
}

/// One column.
#[derive(Debug, serde::Serialize)]
pub(crate) struct ColumnReport {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    /// Rows without a value.
    pub(crate) empty: u64,
    pub(crate) distinct: Interval,
    /// Whether every row may have a value of its own.
    pub(crate) key: bool,
    /// The most frequent values, the first most often: those that certainly came more often than
    /// any without a counter.
    pub(crate) top: Vec<Frequent>,
    /// The value that certainly is more than half of all values.
    pub(crate) majority: Option<String>,
    /// Some values, drawn uniformly.
    pub(crate) sample: Vec<String>,
    pub(crate) min: Option<Scalar>,
    pub(crate) max: Option<Scalar>,
    /// Of the finite numbers: none in a column that is not one of numbers.
    pub(crate) sum: Option<f64>,
    pub(crate) mean: Option<f64>,
    pub(crate) quantiles: Option<Quantiles>,
    pub(crate) length: Length,
    /// The share of documents (longer texts) with a near-duplicate in the column; none if there are
    /// no documents.
    pub(crate) near_duplicates: Option<Interval>,

    /// Rows with a value.
    pub(crate) values: u64,
    /// How many values are of each kind, only those that there are.
    pub(crate) kinds: Vec<KindCount>,
    /// Where the type of the column had to change, in the order of rows: the values before fitted
    /// `from`.
    pub(crate) changes: Vec<TypeChange>,
    /// How the number of different values grew with the rows; the last point is all rows.
    pub(crate) growth: Vec<GrowthPoint>,
    /// Values too long to be counted one by one: they are in every answer but `top` and `majority`.
    pub(crate) long: u64,
    /// Documents among the values.
    pub(crate) documents: u64,
    /// No value that is not in `top`, and not too long for it, came more often than this.
    pub(crate) others_at_most: u64,
    /// Infinities, NaNs and numbers too large for a float: they are values, but in no answer about
    /// numbers.
    pub(crate) not_finite: u64,
    /// Of the finite numbers, exactly: of a sample, with one less than their number below the sum.
    pub(crate) standard_deviation: Option<f64>,
    /// The adjusted skewness of the finite numbers.
    pub(crate) skew: Option<f64>,
    /// The finite numbers in bars of equal width.
    pub(crate) histogram: Option<HistogramReport>,
    /// Finite numbers outside of Tukey's fences.
    pub(crate) outliers: Option<OutlierReport>,
    /// What the texts look like, the most frequent first.
    pub(crate) patterns: Vec<PatternReport>,
    /// The days in the column, if nearly all values are days.
    pub(crate) dates: Option<DatesReport>,
}

/// Numbers in bars of equal width, and those on both sides of them.
#[derive(Debug, serde::Serialize)]
pub(crate) struct HistogramReport {
    pub(crate) bars: Vec<HistogramBar>,
    pub(crate) below: Interval,
    pub(crate) above: Interval,
}

/// How many numbers lie from one limit to before another; the last bar has its upper limit too.
#[derive(Debug, serde::Serialize)]
pub(crate) struct HistogramBar {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) count: Interval,
}

/// Numbers more than one and a half times the distance of the quartiles away from them.
#[derive(Debug, serde::Serialize)]
pub(crate) struct OutlierReport {
    pub(crate) lower_fence: f64,
    pub(crate) upper_fence: f64,
    pub(crate) below: Interval,
    pub(crate) above: Interval,
}

/// What a share of the texts looks like.
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
    /// Values that are no days.
    pub(crate) others: u64,
    /// None if the days have two readings, such as 03/04/2024.
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
    /// Days between that no value has; none if they are too far apart to be counted.
    pub(crate) missing_days: Option<u64>,
    pub(crate) longest_gap: Option<DateGap>,
}

/// A format of days, and how many values have it.
#[derive(Debug, serde::Serialize)]
pub(crate) struct FormatCount {
    pub(crate) format: &'static str,
    pub(crate) count: u64,
}

/// Days without a value, one after the other.
#[derive(Debug, serde::Serialize)]
pub(crate) struct DateGap {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) days: u64,
}

impl ColumnReport {
    /// A value with a leading zero, among those that were drawn or are frequent, of a column of
    /// numbers.
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

    /// Whether every row certainly has a value of its own.
    pub(crate) fn is_certain_key(&self) -> bool {
        self.key && self.distinct.confidence == 1.0
    }
}

/// A value and how often it came.
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
    /// The number it is, if it is one.
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

/// How long values are, in characters; all 0 if there is none.
#[derive(Debug, serde::Serialize)]
pub(crate) struct Length {
    pub(crate) min: u64,
    pub(crate) mean: f64,
    pub(crate) max: u64,
}

/// How many values are of a kind.
#[derive(Debug, serde::Serialize)]
pub(crate) struct KindCount {
    pub(crate) kind: &'static str,
    pub(crate) count: u64,
}

/// The first row whose value did not fit the type of all rows before it.
#[derive(Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct TypeChange {
    /// From 1; the header is no row. Rows are counted over all files of the table.
    pub(crate) row: u64,
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
    /// The value of that row, cut if it is long.
    pub(crate) value: String,
}

/// How many different values the first rows had.
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
    /// Different values that both have.
    pub(crate) common: Interval,
    /// The share of the left column's different values that the right one has.
    pub(crate) left_in_right: Interval,
    /// The share of the right column's different values that the left one has.
    pub(crate) right_in_left: Interval,
}

/// Two columns that could join, or not: one has too few values in the sample of the other's to
/// tell.
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
    /// Whether every row may have a value of its own there.
    pub(crate) key: bool,
    /// Whether that is certain.
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
