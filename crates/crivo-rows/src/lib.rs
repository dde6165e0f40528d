//! Rows out of files: formats, compression and fields, in two primitives.
//!
//! - [`Scan::fold`] reads the input once, on all threads, into states that are merged at the end.
//! - [`Scan::copy_rows`] writes the records that a predicate keeps, unchanged and in input order.
//!   [`Scan::convert_rows`] writes them in another format, and [`Scan::edit_rows`] also replaces a
//!   value in some of them.
//!
//! The formats are lines, CSV, TSV, JSONL and Parquet. Compression by gzip, zstd, xz or bzip2 is
//! recognised by content. The input is files, patterns or standard input. docs/keys.md has the
//! table of how values become keys.
//!
//! # The main types
//!
//! | type | role |
//! |---|---|
//! | [`Input`] | which files, their format, delimiter, header; whether bad records are skipped |
//! | [`Select`] | which fields: some by name or number, all, or the whole record |
//! | [`Scan`] | one pass: input, fields, key scheme, threads, progress |
//! | [`RowBatch`] | what a step gets: about a thousand records, columns side by side |
//! | [`Folded`], [`Copied`] | the result: state, counts, header, warnings |
//!
//! # How commands use it
//!
//! One column into a sketch, without an allocation for any row:
//!
//! ```
//! # use crivo::distinct::HyperLogLog;
//! # use crivo_rows::{Input, Scan, Select};
//! # fn run(input: &Input, empty: &HyperLogLog) -> crivo_rows::Result<()> {
//! let folded = Scan::of(input).select(Select::field("user")).keys(empty.scheme()).fold(
//!     || empty.clone(),
//!     |sketch, batch| Ok(sketch.insert_batch(&batch.keys(0)?)?),
//!     |sketch, other| Ok(sketch.merge(&other)?),
//! )?;
//! # Ok(()) }
//! ```
//!
//! For several fields of a record side by side (weights, conditions, times, sets and their items),
//! [`RowBatch::column`] has the values row by row, and [`RowBatch::keys_with_rows`] has the keys
//! with the row of each:
//!
//! ```
//! # use std::collections::HashMap;
//! # use crivo_rows::{Input, Scan, Select};
//! # fn run(input: &Input) -> crivo_rows::Result<()> {
//! let scan = Scan::of(input).select(Select::fields(["product", "price"]));
//! let folded = scan.fold(
//!     HashMap::<u64, f64>::new,
//!     |sums, batch| {
//!         let prices = batch.column(1);
//!         let found = batch.keys_with_rows(0)?;
//!         let mut unreadable = None;
//!         for (&row, &hash) in found.rows.iter().zip(found.keys.hashes()) {
//!             let Some(price) = prices.get(row as usize) else { continue };
//!             match std::str::from_utf8(price).ok().and_then(|text| text.parse::<f64>().ok()) {
//!                 Some(price) => *sums.entry(hash).or_default() += price,
//!                 None => unreadable = Some(row as usize),
//!             }
//!         }
//!         // Names the file and the line.
//!         unreadable.map_or(Ok(()), |row| Err(batch.error(row, "the price is not a number")))
//!     },
//!     |sums, others| Ok(others.into_iter().for_each(|(hash, sum)| *sums.entry(hash).or_default() += sum)),
//! )?;
//! # Ok(()) }
//! ```
//!
//! [`RowBatch::id`] names a row, so that one pass can choose rows and another can copy them.
//! [`RowBatch::record`] has the bytes of a row, for samples that keep rows during the pass; write
//! [`Folded::header`] before them.
//!
//! First occurrences must be judged in input order. This writes them to standard output:
//!
//! ```
//! # use std::collections::HashSet;
//! # use crivo_rows::{Input, Predicate, Scan, Select};
//! # fn run(input: &Input) -> crivo_rows::Result<()> {
//! let mut seen = HashSet::new();
//! Scan::of(input).select(Select::field("user")).copy_rows(
//!     Predicate::Hashes(&mut |hashes, keep| {
//!         keep.clear();
//!         keep.extend(hashes.iter().map(|&hash| seen.insert(hash)));
//!     }),
//!     &mut std::io::stdout(),
//! )?;
//! # Ok(()) }
//! ```
//!
//! Without the feature `parquet`, which is on by default, Arrow is not built, and a Parquet file is
//! an error that says so.
//!
//! The crate prints nothing and does not read the clock. [`Progress`] reports how far a pass is and
//! can stop it. Errors name the file and the line. With any number of threads, the reported error
//! is the first in input order.

#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "parquet"), allow(dead_code))] // what only the reader of Parquet uses

mod batch;
mod column;
pub mod condition;
mod convert;
mod copy;
mod edit;
mod error;
mod feed;
mod filters;
mod fold;
mod foreign;
mod input;
mod keyer;
mod layout;
mod ledger;
pub mod numbers;
#[cfg_attr(not(feature = "parquet"), path = "without_parquet.rs")]
mod parquet;
mod parse;
mod progress;
mod scan;
mod schedule;
mod select;
pub mod times;
mod turns;
mod worker;
pub mod written;

pub use batch::{RowBatch, RowId};
pub use column::{Cell, ValueKind, Values, join_values, split_values};
pub use copy::{Copied, EachPredicate, Predicate};
pub use edit::Edit;
pub use error::{Error, ErrorKind, Remedy, Result};
pub use feed::decompressed;
pub use filters::{ColumnFilters, FilterAnswers};
pub use fold::Folded;
pub use input::{FirstRecord, Format, Input};
pub use keyer::{Items, RowKeys};
pub use parquet::ParquetFilters;
pub use progress::{FollowEvent, Progress};
pub use scan::{Counts, Filter, NeedsValues, Scan};
pub use schedule::thread_count;
pub use select::{Select, suggestion};
