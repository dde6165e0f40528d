//! A server for mail systems that already speak spamd's protocol.
//!
//! SpamAssassin's `spamc` is in every distribution and in thousands of procmail recipes, exim and
//! Postfix set-ups. A server that answers it needs no client of its own:
//!
//! | step | home |
//! |---|---|
//! | the head of a request, from any bytes | [`request`] |
//! | the message behind it: length, half-close, compression | [`body`] |
//! | judging, learning and forgetting | [`answer`] |
//! | replies, points, explanations | [`reply`], [`marks`](crate::marks) |
//! | the answers to requests that cannot be served | [`refusal`] |
//! | many connections, slow ones, hostile ones | `server` |
//!
//! Everything but the server is a pure function of bytes. Tests compare it with recorded exchanges
//! of the original, and drive it with the real `spamc`.

pub mod answer;
pub mod body;
pub mod refusal;
pub mod reply;
pub mod request;
#[cfg(feature = "serve")]
pub mod server;
