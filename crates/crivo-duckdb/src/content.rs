//! How is a group held while it grows?
//!
//! There may be millions of groups, and most of them are small. A sketch of a set of hashes begins
//! as a short list of them and becomes a sketch when the list is no longer the smaller of the two:
//! a group of 100 different values takes about 900 bytes. The list is sorted and freed of
//! repetitions when it is full, and grows only if that made little room. A sketch of numbers begins
//! as a list of numbers.
//!
//! A sketch is shared between states, because DuckDB copies states where a plan is parallel and in
//! windows. It is copied when one of them changes it.

use std::borrow::Cow;
use std::sync::Arc;

use crivo::Estimate;
use crivo::codec::AnySketch;
use crivo::sketch::{Merge as _, Sketch as _};

use crate::api::{States, prefetch};
use crate::error::Result;
use crate::keys::HashedRows;

/// What was made of the rows of a group.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    /// Hashes in any order, some perhaps twice.
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

/// When a list of hashes becomes a sketch, and which.
pub(crate) struct Growth<'a> {
    /// The sketch without content.
    pub(crate) empty: &'a AnySketch,
    /// A list of more hashes becomes a sketch; 0 if the sketch is none of a set of hashes.
    pub(crate) most_few: usize,
}

/// The longest list for sketches that are larger.
pub(crate) const MOST_FEW: usize = 256;

/// Lists of up to this many hashes are searched before a hash is added.
const SEARCHED: usize = 8;

/// How many rows ahead memory is fetched.
const AHEAD: usize = 16;

/// Returns the longest list that a sketch begins as: none if it is no sketch of a set of hashes.
pub(crate) fn most_few(empty: &AnySketch) -> usize {
    let is_set = empty.clone().takes_hashes().is_some() && empty.answers_cardinality().is_some();
    if is_set { (empty.full_memory() / size_of::<u64>()).clamp(2, MOST_FEW) } else { 0 }
}

impl Content {
    /// Returns the sketch to change, which is made of the list if it is one still.
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

    /// Returns how many different keys the group has, with bounds, if the sketch counts them.
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
    /// If the sketch takes none.
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
    /// If the sketch takes none.
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

    /// Makes this the content of both.
    ///
    /// # Errors
    /// If the sketches do not merge.
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
/// Groups lie anywhere in memory, so the states of later rows are fetched while earlier ones are
/// changed.
///
/// # Errors
/// If the sketch takes no hashes.
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

/// The part of the input that the command line begins with.
const FIRST_PART: u64 = 0;

/// Returns a sketch that draws its coins as the part of the input says.
fn filled_with_numbers(empty: &AnySketch, numbers: &[f64], part: u64) -> AnySketch {
    let mut sketch = empty.clone();
    sketch.reseed(part);
    if let Some(taker) = sketch.takes_numbers() {
        taker.insert_numbers(numbers);
    }
    sketch
}

/// Returns a number for a part of the input, by its first values. Sketches of different threads are
/// merged, and their errors cancel out only if they draw different coins.
fn part_of(numbers: &[f64]) -> u64 {
    numbers.iter().take(8).fold(0, |part: u64, number| {
        (part ^ number.to_bits()).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31)
    })
}

/// Adds a hash to a list; returns false, and adds nothing, if the list has to become a sketch.
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
    // A list that stays nearly full would be sorted again and again.
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
