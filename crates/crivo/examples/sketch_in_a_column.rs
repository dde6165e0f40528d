//! A small sketch in each row of a table, merged by any group later.
//!
//! `cargo run -p crivo --example sketch_in_a_column`

#![allow(clippy::print_stdout)] // an example shows its answers

use std::collections::BTreeMap;

use crivo::distinct::UltraLogLog;

pub(crate) fn main() -> Result<(), crivo::Error> {
    // A row for each country and month, as in a database. The sketch is a column of bytes.
    let mut table: Vec<(&str, u32, Vec<u8>)> = Vec::new();
    for (country, first) in [("PT", 0), ("BR", 5_000)] {
        for month in 1..=3 {
            let mut users = UltraLogLog::new(10)?;
            for user in first + month * 1_000..first + month * 1_000 + 4_000 {
                users.insert(&user.to_string())?;
            }
            table.push((country, month, users.encode()));
        }
    }
    // SELECT country, merge(users) … GROUP BY country
    let mut by_country: BTreeMap<&str, UltraLogLog> = BTreeMap::new();
    for (country, _, bytes) in &table {
        let users = UltraLogLog::decode(bytes)?;
        match by_country.get_mut(country) {
            Some(all) => all.merge(&users)?,
            None => _ = by_country.insert(country, users),
        }
    }
    for (country, users) in &by_country {
        let estimate = users.estimate();
        println!("{country}: {estimate} different users in the quarter");
        assert!(estimate.relative_error() < 0.06);
    }
    Ok(())
}
