//! The content of a group while rows are added.
//!
//! There may be millions of groups, and most of them are small. A sketch of a set of hashes begins
//! as a short list of hashes. It becomes a sketch when the list is no longer the smaller of the
//! two. A group of 100 different values takes about 900 bytes. A full list is sorted and
//! deduplicated, and grows only if that freed little room. A sketch of numbers begins as a list of
//! numbers.
//!
//! A sketch is shared between states, because DuckDB copies states in parallel plans and in
//! windows. It is copied when one of the states changes it.

use std::borrow::Cow;
use std::sync::Arc;

use crivo::Estimate;
use crivo::codec::AnySketch;
use crivo::sketch::{Merge as _, Sketch as _};

use crate::api::{States, prefetch};
use crate::error::Result;
use crate::keys::HashedRows;

/// The content of a group, made from its rows.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    /// Hashes in any order, possibly with duplicates.
    Few(Vec<u64>),
    /// Numbers in the order of their rows.
    Numbers(Vec<f64>),
    Sketch(Arc<AnySketch>),
}

impl Default for Content {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

/// The rule for turning a list into a sketch.
pub(crate) struct Growth<'a> {
    /// The empty sketch.
    pub(crate) empty: &'a AnySketch,
    /// The most hashes of a list before it becomes a sketch. 0 if the sketch is not one of a set of
    /// hashes.
    pub(crate) most_few: usize,
}

/// The greatest length of a list, for sketches that are larger than that.
pub(crate) const MOST_FEW: usize = 256;

/// Lists of up to this many hashes are searched for duplicates before a hash is added.
const SEARCHED: usize = 8;

/// The number of rows ahead for which memory is prefetched.
const AHEAD: usize = 16;

/// Returns the greatest length of the list that a sketch begins as: 0 if it is not a sketch of a
/// set of hashes.
pub(crate) fn most_few(empty: &AnySketch) -> usize {
    let is_set = empty.clone().takes_hashes().is_some() && empty.answers_cardinality().is_some();
    if is_set { (empty.full_memory() / size_of::<u64>()).clamp(2, MOST_FEW) } else { 0 }
}

impl Content {
    /// Returns the sketch for a change. A list is turned into a sketch first.
    pub(crate) fn sketch_mut(&mut self, growth: &Growth<'_>) -> &mut AnySketch {
        let made = match self {
            Self::Few(hashes) => Some(filled(growth.empty, hashes)),
            Self::Numbers(numbers) => Some(filled_with_numbers(growth.empty, numbers, part_of(numbers))),
            Self::Sketch(_) => None,
        };
        if let Some(made) = made {
            *self = Self::Sketch(Arc::new(made));
        }
        let Self::Sketch(sketch) = self else { unreachable!("a list was made a sketch above") };
        Arc::make_mut(sketch)
    }

    /// Returns the sketch of the group.
    pub(crate) fn sketch(&self, empty: &AnySketch) -> Cow<'_, AnySketch> {
        match self {
            Self::Few(hashes) => Cow::Owned(filled(empty, hashes)),
            Self::Numbers(numbers) => Cow::Owned(filled_with_numbers(empty, numbers, FIRST_PART)),
            Self::Sketch(sketch) => Cow::Borrowed(sketch),
        }
    }

    /// Returns the estimated number of different keys of the group, or `None` if the sketch does
    /// not count them.
    pub(crate) fn distinct(&mut self, empty: &AnySketch) -> Option<Estimate> {
        match self {
            Self::Few(hashes) => {
                let exact_up_to = empty.answers_cardinality()?.exact_up_to();
                compact(hashes);
                if hashes.len() as u64 <= exact_up_to {
                    return Some(Estimate::exact(hashes.len() as f64));
                }
                Some(filled(empty, hashes).answers_cardinality()?.distinct())
            }
            Self::Numbers(_) => None,
            Self::Sketch(sketch) => Some(sketch.answers_cardinality()?.distinct()),
        }
    }

    /// Adds hashes.
    ///
    /// # Errors
    /// If the sketch does not take hashes.
    pub(crate) fn insert_hashes(&mut self, mut hashes: &[u64], growth: &Growth<'_>) -> Result<()> {
        if let Self::Few(list) = self {
            while let Some((&hash, rest)) = hashes.split_first() {
                if !insert(list, hash, growth.most_few) {
                    break;
                }
                hashes = rest;
            }
        }
        if !hashes.is_empty() {
            self.sketch_mut(growth).hashes_mut()?.insert_hashes(hashes);
        }
        Ok(())
    }

    /// Adds numbers.
    ///
    /// # Errors
    /// If the sketch does not take numbers.
    pub(crate) fn insert_numbers(&mut self, numbers: &[f64], growth: &Growth<'_>) -> Result<()> {
        if let Self::Few(hashes) = self
            && hashes.is_empty()
        {
            *self = Self::Numbers(Vec::new());
        }
        match self {
            Self::Numbers(list) if list.len() + numbers.len() <= MOST_FEW => list.extend_from_slice(numbers),
            Self::Numbers(list) if list.is_empty() => {
                let made = filled_with_numbers(growth.empty, numbers, part_of(numbers));
                *self = Self::Sketch(Arc::new(made));
            }
            _ => self.sketch_mut(growth).numbers_mut()?.insert_numbers(numbers),
        }
        Ok(())
    }

    /// Merges another content into this one.
    ///
    /// # Errors
    /// If the sketches cannot be merged.
    pub(crate) fn merge(&mut self, other: &Self, growth: &Growth<'_>) -> Result<()> {
        match (&mut *self, other) {
            (mine, Self::Few(theirs)) => mine.insert_hashes(theirs, growth),
            (mine, Self::Numbers(theirs)) => mine.insert_numbers(theirs, growth),
            (Self::Sketch(mine), Self::Sketch(theirs)) => Ok(Arc::make_mut(mine).merge(theirs)?),
            (mine, Self::Sketch(theirs)) => match std::mem::replace(mine, Self::Sketch(Arc::clone(theirs))) {
                Self::Few(hashes) => self.insert_hashes(&hashes, growth),
                Self::Numbers(numbers) => self.insert_numbers(&numbers, growth),
                Self::Sketch(_) => Ok(()),
            },
        }
    }
}

/// Adds the hash of each row to the content of its group.
///
/// Groups are scattered in memory, so the states of later rows are prefetched while earlier ones
/// are changed.
///
/// # Errors
/// If the sketch does not take hashes.
pub(crate) fn insert_rows<S>(
    hashed: &HashedRows,
    states: &mut States<'_, S>,
    growth: &Growth<'_>,
    content_of: impl Fn(&mut S) -> &mut Content,
) -> Result<()> {
    if states.is_single() {
        return content_of(states.of_row(0)).insert_hashes(&hashed.hashes, growth);
    }
    let last = hashed.hashes.len();
    (0..last.min(2 * AHEAD)).for_each(|place| states.prefetch(hashed.row(place)));
    for (place, &hash) in hashed.hashes.iter().enumerate() {
        if place + 2 * AHEAD < last {
            states.prefetch(hashed.row(place + 2 * AHEAD));
        }
        if place + AHEAD < last
            && let Content::Few(list) = content_of(states.of_row(hashed.row(place + AHEAD)))
        {
            prefetch(list.as_ptr().wrapping_add(list.len()));
        }
        let content = content_of(states.of_row(hashed.row(place)));
        if let Content::Few(list) = content
            && insert(list, hash, growth.most_few)
        {
            continue;
        }
        content.sketch_mut(growth).hashes_mut()?.insert_hash(hash);
    }
    Ok(())
}

fn filled(empty: &AnySketch, hashes: &[u64]) -> AnySketch {
    let mut sketch = empty.clone();
    if let Some(set) = sketch.takes_hashes() {
        set.insert_hashes(hashes);
    }
    sketch
}

/// The part number with which the command line seeds its first sketch.
const FIRST_PART: u64 = 0;

/// Returns a sketch of the numbers. Its random seed is derived from `part`.
fn filled_with_numbers(empty: &AnySketch, numbers: &[f64], part: u64) -> AnySketch {
    let mut sketch = empty.clone();
    sketch.reseed(part);
    if let Some(taker) = sketch.takes_numbers() {
        taker.insert_numbers(numbers);
    }
    sketch
}

/// Derives a part number from the first values of a part. Sketches of different threads are merged,
/// and their errors cancel out only if they draw independent random bits.
fn part_of(numbers: &[f64]) -> u64 {
    numbers.iter().take(8).fold(0, |part: u64, number| {
        (part ^ number.to_bits()).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31)
    })
}

/// Adds a hash to a list. Returns false, and adds nothing, if the list has to become a sketch.
#[inline]
fn insert(list: &mut Vec<u64>, hash: u64, most: usize) -> bool {
    if list.len() <= SEARCHED && list.contains(&hash) {
        return true;
    }
    if list.len() < list.capacity() {
        list.push(hash);
        return true;
    }
    make_room(list, hash, most)
}

#[cold]
fn make_room(list: &mut Vec<u64>, hash: u64, most: usize) -> bool {
    compact(list);
    if list.binary_search(&hash).is_ok() {
        return true;
    }
    if list.len() >= most {
        return false;
    }
    // A list that stays nearly full would be sorted at nearly every insertion.
    if list.len() >= list.capacity() * 3 / 4 {
        let room = if list.len() < 64 { list.len() / 2 } else { list.len() / 4 };
        list.reserve_exact(room.max(4) + list.capacity() - list.len());
    }
    list.push(hash);
    true
}

fn compact(list: &mut Vec<u64>) {
    list.sort_unstable();
    list.dedup();
}
