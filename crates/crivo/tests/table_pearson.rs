//! Pearson's correlation of the drawn rows, against that of all rows: exact where all are drawn,
//! covered by the interval where not, and not told where a few numbers decide it that may not be
//! drawn.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // this is how a test fails

#[path = "support/mod.rs"]
mod support;

use crivo::profile::{Correlation, TableColumnSizes, TableProfile};

use support::tables::table_with;
use support::{Random, generator};

/// Standard normal, by the sum of twelve.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

/// Straight from the definition.
fn pearson(pairs: &[(f64, f64)]) -> f64 {
    let count = pairs.len() as f64;
    let mean = pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0 / count, sum.1 + pair.1 / count));
    let sum = |of: &dyn Fn(f64, f64) -> f64| {
        pairs.iter().map(|pair| of(pair.0 - mean.0, pair.1 - mean.1)).sum::<f64>()
    };
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}

fn profile(pairs: &[(f64, f64)], salt: u64) -> TableProfile {
    let texts = |of: fn(&(f64, f64)) -> f64| -> Vec<Option<String>> {
        pairs.iter().map(|pair| Some(format!("{:e}", of(pair)))).collect()
    };
    let (left, right) = (texts(|pair| pair.0), texts(|pair| pair.1));
    table_with(TableColumnSizes::for_memory(1280 << 10), 0, salt, &[("left", &left), ("right", &right)])
}

fn told(pairs: &[(f64, f64)], salt: u64) -> Correlation {
    let relations = profile(pairs, salt).relations();
    let [found] = relations.correlations.as_slice() else { panic!("{relations:?}") };
    *found
}

#[test]
fn pearson_is_exact_while_all_rows_are_drawn() {
    let mut random = generator("pearson of all");
    for (scale, offset) in [(1.0, 0.0), (1e-200, 0.0), (1e250, 0.0), (1e-3, 1e6)] {
        let pairs: Vec<(f64, f64)> = (0..300)
            .map(|_| {
                let x = normal(&mut random);
                (offset + scale * x, -3.0 * x + normal(&mut random))
            })
            .collect();
        let found = told(&pairs, 1).pearson.unwrap();
        // The definition would overflow: the numbers are compared without their scale.
        let plain: Vec<(f64, f64)> = pairs.iter().map(|pair| ((pair.0 - offset) / scale, pair.1)).collect();
        assert!(found.is_exact() && (found.value() - pearson(&plain)).abs() < 1e-6, "{scale}: {found:?}");
    }
}

/// Tables of 4,000 rows, a quarter of them drawn: intervals of 95 % must cover the correlation of
/// all rows. Of 240, 30 or more miss with a probability below 10⁻⁶ if each misses with 5 %. The
/// correlation is told for all but a few: a variance is off by more than three standard errors in
/// about one of 180 tables, and in 24 or more of 240 with a probability far below 10⁻⁶.
#[test]
fn pearson_of_drawn_rows_covers_that_of_all() {
    let mut random = generator("coverage of pearson");
    let (mut missed, mut not_told, mut widths) = (0, 0, 0.0);
    let rounds = 240_u32;
    for round in 0..rounds {
        let strength = [0.3, 0.6, 0.95][round as usize % 3];
        let pairs: Vec<(f64, f64)> = (0..4000)
            .map(|_| {
                let (a, b) = (normal(&mut random), normal(&mut random));
                let (x, y) = (a, strength * a + (1.0 - strength * strength).sqrt() * b);
                match round / 3 % 4 {
                    0 => (x, y),
                    1 => (libm::exp(0.6 * x), -libm::exp(0.5 * y)),
                    2 => ((2.0 * x).round(), (3.0 * y).round()),
                    _ => (x.abs(), if random.below(2) == 0 { x.abs() } else { y }),
                }
            })
            .collect();
        match told(&pairs, u64::from(round)).pearson {
            Some(found) => {
                assert!(!found.is_certain(), "{found:?}");
                widths += found.upper() - found.lower();
                missed += usize::from(!found.covers(pearson(&pairs)));
            }
            None => not_told += 1,
        }
    }
    assert!(missed < 30 && not_told < 24, "{missed} missed, {not_told} not told of {rounds}");
    // An interval that is always covered because it is wide would say nothing.
    let width = widths / f64::from(rounds - not_told);
    assert!(width < 0.2, "{width}");
}

/// One row of 4,000 turns a correlation of 0.8 into one of −1. An interval that does not know of it
/// would be wrong.
#[test]
fn pearson_is_not_told_if_a_number_that_was_not_drawn_decides_it() {
    let mut random = generator("pearson decided by one");
    let mut drawn = 0;
    for salt in 0..40 {
        let mut pairs: Vec<(f64, f64)> = (0..4000)
            .map(|_| {
                let x = normal(&mut random);
                (x, 0.8 * x + 0.6 * normal(&mut random))
            })
            .collect();
        pairs[random.below(4000)] = (1e6, -1e6);
        let truth = pearson(&pairs);
        if let Some(found) = told(&pairs, salt).pearson {
            assert!(found.covers(truth), "{found:?} and {truth}");
            drawn += 1;
        }
    }
    assert!(drawn < 40, "some do not draw the row");
}
