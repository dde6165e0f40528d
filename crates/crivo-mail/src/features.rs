//! From a message to the features of the linear model.
//!
//! A feature is something that a message has or does not have. It is a word, two words together, a
//! run of three or five bytes, a word of the subject, or a fact. Facts are about the structure of
//! the message or about its headers. No kind of feature depends on a language. Runs of two and
//! three letters that are not ASCII are features as well. They help with Chinese, which has no
//! spaces between words, and with scripts whose letters take two or more bytes each. (Three words
//! together, and two with one between them, were tried. Cross-validation found that they add
//! nothing to runs of characters.)
//!
//! Names are hashed into slots with a sign (`crivo::hash::FeatureHasher`), so there is no
//! dictionary to keep. A message becomes an ascending list of numbers, and each number holds a slot
//! and a sign.
//!
//! Presence counts, not frequency: a word that is repeated a hundred times says no more than one
//! that is there once. The features of a text have length 1 as a vector, so that long messages do
//! not count more. Headers and structure have a length of their own ([`Scales`]).

use crivo::Result;
use crivo::hash::FeatureHasher;
use crivo::keys::Words;
use xxhash_rust::xxh3::xxh3_64;

use crate::message::Message;

/// The base-2 logarithm of the number of slots.
pub(crate) const BITS: u8 = 20;

/// The first slot of transport headers. It stands for the fact that a message has such headers.
pub(crate) const TRANSPORT: usize = 1 << BITS;

/// The base-2 logarithm of the number of slots of transport headers.
const TRANSPORT_BITS: u8 = 14;

/// The first slot of facts about how a message is built and what its headers say.
pub(crate) const STRUCTURE: usize = TRANSPORT + (1 << TRANSPORT_BITS);

/// The base-2 logarithm of the number of slots of such facts.
const STRUCTURE_BITS: u8 = 16;

/// All slots of the model.
pub(crate) const SLOTS: usize = STRUCTURE + (1 << STRUCTURE_BITS);

/// The most words of a message that are read.
const WORDS: usize = 1200;

/// The most characters of a message that are read for runs.
const CHARACTERS: usize = 1500;

/// The bytes that are kept of a longer word, because the rest says no more.
const LONG_WORD: usize = 40;

/// The length of a message's headers and structure as a vector, where that of its text is 1. On raw
/// messages of `GP`, `farmer-d` and `williams-w3`, ten taught messages leave two thirds of mail
/// unsure at 0.2, and less than half at 0.3. It is not larger, because the more headers count, the
/// more they can mislead.
const STRUCTURE_LENGTH: f32 = 0.3;

/// Is added to the number of facts, so that each of a few facts counts no more than it would among
/// about this number.
const FEW_FACTS: f32 = 10.0;

/// A feature in a form that can be shown to readers.
#[derive(Debug, Clone, Copy)]
enum Name<'a> {
    Word(&'a [u8]),
    Pair(&'a [u8], &'a [u8]),
    Run(&'a [u8]),
    Subject(&'a [u8]),
    Fact(&'a str),
}

impl Name<'_> {
    fn readable(self) -> String {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match self {
            Self::Word(word) => format!("the word {:?}", text(word)),
            Self::Pair(one, other) => format!("the words {:?}", text(one) + " " + &text(other)),
            Self::Run(run) => format!("the characters {:?}", text(run)),
            Self::Subject(word) => format!("the word {:?} in the subject", text(word)),
            Self::Fact(fact) => format!("{fact:?}"),
        }
    }
}

/// Makes the features of messages, in buffers that it reuses.
#[derive(Debug, Clone)]
pub(crate) struct Featurizer {
    spaces: Spaces,
    words: Words,
    text: String,
    run: Vec<u8>,
    entries: Vec<u32>,
    /// Room for sorting.
    sorted: Vec<u32>,
}

/// A namespace for each kind of feature.
#[derive(Debug, Clone, Copy)]
struct Spaces {
    word: FeatureHasher,
    pair: FeatureHasher,
    runs: [FeatureHasher; 2],
    subject: FeatureHasher,
    fact: FeatureHasher,
    letters: FeatureHasher,
}

impl Featurizer {
    /// Makes features in as many slots as the model has.
    ///
    /// # Errors
    /// Never in practice, because the number of slots is allowed.
    pub(crate) fn new() -> Result<Self> {
        let hasher = FeatureHasher::new(BITS)?;
        let spaces = Spaces {
            word: hasher.namespace("word"),
            pair: hasher.namespace("pair"),
            runs: ["run of 3", "run of 5"].map(|name| hasher.namespace(name)),
            subject: hasher.namespace("subject"),
            fact: hasher.namespace("fact"),
            letters: hasher.namespace("letters"),
        };
        Ok(Self {
            spaces,
            words: Words::default(),
            text: String::new(),
            run: Vec::new(),
            entries: Vec::new(),
            sorted: Vec::new(),
        })
    }

    /// Returns the features of a message, ascending, each once. A feature is twice the slot, plus
    /// one if the sign is negative.
    pub(crate) fn features(&mut self, message: &Message) -> &[u32] {
        let mut entries = std::mem::take(&mut self.entries);
        entries.clear();
        self.visit(message, |entry, _| entries.push(entry));
        sort(&mut entries, &mut self.sorted);
        dedup(&mut entries);
        self.entries = entries;
        &self.entries
    }

    /// Returns the features with the largest weights, with readable names and what each adds to the
    /// margin.
    pub(crate) fn strongest(
        &mut self,
        message: &Message,
        weights: &[f32],
        most: usize,
    ) -> Vec<(String, f64)> {
        let mut found: Vec<(u32, f32, String)> = Vec::new();
        let mut least = 0.0_f32;
        let mut seen = Vec::new();
        self.visit(message, |entry, name| {
            seen.push(entry);
            // Runs of characters have weights, but tell a reader nothing.
            if matches!(name, Name::Run(_)) {
                return;
            }
            let weight = signed(weights, entry);
            if weight.abs() > least && !found.iter().any(|(other, ..)| *other == entry) {
                found.push((entry, weight, name.readable()));
                found.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
                found.truncate(most);
                if found.len() == most {
                    least = found.last().map_or(0.0, |last| last.1.abs());
                }
            }
        });
        seen.sort_unstable();
        seen.dedup();
        let scales = Scales::of(&seen, true);
        let scale =
            |entry: u32| if ((entry >> 1) as usize) < TRANSPORT { scales.text } else { scales.structure };
        found.into_iter().map(|(entry, weight, name)| (name, f64::from(weight * scale(entry)))).collect()
    }

    fn visit(&mut self, message: &Message, mut take: impl FnMut(u32, Name<'_>)) {
        let spaces = self.spaces;
        for fact in &message.facts {
            take(place(spaces.fact, fact.as_bytes()), Name::Fact(fact));
        }
        for fact in message.facts.iter().chain(&message.values) {
            take(place_of_structure(spaces.fact, fact.as_bytes()), Name::Fact(fact));
        }
        if !message.transport.is_empty() {
            take((TRANSPORT as u32) << 1, Name::Run(b""));
        }
        for fact in &message.transport {
            take(place_of_transport(spaces.fact, fact.as_bytes()), Name::Fact(fact));
        }
        self.words.read(message.subject.as_bytes());
        for word in self.words.iter().take(WORDS) {
            take(place(spaces.subject, word), Name::Subject(word));
        }
        self.text.clear();
        self.text.push_str(&message.subject);
        self.text.push('\n');
        self.text.push_str(&message.text);

        self.words.read(self.text.as_bytes());
        let mut last: (&[u8], u64) = (b"", 0);
        for word in self.words.iter().take(WORDS) {
            let word = &word[..word.len().min(LONG_WORD)];
            let hash = xxh3_64(word);
            take(place(spaces.word, &hash.to_le_bytes()), Name::Word(word));
            let pair = (u128::from(last.1) << 64 | u128::from(hash)).to_le_bytes();
            take(place(spaces.pair, &pair), Name::Pair(last.0, word));
            last = (word, hash);
        }

        self.run.clear();
        let mut blank = true;
        for &byte in self.text.as_bytes() {
            let is_blank = byte.is_ascii_whitespace();
            if !(is_blank && blank) {
                self.run.push(if is_blank { b' ' } else { byte });
            }
            blank = is_blank;
            if self.run.len() >= CHARACTERS {
                break;
            }
        }
        let [of_3, of_5] = spaces.runs;
        visit_runs::<3>(&self.run, of_3, &mut take);
        visit_runs::<5>(&self.run, of_5, &mut take);
        if !self.text.is_ascii() {
            visit_letters(&self.text, spaces.letters, &mut take);
        }
    }
}

/// Visits runs of two and three letters that are not ASCII.
fn visit_letters(text: &str, space: FeatureHasher, take: &mut impl FnMut(u32, Name<'_>)) {
    // Where the last two letters of the current run begin.
    let mut last = [None; 2];
    for (at, c) in text.char_indices().take(CHARACTERS) {
        if c.is_ascii() || !c.is_alphabetic() {
            last = [None; 2];
            continue;
        }
        for start in last.into_iter().flatten() {
            let letters = &text.as_bytes()[start..at + c.len_utf8()];
            take(place(space, letters), Name::Word(letters));
        }
        last = [last[1], Some(at)];
    }
}

/// Visits runs of `LENGTH` bytes. The compiler knows the length, so that hashing does not choose a
/// path for each of thousands of runs.
#[inline(always)]
fn visit_runs<const LENGTH: usize>(text: &[u8], space: FeatureHasher, take: &mut impl FnMut(u32, Name<'_>)) {
    for run in text.windows(LENGTH) {
        if let Some(known) = run.first_chunk::<LENGTH>() {
            take(place(space, known), Name::Run(run));
        }
    }
}

/// Sorts entries by two digits of eleven bits each (radix sort). A message has some three thousand
/// entries, and a sort by comparisons would take half the time of a check.
fn sort(entries: &mut Vec<u32>, room: &mut Vec<u32>) {
    const DIGIT: u32 = 11;
    const { assert!((BITS as u32) < 2 * DIGIT) };
    room.clear();
    room.resize(entries.len(), 0);
    for shift in [0, DIGIT] {
        let digit = |entry: u32| (entry >> shift & ((1 << DIGIT) - 1)) as usize;
        let mut places = [0_u32; 1 << DIGIT];
        for &entry in entries.iter() {
            places[digit(entry)] += 1;
        }
        let mut start = 0;
        for place in &mut places {
            start += std::mem::replace(place, start);
        }
        for &entry in entries.iter() {
            let place = &mut places[digit(entry)];
            room[*place as usize] = entry;
            *place += 1;
        }
        std::mem::swap(entries, room);
    }
}

/// Keeps each of the sorted entries once. Which entries are repeated cannot be predicted, so no
/// branch depends on it.
fn dedup(entries: &mut Vec<u32>) {
    let Some(&last) = entries.last() else { return };
    let mut kept = 0;
    for at in 1..entries.len() {
        let (entry, next) = (entries[at - 1], entries[at]);
        entries[kept] = entry;
        kept += usize::from(entry != next);
    }
    entries[kept] = last;
    entries.truncate(kept + 1);
}

#[inline(always)]
fn place(space: FeatureHasher, name: &[u8]) -> u32 {
    let (slot, weight) = space.place(name, 1.0);
    slot << 1 | u32::from(weight < 0.0)
}

/// Returns the place of a transport header, in any slot of transport headers but the first.
fn place_of_transport(space: FeatureHasher, name: &[u8]) -> u32 {
    let (slot, weight) = space.place(name, 1.0);
    let slot = TRANSPORT as u32 + (slot >> (BITS - TRANSPORT_BITS)).max(1);
    slot << 1 | u32::from(weight < 0.0)
}

/// Returns the place of a fact about how a message is built.
fn place_of_structure(space: FeatureHasher, name: &[u8]) -> u32 {
    let (slot, weight) = space.place(name, 1.0);
    (STRUCTURE as u32 + (slot >> (BITS - STRUCTURE_BITS))) << 1 | u32::from(weight < 0.0)
}

/// What a feature counts: one of the text, which come first, and one of headers and structure.
///
/// A message has thousands of runs of characters, and a few dozen facts. In one group the facts
/// would count next to nothing, and the less the longer the text is. So each group has a length of
/// its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scales {
    /// The number of features of the text.
    pub(crate) text_features: usize,
    pub(crate) text: f32,
    pub(crate) structure: f32,
}

impl Scales {
    /// Returns the scales of ascending features. Unless they are `grouped`, all features count the
    /// same, as in older stores.
    #[inline]
    pub(crate) fn of(features: &[u32], grouped: bool) -> Self {
        let each = |count: f32| 1.0 / count.max(1.0).sqrt();
        if !grouped {
            let scale = each(features.len() as f32);
            return Self { text_features: features.len(), text: scale, structure: scale };
        }
        let text_features = features.partition_point(|entry| ((entry >> 1) as usize) < TRANSPORT);
        let facts = (features.len() - text_features) as f32;
        let structure = STRUCTURE_LENGTH * each(facts + FEW_FACTS);
        Self { text_features, text: each(text_features as f32), structure }
    }
}

/// Returns the weight of an entry, with its sign.
#[inline(always)]
pub(crate) fn signed(weights: &[f32], entry: u32) -> f32 {
    with_sign(weights.get((entry >> 1) as usize).copied().unwrap_or_default(), entry)
}

/// Returns a number with the sign of an entry.
#[inline(always)]
pub(crate) fn with_sign(number: f32, entry: u32) -> f32 {
    f32::from_bits(number.to_bits() ^ entry << 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn digits_sort_as_comparisons_do(mut entries in prop::collection::vec(0_u32..1 << 21, 0..300)) {
            let mut expected = entries.clone();
            expected.sort_unstable();
            sort(&mut entries, &mut Vec::new());
            prop_assert_eq!(&entries, &expected);
            expected.dedup();
            dedup(&mut entries);
            prop_assert_eq!(&entries, &expected);
        }
    }

    #[test]
    fn the_strongest_features_come_first_and_have_names() {
        let mut featurizer = Featurizer::new().unwrap();
        let message = Message::read(b"Subject: one\n\ntwo words");
        let features = featurizer.features(&message).to_vec();
        let mut weights = vec![0.0; SLOTS];
        for (rank, entry) in features.iter().enumerate() {
            weights[(entry >> 1) as usize] = rank as f32 + 1.0;
        }
        let strongest = featurizer.strongest(&message, &weights, 3);
        assert_eq!(strongest.len(), 3);
        assert!(strongest.is_sorted_by(|a, b| a.1.abs() >= b.1.abs()));
        let strongest = featurizer.strongest(&message, &weights, 1000);
        for (name, weight) in &strongest {
            assert!(weight.abs() as f32 <= (features.len() as f32).sqrt() * 1.5, "{name}");
        }
        assert!(strongest.iter().any(|(name, _)| name == "the words \"two words\""));
        assert!(strongest.iter().any(|(name, _)| name == "the word \"one\" in the subject"));
    }
}
