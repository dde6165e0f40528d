//! Rows against exact models: every format, one thread and four, chunks so small that borders fall
//! everywhere.

mod agreement;
mod compressed;
mod copying;
mod errors;
mod model;
mod parquet_files;
mod support;
