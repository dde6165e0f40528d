//! Computes the hashes of a text's runs.

use crate::keys::hash_bytes;

/// The number of bands, in which buckets are drawn independently.
pub(super) const BANDS: usize = 8;
/// The number of smallest hashes of its runs that are kept of a text.
pub(super) const MOST_RUNS: usize = 64;

/// The number of bytes in a run.
const RUN: usize = 8;
/// The least length of a document in bytes. Shorter values are names, codes and addresses.
pub(super) const SHORTEST: usize = 32;
/// The least number of blanks in a document, which must have a few words.
const LEAST_BLANKS: usize = 3;
/// Odd factors. Each one sorts the hashes in another order.
const FACTORS: [u32; BANDS] =
    [0x9E37_79B1, 0x85EB_CA77, 0xC2B2_AE3D, 0x27D4_EB2F, 0x1656_67B1, 0xD3A2_646D, 0xFD70_46C5, 0xB55A_4F09];

/// Returns true if a value is long enough, and has enough words, to be a document.
#[inline]
pub(super) fn is_document(text: &[u8]) -> bool {
    // Nearly every document has enough blanks in its first bytes.
    text.len() >= SHORTEST
        && text.iter().filter(|&&byte| byte == b' ').take(LEAST_BLANKS).count() == LEAST_BLANKS
}

/// Returns the hash of every run, with ASCII letters in lower case.
#[inline]
pub(super) fn runs(text: &[u8], seed: u64) -> impl Iterator<Item = u32> {
    text.windows(RUN).map(move |run| {
        let run = run.first_chunk::<RUN>().map_or(0, |run| u64::from_le_bytes(*run)) | 0x2020_2020_2020_2020;
        // The finalizer of MurmurHash3 without its last step. The high bits are well mixed.
        let run = run ^ seed;
        let mixed = (run ^ run >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        ((mixed ^ mixed >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53) >> 32) as u32
    })
}

/// Returns the key of each band. It is hashed once more, because the smallest of many hashes is
/// small, and smaller for longer documents.
#[inline]
pub(super) fn band_keys(runs: &[u32], seed: u64) -> [u64; BANDS] {
    let mut least = [u32::MAX; BANDS];
    for run in runs {
        for (least, factor) in least.iter_mut().zip(FACTORS) {
            *least = (*least).min(run.wrapping_mul(factor));
        }
    }
    let mut band = 0;
    least.map(|least| {
        band += 1;
        hash_bytes(&(u64::from(least) | band << 32).to_le_bytes(), seed)
    })
}

/// Returns true if all hashes of both texts were kept, so that their similarity is known exactly.
pub(super) fn are_whole(one: &[u32], other: &[u32]) -> bool {
    one.len() < MOST_RUNS && other.len() < MOST_RUNS
}

/// Returns the share of hashes that both texts have: of all their hashes if they
/// [are whole](are_whole), otherwise of the smallest hashes of both. Returns `None` if the share is
/// less than `least`.
pub(super) fn similarity(one: &[u32], other: &[u32], least: f64) -> Option<f64> {
    let (mut at, mut of, mut common, mut union) = (0, 0, 0_usize, 0_usize);
    let all = one.len() + other.len();
    let most = if are_whole(one, other) { all } else { all.min(MOST_RUNS) };
    let most_apart = ((1.0 - least) * most as f64) as usize;
    while union < most && (at < one.len() || of < other.len()) {
        match (one.get(at), other.get(of)) {
            (Some(a), Some(b)) if a == b => {
                common += 1;
                (at, of) = (at + 1, of + 1);
            }
            (Some(a), Some(b)) if a < b => at += 1,
            (Some(_), None) => at += 1,
            _ => of += 1,
        }
        union += 1;
        if union - common > most_apart {
            return None;
        }
    }
    let share = common as f64 / (union as f64).max(1.0);
    (share >= least).then_some(share)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn texts_whose_runs_are_all_kept_are_compared_exactly() {
        // Both have 63 runs, and together up to 126.
        for apart in 0..=63 {
            let (one, other): (BTreeSet<u32>, BTreeSet<u32>) =
                ((0..63).collect(), (apart..63 + apart).collect());
            let scattered = |set: &BTreeSet<u32>| {
                let mut hashes: Vec<u32> = set.iter().map(|run| run.wrapping_mul(FACTORS[0])).collect();
                hashes.sort_unstable();
                hashes
            };
            let exact = one.intersection(&other).count() as f64 / one.union(&other).count() as f64;
            let (one, other) = (scattered(&one), scattered(&other));
            assert_eq!(similarity(&one, &other, 0.0), Some(exact), "{apart}");
            assert_eq!(similarity(&one, &other, 0.7).is_some(), exact >= 0.7, "{apart}");
        }
    }
}
