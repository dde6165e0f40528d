//! Is it in there?
//!
//! | type | memory | error | merge |
//! |---|---|---|---|
