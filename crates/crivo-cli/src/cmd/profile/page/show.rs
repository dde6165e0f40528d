//! Shows values of the report on the page: rounded for people, and in full in an attribute.

use crivo_page::{Cell, number, text};
use maud::{Markup, html};

use super::super::report::Scalar;
use crate::output::Interval;

/// Texts longer than this are cut.
const WIDEST: usize = 32;
/// The most that is shown of a text where there is room.
const LONGEST: usize = 400;

/// Returns a part as a share of the whole.
pub(in crate::cmd) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Shows a name from the file. A long name is cut in the middle, because names often begin alike.
/// An empty name is marked as such.
pub(in crate::cmd) fn name(name: &str) -> Markup {
    cut(name, &text::shorten_middle(name, 40))
}

/// Shows a name with the room of a heading.
pub(in crate::cmd) fn heading(name: &str) -> Markup {
    value(name, LONGEST)
}

/// Shows a value from the file in at most `columns` columns.
pub(in crate::cmd) fn value(value: &str, columns: usize) -> Markup {
    cut(value, &text::shorten(value, columns))
}

fn cut(value: &str, shown: &str) -> Markup {
    if value.is_empty() {
        return html! { span.muted { "(empty)" } };
    }
    let hint = (shown != value).then(|| text::shorten(value, LONGEST));
    html! { bdi title=[hint] { (shown) } }
}

/// Shows a count.
pub(in crate::cmd) fn count(field: &str, value: u64) -> Markup {
    html! { span data-field=(field) data-value=(value) { (number::whole(value)) } }
}

/// Shows a number that is known exactly.
pub(in crate::cmd) fn number(field: &str, value: f64) -> Markup {
    html! { span data-field=(field) data-value=(number::exact(value)) { (number::grouped(value)) } }
}

/// Shows a number with its bounds: `1 702 788 ± 0.8 %`.
pub(in crate::cmd) fn interval(field: &str, interval: &Interval) -> Markup {
    let Interval { value, lower, upper, .. } = *interval;
    let exact = lower == upper;
    let shown = if exact { number::grouped(value) } else { number::grouped(value.round()) };
    marked(
        field,
        interval,
        &html! {
            @if exact { (shown) }
            @else if upper.is_finite() { (shown) " " span.muted { "± " (number::percent((upper - value).max(value - lower) / value)) } }
            @else { "at least " (number::grouped(lower.floor())) }
        },
    )
}

/// Shows a share with its bounds: `12 % (11 % to 13 %)`.
pub(in crate::cmd) fn share_interval(field: &str, interval: &Interval) -> Markup {
    let Interval { value, lower, upper, .. } = *interval;
    marked(
        field,
        interval,
        &html! {
            (number::percent(value))
            @if lower != upper { " " span.muted { "(" (number::percent(lower)) " to " (number::percent(upper)) ")" } }
        },
    )
}

fn marked(field: &str, interval: &Interval, shown: &Markup) -> Markup {
    html! {
        span data-field=(field) data-value=(number::exact(interval.value)) data-lower=(number::exact(interval.lower))
            data-upper=(number::exact(interval.upper)) { (shown) }
    }
}

/// Shows a least or greatest value.
pub(super) fn scalar(field: &str, scalar: &Scalar) -> Markup {
    match scalar {
        Scalar::Integer(integer) => {
            html! { span data-field=(field) data-value=(integer) { (number::whole(*integer)) } }
        }
        Scalar::Float(float) => number(field, *float),
        Scalar::Text(content) => html! { span data-field=(field) { (value(content, WIDEST)) } },
    }
}

/// Returns a least or greatest value as a cell that can be sorted. Texts have no sort value.
pub(super) fn scalar_cell(field: &str, value: Option<&Scalar>) -> Cell {
    let Some(value) = value else { return Cell::empty() };
    // Numbers get the room they need. A text is cut, so that the columns beside it stay visible.
    let cell = match value {
        Scalar::Text(content) => {
            Cell::markup(html! { span data-field=(field) { (self::value(content, 16)) } })
        }
        number => Cell::markup(scalar(field, number)),
    };
    match value {
        Scalar::Integer(integer) => cell.value(*integer as f64),
        Scalar::Float(float) => cell.value(*float),
        Scalar::Text(_) => cell,
    }
}
