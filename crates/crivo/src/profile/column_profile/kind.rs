//! What kind of value is a text, and which number is it?
//!
//! One look at the bytes decides, without an allocation. Numbers of up to 19 digits, which is nearly all of them, are
//! put together here; the rest goes to the standard library. Both round to the nearest float, so it is the
//! same number everywhere.

/// What a single value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(usize)]
pub enum Kind {
    /// `true` or `false`, in small letters, capitals or with a capital first.
    Boolean = 0,
    /// Decimal digits, with a sign or without.
    Integer = 1,
    /// A decimal number with a point or an exponent; an infinity or NaN by its name.
    Float = 2,
    /// A day of ISO 8601: `2024-01-31`.
    Date = 3,
    /// A day and a time of ISO 8601: `2024-01-31T23:59:59`, with a space for the T, a fraction and a zone if there are.
    Timestamp = 4,
    /// Anything else.
    Text = 5,
}

impl Kind {
    /// Every kind, in the order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::Boolean, Self::Integer, Self::Float, Self::Date, Self::Timestamp, Self::Text];
}

/// A value by its kind, with its number if it has one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Parsed {
    Integer(i64),
    /// A whole number beyond 64 bits, by the float that is nearest.
    LargeInteger(f64),
    Float(f64),
    Other(Kind),
}

impl Parsed {
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Integer(_) | Self::LargeInteger(_) => Kind::Integer,
            Self::Float(_) => Kind::Float,
            Self::Other(kind) => kind,
        }
    }
}

/// What a text is.
#[inline]
pub(super) fn parse(text: &[u8]) -> Parsed {
    match text.first() {
        Some(b'0'..=b'9' | b'-' | b'+' | b'.') => parse_number(text),
        Some(b't' | b'T' | b'f' | b'F' | b'i' | b'I' | b'n' | b'N') if text.len() <= LONGEST_WORD => {
            parse_word(text)
        }
        _ => Parsed::Other(Kind::Text),
    }
}

const LONGEST_WORD: usize = "infinity".len();

fn parse_word(text: &[u8]) -> Parsed {
    match text {
        b"true" | b"false" | b"True" | b"False" | b"TRUE" | b"FALSE" => Parsed::Other(Kind::Boolean),
        b"inf" | b"Inf" | b"Infinity" | b"infinity" => Parsed::Float(f64::INFINITY),
        b"nan" | b"NaN" => Parsed::Float(f64::NAN),
        _ => Parsed::Other(Kind::Text),
    }
}

/// The digits of a number, gathered up to 19 of them: as many as always fit in 64 bits.
struct Digits {
    value: u64,
    /// Digits from the first that is not 0 on.
    significant: u32,
    seen: bool,
}

const MOST_DIGITS: u32 = 19;

impl Digits {
    /// Takes digits until there are none, and gives back the rest.
    #[inline]
    fn take<'a>(&mut self, mut text: &'a [u8]) -> &'a [u8] {
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
        None if !digits.seen => Parsed::Other(Kind::Text),
        None => whole(text, &digits, is_negative),
        Some(b'.' | b'e' | b'E') => fraction(text, rest, digits, is_negative),
        Some(b'-') if !is_signed => Parsed::Other(moment(text)),
        // A signed infinity: which one does not matter, because neither is a number to count with.
        Some(_) if is_signed => match parse_word(unsigned) {
            Parsed::Float(infinity) => Parsed::Float(infinity),
            _ => Parsed::Other(Kind::Text),
        },
        Some(_) => Parsed::Other(Kind::Text),
    }
}

/// A number of digits alone.
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

/// A number with a point or an exponent, of which the digits before them are taken.
#[inline]
fn fraction(text: &[u8], rest: &[u8], mut digits: Digits, is_negative: bool) -> Parsed {
    let mut rest = rest;
    let mut places = 0;
    if let Some((b'.', after)) = rest.split_first() {
        rest = digits.take(after);
        places = (after.len() - rest.len()) as i64;
    }
    if !digits.seen {
        return Parsed::Other(Kind::Text);
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
            return Parsed::Other(Kind::Text);
        }
        exponent = sign * if power.significant > 9 { i64::from(i32::MAX) } else { power.value as i64 };
    }
    if !rest.is_empty() {
        return Parsed::Other(Kind::Text);
    }
    // Two floats that are exact have a product and a quotient that are rounded once (Clinger 1990).
    let scale = exponent - places;
    let is_exact = digits.significant <= MOST_DIGITS && digits.value <= 1 << 53;
    match POWERS_OF_TEN.get(scale.unsigned_abs() as usize) {
        Some(power) if is_exact => {
            let magnitude = digits.value as f64;
            let value = if scale < 0 { magnitude / power } else { magnitude * power };
            Parsed::Float(if is_negative { -value } else { value })
        }
        _ => Parsed::Float(by_library(text)),
    }
}

/// Those that a float holds exactly.
const POWERS_OF_TEN: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// The nearest float to a text that is known to be a number.
#[cold]
fn by_library(text: &[u8]) -> f64 {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

/// Whether a text of digits and a hyphen is a day, a moment or neither.
fn moment(text: &[u8]) -> Kind {
    let Some((day, rest)) = text.split_at_checked(10) else { return Kind::Text };
    if !is_shaped(day, b"dddd-dd-dd") || !in_range(&day[5..7], 1, 12) || !in_range(&day[8..10], 1, 31) {
        return Kind::Text;
    }
    match rest.split_first() {
        None => Kind::Date,
        Some((b'T' | b't' | b' ', time)) if is_time(time) => Kind::Timestamp,
        Some(_) => Kind::Text,
    }
}

/// `23:59`, with seconds, a fraction and a zone if there are.
fn is_time(text: &[u8]) -> bool {
    let Some((clock, mut rest)) = text.split_at_checked(5) else { return false };
    if !is_shaped(clock, b"dd:dd") || !in_range(&clock[..2], 0, 24) || !in_range(&clock[3..], 0, 59) {
        return false;
    }
    if let Some((seconds, after)) = rest.split_at_checked(3).filter(|(seconds, _)| is_shaped(seconds, b":dd"))
    {
        if !in_range(&seconds[1..], 0, 60) {
            return false;
        }
        rest = after;
        if let Some((b'.' | b',', after)) = rest.split_first() {
            let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                return false;
            }
            rest = &after[digits..];
        }
    }
    match rest {
        [] | b"Z" | b"z" => true,
        [b'+' | b'-', zone @ ..] => {
            [&b"dd"[..], b"dddd", b"dd:dd"].iter().any(|shape| is_shaped(zone, shape))
        }
        _ => false,
    }
}

/// Whether a text has digits where the shape has a d, and otherwise the same bytes.
fn is_shaped(text: &[u8], shape: &[u8]) -> bool {
    let fits = |(byte, shape): (&u8, &u8)| if *shape == b'd' { byte.is_ascii_digit() } else { byte == shape };
    text.len() == shape.len() && text.iter().zip(shape).all(fits)
}

/// Whether digits are a number of the range.
fn in_range(digits: &[u8], least: u32, most: u32) -> bool {
    let value = digits.iter().fold(0, |value, byte| value * 10 + u32::from(byte - b'0'));
    (least..=most).contains(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_has_its_kind() {
        use Kind::{Boolean, Date, Float, Integer, Text, Timestamp};
        for (kind, texts) in [
            (Boolean, &["true", "false", "True", "FALSE"][..]),
            (
                Integer,
                &["0", "-0", "+7", "007", "-12", "9223372036854775808", "123456789012345678901234567890"],
            ),
            (
                Float,
                &[
                    "1.5",
                    "-.5",
                    "5.",
                    "1e5",
                    "1E-05",
                    "+2.0e+3",
                    "inf",
                    "-inf",
                    "nan",
                    "NaN",
                    "-Infinity",
                    "1e999",
                ],
            ),
            (Date, &["2024-01-31", "0000-12-01", "9999-02-30"]),
            (
                Timestamp,
                &[
                    "2024-01-31T23:59",
                    "2024-01-31 23:59:59",
                    "2024-01-31T23:59:59Z",
                    "2024-01-31T23:59:59.123456+01:00",
                    "2024-01-31 00:00:00-0300",
                    "1969-07-20T20:17:40,5z",
                    "2016-12-31T23:59:60Z",
                    "2024-01-31T10:00+01",
                ],
            ),
            (
                Text,
                &[
                    "",
                    "-",
                    "+",
                    ".",
                    "-.",
                    "e5",
                    "1e",
                    "1e+",
                    "1.2.3",
                    "1,000",
                    "1_000",
                    "0x1F",
                    " 1",
                    "1 ",
                    "12a",
                    "--1",
                    "tru",
                    "truefalse",
                    "yes",
                    "infinit",
                    "+nothing",
                    "t",
                    "2024-13-01",
                    "2024-00-10",
                    "2024-1-31",
                    "2024-01-32",
                    "31-01-2024",
                    "2024-01-31T",
                    "2024-01-31X10:00",
                    "2024-01-31T25:00",
                    "2024-01-31T10:61",
                    "2024-01-31T10:00:",
                    "2024-01-31T10:00:00.",
                    "2024-01-31T10:00:00+1",
                    "2024-01-31T10:00:00 Z",
                    "-2024-01-31",
                    "1-2",
                    "€",
                ],
            ),
        ] {
            for text in texts {
                assert_eq!(parse(text.as_bytes()).kind(), kind, "{text:?}");
            }
        }
    }

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        let mut bits = 1_u64;
        let check = |text: &str| {
            let expected: f64 = text.parse().unwrap();
            let found = match parse(text.as_bytes()) {
                Parsed::Integer(value) => value as f64,
                Parsed::LargeInteger(value) | Parsed::Float(value) => value,
                Parsed::Other(kind) => panic!("{text} is no {kind:?}"),
            };
            assert_eq!(found.to_bits(), (expected + 0.0).to_bits() | found.to_bits() & 1 << 63, "{text}");
        };
        for _ in 0..50_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = f64::from_bits(bits);
            if value.is_finite() {
                check(&format!("{value:e}"));
            }
            let (whole, places) = ((bits >> 20) as i64 - (1 << 43), (bits % 17) as usize);
            check(&whole.to_string());
            check(&format!("{:.places$}", whole as f64 / 1e6));
            check(&format!("{whole}e{}", bits % 60));
            check(&format!("{}.{:020}", whole, bits >> 3));
        }
        for text in [
            "9223372036854775807",
            "-9223372036854775808",
            "9223372036854775808",
            "9007199254740993",
            "0.0000001",
        ] {
            check(text);
        }
        assert_eq!(parse(b"-9223372036854775808"), Parsed::Integer(i64::MIN));
        assert_eq!(parse(b"00000000000000000000000042"), Parsed::Integer(42));
        assert_eq!(parse(b"18446744073709551616"), Parsed::LargeInteger(18_446_744_073_709_551_616.0));
    }
}
