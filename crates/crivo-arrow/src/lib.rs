//! Reads the keys of Arrow columns.
//!
//! docs/keys.md has the rules: the key of every value is its text, so that a column has the same
//! keys in every format. This crate is the only place that applies the rules to Arrow arrays.
//!
//! | module or item | does |
//! |---|---|
//! | [`walk()`] | hands the values of an array to a [`ColumnVisitor`], by the type of the array |
//! | [`Feed`] | is the visitor that makes batches of keys, as text, integers or hashes |
//! | [`texts_of`] | borrows the texts of a column of text, row by row |
//! | [`numbers`] | reads a column as floats, for sketches of numbers |
//!
//! ```
//! use arrow_array::StringArray;
//! use crivo::distinct::HyperLogLog;
//! use crivo_arrow::{Feed, Stretch};
//!
//! let column = StringArray::from(vec![Some("ana"), None, Some("rui"), Some("ana")]);
//! let mut people = HyperLogLog::new(12)?;
//! let scheme = people.scheme();
//! let mut insert = |stretch: Stretch<'_>| Ok::<(), crivo_arrow::Error>(people.insert_batch(&stretch.keys)?);
//! let mut feed = Feed::new(scheme, &mut insert);
//! feed.column("name", &column)?;
//! assert_eq!(feed.missing(), 1);
//! assert_eq!(people.estimate().value(), 2.0);
//! # Ok::<(), crivo_arrow::Error>(())
//! ```
//!
//! Texts and bytes are read in place. Values of dictionaries and of runs are written and hashed
//! once, not once for each row. Lists, structs, maps, unions, durations and intervals have no text.
//! They give an error that names the type and the column.

#![forbid(unsafe_code)]

mod error;
mod feed;
mod gathered;
pub mod numbers;
mod picked;
mod text_buffer;
mod texts;
mod values;
mod walk;

pub use error::{Error, ErrorKind, Result};
pub use feed::{Feed, Stretch, Take, gather};
pub use gathered::Gathered;
pub use picked::PickedValues;
pub use texts::texts_of;
pub use values::{IntegerValue, Offset, push_instant};
pub use walk::{ColumnVisitor, has_text, walk};
