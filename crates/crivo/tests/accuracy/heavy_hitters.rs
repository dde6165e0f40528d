//! HeavyHitters against exact counts.
//!
//! Its bounds are certain, so there is no margin: after every stream, however it was split and
//! merged, each key is compared with its exact count. That the bounds could not be closer is shown
//! as well: streams are given that reach each of them.

use std::collections::BTreeMap;

use crivo::frequency::{HeavyHitters, Hitter, Reading};
use crivo::keys::{KeyRef, KeyScheme};

use super::support::{Random, generator};

type Stream = Vec<(u64, u64)>;
type Counts = BTreeMap<u64, u64>;

/// The divisor of the guarantee, written here a second time: all counters but a quarter, and one.
fn divisor(capacity: u64) -> u128 {
    (1..=capacity).filter(|i| i % 4 != 0).count() as u128 + 1
}

fn empty(capacity: u64) -> HeavyHitters {
    HeavyHitters::with_scheme(capacity, KeyScheme::integers()).unwrap()
}

fn feed(mut sketch: HeavyHitters, stream: &[(u64, u64)]) -> HeavyHitters {
    stream.iter().for_each(|(key, weight)| sketch.add(key, *weight).unwrap());
    sketch
}

fn exact(stream: &[(u64, u64)]) -> Counts {
    let mut counts = Counts::new();
    stream.iter().for_each(|&(key, weight)| *counts.entry(key).or_default() += weight);
    counts
}

/// `draws` keys, key `i` with a probability in proportion to `(i + 1)^−exponent`.
fn zipf(exponent: f64, keys: u64, draws: usize, random: &mut Random) -> Vec<u64> {
    let mut sum = 0.0;
    let shares = (1..=keys).map(|rank| {
        sum += (rank as f64).powf(-exponent);
        sum
    });
    let cumulative: Vec<f64> = shares.collect();
    let draw = |_| {
        let drawn = random.unit() * sum;
        cumulative.partition_point(|&upto| upto < drawn) as u64
    };
    (0..draws).map(draw).collect()
}

/// Streams that are easy, hard, and made to mislead, each with its name.
fn streams(draws: usize, random: &mut Random) -> Vec<(&'static str, Stream)> {
    let ones = |keys: Vec<u64>| keys.into_iter().map(|key| (key, 1)).collect::<Stream>();
    let steep = zipf(1.5, 20_000, draws, random);
    let flat = zipf(0.8, 20_000, draws, random);
    let mut sorted = steep.clone();
    sorted.sort_unstable();
    let backwards: Vec<u64> = sorted.iter().rev().copied().collect();
    let weighted = steep.iter().map(|&key| (key, 1 + random.bits() % 1500)).collect();
    let heavy_tailed =
        flat.iter().map(|&key| (key, 1 + (random.bits() >> (random.below(50) + 10)))).collect();
    // All the same until the frequent keys come at last; and frequent keys that vanish among
    // others.
    let late = (0..draws as u64).map(|i| if 10 * i < 9 * draws as u64 { 100 + i } else { i % 7 }).collect();
    let early =
        (0..draws as u64).map(|i| if 10 * i < draws as u64 { i % 7 } else { 100 + i % 5000 }).collect();
    let round = (0..draws as u64).map(|i| i % 501).collect();
    vec![
        ("Zipf 1.5", ones(steep)),
        ("Zipf 0.8", ones(flat)),
        ("sorted", ones(sorted)),
        ("sorted backwards", ones(backwards)),
        ("weights to 1500", weighted),
        ("weights to 2^54", heavy_tailed),
        ("all different, then few", ones(late)),
        ("few, then many", ones(early)),
        ("in turn", ones(round)),
    ]
}

const CAPACITIES: [u64; 9] = [1, 2, 3, 4, 8, 33, 100, 501, 2000];

/// Holds a sketch to everything it promises of every key.
fn check(sketch: &HeavyHitters, truth: &Counts, what: &str) {
    let total: u128 = truth.values().map(|&count| u128::from(count)).sum();
    assert_eq!(u128::from(sketch.total()), total, "{what}");
    assert!(sketch.counters() as u64 <= sketch.capacity(), "{what}");
    let error = u128::from(sketch.max_error());
    assert!(error * divisor(sketch.capacity()) <= total, "{what}: {error} of {total}");
    if truth.len() as u64 <= sketch.capacity() {
        assert_eq!(error, 0, "{what}: few keys are exact");
    }

    let listed = sketch.top(usize::MAX);
    assert_eq!(listed.len(), sketch.counters(), "{what}");
    let bounds: BTreeMap<u64, (u64, u64)> =
        listed.iter().map(|hitter| (integer(hitter), (hitter.lower(), hitter.upper()))).collect();
    for (&key, &count) in truth {
        let (lower, upper) = bounds.get(&key).copied().unwrap_or((0, sketch.max_error()));
        assert!(lower <= count && count <= upper, "{what}: {key} came {count} times, not {lower} to {upper}");
        assert!(u128::from(upper - lower) * 1000 <= 1001 * error, "{what}: too wide");
        let estimate = sketch.frequency(&key).unwrap();
        assert!(estimate.is_certain() && estimate.covers(count as f64), "{what}: {estimate:?}");
    }
    assert!(bounds.keys().all(|key| truth.contains_key(key)), "{what}: a key that never came");
    check_order(&listed, truth, what);
    check_readings(sketch, truth, total, what);
}

fn integer(hitter: &Hitter) -> u64 {
    match hitter.key() {
        KeyRef::Integer(integer) => integer,
        other => panic!("{other:?} is no integer"),
    }
}

/// The list is ordered by count and then by key, and what is listed too high is wrong by no more
/// than half the widths of the bounds.
fn check_order(listed: &[Hitter], truth: &Counts, what: &str) {
    for pair in listed.windows(2) {
        let [a, b] = pair else { panic!("a pair has two") };
        assert!(a.count() > b.count() || a.count() == b.count() && a.key() < b.key(), "{what}");
        let half_widths = (a.upper() - a.lower()).div_ceil(2) + (b.upper() - b.lower()).div_ceil(2);
        assert!(truth[&integer(a)].saturating_add(half_widths) >= truth[&integer(b)], "{what}");
    }
}

fn check_readings(sketch: &HeavyHitters, truth: &Counts, total: u128, what: &str) {
    // Shares that floats hold exactly.
    for parts in [0, 1, 24, 410, 2458, 7373_u16] {
        let share = f64::from(parts) / 8192.0;
        let is_above = |count: u64| u128::from(count) * 8192 > u128::from(parts) * total;
        let keys = |hitters: Vec<Hitter>| hitters.iter().map(integer).collect::<Vec<_>>();
        for key in keys(sketch.above(share, Reading::NoFalsePositives).unwrap()) {
            assert!(is_above(truth[&key]), "{what}: {key} is not above {share}");
        }
        match sketch.above(share, Reading::NoFalseNegatives) {
            Ok(hitters) => {
                let found = keys(hitters);
                let missed = truth.iter().find(|&(key, &count)| is_above(count) && !found.contains(key));
                assert_eq!(missed, None, "{what}: missed above {share}");
            }
            Err(error) => {
                assert_eq!(error.field(), "share");
                assert!(is_above(sketch.max_error()), "{what}: {share} could have been answered");
            }
        }
    }
}

#[test]
fn bounds_hold_for_every_key_of_every_stream() {
    let mut random = generator("streams");
    for _ in 0..4 {
        for (name, stream) in streams(12_000, &mut random) {
            let truth = exact(&stream);
            for capacity in CAPACITIES {
                check(&feed(empty(capacity), &stream), &truth, &format!("{name}, {capacity} counters"));
            }
        }
    }
}

/// Streams cut into parts, counted with different capacities, and merged in any order.
#[test]
fn bounds_hold_after_any_tree_of_merges() {
    let mut random = generator("merges");
    for _ in 0..6 {
        for (name, stream) in streams(4_000, &mut random) {
            let truth = exact(&stream);
            for capacity in CAPACITIES {
                let parts = 2 + random.below(8);
                let mut sketches: Vec<HeavyHitters> = stream
                    .chunks(stream.len() / parts + 1)
                    .map(|part| feed(empty(capacity + random.below(20) as u64), part))
                    .collect();
                while sketches.len() > 1 {
                    let other = sketches.swap_remove(random.below(sketches.len()));
                    let into = random.below(sketches.len());
                    sketches[into].merge(&other).unwrap();
                }
                let what = format!("{name}, {parts} parts with {capacity} counters or more");
                check(&sketches[0], &truth, &what);
            }
        }
    }
}

/// Very many unmerged parts: the worst of what merging may cost.
#[test]
fn a_thousand_merges_cost_no_more_than_the_guarantee() {
    let mut random = generator("thousand");
    let stream: Stream = zipf(1.1, 50_000, 200_000, &mut random).into_iter().map(|key| (key, 1)).collect();
    let mut merged = empty(100);
    for part in stream.chunks(200) {
        merged.merge(&feed(empty(100), part)).unwrap();
    }
    check(&merged, &exact(&stream), "a thousand parts");
}

/// Keys above the guaranteed share are found in any order, also by `for_share`'s own size.
#[test]
fn every_key_above_the_share_is_found() {
    let mut random = generator("share");
    for share in [0.3, 0.1, 0.01] {
        let capacity = HeavyHitters::capacity_for(share).unwrap();
        assert!(HeavyHitters::guaranteed_share(capacity) <= share);
        assert!(capacity == 1 || HeavyHitters::guaranteed_share(capacity - 1) > share, "the fewest");
        // As many keys just above the share as there can be, among others that all come once.
        let (frequent, draws) = ((1.0 / share) as u64 - 1, 20_000_u64);
        let each = (share * draws as f64) as u64 + 1;
        let mut stream: Stream = (0..frequent).flat_map(|key| vec![(key, 1); each as usize]).collect();
        stream.extend((frequent * each..draws).map(|i| (1000 + i, 1)));
        for _ in 0..20 {
            for i in (1..stream.len()).rev() {
                stream.swap(i, random.below(i + 1));
            }
            let found = feed(empty(capacity), &stream).above(share, Reading::NoFalseNegatives).unwrap();
            assert!((0..frequent).all(|key| found.iter().any(|hitter| integer(hitter) == key)), "{share}");
        }
    }
}

/// A stream that drives the error up to the guarantee, so that no smaller constant would be true:
/// all but a quarter of the counters hold large weights, which each purge lowers by a whole weight
/// that was counted once.
#[test]
fn the_guarantee_is_reached_so_that_three_percent_less_would_be_wrong() {
    for capacity in [8, 100, 1000_u64] {
        let given_up = capacity / 4;
        let large = capacity - given_up;
        let (rounds, step) = (1000, 1_000_000);
        let mut sketch = empty(capacity);
        (0..large).for_each(|key| sketch.add(&key, rounds * step).unwrap());
        for round in 0..rounds {
            // The counters that are given up hold 1 each, but for one that holds the step.
            (1..=given_up).for_each(|i| sketch.add(&(large + i), 1).unwrap());
            assert_eq!(sketch.max_error(), round * step, "nothing given up yet");
            sketch.add(&u64::MAX, step).unwrap();
        }
        let reached = sketch.max_error() as f64 * divisor(capacity) as f64 / sketch.total() as f64;
        assert!(reached > 0.999 && reached <= 1.0, "{capacity}: {reached}");
    }
}

/// For each bound there are keys whose true count it is, though the other bound is elsewhere: a
/// bound closer by one would be broken.
#[test]
fn bounds_closer_by_one_would_be_broken() {
    let mut random = generator("closer");
    let (mut at_lower, mut at_upper, mut at_error) = (0, 0, 0);
    // Just after the first purge a key was given up that had come as often as the threshold says.
    let purged_once = ("a weight for each", (1..=101).map(|i| (i, i)).collect());
    for (_, stream) in streams(12_000, &mut random).into_iter().chain([purged_once]) {
        let truth = exact(&stream);
        let sketch = feed(empty(100), &stream);
        let listed = sketch.top(usize::MAX);
        for hitter in listed.iter().filter(|hitter| !hitter.is_exact()) {
            at_lower += usize::from(truth[&integer(hitter)] == hitter.lower());
            at_upper += usize::from(truth[&integer(hitter)] == hitter.upper());
        }
        let without = truth.iter().filter(|(key, _)| listed.iter().all(|hitter| integer(hitter) != **key));
        at_error += without.filter(|&(_, &count)| count == sketch.max_error() && count > 0).count();
    }
    assert!(at_lower > 0 && at_upper > 0 && at_error > 0, "{at_lower} {at_upper} {at_error}");
}

/// On streams as they come the error is far below the guarantee, and the bounds of frequent keys
/// far closer still. With --nocapture this prints the table of docs/accuracy/heavy-hitters.md.
#[test]
fn frequent_keys_are_known_far_better_than_guaranteed() {
    let mut random = generator("measured");
    for exponent in [0.8, 1.1, 1.5] {
        let keys = zipf(exponent, 1 << 20, 1_000_000, &mut random);
        let stream: Stream = keys.into_iter().map(|key| (key, 1)).collect();
        let truth = exact(&stream);
        let mut order: Vec<(u64, u64)> = truth.iter().map(|(&key, &count)| (count, key)).collect();
        order.sort_unstable_by_key(|&(count, key)| (std::cmp::Reverse(count), key));
        for capacity in [256, 1024, 4096] {
            let sketch = feed(empty(capacity), &stream);
            check(&sketch, &truth, &format!("Zipf {exponent}, {capacity} counters"));
            let among = |hitters: &[Hitter]| {
                let listed: Vec<u64> = hitters.iter().map(integer).collect();
                order[..100].iter().filter(|(_, key)| listed.contains(key)).count()
            };
            let (counted, found) = (among(&sketch.top(usize::MAX)), among(&sketch.top(100)));
            let sure = order[..100].iter().filter(|&&(count, _)| count > sketch.max_error()).count();
            let width = order[..100].iter().map(|&(_, key)| {
                let estimate = sketch.frequency(&key).unwrap();
                estimate.upper() - estimate.lower()
            });
            let width = width.sum::<f64>() / 100.0;
            let limit = 1e6 / divisor(capacity) as f64;
            #[allow(clippy::print_stdout)] // with --nocapture: the rows of the table in docs/accuracy
            {
                println!(
                    "| {exponent} | {capacity} | {limit:.0} | {} | {:.2} | {width:.1} | {sure} | {counted} | {found} |",
                    sketch.max_error(),
                    sketch.max_error() as f64 / limit,
                );
            }
            assert!(counted >= sure, "all that came more often than the error have a counter");
            // The hundredth key comes 780 times at 1.1 and 380 at 1.5, more than nine deviations
            // above the error; one that rare when it came first has been given up and come back
            // early if at all.
            if exponent > 1.0 && capacity > 256 {
                assert_eq!(sure, 100, "Zipf {exponent}, {capacity} counters");
                assert!(width < limit / 50.0, "Zipf {exponent}, {capacity} counters: {width}");
            }
        }
    }
}
