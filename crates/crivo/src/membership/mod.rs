//! Is it in there?
//!
//! | type | memory | error | merge |
//! |---|---|---|---|

mod occupancy;
mod sizing;
