//! Repeated lines and paragraphs against a model that holds all of them, with any number of threads
//! and any memory.

// What fails here should fail loudly.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;

use crivo_near::{FrequentUnit, Texts, UnitKind, UnitSettings, UnitsLeft, repeated_units};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Documents as their units. Each unit has the bytes up to the next one.
type Pieces = Vec<Vec<String>>;

/// Returns documents whose units are drawn with very different frequencies: some stand thousands of
/// times, most of them once.
fn documents(count: usize, end: &str, seed: u64) -> Pieces {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut below = move |limit: u64| random.next_u64() % limit;
    let mut unit = |at: u64| match below(4) {
        0 => format!("Menu {}", below(5)),
        1 => format!("menu {}", below(400)),
        2 => format!("Story {}", below(count as u64)),
        _ => format!("only here {at}"),
    };
    let mut units = 0;
    (0..count)
        .map(|number| {
            let mut pieces: Vec<String> = Vec::new();
            for _ in 0..=number % 12 {
                units += 1;
                pieces.push(unit(units) + end);
            }
            // The last unit of every third document has no end.
            if number % 3 == 0
                && let Some(last) = pieces.last_mut()
            {
                last.truncate(last.len() - end.len());
            }
            pieces
        })
        .collect()
}

/// What a search must find.
struct Expected {
    left: Vec<(UnitsLeft, String)>,
    repeated: u64,
    most_frequent: Vec<FrequentUnit>,
}

/// Holds all units in a table. Of equal units, the first `stay` are kept.
fn model(documents: &Pieces, stay: u64, lower: bool) -> Expected {
    let mut seen: HashMap<String, (u64, u64, u32)> = HashMap::new();
    let (mut left, mut repeated) = (Vec::new(), 0);
    for (place, pieces) in (0_u64..).zip(documents) {
        let mut kept = Vec::new();
        for (number, piece) in (0_u32..).zip(pieces) {
            let unit = piece.trim_end();
            let unit = if lower { unit.to_lowercase() } else { unit.to_owned() };
            let known = seen.entry(unit).or_insert((0, place, number));
            known.0 += 1;
            if known.0 <= stay {
                kept.push(piece.as_str());
            } else {
                repeated += 1;
            }
        }
        left.push(match kept.len() {
            0 => (UnitsLeft::None, String::new()),
            all if all == pieces.len() => (UnitsLeft::All, String::new()),
            _ => (UnitsLeft::Some, kept.concat()),
        });
    }
    let counted = seen.into_values().filter(|unit| unit.0 > 1);
    let mut most_frequent: Vec<_> =
        counted.map(|(count, place, number)| FrequentUnit { count, place, number }).collect();
    most_frequent.sort_by_key(|unit| (std::cmp::Reverse(unit.count), unit.place, unit.number));
    most_frequent.truncate(SHOWN);
    Expected { left, repeated, most_frequent }
}

/// The number of most frequent units that are compared. Some of them are equally frequent.
const SHOWN: usize = 800;

/// Searches with the given memory and number of threads, and compares everything with the model.
/// Returns the number of bytes that were spilled.
fn check(documents: &Pieces, settings: &UnitSettings) -> u64 {
    let texts: Vec<String> = documents.iter().map(|pieces| pieces.concat()).collect();
    let expected = model(documents, settings.max_repeats, settings.ignore_case);
    let found = repeated_units(&Texts::new(&texts, settings.threads), settings).unwrap();
    let told = format!("{} bytes, {} threads", settings.memory, settings.threads);
    assert_eq!(found.documents, texts.len() as u64, "{told}");
    assert_eq!(found.bytes, texts.iter().map(|text| text.len() as u64).sum::<u64>(), "{told}");
    assert_eq!(found.units, documents.iter().map(|pieces| pieces.len() as u64).sum::<u64>(), "{told}");
    assert_eq!(found.repeated, expected.repeated, "{told}");
    assert_eq!(found.most_frequent, expected.most_frequent, "{told}");
    let (mut lookup, mut left) = (found.lookup(), Vec::new());
    for (place, (text, (kind, kept))) in (0_u64..).zip(texts.iter().zip(&expected.left)) {
        assert_eq!(lookup.changes(place).unwrap(), *kind != UnitsLeft::All, "{told}, document {place}");
        assert_eq!(lookup.cut(place, text.as_bytes(), &mut left).unwrap(), *kind, "{told}, document {place}");
        assert_eq!(String::from_utf8_lossy(&left), *kept, "{told}, document {place}");
    }
    found.spilled
}

#[test]
fn spilled_units_are_those_of_a_model() {
    for (kind, end) in [(UnitKind::Line, "\n"), (UnitKind::Paragraph, "\n\n")] {
        let documents = documents(6_000, end, 11);
        for (max_repeats, ignore_case) in [(1, false), (3, true)] {
            // From pieces of a few records to a single partition in memory.
            for memory in [0, 64 << 10, 1 << 20, 256 << 20] {
                for threads in [1, 3] {
                    let settings = UnitSettings {
                        kind,
                        max_repeats,
                        ignore_case,
                        most_frequent: SHOWN,
                        memory,
                        threads,
                        ..UnitSettings::default()
                    };
                    let spilled = check(&documents, &settings);
                    assert_eq!(spilled > 0, memory <= 1 << 20, "{spilled} bytes at {memory}");
                }
            }
        }
    }
}

/// The least memory that commands accept, and more units than fit in it.
#[test]
fn the_least_memory_of_a_command_is_enough() {
    let documents = documents(50_000, "\n", 12);
    let settings = UnitSettings {
        max_repeats: 2,
        most_frequent: SHOWN,
        memory: 16 << 20,
        threads: 2,
        ..UnitSettings::default()
    };
    assert!(check(&documents, &settings) > 8 << 20);
}
