//! How often: behaviour of Count-Min that users rely on, through the public door.

#![allow(clippy::unwrap_used)] // this is how a test fails

use crivo::codec::{AnySketch, Family, Parameter};
use crivo::frequency::CountMin;
use crivo::keys::{KeyBatch, KeyBuffer, KeyScheme};
use crivo::{Confidence, ErrorKind, Estimate};

fn plain(width: u32, depth: u32) -> CountMin {
    CountMin::with_scheme(width, depth, KeyScheme::hashes()).unwrap()
}

fn conservative(width: u32, depth: u32) -> CountMin {
    CountMin::conservative_with_scheme(width, depth, KeyScheme::hashes()).unwrap()
}

#[test]
fn parameters_out_of_range_are_named_with_their_range() {
    for (width, depth, field, allowed) in [
        (0, 4, "width", "1 to 1073741824"),
        (u32::MAX, 4, "width", "1 to 1073741824"),
        (100, 0, "depth", "1 to 32"),
        (100, 33, "depth", "1 to 32"),
    ] {
        for error in [
            CountMin::new(width, depth).unwrap_err(),
            CountMin::conservative_with_scheme(width, depth, KeyScheme::bytes()).unwrap_err(),
        ] {
            assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, field));
            assert_eq!(error.expected(), allowed);
        }
    }
    for wrong in [0.0, -0.1, 1.0, 2.0, 1e-16, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for (epsilon, delta, field) in [(wrong, 0.01, "epsilon"), (0.01, wrong, "delta")] {
            let error = CountMin::for_bound(epsilon, delta).unwrap_err();
            assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, field), "{wrong}");
        }
    }
}

#[test]
fn size_for_is_the_smallest_that_reaches_the_goal() {
    for width in (4..5_000).chain([65_536, 1_000_003, 1 << 30]) {
        let reached = CountMin::epsilon(width);
        assert_eq!(CountMin::size_for(reached, 0.5), Ok((width, 1)));
        assert_eq!(CountMin::size_for(reached * (1.0 + 1e-12), 0.5), Ok((width, 1)));
        assert_eq!(CountMin::size_for(CountMin::epsilon(width - 1) * (1.0 - 1e-12), 0.5), Ok((width, 1)));
    }
    for depth in CountMin::DEPTHS {
        let reached = CountMin::delta(depth);
        assert_eq!(CountMin::size_for(0.1, reached), Ok((28, depth)));
        assert_eq!(CountMin::size_for(0.1, reached * (1.0 + 1e-12)), Ok((28, depth)));
    }
    assert_eq!(CountMin::size_for(0.001, 0.01), Ok((2_719, 5)), "⌈e/ε⌉ and ⌈ln 1/δ⌉");
}

#[test]
fn few_keys_are_counted_as_they_came() {
    for mut sketch in [plain(1_000, 4), conservative(1_000, 4)] {
        sketch.add_hash(11 << 40, 5);
        sketch.insert_hash(12 << 40);
        sketch.insert_hash(12 << 40);
        sketch.add_hash(13 << 40, 0);
        assert_eq!(sketch.total(), 7);
        let counts = [11, 12, 13, 14].map(|key| sketch.frequency_of_hash(key << 40).value());
        assert_eq!(counts, [5.0, 2.0, 0.0, 0.0]);
        assert_eq!(sketch.frequency_of_hash(14 << 40), Estimate::exact(0.0));
        assert!(!sketch.frequency_of_hash(11 << 40).is_certain());
    }
}

#[test]
fn bounds_are_the_margin_below_and_nothing_above() {
    let mut sketch = plain(50, 3);
    (0..2_000_u64).for_each(|i| sketch.insert_hash(i.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
    let (margin, estimate) = (sketch.margin(), sketch.frequency_of_hash(0));
    assert_eq!(margin, (std::f64::consts::E / 50.0 * 2_000.0) as u64);
    assert_eq!(estimate.upper(), estimate.value());
    assert_eq!(estimate.lower(), (estimate.value() - margin as f64).max(0.0));
    assert_eq!(estimate.confidence().level(), 1.0 - (-3.0_f64).exp());

    // One row more than twice its mean with probability 1/2, three rows with 1/8.
    let at = |level| sketch.margin_at(Confidence::new(level).unwrap());
    assert_eq!(at(1.0 - 0.125), 2 * 2_000 / 50);
    assert!((119..=120).contains(&at(1.0 - (1.0_f64 / 3.0).powi(3))));
    assert!(at(0.5) < margin && margin < at(0.999) && at(1.0 - 1e-12) == 2_000);
    assert_eq!(sketch.margin_at(Confidence::CERTAIN), 2_000, "never more than everything");
    assert_eq!(plain(50, 3).margin_at(Confidence::CERTAIN), 0);
}

#[test]
fn every_way_in_gives_the_same_sketch() {
    let keys: Vec<u64> = (0..5_000).map(|i| i * i % 701).collect();
    let weights: Vec<u64> = (0..5_000).map(|i| i % 7).collect();
    let scheme = KeyScheme::integers().with_seed(3);
    for make in [CountMin::with_scheme, CountMin::conservative_with_scheme] {
        let (mut single, mut batched) = (make(300, 5, scheme).unwrap(), make(300, 5, scheme).unwrap());
        keys.iter().for_each(|key| single.insert(key).unwrap());
        keys.iter().zip(&weights).for_each(|(key, &weight)| single.add(key, weight).unwrap());
        let mut buffer = KeyBuffer::new(scheme);
        let batch = buffer.hash_integers(&keys).unwrap();
        batched.insert_batch(&batch).unwrap();
        batched.add_batch(&batch, &weights).unwrap();
        assert_eq!(single, batched);

        let mut counts = Vec::new();
        batched.frequencies(&batch, &mut counts).unwrap();
        for (key, &count) in keys.iter().zip(&counts) {
            assert_eq!(single.frequency(key).unwrap().value(), count as f64);
        }
    }
}

#[test]
fn what_does_not_fit_changes_nothing() {
    let mut sketch = CountMin::new(64, 3).unwrap();
    sketch.insert("a").unwrap();
    let before = sketch.clone();
    assert_eq!(sketch.insert(&7_u32).unwrap_err().kind(), ErrorKind::Incompatible);
    assert_eq!(sketch.frequency(&7_u32).unwrap_err().field(), "key kind");
    let error = sketch.add_hashes(&[1, 2, 3], &[1, 2]).unwrap_err();
    assert_eq!((error.kind(), error.field(), error.found()), (ErrorKind::InvalidBatch, "weights", "2"));
    let hashes = KeyBatch::from_hashes(KeyScheme::hashes(), &[1, 2, 3]).unwrap();
    assert_eq!(sketch.insert_batch(&hashes).unwrap_err().field(), "key kind");
    assert_eq!(sketch.add_batch(&hashes, &[1, 1, 1]).unwrap_err().field(), "key kind");
    assert_eq!(sketch.frequencies(&hashes, &mut Vec::new()).unwrap_err().field(), "key kind");
    assert_eq!(sketch, before);
}

#[test]
fn conservative_sketches_refuse_what_needs_sums() {
    let (mut plain, mut conservative) = (plain(64, 3), conservative(64, 3));
    plain.insert_hash(1);
    conservative.insert_hash(1);
    let (plain_before, conservative_before) = (plain.clone(), conservative.clone());
    for error in [
        plain.merge(&conservative_before).unwrap_err(),
        conservative.merge(&plain_before).unwrap_err(),
        conservative.merge(&conservative_before).unwrap_err(),
        plain.inner_product(&conservative).unwrap_err(),
        conservative.inner_product(&plain).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Incompatible);
        assert_eq!((error.field(), error.expected(), error.found()), ("update", "plain", "conservative"));
        assert!(error.to_string().contains("build plain sketches"), "{error}");
    }
    assert_eq!((plain, conservative), (plain_before, conservative_before));
}

#[test]
fn different_sizes_refuse_each_other() {
    let mut sketch = plain(64, 3);
    for (other, field) in [(plain(65, 3), "width"), (plain(64, 4), "depth")] {
        assert_eq!(sketch.merge(&other).unwrap_err().field(), field);
        assert_eq!(sketch.inner_product(&other).unwrap_err().field(), field);
    }
    let seeded = CountMin::with_scheme(64, 3, KeyScheme::hashes().with_seed(1)).unwrap();
    assert_eq!(sketch.inner_product(&seeded).unwrap_err().field(), "seed");
}

#[test]
fn counting_stops_at_the_highest_number_and_says_so() {
    for mut sketch in [plain(64, 3), conservative(64, 3)] {
        sketch.add_hash(1, u64::MAX - 3);
        sketch.add_hash(2, 2);
        assert!(!sketch.is_saturated());
        sketch.add_hash(3, 2);
        assert!(sketch.is_saturated());
        assert!(sketch.frequency_of_hash(1).is_certain(), "not probable without a known total");
        sketch.insert_hashes(&[1; 40]);
        sketch.add_hashes(&[2], &[u64::MAX]).unwrap();
        assert_eq!(sketch.total(), u64::MAX);
        let stopped = sketch.frequency_of_hash(1);
        assert_eq!((stopped.lower(), stopped.upper()), (0.0, f64::INFINITY));
        let known = sketch.frequency_of_hash(3);
        assert_eq!((known.value(), known.lower(), known.upper()), (2.0, 0.0, 2.0), "{known:?}");
        assert_eq!(sketch.frequency_of_hash(1 << 50), Estimate::exact(0.0));
        assert_eq!(sketch.summary().items.upper(), f64::INFINITY);
        assert_eq!(CountMin::decode(&sketch.encode()).as_ref(), Ok(&sketch));
    }
    let mut half = plain(64, 3);
    half.add_hash(1, u64::MAX / 2 + 1);
    let other = half.clone();
    half.merge(&other).unwrap();
    assert!(half.is_saturated());
    let product = half.inner_product(&other).unwrap();
    assert!(product.upper().is_infinite() && product.lower() == 0.0);
}

#[test]
fn inner_products_of_the_largest_weights_do_not_overflow() {
    let mut sketch = plain(2, 2);
    sketch.add_hash(1, u64::MAX - 1);
    let square = sketch.inner_product(&sketch).unwrap();
    assert_eq!(square.value(), 2_f64.powi(128));
    (0..64).for_each(|key| sketch.add_hash(key << 50, u64::MAX));
    assert!(sketch.inner_product(&sketch).unwrap().upper().is_infinite());
}

#[test]
fn summary_tells_size_update_and_error() {
    let mut sketch = CountMin::conservative_with_scheme(500, 4, KeyScheme::integers().with_seed(3)).unwrap();
    (0..1_000_u64).for_each(|i| sketch.add(&i, 3).unwrap());
    let summary = AnySketch::from(sketch.clone()).summary();
    assert_eq!(summary.family, Family::CountMin);
    assert_eq!(
        summary.parameters,
        [
            ("width", Parameter::Count(500)),
            ("depth", Parameter::Count(4)),
            ("update", Parameter::Name("conservative")),
            ("epsilon", Parameter::Ratio(CountMin::epsilon(500))),
            ("delta", Parameter::Ratio(CountMin::delta(4))),
        ]
    );
    assert_eq!(summary.items, Estimate::exact(3_000.0));
    assert!(summary.fill.is_some_and(|fill| fill > 0.5 && fill < 1.0));
    assert!(sketch.memory() >= 500 * 4 * 8);
}
