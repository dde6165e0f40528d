//! Tests the index on disk: right answers with concurrent readers and writers, after a kill, and
//! from a damaged file.

// What fails here should fail loudly.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod answers;
mod damage;
mod kill;
mod settings;
mod sharing;
mod support;
