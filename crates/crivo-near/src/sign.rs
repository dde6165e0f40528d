//! The first reading: computes a few band keys and a fingerprint of every member, and drops the
//! member.
//!
//! Records name a member by its place, because its number is known only after the whole reading. A
//! member is not signed again if the same content was signed recently, because both have the same
//! band keys.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crivo::keys::KeyScheme;
use crivo::similarity::min_hash::sign;
use crivo::similarity::{Bands, MinHash};

use crate::budget::Budget;
use crate::containment::Probes;
use crate::error::{Error, Result};
use crate::kept_sets::{KeptRoom, KeptSets, KeptWriter};
use crate::places::{PlaceRun, Places, push_place};
use crate::segments::{SegmentWriter, Segments};
use crate::settings::{Measure, Settings};
use crate::signature::pack_signature;
use crate::source::{Member, Source};
use crate::spill::{Order, PARTITIONS, Partitions, Spill, Writer};

/// A band key and the place of a member that has it.
pub(crate) type BandKey = (u64, u64);

/// Both halves of a fingerprint, and the place of a member that has it.
pub(crate) type Print = (u64, u64, u64);

/// The number of values in a block of a [`Column`].
const COLUMN_BLOCK: usize = 64 << 10;

/// The result of the first reading. Vectors have one entry for each member, in the order of the
/// collection.
pub(crate) struct Signed {
    pub(crate) places: Places,
    pub(crate) lengths: Vec<u32>,
    /// The number of hashes of each set, repetitions included.
    pub(crate) sizes: Vec<u32>,
    pub(crate) too_short: u64,
    pub(crate) keys: Partitions<BandKey>,
    pub(crate) prints: Partitions<Print>,
    /// The shortened signatures with their places, if they are trusted. Otherwise empty.
    pub(crate) signatures: Segments,
    /// The sets, if all of them fit in memory.
    pub(crate) kept: Option<KeptSets>,
}

/// The files that the first reading spills to.
pub(crate) struct SigningSpills {
    pub(crate) keys: Arc<Spill>,
    pub(crate) prints: Arc<Spill>,
    pub(crate) signatures: Arc<Spill>,
}

/// A list of numbers that grows without moving its elements.
#[derive(Debug, Default)]
struct Column(Vec<Vec<u32>>);

impl Column {
    #[inline]
    fn push(&mut self, value: u32) {
        match self.0.last_mut() {
            Some(block) if block.len() < COLUMN_BLOCK => block.push(value),
            _ => {
                let mut block = Vec::with_capacity(COLUMN_BLOCK);
                block.push(value);
                self.0.push(block);
            }
        }
    }

    fn get(&self, at: usize) -> u32 {
        self.0[at / COLUMN_BLOCK][at % COLUMN_BLOCK]
    }
}

/// The members that one thread has read.
struct SigningThread {
    runs: Vec<PlaceRun>,
    lengths: Column,
    sizes: Column,
    members: u64,
    too_short: u64,
    lately: LatePrints,
    keys: Writer<BandKey>,
    prints: Writer<Print>,
    signatures: SegmentWriter,
    kept: KeptWriter,
    /// The giant member that is currently read.
    giant: Option<Giant>,
    // Buffers that are reused for each member.
    slots: Vec<u64>,
    short_slots: Vec<u32>,
    words: Vec<u64>,
    band_keys: Vec<u64>,
}

/// The data so far of a member whose hashes come in pieces.
struct Giant {
    signature: MinHash,
    /// The hashes themselves, if some of them are probes.
    hashes: Vec<u64>,
    size: usize,
}

impl Giant {
    fn new(slots: usize) -> Result<Self> {
        let slots = u32::try_from(slots).unwrap_or(u32::MAX);
        let signature = MinHash::with_scheme(slots, KeyScheme::hashes())?;
        Ok(Self { signature, hashes: Vec::new(), size: 0 })
    }
}

/// Fingerprints of members that were signed recently. A later fingerprint replaces an earlier one
/// in the same slot. The table grows with the number of members, so that a small collection uses
/// little memory.
struct LatePrints {
    slots: Vec<u128>,
    most: usize,
    inserted: usize,
}

impl LatePrints {
    fn new(memory: u64) -> Self {
        let most = 1 << (memory / 16).clamp(1 << 10, 1 << 20).ilog2();
        Self { slots: vec![0; most.min(1 << 12)], most, inserted: 0 }
    }

    /// Inserts a fingerprint. Returns true if it was there already.
    fn insert(&mut self, print: u128) -> bool {
        if self.inserted > self.slots.len() && self.slots.len() < self.most {
            let larger = vec![0; (4 * self.slots.len()).min(self.most)];
            for print in std::mem::replace(&mut self.slots, larger).into_iter().filter(|&print| print != 0) {
                self.replace(print);
            }
        }
        self.inserted += 1;
        self.replace(print) == print
    }

    /// Writes a fingerprint to its slot, and returns the previous one.
    fn replace(&mut self, print: u128) -> u128 {
        let slot = print as usize & (self.slots.len() - 1);
        std::mem::replace(&mut self.slots[slot], print)
    }
}

/// How the keys of a member are computed from its hashes.
#[derive(Debug, Clone, Copy)]
enum Signing {
    /// From the bands of a signature, which may be stored too.
    Bands { bands: Bands, keeps_signatures: bool },
    /// From some of the hashes themselves.
    Probes(Probes),
}

impl SigningThread {
    fn new(settings: &Settings, budget: Budget, spills: &SigningSpills) -> Self {
        let memory = |share| budget.each(budget.memory() / share);
        Self {
            runs: Vec::new(),
            lengths: Column::default(),
            sizes: Column::default(),
            members: 0,
            too_short: 0,
            lately: LatePrints::new(memory(32)),
            keys: Writer::new(&spills.keys, PARTITIONS, memory(4), Order::Any),
            prints: Writer::new(&spills.prints, PARTITIONS, memory(16), Order::Any),
            signatures: SegmentWriter::new(&spills.signatures, 1, memory(16)),
            kept: KeptWriter::default(),
            giant: None,
            slots: vec![0; settings.hashes as usize],
            short_slots: Vec::new(),
            words: Vec::new(),
            band_keys: Vec::new(),
        }
    }

    fn take(&mut self, member: Member<'_>, signing: Signing, room: &KeptRoom) -> Result<()> {
        if member.is_continued || self.giant.is_some() {
            return self.take_piece(member, signing, room);
        }
        let size = member.hashes.len();
        if !self.begin(member, size)? {
            return Ok(());
        }
        self.kept.push(room, member.place, member.hashes);
        if let Signing::Bands { .. } = signing {
            sign(member.hashes, &mut self.slots)?;
        }
        self.put_keys(member.place, member.hashes, signing)
    }

    /// Adds a piece of the hashes of a giant member to its signature or its probes.
    fn take_piece(&mut self, member: Member<'_>, signing: Signing, room: &KeptRoom) -> Result<()> {
        let mut giant = match self.giant.take() {
            Some(giant) => giant,
            None => Giant::new(self.slots.len())?,
        };
        giant.size += member.hashes.len();
        match signing {
            Signing::Probes(_) => giant.hashes.extend_from_slice(member.hashes),
            Signing::Bands { .. } => giant.signature.insert_hashes(member.hashes),
        }
        if member.is_continued {
            self.giant = Some(giant);
            return Ok(());
        }
        if !self.begin(member, giant.size)? {
            return Ok(());
        }
        self.kept.drop_all(room);
        if let Signing::Bands { .. } = signing {
            self.slots.clear();
            self.slots.extend_from_slice(giant.signature.slots());
        }
        self.put_keys(member.place, &giant.hashes, signing)
    }

    /// Records a member. Returns false if it needs no keys, because it has no hashes or its content
    /// was signed recently.
    fn begin(&mut self, member: Member<'_>, size: usize) -> Result<bool> {
        push_place(&mut self.runs, member.place);
        self.members += 1;
        self.lengths.push(member.length);
        self.sizes.push(u32::try_from(size).unwrap_or(u32::MAX));
        let (high, low) = ((member.fingerprint >> 64) as u64, member.fingerprint as u64);
        self.prints.push((high >> 56) as usize, (high, low, member.place))?;
        if size == 0 {
            self.too_short += 1;
            return Ok(false);
        }
        Ok(!self.lately.insert(member.fingerprint))
    }

    /// Writes the keys of a member: probes among its hashes, or the bands of the signature in
    /// `slots`.
    fn put_keys(&mut self, place: u64, hashes: &[u64], signing: Signing) -> Result<()> {
        match signing {
            Signing::Probes(probes) => probes.keys(hashes, &mut self.band_keys),
            Signing::Bands { bands, keeps_signatures } => {
                if keeps_signatures {
                    self.words.clear();
                    self.words.push(place);
                    pack_signature(&self.slots, &mut self.short_slots, &mut self.words);
                    self.signatures.push(0, 0, &self.words)?;
                }
                bands.keys(&self.slots, &mut self.band_keys)?;
            }
        }
        for &key in &self.band_keys {
            self.keys.push((key >> 56) as usize, (key, place))?;
        }
        Ok(())
    }
}

/// Makes the first reading: signs every member.
pub(crate) fn sign_all(
    source: &impl Source,
    settings: &Settings,
    bands: Bands,
    budget: Budget,
    spills: &SigningSpills,
) -> Result<Signed> {
    let (members, runs) = (AtomicU64::new(0), AtomicU64::new(0));
    let signing = match settings.measure {
        Measure::Jaccard => Signing::Bands { bands, keeps_signatures: settings.fast },
        Measure::Containment => Signing::Probes(Probes::for_threshold(settings.threshold)),
    };
    let room = KeptRoom::new(budget, settings.keeps_sets() && !source.is_in_memory());
    let threads = source.read(
        &|| SigningThread::new(settings, budget, spills),
        &|_, _| true,
        &|thread: &mut SigningThread, member| {
            let runs_before = thread.runs.len();
            thread.take(member, signing, &room)?;
            if member.is_continued {
                return Ok(());
            }
            let new_runs = (thread.runs.len() - runs_before) as u64;
            let all_runs = if new_runs > 0 { runs.fetch_add(new_runs, Ordering::Relaxed) + 1 } else { 0 };
            // Checked once in 4096 members, so that a collection with too many members fails early.
            if thread.members.is_multiple_of(4096) {
                let members = members.fetch_add(4096, Ordering::Relaxed) + 4096;
                budget.check(members, all_runs.max(runs.load(Ordering::Relaxed)) * 12)?;
                if budget.is_crowded(members) {
                    room.close();
                }
            }
            Ok(())
        },
    )?;
    Signed::from_threads(threads, budget, &room)
}

impl Signed {
    /// Merges the results of the threads in the order of the collection.
    fn from_threads(mut threads: Vec<SigningThread>, budget: Budget, room: &KeptRoom) -> Result<Self> {
        // A run of places, the thread that has it, and its first member there.
        let mut runs: Vec<(PlaceRun, u32, u32)> = Vec::new();
        for (thread, number) in threads.iter_mut().zip(0_u32..) {
            let mut start = 0_u32;
            for run in std::mem::take(&mut thread.runs) {
                runs.push((run, number, start));
                start = start.checked_add(run.members).ok_or(Error::TooMany)?;
            }
        }
        runs.sort_unstable_by_key(|(run, ..)| run.place);
        let places = Places::new(runs.iter().map(|(run, ..)| *run))?;
        let members = u64::from(places.len());
        budget.check(members, places.bytes())?;
        if budget.room(members, places.bytes()) < budget.memory() / 4 * 3 {
            for thread in &mut threads {
                thread.keys.flush()?;
                thread.prints.flush()?;
            }
        }
        let mut pick = |column: fn(&mut SigningThread) -> &mut Column| {
            let mut all = Vec::with_capacity(places.len() as usize);
            for (run, thread, start) in &runs {
                let column = column(&mut threads[*thread as usize]);
                let start = *start as usize;
                all.extend((start..start + run.members as usize).map(|at| column.get(at)));
            }
            threads.iter_mut().for_each(|thread| *column(thread) = Column::default());
            all
        };
        let (lengths, sizes) = (pick(|thread| &mut thread.lengths), pick(|thread| &mut thread.sizes));
        let kept = KeptSets::new(room, threads.iter_mut().map(|thread| std::mem::take(&mut thread.kept)));
        let too_short = threads.iter().map(|thread| thread.too_short).sum();
        let (mut keys, mut prints, mut signatures) = (Vec::new(), Vec::new(), Vec::new());
        for thread in threads {
            keys.push(thread.keys);
            prints.push(thread.prints);
            signatures.push(thread.signatures);
        }
        Ok(Self {
            places,
            lengths,
            sizes,
            too_short,
            keys: Partitions::new(PARTITIONS, keys),
            prints: Partitions::new(PARTITIONS, prints),
            signatures: Segments::new(1, signatures),
            kept,
        })
    }
}
