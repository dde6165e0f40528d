//! The first reading: every member becomes a few band keys, and is forgotten.
//!
//! Each thread numbers the members it meets by itself, because where a member stands in the collection
//! is known only when everything has been read; [`Numbers`] then turns one into the other.
//! A member whose content a thread has met before is not signed again: its twin stands for both.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crivo::similarity::Bands;
use crivo::similarity::min_hash::{compact, sign};
use hashbrown::HashTable;

use crate::error::{Error, Result};
use crate::settings::Settings;
use crate::source::{Member, Source};
use crate::spill::{PARTITIONS, Partitions, Spill, Writer};

/// A band key, and who has it: the thread's number in the high half, the member's in the low.
pub(crate) type BandKey = (u64, u64);

/// Everything the first reading leaves behind. Vectors have one entry a member, in the order of
/// the collection.
pub(crate) struct Signed {
    pub(crate) places: Vec<u64>,
    pub(crate) lengths: Vec<u32>,
    /// How many hashes each set has, repetitions included.
    pub(crate) sizes: Vec<u32>,
    /// The first member with the same content: often the member itself.
    pub(crate) twins: Vec<u32>,
    pub(crate) too_short: u64,
    pub(crate) keys: Partitions<BandKey>,
    pub(crate) numbers: Numbers,
    pub(crate) signatures: Signatures,
}

/// From a thread's own number of a member to its number in the collection.
pub(crate) struct Numbers(Vec<Vec<u32>>);

impl Numbers {
    #[inline]
    pub(crate) fn of(&self, member: u64) -> u32 {
        self.0[(member >> 32) as usize][member as u32 as usize]
    }
}

/// The shortened signatures, where they are to be trusted; empty otherwise.
pub(crate) struct Signatures {
    slots: Vec<Vec<u32>>,
    /// For each member the thread that signed it, and the number of its signature there.
    owners: Vec<(u32, u32)>,
    hashes: usize,
}

impl Signatures {
    /// The share of equal slots.
    pub(crate) fn similarity(&self, a: u32, b: u32) -> f64 {
        let of = |member: u32| {
            let (thread, index) = self.owners[member as usize];
            self.slots[thread as usize].iter().skip(index as usize * self.hashes).take(self.hashes)
        };
        of(a).zip(of(b)).filter(|(one, other)| one == other).count() as f64 / self.hashes as f64
    }
}

/// What one thread has of the members it met.
struct Part {
    number: usize,
    places: Vec<u64>,
    lengths: Vec<u32>,
    sizes: Vec<u32>,
    fingerprints: Vec<u128>,
    /// The first members with each content.
    seen: HashTable<u32>,
    too_short: u64,
    keys: Writer<BandKey>,
    signatures: Vec<u32>,
    signed: Vec<u32>,
    // Memory that each member uses again.
    slots: Vec<u64>,
    band_keys: Vec<u64>,
}

impl Part {
    fn new(number: usize, settings: &Settings, spill: &Arc<Spill>) -> Self {
        let memory = settings.memory / 2 / settings.thread_count() as u64;
        Self {
            number,
            places: Vec::new(),
            lengths: Vec::new(),
            sizes: Vec::new(),
            fingerprints: Vec::new(),
            seen: HashTable::new(),
            too_short: 0,
            keys: Writer::new(spill, memory, false),
            signatures: Vec::new(),
            signed: Vec::new(),
            slots: vec![0; settings.hashes as usize],
            band_keys: Vec::new(),
        }
    }

    fn take(&mut self, member: Member<'_>, bands: Bands, fast: bool) -> Result<()> {
        let index = u32::try_from(self.places.len()).map_err(|_| Error::TooMany)?;
        self.places.push(member.place);
        self.lengths.push(member.length);
        self.sizes.push(u32::try_from(member.hashes.len()).unwrap_or(u32::MAX));
        self.fingerprints.push(member.fingerprint);
        let new = remember(&mut self.seen, &self.fingerprints, index) == index;
        if fast {
            self.signed.push((self.signatures.len() / self.slots.len()) as u32);
        }
        if member.hashes.is_empty() {
            self.too_short += 1;
            return Ok(());
        }
        if !new {
            return Ok(());
        }
        sign(member.hashes, &mut self.slots)?;
        if fast {
            let start = self.signatures.len();
            self.signatures.resize(start + self.slots.len(), 0);
            compact(&self.slots, &mut self.signatures[start..]);
        }
        bands.keys(&self.slots, &mut self.band_keys)?;
        let who = (self.number as u64) << 32 | u64::from(index);
        for &key in &self.band_keys {
            self.keys.push(partition_of(key), (key, who))?;
        }
        Ok(())
    }
}

/// The highest byte of a key chooses its partition.
fn partition_of(key: u64) -> usize {
    (key >> 56) as usize % PARTITIONS
}

/// The first member with the same fingerprint, which is the member itself if there was none.
fn remember(seen: &mut HashTable<u32>, fingerprints: &[u128], index: u32) -> u32 {
    let of = |&other: &u32| fingerprints[other as usize];
    let own = fingerprints[index as usize];
    *seen.entry(own as u64, |other| of(other) == own, |other| of(other) as u64).or_insert(index).get()
}

/// Reads everything once.
pub(crate) fn sign_all(
    source: &impl Source,
    settings: &Settings,
    bands: Bands,
    spill: &Arc<Spill>,
) -> Result<Signed> {
    let threads = AtomicUsize::new(0);
    let parts = source.read(
        &|| Part::new(threads.fetch_add(1, Ordering::Relaxed), settings, spill),
        &|_, _| true,
        &|part: &mut Part, member| part.take(member, bands, settings.fast),
    )?;
    Signed::from_parts(parts, settings)
}

impl Signed {
    /// Puts what the threads have into the order of the collection.
    fn from_parts(mut parts: Vec<Part>, settings: &Settings) -> Result<Self> {
        parts.sort_unstable_by_key(|part| part.number);
        let mut order: Vec<(u64, u32, u32)> =
            Vec::with_capacity(parts.iter().map(|part| part.places.len()).sum());
        for (thread, part) in parts.iter().enumerate() {
            order.extend(part.places.iter().zip(0..).map(|(&place, index)| (place, thread as u32, index)));
        }
        u32::try_from(order.len()).map_err(|_| Error::TooMany)?;
        order.sort_unstable();

        let mut numbers: Vec<Vec<u32>> = parts.iter().map(|part| vec![0; part.places.len()]).collect();
        for (&(_, thread, index), number) in order.iter().zip(0..) {
            numbers[thread as usize][index as usize] = number;
        }
        let pick = |field: fn(&Part) -> &Vec<u32>| {
            order
                .iter()
                .map(|&(_, thread, index)| field(&parts[thread as usize])[index as usize])
                .collect::<Vec<_>>()
        };
        let (lengths, sizes) = (pick(|part| &part.lengths), pick(|part| &part.sizes));
        let fingerprints: Vec<u128> = order
            .iter()
            .map(|&(_, thread, index)| parts[thread as usize].fingerprints[index as usize])
            .collect();
        let mut seen = HashTable::with_capacity(order.len());
        let twins = (0..order.len() as u32).map(|index| remember(&mut seen, &fingerprints, index)).collect();
        let owner =
            |&(_, thread, index): &(u64, u32, u32)| (thread, parts[thread as usize].signed[index as usize]);
        let owners = if settings.fast { order.iter().map(owner).collect() } else { Vec::new() };
        let too_short = parts.iter().map(|part| part.too_short).sum();
        let mut writers = Vec::with_capacity(parts.len());
        let mut slots = Vec::with_capacity(parts.len());
        for part in parts {
            writers.push(part.keys);
            slots.push(part.signatures);
        }
        Ok(Self {
            places: order.into_iter().map(|(place, ..)| place).collect(),
            lengths,
            sizes,
            twins,
            too_short,
            keys: Partitions::new(writers),
            numbers: Numbers(numbers),
            signatures: Signatures { slots, owners, hashes: settings.hashes as usize },
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// The number of the member at a place, looked for after the one found last.
    pub(crate) fn number_at(&self, place: u64, last: &mut usize) -> Option<usize> {
        let near = *last + 1;
        let found = if self.places.get(near) == Some(&place) {
            near
        } else {
            self.places.binary_search(&place).ok()?
        };
        *last = found;
        Some(found)
    }
}
