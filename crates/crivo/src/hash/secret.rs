//! Tables that cannot be flooded.
//!
//! Hashes of a known seed can be inverted. With XXH3 an attacker can write keys that all need the
//! same slot of a table, which then takes time quadratic in their number. So the position of a key
//! in a table in memory also depends on a number that is drawn once for the process. No answer and
//! no stored byte depends on it.

use std::fmt;
use std::hash::{BuildHasher, Hasher};
#[cfg(feature = "std")]
use std::{hash::RandomState, sync::OnceLock};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A number drawn once for the process, which decides where keys lie in tables that are in memory
/// only.
///
/// ```
/// use std::collections::HashMap;
/// use crivo::hash::TableSecret;
///
/// let mut counts: HashMap<u64, u32, TableSecret> = HashMap::default();
/// *counts.entry(42).or_default() += 1;
/// assert_eq!(counts[&42], 1);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TableSecret(u64);

impl TableSecret {
    /// Returns the secret of this process.
    #[cfg(feature = "std")]
    pub fn of_process() -> Self {
        static SECRET: OnceLock<u64> = OnceLock::new();
        Self(*SECRET.get_or_init(|| RandomState::new().build_hasher().finish() | 1))
    }

    /// Returns a fixed number. Without the feature `std` there is no source of randomness, so
    /// tables can be flooded.
    #[cfg(not(feature = "std"))]
    pub fn of_process() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }

    /// Returns a known secret, for tests that forge collisions.
    #[cfg(test)]
    pub(crate) const fn known(odd: u64) -> Self {
        Self(odd | 1)
    }

    /// Returns a hash whose high bits choose a slot. This is multiply-shift hashing: any two hashes
    /// collide in one of `n` slots with a probability of at most `2 / n` (Dietzfelbinger, Hagerup,
    /// Katajainen, Penttonen, 1997).
    #[inline]
    #[must_use]
    pub const fn spread(self, hash: u64) -> u64 {
        hash.wrapping_mul(self.0)
    }

    /// Returns a hash whose bits can all be used to choose a slot: the exclusive or of both halves
    /// of the product.
    #[inline]
    #[must_use]
    pub const fn mix(self, hash: u64) -> u64 {
        let product = (hash ^ self.0) as u128 * (self.0.rotate_left(29) | 1) as u128;
        (product >> 64) as u64 ^ product as u64
    }

    /// Returns a hash of a key. Unlike [`mix`](Self::mix), it gives different hashes to keys that
    /// were forged to have the same hash under a known seed.
    #[inline]
    #[must_use]
    pub fn hash(self, key: &[u8]) -> u64 {
        xxh3_64_with_seed(key, self.0)
    }
}

/// Returns the secret of this process.
impl Default for TableSecret {
    fn default() -> Self {
        Self::of_process()
    }
}

/// Does not print the number, because the sender of the keys may see what is printed.
impl fmt::Debug for TableSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TableSecret")
    }
}

/// For maps whose keys are hashes.
impl BuildHasher for TableSecret {
    type Hasher = SecretHasher;

    fn build_hasher(&self) -> SecretHasher {
        SecretHasher { secret: *self, hash: 0 }
    }
}

/// Mixes a hash with the secret of the process.
#[derive(Debug, Clone, Copy)]
pub struct SecretHasher {
    secret: TableSecret,
    hash: u64,
}

impl Hasher for SecretHasher {
    fn finish(&self) -> u64 {
        self.hash
    }

    fn write(&mut self, bytes: &[u8]) {
        self.hash = self.secret.mix(self.hash ^ self.secret.hash(bytes));
    }

    #[inline]
    fn write_u64(&mut self, hash: u64) {
        self.hash = self.secret.mix(self.hash ^ hash);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn one_secret_for_the_process_and_it_is_not_shown() {
        assert_eq!(TableSecret::of_process(), TableSecret::default());
        assert_eq!(format!("{:?}", TableSecret::of_process()), "TableSecret");
    }

    /// An attacker would send hashes that agree in their high or low half. Put into 2^16 buckets by
    /// their high or low bits, 2^16 such hashes leave no bucket with more than 64. For fair hashes
    /// the chance of a bucket with more is below 10⁻⁶⁰.
    #[test]
    fn forged_hashes_are_spread_by_high_and_low_bits() {
        let secret = TableSecret::of_process();
        let forgeries: [fn(u64) -> u64; 3] =
            [|i| i << 48, |i| i, |i| i.wrapping_mul(0xF1DE_83E1_9937_733D) << 7];
        for forged in forgeries {
            let (mut high, mut low) = (vec![0_u32; 1 << 16], vec![0_u32; 1 << 16]);
            let hashes: HashSet<u64> = (0..1 << 16).map(|i| secret.mix(forged(i))).collect();
            assert!(hashes.len() > (1 << 16) - 4);
            #[allow(clippy::iter_over_hash_type)] // the counts do not depend on the order
            for hash in hashes {
                high[(hash >> 48) as usize] += 1;
                low[hash as u16 as usize] += 1;
            }
            assert!(high.iter().chain(&low).all(|&count| count <= 64), "{:?}", high.iter().max());
        }
    }
}
