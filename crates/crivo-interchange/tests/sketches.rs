//! Tests the promises of the two sketches, and damaged bytes.

#![allow(clippy::unwrap_used)] // a test that cannot go on has failed

use crivo_interchange::{Error, Hll, Theta};
use datasketches::hll::{HllSketch, HllType};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

fn hll(keys: std::ops::Range<u64>, lg_k: u8) -> Hll {
    let mut sketch = Hll::new(lg_k).unwrap();
    keys.for_each(|key| sketch.insert_bytes(format!("key {key}").as_bytes()));
    sketch
}

fn theta(keys: std::ops::Range<u64>, lg_k: u8) -> Theta {
    let mut sketch = Theta::new(lg_k).unwrap();
    keys.for_each(|key| sketch.insert_bytes(format!("key {key}").as_bytes()));
    sketch
}

/// Six standard errors, which are exceeded with a probability below 10^-8 over the choice of the
/// hash. The hash is fixed.
fn near(value: f64, truth: f64, lg_k: u8) -> bool {
    (value - truth).abs() <= 6.0 * truth * 1.04 / f64::from(1_u32 << lg_k).sqrt()
}

#[test]
fn counts_are_within_their_error() {
    for count in [0, 1, 7, 100, 5_000, 200_000] {
        let (hll, theta) = (hll(0..count, 12).estimate(), theta(0..count, 12).estimate());
        for estimate in [hll, theta] {
            assert!(near(estimate.value(), count as f64, 12), "{estimate} of {count}");
            assert!(estimate.lower() <= estimate.value() && estimate.value() <= estimate.upper());
        }
        assert_eq!(theta.is_exact(), count <= 5_000, "{count}");
    }
}

#[test]
fn merging_counts_what_is_in_both_once() {
    let mut one = hll(0..60_000, 12);
    one.merge(&hll(40_000..100_000, 12));
    assert!(near(one.estimate().value(), 100_000.0, 12), "{one:?}");
    let mut other = theta(0..60_000, 12);
    other.merge(&theta(40_000..100_000, 12));
    assert!(near(other.estimate().value(), 100_000.0, 12));
    let before = other.clone();
    other.merge(&theta(0..100_000, 12));
    assert_eq!(other, before, "the smallest hashes of the same set are the same");
    other.insert_bytes(b"key 5");
    assert_eq!(other, before);
}

#[test]
fn a_merge_with_a_smaller_hll_has_its_size() {
    let mut one = hll(0..50_000, 14);
    one.merge(&hll(0..50_000, 10));
    assert_eq!(one.lg_k(), 10);
    assert!(near(one.estimate().value(), 50_000.0, 10));
}

#[test]
fn bytes_come_back_as_they_were() {
    for count in [0, 1, 20, 1_000, 50_000] {
        let one = hll(0..count, 11);
        assert_eq!(Hll::decode(&one.encode()).unwrap(), one, "{count}");
        let other = theta(0..count, 11);
        assert_eq!(Theta::decode(&other.encode(), 11).unwrap(), other, "{count}");
    }
}

#[test]
fn empty_text_is_no_key_and_integers_are_not_their_text() {
    let (mut hll, mut theta) = (Hll::new(12).unwrap(), Theta::new(12).unwrap());
    hll.insert_bytes(b"");
    theta.insert_bytes(b"");
    assert!(hll.is_empty() && theta.is_empty());
    hll.insert_integer(7);
    hll.insert_bytes(b"7");
    theta.insert_integer(7);
    theta.insert_bytes(b"7");
    theta.insert_integer(u64::MAX);
    assert_eq!(hll.estimate().value().round(), 2.0);
    assert_eq!(theta.estimate().value(), 3.0);
}

#[test]
fn sizes_out_of_range_are_refused() {
    for lg_k in [0, 3, 22, 255] {
        assert_eq!(Hll::new(lg_k).unwrap_err(), Error::Size { allowed: "4 to 21", found: lg_k });
    }
    for lg_k in [0, 4, 27] {
        assert!(Theta::new(lg_k).is_err() && Theta::decode(&theta(0..9, 9).encode(), lg_k).is_err());
    }
}

/// Any bytes give an error, or a sketch that answers, merges and can be encoded: about 36,000 of
/// them.
#[test]
fn damaged_bytes_never_end_the_program() {
    let mut chance = Xoshiro256PlusPlus::seed_from_u64(11);
    let mut originals: Vec<Vec<u8>> = Vec::new();
    for count in [0, 3, 100, 3_000, 40_000] {
        originals.push(hll(0..count, 10).encode());
        originals.push(theta(0..count, 8).encode());
    }
    for form in [HllType::Hll4, HllType::Hll6] {
        let mut packed = HllSketch::new(9, form).unwrap();
        (0..30_000).for_each(|key: i64| packed.update(key));
        originals.push(packed.serialize());
    }
    for original in &originals {
        for end in 0..original.len().min(300) {
            check(&original[..end]);
        }
        for _ in 0..3_000 {
            let mut bytes = original.clone();
            for _ in 0..=chance.next_u32() % 3 {
                let near_the_start = chance.next_u32().is_multiple_of(2);
                let reach = if near_the_start { bytes.len().min(48) } else { bytes.len() };
                let place = chance.next_u64() as usize % reach;
                bytes[place] = chance.next_u32() as u8;
            }
            check(&bytes);
        }
    }
}

/// The sums beside the registers are trusted by DataSketches.
#[test]
fn sums_that_are_no_sums_of_registers_are_refused() {
    let bytes = hll(0..3_000, 10).encode();
    assert!(Hll::decode(&bytes).is_ok());
    for place in [8, 16, 24] {
        for sum in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
            let mut forged = bytes.clone();
            forged[place..place + 8].copy_from_slice(&sum.to_le_bytes());
            assert!(Hll::decode(&forged).is_err(), "{sum} at {place}");
        }
    }
}

fn check(bytes: &[u8]) {
    if let Ok(mut sketch) = Hll::decode(bytes) {
        sketch.insert_bytes(b"one more");
        let copy = sketch.clone();
        sketch.merge(&copy);
        assert!(sketch.estimate().value().is_finite());
        sketch.encode();
    }
    if let Ok(mut sketch) = Theta::decode(bytes, 12) {
        sketch.insert_bytes(b"one more");
        let copy = sketch.clone();
        sketch.merge(&copy);
        assert!(!sketch.estimate().value().is_nan());
        sketch.encode();
    }
}
