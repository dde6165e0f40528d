//! Amounts of named things as bars, with their bounds.
//!
//! Bars are horizontal, because names are written horizontally. Names of any length share at most
//! half of the width. The picture itself cuts longer ones there, in any font. When the mouse is
//! over a name, the whole name is shown (up to a sensible length).

use std::collections::HashSet;

use maud::{Markup, PreEscaped, html};

use crate::frame::{COLUMN, width_of};
use crate::marks::coordinate;
use crate::number;
use crate::numbers_table::{Row, Shown, numbers_table};
use crate::scale::{Kind, Scale, Span};
use crate::{style, text};

const ROW: f64 = 24.0;
const THICK: f64 = 13.0;
const WIDTH: f64 = 400.0;
/// The share of the width that names may take.
const LABELS: f64 = 0.44;

/// Amounts as horizontal bars from zero.
#[derive(Debug, Clone)]
pub struct Bars {
    title: String,
    description: String,
    percent: bool,
    most: Option<f64>,
    rows: Vec<Bar>,
}

/// One bar: a name, an amount and, if it is not exact, its bounds.
#[derive(Debug, Clone)]
pub struct Bar {
    label: String,
    value: f64,
    bounds: Option<(f64, f64)>,
    note: String,
}

impl Bar {
    /// Returns a bar of this length. A value that is not a number gets no bar.
    pub fn new(label: impl Into<String>, value: f64) -> Self {
        Self { label: label.into(), value, bounds: None, note: String::new() }
    }

    /// Adds the bounds of the true value.
    #[must_use]
    pub fn whisker(mut self, lower: f64, upper: f64) -> Self {
        self.bounds = Some((lower, upper));
        self
    }

    /// Sets the text at the end of the bar, which is the value by default.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }
}

impl Bars {
    /// Returns a picture without bars. The description is one sentence for screen readers.
    pub fn new(title: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            description: description.into(),
            percent: false,
            most: None,
            rows: Vec::new(),
        }
    }

    /// Adds a bar below the others.
    #[must_use]
    pub fn bar(mut self, bar: Bar) -> Self {
        self.rows.push(bar);
        self
    }

    /// Shows values as shares: 0.01 is written `1 %`.
    #[must_use]
    pub fn percent(mut self) -> Self {
        self.percent = true;
        self
    }

    /// Sets the amount of the full width, even if no bar reaches it.
    #[must_use]
    pub fn out_of(mut self, most: f64) -> Self {
        self.most = Some(most);
        self
    }

    /// Returns the picture alone, for a page that has the style of a [`Page`](crate::Page).
    pub fn svg(&self) -> Markup {
        self.draw(None)
    }

    /// Returns the picture as a separate file, which includes the light and dark styles.
    pub fn to_svg_file(&self) -> String {
        self.draw(Some(style::for_picture())).into_string()
    }

    /// Returns the picture under its title, with the table of its numbers if they are few.
    pub fn figure(&self) -> Markup {
        let bounded =
            self.rows.iter().any(|bar| bar.bounds.is_some_and(|bounds| bounds != (bar.value, bar.value)));
        let headings = if bounded { vec!["", "value", "at least", "at most"] } else { vec!["", "value"] };
        let shown = |value| Some(Shown::new(value, self.percent));
        let rows: Vec<Row> = self
            .rows
            .iter()
            .map(|bar| {
                let mut numbers = vec![shown(bar.value)];
                if bounded {
                    numbers.push(bar.bounds.and_then(|(low, _)| shown(low)));
                    numbers.push(bar.bounds.and_then(|(_, high)| shown(high)));
                }
                Row { name: Some(bar.label.clone()), numbers }
            })
            .collect();
        html! {
            figure.picture {
                figcaption { (text::visible(&self.title)) }
                (self.svg())
                (numbers_table(&self.title, &headings, &rows))
            }
        }
    }

    fn draw(&self, own_style: Option<String>) -> Markup {
        let labels = labels(&self.rows);
        let amounts: Vec<String> = self.rows.iter().map(|bar| text::shorten(&self.amount(bar), 24)).collect();
        let widest = |texts: &[String], most: f64| {
            texts.iter().map(|text| width_of(text)).fold(0.0, f64::max).min(most)
        };
        // A short name may have only wide letters, wider than the average that `widest` assumes.
        let left = widest(&labels, LABELS * WIDTH) + COLUMN + 8.0;
        let right = WIDTH - widest(&amounts, 0.3 * WIDTH) - 8.0;
        let scale = Scale::new(Kind::Linear, self.span(), left, right);
        let height = coordinate((self.rows.len() as f64 * ROW).max(ROW));
        let namespace = own_style.is_some().then_some("http://www.w3.org/2000/svg");
        html! {
            svg.plot.bars xmlns=[namespace] role="img" viewBox={ "0 0 " (coordinate(WIDTH)) " " (height) } {
                title { (text::visible(&self.title)) }
                desc { (text::visible(&self.description)) }
                @if let Some(style) = own_style { style { (PreEscaped(style)) } }
                @for (index, (bar, (label, amount))) in self.rows.iter().zip(labels.iter().zip(&amounts)).enumerate() {
                    @let middle = (index as f64 + 0.5) * ROW;
                    g.s0 {
                        title { (self.told(bar)) }
                        // A nested picture cuts off a name that is wider than expected.
                        svg x="0" y=(coordinate(middle - ROW / 2.0)) width=(coordinate(left - 6.0)) height=(coordinate(ROW)) {
                            text.name y=(coordinate(ROW / 2.0 + 4.0)) { (label) }
                        }
                        (draw_bar(&scale, bar, middle))
                        text.amount.end x=(coordinate(WIDTH)) y=(coordinate(middle + 4.0)) { (amount) }
                    }
                }
                @if let Some(zero) = scale.place(0.0) {
                    path.axis d={ "M" (coordinate(zero)) " 2V" (coordinate(self.rows.len() as f64 * ROW - 2.0)) } {}
                }
            }
        }
    }

    /// Returns the span from zero to the longest bar or bound.
    fn span(&self) -> Span {
        let bounds = self.rows.iter().filter_map(|bar| bar.bounds).flat_map(|(low, high)| [low, high]);
        let values = self.rows.iter().map(|bar| bar.value);
        Span::around(Kind::Linear, values.chain(bounds).chain(self.most).chain([0.0]))
            .unwrap_or(Span::of_nothing(Kind::Linear))
    }

    fn amount(&self, bar: &Bar) -> String {
        match (&bar.note, self.percent) {
            (note, _) if !note.is_empty() => note.clone(),
            (_, true) => number::percent(bar.value),
            _ => number::short(bar.value),
        }
    }

    fn told(&self, bar: &Bar) -> String {
        let written = |value| if self.percent { number::percent(value) } else { number::grouped(value) };
        let bounds = bar.bounds.filter(|(low, high)| low != high);
        let bounds = bounds.map(|(low, high)| format!(" ({} to {})", written(low), written(high)));
        format!("{}: {}{}", text::shorten(&bar.label, 200), written(bar.value), bounds.unwrap_or_default())
    }
}

/// Returns the names cut to their space: in the middle if their beginnings would look the same.
fn labels(bars: &[Bar]) -> Vec<String> {
    let columns = (LABELS * WIDTH / COLUMN) as usize;
    let beginnings: Vec<String> = bars.iter().map(|bar| text::shorten(&bar.label, columns)).collect();
    let alike = beginnings.iter().collect::<HashSet<_>>().len() < beginnings.len();
    if !alike {
        return beginnings;
    }
    bars.iter().map(|bar| text::shorten_middle(&bar.label, columns)).collect()
}

fn draw_bar(scale: &Scale, bar: &Bar, middle: f64) -> Markup {
    let zero = scale.place(0.0);
    let ends = zero.zip(scale.place(bar.value)).map(|(zero, end)| (zero.min(end), zero.max(end)));
    let whisker = bar.bounds.filter(|(low, high)| low != high).and_then(|(low, high)| {
        let (low, high) = (scale.place(low)?, scale.place(high)?);
        Some(format!(
            "M{0} {1}v7m0-3.5H{2}m0-3.5v7",
            coordinate(low.min(high)),
            coordinate(middle - 3.5),
            coordinate(low.max(high))
        ))
    });
    html! {
        @if let Some((from, to)) = ends {
            rect.bar x=(coordinate(from)) y=(coordinate(middle - THICK / 2.0)) width=(coordinate((to - from).max(1.0)))
                height=(coordinate(THICK)) rx="2" {}
        }
        @if let Some(whisker) = whisker { path.whisker d=(whisker) {} }
    }
}
