//! Keys and files that are forged to collide are counted and decoded like fair ones.
//!
//! The tables behind them bound how many slots a search looks at; their unit tests count those.
//! Without the bounds each of these tests would take minutes.

#![allow(clippy::unwrap_used)] // this is how a test fails

use crivo::codec::AnySketch;
use crivo::distinct::{ExactDistinct, HyperLogLog, KMinValues};
use crivo::frequency::HeavyHitters;
use crivo::keys::{KeyRef, KeyScheme};

/// The inverse of the odd number that the tables multiply hashes by.
const UNSPREAD: u64 = 0xF1DE_83E1_9937_733D;

const COUNT: u64 = 200_000;

/// Different hashes whose product with that number is small: they want the first slots of every
/// table.
fn forged() -> Vec<u64> {
    assert_eq!(UNSPREAD.wrapping_mul(0x9E37_79B9_7F4A_7C15), 1);
    (1..=COUNT).map(|product| product.wrapping_mul(UNSPREAD)).collect()
}

#[test]
fn a_forged_exact_set_is_filled_decoded_merged_and_compared() {
    let mut set = ExactDistinct::with_scheme(KeyScheme::hashes());
    set.insert_hashes(&forged());
    assert_eq!(set.estimate().value(), COUNT as f64);
    let decoded = ExactDistinct::decode(&set.encode()).unwrap();
    assert_eq!(decoded, set);
    let mut merged = ExactDistinct::with_scheme(KeyScheme::hashes());
    merged.merge(&decoded).unwrap();
    assert_eq!(merged, set);
}

#[test]
fn forged_smallest_hashes_are_kept() {
    let mut hashes = forged();
    let mut sketch = KMinValues::with_scheme(150_000, KeyScheme::hashes()).unwrap();
    sketch.insert_hashes(&hashes);
    let decoded = KMinValues::decode(&sketch.encode()).unwrap();
    assert_eq!(decoded, sketch);
    hashes.sort_unstable();
    let mut falling = KMinValues::with_scheme(150_000, KeyScheme::hashes()).unwrap();
    hashes.iter().rev().for_each(|&hash| falling.insert_hash(hash));
    assert_eq!(falling.encode(), sketch.encode());
}

#[test]
fn a_forged_exact_state_stays_exact() {
    let limit = HyperLogLog::exact_up_to(18);
    let mut sketch = HyperLogLog::with_scheme(18, KeyScheme::hashes()).unwrap();
    sketch.insert_hashes(&forged()[..limit]);
    assert_eq!(sketch.estimate().value(), limit as f64);
    assert_eq!(HyperLogLog::decode(&sketch.encode()).unwrap(), sketch);
}

/// Integers whose hashes agree in their high bits are found by inverting: here, hashes of the
/// caller's own.
#[test]
fn forged_heavy_hitters_are_counted_through_growth_purges_and_files() {
    let mut sketch = HeavyHitters::with_scheme(50_000, KeyScheme::hashes()).unwrap();
    let hashes = forged();
    for &hash in &hashes {
        sketch.add_ref(KeyRef::Hash(hash), 1).unwrap();
    }
    sketch.add_ref(KeyRef::Hash(hashes[7]), COUNT).unwrap();
    assert_eq!(sketch.total(), 2 * COUNT);
    let decoded = HeavyHitters::decode(&sketch.encode()).unwrap();
    assert_eq!(decoded, sketch);
    let top = sketch.top(1);
    assert!(top[0].estimate().covers((COUNT + 1) as f64));
}

/// Ten megabytes of any family decode in a second of an optimised build, and in four times their
/// size of memory (`hostile_bytes.rs`). Here ten times as long, because tests share a machine;
/// without bounds these take hours.
#[test]
fn ten_forged_megabytes_decode_in_seconds() {
    const HASHES: u64 = 10_000_000 / 8;
    let hashes: Vec<u64> = (1..=HASHES).map(|product| product.wrapping_mul(UNSPREAD)).collect();
    let mut exact = ExactDistinct::with_scheme(KeyScheme::hashes());
    exact.insert_hashes(&hashes);
    let mut smallest = KMinValues::with_scheme(HASHES as u32, KeyScheme::hashes()).unwrap();
    smallest.insert_hashes(&hashes);
    let mut hitters = HeavyHitters::with_scheme(500_000, KeyScheme::hashes()).unwrap();
    for &hash in &hashes[..500_000] {
        hitters.add_ref(KeyRef::Hash(hash), 1).unwrap();
    }
    for bytes in [exact.encode(), smallest.encode(), hitters.encode()] {
        let began = std::time::Instant::now();
        let decoded = AnySketch::decode(&bytes).unwrap();
        let took = began.elapsed();
        assert!(took.as_secs() < 10, "{}: {took:?} for {} bytes", decoded.family(), bytes.len());
        assert!(decoded.encode() == bytes);
    }
}
