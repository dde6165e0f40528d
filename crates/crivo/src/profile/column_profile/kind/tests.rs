use super::*;
use crate::random::Generator;

fn parse_text(text: &[u8]) -> Parsed {
    parse(text, start_of(text))
}

#[test]
fn short_integers_are_read_at_once() {
    for text in ["0", "7", "42", "00", "999", "1234", "98765", "100000", "7654321", "12345678", "99999999"] {
        let (length, start) = (text.len(), start_of(text.as_bytes()));
        assert_eq!(short_integer(length, start), Some(text.parse().unwrap()), "{text}");
        for at in 0..length {
            for other in (0..=255_u8).filter(|byte| !byte.is_ascii_digit()) {
                let mut bytes = text.as_bytes().to_vec();
                bytes[at] = other;
                assert_eq!(short_integer(length, start_of(&bytes)), None, "{bytes:?}");
            }
        }
    }
    assert_eq!(short_integer(9, start_of(b"123456789")), None);
    assert_eq!(short_integer(0, 0), None);
}

#[test]
fn each_text_has_its_kind() {
    use Kind::{Boolean, Date, Float, Integer, Text, Timestamp};
    for (kind, texts) in [
        (Boolean, &["true", "false", "True", "FALSE"][..]),
        (Integer, &["0", "-0", "+7", "007", "-12", "9223372036854775808", "123456789012345678901234567890"]),
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
        (Date, &["2024-01-31", "0000-12-01", "2024-02-29", "2000-02-29"]),
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
                "2023-02-29",
                "1900-02-29",
                "2026-04-31",
                "2026-00-10",
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
            assert_eq!(parse_text(text.as_bytes()).kind(), kind, "{text:?}");
        }
    }
}

#[test]
fn numbers_are_those_of_the_standard_library() {
    let mut bits = 1_u64;
    let check = |text: &str| {
        let expected: f64 = text.parse().unwrap();
        let found = match parse_text(text.as_bytes()) {
            Parsed::Integer(value) => value as f64,
            Parsed::LargeInteger(value) | Parsed::Float(value) => value,
            other => panic!("{text} is no number: {other:?}"),
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
        let digits = bits.to_string();
        let (before, after) = digits.split_at((bits % 15) as usize);
        check(&format!("{before}.{after}"));
        check(&format!("0.0000{digits}"));
    }
    for text in [
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "9007199254740993",
        "0.0000001",
        // Ties between two floats, and numbers next to them.
        "9007199254740993.0",
        "900719925474099.25",
        "900719925474099.3125",
        "4503599627370496.5",
        "4503599627370497.5",
        "4503599627370497.501",
        "1.0000000000000001110",
        "0.12345678901234565",
        "00000000000000000000.00000000012345678901234567",
    ] {
        check(text);
    }
    assert_eq!(parse_text(b"-9223372036854775808"), Parsed::Integer(i64::MIN));
    assert_eq!(parse_text(b"00000000000000000000000042"), Parsed::Integer(42));
    assert_eq!(parse_text(b"18446744073709551616"), Parsed::LargeInteger(18_446_744_073_709_551_616.0));
}

/// Draws a few letters of an alphabet.
fn draw(alphabet: &[u8], longest: u64, generator: &mut Generator) -> String {
    let length = generator.bits() % (longest + 1);
    let letter = |_| char::from(alphabet[(generator.bits() % alphabet.len() as u64) as usize]);
    (0..length).map(letter).collect()
}

#[test]
fn numbers_are_what_the_standard_library_takes_for_one() {
    let mut generator = Generator::new(11);
    let mut numbers = 0;
    for round in 0..300_000 {
        let alphabet: &[u8] = if round % 2 == 0 { b"0123456789." } else { b"0059.eE+-/:" };
        let text = draw(alphabet, 20, &mut generator);
        let found = parse_text(text.as_bytes()).number();
        // Compared as numbers: the sign of zero does not matter.
        assert_eq!(found, text.parse().ok(), "{text}");
        numbers += u32::from(found.is_some());
    }
    assert!(numbers > 10_000);
}

#[test]
fn times_are_those_of_one_look_at_each_part() {
    fn is_time_by_parts(text: &[u8]) -> bool {
        let Some((clock, mut rest)) = text.split_at_checked(5) else { return false };
        if !is_shaped(clock, b"dd:dd") || !in_range(&clock[..2], 0, 24) || !in_range(&clock[3..], 0, 59) {
            return false;
        }
        if let Some((seconds, after)) =
            rest.split_at_checked(3).filter(|(seconds, _)| is_shaped(seconds, b":dd"))
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
        matches!(rest, [] | b"Z" | b"z")
            || rest.split_first().is_some_and(|(sign, zone)| {
                matches!(sign, b'+' | b'-')
                    && [&b"dd"[..], b"dddd", b"dd:dd"].iter().any(|shape| is_shaped(zone, shape))
            })
    }
    let mut generator = Generator::new(12);
    let mut times = 0;
    for _ in 0..100_000 {
        let parts = [generator.bits() % 27, generator.bits() % 66, generator.bits() % 66];
        let end = draw(b"09.:Z+", 4, &mut generator);
        let mut text = format!("{:02}:{:02}:{:02}{end}", parts[0], parts[1], parts[2]).into_bytes();
        if generator.bits().is_multiple_of(4) {
            let place = (generator.bits() % text.len() as u64) as usize;
            text[place] = b"0:9/.Z;"[(generator.bits() % 7) as usize];
        }
        text.truncate(text.len() - (generator.bits() % 4) as usize);
        assert_eq!(is_time(&text), is_time_by_parts(&text), "{}", String::from_utf8_lossy(&text));
        times += u32::from(is_time(&text));
    }
    assert!(times > 10_000);
}
