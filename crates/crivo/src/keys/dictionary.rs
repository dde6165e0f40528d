//! Keys that occur many times and are hashed once, such as the values of a dictionary.

#[cfg(feature = "std")]
use std::borrow::Cow;

use super::batch::{KeyBatch, KeyBuffer, Keys, Span, hash_spans_into};
use super::scheme::KeyScheme;
use crate::error::{Error, ErrorKind, Result};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The keys of a column's dictionary, each with its hash. [`KeyBuffer::pick`] makes batches of
/// them.
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
    bytes: Cow<'a, [u8]>,
    spans: Cow<'a, [Span]>,
    hashes: Vec<u64>,
    /// True if a place identifies its key: there are few places, and no two have the same key.
    are_few_and_different: bool,
}

/// The most keys of a dictionary for which sketches count the keys of a batch by their places. To
/// find out whether all keys differ, the hashes are sorted.
pub(crate) const FEW_PLACES: usize = 1024;

impl<'a> KeyDictionary<'a> {
    /// Hashes the keys that `spans` point at. Spans and bytes are borrowed or owned.
    ///
    /// # Errors
    /// If the scheme's keys are not bytes, or a span lies outside `bytes`.
    pub fn new(
        scheme: KeyScheme,
        spans: impl Into<Cow<'a, [Span]>>,
        bytes: impl Into<Cow<'a, [u8]>>,
    ) -> Result<Self> {
        let (spans, bytes) = (spans.into(), bytes.into());
        let mut hashes = Vec::new();
        hash_spans_into(&mut hashes, scheme, &spans, &bytes)?;
        let are_few_and_different = hashes.len() <= FEW_PLACES && {
            let mut sorted = hashes.clone();
            sorted.sort_unstable();
            sorted.windows(2).all(|pair| pair[0] != pair[1])
        };
        Ok(Self { scheme, bytes, spans, hashes, are_few_and_different })
    }

    /// Returns the bytes that the keys lie in.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
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
    /// Returns the keys at some places of a dictionary, in the order of the places, without hashing
    /// them again. Removes the spans that are to be hashed.
    ///
    /// # Errors
    /// If the dictionary was hashed under another scheme, or has no such place.
    pub fn pick<'a>(
        &'a mut self,
        dictionary: &'a KeyDictionary<'_>,
        places: &'a [u32],
    ) -> Result<KeyBatch<'a>> {
        self.scheme.require_same(dictionary.scheme)?;
        let KeyDictionary { bytes, spans, hashes, .. } = dictionary;
        self.spans.clear();
        self.hashes.clear();
        if places.iter().any(|&place| place as usize >= dictionary.len()) {
            return Err(no_such_place(places, dictionary.len()));
        }
        self.hashes.extend(places.iter().map(|&place| hashes[place as usize]));
        let keys = if dictionary.are_few_and_different {
            Keys::Picked { bytes, spans, places }
        } else {
            self.spans.extend(places.iter().map(|&place| spans[place as usize]));
            Keys::Spans { bytes, spans: &self.spans }
        };
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
        assert_eq!(batch.slice(1..3).iter().collect::<Vec<_>>(), expected[1..3]);
        assert_eq!(batch.few_places(), Some(&[2, 0, 2, 1][..]));
        assert!(buffer.pick(&dictionary, &[]).unwrap().is_empty());
        assert_eq!((dictionary.len(), dictionary.is_empty()), (3, false));
    }

    #[test]
    fn places_stand_for_keys_only_if_all_differ() {
        let scheme = KeyScheme::bytes();
        let spans = [0..1, 1..2].map(|range| Span::new(range).unwrap());
        let dictionary = KeyDictionary::new(scheme, &spans, b"xx").unwrap();
        let mut buffer = KeyBuffer::new(scheme);
        let batch = buffer.pick(&dictionary, &[1, 0]).unwrap();
        assert_eq!(batch.few_places(), None);
        assert!(batch.iter().all(|(key, _)| key == KeyRef::Bytes(b"x")));
        let texts: Vec<u8> = (0..2 * FEW_PLACES).flat_map(|at| (at as u16).to_le_bytes()).collect();
        let spans =
            |count: usize| (0..count).map(|at| Span::new(2 * at..2 * at + 2).unwrap()).collect::<Vec<_>>();
        for (count, are_few) in [(FEW_PLACES, true), (FEW_PLACES + 1, false)] {
            let dictionary = KeyDictionary::new(scheme, spans(count), texts.clone()).unwrap();
            let last = [count as u32 - 1];
            let batch = buffer.pick(&dictionary, &last).unwrap();
            assert_eq!(batch.few_places().is_some(), are_few);
            assert_eq!(batch.get(0), Some(KeyRef::Bytes(&((count - 1) as u16).to_le_bytes())));
        }
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
