//! Items of a benchmark in documents, against brute force.

// What fails here should fail loudly.
#![allow(clippy::unwrap_used)]

use std::collections::HashSet;

use crivo_near::{Benchmark, Texts, overlap};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

#[test]
fn shares_and_longest_runs_are_those_of_brute_force() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
    let mut below = move |size: usize| (random.next_u64() % size as u64) as usize;
    let mut hits = 0;
    for round in 0..300 {
        let alphabet = 2 + below(20);
        let mut text = |longest: usize| -> Vec<String> {
            let words = below(longest);
            (0..words).map(|_| format!("w{}", below(alphabet))).collect()
        };
        let items: Vec<Vec<String>> = (0..6).map(|_| text(14)).collect();
        let mut documents: Vec<Vec<String>> = (0..8).map(|_| text(40)).collect();
        for (document, item) in documents.iter_mut().zip(&items) {
            document.extend_from_slice(&item[item.len() / 4..]);
        }
        let gram = 1 + round % 6;
        let join = |texts: &[Vec<String>]| texts.iter().map(|words| words.join(", ")).collect::<Vec<_>>();
        let (item_texts, document_texts) = (join(&items), join(&documents));
        let benchmark = Benchmark::read(&Texts::new(&item_texts, 1), gram).unwrap();
        let found = overlap(&Texts::new(&document_texts, 2), &benchmark, 0.3, 64 << 20).unwrap();
        let mut all = Vec::new();
        found
            .for_each(|place, hit| {
                all.push((place as usize, hit.item as usize, hit.share, hit.run as usize));
                Ok(())
            })
            .unwrap();
        let mut expected = Vec::new();
        for (place, document) in documents.iter().enumerate() {
            for (number, item) in items.iter().enumerate() {
                if item.is_empty() {
                    continue;
                }
                let length = gram.min(item.len());
                let grams: HashSet<&[String]> = document.windows(length).collect();
                let inside = item.windows(length).filter(|gram| grams.contains(gram)).count();
                let share = inside as f64 / (item.len() + 1 - length) as f64;
                if share >= 0.3 {
                    let runs = |length: &usize| {
                        item.windows(*length).any(|run| document.windows(*length).any(|w| w == run))
                    };
                    expected.push((place, number, share, (1..=item.len()).rev().find(runs).unwrap()));
                }
            }
        }
        assert_eq!(all, expected, "round {round}");
        hits += all.len();
    }
    assert!(hits > 1000, "only {hits} hits");
}
