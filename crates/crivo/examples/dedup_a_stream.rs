//! Pass on the events of a stream that were not seen before, in a fixed amount of memory.
//!
//! `cargo run -p crivo --example dedup_a_stream`

#![allow(clippy::print_stdout)] // an example shows its answers

use crivo::membership::Bloom;

pub(crate) fn main() -> Result<(), crivo::Error> {
    let mut seen = Bloom::for_items(100_000, 0.001)?;
    let mut passed = 0;
    for event in 0..300_000_u32 {
        let key = format!("event {}", event % 100_000);
        // `insert` returns true if the key was certainly new.
        if seen.insert(&key)? {
            passed += 1;
        }
    }
    println!("{passed} of 300000 events passed on");
    println!("at most one new event in {:.0} was taken for a repeated one", 1.0 / seen.false_positive_rate());
    assert!((99_700..=100_000).contains(&passed));
    Ok(())
}
