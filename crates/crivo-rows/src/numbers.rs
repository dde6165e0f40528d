//! Numbers in fields: weights, sums, conditions.

use crate::batch::RowBatch;
use crate::error::Result;

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
    fn decimals_are_finite() {
        for (text, number) in [("1", 1.0), ("-2.5", -2.5), (" 1e3 ", 1000.0), (".5", 0.5), ("007", 7.0)] {
            assert_eq!(decimal(text.as_bytes()), Some(number), "{text}");
        }
        for wrong in ["", "inf", "nan", "one", "1,5", "1e999"] {
            assert_eq!(decimal(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
