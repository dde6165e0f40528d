//! The index on disk: right answers, also beside others who read and write, after a kill, and from
//! a damaged file.

// What fails here should fail loudly.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod answers;
mod damage;
mod kill;
mod settings;
mod sharing;
mod support;
