//! Numbers in fields: weights, sums, conditions.

use crate::batch::RowBatch;
use crate::error::Result;

/// Every whole number up to here has its own 64-bit float.
pub const EXACT_FLOATS: f64 = 9_007_199_254_740_992.0;

/// The numbers of one field of a batch.
#[derive(Debug, Clone, Default)]
pub struct FieldNumbers {
    /// The numbers, in the order of their rows.
    pub values: Vec<f64>,
    /// The row of each number.
    pub rows: Vec<usize>,
    /// The number of rows so far whose value is not a number.
    pub bad: u64,
}

impl FieldNumbers {
    /// Reads the numbers in a column, and replaces the previous ones. Missing values are skipped.
    ///
    /// # Errors
    /// If a value is not a number, unless `skip_bad` counts it.
    pub fn read(&mut self, batch: &RowBatch<'_>, column: usize, skip_bad: bool) -> Result<()> {
        self.values.clear();
        self.rows.clear();
        for (row, text) in batch.column(column).iter().enumerate() {
            let Some(text) = text else { continue };
            match decimal(text) {
                Some(number) => {
                    self.values.push(number);
                    self.rows.push(row);
                }
                None if skip_bad => self.bad += 1,
                None => {
                    let found = shown(text);
                    let message = format_args!("expected a number, found '{found}'");
                    return Err(batch.value_error(column, row, message));
                }
            }
        }
        Ok(())
    }
}

/// Returns a whole number from 0 on. Blanks around it are allowed.
pub fn whole(text: &[u8]) -> Option<u64> {
    let digits = match text.trim_ascii() {
        [b'+', digits @ ..] | digits => digits,
    };
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 { None } else { value.checked_mul(10)?.checked_add(digit.into()) }
    })
}

/// Returns the remainder of an integer, which is in `0..divisor` for negative integers too.
pub fn remainder(text: &[u8], divisor: u64) -> Option<u64> {
    match text.trim_ascii() {
        [b'-', digits @ ..] if digits.first().is_some_and(u8::is_ascii_digit) => {
            let left = whole(digits)?.checked_rem(divisor)?;
            Some(if left == 0 { 0 } else { divisor - left })
        }
        text => whole(text)?.checked_rem(divisor),
    }
}

/// Returns a finite number. Blanks around it are allowed.
pub fn decimal(text: &[u8]) -> Option<f64> {
    let text = text.trim_ascii();
    // Most numbers are short and whole, and do not need the general parser.
    if text.len() <= 15
        && text.first().is_some_and(u8::is_ascii_digit)
        && let Some(number) = whole(text)
    {
        return Some(number as f64);
    }
    std::str::from_utf8(text).ok()?.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// Returns the value of a number if it is whole, however written, and fits in 128 bits. The text
/// must be a number.
pub fn integer(text: &[u8]) -> Option<i128> {
    let text = std::str::from_utf8(text.trim_ascii()).ok()?;
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = fraction.trim_end_matches('0');
    let mantissa: i128 = format!("{whole}{fraction}").parse().ok()?;
    let places = exponent.parse::<i64>().ok()?.checked_sub(fraction.len() as i64)?;
    let power = 10_i128.checked_pow(u32::try_from(places.unsigned_abs()).ok()?)?;
    if places >= 0 {
        mantissa.checked_mul(power)
    } else {
        (mantissa % power == 0).then_some(mantissa / power)
    }
}

/// Returns a finite number as the nearest float, and the part of a whole number that this float
/// lacks. The two together are exact below 2^106.
pub fn decimal_and_rest(text: &[u8]) -> Option<[f64; 2]> {
    let nearest = decimal(text)?;
    if nearest.abs() < EXACT_FLOATS {
        return Some([nearest, 0.0]);
    }
    let rest = integer(text).map_or(0, |exact| exact.saturating_sub(nearest as i128));
    Some([nearest, rest as f64])
}

/// Returns a value as an error message shows it.
pub fn shown(value: &[u8]) -> String {
    String::from_utf8_lossy(&value[..value.len().min(60)]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_those_of_64_bits() {
        assert_eq!(whole(b" 42 "), Some(42));
        assert_eq!(whole(b"18446744073709551615"), Some(u64::MAX));
        for wrong in ["", "-1", "1.5", "18446744073709551616", "x", "+"] {
            assert_eq!(whole(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn whole_numbers_are_found_however_written() {
        for (text, number) in [
            (" -12345678901234567 ", Some(-12_345_678_901_234_567)),
            ("+9007199254740993.000", Some(9_007_199_254_740_993)),
            ("9.007199254740993e15", Some(9_007_199_254_740_993)),
            ("90071992547409930E-1", Some(9_007_199_254_740_993)),
            ("1e16", Some(10_000_000_000_000_000)),
            (".5e1", Some(5)),
            ("9007199254740993.5", None),
            ("90071992547409935e-1", None),
            ("170141183460469231731687303715884105727", Some(i128::MAX)),
            ("170141183460469231731687303715884105728", None),
            ("1e39", None),
            ("1e-99999999999999999999", None),
        ] {
            assert_eq!(integer(text.as_bytes()), number, "{text}");
        }
    }

    #[test]
    fn large_whole_numbers_have_a_rest() {
        for (text, parts) in [
            ("9007199254740993", [9_007_199_254_740_992.0, 1.0]),
            ("-9007199254740993", [-9_007_199_254_740_992.0, -1.0]),
            ("18446744073709551615", [18_446_744_073_709_551_616.0, -1.0]),
            ("9007199254740992.5", [9_007_199_254_740_992.0, 0.0]),
            ("1e300", [1e300, 0.0]),
            ("0.1", [0.1, 0.0]),
        ] {
            assert_eq!(decimal_and_rest(text.as_bytes()), Some(parts), "{text}");
        }
        assert_eq!(decimal_and_rest(b"x"), None);
    }

    #[test]
    fn decimals_are_finite() {
        for (text, number) in [("1", 1.0), ("-2.5", -2.5), (" 1e3 ", 1000.0), (".5", 0.5), ("007", 7.0)] {
            assert_eq!(decimal(text.as_bytes()), Some(number), "{text}");
        }
        for wrong in ["", "inf", "nan", "one", "1,5", "1e999"] {
            assert_eq!(decimal(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
