//! Numbers with separators between thousands: `1,234.50`, `1.234,50`, `1 234`.
//!
//! The text alone does not tell whether `1,234` is a whole number, because in other countries it is
//! a fraction. So such values are texts, unless `--thousands` names the separator of the file. Then
//! a value of digits in groups of three is read as a number, in every answer: `1,234` and `1234`
//! are the same value. If the separator is a point, fractions have a comma.

use crivo::keys::{KeyBatch, KeyBuffer, KeyScheme, Span};

/// The separator between thousands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Separator {
    thousands: char,
}

impl std::str::FromStr for Separator {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text.chars().next(), text.chars().count()) {
            (Some(thousands @ (',' | '.' | ' ' | '\'' | '_' | '\u{a0}' | '\u{202f}' | '’')), 1) => {
                Ok(Self { thousands })
            }
            _ => Err("expected one of , . ' _ or a blank".into()),
        }
    }
}

/// Returns true if a text looks like a number with commas between thousands.
pub(super) fn is_grouped(text: &str) -> bool {
    Separator { thousands: ',' }.strip(text.as_bytes(), &mut Vec::new())
}

impl Separator {
    /// Appends the number without separators. Returns false if the value is no number with
    /// separators.
    fn strip(self, value: &[u8], out: &mut Vec<u8>) -> bool {
        let start = out.len();
        let is_number = self.append(value, out).is_some();
        if !is_number {
            out.truncate(start);
        }
        is_number
    }

    fn append(self, value: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let mut encoded = [0; 4];
        let separator = self.thousands.encode_utf8(&mut encoded).as_bytes();
        let point = if self.thousands == '.' { b',' } else { b'.' };
        let unsigned = match value {
            [sign @ (b'-' | b'+'), rest @ ..] => {
                out.push(*sign);
                rest
            }
            _ => value,
        };
        let whole_end = unsigned.iter().position(|&byte| byte == point).unwrap_or(unsigned.len());
        let (mut whole, fraction) = unsigned.split_at(whole_end);
        let mut group = 0;
        let mut groups = 0;
        while !whole.is_empty() {
            if let Some(rest) = whole.strip_prefix(separator) {
                if !(1..=3).contains(&group) || (groups > 0 && group != 3) {
                    return None;
                }
                (whole, group, groups) = (rest, 0, groups + 1);
            } else if whole[0].is_ascii_digit() {
                out.push(whole[0]);
                (whole, group) = (&whole[1..], group + 1);
            } else {
                return None;
            }
        }
        let is_grouped = groups > 0 && group == 3;
        // With a decimal comma, numbers below a thousand are rewritten too.
        let is_other_point = groups == 0 && group > 0 && point == b',' && !fraction.is_empty();
        let digits = fraction.get(1..).unwrap_or_default();
        if !(is_grouped || is_other_point) || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        if !digits.is_empty() {
            out.push(b'.');
            out.extend_from_slice(digits);
        }
        Some(())
    }
}

/// The buffers of values without separators.
#[derive(Debug, Default)]
pub(super) struct Stripped {
    bytes: Vec<u8>,
    spans: Vec<Span>,
    rows: Vec<u32>,
    buffer: Option<KeyBuffer>,
}

impl Stripped {
    /// Returns the keys of values, with numbers without separators, and the row of each.
    pub(super) fn keys<'a>(
        &'a mut self,
        values: impl Iterator<Item = Option<&'a [u8]>>,
        separator: Separator,
        scheme: KeyScheme,
    ) -> crivo::Result<(KeyBatch<'a>, &'a [u32])> {
        let Self { bytes, spans, rows, buffer } = self;
        bytes.clear();
        spans.clear();
        rows.clear();
        for (row, value) in values.enumerate() {
            let Some(value) = value else { continue };
            let start = bytes.len();
            if !separator.strip(value, bytes) {
                bytes.extend_from_slice(value);
            }
            spans.push(Span::new(start..bytes.len())?);
            rows.push(row as u32);
        }
        let buffer = buffer.get_or_insert_with(|| KeyBuffer::new(scheme));
        Ok((buffer.hash_spans_of(spans, bytes)?, rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(separator: &str, value: &str) -> Option<String> {
        let mut out = b"x".to_vec();
        let separator: Separator = separator.parse().unwrap();
        let is_number = separator.strip(value.as_bytes(), &mut out);
        assert!(is_number || out == b"x", "what is no number leaves nothing");
        is_number.then(|| String::from_utf8(out[1..].to_vec()).unwrap())
    }

    #[test]
    fn groups_of_three_are_numbers() {
        for (separator, value, number) in [
            (",", "1,234", "1234"),
            (",", "-12,345,678.50", "-12345678.50"),
            (".", "1.234,5", "1234.5"),
            (".", "0,75", "0.75"),
            ("'", "+1'000", "+1000"),
            (" ", "12 000", "12000"),
            ("\u{202f}", "1\u{202f}234,5", ""),
            ("\u{202f}", "1\u{202f}234.5", "1234.5"),
        ] {
            assert_eq!(read(separator, value).unwrap_or_default(), number, "{value}");
        }
    }

    #[test]
    fn anything_else_stays_as_it_is() {
        for value in [
            "1234",
            "1,23",
            "1,2345",
            ",123",
            "1,,234",
            "1,234,",
            "1234,567",
            "1,234.5.6",
            "1,234e5",
            "a,bcd",
            "",
        ] {
            assert_eq!(read(",", value), None, "{value}");
        }
        for wrong in ["", "ab", "1", ";"] {
            assert!(wrong.parse::<Separator>().is_err(), "{wrong:?}");
        }
    }
}
