//! The Bloom filters against their theory, written here a second time from the picture alone: `n`
//! keys throw balls at cells, and a stranger is found if all its cells were hit.

use crivo::keys::KeyScheme;
use crivo::membership::{BlockedBloom, Bloom};
use crivo::sketch::{ContainsHashes, InsertHashes};

use super::harness::{Claim, Measured, judge};
use super::support::{Random, generator};

/// Five of these are a chance below 10⁻⁶, two-sided.
const DEVIATIONS: f64 = 5.0;

fn bloom(bits: u64, hashes: u32) -> Bloom {
    Bloom::with_scheme(bits, hashes, KeyScheme::hashes()).unwrap()
}

fn blocked(blocks: u64) -> BlockedBloom {
    BlockedBloom::with_scheme(blocks, KeyScheme::hashes()).unwrap()
}

/// Inserts `count` random hashes.
fn feed(filter: &mut impl InsertHashes, count: u64, random: &mut Random) {
    let mut hashes = [0; 512];
    let mut left = count as usize;
    while left > 0 {
        let batch = &mut hashes[..left.min(512)];
        random.fill(batch);
        filter.insert_hashes(batch);
        left -= batch.len();
    }
}

/// Probes keys that were not inserted and returns the number of false positives.
fn strangers_found(filter: &impl ContainsHashes, probes: u64, random: &mut Random) -> u64 {
    let (mut hashes, mut found) = ([0; 512], Vec::new());
    let (mut left, mut hits) = (probes as usize, 0);
    while left > 0 {
        let batch = &mut hashes[..left.min(512)];
        random.fill(batch);
        filter.contains_hashes(batch, &mut found);
        hits += found.iter().filter(|&&found| found).count() as u64;
        left -= batch.len();
    }
    hits
}

// ---- false positives ----

/// `(1 − e^(−kn/m))^k`, and its relative deviation from filter to filter because their fill varies.
pub(super) fn bloom_theory(bits: u64, hashes: u32, items: u64) -> (f64, f64) {
    let (m, k) = (bits as f64, f64::from(hashes));
    let load = k * items as f64 / m;
    let fill = 1.0 - (-load).exp();
    let spread = (-load).exp() * ((load.exp() - 1.0 - load) / m).sqrt();
    (fill.powf(k), k * spread / fill)
}

/// `Σ P(j)·(1 − (63/64)^j)^8` with Poisson `P`, and the relative deviation from filter to filter:
/// that of a mean over blocks.
fn blocked_theory(blocks: u64, items: u64) -> (f64, f64) {
    let mean = items as f64 / blocks as f64;
    let (mut probability, mut rate, mut square) = ((-mean).exp(), 0.0, 0.0);
    for keys in 0..(4.0 * mean + 100.0) as i32 {
        let of_block = (1.0 - (63.0_f64 / 64.0).powi(keys)).powi(8);
        rate += probability * of_block;
        square += probability * of_block * of_block;
        probability *= mean / f64::from(keys + 1);
    }
    // Twice the variance of the loads alone leaves room for which bits the keys of a block chose.
    (rate, (2.0 * (square - rate * rate) / blocks as f64).sqrt() / rate)
}

/// Checks the false-positive rate over several filters, with enough probes that an error of 3 % is
/// more than twice `DEVIATIONS` standard deviations.
fn hold_rate<F: InsertHashes + ContainsHashes>(
    name: &str,
    make: impl Fn() -> F,
    items: u64,
    (rate, between): (f64, f64),
) {
    const FILTERS: u64 = 40;
    let mut random = generator(name);
    let probes = (300_000.0 / rate / FILTERS as f64) as u64;
    let mut hits = 0;
    for _ in 0..FILTERS {
        let mut filter = make();
        feed(&mut filter, items, &mut random);
        hits += strangers_found(&filter, probes, &mut random);
    }
    let expected = (probes * FILTERS) as f64 * rate;
    let deviation = ((1.0 - rate) / expected + between * between / FILTERS as f64).sqrt();
    let ratio = hits as f64 / expected;
    #[allow(clippy::print_stdout)] // with --nocapture: the rows of the table in docs/accuracy
    {
        println!("| {name} | {items} | {:.4} % | {ratio:.4} | {:.4} |", 100.0 * rate, deviation);
    }
    assert!(2.0 * DEVIATIONS * deviation < 0.03, "{name}: too few probes to see 3 %: {deviation}");
    assert!((ratio - 1.0).abs() < DEVIATIONS * deviation, "{name}: {ratio} of theory, deviation {deviation}");
    for wrong in [0.97, 1.03] {
        assert!((ratio / wrong - 1.0).abs() > DEVIATIONS * deviation, "{name}: {wrong} is not noticed");
    }
}

#[test]
fn bloom_is_wrong_as_often_as_theory_says() {
    for (items, rate) in [(20_000, 0.3), (20_000, 0.05), (20_000, 0.01), (50_000, 1e-3)] {
        let (bits, hashes) = Bloom::size_for(items, rate).unwrap();
        let theory = bloom_theory(bits, hashes, items);
        assert!((theory.0 / rate - 1.0).abs() < 1e-3, "the size is that of the rate: {theory:?}");
        hold_rate(&format!("bloom {bits} × {hashes}"), || bloom(bits, hashes), items, theory);
    }
    // Half full and past its capacity, where it says so itself.
    for items in [16_000, 40_000] {
        hold_rate(
            &format!("bloom 191859 × 7 {items}"),
            || bloom(191_859, 7),
            items,
            bloom_theory(191_859, 7, items),
        );
    }
}

#[test]
fn blocked_bloom_is_wrong_as_often_as_theory_says() {
    for (items, rate) in [(200_000, 0.3), (300_000, 0.05), (500_000, 0.01), (800_000, 1e-3)] {
        let blocks = BlockedBloom::blocks_for(items, rate).unwrap();
        let theory = blocked_theory(blocks, items);
        assert!((theory.0 / rate - 1.0).abs() < 2e-3, "the size is that of the rate: {theory:?}");
        hold_rate(&format!("blocked {blocks}"), || blocked(blocks), items, theory);
    }
    hold_rate("blocked 4000 overfull", || blocked(4_000), 400_000, blocked_theory(4_000, 400_000));
}

/// Ten million keys and ten million probes at 1 %: 316 hits are a deviation, 3 % are nine of them.
#[test]
fn ten_million_keys_give_the_rate_asked_for() {
    const ITEMS: u64 = 10_000_000;
    let mut random = generator("ten million");
    let check = |name: &str, hits: u64, said: f64| {
        let rate = hits as f64 / ITEMS as f64;
        #[allow(clippy::print_stdout)]
        {
            println!("| {name} | {ITEMS} | 1 % | {:.4} % | {:.4} % |", 100.0 * rate, 100.0 * said);
        }
        assert!((rate / 0.01 - 1.0).abs() < 0.03, "{name}: {rate}");
        assert!((rate / said - 1.0).abs() < 0.03, "{name}: {rate}, and it says {said}");
    };
    let mut filter = Bloom::for_items_with_scheme(ITEMS, 0.01, KeyScheme::hashes()).unwrap();
    feed(&mut filter, ITEMS, &mut random);
    check("Bloom", strangers_found(&filter, ITEMS, &mut random), filter.false_positive_rate());
    let mut filter = BlockedBloom::for_items_with_scheme(ITEMS, 0.01, KeyScheme::hashes()).unwrap();
    feed(&mut filter, ITEMS, &mut random);
    check("BlockedBloom", strangers_found(&filter, ITEMS, &mut random), filter.false_positive_rate());
}

/// Keys in sequence, hashed as users' keys are, behave as random ones.
#[test]
fn integers_in_sequence_give_the_same_rate() {
    const ITEMS: u64 = 1_000_000;
    let mut filter = Bloom::for_items_with_scheme(ITEMS, 0.01, KeyScheme::integers()).unwrap();
    let mut blocked = BlockedBloom::for_items_with_scheme(ITEMS, 0.01, KeyScheme::integers()).unwrap();
    for key in 0..ITEMS {
        filter.insert(&key).unwrap();
        blocked.insert(&key).unwrap();
    }
    let probes = 3 * ITEMS;
    let hits =
        |contains: &dyn Fn(u64) -> bool| (ITEMS..ITEMS + probes).filter(|&key| contains(key)).count() as f64;
    for hits in [hits(&|key| filter.contains(&key).unwrap()), hits(&|key| blocked.contains(&key).unwrap())] {
        let ratio = hits / (0.01 * probes as f64);
        assert!((ratio - 1.0).abs() < 0.03, "{ratio}");
    }
}

// ---- number of items ----

/// The relative error of the number of items: `√(m·noise(λ))/(kn)`, where a block adds the noise of
/// sharing it.
fn items_theory(bits: u64, hashes: u32, is_blocked: bool, items: u64) -> f64 {
    let (m, k) = (bits as f64, f64::from(hashes));
    let load = k * items as f64 / m;
    let noise = |load: f64| load.exp() - 1.0 - load;
    let blocks = if is_blocked { 7.0 * 64.0 * noise(load / 64.0) } else { 0.0 };
    (m * (noise(load) + blocks)).sqrt() / (k * items as f64)
}

fn hold_items<F: InsertHashes>(
    name: &str,
    make: impl Fn() -> F,
    items: u64,
    estimate: impl Fn(&F) -> crivo::Estimate,
    theory: f64,
) {
    const TRIALS: u32 = 30_000;
    let mut random = generator(name);
    let mut measured = Measured::default();
    for _ in 0..TRIALS {
        let mut filter = make();
        feed(&mut filter, items, &mut random);
        measured.add(items as f64, estimate(&filter));
    }
    let claim = Claim { rmse: theory, rmse_margin: 0.045, bias_margin: 0.06, coverage: (0.937, 0.985) };
    judge(name, &claim, &measured).unwrap_or_else(|failures| panic!("{name}: {failures}"));
}

#[test]
fn number_of_items_is_estimated_with_the_error_of_theory() {
    for items in [100, 300, 600, 1_200] {
        let theory = items_theory(4_100, 5, false, items);
        hold_items(&format!("bloom 4100 × 5, {items}"), || bloom(4_100, 5), items, Bloom::items, theory);
    }
    for items in [100, 400, 1_000, 2_000] {
        let theory = items_theory(20 * 512, 8, true, items);
        hold_items(&format!("blocked 20, {items}"), || blocked(20), items, BlockedBloom::items, theory);
    }
}

/// What two filters share, from none to all of the smaller one: the share of intervals that hold.
#[test]
fn shared_items_are_in_their_interval() {
    const TRIALS: u32 = 4_000;
    let mut random = generator("shared");
    for (first, second, shared) in
        [(300, 300, 0), (300, 300, 30), (300, 300, 150), (500, 100, 50), (100, 600, 100)]
    {
        let mut covered = [0; 2];
        for _ in 0..TRIALS {
            let (mut a, mut b) = (bloom(6_000, 5), bloom(6_000, 5));
            feed(&mut a, shared, &mut random);
            b.merge(&a).unwrap();
            feed(&mut a, first - shared, &mut random);
            feed(&mut b, second - shared, &mut random);
            covered[0] += u32::from(a.shared_items(&b).unwrap().covers(shared as f64));

            let (mut a, mut b) = (blocked(16), blocked(16));
            feed(&mut a, shared, &mut random);
            b.merge(&a).unwrap();
            feed(&mut a, first - shared, &mut random);
            feed(&mut b, second - shared, &mut random);
            covered[1] += u32::from(a.shared_items(&b).unwrap().covers(shared as f64));
        }
        // At 4,000 trials five deviations of 95 % are 1.7 points.
        for covered in covered {
            let coverage = f64::from(covered) / f64::from(TRIALS);
            #[allow(clippy::print_stdout)]
            {
                println!("| {first} and {second} share {shared} | {:.2} % |", 100.0 * coverage);
            }
            assert!(coverage > 0.94 - 0.017, "{first} and {second} share {shared}: {coverage}");
        }
    }
}
