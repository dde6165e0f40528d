//! Computes the keys of a text in the index.

use crivo::similarity::Bands;
use crivo::similarity::min_hash::sign;
use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128};

use super::record::Document;
use crate::error::Result;
use crate::settings::Settings;
use crate::text::TextShingler;

/// The seeds that keep keys of names, of contents and of bands apart. They are part of the stored
/// format.
const NAME: u64 = 0x6E61_6D65;
const CONTENT: u64 = 0x636F_6E74_656E_7400;

/// Returns the key of a document's name.
pub(super) fn name_key(id: &[u8]) -> u64 {
    xxh3_64_with_seed(id, NAME)
}

/// Returns a fingerprint, which is equal for equal texts.
pub(super) fn fingerprint(text: &[u8]) -> u128 {
    xxh3_128(text)
}

/// Computes keys. Its buffers are reused.
pub(super) struct Signer {
    shingler: TextShingler,
    bands: Bands,
    slots: Vec<u64>,
    keys: Vec<u64>,
}

impl Signer {
    pub(super) fn new(settings: &Settings) -> Result<Self> {
        Ok(Self {
            shingler: TextShingler::new(settings.shingles.clone(), settings.seed, settings.nfc),
            bands: settings.bands()?,
            slots: vec![0; settings.hashes as usize],
            keys: Vec::new(),
        })
    }

    /// Returns the set of a text and its keys: those of the bands, or the key of the content if the
    /// text has no shingle.
    pub(super) fn read(&mut self, text: &[u8], fingerprint: u128) -> Result<(&[u64], &[u64])> {
        let set = self.shingler.set(text);
        put_keys(self.bands, set, fingerprint, &mut self.slots, &mut self.keys)?;
        Ok((set, &self.keys))
    }

    /// Returns the set of a text.
    pub(super) fn set(&mut self, text: &[u8]) -> &[u64] {
        self.shingler.set(text)
    }

    /// Returns the keys of a stored document, without the key of its name.
    pub(super) fn keys_of(&mut self, document: &Document) -> Result<&[u64]> {
        put_keys(self.bands, &document.set, document.fingerprint, &mut self.slots, &mut self.keys)?;
        Ok(&self.keys)
    }
}

fn put_keys(
    bands: Bands,
    set: &[u64],
    fingerprint: u128,
    slots: &mut [u64],
    keys: &mut Vec<u64>,
) -> Result<()> {
    if set.is_empty() {
        keys.clear();
        keys.push(xxh3_64_with_seed(&fingerprint.to_le_bytes(), CONTENT));
    } else {
        sign(set, slots)?;
        bands.keys(slots, keys)?;
    }
    Ok(())
}
