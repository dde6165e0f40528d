//! However values come, a profile and its quantiles are those of an exact model.
//!
//! Arbitrary programs (values by ones and in batches, missing ones, merges, writing and reading)
//! run on two profiles and on lists of all values; their numbers also go through a DDSketch of few
//! bins, which depends on nothing but them.

use arbitrary::Arbitrary;
use crivo::keys::{KeyBuffer, KeyScheme, Span};
use crivo::profile::{ColumnProfile, DDSketch, Kind, ProfileConfig};
use crivo::sketch::Merge;

const SCHEME: KeyScheme = KeyScheme::bytes().with_seed(7);

/// A program, as the fuzzer draws it.
#[derive(Debug, Arbitrary)]
pub struct Program {
    counters: u8,
    bins: u8,
    longest: u8,
    /// Which of the two profiles each step works on.
    steps: Vec<(bool, Step)>,
}

#[derive(Debug, Arbitrary)]
enum Step {
    Text(String),
    Bytes(Vec<u8>),
    Integer(i64),
    Float(f64),
    Batch(Vec<String>),
    Missing(u8),
    MergeOther,
    WriteAndRead,
}

#[derive(Clone)]
struct Column {
    profile: ColumnProfile,
    sketch: DDSketch,
    values: Vec<Vec<u8>>,
    numbers: Vec<f64>,
    missing: u64,
}

impl Column {
    fn new(config: ProfileConfig) -> Self {
        Self {
            profile: ColumnProfile::with_scheme(config, SCHEME, 0).expect("sizes of the range"),
            sketch: DDSketch::new(0.1, config.bins).expect("sizes of the range"),
            values: Vec::new(),
            numbers: Vec::new(),
            missing: 0,
        }
    }

    fn step(&mut self, step: Step, other: &Self) {
        match step {
            Step::Text(text) => self.insert(text.into_bytes()),
            Step::Bytes(bytes) => self.insert(bytes),
            Step::Integer(integer) => self.insert(integer.to_string().into_bytes()),
            Step::Float(float) => {
                self.sketch.insert(float);
                if float.is_finite() {
                    self.numbers.push(float);
                }
                self.insert(format!("{float:?}").into_bytes());
            }
            Step::Batch(texts) => self.batch(texts),
            Step::Missing(rows) => {
                self.profile.add_missing(rows.into());
                self.missing += u64::from(rows);
            }
            Step::MergeOther => {
                if self.values.len() + other.values.len() > 10_000 {
                    return;
                }
                self.profile.merge(&other.profile).expect("the same sizes");
                self.sketch.merge(&other.sketch).expect("the same sizes");
                self.values.extend_from_slice(&other.values);
                self.numbers.extend_from_slice(&other.numbers);
                self.missing += other.missing;
            }
            Step::WriteAndRead => {
                let read =
                    ColumnProfile::decode(&self.profile.encode()).expect("what was written can be read");
                assert_eq!(read, self.profile);
                self.profile = read;
            }
        }
    }

    fn insert(&mut self, value: Vec<u8>) {
        self.profile.insert_bytes(&value).expect("memory for a counter");
        self.values.push(value);
    }

    fn batch(&mut self, texts: Vec<String>) {
        let mut one_by_one = self.profile.clone();
        texts.iter().for_each(|text| one_by_one.insert(text).expect("memory for a counter"));
        let mut buffer = KeyBuffer::new(SCHEME);
        let mut end = 0;
        for text in &texts {
            buffer.push_span(Span::new(end..end + text.len()).expect("a span"));
            end += text.len();
        }
        let bytes = texts.concat();
        let batch = buffer.hash_spans(bytes.as_bytes()).expect("spans of the text");
        self.profile.insert_batch(&batch).expect("memory for a counter");
        assert_eq!(self.profile, one_by_one, "batches matter");
        self.values.extend(texts.into_iter().map(String::into_bytes));
    }

    fn check(&self) {
        let profile = &self.profile;
        assert_eq!((profile.values(), profile.missing()), (self.values.len() as u64, self.missing));
        let longest = profile.config().longest as usize;
        assert_eq!(profile.long(), self.values.iter().filter(|value| value.len() > longest).count() as u64);
        let numbers = profile.count_of(Kind::Integer) + profile.count_of(Kind::Float);
        assert_eq!(profile.numbers().count() + profile.numbers().not_finite(), numbers);
        for hitter in profile.top(5) {
            let name = hitter.into_key();
            let estimate = profile.heavy_hitters().frequency_ref(name.as_ref()).expect("bytes");
            let crivo::keys::KeyRef::Bytes(text) = name.as_ref() else { panic!("{name} is no text") };
            assert!(
                estimate.covers(self.values.iter().filter(|value| value.as_slice() == text).count() as f64)
            );
        }
        let merged_with_nothing = {
            let mut merged = Self::new(profile.config()).profile;
            merged.reseed(1);
            merged.merge(profile).expect("the same sizes");
            (merged.sum(), merged.min(), merged.max(), merged.distinct(), merged.lengths())
        };
        let answers = (profile.sum(), profile.min(), profile.max(), profile.distinct(), profile.lengths());
        assert_eq!(merged_with_nothing, answers);
        self.check_sketch();
    }

    fn check_sketch(&self) {
        let mut sorted = self.numbers.clone();
        sorted.sort_by(f64::total_cmp);
        let mut again =
            DDSketch::new(self.sketch.accuracy(), self.sketch.max_bins()).expect("sizes of the range");
        again.insert_all(&sorted);
        (0..self.sketch.not_finite()).for_each(|_| again.insert(f64::NAN));
        assert_eq!(again.encode(), self.sketch.encode(), "the order matters");
        for share in [0.0, 0.1, 0.5, 0.9, 1.0] {
            let rank = ((share * sorted.len() as f64).ceil() as usize).saturating_sub(1);
            match (sorted.get(rank), self.sketch.quantile(share)) {
                (Some(&truth), Some(quantile)) => {
                    assert!(quantile.covers(truth), "{truth} not in {quantile:?}")
                }
                (truth, quantile) => assert_eq!((truth, quantile), (None, None)),
            }
        }
        for &limit in sorted.iter().take(20) {
            let below = sorted.iter().filter(|&&number| number < limit).count() as f64;
            assert!(self.sketch.count_below(limit).covers(below));
        }
    }
}

/// Checks the promise for one input.
pub fn check(program: Program) {
    let config = ProfileConfig {
        precision: 4,
        counters: u32::from(program.counters) + 1,
        sample: 3,
        accuracy: 0.01,
        bins: u32::from(program.bins) + 16,
        longest: u32::from(program.longest) + 8,
    };
    let mut first = Column::new(config);
    let mut second = first.clone();
    second.profile.reseed(1);
    for (on_first, step) in program.steps {
        if on_first { first.step(step, &second) } else { second.step(step, &first) }
    }
    first.check();
    second.check();
}
