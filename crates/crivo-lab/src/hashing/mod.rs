//! Tests whether the hashes are as good as random numbers.

pub(crate) mod birthdays;
pub(crate) mod correlation;
pub(crate) mod distribution;
pub(crate) mod forgery;
pub(crate) mod independence;

use crate::random::Random;

/// Returns a random text of up to 50 characters that no other number has. The originals remove
/// repeated texts, because these would have the same value under every function.
fn text(number: usize, random: &mut Random) -> String {
    format!("{number} {}", random.text(42))
}

/// Returns the given number of such texts.
fn texts(count: usize, random: &mut Random) -> Vec<String> {
    (0..count).map(|number| text(number, random)).collect()
}
