//! Records in a file, nothing believed without its checksum.
//!
//! **Question.** How does something that was learned stay learned: through kills and power cuts,
//! beside others who read and write, and without ever answering from damaged bytes?
//!
//! **Idea.** The file is an SQLite database with a write-ahead journal: a few [tables](Table) of
//! numbered records. SQLite keeps commits whole, but does not notice when a byte of a page changes.
//! So every record ends with a checksum that is seeded with the place where it belongs
//! ([`seal`](seal())).
//!
//! **Guarantees.**
//!
//! - A new file appears [whole or not at all](File::create).
//! - A commit is on the disk when [`File::commit`] returns (`synchronous = FULL`); what was not
//!   committed is gone when the file is opened again, and nothing else is.
//! - Any number of processes read while one writes, each one committed state. A second writer
//!   waits, and is [refused](Problem::Busy) when its patience ends.
//! - A record that was changed, or that damage shows in the place of another, is an error that
//!   names it. Records that are *gone* are noticed by a caller that [needs](File::need) them;
//!   records that may be absent have to be counted elsewhere.
//! - A file that cannot be written, as in a snapshot, can be read, unless commits are in a journal
//!   beside it.
//! - Of a damaged journal SQLite takes the commits before the damage: the last ones may be undone,
//!   each as a whole.
//!
//! What the tables are, what is in a record and what to tell the user is the business of the crate
//! that keeps them: it implements [`Table`] for the enum of its tables, and [`File`] speaks in its
//! errors.
//!
//! **When not to use it.** On network file systems, where the locks that keep writers apart may not
//! work.
//!
//! **Sources.** SQLite: *Write-ahead logging*; *How to corrupt an SQLite database file*.

#![forbid(unsafe_code)]
// Every function that fails does so with a `Problem`, and each of those says when it comes.
#![allow(clippy::missing_errors_doc)]

mod file;
mod format;
mod problem;
mod seal;
#[cfg(feature = "victim")]
pub mod victim;

pub use file::{File, Transaction};
pub use format::{Format, Table, Words};
pub use problem::Problem;
pub use seal::{SEAL, seal, unseal};
