//! One sketch for each group of the rows of files, in bounded memory.
//!
//! [`Grouping`] says which sketch each group has and how much memory there is. Each thread of a
//! pass has a [`GroupWorker`], which finds the groups of a batch of rows and holds their sketches.
//! A worker that holds more than its share writes its groups to a temporary file as a sorted run.
//! At the end [`Grouping::finish`] merges the groups of all threads and runs, part by part of the
//! range of hashes. It returns two things: an answer for each group, in the order of their keys
//! ([`Answers`]), and the bytes of a file with all groups ([`GroupsFile`]).
//!
//! ```
//! use crivo::distinct::HyperLogLog;
//! use crivo::groups::GroupKind;
//! use crivo_groups::Grouping;
//! use crivo_rows::{Input, Scan, Select};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("visits.csv");
//! std::fs::write(&path, "user,page\nana,/\nrui,/\nana,/help\nana,/\n")?;
//! let input = Input::file(&path);
//! let grouping = Grouping::new(GroupKind::new(HyperLogLog::new(12)?, 1)?, 256 << 20, 2);
//! let folded = Scan::of(&input).select(Select::fields(["user", "page"])).fold(
//!     || grouping.worker(),
//!     |worker, batch| worker.add_hashes(batch, 0, 1),
//!     |worker, other| Ok(worker.join(other)),
//! )?;
//! let done = grouping.finish(folded.state, false, &|| false, |key, group, emit| {
//!     let distinct = group.distinct(grouping.kind()).map_or(0.0, |estimate| estimate.value());
//!     emit(key, format!("{} {distinct}", String::from_utf8_lossy(key)).as_bytes())
//! })?;
//! let mut lines = Vec::new();
//! done.answers.for_each(|_, answer| Ok(lines.push(String::from_utf8_lossy(answer).into_owned())))?;
//! assert_eq!(lines, ["/ 2", "/help 1"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Why sorted runs.** Groups that are sorted by hash are merged one at a time, in a few kilobytes
//! for each run, however many groups one part has. So no choice of keys makes a part too large for
//! memory.
//!
//! **Threads.** For sketches whose merge equals the sketch of the joined stream, the bytes are the
//! same with any number of threads and any amount of memory. The others (heavy hitters beyond their
//! capacity) keep their bounds.

#![forbid(unsafe_code)]

mod answers;
mod error;
mod finish;
mod runs;
mod worker;

pub use answers::Answers;
pub use error::{Error, Result};
pub use finish::{Emit, Grouped, GroupsFile};
pub use worker::{GroupWorker, Grouping};
