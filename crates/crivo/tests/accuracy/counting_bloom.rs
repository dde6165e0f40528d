// This file is long because the filter makes claims about members, counts and removals.

//! The counting Bloom filter against its theory.
//!
//! `n` keys throw `k` balls each at `m` cells, so that a cell is met `λ = kn/m` times on average.
//! All that is claimed here follows from that picture, and is written down from it alone.

use crivo::keys::{KeyBuffer, KeyScheme};
use crivo::membership::{CounterBits, CountingBloom};
use crivo::{Confidence, Estimate};

use super::harness::{Claim, Measured, judge};
use super::support::{Random, generator};

/// With --nocapture: a row of a table in docs/accuracy.
#[allow(clippy::print_stdout)]
fn row(text: std::fmt::Arguments<'_>) {
    println!("| {text} |");
}

/// Five of these are a chance below 10⁻⁶, two-sided.
const DEVIATIONS: f64 = 5.0;

fn empty(cells: u64, hashes: u32, width: CounterBits) -> CountingBloom {
    CountingBloom::with_scheme(cells, hashes, width, KeyScheme::hashes()).unwrap()
}

fn random_hashes(count: u64, random: &mut Random) -> Vec<u64> {
    let mut hashes = vec![0; count as usize];
    random.fill(&mut hashes);
    hashes
}

fn load(cells: u64, hashes: u32, items: u64) -> f64 {
    f64::from(hashes) * items as f64 / cells as f64
}

/// The variance of the logarithm of the number of empty cells, times the number of cells: that of a
/// cell being empty by chance, less what is known because the number of balls is not chance.
fn log_variance(load: f64) -> f64 {
    load.exp() - 1.0 - load
}

// ---- false positives ----

/// The share of cells in use, and its standard deviation.
fn fill(cells: u64, hashes: u32, items: u64) -> (f64, f64) {
    let load = load(cells, hashes, items);
    let empty = (-load).exp();
    (1.0 - empty, empty * (log_variance(load) / cells as f64).sqrt())
}

/// Probes as many strangers as are needed for 300,000 hits, over fifty filters, and compares the
/// share found with `(1 − e^(−kn/m))^k`. Its deviation has two parts: hits are counted, and the
/// fill of a filter varies. Returns the ratio of both and that deviation.
fn false_positives(
    cells: u64,
    hashes: u32,
    items: u64,
    mut strangers: impl FnMut(u64) -> Vec<u64>,
) -> (f64, f64) {
    let filters = 50;
    let (fill, spread) = fill(cells, hashes, items);
    let rate = fill.powi(hashes as i32);
    let probes = (300_000.0 / rate / f64::from(filters)) as u64;
    let (mut hits, mut found) = (0, Vec::new());
    for _ in 0..filters {
        let mut filter = empty(cells, hashes, CounterBits::Four);
        filter.insert_hashes(&strangers(items));
        filter.contains_hashes(&strangers(probes), &mut found);
        hits += found.iter().filter(|&&found| found).count();
    }
    let expected = probes as f64 * f64::from(filters) * rate;
    let between = f64::from(hashes) * spread / fill / f64::from(filters).sqrt();
    let deviation = ((1.0 - rate) / expected + between * between).sqrt();
    let ratio = hits as f64 / expected;
    row(format_args!("{cells} | {hashes} | {items} | {:.4} % | {ratio:.4}", 100.0 * rate));
    (ratio, deviation)
}

/// The rate is that of theory, and a theory wrong by 3 % is caught with any seed: the test's margin
/// is five deviations, and 3 % are more than ten.
fn assert_rate(ratio: f64, deviation: f64) {
    assert!(2.0 * DEVIATIONS * deviation < 0.03, "too few probes to see 3 %: {deviation}");
    assert!((ratio - 1.0).abs() < DEVIATIONS * deviation, "{ratio} times theory, deviation {deviation}");
    for wrong in [0.97, 1.03] {
        assert!((ratio / wrong - 1.0).abs() > DEVIATIONS * deviation, "{ratio} would pass for {wrong}");
    }
}

#[test]
fn false_positives_are_as_many_as_theory_says() {
    let mut random = generator("false positives");
    for (cells, hashes, items) in [
        (100_000, 1, 10_536),
        (100_000, 2, 69_315),
        (100_000, 4, 50_000),
        (80_000, 6, 10_000),
        (110_330, 8, 10_000),
    ] {
        let (ratio, deviation) = false_positives(cells, hashes, items, |n| random_hashes(n, &mut random));
        assert_rate(ratio, deviation);
    }
}

/// The same with consecutive integers as keys, hashed as everybody's keys are, in a filter built
/// for a goal: it is reached, and not by chance.
#[test]
fn goal_is_reached_with_ordinary_keys() {
    let (cells, hashes) = CountingBloom::size_for(10_000, 0.01).unwrap();
    let mut buffer = KeyBuffer::new(KeyScheme::integers());
    let mut next = generator("ordinary keys").bits();
    let (ratio, deviation) = false_positives(cells, hashes, 10_000, |count| {
        let keys: Vec<u64> = (0..count).map(|i| next.wrapping_add(i)).collect();
        next = next.wrapping_add(count);
        buffer.hash_integers(&keys).unwrap().hashes().to_vec()
    });
    assert_rate(ratio, deviation);
}

/// What a filter says of its present rate is true of itself, not only on average.
#[test]
fn present_rate_is_that_of_this_filter() {
    let mut random = generator("present rate");
    let mut filter =
        CountingBloom::for_items_with_scheme(1_000, 0.01, CounterBits::Four, KeyScheme::hashes()).unwrap();
    // Twice the capacity: the rate says so.
    filter.insert_hashes(&random_hashes(2_000, &mut random));
    let rate = filter.false_positive_rate();
    assert!(rate > 0.1);
    let (mut hits, mut found, rounds) = (0, Vec::new(), 2_000);
    for _ in 0..rounds {
        filter.contains_hashes(&random_hashes(1_000, &mut random), &mut found);
        hits += found.iter().filter(|&&found| found).count();
    }
    let expected = 1_000.0 * f64::from(rounds) * rate;
    assert_rate(hits as f64 / expected, ((1.0 - rate) / expected).sqrt());
}

// ---- items ----

const TRIALS: u32 = 60_000;

fn items_claim(cells: u64, hashes: u32, items: u64) -> Claim {
    let load = load(cells, hashes, items);
    let rmse = (log_variance(load) / cells as f64).sqrt() / load;
    Claim { rmse, rmse_margin: 0.03, bias_margin: 0.05, coverage: (0.94, 0.98) }
}

/// Filters asked at several sizes; each size has its own independent trials behind it.
fn measure_items(name: &str, cells: u64, hashes: u32, sizes: &[u64], trials: u32) -> Vec<Measured> {
    let mut random = generator(name);
    let mut measured = vec![Measured::default(); sizes.len()];
    for _ in 0..trials {
        let mut filter = empty(cells, hashes, CounterBits::Eight);
        let mut done = 0;
        for (&size, measured) in sizes.iter().zip(&mut measured) {
            filter.insert_hashes(&random_hashes(size - done, &mut random));
            done = size;
            measured.add(size as f64, filter.items());
        }
    }
    measured
}

/// From one cell in six to 95 % in use.
#[test]
fn items_are_counted_until_the_filter_is_nearly_full() {
    for (cells, hashes, sizes) in
        [(1000, 3, [60, 120, 231, 500, 1000]), (1000, 1, [180, 350, 700, 1500, 3000])]
    {
        let measured = measure_items("items", cells, hashes, &sizes, TRIALS);
        for (items, measured) in sizes.into_iter().zip(&measured) {
            let subject = format!("{cells} | {hashes} | {items}");
            assert_eq!(judge(&subject, &items_claim(cells, hashes, items), measured), Ok(()), "{subject}");
        }
    }
}

#[test]
fn items_of_a_roomy_filter_are_counted() {
    let (cells, hashes) = CountingBloom::size_for(10_000, 0.01).unwrap();
    let (sizes, trials) = ([1_000, 10_000, 40_000], 2_000);
    let measured = measure_items("roomy", cells, hashes, &sizes, trials);
    for (items, measured) in sizes.into_iter().zip(&measured) {
        // Fewer trials, and margins that fit them.
        let claim = Claim {
            rmse_margin: 0.16,
            bias_margin: 0.22,
            coverage: (0.90, 1.0),
            ..items_claim(cells, hashes, items)
        };
        let subject = format!("{cells} | {hashes} | {items}");
        assert_eq!(judge(&subject, &claim, measured), Ok(()), "{subject}");
    }
}

/// With a handful of items chance is a collision or none, and with a handful of empty cells it is
/// far from normal: intervals must hold all the same. (By exact enumeration they hold in at least
/// 95 % at every size; the margin is five deviations.)
#[test]
fn intervals_hold_where_nothing_is_normal() {
    let trials = 20_000;
    let least = 0.95 - DEVIATIONS * (0.95 * 0.05 / f64::from(trials)).sqrt();
    for (cells, hashes, sizes) in [
        (10_000, 7, &[1, 2, 3, 5, 8, 13, 21, 34][..]),
        (10_000, 1, &[1, 10, 50, 100, 150, 200, 300]),
        (64, 3, &[1, 5, 20, 40, 64, 80, 100]),
        (1000, 4, &[1000, 1100, 1200, 1300]),
    ] {
        let measured = measure_items("not normal", cells, hashes, sizes, trials);
        for (items, measured) in sizes.iter().zip(&measured) {
            let coverage = measured.coverage();
            row(format_args!("{cells} | {hashes} | {items} | {:.2} %", 100.0 * coverage));
            assert!(coverage >= least, "{cells} cells, {hashes} hashes, {items} items: {coverage}");
        }
    }
}

/// The expected number of items is not the only thing that must be right: a filter so full that a
/// cell less or more decides has bounds far apart, and one that is full has no upper bound.
#[test]
fn full_filters_say_that_they_know_little() {
    let mut random = generator("full");
    let mut filter = empty(200, 2, CounterBits::Eight);
    filter.insert_hashes(&random_hashes(2_000, &mut random));
    let items = filter.items();
    assert_eq!(filter.fill(), 1.0);
    assert!(items.upper().is_infinite() && items.lower() >= 100.0 && items.covers(2_000.0), "{items:?}");
}

#[test]
fn a_count_of_items_wrong_by_three_percent_is_caught() {
    let (cells, hashes, items) = (1000, 3, 231);
    let mut random = generator("mutant");
    let mut measured = Measured::default();
    for _ in 0..TRIALS {
        let mut filter = empty(cells, hashes, CounterBits::Eight);
        filter.insert_hashes(&random_hashes(items, &mut random));
        let right = filter.items();
        let [value, lower, upper] = [right.value(), right.lower(), right.upper()].map(|x| 1.03 * x);
        measured.add(items as f64, Estimate::probable(value, lower, upper, right.confidence()));
    }
    let failures = judge("wrong by 3 %", &items_claim(cells, hashes, items), &measured).unwrap_err();
    for check in ["rmse", "bias", "95 % intervals"] {
        assert!(failures.contains(check), "{check} did not object: {failures}");
    }
}

// ---- shared items ----

/// The sizes of two sets and of what they share.
#[derive(Debug, Clone, Copy)]
struct Overlap {
    first: u64,
    second: u64,
    shared: u64,
}

/// The deviation of `|A| + |B| − |A ∪ B|`, each from its own empty cells. Two counts covary by the
/// cells they both see: `e^t − 1 − t` for the load `t` that is common to both.
fn shared_deviation(cells: u64, hashes: u32, overlap: Overlap) -> f64 {
    let Overlap { first, second, shared } = overlap;
    let [a, b, s, u] =
        [first, second, shared, first + second - shared].map(|items| load(cells, hashes, items));
    let variances = log_variance(a) + log_variance(b) + log_variance(u);
    let covariances = log_variance(s) - log_variance(a) - log_variance(b);
    (cells as f64 * (variances + 2.0 * covariances)).sqrt() / f64::from(hashes)
}

fn shared_estimate(cells: u64, hashes: u32, overlap: Overlap, random: &mut Random) -> Estimate {
    let Overlap { first, second, shared } = overlap;
    let mut filters = [first, second].map(|size| {
        let mut filter = empty(cells, hashes, CounterBits::Four);
        filter.insert_hashes(&random_hashes(size - shared, random));
        filter
    });
    let both = random_hashes(shared, random);
    filters.iter_mut().for_each(|filter| filter.insert_hashes(&both));
    filters[0].shared_items(&filters[1]).unwrap()
}

#[test]
fn shared_items_are_counted_with_bounds() {
    let mut random = generator("shared");
    let (cells, hashes, trials) = (1000, 3, 32_000);
    for (first, second, shared) in
        [(100, 100, 50), (230, 230, 115), (230, 230, 207), (100, 500, 60), (500, 500, 300)]
    {
        let overlap = Overlap { first, second, shared };
        let mut measured = Measured::default();
        for _ in 0..trials {
            measured.add(shared as f64, shared_estimate(cells, hashes, overlap, &mut random));
        }
        let claim = Claim {
            rmse: shared_deviation(cells, hashes, overlap) / shared as f64,
            rmse_margin: 0.06,
            bias_margin: 0.06,
            coverage: (0.94, 0.985),
        };
        let subject = format!("{first} | {second} | {shared}");
        assert_eq!(judge(&subject, &claim, &measured), Ok(()), "{subject}");
    }
}

/// Where estimates are cut off (nothing shared, everything shared) or little is to be seen (few
/// items, very different sizes, nearly full filters), intervals hold the truth in at least 94 %,
/// and are no wider than theory makes them plus the items that whole cells and the cut-off cost.
#[test]
fn bounds_on_shared_items_hold_at_every_overlap() {
    let mut random = generator("overlaps");
    let trials = 8_000;
    let noise = DEVIATIONS * (0.95 * 0.05 / f64::from(trials)).sqrt();
    for (cells, hashes, first, second) in
        [(1000, 3, 5, 5), (1000, 3, 230, 230), (1000, 7, 7, 285), (1000, 1, 700, 700), (64, 3, 6, 32)]
    {
        for share in [0.0, 0.05, 0.5, 0.95, 1.0] {
            let shared = (share * first as f64) as u64;
            let overlap = Overlap { first, second, shared };
            let (mut covered, mut width) = (0, 0.0);
            for _ in 0..trials {
                let estimate = shared_estimate(cells, hashes, overlap, &mut random);
                covered += u32::from(estimate.covers(shared as f64));
                width += (estimate.upper() - estimate.lower()) / f64::from(trials);
            }
            let coverage = f64::from(covered) / f64::from(trials);
            row(format_args!(
                "{cells} | {hashes} | {first} | {second} | {shared} | {:.2} % | {width:.1}",
                100.0 * coverage
            ));
            assert!(coverage >= 0.945 - noise, "{overlap:?} in {cells} cells: {coverage}");
            let deviation = shared_deviation(cells, hashes, Overlap { shared: 0, ..overlap });
            assert!(width <= 2.3 * 1.96 * deviation + 2.0, "{overlap:?} in {cells} cells: {width} wide");
        }
    }
}

// ---- counts ----

/// A key that is in there `times` times, among others with counts of their own.
fn count_in_company(
    filter: &mut CountingBloom,
    times: u64,
    others: u64,
    most_each: u64,
    confidence: Confidence,
    random: &mut Random,
) -> Estimate {
    let key = random.bits();
    filter.add_hash(key, times);
    for _ in 0..others {
        let each = 1 + random.below(most_each as usize) as u64;
        filter.add_hash(random.bits(), each);
    }
    filter.count_hash_at(key, confidence)
}

/// Counts are wrong as often as all cells of a key are met by others: `(1 − e^(−kn/m))^k`.
#[test]
fn counts_are_exact_as_often_as_theory_says() {
    let mut random = generator("exact counts");
    let trials = 150_000;
    for (cells, hashes, others, times) in [(200, 2, 125, 3), (200, 3, 100, 0), (200, 4, 100, 7)] {
        let wrong = (0..trials)
            .filter(|_| {
                let mut filter = empty(cells, hashes, CounterBits::Eight);
                let count = count_in_company(&mut filter, times, others, 1, Confidence::P95, &mut random);
                assert!(count.value() >= times as f64 && count.upper() >= times as f64, "a count from above");
                count.value() > times as f64
            })
            .count();
        let (_, spread) = fill(cells, hashes, others);
        let k = f64::from(hashes);
        // In a small filter the terms of second order show: e^(−kn/m) is (1 − 1/m)^(kn), and a
        // power of the fill, which varies, is larger on average than the power of its average.
        let fill = 1.0 - (1.0 - 1.0 / cells as f64).powf(k * others as f64);
        let rate = fill.powf(k) * (1.0 + k * (k - 1.0) / 2.0 * (spread / fill).powi(2));
        let deviation = (rate * (1.0 - rate) / f64::from(trials)).sqrt();
        assert!(2.0 * DEVIATIONS * deviation < 0.03 * rate, "too few trials to see 3 %");
        let observed = wrong as f64 / f64::from(trials);
        row(format_args!("{cells} | {hashes} | {others} | {:.3} % | {:.3}", 100.0 * rate, observed / rate));
        assert!((observed - rate).abs() < DEVIATIONS * deviation, "{observed} instead of {rate}");
    }
}

/// The lower bound holds with its confidence in filters from roomy to crowded, whether the key is
/// in there or not, for even and for uneven company; and it is not given away.
#[test]
fn bounds_of_counts_hold() {
    let mut random = generator("count bounds");
    let trials = 10_000;
    for level in [0.5, 0.95, 0.99] {
        let confidence = Confidence::new(level).unwrap();
        let noise = DEVIATIONS * (level * (1.0 - level) / f64::from(trials)).sqrt();
        for (hashes, others, most_each, times) in [
            (1, 50, 1, 4),
            (3, 20, 9, 0),
            (3, 150, 1, 20),
            (3, 150, 40, 0),
            (3, 150, 40, 500),
            (5, 300, 3, 100),
        ] {
            let (mut held, mut width) = (0, 0.0);
            for _ in 0..trials {
                let mut filter = empty(200, hashes, CounterBits::Sixteen);
                let count = count_in_company(&mut filter, times, others, most_each, confidence, &mut random);
                assert!(count.upper() >= times as f64);
                held += u32::from(count.covers(times as f64));
                width += (count.upper() - count.lower()) / f64::from(trials);
            }
            let coverage = f64::from(held) / f64::from(trials);
            row(format_args!(
                "{level} | {hashes} | {others} | {most_each} | {times} | {:.2} % | {width:.1}",
                100.0 * coverage
            ));
            let subject =
                format!("{level}: {hashes} hashes, {others} others up to {most_each}, {times} times");
            assert!(coverage >= level - noise, "{subject}: {coverage}");
            // The bound of Markov on the share of high counters: mean/j.
            let mean = load(200, hashes, others) * (1.0 + most_each as f64) / 2.0
                + f64::from(hashes) * times as f64 / 200.0;
            let markov = mean / (1.0 - level).powf(1.0 / f64::from(hashes));
            assert!(width <= 1.1 * markov + 1.0, "{subject}: {width} wide");
        }
    }
}

// ---- removal and saturation ----

/// Whatever is removed was never there, bit for bit.
#[test]
fn removing_half_leaves_the_filter_of_the_other_half() {
    let mut random = generator("half");
    for width in CounterBits::ALL {
        let [kept, gone] = [(); 2].map(|()| random_hashes(10_000, &mut random));
        let (mut filter, mut never) = (empty(150_000, 5, width), empty(150_000, 5, width));
        filter.insert_hashes(&[&kept[..], &gone[..]].concat());
        never.insert_hashes(&kept);
        assert_eq!(filter.saturated(), 0);
        filter.remove_hashes(&gone).unwrap();
        assert_eq!(filter, never, "{width:?}");
        assert_eq!(filter.encode(), never.encode());
        let found = gone.iter().filter(|&&hash| filter.contains_hash(hash)).count();
        // Those that are gone are strangers again: found at the false-positive rate, five
        // deviations allowed.
        let expected = filter.false_positive_rate() * gone.len() as f64;
        assert!(
            (found as f64 - expected).abs() < DEVIATIONS * expected.sqrt() + 1.0,
            "{found} of {expected}"
        );
    }
}

/// A cell met `λ` times on average is met 15 times or more with a known probability. Those cells,
/// and only those, are still in use when everything was removed.
#[test]
fn as_many_counters_of_four_bits_saturate_as_theory_says_and_stay() {
    let mut random = generator("saturation");
    let (cells, hashes, items) = (1_000_000, 4, 2_000_000);
    let load = load(cells, hashes, items);
    let below: f64 =
        (0..15).map(|j| (-load).exp() * (1..=j).map(|i| load / f64::from(i)).product::<f64>()).sum();
    let expected = cells as f64 * (1.0 - below);
    let mut filter = empty(cells, hashes, CounterBits::Four);
    let keys = random_hashes(items, &mut random);
    filter.insert_hashes(&keys);
    let saturated = filter.saturated() as f64;
    row(format_args!("{cells} | {hashes} | {items} | {expected:.0} | {saturated}"));
    // A cell saturates or not, nearly independently of the others; more than 15,000 do.
    assert!(DEVIATIONS / expected.sqrt() < 0.045 && expected > 15_000.0);
    assert!((saturated - expected).abs() < DEVIATIONS * expected.sqrt(), "{saturated} of {expected}");

    let counts = keys.iter().map(|&hash| filter.count_hash(hash));
    assert!(counts.filter(|count| count.value() == 15.0).all(|count| count.upper().is_infinite()));
    filter.remove_hashes(&keys).unwrap();
    assert_eq!(filter.saturated() as f64, saturated, "saturated counters stay");
    assert_eq!(filter.fill(), saturated / cells as f64, "all others are zero again");
    assert!(filter.remove_hashes(&keys).is_err(), "nearly all are gone for certain");
}
