//! Finds lines or paragraphs that occur more than once in a collection.
//!
//! Units are compared by a 128-bit hash of their normalized form, so two different units are taken
//! for the same with a chance of 2^−128. Hashes are sorted on disk. The first occurrences in the
//! order of the collection are kept.
//!
//! ```
//! use crivo_near::{Texts, UnitKind, UnitSettings, repeated_units};
//!
//! let texts = ["Accept all cookies\nOne story", "accept  all cookies\nAnother story"];
//! let settings = UnitSettings { kind: UnitKind::Line, ignore_case: true, ignore_blanks: true, ..Default::default() };
//! let found = repeated_units(&Texts::new(&texts, 1), &settings)?;
//! assert_eq!((found.units, found.repeated), (4, 1));
//! let mut left = Vec::new();
//! found.lookup().cut(1, texts[1].as_bytes(), &mut left)?;
//! assert_eq!(left, b"Another story");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod split;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use self::split::{Normalizer, units_of};
use crate::error::{Error, Result};
use crate::parallel::{deal, thread_count};
use crate::places::{PlaceRun, Places, push_place};
use crate::source::Documents;
use crate::spill::{Order, PARTITIONS, Partitions, Spill, Writer};

/// The kind of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnitKind {
    /// A line.
    #[default]
    Line,
    /// The lines up to an empty one.
    Paragraph,
}

/// Which units are equal, and how many of them are kept.
#[derive(Debug, Clone)]
pub struct UnitSettings {
    /// The kind of a unit.
    pub kind: UnitKind,
    /// The number of occurrences that are kept.
    pub max_repeats: u64,
    /// Units of fewer bytes are always kept.
    pub min_length: usize,
    /// Compare in lower case.
    pub ignore_case: bool,
    /// Compare every run of blanks as one, and ignore blanks at either end.
    pub ignore_blanks: bool,
    /// Compare every run of digits as one.
    pub ignore_digits: bool,
    /// The number of most frequent units to report.
    pub most_frequent: usize,
    /// The approximate number of bytes to use.
    pub memory: u64,
    /// The number of threads. 0 means one for each processor.
    pub threads: usize,
}

impl Default for UnitSettings {
    fn default() -> Self {
        Self {
            kind: UnitKind::Line,
            max_repeats: 1,
            min_length: 1,
            ignore_case: false,
            ignore_blanks: false,
            ignore_digits: false,
            most_frequent: 20,
            memory: 256 << 20,
            threads: 0,
        }
    }
}

/// Both halves of the hash of a unit, the place of its document, and its number there.
type UnitRecord = (u64, u64, u64, u64);

/// A unit that occurs often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrequentUnit {
    /// The number of occurrences.
    pub count: u64,
    /// The place of the document with its first occurrence.
    pub place: u64,
    /// The unit's number in that document.
    pub number: u32,
}

/// The units of a collection that occur more than once.
pub struct RepeatedUnits {
    kind: UnitKind,
    places: Places,
    /// Document and unit of each removed occurrence.
    removed: Partitions<u64>,
    /// The number of documents.
    pub documents: u64,
    /// The number of bytes of their texts.
    pub bytes: u64,
    /// The number of units that are long enough to be compared.
    pub units: u64,
    /// The number of units that are removed.
    pub repeated: u64,
    /// The most frequent units, the most frequent first.
    pub most_frequent: Vec<FrequentUnit>,
    /// The number of bytes that were written to temporary files.
    pub spilled: u64,
}

struct UnitThread {
    units: Writer<UnitRecord>,
    places: Vec<PlaceRun>,
    normalizer: Normalizer,
    count: u64,
    documents: u64,
    bytes: u64,
}

/// Finds the lines or paragraphs that occur more than once.
///
/// # Errors
/// If `max_repeats` is 0, documents cannot be read, or a temporary file cannot be written.
pub fn repeated_units(documents: &impl Documents, settings: &UnitSettings) -> Result<RepeatedUnits> {
    if settings.max_repeats == 0 {
        return Err(Error::setting("max-repeats", "at least 1", 0));
    }
    let threads = thread_count(settings.threads);
    let each = settings.memory / threads as u64;
    let spill = Arc::new(Spill::default());
    let make = || UnitThread {
        units: Writer::new(&spill, PARTITIONS, each / 2, Order::Sorted),
        places: Vec::new(),
        normalizer: Normalizer::new(settings),
        count: 0,
        documents: 0,
        bytes: 0,
    };
    let states = documents.read(&make, &|thread, place, text| {
        thread.documents += 1;
        thread.bytes += text.len() as u64;
        push_place(&mut thread.places, place);
        for (number, unit) in (0_u64..).zip(units_of(text, settings.kind)) {
            let compared = thread.normalizer.of(&text[unit]);
            if compared.len() < settings.min_length.max(1) {
                continue;
            }
            thread.count += 1;
            let hash = xxh3_128(compared);
            let (high, low) = ((hash >> 64) as u64, hash as u64);
            thread.units.push((high >> 56) as usize, (high, low, place, number))?;
        }
        Ok(())
    })?;
    let (mut count, mut bytes, mut units, mut runs, mut writers) = (0, 0, 0, Vec::new(), Vec::new());
    for state in states {
        count += state.documents;
        bytes += state.bytes;
        units += state.count;
        runs.extend(state.places);
        writers.push(state.units);
    }
    runs.sort_unstable_by_key(|run| run.place);
    let places = Places::new(runs.into_iter())?;
    let all = Partitions::new(PARTITIONS, writers);
    let (removed, most_frequent) = remove_later(&all, &places, settings)?;
    let repeated = (0..PARTITIONS).map(|partition| removed.len(partition)).sum();
    let spilled = all.spill().bytes() + removed.spill().bytes();
    Ok(RepeatedUnits {
        kind: settings.kind,
        places,
        removed,
        documents: count,
        bytes,
        units,
        repeated,
        most_frequent,
        spilled,
    })
}

/// The most frequent units so far, the least frequent on top: the number of occurrences, and the
/// first of them.
type MostFrequent = BinaryHeap<Reverse<(u64, Reverse<(u64, u64)>)>>;

/// Equal units: their hash, the first of them, and their number.
type EqualUnits = ((u64, u64), (u64, u64), u64);

/// Returns the units to remove, partitioned by document, and the most frequent units.
fn remove_later(
    all: &Partitions<UnitRecord>,
    places: &Places,
    settings: &UnitSettings,
) -> Result<(Partitions<u64>, Vec<FrequentUnit>)> {
    let threads = thread_count(settings.threads);
    let each = settings.memory / threads as u64;
    let spill = Arc::new(Spill::default());
    let make = || (Writer::new(&spill, PARTITIONS, each / 4, Order::Sorted), MostFrequent::new(), Vec::new());
    let members = u64::from(places.len().max(1));
    let states = deal(threads, all.count(), make, |(removed, top, buffer), partition| {
        let mut group: Option<EqualUnits> = None;
        let mut finish = |group: Option<EqualUnits>| {
            if let Some((_, first, count)) = group.filter(|group| group.2 > 1) {
                top.push(Reverse((count, Reverse(first))));
                if top.len() > settings.most_frequent {
                    top.pop();
                }
            }
        };
        all.for_each_sorted(partition, each / 4, buffer, |(high, low, place, number)| {
            match &mut group {
                Some((hash, _, count)) if *hash == (high, low) => *count += 1,
                other => finish(other.replace(((high, low), (place, number), 1))),
            }
            if group.is_some_and(|group| group.2 > settings.max_repeats) {
                let document = places.number(place).ok_or(Error::Changed)?;
                let partition = u64::from(document) * PARTITIONS as u64 / members;
                removed.push(partition as usize, u64::from(document) << 32 | number)?;
            }
            Ok(())
        })?;
        finish(group);
        Ok(())
    })?;
    let (mut writers, mut top) = (Vec::new(), Vec::new());
    for (writer, found, _) in states {
        writers.push(writer);
        top.extend(found.into_iter().map(|Reverse((count, Reverse((place, number))))| FrequentUnit {
            count,
            place,
            number: number as u32,
        }));
    }
    top.sort_unstable_by_key(|unit| (Reverse(unit.count), unit.place, unit.number));
    top.truncate(settings.most_frequent);
    Ok((Partitions::new(PARTITIONS, writers), top))
}

impl RepeatedUnits {
    /// Returns a lookup, which cuts one document after the other.
    pub fn lookup(&self) -> UnitLookup<'_> {
        UnitLookup { units: self, partition: usize::MAX, records: Vec::new() }
    }

    /// Returns the unit with the given number, or `None` if the text has fewer units.
    pub fn unit_of<'t>(&self, text: &'t [u8], number: u32) -> Option<&'t [u8]> {
        units_of(text, self.kind).nth(number as usize).map(|range| &text[range])
    }
}

/// The part of a document that is left after a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitsLeft {
    /// All of it.
    All,
    /// Some of its units.
    Some,
    /// No unit: all of them occurred before.
    None,
}

/// Cuts documents. It is fast if they are near each other in the collection.
pub struct UnitLookup<'a> {
    units: &'a RepeatedUnits,
    partition: usize,
    records: Vec<u64>,
}

impl UnitLookup<'_> {
    /// Returns true if some of the units of the text at a place are removed.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    pub fn changes(&mut self, place: u64) -> Result<bool> {
        self.removed(place).map(|removed| !removed.is_empty())
    }

    /// Returns the removed units of the text at a place. The low half of each record is the unit's
    /// number.
    fn removed(&mut self, place: u64) -> Result<&[u64]> {
        let units = self.units;
        let Some(number) = units.places.number(place) else { return Ok(&[]) };
        let members = u64::from(units.places.len().max(1));
        let partition = (u64::from(number) * PARTITIONS as u64 / members) as usize;
        if partition != self.partition {
            units.removed.sorted(partition, &mut self.records)?;
            self.partition = partition;
        }
        let from = self.records.partition_point(|&record| record >> 32 < u64::from(number));
        let upto = self.records.partition_point(|&record| record >> 32 <= u64::from(number));
        Ok(&self.records[from..upto])
    }

    /// Writes the text at a place without its removed units to `out`, replacing the content of
    /// `out`.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    pub fn cut(&mut self, place: u64, text: &[u8], out: &mut Vec<u8>) -> Result<UnitsLeft> {
        out.clear();
        let units = self.units;
        let mut removed = self.removed(place)?.iter().map(|&record| record as u32 as usize).peekable();
        if removed.peek().is_none() {
            return Ok(UnitsLeft::All);
        }
        let mut ranges = units_of(text, units.kind).enumerate().peekable();
        // The bytes before the first unit are kept. Each unit is removed with the bytes up to the
        // next one.
        let first = ranges.peek().map_or(text.len(), |(_, unit)| unit.start);
        out.extend_from_slice(&text[..first]);
        let mut left = UnitsLeft::None;
        while let Some((at, unit)) = ranges.next() {
            let end = ranges.peek().map_or(text.len(), |(_, next)| next.start);
            if removed.next_if_eq(&at).is_some() {
                continue;
            }
            if !unit.is_empty() {
                left = UnitsLeft::Some;
            }
            out.extend_from_slice(&text[unit.start..end]);
        }
        Ok(left)
    }
}
