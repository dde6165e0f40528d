//! What does a direction of a plot measure?

use crate::scale::{Kind, Span};

/// One axis of a [`Plot`](crate::Plot): what it measures, evenly or by logarithm.
#[derive(Debug, Clone)]
pub struct Axis {
    pub(crate) label: String,
    pub(crate) kind: Kind,
    pub(crate) percent: bool,
    pub(crate) with_zero: bool,
    range: Option<(f64, f64)>,
}

impl Axis {
    /// Equal distances are equal differences.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), kind: Kind::Linear, percent: false, with_zero: false, range: None }
    }

    /// Equal distances are equal ratios; numbers from zero down have no place and are left out.
    pub fn log(label: impl Into<String>) -> Self {
        Self { kind: Kind::Log, ..Self::linear(label) }
    }

    /// Shows this range instead of all points. The ends may come in any order; a range that such
    /// an axis cannot show is ignored.
    #[must_use]
    pub fn range(mut self, one: f64, other: f64) -> Self {
        self.range = Some((one, other));
        self
    }

    /// Labels its marks as percentages: 0.01 is `1 %`.
    #[must_use]
    pub fn percent(mut self) -> Self {
        self.percent = true;
        self
    }

    /// Shows zero as well, however far the points are from it; a logarithmic axis has none.
    #[must_use]
    pub fn from_zero(mut self) -> Self {
        self.with_zero = true;
        self
    }

    /// Zero, if it is to be shown.
    pub(crate) fn zero(&self) -> Option<f64> {
        self.with_zero.then_some(0.0)
    }

    /// The range that was asked for, if it can be shown.
    pub(crate) fn fixed(&self) -> Option<Span> {
        self.range.and_then(|(one, other)| Span::between(self.kind, one, other))
    }

    /// A number as the axis would label it.
    pub(crate) fn shown(&self, number: f64) -> String {
        if self.percent { crate::number::percent(number) } else { crate::number::short(number) }
    }
}
