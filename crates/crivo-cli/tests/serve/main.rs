//! `crivo mail serve` as its users meet it: through the real `spamc`, Postfix and Dovecot, in
//! recipes of procmail and maildrop, by hand-written HTTP, in a browser, and by many at once.
//!
//! The programs come from Debian; `cargo xtask test` installs those that are missing.

// What fails here should fail loudly.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::format_push_string)]
#![cfg(unix)]

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
mod watch;
