//! Which addresses send most requests, in a log too long to count exactly?
//!
//! `cargo run -p crivo --example heavy_hitters_of_a_log`

#![allow(clippy::print_stdout)] // an example shows its answers

use crivo::frequency::HeavyHitters;

pub(crate) fn main() -> Result<(), crivo::Error> {
    // 256 counters: every address with more than half a percent of all requests is found.
    let mut requests = HeavyHitters::new(256)?;
    for request in 0..200_000_u64 {
        // A few addresses send many requests, and very many addresses send one.
        let address = match request % 10 {
            0..=2 => "192.0.2.1".to_owned(),
            3 => "192.0.2.2".to_owned(),
            _ => format!("198.51.100.{request}"),
        };
        requests.insert(&address)?;
    }
    for hitter in requests.top(2) {
        println!("{} came {}", hitter.key(), hitter.count());
    }
    assert!(requests.frequency("192.0.2.1")?.covers(60_000.0));
    assert!(requests.frequency("192.0.2.2")?.covers(20_000.0));
    Ok(())
}
