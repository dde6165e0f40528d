//! HeavyHitters takes the memory it says, which is bounded by its capacity and the length of its
//! keys, and none for keys that it knows.
//!
//! Memory is measured for the test's own thread: the harness allocates on another one while a test
//! runs.

#![allow(clippy::unwrap_used)] // this is how a test fails

use allocation_counter::measure;
use crivo::frequency::HeavyHitters;
use crivo::keys::KeyScheme;

#[test]
fn memory_is_as_stated_and_bounded() {
    for capacity in [1, 100, 10_000] {
        for weights in [1, 1_000_000] {
            churn(capacity, 0, weights);
            churn(capacity, 11, weights);
            churn(capacity, 200, weights);
        }
    }
}

/// Counts many different keys, as texts of the given length or as integers, and some that stay.
fn churn(capacity: usize, length: usize, weights: u64) {
    let scheme = if length == 0 { KeyScheme::integers() } else { KeyScheme::bytes() };
    let mut text = String::with_capacity(2 * length);
    let mut insert = |sketch: &mut HeavyHitters, key: u64, weight: u64| {
        if length == 0 {
            return sketch.add(&key, weight).unwrap();
        }
        text.clear();
        std::fmt::Write::write_fmt(&mut text, format_args!("{key:0length$}")).unwrap();
        sketch.add(text.as_str(), weight).unwrap();
    };
    let bound = capacity * if length == 0 { 24 } else { 34 + 2 * length } + 1000;
    let mut filled = None;
    let building = measure(|| {
        let sketch = filled.insert(HeavyHitters::with_scheme(capacity as u64, scheme).unwrap());
        for i in 0..20 * capacity as u64 {
            let weight = 1 + i.wrapping_mul(0x9E37_79B9_7F4A_7C15) % weights;
            insert(sketch, i, weight);
            insert(sketch, i % 7, 100);
            assert!(
                sketch.memory() <= bound,
                "{capacity} counters for {length} bytes take {}",
                sketch.memory()
            );
        }
    });
    let mut sketch = filled.unwrap();
    let stated = sketch.memory() - size_of::<HeavyHitters>();
    let taken = usize::try_from(building.bytes_current).unwrap();
    assert!(taken.abs_diff(stated) <= 16, "{taken} bytes taken, {stated} stated");

    if capacity > 10 {
        let counting = measure(|| (0..10_000).for_each(|i| insert(&mut sketch, i % 7, 1)));
        assert_eq!(counting.bytes_total, 0, "known keys take no memory");
    }
}
