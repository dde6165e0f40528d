//! The numbers of a picture, in a closed element beneath it.
//!
//! It is for readers who cannot see the picture or want the digits. It exists only if the points
//! are few: a thousand rows are no help, and the description tells what they show.

use maud::{Markup, html};

use crate::{number, text};

/// A picture with more points than this has no table.
pub(crate) const MOST_ROWS: usize = 64;

/// A row: its name, if rows need one, and its numbers; `None` for no number.
pub(crate) struct Row {
    pub(crate) name: Option<String>,
    pub(crate) numbers: Vec<Option<Shown>>,
}

/// A number, and its text.
pub(crate) struct Shown {
    pub(crate) value: f64,
    pub(crate) text: String,
}

impl Shown {
    pub(crate) fn new(value: f64, percent: bool) -> Self {
        let text = if percent { number::percent(value) } else { number::grouped(value) };
        Self { value, text }
    }
}

/// Returns the table, or nothing if there are no rows or too many.
pub(crate) fn numbers_table(caption: &str, headings: &[&str], rows: &[Row]) -> Markup {
    if rows.is_empty() || rows.len() > MOST_ROWS {
        return html! {};
    }
    html! {
        details.numbers {
            summary { "Numbers" span.unseen { " of " (text::shorten(caption, 80)) } }
            div.scroll {
                table {
                    thead {
                        tr {
                            @for heading in headings { th scope="col" { (text::shorten(heading, 40)) } }
                        }
                    }
                    tbody {
                        @for row in rows {
                            tr {
                                @if let Some(name) = &row.name { th scope="row" { bdi { (text::shorten(name, 80)) } } }
                                @for shown in &row.numbers {
                                    @match shown {
                                        Some(shown) => td data-value=(number::exact(shown.value)) { (shown.text) },
                                        None => td {},
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
