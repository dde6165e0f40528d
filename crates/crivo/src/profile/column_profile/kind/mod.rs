//! Finds the kind of a text, and its number if it is one.
//!
//! One pass over the bytes decides, without an allocation. Numbers of up to 19 digits, which nearly
//! all are, are computed here. The standard library parses all others. Both round to the nearest
//! float, so the number is the same everywhere.

#[cfg(test)]
mod tests;

use super::facts::start_of;
use crate::keys::calendar::day_of_short_year;

/// The kind of a single value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(usize)]
pub enum Kind {
    /// `true` or `false`, in lower case, in upper case or with a capital first letter.
    Boolean = 0,
    /// Decimal digits, with or without a sign.
    Integer = 1,
    /// A decimal number with a point or an exponent, or an infinity or NaN by its name.
    Float = 2,
    /// A date of ISO 8601: `2024-01-31`.
    Date = 3,
    /// A date and a time of ISO 8601: `2024-01-31T23:59:59`. A space may replace the T, and a
    /// fraction and a zone are optional.
    Timestamp = 4,
    /// Anything else.
    Text = 5,
}

impl Kind {
    /// Every kind, in the order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::Boolean, Self::Integer, Self::Float, Self::Date, Self::Timestamp, Self::Text];

    /// Returns the kind of a text.
    ///
    /// ```
    /// use crivo::profile::Kind;
    /// assert_eq!([Kind::of(b"-12"), Kind::of(b"1e5"), Kind::of(b"12a")], [Kind::Integer, Kind::Float, Kind::Text]);
    /// ```
    pub fn of(text: &[u8]) -> Self {
        parse(text, start_of(text)).kind()
    }

    /// Returns the name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Float => "float",
            Self::Date => "date",
            Self::Timestamp => "timestamp",
            Self::Text => "text",
        }
    }
}

/// A value by its kind, with its number if it has one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::profile) enum Parsed {
    Integer(i64),
    /// A whole number beyond 64 bits, as the nearest float.
    LargeInteger(f64),
    Float(f64),
    /// A date, as the number of days since 1970-01-01.
    Date(i32),
    /// A timestamp, by its date.
    Timestamp(i32),
    Boolean,
    Text,
}

impl Parsed {
    #[inline]
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Boolean => Kind::Boolean,
            Self::Integer(_) | Self::LargeInteger(_) => Kind::Integer,
            Self::Float(_) => Kind::Float,
            Self::Date(_) => Kind::Date,
            Self::Timestamp(_) => Kind::Timestamp,
            Self::Text => Kind::Text,
        }
    }

    /// Returns the number, finite or not, if the value is one.
    #[inline]
    pub(in crate::profile) fn number(self) -> Option<f64> {
        match self {
            Self::Integer(integer) => Some(integer as f64),
            Self::LargeInteger(number) | Self::Float(number) => Some(number),
            _ => None,
        }
    }
}

/// Returns the number that a text represents, if it is a finite number.
pub(crate) fn number_of(text: &[u8]) -> Option<f64> {
    parse(text, start_of(text)).number().filter(|number| number.is_finite())
}

/// Parses a text, given also its [start](super::facts::start_of).
#[inline]
pub(super) fn parse(text: &[u8], start: u64) -> Parsed {
    if let Some(integer) = short_integer(text.len(), start) {
        return Parsed::Integer(integer);
    }
    match text.first() {
        // No number has hyphens at these positions.
        Some(b'0'..=b'9') if text.get(4) == Some(&b'-') && text.get(7) == Some(&b'-') => moment(text, start),
        Some(b'0'..=b'9' | b'-' | b'+' | b'.') => parse_number(text),
        Some(b't' | b'T' | b'f' | b'F' | b'i' | b'I' | b'n' | b'N') => parse_word(text.len(), start),
        _ => Parsed::Text,
    }
}

/// Eight digits 0.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Returns the number that one to eight digits represent. All digits are processed at once.
#[inline]
fn short_integer(length: usize, start: u64) -> Option<i64> {
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    if length == 0 || length > 8 {
        return None;
    }
    // Shift the digits to the low end, with zeros before them. Then swap the bytes, so that the
    // first digit is the lowest byte.
    let missing = 64 - 8 * length as u32;
    let digits = (start >> missing | !(u64::MAX >> missing) & ZEROS).swap_bytes();
    // Digits are bytes from 0x30 to 0x39. For these, neither subtracting 0x30 nor adding 0x46 sets
    // the high bit.
    let values = digits.wrapping_sub(ZEROS);
    if (values | digits.wrapping_add(0x4646_4646_4646_4646)) & HIGH_BITS != 0 {
        return None;
    }
    // Join neighbours to numbers of two digits, these to four digits, and these to eight.
    let pairs = values * 10 + (values >> 8);
    let low = (pairs & 0x0000_00FF_0000_00FF).wrapping_mul(100 + (1_000_000 << 32));
    let high = (pairs >> 16 & 0x0000_00FF_0000_00FF).wrapping_mul(1 + (10_000 << 32));
    Some((low.wrapping_add(high) >> 32) as i64)
}

/// Parses a word of up to eight letters, by comparing its start as a number.
fn parse_word(length: usize, start: u64) -> Parsed {
    const fn word(letters: [u8; 8]) -> u64 {
        u64::from_be_bytes(letters)
    }
    const TRUE: [u64; 3] = [word(*b"true\0\0\0\0"), word(*b"True\0\0\0\0"), word(*b"TRUE\0\0\0\0")];
    const FALSE: [u64; 3] = [word(*b"false\0\0\0"), word(*b"False\0\0\0"), word(*b"FALSE\0\0\0")];
    const SHORT: [u64; 4] =
        [word(*b"inf\0\0\0\0\0"), word(*b"Inf\0\0\0\0\0"), word(*b"nan\0\0\0\0\0"), word(*b"NaN\0\0\0\0\0")];
    const LONG: [u64; 2] = [word(*b"infinity"), word(*b"Infinity")];
    let is_one_of = |words: &[u64]| words.contains(&start);
    match length {
        4 if is_one_of(&TRUE) => Parsed::Boolean,
        5 if is_one_of(&FALSE) => Parsed::Boolean,
        // The value itself does not matter, because neither is a finite number.
        3 if is_one_of(&SHORT) => Parsed::Float(f64::NAN),
        8 if is_one_of(&LONG) => Parsed::Float(f64::NAN),
        _ => Parsed::Text,
    }
}

/// The digits of a number. Up to 19 digits always fit in 64 bits.
struct Digits {
    value: u64,
    /// The number of digits from the first one that is not 0.
    significant: u32,
    seen: bool,
}

const MOST_DIGITS: u32 = 19;

impl Digits {
    /// Reads digits until there are none left, and returns the remaining text.
    #[inline]
    fn take<'a>(&mut self, mut text: &'a [u8]) -> &'a [u8] {
        while let Some((eight, rest)) = text.split_first_chunk::<8>() {
            let start = u64::from_be_bytes(*eight);
            let Some(value) = short_integer(8, start) else { break };
            self.value = self.value.wrapping_mul(100_000_000).wrapping_add(value as u64);
            let zeros = if self.significant > 0 { 0 } else { (start ^ ZEROS).leading_zeros() / 8 };
            self.significant += 8 - zeros;
            self.seen = true;
            text = rest;
        }
        while let Some((&byte, rest)) = text.split_first() {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            self.value = self.value.wrapping_mul(10).wrapping_add(digit.into());
            self.significant += u32::from(self.significant > 0 || digit > 0);
            self.seen = true;
            text = rest;
        }
        text
    }
}

#[inline]
fn parse_number(text: &[u8]) -> Parsed {
    let (is_negative, unsigned) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    };
    let is_signed = unsigned.len() < text.len();
    let mut digits = Digits { value: 0, significant: 0, seen: false };
    let rest = digits.take(unsigned);
    match rest.first() {
        None if !digits.seen => Parsed::Text,
        None => whole(text, &digits, is_negative),
        Some(b'.' | b'e' | b'E') => fraction(text, rest, digits, is_negative),
        Some(_) if is_signed => parse_signed_word(unsigned),
        Some(_) => Parsed::Text,
    }
}

/// Parses a word after a sign: an infinity, or a text.
#[cold]
fn parse_signed_word(unsigned: &[u8]) -> Parsed {
    match parse_word(unsigned.len(), start_of(unsigned)) {
        Parsed::Float(infinity) => Parsed::Float(infinity),
        _ => Parsed::Text,
    }
}

/// Returns a number that consists of digits alone.
#[inline]
fn whole(text: &[u8], digits: &Digits, is_negative: bool) -> Parsed {
    if digits.significant <= MOST_DIGITS {
        let value = if is_negative { 0_i128 - i128::from(digits.value) } else { digits.value.into() };
        if let Ok(integer) = i64::try_from(value) {
            return Parsed::Integer(integer);
        }
    }
    Parsed::LargeInteger(by_library(text))
}

/// Parses a number with a point or an exponent. The digits before them are already read.
#[inline]
fn fraction(text: &[u8], rest: &[u8], mut digits: Digits, is_negative: bool) -> Parsed {
    let mut rest = rest;
    let mut places = 0;
    if let Some((b'.', after)) = rest.split_first() {
        rest = digits.take(after);
        places = (after.len() - rest.len()) as i64;
    }
    if !digits.seen {
        return Parsed::Text;
    }
    let mut exponent = 0;
    if let Some((b'e' | b'E', after)) = rest.split_first() {
        let (sign, after) = match after.split_first() {
            Some((b'-', after)) => (-1, after),
            Some((b'+', after)) => (1, after),
            _ => (1, after),
        };
        let mut power = Digits { value: 0, significant: 0, seen: false };
        rest = power.take(after);
        if !power.seen {
            return Parsed::Text;
        }
        exponent = sign * if power.significant > 9 { i64::from(i32::MAX) } else { power.value as i64 };
    }
    if !rest.is_empty() {
        return Parsed::Text;
    }
    let scale = exponent - places;
    let magnitude = match digits.significant {
        0..=MOST_DIGITS => scaled(digits.value, scale),
        _ => None,
    };
    match magnitude {
        Some(magnitude) => Parsed::Float(if is_negative { -magnitude } else { magnitude }),
        None => Parsed::Float(by_library(text)),
    }
}

/// Returns the float nearest to a number times a power of ten, if a few multiplications decide
/// which one that is.
#[inline]
fn scaled(number: u64, power: i64) -> Option<f64> {
    let places = power.unsigned_abs() as usize;
    // The product or quotient of two exact floats is rounded only once (Clinger 1990).
    if number <= 1 << 53
        && let Some(factor) = POWERS_OF_TEN.get(places)
    {
        let number = number as f64;
        return Some(if power < 0 { number / factor } else { number * factor });
    }
    let (inverse, shift) = *INVERSE_POWERS.get(places).filter(|_| power < 0)?;
    // The inverse is truncated, so the exact quotient lies between the product and the product plus
    // the number. If both have the same nearest float, the quotient has it too.
    let least = u128::from(number) * u128::from(inverse);
    let (lower, upper) = (least as f64, (least + u128::from(number)) as f64);
    (lower == upper).then(|| lower * f64::from_bits((1023 - u64::from(shift)) << 52))
}

/// For each power of ten below 2^64, the first 64 bits of its inverse, and the position after the
/// point of the last of these bits.
const INVERSE_POWERS: [(u64, u32); 20] = {
    let mut inverses = [(1 << 63, 63); 20];
    let (mut place, mut power) = (1, 10_u128);
    while place < 20 {
        let shift = 63 + power.ilog2() + 1;
        inverses[place] = (((1_u128 << shift) / power) as u64, shift);
        place += 1;
        power *= 10;
    }
    inverses
};

/// The powers of ten that a float represents exactly.
const POWERS_OF_TEN: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// Returns the float nearest to a text that is known to be a number.
#[cold]
fn by_library(text: &[u8]) -> f64 {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

/// Parses a text of digits and a hyphen: a date, a timestamp or a text.
#[inline]
fn moment(text: &[u8], start: u64) -> Parsed {
    // With zeros in place of the hyphens of `2024-01-`, all eight are digits.
    const HYPHENS: u64 = (b'-' ^ b'0') as u64 * (1 << 24 | 1);
    let Some(((day, rest), digits)) = text.split_at_checked(10).zip(short_integer(8, start ^ HYPHENS)) else {
        return Parsed::Text;
    };
    let (tens, ones) = (day[8].wrapping_sub(b'0'), day[9].wrapping_sub(b'0'));
    // Check the hyphens, because the change also turns other characters into digits, such as `/`.
    if day[4] != b'-' || day[7] != b'-' || tens > 9 || ones > 9 {
        return Parsed::Text;
    }
    let (digits, day_of_month) = (digits as u32, u32::from(10 * tens + ones));
    let Some(day) = day_of_short_year(digits / 10_000, digits / 10 % 100, day_of_month) else {
        return Parsed::Text;
    };
    match rest.split_first() {
        None => Parsed::Date(day),
        Some((b'T' | b't' | b' ', time)) if is_time(time) => Parsed::Timestamp(day),
        Some(_) => Parsed::Text,
    }
}

/// Returns true for `23:59`, with optional seconds, fraction and zone.
pub(crate) fn is_time(text: &[u8]) -> bool {
    let with_seconds = text.split_first_chunk::<8>();
    let rest =
        match with_seconds.and_then(|(clock, rest)| Some((is_clock(u64::from_be_bytes(*clock))?, rest))) {
            Some((false, _)) => return false,
            Some((true, rest)) => match rest.split_first() {
                Some((b'.' | b',', after)) => {
                    let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
                    if digits == 0 {
                        return false;
                    }
                    &after[digits..]
                }
                _ => rest,
            },
            None => match text.split_at_checked(5) {
                Some((clock, rest))
                    if is_shaped(clock, b"dd:dd")
                        && in_range(&clock[..2], 0, 24)
                        && in_range(&clock[3..], 0, 59) =>
                {
                    rest
                }
                _ => return false,
            },
        };
    match rest {
        [] | b"Z" | b"z" => true,
        [b'+' | b'-', zone @ ..] => {
            [&b"dd"[..], b"dddd", b"dd:dd"].iter().any(|shape| is_shaped(zone, shape))
        }
        _ => false,
    }
}

/// Returns whether the eight bytes of `23:59:59` are a valid time, or `None` if they do not have
/// that form.
#[inline]
fn is_clock(text: u64) -> Option<bool> {
    const COLONS: u64 = 0x0000_3A00_003A_0000;
    const AT_COLONS: u64 = 0x0000_FF00_00FF_0000;
    // With zeros in place of the colons all eight are digits.
    const CHANGED: u64 = COLONS ^ ZEROS & AT_COLONS;
    if text & AT_COLONS != COLONS {
        return None;
    }
    let digits = short_integer(8, text ^ CHANGED)?;
    Some(digits / 1_000_000 <= 24 && digits / 1_000 % 1_000 <= 59 && digits % 1_000 <= 60)
}

/// Returns true if a text has digits where the shape has a `d`, and otherwise the same bytes.
fn is_shaped(text: &[u8], shape: &[u8]) -> bool {
    let fits = |(byte, shape): (&u8, &u8)| if *shape == b'd' { byte.is_ascii_digit() } else { byte == shape };
    text.len() == shape.len() && text.iter().zip(shape).all(fits)
}

/// Returns true if the digits are a number within the range.
fn in_range(digits: &[u8], least: u32, most: u32) -> bool {
    let value = digits.iter().fold(0, |value, byte| value * 10 + u32::from(byte - b'0'));
    (least..=most).contains(&value)
}
