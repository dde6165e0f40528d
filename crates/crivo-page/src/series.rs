//! What is drawn between the axes of a plot?

use crate::scale::Kind;

/// Points that belong together, drawn in one way and named in the legend.
#[derive(Debug, Clone)]
pub struct Series {
    pub(crate) name: String,
    pub(crate) shape: Shape,
    pub(crate) points: Vec<(f64, f64)>,
    /// Lower and upper bound of each point, as far as there are any.
    pub(crate) bounds: Vec<(f64, f64)>,
    /// Whether the bounds are drawn as an area and not as a whisker each.
    pub(crate) shaded: bool,
    /// Whether a line goes through the marks.
    pub(crate) joined: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    Line,
    Dots,
    Steps,
    /// Between the points and these.
    Band(Vec<(f64, f64)>),
    /// From zero to each point, this wide on both sides of it.
    Columns(f64),
}

impl Series {
    /// Straight lines from point to point. A point without a place, such as one that is not a
    /// number, leaves a gap.
    pub fn line(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(name, Shape::Line, points)
    }

    /// A mark at each point.
    pub fn dots(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(name, Shape::Dots, points)
    }

    /// A line that keeps its height until the next point, as cumulative shares do.
    pub fn steps(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(name, Shape::Steps, points)
    }

    /// A column from zero to each point, as wide as told, with the point in its middle: the bars of
    /// a histogram.
    pub fn columns(
        name: impl Into<String>,
        width: f64,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        Self::new(name, Shape::Columns(width / 2.0), points)
    }

    /// The area between two lines.
    pub fn band(
        name: impl Into<String>,
        lower: impl IntoIterator<Item = (f64, f64)>,
        upper: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        Self::new(name, Shape::Band(upper.into_iter().collect()), lower)
    }

    /// A lower and an upper bound for each point, in the order of the points.
    #[must_use]
    pub fn whiskers(mut self, bounds: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.bounds = bounds.into_iter().collect();
        self
    }

    /// A lower and an upper bound for each point, drawn as an area around the line.
    #[must_use]
    pub fn shaded(self, bounds: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { shaded: true, ..self.whiskers(bounds) }
    }

    /// Marks with a line through them, to lead the eye from one to the next.
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

    /// The numbers along the first axis of all points that have a place on the second.
    pub(crate) fn xs(&self, y: Kind) -> impl Iterator<Item = f64> {
        self.points
            .iter()
            .chain(self.others())
            .filter(move |point| y.has_place_for(point.1))
            .map(|point| point.0)
    }

    /// The numbers along the second axis, bounds included, of all points that have a place on the
    /// first.
    pub(crate) fn ys(&self, x: Kind) -> impl Iterator<Item = f64> {
        let bounds = self.points.iter().zip(&self.bounds).filter(move |(point, _)| x.has_place_for(point.0));
        let bounds = bounds.flat_map(|(_, &(low, high))| [low, high]);
        let points = self.points.iter().chain(self.others()).filter(move |point| x.has_place_for(point.0));
        points.map(|point| point.1).chain(bounds)
    }

    /// Whether it says more about a point than the point itself does.
    pub(crate) fn is_bounded(&self) -> bool {
        let inexact = |((_, y), &(low, high)): (&(f64, f64), &(f64, f64))| low != *y || high != *y;
        matches!(self.shape, Shape::Band(_)) || self.points.iter().zip(&self.bounds).any(inexact)
    }

    fn others(&self) -> &[(f64, f64)] {
        if let Shape::Band(upper) = &self.shape { upper } else { &[] }
    }
}
