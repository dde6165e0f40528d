//! What is in this column?

mod column_profile;
mod ddsketch;

pub(crate) use column_profile::ColumnProfile;
pub(crate) use ddsketch::DDSketch;
