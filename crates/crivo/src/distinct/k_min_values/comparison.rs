//! What do two sets have in common?
//!
//! Each sketch knows every hash of its set up to its largest one. So below the lower of the two
//! largest hashes both sets are known, and for each hash it is known whether it is in both sets or
//! in one. All these hashes together are a random sample of the union: the same share of every part
//! of it.

use super::KMinValues;
use super::bounds::{least_items, most_items, share};
use super::candidates::Candidates;
use crate::estimate::{Confidence, Estimate};
use crate::math::chances;

/// Two sets compared by their sketches: made by [`KMinValues::compare`].
///
/// If `c` of the `s` sampled hashes belong to a part of the union, its size is estimated without
/// bias as `c/θ`, where `θ` is the share of all hashes that were sampled. Its standard error is
/// `√((1 − θ)/c)`. The Jaccard similarity is estimated as `c/s` with a standard error of
/// `√((1 − θ) J (1 − J)/s)`. While both sketches hold all hashes of their sets, every answer is
/// exact.
///
/// ```
/// use crivo::{distinct::KMinValues, keys::KeyScheme};
///
/// let scheme = KeyScheme::integers().with_seed(1);
/// let mut evens = KMinValues::with_scheme(4096, scheme)?;
/// let mut threes = KMinValues::with_scheme(4096, scheme)?;
/// for i in 0..600_000_u64 {
///     if i % 2 == 0 { evens.insert(&i)? }
///     if i % 3 == 0 { threes.insert(&i)? }
/// }
/// let compared = evens.compare(&threes)?;
/// assert!(compared.union().covers(400_000.0));
/// assert!(compared.intersection().covers(100_000.0));
/// assert!(compared.difference().covers(200_000.0));
/// assert!(compared.jaccard().covers(0.25));
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    both: f64,
    only_first: f64,
    only_second: f64,
    /// The share of all hashes that the sample is drawn from, or `None` if both sets are known
    /// entirely.
    sampled: Option<f64>,
    /// The sizes of the sets, where they are known exactly.
    sizes: [Option<f64>; 2],
    /// The number of hashes that the Jaccard similarity is estimated from, and (in `shared`) the
    /// number of them that are in both sets.
    judged: f64,
    shared: f64,
}

impl Comparison {
    pub(super) fn new(first: &KMinValues, second: &KMinValues) -> Self {
        let sketches = [first, second].map(|sketch| &sketch.candidates);
        let [(mut first, first_largest), (mut second, second_largest)] = sketches.map(Candidates::smallest);
        let largest = [first_largest, second_largest];
        let threshold = largest.into_iter().flatten().min();
        if let Some(threshold) = threshold {
            first.retain(|&hash| hash < threshold);
            second.retain(|&hash| hash < threshold);
        }

        let both = first.iter().filter(|&&hash| sketches[1].contains(hash)).count();
        let sizes = [0, 1].map(|i| largest[i].is_none().then_some(sketches[i].len()));
        let has_smallest = |smallest| sketches.iter().all(|sketch| sketch.contains(smallest));
        Self::of_counts(both, [first.len(), second.len()], threshold, sizes, has_smallest)
    }

    /// Compares two sets by their smallest hashes, each in ascending order. The second of each pair
    /// is the largest of the kept hashes, or `None` if the set has no other hashes.
    pub(crate) fn of_ascending(first: (&[u64], Option<u64>), second: (&[u64], Option<u64>)) -> Self {
        let threshold = first.1.into_iter().chain(second.1).min();
        let below = |hashes: &[u64]| {
            threshold.map_or(hashes.len(), |limit| hashes.partition_point(|&hash| hash < limit))
        };
        let lengths = [below(first.0), below(second.0)];
        let both = common(&first.0[..lengths[0]], &second.0[..lengths[1]]);
        let sizes = [first, second].map(|(hashes, largest)| largest.is_none().then_some(hashes.len()));
        let has_smallest =
            |smallest| [first.0, second.0].iter().all(|hashes| hashes.binary_search(&smallest).is_ok());
        Self::of_counts(both, lengths, threshold, sizes, has_smallest)
    }

    /// Compares two sets by their numbers of sampled hashes: those in both sets, and those in each.
    fn of_counts(
        both: usize,
        [first, second]: [usize; 2],
        threshold: Option<u64>,
        sizes: [Option<usize>; 2],
        have_both: impl Fn(u64) -> bool,
    ) -> Self {
        let (only_first, only_second) = ((first - both) as f64, (second - both) as f64);
        let both = both as f64;
        let (mut judged, mut shared) = (both + only_first + only_second, both);
        if judged == 0.0
            && let Some(smallest) = threshold
        {
            // A sketch of one hash samples nothing below it, but the smallest hash of the union is
            // a fair sample of size one.
            judged = 1.0;
            shared = f64::from(u8::from(have_both(smallest)));
        }
        let sizes = sizes.map(|size| size.map(|size| size as f64));
        Self { both, only_first, only_second, sampled: threshold.map(share), sizes, judged, shared }
    }

    /// Returns the comparison of the second set with the first.
    pub(crate) fn reversed(&self) -> Self {
        let [first, second] = self.sizes;
        Self { only_first: self.only_second, only_second: self.only_first, sizes: [second, first], ..*self }
    }

    /// Returns how many sampled hashes both sets have, and how many the first has.
    pub(crate) fn sampled_of_first(&self) -> (f64, f64) {
        (self.both, self.both + self.only_first)
    }

    /// Returns the estimate of [`containment`](Self::containment) without its bounds; 0 if nothing
    /// was sampled.
    pub(crate) fn containment_value(&self) -> f64 {
        let sampled = self.both + self.only_first;
        if sampled > 0.0 { self.both / sampled } else { 0.0 }
    }

    /// Returns the upper limit of [`containment`](Self::containment). It is below 1 only if the
    /// first set is known entirely: all its items that were not sampled may be in the second set.
    pub(crate) fn most_contained(&self) -> f64 {
        match (self.sampled, self.sizes[0]) {
            (None, _) => self.containment().value(),
            (_, Some(size)) if size > 0.0 => (size - self.only_first) / size,
            _ => 1.0,
        }
    }

    /// Returns how many different items are in either set, with bounds at 95 %.
    pub fn union(&self) -> Estimate {
        self.union_at(Confidence::P95)
    }

    /// Returns how many different items are in either set.
    pub fn union_at(&self, confidence: Confidence) -> Estimate {
        self.part(self.both + self.only_first + self.only_second, f64::INFINITY, confidence)
    }

    /// Returns how many different items are in both sets, with bounds at 95 %.
    pub fn intersection(&self) -> Estimate {
        self.intersection_at(Confidence::P95)
    }

    /// Returns how many different items are in both sets.
    pub fn intersection_at(&self, confidence: Confidence) -> Estimate {
        let most = self.sizes.into_iter().flatten().fold(f64::INFINITY, f64::min);
        self.part(self.both, most, confidence)
    }

    /// Returns how many different items are in the first set and not in the second, with bounds at
    /// 95 %.
    pub fn difference(&self) -> Estimate {
        self.difference_at(Confidence::P95)
    }

    /// Returns how many different items are in the first set and not in the second.
    pub fn difference_at(&self, confidence: Confidence) -> Estimate {
        self.part(self.only_first, self.sizes[0].unwrap_or(f64::INFINITY), confidence)
    }

    /// Returns the Jaccard similarity, the intersection's share of the union, with bounds at 95 %.
    pub fn jaccard(&self) -> Estimate {
        self.jaccard_at(Confidence::P95)
    }

    /// Returns the Jaccard similarity, the intersection's share of the union. For two empty sets it
    /// is 1, because they are equal.
    pub fn jaccard_at(&self, confidence: Confidence) -> Estimate {
        let Some(sampled) = self.sampled else {
            return Estimate::exact(if self.judged > 0.0 { self.shared / self.judged } else { 1.0 });
        };
        if self.sizes.contains(&Some(0.0)) {
            return Estimate::exact(0.0);
        }
        let shared = thinned(self.shared, sampled, self.judged);
        let apart = thinned(self.judged - self.shared, sampled, self.judged);
        let unlikely = (1.0 - confidence.level()) / 2.0;
        let (lower, upper) = chances(shared, shared + apart, unlikely);
        Estimate::probable(self.shared / self.judged, lower, upper, confidence)
    }

    /// Returns the share of the first set's items that the second has too, with bounds at 95 %.
    pub fn containment(&self) -> Estimate {
        self.containment_at(Confidence::P95)
    }

    /// Returns the share of the first set's items that the second has too. It is 1 if the first set
    /// is empty. If the first set is much smaller than the other, few of its hashes are sampled,
    /// and the bounds are wide.
    ///
    /// ```
    /// use crivo::distinct::KMinValues;
    /// let (mut orders, mut customers) = (KMinValues::new(64)?, KMinValues::new(64)?);
    /// for customer in ["ana", "rui", "eva", "zé"] {
    ///     customers.insert(customer)?;
    /// }
    /// orders.insert("ana")?;
    /// orders.insert("eva")?;
    /// assert_eq!(orders.compare(&customers)?.containment().value(), 1.0);
    /// assert_eq!(customers.compare(&orders)?.containment().value(), 0.5);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn containment_at(&self, confidence: Confidence) -> Estimate {
        let known = self.both + self.only_first;
        let share = |of: f64| if of > 0.0 { self.both / of } else { 1.0 };
        let Some(sampled) = self.sampled else { return Estimate::exact(share(known)) };
        match self.sizes {
            [Some(0.0), _] => return Estimate::exact(1.0),
            [_, Some(0.0)] => return Estimate::exact(0.0),
            _ => {}
        }
        let (both, apart) = (thinned(self.both, sampled, known), thinned(self.only_first, sampled, known));
        let unlikely = (1.0 - confidence.level()) / 2.0;
        let (lower, upper) =
            if both + apart > 0.0 { chances(both, both + apart, unlikely) } else { (0.0, 1.0) };
        Estimate::probable(if known > 0.0 { share(known) } else { 0.0 }, lower, upper, confidence)
    }

    /// Returns the size of a part of the union from `count`, the number of its hashes in the
    /// sample. The part is certainly not larger than `most`.
    fn part(&self, count: f64, most: f64, confidence: Confidence) -> Estimate {
        let Some(sampled) = self.sampled else {
            return Estimate::exact(count);
        };
        let unlikely = (1.0 - confidence.level()) / 2.0;
        let lower = least_items(count, sampled, unlikely);
        let upper = most_items(count + 1.0, sampled, unlikely);
        Estimate::probable(count / sampled, lower, upper, confidence).limited_to(count, most)
    }
}

/// Returns how many numbers two ascending lists have in common.
fn common(first: &[u64], second: &[u64]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while let (Some(mine), Some(theirs)) = (first.get(i), second.get(j)) {
        // No branches on the hashes: they are random, so the processor could not predict them.
        count += usize::from(mine == theirs);
        i += usize::from(mine <= theirs);
        j += usize::from(theirs <= mine);
    }
    count
}

/// Scales a count among `judged` hashes to the number of independent trials that say as much. A
/// sample of a large share of the union says more than one of the same size from an endless union.
/// The limit keeps the sums short if nearly everything is known.
fn thinned(count: f64, sampled: f64, judged: f64) -> f64 {
    let weight = (1.0 / (1.0 - sampled)).min(MOST_TRIALS / judged).max(1.0);
    libm::floor(count * weight)
}

/// The most trials that are counted. With more, an interval is narrower than 0.0003.
const MOST_TRIALS: f64 = 67_108_864.0;
