//! The series of points in a plot.

use crate::scale::Kind;

/// Points that are drawn in one way and named together in the legend.
#[derive(Debug, Clone)]
pub struct Series {
    pub(crate) name: String,
    pub(crate) shape: Shape,
    pub(crate) points: Vec<(f64, f64)>,
    /// The lower and upper bounds of the points, from the first on. Later points may have none.
    pub(crate) bounds: Vec<(f64, f64)>,
    /// Whether the bounds are drawn as an area instead of whiskers.
    pub(crate) shaded: bool,
    /// Whether a line connects the marks.
    pub(crate) joined: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    Line,
    Dots,
    Steps,
    /// The area between the points and these points.
    Band(Vec<(f64, f64)>),
    /// A column from zero to each point, with this width on both sides of it.
    Columns(f64),
}

impl Series {
    /// Draws straight lines from point to point. A point without a place, such as NaN, leaves a
    /// gap.
    pub fn line(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(name, Shape::Line, points)
    }

    /// Draws a mark at each point.
    pub fn dots(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(name, Shape::Dots, points)
    }

    /// Draws a line that keeps its height until the next point, for example for cumulative shares.
    pub fn steps(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(name, Shape::Steps, points)
    }

    /// Draws a column of this width from zero to each point, centred at the point, as in a
    /// histogram.
    pub fn columns(
        name: impl Into<String>,
        width: f64,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        Self::new(name, Shape::Columns(width / 2.0), points)
    }

    /// Draws the area between two lines.
    pub fn band(
        name: impl Into<String>,
        lower: impl IntoIterator<Item = (f64, f64)>,
        upper: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        Self::new(name, Shape::Band(upper.into_iter().collect()), lower)
    }

    /// Adds a lower and an upper bound to each point, in the order of the points.
    #[must_use]
    pub fn whiskers(mut self, bounds: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.bounds = bounds.into_iter().collect();
        self
    }

    /// Adds a lower and an upper bound to each point, drawn as an area around the line.
    #[must_use]
    pub fn shaded(self, bounds: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { shaded: true, ..self.whiskers(bounds) }
    }

    /// Connects the marks by a line, to lead the eye from one to the next.
    #[must_use]
    pub fn joined(mut self) -> Self {
        self.joined = true;
        self
    }

    fn new(name: impl Into<String>, shape: Shape, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self {
            name: name.into(),
            shape,
            points: points.into_iter().collect(),
            bounds: Vec::new(),
            shaded: false,
            joined: false,
        }
    }

    /// Returns the first coordinates of all points whose second coordinate has a place.
    pub(crate) fn xs(&self, y: Kind) -> impl Iterator<Item = f64> {
        self.points
            .iter()
            .chain(self.others())
            .filter(move |point| y.has_place_for(point.1))
            .map(|point| point.0)
    }

    /// Returns the second coordinates, bounds included, of all points whose first coordinate has a
    /// place.
    pub(crate) fn ys(&self, x: Kind) -> impl Iterator<Item = f64> {
        let bounds = self.points.iter().zip(&self.bounds).filter(move |(point, _)| x.has_place_for(point.0));
        let bounds = bounds.flat_map(|(_, &(low, high))| [low, high]);
        let points = self.points.iter().chain(self.others()).filter(move |point| x.has_place_for(point.0));
        points.map(|point| point.1).chain(bounds)
    }

    /// Returns true if a point has bounds that differ from it.
    pub(crate) fn is_bounded(&self) -> bool {
        let inexact = |((_, y), &(low, high)): (&(f64, f64), &(f64, f64))| low != *y || high != *y;
        matches!(self.shape, Shape::Band(_)) || self.points.iter().zip(&self.bounds).any(inexact)
    }

    fn others(&self) -> &[(f64, f64)] {
        if let Shape::Band(upper) = &self.shape { upper } else { &[] }
    }
}
