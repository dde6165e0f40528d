//! The checks of a column: how likely is such a difference if nothing changed?

use super::{Change, ChangeKind, ChangeValue};
use crate::estimate::{Confidence, Estimate};
use crate::keys::KeyRef;
use crate::math::drawn_at_least;
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::profile::{ColumnProfile, Kind, TableColumn};
use crate::quantiles::NumberQuantiles;

/// The number of frequent values that are compared.
const FREQUENT: usize = 10;
/// If a value occurs less often than this in both tables together, its change can always be chance.
const LEAST_COUNT: u64 = 6;
/// The largest number of rows of two tables whose tails are summed up term by term.
const MOST_SUMMED: f64 = (1_u64 << 40) as f64;
/// The number of ranks at which the error of a rank sketch is bounded at once. Between two of them
/// it grows by at most `1/GRID`.
const GRID: f64 = 512.0;

/// A check, and the probability of its difference without a change.
pub(super) struct Check {
    what: ChangeKind,
    about: Option<String>,
    before: ChangeValue,
    after: ChangeValue,
    pub(super) effect: f64,
    pub(super) p: f64,
}

impl Check {
    fn new(what: ChangeKind, before: ChangeValue, after: ChangeValue, effect: f64, p: f64) -> Self {
        Self { what, about: None, before, after, effect, p }
    }

    pub(super) fn into_change(self, (before, after): (&TableColumn, &TableColumn)) -> Change {
        let Self { mut what, about, before: was, after: is, effect, p } = self;
        let types = [before, after].map(|column| column.data().profile.column_type());
        let (was, is) = match what {
            ChangeKind::Kinds if types[0] != types[1] => {
                what = ChangeKind::Type;
                (ChangeValue::Text(types[0].name().into()), ChangeValue::Text(types[1].name().into()))
            }
            _ => (was, is),
        };
        Change { what, about, before: was, after: is, effect, p }
    }
}

/// Returns the largest number of checks for two columns, which is known before any check is made.
pub(super) fn most_checks(before: &TableColumn, after: &TableColumn) -> usize {
    let numbers = !before.ranks().is_empty() && !after.ranks().is_empty();
    3 + FREQUENT + if numbers { 5 } else { 0 }
}

/// Makes all checks of two columns. A check may be wrong about a sketch with the probability
/// `for_sketch`, which is included in its `p`.
pub(super) fn of(before: &TableColumn, after: &TableColumn, for_sketch: f64) -> Vec<Check> {
    let (old, new) = (&before.data().profile, &after.data().profile);
    if old.rows() == 0 || new.rows() == 0 {
        return Vec::new();
    }
    let mut checks = vec![empty(old, new), distinct(before, after, for_sketch)];
    checks.extend(kinds(old, new));
    checks.extend(frequent(old, new));
    if !before.ranks().is_empty() && !after.ranks().is_empty() {
        checks.push(distribution(before.ranks(), after.ranks(), for_sketch));
        checks.extend(range(before.ranks(), after.ranks(), for_sketch));
    }
    checks
}

// ---- shares ----

/// Bounds of the true count, and the number of rows it is a count of.
#[derive(Clone, Copy)]
struct Counted {
    lower: u64,
    upper: u64,
    of: u64,
}

impl Counted {
    fn exact(count: u64, of: u64) -> Self {
        Self { lower: count, upper: count, of }
    }

    fn share(self) -> f64 {
        (self.lower + (self.upper - self.lower) / 2) as f64 / self.of.max(1) as f64
    }
}

/// Returns the probability that two shares differ that much if the true shares are equal. This is
/// Fisher's exact test, two-sided, with the counts within the bounds that differ least.
fn same_share(before: Counted, after: Counted) -> f64 {
    let share = |count: u64, of: u64| count as f64 / of as f64;
    if before.of == 0 || after.of == 0 {
        return 1.0;
    }
    let tail = |more: (u64, u64), less: (u64, u64)| {
        let [count, draws, other, rest] = [more.0, more.1, less.0, less.1].map(|count| count as f64);
        if draws + rest > MOST_SUMMED {
            return 2.0 * tail_bound((count, draws), (other, rest));
        }
        2.0 * drawn_at_least(count, draws, count + other, draws + rest)
    };
    let p = if share(after.lower, after.of) > share(before.upper, before.of) {
        tail((after.lower, after.of), (before.upper, before.of))
    } else if share(before.lower, before.of) > share(after.upper, after.of) {
        tail((before.lower, before.of), (after.upper, after.of))
    } else {
        1.0
    };
    p.min(1.0)
}

/// Returns an upper bound of the tail that Fisher's test sums up, in constant time.
///
/// Each count is that of a draw without replacement. If `p` is the share of both tables together,
/// a draw of `n` rows has the share `q` or one further from `p` with probability at most
/// `exp(−n·D)`, where `D` is the relative entropy of `q` and `p` (Hoeffding, *Probability
/// inequalities for sums of bounded random variables*, 1963). `D` is at least `(q − p)²/2v`, where
/// `v` is the largest `x(1 − x)` between both shares.
fn tail_bound(more: (f64, f64), less: (f64, f64)) -> f64 {
    let expected = (more.0 + less.0) / (more.1 + less.1);
    let exponent = |(count, draws): (f64, f64)| {
        let found = count / draws;
        let nearest_to_half = 0.5_f64.clamp(found.min(expected), found.max(expected));
        let distance = found - expected;
        draws * distance * distance / (2.0 * nearest_to_half * (1.0 - nearest_to_half))
    };
    libm::exp(-exponent(more).max(exponent(less)))
}

fn empty(before: &ColumnProfile, after: &ColumnProfile) -> Check {
    let [was, is] = [before, after].map(|column| Counted::exact(column.missing(), column.rows()));
    let (p, effect) = (same_share(was, is), (was.share() - is.share()).abs());
    Check::new(ChangeKind::Empty, ChangeValue::Share(was.share()), ChangeValue::Share(is.share()), effect, p)
}

/// Checks the kind of value whose share differs most. The probability is corrected for the number
/// of kinds.
fn kinds(before: &ColumnProfile, after: &ColumnProfile) -> Option<Check> {
    let checks = Kind::ALL.map(|kind| {
        let [was, is] = [before, after].map(|column| Counted::exact(column.count_of(kind), column.values()));
        (kind, was, is, same_share(was, is))
    });
    let (kind, was, is, p) = checks.into_iter().min_by(|one, other| one.3.total_cmp(&other.3))?;
    let p = (p * Kind::ALL.len() as f64).min(1.0);
    let mut check = Check::new(
        ChangeKind::Kinds,
        ChangeValue::Share(was.share()),
        ChangeValue::Share(is.share()),
        (was.share() - is.share()).abs(),
        p,
    );
    check.about = Some(kind.name().into());
    Some(check)
}

/// Checks the most frequent values of both tables together.
fn frequent(before: &ColumnProfile, after: &ColumnProfile) -> Vec<Check> {
    let mut values: Vec<(Vec<u8>, Counted, Counted)> = Vec::new();
    let count_in = |column: &ColumnProfile, key: &[u8]| {
        let sketch = column.heavy_hitters();
        let estimate = sketch.frequency_ref(KeyRef::Bytes(key)).unwrap_or_else(|_| Estimate::exact(0.0));
        let of = column.values();
        let upper = (estimate.upper().floor() as u64).min(of);
        Counted { lower: (estimate.lower().ceil() as u64).min(upper), upper, of }
    };
    let mut seen = hashbrown::HashSet::<Vec<u8>, crate::hash::TableSecret>::default();
    // Both tables together have another order than each of them, so more candidates are needed than
    // are compared.
    for hitter in before.top(4 * FREQUENT).into_iter().chain(after.top(4 * FREQUENT)) {
        let KeyRef::Bytes(key) = hitter.key() else { continue };
        if seen.insert(key.to_vec()) {
            values.push((key.to_vec(), count_in(before, key), count_in(after, key)));
        }
    }
    values.retain(|(_, was, is)| was.upper.saturating_add(is.upper) >= LEAST_COUNT);
    values.sort_by(|one, other| {
        let most = |value: &(Vec<u8>, Counted, Counted)| value.1.upper.saturating_add(value.2.upper);
        most(other).cmp(&most(one)).then_with(|| one.0.cmp(&other.0))
    });
    let check = |(key, was, is): (Vec<u8>, Counted, Counted)| {
        let what = match (was.upper, is.upper) {
            (0, _) => ChangeKind::New,
            (_, 0) => ChangeKind::Vanished,
            _ => ChangeKind::Frequent,
        };
        let (was_share, is_share) = (was.share(), is.share());
        Check {
            what,
            about: Some(String::from_utf8_lossy(&key).into_owned()),
            before: ChangeValue::Share(was_share),
            after: ChangeValue::Share(is_share),
            effect: (was_share - is_share).abs(),
            p: same_share(was, is),
        }
    };
    values.into_iter().take(FREQUENT).map(check).collect()
}

// ---- different values ----

/// Returns bounds of the expected number of different values, given the number found. Each bound is
/// wrong with probability `p`.
///
/// The number of different values of independent rows is self-bounding. So if its mean is `m`, it
/// is below `m − t` with probability at most `exp(−t²/2m)`, and above `m + t` with probability at
/// most `exp(−t²/(2m + 2t/3))`.
fn expected(found: (f64, f64), p: f64) -> (f64, f64) {
    let log = -libm::log(p);
    let (least, most) = found;
    let upper = most + log + libm::sqrt(2.0 * most * log + log * log);
    let third = 4.0 * log / 3.0;
    let lower = least - (libm::sqrt(third * third + 8.0 * log * least) - third) / 2.0;
    (lower.max(0.0), upper)
}

fn distinct(before: &TableColumn, after: &TableColumn, for_sketch: f64) -> Check {
    let sure = Confidence::new(1.0 - for_sketch / 2.0).unwrap_or_default();
    let found = [before, after].map(|column| column.data().profile.distinct_at(sure));
    let rows = [before, after].map(|column| column.data().profile.rows() as f64);
    let bounds = found.map(|found| (found.lower(), found.upper()));
    // The expected number grows with the rows, but less than proportionally. So the smaller table
    // has at most as many as the larger one, and at least its share of them.
    let (small, large) = if rows[0] <= rows[1] { (0, 1) } else { (1, 0) };
    let share = rows[small] / rows[large];
    let agree = |p: f64| {
        let (few, many) = (expected(bounds[small], p / 4.0), expected(bounds[large], p / 4.0));
        few.0 <= many.1 && few.1 >= many.0 * share
    };
    let p = least_disagreement(agree);
    let is_exact = found.iter().all(|found| found.is_exact());
    let p = if is_exact { p } else { (p + for_sketch).min(1.0) };
    let (few, many) = (found[small].value(), found[large].value());
    let effect = if few > many {
        1.0 - many / few
    } else if few < many * share {
        1.0 - few / (many * share).max(1.0)
    } else {
        0.0
    };
    let value = |estimate: Estimate| ChangeValue::Number(estimate.value());
    Check::new(ChangeKind::Distinct, value(found[0]), value(found[1]), effect, p)
}

/// Returns the least probability at which two statements disagree. The smaller the probability, the
/// more easily they agree.
fn least_disagreement(agree: impl Fn(f64) -> bool) -> f64 {
    if agree(1.0) {
        return 1.0;
    }
    // Bisect the exponent, because the probability may be very small.
    let (mut low, mut high) = (-300.0, 0.0);
    if !agree(libm::exp10(low)) {
        return libm::exp10(low);
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if agree(libm::exp10(middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    libm::exp10(high)
}

// ---- numbers ----

/// Checks the largest difference of the two distribution functions.
fn distribution(before: &NumberQuantiles, after: &NumberQuantiles, for_sketch: f64) -> Check {
    let (old, new) = (before.distribution(), after.distribution());
    let [old_count, new_count] = [before, after].map(|ranks| ranks.count() as f64);
    let (mut at_old, mut at_new, mut most) = (0, 0, (0.0, 0.0));
    while at_old < old.len() || at_new < new.len() {
        let value = match (old.get(at_old), new.get(at_new)) {
            (Some(one), Some(other)) => one.0.min(other.0),
            (Some(one), None) => one.0,
            (None, Some(other)) => other.0,
            (None, None) => break,
        };
        at_old += usize::from(old.get(at_old).is_some_and(|step| step.0 == value));
        at_new += usize::from(new.get(at_new).is_some_and(|step| step.0 == value));
        let share = |steps: &[(f64, u64)], at: usize, count: f64| match at {
            0 => 0.0,
            at => steps[at - 1].1 as f64 / count,
        };
        let (was, is) = (share(&old, at_old, old_count), share(&new, at_new, new_count));
        if f64::abs(was - is) > f64::abs(most.0 - most.1) {
            most = (was, is);
        }
    }
    let difference = f64::abs(most.0 - most.1);
    let margin = |ranks: &NumberQuantiles| {
        if ranks.is_exact() {
            return 0.0;
        }
        ranks.rank_margin(for_sketch / 2.0 / GRID) / ranks.count() as f64 + 1.0 / GRID
    };
    let margins = margin(before) + margin(after);
    let certain = (difference - margins).max(0.0);
    // Each table stays within its own distance, except with half of the probability.
    let distances = 1.0 / libm::sqrt(old_count) + 1.0 / libm::sqrt(new_count);
    let ratio = certain / distances;
    let p = 4.0 * libm::exp(-2.0 * ratio * ratio) + if margins > 0.0 { for_sketch } else { 0.0 };
    let share = f64::midpoint(most.0, most.1);
    let at = |ranks: &NumberQuantiles| {
        ChangeValue::Number(ranks.quantile(share).map_or(f64::NAN, Estimate::value))
    };
    Check::new(ChangeKind::Distribution, at(before), at(after), difference, p.min(1.0))
}

/// Checks how many numbers lie beyond all numbers of the other table, at each end and for each
/// table.
fn range(before: &NumberQuantiles, after: &NumberQuantiles, for_sketch: f64) -> Vec<Check> {
    let (Some(old), Some(new)) = (before.min().zip(before.max()), after.min().zip(after.max())) else {
        return Vec::new();
    };
    let mut checks = Vec::new();
    for (what, was, is) in [(ChangeKind::Least, old.0, new.0), (ChangeKind::Greatest, old.1, new.1)] {
        // Both directions are checked. At least one of them finds no numbers beyond.
        for (outer, inner) in [(after, before), (before, after)] {
            let (count, p) = beyond(outer, inner, what == ChangeKind::Least, for_sketch);
            let effect = count / outer.count() as f64;
            checks.push(Check::new(what, ChangeValue::Number(was), ChangeValue::Number(is), effect, p));
        }
    }
    checks
}

/// Returns a lower bound of how many numbers of one table lie beyond all of the other, and the
/// probability of that.
fn beyond(outer: &NumberQuantiles, inner: &NumberQuantiles, is_below: bool, for_sketch: f64) -> (f64, f64) {
    let sure = outer.rank_margin(for_sketch);
    let all = outer.count() as f64;
    let end = if is_below { inner.min() } else { inner.max() };
    let Some(end) = end else { return (0.0, 1.0) };
    let found =
        if is_below { outer.count_below(end).value() } else { all - outer.count_at_most(end).value() };
    // The ends are known exactly, so if any number is beyond, at least one certainly is.
    let least = (found - sure).max(f64::from(u8::from(found > 0.0))).floor();
    let chance = all_in_first(least, all, inner.count() as f64);
    let p = chance + if outer.is_exact() { 0.0 } else { for_sketch };
    (least, p.min(1.0))
}

/// Returns the probability that the `outermost` rows of two tables are all in the first one, if all
/// rows are exchangeable. The tables have `first` and `second` rows.
///
/// None of the outermost rows is then one of the second table. That is symmetric, so the smaller of
/// both sets of rows counts as drawn, which keeps the digits if the other one is huge.
fn all_in_first(outermost: f64, first: f64, second: f64) -> f64 {
    let population = first + second;
    let (drawn, avoided) = (outermost.min(second), outermost.max(second));
    drawn_at_least(drawn, drawn, population - avoided, population)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantiles::Accuracy;

    #[test]
    fn the_bound_of_a_tail_is_above_it() {
        for (draws, rest) in [(1, 1), (7, 3), (40, 40), (1000, 30), (30, 1000), (5000, 5000)] {
            for count in (0..=draws).step_by(draws / 20 + 1) {
                for other in (0..=rest).step_by(rest / 20 + 1) {
                    let [count, draws, other, rest] = [count, draws, other, rest].map(|n| n as f64);
                    if count / draws <= other / rest {
                        continue;
                    }
                    let exact = drawn_at_least(count, draws, count + other, draws + rest);
                    let bound = tail_bound((count, draws), (other, rest));
                    let context = format!("{count} of {draws}, {other} of {rest}: {exact} {bound}");
                    assert!((exact * 0.999_999..=1.0).contains(&bound), "{context}");
                }
            }
        }
    }

    #[test]
    fn shares_of_huge_tables_are_compared_in_bounded_time() {
        for rows in [1 << 42, 1 << 55, u64::MAX] {
            let half = Counted::exact(rows / 2, rows);
            let slightly_more = Counted::exact(rows / 2 + (1 << 20), rows);
            let more = Counted::exact(rows / 2 + rows / 1000, rows);
            assert!(same_share(half, slightly_more) > 0.1);
            assert!(same_share(half, more) < 1e-300);
            // Ten of ten rows where half is usual: the chance is 2/1024.
            let few = same_share(half, Counted::exact(10, 10));
            assert!((2.0 / 1024.0..0.02).contains(&few), "{few}");
        }
    }

    /// The probability as the product over all outermost rows.
    fn by_multiplying(outermost: u32, first: u32, second: u32) -> f64 {
        let population = f64::from(first) + f64::from(second);
        let log = |drawn: f64| libm::log((f64::from(first) - drawn) / (population - drawn));
        libm::exp((0..outermost).map(|drawn| log(f64::from(drawn))).sum())
    }

    #[test]
    fn outermost_rows_are_in_one_table_as_often_as_the_product_says() {
        let sizes = [1, 2, 3, 9, 10, 100, 999, 1000, 54_321, 1_000_000];
        for first in sizes {
            for second in sizes {
                for outermost in sizes.into_iter().chain([0, first]).filter(|&count| count <= first) {
                    let expected = by_multiplying(outermost, first, second);
                    let found = all_in_first(outermost.into(), first.into(), second.into());
                    let context = format!("{outermost} of {first} and {second}: {found} {expected}");
                    if expected > 1e-290 {
                        assert!((found / expected - 1.0).abs() < 1e-9, "{context}");
                    } else {
                        assert!((0.0..1e-289).contains(&found), "{context}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_few_numbers_are_compared_with_many_in_bounded_time() {
        let ranks = |numbers: &[(f64, u64)]| {
            let mut ranks = NumberQuantiles::new(128, Accuracy::Uniform, 1).unwrap();
            numbers.iter().for_each(|&(number, weight)| ranks.add(number, weight));
            ranks
        };
        // Half of the later numbers are beyond all earlier ones: each earlier one is in the lower
        // half with probability 1/2.
        for half in [500_000_000, 1 << 62] {
            let (before, after) = (ranks(&[(1.0, 10)]), ranks(&[(1.0, half), (2.0, half)]));
            let (count, p) = beyond(&after, &before, false, 1e-9);
            assert!((count / half as f64 - 1.0).abs() < 1e-3, "{count}");
            assert!((p * 1024.0 - 1.0).abs() < 0.02, "{p}");
            assert_eq!(beyond(&before, &after, false, 1e-9), (0.0, 1.0));
        }
    }
}
