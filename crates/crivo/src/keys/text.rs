// This file is long because the text of every type is beside the tests that hold it to Python's.

//! Which text represents a value that is not text?
//!
//! A CSV column and the same column in Parquet, Arrow or a Python list must give the same sketch.
//! So every value has one text, which is written here as docs/keys.md specifies. Integers are
//! decimal. Floats have the fewest digits that read back as the same value, in the layout of
//! Python, which wrote most files with floats: `1.0`, `0.1`, `1e-05`, `1e+16`. Dates, times and
//! timestamps are ISO 8601.
//!
//! Each function appends to a buffer that the caller reuses; none allocates for ordinary values.

use super::calendar::date_of;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// Appends an integer in decimal.
pub fn push_i64(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends an integer in decimal.
pub fn push_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends `true` or `false`.
pub fn push_boolean(out: &mut Vec<u8>, value: bool) {
    out.extend_from_slice(if value { b"true" } else { b"false" });
}

/// Appends a 64-bit float. Returns false, and appends nothing, if it is NaN, which represents a
/// missing value and is not a key.
///
/// ```
/// let mut text = Vec::new();
/// assert!(crivo::keys::text::push_f64(&mut text, 2.0));
/// assert_eq!(text, b"2.0");
/// assert!(!crivo::keys::text::push_f64(&mut text, f64::NAN));
/// ```
pub fn push_f64(out: &mut Vec<u8>, value: f64) -> bool {
    push_short_decimal(out, value) || push_any_f64(out, value)
}

/// Appends a number with at most four digits after the point and at most 15 in all, such as a
/// price. Returns false, and appends nothing, if the number has more digits.
///
/// Different decimals of up to 15 digits are different floats. So if a float is the nearest one to
/// such a decimal, then no decimal with fewer digits reads back as it.
#[inline]
fn push_short_decimal(out: &mut Vec<u8>, value: f64) -> bool {
    const UNIT: f64 = 1e4;
    let scaled = value * UNIT;
    // The sign of zero is in its bits only, and NaN is in no range.
    if !(0.5..1e15).contains(&scaled.abs()) {
        return false;
    }
    // All numbers here are below 2^52. There the sum is exact, or its rounding does not matter: the
    // division rejects any float that is not such a decimal.
    let units = (scaled.abs() + 0.5) as u64;
    if units as f64 / UNIT != value.abs() {
        return false;
    }
    if value < 0.0 {
        out.push(b'-');
    }
    push_u64(out, units / 10_000);
    let fraction = units % 10_000;
    let ([a, b], [c, d]) = (two_digits(fraction / 100), two_digits(fraction % 100));
    let written = [b'.', a, b, c, d];
    let zeros = written.iter().rev().take(3).take_while(|&&digit| digit == b'0').count();
    out.extend_from_slice(&written[..written.len() - zeros]);
    true
}

/// Appends a 64-bit float with any number of digits. Returns false if it is NaN.
fn push_any_f64(out: &mut Vec<u8>, value: f64) -> bool {
    let is_plain = value == 0.0 || (1e-4..1e16).contains(&value.abs());
    push_shortest(out, value, is_plain, ryu::Buffer::new().format(value))
}

/// Appends a 32-bit float with the digits that suffice for 32 bits. Returns false if it is NaN.
pub fn push_f32(out: &mut Vec<u8>, value: f32) -> bool {
    // Compared with 32 bits, because the digits of the nearest float to 0.0001 are `0.0001`, even
    // if that float is less.
    let is_plain = value == 0.0 || (1e-4..1e16).contains(&value.abs());
    push_shortest(out, value.into(), is_plain, ryu::Buffer::new().format(value))
}

/// Appends a float whose shortest digits are known, as `12.5` or `1.25e1`. `is_plain` means that it
/// has no exponent.
fn push_shortest(out: &mut Vec<u8>, value: f64, is_plain: bool, shortest: &str) -> bool {
    if value.is_nan() {
        return false;
    }
    if value.is_infinite() {
        out.extend_from_slice(if value > 0.0 { b"inf" } else { b"-inf" });
        return true;
    }
    if is_plain {
        // The digits already have this layout, except for 32-bit floats from 1e13 on.
        match shortest.split_once('e') {
            None => out.extend_from_slice(shortest.as_bytes()),
            Some((mantissa, exponent)) => push_plain(out, mantissa, exponent.parse().unwrap_or(0)),
        }
        return true;
    }
    let (mantissa, exponent) = match shortest.split_once('e') {
        Some((mantissa, exponent)) => (mantissa.to_owned(), exponent.parse::<i32>().unwrap_or(0)),
        None => normalised(shortest),
    };
    out.extend_from_slice(mantissa.strip_suffix(".0").unwrap_or(&mantissa).as_bytes());
    out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
    if exponent.abs() < 10 {
        out.push(b'0');
    }
    push_u64(out, exponent.unsigned_abs().into());
    true
}

/// Appends `1.25` and 13 as `12500000000000.0`: a whole number whose exponent is larger than its
/// number of digits.
fn push_plain(out: &mut Vec<u8>, mantissa: &str, exponent: usize) {
    let start = out.len();
    out.extend(mantissa.bytes().filter(|&byte| byte != b'.'));
    let digits = out.len() - start - usize::from(mantissa.starts_with('-'));
    out.resize(out.len() + (exponent + 1).saturating_sub(digits), b'0');
    out.extend_from_slice(b".0");
}

/// Returns `0.0000125` as `1.25` and −5: for small numbers that were formatted without an exponent.
fn normalised(plain: &str) -> (String, i32) {
    let (sign, digits) = plain.strip_prefix('-').map_or(("", plain), |digits| ("-", digits));
    let fraction = digits.split_once('.').map_or(digits, |(_, fraction)| fraction);
    let significant = fraction.trim_start_matches('0');
    let zeros = fraction.len() - significant.len();
    let (first, rest) = significant.split_at(significant.len().min(1));
    let point = if rest.is_empty() { "" } else { "." };
    (format!("{sign}{first}{point}{rest}"), -(zeros as i32) - 1)
}

/// Appends a date, as days from 1970-01-01, as `2024-01-31`.
pub fn push_date(out: &mut Vec<u8>, days: i64) {
    let (year, month, day) = date_of(days);
    let ([m, n], [d, e]) = (two_digits(month.into()), two_digits(day.into()));
    if (0..=9999).contains(&year) {
        let ([a, b], [c, y]) = (two_digits(year as u64 / 100), two_digits(year as u64 % 100));
        out.extend_from_slice(&[a, b, c, y, b'-', m, n, b'-', d, e]);
    } else {
        // ISO 8601 wants a sign and more digits for years outside 0 to 9999.
        out.push(if year < 0 { b'-' } else { b'+' });
        push_padded(out, year.unsigned_abs(), 6);
        out.extend_from_slice(&[b'-', m, n, b'-', d, e]);
    }
}

/// Appends a time of day as `23:59:59`, with `.ffffff` or `.fffffffff` if it is not a whole second.
pub fn push_time(out: &mut Vec<u8>, nanoseconds: u64) {
    let seconds = nanoseconds / 1_000_000_000;
    let fraction = nanoseconds % 1_000_000_000;
    let ([m, n], [s, t]) = (two_digits(seconds / 60 % 60), two_digits(seconds % 60));
    push_padded(out, seconds / 3600, 2);
    out.extend_from_slice(&[b':', m, n, b':', s, t]);
    if fraction != 0 {
        out.push(b'.');
        if fraction.is_multiple_of(1000) {
            push_padded(out, fraction / 1000, 6);
        } else {
            push_padded(out, fraction, 9);
        }
    }
}

/// Appends a timestamp as `2024-01-31T23:59:59`. It is counted in `per_second` parts of a second
/// from 1970. A `Z` follows if the timestamp is in universal time instead of local time.
pub fn push_timestamp(out: &mut Vec<u8>, value: i64, per_second: i64, universal: bool) {
    TimestampTexts::new(per_second, universal).push(out, value);
}

/// Writes timestamps like [`push_timestamp`]. Formats the date once for consecutive timestamps of
/// one day.
#[derive(Debug, Clone)]
pub struct TimestampTexts {
    per_second: i64,
    is_universal: bool,
    /// The day of the last timestamp, if its year has four digits, and the text of that day.
    day: Option<i64>,
    date: [u8; 10],
}

impl TimestampTexts {
    /// Creates a writer of timestamps in `per_second` parts of a second, in universal time or in
    /// local time.
    pub fn new(per_second: i64, is_universal: bool) -> Self {
        Self { per_second, is_universal, day: None, date: [0; 10] }
    }

    /// Appends a timestamp.
    #[inline]
    pub fn push(&mut self, out: &mut Vec<u8>, value: i64) {
        // Divisors that the compiler knows are several times faster.
        let (seconds, nanoseconds) = match self.per_second {
            1_000 => seconds_of(value, 1_000),
            1_000_000 => seconds_of(value, 1_000_000),
            1_000_000_000 => seconds_of(value, 1_000_000_000),
            _ => seconds_of(value, self.per_second.max(1)),
        };
        let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400) as u64);
        if self.day != Some(day) {
            let start = out.len();
            push_date(out, day);
            self.day = out[start..].try_into().ok().map(|date| {
                self.date = date;
                day
            });
            if self.day.is_some() {
                out.truncate(start);
            }
        }
        if self.day.is_some() {
            out.extend_from_slice(&self.date);
        }
        if nanoseconds == 0 {
            let ([g, h], [m, n]) = (two_digits(second / 3600), two_digits(second / 60 % 60));
            let [s, t] = two_digits(second % 60);
            out.extend_from_slice(&[b'T', g, h, b':', m, n, b':', s, t]);
        } else {
            out.push(b'T');
            push_time(out, second * 1_000_000_000 + nanoseconds);
        }
        if self.is_universal {
            out.push(b'Z');
        }
    }
}

/// Splits parts of a second into whole seconds and nanoseconds.
#[inline(always)]
#[allow(clippy::inline_always)] // each call has another constant divisor
fn seconds_of(value: i64, per_second: i64) -> (i64, u64) {
    let parts = value.rem_euclid(per_second) as u64;
    (value.div_euclid(per_second), parts * (1_000_000_000 / per_second as u64))
}

/// Appends a decimal number with `scale` digits after the point.
pub fn push_decimal(out: &mut Vec<u8>, unscaled: &str, scale: i32) {
    let (sign, digits) = unscaled.strip_prefix('-').map_or(("", unscaled), |digits| ("-", digits));
    out.extend_from_slice(sign.as_bytes());
    let scale_digits = usize::try_from(scale).unwrap_or(0);
    if digits.len() > scale_digits {
        let (whole, fraction) = digits.split_at(digits.len() - scale_digits);
        out.extend_from_slice(whole.as_bytes());
        if !fraction.is_empty() {
            out.push(b'.');
            out.extend_from_slice(fraction.as_bytes());
        }
    } else {
        out.extend_from_slice(b"0.");
        out.resize(out.len() + scale_digits - digits.len(), b'0');
        out.extend_from_slice(digits.as_bytes());
    }
    if scale < 0 && digits != "0" {
        out.resize(out.len() + scale.unsigned_abs() as usize, b'0');
    }
}

/// Returns the two digits of a number below 100.
fn two_digits(value: u64) -> [u8; 2] {
    [b'0' + (value / 10) as u8, b'0' + (value % 10) as u8]
}

fn push_padded(out: &mut Vec<u8>, value: u64, width: u32) {
    if width == 2 && value < 100 {
        return out.extend_from_slice(&two_digits(value));
    }
    let zeros = (1..width).rev().take_while(|&place| value < 10_u64.pow(place)).count();
    out.resize(out.len() + zeros, b'0');
    push_u64(out, value);
}

/// Returns the integer key that a text represents: a 64-bit integer, signed or not, with optional
/// blanks around it. Negative integers are in two's complement.
///
/// ```
/// use crivo::keys::text::parse_integer;
/// assert_eq!(parse_integer(b" +42 "), Some(42));
/// assert_eq!(parse_integer(b"-1"), Some(u64::MAX));
/// assert_eq!(parse_integer(b"4.2"), None);
/// ```
pub fn parse_integer(text: &[u8]) -> Option<u64> {
    let (negative, digits) = match text.trim_ascii() {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let magnitude = digits.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 { None } else { value.checked_mul(10)?.checked_add(digit.into()) }
    })?;
    match negative {
        false => Some(magnitude),
        true if magnitude <= i64::MIN.unsigned_abs() => Some(magnitude.wrapping_neg()),
        true => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn integers_may_be_negative() {
        assert_eq!(parse_integer(b"-1"), Some(u64::MAX));
        assert_eq!(parse_integer(b"7"), Some(7));
        assert_eq!(parse_integer(b"-9223372036854775808"), Some(1 << 63));
        for wrong in ["", "-9223372036854775809", "18446744073709551616", "--1", "-", "-+1", "+"] {
            assert_eq!(parse_integer(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn floats_are_written_as_python_writes_them() {
        for (value, expected) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-2.5, "-2.5"),
            (0.1, "0.1"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e-4, "0.0001"),
            (0.000_123, "0.000123"),
            (9.9e-5, "9.9e-05"),
            (1e-5, "1e-05"),
            (-1.25e-5, "-1.25e-05"),
            (1.5e-10, "1.5e-10"),
            (123_456_789_012_345.0, "123456789012345.0"),
            (1e15, "1000000000000000.0"),
            (9_007_199_254_740_993.0, "9007199254740992.0"),
            (1e16, "1e+16"),
            (-1.5e16, "-1.5e+16"),
            (1e22, "1e+22"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(text(|out| assert!(push_f64(out, value))), expected);
        }
        assert_eq!(text(|out| assert!(push_f32(out, 0.1))), "0.1");
        assert_eq!(text(|out| assert!(push_f32(out, 16_777_216.0))), "16777216.0");
        assert_eq!(text(|out| assert!(push_f32(out, -1.5e13))), "-15000000000000.0");
        assert_eq!(text(|out| assert!(push_f32(out, 1e15))), "1000000000000000.0");
        assert_eq!(text(|out| assert!(push_f32(out, 1.5e16))), "1.5e+16");
        assert_eq!(text(|out| assert!(!push_f64(out, f64::NAN) && !push_f32(out, f32::NAN))), "");
    }

    /// The digits decide between the layouts. The float with 32 bits nearest to 0.0001 is below it.
    #[test]
    fn floats_of_32_bits_change_their_layout_where_their_digits_do() {
        for (border, first, last) in
            [(1e-4_f32, "0.0001", "9.999999e-05"), (1e16, "1e+16", "9999999000000000.0")]
        {
            assert_eq!(text(|out| assert!(push_f32(out, border))), first);
            assert_eq!(text(|out| assert!(push_f32(out, -border))), format!("-{first}"));
            let below = text(|out| assert!(push_f32(out, border.next_down())));
            assert_eq!(below, last);
        }
        for border in [1e-4_f32, 1e16] {
            let mut value = (0..1000).fold(border, |value, _| value.next_down());
            for _ in 0..2000 {
                let written = text(|out| assert!(push_f32(out, value)));
                assert_eq!(written.parse::<f32>().unwrap().to_bits(), value.to_bits());
                let is_plain = (1e-4..1e16).contains(&written.parse::<f64>().unwrap());
                assert_eq!(!written.contains('e'), is_plain, "{written}");
                value = value.next_up();
            }
        }
    }

    #[test]
    fn every_written_float_reads_back() {
        let mut bits = 1_u64;
        for _ in 0..100_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = f64::from_bits(bits);
            if value.is_finite() {
                let written = text(|out| assert!(push_f64(out, value)));
                assert_eq!(written.parse::<f64>().unwrap().to_bits(), bits);
            }
        }
    }

    #[test]
    fn short_decimals_are_written_with_the_same_digits() {
        let mut bits = 1_u64;
        for _ in 0..100_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let units = (bits >> (14 + bits % 50)) as i64 * if bits.is_multiple_of(3) { -1 } else { 1 };
            for scale in [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 3.0] {
                let value = units as f64 / scale;
                for value in [value, value.next_up(), value.next_down()] {
                    let expected = text(|out| assert!(push_any_f64(out, value)));
                    assert_eq!(text(|out| assert!(push_f64(out, value))), expected);
                }
            }
        }
    }

    #[test]
    fn extremes_do_not_overflow() {
        assert_eq!(text(|out| push_i64(out, i64::MIN)), "-9223372036854775808");
        assert_eq!(text(|out| push_u64(out, u64::MAX)), "18446744073709551615");
        for extreme in [i64::MIN, i64::MAX] {
            text(|out| push_date(out, extreme));
            for parts in [1, 1000, 1_000_000, 1_000_000_000] {
                text(|out| push_timestamp(out, extreme, parts, true));
            }
        }
        assert_eq!(
            text(|out| push_timestamp(out, 5, 0, false)),
            "1970-01-01T00:00:05",
            "no division by zero"
        );
    }

    #[test]
    fn moments_are_iso_8601_with_a_fraction_only_if_there_is_one() {
        let at = |value, per_second, universal| text(|out| push_timestamp(out, value, per_second, universal));
        assert_eq!(at(0, 1, false), "1970-01-01T00:00:00");
        assert_eq!(at(1_706_745_599, 1, true), "2024-01-31T23:59:59Z");
        assert_eq!(at(1_706_745_599_500, 1000, false), "2024-01-31T23:59:59.500000");
        assert_eq!(at(-1, 1_000_000, false), "1969-12-31T23:59:59.999999");
        assert_eq!(at(1_000_000_001, 1_000_000_000, false), "1970-01-01T00:00:01.000000001");
        assert_eq!(text(|out| push_date(out, 19_782)), "2024-02-29");
        assert_eq!(text(|out| push_date(out, -719_529)), "-000001-12-31");
        assert_eq!(text(|out| push_date(out, -719_528)), "0000-01-01");
        assert_eq!(text(|out| push_date(out, 2_932_897)), "+010000-01-01");
    }

    #[test]
    fn decimals_keep_their_scale() {
        for (unscaled, scale, expected) in [
            ("1250", 2, "12.50"),
            ("-5", 2, "-0.05"),
            ("0", 1, "0.0"),
            ("12", 0, "12"),
            ("12", -2, "1200"),
            ("0", -2, "0"),
        ] {
            assert_eq!(text(|out| push_decimal(out, unscaled, scale)), expected);
        }
    }
}
