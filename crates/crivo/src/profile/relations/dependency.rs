//! Finds columns of few values that decide other columns.

use super::{Dependency, Drawn, FEW_VALUES, MOST_CATEGORIES, Relations};
use crate::estimate::{Confidence, Estimate};
use crate::math::chances;
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::profile::TableColumn;
use crate::profile::detail::DrawnRows;
use crate::profile::patterns::share_of;

/// A dependency must hold for at least this share of rows.
const LEAST_SHARE: f64 = 0.95;
/// The least number of rows, without the first row of each group, for a dependency to be reported.
const LEAST_ROWS: usize = 20;
/// At least this share of the rows that do not have the most frequent value must be explained.
const LEAST_GAIN: f64 = 0.5;

pub(super) fn find(columns: &[TableColumn], relations: &mut Relations) {
    let mut categories: Vec<(Drawn<u8>, usize)> = Vec::new();
    for (place, column) in columns.iter().enumerate() {
        let distinct = column.data().distinct();
        if !distinct.is_exact() || !(2.0..=FEW_VALUES as f64).contains(&distinct.value()) {
            continue;
        }
        if categories.len() == MOST_CATEGORIES {
            relations.compared_categories.1 += 1;
            continue;
        }
        categories.extend(coded(place, column));
    }
    relations.compared_categories.0 = categories.len();
    for (from, groups) in &categories {
        for (to, values) in &categories {
            if from.place != to.place
                && let Some(pairs) = from.paired(to)
                && let Some(mut found) = dependency(&pairs, (*groups, *values), from.are_all && to.are_all)
            {
                (found.from, found.to) = (from.place, to.place);
                relations.dependencies.push(found);
            }
        }
    }
    relations.dependencies.sort_by(|a, b| b.share.lower().total_cmp(&a.share.lower()));
}

/// Returns the drawn rows of a column of few values, each with the number of its value, and how
/// many numbers there are.
fn coded(place: usize, column: &TableColumn) -> Option<(Drawn<u8>, usize)> {
    // Different texts may be equal after they were cut.
    if column.drawn()?.rows().iter().any(|row| row.text.len() >= DrawnRows::LONGEST) {
        return None;
    }
    let mut known: Vec<Box<[u8]>> = Vec::new();
    let drawn = Drawn::new(place, column, |row| {
        let code = known.iter().position(|text| *text == row.text).unwrap_or_else(|| {
            known.push(row.text.clone());
            known.len() - 1
        });
        u8::try_from(code).ok()
    })?;
    (known.len() > 1).then_some((drawn, known.len()))
}

/// Returns how well the groups decide the values, or `None` if not well enough to be reported.
fn dependency(pairs: &[(u8, u8)], (groups, values): (usize, usize), are_all: bool) -> Option<Dependency> {
    let mut counts = vec![0_u32; groups * values];
    let mut of_values = vec![0_u32; values];
    for &(group, value) in pairs {
        counts[usize::from(group) * values + usize::from(value)] += 1;
        of_values[usize::from(value)] += 1;
    }
    let mut conforming = 0;
    let mut met = 0;
    for group in counts.chunks(values) {
        let most = group.iter().max().copied().unwrap_or(0) as usize;
        conforming += most;
        met += usize::from(most > 0);
    }
    let (rows, exceptions) = (pairs.len(), pairs.len() - conforming);
    // The first row of each group decides the value that the others should have.
    let tested = rows - met;
    if tested < LEAST_ROWS {
        return None;
    }
    let held = (tested - exceptions.min(tested)) as f64;
    let share = if are_all {
        Estimate::exact(conforming as f64 / rows as f64)
    } else {
        let unlikely = (1.0 - Confidence::P95.level()) / 2.0;
        let lower = chances(held, tested as f64, unlikely).0;
        let all = share_of(conforming as f64, rows as f64, false);
        Estimate::probable(all.value(), lower, all.upper(), Confidence::P95)
    };
    let commonest = f64::from(of_values.iter().max().copied().unwrap_or(0)) / rows as f64;
    let by_chance = commonest + LEAST_GAIN * (1.0 - commonest);
    let lower = if are_all { held / tested as f64 } else { share.lower() };
    let is_told = share.value() >= LEAST_SHARE && lower > by_chance && commonest < 1.0;
    is_told.then_some(Dependency { from: 0, to: 0, share, rows, exceptions })
}
