//! Maps numbers to positions in a picture, and chooses the marks of an axis.
//!
//! A [`Scale`] maps an interval of numbers to an interval of the picture, linearly or by logarithm.
//! The interval of numbers comes from the data or from the caller. So it may be anything: reversed,
//! empty, infinite, a single point. A [`Span`] is made of it first, or the interval is refused. So
//! no later step can divide by zero or overflow.
//!
//! Marks of a linear scale are 1, 2 or 5 times a power of ten apart. A logarithmic scale marks
//! powers of ten, and only some of them if there are many. If fewer than three are inside, it also
//! marks 2 and 5 times a power of ten. If that gives fewer than three marks, it is marked like a
//! linear scale.

use crate::number;

/// The largest number. The difference of two larger ones could overflow.
const LARGEST: f64 = 1e300;
/// The smallest number on a logarithmic scale.
const SMALLEST: f64 = 1e-300;
/// How far a line may continue outside of the picture, in units of the picture.
const FAR: f64 = 10_000.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Linear,
    Log,
}

impl Kind {
    pub(crate) fn has_place_for(self, number: f64) -> bool {
        placeable(self, number).is_some()
    }
}

/// An interval of numbers with a positive length, whose numbers all have a place on the scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Span {
    /// Returns the span between two ends in any order, or `None` if one of them has no place on the
    /// scale.
    pub(crate) fn between(kind: Kind, one: f64, other: f64) -> Option<Self> {
        Self::around(kind, [one, other].into_iter().filter(|end| end.is_finite())).filter(|_| {
            one.is_finite() && other.is_finite() && (kind == Kind::Linear || (one > 0.0 && other > 0.0))
        })
    }

    /// Returns the smallest span of all numbers that have a place, or `None` if there are none.
    pub(crate) fn around(kind: Kind, numbers: impl Iterator<Item = f64>) -> Option<Self> {
        let mut span: Option<Self> = None;
        for number in numbers {
            let Some(number) = placeable(kind, number) else { continue };
            let now = span.get_or_insert(Self { low: number, high: number });
            now.low = now.low.min(number);
            now.high = now.high.max(number);
        }
        span.map(|span| span.with_length(kind))
    }

    /// Returns the span of an axis without points.
    pub(crate) fn of_nothing(kind: Kind) -> Self {
        match kind {
            Kind::Linear => Self { low: 0.0, high: 1.0 },
            Kind::Log => Self { low: 1.0, high: 10.0 },
        }
    }

    /// Widens the span until both ends are marks, and to zero if it is near.
    pub(crate) fn rounded_outward(self, kind: Kind, marks: usize) -> Self {
        match kind {
            Kind::Linear => {
                let low = if self.low > 0.0 && self.low < 0.4 * self.high { 0.0 } else { self.low };
                let high = if self.high < 0.0 && self.high > 0.4 * self.low { 0.0 } else { self.high };
                let step = step(low, high, marks);
                Self { low: (low / step).floor() * step, high: (high / step).ceil() * step }
            }
            Kind::Log => {
                // Computed with logarithms, because the ratio of the ends can overflow.
                let room = (0.04 * (self.high.ln() - self.low.ln())).exp();
                Self { low: (self.low / room).max(SMALLEST), high: (self.high * room).min(LARGEST) }
            }
        }
    }

    fn with_length(self, kind: Kind) -> Self {
        let Self { low, high } = self;
        let size = low.abs().max(high.abs());
        if high - low > size * 1e-12 {
            return self;
        }
        match kind {
            Kind::Linear if size < SMALLEST => Self::of_nothing(kind),
            Kind::Linear => Self { low: low - size / 2.0, high: high + size / 2.0 },
            Kind::Log => Self { low: low / 3.0, high: high * 3.0 },
        }
    }
}

/// Returns the number limited to the range of the scale, or `None` if it has no place.
fn placeable(kind: Kind, number: f64) -> Option<f64> {
    match kind {
        _ if !number.is_finite() => None,
        Kind::Linear => Some(number.clamp(-LARGEST, LARGEST)),
        Kind::Log => (number > 0.0).then(|| number.clamp(SMALLEST, LARGEST)),
    }
}

/// A span of numbers mapped to an interval of the picture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    kind: Kind,
    span: Span,
    from: f64,
    to: f64,
}

/// A mark on an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mark {
    pub(crate) at: f64,
    pub(crate) label: String,
}

impl Scale {
    pub(crate) fn new(kind: Kind, span: Span, from: f64, to: f64) -> Self {
        Self { kind, span, from, to }
    }

    /// Returns the position of a number, also outside of the span, or `None` if it has no place.
    pub(crate) fn place(&self, number: f64) -> Option<f64> {
        let number = placeable(self.kind, number)?;
        let Span { low, high } = self.span;
        let share = match self.kind {
            Kind::Linear => (number - low) / (high - low),
            Kind::Log => (number.ln() - low.ln()) / (high.ln() - low.ln()),
        };
        Some((self.from + share * (self.to - self.from)).clamp(-FAR, FAR))
    }

    /// Returns the position of a number that is inside of the span, otherwise `None`.
    pub(crate) fn place_inside(&self, number: f64) -> Option<f64> {
        // Rounding must not put the ends themselves outside.
        let slack = 1e-9;
        let Span { low, high } = self.span;
        let inside = number >= low - slack * low.abs() && number <= high + slack * high.abs();
        inside.then(|| self.place(number)).flatten()
    }

    /// Returns about `wanted` marks, with their labels.
    pub(crate) fn marks(&self, wanted: usize, percent: bool) -> Vec<Mark> {
        let Span { low, high } = self.span;
        let (numbers, step) = match self.kind {
            Kind::Linear => linear_marks(low, high, wanted),
            Kind::Log => log_marks(low, high, wanted),
        };
        let largest = low.abs().max(high.abs());
        let mut marks: Vec<Mark> = Vec::new();
        for number in numbers {
            let label = match (percent, step) {
                (false, Some(step)) => number::on_axis(number, step, largest),
                (false, None) => number::short(number),
                (true, Some(step)) => {
                    format!("{}\u{a0}%", number::on_axis(100.0 * number, 100.0 * step, 100.0 * largest))
                }
                (true, None) => format!("{}\u{a0}%", number::short(100.0 * number)),
            };
            let Some(at) = self.place_inside(number) else { continue };
            if marks.last().is_none_or(|last| last.label != label) {
                marks.push(Mark { at, label });
            }
        }
        marks
    }
}

/// Returns the distance of marks: 1, 2 or 5 times a power of ten, so that there are about `wanted`
/// of them.
fn step(low: f64, high: f64, wanted: usize) -> f64 {
    let rough = ((high - low) / wanted.max(1) as f64).max(SMALLEST);
    let power = 10_f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| rough <= factor * power * 1.000_001);
    factor.unwrap_or(10.0) * power
}

fn linear_marks(low: f64, high: f64, wanted: usize) -> (Vec<f64>, Option<f64>) {
    let step = step(low, high, wanted);
    let first = (low / step - 1e-6).ceil();
    // There are never many more than wanted. The limit is for numbers so large that rounding
    // cancels a step.
    let count = ((high / step + 1e-6).floor() - first).clamp(0.0, 50.0) as usize;
    ((0..=count).map(|index| (first + index as f64) * step).collect(), Some(step))
}

fn log_marks(low: f64, high: f64, wanted: usize) -> (Vec<f64>, Option<f64>) {
    let (first, last) = ((low.log10() - 1e-6).ceil() as i32, (high.log10() + 1e-6).floor() as i32);
    let powers = usize::try_from(last - first + 1).unwrap_or(0);
    let power = |exponent: i32| format!("1e{exponent}").parse::<f64>().unwrap_or(f64::NAN);
    if powers >= 3 {
        let every = powers.div_ceil(wanted.max(2)).max(1);
        // Multiples of the distance, so that 1 is marked if it is inside.
        let distance = every as i32;
        return (
            (first..=last).filter(|exponent| exponent.rem_euclid(distance) == 0).map(power).collect(),
            None,
        );
    }
    let between: Vec<f64> = (first - 1..=last)
        .flat_map(|exponent| [1.0, 2.0, 5.0].map(|factor| factor * power(exponent)))
        .filter(|number| (low..=high).contains(number))
        .collect();
    if between.len() >= 3 { (between, None) } else { linear_marks(low, high, wanted) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(kind: Kind, low: f64, high: f64) -> Vec<String> {
        let span = Span::between(kind, low, high).unwrap();
        let marks = Scale::new(kind, span, 0.0, 100.0).marks(5, false);
        marks.into_iter().map(|mark| mark.label).collect()
    }

    #[test]
    fn marks_are_round_numbers() {
        assert_eq!(labels(Kind::Linear, 0.0, 1.0), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(labels(Kind::Linear, 9_000.0, 21_000.0), ["10k", "15k", "20k"]);
        assert_eq!(labels(Kind::Linear, 5.0, -5.0), ["-4", "-2", "0", "2", "4"]);
        assert_eq!(labels(Kind::Log, 1.0, 1e6), ["1", "100", "10k", "1M"]);
        assert_eq!(labels(Kind::Log, 1e-3, 1.0), ["0.001", "0.01", "0.1", "1"]);
        assert_eq!(labels(Kind::Log, 1.0, 10.0), ["1", "2", "5", "10"]);
        assert_eq!(labels(Kind::Log, 100.0, 120.0), ["100", "105", "110", "115", "120"]);
    }

    #[test]
    fn ends_of_the_span_are_ends_of_the_picture() {
        for kind in [Kind::Linear, Kind::Log] {
            let scale = Scale::new(kind, Span::between(kind, 10.0, 1000.0).unwrap(), 40.0, 400.0);
            assert_eq!((scale.place(10.0), scale.place(1000.0)), (Some(40.0), Some(400.0)));
            assert!(scale.place_inside(1001.0).is_none() && scale.place(f64::NAN).is_none());
        }
        let log = Scale::new(Kind::Log, Span::between(Kind::Log, 1.0, 100.0).unwrap(), 0.0, 100.0);
        assert!((log.place(10.0).unwrap() - 50.0).abs() < 1e-9);
        assert_eq!(log.place(0.0), None);
    }

    #[test]
    fn spans_without_length_get_one() {
        let span = |kind, numbers: &[f64]| Span::around(kind, numbers.iter().copied());
        assert_eq!(span(Kind::Linear, &[]), None);
        assert_eq!(span(Kind::Linear, &[f64::NAN, f64::INFINITY]), None);
        assert_eq!(span(Kind::Linear, &[0.0]), Some(Span { low: 0.0, high: 1.0 }));
        assert_eq!(span(Kind::Linear, &[4.0]), Some(Span { low: 2.0, high: 6.0 }));
        assert_eq!(span(Kind::Log, &[-1.0, 9.0]), Some(Span { low: 3.0, high: 27.0 }));
        assert_eq!(Span::between(Kind::Log, 0.0, 10.0), None);
    }
}
