//! `BloomFilter`: answers whether a key is in a set.

use crivo::{Confidence, Estimate};
use datasketches::bloom::{BloomFilter, BloomFilterBuilder};
use datasketches::hash::value::raw_bytes;

use super::border::{MOST_EMPTY_BYTES, caught, u32_at};
use crate::{Error, Result};

const KIND: &str = "Bloom";
/// The flag of a filter that is stored without its bits.
const EMPTY: u8 = 1 << 2;
/// The most bits of a filter, which is a gibibyte.
const MOST_BITS: f64 = (1_u64 << 33) as f64;

/// A set with false positives, with the hash of DataSketches (XXH64).
///
/// crivo's own filters have other bytes. They derive positions so that two keys may share some of
/// them, but never a whole row.
#[derive(Debug, Clone, PartialEq)]
pub struct Bloom(BloomFilter);

impl Bloom {
    /// Returns an empty filter for this number of distinct keys, with this false positive rate.
    ///
    /// # Errors
    /// If there are no keys, if the rate is not between 0 and 1, or if the filter takes more than a
    /// gibibyte.
    pub fn for_items(items: u64, false_positive_rate: f64) -> Result<Self> {
        if items == 0 {
            return Err(Error::setting("items", "1 or more", items));
        }
        if !(false_positive_rate > 0.0 && false_positive_rate < 1.0) {
            return Err(Error::setting(
                "false_positive_rate",
                "a share between 0 and 1",
                false_positive_rate,
            ));
        }
        let ln_2 = std::f64::consts::LN_2;
        let bits = -(items as f64) * false_positive_rate.ln() / (ln_2 * ln_2);
        if bits > MOST_BITS {
            let allowed = "as many as fit in a gibibyte at this false_positive_rate";
            return Err(Error::setting("items", allowed, items));
        }
        let built = BloomFilterBuilder::with_accuracy(items, false_positive_rate).build();
        built.map(Self).map_err(|cause| Error::setting("items", "a filter that can be stored", cause))
    }

    /// Adds text or bytes. Empty text is not added.
    pub fn insert_bytes(&mut self, key: &[u8]) {
        if !key.is_empty() {
            self.0.insert(raw_bytes::from_slice(key));
        }
    }

    /// Adds an integer. Integers from 2^63 on become the negative ones of the same bits.
    pub fn insert_integer(&mut self, key: u64) {
        self.0.insert(key.cast_signed());
    }

    /// Returns true if the filter may contain text or bytes; `false` is certain.
    pub fn contains_bytes(&self, key: &[u8]) -> bool {
        !key.is_empty() && self.0.contains(&raw_bytes::from_slice(key))
    }

    /// Returns true if the filter may contain an integer; `false` is certain.
    pub fn contains_integer(&self, key: u64) -> bool {
        self.0.contains(&key.cast_signed())
    }

    /// Returns true if nothing was added.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of bits.
    pub fn bits(&self) -> u64 {
        self.0.capacity() as u64
    }

    /// Returns the number of hashes of a key.
    pub fn hashes(&self) -> u16 {
        self.0.num_hashes()
    }

    /// Returns the false positive rate at the present fill.
    pub fn false_positive_rate(&self) -> f64 {
        self.0.estimated_fpp()
    }

    /// Returns the number of distinct keys, with bounds at 95 %. If all bits are set, there is only
    /// a lower bound.
    pub fn items(&self) -> Estimate {
        let (bits, set, hashes) = (self.bits() as f64, self.0.bits_used() as f64, f64::from(self.hashes()));
        if set == 0.0 {
            return Estimate::exact(0.0);
        }
        let of_set =
            |set: f64| if set >= bits { f64::INFINITY } else { -bits / hashes * (-set / bits).ln_1p() };
        // The number of set bits varies less than a binomial distribution with this share.
        let deviation = 1.96 * (set * (1.0 - set / bits)).sqrt() + 1.0;
        let (least, most) = (of_set((set - deviation).max(0.0)), of_set(set + deviation));
        let value = if set >= bits { least } else { of_set(set) };
        Estimate::probable(value, least.min(value), most.max(value), Confidence::P95)
    }

    /// Merges `other`, so that this filter has the keys of both.
    ///
    /// # Errors
    /// If the two differ in their number of bits or hashes, or in their seed.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.0.union(&other.0).map_err(|cause| Error::Incompatible(cause.to_string()))
    }

    /// Encodes the filter as other systems read it.
    pub fn encode(&self) -> Vec<u8> {
        self.0.serialize()
    }

    /// Decodes the filter that any system wrote.
    ///
    /// # Errors
    /// If the bytes are not such a filter. They have no checksum.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let is_empty = bytes.get(3).is_some_and(|flags| flags & EMPTY != 0);
        let words = u64::from(u32_at(bytes, 16).unwrap_or(0));
        if is_empty && words.saturating_mul(8) > MOST_EMPTY_BYTES {
            return Err(Error::bytes(
                KIND,
                format_args!("an empty filter of {words} words, and no bits of it"),
            ));
        }
        caught(KIND, || BloomFilter::deserialize(bytes).map(Self).map_err(|cause| Error::bytes(KIND, cause)))
    }
}
