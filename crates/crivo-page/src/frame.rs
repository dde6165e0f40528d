//! The frame of a plot: axes, marks, grid, legend.
//!
//! The space around the points depends on the labels. The label of the vertical axis is horizontal
//! and above it, because turned text is hard to read. Marks whose labels would touch are left out.

use maud::{Markup, html};

use crate::axis::Axis;
use crate::marks::{FORMS, Place, coordinate, dots};
use crate::scale::{Mark, Scale, Span};
use crate::series::{Series, Shape};
use crate::text;

/// The width of a letter or digit, in units of the picture. Readers have different fonts, so it is
/// slightly more than most need.
pub(crate) const COLUMN: f64 = 7.1;
/// The height of a line of text.
pub(crate) const LINE: f64 = 18.0;
/// The distance between the outermost points and the edge of the frame.
const INSET: f64 = 6.0;

/// The scales of a plot and the space for their labels.
pub(crate) struct Frame {
    pub(crate) x: Scale,
    pub(crate) y: Scale,
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
    x_marks: Vec<Mark>,
    y_marks: Vec<Mark>,
    legend: Vec<Entry>,
}

/// A name in the legend, and its place.
struct Entry {
    series: usize,
    name: String,
    place: Place,
}

impl Frame {
    pub(crate) fn new(x: &Axis, y: &Axis, series: &[Series], width: f64, height: f64) -> Self {
        let legend = legend(series, width);
        let legend_bottom = legend.last().map_or(0.0, |entry| entry.place.1 + LINE / 2.0 + 4.0);
        let top = legend_bottom + if y.label.is_empty() { 6.0 } else { LINE + 6.0 };
        let bottom = height - if x.label.is_empty() { LINE + 2.0 } else { 2.0 * LINE };

        let y_count = ((bottom - top) / 30.0).clamp(2.0, 8.0) as usize;
        let y_span = y.fixed().unwrap_or_else(|| {
            Span::around(y.kind, series.iter().flat_map(|series| series.ys(x.kind)).chain(y.zero()))
                .map_or(Span::of_nothing(y.kind), |span| span.rounded_outward(y.kind, y_count))
        });
        let y_scale = Scale::new(y.kind, y_span, bottom, top);
        let y_marks = y_scale.marks(y_count, y.percent);

        let left = y_marks.iter().map(|mark| width_of(&mark.label)).fold(8.0, f64::max) + 8.0;
        let x_span = x.fixed().unwrap_or_else(|| {
            Span::around(x.kind, series.iter().flat_map(|series| series.xs(y.kind)).chain(x.zero()))
                .unwrap_or(Span::of_nothing(x.kind))
        });
        let right = width - 14.0;
        let x_scale = Scale::new(x.kind, x_span, left + INSET, right - INSET);
        let x_marks = x_scale.marks(((right - left) / 62.0).clamp(2.0, 10.0) as usize, x.percent);
        let x_marks = without_touching(x_marks, width);
        Self { x: x_scale, y: y_scale, left, right, top, bottom, x_marks, y_marks, legend }
    }

    /// Draws grid, marks and labels, which are beneath the points.
    pub(crate) fn draw(&self, x: &Axis, y: &Axis) -> Markup {
        let (left, right) = (coordinate(self.left), coordinate(self.right));
        let bottom = coordinate(self.bottom);
        html! {
            @for mark in &self.y_marks {
                path.grid d={ "M" (left) " " (coordinate(mark.at)) "H" (right) } {}
                text.tick.end x=(coordinate(self.left - 6.0)) y=(coordinate(mark.at + 4.0)) { (mark.label) }
            }
            path.axis d={ "M" (left) " " (bottom) "H" (right) } {}
            @for mark in &self.x_marks {
                path.axis d={ "M" (coordinate(mark.at)) " " (bottom) "v4" } {}
                text.tick.middle x=(coordinate(mark.at)) y=(coordinate(self.bottom + LINE - 2.0)) { (mark.label) }
            }
            @if !y.label.is_empty() {
                text.label x="2" y=(coordinate(self.top - 10.0)) { (text::shorten(&y.label, 50)) }
            }
            @if !x.label.is_empty() {
                text.label.end x=(right) y=(coordinate(self.bottom + 2.0 * LINE - 4.0)) {
                    (text::shorten(&x.label, 50))
                }
            }
        }
    }

    /// Draws the names of the series, each with a short sample of its line or marks.
    pub(crate) fn draw_legend(&self, series: &[Series]) -> Markup {
        html! {
            @for entry in &self.legend {
                @let (x, y) = entry.place;
                @let line = format!("M{} {}h24", coordinate(x), coordinate(y));
                g class=(class(entry.series)) {
                    @match series[entry.series].shape {
                        Shape::Line | Shape::Steps => path.line d=(line) {},
                        Shape::Dots => path.dot d=(dots([(x + 12.0, y)].into_iter(), entry.series)) {},
                        Shape::Band(_) | Shape::Columns(_) => rect.band x=(coordinate(x)) y=(coordinate(y - 5.0)) width="24" height="10" {},
                    }
                    text.name x=(coordinate(x + 30.0)) y=(coordinate(y + 4.0)) { (entry.name) }
                }
            }
        }
    }
}

/// Returns the class that gives a series its colour and dashes.
pub(crate) fn class(series: usize) -> String {
    format!("s{}", series % FORMS)
}

/// Returns the approximate width of a drawn text.
pub(crate) fn width_of(text: &str) -> f64 {
    text::columns(text) as f64 * COLUMN
}

/// Places names from left to right, in as many lines as needed. Returns none for fewer than two
/// series.
fn legend(series: &[Series], width: f64) -> Vec<Entry> {
    let mut entries = Vec::new();
    if series.len() < 2 {
        return entries;
    }
    let (mut x, mut y) = (2.0, 9.0);
    for (index, one) in series.iter().enumerate().filter(|(_, one)| !one.name.is_empty()) {
        let name = text::shorten(&one.name, 44);
        let wide = 30.0 + width_of(&name);
        if x > 2.0 && x + wide > width {
            (x, y) = (2.0, y + LINE);
        }
        entries.push(Entry { series: index, name, place: (x, y) });
        x += wide + 14.0;
    }
    entries
}

/// Returns the marks from left to right, without those whose labels would touch the label before or
/// the edge.
fn without_touching(marks: Vec<Mark>, width: f64) -> Vec<Mark> {
    let mut free_from = 0.0;
    marks
        .into_iter()
        .filter(|mark| {
            let half = width_of(&mark.label) / 2.0;
            let fits = mark.at - half >= free_from && mark.at + half <= width + 2.0;
            if fits {
                free_from = mark.at + half + 6.0;
            }
            fits
        })
        .collect()
}
