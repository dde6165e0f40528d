//! `crivo mail serve` as its users see it: through the real `spamc`, Postfix and Dovecot, in
//! recipes of procmail and maildrop, by hand-written HTTP, in a browser, and by many clients at
//! once.
//!
//! The programs come from Debian; `cargo xtask test` installs those that are missing.

// A failure should stop the test at once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::format_push_string)]
#![cfg(unix)]

mod backup;
mod browser;
mod dovecot;
mod life;
mod mail;
mod milter;
mod page;
mod recipes;
mod running;
mod soak;
mod spamc;
mod support;
mod unwritable;
mod watch;
