//! The direct table has nothing to estimate: its answers are compared with the truth, one by one.

use std::collections::BTreeSet;

use crivo::membership::DirectTable;

use super::support::{Random, generator};

const UNIVERSE: u64 = 100_000;

fn random_set(fill: f64, random: &mut Random) -> (DirectTable, BTreeSet<u64>) {
    let mut table = DirectTable::new(UNIVERSE).unwrap();
    let mut set = BTreeSet::new();
    for integer in 0..UNIVERSE {
        if random.unit() < fill {
            assert!(table.insert(&integer).unwrap() && set.insert(integer));
        }
    }
    (table, set)
}

/// No false positive and no false negative at any fill, where a filter of as many bits would have
/// as many false positives as its fill.
#[test]
fn every_answer_is_right_at_every_fill() {
    let mut random = generator("direct table");
    for fill in [0.0, 0.001, 0.1, 0.5, 0.9, 0.999, 1.0] {
        let (table, set) = random_set(fill, &mut random);
        let wrong = (0..UNIVERSE).filter(|key| table.contains(key).unwrap() != set.contains(key)).count();
        assert_eq!(wrong, 0, "fill {fill}");
        assert_eq!(table.items().value(), set.len() as f64);
        assert!(table.items().is_exact());
        assert_eq!(table.fill(), set.len() as f64 / UNIVERSE as f64);
    }
}

/// Similarity is the quotient of two exact counts, to the last bit.
#[test]
fn jaccard_similarity_is_exact() {
    let mut random = generator("direct jaccard");
    for (a, b) in [(0.0, 0.0), (0.0, 0.5), (0.01, 0.01), (0.5, 0.5), (0.9, 0.2), (1.0, 1.0)] {
        let ((x, a), (y, b)) = (random_set(a, &mut random), random_set(b, &mut random));
        let (shared, united) = (a.intersection(&b).count(), a.union(&b).count());
        let truth = if united == 0 { 1.0 } else { shared as f64 / united as f64 };
        assert_eq!(x.jaccard(&y), Ok(truth));
        let mut both = x.clone();
        both.intersect(&y).unwrap();
        assert_eq!(both.len(), shared as u64);
    }
}
