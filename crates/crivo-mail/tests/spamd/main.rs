//! The protocol over real sockets: recorded exchanges, and clients that misbehave.
//!
//! `spamc_recorded.txt` has what the real `spamc` sends for each of its options and how it reads a
//! reply. `spamd_recorded.txt` has the answers of the real spamd. The judge is scripted, so that
//! every byte of a reply is known.

// A failure should stop the test at once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod clients;
mod recorded;
mod recordings;
mod support;
mod users;
