//! The filter as its users see it: what it learns, what it says, and what survives.

// What fails here should fail loudly.
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
