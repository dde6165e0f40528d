//! From a message to the features of the linear model.
//!
//! A feature is something a message has or has not: a word, two words together, a run of three or five bytes, a word of
//! the subject, a fact about how it is built or what its headers say. None of them belongs to a language. Where letters
//! are not ASCII, two and three of them together are features as well: Chinese has no blanks between words, and other
//! scripts take two bytes a letter. (Three words together, and two with one between them, were tried: cross-validation
//! found nothing in them that runs of characters do not have.)
//!
//! Names are hashed into slots with a sign (`crivo::hash::FeatureHasher`), so there is no dictionary to keep, and a
//! message becomes an ascending list of numbers: slot and sign in one.
//!
//! Presence counts, not frequency: a word that is repeated a hundred times says no more than one that is there. The
//! features of a text have length 1 as a vector, so that long messages do not shout; headers and structure have a
//! length of their own ([`Scales`]).

use crivo::Result;
use crivo::hash::FeatureHasher;
use crivo::keys::Words;
use xxhash_rust::xxh3::xxh3_64;

use crate::message::Message;

/// The base-2 logarithm of the number of slots.
pub(crate) const BITS: u8 = 20;

/// From this slot on, features of transport headers. The first one is that a message has such headers at all.
pub(crate) const TRANSPORT: usize = 1 << BITS;

/// How many slots transport headers have.
const TRANSPORT_BITS: u8 = 14;

/// From this slot on, facts about how a message is built and what its headers say.
pub(crate) const STRUCTURE: usize = TRANSPORT + (1 << TRANSPORT_BITS);

/// How many slots such facts have.
const STRUCTURE_BITS: u8 = 16;

/// All slots of the model.
pub(crate) const SLOTS: usize = STRUCTURE + (1 << STRUCTURE_BITS);

/// How many words of a message are looked at.
const WORDS: usize = 1200;

/// How many characters of a message are looked at.
const CHARACTERS: usize = 1500;

/// Longer words say no more than their beginning.
const LONG_WORD: usize = 40;

/// The length of a message's headers and structure as a vector, where that of its text is 1. On raw messages of `GP`,
/// `farmer-d` and `williams-w3`, ten taught messages leave two thirds of mail unsure at 0.2, and less than half at 0.3. More is
/// not taken, because the more headers count, the more they can mislead.
const STRUCTURE_LENGTH: f32 = 0.3;

/// With fewer facts than about this number, each counts no more than it would among as many.
const FEW_FACTS: f32 = 10.0;

/// What a feature is, for readers.
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

/// Makes features of one message after the other, in buffers it keeps.
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
    /// Features in as many slots as the model has.
    ///
    /// # Errors
    /// Never, in fact: the number of slots is allowed.
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

    /// The features of a message, ascending, each once: twice the slot, plus one if the sign is negative.
    pub(crate) fn features(&mut self, message: &Message) -> &[u32] {
        let mut entries = std::mem::take(&mut self.entries);
        entries.clear();
        self.visit(message, |entry, _| entries.push(entry));
        sort(&mut entries, &mut self.sorted);
        dedup(&mut entries);
        self.entries = entries;
        &self.entries
    }

    /// The features that weigh most, with readable names and what each adds to the sum.
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
            // Three letters weigh, but tell a reader nothing.
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

/// Two and three letters together, of those that are not ASCII.
fn visit_letters(text: &str, space: FeatureHasher, take: &mut impl FnMut(u32, Name<'_>)) {
    // Where the last two letters begin, of those that stand together.
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

/// Runs of a number of bytes. The compiler knows the length, so that hashing chooses no path for each of thousands of runs.
#[inline(always)]
fn visit_runs<const LENGTH: usize>(text: &[u8], space: FeatureHasher, take: &mut impl FnMut(u32, Name<'_>)) {
    for run in text.windows(LENGTH) {
        if let Some(known) = run.first_chunk::<LENGTH>() {
            take(place(space, known), Name::Run(run));
        }
    }
}

/// Sorts entries by their digits, of eleven bits each: three thousand at a time are sorted in two rounds without a
/// comparison, which would be half the time of a check.
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

/// Keeps each of sorted entries once. Which of them are repeated cannot be foreseen, so no branch depends on it.
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

/// The place of a transport header: one of the last slots, but for the first of them.
fn place_of_transport(space: FeatureHasher, name: &[u8]) -> u32 {
    let (slot, weight) = space.place(name, 1.0);
    let slot = TRANSPORT as u32 + (slot >> (BITS - TRANSPORT_BITS)).max(1);
    slot << 1 | u32::from(weight < 0.0)
}

/// The place of a fact about how a message is built.
fn place_of_structure(space: FeatureHasher, name: &[u8]) -> u32 {
    let (slot, weight) = space.place(name, 1.0);
    (STRUCTURE as u32 + (slot >> (BITS - STRUCTURE_BITS))) << 1 | u32::from(weight < 0.0)
}

/// What the features of a message count: those of its text, which come first, and those of its headers and structure.
///
/// A message has thousands of runs of characters, and a few dozen facts. In one group the facts would be worth next to
/// nothing, the less the longer the text is. So each group has a length of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scales {
    /// How many features are of the text.
    pub(crate) text_features: usize,
    pub(crate) text: f32,
    pub(crate) structure: f32,
}

impl Scales {
    /// The scales of ascending features. If they are not `grouped`, all count the same, as in older stores.
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

/// The weight of an entry, with its sign.
#[inline(always)]
pub(crate) fn signed(weights: &[f32], entry: u32) -> f32 {
    with_sign(weights.get((entry >> 1) as usize).copied().unwrap_or_default(), entry)
}

/// A number with the sign of an entry.
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
