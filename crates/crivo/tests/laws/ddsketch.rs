//! The laws of DDSketch: it depends on the numbers only, also after bins were joined.

use crivo::ErrorKind;
use crivo::profile::DDSketch;
use proptest::prelude::*;

use super::{merged, support::generator};

/// Numbers of narrow and of absurd range, of both signs, zeros, infinities and NaNs among them.
fn numbers() -> impl Strategy<Value = Vec<f64>> {
    (0..600_usize, any::<u64>(), 0..4_u32).prop_map(|(length, seed, spread)| {
        let mut random = generator(&format!("numbers {seed}"));
        let number = |_| match random.below(20) {
            0 => [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE][random.below(6)],
            1 => -random.unit(),
            _ => match spread {
                0 => 100.0 + random.unit(),
                1 => random.unit().ln() * 50.0,
                2 => (random.unit() * 40.0 - 20.0).exp(),
                _ => f64::from_bits(random.bits()),
            },
        };
        (0..length).map(number).collect()
    })
}

fn sketch(bins: u32, streams: &[&[f64]]) -> DDSketch {
    let mut sketch = DDSketch::new(0.01, bins).unwrap();
    streams.iter().for_each(|stream| sketch.insert_all(stream));
    sketch
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ddsketch_depends_on_its_numbers_only(
        (a, b, c) in (numbers(), numbers(), numbers()), bins in prop::sample::select(vec![16_u32, 50, 300, 4096]),
    ) {
        let [x, y, z] = [&a, &b, &c].map(|stream| sketch(bins, &[stream]));
        let joined = sketch(bins, &[&a, &b]);
        prop_assert_eq!(merged(&x, &y).encode(), joined.encode(), "merge equals the joined stream");
        prop_assert!(merged(&x, &y) == merged(&y, &x), "merge commutes");
        prop_assert!(merged(&merged(&x, &y), &z) == merged(&x, &merged(&y, &z)), "merge associates");
        prop_assert!(merged(&x, &sketch(bins, &[])) == x, "an empty sketch changes nothing");
        prop_assert!(merged(&sketch(bins, &[]), &x) == x);
        prop_assert!(DDSketch::decode(&joined.encode()).as_ref() == Ok(&joined), "decoding inverts encoding");

        let mut sorted = a.clone();
        sorted.sort_by(f64::total_cmp);
        prop_assert_eq!(sketch(bins, &[&sorted]).encode(), x.encode(), "order does not matter");
        sorted.reverse();
        prop_assert_eq!(sketch(bins, &[&sorted]).encode(), x.encode());

        let mut weighted = sketch(bins, &[]);
        a.iter().for_each(|&value| weighted.add(value, 3));
        prop_assert_eq!(weighted.encode(), merged(&merged(&x, &x), &x).encode(), "a weight is that number of numbers");
    }
}

#[test]
fn joined_bins_are_those_that_fewer_bins_would_have_had() {
    let numbers: Vec<f64> = (0..4000).map(|i| 1.02_f64.powi(i - 2000)).collect();
    let (fine, coarse) = (sketch(4096, &[&numbers]), sketch(100, &[&numbers]));
    assert!(!fine.is_collapsed() && coarse.is_collapsed());
    assert!(coarse.bins() <= 100 && coarse.bins() > 50);
    assert!(coarse.relative_error() > 0.2 && fine.relative_error() == 0.01);
}

#[test]
fn counts_stop_at_the_largest_whole_number() {
    let mut sketch = DDSketch::new(0.01, 16).unwrap();
    sketch.add(2.0, u64::MAX - 2);
    sketch.insert(3.0);
    assert!(!sketch.is_saturated() && sketch.sum().is_some());
    let other = sketch.clone();
    sketch.merge(&other).unwrap();
    assert!(sketch.is_saturated());
    assert_eq!((sketch.sum(), sketch.mean(), sketch.max()), (None, None, Some(3.0)));
    let median = sketch.quantile(0.5).unwrap();
    assert_eq!((median.lower(), median.upper()), (2.0, 3.0));
    sketch.insert(1.0);
    sketch.insert(f64::NAN);
    assert_eq!((sketch.count(), sketch.not_finite(), sketch.min()), (u64::MAX, 1, Some(1.0)));
    assert_eq!(DDSketch::decode(&sketch.encode()), Ok(sketch));
}

#[test]
fn ddsketches_of_other_sizes_refuse_each_other() {
    let mut sketch = sketch(100, &[&[1.0, 2.0]]);
    let before = sketch.clone();
    for (other, field, found) in [
        (DDSketch::new(0.02, 100).unwrap(), "relative error", "0.02"),
        (DDSketch::new(0.01, 101).unwrap(), "bins", "101"),
    ] {
        let error = sketch.merge(&other).unwrap_err();
        assert_eq!((error.kind(), error.field(), error.found()), (ErrorKind::Incompatible, field, found));
        assert_eq!(sketch, before, "a refused merge changes nothing");
    }
}

#[test]
fn absurd_sizes_are_refused() {
    for error in [0.0, -0.01, 1e-5, 0.51, 1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(DDSketch::for_bound(error).unwrap_err().field(), "relative error", "{error}");
    }
    for bins in [0, 15, (1 << 16) + 1, u32::MAX] {
        assert_eq!(DDSketch::new(0.01, bins).unwrap_err().field(), "bins", "{bins}");
    }
}
