//! The exact similarity of two sets.
//!
//! **Question.** How many elements do two sets have in common, and what share of their union is
//! that? The Jaccard similarity is `J = |A ∩ B| / |A ∪ B|`.
//!
//! **Guarantee.** Exact. Sets are slices of 64-bit numbers: ids, or hashes of elements of any kind.
//!
//! **Idea.** Sorted sets are compared in one pass over both, which takes about as long as reading
//! them. If one set is far smaller, each of its elements is searched in the larger set by
//! galloping. For pairs above a threshold [`at_least`] stops as soon as the threshold cannot be
//! reached any more. Most pairs that are not alike are dismissed by their sizes or their first few
//! elements. Unsorted sets are sorted in a copy. Numbers below a small limit need no order: a
//! bitmap is enough.
//!
//! **Two empty sets** have no similarity: it is `None`, not 1, so that texts without features never
//! count as equal.
//!
//! **When not to use it.** For sets that do not fit in memory: a [`MinHash`](super::MinHash) of
//! each estimates their similarity within `1/√k`. [`DirectTable`](crate::membership::DirectTable)
//! keeps a set of small integers, and compares it with others.
//!
//! **Sources.** Jaccard: *The distribution of the flora in the alpine zone* (1912). Bentley, Yao:
//! *An almost optimal algorithm for unbounded searching* (1976), for the galloping search.

use crate::cpu;
use crate::error::{Error, Result};

/// The number of elements that two sets have in common, and their sizes.
///
/// ```
/// use crivo::similarity::jaccard::overlap_sorted;
///
/// let films = overlap_sorted(&[2, 3, 5, 7], &[3, 5, 8]);
/// assert_eq!((films.common(), films.jaccard(), films.containment()), (2, Some(0.4), Some(0.5)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    common: usize,
    first: usize,
    second: usize,
}

impl Overlap {
    /// Returns how many elements are in both sets.
    pub fn common(self) -> usize {
        self.common
    }

    /// Returns how many elements the union of both sets has.
    pub fn union(self) -> usize {
        self.first + self.second - self.common
    }

    /// Returns the Jaccard similarity: the share of the union that is in both sets. Returns `None`
    /// if both are empty.
    pub fn jaccard(self) -> Option<f64> {
        share(self.common, self.union())
    }

    /// Returns the share of the first set that is also in the second, or `None` if the first set is
    /// empty.
    pub fn containment(self) -> Option<f64> {
        share(self.common, self.first)
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Returns the overlap of two sorted sets. If the slices are not strictly ascending, only some of
/// the common elements are counted.
pub fn overlap_sorted(a: &[u64], b: &[u64]) -> Overlap {
    let common = common_sorted(a, b, 0).unwrap_or(0);
    Overlap { common, first: a.len(), second: b.len() }
}

/// Returns the Jaccard similarity of two sorted sets, or `None` if both are empty.
///
/// ```
/// use crivo::similarity::jaccard::jaccard_sorted;
/// assert_eq!(jaccard_sorted(&[1, 2, 3], &[2, 3, 4]), Some(0.5));
/// assert_eq!(jaccard_sorted(&[], &[]), None);
/// ```
pub fn jaccard_sorted(a: &[u64], b: &[u64]) -> Option<f64> {
    overlap_sorted(a, b).jaccard()
}

/// Returns the Jaccard similarity of two sorted sets if it is at least `threshold`. Returns `None`
/// if it is less, or if both sets are empty. Sets below the threshold take far less time.
///
/// ```
/// use crivo::similarity::jaccard::at_least;
/// assert_eq!(at_least(&[1, 2, 3], &[2, 3, 4], 0.5), Some(0.5));
/// assert_eq!(at_least(&[1, 2, 3], &[2, 3, 4], 0.6), None);
/// ```
pub fn at_least(a: &[u64], b: &[u64], threshold: f64) -> Option<f64> {
    let (first, second) = (a.len(), b.len());
    let needed = needed_in_common(first, second, threshold)?;
    let common = common_sorted(a, b, needed)?;
    Overlap { common, first, second }.jaccard().filter(|&similarity| similarity >= threshold)
}

/// Returns the overlap of two sets in any order. Repetitions count once.
pub fn overlap_unsorted(a: &[u64], b: &[u64]) -> Overlap {
    let sorted = |set: &[u64]| {
        let mut copy = set.to_vec();
        copy.sort_unstable();
        copy.dedup();
        copy
    };
    overlap_sorted(&sorted(a), &sorted(b))
}

/// Returns the overlap of two sets of numbers below `universe`, in any order. Repetitions count
/// once. It needs two bitmaps with a bit for each number.
///
/// # Errors
/// If a number is not below `universe`, or if there is no memory for the bitmaps.
///
/// ```
/// use crivo::similarity::jaccard::overlap_direct;
/// assert_eq!(overlap_direct(&[7, 2, 2], &[2, 9], 10)?.jaccard(), Some(1.0 / 3.0));
/// assert!(overlap_direct(&[10], &[2], 10).is_err());
/// # Ok::<(), crivo::Error>(())
/// ```
pub fn overlap_direct(a: &[u64], b: &[u64], universe: u64) -> Result<Overlap> {
    let (mut in_a, mut in_b) = (cpu::zeroed(universe.div_ceil(64))?, cpu::zeroed(universe.div_ceil(64))?);
    for (set, bits) in [(a, &mut in_a), (b, &mut in_b)] {
        for &number in set {
            if number >= universe {
                return Err(Error::parameter("number", format_args!("below {universe}"), number));
            }
            bits[(number / 64) as usize] |= 1_u64 << (number % 64);
        }
    }
    Ok(overlap_of_bits(&in_a, &in_b))
}

/// Returns the overlap of two sets that are bitmaps: each number is one bit. Bits of the longer
/// bitmap past the end of the other are only in the longer one's set.
pub fn overlap_of_bits(a: &[u64], b: &[u64]) -> Overlap {
    let ones = |words: &[u64]| words.iter().map(|word| word.count_ones() as usize).sum();
    let common = a.iter().zip(b).map(|(a, b)| (a & b).count_ones() as usize).sum();
    Overlap { common, first: ones(a), second: ones(b) }
}

/// Returns how many elements sets of these sizes must share to reach the threshold, or `None` if
/// they cannot reach it.
fn needed_in_common(first: usize, second: usize, threshold: f64) -> Option<usize> {
    let smaller = first.min(second);
    let reaches = |common: usize| {
        Overlap { common, first, second }.jaccard().is_some_and(|similarity| similarity >= threshold)
    };
    if !reaches(smaller) {
        return None;
    }
    // J ≥ t exactly if c ≥ t/(1 + t) · (|A| + |B|). The quotient is rounded, so the similarity
    // itself decides.
    let estimate = threshold.max(0.0) / (1.0 + threshold.max(0.0)) * (first + second) as f64;
    let mut needed = (estimate as usize).saturating_sub(1).min(smaller);
    while needed < smaller && !reaches(needed) {
        needed += 1;
    }
    Some(needed)
}

/// If one set is this many times larger than the other, galloping takes fewer steps than walking.
const LEAP_RATIO: usize = 16;

/// Returns how many elements two sorted sets share, unless it is certainly less than `needed`.
fn common_sorted(a: &[u64], b: &[u64], needed: usize) -> Option<usize> {
    let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if small.len() < needed {
        None
    } else if large.len() / LEAP_RATIO >= small.len() {
        leap(small, large, needed)
    } else {
        walk(small, large, needed)
    }
}

/// The number of steps between two checks whether `needed` common elements are still possible.
const STRIDE: usize = 8;

/// The number of elements that are compared at once while both sets are equal.
const RUN: usize = 4;

/// Counts the common elements by advancing the set that is behind, or both. Similar sets are equal
/// over long stretches, which are skipped several elements at a time. Elsewhere no branch depends
/// on the elements: a comparison is an addition of 0 or 1.
fn walk(a: &[u64], b: &[u64], needed: usize) -> Option<usize> {
    let (mut a, mut b, mut common) = (a, b, 0);
    while let (Some(next_a), Some(next_b)) = (a.first_chunk::<STRIDE>(), b.first_chunk::<STRIDE>()) {
        if next_a[..RUN] == next_b[..RUN] {
            common += RUN;
            (a, b) = (&a[RUN..], &b[RUN..]);
            continue;
        }
        let (mut i, mut j) = (0, 0);
        for _ in 0..STRIDE {
            // The remainder avoids a bounds check: neither index exceeds the number of steps.
            let (x, y) = (next_a[i % STRIDE], next_b[j % STRIDE]);
            common += usize::from(x == y);
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
        (a, b) = (&a[i..], &b[j..]);
        if common + a.len().min(b.len()) < needed {
            return None;
        }
    }
    while let ([x, rest_a @ ..], [y, rest_b @ ..]) = (a, b) {
        common += usize::from(x == y);
        if x <= y {
            a = rest_a;
        }
        if y <= x {
            b = rest_b;
        }
    }
    (common >= needed).then_some(common)
}

/// Counts the common elements by galloping: searches each element of the small set in the rest of
/// the large one, in steps that double.
fn leap(small: &[u64], large: &[u64], needed: usize) -> Option<usize> {
    let (mut rest, mut common) = (large, 0);
    for (searched, &element) in small.iter().enumerate() {
        if common + (small.len() - searched) < needed {
            return None;
        }
        let mut reach = 1;
        while reach < rest.len() && rest[reach] < element {
            reach *= 2;
        }
        // The element's position is between half of `reach` and `reach`.
        let end = rest.len().min(reach + 1);
        let start = (reach / 2).min(end);
        let at = start + rest[start..end].partition_point(|&other| other < element);
        common += usize::from(rest.get(at) == Some(&element));
        rest = &rest[at..];
    }
    (common >= needed).then_some(common)
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    /// Random sorted sets of many relations and sizes.
    fn pairs() -> Vec<(Vec<u64>, Vec<u64>)> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut pairs = Vec::new();
        for universe in [3, 20, 200, 5_000] {
            for (chance_a, chance_b) in [(2, 2), (2, 3), (1, 1), (1, 40), (60, 1), (2, 90)] {
                for _ in 0..20 {
                    let mut set = |chance: u64| -> Vec<u64> {
                        (0..universe).filter(|_| random.next_u64() % chance == 0).map(|i| i * 3).collect()
                    };
                    pairs.push((set(chance_a), set(chance_b)));
                }
            }
        }
        pairs
    }

    fn by_definition(a: &[u64], b: &[u64]) -> Overlap {
        let (x, y): (BTreeSet<_>, BTreeSet<_>) = (a.iter().collect(), b.iter().collect());
        Overlap { common: x.intersection(&y).count(), first: x.len(), second: y.len() }
    }

    #[test]
    fn every_way_counts_the_same() {
        for (a, b) in pairs() {
            let expected = by_definition(&a, &b);
            assert_eq!(overlap_sorted(&a, &b), expected);
            assert_eq!(overlap_sorted(&b, &a).common(), expected.common());
            assert_eq!(walk(&a, &b, 0), Some(expected.common));
            assert_eq!(leap(&a, &b, 0), Some(expected.common));
            assert_eq!(overlap_direct(&a, &b, 15_000), Ok(expected));
            let mut shuffled = [&b[b.len() / 2..], &b[..]].concat();
            shuffled.reverse();
            assert_eq!(overlap_unsorted(&a, &shuffled), expected);
            assert_eq!(overlap_direct(&a, &shuffled, 15_000), Ok(expected));
        }
    }

    #[test]
    fn giving_up_early_never_changes_the_answer() {
        for (a, b) in pairs() {
            let similarity = by_definition(&a, &b).jaccard();
            let mut thresholds = vec![0.0, 1e-9, 0.1, 1.0 / 3.0, 0.5, 0.8, 0.999, 1.0, 1.1];
            thresholds.extend(similarity.into_iter().flat_map(|s| [s, s.next_up(), s.next_down()]));
            for threshold in thresholds {
                let expected = similarity.filter(|&similarity| similarity >= threshold);
                assert_eq!(at_least(&a, &b, threshold), expected, "at {threshold}");
                assert_eq!(at_least(&b, &a, threshold), expected, "at {threshold}");
            }
            assert_eq!(at_least(&a, &b, f64::NAN), None);
        }
    }

    #[test]
    fn nothing_has_no_similarity_to_nothing() {
        let nothing = overlap_sorted(&[], &[]);
        assert_eq!((nothing.jaccard(), nothing.containment(), nothing.union()), (None, None, 0));
        assert_eq!(at_least(&[], &[], 0.0), None);
        assert_eq!(overlap_direct(&[], &[], 0).map(Overlap::jaccard), Ok(None));
        assert_eq!(jaccard_sorted(&[], &[1]), Some(0.0));
    }

    #[test]
    fn ends_of_the_range_are_numbers_like_any_other() {
        assert_eq!(jaccard_sorted(&[0, u64::MAX], &[0, 5, u64::MAX]), Some(2.0 / 3.0));
        let large: Vec<u64> = (0..1000).map(|i| u64::MAX - 999 + i).collect();
        assert_eq!(overlap_sorted(&[0, u64::MAX - 999, u64::MAX], &large).common(), 2);
    }

    #[test]
    fn numbers_past_the_universe_are_refused() {
        let error = overlap_direct(&[3], &[1, 64], 64).unwrap_err();
        assert_eq!((error.field(), error.expected(), error.found()), ("number", "below 64", "64"));
        assert!(overlap_direct(&[], &[], u64::MAX).is_err(), "no memory for that");
    }

    #[test]
    fn bits_past_the_end_of_the_other_set_count() {
        let overlap = overlap_of_bits(&[0b1011], &[0b0011, 0b1]);
        assert_eq!((overlap.common(), overlap.union(), overlap.containment()), (2, 4, Some(2.0 / 3.0)));
    }
}
