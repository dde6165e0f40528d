//! Where the plain part of a string ends, and what its escapes stand for: many bytes at a time.

use wide::u8x16;

/// How many bytes are looked at together: two vectors.
const LANES: usize = 32;

/// One bit for each byte, the first byte lowest: whether `is_found` says so of its vector.
#[inline]
fn bits_of(bytes: &[u8; LANES], is_found: impl Fn(u8x16) -> u8x16) -> u32 {
    let (vectors, _) = bytes.as_chunks::<16>();
    vectors.iter().rev().fold(0, |bits, vector| bits << 16 | is_found(u8x16::new(*vector)).move_mask() as u32)
}

/// Returns how many bytes come before the first quote, backslash or control character.
#[inline]
pub(crate) fn plain_prefix(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(lanes) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let ends = bits_of(lanes, |vector| {
            let control = vector.min(u8x16::splat(0x1F)).cmp_eq(vector);
            vector.cmp_eq(u8x16::splat(b'"')) | vector.cmp_eq(u8x16::splat(b'\\')) | control
        });
        if ends != 0 {
            return at + ends.trailing_zeros() as usize;
        }
        at += LANES;
    }
    let rest = &bytes[at..];
    at + rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1F)).count()
}

/// Appends a string's text, its escapes resolved. It has been checked. Half of a surrogate pair
/// stands for no character and becomes U+FFFD.
///
/// Many texts have an escape in every line. So bytes are copied a fixed number at a time, and those that turn out to be
/// behind an escape are overwritten.
pub(crate) fn unescape(text: &[u8], out: &mut Vec<u8>) {
    let (mut at, mut to) = (0, out.len());
    // No escape is shorter than what it stands for.
    out.resize(to + text.len() + LANES, 0);
    while let Some(lanes) = text.get(at..).and_then(|rest| rest.first_chunk::<LANES>()) {
        out[to..to + LANES].copy_from_slice(lanes);
        let escapes = bits_of(lanes, |vector| vector.cmp_eq(u8x16::splat(b'\\')));
        let plain = if escapes == 0 { LANES } else { escapes.trailing_zeros() as usize };
        at += plain;
        to += plain;
        if escapes != 0 {
            let (length, written) = resolve(&text[at..], &mut out[to..]);
            at += length;
            to += written;
        }
    }
    while at < text.len() {
        let (length, written) = resolve(&text[at..], &mut out[to..]);
        at += length;
        to += written;
    }
    out.truncate(to);
}

/// Writes the character or escape that begins a text; returns how long it is, and how many bytes were written.
#[inline]
fn resolve(text: &[u8], out: &mut [u8]) -> (usize, usize) {
    let (byte, length) = match *text {
        [b'\\', escape, ..] => match escape {
            b'b' => (8, 2),
            b'f' => (12, 2),
            b'n' => (b'\n', 2),
            b'r' => (b'\r', 2),
            b't' => (b'\t', 2),
            b'u' => {
                let (character, digits) = unicode(&text[2..]);
                return (2 + digits, character.encode_utf8(out).len());
            }
            other => (other, 2),
        },
        [byte, ..] => (byte, 1),
        [] => return (0, 0),
    };
    out[0] = byte;
    (length, 1)
}

/// The character of `XXXX` or `XXXX\uXXXX`, and how long that is.
fn unicode(text: &[u8]) -> (char, usize) {
    let unit = |at: usize| {
        let digits = std::str::from_utf8(text.get(at..at + 4)?).ok()?;
        u32::from_str_radix(digits, 16).ok()
    };
    let Some(first) = unit(0) else { return (char::REPLACEMENT_CHARACTER, 0) };
    if (0xD800..0xDC00).contains(&first)
        && text.get(4..6) == Some(b"\\u")
        && let Some(second @ 0xDC00..=0xDFFF) = unit(6)
    {
        let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        return (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 10);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 4)
}
