//! Parts as pictures: theory as a line inside the range that is accepted, what was observed as dots.

use crivo_page::{Axis, Markup, Plot, Series};

use crate::part::{Part, Scaled};
use crate::report::Judgement;
use crate::test::Judged;

/// The picture of a part; `None` if it has none.
pub(crate) fn figure(part: &Part, judgement: &Judgement<'_>) -> Option<Markup> {
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
        "{} by {}: {} points beside theory, {} of them within the range that is accepted.",
        y.label,
        x.label,
        points.len(),
        points.iter().filter(|(_, judged)| judged.holds()).count()
    );
    let mut plot = Plot::new(&*part.title, description).x(axis(x)).y(axis(y));
    // A bound without an end has no place in a picture: it is drawn where the picture would end anyway.
    let bounds = points.iter().map(|(_, judged)| {
        let reach = (judged.observed - judged.theory).abs().max(judged.theory.abs() * 0.5);
        let lower = if judged.lower.is_finite() { judged.lower } else { judged.theory - reach };
        let upper = if judged.upper.is_finite() { judged.upper } else { judged.theory + reach };
        let lower = if y.log { lower.max(judged.theory.min(judged.observed) / 4.0) } else { lower };
        (lower, upper)
    });
    let theory = points.iter().map(|&(x, judged)| (x, judged.theory));
    plot = plot.series(if part.joined {
        Series::line("theory, and what is accepted", theory).shaded(bounds)
    } else {
        Series::dots("theory, and what is accepted", theory).whiskers(bounds)
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
