//! How many different visitors came each day, and in the whole week?
//!
//! `cargo run -p crivo --example visitors_a_day`

#![allow(clippy::print_stdout)] // an example shows its answers

use crivo::distinct::HyperLogLog;
use crivo::keys::Texts;

pub(crate) fn main() -> Result<(), crivo::Error> {
    let mut week = HyperLogLog::for_error(0.01)?;
    for day in 0..7_u64 {
        let mut visitors = Texts::new(HyperLogLog::for_error(0.01)?)?;
        // The visits of one day. Most visitors come back.
        visitors.extend((0..50_000_u64).map(|visit| format!("visitor {}", day * 3_000 + visit % 20_000)));
        println!("day {}: {} visitors", day + 1, visitors.estimate());
        week.merge(&visitors)?;
    }
    let estimate = week.estimate();
    println!("week:  {estimate}, between {:.0} and {:.0}", estimate.lower(), estimate.upper());
    assert!(estimate.covers(38_000.0));
    Ok(())
}
