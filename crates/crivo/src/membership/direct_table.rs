// This file is long because the documentation and the examples of its public functions stand in it.

//! Direct table: is it in there, for sure, one bit for each thing there could be.
//!
//! **Question.** Which of the integers `0..universe` are in a set? What do two such sets share, and
//! how alike are they?
//!
//! **Guarantee.** Exact: no false positives, no estimate. Memory is `universe/8` bytes, however
//! many are in the set.
//!
//! **Idea.** Each integer of the universe has its own bit. Membership is one memory access; union,
//! intersection and difference take 64 integers at a time, and so does the Jaccard similarity
//! `|A ∩ B| / |A ∪ B|`.
//!
//! **When not to use it.** When the keys are texts, or few integers from a wide range:
//! a [`Bloom`](super::Bloom) filter takes ten bits a key whatever the keys are, and a hash set is
//! smaller below one key in a hundred. It pays for identifiers that were given out in order: users,
//! films, ports, days.
//!
//! **Sources.** The bitmap is older than its papers.
//!
//! **Where this differs from the filters beside it.** Nothing is hashed: the table needs the key
//! itself, an integer, and the seed of its scheme is only a label.

use std::ops::RangeInclusive;

use crate::codec::{
    AnySketch, Decode, Encode, Family, Header, Parameter, Parameters, Reader, Summary, Writer,
};
use crate::cpu;
use crate::error::{Error, ErrorKind, Result};
use crate::estimate::Estimate;
use crate::keys::{Key, KeyBatch, KeyKind, KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{Capability, InsertKeys, Membership, Merge, impl_sketch};

/// A set of integers below a limit; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::membership::DirectTable;
///
/// let (mut ana, mut rui) = (DirectTable::new(1682)?, DirectTable::new(1682)?);
/// for film in [3, 50, 181, 1681] {
///     ana.insert(&film)?;
/// }
/// for film in [50, 181] {
///     rui.insert(&film)?;
/// }
/// assert_eq!(ana.jaccard(&rui)?, 0.5);
/// ana.subtract(&rui)?;
/// assert_eq!(ana.iter().collect::<Vec<_>>(), [3, 1681]);
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectTable {
    scheme: KeyScheme,
    universe: u64,
    /// The number of bits that are set.
    len: u64,
    /// Integer `i` is bit `i mod 64` of word `i / 64`; bits past the universe stay zero.
    words: Vec<u64>,
}

// ---- limits and sizing ----

/// How many keys of a batch are fetched from memory at once.
const CHUNK: usize = 64;

impl DirectTable {
    /// How many integers a table may be made for; the largest takes 8 GiB.
    pub const UNIVERSES: RangeInclusive<u64> = 1..=1 << 36;

    fn words_for(universe: u64) -> u64 {
        universe.div_ceil(64)
    }
}

// ---- construction ----

impl DirectTable {
    /// Creates an empty set of integers among `0..universe`.
    ///
    /// # Errors
    /// If the universe is not in [`UNIVERSES`](Self::UNIVERSES), or its memory cannot be allocated.
    pub fn new(universe: u64) -> Result<Self> {
        Self::with_scheme(universe, KeyScheme::integers())
    }

    /// Creates an empty set for batches of the given scheme, whose seed is a label here: nothing is
    /// hashed.
    ///
    /// # Errors
    /// If the scheme's keys are not integers, the universe is not in
    /// [`UNIVERSES`](Self::UNIVERSES), or its memory cannot be allocated.
    pub fn with_scheme(universe: u64, scheme: KeyScheme) -> Result<Self> {
        if scheme.kind() != KeyKind::Integer {
            return Err(Error::incompatible(
                "key kind",
                KeyKind::Integer,
                scheme.kind(),
                "a direct table holds integers: use a Bloom filter for other keys",
            ));
        }
        if !Self::UNIVERSES.contains(&universe) {
            let (least, most) = Self::UNIVERSES.into_inner();
            return Err(Error::parameter("universe", format_args!("{least} to {most}"), universe));
        }
        Ok(Self { scheme, universe, len: 0, words: cpu::zeroed(Self::words_for(universe))? })
    }
}

// ---- update ----

impl DirectTable {
    /// Adds one integer, and says whether it is new.
    ///
    /// # Errors
    /// If the key is no integer, or not below the universe.
    ///
    /// ```
    /// use crivo::membership::DirectTable;
    /// let mut ports = DirectTable::new(65_536)?;
    /// assert!(ports.insert(&443)?);
    /// assert!(!ports.insert(&443)?);
    /// assert_eq!(
    ///     ports.insert(&-1).unwrap_err().to_string(),
    ///     "key: expected an integer of the universe, 0 to 65535, found -1 \
    ///      (build the table for a larger universe)"
    /// );
    /// # Ok::<(), crivo::Error>(())
    /// ```
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool> {
        let key = self.require_inside(self.integer(key.to_ref())?)?;
        Ok(self.set(key))
    }

    /// Adds a batch of integers.
    ///
    /// # Errors
    /// If the batch has another scheme, or one of its keys is not below the universe; nothing is
    /// added then.
    pub fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        self.scheme.require_same_keys(batch.scheme())?;
        for (key, _) in batch.iter() {
            self.require_inside(self.integer(key)?)?;
        }
        let mut keys = batch.iter();
        let mut chunk = [0; CHUNK];
        loop {
            let mut filled = 0;
            for (place, (key, _)) in chunk.iter_mut().zip(&mut keys) {
                *place = self.integer(key)?;
                cpu::prefetch(&self.words, (*place / 64) as usize);
                filled += 1;
            }
            chunk[..filled].iter().for_each(|&key| _ = self.set(key));
            if filled < CHUNK {
                return Ok(());
            }
        }
    }

    /// Takes one integer out.
    ///
    /// # Errors
    /// If the key is no integer, or is not in the set ([`ErrorKind::Absent`]).
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Result<()> {
        let key = self.integer(key.to_ref())?;
        if !self.has(key) {
            return Err(Error::new(
                ErrorKind::Absent,
                "key",
                "one that is in the set",
                KeyRef::Integer(key),
                "it was never inserted, or was removed already",
            ));
        }
        self.words[(key / 64) as usize] &= !(1 << (key % 64));
        self.len -= 1;
        Ok(())
    }

    fn integer(&self, key: KeyRef<'_>) -> Result<u64> {
        match key {
            KeyRef::Integer(integer) => Ok(integer),
            other => Err(self.scheme.wrong_kind(other.kind())),
        }
    }

    fn require_inside(&self, key: u64) -> Result<u64> {
        if key < self.universe { Ok(key) } else { Err(self.outside(key)) }
    }

    #[cold]
    fn outside(&self, key: u64) -> Error {
        Error::incompatible(
            "key",
            format_args!("an integer of the universe, 0 to {}", self.universe - 1),
            // Written with its sign: a number far too large is rarer than a negative one.
            KeyRef::Integer(key),
            "build the table for a larger universe",
        )
    }

    /// Sets the bit of a key below the universe; whether it was clear.
    #[inline]
    fn set(&mut self, key: u64) -> bool {
        let word = &mut self.words[(key / 64) as usize];
        let is_new = *word >> (key % 64) & 1 == 0;
        *word |= 1 << (key % 64);
        self.len += u64::from(is_new);
        is_new
    }
}

impl InsertKeys for DirectTable {
    fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        self.insert_batch(batch)
    }
}

// ---- query ----

impl DirectTable {
    /// Returns true if the integer is in the set. One outside the universe is not.
    ///
    /// # Errors
    /// If the key is no integer.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> Result<bool> {
        self.integer(key.to_ref()).map(|key| self.has(key))
    }

    /// Answers for a batch of integers, in their order, replacing what `found` held.
    ///
    /// # Errors
    /// If the batch has another scheme; `found` is unchanged then.
    pub fn contains_batch(&self, batch: &KeyBatch<'_>, found: &mut Vec<bool>) -> Result<()> {
        self.scheme.require_same_keys(batch.scheme())?;
        found.clear();
        found.reserve(batch.len());
        for (key, _) in batch.iter() {
            found.push(self.has(self.integer(key)?));
        }
        Ok(())
    }

    #[inline]
    fn has(&self, key: u64) -> bool {
        key < self.universe && self.words[(key / 64) as usize] >> (key % 64) & 1 == 1
    }

    /// The integers of the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.words.iter().zip(0_u64..).flat_map(|(&word, position)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(64 * position + u64::from(bit))
            })
        })
    }

    /// Returns how many integers are in the set.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns true if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns how many integers are in the set, as every sketch says it: exact here.
    pub fn items(&self) -> Estimate {
        Estimate::exact(self.len as f64)
    }

    /// The share of the universe that is in the set.
    pub fn fill(&self) -> f64 {
        self.len as f64 / self.universe as f64
    }

    /// The integers that can be in the set are those below this.
    pub fn universe(&self) -> u64 {
        self.universe
    }

    /// The kind of key, and the seed that batches are labelled with.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Bytes of memory in use, the struct itself included.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.words)
    }

    /// The sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![("universe", Parameter::Count(self.universe))]
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        Summary {
            family: Self::FAMILY,
            parameters: self.parameters(),
            scheme: self.scheme,
            items: self.items(),
            fill: Some(self.fill()),
            false_positive_rate: Some(0.0),
            memory: self.memory(),
        }
    }
}

impl_sketch!(DirectTable, keys, membership);

impl Membership for DirectTable {
    fn contains_ref(&self, key: KeyRef<'_>) -> Result<bool> {
        self.integer(key).map(|key| self.has(key))
    }

    fn contains_batch(&self, batch: &KeyBatch<'_>, found: &mut Vec<bool>) -> Result<()> {
        self.contains_batch(batch, found)
    }

    fn insert_new(&mut self, _: &[u64], _: &mut Vec<bool>) -> Result<()> {
        Err(Capability::Hashes.missing_in(self))
    }

    fn intersection(&self, other: &AnySketch) -> Result<AnySketch> {
        let mut both = self.clone();
        both.intersect(other.require_ref()?)?;
        Ok(both.into())
    }

    fn can_remove(&self) -> bool {
        true
    }

    fn subtract(&mut self, other: &AnySketch) -> Result<()> {
        let other = other.require_ref::<Self>()?;
        self.require_same(other)?;
        if let Some(key) = self.first_missing(other) {
            return Err(Error::new(
                ErrorKind::Absent,
                "key",
                "an integer of the set",
                key,
                "only a set all of whose integers are in this one can be subtracted",
            ));
        }
        self.subtract(other)
    }

    fn items(&self) -> Estimate {
        self.items()
    }

    fn capacity(&self) -> Option<u64> {
        None
    }

    fn false_positive_rate(&self) -> f64 {
        0.0
    }
}

// ---- merge ----

impl DirectTable {
    /// Makes this the union of both sets.
    ///
    /// # Errors
    /// If universe or scheme differ; the set is unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.combine(other, |mine, theirs| mine | theirs)
    }

    /// Keeps what is in both sets.
    ///
    /// # Errors
    /// If universe or scheme differ; the set is unchanged then.
    pub fn intersect(&mut self, other: &Self) -> Result<()> {
        self.combine(other, |mine, theirs| mine & theirs)
    }

    /// Takes out what is in the other set, which may hold more than that. Unlike
    /// [`Membership::subtract`], it does not refuse a set that is no part of this one.
    ///
    /// # Errors
    /// If universe or scheme differ; the set is unchanged then.
    pub fn subtract(&mut self, other: &Self) -> Result<()> {
        self.combine(other, |mine, theirs| mine & !theirs)
    }

    /// The Jaccard similarity, `|A ∩ B| / |A ∪ B|`: 1 for equal sets, two empty ones among them,
    /// and 0 for sets that share nothing.
    ///
    /// # Errors
    /// If universe or scheme differ.
    pub fn jaccard(&self, other: &Self) -> Result<f64> {
        self.require_same(other)?;
        let shared: u64 = self.words.iter().zip(&other.words).map(|(a, b)| count_ones(a & b)).sum();
        let united = self.len + other.len - shared;
        Ok(if united == 0 { 1.0 } else { shared as f64 / united as f64 })
    }

    /// Returns the least integer of the other set that is not in this one.
    fn first_missing(&self, other: &Self) -> Option<u64> {
        let missing = self.words.iter().zip(&other.words).map(|(mine, theirs)| theirs & !mine);
        let (word, position) = missing.zip(0_u64..).find(|(word, _)| *word != 0)?;
        Some(64 * position + u64::from(word.trailing_zeros()))
    }

    fn combine(&mut self, other: &Self, operation: impl Fn(u64, u64) -> u64) -> Result<()> {
        self.require_same(other)?;
        self.len = 0;
        for (mine, &theirs) in self.words.iter_mut().zip(&other.words) {
            *mine = operation(*mine, theirs);
            self.len += count_ones(*mine);
        }
        Ok(())
    }

    fn require_same(&self, other: &Self) -> Result<()> {
        self.scheme.require_same_keys(other.scheme)?;
        if self.universe == other.universe {
            Ok(())
        } else {
            let advice = "build both for the same universe";
            Err(Error::incompatible("universe", self.universe, other.universe, advice))
        }
    }
}

impl Merge for DirectTable {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}

fn count_ones(word: u64) -> u64 {
    u64::from(word.count_ones())
}

// ---- bytes ----

impl DirectTable {
    /// Returns the set as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Returns the set that the bytes hold.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a direct table: see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for DirectTable {
    const FAMILY: Family = Family::DirectTable;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u64(self.universe);
        writer.u64s(self.words.iter().copied());
    }
}

impl Decode for DirectTable {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let kind = header.scheme.kind();
        if kind != KeyKind::Integer {
            return Err(Error::contents("key kind", KeyKind::Integer, kind));
        }
        let universe = reader.u64("universe")?;
        if !Self::UNIVERSES.contains(&universe) {
            let (least, most) = Self::UNIVERSES.into_inner();
            return Err(Error::contents("universe", format_args!("{least} to {most}"), universe));
        }
        let stored = reader.u64s("bits", Self::words_for(universe))?;
        let mut table = Self::with_scheme(universe, header.scheme)?;
        for (word, bits) in table.words.iter_mut().zip(stored) {
            *word = bits;
            table.len += count_ones(bits);
        }
        let past_the_end = table.words.last().map_or(0, |word| word >> ((universe - 1) % 64) >> 1);
        if past_the_end == 0 {
            Ok(table)
        } else {
            Err(Error::contents("bits", "zeros past the universe", format_args!("{past_the_end:#x}")))
        }
    }
}
