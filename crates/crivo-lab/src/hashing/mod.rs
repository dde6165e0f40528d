//! Are the hashes as good as random numbers?

pub(crate) mod birthdays;
pub(crate) mod correlation;
pub(crate) mod distribution;
pub(crate) mod forgery;
pub(crate) mod independence;

use crate::random::Random;

/// So many random texts of up to 50 characters, as the originals use.
fn texts(count: usize, random: &mut Random) -> Vec<String> {
    (0..count).map(|_| random.text(50)).collect()
}
