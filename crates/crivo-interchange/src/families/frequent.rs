//! `FrequentItems`: finds the most frequent keys.

use std::hash::{Hash, Hasher};

use crivo::Estimate;
use crivo::keys::OwnedKey;
use datasketches::codec::{SketchBytes, SketchSlice};
use datasketches::error::{Error as ForeignError, ErrorKind};
use datasketches::frequencies::{ErrorType, FrequentItemValue, FrequentItemsSketch};

use super::border::{caught, u32_at, u64_at};
use crate::{Error, FrequentItem, Result};

const KIND: &str = "frequent items";
/// The base-2 logarithm of the largest map. Forged keys that all have one slot take quadratic time,
/// which is about a second in a map of this size.
const MOST_LG_SIZE: u8 = 16;
/// The greatest sum of weights, because Java's readers take counts for signed numbers.
const MOST_WEIGHT: u64 = i64::MAX.cast_unsigned();
/// The number of bytes before the counts, if there are counts.
const HEADER: usize = 32;
const LG_CURRENT_PLACE: usize = 4;

/// Text or bytes as a key, stored as other systems store text: a length of 32 bits, and the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Text(Box<[u8]>);

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(&self.0);
    }
}

impl FrequentItemValue for Text {
    fn serialize_size(item: &Self) -> usize {
        4 + item.0.len()
    }

    fn serialize_value(&self, bytes: &mut SketchBytes) {
        bytes.write_u32_le(self.0.len() as u32);
        bytes.write(&self.0);
    }

    fn deserialize_value(cursor: &mut SketchSlice<'_>) -> Result<Self, ForeignError> {
        let short = |_| wrong_text();
        let length = cursor.read_u32_le().map_err(short)? as usize;
        let Some(text) = cursor.remaining().get(..length).map(Box::from) else {
            return Err(wrong_text());
        };
        cursor.advance(length as u64);
        Ok(Self(text))
    }
}

fn wrong_text() -> ForeignError {
    ForeignError::new(ErrorKind::InvalidData, "a text that ends too soon")
}

#[derive(Debug, Clone)]
enum Items {
    Texts(FrequentItemsSketch<Text>),
    Integers(FrequentItemsSketch<i64>),
}

/// Evaluates the same expression for keys of either kind.
macro_rules! of_items {
    ($items:expr, $sketch:ident => $done:expr) => {
        match $items {
            Items::Texts($sketch) => $done,
            Items::Integers($sketch) => $done,
        }
    };
}

/// Counts the most frequent keys, which are texts or integers, in a map of 2^`lg_size` slots. Its
/// bounds are certain.
///
/// Texts of 4 GiB or more are not keys. Integers from 2^63 on are stored as the negative ones of
/// the same bits.
#[derive(Debug, Clone)]
pub struct FrequentItems(Items);

impl FrequentItems {
    /// Returns an empty sketch of texts, or of integers. It has room for three quarters of
    /// 2^`lg_size` keys.
    ///
    /// # Errors
    /// If `lg_size` is not 3 to 16.
    pub fn new(lg_size: u8, of_integers: bool) -> Result<Self> {
        if !(3..=MOST_LG_SIZE).contains(&lg_size) {
            return Err(Error::setting("lg_size", "3 to 16", lg_size));
        }
        let wrong = |cause| Error::setting("lg_size", "3 to 16", cause);
        let size = 1 << lg_size;
        Ok(Self(if of_integers {
            Items::Integers(FrequentItemsSketch::new(size).map_err(wrong)?)
        } else {
            Items::Texts(FrequentItemsSketch::new(size).map_err(wrong)?)
        }))
    }

    /// Returns true if the keys are integers.
    pub fn of_integers(&self) -> bool {
        matches!(self.0, Items::Integers(_))
    }

    /// Adds text or bytes with a weight. Does nothing if they are empty or the keys are integers.
    ///
    /// # Errors
    /// If the weights add up to 2^63 or more. Then nothing is added.
    pub fn add_bytes(&mut self, key: &[u8], weight: u64) -> Result<()> {
        self.require_room(weight)?;
        if let Items::Texts(sketch) = &mut self.0
            && !key.is_empty()
            && u32::try_from(key.len()).is_ok()
        {
            sketch.update_with_count(Text(key.into()), weight);
        }
        Ok(())
    }

    /// Adds an integer with a weight. Does nothing if the keys are texts.
    ///
    /// # Errors
    /// If the weights add up to 2^63 or more. Then nothing is added.
    pub fn add_integer(&mut self, key: u64, weight: u64) -> Result<()> {
        self.require_room(weight)?;
        if let Items::Integers(sketch) = &mut self.0 {
            sketch.update_with_count(key.cast_signed(), weight);
        }
        Ok(())
    }

    fn require_room(&self, weight: u64) -> Result<()> {
        let total = self.total().checked_add(weight);
        total.filter(|total| *total <= MOST_WEIGHT).map_or(Err(Error::TooHeavy), |_| Ok(()))
    }

    /// Returns the count of text or bytes, with certain bounds.
    pub fn frequency_bytes(&self, key: &[u8]) -> Estimate {
        match &self.0 {
            Items::Texts(sketch) if !key.is_empty() => {
                let key = Text(key.into());
                self.between(sketch.lower_bound(&key), sketch.upper_bound(&key))
            }
            _ => Estimate::exact(0.0),
        }
    }

    /// Returns the count of an integer, with certain bounds.
    pub fn frequency_integer(&self, key: u64) -> Estimate {
        match &self.0 {
            Items::Integers(sketch) => {
                let key = key.cast_signed();
                self.between(sketch.lower_bound(&key), sketch.upper_bound(&key))
            }
            Items::Texts(_) => Estimate::exact(0.0),
        }
    }

    fn between(&self, lower: u64, upper: u64) -> Estimate {
        let value = if lower == 0 { 0.0 } else { upper as f64 };
        Estimate::certain(value, lower as f64, upper.min(self.total()) as f64)
    }

    /// Returns the keys with the highest counts, at most `most` of them. They are sorted by
    /// descending upper bound, and then by key.
    pub fn top(&self, most: usize) -> Vec<FrequentItem> {
        let mut items = match &self.0 {
            Items::Texts(sketch) => rows(sketch, |text| OwnedKey::Bytes(text.0.clone())),
            Items::Integers(sketch) => rows(sketch, |integer| OwnedKey::Integer(integer.cast_unsigned())),
        };
        items.sort_by(|a, b| b.upper.cmp(&a.upper).then_with(|| a.key.cmp(&b.key)));
        items.truncate(most);
        items
    }

    /// Returns the sum of all weights.
    pub fn total(&self) -> u64 {
        of_items!(&self.0, sketch => sketch.total_weight())
    }

    /// Returns the greatest possible count of a key that is not in the map.
    pub fn max_error(&self) -> u64 {
        of_items!(&self.0, sketch => sketch.maximum_error())
    }

    /// Returns the base-2 logarithm of the size of the map.
    pub fn lg_size(&self) -> u8 {
        of_items!(&self.0, sketch => sketch.lg_max_map_size())
    }

    /// Returns the number of keys in the map.
    pub fn len(&self) -> usize {
        of_items!(&self.0, sketch => sketch.num_active_items())
    }

    /// Returns true if nothing was added.
    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    /// Merges `other`, so that this is the sketch of both streams, in the size of this one.
    ///
    /// # Errors
    /// If one sketch has texts and the other integers, or the weights add up to 2^63 or more.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.require_room(other.total())?;
        if other.is_empty() || self.is_empty() && self.of_integers() != other.of_integers() {
            // The bytes of an empty sketch do not tell the kind of its keys.
            if !other.is_empty() {
                *self = other.clone();
            }
            return Ok(());
        }
        match (&mut self.0, &other.0) {
            (Items::Texts(mine), Items::Texts(theirs)) => mine.merge(theirs),
            (Items::Integers(mine), Items::Integers(theirs)) => mine.merge(theirs),
            _ => {
                return Err(Error::Incompatible(
                    "keys: expected the same kind in both, found texts and integers".into(),
                ));
            }
        }
        Ok(())
    }

    /// Encodes the sketch as other systems read it.
    pub fn encode(&self) -> Vec<u8> {
        of_items!(&self.0, sketch => sketch.serialize())
    }

    /// Decodes the sketch that any system wrote, of texts or of integers of 64 bits.
    ///
    /// The bytes do not tell the kind of the keys. They are taken for texts if lengths and texts
    /// fill the bytes exactly, and no text has a NUL.
    ///
    /// # Errors
    /// If the bytes are not such a sketch, or its map has more than 2^16 slots. They have no
    /// checksum.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let Some(items) = u32_at(bytes, 8).filter(|_| bytes.len() > HEADER) else {
            return Self::decode_as(bytes, false);
        };
        Self::decode_as(bytes, !are_texts(bytes, items as usize))
    }

    /// Decodes a sketch whose keys are known to be integers, or texts.
    ///
    /// # Errors
    /// The errors of [`decode`](Self::decode).
    pub fn decode_as(bytes: &[u8], of_integers: bool) -> Result<Self> {
        let wrong = |cause: &str| Error::bytes(KIND, cause);
        let &[_, _, _, lg_most, ..] = bytes else { return Err(wrong("fewer than 8 bytes")) };
        if lg_most > MOST_LG_SIZE {
            return Err(Error::bytes(
                KIND,
                format_args!("a map of 2^{lg_most} places, and 2^16 are the most that is read"),
            ));
        }
        // The stored present size of the map matters only for the decoder's allocation, because the
        // map grows with its keys.
        let mut bytes = bytes.to_vec();
        let items = u64::from(u32_at(&bytes, 8).unwrap_or(0));
        let needed = (3..MOST_LG_SIZE).find(|lg| (3_u64 << lg) / 4 >= items).unwrap_or(MOST_LG_SIZE);
        if let Some(lg_current) = bytes.get_mut(LG_CURRENT_PLACE) {
            *lg_current = (*lg_current).min(needed);
        }
        let sketch = caught(KIND, || {
            let wrong = |cause: ForeignError| Error::bytes(KIND, cause);
            Ok(Self(if of_integers {
                Items::Integers(FrequentItemsSketch::deserialize(&bytes).map_err(wrong)?)
            } else {
                Items::Texts(FrequentItemsSketch::deserialize(&bytes).map_err(wrong)?)
            }))
        })?;
        // Every decrement of all counts was taken from at least one of them, so later additions
        // cannot overflow.
        let counts = bytes.get(HEADER..).unwrap_or_default().as_chunks::<8>().0.iter().take(items as usize);
        let kept = counts.map(|count| u128::from(u64::from_le_bytes(*count))).sum::<u128>();
        let kept = if sketch.is_empty() { 0 } else { kept };
        if kept + u128::from(sketch.max_error()) > u128::from(sketch.total()) {
            return Err(wrong("counts that are more than their total"));
        }
        if sketch.total() > MOST_WEIGHT {
            return Err(wrong("weights that add up to 2^63 or more"));
        }
        Ok(sketch)
    }
}

fn rows<T: Eq + Hash + Clone>(
    sketch: &FrequentItemsSketch<T>,
    key_of: impl Fn(&T) -> OwnedKey,
) -> Vec<FrequentItem> {
    let all = sketch.frequent_items_with_threshold(ErrorType::NoFalseNegatives, 0);
    let item = |row: datasketches::frequencies::Row<T>| FrequentItem {
        key: key_of(row.item()),
        lower: row.lower_bound(),
        upper: row.upper_bound(),
    };
    all.into_iter().map(item).collect()
}

/// Returns true if this number of texts with their lengths fills the bytes after the counts.
fn are_texts(bytes: &[u8], items: usize) -> bool {
    let mut place = HEADER.saturating_add(items.saturating_mul(8));
    for _ in 0..items {
        let Some(length) = u32_at(bytes, place).map(|length| length as usize) else { return false };
        let start = place + 4;
        match bytes.get(start..).and_then(|rest| rest.get(..length)) {
            Some(text) if !text.contains(&0) => place = start + length,
            _ => return false,
        }
    }
    place == bytes.len() && u64_at(bytes, 16).is_some()
}
