//! Compares rows with exact models: every format, one thread and four, and chunks so small that
//! there are borders everywhere.

// What fails here should fail loudly, and small texts may be built slowly.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::format_collect, clippy::format_push_string)]

mod agreement;
mod arrow_types;
mod compressed;
mod copying;
mod errors;
mod fields;
mod hostile;
mod model;
mod names;
mod parquet_dictionaries;
mod parquet_files;
mod parquet_filters;
mod passes;
mod support;
