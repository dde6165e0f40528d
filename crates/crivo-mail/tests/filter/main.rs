//! The filter as its users see it: what it learns, what it says, and what survives.

mod damage;
mod kill;
mod laws;
mod senders;
mod support;
mod young;
