//! Converts keys to the bytes that Parquet's filters hash: the inverse of docs/keys.md for one
//! value.

use arrow_schema::{DataType, TimeUnit};
use parquet::basic::Type;

use crate::error::{Error, ErrorKind, Result};
use crate::numbers::shown;
use crate::times;

/// How the values of a column are stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoredAs {
    pub(super) physical: Type,
    /// The bytes of a value, if all values have the same length.
    pub(super) length: usize,
}

/// Returns the stored forms of the value with this text, or none if no value of the column's type
/// has it.
pub(super) fn of_text(text: &[u8], data_type: &DataType, stored: StoredAs) -> Result<Vec<Vec<u8>>> {
    match (data_type, stored.physical) {
        (DataType::Utf8 | DataType::Binary, Type::BYTE_ARRAY) => Ok(vec![text.to_vec()]),
        (DataType::FixedSizeBinary(length), Type::FIXED_LEN_BYTE_ARRAY) => {
            let fits = usize::try_from(*length) == Ok(text.len());
            Ok(if fits { vec![text.to_vec()] } else { Vec::new() })
        }
        (DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64, Type::INT32 | Type::INT64) => {
            Ok(signed(integer(text)?, stored))
        }
        (DataType::UInt8 | DataType::UInt16 | DataType::UInt32, Type::INT32) => {
            Ok(u32::try_from(integer(text)?).map_or(Vec::new(), |value| vec![value.to_le_bytes().to_vec()]))
        }
        (DataType::UInt64, Type::INT64) => {
            Ok(u64::try_from(integer(text)?).map_or(Vec::new(), |value| vec![value.to_le_bytes().to_vec()]))
        }
        (DataType::Float32, Type::FLOAT) => {
            let value: f32 = float(text)?;
            // Zeros of both signs are equal, and each is stored with its sign.
            let forms = if value == 0.0 { vec![0.0, -0.0] } else { vec![value] };
            Ok(forms.into_iter().map(|value: f32| value.to_le_bytes().to_vec()).collect())
        }
        (DataType::Float64, Type::DOUBLE) => {
            let value: f64 = float(text)?;
            let forms = if value == 0.0 { vec![0.0, -0.0] } else { vec![value] };
            Ok(forms.into_iter().map(|value: f64| value.to_le_bytes().to_vec()).collect())
        }
        (DataType::Date32, Type::INT32) => {
            let midnight = times::milliseconds(text).filter(|time| time.rem_euclid(86_400_000) == 0);
            let days = midnight.ok_or_else(|| no_value(text, "dates, such as 2026-11-18"))? / 86_400_000;
            Ok(signed(days.into(), stored))
        }
        (DataType::Timestamp(unit, _), Type::INT64) => {
            Ok(moment(text, *unit)?.map_or(Vec::new(), |value| signed(value, stored)))
        }
        (DataType::Decimal128(_, scale), Type::INT32 | Type::INT64 | Type::FIXED_LEN_BYTE_ARRAY)
            if *scale >= 0 =>
        {
            let value = decimal(text, scale.unsigned_abs().into())?;
            Ok(value.map_or(Vec::new(), |value| signed(value, stored)))
        }
        _ => {
            let physical = stored.physical;
            let message = format_args!("its filter cannot be asked: its values are {data_type} ({physical})");
            Err(Error::new(ErrorKind::Unsupported, message))
        }
    }
}

/// Returns a signed number as it is stored, or nothing if it does not fit.
fn signed(value: i128, stored: StoredAs) -> Vec<Vec<u8>> {
    match stored.physical {
        Type::INT32 => i32::try_from(value).map_or(Vec::new(), |value| vec![value.to_le_bytes().to_vec()]),
        Type::INT64 => i64::try_from(value).map_or(Vec::new(), |value| vec![value.to_le_bytes().to_vec()]),
        _ => {
            // Big endian, in the length of the type.
            let filler = if value < 0 { 255 } else { 0 };
            let mut bytes = vec![filler; stored.length.saturating_sub(16)];
            let all = value.to_be_bytes();
            let (cut, kept) = all.split_at(all.len() - stored.length.min(all.len()));
            bytes.extend(kept);
            let has_sign = bytes.first().is_some_and(|first| (first & 128 != 0) == (value < 0));
            if has_sign && cut.iter().all(|byte| *byte == filler) { vec![bytes] } else { Vec::new() }
        }
    }
}

fn integer(text: &[u8]) -> Result<i128> {
    let number = std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok());
    number.ok_or_else(|| no_value(text, "integers"))
}

fn float<F: std::str::FromStr + PartialEq>(text: &[u8]) -> Result<F> {
    let number = std::str::from_utf8(text).ok().and_then(|text| text.trim().parse::<F>().ok());
    // NaN is not a key.
    #[allow(clippy::eq_op)]
    let number = number.filter(|number| *number == *number);
    number.ok_or_else(|| no_value(text, "numbers"))
}

/// Returns the time since 1970 in this unit, or `None` if the unit is too coarse for the time.
fn moment(text: &[u8], unit: TimeUnit) -> Result<Option<i128>> {
    let nanoseconds =
        nanoseconds(text).ok_or_else(|| no_value(text, "times, such as 2026-11-18T05:00:00"))?;
    let part = match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1000,
        TimeUnit::Nanosecond => 1,
    };
    Ok((nanoseconds % part == 0).then_some(nanoseconds / part))
}

/// Returns the nanoseconds since 1970, or `None` if the text is not a time.
fn nanoseconds(text: &[u8]) -> Option<i128> {
    let text = std::str::from_utf8(text).ok()?;
    let (whole, fraction) = match text.split_once('.') {
        None => (text.to_owned(), ""),
        Some((before, after)) => {
            let end = after.find(|end: char| !end.is_ascii_digit()).unwrap_or(after.len());
            (format!("{before}{}", &after[end..]), &after[..end])
        }
    };
    let seconds = times::seconds(whole.as_bytes()).filter(|_| fraction.len() <= 9)?;
    let part: i128 = format!("{fraction:0<9}").parse().ok()?;
    Some(i128::from(seconds) * 1_000_000_000 + part)
}

/// Returns a number without its decimal point, or `None` if it has more decimals than the scale.
fn decimal(text: &[u8], scale: usize) -> Result<Option<i128>> {
    let wrong = || no_value(text, "decimal numbers, such as 12.50");
    let number = std::str::from_utf8(text).map_err(|_| wrong())?.trim();
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let fraction = fraction.trim_end_matches('0');
    let fits = fraction.len() <= scale;
    let digits = if fits { format!("{whole}{fraction:0<scale$}") } else { whole.to_owned() };
    let value: i128 = digits.parse().map_err(|_| wrong())?;
    Ok(fits.then_some(value))
}

#[cold]
fn no_value(text: &[u8], what: &str) -> Error {
    Error::new(ErrorKind::InvalidOption, format_args!("'{}' is no value of it: it holds {what}", shown(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(text: &str, data_type: &DataType, physical: Type) -> Vec<Vec<u8>> {
        of_text(text.as_bytes(), data_type, StoredAs { physical, length: 2 }).unwrap()
    }

    #[test]
    fn texts_become_the_bytes_of_their_type() {
        let date = DataType::Date32;
        assert_eq!(forms("1970-01-03", &date, Type::INT32), [2_i32.to_le_bytes()]);
        assert_eq!(forms("-7", &DataType::Int16, Type::INT32), [(-7_i32).to_le_bytes()]);
        assert_eq!(forms("4294967295", &DataType::UInt32, Type::INT32), [[255; 4]]);
        assert_eq!(forms("18446744073709551615", &DataType::UInt64, Type::INT64), [[255; 8]]);
        assert!(forms("18446744073709551615", &DataType::Int64, Type::INT64).is_empty());
        assert_eq!(forms("0.1", &DataType::Float32, Type::FLOAT), [0.1_f32.to_le_bytes()]);
        assert_eq!(forms("-0", &DataType::Float64, Type::DOUBLE).len(), 2);
        assert!(forms("abc", &DataType::FixedSizeBinary(2), Type::FIXED_LEN_BYTE_ARRAY).is_empty());
    }

    #[test]
    fn times_and_decimals_need_their_precision() {
        let micros = DataType::Timestamp(TimeUnit::Microsecond, None);
        assert_eq!(forms("1970-01-01T00:00:01.25", &micros, Type::INT64), [1_250_000_i64.to_le_bytes()]);
        assert_eq!(forms("1970-01-01T00:00:01.250000Z", &micros, Type::INT64), [1_250_000_i64.to_le_bytes()]);
        assert!(forms("1970-01-01T00:00:01.0000005", &micros, Type::INT64).is_empty());
        let price = DataType::Decimal128(10, 2);
        assert_eq!(forms("-12.5", &price, Type::INT64), [(-1250_i64).to_le_bytes()]);
        assert!(forms("12.505", &price, Type::INT32).is_empty());
        let fixed = Type::FIXED_LEN_BYTE_ARRAY;
        assert_eq!(forms("-1.00", &price, fixed), [[255, 0x9C]]);
        assert_eq!(forms("327.67", &price, fixed), [[127, 255]]);
        assert!(forms("327.68", &price, fixed).is_empty() && forms("-327.69", &price, fixed).is_empty());
        let long = StoredAs { physical: fixed, length: 17 };
        assert_eq!(of_text(b"-0.02", &price, long).unwrap(), [[vec![255; 16], vec![254]].concat()]);
    }

    #[test]
    fn what_is_no_value_is_named() {
        for (text, data_type, physical) in [
            ("x", DataType::Int32, Type::INT32),
            ("nan", DataType::Float64, Type::DOUBLE),
            ("soon", DataType::Date32, Type::INT32),
            ("1.x", DataType::Decimal128(4, 1), Type::INT32),
            ("x.55", DataType::Decimal128(4, 1), Type::INT32),
        ] {
            let error = of_text(text.as_bytes(), &data_type, StoredAs { physical, length: 0 }).unwrap_err();
            assert!(error.to_string().contains(text), "{error}");
        }
        let error =
            of_text(b"1", &DataType::Int64, StoredAs { physical: Type::INT96, length: 0 }).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
}
