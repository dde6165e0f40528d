//! Tests containment against brute force: which documents are contained in longer ones, and that
//! every removed document is contained in a kept one.

// What fails here should fail loudly.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use crivo::similarity::shingle::Shingler;
use crivo_near::{Clusters, Keep, Linking, Measure, Outcome, Settings, Texts, near_duplicates};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

struct Random(Xoshiro256PlusPlus);

impl Random {
    fn below(&mut self, size: usize) -> usize {
        (self.0.next_u64() % size as u64) as usize
    }

    fn words(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| format!("w{}", self.below(5000))).collect()
    }
}

/// Returns pages. Some are an earlier page with comments around it, or a part of one, with a few
/// words changed.
fn pages(count: usize, random: &mut Random) -> Vec<String> {
    let mut pages: Vec<Vec<String>> = Vec::new();
    for number in 0..count {
        let earlier = |random: &mut Random| pages[random.below(number)].clone();
        let mut page = match random.below(3) {
            0 if number > 0 => {
                let (length, mut page) = (5 + random.below(200), random.words(3));
                page.extend(earlier(random));
                page.extend(random.words(length));
                page
            }
            1 if number > 0 => {
                let page = earlier(random);
                let from = random.below(page.len() / 2 + 1);
                page[from..].to_vec()
            }
            _ => {
                let length = 8 + random.below(150);
                random.words(length)
            }
        };
        for _ in 0..random.below(4) {
            let at = random.below(page.len());
            page[at] = format!("changed{}", random.below(100));
        }
        page.truncate(700);
        pages.push(page);
    }
    pages.into_iter().map(|page| page.join(" ")).collect()
}

fn settings(threshold: f64) -> Settings {
    Settings { threshold, measure: Measure::Containment, threads: 2, ..Settings::default() }
}

fn sets(texts: &[String], settings: &Settings) -> Vec<BTreeSet<u64>> {
    let mut shingler = Shingler::new(settings.shingles.clone());
    texts.iter().map(|text| shingler.set(text.as_bytes()).iter().copied().collect()).collect()
}

/// Returns the pairs whose shorter member is contained in the longer one, with its share.
fn exact_pairs(texts: &[String], settings: &Settings) -> BTreeMap<(u32, u32), f64> {
    let sets = sets(texts, settings);
    let mut pairs = BTreeMap::new();
    for one in 0..texts.len() {
        for other in one + 1..texts.len() {
            // Of equally long texts the later one counts as the shorter.
            let shorter = if texts[one].len() < texts[other].len() { one } else { other };
            let longer = one + other - shorter;
            let common = sets[shorter].intersection(&sets[longer]).count();
            let containment = common as f64 / sets[shorter].len().max(1) as f64;
            if containment >= settings.threshold || texts[one] == texts[other] {
                pairs.insert((one as u32, other as u32), containment);
            }
        }
    }
    pairs
}

fn find(texts: &[String], settings: &Settings) -> Outcome {
    near_duplicates(&Texts::new(texts, settings.threads.max(1)), settings, &()).unwrap()
}

fn found_pairs(outcome: &Outcome) -> BTreeMap<(u32, u32), f64> {
    let mut pairs = BTreeMap::new();
    outcome
        .for_each_pair(|one, other, containment| {
            assert!(pairs.insert((one, other), containment).is_none(), "{one}, {other} came twice");
            Ok(())
        })
        .unwrap();
    pairs
}

#[test]
fn pairs_are_those_of_brute_force_but_for_the_share_that_is_stated() {
    for (seed, threshold) in [(1, 0.5), (2, 0.8), (3, 0.9), (4, 1.0)] {
        let texts = pages(900, &mut Random(Xoshiro256PlusPlus::seed_from_u64(seed)));
        let settings = settings(threshold);
        let (expected, outcome) = (exact_pairs(&texts, &settings), find(&texts, &settings));
        let found = found_pairs(&outcome);
        assert!(expected.len() > 200, "{threshold}: only {} pairs to find", expected.len());
        for (pair, containment) in &found {
            assert_eq!(expected.get(pair), Some(containment), "{pair:?} at {threshold}");
        }
        // The expected number of missed pairs must agree with the true number within five standard
        // deviations. A count of independent rare events has at most its mean as variance. The
        // chance of a false alarm is below 10^-6.
        let missed = (expected.len() - found.len()) as f64;
        let stated = outcome.expected_missed().value();
        assert!(
            (missed - stated).abs() <= 5.0 * (stated.max(1.0) * 4.0).sqrt(),
            "{threshold}: {missed} missed of {}, {stated} stated",
            expected.len(),
        );
    }
}

#[test]
fn what_goes_stands_in_what_stays() {
    let texts = pages(900, &mut Random(Xoshiro256PlusPlus::seed_from_u64(5)));
    let settings = settings(0.8);
    let (sets, outcome) = (sets(&texts, &settings), find(&texts, &settings));
    let clusters = Clusters::of(&outcome, Linking::Kept, Keep::Longest).unwrap();
    let mut gone = 0;
    clusters
        .for_each_removed(&outcome, |member, kept, containment| {
            gone += 1;
            assert!(clusters.keeps(kept) && !clusters.keeps(member));
            let [member, kept] = [member, kept].map(|number| number as usize);
            assert!(texts[kept].len() >= texts[member].len(), "the longer stays");
            let common = sets[member].intersection(&sets[kept]).count();
            // Texts too short for a shingle are removed only if they are the same.
            let is_same = texts[member] == texts[kept];
            assert_eq!(containment, if is_same { 1.0 } else { common as f64 / sets[member].len() as f64 });
            assert!(containment >= 0.8);
            Ok(())
        })
        .unwrap();
    assert_eq!(gone, texts.len() - clusters.kept_count());
    assert!(gone > 100, "{gone}");
}

#[test]
fn threads_and_memory_change_nothing() {
    let texts = pages(3000, &mut Random(Xoshiro256PlusPlus::seed_from_u64(6)));
    let first = find(&texts, &settings(0.8));
    for (threads, memory) in [(1, 16 << 20), (4, 24 << 20)] {
        let again = find(&texts, &Settings { threads, memory, ..settings(0.8) });
        assert_eq!(found_pairs(&again), found_pairs(&first));
        assert_eq!(again.expected_missed().value(), first.expected_missed().value());
    }
}

/// A licence is in two thousand pages, and also a document by itself. All of its shingles are in
/// very large buckets.
#[test]
fn a_text_that_stands_in_thousands_of_others_goes() {
    let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(7));
    let licence = random.words(60).join(" ");
    let mut texts: Vec<String> = (0..2000)
        .map(|_| {
            let length = 20 + random.below(100);
            format!("{licence} {}", random.words(length).join(" "))
        })
        .collect();
    texts.push(licence);
    let outcome = find(&texts, &settings(0.9));
    let clusters = Clusters::of(&outcome, Linking::Kept, Keep::Longest).unwrap();
    assert!(!clusters.keeps(2000), "the licence itself");
    assert!(clusters.kept_count() > 1900, "the pages stay");
    let listed = outcome.pairs() as f64;
    let not_listed = outcome.not_listed();
    assert!(
        listed + not_listed.lower() <= 2000.0 && 2000.0 <= listed + not_listed.upper(),
        "{listed} listed and {not_listed:?} of 2000",
    );
}

/// The members of one shingle do not fit in a thread's share of the memory.
#[test]
fn a_shingle_of_every_document_changes_nothing_in_little_memory() {
    let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(8));
    let mut texts: Vec<String> = Vec::new();
    for number in 0..60_000 {
        // Every fiftieth text is an earlier one with other words around it.
        let text = match number % 50 {
            49 => format!("a{number} {} b{number}", texts[random.below(number)]),
            _ => format!("common shingle of five words {}", random.words(9).join(" ")),
        };
        texts.push(text);
    }
    let first = find(&texts, &settings(0.9));
    let again = find(&texts, &Settings { threads: 8, memory: 16 << 20, ..settings(0.9) });
    assert!(first.pairs() > 1000, "{}", first.pairs());
    assert_eq!(found_pairs(&again), found_pairs(&first));
    assert_eq!(again.expected_missed().value(), first.expected_missed().value());
}

#[test]
fn signatures_cannot_tell_the_containment() {
    let settings = Settings { fast: true, ..settings(0.8) };
    let error = near_duplicates(&Texts::new(&["a b c d e f"], 1), &settings, &()).err().unwrap();
    assert!(error.to_string().contains("containment"), "{error}");
}
