//! `cargo xtask sample`: writes the small files that the README and the documentation use.
//!
//! They are invented visits to an invented site, drawn from a seeded generator, so that every run
//! writes the same file. They have popular pages and countries, returning visitors, empty
//! referrers, and some quoted commas. [`orders`] makes an invented shop's orders and customers.

mod orders;

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result};

use crate::random::split_mix;
use crate::shell::root;

const ROWS: u64 = 5_000;
const PAGES: [&str; 12] = [
    "/",
    "/search",
    "/docs/start",
    "/docs/format",
    "/docs/keys",
    "/blog/sieves",
    "/blog/merging",
    "/pricing",
    "/about",
    "/contact",
    "\"/tags/mail,spam\"",
    "/jobs",
];
const COUNTRIES: [&str; 10] = ["PT", "BR", "DE", "US", "FR", "AO", "ES", "MZ", "JP", "CV"];
const REFERRERS: [&str; 5] = ["", "search", "mail", "feed", "friend"];

pub(crate) fn run(arguments: &mut lexopt::Parser) -> Result<()> {
    if let Some(argument) = arguments.next()? {
        return Err(argument.unexpected().into());
    }
    fs::create_dir_all(root().join("samples"))?;
    for (name, text) in samples() {
        let path = root().join("samples").join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("Wrote {}.", path.display());
    }
    Ok(())
}

fn samples() -> [(&'static str, String); 3] {
    [("visits.csv", visits()), ("orders.csv", orders::orders()), ("customers.csv", orders::customers())]
}

fn visits() -> String {
    let mut random = Random(1);
    let mut text = String::from("time,visitor,page,country,referrer,milliseconds\n");
    let mut seconds = 0;
    for _ in 0..ROWS {
        seconds += random.below(34);
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        let visitor = random.popular(3_000) * 7919 % 100_000;
        let page = PAGES[random.popular(PAGES.len() as u64) as usize];
        let country = COUNTRIES[random.popular(COUNTRIES.len() as u64) as usize];
        let referrer = REFERRERS[random.below(REFERRERS.len() as u64) as usize];
        let milliseconds = 5 + random.popular(2_000);
        let day = 1 + seconds / 86_400;
        let _ = writeln!(
            text,
            "2026-03-{day:02}T{hour:02}:{minute:02}:{second:02}Z,v{visitor:05},{page},{country},{referrer},{milliseconds}"
        );
    }
    text
}

/// A random generator whose values are specified, so that the sample is the same everywhere.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        split_mix(&mut self.0)
    }

    fn below(&mut self, below: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(below)) >> 64) as u64
    }

    /// Returns a number below `below`. Small numbers are much more frequent than large ones.
    fn popular(&mut self, below: u64) -> u64 {
        let most = self.below(below) + 1;
        self.below(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_samples_in_the_repository_are_those_made_here() {
        for (name, text) in samples() {
            assert_eq!(fs::read_to_string(root().join("samples").join(name)).unwrap(), text, "{name}");
        }
    }
}
