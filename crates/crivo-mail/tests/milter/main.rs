//! The milter protocol: the recorded exchange with Postfix, mutations of it, and mail servers that
//! misbehave.

// A failure should stop the test at once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod recorded;
#[allow(dead_code)] // exchanges of spamd are read by its own tests
#[path = "../spamd/recordings.rs"]
mod recordings;
mod servers;
#[allow(dead_code)] // the server of spamd is started by its own tests
#[path = "../spamd/support.rs"]
mod support;
