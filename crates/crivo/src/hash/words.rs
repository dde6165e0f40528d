//! Forged sentences: two halves of a few words each, every word chosen from a list.

#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The word lists of half a sentence. A list of one word is fixed.
pub(super) struct Slots(&'static [&'static [&'static str]]);

impl Slots {
    /// Returns the number of different halves.
    const fn count(&self) -> u32 {
        let (mut count, mut slot) = (1, 0);
        while slot < self.0.len() {
            count *= self.0[slot].len() as u32;
            slot += 1;
        }
        count
    }

    /// Visits the words of the half with a number, which chooses one word of each list.
    pub(super) fn each_word(&self, mut number: u32, mut see: impl FnMut(&'static str)) {
        for words in self.0 {
            see(words[number as usize % words.len()]);
            number /= words.len() as u32;
        }
    }

    /// Appends the half with a number to a text.
    pub(super) fn write(&self, number: u32, text: &mut String) {
        self.each_word(number, |word| text.push_str(word));
    }
}

/// `2^19`.
pub(super) const FIRST_COUNT: u32 = FIRST.count();
/// `2^20`.
pub(super) const SECOND_COUNT: u32 = SECOND.count();

pub(super) const FIRST: Slots = Slots(&[OPENINGS, ADJECTIVES, PEOPLE, ADVERBS]);
pub(super) const SECOND: Slots = Slots(&[VERBS, &["the "], QUALITIES, THINGS, ENDINGS]);

const OPENINGS: &[&str] = &[
    "Today the ",
    "Tonight the ",
    "Yesterday the ",
    "Last week the ",
    "Last year the ",
    "Long ago the ",
    "At noon the ",
    "At dawn the ",
    "In the end the ",
    "In May the ",
    "In June the ",
    "On Monday the ",
    "On Friday the ",
    "One evening the ",
    "One morning the ",
    "Some say the ",
];

const ADJECTIVES: &[&str] = &[
    "old ",
    "young ",
    "tall ",
    "quiet ",
    "clever ",
    "patient ",
    "tired ",
    "happy ",
    "careful ",
    "curious ",
    "gentle ",
    "honest ",
    "hungry ",
    "lonely ",
    "lucky ",
    "nervous ",
    "polite ",
    "proud ",
    "serious ",
    "shy ",
    "silent ",
    "sleepy ",
    "strange ",
    "stubborn ",
    "thoughtful ",
    "wealthy ",
    "weary ",
    "wise ",
    "worried ",
    "busy ",
    "brave ",
    "cheerful ",
];

const PEOPLE: &[&str] = &[
    "captain ",
    "teacher ",
    "baker ",
    "gardener ",
    "doctor ",
    "painter ",
    "farmer ",
    "sailor ",
    "librarian ",
    "carpenter ",
    "neighbour ",
    "postman ",
    "tailor ",
    "fisherman ",
    "watchmaker ",
    "engineer ",
    "student ",
    "merchant ",
    "traveller ",
    "musician ",
    "lawyer ",
    "shepherd ",
    "miller ",
    "cook ",
    "judge ",
    "pilot ",
    "poet ",
    "printer ",
    "ranger ",
    "smith ",
    "weaver ",
    "guide ",
];

const ADVERBS: &[&str] = &[
    "quietly ",
    "slowly ",
    "carefully ",
    "finally ",
    "gladly ",
    "suddenly ",
    "secretly ",
    "proudly ",
    "calmly ",
    "kindly ",
    "quickly ",
    "rarely ",
    "often ",
    "always ",
    "never ",
    "almost ",
    "once ",
    "simply ",
    "politely ",
    "patiently ",
    "hastily ",
    "eagerly ",
    "bravely ",
    "boldly ",
    "wisely ",
    "barely ",
    "again ",
    "also ",
    "soon ",
    "still ",
    "gently ",
    "happily ",
];

const VERBS: &[&str] = &[
    "sold ",
    "found ",
    "lost ",
    "painted ",
    "carried ",
    "opened ",
    "mended ",
    "forgot ",
    "borrowed ",
    "cleaned ",
    "copied ",
    "counted ",
    "dropped ",
    "followed ",
    "guarded ",
    "hid ",
    "kept ",
    "left ",
    "lifted ",
    "moved ",
    "noticed ",
    "ordered ",
    "packed ",
    "praised ",
    "repaired ",
    "returned ",
    "saved ",
    "showed ",
    "studied ",
    "took ",
    "weighed ",
    "wrapped ",
];

const QUALITIES: &[&str] = &[
    "broken ",
    "golden ",
    "wooden ",
    "heavy ",
    "empty ",
    "ancient ",
    "tiny ",
    "green ",
    "blue ",
    "red ",
    "white ",
    "yellow ",
    "little ",
    "large ",
    "narrow ",
    "round ",
    "rusty ",
    "shiny ",
    "simple ",
    "soft ",
    "solid ",
    "spare ",
    "torn ",
    "unusual ",
    "useful ",
    "valuable ",
    "warm ",
    "wet ",
    "wide ",
    "plain ",
    "precious ",
    "famous ",
];

const THINGS: &[&str] = &[
    "clock", "lamp", "basket", "letter", "boat", "chair", "mirror", "bottle", "bridge", "candle", "carpet",
    "coat", "cup", "door", "drum", "fence", "flag", "garden", "hammer", "kettle", "ladder", "map", "needle",
    "oar", "picture", "ribbon", "saddle", "table", "umbrella", "violin", "wagon", "window",
];

const ENDINGS: &[&str] = &[
    " for a friend.",
    " by the river.",
    " near the station.",
    " before the storm.",
    " after lunch.",
    " without a word.",
    " with great care.",
    " on the way home.",
    " at the market.",
    " behind the church.",
    " in the rain.",
    " under the bridge.",
    " for the children.",
    " from the attic.",
    " in the kitchen.",
    " for ten coins.",
    " as a present.",
    " by mistake.",
    " in the harbour.",
    " at the fair.",
    " on a bench.",
    " in a hurry.",
    " for no reason.",
    " with a smile.",
    " beside the road.",
    " in the library.",
    " at the gate.",
    " on the roof.",
    " in the cellar.",
    " for the winter.",
    " out of habit.",
    " in plain sight.",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_all_different_and_counts_are_powers_of_two() {
        for slots in [&FIRST, &SECOND] {
            for words in slots.0 {
                assert!(words.len().is_power_of_two());
                assert!((1..words.len()).all(|at| !words[..at].contains(&words[at])), "{words:?}");
            }
        }
        assert_eq!((FIRST_COUNT, SECOND_COUNT), (1 << 19, 1 << 20));
    }
}
