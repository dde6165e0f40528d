//! The hashes of integers that are keyed by their text, as columns of tables are.

use super::KeyScheme;
use super::scheme::{KeyKind, hash_bytes};
use crate::error::Result;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

impl KeyScheme {
    /// Appends the hash of each integer's decimal text: the key of an integer in a column of text keys.
    ///
    /// ```
    /// use crivo::keys::KeyScheme;
    /// let (scheme, mut hashes) = (KeyScheme::bytes(), Vec::new());
    /// scheme.hash_decimals(&[42, -7], &mut hashes)?;
    /// assert_eq!(hashes, [scheme.hash("42")?, scheme.hash("-7")?]);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the scheme's keys are not bytes.
    pub fn hash_decimals(self, integers: &[i64], hashes: &mut Vec<u64>) -> Result<()> {
        if self.kind() != KeyKind::Bytes {
            return Err(self.wrong_kind(KeyKind::Bytes));
        }
        let seed = self.seed();
        let mut buffer = itoa::Buffer::new();
        hashes.extend(integers.iter().map(|&integer| hash_bytes(buffer.format(integer).as_bytes(), seed)));
        Ok(())
    }
}
