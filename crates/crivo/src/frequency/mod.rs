//! How often, and which most often?
//!
//! | type | memory | error | merge |
//! |---|---|---|---|
