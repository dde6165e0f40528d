//! Keys that occur many times and are hashed once: the values of a dictionary.

use super::batch::{KeyBatch, KeyBuffer, Keys, Span, hash_spans_into};
use super::scheme::KeyScheme;
use crate::error::{Error, ErrorKind, Result};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The different keys of a column, each with its hash. [`KeyBuffer::pick`] makes batches of them.
///
/// ```
/// use crivo::keys::{KeyBuffer, KeyDictionary, KeyScheme, Span};
///
/// let spans = [Span::new(0..3)?, Span::new(3..8)?];
/// let colours = KeyDictionary::new(KeyScheme::bytes(), &spans, b"redgreen")?;
/// let mut buffer = KeyBuffer::new(KeyScheme::bytes());
/// let batch = buffer.pick(&colours, &[1, 0, 1])?;
/// assert_eq!(batch.hashes()[2], KeyScheme::bytes().hash("green")?);
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct KeyDictionary<'a> {
    scheme: KeyScheme,
    bytes: &'a [u8],
    spans: &'a [Span],
    hashes: Vec<u64>,
}

impl<'a> KeyDictionary<'a> {
    /// Hashes the keys that `spans` point at.
    ///
    /// # Errors
    /// If the scheme's keys are not bytes, or a span lies outside `bytes`.
    pub fn new(scheme: KeyScheme, spans: &'a [Span], bytes: &'a [u8]) -> Result<Self> {
        let mut hashes = Vec::new();
        hash_spans_into(&mut hashes, scheme, spans, bytes)?;
        Ok(Self { scheme, bytes, spans, hashes })
    }

    /// Returns how many keys there are.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Returns true if there is no key.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }
}

impl KeyBuffer {
    /// Returns the keys at some places of a dictionary, in the order of the places, without hashing them again.
    /// Forgets the spans that wait to be hashed.
    ///
    /// # Errors
    /// If the dictionary was hashed under another scheme, or has no such place.
    pub fn pick<'a>(&'a mut self, dictionary: &KeyDictionary<'a>, places: &[u32]) -> Result<KeyBatch<'a>> {
        self.scheme.require_same(dictionary.scheme)?;
        self.spans.clear();
        self.hashes.clear();
        if places.iter().any(|&place| place as usize >= dictionary.len()) {
            return Err(no_such_place(places, dictionary.len()));
        }
        self.spans.extend(places.iter().map(|&place| dictionary.spans[place as usize]));
        self.hashes.extend(places.iter().map(|&place| dictionary.hashes[place as usize]));
        let keys = Keys::Spans { bytes: dictionary.bytes, spans: &self.spans };
        Ok(KeyBatch { scheme: self.scheme, keys, hashes: &self.hashes })
    }
}

#[cold]
fn no_such_place(places: &[u32], len: usize) -> Error {
    let most = places.iter().max().copied().unwrap_or(0);
    let expected = format_args!("a place below {len}, the size of the dictionary");
    Error::new(ErrorKind::InvalidBatch, "dictionary", expected, most, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::KeyRef;

    #[test]
    fn picked_keys_equal_keys_hashed_one_by_one() {
        let scheme = KeyScheme::bytes().with_seed(5);
        let spans = [0..3, 3..3, 3..8].map(|range| Span::new(range).unwrap());
        let dictionary = KeyDictionary::new(scheme, &spans, b"onethree").unwrap();
        let mut buffer = KeyBuffer::new(scheme);
        buffer.push_span(spans[0]);
        let batch = buffer.pick(&dictionary, &[2, 0, 2, 1]).unwrap();
        let expected = [&b"three"[..], b"one", b"three", b""];
        let expected = expected.map(|key| (KeyRef::Bytes(key), scheme.hash(key).unwrap()));
        assert_eq!(batch.iter().collect::<Vec<_>>(), expected);
        assert!(buffer.pick(&dictionary, &[]).unwrap().is_empty());
        assert_eq!((dictionary.len(), dictionary.is_empty()), (3, false));
    }

    #[test]
    fn wrong_place_or_scheme_is_an_error() {
        let spans = [Span::new(0..1).unwrap()];
        let dictionary = KeyDictionary::new(KeyScheme::bytes(), &spans, b"x").unwrap();
        let mut buffer = KeyBuffer::new(KeyScheme::bytes());
        let error = buffer.pick(&dictionary, &[0, 1]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidBatch);
        let mut seeded = KeyBuffer::new(KeyScheme::bytes().with_seed(1));
        assert_eq!(seeded.pick(&dictionary, &[0]).unwrap_err().kind(), ErrorKind::Incompatible);
        assert!(KeyDictionary::new(KeyScheme::integers(), &spans, b"x").is_err());
        assert!(KeyDictionary::new(KeyScheme::bytes(), &spans, b"").is_err());
    }
}
