//! How the page writes a value of the report: for eyes, and in full beside it.

use crivo_page::{Cell, number, text};
use maud::{Markup, html};

use super::super::report::Scalar;
use crate::output::Interval;

/// Texts longer than this are cut.
const WIDEST: usize = 32;
/// What is told of a text at most, where there is room.
const LONGEST: usize = 400;

/// How much of a whole.
pub(in crate::cmd) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// A name from the file, cut in the middle if it is long, because names begin alike; one that is
/// empty is said to be.
pub(in crate::cmd) fn name(name: &str) -> Markup {
    cut(name, &text::shorten_middle(name, 40))
}

/// A name with the room that a heading has.
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

/// A count.
pub(in crate::cmd) fn count(field: &str, value: u64) -> Markup {
    html! { span data-field=(field) data-value=(value) { (number::whole(value)) } }
}

/// A number that is known exactly.
pub(in crate::cmd) fn number(field: &str, value: f64) -> Markup {
    html! { span data-field=(field) data-value=(number::exact(value)) { (number::grouped(value)) } }
}

/// A number with its bounds: `1 702 788 ± 0.8 %`.
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

/// A share with its bounds: `12 % (11 % to 13 %)`.
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

/// A least or greatest value.
pub(super) fn scalar(field: &str, scalar: &Scalar) -> Markup {
    match scalar {
        Scalar::Integer(integer) => {
            html! { span data-field=(field) data-value=(integer) { (number::whole(*integer)) } }
        }
        Scalar::Float(float) => number(field, *float),
        Scalar::Text(content) => html! { span data-field=(field) { (value(content, WIDEST)) } },
    }
}

/// The same as a cell that sorts; texts have no place among numbers.
pub(super) fn scalar_cell(field: &str, value: Option<&Scalar>) -> Cell {
    let Some(value) = value else { return Cell::empty() };
    // Numbers have the room they need; a text is cut, so that the columns beside it stay in sight.
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
