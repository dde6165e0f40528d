//! How many events?
//!
//! | type | memory | error | merge |
//! |---|---|---|---|
