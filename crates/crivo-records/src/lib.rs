//! Records in a file, none of them trusted without its checksum.
//!
//! **Question.** How does learned data survive kills and power cuts, beside other processes that
//! read and write, without ever answering from damaged bytes?
//!
//! **Idea.** The file is an SQLite database with a write-ahead journal: a few [tables](Table) of
//! numbered records. SQLite keeps commits whole, but does not notice when a byte of a page changes.
//! So every record ends with a checksum that is seeded with the place where it belongs
//! ([`seal`](seal())).
//!
//! **Guarantees.**
//!
//! - A new file appears [whole or not at all](File::create).
//! - A commit is on the disk when [`File::commit`] returns (`synchronous = FULL`). Changes that
//!   were not committed are gone when the file is opened again, and nothing else is.
//! - Any number of processes read while one writes. Each reads one committed state. A second writer
//!   waits, and is [refused](Problem::Busy) when its patience ends.
//! - A record that was changed, or that damage shows in the place of another, is an error that
//!   names it. *Missing* records are noticed by a caller that [needs](File::need) them. Records
//!   that may be absent have to be counted elsewhere.
//! - A file that cannot be written, as in a snapshot, can be read, unless commits are in a journal
//!   beside it.
//! - Of a damaged journal SQLite takes the commits before the damage. So the last commits may be
//!   undone, each as a whole.
//!
//! The crate that keeps the file decides which tables there are, what a record contains and what to
//! tell the user. It implements [`Table`] for the enum of its tables, and [`File`] returns the
//! errors of that crate.
//!
//! **When not to use it.** On network file systems, where the locks that keep writers apart may not
//! work.
//!
//! **Sources.** SQLite: *Write-ahead logging*; *How to corrupt an SQLite database file*.

#![forbid(unsafe_code)]
// Every function that fails returns a `Problem`, and each of those says when it occurs.
#![allow(clippy::missing_errors_doc)]

mod file;
mod format;
mod problem;
mod seal;
#[cfg(feature = "victim")]
pub mod victim;

pub use file::{File, Transaction};
pub use format::{Format, Table, Wording};
pub use problem::Problem;
pub use seal::{SEAL, seal, unseal};
