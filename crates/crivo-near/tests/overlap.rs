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
        // One collection, or two whose items are numbered on.
        let (one, others) = item_texts.split_at(if round % 2 == 0 { 0 } else { 2 });
        let collections = [Texts::new(one, 1), Texts::new(others, 2)];
        let benchmark = match one {
            [] => Benchmark::read(&Texts::new(&item_texts, 1), gram).unwrap(),
            _ => Benchmark::read_all(&collections, gram).unwrap(),
        };
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
        let parts = benchmark.collections();
        assert_eq!(parts.iter().map(ExactSizeIterator::len).sum::<usize>(), items.len());
        for (part, hits) in parts.iter().zip(found.of_parts(&parts).unwrap()) {
            let of_part = || expected.iter().filter(|hit| part.contains(&(hit.1 as u32)));
            let documents: HashSet<usize> = of_part().map(|hit| hit.0).collect();
            let items: HashSet<usize> = of_part().map(|hit| hit.1).collect();
            assert_eq!((hits.documents_hit, hits.items_hit), (documents.len() as u64, items.len() as u64));
            let places = part.clone().map(|item| benchmark.place(item));
            assert!(places.eq(0..part.len() as u64), "round {round}");
        }
        hits += all.len();
    }
    assert!(hits > 1000, "only {hits} hits");
}
