//! Plots of one number as a function of another, with bounds.
//!
//! A plot is drawn for a width of 400 units with text of 12 units. So it is readable on a phone at
//! this size, and enlarged on a large screen. Lines outside of a requested range are cut off at the
//! frame; marks of points are drawn whole or not at all.

use maud::{Markup, PreEscaped, html};

use crate::axis::Axis;
use crate::frame::{Frame, class};
use crate::marks::{Place, area, coordinate, dots, line, steps, whiskers};
use crate::numbers_table::{MOST_ROWS, Row, Shown, numbers_table};
use crate::series::{Series, Shape};
use crate::{style, text};

/// The most points that show their numbers when the mouse is over them.
const POINTS_THAT_TELL: usize = 64;

/// A picture of [`Series`] along two axes.
#[derive(Debug, Clone)]
pub struct Plot {
    title: String,
    description: String,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
    width: f64,
    height: f64,
}

impl Plot {
    /// Returns a plot without points. The description is one sentence for screen readers, which
    /// tells what the picture shows, not what it looks like.
    pub fn new(title: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            description: description.into(),
            x: Axis::linear(""),
            y: Axis::linear(""),
            series: Vec::new(),
            width: 400.0,
            height: 250.0,
        }
    }

    /// Sets the axis from left to right.
    #[must_use]
    pub fn x(mut self, axis: Axis) -> Self {
        self.x = axis;
        self
    }

    /// Sets the axis from bottom to top.
    #[must_use]
    pub fn y(mut self, axis: Axis) -> Self {
        self.y = axis;
        self
    }

    /// Adds a series. The first six differ in colour and form. The last one is drawn on top.
    #[must_use]
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// Sets other proportions than 400 to 250 units. Text stays 12 units high.
    #[must_use]
    pub fn size(mut self, width: u16, height: u16) -> Self {
        (self.width, self.height) = (f64::from(width.max(160)), f64::from(height.max(120)));
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
        html! {
            figure.picture {
                figcaption { (text::visible(&self.title)) }
                (self.svg())
                (self.numbers())
            }
        }
    }

    fn draw(&self, own_style: Option<String>) -> Markup {
        let frame = Frame::new(&self.x, &self.y, &self.series, self.width, self.height);
        let (left, top) = (coordinate(frame.left), coordinate(frame.top));
        let (width, height) = (coordinate(frame.right - frame.left), coordinate(frame.bottom - frame.top));
        let namespace = own_style.is_some().then_some("http://www.w3.org/2000/svg");
        html! {
            svg.plot xmlns=[namespace] role="img" viewBox={ "0 0 " (coordinate(self.width)) " " (coordinate(self.height)) } {
                title { (text::visible(&self.title)) }
                desc { (text::visible(&self.description)) }
                @if let Some(style) = own_style { style { (PreEscaped(style)) } }
                (frame.draw(&self.x, &self.y))
                @if !self.shows_anything() {
                    text.label.middle x=(coordinate(f64::midpoint(frame.left, frame.right)))
                        y=(coordinate(f64::midpoint(frame.top, frame.bottom))) { "nothing to show" }
                }
                // A nested picture cuts off lines outside of it.
                svg x=(left) y=(top) width=(width) height=(height) viewBox={ (left) " " (top) " " (width) " " (height) } {
                    @for (index, series) in self.series.iter().enumerate() { (lines(&frame, series, index)) }
                }
                @for (index, series) in self.series.iter().enumerate() { (self.points(&frame, series, index)) }
                (frame.draw_legend(&self.series))
            }
        }
    }

    /// Returns true if any point has a place.
    fn shows_anything(&self) -> bool {
        self.series.iter().any(|series| series.xs(self.y.kind).any(|x| self.x.kind.has_place_for(x)))
    }

    /// Draws the marks and whiskers of a series, which are on top of its lines.
    fn points(&self, frame: &Frame, series: &Series, index: usize) -> Markup {
        let place = |&(x, y): &(f64, f64)| Some((frame.x.place_inside(x)?, frame.y.place_inside(y)?));
        let bounded = if series.shaded { &[] } else { series.bounds.as_slice() };
        let bounds = whiskers(series.points.iter().zip(bounded).filter_map(|(&(x, _), &bounds)| {
            let (low, high) = self.bounds_inside(frame, bounds)?;
            Some((frame.x.place_inside(x)?, low, high))
        }));
        let with_marks = series.shape == Shape::Dots;
        let telling = with_marks && series.points.len() <= POINTS_THAT_TELL;
        html! {
            @if with_marks || !bounds.is_empty() {
                g class=(class(index)) {
                    @if !bounds.is_empty() { path.whisker d=(bounds) {} }
                    @if telling {
                        @for (number, point) in series.points.iter().enumerate() {
                            @if let Some(place) = place(point) {
                                path.dot d=(dots([place].into_iter(), index)) {
                                    title { (self.told(series, *point, series.bounds.get(number))) }
                                }
                            }
                        }
                    } @else if with_marks {
                        path.dot d=(dots(series.points.iter().filter_map(place), index)) {}
                    }
                }
            }
        }
    }

    /// Returns both ends of a whisker, cut off at the frame, or `None` if no part of it is inside.
    fn bounds_inside(&self, frame: &Frame, (one, other): (f64, f64)) -> Option<(f64, f64)> {
        let end = |bound: f64| match bound {
            f64::INFINITY => Some(frame.top),
            // A logarithmic axis has no zero, but the upper part of a whisker to zero is visible.
            bound
                if bound == f64::NEG_INFINITY || (bound <= 0.0 && self.y.kind == crate::scale::Kind::Log) =>
            {
                Some(frame.bottom)
            }
            bound => frame.y.place(bound),
        };
        let (low, high) = (end(one)?.max(end(other)?), end(one)?.min(end(other)?));
        (high <= frame.bottom && low >= frame.top).then(|| (low.min(frame.bottom), high.max(frame.top)))
    }

    /// Describes a point in words.
    fn told(&self, series: &Series, (x, y): (f64, f64), bounds: Option<&(f64, f64)>) -> String {
        let name = text::shorten(&series.name, 60);
        let bounds = bounds
            .map(|&(low, high)| format!(" ({} to {})", self.y.shown(low), self.y.shown(high)))
            .unwrap_or_default();
        let point = format!("{}: {}{bounds}", self.x.shown(x), self.y.shown(y));
        if name.is_empty() { point } else { format!("{name}, {point}") }
    }

    fn numbers(&self) -> Markup {
        let count: usize = self.series.iter().map(|series| series.points.len()).sum();
        if count > MOST_ROWS {
            return html! {};
        }
        let named = self.series.len() > 1;
        let bounded = self.series.iter().any(Series::is_bounded);
        let (x, y) = (or(&self.x.label, "x"), or(&self.y.label, "y"));
        let mut headings = if named { vec!["series", x, y] } else { vec![x, y] };
        if bounded {
            headings.extend(["at least", "at most"]);
        }
        let rows: Vec<Row> =
            self.series.iter().flat_map(|series| self.rows(series, named, bounded)).collect();
        numbers_table(&self.title, &headings, &rows)
    }

    fn rows(&self, series: &Series, named: bool, bounded: bool) -> Vec<Row> {
        let shown = |value| Some(Shown::new(value, self.y.percent));
        let row = |(index, &(x, y)): (usize, &(f64, f64))| {
            let mut numbers = vec![Some(Shown::new(x, self.x.percent))];
            let (value, bounds) = match &series.shape {
                Shape::Band(upper) => (None, upper.get(index).map(|&(_, upper)| (y, upper))),
                _ => (shown(y), series.bounds.get(index).copied()),
            };
            numbers.push(value);
            if bounded {
                numbers.push(bounds.and_then(|(low, _)| shown(low)));
                numbers.push(bounds.and_then(|(_, high)| shown(high)));
            }
            Row { name: named.then(|| series.name.clone()), numbers }
        };
        series.points.iter().enumerate().map(row).collect()
    }
}

/// Draws the lines and areas of a series.
fn lines(frame: &Frame, series: &Series, index: usize) -> Markup {
    let places = |points: &[(f64, f64)]| -> Vec<Option<Place>> {
        points.iter().map(|&(x, y)| Some((frame.x.place(x)?, frame.y.place(y)?))).collect()
    };
    let (kind, path) = match &series.shape {
        Shape::Columns(half) => ("bar", columns(frame, &series.points, *half)),
        Shape::Dots if !series.joined => return html! {},
        Shape::Dots | Shape::Line => ("line", line(&places(&series.points))),
        Shape::Steps => ("line", steps(&places(&series.points))),
        Shape::Band(upper) => ("band", area(&places(&series.points), &places(upper))),
    };
    let ends = |end: fn((f64, f64)) -> f64| -> Vec<(f64, f64)> {
        series.points.iter().zip(&series.bounds).map(|(&(x, _), &bounds)| (x, end(bounds))).collect()
    };
    html! {
        g class=(class(index)) {
            @if series.shaded {
                path.band d=(area(&places(&ends(|(low, _)| low)), &places(&ends(|(_, high)| high)))) {}
            }
            path class=(kind) d=(path) {}
        }
    }
}

/// Columns from zero to each point, with a hair of the page between them.
fn columns(frame: &Frame, points: &[(f64, f64)], half: f64) -> String {
    let mut path = String::new();
    let Some(zero) = frame.y.place(0.0) else { return path };
    for &(x, y) in points {
        if let (Some(left), Some(right), Some(top)) =
            (frame.x.place(x - half), frame.x.place(x + half), frame.y.place(y))
        {
            let (left, top) = (coordinate(left), coordinate(top));
            let (right, zero) = (coordinate(right - 1.0), coordinate(zero));
            path.extend(["M", &left, " ", &zero, "V", &top, "H", &right, "V", &zero, "z"]);
        }
    }
    path
}

fn or<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.is_empty() { otherwise } else { text }
}
