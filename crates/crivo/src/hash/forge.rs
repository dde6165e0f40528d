//! Forging: for any text, finds another readable text with the same DJB31MA value.
//!
//! A signature of a text's 32-bit value signs every text with that value, and there are 2^32 times
//! fewer values than texts. If values were random, a search would go through 2^32 texts. This
//! search takes a fraction of a second, because the function can be run backwards. A sentence is
//! cut in two halves, `first` and `second`:
//!
//! ```text
//! h(first second) = 31^|second|·h(first) + h₀(second)
//! h(first)        = (wanted − h₀(second))·31^−|second|      (31 is odd, so it has an inverse)
//! ```
//!
//! The values of half a million first halves are kept in a sorted table. Each second half
//! determines which value its first half must have, and one in 8,192 is in the table. This search
//! from both ends (a meet-in-the-middle attack) turns 2^32 steps into 2^19 and 2^13. (The table
//! works by the birthday paradox: see [`collision_probability`](super::collision_probability).)
//!
//! So a checksum is no signature. The hash function of the sketches is not made for adversaries
//! either: if an adversary supplies the keys, use a secret seed.

use super::djb31ma::{djb31ma, inverse, power, step};
use super::words::{FIRST, FIRST_COUNT, SECOND, SECOND_COUNT, Slots};
use crate::random::Generator;

/// Returns another readable text that has the same DJB31MA value as the text under the seed.
/// Another `choice` almost always gives another text.
///
/// Returns `None` if no sentence has that value. There are 128 for each value on average, and a
/// value without one was never seen.
///
/// ```
/// use crivo::hash::{djb31ma, forge};
/// let contract = "Rui owes Ana ten euros.";
/// let forged = forge(contract, 17, 0).expect("a sentence");
/// assert_ne!(forged, contract);
/// assert_eq!(djb31ma(forged.as_bytes(), 17), djb31ma(contract.as_bytes(), 17));
/// ```
pub fn forge(text: &str, seed: u32, choice: u64) -> Option<String> {
    forge_after("", text, seed, choice)
}

/// Returns a text that starts with a given beginning, continues with a readable sentence, and has
/// the DJB31MA value of another text.
///
/// Returns `None` as [`forge()`] does.
///
/// ```
/// use crivo::hash::{djb31ma, forge_after};
/// let contract = "Rui owes Ana ten euros.";
/// let forged = forge_after("Rui owes Ana ten thousand euros.", contract, 0, 1).expect("a sentence");
/// assert!(forged.starts_with("Rui owes Ana ten thousand euros. "));
/// assert_eq!(djb31ma(forged.as_bytes(), 0), djb31ma(contract.as_bytes(), 0));
/// ```
pub fn forge_after(beginning: &str, text: &str, seed: u32, choice: u64) -> Option<String> {
    let wanted = djb31ma(text.as_bytes(), seed);
    let gap = if beginning.is_empty() || beginning.ends_with(char::is_whitespace) { "" } else { " " };
    let begun = djb31ma(gap.as_bytes(), djb31ma(beginning.as_bytes(), seed));

    // Values above, numbers below.
    let mut table: Vec<u64> = (0..FIRST_COUNT)
        .map(|number| u64::from(value(&FIRST, number, begun).0) << 32 | u64::from(number))
        .collect();
    table.sort_unstable();

    // Second halves in an order of the choice's own: an odd stride visits each of a power of two
    // once.
    let mut random = Generator::new(choice);
    let (start, stride) = (random.bits() as u32, random.bits() as u32 | 1);
    let mut numbers =
        (0..SECOND_COUNT).map(|turn| start.wrapping_add(turn.wrapping_mul(stride)) % SECOND_COUNT);
    numbers.find_map(|number| {
        let (second, length) = value(&SECOND, number, 0);
        let needed = wanted.wrapping_sub(second).wrapping_mul(inverse(power(length)));
        let at = table.binary_search_by_key(&needed, |entry| (entry >> 32) as u32).ok()?;
        let mut forged = [beginning, gap].concat();
        FIRST.write(table[at] as u32, &mut forged);
        SECOND.write(number, &mut forged);
        (forged != text).then_some(forged)
    })
}

/// The value of a half under a seed, and its length.
fn value(slots: &Slots, number: u32, seed: u32) -> (u32, usize) {
    let (mut hash, mut length) = (seed, 0);
    slots.each_word(number, |word| {
        hash = word.bytes().fold(hash, step);
        length += word.len();
    });
    (hash, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_can_be_forged() {
        let long = "á ".repeat(5000);
        for text in ["", "a", "Rui owes Ana ten euros.", "\0", long.as_str()] {
            for seed in [0, 1, u32::MAX] {
                let forged = forge(text, seed, 3).unwrap();
                assert_ne!(forged, text);
                assert_eq!(djb31ma(forged.as_bytes(), seed), djb31ma(text.as_bytes(), seed), "{text}");
                assert!(forged.chars().all(|c| c.is_ascii_alphabetic() || " ,.'".contains(c)), "{forged}");
                assert!(forged.ends_with('.') && forged.split(' ').count() >= 9, "{forged}");
            }
        }
    }

    /// Values are those of nothing in particular: all have a sentence.
    #[test]
    fn random_values_can_be_forged() {
        for number in 0..25_u64 {
            let text = format!("{:x}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let forged = forge(&text, number as u32, !number).unwrap();
            assert_eq!(djb31ma(forged.as_bytes(), number as u32), djb31ma(text.as_bytes(), number as u32));
        }
    }

    #[test]
    fn a_choice_is_repeatable_and_others_differ() {
        let text = "I agree.";
        assert_eq!(forge(text, 7, 42), forge(text, 7, 42));
        let forged: alloc::collections::BTreeSet<String> =
            (0..8).filter_map(|choice| forge(text, 7, choice)).collect();
        assert!(forged.len() > 6, "{forged:?}");
        // What was forged can be forged again.
        let first = forged.first().unwrap();
        assert_ne!(forge(first, 7, 42).as_ref(), Some(first));
    }

    /// The chance that a value has no sentence at all is `e^(−pairs/2^32)`.
    #[test]
    fn there_are_sentences_for_every_value() {
        let pairs = f64::from(FIRST_COUNT) * f64::from(SECOND_COUNT);
        assert!(pairs / 2_f64.powi(32) >= 127.0);
    }
}
