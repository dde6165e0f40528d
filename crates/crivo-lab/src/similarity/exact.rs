//! The exact Jaccard index, computed in two ways.
//!
//! Sorting takes `O(n log n)` comparisons, and memory for the elements themselves. A direct table
//! of `2^ℓ` bits takes `O(n)` steps for any elements, and memory for the universe. Both give the
//! same number; which is cheaper depends on `ℓ`.
//!
//! The experiment counts operations, which repeat. *Sorting* is a merge sort of both sets and a
//! walk along both. It counts comparisons, and the elements that are held at once. *The table*
//! takes a step for each element of the first set, which it enters, and one for each of the second,
//! which it looks up. The cost of the initially empty table is not counted, as in the chapter
//! (§5.6). crivo's own two functions must give the same similarity, and their times are noted
//! separately.

use crivo::membership::DirectTable;
use crivo::similarity::jaccard::{overlap_direct, overlap_unsorted};
use libm::log2;

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "jaccard",
    title: "Jaccard's index exactly: by sorting and by a table",
    claim: "J(A, B) is computed with O(n log n) comparisons in O(nℓ) bits by sorting, and with O(n) steps in O(2^ℓ) bits by \
            a table, with the same result.",
    sources: &[(Text::Chapter, "exercise 5.4"), (Text::Chapter, "§5.8")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, &Theory::default()),
};

/// The costs in theory.
struct Theory {
    /// The factor of the comparisons of sorting.
    comparisons: f64,
    /// The number of elements of `ℓ` bits that sorting holds at once, divided by `n`: both sets,
    /// and a buffer to merge one.
    held: f64,
    /// The number of steps of the table, divided by `n`: one to enter, one to look up.
    steps: f64,
    /// The number of bits of the table, divided by `2^ℓ`.
    bits: f64,
}

impl Default for Theory {
    fn default() -> Self {
        Self { comparisons: 1.0, held: 3.0, steps: 2.0, bits: 1.0 }
    }
}

fn measure(context: &Context<'_>, theory: &Theory) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let bits = context.size(20_u32, 20, 21);
    let universe = 1_u64 << bits;
    report.parameter("universe_bits", bits);
    let sizes = context.size(
        &[100_usize, 1_000, 10_000][..],
        &[100, 1_000, 10_000, 100_000, 400_000],
        &[100, 1_000, 10_000, 100_000, 1_000_000],
    );
    let mut same = Section::numbers("Every way against a set of the standard library");
    let curve = |title, y| Section::curve(title, "elements n", y).log_x();
    let mut comparing = curve("Comparisons of a merge sort", "comparisons / (n log₂ n)");
    let mut walking = Section::numbers("Comparisons of the walk along both sorted sets");
    let mut held = curve("Room of sorting", "elements of ℓ bits held at once / n");
    let mut steps = curve("Steps of the table", "elements entered and looked up / n");
    let mut room = Section::numbers("Room of the table, for each of 2^ℓ");
    for (step, &n) in sizes.iter().enumerate() {
        context.advance(step, sizes.len())?;
        let (a, b) = sets(n, universe, &mut context.random(&format!("{n} elements")));
        let [x, y]: [std::collections::BTreeSet<u64>; 2] = [&a, &b].map(|set| set.iter().copied().collect());
        let common = x.intersection(&y).count() as f64;
        let truth = common / (x.len() as f64 + y.len() as f64 - common);
        let sorted = context.timed(format!("sorting, {n} elements"), || overlap_unsorted(&a, &b));
        let direct = context.timed(format!("table, {n} elements"), || overlap_direct(&a, &b, universe))?;
        same.equal(format!("sorting, {n} elements"), sorted.jaccard().unwrap_or(-1.0), truth);
        same.equal(format!("table, {n} elements"), direct.jaccard().unwrap_or(-1.0), truth);

        let by_table = by_table(&a, &b, universe)?;
        let by_sorting = by_sorting(a, b);
        same.equal(format!("sorting, counted, {n} elements"), by_sorting.jaccard, truth);
        same.equal(format!("table, counted, {n} elements"), by_table.jaccard, truth);
        let (x, n) = (n as f64, n as u64);
        let scale = x * log2(x);
        // n log₂ n minus about 1.25n, with a variance of 0.35n (Flajolet and Golin, 1994).
        comparing.at(
            x,
            Measure::Normal {
                observed: by_sorting.comparisons as f64 / scale,
                theory: theory.comparisons * expected_comparisons(n as usize) / scale,
                deviation: libm::sqrt(0.35 * x) / scale,
                trials: n,
                side: Side::Both,
            },
        );
        // One comparison for each element of the union, except those that are left when the other
        // set ends. A third of the elements are only in one of the sets. So the last twenty all are
        // with a probability of 3^−20 for each set.
        let union = x + libm::floor(x / 2.0);
        walking.between(format!("{n} elements"), by_sorting.walked as f64, union - 20.0, union);
        held.exact_at(x, by_sorting.held as f64 / x, theory.held, 0.0);
        steps.exact_at(x, by_table.steps as f64 / x, theory.steps, 0.0);
        // Beside the bits there are one or two words of administration.
        let least = theory.bits;
        room.between(
            format!("bits, {n} elements"),
            by_table.bits as f64 / universe as f64,
            least,
            least + 0.01,
        );
    }
    for part in [comparing, walking, held, steps, room, same] {
        report.add(part);
    }
    Ok(report)
}

/// Returns two sets of `n` elements below the limit in random order, which share half of their
/// elements.
fn sets(n: usize, universe: u64, random: &mut Random) -> (Vec<u64>, Vec<u64>) {
    let union = n + n / 2;
    let mut is_taken = vec![false; universe as usize];
    let mut elements = Vec::with_capacity(union);
    while elements.len() < union {
        let element = random.below(is_taken.len());
        if !std::mem::replace(&mut is_taken[element], true) {
            elements.push(element as u64);
        }
    }
    // The copies have a capacity of exactly their elements.
    let (first, mut second) = (elements[..n].to_vec(), elements[union - n..].to_vec());
    random.shuffle(&mut second);
    (first, second)
}

/// The similarity by sorting, and its cost.
struct Sorted {
    jaccard: f64,
    /// The comparisons of sorting the first set.
    comparisons: u64,
    /// The comparisons of the walk along both sets.
    walked: u64,
    /// The capacity for elements at once.
    held: usize,
}

fn by_sorting(mut a: Vec<u64>, mut b: Vec<u64>) -> Sorted {
    // The buffer for merging, one set at a time.
    let mut room = vec![0; a.len().max(b.len())];
    let mut comparisons = 0;
    merge_sort(&mut a, &mut room, &mut comparisons);
    merge_sort(&mut b, &mut room, &mut 0);
    let (mut i, mut j, mut common, mut walked) = (0, 0, 0_usize, 0);
    while i < a.len() && j < b.len() {
        walked += 1;
        let order = a[i].cmp(&b[j]);
        common += usize::from(order.is_eq());
        i += usize::from(order.is_le());
        j += usize::from(order.is_ge());
    }
    let jaccard = common as f64 / (a.len() + b.len() - common) as f64;
    Sorted { jaccard, comparisons, walked, held: a.capacity() + b.capacity() + room.capacity() }
}

/// The similarity by a table, and its cost.
struct Tabled {
    jaccard: f64,
    steps: u64,
    bits: usize,
}

fn by_table(a: &[u64], b: &[u64], universe: u64) -> Result<Tabled> {
    let mut table = DirectTable::new(universe)?;
    let mut steps = 0;
    for element in a {
        steps += 1;
        table.insert(element)?;
    }
    let mut common = 0_usize;
    for element in b {
        steps += 1;
        common += usize::from(table.contains(element)?);
    }
    let jaccard = common as f64 / (a.len() + b.len() - common) as f64;
    Ok(Tabled { jaccard, steps, bits: 8 * table.memory() })
}

/// Returns the mean number of comparisons of a merge sort of `n` elements in random order. Merging
/// `a` and `b` elements takes one comparison for each, except for the `a/(b + 1) + b/(a + 1)` that
/// are left on average when the other list ends.
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

/// Sorts by merging, and counts the comparisons. `room` is a buffer as long as the longest set.
fn merge_sort(items: &mut [u64], room: &mut [u64], comparisons: &mut u64) {
    let half = items.len() / 2;
    if half == 0 {
        return;
    }
    merge_sort(&mut items[..half], room, comparisons);
    merge_sort(&mut items[half..], room, comparisons);
    let (left, right) = items.split_at(half);
    let (mut i, mut j) = (0, 0);
    let room = &mut room[..items.len()];
    for place in &mut *room {
        // When one half ends, no comparison is needed.
        let take_right = if i < left.len() && j < right.len() {
            *comparisons += 1;
            right[j] < left[i]
        } else {
            i == left.len()
        };
        if take_right {
            *place = right[j];
            j += 1;
        } else {
            *place = left[i];
            i += 1;
        }
    }
    items.copy_from_slice(room);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    fn verdict_of(theory: &Theory) -> Verdict {
        verdict("jaccard", |context| measure(context, theory))
    }

    #[test]
    fn costs_wrong_by_three_percent_are_refuted() {
        for wrong in [0.97, 1.03] {
            let right = Theory::default();
            for theory in [
                Theory { comparisons: wrong, ..Theory::default() },
                Theory { held: wrong * right.held, ..Theory::default() },
                Theory { steps: wrong * right.steps, ..Theory::default() },
                Theory { bits: wrong, ..Theory::default() },
            ] {
                assert_eq!(verdict_of(&theory), Verdict::Refuted, "{wrong}");
            }
        }
        assert_eq!(verdict_of(&Theory::default()), Verdict::Confirmed);
    }

    #[test]
    fn expected_comparisons_are_those_of_all_orders_of_four() {
        // Two merges of two elements take one comparison each. Merging their results takes 2 in a
        // third of the orders and 3 in the others.
        assert!((expected_comparisons(4) - (2.0 + 8.0 / 3.0)).abs() < 1e-12);
    }

    #[test]
    fn sorting_sorts() {
        let (mut items, mut comparisons) = ([3, 1, 2, 1], 0);
        merge_sort(&mut items, &mut [0; 4], &mut comparisons);
        assert_eq!((items, comparisons), ([1, 1, 2, 3], 5));
    }
}
