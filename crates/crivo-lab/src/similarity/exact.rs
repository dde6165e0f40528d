//! Jaccard's index exactly, in two ways.
//!
//! By sorting: `O(n log n)` comparisons, and room for the elements themselves. By a direct table of `2^ℓ` bits: `O(n)`
//! steps, whatever the elements, and room for the universe. Both give the same number; which is cheaper depends on `ℓ`.

use crivo::similarity::jaccard::{overlap_direct, overlap_unsorted};
use libm::{log2, pow};

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "jaccard",
    title: "Jaccard's index exactly: by sorting and by a table",
    claim: "J(A, B) is computed with O(n log n) comparisons in O(nℓ) bits by sorting, and with O(n) steps in O(2^ℓ) bits by \
            a table, with the same result.",
    sources: &[(Text::Chapter, "exercise 5.4"), (Text::Chapter, "§5.8")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 1.0),
};

const BITS: u32 = 20;

/// `factor` multiplies the comparisons that theory allows to sorting.
fn measure(context: &Context<'_>, factor: f64) -> Result<Report> {
    let mut report = Report::new();
    report.parameter("universe_bits", BITS);
    let sizes = context.size(
        &[100_usize, 1_000, 10_000][..],
        &[100, 1_000, 10_000, 100_000, 400_000],
        &[100, 1_000, 10_000, 100_000, 1_000_000],
    );
    let mut same = Part::numbers("Both ways against a set of the standard library");
    let mut cost =
        Part::curve("Comparisons of a merge sort", "elements n", "comparisons / (n log₂ n)").log_x();
    let mut space = Part::numbers("Bytes").control();
    for (step, &n) in sizes.iter().enumerate() {
        context.advance(step, sizes.len())?;
        let mut random = context.random(&format!("{n} elements"));
        let universe = 1_u64 << BITS;
        let mut draw = |from: usize, to: usize| -> Vec<u64> {
            (0..n).map(|_| (from + random.below(to - from)) as u64).collect()
        };
        // Two ranges that overlap by a half.
        let third = universe as usize / 3;
        let (a, b) = (draw(0, 2 * third), draw(third, 3 * third));
        let [x, y]: [std::collections::BTreeSet<u64>; 2] = [&a, &b].map(|set| set.iter().copied().collect());
        let common = x.intersection(&y).count() as f64;
        let truth = common / (x.len() as f64 + y.len() as f64 - common);
        let sorted = context.timed(format!("sorting, {n} elements"), || overlap_unsorted(&a, &b));
        let direct = context.timed(format!("table, {n} elements"), || overlap_direct(&a, &b, universe))?;
        same.equal(format!("sorting, {n} elements"), sorted.jaccard().unwrap_or(-1.0), truth);
        same.equal(format!("table, {n} elements"), direct.jaccard().unwrap_or(-1.0), truth);
        let mut comparisons = 0;
        merge_sort(a, &mut comparisons);
        let scale = n as f64 * log2(n as f64);
        // n log₂ n less some 1.25n, with a variance of 0.35n (Flajolet and Golin, 1994).
        cost.at(
            n as f64,
            Measure::Normal {
                observed: comparisons as f64 / scale,
                theory: factor * expected_comparisons(n) / scale,
                deviation: libm::sqrt(0.35 * n as f64) / scale,
                trials: n as u64,
                side: Side::Both,
            },
        );
        space.exact(
            format!("sorting, {n} elements of {BITS} bits"),
            2.0 * n as f64 * f64::from(BITS) / 8.0,
            n as f64 * 5.0,
            1e-6,
        );
    }
    space.exact("table, any number of elements", 2.0 * pow(2.0, f64::from(BITS)) / 8.0, 262_144.0, 0.0);
    report.add(cost);
    report.add(same);
    report.add(space);
    Ok(report)
}

/// How many comparisons a merge sort of so many elements in random order makes on average: merging `a` and `b` takes
/// one for each element but those that are left when the other list ends, `a/(b + 1) + b/(a + 1)` of them.
fn expected_comparisons(n: usize) -> f64 {
    if n < 2 {
        return 0.0;
    }
    let (left, right) = (n / 2, n - n / 2);
    let (a, b) = (left as f64, right as f64);
    let first = expected_comparisons(left);
    let second = if left == right { first } else { expected_comparisons(right) };
    first + second + a + b - a / (b + 1.0) - b / (a + 1.0)
}

/// A merge sort that counts its comparisons.
fn merge_sort(items: Vec<u64>, comparisons: &mut u64) -> Vec<u64> {
    if items.len() < 2 {
        return items;
    }
    let mut left = items;
    let right = left.split_off(left.len() / 2);
    let (left, right) = (merge_sort(left, comparisons), merge_sort(right, comparisons));
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut i, mut j) = (0, 0);
    while i < left.len() && j < right.len() {
        *comparisons += 1;
        if right[j] < left[i] {
            merged.push(right[j]);
            j += 1;
        } else {
            merged.push(left[i]);
            i += 1;
        }
    }
    merged.extend_from_slice(&left[i..]);
    merged.extend_from_slice(&right[j..]);
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn comparisons_wrong_by_three_percent_are_refuted() {
        for wrong in [0.97, 1.03] {
            assert_eq!(verdict("jaccard", |context| measure(context, wrong)), Verdict::Refuted);
        }
    }

    #[test]
    fn expected_comparisons_are_those_of_all_orders_of_four() {
        // Two merges of two take one each; merging their results takes 2 in a third of the orders and 3 in the others.
        assert!((expected_comparisons(4) - (2.0 + 8.0 / 3.0)).abs() < 1e-12);
    }

    #[test]
    fn sorting_sorts() {
        let mut comparisons = 0;
        assert_eq!(merge_sort(vec![3, 1, 2, 1], &mut comparisons), [1, 1, 2, 3]);
        assert_eq!(comparisons, 5);
    }
}
