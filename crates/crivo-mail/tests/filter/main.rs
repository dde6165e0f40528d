//! The filter as its users see it: its lessons, its answers, and what it keeps after a failure.

// A failure should stop the test at once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod authentication;
mod damage;
mod headers;
mod kill;
mod languages;
mod laws;
mod lists;
mod older;
mod others;
mod senders;
mod support;
mod wrong_labels;
mod young;
