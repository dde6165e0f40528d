//! The protocol over real sockets: recorded exchanges, and clients that misbehave.
//!
//! `spamc_recorded.txt` holds what the real `spamc` sends for each of its options and what it made
//! of a reply; `spamd_recorded.txt` what the real spamd answers. The judge is made up here, so that
//! every byte of a reply can be foreseen.

// What fails here should fail loudly.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod clients;
mod recorded;
mod recordings;
mod support;
mod users;
