//! Shows the parts of a whole.
//!
//! A [`Strip`] is one bar divided into parts, with their names and shares beneath it in the same
//! order. A missing part of the whole, such as empty rows, is an outline. [`meter`] is one share as
//! a bar of the size of a word, for a cell beside its number.

use maud::{Markup, PreEscaped, html};

use crate::frame::{LINE, class, width_of};
use crate::marks::coordinate;
use crate::{number, style, text};

const WIDTH: f64 = 400.0;
const THICK: f64 = 16.0;

/// The parts of a whole, side by side.
#[derive(Debug, Clone)]
pub struct Strip {
    title: String,
    description: String,
    parts: Vec<StripSegment>,
}

#[derive(Debug, Clone)]
struct StripSegment {
    label: String,
    amount: f64,
    missing: bool,
}

impl Strip {
    /// Returns a whole without parts. The description is one sentence for screen readers.
    pub fn new(title: impl Into<String>, description: impl Into<String>) -> Self {
        Self { title: title.into(), description: description.into(), parts: Vec::new() }
    }

    /// Adds a part to the right. Amounts below zero and those that are not numbers count as zero.
    #[must_use]
    pub fn part(self, label: impl Into<String>, amount: f64) -> Self {
        self.with(label, amount, false)
    }

    /// Adds a missing part, which is drawn as an outline.
    #[must_use]
    pub fn missing(self, label: impl Into<String>, amount: f64) -> Self {
        self.with(label, amount, true)
    }

    fn with(mut self, label: impl Into<String>, amount: f64, missing: bool) -> Self {
        let amount = if amount > 0.0 { amount.min(1e300) } else { 0.0 };
        self.parts.push(StripSegment { label: label.into(), amount, missing });
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

    /// Returns the picture under its title. The picture includes its numbers.
    pub fn figure(&self) -> Markup {
        html! { figure.picture { figcaption { (text::visible(&self.title)) } (self.svg()) } }
    }

    fn draw(&self, own_style: Option<String>) -> Markup {
        let largest = self.parts.iter().map(|part| part.amount).fold(0.0, f64::max);
        // Amounts are divided before they are added, so that the sum of the largest numbers stays
        // finite.
        let sizes: Vec<f64> =
            self.parts.iter().map(|part| if largest > 0.0 { part.amount / largest } else { 0.0 }).collect();
        let whole: f64 = sizes.iter().sum();
        let shares: Vec<f64> =
            sizes.iter().map(|size| if whole > 0.0 { size / whole } else { 0.0 }).collect();
        let names: Vec<String> = self
            .parts
            .iter()
            .zip(&shares)
            .map(|(part, &share)| format!("{} {}", text::shorten(&part.label, 24), number::percent(share)))
            .collect();
        let places = wrapped(&names);
        let height = places.last().map_or(THICK, |&(_, y)| y + 8.0);
        let namespace = own_style.is_some().then_some("http://www.w3.org/2000/svg");
        let lefts =
            shares.iter().scan(0.0, |left, share| Some(std::mem::replace(left, *left + share * WIDTH)));
        let lefts: Vec<f64> = lefts.collect();
        html! {
            svg.plot.strip xmlns=[namespace] role="img" viewBox={ "0 0 " (coordinate(WIDTH)) " " (coordinate(height)) } {
                title { (text::visible(&self.title)) }
                desc { (text::visible(&self.description)) }
                @if let Some(style) = own_style { style { (PreEscaped(style)) } }
                @for (index, part) in self.parts.iter().enumerate() {
                    @let wide = shares[index] * WIDTH;
                    @let (x, y) = places[index];
                    g class=(class(index)) {
                        @if wide > 0.0 { (block(part, lefts[index], 0.0, (wide - 1.5).max(0.7), THICK)) }
                        (block(part, x, y - 6.0, 10.0, 10.0))
                        text.name x=(coordinate(x + 15.0)) y=(coordinate(y + 3.0)) { (names[index]) }
                    }
                }
            }
        }
    }
}

fn block(part: &StripSegment, x: f64, y: f64, width: f64, height: f64) -> Markup {
    // Half of an outline's width is on each side of the edge.
    let (kind, edge) = if part.missing { ("void", 0.6) } else { ("block", 0.0) };
    html! {
        rect class=(kind) x=(coordinate(x + edge)) y=(coordinate(y + edge)) width=(coordinate((width - 2.0 * edge).max(0.2)))
            height=(coordinate(height - 2.0 * edge)) rx="2" {}
    }
}

/// Returns the positions of the names, in as many lines as they need.
fn wrapped(names: &[String]) -> Vec<(f64, f64)> {
    let (mut x, mut y) = (0.0, THICK + LINE - 4.0);
    names
        .iter()
        .map(|name| {
            let wide = 15.0 + width_of(name);
            if x > 0.0 && x + wide > WIDTH {
                (x, y) = (0.0, y + LINE);
            }
            let place = (x, y);
            x += wide + 12.0;
            place
        })
        .collect()
}

/// Returns a share between 0 and 1 as a bar of the height of a word. Its number must be shown
/// beside it.
pub fn meter(share: f64) -> Markup {
    let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
    // Any share above zero must be visible.
    let wide = if share > 0.0 { (56.0 * share).max(1.5) } else { 0.0 };
    html! {
        svg.meter aria-hidden="true" viewBox="0 0 56 8" {
            rect.back width="56" height="8" rx="2" {}
            @if wide > 0.0 { rect.block width=(coordinate(wide)) height="8" rx="2" {} }
        }
    }
}
