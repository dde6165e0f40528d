//! A filter that one program writes and another queries.
//!
//! `cargo run -p crivo --example shared_filter`

#![allow(clippy::print_stdout)] // an example shows its answers

use std::error::Error;
use std::fs;

use crivo::codec::AnySketch;
use crivo::membership::BlockedBloom;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::temp_dir().join("crivo-example-customers.crivo");

    // The writer.
    let mut customers = BlockedBloom::for_items(10_000, 0.01)?;
    for number in 0..10_000 {
        customers.insert(&format!("customer {number}"))?;
    }
    fs::write(&path, customers.encode())?;

    // The reader needs to know neither the kind of filter nor its size: the file says both.
    let stored = AnySketch::decode(&fs::read(&path)?)?;
    let filter = stored.membership()?;
    println!("{} with {} customers", stored.family(), filter.items());
    let asked = |key: &str| -> crivo::Result<bool> {
        use crivo::keys::Key;
        filter.contains_ref(key.to_ref())
    };
    assert!(asked("customer 17")?);
    println!(
        "customer 17 may be one; others are certainly not, but for {:.2} %",
        100.0 * filter.false_positive_rate()
    );
    fs::remove_file(&path)?;
    Ok(())
}
