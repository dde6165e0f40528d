//! How does a mail server get a verdict while the sender still waits?
//!
//! Postfix and Sendmail speak the milter protocol: the mail server sends a packet for each step of
//! a message, and the filter answers at its end with changes. This is protocol 6, written from
//! Sendmail's documentation (`mfdef.h`, `mfapi.h`) and from recorded exchanges with Postfix.
//!
//! | step | home |
//! |---|---|
//! | packets, from any bytes | [`packet`] |
//! | what both sides can do | [`negotiation`] |
//! | a connection: which packet means what, and when | [`session`] |
//! | what the filter answers | [`reply`] |
//! | what happens to spam | [`action`] |
//! | many connections, slow ones, hostile ones | `server` |
//!
//! Everything but the server is a pure function of bytes. Tests replay recorded exchanges, drive it
//! with `miltertest`, and take mail through a real Postfix from acceptance to delivery.
//!
//! # What the server may do to mail
//! It adds the headers that `spamc` adds too, and removes headers of these names that a sender
//! wrote. Spam is only marked unless the administrator chose another action ([`action::OnSpam`]).
//! When the filter fails, mail passes without marks.
//!
//! # Several recipients
//! A mail server passes on one message for all recipients of a transaction, with one head. The
//! store of each recipient judges it, and the mildest verdict counts. So mail that one of them
//! wants is not marked as spam for all.

pub mod action;
pub mod negotiation;
pub mod packet;
pub mod reply;
#[cfg(feature = "serve")]
pub mod server;
pub mod session;
