//! How a valid file becomes a hostile one.
//!
//! Random changes of bytes rarely get past the first check of a format. So changes are made at the
//! positions that readers interpret. Then the values that readers check are corrected: the length
//! of a Parquet footer here, checksums in [`fitting`](super::fitting).

use crate::random::split_mix;

/// A fast random generator whose values are specified.
#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        split_mix(&mut self.0)
    }

    /// Returns a number below `limit`, which must not be 0.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    pub(super) fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    pub(super) fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.below(from.len())]
    }
}

/// Numbers at which programs often fail.
const EXTREMES: [u64; 14] = [
    0,
    1,
    0x7F,
    0x80,
    0xFF,
    0xFFFF,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
    1 << 32,
    1 << 40,
    i64::MAX as u64,
    1 << 63,
    u64::MAX,
];

/// Makes one change at a random position in a range of the file: a flip, an extreme number, a cut
/// or a repetition, for example.
pub(super) fn change_bytes(bytes: &mut Vec<u8>, within: std::ops::Range<usize>, random: &mut Random) {
    if within.is_empty() {
        return;
    }
    let at = within.start + random.below(within.len());
    match random.below(9) {
        0 | 1 => bytes[at] ^= 1 << random.below(8),
        2 => bytes[at] = random.next() as u8,
        3 => bytes[at] = *random.pick(&[0, 1, 0x7F, 0x80, 0xFF]),
        4 => {
            let width = *random.pick(&[2, 4, 8]);
            let value = random.pick(&EXTREMES).to_le_bytes();
            let end = (at + width).min(within.end);
            bytes[at..end].copy_from_slice(&value[..end - at]);
        }
        5 => {
            let end = (at + 1 + random.below(16)).min(within.end);
            bytes.drain(at..end);
        }
        6 => {
            let end = (at + 1 + random.below(64)).min(within.end);
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        7 => {
            let other = within.start + random.below(within.len());
            bytes.swap(at, other);
        }
        _ => {
            let new: Vec<u8> = (0..=random.below(8)).map(|_| random.next() as u8).collect();
            bytes.splice(at..at, new);
        }
    }
}

/// Makes one to eight changes at any position, and sometimes cuts the end off.
pub(super) fn anywhere(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    for _ in 0..=random.below(8) {
        let end = bytes.len();
        change_bytes(&mut bytes, 0..end, random);
    }
    if random.one_in(8) {
        bytes.truncate(random.below(bytes.len() + 1));
    }
    bytes
}

/// Like [`anywhere`], but half of the mutants are changed in their first bytes only, because sizes
/// are stored there.
pub(super) fn with_head(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    const HEAD: usize = 40;
    if random.one_in(2) {
        return anywhere(bytes, random);
    }
    for _ in 0..=random.below(3) {
        let end = bytes.len().min(HEAD);
        change_bytes(&mut bytes, 0..end, random);
    }
    bytes
}

/// The number of bytes after the footer: its length in four bytes, and the magic number.
const PARQUET_TAIL: usize = 8;

/// Changes a Parquet file in its footer, in the head of a page, or at any position.
pub(super) fn parquet(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    let Some(data) = data_length(&bytes) else { return anywhere(bytes, random) };
    match random.below(4) {
        0 => anywhere(bytes, random),
        1 => {
            // A page's head begins with its kind as a zigzag number: 0 is 0x15 0x00, a dictionary
            // is 0x15 0x04.
            let heads: Vec<usize> = (4..data.saturating_sub(24))
                .filter(|&at| {
                    bytes[at] == 0x15 && matches!(bytes[at + 1], 0 | 4 | 6) && bytes[at + 2] == 0x15
                })
                .collect();
            if heads.is_empty() {
                return anywhere(bytes, random);
            }
            let at = *random.pick(&heads);
            for _ in 0..=random.below(3) {
                change_number(&mut bytes, at..(at + 24).min(data), false, random);
            }
            bytes
        }
        _ => {
            let tail = bytes.split_off(bytes.len() - PARQUET_TAIL);
            for _ in 0..=random.below(4) {
                let end = bytes.len();
                if random.one_in(3) {
                    change_bytes(&mut bytes, data..end, random);
                } else {
                    change_number(&mut bytes, data..end, true, random);
                }
            }
            let length = bytes.len().saturating_sub(data) as u32;
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(&tail[4..]);
            bytes
        }
    }
}

/// Returns the position at which the footer begins.
fn data_length(bytes: &[u8]) -> Option<usize> {
    let tail = bytes.len().checked_sub(PARQUET_TAIL)?;
    let footer = u32::from_le_bytes(*bytes.get(tail..)?.first_chunk()?) as usize;
    tail.checked_sub(footer)
}

/// Replaces a number of variable length by an extreme or random one. It has the same length unless
/// `may_move`.
fn change_number(bytes: &mut Vec<u8>, within: std::ops::Range<usize>, may_move: bool, random: &mut Random) {
    if within.is_empty() {
        return;
    }
    let at = within.start + random.below(within.len());
    let length = bytes[at..within.end].iter().position(|byte| *byte < 0x80).map_or(1, |last| last + 1);
    let mut number = Vec::new();
    let mut value =
        if random.one_in(3) { random.next() >> random.below(64) } else { *random.pick(&EXTREMES) };
    loop {
        let byte = (value & 0x7F) as u8;
        value >>= 7;
        let is_last = value == 0 || !may_move && number.len() + 1 == length;
        number.push(if is_last { byte } else { byte | 0x80 });
        if is_last {
            break;
        }
    }
    if may_move {
        bytes.splice(at..at + length, number);
    } else {
        number.resize(number.len().max(1), 0);
        let end = at + number.len().min(length);
        bytes[at..end].copy_from_slice(&number[..end - at]);
    }
}

/// Inserts marks that break parsers into a text: quotes, line ends, brackets, zeros, and very long
/// repetitions. Also changes, repeats and cuts parts of it.
pub(super) fn text(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    const MARKS: [&[u8]; 16] = [
        b"\"",
        b"\"\"",
        b"\n",
        b"\r\n",
        b"\r",
        b",",
        b"\t",
        b"{",
        b"}",
        b"[",
        b"\\",
        b"\\u",
        b"\0",
        b"\xFF\xFE",
        b"\xEF\xBB\xBF",
        b"-1e999999999",
    ];
    for _ in 0..=random.below(6) {
        let at = random.below(bytes.len() + 1);
        match random.below(4) {
            0 => {
                let mark = *random.pick(&MARKS);
                let times = if random.one_in(20) { 100_000 } else { 1 + random.below(3) };
                let repeated = mark.repeat(times);
                bytes.splice(at..at, repeated);
            }
            1 => {
                let end = bytes.len();
                change_bytes(&mut bytes, 0..end, random);
            }
            2 => bytes.truncate(at.max(1).min(bytes.len())),
            _ => {
                let end = (at + random.below(200)).min(bytes.len());
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutants_of_one_seed_are_the_same() {
        let bytes: Vec<u8> = (0..200).collect();
        for mutate in [anywhere, with_head, parquet, text] {
            let once = mutate(bytes.clone(), &mut Random::new(7));
            assert_eq!(once, mutate(bytes.clone(), &mut Random::new(7)));
            let different =
                (0..100).filter(|&seed| mutate(bytes.clone(), &mut Random::new(seed)) != bytes).count();
            assert!(different > 80, "{different}");
        }
    }
}
