//! The axes of a plot: what they measure, their ranges and their labels.

use crate::scale::{Kind, Span};

/// One axis of a [`Plot`](crate::Plot): what it measures, on a linear or logarithmic scale.
#[derive(Debug, Clone)]
pub struct Axis {
    pub(crate) label: String,
    pub(crate) kind: Kind,
    pub(crate) percent: bool,
    pub(crate) with_zero: bool,
    range: Option<(f64, f64)>,
}

impl Axis {
    /// Creates a linear axis, on which equal distances are equal differences.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), kind: Kind::Linear, percent: false, with_zero: false, range: None }
    }

    /// Creates a logarithmic axis, on which equal distances are equal ratios. Zero and negative
    /// numbers are left out.
    pub fn log(label: impl Into<String>) -> Self {
        Self { kind: Kind::Log, ..Self::linear(label) }
    }

    /// Shows this range instead of that of all points. The ends may be in any order. A range that
    /// the axis cannot show is ignored.
    #[must_use]
    pub fn range(mut self, one: f64, other: f64) -> Self {
        self.range = Some((one, other));
        self
    }

    /// Labels the marks as percentages: 0.01 is `1 %`.
    #[must_use]
    pub fn percent(mut self) -> Self {
        self.percent = true;
        self
    }

    /// Shows zero too, however far the points are from it. A logarithmic axis has no zero.
    #[must_use]
    pub fn from_zero(mut self) -> Self {
        self.with_zero = true;
        self
    }

    /// Returns zero, if it must be shown.
    pub(crate) fn zero(&self) -> Option<f64> {
        self.with_zero.then_some(0.0)
    }

    /// Returns the requested range, if it can be shown.
    pub(crate) fn fixed(&self) -> Option<Span> {
        self.range.and_then(|(one, other)| Span::between(self.kind, one, other))
    }

    /// Returns a number in the form of the axis's labels.
    pub(crate) fn shown(&self, number: f64) -> String {
        if self.percent { crate::number::percent(number) } else { crate::number::short(number) }
    }
}
