//! Pages with pictures that open anywhere: one file, without network or installation.
//!
//! A result that a user keeps, mails or prints should still open in ten years. So a [`Page`] is one
//! HTML file with its own style and script. Its content policy allows nothing else: no other
//! script, no request, no handler in an attribute. Pictures are SVG, written by this crate. A plot
//! of points with error bars takes two hundred lines, and a plotting library adds fonts and raster
//! images, and does not support screen readers.
//!
//! | to show | use |
//! |---|---|
//! | a document | [`Page`] |
//! | one number as a function of another, with bounds | [`Plot`], of [`Series`] along two [`Axis`] |
//! | amounts of named things, with bounds | [`Bars`], of [`Bar`] |
//! | parts of a whole | [`Strip`]; inside a cell [`meter`] |
//! | connections between things | [`Graph`] |
//! | rows that a reader sorts and searches | [`Table`], of [`Column`] and [`Cell`] |
//! | anything else, around them | [`maud::html!`]: pictures and tables are [`Markup`] |
//! | a number or a text from outside, inside a paragraph | [`number`], [`text`] |
//!
//! All of them share these properties:
//!
//! - **Any input gives a valid page.** Text is escaped. Characters that would control the display
//!   are made visible. Keys of a megabyte are cut between characters. For NaN, infinite numbers,
//!   and empty or equal ranges, the parts without a place are left out. Nothing panics.
//! - **Light, dark and paper.** Colours are CSS variables that follow the reader's preference.
//! - **Not by colour alone.** Series differ in dashes and marks as well.
//! - **Without sight or a mouse.** A picture has a title, a description and, if it has few points,
//!   a table of its numbers. Tables sort by buttons in their headings.
//!
//! ```
//! use crivo_page::{Axis, Page, Plot, Series};
//!
//! let plot = Plot::new("Error of the estimate", "The error halves when the memory is fourfold.")
//!     .x(Axis::log("bytes"))
//!     .y(Axis::linear("relative error").percent())
//!     .series(Series::line("theory", (6..=14).map(|b| ((1 << b) as f64, 1.04 / ((1 << b) as f64).sqrt()))));
//! let html = Page::new("One plot").lead("And nothing else.").body(plot.figure()).to_html();
//! assert!(html.starts_with("<!DOCTYPE html>") && html.contains("Content-Security-Policy"));
//! ```

mod axis;
mod bars;
mod frame;
mod graph;
mod marks;
mod numbers_table;
mod page;
mod plot;
mod scale;
mod series;
mod strip;
mod style;
mod table;

pub mod number;
pub mod text;

/// The macro names `maud` itself, so a crate that uses it must depend on `maud` as well.
pub use maud::html;
pub use maud::{Markup, PreEscaped};

pub use self::axis::Axis;
pub use self::bars::{Bar, Bars};
pub use self::graph::Graph;
pub use self::page::{Page, Parts};
pub use self::plot::Plot;
pub use self::series::Series;
pub use self::strip::{Strip, meter};
pub use self::table::{Cell, Column, Table};
