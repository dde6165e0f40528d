//! A fair sample.
//!
//! | type | memory | error | merge |
//! |---|---|---|---|
