//! Combined filter: is it in one of these sets, or in all of them?
//!
//! **Question.** Is a key in the union or the intersection of sets whose filters have different
//! sizes, or are of different kinds? How many keys do two sets share, asked later?
//!
//! **Guarantee.** A key is taken for a member exactly if the filters it is made of say so: of a
//! union one of them, of an intersection all of them. So "no" stays certain. A key in none of the
//! sets is taken for a member of a union with at most the sum of the parts' rates, and of an
//! intersection with at most the least of them. A key that is in some sets of an intersection and
//! not in all is taken for a member at the rate of the others: [`CombinedFilter::rate_for_some`].
//!
//! **Idea.** Bits of filters of different sizes cannot be joined, because the keys that set them
//! are gone. So the filters are kept side by side, as a union of intersections. Filters of a union
//! that have the same sizes are joined bit for bit. Of an intersection both are kept, because how
//! many keys they share can be told from the two and not from the bits that they have in common.
//!
//! **When not to use it.** For many filters: build them with one size, and they stay one filter.

mod items;

use self::items::rate_of;
use super::{BlockedBloom, Bloom, CountingBloom};
use crate::codec::{
    AnySketch, Decode, Encode, Family, Header, Parameter, Parameters, Reader, Summary, Writer, open,
};
use crate::error::{Error, ErrorKind, Result};
use crate::estimate::Estimate;
use crate::keys::{Key, KeyBatch, KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{Capability, InsertHashes, Membership, Merge, Sketch as _, impl_sketch};

/// Filters side by side; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::membership::{Bloom, CombinedFilter};
///
/// let (mut few, mut many) = (Bloom::for_items(10, 1e-6)?, Bloom::for_items(10_000, 1e-6)?);
/// for name in ["ana", "rui"] { few.insert(name)?; }
/// for name in ["rui", "eva"] { many.insert(name)?; }
/// let union = CombinedFilter::union(few.clone().into(), many.clone().into())?;
/// assert!(union.contains("ana")? && union.contains("eva")? && !union.contains("gil")?);
/// let both = CombinedFilter::intersection(few.into(), many.into())?;
/// assert!(both.contains("rui")? && !both.contains("ana")? && !both.contains("eva")?);
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CombinedFilter {
    scheme: KeyScheme,
    /// A key is in there if all filters of one group say so.
    groups: Vec<Vec<AnySketch>>,
}

// ---- limits and sizing ----

impl CombinedFilter {
    /// The most filters that can be combined.
    pub const MOST_PARTS: usize = 64;

    /// Returns true for the kinds of filters that can be parts.
    fn is_part(family: Family) -> bool {
        [Bloom::FAMILY, BlockedBloom::FAMILY, CountingBloom::FAMILY].contains(&family)
    }
}

// ---- construction ----

impl CombinedFilter {
    /// Returns the filter of what is in one set or the other.
    ///
    /// # Errors
    /// If one is no filter, their schemes differ, or there are more than
    /// [`MOST_PARTS`](Self::MOST_PARTS).
    pub fn union(first: AnySketch, second: AnySketch) -> Result<Self> {
        let mut union = Self::of(first)?;
        union.merge(&Self::of(second)?)?;
        Ok(union)
    }

    /// Returns the filter of what is in both sets.
    ///
    /// # Errors
    /// If one is no filter, their schemes differ, or there are more than
    /// [`MOST_PARTS`](Self::MOST_PARTS).
    pub fn intersection(first: AnySketch, second: AnySketch) -> Result<Self> {
        let (first, second) = (Self::of(first)?, Self::of(second)?);
        first.scheme.require_same(second.scheme)?;
        let of_first = first.parts().count() * second.groups.len();
        check_parts(of_first + second.parts().count() * first.groups.len())?;
        // What is in one group of either: each with each.
        let pairs = first.groups.iter().flat_map(|one| second.groups.iter().map(move |other| (one, other)));
        let groups = pairs.map(|(one, other)| [one.as_slice(), other.as_slice()].concat()).collect();
        Ok(Self { scheme: first.scheme, groups })
    }

    /// A filter as a combined one.
    fn of(filter: AnySketch) -> Result<Self> {
        if let Some(combined) = filter.downcast_ref::<Self>() {
            return Ok(combined.clone());
        }
        if Self::is_part(filter.family()) {
            Ok(Self { scheme: filter.scheme(), groups: vec![vec![filter]] })
        } else {
            // Filters that take no hashes could not be added to, which a combined filter promises.
            let is_filter = filter.answers_membership().is_some();
            let missing = if is_filter { Capability::Hashes } else { Capability::Membership };
            Err(Error::unsupported(missing, filter.family()))
        }
    }

    fn parts(&self) -> impl Iterator<Item = &AnySketch> {
        self.groups.iter().flatten()
    }
}

fn check_parts(parts: usize) -> Result<()> {
    if parts <= CombinedFilter::MOST_PARTS {
        return Ok(());
    }
    let most = CombinedFilter::MOST_PARTS;
    let advice = "build the filters with one size, which can be joined into one";
    Err(Error::new(ErrorKind::InvalidParameter, "parts", format_args!("at most {most}"), parts, advice))
}

// ---- update ----

impl InsertHashes for CombinedFilter {
    /// Adds the key to the largest filter of a union; to all filters of an intersection.
    fn insert_hash(&mut self, hash: u64) {
        self.insert_hashes(&[hash]);
    }

    fn insert_hashes(&mut self, hashes: &[u64]) {
        let room = |group: &Vec<AnySketch>| match group.as_slice() {
            [part] => part.answers_membership().and_then(Membership::capacity).unwrap_or(u64::MAX),
            _ => 0,
        };
        if let Some(group) = self.groups.iter_mut().max_by_key(|group| room(group)) {
            for part in group.iter_mut().filter_map(|part| part.as_sketch_mut().takes_hashes()) {
                part.insert_hashes(hashes);
            }
        }
    }
}

// ---- query ----

impl CombinedFilter {
    /// Returns true if the key may be in the filter. `false` is certain.
    ///
    /// # Errors
    /// If the key is not of the filter's kind.
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> Result<bool> {
        Ok(self.contains_hash(self.scheme.hash(key)?))
    }

    /// Returns true if the key with this hash may be in the filter. `false` is certain.
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.groups.iter().any(|group| group.iter().all(|part| contains_hash(part, hash)))
    }

    /// Returns the chance that a key which is in some sets of an intersection, but not in all, is
    /// taken for a member; none if there is no intersection.
    pub fn rate_for_some(&self) -> Option<f64> {
        let several = self.groups.iter().filter(|group| group.len() > 1);
        several.flatten().map(rate_of).max_by(f64::total_cmp)
    }

    /// Returns true if certainly nothing is in there.
    pub fn is_empty(&self) -> bool {
        self.groups.iter().all(|group| group.iter().any(AnySketch::is_empty))
    }

    /// The number of filters.
    pub fn filters(&self) -> usize {
        self.parts().count()
    }

    /// Returns how keys are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Bytes of memory in use, the struct itself included.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.parts().map(AnySketch::memory).sum::<usize>()
    }

    /// The number of filters, and how many groups of them there are.
    pub fn parameters(&self) -> Parameters {
        vec![
            ("filters", Parameter::Count(self.parts().count() as u64)),
            ("united", Parameter::Count(self.groups.len() as u64)),
        ]
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        let rate = self.rate_for_some().map(|rate| ("rate_for_keys_of_some_sets", Parameter::Ratio(rate)));
        Summary {
            family: Self::FAMILY,
            parameters: self.parameters().into_iter().chain(rate).collect(),
            scheme: self.scheme,
            items: self.items(),
            fill: None,
            false_positive_rate: Some(self.false_positive_rate()),
            memory: self.memory(),
        }
    }
}

impl_sketch!(CombinedFilter, hashes, keys, membership);

impl Membership for CombinedFilter {
    fn contains_ref(&self, key: KeyRef<'_>) -> Result<bool> {
        Ok(self.contains_hash(self.scheme.hash_ref(key)?))
    }

    fn contains_batch(&self, batch: &KeyBatch<'_>, found: &mut Vec<bool>) -> Result<()> {
        let mut of_part = Vec::new();
        found.clear();
        found.resize(batch.len(), false);
        for group in &self.groups {
            let mut all = vec![true; batch.len()];
            for part in group {
                part.membership()?.contains_batch(batch, &mut of_part)?;
                all.iter_mut().zip(&of_part).for_each(|(all, found)| *all &= found);
            }
            found.iter_mut().zip(all).for_each(|(found, all)| *found |= all);
        }
        Ok(())
    }

    fn insert_new(&mut self, hashes: &[u64], fresh: &mut Vec<bool>) -> Result<()> {
        fresh.clear();
        for &hash in hashes {
            let is_new = !self.contains_hash(hash);
            fresh.push(is_new);
            if is_new {
                self.insert_hash(hash);
            }
        }
        Ok(())
    }

    fn intersection(&self, other: &AnySketch) -> Result<AnySketch> {
        Ok(Self::intersection(self.clone().into(), other.clone())?.into())
    }

    fn can_remove(&self) -> bool {
        false
    }

    fn subtract(&mut self, _: &AnySketch) -> Result<()> {
        Err(Capability::Removal.missing_in(self))
    }

    fn items(&self) -> Estimate {
        self.items()
    }

    fn capacity(&self) -> Option<u64> {
        // How many keys an intersection has says nothing about how full its parts are.
        let capacity = |group: &Vec<AnySketch>| match group.as_slice() {
            [part] => part.answers_membership().and_then(Membership::capacity),
            _ => None,
        };
        // There are at most 64 parts, and no stored capacity is above 2^43.
        self.groups.iter().map(capacity).sum()
    }

    fn false_positive_rate(&self) -> f64 {
        self.false_positive_rate()
    }
}

/// Asks a part about a hash of its scheme.
fn contains_hash(part: &AnySketch, hash: u64) -> bool {
    let (bloom, blocked) = (part.downcast_ref::<Bloom>(), part.downcast_ref::<BlockedBloom>());
    let counting = part.downcast_ref::<CountingBloom>();
    bloom.is_some_and(|filter| filter.contains_hash(hash))
        || blocked.is_some_and(|filter| filter.contains_hash(hash))
        || counting.is_some_and(|filter| filter.contains_hash(hash))
}

// ---- merge ----

impl CombinedFilter {
    /// Makes this the filter of what is in one or the other. Filters of the same sizes are joined
    /// bit for bit.
    ///
    /// # Errors
    /// If the schemes differ, or there are more than [`MOST_PARTS`](Self::MOST_PARTS); the filter
    /// is unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        let mut groups = self.groups.clone();
        for group in &other.groups {
            if groups.contains(group) {
                continue;
            }
            let fits = |mine: &[AnySketch]| match (mine, group.as_slice()) {
                ([mine], [part]) => mine.family() == part.family() && mine.parameters() == part.parameters(),
                _ => false,
            };
            match groups.iter().position(|mine| fits(mine)) {
                Some(at) => groups[at][0].merge(&group[0])?,
                None => groups.push(group.clone()),
            }
        }
        check_parts(groups.iter().map(Vec::len).sum())?;
        // One order, whichever came first.
        groups.sort_by_cached_key(|group| group.iter().map(AnySketch::encode).collect::<Vec<_>>());
        self.groups = groups;
        Ok(())
    }
}

impl Merge for CombinedFilter {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}

// ---- bytes ----

impl CombinedFilter {
    /// Returns the filter as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Returns the filter that the bytes hold.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a combined filter: see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for CombinedFilter {
    const FAMILY: Family = Family::CombinedFilter;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u32(self.groups.len() as u32);
        for group in &self.groups {
            writer.u32(group.len() as u32);
            group.iter().for_each(|part| writer.bytes(&part.encode()));
        }
    }
}

impl Decode for CombinedFilter {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let most = Self::MOST_PARTS;
        let in_range = |count: u32, field| {
            if (1..=most).contains(&(count as usize)) {
                return Ok(count);
            }
            Err(Error::contents(field, format_args!("1 to {most}"), count))
        };
        let mut groups = Vec::new();
        let mut parts = 0;
        for _ in 0..in_range(reader.u32("groups")?, "groups")? {
            let mut group = Vec::new();
            for _ in 0..in_range(reader.u32("filters of a group")?, "filters of a group")? {
                let (part, payload) = open(reader.envelope("filter")?)?;
                // A combined filter in another could go on for ever: it is refused before it is
                // read.
                if !Self::is_part(part.family) {
                    return Err(Error::contents("filter", "one that is not combined", part.family));
                }
                if part.scheme != header.scheme {
                    return Err(Error::contents(
                        "filter",
                        format_args!("keys of {}", header.scheme),
                        part.scheme,
                    ));
                }
                group.push(AnySketch::decode_opened(&part, payload)?);
                parts += 1;
                check_parts(parts)
                    .map_err(|error| Error::contents(error.field(), error.expected(), error.found()))?;
            }
            groups.push(group);
        }
        Ok(Self { scheme: header.scheme, groups })
    }
}
