//! A question about the last day only?
//!
//! | type | memory | error | merge |
//! |---|---|---|---|
//! | [`Panes`] | one sketch for each pane that was used | that of the sketch; the window is exact to one pane | pane by pane, as the sketch merges |
//!
//! A sketch cannot forget an item. So a sketch of a moving window is many sketches of short times,
//! and the oldest ones are dropped. Any sketch that merges can be used for a window; [`Pane`] says
//! what a pane requires.

mod pane;
pub mod panes;

pub use pane::Pane;
pub use panes::Panes;
