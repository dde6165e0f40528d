//! How many in this range: behaviour of `RangeCountMin` that users rely on, through the public
//! door.

#![allow(clippy::unwrap_used)] // this is how a test fails

use crivo::codec::{AnySketch, Family, Parameter};
use crivo::frequency::RangeCountMin;
use crivo::keys::{KeyBuffer, KeyScheme};
use crivo::{Confidence, ErrorKind, Estimate};

fn sketch_of(levels: u32, width: u32, depth: u32, keys: &[u64]) -> RangeCountMin {
    let mut sketch = RangeCountMin::new(levels, width, depth).unwrap();
    let mut buffer = KeyBuffer::new(KeyScheme::integers());
    sketch.insert_batch(&buffer.hash_integers(keys).unwrap()).unwrap();
    sketch
}

#[test]
fn sizes_are_those_of_the_constructor() {
    let sketch = RangeCountMin::new(20, 10, 3).unwrap();
    assert_eq!((sketch.levels(), sketch.width(), sketch.depth()), (20, 10, 3));
}

#[test]
fn parameters_out_of_range_are_named_with_their_range() {
    for (levels, width, depth, field, allowed) in [
        (0, 10, 2, "levels", "1 to 64"),
        (65, 10, 2, "levels", "1 to 64"),
        (20, 0, 2, "width", "1 to 1073741824"),
        (20, 10, 33, "depth", "1 to 32"),
    ] {
        let error = RangeCountMin::new(levels, width, depth).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, field));
        assert_eq!(error.expected(), allowed);
    }
    for wrong in [0.0, -0.1, 1.0, 1e-16, f64::NAN, f64::INFINITY] {
        for (epsilon, delta, field) in [(wrong, 0.01, "epsilon"), (0.01, wrong, "delta")] {
            let error = RangeCountMin::for_bound(40, epsilon, delta).unwrap_err();
            assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, field), "{wrong}");
        }
    }
    let error = RangeCountMin::with_scheme(20, 10, 2, KeyScheme::bytes()).unwrap_err();
    assert_eq!((error.field(), error.expected(), error.found()), ("key kind", "integer", "bytes"));
}

/// The size is enough for every universe and goal, and no smaller table of the same rule is.
#[test]
fn size_for_promises_its_error() {
    for levels in RangeCountMin::LEVELS {
        for (epsilon, delta) in [(0.5, 0.5), (0.1, 0.01), (0.003, 1e-6), (1e-5, 0.3)] {
            let (width, depth) = RangeCountMin::size_for(levels, epsilon, delta).unwrap();
            let confidence = Confidence::new(1.0 - delta).unwrap();
            let reached = RangeCountMin::epsilon(levels, width, depth, confidence);
            assert!(reached <= epsilon * (1.0 + 1e-9), "{levels} levels: {reached} instead of {epsilon}");
            let sketched = RangeCountMin::sketched_levels(levels, width, depth);
            assert!(sketched <= levels);
            if sketched > 1 && 2 * u64::from(sketched) * 3 > u64::from(width) {
                continue; // so narrow that rounding to whole counters decides
            }
            if sketched > 1 {
                let fewer = width - width / 3;
                assert!(RangeCountMin::epsilon(levels, fewer, depth, confidence) > epsilon);
            }
        }
    }
}

#[test]
fn universes_that_fit_the_table_are_exact() {
    let keys: Vec<u64> = (0..3_000).map(|i| i * i % 256).collect();
    let sketch = sketch_of(8, 64, 4, &keys);
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    for first in 0..256 {
        for last in (first..256).step_by(7) {
            let truth = keys.iter().filter(|key| (first..=last).contains(*key)).count() as f64;
            assert_eq!(sketch.range(first..=last), Ok(Estimate::exact(truth)), "{first} to {last}");
        }
    }
    for (share, rank) in [(0.0, 1), (0.1, 300), (0.5, 1_500), (0.99999, 3_000), (1.0, 3_000)] {
        assert_eq!(sketch.quantile(share), Ok(Estimate::exact(sorted[rank - 1] as f64)));
    }
}

/// Every depth of tree and sketch, from all exact to a tree of one leaf.
#[test]
fn ranges_are_never_below_the_truth() {
    for (levels, width, depth) in [(1, 1, 1), (10, 1, 1), (10, 2, 1), (12, 50, 3), (64, 1, 1), (64, 100, 2)] {
        let greatest = u64::MAX >> (64 - levels);
        let keys: Vec<u64> =
            (0..500_u64).map(|i| (i * i).wrapping_mul(0x9E37_79B9_7F4A_7C15) & greatest).collect();
        let sketch = sketch_of(levels, width, depth, &keys);
        assert_eq!(sketch.greatest(), greatest);
        assert_eq!(sketch.range(0..=greatest), Ok(Estimate::exact(500.0)));
        for (i, &a) in keys.iter().enumerate().step_by(9) {
            let b = keys[(i * 7 + 3) % keys.len()];
            let range = a.min(b)..=a.max(b);
            let truth = keys.iter().filter(|key| range.contains(key)).count() as f64;
            let found = sketch.range_at(range.clone(), Confidence::CERTAIN).unwrap();
            assert!(found.covers(truth) && found.value() >= truth, "{range:?}: {truth}, {found:?}");
            assert!(found.value() <= 500.0);
            assert_eq!(sketch.rank(&a), sketch.range(0..=a));
            assert_eq!(sketch.frequency(&a), sketch.range(a..=a));
        }
    }
}

/// The interval is `m·t·N/width` wide for a range of `m` blocks, with `t = (m/δ)^(1/depth)`.
#[test]
fn bounds_are_the_margin_of_the_blocks_below_and_nothing_above() {
    // All keys in one leaf of 2^18, so that no answer is capped.
    let keys: Vec<u64> = (0..3_000).map(|i| (5 << 18) + i * 80).collect();
    let sketch = sketch_of(30, 1_000, 5, &keys);
    assert_eq!(RangeCountMin::sketched_levels(30, 1_000, 5), 18);
    let start = 5 << 18;
    for (range, blocks) in [
        (start + 77_760..=start + 77_760, 1.0),
        (start..=start + (1 << 17) - 1, 1.0),
        (start + 1..=start + (1 << 17) - 1, 17.0),
    ] {
        for level in [0.5, 0.95, 0.999] {
            let found = sketch.range_at(range.clone(), Confidence::new(level).unwrap()).unwrap();
            let factor = (blocks / (1.0 - level)).powf(0.2);
            let margin = (blocks * factor * 3_000.0 / 1_000.0).floor();
            assert_eq!(found.upper(), found.value());
            assert_eq!(found.lower(), (found.value() - margin).max(0.0), "{range:?} at {level}");
        }
    }
}

#[test]
fn leaves_bound_what_a_range_cuts_off() {
    // All keys lie in the upper half; the lower half has a thousand leaves, all of them empty.
    let keys: Vec<u64> = (0..10_000).map(|i| (1 << 19) + i * 50).collect();
    let sketch = sketch_of(20, 512, 4, &keys);
    for first in (0..1 << 18).step_by(1_013) {
        assert_eq!(sketch.range(first..=first + 100_000), Ok(Estimate::exact(0.0)));
    }
}

#[test]
fn quantiles_need_items_and_a_share() {
    let mut sketch = RangeCountMin::new(20, 10, 2).unwrap();
    assert_eq!(sketch.quantile(0.5).unwrap_err().field(), "items");
    sketch.insert(&7_u8).unwrap();
    for share in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert_eq!(sketch.quantile(share).unwrap_err().field(), "share");
    }
    assert_eq!(sketch.quantile(0.5).unwrap().value(), 7.0);
}

#[test]
fn keys_outside_the_universe_are_refused_and_nothing_is_inserted() {
    let mut sketch = RangeCountMin::new(10, 10, 2).unwrap();
    sketch.insert(&1_023_u64).unwrap();
    let before = sketch.clone();
    let error = sketch.insert(&1_024_u64).unwrap_err();
    assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, "key"));
    assert_eq!((error.expected(), error.found()), ("an integer from 0 to 1023, of 10 levels", "1024"));
    assert_eq!(sketch.insert(&-1_i64).unwrap_err().field(), "key");
    assert_eq!(sketch.insert("7").unwrap_err().field(), "key kind");
    let mut buffer = KeyBuffer::new(KeyScheme::integers());
    let keys: Vec<u64> = (0..1_000).chain([5_000]).collect();
    let batch = buffer.hash_integers(&keys).unwrap();
    assert_eq!(sketch.insert_batch(&batch).unwrap_err().found(), "5000");
    assert_eq!(sketch.add_batch(&batch, &[1; 1_001]).unwrap_err().found(), "5000");
    assert_eq!(sketch.add_batch(&batch, &[1; 1_000]).unwrap_err().field(), "weights");
    let mut other_seed = KeyBuffer::new(KeyScheme::integers().with_seed(1));
    assert_eq!(sketch.insert_batch(&other_seed.hash_integers(&[1]).unwrap()).unwrap_err().field(), "seed");
    #[allow(clippy::reversed_empty_ranges)]
    let backwards = 5..=4;
    for range in [backwards, 0..=1_024, 2_000..=3_000] {
        assert_eq!(sketch.range(range).unwrap_err().field(), "range");
    }
    assert_eq!(sketch.frequency(&1_024_u64).unwrap_err().field(), "key");
    assert_eq!(sketch, before);
}

#[test]
fn every_way_in_gives_the_same_sketch() {
    let keys: Vec<u64> = (0..1_500).map(|i| i * i % 70_001).collect();
    let weights: Vec<u64> = (0..1_500).map(|i| i % 7).collect();
    let mut single = RangeCountMin::new(17, 20, 5).unwrap();
    keys.iter().for_each(|key| single.insert(key).unwrap());
    keys.iter().zip(&weights).for_each(|(key, &weight)| single.add(key, weight).unwrap());
    let mut batched = sketch_of(17, 20, 5, &keys);
    let mut buffer = KeyBuffer::new(KeyScheme::integers());
    batched.add_batch(&buffer.hash_integers(&keys).unwrap(), &weights).unwrap();
    assert_eq!(single, batched);
    assert_eq!(single.total(), 1_500 + weights.iter().sum::<u64>());
}

#[test]
fn signed_integers_keep_their_order() {
    let numbers = [i64::MIN, -5, -1, 0, 1, 7, i64::MAX];
    assert!(numbers.map(RangeCountMin::from_signed).is_sorted());
    assert_eq!((RangeCountMin::from_signed(i64::MIN), RangeCountMin::from_signed(i64::MAX)), (0, u64::MAX));
}

#[test]
fn different_sketches_refuse_each_other() {
    let mut sketch = sketch_of(20, 32, 3, &[1, 2, 3]);
    let before = sketch.clone();
    for (other, field) in [
        (sketch_of(21, 32, 3, &[]), "levels"),
        (sketch_of(20, 33, 3, &[]), "width"),
        (sketch_of(20, 32, 4, &[]), "depth"),
        (RangeCountMin::with_scheme(20, 32, 3, KeyScheme::integers().with_seed(1)).unwrap(), "seed"),
    ] {
        let error = sketch.merge(&other).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::Incompatible, field));
        assert_eq!(sketch, before, "a refused merge changes nothing");
    }
}

#[test]
fn counting_stops_at_the_highest_number_and_says_so() {
    let mut sketch = RangeCountMin::new(16, 8, 2).unwrap();
    sketch.add(&100_u8, u64::MAX - 5).unwrap();
    sketch.add(&101_u8, 5).unwrap();
    assert!(sketch.is_saturated());
    sketch.add(&60_000_u64, 5).unwrap();
    for range in [0..=50, 100..=100, 7..=60_000] {
        let found = sketch.range(range).unwrap();
        assert_eq!((found.lower(), found.upper()), (0.0, f64::INFINITY));
    }
    assert_eq!(sketch.quantile(0.5).unwrap().upper(), 65_535.0);
    assert_eq!(sketch.summary().items.upper(), f64::INFINITY);
    assert_eq!(RangeCountMin::decode(&sketch.encode()), Ok(sketch));
}

#[test]
fn summary_tells_universe_size_and_error() {
    let sketch = sketch_of(20, 100, 4, &[5, 6, 7]);
    let summary = AnySketch::from(sketch.clone()).summary();
    assert_eq!(summary.family, Family::RangeCountMin);
    assert_eq!(
        summary.parameters,
        [
            ("levels", Parameter::Count(20)),
            ("width", Parameter::Count(100)),
            ("depth", Parameter::Count(4)),
            ("sketched_levels", Parameter::Count(12)),
            ("epsilon", Parameter::Ratio(RangeCountMin::epsilon(20, 100, 4, Confidence::P95))),
        ]
    );
    assert_eq!(summary.items, Estimate::exact(3.0));
    assert!(sketch.memory() >= (12 * 400 + 512) * 8);
}
