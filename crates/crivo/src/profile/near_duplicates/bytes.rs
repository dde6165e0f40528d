//! The sample as bytes.

use super::NearDuplicateShare;
use super::sample::{SampledText, TextSample, is_on_grid, rank};
use super::text::{BANDS, MOST_RUNS};
use crate::codec::{Decode, Encode, Family, Header, Reader, Writer};
use crate::error::{Error, Result};
use crate::keys::{KeyKind, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

impl NearDuplicateShare {
    /// Returns the sample as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Reads a sample from bytes.
    ///
    /// # Errors
    /// If the bytes are not the complete, undamaged bytes of a `NearDuplicateShare`; see
    /// [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for NearDuplicateShare {
    const FAMILY: Family = Family::NearDuplicateShare;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        let sample = self.sample();
        writer.u32(self.capacity);
        writer.u64(self.documents);
        writer.u64(sample.threshold);
        writer.u32(sample.texts.len() as u32);
        for (hash, text) in &sample.texts {
            writer.u64(*hash);
            writer.u64(text.count);
            writer.u64s(text.band_keys);
            writer.u8(text.runs.len() as u8);
            text.runs.iter().for_each(|run| writer.u32(*run));
        }
    }
}

impl Decode for NearDuplicateShare {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        if header.scheme.kind() != KeyKind::Bytes {
            return Err(Error::contents("key kind", KeyKind::Bytes, header.scheme.kind()));
        }
        let capacity = reader.u32("capacity")?;
        let mut sketch = Self::with_scheme(capacity.into(), header.scheme)
            .map_err(|error| Error::contents("capacity", error.expected(), capacity))?;
        sketch.documents = reader.u64("documents")?;
        sketch.threshold = reader.u64("threshold")?;
        if !is_on_grid(sketch.threshold) {
            return Err(Error::contents("threshold", "a number of seven significant bits", sketch.threshold));
        }
        let count = reader.u32("number of texts")?;
        if count > capacity {
            return Err(Error::contents("number of texts", format_args!("at most {capacity}"), count));
        }
        let texts = sketch.read_texts(count, reader)?;
        let sample = TextSample::new(texts.clone(), sketch.threshold, capacity as usize);
        if sample.threshold != sketch.threshold || sample.texts.len() != texts.len() {
            return Err(Error::contents("texts", "those that are drawn at the threshold", "others"));
        }
        sketch.require_documents(&sample)?;
        sketch.sampled = texts.into_iter().collect();
        Ok(sketch)
    }
}

impl NearDuplicateShare {
    fn read_texts(&self, count: u32, reader: &mut Reader<'_>) -> Result<Vec<(u64, SampledText)>> {
        // Each text takes at least 85 bytes. So no memory is allocated for texts that the bytes
        // cannot contain; reading those fails below.
        let mut texts: Vec<(u64, SampledText)> = Vec::with_capacity((count as usize).min(reader.left() / 85));
        for _ in 0..count {
            let (hash, count) = (reader.u64("texts")?, reader.u64("count of a text")?);
            if texts.last().is_some_and(|(last, _)| *last >= hash) {
                return Err(Error::contents("texts", "strictly ascending hashes", "another order"));
            }
            if count == 0 {
                return Err(Error::contents("count of a text", "at least 1", count));
            }
            let mut band_keys = [0; BANDS];
            for (key, read) in band_keys.iter_mut().zip(reader.u64s("band keys", BANDS as u64)?) {
                *key = read;
            }
            if rank(hash, &band_keys) >= self.threshold {
                return Err(Error::contents("band keys", "one below the threshold", "none"));
            }
            texts.push((hash, SampledText { count, band_keys, runs: read_runs(reader)? }));
        }
        Ok(texts)
    }

    /// Refuses a number of documents that the texts cannot have.
    fn require_documents(&self, sample: &TextSample) -> Result<()> {
        let sampled = sample.texts.iter().fold(0_u64, |sum, (_, text)| sum.saturating_add(text.count));
        let is_possible = if sample.is_all() { self.documents == sampled } else { self.documents >= sampled };
        if is_possible {
            return Ok(());
        }
        let least = if sample.is_all() { "" } else { "at least " };
        Err(Error::contents("documents", format_args!("{least}{sampled}"), self.documents))
    }
}

fn read_runs(reader: &mut Reader<'_>) -> Result<Box<[u32]>> {
    let count = reader.u8("number of runs")?;
    if !(1..=MOST_RUNS as u8).contains(&count) {
        return Err(Error::contents("number of runs", format_args!("1 to {MOST_RUNS}"), count));
    }
    let runs: Vec<u32> = (0..count).map(|_| reader.u32("runs")).collect::<Result<_>>()?;
    if !runs.is_sorted_by(|a, b| a < b) {
        return Err(Error::contents("runs", "strictly ascending order", "another order"));
    }
    Ok(runs.into())
}
