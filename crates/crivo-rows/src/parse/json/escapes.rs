//! Finds the end of the plain part of a string, and resolves its escapes, many bytes at a time.

use wide::u8x16;

/// The number of bytes that are examined together: two vectors.
const LANES: usize = 32;

/// Returns one bit for each byte, the first byte lowest: the result of `is_found` on its vector.
#[inline]
fn bits_of(bytes: &[u8; LANES], is_found: impl Fn(u8x16) -> u8x16) -> u32 {
    let (vectors, _) = bytes.as_chunks::<16>();
    vectors.iter().rev().fold(0, |bits, vector| bits << 16 | is_found(u8x16::new(*vector)).move_mask() as u32)
}

/// Returns one bit for each byte, the first byte lowest: whether it is a quote, a backslash or a
/// control character.
#[inline]
fn special_bits(bytes: &[u8; LANES]) -> u32 {
    bits_of(bytes, |vector| {
        let control = vector.min(u8x16::splat(0x1F)).cmp_eq(vector);
        vector.cmp_eq(u8x16::splat(b'"')) | vector.cmp_eq(u8x16::splat(b'\\')) | control
    })
}

/// Returns true if [`special_bits`] would mark the byte.
fn is_special(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | 0..=0x1F)
}

/// Returns how many bytes come before the first quote, backslash or control character.
#[inline]
pub(crate) fn plain_prefix(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(lanes) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let ends = special_bits(lanes);
        if ends != 0 {
            return at + ends.trailing_zeros() as usize;
        }
        at += LANES;
    }
    let rest = &bytes[at..];
    at + rest.iter().take_while(|&&byte| !is_special(byte)).count()
}

/// Appends a text as the content of a JSON string. Bytes are copied a fixed number at a time, and
/// those from the first special one on are removed again.
pub(crate) fn escape(text: &[u8], out: &mut Vec<u8>) {
    out.reserve(text.len());
    let mut at = 0;
    while let Some(lanes) = text.get(at..).and_then(|rest| rest.first_chunk::<LANES>()) {
        out.extend_from_slice(lanes);
        at += LANES;
        let special = special_bits(lanes);
        if special != 0 {
            let plain = special.trailing_zeros() as usize;
            out.truncate(out.len() - (LANES - plain));
            push_escape(lanes[plain], out);
            at -= LANES - (plain + 1);
        }
    }
    for &byte in &text[at..] {
        if is_special(byte) { push_escape(byte, out) } else { out.push(byte) }
    }
}

fn push_escape(special: u8, out: &mut Vec<u8>) {
    match special {
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        0..0x20 => out.extend_from_slice(format!("\\u{special:04x}").as_bytes()),
        quote_or_backslash => out.extend_from_slice(&[b'\\', quote_or_backslash]),
    }
}

/// Appends a string's text with its escapes resolved. The text must be checked already. Half of a
/// surrogate pair is not a character and becomes U+FFFD.
///
/// Many texts have an escape in every line. So bytes are copied a fixed number at a time, and those
/// from an escape on are removed again.
pub(crate) fn unescape(text: &[u8], out: &mut Vec<u8>) {
    // No escape is shorter than its character.
    out.reserve(text.len() + LANES);
    let mut at = 0;
    while let Some(lanes) = text.get(at..).and_then(|rest| rest.first_chunk::<LANES>()) {
        let escapes = bits_of(lanes, |vector| vector.cmp_eq(u8x16::splat(b'\\')));
        out.extend_from_slice(lanes);
        at += LANES;
        if escapes != 0 {
            let plain = escapes.trailing_zeros() as usize;
            out.truncate(out.len() - (LANES - plain));
            at -= LANES - plain;
            at += push_character(&text[at..], out);
        }
    }
    while at < text.len() {
        at += push_character(&text[at..], out);
    }
}

/// For each byte after a backslash, the byte that the escape means; 0 if it is not a short escape.
const SIMPLE_ESCAPES: [u8; 256] = {
    let pairs = *b"\"\"\\\\//b\x08f\x0Cn\nr\rt\t";
    let mut table = [0; 256];
    let mut at = 0;
    while at < pairs.len() {
        table[pairs[at] as usize] = pairs[at + 1];
        at += 2;
    }
    table
};

/// What [`plain_part`] found.
pub(super) struct PlainPart {
    /// The number of bytes before the first one that the caller must examine.
    pub(super) length: usize,
    /// Whether there were escapes.
    pub(super) escaped: bool,
}

/// Returns how many bytes come before the first quote, control character, or escape of more than
/// one letter. Short escapes are skipped, because many texts have one in every line.
#[inline]
pub(super) fn plain_part(bytes: &[u8]) -> PlainPart {
    let (mut at, mut escaped) = (0, false);
    while let Some(lanes) = bytes.get(at..).and_then(|rest| rest.first_chunk::<LANES>()) {
        let mut special = special_bits(lanes);
        while special != 0 {
            let first = special.trailing_zeros() as usize;
            let is_short_escape = lanes[first] == b'\\'
                && lanes.get(first + 1).is_some_and(|&letter| SIMPLE_ESCAPES[usize::from(letter)] != 0);
            if !is_short_escape {
                return PlainPart { length: at + first, escaped };
            }
            escaped = true;
            // The letter itself may be a quote or a backslash.
            special &= !(3 << first);
        }
        at += LANES;
    }
    PlainPart { length: at + plain_prefix(&bytes[at..]), escaped }
}

/// Appends the byte or escape at the beginning of a text. Returns its length in the text.
#[inline]
fn push_character(text: &[u8], out: &mut Vec<u8>) -> usize {
    match *text {
        [b'\\', b'u', ref digits @ ..] => {
            let (character, length) = unicode(digits);
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            2 + length
        }
        [b'\\', letter, ..] => {
            let character = SIMPLE_ESCAPES[usize::from(letter)];
            out.push(if character == 0 { letter } else { character });
            2
        }
        [byte, ..] => {
            out.push(byte);
            1
        }
        [] => 0,
    }
}

/// Returns the character of `XXXX` or `XXXX\uXXXX`, and the length of the digits.
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
