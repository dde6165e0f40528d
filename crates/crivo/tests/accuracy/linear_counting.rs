//! `LinearCounting` against its theory: with `t = n/L` the relative variance is
//! `(e^t − t − 1) L/n²` and the bias `(e^t − t − 1)/2n` (Whang, Vander-Zanden and Taylor 1990).
//! That the bounds hold for every count of small tables is computed, not sampled, beside the code.
//!
//! The theoretical bias is taken out of each answer before it is judged: what is left must be
//! small.

use crivo::distinct::LinearCounting;
use crivo::keys::KeyScheme;
use crivo::{Confidence, Estimate};

use super::harness::{Claim, Measured, judge};
use super::shares::{Share, feed};
use super::support::generator;

/// As for HyperLogLog: five deviations of noise fit in half of each margin.
const TRIALS: u32 = 60_000;

fn empty(bits: u64) -> LinearCounting {
    LinearCounting::with_scheme(bits, KeyScheme::hashes()).unwrap()
}

/// `e^t − t − 1`
fn excess(bits: u64, items: u64) -> f64 {
    let t = items as f64 / bits as f64;
    t.exp() - t - 1.0
}

fn claim(bits: u64, items: u64) -> Claim {
    let rmse = (excess(bits, items) * bits as f64).sqrt() / items as f64;
    Claim { rmse, rmse_margin: 0.035, bias_margin: 0.06, coverage: (0.945, 0.975) }
}

/// Measures answers, each multiplied by a factor, along streams; each size has its own independent
/// trials behind it.
fn measure_along(name: &str, bits: u64, sizes: &[u64], factor: f64) -> Vec<Measured> {
    let mut random = generator(name);
    let mut measured = vec![Measured::default(); sizes.len()];
    for _ in 0..TRIALS {
        let mut sketch = empty(bits);
        let mut done = 0;
        for (&size, measured) in sizes.iter().zip(&mut measured) {
            feed(&mut sketch, size - done, &mut random);
            done = size;
            let answer = sketch.estimate();
            let value = factor * answer.value() - excess(bits, size) / 2.0;
            let (lower, upper) = (factor * answer.lower(), factor * answer.upper());
            measured.add(size as f64, Estimate::probable(value, lower, upper, Confidence::P95));
        }
    }
    measured
}

/// From a tenth of an item a bit to four: there two of a hundred bits are left.
#[test]
fn holds_from_sparse_to_nearly_full() {
    let (bits, sizes) = (4096, [410, 1_024, 4_096, 8_192, 16_384]);
    for (size, measured) in sizes.into_iter().zip(measure_along("linear", bits, &sizes, 1.0)) {
        let subject = format!("{bits} | {size}");
        assert_eq!(judge(&subject, &claim(bits, size), &measured), Ok(()), "{subject}");
    }
}

/// What was asked for is what comes out.
#[test]
fn the_size_for_an_error_has_that_error() {
    for (items, error) in [(1_000, 0.05), (10_000, 0.01)] {
        let bits = LinearCounting::bits_for(items, error).unwrap();
        assert!((LinearCounting::standard_error(bits, items) / error - 1.0).abs() < 0.01);
        let measured = &measure_along("sized linear", bits, &[items], 1.0)[0];
        let claim = Claim { rmse: error, ..claim(bits, items) };
        assert_eq!(judge(&format!("{bits} | {items}"), &claim, measured), Ok(()), "{items} items");
    }
}

/// Near `L ln L` items the last bits fill; from then on there is a lower bound and no upper one.
#[test]
fn a_full_table_answers_with_a_lower_bound() {
    let mut random = generator("full linear");
    let bits = 256_u64;
    let coupons = bits as f64 * (bits as f64).ln();
    for factor in [0.9, 1.0, 1.2, 1.6] {
        let (mut full, mut held) = (Share::default(), Share::default());
        let items = (factor * coupons) as u64;
        for _ in 0..20_000 {
            let mut sketch = empty(bits);
            feed(&mut sketch, items, &mut random);
            let estimate = sketch.estimate();
            assert_eq!(sketch.is_full(), estimate.upper().is_infinite());
            full.add(sketch.is_full());
            held.add(estimate.covers(items as f64));
        }
        // All cells filled: e^(−L e^(−t)) to within a per cent at this size.
        let chance = (-(bits as f64) * (-(items as f64) / bits as f64).exp()).exp();
        assert!((full.value() - chance).abs() < 0.03, "{factor}: full in {}, theory {chance}", full.value());
        assert!(held.may_reach(0.945), "{factor}: held in {}", held.value());
    }
}

#[test]
fn wider_confidence_covers_more() {
    let mut random = generator("linear levels");
    // Whole bits make intervals a little wide: by half a bit of 20, the deviation, on either side.
    let levels = [(0.5, 0.54), (0.9, 0.92), (0.99, 0.995), (0.999, 1.0)];
    let mut held = [Share::default(); 4];
    for _ in 0..20_000 {
        let mut sketch = empty(4096);
        feed(&mut sketch, 6_000, &mut random);
        for ((level, _), held) in levels.into_iter().zip(&mut held) {
            held.add(sketch.estimate_at(Confidence::new(level).unwrap()).covers(6_000.0));
        }
    }
    for ((level, most), held) in levels.into_iter().zip(held) {
        assert!(held.may_reach(level - 0.001) && held.value() <= most, "{level}: {}", held.value());
    }
}

#[test]
fn an_answer_wrong_by_three_percent_is_caught() {
    let measured = &measure_along("linear mutant", 4096, &[4_096], 1.03)[0];
    let failures = judge("4096 | wrong by 3 %", &claim(4096, 4_096), measured).unwrap_err();
    for check in ["rmse", "bias", "95 % intervals"] {
        assert!(failures.contains(check), "{check} did not object: {failures}");
    }
}
