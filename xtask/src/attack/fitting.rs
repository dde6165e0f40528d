//! Changes of formats that have checksums. Most changed files get a correct checksum again.

use std::ops::Range;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::mutate::{Random, anywhere, change_bytes};

/// One case in this many is damage that a checksum detects.
const UNFIT: usize = 8;

// ---- sketches: docs/format.md ----

const MAGIC: &[u8] = b"CRVO";
/// The number of bytes in the head of an envelope, up to the end of its payload's length.
const HEAD: usize = 28;
const CHECKSUM: usize = 4;

/// Changes the head or payload of a sketch, or of a sketch inside it.
pub(super) fn sketch(bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    if bytes.len() < HEAD + CHECKSUM || random.one_in(UNFIT) {
        return anywhere(bytes, random);
    }
    envelope(bytes, random)
}

fn envelope(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    let inside = envelopes_in(&bytes);
    bytes.truncate(bytes.len() - CHECKSUM);
    if !inside.is_empty() && random.one_in(2) {
        let place = random.pick(&inside).clone();
        let changed = envelope(bytes[place.clone()].to_vec(), random);
        bytes.splice(place, changed);
    } else {
        for _ in 0..=random.below(4) {
            let end = bytes.len();
            // Parameters are at the beginning of the payload, so most changes are made there.
            let within = match random.below(4) {
                0 => MAGIC.len()..HEAD.min(end),
                1 => HEAD.min(end)..end,
                _ => HEAD.min(end)..(HEAD + 48).min(end),
            };
            change_bytes(&mut bytes, within, random);
        }
    }
    if bytes.len() >= HEAD && !random.one_in(UNFIT) {
        let length = (bytes.len() - HEAD) as u64;
        bytes[HEAD - 8..HEAD].copy_from_slice(&length.to_le_bytes());
    }
    let checksum = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

/// Returns the ranges of the whole envelopes inside an envelope's payload.
fn envelopes_in(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = HEAD;
    while let Some(head) = bytes.get(at..at + HEAD) {
        let length = head.last_chunk::<8>().map_or(0, |length| u64::from_le_bytes(*length));
        let end = usize::try_from(length)
            .ok()
            .and_then(|length| at.checked_add(length)?.checked_add(HEAD + CHECKSUM));
        match end {
            Some(end) if head.starts_with(MAGIC) && end <= bytes.len() - CHECKSUM => {
                found.push(at..end);
                at = end;
            }
            _ => at += 1,
        }
    }
    found
}

// ---- private reports ----

const REPORTS_HEADER: usize = 36;

/// Changes the header, some records, or both, of a file of reports. The header and all records then
/// get correct checksums, and a record's checksum depends on the header. One file in [`UNFIT`] is
/// changed at any position instead, and no checksum is corrected.
pub(super) fn reports(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    if bytes.len() < REPORTS_HEADER || random.one_in(UNFIT) {
        return anywhere(bytes, random);
    }
    let records = bytes.split_off(REPORTS_HEADER);
    if random.one_in(2) {
        for _ in 0..=random.below(3) {
            change_bytes(&mut bytes, MAGIC.len()..REPORTS_HEADER - CHECKSUM, random);
            bytes.resize(REPORTS_HEADER, 0);
        }
    }
    bytes.truncate(REPORTS_HEADER - CHECKSUM);
    let tag = crc32fast::hash(&bytes).to_le_bytes();
    bytes.extend_from_slice(&tag);
    let width =
        bytes.get(28..32).and_then(|width| width.first_chunk()).map_or(0, |width| u32::from_le_bytes(*width));
    let length = (2 + width.div_ceil(8) as usize + CHECKSUM).min(records.len().max(CHECKSUM + 1));
    for record in records.chunks(length).filter(|record| record.len() == length) {
        let mut body = record[..length - CHECKSUM].to_vec();
        if random.one_in(4) {
            let end = body.len();
            change_bytes(&mut body, 0..end, random);
        }
        let checksum = crc32fast::hash(&[&tag, body.as_slice()].concat());
        bytes.extend_from_slice(&body);
        bytes.extend_from_slice(&checksum.to_le_bytes());
    }
    bytes
}

// ---- records in SQLite files ----

/// The number of bytes in the checksum at the end of a record.
const SEAL: usize = 8;
/// The first byte of a table page that has rows.
const LEAF: u8 = 0x0D;

/// Changes some records and makes their checksums fit, or changes any bytes of the file.
pub(super) fn sqlite(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    let records = sealed_records(&bytes);
    if records.is_empty() || random.one_in(4) {
        return anywhere(bytes, random);
    }
    for _ in 0..=random.below(3) {
        let (place, seed) = random.pick(&records).clone();
        let body = place.start..place.end - SEAL;
        let mut changed = bytes[body.clone()].to_vec();
        let begin = if random.one_in(2) { 0..changed.len().min(24) } else { 0..changed.len() };
        change_bytes(&mut changed, begin, random);
        changed.resize(body.len(), 0);
        let seal = xxh3_64_with_seed(&changed, seed).to_le_bytes();
        bytes[body].copy_from_slice(&changed);
        bytes[place.end - SEAL..place.end].copy_from_slice(&seal);
    }
    bytes
}

/// Returns the ranges of the records that fit in their page, each with the seed of its checksum.
fn sealed_records(bytes: &[u8]) -> Vec<(Range<usize>, u64)> {
    let Some(size) = bytes.get(16..18) else { return Vec::new() };
    let size = match u16::from_be_bytes([size[0], size[1]]) {
        1 => 1 << 16,
        size => usize::from(size).max(512),
    };
    let mut found = Vec::new();
    for (number, page) in bytes.chunks_exact(size).enumerate() {
        // The first page begins with the header of the file.
        let head = if number == 0 { 100 } else { 0 };
        if page[head] != LEAF {
            continue;
        }
        let cells = usize::from(u16::from_be_bytes([page[head + 3], page[head + 4]]));
        for pointer in page[head + 8..].as_chunks::<2>().0.iter().take(cells) {
            let cell = usize::from(u16::from_be_bytes(*pointer));
            found.extend(
                sealed_record(page, cell)
                    .map(|(place, seed)| (number * size + place.start..number * size + place.end, seed)),
            );
        }
    }
    found
}

/// Returns the range of a cell's record and the seed of its checksum. The seed depends on the
/// table, and only the seed of its own table reproduces the checksum.
fn sealed_record(page: &[u8], cell: usize) -> Option<(Range<usize>, u64)> {
    let mut at = cell;
    let length = varint(page, &mut at)? as usize;
    let row = varint(page, &mut at)?;
    let payload = at;
    let header = varint(page, &mut at)? as usize;
    let (_number, kind) = (varint(page, &mut at)?, varint(page, &mut at)?);
    // An even kind from 12 on is a blob.
    let blob = (kind >= 12 && kind.is_multiple_of(2)).then(|| ((kind - 12) / 2) as usize)?;
    let start = payload.checked_add(header)?;
    let end = start.checked_add(blob)?;
    (blob >= SEAL && end == payload.checked_add(length)?).then_some(())?;
    let (record, seal) = page.get(start..end)?.split_at(blob - SEAL);
    let seed = seeds_of(row).find(|seed| xxh3_64_with_seed(record, *seed).to_le_bytes() == *seal)?;
    Some((start..end, seed))
}

/// Returns the seeds that the index of documents and the mail store use for a row of each of their
/// tables.
fn seeds_of(row: u64) -> impl Iterator<Item = u64> {
    let of_index = [row << 56, 5 << 56, 3 << 56 | row, 4 << 56 | row];
    of_index.into_iter().chain((1..=8).map(move |table| xxh3_64_with_seed(&row.to_le_bytes(), table)))
}

/// Reads a number of variable length, the high bits first.
fn varint(page: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0_u64;
    for _ in 0..8 {
        let byte = *page.get(*at)?;
        *at += 1;
        value = value << 7 | u64::from(byte & 0x7F);
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

// ---- stages of a search ----

/// Changes the description of a stage, which consists of numbers and a checksum at the end. The
/// other files of the folder have no checksum, so any bytes of them are changed.
pub(super) fn stage(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    if !bytes.starts_with(b"CRVWORK1") || bytes.len() < 2 * SEAL || random.one_in(UNFIT) {
        return anywhere(bytes, random);
    }
    bytes.truncate(bytes.len() - SEAL);
    for _ in 0..=random.below(3) {
        let end = bytes.len();
        change_bytes(&mut bytes, 8..end, random);
    }
    let checksum = xxh3_64(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
        let checksum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes
    }

    fn fits(bytes: &[u8]) -> bool {
        bytes.split_last_chunk::<4>().is_some_and(|(body, sum)| crc32fast::hash(body).to_le_bytes() == *sum)
    }

    /// An envelope with the given payload.
    fn enveloped(payload: &[u8]) -> Vec<u8> {
        let head: Vec<u8> = MAGIC.iter().copied().chain([7; HEAD - 12]).collect();
        sealed([&head, &(payload.len() as u64).to_le_bytes()[..], payload].concat())
    }

    #[test]
    fn checksum_of_a_mutated_sketch_mostly_fits() {
        let bytes = enveloped(&(0..60).collect::<Vec<u8>>());
        let fitting = (0..200).filter(|&seed| fits(&sketch(bytes.clone(), &mut Random::new(seed)))).count();
        assert!(fitting > 150, "{fitting}");
    }

    #[test]
    fn sketches_inside_of_a_sketch_are_found_and_sealed() {
        let inner = enveloped(&[1; 40]);
        let outer = enveloped(&[&[9; 5], inner.as_slice(), &[8; 3], inner.as_slice()].concat());
        let found = envelopes_in(&outer);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|place| outer[place.clone()] == inner));
        let both = (0..200).map(|seed| sketch(outer.clone(), &mut Random::new(seed))).filter(|mutant| {
            let inside = envelopes_in(mutant);
            fits(mutant)
                && inside.iter().any(|place| mutant[place.clone()] != inner && fits(&mutant[place.clone()]))
        });
        let both = both.count();
        assert!(both > 30, "{both}");
    }

    #[test]
    fn checksums_of_mutated_reports_mostly_fit() {
        let mut bytes = sealed(b"CRVR".iter().copied().chain([1; 24]).chain(64_u32.to_le_bytes()).collect());
        let tag = bytes[REPORTS_HEADER - CHECKSUM..].to_vec();
        for row in 0..20 {
            let body = [row; 10];
            let checksum = crc32fast::hash(&[tag.as_slice(), &body].concat());
            bytes.extend_from_slice(&body);
            bytes.extend_from_slice(&checksum.to_le_bytes());
        }
        let fitting = (0..200)
            .map(|seed| reports(bytes.clone(), &mut Random::new(seed)))
            .filter(|mutant| mutant.get(..REPORTS_HEADER).is_some_and(fits) && *mutant != bytes)
            .count();
        assert!(fitting > 150, "{fitting}");
    }

    #[test]
    fn checksum_of_a_mutated_stage_mostly_fits() {
        let mut bytes = b"CRVWORK1".iter().copied().chain(0..80).collect::<Vec<u8>>();
        bytes.extend_from_slice(&xxh3_64(&bytes).to_le_bytes());
        let fits = |bytes: &[u8]| {
            bytes.split_last_chunk::<8>().is_some_and(|(body, sum)| xxh3_64(body).to_le_bytes() == *sum)
        };
        let fitting = (0..200).filter(|&seed| fits(&stage(bytes.clone(), &mut Random::new(seed)))).count();
        assert!(fitting > 150, "{fitting}");
    }
}
