//! Draws parts of a report: theory as a line inside the accepted range, observations as dots.

use crivo_page::{Axis, Markup, Plot, Series};

use crate::report::Judgement;
use crate::section::{Scaled, Section};
use crate::test::Judged;

/// Returns the picture of a part, or `None` if it has none.
pub(crate) fn figure(part: &Section, judgement: &Judgement<'_>) -> Option<Markup> {
    let (x, y) = part.axes.as_ref()?;
    let mut points: Vec<(f64, Judged)> = judgement
        .lines
        .iter()
        .filter(|line| std::ptr::eq(line.part, part))
        .filter_map(|line| Some((line.x?, line.judged)))
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    if points.is_empty() {
        return None;
    }
    let description = format!(
        "{} by {}: {} points, {} of them within the range that theory accepts.",
        y.label,
        x.label,
        points.len(),
        points.iter().filter(|(_, judged)| judged.holds()).count()
    );
    let mut plot = Plot::new(&*part.title, description).x(axis(x)).y(axis(y));
    // An infinite bound cannot be drawn. It is drawn where the picture ends.
    let bounds: Vec<(f64, f64)> = points
        .iter()
        .map(|(_, judged)| {
            let theory = judged.theory.unwrap_or(judged.observed);
            let reach = (judged.observed - theory).abs().max(theory.abs() * 0.5);
            let lower = if judged.lower.is_finite() { judged.lower } else { theory - reach };
            let upper = if judged.upper.is_finite() { judged.upper } else { theory + reach };
            let lower = if y.log { lower.max(theory.min(judged.observed) / 4.0) } else { lower };
            (lower, upper)
        })
        .collect();
    let theory: Option<Vec<(f64, f64)>> =
        points.iter().map(|&(x, judged)| Some((x, judged.theory?))).collect();
    plot = plot.series(match theory {
        Some(theory) if part.joined => Series::line("theory, and what is accepted", theory).shaded(bounds),
        Some(theory) => Series::dots("theory, and what is accepted", theory).whiskers(bounds),
        // The theory is not a number here, so no line is drawn that could be taken for one.
        None => {
            let at = |side: fn(&(f64, f64)) -> f64| {
                points.iter().zip(&bounds).map(move |(point, bounds)| (point.0, side(bounds)))
            };
            Series::band("what is accepted", at(|bounds| bounds.0), at(|bounds| bounds.1))
        }
    });
    plot = plot.series(Series::dots("observed", points.iter().map(|&(x, judged)| (x, judged.observed))));
    for curve in &part.curves {
        plot = plot.series(Series::line(&*curve.name, curve.points.iter().copied()));
    }
    Some(plot.figure())
}

fn axis(scaled: &Scaled) -> Axis {
    if scaled.log { Axis::log(&*scaled.label) } else { Axis::linear(&*scaled.label) }
}
