//! Estimates the share of documents with a near-duplicate from the sample.

use super::sample::{KEPT, SINGLY, SampledText, TextSample, members};
use super::text::{BANDS, are_whole, similarity};
use super::{CONFIDENCE, NearDuplicateShare};
use crate::estimate::{Confidence, Estimate};
use crate::math::sampled_total;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

const SIMILAR: f64 = NearDuplicateShare::SIMILARITY;
/// The possible error of an estimated similarity: twice its standard error at the threshold.
const DOUBT: f64 = 0.1;
/// The 0.98 quantile of Student's t with seven degrees of freedom.
const STUDENT: f64 = 2.517;

/// Returns the share among all `total` documents.
pub(super) fn share(sample: &TextSample, total: f64) -> Estimate {
    let likenesses = likenesses(&sample.texts);
    if !sample.is_all() {
        return from_sample(sample, &likenesses, total);
    }
    let share = |is_alike: fn(&Likeness) -> bool| {
        let alike = sample.texts.iter().zip(&likenesses).filter(|(_, likeness)| is_alike(likeness));
        let documents = alike.fold(0_u64, |sum, ((_, text), _)| sum.saturating_add(text.count));
        (documents as f64 / total).min(1.0)
    };
    let (lower, upper) = (share(|likeness| likeness.surely), share(|likeness| likeness.perhaps));
    Estimate::probable(share(|likeness| likeness.probably), lower, upper, CONFIDENCE)
}

/// How similar a text is to another one, as far as the sample tells.
#[derive(Debug, Clone, Copy, Default)]
struct Likeness {
    surely: bool,
    probably: bool,
    perhaps: bool,
    /// The greatest similarity to another text.
    similarity: f64,
}

/// Compares each text with all others.
fn likenesses(texts: &[(u64, SampledText)]) -> Vec<Likeness> {
    let copied = Likeness { surely: true, probably: true, perhaps: true, similarity: 1.0 };
    let mut likenesses: Vec<Likeness> =
        texts.iter().map(|(_, text)| if text.count > 1 { copied } else { Likeness::default() }).collect();
    for (at, (_, one)) in texts.iter().enumerate() {
        for (of, (_, other)) in texts.iter().enumerate().skip(at + 1) {
            let Some(similarity) = similarity(&one.runs, &other.runs, SIMILAR - DOUBT) else { continue };
            let doubt = if are_whole(&one.runs, &other.runs) { 0.0 } else { DOUBT };
            for text in [at, of] {
                let likeness = &mut likenesses[text];
                likeness.surely |= similarity >= SIMILAR + doubt;
                likeness.probably |= similarity >= SIMILAR;
                likeness.perhaps |= similarity >= SIMILAR - doubt;
                likeness.similarity = likeness.similarity.max(similarity);
            }
        }
    }
    likenesses
}

/// Sums over the texts that occur once in the buckets of a band.
#[derive(Debug, Default)]
struct BandSums {
    unlike: f64,
    /// The unlike texts in buckets that are kept in part.
    unlike_in_part: f64,
    surely_alike: f64,
    probably_unlike: f64,
    probably_alike: f64,
    /// How many alike texts are missed for those found. It is an overestimate if a text has several
    /// near-duplicates.
    missed: f64,
}

impl BandSums {
    fn new(sample: &TextSample, likenesses: &[Likeness], band: usize) -> Self {
        let mut sums = Self::default();
        let members = members(&sample.texts, band, sample.threshold);
        for bucket in members.chunk_by(|one, other| one.key == other.key) {
            // If the bucket may have more texts than are kept, the last kept one sets the limit and
            // is not counted.
            let limit = bucket.get(KEPT - 1).map(|last| last.next_key);
            let weight = limit.map_or(1.0, |limit| 2_f64.powi(64) / (limit as f64).max(1.0));
            let below = bucket.partition_point(|member| limit.is_none_or(|limit| member.next_key < limit));
            // If all texts also have the same next key, the kept ones have weight 1 and only the
            // alike ones count.
            let (kept, weight, all_same) =
                if below == 0 { (&bucket[..KEPT], 1.0, true) } else { (&bucket[..below], weight, false) };
            for member in kept.iter().filter(|member| sample.texts[member.text].1.count == 1) {
                let likeness = &likenesses[member.text];
                if all_same && !likeness.probably {
                    continue;
                }
                let found = likeness.similarity.max(SIMILAR).powi(if limit.is_some() { 2 } else { 1 });
                let when = |is_so: bool| if is_so { weight } else { 0.0 };
                sums.unlike += when(!likeness.perhaps);
                sums.unlike_in_part += when(!likeness.perhaps && limit.is_some());
                sums.surely_alike += when(likeness.surely);
                sums.probably_unlike += when(!likeness.probably);
                sums.probably_alike += when(likeness.probably);
                sums.missed += when(likeness.probably) * (1.0 / found - 1.0);
            }
        }
        sums
    }
}

/// Returns the share if not all texts are in the sample.
fn from_sample(sample: &TextSample, likenesses: &[Likeness], total: f64) -> Estimate {
    let chance = (sample.threshold as f64 / 2_f64.powi(64)).max(f64::MIN_POSITIVE);
    let singly: Vec<(bool, &Likeness)> = sample
        .texts
        .iter()
        .zip(likenesses)
        .filter(|((hash, _), _)| hash / SINGLY < sample.threshold)
        .map(|((_, text), likeness)| (text.count == 1, likeness))
        .collect();
    let drawn = |is_so: &dyn Fn(&Likeness) -> bool| {
        let count = singly.iter().filter(|(once, likeness)| *once && is_so(likeness)).count();
        sampled_total(count as u64, (SINGLY as f64 * chance).min(1.0), Confidence::P99).limited_to(0.0, total)
    };
    let (once, not_alike) = (drawn(&|_| true), drawn(&|likeness| !likeness.surely));
    let all_once = singly.iter().all(|(once, _)| *once);

    let bands: Vec<BandSums> = (0..BANDS).map(|band| BandSums::new(sample, likenesses, band)).collect();
    let mean = |what: fn(&BandSums) -> f64| mean_and_error(bands.iter().map(|band| what(band) / chance));
    let (unlike, unlike_error) = mean(|band| band.unlike);
    let (alike, alike_error) = mean(|band| band.surely_alike);

    let most = not_alike.upper().min(once.upper() - (alike - STUDENT * alike_error).max(0.0));
    let (missed_of_all, missed_of_part) = (1.0 - SIMILAR, 1.0 - SIMILAR * SIMILAR);
    let part = mean(|band| band.unlike_in_part).0 / unlike.max(1.0);
    let missed = missed_of_all + (missed_of_part - missed_of_all) * part;
    let least = (unlike - STUDENT * unlike_error - missed * once.upper()) / (1.0 - missed);
    let (least, most) = (least.clamp(0.0, total), most.clamp(0.0, total));

    let seen = mean(|band| band.probably_unlike + band.probably_alike).0;
    let found = mean(|band| band.probably_alike + band.missed).0;
    let not_found = 1.0 - (found / seen.max(1.0)).min(1.0);
    // Texts drawn singly find more of the largest buckets.
    let (probably, singles) = (drawn(&|likeness| !likeness.probably).value(), once.value().max(1.0));
    let value = if all_once && once.upper() >= total { total } else { once.value() }
        * not_found.min(probably / singles);
    let share = |unlike: f64| 1.0 - unlike / total;
    Estimate::probable(
        share(value.clamp(least.min(most), most.max(least))),
        share(most),
        share(least),
        CONFIDENCE,
    )
}

/// Returns the mean and its standard error.
fn mean_and_error(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = BANDS as f64;
    let mean = values.clone().sum::<f64>() / count;
    let squares = values.map(|value| (value - mean).powi(2)).sum::<f64>();
    (mean, (squares / (count - 1.0) / count).sqrt())
}
