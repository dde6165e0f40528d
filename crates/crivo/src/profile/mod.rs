//! What is in this column or table?
//!
//! | type | memory | error | merge |
//! |---|---|---|---|
//! | [`ColumnProfile`] | a given budget of at least 16 KiB | different values, top values, quantiles: as their sketches; all other answers exact | exact, except for top values and the sample, which keep their guarantees |
//! | [`DDSketch`] | 12 to 32 bytes a bin in use, 2,073 bins at most for 1 % | certain: a share of every quantile; count, sum, least and greatest exact | exact |
//! | [`DistinctGrowth`] | 16 bytes a kept hash, up to 68 while collecting | different values up to any row: Clopper and Pearson's; exact below k | exact |
//! | [`TableProfile`] | the sum of its columns | as its columns | as its columns; the rows of the second table follow those of the first |
//! | [`NearDuplicateShare`] | about 500 bytes a kept text | share of texts with a near-duplicate: an interval at 95 % | exact |
//!
//! [`drift`] compares two [`TableProfile`]s: what changed, and is that more than chance?
//! [`expectations`] are rules that a table must meet. [`JoinColumn`] compares two columns: which
//! share of each column's values does the other have? [`join_search`] finds all such pairs in many
//! tables. [`ColumnSizes`] divides a column's memory among all of these, and [`ProfiledColumn`] has
//! all of them for one column of a table.
//!
//! A column of a [`TableProfile`] also has its [`Spread`], a [`Histogram`], [`Outliers`],
//! [`TextPattern`]s and [`DateFacts`]. [`relations`] finds the columns that depend on each other.

mod by_hash;
pub mod column_profile;
pub mod ddsketch;
pub mod detail;
mod distribution;
pub mod drift;
pub mod exact_sum;
pub mod expectations;
pub mod growth;
pub mod join_search;
pub mod joinability;
pub mod near_duplicates;
mod patterns;
mod profiled_column;
pub mod relations;
mod sizes;
pub mod table_profile;

pub use column_profile::{ColumnProfile, ColumnType, Kind, Lengths, ProfileConfig, Value};
pub use ddsketch::DDSketch;
pub use detail::{DateFacts, DateFormat, DateGaps, DetailSizes, RowDraw, Spread};
pub use distribution::{Histogram, Outliers};
pub use exact_sum::ExactSum;
pub use growth::DistinctGrowth;
pub use joinability::{JoinColumn, JoinVerdict, Joinability};
pub use near_duplicates::NearDuplicateShare;
pub use patterns::TextPattern;
pub use profiled_column::ProfiledColumn;
pub use relations::{Correlation, Dependency, Relations};
pub use sizes::{ColumnSizes, TableColumnSizes};
pub use table_profile::{FirstOfKind, TableColumn, TableProfile};
