//! Converts points to paths.
//!
//! A path is one string of short numbers, so a curve of a million points could become a file of ten
//! megabytes. Of the points in the same half unit of the picture, only the first, lowest, highest
//! and last are drawn, which looks the same.

use std::collections::HashSet;
use std::fmt::Write as _;

/// A position in the picture.
pub(crate) type Place = (f64, f64);

/// The number of forms of marks and dashes. Further series repeat them.
pub(crate) const FORMS: usize = 6;

/// Formats a coordinate to a tenth of a unit, in as few characters as possible.
pub(crate) fn coordinate(number: f64) -> String {
    let tenths = (number * 10.0).round() as i64;
    if tenths % 10 == 0 { format!("{}", tenths / 10) } else { format!("{:.1}", tenths as f64 / 10.0) }
}

/// Returns a path through places; `None` is a gap. A single place between gaps becomes a point,
/// which is visible only if lines have round ends.
pub(crate) fn line(places: &[Option<Place>]) -> String {
    let mut path = String::new();
    for run in runs(places) {
        let run = thinned(run);
        for (index, &(x, y)) in run.iter().enumerate() {
            let _ = write!(path, "{}{} {}", if index == 0 { 'M' } else { 'L' }, coordinate(x), coordinate(y));
        }
        if run.len() == 1 {
            path.push_str("h0");
        }
    }
    path
}

/// Returns a path that keeps its height until the next place.
pub(crate) fn steps(places: &[Option<Place>]) -> String {
    let mut path = String::new();
    for run in runs(places) {
        for (index, &(x, y)) in thinned(run).iter().enumerate() {
            if index == 0 {
                let _ = write!(path, "M{} {}h0", coordinate(x), coordinate(y));
            } else {
                let _ = write!(path, "H{}V{}", coordinate(x), coordinate(y));
            }
        }
    }
    path
}

/// Returns the outline of the area between two lines.
pub(crate) fn area(lower: &[Option<Place>], upper: &[Option<Place>]) -> String {
    let mut outline: Vec<Place> = lower.iter().flatten().copied().collect();
    outline.extend(upper.iter().rev().flatten());
    if outline.len() < 3 {
        return String::new();
    }
    let mut path = line(&outline.into_iter().map(Some).collect::<Vec<_>>());
    path.push('z');
    path
}

/// Returns a mark of the given form at each place. Marks that would hide each other are drawn once.
pub(crate) fn dots(places: impl Iterator<Item = Place>, form: usize) -> String {
    let mut drawn = HashSet::new();
    let mut path = String::new();
    for (x, y) in places {
        if drawn.insert(((x * 2.0) as i64, (y * 2.0) as i64)) {
            dot(&mut path, (x, y), form);
        }
    }
    path
}

/// Adds a mark at a place. All forms have about the same area.
fn dot(path: &mut String, (x, y): Place, form: usize) {
    let (cx, cy) = (coordinate(x), coordinate(y));
    let _ = match form % FORMS {
        0 => write!(path, "M{} {cy}a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0z", coordinate(x - 3.2)),
        1 => write!(path, "M{} {}h5.6v5.6h-5.6z", coordinate(x - 2.8), coordinate(y - 2.8)),
        2 => write!(path, "M{cx} {}l3.7 6.5h-7.4z", coordinate(y - 4.2)),
        3 => write!(path, "M{cx} {}l4.1 4.1l-4.1 4.1l-4.1-4.1z", coordinate(y - 4.1)),
        4 => write!(path, "M{} {cy}h8M{cx} {}v8", coordinate(x - 4.0), coordinate(y - 4.0)),
        _ => write!(path, "M{} {}l6 6m0-6l-6 6", coordinate(x - 3.0), coordinate(y - 3.0)),
    };
}

/// Returns vertical lines with a cap at each end.
pub(crate) fn whiskers(ends: impl Iterator<Item = (f64, f64, f64)>) -> String {
    let mut path = String::new();
    for (x, low, high) in ends {
        let _ = write!(
            path,
            "M{0} {1}h6m-3 0V{2}m-3 0h6",
            coordinate(x - 3.0),
            coordinate(low),
            coordinate(high)
        );
    }
    path
}

/// Returns the stretches between gaps.
fn runs(places: &[Option<Place>]) -> impl Iterator<Item = Vec<Place>> {
    places
        .split(Option::is_none)
        .map(|run| run.iter().flatten().copied().collect())
        .filter(|run: &Vec<_>| !run.is_empty())
}

/// Returns the same line with fewer points, if there are many.
fn thinned(run: Vec<Place>) -> Vec<Place> {
    const MANY: usize = 1000;
    if run.len() <= MANY {
        return run;
    }
    let column = |&(x, _): &Place| (x * 2.0).floor() as i64;
    let mut kept = Vec::with_capacity(MANY);
    for together in run.chunk_by(|a, b| column(a) == column(b)) {
        if together.len() <= 4 {
            kept.extend_from_slice(together);
            continue;
        }
        let index_of = |higher: fn(f64, f64) -> bool| {
            (0..together.len())
                .fold(0, |best, i| if higher(together[i].1, together[best].1) { i } else { best })
        };
        let mut indexes = [0, index_of(|a, b| a < b), index_of(|a, b| a > b), together.len() - 1];
        indexes.sort_unstable();
        kept.extend(indexes.map(|index| together[index]));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_short_and_broken_by_gaps() {
        let places = [Some((0.0, 1.0)), Some((2.25, 1.04)), None, Some((9.0, 9.0))];
        assert_eq!(line(&places), "M0 1L2.3 1M9 9h0");
        assert_eq!(steps(&places), "M0 1h0H2.3V1M9 9h0");
        assert_eq!(line(&[]), "");
        assert_eq!(area(&places[..1], &[]), "");
    }

    #[test]
    fn a_million_points_keep_their_extremes_in_a_small_path() {
        let places: Vec<_> = (0..1_000_000)
            .map(|i| Some((f64::from(i) / 2500.0, if i == 777_777 { -50.0 } else { f64::from(i % 100) })))
            .collect();
        let path = line(&places);
        assert!(path.len() < 40_000, "{}", path.len());
        assert!(path.contains(" -50"), "the one low point is still there");
    }

    #[test]
    fn forms_differ() {
        let forms: HashSet<String> = (0..FORMS).map(|form| dots([(5.0, 5.0)].into_iter(), form)).collect();
        assert_eq!(forms.len(), FORMS);
    }
}
