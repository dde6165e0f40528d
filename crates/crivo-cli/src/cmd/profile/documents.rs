//! How many texts of a column say nearly the same as another?
//!
//! **Question.** What share of the documents, which are the longer texts of the column, has a near-duplicate in it: another that
//! shares at least four fifths of all their runs of eight bytes (Jaccard similarity 0.8, letters of ASCII taken as
//! small)?
//!
//! **Idea.** A sample of rows would miss nearly all pairs: both documents must be drawn. So documents are also drawn
//! by what they say. In each of eight *bands* every run is hashed in another way, and the smallest hash is the document's
//! mark there. Two documents with similarity `J` share a mark with probability `J`. All documents of a mark make
//! a *heap*, and a heap is drawn with chance `θ`, as one. Apart from that every different text is drawn by itself
//! with chance `2θ`. `θ` falls as documents come, such that what is drawn has room; all that was drawn is compared, pair by pair, by
//! sketches of its runs.
//!
//! Texts that say different things share marks too, if they share a greeting or a form: a heap may then hold
//! half of the column, none of it alike. So heaps, not documents, are what was drawn: a document counts `1/θ` in
//! each band, and what is uncertain is read off the eight bands, which were drawn independently of each other. Of a heap
//! with many texts those with the smallest marks of the next band are kept: a heap is sampled as the column is.
//!
//! **Bounds.** At 95 %. With `N` documents, of which `F` have a text that comes once, let `U` of these be *lonely*, that is without
//! a near-duplicate; the share is `1 − U/N`. `U` is bounded from either side by what was seen, never by what was not:
//!
//! - from above by the single draws, of which each that has a near-duplicate among all that was drawn is not lonely, with the
//!   bounds of the binomial distribution; and by `F` less those with a near-duplicate in the heaps;
//! - from below by the lonely ones in the heaps. A document with one near-duplicate seems lonely with probability
//!   `1 − J ≤ 0.2` (in a sampled heap `1 − J² ≤ 0.36`), so `U + 0.2(F − U)` is the most that are seen.
//!
//! Bounds from bands are Student's over eight independent values, at 98 % on one side, those of single draws at 99.5 %;
//! two of each make 95 %. A large heap that was not drawn makes both bounds weak, and the interval wide. Sketches of 64
//! runs are off by 0.05 near the threshold: pairs that close to it count for no bound; shorter texts are compared
//! exactly. While all different texts are kept, all pairs are compared, and nothing else is in doubt.
//!
//! **Sources.** Broder: *On the resemblance and containment of documents* (1997), for marks and sketches of runs. Wolter:
//! *Introduction to Variance Estimation* (2007), chapter 2, for the variance between independent samples (random groups).

use std::collections::HashMap;

use crivo::math::sampled_total;
use crivo::{Confidence, Estimate};
use xxhash_rust::xxh3::xxh3_64;

/// The least similarity of near-duplicates.
pub(super) const SIMILAR: f64 = 0.8;
/// A run of bytes.
const RUN: usize = 8;
/// Shorter values are names, codes and addresses.
const SHORTEST: usize = 32;
/// A document has a few words.
const LEAST_BLANKS: usize = 3;
/// How many runs the sketch of a document has.
const SKETCH: usize = 64;
/// How far an estimated similarity may be off: twice its standard error at the threshold.
const DOUBT: f64 = 0.1;
/// How often heaps are drawn independently.
const BANDS: usize = 8;
/// What is below this with probability 0.98 if it is distributed as Student's t with seven degrees of freedom.
const STUDENT: f64 = 2.517;
/// How much likelier a text is drawn by itself than its heap in a band.
const SINGLY: u64 = 2;
/// Texts kept of a heap.
const KEPT: usize = 16;
/// Odd factors, each of which puts hashes in another order.
const FACTORS: [u32; BANDS] =
    [0x9E37_79B1, 0x85EB_CA77, 0xC2B2_AE3D, 0x27D4_EB2F, 0x1656_67B1, 0xD3A2_646D, 0xFD70_46C5, 0xB55A_4F09];

/// A sample of a column's documents.
#[derive(Debug, Clone)]
pub(super) struct Documents {
    /// How many texts are kept; 0 if the column has no room for any.
    capacity: usize,
    /// What is smaller is drawn.
    threshold: u64,
    seen: u64,
    /// By the hash of the text.
    drawn: HashMap<u64, Drawn>,
    runs: Vec<u32>,
}

/// A text that was drawn.
#[derive(Debug, Clone)]
struct Drawn {
    count: u64,
    /// Of each band.
    marks: [u64; BANDS],
    /// The smallest hashes of the runs, ascending.
    sketch: Box<[u32]>,
}

impl Documents {
    /// Bytes that each text can take.
    pub(super) const BYTES_EACH: usize = SKETCH * size_of::<u32>() + 16 + 2 * (size_of::<(u64, Drawn)>() + 1);
    /// With fewer texts the answer would be too wide to be of use.
    pub(super) const FEWEST: usize = 128;
    pub(super) const MOST: usize = 1024;

    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, threshold: u64::MAX, seen: 0, drawn: HashMap::new(), runs: Vec::new() }
    }

    /// How many documents there were.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    /// Takes a value, if it is a document.
    #[inline]
    pub(super) fn insert(&mut self, text: &[u8]) {
        if text.len() >= SHORTEST && self.capacity > 0 && is_document(text) {
            self.insert_document(text);
        }
    }

    #[inline(never)]
    fn insert_document(&mut self, text: &[u8]) {
        self.seen += 1;
        let hash = xxh3_64(text);
        if let Some(drawn) = self.drawn.get_mut(&hash) {
            drawn.count += 1;
            return;
        }
        self.runs.clear();
        self.runs.extend(runs(text));
        let marks = marks(&self.runs);
        if rank(hash, &marks) >= self.threshold {
            return;
        }
        self.runs.sort_unstable();
        self.runs.dedup();
        self.runs.truncate(SKETCH);
        self.drawn.insert(hash, Drawn { count: 1, marks, sketch: self.runs.as_slice().into() });
        if self.drawn.len() > self.capacity {
            self.make_room();
        }
    }

    /// Lowers the threshold until seven eighths are full.
    ///
    /// What is left depends on the texts only, not on their order: the smallest of all are the smallest of any part.
    #[cold]
    fn make_room(&mut self) {
        let room = self.capacity * 7 / 8;
        let mut texts: Vec<(u64, [u64; BANDS])> =
            self.drawn.iter().map(|(&hash, drawn)| (hash, drawn.marks)).collect();
        texts.sort_unstable();
        let mut wanted = Wanted::new(&texts, self.threshold);
        if wanted.places > room {
            let mut ranks: Vec<u64> = texts.iter().map(|(hash, marks)| rank(*hash, marks)).collect();
            ranks.sort_unstable();
            let too_many = ranks.partition_point(|&rank| Wanted::new(&texts, rank).places <= room);
            self.threshold = ranks[too_many.saturating_sub(1)];
            wanted = Wanted::new(&texts, self.threshold);
        }
        for ((hash, _), _) in texts.iter().zip(wanted.texts).filter(|(_, wanted)| !wanted) {
            self.drawn.remove(hash);
        }
    }

    /// Makes this the sample of both columns' documents.
    pub(super) fn merge(&mut self, other: Self) {
        self.seen += other.seen;
        self.threshold = self.threshold.min(other.threshold);
        #[allow(clippy::iter_over_hash_type)] // each text is merged by itself
        for (hash, theirs) in other.drawn {
            self.drawn.entry(hash).and_modify(|mine| mine.count += theirs.count).or_insert(theirs);
        }
        self.drawn.retain(|hash, drawn| rank(*hash, &drawn.marks) < self.threshold);
        if self.drawn.len() > self.capacity {
            self.make_room();
        }
    }

    /// The share of documents with a near-duplicate; none if there are no documents.
    pub(super) fn near_duplicates(&self) -> Option<Estimate> {
        if self.seen == 0 {
            return None;
        }
        let mut sample = self.clone();
        if self.threshold < u64::MAX {
            sample.make_room();
        }
        let mut texts: Vec<(u64, Drawn)> = sample.drawn.into_iter().collect();
        // In an order of their own, so that sums are the same to the last bit every time.
        texts.sort_unstable_by_key(|(hash, _)| *hash);
        let total = self.seen as f64;
        let alike = alike(&texts);
        if sample.threshold == u64::MAX {
            let share = |is_alike: fn(&Alike) -> bool| {
                let those = texts.iter().zip(&alike).filter(|(_, alike)| is_alike(alike));
                those.map(|((_, drawn), _)| drawn.count).sum::<u64>() as f64 / total
            };
            let (value, lower) = (share(|alike| alike.probably), share(|alike| alike.surely));
            return Some(Estimate::probable(value, lower, share(|alike| alike.perhaps), Confidence::P95));
        }
        Some(estimate(&texts, &alike, sample.threshold, total))
    }
}

/// What was found out about a text.
#[derive(Debug, Clone, Copy, Default)]
struct Alike {
    /// Whether it has a near-duplicate, for what is known of both.
    surely: bool,
    probably: bool,
    perhaps: bool,
    /// The greatest similarity to another.
    similarity: f64,
}

/// Which texts are drawn.
#[derive(Debug)]
struct Wanted {
    texts: Vec<bool>,
    /// How often one is, by itself or in a heap.
    places: usize,
}

impl Wanted {
    fn new(texts: &[(u64, [u64; BANDS])], threshold: u64) -> Self {
        let mut wanted: Vec<bool> = texts.iter().map(|(hash, _)| hash / SINGLY < threshold).collect();
        let mut places = wanted.iter().filter(|wanted| **wanted).count();
        for band in 0..BANDS {
            let members = texts.iter().enumerate().map(|(at, (_, marks))| (marks, at));
            for heap in heaps(members, band, threshold).chunk_by(|one, other| one.mark == other.mark) {
                heap.iter().take(KEPT).for_each(|member| wanted[member.at] = true);
                places += heap.len().min(KEPT);
            }
        }
        Self { texts: wanted, places }
    }
}

/// A text in a heap; in the order of heaps, and in each of what is kept first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Member {
    mark: u64,
    next_mark: u64,
    at: usize,
}

/// The texts that are drawn in a band, heap after heap.
fn heaps<'a>(
    texts: impl Iterator<Item = (&'a [u64; BANDS], usize)>,
    band: usize,
    threshold: u64,
) -> Vec<Member> {
    let drawn = texts.filter(|(marks, _)| marks[band] < threshold);
    let mut members: Vec<Member> = drawn
        .map(|(marks, at)| Member { mark: marks[band], next_mark: marks[(band + 1) % BANDS], at })
        .collect();
    members.sort_unstable();
    members
}

/// What the heaps of a band hold of texts that come once.
#[derive(Debug, Default)]
struct Band {
    lonely: f64,
    /// Those of the lonely that are in heaps of which a part is kept.
    lonely_of_part: f64,
    surely_alike: f64,
    probably_lonely: f64,
    probably_alike: f64,
    /// And for each found so many are missed, or more if it has several near-duplicates.
    missed: f64,
}

impl Band {
    fn new(texts: &[(u64, Drawn)], alike: &[Alike], band: usize, threshold: u64) -> Self {
        let mut sums = Self::default();
        let members = texts.iter().enumerate().map(|(at, (_, drawn))| (&drawn.marks, at));
        for heap in heaps(members, band, threshold).chunk_by(|one, other| one.mark == other.mark) {
            // There may be more than the most that are kept. What lies at the limit itself is what set it.
            let limit = heap.get(KEPT - 1).map(|last| last.next_mark);
            let counts = limit.map_or(1.0, |limit| 2_f64.powi(64) / (limit as f64).max(1.0));
            let below = heap.partition_point(|member| limit.is_none_or(|limit| member.next_mark < limit));
            // If all have the same next mark too, those that are alike stand for themselves only.
            let (kept, counts, all_same) =
                if below == 0 { (&heap[..KEPT], 1.0, true) } else { (&heap[..below], counts, false) };
            for member in kept.iter().filter(|member| texts[member.at].1.count == 1) {
                let alike = &alike[member.at];
                if all_same && !alike.probably {
                    continue;
                }
                let chance = alike.similarity.max(SIMILAR).powi(if limit.is_some() { 2 } else { 1 });
                let when = |is_so: bool| if is_so { counts } else { 0.0 };
                sums.lonely += when(!alike.perhaps);
                sums.lonely_of_part += when(!alike.perhaps && limit.is_some());
                sums.surely_alike += when(alike.surely);
                sums.probably_lonely += when(!alike.probably);
                sums.probably_alike += when(alike.probably);
                sums.missed += when(alike.probably) * (1.0 / chance - 1.0);
            }
        }
        sums
    }
}

/// The share from a sample.
fn estimate(texts: &[(u64, Drawn)], alike: &[Alike], threshold: u64, total: f64) -> Estimate {
    let chance = threshold as f64 / 2_f64.powi(64);
    let by_itself: Vec<(bool, &Alike)> = texts
        .iter()
        .zip(alike)
        .filter(|((hash, _), _)| hash / SINGLY < threshold)
        .map(|((_, drawn), alike)| (drawn.count == 1, alike))
        .collect();
    let drawn = |is_so: &dyn Fn(&Alike) -> bool| {
        let count = by_itself.iter().filter(|(once, alike)| *once && is_so(alike)).count();
        sampled_total(count as u64, (SINGLY as f64 * chance).min(1.0), Confidence::P99).limited_to(0.0, total)
    };
    let (once, not_alike) = (drawn(&|_| true), drawn(&|alike| !alike.surely));
    let all_once = by_itself.iter().all(|(once, _)| *once);

    let bands: Vec<Band> = (0..BANDS).map(|band| Band::new(texts, alike, band, threshold)).collect();
    let mean = |what: fn(&Band) -> f64| mean_and_error(bands.iter().map(|band| what(band) / chance));
    let (lonely, lonely_error) = mean(|band| band.lonely);
    let (with_like, with_like_error) = mean(|band| band.surely_alike);

    let most = not_alike.upper().min(once.upper() - (with_like - STUDENT * with_like_error).max(0.0));
    let (missed_of_all, missed_of_part) = (1.0 - SIMILAR, 1.0 - SIMILAR * SIMILAR);
    let part = mean(|band| band.lonely_of_part).0 / lonely.max(1.0);
    let missed = missed_of_all + (missed_of_part - missed_of_all) * part;
    let least = (lonely - STUDENT * lonely_error - missed * once.upper()) / (1.0 - missed);
    let (least, most) = (least.clamp(0.0, total), most.clamp(0.0, total));

    let seen = mean(|band| band.probably_lonely + band.probably_alike).0;
    let found = mean(|band| band.probably_alike + band.missed).0;
    let not_found = 1.0 - (found / seen.max(1.0)).min(1.0);
    // Of the largest heaps single draws find more.
    let (probably, singles) = (drawn(&|alike| !alike.probably).value(), once.value().max(1.0));
    let value = if all_once && once.upper() >= total { total } else { once.value() }
        * not_found.min(probably / singles);
    let share = |lonely: f64| 1.0 - lonely / total;
    Estimate::probable(
        share(value.clamp(least.min(most), most.max(least))),
        share(most),
        share(least),
        Confidence::P95,
    )
}

/// The mean, and its standard error.
fn mean_and_error(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = BANDS as f64;
    let mean = values.clone().sum::<f64>() / count;
    let squares = values.map(|value| (value - mean).powi(2)).sum::<f64>();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

/// What each text has in common with the others.
fn alike(texts: &[(u64, Drawn)]) -> Vec<Alike> {
    let copied = Alike { surely: true, probably: true, perhaps: true, similarity: 1.0 };
    let mut alike: Vec<Alike> =
        texts.iter().map(|(_, drawn)| if drawn.count > 1 { copied } else { Alike::default() }).collect();
    for (at, (_, one)) in texts.iter().enumerate() {
        for (of, (_, other)) in texts.iter().enumerate().skip(at + 1) {
            let Some(similarity) = similarity(&one.sketch, &other.sketch, SIMILAR - DOUBT) else { continue };
            // Without its largest hashes a sketch is all there is.
            let exact = one.sketch.len() < SKETCH && other.sketch.len() < SKETCH;
            let doubt = if exact { 0.0 } else { DOUBT };
            for text in [at, of] {
                let text = &mut alike[text];
                text.surely |= similarity >= SIMILAR + doubt;
                text.probably |= similarity >= SIMILAR;
                text.perhaps |= similarity >= SIMILAR - doubt;
                text.similarity = text.similarity.max(similarity);
            }
        }
    }
    alike
}

/// The share of the smallest hashes of both that both have, which is exact if neither sketch is full; none if it is
/// less than `least`.
fn similarity(one: &[u32], other: &[u32], least: f64) -> Option<f64> {
    let (mut at, mut of, mut common, mut union) = (0, 0, 0_usize, 0_usize);
    let most_apart = ((1.0 - least) * SKETCH.min(one.len() + other.len()) as f64) as usize;
    while union < SKETCH && (at < one.len() || of < other.len()) {
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

fn is_document(text: &[u8]) -> bool {
    // Nearly every text that is one shows it at once.
    text.iter().filter(|&&byte| byte == b' ').take(LEAST_BLANKS).count() == LEAST_BLANKS
}

/// The hash of every run, capitals taken as small letters.
#[inline]
fn runs(text: &[u8]) -> impl Iterator<Item = u32> {
    text.windows(RUN).map(|run| {
        let run = run.first_chunk::<RUN>().map_or(0, |run| u64::from_le_bytes(*run)) | 0x2020_2020_2020_2020;
        // The finalizer of MurmurHash3 without its last step: the high bits are well mixed.
        let mixed = (run ^ run >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        ((mixed ^ mixed >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53) >> 32) as u32
    })
}

/// The mark of each band. Hashed once more, because the smallest of many is small: of a longer document smaller.
#[inline]
fn marks(runs: &[u32]) -> [u64; BANDS] {
    let mut least = [u32::MAX; BANDS];
    for run in runs {
        for (least, factor) in least.iter_mut().zip(FACTORS) {
            *least = (*least).min(run.wrapping_mul(factor));
        }
    }
    let mut band = 0;
    least.map(|least| {
        band += 1;
        xxh3_64(&(u64::from(least) | band << 32).to_le_bytes())
    })
}

/// The text is drawn, by itself or in a heap, if this is below the threshold.
fn rank(hash: u64, marks: &[u64; BANDS]) -> u64 {
    marks.iter().fold(hash / SINGLY, |least, mark| least.min(*mark))
}

#[cfg(test)]
mod tests;
