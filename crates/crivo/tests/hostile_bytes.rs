//! Any byte string gives an error or a valid sketch: never a panic, never a large allocation.
//!
//! Twenty thousand damaged inputs go through every decoder, and as many through that of coded
//! registers. Half keep their old checksum, so each must be refused; half are sealed again with a
//! right one, so that the damage reaches the rules behind it: what is accepted then must be a
//! sketch that works and is written back the same. `CRIVO_DAMAGED_INPUTS=1000000` tries another
//! number.
//!
//! Memory is measured for the test's own thread: the harness allocates on another one while a test
//! runs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // this is how a test fails

#[path = "support/mod.rs"]
mod support;

use std::time::Instant;

use allocation_counter::measure;
use crivo::ErrorKind;
use crivo::codec::AnySketch;
use crivo::distinct::hyperloglog::HighestRank;
use crivo::distinct::ultraloglog::ThreeLevels;
use crivo::distinct::{RegisterKind, RegisterSketch};
use crivo::keys::KeyScheme;

use support::forge::{damage, samples, seal};
use support::generator;

/// The number of damaged inputs of each test.
fn damaged_inputs() -> usize {
    std::env::var("CRIVO_DAMAGED_INPUTS").map_or(20_000, |number| number.parse().expect("a whole number"))
}

#[test]
fn decoding_is_safe_and_takes_bounded_memory() {
    huge_lengths_allocate_nothing();
    damaged_bytes_are_refused_or_valid(&samples(), "damage");
}

#[test]
fn forged_coded_registers_are_refused_or_valid_in_bounded_time_and_memory() {
    let samples = [coded_registers::<HighestRank>(), coded_registers::<ThreeLevels>()].concat();
    damaged_bytes_are_refused_or_valid(&samples, "coded");
}

/// Sketches whose registers are stored at their entropy, few and many of them, with and without a
/// history.
fn coded_registers<K: RegisterKind>() -> Vec<Vec<u8>> {
    let sketch = |sketch: RegisterSketch<K>, count: u64| {
        let mut sketch = sketch;
        (0..count).for_each(|i| sketch.insert(&i).unwrap());
        let bytes = sketch.encode();
        assert_eq!(bytes[29] & 0x7F, 2, "the state of coded registers");
        bytes
    };
    let empty =
        |precision| RegisterSketch::<K>::with_scheme(precision, KeyScheme::integers().with_seed(5)).unwrap();
    vec![
        sketch(empty(8), 10_000),
        sketch(empty(10), 1_000),
        sketch(empty(10), 100_000),
        sketch(empty(12), 30_000),
        sketch(empty(10).with_history().unwrap(), 20_000),
    ]
}

/// Decoding may take a few times the memory of the bytes it is given, and not more.
fn decode_in_bounded_memory(bytes: &[u8]) -> crivo::Result<AnySketch> {
    let mut decoded = None;
    let began = Instant::now();
    let allocated = measure(|| decoded = Some(AnySketch::decode(bytes))).bytes_max;
    // A thousand times what the slowest takes, so that a busy machine does not fail it.
    assert!(began.elapsed().as_secs() < 5, "{:?} for {} bytes", began.elapsed(), bytes.len());
    // Coded registers take up to twenty times their bytes, and twice that while they are read.
    let times = if may_hold_registers(bytes) { 48 } else { 4 };
    assert!(
        allocated <= times * bytes.len() as u64 + 4096,
        "{allocated} bytes allocated for {} read: {bytes:?}",
        bytes.len()
    );
    decoded.unwrap()
}

/// Returns true if the bytes are those of a register sketch, or of a sketch that may have one
/// inside.
fn may_hold_registers(bytes: &[u8]) -> bool {
    matches!(bytes.get(5), Some(0x20 | 0x26 | 0x70 | 0x71 | 0x75 | 0x78))
}

/// Returns true if an envelope, at the beginning or inside, has a version that is not written any
/// more.
fn holds_an_older_version(bytes: &[u8]) -> bool {
    bytes.windows(7).any(|head| head.starts_with(b"CRVO") && matches!(head[5..], [0x20 | 0x26 | 0x75, 1]))
}

fn damaged_bytes_are_refused_or_valid(samples: &[Vec<u8>], stream: &str) {
    let mut random = generator(stream);
    let mut accepted = 0;
    for round in 0..damaged_inputs() {
        let original = &samples[random.below(samples.len())];
        let mut bytes = original.clone();
        damage(&mut bytes, &mut random);
        let sealed = round % 2 == 1;
        if sealed {
            seal(&mut bytes);
        }
        if let Ok(mut sketch) = decode_in_bounded_memory(&bytes) {
            assert!(sealed || &bytes == original, "damage not noticed: {bytes:?}");
            if !holds_an_older_version(&bytes) {
                assert_eq!(sketch.encode(), bytes, "accepted bytes are the sketch's own");
            }
            let items = sketch.summary().items;
            assert!(items.lower() <= items.value() && items.value() <= items.upper());
            let twin = sketch.clone();
            if sketch.merge(&twin).is_err() {
                assert_eq!(sketch, twin, "a refused merge changes nothing");
            }
            assert_eq!(AnySketch::decode(&sketch.encode()), Ok(sketch), "what was merged can be stored");
            accepted += usize::from(sealed);
        }
    }
    assert!(accepted > 100, "sealing works: some forged sketches are valid ({accepted})");
}

/// A header that promises 2^64 bytes must not be believed.
fn huge_lengths_allocate_nothing() {
    for length in [u64::MAX, u64::MAX - 31, 1 << 60, u64::from(u32::MAX)] {
        let mut bytes = samples().remove(0);
        bytes[20..28].copy_from_slice(&length.to_le_bytes());
        assert_eq!(decode_in_bounded_memory(&bytes).unwrap_err().kind(), ErrorKind::Truncated);
    }
}
