//! Profiles of columns and tables.

mod column_profile;
mod ddsketch;
mod distinct_growth;
mod near_duplicate_share;
mod profiled_column;
mod table_profile;

pub(crate) use column_profile::ColumnProfile;
pub(crate) use ddsketch::DDSketch;
pub(crate) use distinct_growth::DistinctGrowth;
pub(crate) use near_duplicate_share::NearDuplicateShare;
pub(crate) use profiled_column::ProfiledColumn;
pub(crate) use table_profile::TableProfile;
