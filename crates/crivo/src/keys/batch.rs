// This file is long because it contains the documentation and the examples of its public functions.

//! Many keys at once, with their hashes.

use std::ops::Range;

use super::scheme::{KeyKind, KeyScheme, hash_bytes};
use super::value::KeyRef;
use crate::codec::require_writable;
use crate::error::{Error, ErrorKind, Result};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The position of one key in the bytes of a batch. It takes half the size of a slice and has no
/// lifetime. So a buffer of spans can be filled, lent and filled again without allocating.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Returns the span of `range`.
    ///
    /// # Errors
    /// If the range runs backwards or past 4 GiB, which is the most that one batch can address.
    #[inline]
    pub fn new(range: Range<usize>) -> Result<Self> {
        match (u32::try_from(range.start), u32::try_from(range.end)) {
            (Ok(start), Ok(end)) if start <= end => Ok(Self { start, end }),
            _ => Err(invalid_span(format_args!("{range:?}"))),
        }
    }

    /// Returns the range of bytes.
    #[inline]
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

#[cold]
fn invalid_span(found: std::fmt::Arguments<'_>) -> Error {
    Error::new(
        ErrorKind::InvalidBatch,
        "key span",
        "a range inside the batch's bytes, below 4 GiB",
        found,
        "",
    )
}

/// Borrowed keys and their hashes, all under one [`KeyScheme`]. Every sketch takes keys in this
/// form.
///
/// Created by [`KeyBuffer`], or by [`KeyBatch::from_hashes`] if the hashes are known already.
#[derive(Debug, Clone, Copy)]
pub struct KeyBatch<'a> {
    pub(super) scheme: KeyScheme,
    pub(super) keys: Keys<'a>,
    pub(super) hashes: &'a [u64],
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Keys<'a> {
    Spans {
        bytes: &'a [u8],
        spans: &'a [Span],
    },
    /// The layout of an Arrow column of text: each key ends where the next begins.
    Offsets {
        bytes: &'a [u8],
        offsets: &'a [i32],
    },
    /// Keys of a dictionary that has few keys, all of them different, by their places.
    Picked {
        bytes: &'a [u8],
        spans: &'a [Span],
        places: &'a [u32],
    },
    /// Separate keys, as in the views of Arrow and the strings of other engines.
    Slices(&'a [&'a [u8]]),
    Integers(&'a [u64]),
    Unknown,
}

impl<'a> KeyBatch<'a> {
    /// The best number of keys in a batch. It is large enough for independent memory accesses to
    /// overlap, and small enough for spans and hashes to stay in the first-level cache.
    pub const TARGET_LEN: usize = 1024;

    /// Creates a batch of hashes computed by the caller, for sketches built with
    /// [`KeyScheme::hashes`].
    ///
    /// # Errors
    /// If the scheme's keys are not hashes.
    pub fn from_hashes(scheme: KeyScheme, hashes: &'a [u64]) -> Result<Self> {
        if scheme.kind() == KeyKind::Hash {
            Ok(Self { scheme, keys: Keys::Unknown, hashes })
        } else {
            Err(scheme.wrong_kind(KeyKind::Hash))
        }
    }

    /// Returns the scheme that the keys were hashed under.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Returns the hashes, in the order of the keys.
    pub fn hashes(&self) -> &'a [u64] {
        self.hashes
    }

    /// Returns how many keys there are.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Returns true if there is no key.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Returns every key with its hash.
    pub fn iter(&self) -> impl Iterator<Item = (KeyRef<'a>, u64)> + use<'a> {
        let keys = self.keys;
        self.hashes.iter().enumerate().map(move |(index, &hash)| (keys.get(index, hash), hash))
    }

    /// Calls `take` with each key that is a text and its hash, as long as it returns true. The
    /// layout of the keys is checked once, not for each key.
    #[inline]
    pub(crate) fn each_text_while(&self, mut take: impl FnMut(&'a [u8], u64) -> bool) {
        self.each_text_before_others_while(|text, length, hash| take(&text[..length], hash));
    }

    /// Does the same, but `take` also gets the bytes behind the text: a slice from the beginning of
    /// the text, and the text's length. So 16 bytes of a short text can be read at once.
    #[inline]
    pub(crate) fn each_text_before_others_while(&self, mut take: impl FnMut(&'a [u8], usize, u64) -> bool) {
        let mut within = |bytes: &'a [u8], range: Range<usize>, hash| {
            let length = range.len();
            take(&bytes[range.start..], length, hash)
        };
        match self.keys {
            Keys::Spans { bytes, spans } => {
                spans.iter().zip(self.hashes).all(|(span, &hash)| within(bytes, span.range(), hash));
            }
            Keys::Offsets { bytes, offsets } => {
                let ends = offsets.windows(2).zip(self.hashes);
                ends.into_iter().all(|(ends, &hash)| within(bytes, ends[0] as usize..ends[1] as usize, hash));
            }
            Keys::Picked { bytes, spans, places } => {
                let keys = places.iter().zip(self.hashes);
                keys.into_iter().all(|(&place, &hash)| within(bytes, spans[place as usize].range(), hash));
            }
            Keys::Slices(slices) => {
                slices.iter().zip(self.hashes).all(|(text, &hash)| take(text, text.len(), hash));
            }
            Keys::Integers(_) | Keys::Unknown => {}
        }
    }

    /// Calls `take` with each key that is a text and its hash, up to the first error.
    #[inline]
    pub(crate) fn try_each_text(&self, mut take: impl FnMut(&'a [u8], u64) -> Result<()>) -> Result<()> {
        let mut result = Ok(());
        self.each_text_while(|text, hash| {
            result = take(text, hash);
            result.is_ok()
        });
        result
    }

    /// Returns the place of each key in a dictionary. Returns `None` if keys can be equal at
    /// different places, or if places may reach [`FEW_PLACES`](super::dictionary::FEW_PLACES).
    pub(crate) fn few_places(&self) -> Option<&'a [u32]> {
        match self.keys {
            Keys::Picked { places, .. } => Some(places),
            _ => None,
        }
    }

    /// Returns a batch of the keys in a range of the batch. The part of the range beyond its end is
    /// ignored.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let end = range.end.min(self.len());
        let range = range.start.min(end)..end;
        Self { scheme: self.scheme, keys: self.keys.slice(range.clone()), hashes: &self.hashes[range] }
    }

    /// Refuses a batch with a key that no file can hold. Only separate slices can be that long.
    pub(crate) fn require_writable(&self) -> Result<()> {
        match self.keys {
            Keys::Slices(slices) => slices.iter().try_for_each(|key| require_writable("key", key)),
            _ => Ok(()),
        }
    }

    /// Returns the key at an index, in constant time.
    pub fn get(&self, index: usize) -> Option<KeyRef<'a>> {
        self.hashes.get(index).map(|&hash| self.keys.get(index, hash))
    }
}

impl<'a> Keys<'a> {
    fn slice(self, range: Range<usize>) -> Self {
        match self {
            Keys::Spans { bytes, spans } => Keys::Spans { bytes, spans: &spans[range] },
            // No keys may have no offsets at all.
            Keys::Offsets { bytes, offsets } => {
                Keys::Offsets { bytes, offsets: offsets.get(range.start..=range.end).unwrap_or_default() }
            }
            Keys::Picked { bytes, spans, places } => Keys::Picked { bytes, spans, places: &places[range] },
            Keys::Slices(slices) => Keys::Slices(&slices[range]),
            Keys::Integers(integers) => Keys::Integers(&integers[range]),
            Keys::Unknown => Keys::Unknown,
        }
    }

    #[inline]
    fn get(self, index: usize, hash: u64) -> KeyRef<'a> {
        match self {
            Keys::Spans { bytes, spans } => KeyRef::Bytes(&bytes[spans[index].range()]),
            Keys::Offsets { bytes, offsets } => {
                KeyRef::Bytes(&bytes[offsets[index] as usize..offsets[index + 1] as usize])
            }
            Keys::Picked { bytes, spans, places } => {
                KeyRef::Bytes(&bytes[spans[places[index] as usize].range()])
            }
            Keys::Slices(slices) => KeyRef::Bytes(slices[index]),
            Keys::Integers(integers) => KeyRef::Integer(integers[index]),
            Keys::Unknown => KeyRef::Hash(hash),
        }
    }
}

/// A reusable buffer that turns the positions of keys into a [`KeyBatch`].
///
/// ```
/// use crivo::distinct::HyperLogLog;
/// use crivo::keys::{KeyBuffer, KeyScheme, Span};
///
/// let text = b"red green red";
/// let mut buffer = KeyBuffer::new(KeyScheme::bytes());
/// for range in [0..3, 4..9, 10..13] {
///     buffer.push_span(Span::new(range)?);
/// }
/// let mut colours = HyperLogLog::new(12)?;
/// colours.insert_batch(&buffer.hash_spans(text)?)?;
/// assert_eq!(colours.estimate().value(), 2.0);
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct KeyBuffer {
    pub(super) scheme: KeyScheme,
    pub(super) spans: Vec<Span>,
    pub(super) hashes: Vec<u64>,
}

impl KeyBuffer {
    /// Creates an empty buffer for keys of the scheme.
    pub fn new(scheme: KeyScheme) -> Self {
        Self { scheme, spans: Vec::new(), hashes: Vec::new() }
    }

    /// Returns the scheme that the keys will be hashed under.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Removes the spans and keeps the memory.
    pub fn clear(&mut self) {
        self.spans.clear();
    }

    /// Returns how many spans are to be hashed.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Returns true if no span is to be hashed.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Adds the position of a key in the bytes that will be passed to
    /// [`hash_spans`](Self::hash_spans).
    #[inline]
    pub fn push_span(&mut self, span: Span) {
        self.spans.push(span);
    }

    /// Hashes the keys that the collected spans point at.
    ///
    /// # Errors
    /// If the scheme's keys are not bytes, or a span lies outside `bytes`.
    pub fn hash_spans<'a>(&'a mut self, bytes: &'a [u8]) -> Result<KeyBatch<'a>> {
        let Self { scheme, spans, hashes } = self;
        hash_spans_into(hashes, *scheme, spans, bytes)
    }

    /// Hashes the keys that the caller's own spans point at, without storing these spans here.
    ///
    /// # Errors
    /// If the scheme's keys are not bytes, or a span lies outside `bytes`.
    pub fn hash_spans_of<'a>(&'a mut self, spans: &'a [Span], bytes: &'a [u8]) -> Result<KeyBatch<'a>> {
        hash_spans_into(&mut self.hashes, self.scheme, spans, bytes)
    }

    /// Hashes the keys of an Arrow column: key `i` lies between `offsets[i]` and `offsets[i + 1]`,
    /// so there is one key less than offsets.
    ///
    /// # Errors
    /// If the scheme's keys are not bytes, if an offset is less than the one before, or if an
    /// offset lies outside `bytes`.
    pub fn hash_offsets<'a>(&'a mut self, offsets: &'a [i32], bytes: &'a [u8]) -> Result<KeyBatch<'a>> {
        require_bytes(self.scheme)?;
        let seed = self.scheme.seed();
        self.hashes.clear();
        self.hashes.reserve(offsets.len());
        for pair in offsets.windows(2) {
            // A negative offset becomes an index that lies outside any slice.
            match bytes.get(pair[0] as usize..pair[1] as usize) {
                Some(key) => self.hashes.push(hash_bytes(key, seed)),
                None => return Err(invalid_span(format_args!("{pair:?} of {}", bytes.len()))),
            }
        }
        let keys = Keys::Offsets { bytes, offsets };
        Ok(KeyBatch { scheme: self.scheme, keys, hashes: &self.hashes })
    }

    /// Hashes keys in separate slices, without copying them.
    ///
    /// # Errors
    /// If the scheme's keys are not bytes.
    pub fn hash_slices<'a>(&'a mut self, slices: &'a [&'a [u8]]) -> Result<KeyBatch<'a>> {
        require_bytes(self.scheme)?;
        let seed = self.scheme.seed();
        self.hashes.clear();
        self.hashes.extend(slices.iter().map(|key| hash_bytes(key, seed)));
        Ok(KeyBatch { scheme: self.scheme, keys: Keys::Slices(slices), hashes: &self.hashes })
    }

    /// Hashes integer keys.
    ///
    /// # Errors
    /// If the scheme's keys are not integers.
    pub fn hash_integers<'a>(&'a mut self, integers: &'a [u64]) -> Result<KeyBatch<'a>> {
        if self.scheme.kind() != KeyKind::Integer {
            return Err(self.scheme.wrong_kind(KeyKind::Integer));
        }
        self.hashes.clear();
        self.scheme.hash_integers(integers, &mut self.hashes);
        Ok(KeyBatch { scheme: self.scheme, keys: Keys::Integers(integers), hashes: &self.hashes })
    }
}

fn require_bytes(scheme: KeyScheme) -> Result<()> {
    if scheme.kind() == KeyKind::Bytes { Ok(()) } else { Err(scheme.wrong_kind(KeyKind::Bytes)) }
}

pub(super) fn hash_spans_into<'a>(
    hashes: &'a mut Vec<u64>,
    scheme: KeyScheme,
    spans: &'a [Span],
    bytes: &'a [u8],
) -> Result<KeyBatch<'a>> {
    require_bytes(scheme)?;
    let seed = scheme.seed();
    hashes.clear();
    hashes.reserve(spans.len());
    for span in spans {
        match bytes.get(span.range()) {
            Some(key) => hashes.push(hash_bytes(key, seed)),
            None => return Err(invalid_span(format_args!("{:?} of {}", span.range(), bytes.len()))),
        }
    }
    Ok(KeyBatch { scheme, keys: Keys::Spans { bytes, spans }, hashes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantiles::KeyQuantiles;
    use crate::sampling::{Reservoir, WeightedReservoir};

    #[test]
    fn batch_hashes_equal_single_hashes() {
        let scheme = KeyScheme::bytes().with_seed(3);
        let text = b"one,,three";
        let mut buffer = KeyBuffer::new(scheme);
        for range in [0..3, 4..4, 5..10] {
            buffer.push_span(Span::new(range).unwrap());
        }
        let batch = buffer.hash_spans(text).unwrap();
        let expected: Vec<_> =
            [&b"one"[..], b"", b"three"].map(|key| (KeyRef::Bytes(key), scheme.hash(key).unwrap())).into();
        assert_eq!(batch.iter().collect::<Vec<_>>(), expected);
        let spans = [0..3, 4..4, 5..10].map(|range| Span::new(range).unwrap());
        let mut other = KeyBuffer::new(scheme);
        let batch = other.hash_spans_of(&spans, text).unwrap();
        assert_eq!(batch.iter().collect::<Vec<_>>(), expected);
        let batch = other.hash_offsets(&[0, 3, 3, 8], b"onethree").unwrap();
        assert_eq!(batch.iter().collect::<Vec<_>>(), expected);
        assert_eq!((batch.get(2), batch.get(3)), (Some(KeyRef::Bytes(b"three")), None));
        assert_eq!(batch.slice(1..9).iter().collect::<Vec<_>>(), expected[1..]);
        assert!(batch.slice(5..9).is_empty());
        let none = other.hash_offsets(&[], b"").unwrap();
        assert!(none.is_empty() && none.slice(0..0).is_empty());
        let slices: [&[u8]; 3] = [b"one", b"", b"three"];
        let batch = other.hash_slices(&slices).unwrap();
        assert_eq!(batch.iter().collect::<Vec<_>>(), expected);
        assert_eq!(batch.slice(1..9).iter().collect::<Vec<_>>(), expected[1..]);
        assert!(KeyBuffer::new(KeyScheme::integers()).hash_slices(&slices).is_err());

        let integers = [7, u64::MAX];
        let mut buffer = KeyBuffer::new(KeyScheme::integers());
        let batch = buffer.hash_integers(&integers).unwrap();
        assert_eq!(batch.hashes()[1], KeyScheme::integers().hash(&u64::MAX).unwrap());
    }

    #[test]
    fn span_outside_the_bytes_is_an_error() {
        let mut buffer = KeyBuffer::new(KeyScheme::bytes());
        buffer.push_span(Span::new(2..9).unwrap());
        assert_eq!(buffer.hash_spans(b"short").unwrap_err().kind(), ErrorKind::InvalidBatch);
        for offsets in [[0, 9], [3, 1], [-1, 2], [0, -1]] {
            assert_eq!(buffer.hash_offsets(&offsets, b"short").unwrap_err().kind(), ErrorKind::InvalidBatch);
        }
        #[allow(clippy::reversed_empty_ranges)]
        let backwards = 5..2;
        assert!(Span::new(backwards).is_err());
        assert!(Span::new(0..usize::MAX).is_err());
    }

    #[test]
    fn each_kind_of_key_has_its_own_door() {
        let mut buffer = KeyBuffer::new(KeyScheme::integers());
        assert_eq!(buffer.hash_spans(b"").unwrap_err().kind(), ErrorKind::Incompatible);
        let mut buffer = KeyBuffer::new(KeyScheme::bytes());
        assert_eq!(buffer.hash_integers(&[1]).unwrap_err().kind(), ErrorKind::Incompatible);
        assert!(KeyBatch::from_hashes(KeyScheme::bytes(), &[1]).is_err());
        assert!(KeyBatch::from_hashes(KeyScheme::hashes(), &[1]).is_ok());
    }

    /// The key is never read, so the system never has to provide its 4 GiB.
    #[cfg(all(target_pointer_width = "64", not(miri)))]
    #[test]
    fn keys_that_no_file_can_hold_are_refused_in_batches_too() {
        let long = vec![0; 1 << 32];
        let slices: [&[u8]; 2] = [b"a", &long];
        let batch = KeyBatch { scheme: KeyScheme::bytes(), keys: Keys::Slices(&slices), hashes: &[1, 2] };
        let mut uniform = Reservoir::new(5, 1).unwrap();
        let mut weighted = WeightedReservoir::new(5, 1).unwrap();
        let mut quantiles = KeyQuantiles::new(64, crate::quantiles::Accuracy::Uniform, 1).unwrap();
        let refusals = [
            uniform.insert_batch(&batch),
            weighted.insert_batch(&batch, &[1.0, 1.0]),
            quantiles.insert_batch(&batch),
            uniform.insert(&*long),
            weighted.insert(&*long, 1.0),
            quantiles.insert(&*long),
        ];
        for refusal in refusals {
            let expected = "key: expected less than 4 GiB, found 4294967296 bytes";
            assert_eq!(refusal.unwrap_err().to_string(), expected);
        }
        assert!(uniform.is_empty() && weighted.is_empty() && quantiles.is_empty());
        assert!(uniform.insert_batch(&batch.slice(0..1)).is_ok());
    }
}
